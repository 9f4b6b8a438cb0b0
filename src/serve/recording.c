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

struct recorded_session {
	uint32_t number; /* of the builder */
	/* The transaction at hand: its outcome is not known. */
	bool open;
	own_level own;
	struct recorded_access *items;
	uint32_t count, capacity;
};

struct recording {
	struct trace_builder *builder;
	uint32_t *keys; /* of the builder */
	uint32_t key_count, key_capacity;
	uint32_t *writers; /* handles, by position from 1 */
	uint32_t writer_count, writer_capacity;
	struct recorded_session *sessions;
	uint32_t session_count, session_capacity;
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
	for (uint32_t i = 0; i < r->session_count; i++)
		free(r->sessions[i].items);
	free(r->sessions);
	free(r);
}

struct trace_value recording_value(struct recording *r, struct value v)
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
                       struct trace_value initial)
{
	VEC_RESERVE(r->keys, r->key_count, r->key_capacity);
	uint32_t key = trace_key_named(r->builder, name, strlen(name));
	r->keys[r->key_count++] = key;
	if (!(initial.flags & TRACE_NULL))
		trace_key_initial(r->builder, key, initial);
}

void recording_add_session(struct recording *r, const char *name)
{
	VEC_RESERVE(r->sessions, r->session_count, r->session_capacity);
	r->sessions[r->session_count++] = (struct recorded_session){
		.number = trace_session_named(r->builder, name, strlen(name))
	};
}

void recording_begin(struct recording *r, uint32_t session, own_level own)
{
	assert(session < r->session_count);
	struct recorded_session *s = &r->sessions[session];
	assert(!s->open);
	s->open = true;
	s->own = own;
	s->count = 0;
}

/* Accesses of a statement are in the order of their moments: what it reads
 * without a lock, and then what it locks, since that is what it is then. */
static uint32_t before_locks(const struct recorded_session *s, uint32_t at)
{
	bool more = true;
	while (more && at && s->items[at - 1].access.strength >= STRENGTH_SHARE)
		more = s->items[--at].access.joined;
	return at;
}

static void add(struct recording *r, uint32_t session, struct db_access a,
                enum event_kind kind, uint32_t from, struct trace_value value)
{
	struct recorded_session *s = &r->sessions[session];
	assert(s->open && a.key < r->key_count);
	VEC_RESERVE(s->items, s->count, s->capacity);
	uint32_t at = s->count++;
	if (a.joined && a.strength < STRENGTH_SHARE) at = before_locks(s, at);
	memmove(s->items + at + 1, s->items + at,
	        (s->count - 1 - at) * sizeof *s->items);
	if (at + 1 < s->count) {
		a.joined = s->items[at + 1].access.joined;
		s->items[at + 1].access.joined = true;
	}
	s->items[at] = (struct recorded_access){ a, kind, from, value };
}

void recording_read(struct recording *r, uint32_t session, struct db_access a,
                    uint32_t from, struct trace_value value)
{
	add(r, session, a, EVENT_READ, from, value);
}

void recording_give_up(struct recording *r, uint32_t session, uint32_t key)
{
	struct db_access a = { .key = key, .strength = STRENGTH_GIVEN_UP };
	add(r, session, a, EVENT_READ, 0, trace_value_null());
}

void recording_unlock(struct recording *r, uint32_t session, uint32_t key)
{
	struct recorded_session *s = &r->sessions[session];
	uint32_t i = s->count - 1;
	while (s->items[i].access.key != key ||
	       s->items[i].access.strength == STRENGTH_PLAIN)
		i--;
	if (i + 1 < s->count && !s->items[i].access.joined)
		s->items[i + 1].access.joined = false;
	s->count--;
	memmove(s->items + i, s->items + i + 1,
	        (s->count - i) * sizeof *s->items);
}

void recording_write(struct recording *r, uint32_t session, struct db_access a,
                     struct trace_value value)
{
	add(r, session, a, EVENT_WRITE, 0, value);
}

static void add_op(struct recording *r, uint32_t handle,
                   const struct recorded_access *x)
{
	assert(x->from <= r->writer_count);
	trace_op_add(r->builder, handle, x->kind, r->keys[x->access.key],
	             x->value, 0);
	if (x->access.strength == STRENGTH_GIVEN_UP)
		trace_op_source(r->builder, TRACE_FROM_SELF, 0);
	else if (x->kind == EVENT_READ && x->from)
		trace_op_source(r->builder, TRACE_FROM_OTHER,
		                r->writers[x->from - 1]);
	else if (x->kind == EVENT_READ)
		trace_op_source(r->builder, TRACE_FROM_INIT, 0);
	trace_op_access(r->builder, x->access.strength, x->access.joined);
}

void recording_end(struct recording *r, uint32_t session, bool aborted)
{
	struct recorded_session *s = &r->sessions[session];
	assert(s->open);
	uint32_t handle = trace_transaction_new(
		r->builder, s->number,
		aborted ? TRACE_ABORTED : TRACE_COMMITTED, 0);
	if (s->own) trace_transaction_level(r->builder, handle, s->own);
	for (uint32_t i = 0; i < s->count; i++) add_op(r, handle, &s->items[i]);
	s->open = false;
	if (aborted) return;
	VEC_RESERVE(r->writers, r->writer_count, r->writer_capacity);
	r->writers[r->writer_count++] = handle;
}

struct trace *recording_finish(struct recording *r, struct diags *d)
{
	struct trace_builder *b = r->builder;
	r->builder = NULL;
	return trace_builder_finish(b, d);
}
