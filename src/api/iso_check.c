/* isoscope.h: checks, which explore a program. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "api/explorations.h"
#include "api/history_lines.h"
#include "api/objects.h"
#include "api/programs.h"
#include "api/results.h"
#include "base/memory.h"
#include "dpor/explorer.h"
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

struct iso_check {
	struct explorer *explorer;
	struct explore_plan plan;
	struct history_lines *histories; /* NULL: not asked for */
	struct problem problem;          /* what could not be written */
	pthread_mutex_t telling;         /* observers are told one at a time */
	bool told_to_stop;               /* by one of them */
	atomic_bool interrupt;
	bool ran;
	/* All that is behind the pointers here, but for examples; when memory
	 * ran out, nothing is (failed). */
	struct mem_heap *heap;
	bool failed;
	struct registered *observers;
	size_t observer_count, observer_capacity;
	iso_history **examples; /* by slot, made when asked for */
	uint32_t example_count;
};

_Static_assert((int)ISO_STOP_HISTORIES == (int)STOP_HISTORIES &&
                       (int)ISO_STOP_INTERRUPTED == (int)STOP_INTERRUPTED &&
                       (int)ISO_STOP_EVENTS == (int)STOP_EVENTS &&
                       (int)ISO_STOP_CLIENT == (int)STOP_GUEST &&
                       (int)ISO_STOP_BOUND == (int)STOP_BOUND &&
                       (int)ISO_STOP_STALE == (int)STOP_STALE &&
                       (int)ISO_STOP_SERVER == (int)STOP_SERVER,
               "iso_stop follows STOP_TABLE");

