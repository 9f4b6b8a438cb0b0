/* What a real PostgreSQL does against what levels allow: random small programs
 * under all their schedules, at READ COMMITTED, REPEATABLE READ and
 * SERIALIZABLE.
 *
 * Each statement accesses one row, which is there, and a snapshot for several
 * is taken before the first lock: then a level allows no history for which a
 * statement would have to be held between its snapshot and its locks, and those
 * of prc and si are exactly those that come up. Under
 * SERIALIZABLE PostgreSQL aborts more than it must. So it does where
 * transactions of one program have different levels, the serializable ones
 * being so among each other only.
 */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/level.h"
#include "base/hash.h"
#include "base/hash_set.h"
#include "base/memory.h"
#include "schedules.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"

enum { KEYS = 2, ACCESSES = 3, TRANSACTIONS = 4 };

/* A statement; all but plain reads lock. */
enum access { READ, READ_SHARED, READ_LOCKED, WRITE, UPDATE };

struct statement {
	enum access access;
	uint32_t key;
};

struct plan {
	enum level level;
	uint32_t session;
	bool aborts;
	uint32_t count, first_step;
	struct statement statements[ACCESSES];
};

struct trial {
	struct rng rng;
	enum level level; /* LEVEL_COUNT: of each transaction another */
	uint32_t count;   /* transactions, from 1 */
	struct plan plans[TRANSACTIONS + 1];
	uint32_t sessions;
	struct schedules schedules;
	char *steps[SCHEDULE_SESSIONS][SCHEDULE_STEPS];
	struct hash_set seen; /* histories that committed as planned */
	uint64_t runs;
};

/* ---- A program ---- */

static const char *isolation_of(enum level l)
{
	if (l == LEVEL_PRC) return "READ COMMITTED";
	return level_is_serial(l) ? "SERIALIZABLE" : "REPEATABLE READ";
}

/* More of them are serializable. */
static enum level random_level(struct rng *r)
{
	static const enum level levels[] = { LEVEL_PRC, LEVEL_SI, LEVEL_SER,
		                             LEVEL_SER };
	return levels[rng_below(r, 4)];
}

/* The value that a statement of a transaction writes. */
static uint32_t value_of(uint32_t transaction, uint32_t statement)
{
	return 10 * transaction + statement + 1;
}

static void print_statement(struct text *t, struct statement s, uint32_t value)
{
	switch (s.access) {
	case READ: text_format(t, "SELECT v FROM t WHERE k = %u", s.key); break;
	case READ_SHARED:
		text_format(t, "SELECT v FROM t WHERE k = %u FOR SHARE", s.key);
		break;
	case READ_LOCKED:
		text_format(t, "SELECT v FROM t WHERE k = %u FOR UPDATE",
		            s.key);
		break;
	case WRITE:
		text_format(t, "UPDATE t SET v = %u WHERE k = %u", value,
		            s.key);
		break;
	case UPDATE:
		text_format(t,
		            "UPDATE t SET old = v, v = %u WHERE k = %u "
		            "RETURNING old",
		            value, s.key);
		break;
	}
}

static void add_step(struct trial *t, uint32_t session, struct text *sql)
{
	struct schedules *s = &t->schedules;
	uint32_t n = s->counts[session]++;
	ck_assert_uint_lt(n, SCHEDULE_STEPS);
	s->steps[session][n] = t->steps[session][n] =
		mem_copy_string(text_get(sql));
	text_clear(sql);
}

/* Does it take the snapshot that it reads from later where it locks? Others
 * may come between. */
static bool begins_by_locking(const struct plan *p)
{
	return p->level == LEVEL_SI && p->count > 1 &&
	       p->statements[0].access != READ;
}

static void add_transaction(struct trial *t, uint32_t i)
{
	struct plan *p = &t->plans[i];
	struct text sql = { 0 };
	text_format(&sql, "BEGIN ISOLATION LEVEL %s; ", isolation_of(p->level));
	if (begins_by_locking(p)) {
		text_string(&sql, "SELECT 1");
		add_step(t, p->session, &sql);
	}
	p->first_step = t->schedules.counts[p->session];
	for (uint32_t k = 0; k < p->count; k++) {
		print_statement(&sql, p->statements[k], value_of(i, k));
		add_step(t, p->session, &sql);
	}
	text_string(&sql, p->aborts ? "ROLLBACK" : "COMMIT");
	add_step(t, p->session, &sql);
	text_free(&sql);
}

