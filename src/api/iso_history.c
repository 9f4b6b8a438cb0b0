/* isoscope.h: histories. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/check_history.h"
#include "api/convert.h"
#include "api/generated.h"
#include "api/inputs.h"
#include "api/objects.h"
#include "axioms/allows.h"
#include "axioms/witness.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "history/history.h"
#include "history/trace.h"

static iso_history *new_history(void)
{
	iso_history *h = mem_take0(1, sizeof *h);
	pthread_mutex_init(&h->lock, NULL);
	h->format = FORMAT_COUNT;
	h->number = 1;
	return h;
}

iso_history *history_of_trace(struct trace *t, bool borrowed)
{
	iso_history *h = new_history();
	assert(t->transaction_count);
	h->trace = t;
	h->trace_borrowed = borrowed;
	return h;
}

iso_history *history_of_exploration(struct history *history, bool borrowed)
{
	iso_history *h = new_history();
	assert(history->transaction_count);
	h->history = history;
	h->history_borrowed = borrowed;
	h->explored = true;
	return h;
}

void iso_history_free(iso_history *history)
{
	if (!history) return;
	if (!history->trace_borrowed) trace_free(history->trace);
	if (!history->history_borrowed) history_free(history->history);
	free(history->order);
	text_free(&history->text);
	pthread_mutex_destroy(&history->lock);
	free(history);
}

/* What a history says does not change by being put in another form. */
static iso_history *for_memory(const iso_history *h)
{
	return (iso_history *)h;
}

static void make_trace(void *data)
{
	iso_history *h = data;
	h->trace = trace_of_history(h->history, "(history)");
}

/* NULL when memory cannot be had. What is made outlives the call that wants
 * it, so it is work of its own. */
static const struct trace *trace_or_null(const iso_history *history)
{
	iso_history *h = for_memory(history);
	pthread_mutex_lock(&h->lock);
	bool made = h->trace || mem_run(NULL, make_trace, h);
	pthread_mutex_unlock(&h->lock);
	assert(!made || h->trace->transaction_count);
	return made ? h->trace : NULL;
}

const struct trace *history_as_trace(const iso_history *history)
{
	const struct trace *t = trace_or_null(history);
	if (!t) mem_fail();
	return t;
}

/* ---- reading ---- */

struct iso_reader {
	struct history_reader *reader;
	char *path;
	uint64_t count;
};

static int try_reader_open(iso_reader **out, const char *path,
                           const iso_read_options *options, iso_diags **diags)
{
	iso_read_options given;
	struct problem problem = { 0 };
	if (diags) *diags = NULL;
	if (!out || !path || !options_read(&given, sizeof given, options) ||
	    !is_format(given.format))
		return ISO_E_ARGUMENT;
	*out = NULL;
	struct reader_options o = { .format = internal_format(given.format),
		                    .unknown_is_initial =
		                            given.unknown_is_initial };
	struct history_reader *r = NULL;
	if (!input_is_client(path, "here a recorded history is wanted",
	                     &problem)) {
		r = history_reader_open(path, &o, &problem.diags);
		if (!r) problem_diagnosed(&problem, PROBLEM_INPUT);
	}
	if (r) {
		*out = mem_take0(1, sizeof **out);
		(*out)->reader = r;
		(*out)->path = mem_copy_string(path);
	}
	return problem_give(&problem, diags);
}