static const enum explorer_algorithm algorithms[] = {
	[ISO_EXPLORE_USUAL] = EXPLORE_CE,
	[ISO_EXPLORE_DFS] = EXPLORE_DFS,
	[ISO_EXPLORE_ORDERLY] = EXPLORE_ORDERLY,
	[ISO_EXPLORE_CE] = EXPLORE_CE,
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
	if (c->histories && !history_lines_add(c->histories, e)) return false;
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

/* More than any machine has cores. */
enum { THREADS_MAX = 4096 };

static bool is_orderly(const iso_options *o)
{
	return o->symmetry || (o->bounded && !o->from);
}

static bool options_fit(const iso_options *o)
{
	if ((o->level && !is_level(o->level)) ||
	    (o->base && !is_level(o->base)) || !(o->timeout >= 0) ||
	    o->algorithm < ISO_EXPLORE_USUAL || o->algorithm > ISO_EXPLORE_CE ||
	    o->threads > THREADS_MAX)
		return false;
	if (o->algorithm == ISO_EXPLORE_DFS && is_orderly(o)) return false;
	return !o->from || (!o->symmetry && !o->algorithm && o->threads <= 1);
}

static struct explore_options internal_options(const iso_options *o)
{
	return (struct explore_options){
		.algorithm = o->from         ? EXPLORE_OUTWARD
		             : is_orderly(o) ? EXPLORE_ORDERLY
		                             : algorithms[o->algorithm],
		.max_histories = o->max_histories,
		.timeout = o->timeout,
		.memory = o->memory,
		.stop_on_violation = o->stop_on_violation,
		.robust = o->robust || o->from,
		.classify = o->classify,
		.check_duplicates = o->check_duplicates,
		.jobs = o->threads ? o->threads : 1,
		.max_changes = o->bounded ? o->max_changes : UINT64_MAX,
		.stop_unserializable = o->from && !o->bounded,
	};
}

bool check_options_read(iso_options *to, const iso_options *from)
{
	return options_read(to, sizeof *to, from) && options_fit(to);
}

bool check_options_are_limits(const iso_options *o)
{
	return !o->level && !o->base && !o->algorithm && !o->robust &&
	       !o->classify && !o->symmetry && !o->bounded && !o->from &&
	       !o->sessions_order;
}

/* The public error for a plan that cannot be made. */
static int plan_error(const struct explore_plan *x, const struct problem *p)
{
	static const int errors[] = {
		[PLAN_LEVELS] = ISO_E_LEVEL,     [PLAN_ORDER] = ISO_E_ARGUMENT,
		[PLAN_TASK] = ISO_E_PART,        [PLAN_FROM] = ISO_E_HISTORY,
		[PLAN_SYMMETRY] = ISO_E_PROGRAM,
	};
	assert(p->kind);
	return errors[x->step];
}

int check_plan_make(struct explore_plan *x, const iso_program *program,
                    const iso_options *given, const struct task *task,
                    struct problem *p)
{
	struct explore_wish w = {
		.level = is_level(given->level) ? internal_level(given->level)
		                                : LEVEL_COUNT,
		.base = is_level(given->base) ? internal_level(given->base)
		                              : LEVEL_COUNT,
		.order = given->sessions_order,
		.symmetry = given->symmetry,
		.any_algorithm = !given->algorithm,
		.from = given->from ? history_as_trace(given->from) : NULL,
		.task = task,
		.otherwise = "what was found so far is void, so start again",
	};
	x->options = internal_options(given);
	if (explore_plan_make(x, program->compiled, &w, p)) return ISO_OK;
	return plan_error(x, p);
}

/* For calls that take no file; `usual` is explore-ce for those that need it. */
static int plan(struct explore_plan *x, const iso_program *program,
                const iso_options *options, iso_algorithm usual)
{
	iso_options given;
	struct problem problem = { 0 };
	*x = (struct explore_plan){ 0 };
	if (!check_options_read(&given, options)) return ISO_E_ARGUMENT;
	if (given.algorithm == ISO_EXPLORE_USUAL && !given.from &&
	    !is_orderly(&given))
		given.algorithm = usual;
	int status = check_plan_make(x, program, &given, NULL, &problem);
	problem_free(&problem);
	return status;
}

static bool forward_snapshot(void *payload, const struct tally *found,
                             const struct branch_list *open)
{
	iso_check *c = payload;
	kept_snapshot(&c->plan.kept, found, open, &c->problem);
	return true;
}

/* Begins what is written, and the explorer. */
static bool begin_check(iso_check *c, const iso_check_files *files,
                        struct problem *p)
{
	struct explore_plan *x = &c->plan;
	struct kept *k = &x->kept;
	if (!kept_accept(k, x->program, &x->options, x->order, p)) return false;
	FILE *to = kept_histories(k, p);
	if (p->kind) return false;
	if (to)
		c->histories = history_lines_new(
			to, x->options.jobs, files->sorted,
			files->temporary ? files->temporary : "/tmp");
	struct explore_observer observer = { .payload = c,
		                             .history = forward_history,
		                             .tick = forward_tick };
	x->options.interrupt = &c->interrupt;
	if (k->unit) {
		x->options.snapshot_every = k->files.every;
		observer.snapshot = forward_snapshot;
	}
	c->explorer = explorer_new(x->program, &x->options, &observer);
	return kept_begin(k, c->explorer, &c->problem) ||
	       problem_diagnosed(p, PROBLEM_INPUT);
}

/* Do the files go together, and with the options? */
static bool files_fit(const iso_check_files *f, const iso_options *o)
{
	bool begun = f->resume || f->unit;
	if ((f->resume && f->unit) || !(f->every >= 0)) return false;
	if (begun && !check_options_are_limits(o)) return false;
	if (!begun && !f->checkpoint) return true;
	return !o->from && !o->check_duplicates && !f->sorted;
}

static int plan_check(iso_check *c, const iso_program *program,
                      const iso_options *options, const iso_check_files *files)
{
	iso_options given;
	iso_check_files f;
	struct problem *p = &c->problem;
	struct kept *k = &c->plan.kept;
	if (!check_options_read(&given, options) ||
	    !options_read(&f, sizeof f, files) || !files_fit(&f, &given))
		return ISO_E_ARGUMENT;
	struct kept_files paths = { f.resume, f.unit, f.checkpoint, f.every,
		                    f.histories };
	if (!kept_read(k, &paths, p)) return problem_error(p, ISO_E_PART);
	int status =
		check_plan_make(&c->plan, program, &given, kept_task(k), p);
	if (status < 0) return status;
	return begin_check(c, &f, p) ? ISO_OK : problem_error(p, ISO_E_PART);
}

static int free_parts(iso_check *check)
{
	for (uint32_t s = 0; s < check->example_count; s++)
		iso_history_free(check->examples[s]);
	free(check->examples);
	free(check->observers);
	history_lines_end(check->histories, "", &check->problem);
	explorer_free(check->explorer);
	explore_plan_free(&check->plan);
	problem_free(&check->problem);
	return ISO_OK;
}

/* Outside of its own heap. */
static int take_check(iso_check **out)
{
	iso_check *c = mem_take0(1, sizeof *c);
	*out = c;
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

/* The check's diagnostics, and what its problem says, into a list of the
 * caller's. */
static int copy_problem(iso_diags **to, const struct problem *p)
{
	struct diags list = { 0 };
	for (size_t i = 0; i < p->diags.count; i++) {
		const struct diag *d = &p->diags.items[i];
		diags_add(&list, d->kind, d->file, d->line, d->column,
		          d->source_line, "%s", d->message);
	}
	if (p->words.length)
		diags_add(&list, DIAG_ERROR, NULL, 0, 0, NULL, "%s",
		          p->words.data);
	diags_give(to, &list);
	return ISO_OK;
}

static int tell_problem(iso_diags **to, const struct problem *p)
{
	int status;
	CALL_IN(NULL, status, copy_problem(to, p));
	if (status < 0) *to = NULL;
	return status;
}

static void drop_parts(iso_check *c)
{
	int status;
	CALL_IN(c->heap, status, free_parts(c));
	(void)status;
}

/* Frees what was made, if the check cannot be had. */
static int finish_check(iso_check *c, iso_diags **diags, int status)
{
	int told = ISO_OK;
	if (status == ISO_E_MEMORY) return status;
	if (diags) told = tell_problem(diags, &c->problem);
	if (status == ISO_OK && told == ISO_OK) return ISO_OK;
	drop_parts(c);
	return status < 0 ? status : told;
}

static int fill_check(iso_check *c, const iso_program *program,
                      const iso_options *options, const iso_check_files *files,
                      iso_diags **diags)
{
	int status;
	c->heap = mem_heap_new();
	if (!c->heap) return ISO_E_MEMORY;
	CALL_IN(c->heap, status, plan_check(c, program, options, files));
	return finish_check(c, diags, status);
}

int iso_check_with_files(iso_check **out, const iso_program *program,
                         const iso_options *options,
                         const iso_check_files *files, iso_diags **diags)
{
	int status;
	if (diags) *diags = NULL;
	if (!out || !program) return ISO_E_ARGUMENT;
	*out = NULL;
	CALL_IN(NULL, status, take_check(out));
	if (status == ISO_OK)
		status = fill_check(*out, program, options, files, diags);
	if (status < 0 && *out) {
		give_check(*out);
		*out = NULL;
	}
	return status;
}

int iso_check_new(iso_check **out, const iso_program *program,
                  const iso_options *options)
{
	return iso_check_with_files(out, program, options, NULL, NULL);
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

/* False if not all was written: then the problem says why. What was not at one
 * time, and was later, is none. */
static bool end_files(iso_check *c)
{
	struct problem kept = { 0 };
	const struct kept *k = &c->plan.kept;
	const char *path = k->files.histories;
	if (!path && k->unit) path = k->unit->histories;
	bool fine = kept_end(&c->plan.kept, c->explorer, &kept);
	if (fine && !k->failing) problem_free(&c->problem);
	if (!c->problem.kind) {
		c->problem = kept;
	} else {
		problem_free(&kept);
	}
	fine &= history_lines_end(c->histories, path, &c->problem);
	c->histories = NULL;
	return fine;
}

static int try_check_run(iso_check *check)
{
	explorer_run(check->explorer);
	bool written = end_files(check);
	if (program_fault(explorer_program(check->explorer)))
		return ISO_E_CLIENT;
	if (!written) return ISO_E_FILE;
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

const char *iso_check_problem(const iso_check *check)
{
	if (!check || check->failed || !check->problem.words.length)
		return NULL;
	return check->problem.words.data;
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

static bool any_algorithm(const iso_options *options)
{
	iso_options given;
	return check_options_read(&given, options) &&
	       given.algorithm == ISO_EXPLORE_USUAL;
}

static int try_program_levels(iso_result **out, const iso_program *program,
                              const iso_options *options)
{
	struct explore_plan x;
	struct problem problem = { 0 };
	if (!out || !program) return ISO_E_ARGUMENT;
	*out = NULL;
	int status = plan(&x, program, options, ISO_EXPLORE_CE);
	if (status == ISO_OK &&
	    (x.observed || x.options.algorithm == EXPLORE_DFS))
		status = ISO_E_ARGUMENT;
	if (status < 0) {
		explore_plan_free(&x);
		return status;
	}
	struct levels_request q = { .program = x.program,
		                    .options = &x.options,
		                    .any_algorithm = any_algorithm(options),
		                    .begin = observe_nothing,
		                    .end = end_nothing };
	struct levels_table *table = explore_all_levels(&q);
	if (program_sound(program->compiled, &problem))
		*out = iso_result_of(
			result_of_levels(table, x.options.level, x.options.as));
	levels_table_free(table);
	explore_plan_free(&x);
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
	struct explore_plan x;
	struct outlook outlook;
	if (!out || !program || !(seconds > 0)) return ISO_E_ARGUMENT;
	*out = NULL;
	int status = plan(&x, program, options, ISO_EXPLORE_USUAL);
	if (status == ISO_OK && x.observed) status = ISO_E_ARGUMENT;
	if (status == ISO_OK) {
		struct outlook_request q = { .program = x.program,
			                     .options = &x.options,
			                     .seconds = seconds,
			                     .seed = seed };
		struct explorer *e = explore_ahead(&q, &outlook);
		status = give(out, program, e,
		              &(struct explored_beside){ .outlook = &outlook });
	}
	explore_plan_free(&x);
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
	struct explore_plan x;
	struct sample_share share;
	if (!out || !program || !descents) return ISO_E_ARGUMENT;
	*out = NULL;
	int status = plan(&x, program, options, ISO_EXPLORE_CE);
	if (status == ISO_OK &&
	    (x.options.algorithm != EXPLORE_CE || x.options.max_histories))
		status = ISO_E_ARGUMENT;
	if (status == ISO_OK) {
		struct explorer *e = explore_sample(x.program, &x.options, NULL,
		                                    descents, seed, &share);
		status = give(out, program, e,
		              &(struct explored_beside){ .sample = &share });
	}
	explore_plan_free(&x);
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

struct wanted_example {
	iso_check *check;
	uint32_t slot;
};

/* There are more slots the more places of run-time errors are met. */
static void reserve_examples(void *data)
{
	const struct wanted_example *w = data;
	iso_check *check = w->check;
	if (w->slot < check->example_count) return;
	check->examples = mem_grow0(check->examples, check->example_count,
	                            w->slot + 1, sizeof *check->examples);
	check->example_count = w->slot + 1;
}

static void make_example(void *data)
{
	const struct wanted_example *w = data;
	struct history *example =
		explorer_violation(w->check->explorer, w->slot)->example;
	if (example && !w->check->examples[w->slot])
		w->check->examples[w->slot] =
			history_of_exploration(example, true);
}

/* What is made outlives the call that wants it, so each is work of its own. */
static const iso_history *example_of(iso_check *check, uint32_t slot)
{
	struct wanted_example w = { check, slot };
	if (!mem_run(NULL, reserve_examples, &w) ||
	    !mem_run(NULL, make_example, &w))
		mem_fail();
	return check->examples[slot];
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
	v.example = example_of(check, slot);
	return structure_write(out, &v, sizeof v) ? ISO_OK : ISO_E_ARGUMENT;
}

int iso_check_violation(iso_check *check, size_t i, iso_violation *out)
{
	int status;
	CALL_IN(NULL, status, try_check_violation(check, i, out));
	return status;
}
