/* What src/serve/commits.c lets transactions read satisfies their levels, by
 * the twin, whatever they ask and however they end; and nothing that a level
 * has to allow is missing. */
#include "serve/commits.h"

#include <check.h>
#include <stdlib.h>

#include "base/memory.h"
#include "history/trace.h"
#include "serve/recording.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"

enum { KEYS = 3, SESSIONS = 3, TRANSACTIONS = 6, ACCESSES = 4 };

struct trial {
	struct rng rng;
	struct commits *commits;
	struct recording *recording;
	enum level level; /* of most */
	bool mixes, locks;
	uint32_t sessions[SESSIONS], numbers;
	bool locked[KEYS]; /* by the transaction at hand: it may write */
};

static bool in(struct trial *t, uint32_t n)
{
	return !rng_below(&t->rng, n);
}

static enum level draw_level(struct trial *t)
{
	static const enum level own[] = { LEVEL_PRC, LEVEL_SI, LEVEL_SER };
	return t->mixes && in(t, 2) ? own[rng_below(&t->rng, 3)] : t->level;
}

/* False: there is none to be read. */
static bool read_key(struct trial *t, struct db_access a, bool *there)
{
	uint32_t count;
	const struct committed *of = commits_readable(t->commits, a, &count);
	if (!count) return false;
	struct committed v = of[rng_below(&t->rng, count)];
	commits_read(t->commits, a, v);
	recording_read(t->recording, a, v.position,
	               v.number ? value_int(v.number) : value_null());
	*there = v.number != 0;
	return true;
}

static void write_key(struct trial *t, struct db_access a, bool row)
{
	uint32_t number = row ? ++t->numbers : 0;
	commits_write(t->commits, a, number);
	recording_write(t->recording, a,
	                row ? value_int(number) : value_null());
}

/* As a backend does it: who writes a key has locked it, or has found that no
 * row has it. Writes are told at the end. */
static bool access_key(struct trial *t, uint32_t key, bool joined,
                       enum strength *writes)
{
	static const enum strength all[] = {
		STRENGTH_PLAIN,         STRENGTH_KEY_SHARE, STRENGTH_SHARE,
		STRENGTH_NO_KEY_UPDATE, STRENGTH_UPDATE,    STRENGTH_INSERT
	};
	struct db_access a = { .key = key, .joined = joined };
	bool there;
	a.strength = t->locks && in(t, 2) ? all[rng_below(&t->rng, 6)]
	                                  : STRENGTH_PLAIN;
	if (writes[key] != STRENGTH_PLAIN) return true; /* its own */
	if (!read_key(t, a, &there)) return false;
	if (a.strength == STRENGTH_INSERT && !there)
		writes[key] = STRENGTH_UPDATE;
	else if (a.strength != STRENGTH_INSERT &&
	         a.strength >= STRENGTH_NO_KEY_UPDATE && in(t, 2))
		writes[key] = a.strength;
	else if (!t->locks && in(t, 2))
		writes[key] = STRENGTH_UPDATE;
	return true;
}

static void run_transaction(struct trial *t)
{
	static const char *const names[] = { "a", "b", "c" };
	uint32_t s = rng_below(&t->rng, SESSIONS), key;
	enum level level = draw_level(t);
	enum strength writes[KEYS] = { STRENGTH_PLAIN };
	bool fine = true;
	commits_begin(t->commits, t->sessions[s], level);
	recording_begin(t->recording, names[s],
	                level == t->level ? 0 : (own_level)(level + 1));
	uint32_t count = 1 + rng_below(&t->rng, ACCESSES);
	for (uint32_t i = 0; i < count && fine; i++)
		fine = access_key(t, rng_below(&t->rng, KEYS), i && in(t, 3),
		                  writes);
	fine = fine && !in(t, 6);
	for (uint32_t k = 0; k < KEYS && fine; k++)
		if (writes[k] != STRENGTH_PLAIN)
			write_key(t,
			          (struct db_access){ .key = k,
			                              .strength = writes[k] },
			          writes[k] != STRENGTH_UPDATE || in(t, 2));
	fine = fine && commits_commit(t->commits, &key);
	if (!fine) commits_abort(t->commits);
	recording_end(t->recording, !fine);
}

