#include "execution/observed_reads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "history/history.h"
#include "vm/bytecode.h"
#include "vm/program.h"

/* ---- from a trace ---- */

/* Which session of the program is which of the trace. */
struct matching {
	const struct program *program;
	const struct trace *trace;
	struct diags *diags;
	uint32_t *of_trace;   /* by session of the trace: the program's */
	uint32_t *of_program; /* the inverse, TRACE_NONE where there is none */
};

static uint32_t line_of(const struct trace *t, uint32_t session)
{
	const struct trace_session *s = &t->sessions[session];
	return s->count ? t->transactions[s->first].line : 0;
}

static void no_such_session(const struct program *p, const struct trace *t,
                            uint32_t session, struct diags *d)
{
	const char *name = t->sessions[session].name;
	uint32_t count = program_session_count(p);
	const char **names = mem_take0(count + 1, sizeof *names);
	for (uint32_t i = 0; i < count; i++)
		names[i] = program_session_name(p, i);
	const char *meant = diag_nearest(name, names, count);
	diags_add(d, DIAG_ERROR, t->file, line_of(t, session), 0, NULL,
	          "%s has no session '%s'%s%s%s", program_path(p), name,
	          meant ? "; its nearest name is '" : "", meant ? meant : "",
	          meant ? "'" : "");
	free(names);
}

static uint32_t session_named(const struct program *p, const char *name)
{
	for (uint32_t i = 0; i < program_session_count(p); i++)
		if (!strcmp(program_session_name(p, i), name)) return i;
	return TRACE_NONE;
}

/* Is none of those before it the same one of the program? */
static bool match_is_new(const struct trace *t, uint32_t session,
                         const uint32_t *of_trace, struct diags *d)
{
	for (uint32_t i = 0; i < session; i++) {
		if (of_trace[i] != of_trace[session]) continue;
		diags_add(d, DIAG_ERROR, t->file, line_of(t, session), 0, NULL,
		          "two sessions are called '%s'",
		          t->sessions[session].name);
		return false;
	}
	return true;
}

static bool match_by_name(const struct program *p, const struct trace *t,
                          uint32_t session, uint32_t *of_trace, struct diags *d)
{
	of_trace[session] = session_named(p, t->sessions[session].name);
	if (of_trace[session] == TRACE_NONE) {
		no_such_session(p, t, session, d);
		return false;
	}
	return match_is_new(t, session, of_trace, d);
}

static bool is_number(const char *name)
{
	return *name && strspn(name, "0123456789") == strlen(name);
}

/* Of two names that are numbers. */
static bool is_less(const char *a, const char *b)
{
	size_t m = strlen(a), n = strlen(b);
	return m != n ? m < n : strcmp(a, b) < 0;
}

/* Does the program have a global of the key's name, up to an index? */
static bool has_global(const struct program *p, const char *key)
{
	size_t length = strcspn(key, "[");
	if (program_is_native(p)) return true;
	for (uint32_t i = 0; i < p->globals_count; i++) {
		const char *name = p->globals[i].name;
		if (strlen(name) == length && !strncmp(name, key, length))
			return true;
	}
	return false;
}

/* Formats that number sessions may number keys as well. */
static bool keys_fit(const struct program *p, const struct trace *t,
                     struct diags *d)
{
	bool fit = true;
	struct text name = { 0 };
	for (uint32_t k = 0; k < t->key_count && fit; k++) {
		text_clear(&name);
		trace_print_key(&name, t, k);
		fit = has_global(p, text_get(&name));
	}
	if (!fit)
		diags_add(d, DIAG_ERROR, t->file, t->line, 0, NULL,
		          "sessions have numbers, and %s has no key '%s'; "
		          "isoscope, rw-edn, rw-json, list-edn and list-json "
		          "are the formats that keep the names of keys",
		          program_path(p), text_get(&name));
	text_free(&name);
	return fit;
}

/* As many numbers as there are sessions in the program? */
static bool numbers_sessions(const struct program *p, const struct trace *t)
{
	if (t->session_count != program_session_count(p)) return false;
	for (uint32_t i = 0; i < t->session_count; i++)
		if (!is_number(t->sessions[i].name)) return false;
	return true;
}

bool sessions_match(const struct program *p, const struct trace *t,
                    uint32_t *of_trace, struct diags *d)
{
	bool match = true;
	uint32_t n = t->session_count;
	if (!numbers_sessions(p, t)) {
		for (uint32_t i = 0; i < n; i++)
			match &= match_by_name(p, t, i, of_trace, d);
		return match;
	}
	for (uint32_t i = 0; i < n; i++) {
		of_trace[i] = 0;
		for (uint32_t j = 0; j < n; j++)
			of_trace[i] += is_less(t->sessions[j].name,
			                       t->sessions[i].name);
		match &= match_is_new(t, i, of_trace, d);
	}
	return match && keys_fit(p, t, d);
}