static void make_program(struct trial *t)
{
	struct rng *r = &t->rng;
	bool locks = rng_below(r, 2);
	t->sessions = 2 + (rng_below(r, 3) == 0);
	t->count = t->sessions == 3 ? 3 : 2 + rng_below(r, 2);
	t->schedules.sessions = t->sessions;
	for (uint32_t i = 1; i <= t->count; i++) {
		struct plan *p = &t->plans[i];
		p->level = t->level < LEVEL_COUNT ? t->level : random_level(r);
		p->session = (i - 1) % t->sessions;
		p->aborts = rng_below(r, 8) == 0;
		p->count = 1 + rng_below(r, t->count == 2 ? 3 : 2);
		for (uint32_t k = 0; k < p->count; k++)
			p->statements[k] = (struct statement){
				locks             ? rng_below(r, UPDATE + 1)
				: rng_below(r, 2) ? READ
						  : WRITE,
				rng_below(r, KEYS)
			};
		add_transaction(t, i);
	}
}

/* ---- Its histories ---- */

static bool reads(const struct statement *s)
{
	return s->access != WRITE;
}

static bool writes(const struct statement *s)
{
	return s->access >= WRITE;
}

static struct event read_event(const struct statement *s, uint32_t from)
{
	static const enum strength strengths[] = {
		STRENGTH_PLAIN, STRENGTH_SHARE, STRENGTH_UPDATE, STRENGTH_PLAIN,
		STRENGTH_NO_KEY_UPDATE
	};
	return (struct event){ .kind = EVENT_READ,
		               .key = s->key,
		               .from = from,
		               .strength = strengths[s->access] };
}

/* The number of the transaction in a history, which has them by session. */
static uint32_t number_of(const struct trial *t, uint32_t i)
{
	uint32_t number = 1;
	for (uint32_t k = 1; k <= t->count; k++)
		number += t->plans[k].session < t->plans[i].session ||
		          (t->plans[k].session == t->plans[i].session && k < i);
	return number;
}

/* Who wrote the value: a transaction of the trial; 0 is init. */
static uint32_t writer_of(uint32_t value)
{
	return value / 10;
}

static struct history *new_history(const struct trial *t)
{
	static const char *const names[KEYS] = { "x", "y" };
	struct history *h = mem_take0(1, sizeof *h);
	region_init(&h->region);
	h->key_count = KEYS;
	h->ssi = t->level == LEVEL_COUNT;
	h->keys = region_take0(&h->region, KEYS * sizeof *h->keys);
	for (uint32_t k = 0; k < KEYS; k++) {
		h->keys[k].name = names[k];
		h->keys[k].initial = value_int(0);
	}
	h->session_count = t->sessions;
	h->sessions =
		region_take0(&h->region, t->sessions * sizeof *h->sessions);
	h->transaction_count = t->count + 1;
	h->transactions = region_take0(
		&h->region, (t->count + 1) * sizeof *h->transactions);
	h->transactions[0].name = "init";
	h->transactions[0].session = UINT32_MAX;
	for (uint32_t i = 1; i <= t->count; i++) {
		uint32_t n = number_of(t, i), s = t->plans[i].session;
		struct history_session *session = &h->sessions[s];
		session->name = "s";
		if (!session->count++) session->first = n;
		h->transactions[n].name = "t";
		h->transactions[n].session = s;
		h->transactions[n].own = (own_level)(t->plans[i].level + 1);
		h->transactions[n].index = n - session->first;
		h->transactions[n].events = region_take0(
			&h->region, 2 * ACCESSES * sizeof(struct event));
	}
	return h;
}

