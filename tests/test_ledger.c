/* The ledger: random transactions are begun, read, write, end, are committed
 * and taken back, at all levels; at every step what the ledger says is
 * held against a history that is built from scratch of a plain record of it. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "execution/ledger.h"
#include "plain_record.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"

enum {
	SESSIONS = 4, /* the last one follows all others */
	KEYS = 3,
	MOST = 9,   /* transactions */
	EVENTS = 4, /* of one */
	MARKS = 8
};

/* ---- The plain record ---- */

static struct history *history_of(const struct plain *p, uint32_t count)
{
	return plain_history(p, count, SESSIONS, KEYS, true);
}

static bool plain_allows(const struct plain *p, uint32_t count, enum level l)
{
	struct history *h = history_of(p, count);
	bool allowed = level_allows_history(l, h);
	history_free(h);
	return allowed;
}

/* ---- The two side by side ---- */

struct trial {
	enum level level;
	struct rng rng;
	struct region region;
	struct ledger_shared shared;
	struct ledger ledger, copy;
	struct plain plain;
	int64_t next_value;
	struct {
		struct ledger_mark mark;
		struct region_mark memory;
		struct plain plain;
	} marks[MARKS];
	uint32_t mark_count;
};

static uint32_t number_at(const struct trial *t, uint32_t place)
{
	const struct plain_transaction *p = &t->plain.items[place];
	return place ? ledger_number(&t->shared, p->session, p->index)
	             : HISTORY_INIT;
}

/* The ledger says of every level what the history does. */
static void compare_levels(const struct trial *t, const struct ledger *l,
                           uint32_t count)
{
	struct history *h = history_of(&t->plain, count);
	for (int i = 0; i < LEVEL_COUNT; i++)
		ck_assert_msg(ledger_satisfies(l, (enum level)i) ==
		                      level_allows_history((enum level)i, h),
		              "%s under %s: %s", history_to_notation(h),
		              level_word(t->level), level_word((enum level)i));
	history_free(h);
}

static bool plain_may_read(struct trial *t, uint32_t key, uint32_t from)
{
	struct plain_transaction *last = plain_last(&t->plain);
	if (!plain_writes(&t->plain, from, key)) return false;
	last->events[last->count++] =
		(struct plain_event){ EVENT_READ, db_access_plain(key, 0), from,
		                      0 };
	bool allowed = plain_allows(&t->plain, t->plain.count, t->level);
	last->count--;
	return allowed;
}

/* Compares the writers, and chooses one: its place. */
static uint32_t choose_writer(struct trial *t, uint32_t key)
{
	struct ledger *l = &t->ledger;
	uint32_t choice = UINT32_MAX, seen = 0, count, listed = 0;
	word row = 0, restricted;
	uint32_t sorted[MOST + 1];
	ck_assert_uint_eq(l->closure.words, 1);
	ledger_writers(l, db_access_plain(key, 0), &row);
	restricted = row;
	ledger_restrict(l, db_access_plain(key, 0), &restricted);
	for (uint32_t i = 0; i + 1 < t->plain.count; i++) {
		uint32_t id = number_at(t, i);
		bool valid = plain_may_read(t, key, i);
		bool has = bits_has(&row, id);
		ck_assert(has || !valid);
		ck_assert(bits_has(&restricted, id) == valid);
		if (level_is_extensible(t->level)) ck_assert(has == valid);
		listed += has;
		if (!plain_writes(&t->plain, i, key)) continue;
		ck_assert(ledger_may_read(l, db_access_plain(key, 0), id) ==
		          valid);
		if (valid && !rng_below(&t->rng, ++seen)) choice = i;
	}
	const uint32_t *list = ledger_list_writers(l, db_access_plain(key, 0),
	                                           UINT32_MAX, &count);
	ck_assert_uint_eq(count, listed);
	for (uint32_t i = 0; i < count; i++) ck_assert(bits_has(&row, list[i]));
	ledger_list(l, &row, sorted);
	for (uint32_t i = 1; i < count; i++) {
		const struct ledger_transaction *b = l->transactions[sorted[i]];
		const struct ledger_transaction *a =
			l->transactions[sorted[i - 1]];
		if (!sorted[i - 1]) continue;
		ck_assert(a->session < b->session ||
		          (a->session == b->session && a->index < b->index));
	}
	ck_assert_uint_ne(choice, UINT32_MAX); /* a read is never stuck */
	return choice;
}

