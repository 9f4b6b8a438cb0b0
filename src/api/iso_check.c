/* isoscope.h: checks, which explore a program. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "api/explorations.h"
#include "api/objects.h"
#include "api/programs.h"
#include "api/results.h"
#include "analyse/symmetry.h"
#include "base/memory.h"
#include "dpor/explorer.h"
#include "execution/observed_reads.h"
#include "dpor/verdict.h"
#include "history/history.h"
#include "vm/program.h"

struct iso_execution {
	const struct explore_execution *execution;
};

struct registered {
	iso_observer calls;
	void *payload;
};

/* What an exploration is asked to do, with what it borrows. */
struct asked {
	struct explore_options options;
	struct symmetry *symmetry; /* NULL: nothing is borrowed */
	struct observed_reads *observed;
};

struct iso_check {
	struct explorer *explorer;
	struct asked asked;
	pthread_mutex_t telling; /* observers are told one at a time */
	bool told_to_stop;       /* by one of them */
	atomic_bool interrupt;
	bool ran;
	/* All that is behind the pointers here, but for examples; when memory
	 * ran out, nothing is (failed). */
	struct mem_heap *heap;
	bool failed;
	struct registered *observers;
	size_t observer_count, observer_capacity;
	iso_history **examples; /* by slot, made when asked for */
};

_Static_assert((int)ISO_STOP_HISTORIES == (int)STOP_HISTORIES &&
                       (int)ISO_STOP_INTERRUPTED == (int)STOP_INTERRUPTED &&
                       (int)ISO_STOP_EVENTS == (int)STOP_EVENTS &&
                       (int)ISO_STOP_CLIENT == (int)STOP_GUEST &&
                       (int)ISO_STOP_BOUND == (int)STOP_BOUND &&
                       (int)ISO_STOP_STALE == (int)STOP_STALE,
               "iso_stop follows STOP_TABLE");

static const enum explorer_algorithm algorithms[] = {
	[ISO_EXPLORE_CE] = EXPLORE_CE,
	[ISO_EXPLORE_DFS] = EXPLORE_DFS,
	[ISO_EXPLORE_ORDERLY] = EXPLORE_ORDERLY,
};

static void public_stats(iso_stats *out, const struct explore_stats *s)
{
	*out = (iso_stats){
		.size = sizeof *out,
		.histories = s->histories,
		.end_states = s->end_states,
		.filtered = s->filtered,
		.pruned = s->pruned,
		.blocked = s->blocked,
		.duplicates = s->duplicates,
		.unserializable = s->unserializable,
		.explore_calls = s->explore_calls,
		.swaps_considered = s->swaps_considered,
		.swaps_taken = s->swaps_taken,
		.swaps_inconsistent = s->swaps_inconsistent,
		.swaps_not_latest = s->swaps_not_latest,
		.depth_max = s->depth_max,
		.memory_peak = s->memory_peak,
		.seconds = s->seconds,
		.cpu_seconds = s->cpu_seconds,
		.stop = (iso_stop)s->stop,
	};
	for (int l = 0; l < LEVEL_COUNT; l++)
		out->per_level[l + 1] = s->per_level[l];
}

static bool forward_history(void *payload, const struct explore_execution *e)
{
	iso_check *c = payload;
	iso_execution execution = { e };
	assert(c->ran);
	pthread_mutex_lock(&c->telling);
	bool go_on = !c->told_to_stop;
	size_t count = go_on ? c->observer_count : 0;
	for (size_t i = 0; i < count; i++) {
		struct registered *o = &c->observers[i];
		if (o->calls.history &&
		    !o->calls.history(o->payload, &execution))
			go_on = false;
	}
	c->told_to_stop = !go_on;
	pthread_mutex_unlock(&c->telling);
	return go_on;
}

static bool forward_tick(void *payload, const struct explore_stats *so_far,
                         uint32_t depth)
{
	iso_check *c = payload;
	if (!c->observer_count) return true;
	iso_stats stats;
	public_stats(&stats, so_far);
	bool go_on = true;
	for (size_t i = 0; i < c->observer_count; i++) {
		struct registered *o = &c->observers[i];
		if (o->calls.tick && !o->calls.tick(o->payload, &stats, depth))
			go_on = false;
	}
	return go_on;
}