/* Adds a statement, which read this value, if it reads. */
static void add_events(const struct trial *t, struct history *h, uint32_t i,
                       uint32_t k, uint32_t value)
{
	struct transaction *x = &h->transactions[number_of(t, i)];
	const struct statement *s = &t->plans[i].statements[k];
	uint32_t w = writer_of(value);
	if (reads(s)) {
		uint32_t from = w == i ? HISTORY_SELF
		                : w    ? number_of(t, w)
		                       : HISTORY_INIT;
		struct event e = read_event(s, from);
		e.value = value_int(value);
		x->events[x->event_count++] = e;
	}
	if (!writes(s)) return;
	x->events[x->event_count++] =
		(struct event){ .kind = EVENT_WRITE,
		                .key = s->key,
		                .strength = STRENGTH_NO_KEY_UPDATE,
		                .joined = reads(s),
		                .value = value_int(value_of(i, k)) };
}

static uint64_t hash_of(const struct history *h)
{
	struct text t = { 0 };
	history_print_canonical(&t, h);
	uint64_t hash = hash_bytes(1, t.data, t.length);
	text_free(&t);
	return hash;
}

/* ---- What PostgreSQL does ---- */

/* Statements of the transaction that did not fail. */
static uint32_t count_done(const struct trial *t, uint32_t i)
{
	const struct plan *p = &t->plans[i];
	const struct step_result *r =
		&t->schedules.results[p->session][p->first_step];
	uint32_t done = 0;
	while (done < p->count && !*r[done].error) done++;
	return done;
}

static bool has_committed(const struct trial *t, uint32_t i)
{
	const struct plan *p = &t->plans[i];
	const struct step_result *r =
		&t->schedules.results[p->session][p->first_step];
	return !p->aborts && count_done(t, i) == p->count &&
	       !*r[p->count].error;
}

static void complain(const struct trial *t, const struct history *h,
                     const char *what)
{
	struct text order = { 0 }, program = { 0 };
	schedules_print(&order, &t->schedules);
	for (uint32_t i = 0; i < t->sessions; i++)
		for (uint32_t k = 0; k < t->schedules.counts[i]; k++)
			text_format(&program, "\n%u: %s", (unsigned)i + 1,
			            t->steps[i][k]);
	ck_abort_msg("%s: %s; schedule %s%s", what, history_to_notation(h),
	             text_get(&order), text_get(&program));
}

static void observe(void *data, const struct schedules *s)
{
	struct trial *t = data;
	struct history *h = new_history(t);
	bool as_planned = true;
	for (uint32_t i = 1; i <= t->count; i++) {
		const struct plan *p = &t->plans[i];
		struct transaction *x = &h->transactions[number_of(t, i)];
		uint32_t done = count_done(t, i);
		x->aborted = !has_committed(t, i);
		as_planned &= x->aborted == p->aborts && done == p->count;
		/* Of a transaction that fails, serializability says nothing. */
		if (x->aborted && level_is_serial(p->level)) continue;
		for (uint32_t k = 0; k < done; k++)
			add_events(t, h, i, k,
			           (uint32_t)atoi(s->results[p->session]
			                                    [p->first_step + k]
			                                            .rows));
	}
	t->runs++;
	history_find_order(h);
	if (!h->order || !level_allows_mix(LEVEL_CC, h))
		complain(t, h, "PostgreSQL has what is forbidden");
	if (as_planned) hash_set_add(&t->seen, hash_of(h));
	history_free(h);
}

/* ---- What the level allows ---- */

/* The last value that the transaction writes to the key; 0 if none. */
static uint32_t last_value(const struct trial *t, uint32_t i, uint32_t key,
                           uint32_t before)
{
	uint32_t value = 0;
	for (uint32_t k = 0; k < before && k < t->plans[i].count; k++)
		if (writes(&t->plans[i].statements[k]) &&
		    t->plans[i].statements[k].key == key)
			value = value_of(i, k);
	return value;
}

/* All that reads of the transactions from statement k of transaction i on may
 * give: those that the level allows must have been seen. */
