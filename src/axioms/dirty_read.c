#include "axioms/dirty_read.h"

#include <assert.h>

#include "history/history.h"

/* True when the value is one that the writer wrote to the key but replaced. */
static bool is_intermediate(const struct transaction *writer, uint32_t key,
                            struct value value)
{
	bool met = false;
	for (uint32_t i = 0; i < writer->event_count; i++) {
		const struct event *e = &writer->events[i];
		if (e->kind != EVENT_WRITE || e->key != key) continue;
		if (value_equal(e->value, value)) met = true;
	}
	for (uint32_t i = writer->event_count; met && i-- > 0;) {
		const struct event *e = &writer->events[i];
		if (e->kind == EVENT_WRITE && e->key == key)
			return !value_equal(e->value, value);
	}
	return false;
}

bool dirty_read_find(const struct history *h, enum level l, bool mixed,
                     struct dirty_read *out)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct transaction *reader = &h->transactions[t];
		enum level own = mixed && reader->own
		                         ? (enum level)(reader->own - 1)
		                         : l;
		if (level_sight(own) == SIGHT_NOTHING) continue;
		for (uint32_t i = 0; i < reader->event_count; i++) {
			const struct event *e = &reader->events[i];
			if (e->kind != EVENT_READ || e->from == HISTORY_SELF ||
			    e->from == HISTORY_INIT)
				continue;
			const struct transaction *w;
			assert(e->from < h->transaction_count);
			w = &h->transactions[e->from];
			if (!w->aborted &&
			    !is_intermediate(w, e->key, e->value))
				continue;
			*out = (struct dirty_read){ .reader = t,
				                    .writer = e->from,
				                    .key = e->key,
				                    .aborted = w->aborted };
			return true;
		}
	}
	return false;
}
