/* Which transactions are serializable together?
 *
 * A set of transactions is searched like a program of its own, which nobody
 * else writes the keys of, from the set of all on downwards.
 *
 * - Proved: then so is all that is within it; it has fewer cycles.
 * - Violated, by instances of V: then so is all that V is within. Every other
 *   set within this one lacks one of V: it is within the set without it.
 * - Open, as there is a path of each length that was asked for, of instances of
 *   G together (or one of a cycle that was not confirmed): a set within this
 * one lacks one of G, or nobody in it writes some key that is written here, or
 * it has the same paths, and is open or violated; the search would have
 * confirmed that.
 *
 * So the proved ones that are met include the largest that there are. A set is
 * not proved if it is within none of these, if it has of each of them one that
 * is not in it. Of the smallest such sets those are open which no violated one
 * is within.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "prove/search.h"

enum { LOOKED_AT_MOST = 4096 }; /* sets */

struct sets {
	uint64_t *items;
	uint32_t count, capacity;
};

struct subsets {
	struct search *x;
	struct application *app;
	struct sets asked; /* the first ones are done */
	uint32_t done;
	bool *written; /* families, by anybody */
};

static bool is_within(uint64_t a, uint64_t b)
{
	return !(a & ~b);
}

static void add_set(struct sets *s, uint64_t set)
{
	VEC_RESERVE(s->items, s->count, s->capacity);
	s->items[s->count++] = set;
}

/* Adds it if none of these is within it, and drops those that it is within. */
static void add_smallest(struct sets *s, uint64_t set)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->count; i++)
		if (is_within(s->items[i], set)) return;
	for (uint32_t i = 0; i < s->count; i++)
		if (!is_within(set, s->items[i]))
			s->items[kept++] = s->items[i];
	s->count = kept;
	add_set(s, set);
}

/* ---- what was found ---- */

static struct proved_set *add_found(struct proof *out, uint64_t members,
                                    enum verdict verdict)
{
	VEC_RESERVE(out->sets, out->set_count, out->set_capacity);
	struct proved_set *set = &out->sets[out->set_count++];
	*set = (struct proved_set){ .members = members, .verdict = verdict };
	return set;
}

/* A violated one that is within the set, or a proved one that the set is
 * within.
 */
static const struct proved_set *find_known(const struct proof *out,
                                           uint64_t set)
{
	for (uint32_t i = 0; i < out->set_count; i++) {
		const struct proved_set *k = &out->sets[i];
		if (k->verdict == VERDICT_VIOLATED ? is_within(k->members, set)
		                                   : is_within(set, k->members))
			return k;
	}
	return NULL;
}

static bool is_wider(const struct proved_set *a, const struct proved_set *b)
{
	return a != b && a->verdict == b->verdict &&
	       (a->verdict == VERDICT_VIOLATED
	                ? is_within(b->members, a->members)
	                : is_within(a->members, b->members));
}

/* Of violated ones the smallest, of proved ones the largest. No two are the
 * same. */
static void keep_strongest(struct proof *out)
{
	uint32_t kept = 0;
	bool *drop = mem_take0((size_t)out->set_count + 1, sizeof *drop);
	for (uint32_t i = 0; i < out->set_count; i++)
		for (uint32_t j = 0; j < out->set_count; j++)
			drop[i] |= is_wider(&out->sets[i], &out->sets[j]);
	for (uint32_t i = 0; i < out->set_count; i++) {
		if (!drop[i]) {
			out->sets[kept++] = out->sets[i];
			continue;
		}
		text_free(&out->sets[i].cycle);
		text_free(&out->sets[i].client);
		consequence_free(&out->sets[i].consequence);
	}
	out->set_count = kept;
	free(drop);
}

/* ---- one set ---- */

/* Later, unless it is known by then. */
static void ask_later(struct subsets *s, uint64_t set)
{
	if (!set) return;
	for (uint32_t i = 0; i < s->asked.count; i++)
		if (s->asked.items[i] == set) return;
	add_set(&s->asked, set);
}

static void ask_without_each(struct subsets *s, uint64_t set, uint64_t of)
{
	BITS_EACH(i, &of, 1) ask_later(s, set & ~((uint64_t)1 << i));
}

static uint64_t writers_of(const struct application *app, uint32_t family)
{
	uint64_t writers = 0;
	for (uint32_t i = 0; i < app->summary_count; i++)
		for (uint32_t k = 0; k < app->summaries[i].access_count; k++) {
			const struct access *a = &app->summaries[i].accesses[k];
			if (a->write && a->family == family)
				writers |= search_bit(i);
		}
	return writers;
}

static void be_members(struct subsets *s, uint64_t set)
{
	struct search *x = s->x;
	x->member_count = 0;
	BITS_EACH(i, &set, 1) x->members[x->member_count++] = i;
	for (uint32_t f = 0; f < s->app->family_count; f++)
		s->app->families[f].written =
			s->written[f] && writers_of(s->app, f) & set;
}

