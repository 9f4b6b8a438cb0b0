#include "repair/repair.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/dirty_read.h"
#include "axioms/scratch.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/verdict.h"
#include "history/history.h"
#include "history/relation.h"
#include "vm/program.h"

enum {
	KEPT = 4,    /* histories of one exploration */
	SAMPLE = 64, /* of the program without edits, at most, of each kind */
	FAILING = 5,
	OF_A_KIND = 2, /* of these */
	COUNTED =
		4096, /* histories of one that fails, where that says enough */
	ASKED = 16384 /* of the program without edits, if that is violated */
};

/* What is left to a limit of time that has just passed. */
static const double TIME_LEAST = 0.001;

/* A history, marked, and the edits it was found under. */
struct met {
	struct history *history;
	struct relation *relation; /* NULL: it has dirty reads */
	uint32_t *items, count;
};

/* One in `stride` of those that were met, from all of them. */
struct sample {
	struct met items[SAMPLE];
	uint32_t count;
	uint64_t stride, met;
};

struct search {
	struct repair *out;
	struct met *pool; /* with a violation */
	uint32_t pool_count, pool_capacity;
	/* Of the program without edits: of all histories, if it was explored by
	 * explore-ce; and of those with a violation, until they join the pool.
	 */
	struct sample all, violated;
	struct level_scratch *scratch;
	double begun;
	uint32_t *set; /* being put together */
	uint32_t set_count;
	unsigned next_cost; /* the least of sets that cost more; 0: none does */
	/* Of the exploration that runs. */
	pthread_mutex_t lock;
	const struct edited *edited;
	struct edit_set edits;
	void *beside; /* repair_beside; NULL: nobody */
	bool samples;
	uint32_t kept;
	uint64_t violating;
};

static uint32_t *copy_items(struct edit_set s)
{
	uint32_t *copy = mem_take0((size_t)s.count + 1, sizeof *copy);
	if (s.count) memcpy(copy, s.items, s.count * sizeof *copy);
	return copy;
}

static unsigned cost_of(const struct edits *e, struct edit_set s)
{
	unsigned cost = 0;
	for (uint32_t i = 0; i < s.count; i++)
		cost += edits_get(e, s.items[i])->cost;
	return cost;
}

static struct edit_set set_of(const struct repair_row *r)
{
	return (struct edit_set){ r->items, r->count };
}

/* ---- exploring ---- */

/* The history becomes its own. */
static struct met keep(struct search *x, struct history *h)
{
	struct dirty_read dirty;
	struct met m = { .history = h,
		         .items = copy_items(x->edits),
		         .count = x->edits.count };
	assert(x->edited->program && x->kept <= KEPT);
	edits_mark(x->out->edits, x->edited, m.history);
	if (!dirty_read_find(m.history, LEVEL_SERIAL, false, &dirty))
		m.relation = relation_of_history(m.history);
	return m;
}

static void met_free(struct met *m)
{
	relation_free(m->relation);
	history_free(m->history);
	free(m->items);
}

/* Evenly from all, however many there are: when there is no room left, every
 * second one goes. */
static void sample(struct search *x, struct sample *of,
                   const struct explore_execution *e)
{
	uint64_t number = of->met++;
	if (!of->stride) of->stride = 1;
	if (of->count == SAMPLE && number % of->stride == 0) {
		for (uint32_t i = 0; i < SAMPLE / 2; i++) {
			of->items[i] = of->items[2 * (size_t)i];
			met_free(&of->items[2 * (size_t)i + 1]);
		}
		of->count = SAMPLE / 2;
		of->stride *= 2;
	}
	if (number % of->stride == 0)
		of->items[of->count++] = keep(x, explore_history(e));
}

static void sample_free(struct sample *s)
{
	for (uint32_t i = 0; i < s->count; i++) met_free(&s->items[i]);
	*s = (struct sample){ .count = 0 };
}

static void add_to_pool(struct search *x, struct met m)
{
	VEC_RESERVE(x->pool, x->pool_count, x->pool_capacity);
	x->pool[x->pool_count++] = m;
}

/* Called by several threads. */
static bool on_history(void *payload, const struct explore_execution *e)
{
	struct search *x = payload;
	if (!e->violated_count && !x->samples) return true;
	pthread_mutex_lock(&x->lock);
	if (x->samples) sample(x, &x->all, e);
	x->violating += e->violated_count > 0;
	if (e->violated_count && !x->edits.count) {
		sample(x, &x->violated, e);
	} else if (e->violated_count && x->kept < KEPT) {
		x->kept++;
		add_to_pool(x, keep(x, explore_history(e)));
	}
	pthread_mutex_unlock(&x->lock);
	return true;
}

