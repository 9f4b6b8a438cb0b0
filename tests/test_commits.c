/* What src/serve/commits.c lets transactions read satisfies their levels, by
 * the twin, whatever they ask and however they end; and nothing that a level
 * has to allow is missing. */
#include "serve/commits.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/trace.h"
#include "serve/recording.h"
#include "serve/row_locks.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_points.h"

enum { KEYS = 3, SESSIONS = 3, TRANSACTIONS = 6, ACCESSES = 4, TRIES = 60 };

/* A session, and its transaction at hand. */
struct actor {
	uint32_t session;
	bool open;
	enum level level;
	uint32_t left;                    /* accesses that it still makes */
	enum strength writes[KEYS];       /* by key; PLAIN: it does not */
	bool reads;                       /* it has read something */
	uint32_t told;                    /* of the line */
	uint32_t tag;                     /* of its savepoint; 0: it has none */
	enum strength saved[KEYS];        /* the writes before that */
	struct db_access locks[ACCESSES]; /* that are behind it */
	uint32_t lock_count;
};

struct trial {
	struct rng rng;
	struct commits *commits;
	struct commits *whole; /* the same, but that it forgets nothing */
	uint32_t forgotten;
	struct row_locks *locks;
	struct recording *recording;
	enum level level; /* of most */
	bool mixes, uses_locks, side_by_side;
	struct actor actors[SESSIONS];
	uint32_t numbers, open, begun;
};

/* 0: no row. */
static struct trace_value value_of(const struct trial *t, uint32_t number)
{
	return recording_value(t->recording,
	                       number ? value_int(number) : value_null());
}

static bool in(struct trial *t, uint32_t n)
{
	return !rng_below(&t->rng, n);
}

static enum level draw_level(struct trial *t)
{
	static const enum level own[] = { LEVEL_PRC, LEVEL_SI, LEVEL_SER };
	return t->mixes && in(t, 2) ? own[rng_below(&t->rng, 3)] : t->level;
}

/* What was forgotten makes no difference. */
static const struct committed *readable(struct trial *t, struct actor *x,
                                        struct db_access a, uint32_t *count)
{
	uint32_t n;
	const struct committed *of =
		commits_readable(t->commits, x->session, a, count);
	const struct committed *all =
		commits_readable(t->whole, x->session, a, &n);
	ck_assert_uint_eq(*count, n);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(of[i].position, all[i].position);
		ck_assert_uint_eq(of[i].number, all[i].number);
	}
	return of;
}

static void note_over(void *payload, uint32_t key, uint32_t number)
{
	struct trial *t = payload;
	(void)number;
	ck_assert_uint_lt(key, KEYS);
	t->forgotten++;
}

static void note_nothing(void *payload, uint32_t key)
{
	const struct trial *t = payload;
	ck_assert_uint_eq(commits_newest(t->commits, key).number, 0);
}

static void forget(struct trial *t)
{
	const struct commits_forgotten to = { note_over, note_nothing, t };
	uint32_t before = commits_overwritten(t->commits) + t->forgotten;
	commits_forget(t->commits, &to);
	ck_assert_uint_eq(commits_overwritten(t->commits) + t->forgotten,
	                  before);
}

/* As the server does it. False: there is none to be read. */
static bool read_key(struct trial *t, struct actor *x, struct db_access a,
                     bool *there)
{
	uint32_t count;
	const struct committed *of = readable(t, x, a, &count);
	if (!count && a.joined && level_has_statements(x->level)) {
		a.joined = false;
		of = readable(t, x, a, &count);
	}
	if (!count) return false;
	struct committed v = of[rng_below(&t->rng, count)];
	commits_read(t->commits, x->session, a, v);
	commits_read(t->whole, x->session, a, v);
	recording_read(t->recording, x->session, a, v.position,
	               value_of(t, v.number));
	*there = v.number != 0;
	x->reads = true;
	return true;
}

static void write_key(struct trial *t, const struct actor *x,
                      struct db_access a, bool row)
{
	uint32_t number = row ? ++t->numbers : 0;
	commits_write(t->commits, x->session, a, number);
	commits_write(t->whole, x->session, a, number);
	recording_write(t->recording, x->session, a, value_of(t, number));
}