/* Can the program run as many transactions in the session? */
static bool bound_fits(const struct matching *m, uint32_t session)
{
	const struct trace_session *s = &m->trace->sessions[session];
	uint32_t bound =
		program_session_bound(m->program, m->of_trace[session]);
	if (!bound || s->count <= bound) return true;
	diags_add(m->diags, DIAG_ERROR, m->trace->file,
	          line_of(m->trace, session), 0, NULL,
	          "session '%s' has %" PRIu32 " transactions, but %s runs at "
	          "most %" PRIu32 " in it",
	          s->name, s->count, program_path(m->program), bound);
	return false;
}

static bool match_sessions(struct matching *m)
{
	bool fits = sessions_match(m->program, m->trace, m->of_trace, m->diags);
	for (uint32_t i = 0; fits && i < m->trace->session_count; i++) {
		fits = bound_fits(m, i);
		m->of_program[m->of_trace[i]] = i;
	}
	return fits;
}

static const char *copy_string(struct observed_reads *o, const char *s)
{
	return region_copy_string(&o->region, s, strlen(s));
}

/* Names of keys, each once. */
static const char **copy_keys(struct observed_reads *o, const struct trace *t)
{
	struct text name = { 0 };
	const char **keys = mem_take0((size_t)t->key_count + 1, sizeof *keys);
	for (uint32_t k = 0; k < t->key_count; k++) {
		text_clear(&name);
		trace_print_key(&name, t, k);
		keys[k] = copy_string(o, text_get(&name));
	}
	text_free(&name);
	return keys;
}

static struct observed_read copy_read(const struct matching *m,
                                      const struct trace_op *op,
                                      const char *const *keys)
{
	const struct trace *t = m->trace;
	struct observed_read r = { .key = keys[op->key] };
	if (op->from == TRACE_INIT) {
		r.session = OBSERVED_INIT;
	} else if (op->from == TRACE_NOBODY) {
		r.session = OBSERVED_NOBODY;
	} else {
		uint32_t session = t->transactions[op->from].session;
		r.session = m->of_trace[session];
		r.index = op->from - t->sessions[session].first;
	}
	return r;
}

/* Returns how many reads there are now. */
static uint32_t copy_transaction(struct observed_reads *o,
                                 const struct matching *m,
                                 struct observed_transaction *to,
                                 uint32_t transaction, const char *const *keys,
                                 uint32_t reads)
{
	const struct trace *t = m->trace;
	const struct trace_transaction *from = &t->transactions[transaction];
	*to = (struct observed_transaction){
		.name = from->name ? copy_string(o, from->name) : NULL,
		.status = (enum trace_status)from->status,
		.first_read = reads,
	};
	for (uint32_t i = 0; i < from->op_count; i++) {
		const struct trace_op *op = &t->ops[from->first_op + i];
		if (op->kind == EVENT_READ && op->from != TRACE_SELF)
			o->reads[reads++] = copy_read(m, op, keys);
	}
	to->read_count = reads - to->first_read;
	return reads;
}

static void copy_trace(struct observed_reads *o, const struct matching *m)
{
	const struct trace *t = m->trace;
	uint32_t next = 0, reads = 0;
	const char **keys = copy_keys(o, t);
	o->transactions = region_take0(
		&o->region, t->transaction_count * sizeof *o->transactions);
	o->reads = region_take0(&o->region,
	                        ((size_t)t->op_count + 1) * sizeof *o->reads);
	for (uint32_t i = 0; i < o->session_count; i++) {
		uint32_t session = m->of_program[i];
		o->first[i] = next;
		if (session == TRACE_NONE) continue;
		const struct trace_session *s = &t->sessions[session];
		for (uint32_t j = 0; j < s->count; j++)
			reads = copy_transaction(o, m, &o->transactions[next++],
			                         s->first + j, keys, reads);
	}
	o->first[o->session_count] = next;
	free(keys);
}