static struct history *make_history(struct trial *t)
{
	static const char *const keys[] = { "x", "y", "z" };
	t->commits = commits_new(level_sight(t->level) == SIGHT_PAST);
	t->recording = recording_new();
	for (uint32_t k = 0; k < KEYS; k++) {
		uint32_t number = in(t, 3) ? 0 : ++t->numbers;
		commits_add_key(t->commits, number);
		recording_add_key(t->recording, keys[k],
		                  number ? value_int(number) : value_null());
	}
	for (uint32_t s = 0; s < SESSIONS; s++)
		t->sessions[s] = commits_add_session(t->commits);
	for (int i = 0; i < TRANSACTIONS; i++) run_transaction(t);
	struct diags d = { 0 };
	struct trace *trace = recording_finish(t->recording, &d);
	ck_assert_msg(trace, "%s", d.count ? d.items[0].message : "");
	struct history *h = trace_history(trace, NULL, NULL);
	h->others = (own_level)(t->level + 1);
	trace_free(trace);
	diags_free(&d);
	commits_free(t->commits);
	recording_free(t->recording);
	return h;
}

static void judge(const struct trial *t, const struct history *h, uint64_t seed)
{
	if (twin_allows(t->level, h)) return;
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
		t.locks = i % 4;
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
	struct commits *c = commits_new(level_sight(l) == SIGHT_PAST);
	struct db_access x = { .strength = STRENGTH_UPDATE };
	uint32_t key, count, a, b;
	commits_add_key(c, 1);
	a = commits_add_session(c);
	b = commits_add_session(c);
	commits_begin(c, a, l);
	commits_write(c, x, 2);
	ck_assert(commits_commit(c, &key));
	commits_begin(c, same_session ? a : b, l);
	x.strength = s;
	commits_readable(c, x, &count);
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
	struct commits *c = commits_new(false);
	struct db_access x = { .strength = STRENGTH_UPDATE }, plain = { 0 };
	uint32_t key, count;
	commits_add_key(c, 1);
	uint32_t a = commits_add_session(c), b = commits_add_session(c);
	commits_begin(c, a, LEVEL_SI);
	commits_write(c, x, 2);
	ck_assert(commits_commit(c, &key));
	commits_begin(c, b, LEVEL_SI);
	const struct committed *of = commits_readable(c, plain, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(of[0].number, 1);
	commits_read(c, plain, of[0]);
	commits_readable(c, x, &count);
	ck_assert_uint_eq(count, 0);
	commits_write(c, x, 3);
	ck_assert(!commits_commit(c, &key));
	ck_assert_uint_eq(key, 0);
	commits_abort(c);
	/* And what was there when a session began is the oldest for it. */
	commits_begin(c, commits_add_session(c), LEVEL_RC);
	commits_readable(c, plain, &count);
	ck_assert_uint_eq(count, 1);
	commits_free(c);
}
END_TEST

/* What has been read counts, also by one that rolls back, and at rc: its
 * session has seen it. */
START_TEST(aborted_reads)
{
	struct commits *c = commits_new(false);
	struct db_access x = { .strength = STRENGTH_UPDATE }, plain = { 0 };
	uint32_t key, count;
	commits_add_key(c, 1);
	uint32_t a = commits_add_session(c), b = commits_add_session(c);
	commits_begin(c, a, LEVEL_SER);
	commits_write(c, x, 2);
	ck_assert(commits_commit(c, &key));
	commits_begin(c, b, LEVEL_RC);
	const struct committed *of = commits_readable(c, plain, &count);
	ck_assert_uint_eq(count, 2);
	commits_read(c, plain, of[1]);
	commits_abort(c);
	commits_begin(c, b, LEVEL_SI);
	commits_readable(c, plain, &count);
	ck_assert_uint_eq(count, 1);
	commits_abort(c);
	commits_see(c, b, commits_count(c));
	commits_begin(c, b, LEVEL_NONE);
	of = commits_readable(c, plain, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(of[0].number, 2);
	commits_free(c);
}
END_TEST

void add_commits_tests(TCase *tests)
{
	tcase_add_loop_test(tests, satisfies_the_level, 0, LEVEL_COUNT);
	tcase_add_loop_test(tests, stale_reads, 0, LEVEL_COUNT);
	tcase_add_test(tests, first_committer_wins);
	tcase_add_test(tests, aborted_reads);
}