/* Do these edits leave half of the histories there, as far as a sample tells?
 */
static bool leaves_many(const struct search *x, struct edit_set s)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < x->all.count; i++) {
		const struct met *m = &x->all.items[i];
		struct edit_set of = { m->items, m->count };
		left += edits_allow(x->out->edits, s, of, m->history,
		                    m->relation, x->scratch);
	}
	return x->all.count && 2 * left >= x->all.count;
}

static bool on_tick(void *payload, const struct explore_stats *s,
                    uint32_t depth)
{
	struct search *x = payload;
	const struct repair_options *o = &x->out->options;
	struct text what = { 0 };
	bool go_on = true;
	text_format(&what, "set %" PRIu64, x->out->sets);
	if (o->tick) go_on = o->tick(o->payload, text_get(&what), s, depth);
	text_free(&what);
	if (go_on && x->beside) go_on = o->beside.tick(x->beside, s);
	return go_on;
}

static bool is_late(const struct search *x)
{
	const struct explore_options *o = &x->out->options.explore;
	return (o->interrupt && atomic_load(o->interrupt)) ||
	       (o->timeout > 0 && seconds_now() - x->begun >= o->timeout);
}

/* The exploration is over. `cut`: it came to no end of its own, so that what
 * somebody beside it says counts. */
static void end_beside(struct search *x, struct repair_row *row, bool cut)
{
	struct history *example = NULL;
	if (!x->beside) return;
	enum verdict v = x->out->options.beside.end(x->beside, &example);
	x->beside = NULL;
	row->decided = cut && v != VERDICT_INCONCLUSIVE;
	if (row->decided) row->verdict = v;
	if (row->decided && example)
		add_to_pool(x, keep(x, example));
	else
		history_free(example);
}

/* The program with these edits: to the end, or so many histories (0: all), or
 * to its first violation. */
static struct repair_row explore_set(struct search *x, struct edit_set s,
                                     bool to_the_end, uint64_t most)
{
	struct repair *out = x->out;
	struct explore_options o = out->options.explore;
	struct edited edited = edits_make(out->edits, s);
	struct repair_row row = { .verdict = VERDICT_INCONCLUSIVE };
	if (!edited.program) return row;
	struct explore_observer observer = { .payload = x,
		                             .history = on_history,
		                             .tick = on_tick };
	o.level = edited.level;
	o.algorithm = explorer_usual_algorithm(edited.program, o.level);
	/* What holds is met by few of the histories that a base below all
	 * levels allows; what does not is seen soon. */
	if (!to_the_end && program_mixes(edited.program))
		o.algorithm = EXPLORE_ORDERLY;
	/* Where most are left, it is quicker to drop the others at their ends
	 * than to ask at each read. */
	if (to_the_end && s.count && level_is_extensible(o.level) &&
	    leaves_many(x, s))
		o.algorithm = EXPLORE_CE;
	o.base = o.algorithm == EXPLORE_CE ? level_base(o.level) : o.level;
	o.stop_on_violation = !to_the_end;
	bool bounded = most && (!o.max_histories || o.max_histories > most);
	if (bounded) o.max_histories = most;
	if (bounded) o.jobs = 1; /* the first ones are always the same */
	o.max_changes = UINT64_MAX;
	if (o.timeout > 0)
		o.timeout = fmax(o.timeout - (seconds_now() - x->begun),
		                 TIME_LEAST);
	out->asserts_nothing =
		!o.robust && !program_assertion_count(edited.program);
	x->edited = &edited;
	x->edits = s;
	x->samples = !s.count && o.algorithm == EXPLORE_CE;
	x->kept = 0;
	x->violating = 0;
	if (!to_the_end && out->options.beside.begin)
		x->beside = out->options.beside.begin(edited.program, &o);
	struct explorer *e = explorer_new(edited.program, &o, &observer);
	explorer_run(e);
	const struct explore_stats *stats = explorer_stats(e);
	bool fault = program_fault(edited.program) != NULL;
	row = (struct repair_row){ .items = copy_items(s),
		                   .count = s.count,
		                   .cost = cost_of(out->edits, s),
		                   .verdict = fault ? VERDICT_INCONCLUSIVE
		                                    : explorer_verdict(e),
		                   .histories = stats->histories,
		                   .violating = x->violating,
		                   .complete = stats->stop == STOP_NONE };
	bool cut = stats->stop && stats->stop != STOP_VIOLATION;
	end_beside(x, &row, cut && !fault);
	if (cut && !row.decided && !out->stop &&
	    !(bounded && stats->stop == STOP_HISTORIES))
		out->stop = stats->stop;
	out->explored++;
	explorer_free(e);
	edited_free(&edited);
	return row;
}