static void save(struct actor *x)
{
	x->tag++;
	memcpy(x->saved, x->writes, sizeof x->saved);
	x->lock_count = 0;
}

/* Or rolls back to there. */
static void roll_back(struct trial *t, struct actor *x)
{
	if (!x->tag) return;
	memcpy(x->writes, x->saved, sizeof x->saved);
	while (x->lock_count) {
		struct db_access a = x->locks[--x->lock_count];
		commits_give_up(t->commits, x->session, a);
		commits_give_up(t->whole, x->session, a);
		recording_give_up(t->recording, x->session, a.key);
	}
	row_locks_give_up(t->locks, x->session, x->tag);
	x->reads = false; /* its statement is over */
}

/* As a backend does it: who writes a key has locked it, or has found that no
 * row has it. Writes are told at the end. False: nothing may be read. */
static bool access_key(struct trial *t, struct actor *x, uint32_t key)
{
	static const enum strength all[] = {
		STRENGTH_PLAIN,     STRENGTH_CHECK, STRENGTH_HELD,
		STRENGTH_KEY_SHARE, STRENGTH_SHARE, STRENGTH_NO_KEY_UPDATE,
		STRENGTH_UPDATE,    STRENGTH_INSERT
	};
	struct db_access a = { .key = key, .joined = x->reads && in(t, 3) };
	uint32_t tag = x->tag;
	bool there;
	a.strength = t->uses_locks && in(t, 2) ? all[rng_below(&t->rng, 8)]
	                                       : STRENGTH_PLAIN;
	if (x->writes[key] != STRENGTH_PLAIN) return true; /* its own */
	enum strength lock = row_locks_asked(x->level, a.strength);
	if (lock &&
	    !row_locks_take(t->locks, x->session, key, lock, true, &tag))
		return true; /* it waits, and tries something else */
	if (in(t, 3)) {
		commits_look_back(t->commits, x->session, x->told);
		commits_look_back(t->whole, x->session, x->told);
	}
	if (!read_key(t, x, a, &there)) return false;
	if (lock && x->lock_count < ACCESSES) x->locks[x->lock_count++] = a;
	x->told = commits_count(t->commits);
	if (x->left) x->left--;
	if (a.strength == STRENGTH_INSERT && !there)
		x->writes[key] = STRENGTH_UPDATE;
	else if (a.strength == STRENGTH_INSERT)
		return false; /* an error */
	else if (a.strength == STRENGTH_NO_KEY_UPDATE && in(t, 2))
		x->writes[key] =
			in(t, 2) ? STRENGTH_REFERENCE : STRENGTH_NO_KEY_UPDATE;
	else if (a.strength == STRENGTH_UPDATE && in(t, 2))
		x->writes[key] = STRENGTH_UPDATE;
	else if (!t->uses_locks && in(t, 2))
		x->writes[key] = STRENGTH_UPDATE;
	return true;
}

static void end_transaction(struct trial *t, struct actor *x, bool fine)
{
	uint32_t key;
	for (uint32_t k = 0; k < KEYS && fine; k++)
		if (x->writes[k] != STRENGTH_PLAIN)
			write_key(t, x,
			          (struct db_access){
					  .key = k, .strength = x->writes[k] },
			          x->writes[k] != STRENGTH_UPDATE || in(t, 2));
	bool asks = fine;
	fine = fine && commits_commit(t->commits, x->session, &key);
	if (asks) ck_assert(commits_commit(t->whole, x->session, &key) == fine);
	if (!fine) commits_abort(t->commits, x->session);
	if (!fine) commits_abort(t->whole, x->session);
	recording_end(t->recording, x->session, !fine);
	row_locks_release(t->locks, x->session);
	x->open = false;
	t->open--;
}

static void begin_transaction(struct trial *t, struct actor *x)
{
	*x = (struct actor){ .session = x->session,
		             .open = true,
		             .level = draw_level(t),
		             .left = 1 + rng_below(&t->rng, ACCESSES),
		             .told = commits_count(t->commits) };
	commits_begin(t->commits, x->session, x->level);
	commits_begin(t->whole, x->session, x->level);
	recording_begin(t->recording, x->session,
	                x->level == t->level ? 0 : (own_level)(x->level + 1));
	t->open++;
	t->begun++;
}

