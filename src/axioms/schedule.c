#include "axioms/schedule.h"

#include <assert.h>
#include <stdlib.h>

#include "axioms/points.h"
#include "base/memory.h"
#include "history/relation.h"

void schedule_init(struct schedule *s, uint32_t transactions)
{
	*s = (struct schedule){ 0 };
	s->statements =
		mem_take0(2 * (size_t)transactions, sizeof *s->statements);
	s->started = s->statements + transactions;
}

void schedule_free(struct schedule *s)
{
	free(s->items);
	free(s->statements);
	*s = (struct schedule){ 0 };
}

static void add_moment(struct schedule *s, uint32_t transaction,
                       uint32_t statement)
{
	VEC_RESERVE(s->items, s->count, s->capacity);
	s->items[s->count++] =
		(struct schedule_moment){ transaction, statement };
}

void schedule_add(struct schedule *s, uint32_t transaction, uint32_t statement)
{
	struct schedule_moment m = { transaction, statement };
	bool starts = schedule_is_statement(m);
	uint32_t *started = &s->started[transaction];
	uint32_t end = starts      ? statement
	               : statement ? *started /* the snapshot */
	                           : s->statements[transaction];
	assert(*started <= end && end <= s->statements[transaction]);
	while (*started < end) add_moment(s, transaction, ++*started);
	if (!starts) add_moment(s, transaction, statement);
}

bool schedule_is_late(void *steps)
{
	uint32_t *count = steps;
	return ++*count > SCHEDULE_STEPS;
}

/* ---- of a history ---- */

static enum level level_at(enum level others, bool mixed,
                           const struct history *h, uint32_t t)
{
	own_level own = mixed ? h->transactions[t].own : 0;
	return own ? (enum level)(own - 1) : others;
}

/* Does some transaction do things at points of its own; and has none the level
 * that has none? */
static bool has_moments(enum level others, bool mixed, const struct history *h)
{
	bool some = false;
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		enum level l = level_at(others, mixed, h, t);
		if (!level_has_points(l)) return false;
		some |= level_has_moments(l);
	}
	return some;
}

static uint32_t count_statements(const struct transaction *t)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < t->event_count; i++)
		count += !t->events[i].joined;
	return count;
}

static bool locks(const struct event *e)
{
	return event_strength(e) > STRENGTH_CHECK;
}

/* Does a statement lock something after it has started? Else none is to be
 * held. */
static bool locks_later(const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct event *e = h->transactions[t].events;
		uint32_t count = h->transactions[t].event_count;
		for (uint32_t i = 0; i < count; i++)
			if (e[i].strength == STRENGTH_HELD ||
			    e[i].strength == STRENGTH_KEY_SHARE ||
			    (e[i].joined && (locks(&e[i]) || locks(&e[i - 1]))))
				return true;
	}
	return false;
}

static bool find_line(struct points *p, const struct relation *r,
                      enum level others)
{
	uint32_t steps = 0;
	points_of_relation(p, r, others);
	points_stop_when(p, schedule_is_late, &steps);
	bool found = points_allow(p) && !points_gave_up(p);
	points_stop_when(p, NULL, NULL);
	return found;
}

static struct points *line_of(const struct history *h, const struct relation *r,
                              enum level others)
{
	struct points *p = points_new();
	if (locks_later(h)) {
		points_be_runnable(p);
		if (find_line(p, r, others)) return p;
		points_free(p);
		p = points_new();
	}
	if (find_line(p, r, others)) return p;
	points_free(p);
	return NULL;
}

struct taking {
	const struct history *history;
	struct schedule *schedule;
};

/* Where there is one snapshot, it matters when statements start only if some of
 * them read beside that. */
static void take_point(void *taking, uint32_t t, uint32_t statement)
{
	struct taking *x = taking;
	struct schedule_moment m = { t, statement };
	if (schedule_is_statement(m) && !x->schedule->statements[t])
		x->schedule->statements[t] =
			count_statements(&x->history->transactions[t]);
	schedule_add(x->schedule, t, statement);
}

bool schedule_of_history(enum level others, bool mixed, const struct history *h,
                         struct schedule *out)
{
	if (!h->order || !has_moments(others, mixed, h)) return false;
	struct relation *r = relation_of_history(h);
	struct points *p = NULL;
	if (mixed) relation_take_owns(r, h);
	if (3 * r->read_count + 2 * (r->write_count + r->n) <= SCHEDULE_POINTS)
		p = line_of(h, r, others);
	relation_free(r);
	if (!p) return false;
	schedule_init(out, h->transaction_count);
	for (uint32_t t = 1; t < h->transaction_count; t++)
		if (level_has_statements(level_at(others, mixed, h, t)))
			out->statements[t] =
				count_statements(&h->transactions[t]);
	points_each(p, take_point, &(struct taking){ h, out });
	points_free(p);
	return true;
}
