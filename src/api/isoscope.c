#include "isoscope.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "history/history.h"
#include "compile/load.h"
#include "vm/program.h"

/* The public face of the library: thin objects around the internal ones. */

struct iso_diags {
	struct diags list;
};

struct iso_program {
	struct program *compiled;
};

struct iso_history {
	struct history *history;
	bool owned; /* else the explorer's */
	struct text text;
};

struct iso_execution {
	const struct explore_execution *execution;
};

struct registered {
	iso_observer calls;
	void *payload;
};

struct iso_check {
	struct explorer *explorer;
	pthread_mutex_t telling; /* observers are told one at a time */
	bool told_to_stop;       /* by one of them */
	atomic_bool interrupt;
	bool ran;
	struct registered *observers;
	size_t observer_count, observer_capacity;
	iso_history **examples; /* by slot, made when asked for */
};

/* The public levels are the internal ones moved by one, for the default. */
#define X(id, ...) \
	_Static_assert(ISO_##id == id + 1, "iso_level follows LEVEL_TABLE");
LEVEL_TABLE(X)
#undef X
_Static_assert((int)ISO_STOP_HISTORIES == (int)STOP_HISTORIES &&
                       (int)ISO_STOP_INTERRUPTED == (int)STOP_INTERRUPTED &&
                       (int)ISO_STOP_EVENTS == (int)STOP_EVENTS &&
                       (int)ISO_STOP_CLIENT == (int)STOP_GUEST,
               "iso_stop follows STOP_TABLE");

static bool is_level(iso_level l)
{
	return l >= ISO_LEVEL_NONE && l <= ISO_LEVEL_SER;
}

static enum level internal_level(iso_level l)
{
	return (enum level)(l - 1);
}

const char *iso_version(void)
{
	return ISO_VERSION;
}

const char *iso_strerror(int error)
{
	switch (error) {
#define ISO_X(id, number, text, when) \
	case id: return text;
		ISO_ERRORS(ISO_X)
#undef ISO_X
	case ISO_OK: return "no error";
	}
	return "unknown error";
}

const char *iso_level_word(iso_level level)
{
	return is_level(level) ? level_word(internal_level(level)) : NULL;
}

const char *iso_level_name(iso_level level)
{
	return is_level(level) ? level_name(internal_level(level)) : NULL;
}

iso_level iso_level_from_word(const char *word)
{
	if (!word) return ISO_LEVEL_DEFAULT;
	enum level l = level_from_word(word);
	return l == LEVEL_COUNT ? ISO_LEVEL_DEFAULT : (iso_level)(l + 1);
}

/* Wraps what was compiled, or NULL, and hands over or drops the list. */
static int finish_load(iso_program **out, struct program *compiled,
                       struct diags *list, iso_diags **diags)
{
	if (diags) {
		*diags = mem_take0(1, sizeof **diags);
		(*diags)->list = *list;
	} else {
		diags_free(list);
	}
	if (!compiled) return ISO_E_PROGRAM;
	*out = mem_take0(1, sizeof **out);
	(*out)->compiled = compiled;
	return ISO_OK;
}

int iso_program_load(iso_program **out, const char *path, iso_diags **diags)
{
	if (diags) *diags = NULL;
	if (!out || !path) return ISO_E_ARGUMENT;
	*out = NULL;
	struct diags list = { 0 };
	struct program *p = load_program(path, &list);
	return finish_load(out, p, &list, diags);
}

int iso_program_load_text(iso_program **out, const char *path,
                          const char *source, size_t length, iso_diags **diags)
{
	if (diags) *diags = NULL;
	if (!out || !path || !source) return ISO_E_ARGUMENT;
	*out = NULL;
	struct diags list = { 0 };
	struct program *p = load_program_text(path, source, length, &list);
	return finish_load(out, p, &list, diags);
}

void iso_program_free(iso_program *program)
{
	if (!program) return;
	program_free(program->compiled);
	free(program);
}

size_t iso_program_session_count(const iso_program *program)
{
	return program ? program_session_count(program->compiled) : 0;
}

const char *iso_program_session_name(const iso_program *program, size_t session)
{
	if (session >= iso_program_session_count(program)) return NULL;
	return program_session_name(program->compiled, (uint32_t)session);
}

/* Those met come first. */
size_t iso_program_assertion_count(const iso_program *program)
{
	uint32_t n = 0;
	if (!program) return 0;
	const struct program *p = program->compiled;
	while (n < program_assertion_count(p) && program_assertion_met(p, n))
		n++;
	return n;
}

const char *iso_program_assertion_text(const iso_program *program,
                                       size_t assertion)
{
	if (assertion >= iso_program_assertion_count(program)) return NULL;
	return program_assertion(program->compiled, (uint32_t)assertion)->text;
}

const char *iso_program_fault(const iso_program *program)
{
	return program ? program_fault(program->compiled) : NULL;
}

size_t iso_diags_count(const iso_diags *diags)
{
	return diags ? diags->list.count : 0;
}

int iso_diags_get(const iso_diags *diags, size_t i, iso_diag *out)
{
	if (!diags || !out) return ISO_E_ARGUMENT;
	if (i >= diags->list.count) return ISO_E_RANGE;
	const struct diag *d = &diags->list.items[i];
	*out = (iso_diag){
		.severity = d->kind == DIAG_ERROR     ? ISO_ERROR
		            : d->kind == DIAG_WARNING ? ISO_WARNING
		                                      : ISO_NOTE,
		.file = d->file,
		.line = d->line,
		.column = d->column,
		.message = d->message,
		.source_line = d->source_line,
	};
	return ISO_OK;
}

void iso_diags_free(iso_diags *diags)
{
	if (!diags) return;
	diags_free(&diags->list);
	free(diags);
}

static iso_history *wrap_history(struct history *h, bool owned)
{
	iso_history *w = mem_take0(1, sizeof *w);
	w->history = h;
	w->owned = owned;
	history_print_canonical(&w->text, h);
	return w;
}

const char *iso_history_text(const iso_history *history)
{
	return history ? text_get(&history->text) : NULL;
}

size_t iso_history_transaction_count(const iso_history *history)
{
	return history ? history->history->transaction_count : 0;
}

int iso_history_satisfies(const iso_history *history, iso_level level)
{
	if (!history || !is_level(level)) return ISO_E_ARGUMENT;
	return level_allows_history(internal_level(level), history->history);
}

const char *iso_history_anomaly(const iso_history *history,
                                iso_level *forbidden_by)
{
	enum level l = LEVEL_COUNT;
	const char *name = NULL;
	if (history && !level_allows_history(LEVEL_SERIAL, history->history))
		name = anomaly_name(history->history, &l);
	if (forbidden_by)
		*forbidden_by = name ? (iso_level)(l + 1) : ISO_LEVEL_DEFAULT;
	return name;
}

void iso_history_free(iso_history *history)
{
	if (!history) return;
	if (history->owned) history_free(history->history);
	text_free(&history->text);
	free(history);
}

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
	const char *stated = program_isolation(p);
	to->level = LEVEL_DEFAULT;
	if (is_level(from->level))
		to->level = internal_level(from->level);
	else if (stated && level_from_word(stated) != LEVEL_COUNT)
		to->level = level_from_word(stated);
	if (to->algorithm == EXPLORE_DFS) {
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

int iso_check_new(iso_check **out, const iso_program *program,
                  const iso_options *options)
{
	if (!out || !program) return ISO_E_ARGUMENT;
	*out = NULL;
	iso_options given = { 0 };
	if (options) {
		size_t size = options->size ? options->size : sizeof given;
		if (size > sizeof given) return ISO_E_ARGUMENT;
		memcpy(&given, options, size);
	}
	if ((given.level && !is_level(given.level)) ||
	    (given.base && !is_level(given.base)) || !(given.timeout >= 0) ||
	    (given.algorithm != ISO_EXPLORE_CE &&
	     given.algorithm != ISO_EXPLORE_DFS))
		return ISO_E_ARGUMENT;
	struct explore_options o = {
		.algorithm = given.algorithm == ISO_EXPLORE_DFS ? EXPLORE_DFS
		                                                : EXPLORE_CE,
		.max_histories = given.max_histories,
		.timeout = given.timeout,
		.memory = given.memory,
		.stop_on_violation = given.stop_on_violation,
		.robust = given.robust,
		.classify = given.classify,
		.check_duplicates = given.check_duplicates,
		.jobs = given.threads,
		.max_changes = UINT64_MAX,
	};
	int status = choose_levels(&o, &given, program->compiled);
	if (status < 0) return status;
	iso_check *c = mem_take0(1, sizeof *c);
	atomic_init(&c->interrupt, false);
	o.interrupt = &c->interrupt;
	pthread_mutex_init(&c->telling, NULL);
	struct explore_observer observer = { .payload = c,
		                             .history = forward_history,
		                             .tick = forward_tick };
	c->explorer = explorer_new(program->compiled, &o, &observer);
	c->examples = mem_take0(explorer_slot_count(c->explorer),
	                        sizeof *c->examples);
	*out = c;
	return ISO_OK;
}

void iso_check_free(iso_check *check)
{
	if (!check) return;
	uint32_t slots = explorer_slot_count(check->explorer);
	for (uint32_t s = 0; s < slots; s++)
		iso_history_free(check->examples[s]);
	free(check->examples);
	free(check->observers);
	explorer_free(check->explorer);
	pthread_mutex_destroy(&check->telling);
	free(check);
}

int iso_check_observe(iso_check *check, const iso_observer *observer,
                      void *payload)
{
	if (!check || !observer) return ISO_E_ARGUMENT;
	if (check->ran) return ISO_E_STATE;
	VEC_RESERVE(check->observers, check->observer_count,
	            check->observer_capacity);
	check->observers[check->observer_count++] =
		(struct registered){ *observer, payload };
	return ISO_OK;
}

int iso_check_run(iso_check *check)
{
	if (!check) return ISO_E_ARGUMENT;
	if (check->ran) return ISO_E_STATE;
	check->ran = true;
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

void iso_check_stop(iso_check *check)
{
	if (check) atomic_store(&check->interrupt, true);
}

int iso_check_stats(const iso_check *check, iso_stats *out)
{
	if (!check || !out || out->size > sizeof *out ||
	    out->size < sizeof out->size)
		return ISO_E_ARGUMENT;
	if (!check->ran) return ISO_E_STATE;
	iso_stats stats;
	public_stats(&stats, explorer_stats(check->explorer));
	stats.size = out->size;
	memcpy(out, &stats, out->size);
	return ISO_OK;
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

int iso_execution_history(const iso_execution *e, iso_history **out)
{
	if (!e || !out) return ISO_E_ARGUMENT;
	*out = wrap_history(explore_history(e->execution), true);
	return ISO_OK;
}

size_t iso_check_violation_count(const iso_check *check)
{
	if (!check) return 0;
	size_t n = 0;
	uint32_t slots = explorer_slot_count(check->explorer);
	for (uint32_t s = 0; s < slots; s++)
		n += explorer_slot_violated(check->explorer, s);
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
	if (slot == explorer_slot_error(e)) {
		v->kind = ISO_VIOLATION_RUN_TIME_ERROR;
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

int iso_check_violation(iso_check *check, size_t i, iso_violation *out)
{
	if (!check || !out || out->size > sizeof *out ||
	    out->size < sizeof out->size)
		return ISO_E_ARGUMENT;
	if (i >= iso_check_violation_count(check)) return ISO_E_RANGE;
	const struct explorer *e = check->explorer;
	uint32_t slot = 0;
	while (!explorer_slot_violated(e, slot) || i-- > 0) slot++;
	iso_violation v = { .size = out->size };
	describe(&v, e, slot);
	struct history *example = explorer_violation(e, slot)->example;
	if (example && !check->examples[slot])
		check->examples[slot] = wrap_history(example, false);
	v.example = check->examples[slot];
	memcpy(out, &v, out->size);
	return ISO_OK;
}