/* What the search of the set came to, which is not known yet. */
static void note_result(struct subsets *s, uint64_t set,
                        const struct proof *one)
{
	const struct search *x = s->x;
	struct proved_set *found;
	switch (one->verdict) {
	case VERDICT_HOLDS: add_found(x->out, set, VERDICT_HOLDS); return;
	case VERDICT_VIOLATED:
		found = add_found(x->out, x->confirmed, VERDICT_VIOLATED);
		text_string(&found->cycle, text_get(&one->cycle));
		text_string(&found->client, text_get(&one->client));
		consequence_copy(&found->consequence, &one->consequence);
		ask_without_each(s, set, x->confirmed);
		return;
	default:
		/* Where something is not covered, nothing is proved. */
		if (one->stop || s->app->uncovered_count) return;
		ask_without_each(s, set, one->open_level ? set : x->grounds);
		for (uint32_t f = 0; f < s->app->family_count; f++)
			if (writers_of(s->app, f) & set)
				ask_later(s, set & ~writers_of(s->app, f));
	}
}

static void search_set(struct subsets *s, uint64_t set)
{
	struct proof one = { .options = s->x->out->options };
	be_members(s, set);
	search_apart(s->x, &one);
	note_result(s, set, &one);
	prove_free(&one);
}

/* The largest of those that are left comes next. */
static uint64_t next_set(struct subsets *s)
{
	uint64_t *rest = s->asked.items + s->done, first;
	uint32_t best = 0;
	for (uint32_t i = 1; s->done + i < s->asked.count; i++)
		if (word_count(rest[i]) > word_count(rest[best])) best = i;
	first = rest[best];
	rest[best] = rest[0];
	rest[0] = first;
	s->done++;
	return first;
}

/* ---- what is open ---- */

/* The smallest sets that are within no proved one, so that they have something
 * that it lacks; false if they are too many. */
static bool find_unproved(const struct proof *out, uint64_t all,
                          struct sets *found)
{
	BITS_EACH(i, &all, 1) add_set(found, (uint64_t)1 << i);
	for (uint32_t i = 0; i < out->set_count; i++) {
		uint64_t proved = out->sets[i].members, lacks = all & ~proved;
		struct sets more = { 0 };
		if (out->sets[i].verdict != VERDICT_HOLDS) continue;
		for (uint32_t k = 0; k < found->count; k++) {
			uint64_t set = found->items[k];
			if (!is_within(set, proved)) {
				add_smallest(&more, set);
				continue;
			}
			BITS_EACH(b, &lacks, 1)
				add_smallest(&more, set | (uint64_t)1 << b);
		}
		free(found->items);
		*found = more;
		if (found->count > LOOKED_AT_MOST) return false;
	}
	return true;
}

static void find_open(struct proof *out, uint64_t all)
{
	struct sets found = { 0 };
	out->sets_left |= !find_unproved(out, all, &found);
	uint32_t known = out->set_count;
	for (uint32_t i = 0; i < found.count && !out->sets_left; i++) {
		bool violated = false;
		for (uint32_t k = 0; k < known; k++)
			violated |=
				out->sets[k].verdict == VERDICT_VIOLATED &&
				is_within(out->sets[k].members, found.items[i]);
		if (!violated)
			add_found(out, found.items[i], VERDICT_INCONCLUSIVE);
	}
	free(found.items);
}

/* ---- all ---- */

static int by_verdict(const void *a, const void *b)
{
	static const int order[] = { [VERDICT_HOLDS] = 0,
		                     [VERDICT_VIOLATED] = 1,
		                     [VERDICT_INCONCLUSIVE] = 2 };
	const struct proved_set *s = a, *t = b;
	if (s->verdict != t->verdict)
		return order[s->verdict] - order[t->verdict];
	if (s->consequence.kind != t->consequence.kind) /* the worst first */
		return (int)t->consequence.kind - (int)s->consequence.kind;
	return (s->members > t->members) - (s->members < t->members);
}

void search_subsets(struct search *x, struct application *app)
{
	struct proof *out = x->out;
	struct subsets s = { .x = x, .app = app };
	uint32_t count = x->member_count;
	s.written = mem_take0((size_t)app->family_count + 1, sizeof *s.written);
	for (uint32_t f = 0; f < app->family_count; f++)
		s.written[f] = app->families[f].written;
	uint64_t all = 0;
	for (uint32_t i = 0; i < count; i++) all |= search_bit(i);
	add_set(&s.asked, all);
	s.done = 1;
	note_result(&s, all, out);
	while (s.done < s.asked.count && !out->stop && !out->sets_left) {
		uint64_t set = next_set(&s);
		const struct proved_set *known = find_known(out, set);
		if (!known)
			search_set(&s, set);
		else if (known->verdict == VERDICT_VIOLATED)
			ask_without_each(&s, set, known->members);
		out->sets_left = s.asked.count > LOOKED_AT_MOST;
	}
	keep_strongest(out);
	if (!out->stop) find_open(out, all);
	if (out->set_count)
		qsort(out->sets, out->set_count, sizeof *out->sets, by_verdict);
	for (uint32_t f = 0; f < app->family_count; f++)
		app->families[f].written = s.written[f];
	for (uint32_t i = 0; i < count; i++) x->members[i] = i;
	x->member_count = count;
	free(s.written);
	free(s.asked.items);
}