static bool has_serial(const struct trial *t)
{
	for (int i = 0; i < SESSIONS; i++)
		if (t->actors[i].open && level_is_serial(t->actors[i].level))
			return true;
	return false;
}

/* Some session goes on by one step. */
static void step(struct trial *t)
{
	struct actor *x = &t->actors[rng_below(&t->rng, SESSIONS)];
	uint32_t key = rng_below(&t->rng, KEYS);
	if (!x->open) {
		if (t->begun == TRANSACTIONS || has_serial(t)) return;
		if (t->open && !t->side_by_side) return;
		begin_transaction(t, x);
		/* It runs alone: it would have to wait. */
		if (level_is_serial(x->level) && t->open > 1)
			end_transaction(t, x, false);
		return;
	}
	if (in(t, 2)) forget(t);
	if (t->uses_locks && !t->mixes && in(t, 3))
		in(t, 2) ? save(x) : roll_back(t, x);
	if (x->left && !access_key(t, x, key))
		end_transaction(t, x, false);
	else if (!x->left)
		end_transaction(t, x, !in(t, 6));
}

/* Who waits for ever is rolled back. */
static void run_transactions(struct trial *t)
{
	for (int i = 0; i < TRIES && (t->open || t->begun < TRANSACTIONS); i++)
		step(t);
	for (int i = 0; i < SESSIONS; i++)
		if (t->actors[i].open)
			end_transaction(t, &t->actors[i], in(t, 2));
}

static struct history *make_history(struct trial *t)
{
	static const char *const keys[] = { "x", "y", "z" };
	static const char *const names[] = { "a", "b", "c" };
	const struct commits_rules rules = {
		.sees_past = level_sight(t->level) == SIGHT_PAST,
		.moments = level_reads_moments(t->level),
		.within = in(t, 3) ? 1 + rng_below(&t->rng, 3) : 0,
		.sees_all = in(t, 8)
	};
	t->commits = commits_new(rules);
	t->whole = commits_new(rules);
	t->locks = row_locks_new();
	t->recording = recording_new();
	for (uint32_t k = 0; k < KEYS; k++) {
		uint32_t number = in(t, 3) ? 0 : ++t->numbers;
		commits_add_key(t->commits, number);
		commits_add_key(t->whole, number);
		recording_add_key(t->recording, keys[k], value_of(t, number));
	}
	for (uint32_t s = 0; s < SESSIONS; s++) {
		t->actors[s].session = commits_add_session(t->commits);
		commits_add_session(t->whole);
		recording_add_session(t->recording, names[s]);
	}
	run_transactions(t);
	struct diags d = { 0 };
	struct trace *trace = recording_finish(t->recording, &d);
	ck_assert_msg(trace, "%s", d.count ? d.items[0].message : "");
	struct history *h = trace_history(trace, NULL, NULL);
	h->others = (own_level)(t->level + 1);
	trace_free(trace);
	diags_free(&d);
	commits_free(t->commits);
	commits_free(t->whole);
	row_locks_free(t->locks);
	recording_free(t->recording);
	return h;
}

static void judge(const struct trial *t, const struct history *h, uint64_t seed)
{
	/* The other twin has locks of statements end with their transactions.
	 */
	bool points = t->level == LEVEL_PRC && !t->mixes;
	if (points ? twin_points_allow(h) : twin_allows(t->level, h)) return;
	char *words = history_to_notation(h);
	ck_abort_msg("seed %llu at %s: %s", (unsigned long long)seed,
	             level_word(t->level), words);
}

/* Of all that each level answers, with locks and without, alone and beside
 * others. */
START_TEST(satisfies_the_level)
{
	for (int i = 0; i < fewer(30000); i++) {
		uint64_t seed = first_seed() * 100000 +
		                (uint64_t)(i * LEVEL_COUNT + _i);
		struct trial t = { .rng = { seed }, .level = (enum level)_i };
		t.uses_locks = i % 4;
		t.side_by_side = i % 8 < 6;
		t.mixes = i % 4 == 3 && level_mixes(t.level) &&
		          t.level != LEVEL_NONE;
		struct history *h = make_history(&t);
		judge(&t, h, seed);
		history_free(h);
	}
}
END_TEST

