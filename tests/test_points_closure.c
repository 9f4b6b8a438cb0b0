/* The incremental form of what points decide (axioms/points_closure.h): prc,
 * mixes, reads that lock. Transactions of many statements, over few keys, grow
 * access by access and are taken back, and each answer is held against
 * level_allows, the check from scratch. Programs that brute force can enumerate
 * are too small for what is kept of orders here. */
#include <string.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "execution/ledger.h"
#include "plain_record.h"
#include "suites.h"
#include "support.h"

enum { SESSIONS = 5, KEYS = 3, MOST = 8, EVENTS = 8, MARKS = 24 };

struct walk {
	enum level level;
	struct rng rng;
	uint32_t sessions, keys, events, reads, aborts;
	bool locks, groups, mixed;
	struct region region;
	struct ledger_shared shared;
	struct ledger ledger;
	struct plain plain;
	struct {
		struct ledger_mark mark;
		struct region_mark memory;
		struct plain plain;
	} marks[MARKS];
	uint32_t mark_count;
};

/* ---- from scratch ---- */

/* One that is pending holds what it locked. */
static struct history *history_of(const struct walk *w)
{
	return plain_history(&w->plain, w->plain.count, w->sessions, w->keys,
	                     false);
}

static bool allowed(const struct walk *w)
{
	struct history *h = history_of(w);
	bool fine = level_allows_mix(w->level, h);
	history_free(h);
	return fine;
}

__attribute__((noreturn)) static void complain(const struct walk *w,
                                               const char *what)
{
	ck_abort_msg("%s: %s: %s", level_word(w->level), what,
	             history_to_notation(history_of(w)));
	abort();
}

/* ---- steps ---- */

static bool is_pending(struct walk *w)
{
	return w->plain.count > 1 && plain_last(&w->plain)->pending;
}

static uint32_t number_at(const struct walk *w, uint32_t place)
{
	return w->ledger.closure.order[place];
}

static void note(struct walk *w, enum event_kind kind, struct db_access a,
                 uint32_t from)
{
	struct plain_transaction *last = plain_last(&w->plain);
	last->events[last->count++] = (struct plain_event){ kind, a, from, 0 };
}

/* Compares the writers, and reads from one, most often not the newest. */
static void read_key(struct walk *w, struct db_access a)
{
	struct ledger *l = &w->ledger;
	uint32_t choice = UINT32_MAX, seen = 0;
	word row = 0;
	ck_assert_uint_eq(l->closure.words, 1);
	ledger_writers(l, a, &row);
	ledger_restrict(l, a, &row);
	for (uint32_t i = 0; i + 1 < w->plain.count; i++) {
		bool valid = false;
		if (plain_writes(&w->plain, i, a.key)) {
			note(w, EVENT_READ, a, i);
			valid = allowed(w);
			if (bits_has(&row, number_at(w, i)) != valid)
				complain(w, valid ? "should be allowed"
				                  : "should be refused");
			plain_last(&w->plain)->count--;
		}
		if (valid && !rng_below(&w->rng, ++seen)) choice = i;
	}
	if (choice == UINT32_MAX) return;
	ledger_read(l, a, number_at(w, choice), value_null(), NULL);
	note(w, EVENT_READ, a, choice);
}

/* Is it read before a statement locks anything? */
static bool is_early(const struct plain_event *e)
{
	return e->kind == EVENT_READ && e->access.strength < STRENGTH_SHARE;
}

static void access_key(struct walk *w)
{
	const struct plain_transaction *last = plain_last(&w->plain);
	struct db_access a = { .key = rng_below(&w->rng, w->keys) };
	bool reads = rng_below(&w->rng, 8) < w->reads;
	if (reads && w->locks && !rng_below(&w->rng, 3))
		a.strength =
			STRENGTH_CHECK + rng_below(&w->rng, STRENGTH_INSERT);
	if (w->groups && last->count && rng_below(&w->rng, 2))
		a.joined = !reads || a.strength >= STRENGTH_SHARE ||
		           is_early(&last->events[last->count - 1]);
	if (!reads) {
		ledger_write(&w->ledger, a, value_int(1));
		note(w, EVENT_WRITE, a, 0);
	} else if (ledger_own_write(&w->ledger, a.key)) {
		ledger_read_own(&w->ledger, a);
		note(w, EVENT_READ, a, HISTORY_SELF);
	} else {
		read_key(w, a);
	}
}