/* Chooses the two levels; ISO_E_LEVEL when they don't fit. */
static int choose_levels(struct explore_options *to, const iso_options *from,
                         const struct program *p)
{
	struct problem problem = { 0 };
	if (is_level(from->level))
		to->level = internal_level(from->level);
	else if (!program_level(p, &to->level, &problem)) {
		problem_free(&problem);
		return ISO_E_LEVEL;
	}
	if (to->algorithm != EXPLORE_CE) {
		to->base = to->level;
		if (is_level(from->base) &&
		    internal_level(from->base) != to->level)
			return ISO_E_LEVEL;
		return ISO_OK;
	}
	to->base = level_base(to->level);
	if (is_level(from->base)) to->base = internal_level(from->base);
	if (!level_is_extensible(to->base) ||
	    !level_implies(to->level, to->base))
		return ISO_E_LEVEL;
	return ISO_OK;
}

static void asked_free(struct asked *a)
{
	symmetry_free(a->symmetry);
	observed_reads_free(a->observed);
}

/* What the exploration needs to know of the program first. */
static int borrow(struct asked *a, const iso_options *given,
                  const struct program *p)
{
	struct explore_options *o = &a->options;
	struct diags d = { 0 };
	int status = ISO_OK;
	assert(!a->symmetry && !a->observed);
	if (given->from) {
		o->observed = a->observed = observed_reads_new(
			p, history_as_trace(given->from), &d);
		if (!a->observed) status = ISO_E_HISTORY;
	}
	if (given->symmetry) {
		o->symmetry = a->symmetry = symmetry_new(p, &d);
		if (!a->symmetry) status = ISO_E_PROGRAM;
	}
	/* Where each history is a class of its own, the usual algorithm finds
	 * the same, and faster. */
	if (a->symmetry && a->symmetry->trivial && !given->bounded &&
	    !given->algorithm) {
		o->symmetry = NULL;
		o->algorithm = EXPLORE_CE;
		o->base = level_base(o->level);
	}
	diags_free(&d);
	return status;
}

static bool options_fit(const iso_options *o)
{
	bool orderly = o->symmetry || (o->bounded && !o->from);
	if ((o->level && !is_level(o->level)) ||
	    (o->base && !is_level(o->base)) || !(o->timeout >= 0) ||
	    o->algorithm < ISO_EXPLORE_CE || o->algorithm > ISO_EXPLORE_ORDERLY)
		return false;
	if (o->algorithm == ISO_EXPLORE_DFS && orderly) return false;
	return !o->from || (!o->symmetry && !o->algorithm && o->threads <= 1);
}

/* Reads the options; to be freed if that is fine. */
static int ask(struct asked *a, const iso_program *program,
               const iso_options *options)
{
	iso_options given;
	*a = (struct asked){ 0 };
	if (!options_read(&given, sizeof given, options) ||
	    !options_fit(&given))
		return ISO_E_ARGUMENT;
	bool orderly = given.symmetry || (given.bounded && !given.from);
	a->options = (struct explore_options){
		.algorithm = given.from ? EXPLORE_OUTWARD
		             : orderly  ? EXPLORE_ORDERLY
		                        : algorithms[given.algorithm],
		.max_histories = given.max_histories,
		.timeout = given.timeout,
		.memory = given.memory,
		.stop_on_violation = given.stop_on_violation,
		.robust = given.robust || given.from,
		.classify = given.classify,
		.check_duplicates = given.check_duplicates,
		.jobs = given.threads ? given.threads : 1,
		.max_changes = given.bounded ? given.max_changes : UINT64_MAX,
		.stop_unserializable = given.from && !given.bounded,
	};
	int status = choose_levels(&a->options, &given, program->compiled);
	if (status == ISO_OK) status = borrow(a, &given, program->compiled);
	if (status < 0) asked_free(a);
	return status;
}