/* One reads what the other has written over: how many versions of x are there
 * for it? */
static uint32_t choices(enum level l, enum strength s, bool same_session)
{
	struct commits *c = commits_new((struct commits_rules){
		.sees_past = level_sight(l) == SIGHT_PAST });
	struct db_access x = { .strength = STRENGTH_UPDATE };
	uint32_t key, count, a, b;
	commits_add_key(c, 1);
	a = commits_add_session(c);
	b = commits_add_session(c);
	commits_begin(c, a, l);
	commits_write(c, a, x, 2);
	ck_assert(commits_commit(c, a, &key));
	if (same_session) b = a;
	commits_begin(c, b, l);
	x.strength = s;
	commits_readable(c, b, x, &count);
	commits_free(c);
	return count;
}

START_TEST(stale_reads)
{
	enum level l = (enum level)_i;
	bool serial = level_is_serial(l);
	ck_assert_uint_eq(choices(l, STRENGTH_PLAIN, false), serial ? 1 : 2);
	bool sees = level_sight(l) > SIGHT_SOURCES;
	ck_assert_uint_eq(choices(l, STRENGTH_PLAIN, true), sees ? 1 : 2);
	bool waits = level_sight(l) != SIGHT_NOTHING;
	ck_assert_uint_eq(choices(l, STRENGTH_UPDATE, false), waits ? 1 : 2);
}
END_TEST

