/* Which reads are to be locked, so that a weaker level is enough?
 *
 * The edits are made in the text, as `explore --fix` makes them, and the
 * program that comes of it is lowered anew: so a lock is what it is in the
 * language.
 *
 * With some reads locked the transactions are proved, or not, for a reason:
 * some transactions G, those of an execution that is not serializable, of
 * enough paths, or of a cycle that was not confirmed. A larger set in which no
 * other read of G is locked has the same reason. So all that are proved and
 * larger lock one more of G, and these are tried: by size, each once, and none
 * above one that was proved. What is found are the smallest sets of up to
 * PROMOTED_MOST reads, all of them, unless there are too many to try.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "compile/load.h"
#include "lang/source.h"
#include "prove/lower.h"
#include "prove/search.h"
#include "repair/edits.h"
#include "sql/arguments.h"
#include "vm/program.h"

enum { SETS_MOST = 150 /* that are tried at one level */ };

struct lock_set {
	uint32_t items[PROMOTED_MOST], count; /* edits, increasing */
};

struct promotions {
	struct search *x;
	struct edits *edits;
	struct proved_promotion *out;
	struct lock_set *asked; /* the first ones are done; by size */
	uint32_t done, count, capacity;
	struct lock_set *found;
	uint32_t found_count, found_capacity;
};

static bool is_within(const struct lock_set *a, const struct lock_set *b)
{
	uint32_t k = 0;
	for (uint32_t i = 0; i < a->count; i++) {
		while (k < b->count && b->items[k] < a->items[i]) k++;
		if (k == b->count || b->items[k] != a->items[i]) return false;
	}
	return true;
}

/* ---- the edited program ---- */

/* All transactions are at the level, and those are stale ok that were so. False
 * if it is not the same program. */
static bool prepare(const struct promotions *s, struct application *a)
{
	const struct application *was = s->x->out->app;
	uint32_t count = a->summary_count + a->stale_count;
	for (uint32_t i = 0; i < was->stale_count; i++) {
		const char *name = was->summaries[was->summary_count + i].name;
		struct text why = { 0 };
		bool fine = prove_mark_stale(a, name, &why);
		text_free(&why);
		if (!fine) return false;
	}
	if (a->image) lower_sql_levels(a);
	a->allocated = true;
	for (uint32_t i = 0; i < count; i++)
		a->summaries[i].own = (own_level)(1 + s->out->level);
	return a->summary_count == was->summary_count &&
	       a->stale_count == was->stale_count;
}

static struct program *load(const struct promotions *s,
                            const struct lock_set *set, struct application *a)
{
	const struct sql_arguments given = { .transactions = true };
	uint32_t count = edits_file_count(s->edits);
	struct text *new = mem_take0((size_t)count + 1, sizeof *new);
	struct load_text *texts = mem_take0((size_t)count + 1, sizeof *texts);
	struct diags d = { 0 };
	edits_texts(s->edits, (struct edit_set){ set->items, set->count }, new);
	for (uint32_t i = 0; i < count; i++)
		texts[i] =
			(struct load_text){ edits_file(s->edits, i),
			                    text_get(&new[i]), new[i].length };
	struct program *p = prove_load_texts(a, s->x->out->app->path, texts,
	                                     count, &given, false, &d);
	for (uint32_t i = 0; i < count; i++) text_free(&new[i]);
	free(new);
	free(texts);
	diags_free(&d);
	return p;
}

/* Is it proved? Else *grounds are the transactions of the reason; none if there
 * is nothing to be learnt. */
static bool is_proved(struct promotions *s, struct application *a,
                      uint64_t *grounds)
{
	struct search *x = s->x, y = { .limiter = x->limiter,
		                       .begun = x->begun,
		                       .unweighed = true };
	struct proof one = { .options = x->out->options,
		             .app = a,
		             .costs = x->out->costs };
	one.options.terms.level = s->out->level;
	y.out = &one;
	y.members = mem_take0((size_t)a->summary_count + 1, sizeof *y.members);
	for (uint32_t i = 0; i < a->summary_count; i++)
		y.members[y.member_count++] = i;
	search_members(&y);
	x->out->costs = one.costs;
	x->out->stop = one.stop;
	bool holds = one.verdict == VERDICT_HOLDS;
	*grounds = one.verdict == VERDICT_VIOLATED ? y.confirmed : y.grounds;
	if (!*grounds) *grounds = UINT64_MAX;
	prove_free(&one);
	free(y.members);
	instances_context_free(y.context);
	return holds;
}

/* ---- what is tried ---- */

static void ask_later(struct promotions *s, const struct lock_set *set)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->asked[i].count == set->count &&
		    is_within(&s->asked[i], set))
			return;
	VEC_RESERVE(s->asked, s->count, s->capacity);
	s->asked[s->count++] = *set;
}

