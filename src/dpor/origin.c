#include "dpor/origin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "history/history.h"
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

static void no_such_session(const struct matching *m, uint32_t session)
{
	const struct trace_session *s = &m->trace->sessions[session];
	uint32_t count = program_session_count(m->program);
	const char **names = mem_take0(count + 1, sizeof *names);
	for (uint32_t i = 0; i < count; i++)
		names[i] = program_session_name(m->program, i);
	const char *meant = diag_nearest(s->name, names, count);
	uint32_t line = s->count ? m->trace->transactions[s->first].line : 0;
	diags_add(m->diags, DIAG_ERROR, m->trace->file, line, 0, NULL,
	          "%s has no session '%s'%s%s%s", program_path(m->program),
	          s->name, meant ? "; its nearest name is '" : "",
	          meant ? meant : "", meant ? "'" : "");
	free(names);
}

static bool match_session(const struct matching *m, uint32_t session)
{
	const struct trace_session *s = &m->trace->sessions[session];
	uint32_t count = program_session_count(m->program), i = 0;
	while (i < count && strcmp(program_session_name(m->program, i),
	                           s->name))
		i++;
	if (i == count) {
		no_such_session(m, session);
		return false;
	}
	uint32_t line = s->count ? m->trace->transactions[s->first].line : 0;
	uint32_t bound = program_session_bound(m->program, i);
	if (m->of_program[i] != TRACE_NONE) {
		diags_add(m->diags, DIAG_ERROR, m->trace->file, line, 0, NULL,
		          "two sessions are called '%s'", s->name);
		return false;
	}
	if (bound && s->count > bound) {
		diags_add(m->diags, DIAG_ERROR, m->trace->file, line, 0, NULL,
		          "session '%s' has %" PRIu32 " transactions, but %s "
		          "runs at most %" PRIu32 " in it", s->name, s->count,
		          program_path(m->program), bound);
		return false;
	}
	m->of_trace[session] = i;
	m->of_program[i] = session;
	return true;
}

static const char *copy_string(struct origin *o, const char *s)
{
	return region_copy_string(&o->region, s, strlen(s));
}

/* Names of keys, each once. */
static const char **copy_keys(struct origin *o, const struct trace *t)
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

static struct origin_read copy_read(const struct matching *m,
                                    const struct trace_op *op,
                                    const char *const *keys)
{
	const struct trace *t = m->trace;
	struct origin_read r = { .key = keys[op->key] };
	if (op->from == TRACE_INIT) {
		r.session = ORIGIN_INIT;
	} else if (op->from == TRACE_NOBODY) {
		r.session = ORIGIN_NOBODY;
	} else {
		uint32_t session = t->transactions[op->from].session;
		r.session = m->of_trace[session];
		r.index = op->from - t->sessions[session].first;
	}
	return r;
}

/* Returns how many reads there are now. */
static uint32_t copy_transaction(struct origin *o, const struct matching *m,
                                 struct origin_transaction *to,
                                 uint32_t transaction,
                                 const char *const *keys, uint32_t reads)
{
	const struct trace *t = m->trace;
	const struct trace_transaction *from = &t->transactions[transaction];
	*to = (struct origin_transaction){
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

static void copy_trace(struct origin *o, const struct matching *m)
{
	const struct trace *t = m->trace;
	uint32_t next = 0, reads = 0;
	const char **keys = copy_keys(o, t);
	o->transactions =
	    region_take0(&o->region,
	                 t->transaction_count * sizeof *o->transactions);
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

struct origin *origin_new(const struct program *p, const struct trace *t,
                          struct diags *d)
{
	uint32_t count = program_session_count(p);
	struct matching m = {
		.program = p, .trace = t, .diags = d,
		.of_trace = mem_take0((size_t)t->session_count + 1,
		                      sizeof *m.of_trace),
		.of_program = mem_take((count + 1) * sizeof *m.of_program),
	};
	memset(m.of_program, 0xff, count * sizeof *m.of_program);
	bool matched = true;
	for (uint32_t i = 0; i < t->session_count; i++)
		matched &= match_session(&m, i);
	struct origin *o = NULL;
	if (matched) {
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

void origin_free(struct origin *o)
{
	if (!o) return;
	region_free(&o->region);
	free(o);
}

/* ---- questions ---- */

uint32_t origin_transaction_count(const struct origin *o, uint32_t session)
{
	return o->first[session + 1] - o->first[session];
}

const struct origin_transaction *
origin_transaction(const struct origin *o, uint32_t session, uint32_t index)
{
	if (index >= origin_transaction_count(o, session)) return NULL;
	return &o->transactions[o->first[session] + index];
}

const struct origin_read *origin_read(const struct origin *o,
                                      uint32_t session, uint32_t index,
                                      uint32_t n)
{
	const struct origin_transaction *t =
	    origin_transaction(o, session, index);
	return t && n < t->read_count ? &o->reads[t->first_read + n] : NULL;
}

/* ---- a history against it ---- */

static bool same_writer(const struct history *h, uint32_t from,
                        const struct origin_read *observed)
{
	const struct transaction *writer = &h->transactions[from];
	if (from == HISTORY_INIT) return observed->session == ORIGIN_INIT;
	return writer->session == observed->session &&
	       writer->index == observed->index;
}

static bool is_external(const struct event *e)
{
	return e->kind == EVENT_READ && e->from != HISTORY_SELF;
}

static uint32_t changes_of(const struct origin *o, const struct history *h,
                           uint32_t transaction, struct origin_change *out)
{
	const struct transaction *t = &h->transactions[transaction];
	uint32_t n = 0, count = 0;
	for (uint32_t i = 0; i < t->event_count; i++) {
		const struct event *e = &t->events[i];
		if (!is_external(e)) continue;
		const struct origin_read *observed =
		    origin_read(o, t->session, t->index, n++);
		if (observed && strcmp(observed->key, h->keys[e->key].name))
			observed = NULL;
		if (observed && same_writer(h, e->from, observed)) continue;
		if (out)
			out[count] = (struct origin_change){ transaction, i,
				                             observed };
		count++;
	}
	return count;
}

uint32_t origin_changes(const struct origin *o, const struct history *h,
                        struct origin_change **out)
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

static enum origin_difference_kind
compare_transaction(const struct origin_transaction *a,
                    const struct transaction *b)
{
	uint32_t reads = 0;
	for (uint32_t i = 0; i < b->event_count; i++)
		reads += is_external(&b->events[i]);
	if (a->name && strcmp(a->name, b->name)) return ORIGIN_NAME;
	if (a->read_count != reads) return ORIGIN_READS;
	bool differ = a->status == (b->aborted ? TRACE_COMMITTED
	                                       : TRACE_ABORTED);
	return differ ? ORIGIN_STATUS : ORIGIN_SAME;
}

struct origin_difference origin_compare(const struct origin *o,
                                        const struct history *h)
{
	for (uint32_t s = 0; s < h->session_count; s++) {
		const struct history_session *to = &h->sessions[s];
		uint32_t count = origin_transaction_count(o, s);
		for (uint32_t i = 0; i < count && i < to->count; i++) {
			enum origin_difference_kind kind = compare_transaction(
			    origin_transaction(o, s, i),
			    &h->transactions[to->first + i]);
			if (kind == ORIGIN_SAME) continue;
			return (struct origin_difference){ kind, s, i };
		}
		if (count != to->count)
			return (struct origin_difference){
				ORIGIN_COUNT, s,
				count < to->count ? count : to->count
			};
	}
	return (struct origin_difference){ ORIGIN_SAME, 0, 0 };
}
