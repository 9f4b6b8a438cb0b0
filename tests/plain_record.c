#include "plain_record.h"

#include "assertions.h"
#include "support.h"

void plain_begin(struct plain *p, uint32_t session, own_level own)
{
	struct plain_transaction t = { .session = session,
		                       .own = own,
		                       .pending = true };
	ck_assert_uint_le(p->count, PLAIN_TRANSACTIONS);
	for (uint32_t i = 1; i < p->count; i++)
		t.index += p->items[i].session == session;
	p->items[p->count++] = t;
}

struct plain_transaction *plain_last(struct plain *p)
{
	return &p->items[p->count - 1];
}

bool plain_writes(const struct plain *p, uint32_t place, uint32_t key)
{
	const struct plain_transaction *t = &p->items[place];
	if (!place) return true;
	if (t->aborted || t->pending) return false;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->events[i].kind == EVENT_WRITE &&
		    t->events[i].access.key == key)
			return true;
	return false;
}

static void take_events(struct history *h, struct transaction *t,
                        const struct plain_transaction *from,
                        const uint32_t *number)
{
	t->event_count = from->count;
	t->events = region_take0(&h->region, PLAIN_EVENTS * sizeof *t->events);
	for (uint32_t i = 0; i < from->count; i++) {
		const struct plain_event *e = &from->events[i];
		t->events[i] =
			(struct event){ .kind = e->kind,
			                .strength = e->access.strength,
			                .joined = e->access.joined,
			                .key = e->access.key,
			                .from = e->from == HISTORY_SELF
			                                ? HISTORY_SELF
			                                : number[e->from] };
	}
}

struct history *plain_history(const struct plain *p, uint32_t count,
                              uint32_t sessions, uint32_t keys, bool after_all)
{
	static const char *const names[] = { "x", "y", "z" };
	struct history *h = history_new(sessions, count, keys);
	uint32_t number[PLAIN_TRANSACTIONS + 1] = { 0 }, next = 1;
	ck_assert_uint_le(keys, sizeof names / sizeof *names);
	for (uint32_t k = 0; k < keys; k++) h->keys[k].name = names[k];
	for (uint32_t s = 0; s < sessions; s++) {
		h->sessions[s].name = "s";
		h->sessions[s].after_all = after_all && s + 1 == sessions;
		h->sessions[s].first = next;
		for (uint32_t i = 1; i < count; i++)
			if (p->items[i].session == s) number[i] = next++;
		h->sessions[s].count = next - h->sessions[s].first;
	}
	for (uint32_t i = 1; i < count; i++) {
		const struct plain_transaction *from = &p->items[i];
		struct transaction *t = &h->transactions[number[i]];
		t->name = "t";
		t->session = from->session;
		t->index = from->index;
		t->own = from->own;
		t->aborted = from->aborted || from->pending;
		take_events(h, t, from, number);
	}
	history_find_order(h);
	ck_assert_ptr_nonnull(h->order);
	return h;
}