/* How many of its histories are violated: of so many at least, and of all if
 * none of these is. */
static struct repair_row count_violations(struct search *x, struct edit_set s,
                                          uint64_t least)
{
	struct repair_row row = explore_set(x, s, true, least);
	if (row.violating || row.complete || x->out->stop) return row;
	free(row.items);
	sample_free(&x->all);
	return explore_set(x, s, true, 0);
}

static void explore_asked(struct search *x)
{
	struct sample *violated = &x->violated;
	x->out->asked =
		count_violations(x, (struct edit_set){ NULL, 0 }, ASKED);
	for (uint32_t i = 0; i < violated->count; i++)
		add_to_pool(x, violated->items[i]);
	violated->count = 0;
}

static void add_row(struct repair_rows *to, struct repair_row row)
{
	VEC_RESERVE(to->items, to->count, to->capacity);
	to->items[to->count++] = row;
}

/* What ruled out the last set is asked first. */
static bool meets_violation(struct search *x, struct edit_set s)
{
	for (uint32_t i = x->pool_count; i-- > 0;) {
		struct met c = x->pool[i];
		struct edit_set of = { c.items, c.count };
		if (!edits_allow(x->out->edits, s, of, c.history, c.relation,
		                 x->scratch))
			continue;
		uint32_t last = x->pool_count - 1;
		x->pool[i] = x->pool[last];
		x->pool[last] = c;
		return true;
	}
	return false;
}

/* Is nothing violated with these edits? Then `row` is what was found. */
static bool repairs(struct search *x, struct edit_set s, struct repair_row *row)
{
	x->out->sets++;
	if (meets_violation(x, s) || is_late(x)) return false;
	*row = explore_set(x, s, false, 0);
	if (row->verdict == VERDICT_HOLDS) return true;
	free(row->items);
	return false;
}

/* ---- sets of edits ---- */

/* Does the set allow no more than the answer does? */
static bool is_within(const struct edits *e, struct edit_set s,
                      struct edit_set answer)
{
	for (uint32_t i = 0; i < answer.count; i++) {
		uint32_t k = 0;
		while (k < s.count &&
		       !edits_imply(e, s.items[k], answer.items[i]))
			k++;
		if (k == s.count) return false;
	}
	return true;
}

static bool is_answered(const struct search *x, struct edit_set s,
                        bool whole_programs)
{
	const struct repair_rows *a = &x->out->answers;
	for (uint32_t i = 0; i < a->count; i++) {
		struct edit_set answer = set_of(&a->items[i]);
		bool whole = answer.count == 1 &&
		             edits_get(x->out->edits, answer.items[0])->kind ==
		                     EDIT_PROGRAM;
		if (whole == whole_programs &&
		    is_within(x->out->edits, s, answer))
			return true;
	}
	return false;
}

/* What databases offer to keep transactions apart: levels at which two that
 * write one key do not run side by side. */
static bool is_offered(const struct edits *e, uint32_t i)
{
	const struct edit *x = edits_get(e, i);
	return edits_strengthen(e, i) &&
	       (x->level == LEVEL_COUNT ||
	        level_row(x->level)->rivals != RIVALS_FREE);
}

static bool is_full(const struct search *x)
{
	return is_late(x) ||
	       x->out->answers.count >= x->out->options.max_answers;
}

static void note_cost(struct search *x, unsigned cost)
{
	if (!x->next_cost || cost < x->next_cost) x->next_cost = cost;
}

static bool fits(const struct search *x, uint32_t i)
{
	const struct edits *e = x->out->edits;
	const struct edit *new = edits_get(e, i);
	bool fine = new->cost &&is_offered(e, i) && new->kind != EDIT_PROGRAM;
	for (uint32_t k = 0; fine && k < x->set_count; k++)
		fine = edits_join(e, x->set[k], i);
	return fine;
}