static void expect_seen(struct trial *t, struct history *h, uint32_t i,
                        uint32_t k)
{
	if (i > t->count) {
		history_find_order(h);
		if (h->order && level_allows_mix(LEVEL_CC, h) &&
		    !hash_set_has(&t->seen, hash_of(h)))
			complain(t, h, "PostgreSQL never has");
		return;
	}
	const struct plan *p = &t->plans[i];
	struct transaction *x = &h->transactions[number_of(t, i)];
	x->aborted = p->aborts;
	if (k == p->count) {
		expect_seen(t, h, i + 1, 0);
		return;
	}
	const struct statement *s = &p->statements[k];
	uint32_t own = last_value(t, i, s->key, k), count = x->event_count;
	for (uint32_t w = 0; w <= t->count; w++) {
		uint32_t value = w ? last_value(t, w, s->key, ACCESSES) : 0;
		if (own ? w != i : w == i) continue;
		if (own) value = own;
		if (w && (!value || (w != i && t->plans[w].aborts))) continue;
		if (!reads(s) && w && !own) break;
		add_events(t, h, i, k, value);
		expect_seen(t, h, i, k + 1);
		x->event_count = count;
	}
}

/* ---- ---- */

static bool is_exact(enum level l)
{
	return l < LEVEL_COUNT && !level_is_serial(l);
}

static void begin_trial(struct trial *t, const struct postgres *server)
{
	t->schedules.server = server;
	t->schedules.reset = "DELETE FROM t; INSERT INTO t VALUES (0, 0), "
			     "(1, 0)";
}

static void end_trial(struct trial *t)
{
	hash_set_free(&t->seen);
	for (uint32_t i = 0; i < t->sessions; i++)
		for (uint32_t k = 0; k < t->schedules.counts[i]; k++)
			free(t->steps[i][k]);
}

static void expect_all(struct trial *t)
{
	struct history *h = new_history(t);
	expect_seen(t, h, 1, 0);
	history_free(h);
}

static void try_program(const struct postgres *server, enum level level,
                        uint64_t seed, uint32_t most)
{
	struct trial t = { .rng = { seed }, .level = level };
	begin_trial(&t, server);
	make_program(&t);
	uint32_t count = schedules_run(&t.schedules, most, observe, &t);
	if (count < UINT32_MAX && is_exact(level)) expect_all(&t);
	end_trial(&t);
}

/* One that is serializable misses what another one, which is not, has written
 * and a third one sees, and yet commits later: were it serializable beside all,
 * there would be 6 histories, and not 7. (A single one is never aborted.) */
static void try_beside_others(const struct postgres *server)
{
	static const struct plan plans[] = {
		{ LEVEL_SER, 0, false, 2, 0, { { READ, 0 }, { WRITE, 1 } } },
		{ LEVEL_SI, 1, false, 1, 0, { { WRITE, 0 } } },
		{ LEVEL_SI, 2, false, 2, 0, { { READ, 0 }, { READ, 1 } } },
	};
	struct trial t = { .level = LEVEL_COUNT, .count = 3, .sessions = 3 };
	begin_trial(&t, server);
	t.schedules.sessions = 3;
	for (uint32_t i = 1; i <= 3; i++) {
		t.plans[i] = plans[i - 1];
		add_transaction(&t, i);
	}
	ck_assert_uint_eq(schedules_run(&t.schedules, 1000, observe, &t), 560);
	expect_all(&t);
	ck_assert_uint_eq(t.seen.count, 7);
	end_trial(&t);
}

START_TEST(random_programs)
{
	static const enum level levels[] = { LEVEL_PRC, LEVEL_SI, LEVEL_SER,
		                             LEVEL_COUNT };
	struct postgres server;
	struct connection c;
	uint64_t programs = is_quick() ? 2 : programs_or(200);
	if (!postgres_start(&server)) return;
	client_open(&c, &server);
	client_run(&c, "CREATE TABLE t (k int PRIMARY KEY, v int, old int)");
	for (uint64_t i = 0; i < programs; i++)
		for (int l = 0; l < 4; l++)
			try_program(&server, levels[l],
			            first_seed() * 100000 + i, 200);
	if (!is_quick()) try_beside_others(&server);
	client_close(&c);
	postgres_stop(&server);
}
END_TEST

void add_schedules_tests(TCase *tests)
{
	tcase_add_test(tests, random_programs);
}