static void read_key(struct trial *t, uint32_t key)
{
	struct ledger *l = &t->ledger;
	struct plain_transaction *last = plain_last(&t->plain);
	struct plain_event e = { EVENT_READ, db_access_plain(key, 0),
		                 HISTORY_SELF, 0 };
	const struct ledger_event *own = ledger_own_write(l, key);
	for (uint32_t i = 0; i < last->count; i++)
		if (last->events[i].kind == EVENT_WRITE &&
		    last->events[i].access.key == key)
			e.value = last->events[i].value;
	ck_assert((own != NULL) == (e.value != 0));
	if (own) {
		struct value v = ledger_read_own(l, db_access_plain(key, 0));
		ck_assert(value_equal(v, value_int(e.value)));
	} else {
		e.from = choose_writer(t, key);
		uint32_t source = number_at(t, e.from);
		struct value v =
			source ? ledger_value(l, key, source) : value_null();
		const struct plain_transaction *w = &t->plain.items[e.from];
		for (uint32_t i = 0; e.from && i < w->count; i++)
			if (w->events[i].kind == EVENT_WRITE &&
			    w->events[i].access.key == key)
				e.value = w->events[i].value;
		if (source) ck_assert(value_equal(v, value_int(e.value)));
		ledger_read(l, db_access_plain(key, 0), source, v, NULL);
	}
	last->events[last->count++] = e;
}

static void write_key(struct trial *t, uint32_t key)
{
	struct plain_transaction *last = plain_last(&t->plain);
	int64_t value = ++t->next_value;
	ledger_write(&t->ledger, db_access_plain(key, 0), value_int(value));
	last->events[last->count++] =
		(struct plain_event){ EVENT_WRITE, db_access_plain(key, 0), 0,
		                      value };
}

static bool is_pending(const struct trial *t)
{
	return t->plain.count > 1 && t->plain.items[t->plain.count - 1].pending;
}

/* Behind a transaction of the last session, which follows all, there is only
 * one of the same. */
static void begin(struct trial *t)
{
	struct plain *p = &t->plain;
	if (p->count > MOST) return;
	uint32_t session = rng_below(&t->rng, SESSIONS);
	if (session + 1 == SESSIONS && p->count + 2 < MOST) session = 0;
	if (p->count > 1 && plain_last(p)->session + 1 == SESSIONS)
		session = SESSIONS - 1;
	ck_assert(ledger_begin(&t->ledger, session, 0, 0,
	                       session + 1 == SESSIONS));
	plain_begin(p, session, 0);
}

static void abort_pending(struct trial *t)
{
	struct plain_transaction *last = plain_last(&t->plain);
	ledger_end(&t->ledger, true, NULL);
	last->pending = false;
	last->aborted = true;
	ck_assert(ledger_allows(&t->ledger));
}

/* What the level forbids stays pending, as it was. */
static void commit(struct trial *t)
{
	struct plain_transaction *last = plain_last(&t->plain);
	last->pending = false;
	bool allowed = plain_allows(&t->plain, t->plain.count, t->level);
	ck_assert(ledger_commit(&t->ledger, NULL) == allowed);
	if (allowed) return;
	last->pending = true;
	ck_assert(t->ledger.pending.active);
	compare_levels(t, &t->ledger, t->plain.count);
	if (rng_below(&t->rng, 2)) abort_pending(t);
}

static void set_mark(struct trial *t)
{
	if (t->mark_count == MARKS) return;
	t->marks[t->mark_count].mark = ledger_mark(&t->ledger);
	t->marks[t->mark_count].memory = region_mark(&t->region);
	t->marks[t->mark_count++].plain = t->plain;
}

static void take_back(struct trial *t)
{
	if (!t->mark_count) return;
	t->mark_count = rng_below(&t->rng, t->mark_count);
	ledger_rewind(&t->ledger, &t->marks[t->mark_count].mark);
	region_release(&t->region, t->marks[t->mark_count].memory);
	t->plain = t->marks[t->mark_count].plain;
}

/* Another ledger gets a first part, and then the rest, as Swap does it. */
static void copy(struct trial *t)
{
	const struct closure *c = &t->ledger.closure;
	struct region_mark memory = region_mark(&t->region);
	uint32_t ended = c->count - t->ledger.pending.active;
	uint32_t kept = 1 + rng_below(&t->rng, ended);
	ledger_copy(&t->copy, &t->ledger, kept);
	compare_levels(t, &t->copy, kept);
	for (uint32_t i = kept; i < ended; i++) {
		uint32_t end = i + 1 < c->count ? c->blocks[i + 1].first_read
		                                : c->read_count;
		ledger_copy_begin(&t->copy, &t->ledger, i);
		for (uint32_t r = c->blocks[i].first_read; r < end; r++)
			closure_read(&t->copy.closure, c->reads[r].key,
			             c->reads[r].source);
		ledger_copy_end(&t->copy, &t->ledger);
	}
	compare_levels(t, &t->copy, ended);
	for (uint32_t s = 0; s < t->ledger.session_count; s++)
		ck_assert_uint_eq(t->copy.done[s], t->ledger.done[s]);
	ledger_keep(&t->copy, 1);
	region_release(&t->region, memory);
}