static int try_check_new(iso_check *c, const iso_program *program,
                         const iso_options *options)
{
	struct asked asked;
	int status = ask(&asked, program, options);
	if (status < 0) return status;
	asked.options.interrupt = &c->interrupt;
	struct explore_observer observer = { .payload = c,
		                             .history = forward_history,
		                             .tick = forward_tick };
	c->asked = asked;
	c->explorer =
		explorer_new(program->compiled, &asked.options, &observer);
	return ISO_OK;
}

/* Outside of its own heap. */
static int take_check(iso_check **out)
{
	iso_check *c = *out = mem_take0(1, sizeof *c);
	atomic_init(&c->interrupt, false);
	pthread_mutex_init(&c->telling, NULL);
	return ISO_OK;
}

static void give_check(iso_check *c)
{
	mem_heap_free(c->heap);
	pthread_mutex_destroy(&c->telling);
	free(c);
}

int iso_check_new(iso_check **out, const iso_program *program,
                  const iso_options *options)
{
	int status;
	iso_check *c = NULL;
	if (!out || !program) return ISO_E_ARGUMENT;
	*out = NULL;
	CALL_IN(NULL, status, take_check(&c));
	if (status < 0) return status;
	c->heap = mem_heap_new();
	status = ISO_E_MEMORY;
	if (c->heap)
		CALL_IN(c->heap, status, try_check_new(c, program, options));
	if (status < 0)
		give_check(c);
	else
		*out = c;
	return status;
}

static int free_parts(iso_check *check)
{
	uint32_t slots = explorer_slot_count(check->explorer);
	for (uint32_t s = 0; check->examples && s < slots; s++)
		iso_history_free(check->examples[s]);
	free(check->examples);
	free(check->observers);
	explorer_free(check->explorer);
	asked_free(&check->asked);
	return ISO_OK;
}

void iso_check_free(iso_check *check)
{
	int status = ISO_OK;
	if (!check) return;
	if (!check->failed) {
		CALL_IN(check->heap, status, free_parts(check));
		/* What is left is the program's: what its code in C did. */
		mem_heap_forget(check->heap);
		check->heap = NULL;
	}
	(void)status;
	give_check(check);
}

static int try_check_observe(iso_check *check, const iso_observer *observer,
                             void *payload)
{
	VEC_RESERVE(check->observers, check->observer_count,
	            check->observer_capacity);
	check->observers[check->observer_count++] =
		(struct registered){ *observer, payload };
	return ISO_OK;
}

int iso_check_observe(iso_check *check, const iso_observer *observer,
                      void *payload)
{
	int status;
	if (!check || !observer) return ISO_E_ARGUMENT;
	if (check->failed) return ISO_E_MEMORY;
	if (check->ran) return ISO_E_STATE;
	CALL_IN(check->heap, status,
	        try_check_observe(check, observer, payload));
	check->failed = status == ISO_E_MEMORY;
	return status;
}

static int try_check_run(iso_check *check)
{
	explorer_run(check->explorer);
	if (program_fault(explorer_program(check->explorer)))
		return ISO_E_CLIENT;
	switch (explorer_verdict(check->explorer)) {
	case VERDICT_HOLDS: return ISO_HOLDS;
	case VERDICT_VIOLATED: return ISO_VIOLATED;
	default: break;
	}
	return ISO_INCONCLUSIVE;
}

int iso_check_run(iso_check *check)
{
	int status;
	if (!check) return ISO_E_ARGUMENT;
	if (check->failed) return ISO_E_MEMORY;
	if (check->ran) return ISO_E_STATE;
	check->ran = true;
	CALL_IN(check->heap, status, try_check_run(check));
	check->failed = status == ISO_E_MEMORY;
	return status;
}

void iso_check_stop(iso_check *check)
{
	if (check) atomic_store(&check->interrupt, true);
}