struct observed_reads *observed_reads_new(const struct program *p,
                                          const struct trace *t,
                                          struct diags *d)
{
	uint32_t count = program_session_count(p);
	struct matching m = {
		.program = p,
		.trace = t,
		.diags = d,
		.of_trace = mem_take0((size_t)t->session_count + 1,
		                      sizeof *m.of_trace),
		.of_program = mem_take((count + 1) * sizeof *m.of_program),
	};
	memset(m.of_program, 0xff, count * sizeof *m.of_program);
	struct observed_reads *o = NULL;
	if (match_sessions(&m)) {
		o = mem_take0(1, sizeof *o);
		region_init(&o->region);
		o->file = copy_string(o, t->file ? t->file : "");
		o->session_count = count;
		o->first = region_take0(&o->region,
		                        (count + 1) * sizeof *o->first);
		copy_trace(o, &m);
	}
	free(m.of_trace);
	free(m.of_program);
	return o;
}

void observed_reads_free(struct observed_reads *o)
{
	if (!o) return;
	region_free(&o->region);
	free(o);
}

/* ---- questions ---- */

uint32_t observed_transaction_count(const struct observed_reads *o,
                                    uint32_t session)
{
	return o->first[session + 1] - o->first[session];
}

const struct observed_transaction *
observed_transaction(const struct observed_reads *o, uint32_t session,
                     uint32_t index)
{
	if (index >= observed_transaction_count(o, session)) return NULL;
	return &o->transactions[o->first[session] + index];
}

const struct observed_read *observed_read(const struct observed_reads *o,
                                          uint32_t session, uint32_t index,
                                          uint32_t n)
{
	const struct observed_transaction *t =
		observed_transaction(o, session, index);
	return t && n < t->read_count ? &o->reads[t->first_read + n] : NULL;
}

/* ---- a history against it ---- */

static bool same_writer(const struct history *h, uint32_t from,
                        const struct observed_read *observed)
{
	const struct transaction *writer = &h->transactions[from];
	if (from == HISTORY_INIT) return observed->session == OBSERVED_INIT;
	return writer->session == observed->session &&
	       writer->index == observed->index;
}

static bool is_external(const struct event *e)
{
	return e->kind == EVENT_READ && e->from != HISTORY_SELF;
}

static uint32_t changes_of(const struct observed_reads *o,
                           const struct history *h, uint32_t transaction,
                           struct observed_change *out)
{
	const struct transaction *t = &h->transactions[transaction];
	uint32_t n = 0, count = 0;
	for (uint32_t i = 0; i < t->event_count; i++) {
		const struct event *e = &t->events[i];
		if (!is_external(e)) continue;
		const struct observed_read *observed =
			observed_read(o, t->session, t->index, n++);
		if (observed && strcmp(observed->key, h->keys[e->key].name))
			observed = NULL;
		if (observed && same_writer(h, e->from, observed)) continue;
		if (out)
			out[count] = (struct observed_change){ transaction, i,
				                               observed };
		count++;
	}
	return count;
}

uint32_t observed_changes(const struct observed_reads *o,
                          const struct history *h, struct observed_change **out)
{
	uint32_t count = 0;
	for (uint32_t t = 1; t < h->transaction_count; t++)
		count += changes_of(o, h, t, NULL);
	if (!out) return count;
	*out = mem_take0((size_t)count + 1, sizeof **out);
	uint32_t next = 0;
	for (uint32_t t = 1; t < h->transaction_count; t++)
		next += changes_of(o, h, t, *out + next);
	return count;
}

static enum observed_difference_kind
compare_transaction(const struct observed_transaction *a,
                    const struct transaction *b)
{
	uint32_t reads = 0;
	for (uint32_t i = 0; i < b->event_count; i++)
		reads += is_external(&b->events[i]);
	if (a->name && strcmp(a->name, b->name)) return OBSERVED_NAME;
	if (a->read_count != reads) return OBSERVED_READS;
	bool differ =
		a->status == (b->aborted ? TRACE_COMMITTED : TRACE_ABORTED);
	return differ ? OBSERVED_STATUS : OBSERVED_SAME;
}

struct observed_difference observed_compare(const struct observed_reads *o,
                                            const struct history *h)
{
	for (uint32_t s = 0; s < h->session_count; s++) {
		const struct history_session *to = &h->sessions[s];
		uint32_t count = observed_transaction_count(o, s);
		for (uint32_t i = 0; i < count && i < to->count; i++) {
			enum observed_difference_kind kind =
				compare_transaction(
					observed_transaction(o, s, i),
					&h->transactions[to->first + i]);
			if (kind == OBSERVED_SAME) continue;
			return (struct observed_difference){ kind, s, i };
		}
		if (count != to->count)
			return (struct observed_difference){
				OBSERVED_COUNT, s,
				count < to->count ? count : to->count
			};
	}
	return (struct observed_difference){ OBSERVED_SAME, 0, 0 };
}
