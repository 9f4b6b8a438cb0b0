/* From a proposal that is a prediction to the history that it predicts. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/trace_build.h"
#include "history/trace_builder.h"
#include "predict/predictor.h"

void prediction_free(struct prediction *p)
{
	trace_free(p->history);
	free(p->numbers);
	free(p->order);
	free(p->divergent);
	free(p->truncated);
	free(p->changed);
	free(p->cuts);
	*p = (struct prediction){ 0 };
}

/* Is the copy what was observed, and whole? */
static bool is_unchanged(const struct predictor *p, const struct copy *y)
{
	if (y->end != p->o.first[y->transaction + 1]) return false;
	for (uint32_t a = p->c.reads[y->first].first;
	     a < p->c.reads[y[1].first].first; a++)
		if (p->p.taken[a] && !p->c.options[a].observed) return false;
	return true;
}

static void keep_unchanged(struct predictor *p)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < p->p.chosen_count; i++) {
		uint32_t copy = p->p.chosen[i];
		const struct copy *y = &p->c.copies[copy];
		if (is_unchanged(p, y))
			bits_add(p->p.kept, y->transaction);
		else
			p->p.chosen[left++] = copy;
	}
	assert(left <= p->p.chosen_count);
	p->p.chosen_count = left;
}

/* ---- the history ---- */

/* What the building works on. */
struct building {
	struct predictor *p;
	struct prediction *out;
	struct trace_builder *b;
	size_t changed_capacity;
};

static const struct trace *observed_trace(const struct building *x)
{
	return x->p->o.trace;
}

static struct trace_value value_out(struct building *x, int64_t value,
                                    uint8_t flags)
{
	struct text t = { 0 };
	struct trace_value out;
	if (flags & TRACE_NULL)
		out = trace_value_null();
	else if (!(flags & TRACE_TEXT))
		out = trace_value_number(value);
	else {
		trace_print_value(&t, observed_trace(x), value, flags);
		out = trace_value_text(x->b, text_get(&t), t.length);
	}
	out.flags |= flags & TRACE_MISSING;
	text_free(&t);
	return out;
}

static void add_keys(struct building *x)
{
	const struct trace *r = observed_trace(x);
	for (uint32_t k = 0; k < r->key_count; k++) {
		const struct trace_key *key = &r->keys[k];
		uint32_t made = key->name ? trace_key_new(x->b, key->name,
		                                          strlen(key->name))
		                          : trace_key_number(x->b, key->number);
		trace_key_initial(
			x->b, made,
			value_out(x, key->initial.number, key->initial.flags));
	}
}

/* The writer of a read of a copy: what is taken where the read is free, else
 * the observed one. Reads of merged keys follow the first of them. */
static uint32_t writer_of(const struct building *x, const struct copy *y,
                          uint32_t op)
{
	const struct predictor *p = x->p;
	const struct observed_history *o = &p->o;
	const struct trace_op *read = &o->trace->ops[op];
	uint32_t key = o->key_of[read->key];
	if (read->from == TRACE_SELF || key == UINT32_MAX) return read->from;
	for (uint32_t k = y->first; k < y[1].first; k++) {
		const struct free_read *r = &p->c.reads[k];
		const struct observed_event *e = &o->events[r->event];
		if (o->merged ? e->key != key : e->op != op) continue;
		for (uint32_t a = r->first; a < r[1].first; a++)
			if (p->p.taken[a]) return p->c.options[a].writer;
	}
	return read->from;
}

/* The value that the writer left there. */
static struct trace_value value_written(struct building *x, uint32_t writer,
                                        uint32_t key)
{
	const struct trace *r = observed_trace(x);
	const struct trace_transaction *w = &r->transactions[writer];
	assert(writer < r->transaction_count && key < r->key_count);
	if (writer == TRACE_INIT)
		return value_out(x, r->keys[key].initial.number,
		                 r->keys[key].initial.flags);
	for (uint32_t i = w->first_op; i < w->first_op + w->op_count; i++) {
		const struct trace_op *op = &r->ops[i];
		if (op->kind == EVENT_WRITE && op->key == key &&
		    op->flags & TRACE_FINAL)
			return value_out(x, op->value, op->flags);
	}
	return trace_value_null();
}

static void add_changed(struct building *x, uint32_t t, uint32_t op,
                        uint32_t writer)
{
	struct prediction *out = x->out;
	VEC_RESERVE(out->changed, out->changed_count, x->changed_capacity);
	out->changed[out->changed_count++] =
		(struct changed_read){ op, t, observed_trace(x)->ops[op].from,
		                       writer };
}

static void add_source(struct building *x, uint32_t writer)
{
	if (writer == TRACE_SELF)
		trace_op_source(x->b, TRACE_FROM_SELF, 0);
	else if (writer == TRACE_INIT)
		trace_op_source(x->b, TRACE_FROM_INIT, 0);
	else
		trace_op_source(x->b, TRACE_FROM_OTHER, x->p->x.here[writer]);
}

/* `y` is NULL for what is kept. */
static void add_read(struct building *x, uint32_t handle, uint32_t t,
                     uint32_t op, const struct copy *y)
{
	const struct trace_op *read = &observed_trace(x)->ops[op];
	uint32_t writer = y ? writer_of(x, y, op) : read->from;
	struct trace_value value = value_out(x, read->value, read->flags);
	if (writer != read->from) {
		add_changed(x, t, op, writer);
		value = value_written(x, writer, read->key);
	}
	trace_op_add(x->b, handle, EVENT_READ, read->key, value, read->line);
	add_source(x, writer);
}