int iso_check_stats(const iso_check *check, iso_stats *out)
{
	iso_stats stats;
	if (!check || !out) return ISO_E_ARGUMENT;
	if (check->failed) return ISO_E_MEMORY;
	if (!check->ran) return ISO_E_STATE;
	public_stats(&stats, explorer_stats(check->explorer));
	return structure_write(out, &stats, sizeof stats) ? ISO_OK
	                                                  : ISO_E_ARGUMENT;
}

static int try_check_result(iso_result **out, const iso_check *check)
{
	if (!out || !check) return ISO_E_ARGUMENT;
	*out = NULL;
	if (check->failed) return ISO_E_MEMORY;
	if (!check->ran) return ISO_E_STATE;
	struct estimate share = explored_share(check->explorer);
	*out = iso_result_of_exploration(
		check->explorer, &(struct explored_beside){ .share = &share });
	return ISO_OK;
}

int iso_check_result(iso_result **out, const iso_check *check)
{
	int status;
	CALL_IN(NULL, status, try_check_result(out, check));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

/* ---- explorations of other kinds ---- */

static struct explore_observer observe_nothing(void *payload, enum level l,
                                               struct explore_options *o)
{
	(void)payload, (void)l, (void)o;
	return (struct explore_observer){ 0 };
}

static void end_nothing(void *payload, struct explorer *e)
{
	(void)payload, (void)e;
}

static int try_program_levels(iso_result **out, const iso_program *program,
                              const iso_options *options)
{
	struct asked asked;
	struct problem problem = { 0 };
	if (!out || !program) return ISO_E_ARGUMENT;
	*out = NULL;
	int status = ask(&asked, program, options);
	if (status < 0) return status;
	if (asked.observed || asked.options.algorithm == EXPLORE_DFS) {
		asked_free(&asked);
		return ISO_E_ARGUMENT;
	}
	struct levels_request q = { .program = program->compiled,
		                    .options = &asked.options,
		                    .begin = observe_nothing,
		                    .end = end_nothing };
	struct levels_table *table = explore_all_levels(&q);
	if (program_sound(program->compiled, &problem))
		*out = iso_result_of(
			result_of_levels(table, asked.options.level));
	levels_table_free(table);
	asked_free(&asked);
	return problem_give(&problem, NULL);
}

int iso_program_levels(iso_result **out, const iso_program *program,
                       const iso_options *options)
{
	int status;
	CALL_IN(NULL, status, try_program_levels(out, program, options));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

/* Takes over the explorer. */
static int give(iso_result **out, const iso_program *program,
                struct explorer *e, const struct explored_beside *beside)
{
	struct problem problem = { 0 };
	if (program_sound(program->compiled, &problem))
		*out = iso_result_of_exploration(e, beside);
	explorer_free(e);
	return problem_give(&problem, NULL);
}

static int try_program_estimate(iso_result **out, const iso_program *program,
                                const iso_options *options, double seconds,
                                uint64_t seed)
{
	struct asked asked;
	struct outlook outlook;
	if (!out || !program || !(seconds > 0)) return ISO_E_ARGUMENT;
	*out = NULL;
	int status = ask(&asked, program, options);
	if (status < 0) return status;
	status = ISO_E_ARGUMENT;
	if (!asked.observed) {
		struct outlook_request q = { .program = program->compiled,
			                     .options = &asked.options,
			                     .seconds = seconds,
			                     .seed = seed };
		struct explorer *e = explore_ahead(&q, &outlook);
		status = give(out, program, e,
		              &(struct explored_beside){ .outlook = &outlook });
	}
	asked_free(&asked);
	return status;
}

int iso_program_estimate(iso_result **out, const iso_program *program,
                         const iso_options *options, double seconds,
                         uint64_t seed)
{
	int status;
	CALL_IN(NULL, status,
	        try_program_estimate(out, program, options, seconds, seed));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

static int try_program_sample(iso_result **out, const iso_program *program,
                              const iso_options *options, uint64_t descents,
                              uint64_t seed)
{
	struct asked asked;
	struct sample_share share;
	if (!out || !program || !descents) return ISO_E_ARGUMENT;
	*out = NULL;
	int status = ask(&asked, program, options);
	if (status < 0) return status;
	status = ISO_E_ARGUMENT;
	if (asked.options.algorithm == EXPLORE_CE &&
	    !asked.options.max_histories) {
		struct explorer *e =
			explore_sample(program->compiled, &asked.options, NULL,
		                       descents, seed, &share);
		status = give(out, program, e,
		              &(struct explored_beside){ .sample = &share });
	}
	asked_free(&asked);
	return status;
}

int iso_program_sample(iso_result **out, const iso_program *program,
                       const iso_options *options, uint64_t descents,
                       uint64_t seed)
{
	int status;
	CALL_IN(NULL, status,
	        try_program_sample(out, program, options, descents, seed));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

uint64_t iso_execution_number(const iso_execution *e)
{
	return e->execution->number;
}

uint64_t iso_execution_hash(const iso_execution *e)
{
	return explore_hash(e->execution);
}

size_t iso_execution_violated(const iso_execution *e)
{
	return e->execution->violated_count;
}

static int try_execution_history(const iso_execution *e, iso_history **out)
{
	if (!e || !out) return ISO_E_ARGUMENT;
	*out = history_of_exploration(explore_history(e->execution), false);
	return ISO_OK;
}

int iso_execution_history(const iso_execution *e, iso_history **out)
{
	int status;
	CALL_IN(NULL, status, try_execution_history(e, out));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

/* Run-time errors are told by their places. */
static bool is_violation(const struct explorer *e, uint32_t slot)
{
	return slot != explorer_slot_error(e) &&
	       explorer_slot_violated(e, slot);
}

size_t iso_check_violation_count(const iso_check *check)
{
	if (!check || check->failed) return 0;
	size_t n = 0;
	uint32_t slots = explorer_slot_count(check->explorer);
	for (uint32_t s = 0; s < slots; s++)
		n += is_violation(check->explorer, s);
	return n;
}

/* What is violated and where: the failing place if there is one, else the
 * assertion's own. */
static void describe(iso_violation *v, const struct explorer *e, uint32_t slot)
{
	const struct program *p = explorer_program(e);
	const struct explore_violation *found = explorer_violation(e, slot);
	struct position at = { 0 };
	v->kind = ISO_VIOLATION_ASSERTION;
	if (slot >= explorer_slot_places(e)) {
		v->kind = ISO_VIOLATION_RUN_TIME_ERROR;
		at = explorer_error_place(e, slot);
		if (found->finding) {
			v->text = found->finding->message;
			at = program_position(p, found->finding->point);
		}
	} else {
		if (explorer_slot_serializable(e, slot))
			v->kind = ISO_VIOLATION_SERIALIZABLE;
		v->text = "serializable";
		if (slot < program_assertion_count(p)) {
			const struct assertion *a = program_assertion(p, slot);
			v->text = a->text;
			at = a->at;
		}
	}
	v->file = at.file;
	v->line = at.line;
	v->column = at.column;
	v->histories = found->histories;
}

static int try_check_violation(iso_check *check, size_t i, iso_violation *out)
{
	if (!check || !out) return ISO_E_ARGUMENT;
	if (i >= iso_check_violation_count(check)) return ISO_E_RANGE;
	const struct explorer *e = check->explorer;
	uint32_t slot = 0;
	while (!is_violation(e, slot) || i-- > 0) slot++;
	iso_violation v = { .size = sizeof v };
	assert(slot < explorer_slot_count(e));
	describe(&v, e, slot);
	struct history *example = explorer_violation(e, slot)->example;
	if (!check->examples)
		check->examples = mem_take0(explorer_slot_count(e),
		                            sizeof *check->examples);
	if (example && !check->examples[slot])
		check->examples[slot] = history_of_exploration(example, true);
	v.example = check->examples[slot];
	return structure_write(out, &v, sizeof v) ? ISO_OK : ISO_E_ARGUMENT;
}

int iso_check_violation(iso_check *check, size_t i, iso_violation *out)
{
	int status;
	CALL_IN(NULL, status, try_check_violation(check, i, out));
	return status;
}