static enum level random_level(struct rng *r)
{
	enum level l;
	do l = (enum level)rng_below(r, LEVEL_COUNT);
	while (!level_mixes(l));
	return l;
}

static void begin(struct walk *w)
{
	uint32_t session = rng_below(&w->rng, w->sessions);
	own_level own = 0;
	if (w->mixed && rng_below(&w->rng, 4))
		own = (own_level)(random_level(&w->rng) + 1);
	ck_assert(ledger_begin(&w->ledger, session, 0, own, false));
	plain_begin(&w->plain, session, own);
}

static void take_back(struct walk *w)
{
	uint32_t i = rng_below(&w->rng, w->mark_count);
	/* Most often not far. */
	if (rng_below(&w->rng, 3) && w->mark_count > 2)
		i = w->mark_count - 1 - rng_below(&w->rng, 2);
	ledger_rewind(&w->ledger, &w->marks[i].mark);
	region_release(&w->region, w->marks[i].memory);
	w->plain = w->marks[i].plain;
	w->mark_count = i + (i == 0); /* one is always there */
}

static void set_mark(struct walk *w)
{
	if (w->mark_count == MARKS) return;
	w->marks[w->mark_count].mark = ledger_mark(&w->ledger);
	w->marks[w->mark_count].memory = region_mark(&w->region);
	w->marks[w->mark_count++].plain = w->plain;
}

static void end(struct walk *w)
{
	bool aborts = rng_below(&w->rng, 8) < w->aborts, fine;
	ledger_end(&w->ledger, aborts, NULL);
	plain_last(&w->plain)->pending = false;
	plain_last(&w->plain)->aborted = aborts;
	if (!rng_below(&w->rng, 6)) return; /* nobody asks */
	fine = allowed(w);
	if (ledger_allows(&w->ledger) != fine)
		complain(w, fine ? "its end should be allowed"
		                 : "its end should be refused");
}

static void step(struct walk *w)
{
	uint32_t dice = rng_below(&w->rng, 16);
	if (!is_pending(w) && !allowed(w))
		take_back(w);
	else if (dice < 2)
		take_back(w);
	else if (dice < 6)
		set_mark(w);
	else if (!is_pending(w) && w->plain.count <= MOST)
		begin(w);
	else if (!is_pending(w))
		take_back(w);
	else if (plain_last(&w->plain)->count == w->events || dice == 6)
		end(w);
	else
		access_key(w);
}

enum kind { STATEMENTS, LOCKS, MIX };

static void walk(uint64_t seed, enum kind kind, int steps)
{
	struct walk *w = mem_take0(1, sizeof *w);
	struct rng *r = &w->rng;
	*w = (struct walk){ .rng = { seed },
		            .mixed = kind == MIX,
		            .plain = { .count = 1 } };
	do w->level = random_level(r);
	while (kind == STATEMENTS && !level_has_statements(w->level));
	w->sessions = 2 + rng_below(r, SESSIONS - 1);
	w->keys = 1 + rng_below(r, KEYS);
	w->events = 2 + rng_below(r, EVENTS - 1);
	w->reads = 3 + rng_below(r, 4);
	w->aborts = rng_below(r, 3);
	w->locks = kind == LOCKS || !rng_below(r, 4);
	w->groups = !rng_below(r, 3);
	region_init(&w->region);
	ledger_shared_init(&w->shared, &w->region);
	ledger_init(&w->ledger, w->level, w->sessions, &w->shared);
	if (w->locks) ledger_may_lock(&w->ledger);
	if (w->mixed) ledger_may_mix(&w->ledger);
	ledger_go_anywhere(&w->ledger, rng_below(r, 2));
	set_mark(w);
	for (int i = 0; i < steps; i++) step(w);
	ledger_free(&w->ledger);
	ledger_shared_free(&w->shared);
	region_free(&w->region);
	free(w);
}

START_TEST(grows_and_goes_back)
{
	static const enum kind kinds[] = { STATEMENTS, STATEMENTS, LOCKS, MIX };
	uint64_t walks = programs_or(4000);
	for (uint64_t i = 0; i < walks; i++)
		walk(process_seed(_i, i), kinds[_i], 300);
}
END_TEST

void add_points_closure_tests(TCase *tests)
{
	tcase_add_loop_test(tests, grows_and_goes_back, 0, 4);
}
