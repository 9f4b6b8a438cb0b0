#include "serve/recording.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/trace_build.h"

struct recorded_access {
	struct db_access access;
	enum event_kind kind;
	uint32_t from; /* a position */
	struct trace_value value;
};

struct recording {
	struct trace_builder *builder;
	uint32_t *keys; /* of the builder */
	uint32_t key_count, key_capacity;
	uint32_t *writers; /* handles, by position from 1 */
	uint32_t writer_count, writer_capacity;
	/* The transaction at hand: its outcome is not known. */
	bool active;
	uint32_t session;
	own_level own;
	struct recorded_access *items;
	uint32_t count, capacity;
};

struct recording *recording_new(void)
{
	struct recording *r = mem_take0(1, sizeof *r);
	const struct trace_rules rules = { .initial = trace_value_null(),
		                           .aborted_reads = true,
		                           .sources = true };
	r->builder = trace_builder_new("serve", &rules);
	return r;
}

void recording_free(struct recording *r)
{
	if (!r) return;
	trace_builder_free(r->builder);
	free(r->keys);
	free(r->writers);
	free(r->items);
	free(r);
}

static struct trace_value value_of(struct recording *r, struct value v)
{
	struct text t = { 0 };
	if (v.tag == VALUE_NULL) return trace_value_null();
	value_print_json(&t, v);
	struct trace_value out =
		trace_value_text(r->builder, text_get(&t), t.length);
	text_free(&t);
	return out;
}

void recording_add_key(struct recording *r, const char *name,
                       struct value initial)
{
	VEC_RESERVE(r->keys, r->key_count, r->key_capacity);
	uint32_t key = trace_key_named(r->builder, name, strlen(name));
	r->keys[r->key_count++] = key;
	if (initial.tag != VALUE_NULL)
		trace_key_initial(r->builder, key, value_of(r, initial));
}

void recording_begin(struct recording *r, const char *session, own_level own)
{
	assert(!r->active);
	r->active = true;
	r->session = trace_session_named(r->builder, session, strlen(session));
	r->own = own;
	r->count = 0;
}

static void add(struct recording *r, struct db_access a, enum event_kind kind,
                uint32_t from, struct value value)
{
	assert(r->active && a.key < r->key_count);
	VEC_RESERVE(r->items, r->count, r->capacity);
	r->items[r->count++] =
		(struct recorded_access){ a, kind, from, value_of(r, value) };
}

void recording_read(struct recording *r, struct db_access a, uint32_t from,
                    struct value value)
{
	add(r, a, EVENT_READ, from, value);
}

void recording_write(struct recording *r, struct db_access a,
                     struct value value)
{
	add(r, a, EVENT_WRITE, 0, value);
}

static void add_op(struct recording *r, uint32_t handle,
                   const struct recorded_access *x)
{
	assert(x->from <= r->writer_count);
	trace_op_add(r->builder, handle, x->kind, r->keys[x->access.key],
	             x->value, 0);
	if (x->kind == EVENT_READ && x->from)
		trace_op_source(r->builder, TRACE_FROM_OTHER,
		                r->writers[x->from - 1]);
	else if (x->kind == EVENT_READ)
		trace_op_source(r->builder, TRACE_FROM_INIT, 0);
	trace_op_access(r->builder, x->access.strength, x->access.joined);
}

void recording_end(struct recording *r, bool aborted)
{
	assert(r->active);
	uint32_t handle = trace_transaction_new(
		r->builder, r->session,
		aborted ? TRACE_ABORTED : TRACE_COMMITTED, 0);
	if (r->own) trace_transaction_level(r->builder, handle, r->own);
	for (uint32_t i = 0; i < r->count; i++) add_op(r, handle, &r->items[i]);
	r->active = false;
	if (aborted) return;
	VEC_RESERVE(r->writers, r->writer_count, r->writer_capacity);
	r->writers[r->writer_count++] = handle;
}

struct trace *recording_finish(struct recording *r, struct diags *d)
{
	struct trace_builder *b = r->builder;
	assert(!r->active);
	r->builder = NULL;
	return trace_builder_finish(b, d);
}
