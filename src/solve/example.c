#include "solve/example.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "execution/execution.h"
#include "history/history.h"
#include "vm/keys.h"

/* ---- from the model ---- */

/* How many transactions end on the way. */
static uint32_t ended_on(struct run_node *const *way, uint32_t count)
{
	while (count && !way[count - 1]->ended_count) count--;
	if (!count) return 0;
	const struct run_node *n = way[count - 1];
	return n->ended[n->ended_count - 1].index + 1;
}

/* A read that was answered, of a slot. */
static void take_read(struct example *x, const struct run_node *n)
{
	uint32_t s = x->e->slot_of[n->session][n->index];
	struct example_reads *r = &x->reads[s];
	VEC_RESERVE(r->items, r->count, r->capacity);
	r->items[r->count++] =
		(struct example_read){ n->key,
		                       x->e->form->source(x->e->order, n) };
}

static void take_session(struct example *x, uint32_t session, bool *runs)
{
	const struct encoding *e = x->e;
	uint32_t count;
	struct run_node **way = encoding_way(e, session, &count);
	assert(count && way[count - 1]->kind == RUN_OVER);
	for (uint32_t i = 0; i < count; i++)
		if (way[i]->parent) take_read(x, way[i]->parent);
	uint32_t ended = ended_on(way, count);
	assert(ended <= e->slots_of[session]);
	for (uint32_t k = 0; k < ended; k++)
		runs[e->slot_of[session][k]] = true;
	free(way);
}

/* By how many of the others come first. */
static void take_order(struct example *x, const bool *runs)
{
	const struct encoding *e = x->e;
	uint32_t *place = mem_take0(e->slot_count + 1, sizeof *place);
	for (uint32_t a = 0; a < e->slot_count; a++)
		for (uint32_t b = 0; b < e->slot_count; b++)
			if (runs[a] && runs[b] && a != b &&
			    e->form->before(e->order, b, a))
				place[a]++;
	for (uint32_t a = 0; a < e->slot_count; a++)
		if (runs[a]) {
			assert(place[a] < e->slot_count);
			x->order[place[a]] = a;
			x->count++;
		}
	free(place);
}

void example_take(struct example *x, const struct encoding *e)
{
	bool *runs = mem_take0(e->slot_count + 1, sizeof *runs);
	*x = (struct example){ .e = e };
	x->order = mem_take0(e->slot_count + 1, sizeof *x->order);
	x->reads = mem_take0(e->slot_count + 1, sizeof *x->reads);
	for (uint32_t i = 0; i < e->runs->context.sessions; i++)
		take_session(x, i, runs);
	take_order(x, runs);
	free(runs);
}

void example_free(struct example *x)
{
	for (uint32_t i = 0; i < x->e->slot_count; i++) free(x->reads[i].items);
	free(x->reads);
	free(x->order);
}

/* ---- along it ---- */

static void begin(void *data)
{
	struct example *x = data;
	x->next = 0;
}

static uint32_t next_session(void *data, const uint32_t *ready, uint32_t count)
{
	struct example *x = data;
	if (x->next < x->count) {
		uint32_t s = x->e->slots[x->order[x->next++]].session;
		for (uint32_t i = 0; i < count; i++)
			if (ready[i] == s) return s;
	}
	return ready[0];
}

static bool is_source(const struct example *x, const struct run_writer *w,
                      uint32_t slot)
{
	if (slot == UINT32_MAX || w->session == UINT32_MAX)
		return slot == UINT32_MAX && w->session == UINT32_MAX;
	const struct slot *s = &x->e->slots[slot];
	return s->session == w->session && s->index == w->index;
}

/* The slot that the read takes its value from. A value that is read again,
 * where that must be the same, is in the runs but once. */
static uint32_t slot_read_from(const struct example *x,
                               const struct run_read *read)
{
	const struct encoding *e = x->e;
	struct keys *keys = e->runs->context.machine.keys;
	uint32_t s = e->slot_of[read->session][read->index];
	const struct example_reads *r = &x->reads[s];
	if (!runs_repeatable(e->slots[s].level))
		return read->number < r->count ? r->items[read->number].from
		                               : UINT32_MAX;
	for (uint32_t i = 0; i < r->count; i++)
		if (!strcmp(keys_name(keys, r->items[i].key), read->key))
			return r->items[i].from;
	return UINT32_MAX;
}

/* Its own writer first. */
static void order_writers(void *data, const struct run_read *read,
                          struct run_writer *writers, uint32_t count)
{
	const struct example *x = data;
	if (read->index >= x->e->slots_of[read->session]) return;
	uint32_t slot = slot_read_from(x, read);
	for (uint32_t i = 0; i < count; i++)
		if (is_source(x, &writers[i], slot)) {
			struct run_writer w = writers[i];
			writers[i] = writers[0];
			writers[0] = w;
			return;
		}
}

struct history *example_run(struct example *x, struct runner *r)
{
	struct run_chooser chooser = { .data = x,
		                       .begin = begin,
		                       .session = next_session,
		                       .writers = order_writers };
	if (runner_run(r, &chooser) != RUN_COMPLETE) return NULL;
	struct history *h = runner_history(r);
	enum level l = x->e->level;
	if (x->e->runs->mixed ? level_allows_mix(l, h)
	                      : level_allows_history(l, h))
		return h;
	history_free(h);
	return NULL;
}