static struct lock_set with(const struct lock_set *set, uint32_t edit)
{
	struct lock_set more = *set;
	uint32_t k = more.count++;
	for (; k && more.items[k - 1] > edit; k--)
		more.items[k] = more.items[k - 1];
	more.items[k] = edit;
	return more;
}

/* May the edit be one of these transactions? What has no name of theirs, such
 * as a routine that they call, may be of any. */
static bool is_of(const struct promotions *s, const struct application *a,
                  const struct edit *e, uint64_t grounds)
{
	const char *name = edits_transaction(s->edits, e->transaction)->name;
	bool known = false;
	for (uint32_t i = 0; i < a->summary_count; i++) {
		if (!name || strcmp(a->summaries[i].name, name) != 0) continue;
		known = true;
		if (i >= SETS_OF_MOST || grounds >> i & 1) return true;
	}
	return !known;
}

static void ask_with_one_more(struct promotions *s, const struct application *a,
                              const struct lock_set *set, uint64_t grounds)
{
	for (uint32_t i = 0; i < edits_count(s->edits); i++) {
		const struct edit *e = edits_get(s->edits, i);
		struct lock_set one = { { i }, 1 };
		if (e->kind != EDIT_LOCK || is_within(&one, set) ||
		    !is_of(s, a, e, grounds))
			continue;
		if (set->count == PROMOTED_MOST) return;
		struct lock_set more = with(set, i);
		ask_later(s, &more);
	}
}

static void add_found(struct promotions *s, const struct lock_set *set)
{
	struct proved_promotion *out = s->out;
	VEC_RESERVE(s->found, s->found_count, s->found_capacity);
	s->found[s->found_count++] = *set;
	VEC_RESERVE(out->sets, out->set_count, out->set_capacity);
	struct promoted_reads *new = &out->sets[out->set_count++];
	*new = (struct promoted_reads){ .count = set->count };
	new->items = mem_take0((size_t)set->count + 1, sizeof *new->items);
	for (uint32_t i = 0; i < set->count; i++) {
		const struct edit *e = edits_get(s->edits, set->items[i]);
		const char *name =
			edits_transaction(s->edits, e->transaction)->name;
		struct promoted_read *r = &new->items[i];
		text_string(&r->transaction, name ? name : "");
		text_string(&r->key, e->key);
		r->line = edits_line(s->edits, set->items[i]);
		r->lock = strength_word(e->strength);
	}
	edits_diff(&new->diff, s->edits,
	           (struct edit_set){ set->items, set->count }, 0);
}

static void try_set(struct promotions *s, const struct lock_set *set)
{
	struct application a;
	uint64_t grounds;
	for (uint32_t i = 0; i < s->found_count; i++)
		if (is_within(&s->found[i], set)) return;
	struct program *p = load(s, set, &a);
	/* What does not compile, a larger set may: it is not proved either. */
	if (p && prepare(s, &a)) {
		if (is_proved(s, &a, &grounds))
			add_found(s, set);
		else if (!s->x->out->stop && !a.uncovered_count)
			ask_with_one_more(s, &a, set, grounds);
	} else {
		s->out->complete = false;
	}
	program_free(p);
	application_free(&a);
}

static void search_level(struct promotions *s, enum level l)
{
	struct proof *out = s->x->out;
	struct lock_set none = { .count = 0 };
	s->out = &out->promotions[out->promotion_count++];
	*s->out = (struct proved_promotion){ .level = l, .complete = true };
	s->count = s->done = s->found_count = 0;
	ask_later(s, &none);
	/* Sets come in the order of their size: larger ones are behind. */
	while (s->done < s->count && !out->stop && s->done < SETS_MOST) {
		struct lock_set set = s->asked[s->done++];
		try_set(s, &set);
	}
	s->out->complete &= s->done == s->count && !out->stop;
}

void search_promotions(struct search *x)
{
	struct proof *out = x->out;
	const struct sql_arguments given = { .transactions = true };
	struct edit_terms terms = { .given = &given, .uncalled = true };
	struct diags d = { 0 };
	struct promotions s = { .x = x };
	enum level first = LEVEL_COUNT;
	for (unsigned l = LEVEL_COUNT; l-- > 0;)
		if (out->options.allocate >> l & 1) first = (enum level)l;
	if (first == LEVEL_COUNT || out->app->uncovered_count) return;
	terms.level = first;
	weights_usual(&terms.weights);
	s.edits = edits_new(out->app->path, &terms, &d);
	diags_free(&d);
	if (!s.edits) return;
	out->promotions = mem_take0(LEVEL_COUNT, sizeof *out->promotions);
	for (unsigned l = 0; l < LEVEL_COUNT && !out->stop; l++)
		if (out->options.allocate >> l & 1 &&
		    !level_is_serial((enum level)l))
			search_level(&s, (enum level)l);
	edits_free(s.edits);
	free(s.asked);
	free(s.found);
}