/* No more edits may be added: was there one that says more? */
static void note_larger(struct search *x, uint32_t from)
{
	uint32_t count = edits_count(x->out->edits);
	for (uint32_t i = from; i < count && !x->out->larger; i++) {
		if (!fits(x, i)) continue;
		x->set[x->set_count] = i;
		struct edit_set s = { x->set, x->set_count + 1 };
		x->out->larger = !is_answered(x, s, false);
	}
}

/* All sets that go on with edits from this one on, and cost just so much, of
 * which `left` is left. */
static void try_sets(struct search *x, uint32_t from, unsigned cost,
                     unsigned left)
{
	const struct edits *e = x->out->edits;
	struct edit_set s = { x->set, x->set_count };
	assert(left <= cost && from <= edits_count(e));
	assert(s.count <= x->out->options.max_edits);
	if (is_full(x)) return;
	if (!left && s.count) {
		struct repair_row row;
		if (!is_answered(x, s, false) && repairs(x, s, &row))
			add_row(&x->out->answers, row);
	}
	if (s.count == x->out->options.max_edits) {
		if (!left) note_larger(x, from);
		return;
	}
	for (uint32_t i = from; i < edits_count(e); i++) {
		const struct edit *new = edits_get(e, i);
		if (!fits(x, i)) continue;
		if (new->cost > left) {
			note_cost(x, cost - left + new->cost);
			continue;
		}
		x->set[x->set_count++] = i;
		try_sets(x, i + 1, cost, left - new->cost);
		x->set_count--;
	}
}

/* Has some transaction a level that one of the program does not change? */
static bool have_own_levels(const struct edits *e)
{
	for (uint32_t i = 0; i < edits_transaction_count(e); i++)
		if (edits_transaction(e, i)->own) return true;
	return false;
}

/* The whole program at one level, weak ones first. False if not even the
 * strongest, at which transactions run one after the other, helps. */
static bool try_programs(struct search *x, struct repair_rows *found)
{
	assert(!found->count && !x->out->answers.count);
	const struct edits *e = x->out->edits;
	bool serial = level_is_serial(x->out->options.explore.level);
	for (uint32_t i = 0; i < edits_count(e); i++) {
		const struct edit *new = edits_get(e, i);
		struct edit_set s = { &i, 1 };
		struct repair_row row;
		bool known = false;
		if (new->kind != EDIT_PROGRAM || !is_offered(e, i)) continue;
		for (uint32_t k = 0; k < found->count; k++)
			known |= is_within(e, s, set_of(&found->items[k]));
		if (known)
			serial = true;
		else if (repairs(x, s, &row)) {
			serial = true;
			add_row(found, row);
		}
	}
	return (serial && found->count) || have_own_levels(e);
}

/* ---- what is not enough, what is too much ---- */

/* Counts what it violates, unless that was done, or a row says as much. */
static bool add_failing(struct search *x, struct edit_set s)
{
	struct repair_rows *rows = &x->out->failing;
	assert(s.count == 1);
	if (rows->count >= FAILING || is_late(x) || is_answered(x, s, false) ||
	    is_answered(x, s, true))
		return false;
	for (uint32_t i = 0; i < rows->count; i++)
		if (is_within(x->out->edits, set_of(&rows->items[i]), s))
			return false;
	struct repair_row row = count_violations(x, s, COUNTED);
	if (row.violating)
		add_row(rows, row);
	else
		free(row.items);
	return row.violating;
}

/* Of one kind; of levels the strongest. */
static void add_failing_kind(struct search *x, enum edit_kind kind)
{
	const struct edits *e = x->out->edits;
	uint32_t added = 0;
	for (uint32_t k = 0; k < edits_count(e) && added < OF_A_KIND; k++) {
		bool level = kind == EDIT_TRANSACTION || kind == EDIT_PROGRAM;
		uint32_t i = level ? edits_count(e) - 1 - k : k;
		const struct edit *new = edits_get(e, i);
		if (new->kind == kind &&new->cost && is_offered(e, i))
			added += add_failing(x, (struct edit_set){ &i, 1 });
	}
}