int iso_reader_open(iso_reader **out, const char *path,
                    const iso_read_options *options, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_reader_open(out, path, options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

static int try_reader_next(iso_reader *reader, iso_history **out,
                           iso_diags **diags)
{
	struct problem problem = { 0 };
	if (diags) *diags = NULL;
	if (!reader || !out) return ISO_E_ARGUMENT;
	*out = NULL;
	double begun = seconds_now();
	struct trace *t = history_reader_next(reader->reader, &problem.diags);
	if (problem.diags.errors) problem_diagnosed(&problem, PROBLEM_INPUT);
	if (t) {
		iso_history *h = history_of_trace(t, false);
		assert(!problem.kind);
		h->format = history_reader_format(reader->reader);
		h->number = ++reader->count;
		h->read_seconds = seconds_now() - begun;
		*out = h;
	}
	int status = problem_give(&problem, diags);
	return status < 0 ? status : *out != NULL;
}

int iso_reader_next(iso_reader *reader, iso_history **out, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_reader_next(reader, out, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

iso_format iso_reader_format(const iso_reader *reader)
{
	enum format f =
		reader ? history_reader_format(reader->reader) : FORMAT_COUNT;
	return f == FORMAT_COUNT ? ISO_FORMAT_DETECT : (iso_format)(f + 1);
}

void iso_reader_close(iso_reader *reader)
{
	if (!reader) return;
	history_reader_close(reader->reader);
	free(reader->path);
	free(reader);
}

static int try_history_read(iso_history **out, const char *path,
                            const iso_read_options *options, iso_diags **diags)
{
	iso_reader *reader;
	if (!out) return ISO_E_ARGUMENT;
	*out = NULL;
	int status = iso_reader_open(&reader, path, options, diags);
	if (status < 0) return status;
	if (diags) iso_diags_free(*diags);
	status = iso_reader_next(reader, out, diags);
	if (!status) {
		struct problem problem = { 0 };
		if (diags) iso_diags_free(*diags);
		input_too_short(path, 0, 0, &problem);
		status = problem_give(&problem, diags);
	}
	iso_reader_close(reader);
	return status < 0 ? status : ISO_OK;
}

int iso_history_read(iso_history **out, const char *path,
                     const iso_read_options *options, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_history_read(out, path, options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

/* ---- writing ---- */

static bool may_be_printed(const iso_history *h, iso_format *format,
                           iso_diags **diags)
{
	if (diags) *diags = NULL;
	if (*format == ISO_FORMAT_DETECT) *format = ISO_FORMAT_ISOSCOPE;
	return h && is_format(*format);
}

static bool print(const iso_history *h, enum format f, struct text *t,
                  struct problem *p)
{
	if (format_is_folder(f))
		return problem_set(p, PROBLEM_INPUT, "a %s history is a folder",
		                   format_word(f));
	return print_history(t, history_as_trace(h), f, h->order, NULL, p);
}

static int try_history_print(const iso_history *history, iso_format format,
                             char **out, size_t *length, iso_diags **diags)
{
	struct text t = { 0 };
	struct problem problem = { 0 };
	if (!may_be_printed(history, &format, diags) || !out)
		return ISO_E_ARGUMENT;
	*out = NULL;
	if (print(history, internal_format(format), &t, &problem)) {
		text_get(&t);
		*out = t.data;
		if (length) *length = t.length;
	} else {
		text_free(&t);
	}
	return problem_give(&problem, diags);
}

int iso_history_print(const iso_history *history, iso_format format, char **out,
                      size_t *length, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status,
	        try_history_print(history, format, out, length, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

static bool write_file(const char *path, const struct text *t,
                       struct problem *p)
{
	errno = 0;
	FILE *f = fopen(path, "we");
	bool fine = f && fwrite(t->data, 1, t->length, f) == t->length;
	if (f && fclose(f)) fine = false;
	return fine || problem_set(p, PROBLEM_SYSTEM, "cannot write %s: %s",
	                           path, strerror(errno));
}

static int try_history_write(const iso_history *history, iso_format format,
                             const char *path, iso_diags **diags)
{
	struct text t = { 0 };
	struct problem problem = { 0 };
	if (!may_be_printed(history, &format, diags) || !path)
		return ISO_E_ARGUMENT;
	enum format f = internal_format(format);
	if (format_is_folder(f)) {
		write_history_folder(path, history_as_trace(history), f, NULL,
		                     &problem);
		if (problem.kind == PROBLEM_REQUEST)
			problem.kind = PROBLEM_SYSTEM;
	} else if (print(history, f, &t, &problem)) {
		write_file(path, &t, &problem);
	}
	text_free(&t);
	return problem_give(&problem, diags);
}

int iso_history_write(const iso_history *history, iso_format format,
                      const char *path, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_history_write(history, format, path, diags));
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

static void make_history(void *data)
{
	iso_history *h = data;
	h->history = trace_history(h->trace, &(struct trace_part){ 0 }, NULL);
}

static void make_text(void *data)
{
	iso_history *h = data;
	struct text t = { 0 };
	history_print_canonical(&t, h->history);
	h->text = t;
}

const char *iso_history_text(const iso_history *history)
{
	iso_history *h = for_memory(history);
	if (!h) return NULL;
	pthread_mutex_lock(&h->lock);
	if (!h->history && !h->trace->lists && !h->trace->known_count)
		mem_run(NULL, make_history, h);
	bool made =
		h->history && (h->text.length || mem_run(NULL, make_text, h));
	pthread_mutex_unlock(&h->lock);
	return made ? text_get(&h->text) : NULL;
}

/* ---- looking at them ---- */

size_t iso_history_session_count(const iso_history *history)
{
	const struct trace *t = history ? trace_or_null(history) : NULL;
	return t ? t->session_count : 0;
}

const char *iso_history_session_name(const iso_history *history, size_t session)
{
	if (session >= iso_history_session_count(history)) return NULL;
	return history_as_trace(history)->sessions[session].name;
}

size_t iso_history_transaction_count(const iso_history *history)
{
	const struct trace *t = history ? trace_or_null(history) : NULL;
	return t ? t->transaction_count : 0;
}

size_t iso_history_event_count(const iso_history *history)
{
	const struct trace *t = history ? trace_or_null(history) : NULL;
	return t ? t->op_count : 0;
}

static int try_history_transaction(const iso_history *history,
                                   size_t transaction, iso_transaction *out)
{
	if (!history || !out) return ISO_E_ARGUMENT;
	const struct trace *t = history_as_trace(history);
	if (transaction >= t->transaction_count) return ISO_E_RANGE;
	const struct trace_transaction *x = &t->transactions[transaction];
	bool init = transaction == TRACE_INIT;
	iso_transaction public = {
		.size = sizeof public,
		.session = init ? ISO_NONE : x->session,
		.index = init ? 0 : transaction - t->sessions[x->session].first,
		.name = x->name,
		.outcome = x->status == TRACE_COMMITTED ? ISO_COMMITTED
		           : x->status == TRACE_ABORTED ? ISO_ABORTED
		                                        : ISO_OUTCOME_UNKNOWN,
		.event_count = x->op_count,
		.line = x->line,
	};
	return structure_write(out, &public, sizeof public) ? ISO_OK
	                                                    : ISO_E_ARGUMENT;
}

int iso_history_transaction(const iso_history *history, size_t transaction,
                            iso_transaction *out)
{
	int status;
	CALL_IN(NULL, status,
	        try_history_transaction(history, transaction, out));
	return status;
}

static size_t writer_of(const struct trace_op *o, size_t transaction)
{
	if (o->kind == EVENT_WRITE || o->from == TRACE_NOBODY) return ISO_NONE;
	return o->from == TRACE_SELF ? transaction : o->from;
}

static int try_history_event(const iso_history *history, size_t transaction,
                             size_t event, iso_event *out)
{
	if (!history || !out) return ISO_E_ARGUMENT;
	const struct trace *t = history_as_trace(history);
	if (transaction >= t->transaction_count ||
	    event >= t->transactions[transaction].op_count)
		return ISO_E_RANGE;
	const struct trace_op *o =
		&t->ops[t->transactions[transaction].first_op + event];
	const struct trace_key *k = &t->keys[o->key];
	bool absent = t->valueless || o->flags & (TRACE_NULL | TRACE_MISSING);
	bool text = !absent && o->flags & TRACE_TEXT;
	iso_event public = {
		.size = sizeof public,
		.write = o->kind == EVENT_WRITE,
		.key = k->name,
		.key_number = k->name ? 0 : k->number,
		.value = text ? t->texts[o->value] : NULL,
		.number = text || absent ? 0 : o->value,
		.absent = absent,
		.list = o->flags & TRACE_LIST,
		.writer = writer_of(o, transaction),
		.line = o->line,
		.gives_up = o->strength == STRENGTH_GIVEN_UP,
	};
	return structure_write(out, &public, sizeof public) ? ISO_OK
	                                                    : ISO_E_ARGUMENT;
}

int iso_history_event(const iso_history *history, size_t transaction,
                      size_t event, iso_event *out)
{
	int status;
	CALL_IN(NULL, status,
	        try_history_event(history, transaction, event, out));
	return status;
}

/* ---- levels ---- */

static int try_history_satisfies(const iso_history *history, iso_level level)
{
	struct checked c;
	struct check_limits limits = { 0 };
	if (!history || !is_level(level)) return ISO_E_ARGUMENT;
	enum level l = internal_level(level);
	if (history->explored) return level_allows_history(l, history->history);
	struct check_clock *clock = check_clock_new(&limits);
	check_history(&c, history_as_trace(history), 1u << l, clock);
	int holds = check_has(&c.found, l, VERDICT_HOLDS);
	checked_free(&c);
	check_clock_free(clock);
	return holds;
}

int iso_history_satisfies(const iso_history *history, iso_level level)
{
	int status;
	CALL_IN(NULL, status, try_history_satisfies(history, level));
	return status;
}

/* By the part of a recorded history that violates the weakest level. */
static const char *anomaly_of_part(const iso_history *h, enum level *l)
{
	struct checked c;
	struct check_limits limits = { 0 };
	struct check_clock *clock = check_clock_new(&limits);
	const char *name = NULL;
	check_history(&c, history_as_trace(h), (1u << LEVEL_COUNT) - 1, clock);
	*l = 0;
	while (*l < LEVEL_COUNT && !check_has(&c.found, *l, VERDICT_VIOLATED))
		++*l;
	if (*l < LEVEL_COUNT) {
		checked_explain(&c);
		name = check_anomaly_name(&c.found, *l);
		if (!name) name = "anomaly";
	}
	checked_free(&c);
	check_clock_free(clock);
	return name;
}

struct anomaly {
	const iso_history *history;
	const char *name;
	enum level forbidden_by;
};

static void find_anomaly(void *data)
{
	struct anomaly *a = data;
	if (!a->history->explored)
		a->name = anomaly_of_part(a->history, &a->forbidden_by);
	else if (!level_allows_history(LEVEL_SERIAL, a->history->history))
		a->name = anomaly_name(a->history->history, &a->forbidden_by);
}

const char *iso_history_anomaly(const iso_history *history,
                                iso_level *forbidden_by)
{
	struct anomaly a = { .history = history, .forbidden_by = LEVEL_COUNT };
	if (history && !mem_run(NULL, find_anomaly, &a)) a.name = NULL;
	if (forbidden_by)
		*forbidden_by = a.name ? public_level(a.forbidden_by)
		                       : ISO_LEVEL_DEFAULT;
	return a.name;
}

/* ---- generating ---- */

static bool read_workload(struct workload *w, const iso_generate_options *o,
                          struct problem *p)
{
	*w = workload_default();
	if (is_level(o->level)) w->level = internal_level(o->level);
	if (o->ops) w->ops = o->ops;
	w->transactions = o->transactions;
	if (o->sessions) w->sessions = o->sessions;
	if (o->length) w->length = o->length;
	w->geometric = o->geometric;
	if (o->keys) w->keys = o->keys;
	if (o->writes != 0) w->reads = 1 - o->writes;
	if (o->theta != 0) {
		w->distribution = DISTRIBUTION_ZIPF;
		w->theta = o->theta;
	}
	if (o->lag) w->lag = o->lag;
	w->aborts = o->aborts;
	if (o->seed) w->seed = o->seed;
	w->locks = o->locks;
	struct text why = { 0 };
	if (o->mix && !levels_read(o->mix, &w->mix, &why))
		problem_set(p, PROBLEM_REQUEST, "%s: %s", o->mix,
		            text_get(&why));
	text_free(&why);
	if (p->kind) return false;
	if (!o->anomaly) return true;
	w->planted = planted_from_word(o->anomaly);
	return w->planted != PLANTED_COUNT ||
	       problem_set(p, PROBLEM_REQUEST, "there is no anomaly '%s'",
	                   o->anomaly);
}

static int try_history_generate(iso_history **out,
                                const iso_generate_options *options,
                                iso_diags **diags)
{
	iso_generate_options given;
	struct problem problem = { 0 };
	struct workload w;
	uint32_t *order = NULL;
	if (diags) *diags = NULL;
	if (!out || !options_read(&given, sizeof given, options) ||
	    (given.level && !is_level(given.level)) || !is_format(given.format))
		return ISO_E_ARGUMENT;
	*out = NULL;
	enum format to =
		given.format ? internal_format(given.format) : FORMAT_ISOSCOPE;
	struct trace *t = NULL;
	if (read_workload(&w, &given, &problem))
		t = generate_history(&w, to, &order, &problem);
	if (t) {
		*out = history_of_trace(t, false);
		(*out)->order = order;
	}
	return problem_give(&problem, diags);
}

int iso_history_generate(iso_history **out, const iso_generate_options *options,
                         iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_history_generate(out, options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}
