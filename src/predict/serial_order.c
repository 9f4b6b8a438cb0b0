#include "predict/serial_order.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* Room for every access of the kind. */
static void accesses_init(struct accesses *a, const struct observed_history *o,
                          enum event_kind kind)
{
	uint32_t total = 0;
	a->first = mem_take0((size_t)o->key_count + 1, sizeof *a->first);
	a->end = mem_take0((size_t)o->key_count + 1, sizeof *a->end);
	a->items = mem_take0((size_t)o->first[o->n] + 1, sizeof *a->items);
	for (uint32_t e = 0; e < o->first[o->n]; e++)
		if (o->events[e].kind == kind) a->end[o->events[e].key]++;
	for (uint32_t k = 0; k < o->key_count; k++) {
		a->first[k] = total;
		total += a->end[k];
	}
}

static void accesses_free(struct accesses *a)
{
	free(a->first);
	free(a->end);
	free(a->items);
}

void serial_order_init(struct serial_order *s, const struct observed_history *o)
{
	s->o = o;
	s->order = mem_take0(o->n, sizeof *s->order);
	s->at = mem_take0(o->n, sizeof *s->at);
	accesses_init(&s->writers, o, EVENT_WRITE);
	accesses_init(&s->readers, o, EVENT_READ);
}

void serial_order_free(struct serial_order *s)
{
	accesses_free(&s->writers);
	accesses_free(&s->readers);
	free(s->order);
	free(s->at);
}

void serial_order_append(struct serial_order *s, uint32_t t)
{
	const struct observed_history *o = s->o;
	assert(t > 0 && t < o->n && s->count < o->n && s->at[t] == NO_GAP);
	uint32_t at = s->count++;
	s->order[at] = t;
	s->at[t] = at;
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		const struct observed_event *e = &o->events[i];
		struct accesses *a =
			e->kind == EVENT_WRITE ? &s->writers : &s->readers;
		assert(e->key < o->key_count);
		a->items[a->end[e->key]++] = (struct access){ at, t };
	}
}

void serial_order_begin(struct serial_order *s)
{
	s->count = 0;
	for (uint32_t t = 0; t < s->o->n; t++) s->at[t] = NO_GAP;
	for (uint32_t k = 0; k < s->o->key_count; k++) {
		s->writers.end[k] = s->writers.first[k];
		s->readers.end[k] = s->readers.first[k];
	}
}

uint32_t access_from(const struct accesses *a, uint32_t key, uint32_t at)
{
	uint32_t low = a->first[key], high = a->end[key];
	assert(low <= high);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (a->items[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t version_at(const struct serial_order *s, uint32_t t, uint32_t key,
                    uint32_t gap)
{
	const struct accesses *a = &s->writers;
	assert(key < s->o->key_count);
	uint32_t i = access_from(a, key, gap);
	while (i > a->first[key]) {
		uint32_t u = a->items[--i].transaction;
		if (!is_gone(s->o, t, u)) return u;
	}
	return 0;
}

bool write_is_safe(const struct serial_order *s, uint32_t t, uint32_t key,
                   uint32_t gap)
{
	const struct accesses *w = &s->writers, *r = &s->readers;
	uint32_t next = access_from(w, key, gap);
	while (next < w->end[key] &&
	       is_gone(s->o, t, w->items[next].transaction))
		next++;
	uint32_t until = next < w->end[key] ? w->items[next].at : NO_GAP;
	for (uint32_t i = access_from(r, key, gap);
	     i < r->end[key] && r->items[i].at <= until; i++)
		if (!is_gone(s->o, t, r->items[i].transaction)) return false;
	return true;
}

bool serial_order_fits_at_end(const struct serial_order *s, uint32_t t)
{
	const struct observed_history *o = s->o;
	assert(t > 0 && t < o->n && s->at[t] == NO_GAP);
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++)
		if (s->at[o->needs[i]] == NO_GAP) return false;
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		const struct observed_event *e = &o->events[i];
		const struct accesses *a = &s->writers;
		if (e->kind != EVENT_READ) continue;
		uint32_t end = a->end[e->key];
		uint32_t last = end == a->first[e->key]
		                        ? 0
		                        : a->items[end - 1].transaction;
		if (last != e->from) return false;
	}
	return true;
}