static void step(struct trial *t)
{
	uint32_t dice = rng_below(&t->rng, 20), key = rng_below(&t->rng, KEYS);
	if (dice == 0)
		take_back(t);
	else if (dice < 3)
		set_mark(t);
	else if (dice == 3)
		copy(t);
	else if (!is_pending(t))
		begin(t);
	else if (plain_last(&t->plain)->count == EVENTS || dice < 7)
		commit(t);
	else if (dice == 7)
		abort_pending(t);
	else if (dice < 13)
		write_key(t, key);
	else
		read_key(t, key);
}

static void begin_trial(struct trial *t, enum level level, uint64_t seed)
{
	*t = (struct trial){ .level = level,
		             .rng = { seed },
		             .plain = { .count = 1 } };
	region_init(&t->region);
	ledger_shared_init(&t->shared, &t->region);
	ledger_init(&t->ledger, level, rng_below(&t->rng, SESSIONS),
	            &t->shared);
	ledger_init(&t->copy, level, SESSIONS, &t->shared);
}

static void end_trial(struct trial *t)
{
	ledger_free(&t->ledger);
	ledger_free(&t->copy);
	ledger_shared_free(&t->shared);
	region_free(&t->region);
}

START_TEST(like_a_history_from_scratch)
{
	for (int i = 0; i < fewer(300); i++) {
		struct trial t;
		begin_trial(&t, (enum level)_i,
		            first_seed() * 8000 + (uint64_t)(8 * i + _i));
		if (rng_below(&t.rng, 3))
			ledger_go_anywhere(&t.ledger, rng_below(&t.rng, 2));
		for (int n = 0; n < 120; n++) {
			step(&t);
			compare_levels(&t, &t.ledger, t.plain.count);
			if (n % 40) continue;
			struct history *h = history_of(&t.plain, t.plain.count);
			ck_assert(twin_allows(t.level, h));
			ck_assert(ledger_allows(&t.ledger));
			history_free(h);
		}
		end_trial(&t);
	}
}
END_TEST

/* Back at the end of a transaction that aborted, and from there into it: what
 * another one read meanwhile is none of its own. */
START_TEST(back_into_what_ended)
{
	enum { A, B };
	struct trial t;
	begin_trial(&t, (enum level)_i, first_seed());
	ledger_go_anywhere(&t.ledger, false);
	for (uint32_t session = 0; session < 2; session++) {
		ck_assert(ledger_begin(&t.ledger, session, 0, 0, false));
		for (uint32_t key = A; key <= B; key++)
			ledger_write(&t.ledger, db_access_plain(key, 0),
			             value_int(session));
		ck_assert(ledger_commit(&t.ledger, NULL));
	}
	uint32_t other = ledger_number(&t.shared, 0, 0);
	uint32_t newer = ledger_number(&t.shared, 1, 0);
	ck_assert(ledger_begin(&t.ledger, 2, 0, 0, false));
	struct ledger_mark in_it = ledger_mark(&t.ledger);
	ledger_end(&t.ledger, true, NULL);
	struct ledger_mark after = ledger_mark(&t.ledger);
	ck_assert(ledger_begin(&t.ledger, 3, 0, 0, false));
	ledger_read(&t.ledger, db_access_plain(A, 0), other, value_null(),
	            NULL);
	ledger_rewind(&t.ledger, &after);
	ledger_rewind(&t.ledger, &in_it);
	/* Had it read from the other one, that would come first. */
	ledger_read(&t.ledger, db_access_plain(A, 0), newer, value_null(),
	            NULL);
	ck_assert(ledger_commit(&t.ledger, NULL));
	ck_assert(ledger_begin(&t.ledger, 3, 0, 0, false));
	ledger_read(&t.ledger, db_access_plain(A, 0), newer, value_null(),
	            NULL);
	ck_assert(ledger_may_read(&t.ledger, db_access_plain(B, 0), other) ==
	          (t.level <= LEVEL_RC || level_has_statements(t.level)));
	end_trial(&t);
}
END_TEST

/* ---- Forward, in order ---- */

/* What a ledger in order allows, read by read and commit by commit, satisfies
 * its level; the last transaction can be taken back. */