/* Under si, who reads the old version may not write; nor lock it. */
START_TEST(first_committer_wins)
{
	struct commits *c = commits_new((struct commits_rules){ 0 });
	struct db_access x = { .strength = STRENGTH_UPDATE }, plain = { 0 };
	uint32_t key, count;
	commits_add_key(c, 1);
	uint32_t a = commits_add_session(c), b = commits_add_session(c);
	commits_begin(c, a, LEVEL_SI);
	commits_write(c, a, x, 2);
	ck_assert(commits_commit(c, a, &key));
	commits_begin(c, b, LEVEL_SI);
	const struct committed *of = commits_readable(c, b, plain, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(of[0].number, 1);
	commits_read(c, b, plain, of[0]);
	commits_readable(c, b, x, &count);
	ck_assert_uint_eq(count, 0);
	commits_write(c, b, x, 3);
	ck_assert(!commits_commit(c, b, &key));
	ck_assert_uint_eq(key, 0);
	commits_abort(c, b);
	/* And what was there when a session began is the oldest for it. */
	b = commits_add_session(c);
	commits_begin(c, b, LEVEL_RC);
	commits_readable(c, b, plain, &count);
	ck_assert_uint_eq(count, 1);
	commits_free(c);
}
END_TEST

/* What has been read counts, also by one that rolls back, and at rc: its
 * session has seen it. */
START_TEST(aborted_reads)
{
	struct commits *c = commits_new((struct commits_rules){ 0 });
	struct db_access x = { .strength = STRENGTH_UPDATE }, plain = { 0 };
	uint32_t key, count;
	commits_add_key(c, 1);
	uint32_t a = commits_add_session(c), b = commits_add_session(c);
	commits_begin(c, a, LEVEL_SER);
	commits_write(c, a, x, 2);
	ck_assert(commits_commit(c, a, &key));
	commits_begin(c, b, LEVEL_RC);
	const struct committed *of = commits_readable(c, b, plain, &count);
	ck_assert_uint_eq(count, 2);
	commits_read(c, b, plain, of[1]);
	commits_abort(c, b);
	commits_begin(c, b, LEVEL_SI);
	commits_readable(c, b, plain, &count);
	ck_assert_uint_eq(count, 1);
	commits_abort(c, b);
	commits_see(c, b, commits_count(c));
	commits_begin(c, b, LEVEL_NONE);
	of = commits_readable(c, b, plain, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(of[0].number, 2);
	commits_free(c);
}
END_TEST

/* Reads the newest that it may; how many there are. */
static uint32_t read_newest(struct commits *c, uint32_t session, uint32_t key,
                            enum strength strength)
{
	struct db_access a = { .key = key, .strength = strength };
	uint32_t count;
	const struct committed *of = commits_readable(c, session, a, &count);
	ck_assert_uint_gt(count, 0);
	commits_read(c, session, a, of[count - 1]);
	return count;
}

/* Who has waited for a lock is behind what its owner had seen when it ended: at
 * the owner's end, or when it gave it up. */
START_TEST(locks_given_up)
{
	enum { OWNER, WAITER, WRITER, SESSIONS_ALL };
	const struct db_access lock = { .key = 0, .strength = STRENGTH_UPDATE };
	struct commits *c = commits_new((struct commits_rules){ 0 });
	uint32_t key;
	for (uint32_t k = 0; k < 2; k++) commits_add_key(c, k + 1);
	for (int i = 0; i < SESSIONS_ALL; i++) commits_add_session(c);
	commits_begin(c, WRITER, LEVEL_PRC);
	commits_write(c, WRITER, (struct db_access){ .key = 1 }, 3);
	ck_assert(commits_commit(c, WRITER, &key));
	commits_begin(c, OWNER, LEVEL_PRC);
	commits_begin(c, WAITER, LEVEL_PRC);
	ck_assert_uint_eq(read_newest(c, OWNER, 1, STRENGTH_PLAIN), 2);
	ck_assert_uint_eq(read_newest(c, OWNER, 0, STRENGTH_UPDATE), 1);
	if (_i == 1) commits_give_up(c, OWNER, lock);
	if (_i == 2) commits_abort(c, OWNER);
	ck_assert_uint_eq(read_newest(c, WAITER, 0, STRENGTH_UPDATE), 1);
	ck_assert_uint_eq(read_newest(c, WAITER, 1, STRENGTH_PLAIN),
	                  _i ? 1 : 2);
	commits_free(c);
}
END_TEST

static void count_over(void *payload, uint32_t key, uint32_t number)
{
	(void)key;
	*(uint32_t *)payload += number != 0;
}

static void count_nothing(void *payload, uint32_t key)
{
	(void)key;
	*(uint32_t *)payload += 1000;
}

/* The session writes the key, or, 0, deletes its row. */
static void commit_one(struct commits *c, uint32_t session, uint32_t number)
{
	const struct db_access x = { .strength = STRENGTH_UPDATE };
	uint32_t key;
	commits_begin(c, session, LEVEL_PRC);
	commits_write(c, session, x, number);
	ck_assert(commits_commit(c, session, &key));
}

/* What is behind all sessions goes, though a session that sleeps may keep it,
 * unless there is a limit. */
START_TEST(forgets)
{
	uint32_t gone = 0;
	const struct commits_forgotten to = { count_over, count_nothing,
		                              &gone };
	struct commits *c = commits_new(
		(struct commits_rules){ .moments = true, .within = _i });
	commits_add_key(c, 1);
	uint32_t a = commits_add_session(c), b = commits_add_session(c);
	for (uint32_t i = 0; i < 100; i++) commit_one(c, a, 2 + i);
	commits_forget(c, &to);
	ck_assert_uint_eq(gone, _i ? 100 - (uint32_t)_i : 0);
	ck_assert_uint_eq(commits_overwritten(c), 100 - gone);
	commits_end_session(c, b);
	commits_forget(c, &to);
	ck_assert_uint_eq(gone, 100);
	commit_one(c, a, 0);
	commits_forget(c, &to);
	commits_forget(c, &to);
	ck_assert_uint_eq(gone, 1101);
	ck_assert_uint_eq(commits_overwritten(c), 0);
	commits_free(c);
}
END_TEST

void add_commits_tests(TCase *tests)
{
	tcase_add_loop_test(tests, forgets, 0, 5);

	tcase_add_loop_test(tests, satisfies_the_level, 0, LEVEL_COUNT);
	tcase_add_loop_test(tests, stale_reads, 0, LEVEL_COUNT);
	tcase_add_test(tests, first_committer_wins);
	tcase_add_test(tests, aborted_reads);
	tcase_add_loop_test(tests, locks_given_up, 0, 3);
}