/* A part of an answer; one lock, one update; a level that sounds strong. */
static void find_failing(struct search *x)
{
	const struct repair_rows *answers = &x->out->answers;
	for (uint32_t i = 0; i < answers->count; i++) {
		assert(answers->items[i].verdict == VERDICT_HOLDS);
		struct edit_set s = set_of(&answers->items[i]);
		for (uint32_t k = 0; s.count > 1 && k < s.count; k++)
			add_failing(x, (struct edit_set){ &s.items[k], 1 });
		if (s.count > 1) break;
	}
	add_failing_kind(x, EDIT_PROGRAM);
	for (enum edit_kind kind = 0; kind < EDIT_KIND_COUNT; kind++)
		if (kind != EDIT_PROGRAM) add_failing_kind(x, kind);
}

/* Each transaction in turn at the weakest level that still does. */
static void find_weaker(struct search *x)
{
	const struct edits *e = x->out->edits;
	x->set_count = 0;
	assert(x->out->asked.verdict == VERDICT_HOLDS);
	for (uint32_t t = 0; t < edits_transaction_count(e); t++)
		for (uint32_t i = 0; i < edits_count(e); i++) {
			const struct edit *new = edits_get(e, i);
			struct repair_row row;
			if (new->kind != EDIT_TRANSACTION ||
			    new->transaction != t || !edits_weaken(e, i) ||
			    level_sight(new->level) == SIGHT_NOTHING)
				continue;
			x->set[x->set_count++] = i;
			struct edit_set s = { x->set, x->set_count };
			if (repairs(x, s, &row)) {
				free(x->out->weaker.items);
				x->out->weaker = row;
				break;
			}
			x->set_count--;
		}
}

/* ---- all ---- */

static void find_answers(struct search *x)
{
	struct repair *out = x->out;
	struct repair_rows whole = { 0 };
	bool helps = try_programs(x, &whole);
	out->hopeless = !helps && !out->stop && !is_late(x);
	if (!out->hopeless) {
		unsigned cost = 0;
		do {
			assert(x->next_cost >= cost);
			cost = x->next_cost;
			x->next_cost = 0;
			try_sets(x, 0, cost, cost);
		} while (x->next_cost && !is_full(x));
		out->cut = is_full(x);
	}
	for (uint32_t i = 0; i < whole.count; i++) {
		if (whole.items[i].cost)
			add_row(&out->answers, whole.items[i]);
		else
			free(whole.items[i].items);
	}
	free(whole.items);
	if (!out->hopeless) find_failing(x);
}

bool repair_weights(struct repair_options *o, const char *path, struct diags *d)
{
	o->weights_path = path;
	weights_usual(&o->weights);
	if (o->oracle) weights_of_oracle(&o->weights);
	return !path || weights_read(&o->weights, path, d);
}

bool repair(struct repair *out, const struct repair_options *o, struct diags *d)
{
	struct search x = { .out = out, .begun = seconds_now() };
	*out = (struct repair){ .options = *o };
	struct edit_terms terms = { .level = o->explore.level,
		                    .level_said = o->level_said,
		                    .given = o->given,
		                    .locks_write = o->oracle,
		                    .ssi = o->ssi,
		                    .weights = o->weights };
	out->edits = edits_new(o->path, &terms, d);
	if (!out->edits) return false;
	out->options.level_said = edits_say_level(out->edits);
	pthread_mutex_init(&x.lock, NULL);
	x.scratch = level_scratch_new();
	x.set = mem_take0((size_t)edits_count(out->edits) + 1, sizeof *x.set);
	explore_asked(&x);
	if (out->asked.verdict == VERDICT_VIOLATED)
		find_answers(&x);
	else if (out->asked.verdict == VERDICT_HOLDS && !out->asserts_nothing)
		find_weaker(&x);
	if (is_late(&x) && !out->stop)
		out->stop =
			o->explore.timeout > 0 ? STOP_TIME : STOP_INTERRUPTED;
	for (uint32_t i = 0; i < x.pool_count; i++) met_free(&x.pool[i]);
	sample_free(&x.all);
	free(x.pool);
	free(x.set);
	pthread_mutex_destroy(&x.lock);
	level_scratch_free(x.scratch);
	out->seconds = seconds_now() - x.begun;
	return true;
}

static void rows_free(struct repair_rows *r)
{
	for (uint32_t i = 0; i < r->count; i++) free(r->items[i].items);
	free(r->items);
}

void repair_free(struct repair *r)
{
	rows_free(&r->answers);
	rows_free(&r->failing);
	free(r->asked.items);
	free(r->weaker.items);
	edits_free(r->edits);
	*r = (struct repair){ 0 };
}