START_TEST(in_order)
{
	for (int i = 0; i < fewer(500); i++) {
		struct trial t;
		begin_trial(&t, (enum level)_i,
		            first_seed() * 9000 + (uint64_t)(8 * i + _i));
		ledger_go_in_order(&t.ledger);
		while (t.plain.count <= MOST) {
			struct ledger_mark before = ledger_mark(&t.ledger);
			struct plain plain = t.plain;
			begin(&t);
			struct plain_transaction *last = plain_last(&t.plain);
			while (last->count < EVENTS) {
				uint32_t key = rng_below(&t.rng, KEYS), count;
				if (ledger_own_write(&t.ledger, key) ||
				    rng_below(&t.rng, 2)) {
					write_key(&t, key);
					continue;
				}
				const uint32_t *list = ledger_list_writers(
					&t.ledger, db_access_plain(key, 0),
					UINT32_MAX, &count);
				ck_assert_uint_gt(count, 0);
				uint32_t id = list[rng_below(&t.rng, count)];
				uint32_t place = t.ledger.closure.position[id];
				ck_assert(ledger_may_read(
					&t.ledger, db_access_plain(key, 0),
					id));
				ledger_read(&t.ledger, db_access_plain(key, 0),
				            id, value_null(), NULL);
				last->events[last->count++] =
					(struct plain_event){ EVENT_READ,
					                      db_access_plain(
								      key, 0),
					                      place, 0 };
			}
			bool done = ledger_commit(&t.ledger, NULL);
			last->pending = false;
			last->aborted = !done;
			if (!done) ledger_end(&t.ledger, true, NULL);
			ck_assert(
				plain_allows(&t.plain, t.plain.count, t.level));
			if (rng_below(&t.rng, 6)) continue;
			ledger_rewind(&t.ledger, &before);
			t.plain = plain;
		}
		end_trial(&t);
	}
}
END_TEST

/* Memory is proportional to the transactions, however many there are. */
START_TEST(many_transactions)
{
	uint32_t most = is_quick() ? 30000 : 300000;
	struct region region;
	struct ledger_shared shared;
	struct ledger l;
	struct rng rng = { first_seed() };
	region_init(&region);
	ledger_shared_init(&shared, &region);
	ledger_init(&l, (enum level)_i, 8, &shared);
	ledger_go_in_order(&l);
	for (uint32_t i = 0; i < most; i++) {
		uint32_t key = rng_below(&rng, 50), count;
		ck_assert(ledger_begin(&l, rng_below(&rng, 8), 0, 0, false));
		const uint32_t *w = ledger_list_writers(
			&l, db_access_plain(key, 0), 2, &count);
		ledger_read(&l, db_access_plain(key, 0), w[count - 1],
		            value_null(), NULL);
		ledger_write(&l, db_access_plain(rng_below(&rng, 50), 0),
		             value_int(i));
		if (!ledger_commit(&l, NULL)) ledger_end(&l, true, NULL);
	}
	ck_assert_uint_lt(ledger_bytes(&l) / most, 1000);
	ck_assert_uint_lt(region.held / most, 1000);
	ledger_free(&l);
	ledger_shared_free(&shared);
	region_free(&region);
}
END_TEST

/* Numbers of transactions are given as they come, up to a limit. */
START_TEST(too_many_transactions)
{
	struct region region;
	struct ledger_shared shared;
	struct ledger l;
	region_init(&region);
	ledger_shared_init(&shared, &region);
	shared.numbers.most = 5;
	ledger_init(&l, LEVEL_CC, 0, &shared);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert(ledger_begin(&l, 3 - i, 0, 0, false));
		ledger_end(&l, false, NULL);
		ck_assert_uint_eq(ledger_number(&shared, 3 - i, 0), i + 1);
	}
	ck_assert(!ledger_begin(&l, 9, 0, 0, false));
	ck_assert_uint_eq(ledger_number(&shared, 9, 0), LEDGER_NONE);
	ledger_keep(&l, 2);
	ck_assert(ledger_begin(&l, 0, 0, 0, false));
	ledger_keep(&l, 1);
	ledger_forget_numbers(&shared);
	ck_assert(ledger_begin(&l, 9, 0, 0, false));
	ledger_free(&l);
	ledger_shared_free(&shared);
	region_free(&region);
}
END_TEST

void add_ledger_tests(TCase *tests)
{
	tcase_add_loop_test(tests, like_a_history_from_scratch, 0, LEVEL_COUNT);
	tcase_add_loop_test(tests, back_into_what_ended, 0, LEVEL_COUNT);
	tcase_add_loop_test(tests, in_order, 0, LEVEL_COUNT);
	tcase_add_loop_test(tests, many_transactions, 0, LEVEL_COUNT);
	tcase_add_test(tests, too_many_transactions);
}