/* The end of its operations that are there: behind the free read of a strict
 * copy. */
static uint32_t end_of_ops(const struct building *x, uint32_t t,
                           const struct copy *y)
{
	const struct trace_transaction *w = &observed_trace(x)->transactions[t];
	if (y && x->p->c.boundary == BOUNDARY_STRICT) return y->ops_end;
	return w->first_op + w->op_count;
}

/* All but the reads of a writer that is not known. */
static bool is_told(const struct building *x, uint32_t t, uint32_t op)
{
	const struct trace *r = observed_trace(x);
	return r->ops[op].kind == EVENT_WRITE ||
	       r->ops[op].from == TRACE_SELF ||
	       (r->ops[op].from != TRACE_NOBODY &&
	        r->transactions[t].status != TRACE_UNKNOWN);
}

static uint32_t add_ops(struct building *x, uint32_t handle, uint32_t t,
                        const struct copy *y)
{
	const struct trace *r = observed_trace(x);
	uint32_t first = r->transactions[t].first_op;
	uint32_t end = end_of_ops(x, t, y);
	bool begun = false; /* is some of its statement there? */
	for (uint32_t i = first; i < end; i++) {
		const struct trace_op *op = &r->ops[i];
		begun &= op->joined;
		if (!is_told(x, t, i)) continue;
		if (op->kind == EVENT_READ)
			add_read(x, handle, t, i, y);
		else
			trace_op_add(x->b, handle, EVENT_WRITE, op->key,
			             value_out(x, op->value, op->flags),
			             op->line);
		trace_op_access(x->b, (enum strength)op->strength, begun);
		begun = true;
	}
	assert(end >= first);
	return end - first;
}

static void add_transaction(struct building *x, uint32_t i)
{
	const struct predictor *p = x->p;
	const struct trace *r = observed_trace(x);
	uint32_t t = p->x.numbers[i], copy = p->x.copy_of[i];
	const struct trace_transaction *w = &r->transactions[t];
	const struct copy *y = copy == UINT32_MAX ? NULL : &p->c.copies[copy];
	uint32_t handle =
		trace_transaction_new(x->b, w->session, w->status, w->line);
	struct session_cut *cut = &x->out->cuts[w->session];
	if (w->name)
		trace_transaction_name(x->b, handle, w->name, strlen(w->name));
	if (w->has_number) trace_transaction_number(x->b, handle, w->number);
	if (w->own) trace_transaction_level(x->b, handle, w->own);
	uint32_t ops = add_ops(x, handle, t, y);
	if (!y) {
		cut->kept++;
		return;
	}
	assert(cut->divergent == TRACE_NONE);
	cut->divergent = t;
	cut->ops = ops;
	x->out->divergent[i] = true;
	x->out->truncated[i] = ops < w->op_count;
	x->out->divergent_count++;
}

static void add_sessions(struct building *x)
{
	const struct trace *r = observed_trace(x);
	x->out->cuts =
		mem_take0(r->session_count + (size_t)1, sizeof *x->out->cuts);
	for (uint32_t s = 0; s < r->session_count; s++) {
		const struct trace_session *session = &r->sessions[s];
		x->out->cuts[s].divergent = TRACE_NONE;
		trace_session_new(x->b, session->name, strlen(session->name),
		                  session->after_all);
	}
}

static const char *copy_string(struct trace *t, const char *s)
{
	return s ? region_copy_string(&t->region, s, strlen(s)) : NULL;
}

static uint32_t *copy_numbers(const uint32_t *from, uint32_t count)
{
	uint32_t *to = mem_take((count + (size_t)1) * sizeof *to);
	memcpy(to, from, count * sizeof *to);
	return to;
}

void predictor_build(struct predictor *p, struct prediction *out)
{
	struct trace_rules rules = { .initial = trace_value_null(),
		                     .sources = true,
		                     .aborted_reads = true };
	struct building x = { .p = p, .out = out };
	const struct trace *r = p->o.trace;
	keep_unchanged(p);
	struct choice_of choice = predictor_choice(p);
	candidate_make(&p->x, &choice);
	uint32_t n = p->x.facts.n;
	*out = (struct prediction){ 0 };
	out->numbers = copy_numbers(p->x.numbers, n);
	out->order = copy_numbers(p->x.facts.order, n);
	out->divergent = mem_take0(n, sizeof *out->divergent);
	out->truncated = mem_take0(n, sizeof *out->truncated);
	x.b = trace_builder_new(r->file, &rules);
	add_keys(&x);
	add_sessions(&x);
	for (uint32_t i = 1; i < n; i++) add_transaction(&x, i);
	out->history = trace_builder_trust(x.b);
	out->history->program = copy_string(out->history, r->program);
	out->history->level =
		copy_string(out->history, level_word(p->options.level));
	out->history->valueless = r->valueless;
	out->history->ssi = r->ssi;
	assert(out->history->transaction_count == n);
	out->boundary = p->options.boundary;
	out->nearest = p->nearest;
	out->observed = n == r->transaction_count && !out->divergent_count;
}
