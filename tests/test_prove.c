/* Proofs for any number of transactions, against exploring: what is proved has
 * no client with an execution that is not serializable, what is violated has
 * one. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/seconds.h"
#include "history/history.h"
#include "lang/source.h"
#include "prove/client.h"
#include "prove/prove.h"
#include "prove/search.h"
#include "prove_support.h"
#include "random_transactions.h"
#include "suites.h"
#include "support.h"
#include "vm/program.h"

enum { TRANSACTIONS = 3 };

/* ---- what excludes a cycle ---- */

/* Is it told of all that there are, if each may follow each? */
static void check_exclusions(struct proof *p)
{
	uint32_t n = p->app->summary_count;
	for (uint32_t i = 0; i < p->exclusion_count; i++)
		check_exclusion(p, &p->exclusions[i]);
	if (p->verdict != VERDICT_HOLDS || p->stop || p->undecided || n != 1 ||
	    !p->pairs[0].rw)
		return;
	ck_assert_uint_eq(p->exclusion_count, p->length - 1);
}

/* ---- against exploring ---- */

enum { CLIENTS = 12 };

static void explore_clients(struct rng *r, const char *transactions,
                            uint32_t count, const struct prove_options *o)
{
	struct budget budget = { .timeout = 20,
		                 .max_histories = is_quick() ? 1000 : 3000 };
	for (int i = 0; i < CLIENTS; i++) {
		struct text t = { 0 };
		struct writer w = { .r = r, .t = &t };
		write_globals(&w);
		text_string(&t, transactions);
		write_sessions(&w, count, o->terms.one_each);
		struct client_found found = client_explore(
			"random.tx", &t, o->terms.level, &budget);
		if (found.history)
			ck_abort_msg("proved at %s%s, but\n%s",
			             level_word(o->terms.level),
			             o->terms.one_each ? " (one each)" : "",
			             text_get(&t));
		text_free(&t);
	}
}

struct tally {
	unsigned proved, violated, open;
};

static void try_program(uint64_t seed, struct tally *tally)
{
	struct rng r = { seed };
	struct text transactions = { 0 }, t = { 0 };
	struct writer w = { .r = &r, .t = &transactions };
	struct diags d = { 0 };
	struct application app;
	struct proof found;
	bool mixed = one_in(&w, 4), lists = one_in(&w, 4);
	uint32_t count = lists ? 2 : 1 + rng_below(&r, TRANSACTIONS);
	struct prove_options o = {
		.terms.level = (enum level)(
			LEVEL_RC + rng_below(&r, LEVEL_COUNT - LEVEL_RC)),
		.terms.one_each = one_in(&w, 2),
		.max_length = 3,
		.explain = true,
		.timeout = 30,
	};
	if (mixed && !level_mixes(o.terms.level)) o.terms.level = LEVEL_PRC;
	if (lists)
		write_list_transactions(&w);
	else
		for (uint32_t i = 0; i < count; i++)
			write_transaction(&w, i, mixed);
	if (lists) o.terms.level = LEVEL_SI;
	w.t = &t;
	write_globals(&w);
	text_string(&t, text_get(&transactions));
	struct load_text text = { "random.tx", text_get(&t), t.length };
	struct program *p = prove_load(&app, "random.tx", &text, &d);
	if (!p)
		ck_abort_msg("seed %llu: %s\n%s", (unsigned long long)seed,
		             d.count ? d.items[0].message : "", text_get(&t));
	prove(&found, &app, &o);
	ck_assert(found.verdict != VERDICT_VIOLATED || found.history);
	tally->proved += found.verdict == VERDICT_HOLDS;
	tally->violated += found.verdict == VERDICT_VIOLATED;
	tally->open += found.verdict == VERDICT_INCONCLUSIVE;
	check_exclusions(&found);
	if (found.verdict == VERDICT_HOLDS)
		explore_clients(&r, text_get(&transactions), count, &o);
	prove_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
	text_free(&transactions);
	text_free(&t);
}

enum { PROGRAMS = 400, OF_ALL = 100, PROCESSES = 2 };

START_TEST(proofs_hold_when_explored)
{
	struct tally tally = { 0 };
	uint64_t seed = process_seed(_i, 0);
	uint64_t count = programs_each(PROGRAMS, is_quick() ? OF_ALL : PROGRAMS,
	                               PROCESSES);
	for (uint64_t i = 0; i < count; i++) try_program(seed + i, &tally);
	if (getenv("ISOSCOPE_TALLY"))
		fprintf(stderr, "proved %u, violated %u, open %u\n",
		        tally.proved, tally.violated, tally.open);
	ck_assert(count < 100 || (tally.proved && tally.violated));
}
END_TEST

/* ---- sets of transactions, against each by itself ---- */

enum { TOGETHER = 4 };

static bool is_within(uint64_t a, uint64_t b)
{
	return !(a & ~b);
}

/* Does one of the sets of that verdict say so of this one? */
static bool is_told(const struct proof *p, uint64_t set, enum verdict v)
{
	bool told = false;
	for (uint32_t i = 0; i < p->set_count; i++) {
		uint64_t k = p->sets[i].members;
		told |= p->sets[i].verdict == v &&
		        (v == VERDICT_HOLDS ? is_within(set, k)
		                            : is_within(k, set));
	}
	return told;
}

static struct proof prove_text(const char *text, const struct prove_options *o)
{
	struct load_text given = { "sets.tx", text, strlen(text) };
	struct diags d = { 0 };
	struct application app;
	struct proof found;
	struct program *p = prove_load(&app, "sets.tx", &given, &d);
	if (!p) ck_abort_msg("%s\n%s", d.items[0].message, text);
	prove(&found, &app, o);
	found.app = NULL;
	program_free(p);
	application_free(&app);
	diags_free(&d);
	return found;
}

/* None is told twice, nothing is told of what is violated but that, and its
 * client shows it. */
static void check_sets(const struct proof *p, const struct prove_options *o)
{
	for (uint32_t i = 0; i < p->set_count; i++) {
		const struct proved_set *s = &p->sets[i];
		for (uint32_t j = 0; j < p->set_count; j++)
			ck_assert(i == j || s->verdict != p->sets[j].verdict ||
			          !is_within(s->members, p->sets[j].members));
		if (s->verdict == VERDICT_HOLDS) continue;
		ck_assert(!is_told(p, s->members, VERDICT_HOLDS));
		if (s->verdict == VERDICT_INCONCLUSIVE) {
			ck_assert(!is_told(p, s->members, VERDICT_VIOLATED));
			continue;
		}
		struct budget budget = { .timeout = 20 };
		struct client_found found = client_explore(
			"sets.tx", &s->client, o->terms.level, &budget);
		ck_assert_ptr_nonnull(found.history);
		history_free(found.history);
		program_free(found.program);
	}
}

struct set_tally {
	unsigned proved, violated, open;
};

static void try_sets(uint64_t seed, struct set_tally *tally)
{
	struct rng r = { seed };
	struct text parts[TOGETHER] = { 0 }, globals = { 0 }, t = { 0 };
	struct writer w = { .r = &r, .t = &globals };
	uint32_t count = 2 + rng_below(&r, TOGETHER - 1);
	bool mixed = one_in(&w, 4);
	struct prove_options o = {
		.terms.level = (enum level)(
			LEVEL_RC + rng_below(&r, LEVEL_COUNT - LEVEL_RC)),
		.terms.one_each = one_in(&w, 2),
		.max_length = 3,
		.subsets = true,
		.timeout = 30,
	};
	if (mixed && !level_mixes(o.terms.level)) o.terms.level = LEVEL_PRC;
	write_globals(&w);
	for (uint32_t i = 0; i < count; i++) {
		w.t = &parts[i];
		write_transaction(&w, i, mixed);
	}
	text_string(&t, text_get(&globals));
	for (uint32_t i = 0; i < count; i++)
		text_string(&t, text_get(&parts[i]));
	struct proof all = prove_text(text_get(&t), &o);
	bool whole = !all.stop && !all.undecided;
	ck_assert(!all.sets_left);
	check_sets(&all, &o);
	o.subsets = false;
	for (uint64_t set = 1; set < (uint64_t)1 << count && whole; set++) {
		bool proved = is_told(&all, set, VERDICT_HOLDS);
		bool violated = is_told(&all, set, VERDICT_VIOLATED);
		text_clear(&t);
		text_string(&t, text_get(&globals));
		for (uint32_t i = 0; i < count; i++)
			if (set >> i & 1) text_string(&t, text_get(&parts[i]));
		struct proof alone = prove_text(text_get(&t), &o);
		if (!alone.stop && !alone.undecided &&
		    (alone.verdict == VERDICT_HOLDS) != proved)
			ck_abort_msg("seed %llu: alone %s at %s:\n%s",
			             (unsigned long long)seed,
			             verdict_word(alone.verdict),
			             level_word(o.terms.level), text_get(&t));
		ck_assert(proved || violated ||
		          is_told(&all, set, VERDICT_INCONCLUSIVE));
		tally->proved += proved;
		tally->violated += violated;
		tally->open += !proved && !violated;
		prove_free(&alone);
	}
	prove_free(&all);
	for (uint32_t i = 0; i < count; i++) text_free(&parts[i]);
	text_free(&globals);
	text_free(&t);
}

enum { SET_PROGRAMS = 100, FEW_SET_PROGRAMS = 3 };

START_TEST(sets_are_as_each_by_itself)
{
	struct set_tally tally = { 0 };
	uint64_t seed = process_seed(_i, 1);
	uint64_t count = programs_each(
		SET_PROGRAMS, is_quick() ? FEW_SET_PROGRAMS : SET_PROGRAMS,
		PROCESSES);
	for (uint64_t i = 0; i < count; i++) try_sets(seed + i, &tally);
	if (getenv("ISOSCOPE_TALLY"))
		fprintf(stderr, "sets proved %u, violated %u, open %u\n",
		        tally.proved, tally.violated, tally.open);
	ck_assert(count < 50 || (tally.proved && tally.violated));
}
END_TEST

/* ---- a level for each, against each mix by itself ---- */

static const char *const ladders[] = { "prc+si+ser", "prc+si+ser", "si+ser",
	                               "rc+cc+pc+ser", "rc+prc+ser" };
enum { LADDERS = sizeof ladders / sizeof *ladders };

/* Of the levels, the allocation with this number. */
static void choose(enum level *at, unsigned levels, uint32_t count,
                   unsigned number)
{
	unsigned n = 0;
	enum level all[LEVEL_COUNT];
	for (unsigned l = 0; l < LEVEL_COUNT; l++)
		if (levels >> l & 1) all[n++] = (enum level)l;
	for (uint32_t i = 0; i < count; i++, number /= n)
		at[i] = all[number % n];
}

static bool is_at_least(const enum level *a, const enum level *b,
                        uint32_t count)
{
	bool all = true;
	for (uint32_t i = 0; i < count; i++)
		all &= prove_level_covers(a[i], b[i]);
	return all;
}

static void write_levels(struct text *t, const struct text *parts,
                         const enum level *at, uint32_t count)
{
	text_clear(t);
	for (uint32_t i = 0; i < count; i++) {
		const char *text = text_get(&parts[i]);
		const char *body = strchr(text, '{');
		text_bytes(t, text, (size_t)(body - text));
		text_format(t, "at %s %s", level_word(at[i]), body);
	}
}

/* What is weaker by one is as it is said to be. */
static void check_weaker(const struct proved_allocation *a)
{
	struct budget budget = { .timeout = 20 };
	for (uint32_t i = 0; i < a->weaker_count; i++) {
		const struct proved_weaker *w = &a->weaker[i];
		enum level above = a->levels[w->transaction];
		ck_assert_int_ne(w->verdict, VERDICT_HOLDS);
		ck_assert(w->level != above);
		ck_assert(prove_level_covers(above, w->level));
		if (w->verdict != VERDICT_VIOLATED) continue;
		struct client_found found = client_explore(
			"sets.tx", &w->client, LEVEL_PRC, &budget);
		ck_assert_ptr_nonnull(found.history);
		history_free(found.history);
		program_free(found.program);
	}
}

/* The found ones are proved, none of them is stronger than another one, and
 * what is proved is at least one of them. */
static void check_mix(const struct proof *p, const struct proof *alone,
                      const enum level *at, uint32_t count, const char *text)
{
	bool proved = alone->verdict == VERDICT_HOLDS, found = false;
	unsigned above = 0;
	if (alone->stop || alone->undecided) return;
	for (uint32_t i = 0; i < p->allocation_count; i++) {
		const enum level *a = p->allocations[i].levels;
		bool stronger = is_at_least(at, a, count);
		found |= stronger && is_at_least(a, at, count);
		above += stronger;
	}
	ck_assert(!found || above == 1);
	if ((proved && !above) || (found && !proved))
		ck_abort_msg("alone %s, %s:\n%s", verdict_word(alone->verdict),
		             found ? "found" : "not found", text);
}

/* In the short test, some of the mixes. */
enum { LEVEL_PROGRAMS = 60, FEW_LEVEL_PROGRAMS = 1, FEW_MIXES = 6 };

static void try_levels(uint64_t seed, struct set_tally *tally)
{
	struct rng r = { seed };
	struct text parts[TRANSACTIONS] = { 0 }, globals = { 0 }, t = { 0 },
		    given = { 0 }, why = { 0 };
	struct writer w = { .r = &r, .t = &globals };
	uint32_t count = 1 + rng_below(&r, TRANSACTIONS);
	enum level at[TRANSACTIONS];
	unsigned mixes = 1, levels;
	struct prove_options o = { .terms.level = LEVEL_PRC,
		                   .terms.one_each = one_in(&w, 2),
		                   .terms.no_errors = one_in(&w, 2),
		                   .max_length = 3,
		                   .timeout = 60 };
	ck_assert(prove_levels(ladders[rng_below(&r, LADDERS)], &levels, &why));
	write_globals(&w);
	for (uint32_t i = 0; i < count; i++) {
		w.t = &parts[i];
		write_transaction(&w, i, false);
		mixes *= (unsigned)__builtin_popcount(levels);
	}
	choose(at, levels, count, 0);
	write_levels(&given, parts, at, count);
	text_format(&t, "%s%s", text_get(&globals), text_get(&given));
	o.allocate = levels;
	struct proof all = prove_text(text_get(&t), &o);
	bool whole = !all.stop && !all.undecided;
	ck_assert(!all.allocations_left);
	o.allocate = 0;
	for (unsigned n = 0; n < mixes && whole; n++) {
		if (is_quick() && rng_below(&r, mixes) >= FEW_MIXES) continue;
		choose(at, levels, count, n);
		write_levels(&given, parts, at, count);
		text_clear(&t);
		text_format(&t, "%s%s", text_get(&globals), text_get(&given));
		struct proof alone = prove_text(text_get(&t), &o);
		check_mix(&all, &alone, at, count, text_get(&t));
		tally->open += alone.verdict != VERDICT_HOLDS;
		prove_free(&alone);
	}
	for (uint32_t i = 0; i < all.allocation_count; i++) {
		check_weaker(&all.allocations[i]);
		write_levels(&given, parts, all.allocations[i].levels, count);
		if (!o.terms.no_errors)
			explore_clients(&r, text_get(&given), count, &o);
		tally->violated += all.allocations[i].weaker_count;
		tally->proved++;
	}
	prove_free(&all);
	for (uint32_t i = 0; i < count; i++) text_free(&parts[i]);
	text_free(&globals);
	text_free(&given);
	text_free(&t);
}

START_TEST(levels_are_as_each_mix_by_itself)
{
	struct set_tally tally = { 0 };
	uint64_t seed = process_seed(_i, 2);
	uint64_t count = programs_each(
		LEVEL_PROGRAMS,
		is_quick() ? FEW_LEVEL_PROGRAMS : LEVEL_PROGRAMS, PROCESSES);
	for (uint64_t i = 0; i < count; i++) try_levels(seed + i, &tally);
	if (getenv("ISOSCOPE_TALLY"))
		fprintf(stderr, "levels found %u, below %u, mixes open %u\n",
		        tally.proved, tally.violated, tally.open);
	ck_assert(count < 50 || (tally.proved && tally.violated));
}
END_TEST

/* ---- known answers ---- */

#define BANK                                                 \
	"txn withdraw(a, v) { assume v > 0; let b = n[a];\n" \
	"  if (b >= v) { n[a] = b - v; } }\nglobal n[*] = 9;\n"
/* SmallBank: Alomari and others, ICDE 2008. */
#define ROWS "global s[*] = 9;\nglobal c[*] = 9;\n"
#define BAL "txn bal(a) { let x = s[a]; let y = c[a]; return x + y; }\n"
#define DC "txn dc(a, v) { atomic c[a] += v; }\n"
#define TS "txn ts(a, v) { atomic s[a] += v; }\n"
#define AM                                                                   \
	"txn am(a, b) { let x = locked s[a]; s[a] = 0; let y = locked c[a];" \
	" c[a] = 0; atomic c[b] += x + y; }\n"
#define WC                                                 \
	"txn wc(a, v) { let x = s[a]; let y = c[a];\n"     \
	"  if (x + y < v) { atomic c[a] += 0 - v - 1; }\n" \
	"  else { atomic c[a] += 0 - v; } }\n"

/* Nagar and Jagannathan, CONCUR 2018: students and courses are there or not,
 * those who remove them do not look. */
#define COURSES                                                                \
	"global student[*] = false;\nglobal course[*] = null;\n"               \
	"txn add_student(s) { if (!student[s]) { student[s] = true; } }\n"     \
	"txn add_course(c, n) { if (course[c] == null) { course[c] = n; } }\n" \
	"txn rem_student(s) { student[s] = false; }\n"                         \
	"txn rem_course(c) { course[c] = null; }\n"
#define ENROLL(at)                                                        \
	"txn enroll(s, c) " at "{ if (student[s]) { let n = course[c];\n" \
	"  if (n != null) { if (n > 0) { course[c] = n - 1; } } } }\n"
/* The same: TPC-C, of which a delivery is of one district, orders have one
 * line, and customers are not looked for by name. */
#define ORDERS                                                                \
	"global item[*] = 1;\nglobal next[*] = 1;\nglobal order[*] = null;\n" \
	"global last[*] = 0;\nglobal waiting[*] = [];\n"                      \
	"global stock[*] = 9;\nglobal house[*] = 0;\nglobal ytd[*] = 0;\n"    \
	"global balance[*] = 0;\n"
#define NEW_ORDER                                                     \
	"txn new_order(w, d, c, i, q) { let price = item[i];\n"       \
	"  let o = next[w, d]; next[w, d] = o + 1;\n"                 \
	"  order[w, d, o] = {c: c, item: i, carrier: 0};\n"           \
	"  last[w, d, c] = o; waiting[w, d] = waiting[w, d] + [o];\n" \
	"  let s = stock[w, i]; stock[w, i] = s - q; }\n"
#define PAYMENT                                                      \
	"txn payment(w, d, c, n) { house[w] += n; ytd[w, d] += n;\n" \
	"  balance[w, d, c] += 0 - n; }\n"
#define STATUS                                              \
	"txn status(w, d, c) { let b = balance[w, d, c];\n" \
	"  let o = last[w, d, c]; let row = order[w, d, o]; }\n"
#define DELIVERY                                                        \
	"txn deliver(w, d, carrier) { let all = waiting[w, d];\n"       \
	"  if (size(all) == 0) return; let o = min(all);\n"             \
	"  waiting[w, d] = remove(all, o); let row = order[w, d, o];\n" \
	"  order[w, d, o] = {...row, carrier: carrier};\n"              \
	"  let b = balance[w, d, row.c]; balance[w, d, row.c] = b + 1; }\n"
#define STOCK                                                          \
	"txn level(w, d) { let n = next[w, d]; for o in n - 20..n {\n" \
	"  let row = order[w, d, o]; let s = stock[w, row.item]; } }\n"
#define TPCC ORDERS NEW_ORDER PAYMENT STATUS DELIVERY STOCK

static const struct {
	const char *text;
	enum level level;
	bool one_each;
	enum verdict verdict;
} known[] = {
	{ BANK, LEVEL_CC, true, VERDICT_VIOLATED },
	{ BANK, LEVEL_PC, true, VERDICT_VIOLATED },
	{ BANK, LEVEL_PSI, true, VERDICT_HOLDS },
	{ BANK, LEVEL_PSI, false, VERDICT_VIOLATED },
	{ BANK, LEVEL_SI, false, VERDICT_HOLDS },
	{ BANK, LEVEL_PRC, true, VERDICT_VIOLATED },
	{ ROWS AM DC TS, LEVEL_PRC, true, VERDICT_HOLDS },
	{ ROWS BAL DC, LEVEL_PRC, true, VERDICT_HOLDS },
	{ ROWS BAL TS, LEVEL_PRC, true, VERDICT_HOLDS },
	{ ROWS BAL DC TS, LEVEL_PRC, true, VERDICT_VIOLATED },
	{ ROWS BAL AM, LEVEL_PRC, true, VERDICT_VIOLATED },
	{ ROWS WC, LEVEL_PRC, true, VERDICT_VIOLATED },
	{ ROWS AM BAL DC TS, LEVEL_SI, true, VERDICT_HOLDS },
	{ ROWS AM BAL DC WC, LEVEL_SI, true, VERDICT_HOLDS },
	{ ROWS AM DC TS WC, LEVEL_SI, true, VERDICT_HOLDS },
	{ ROWS BAL TS WC, LEVEL_SI, true, VERDICT_VIOLATED },
	/* Who is meant stands in a record, the same for all. */
	{ "global who[*] = {id: 1};\nglobal n[*] = 0;\n"
	  "txn add(a) { n[who[a].id] = n[who[a].id] + 1; }\n",
	  LEVEL_CC, true, VERDICT_VIOLATED },
	{ "global who[*] = {id: 1};\nglobal n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a) { let i = who[a]; if (i.id == 1) { let x = n[a]; m[a] = "
	  "x; } }\n"
	  "txn other(a) { let i = who[a]; if (i.id == 2) { let x = m[a]; n[a] "
	  "= x; } }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	{ "global who[*] = {id: 1};\nglobal n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a) { let i = who[a]; if (i.id == 1) { let x = n[a]; m[a] = "
	  "x; } }\n"
	  "txn other(a) { let i = who[a]; if (i.id < 2) { let x = m[a]; n[a] = "
	  "x; } }\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
	{ COURSES ENROLL("at si "), LEVEL_RA, true, VERDICT_VIOLATED },
	{ TPCC, LEVEL_RA, true, VERDICT_VIOLATED },
	{ TPCC, LEVEL_SI, true, VERDICT_HOLDS },
	{ TPCC, LEVEL_SI, false, VERDICT_HOLDS },
	{ ORDERS NEW_ORDER PAYMENT STATUS, LEVEL_PSI, true, VERDICT_VIOLATED },
	/* Keys that are tuples: of the same items, they are the same. */
	{ "global n[*] = 0;\ntxn add(a, b) { n[(a, b)] = n[(a, b)] + 1; }\n",
	  LEVEL_SI, false, VERDICT_HOLDS },
	{ "global n[*] = 0;\n"
	  "txn add(a, b) { n[(a, b)] = n[(a, b, a)] + 1; }\n",
	  LEVEL_SER, false, VERDICT_HOLDS },
	{ "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a, b) { let x = n[(a, b)]; m[(a, b)] = x; }\n"
	  "txn other(a) { let x = m[(a[0], a[1])]; n[(a[0], a[1])] = x; }\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
	{ "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a, b) { let x = n[(a, b)]; m[(a, b)] = x; }\n"
	  "txn other(a, b) { let x = m[(a, b, 1)]; n[(a, b)] = x; }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	{ "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a) { let x = n[(a, 1)]; m[(a, 1)] = x; }\n"
	  "txn other(a) { let x = m[(a, 2)]; n[(a, 2)] = x; }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	{ "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a) { let x = n[(1, a)]; m[(1, a)] = x; }\n"
	  "txn other(a) { let x = m[(2, a)]; n[(2, a)] = x; }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	/* What is written into a record is there, the rest is as it was. */
	{ "global at[*] = {x: 1, y: 1};\nglobal n[*] = 0;\n"
	  "txn move(a) { let r = at[a]; let s = {...r, y: 2};\n"
	  "  n[s.x] = n[r.x] + 1; }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	{ "global at[*] = {x: 1, y: 1};\nglobal n[*] = 0;\n"
	  "txn move(a) { let r = at[a]; let s = {...r, y: 2};\n"
	  "  n[s.x] = n[r.y] + 1; }\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
	{ "global at[*] = {x: 1, y: 1};\n"
	  "txn mark(a) { let r = at[a];\n"
	  "  if (r.y != 2) { at[a] = {...r, y: 2}; } }\n",
	  LEVEL_CC, true, VERDICT_VIOLATED },
	/* Loops that do not write on leave what they read of it alone. */
	{ "global on = false;\nglobal n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn turn() { on = !on; }\n"
	  "txn one(a) { for k in a { let u = on; let v = on;\n"
	  "  if (u != v) { let x = n[k]; m[k] = x; } } }\n"
	  "txn other(k) { let x = m[k]; n[k] = x; }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	/* Items of a filter have passed it. */
	{ "global ids = [(1, 1), (2, 1)];\nglobal n[*] = 0;\n"
	  "global m[*] = 0;\n"
	  "fn those(all, a) = filter(i in all : i[0] == a);\n"
	  "txn add(a) { let s = 0;\n"
	  "  for i in those(ids, a) { s = s + n[i[0]]; } n[a] = s; }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	/* Nobody has committed a version of x since the snapshot of who writes
	 * it, and so for y: of two that write one each, the later snapshot has
	 * what the other one has seen. */
	{ "global x = false;\nglobal y = false;\n"
	  "txn set() { x = true; y = true; }\n"
	  "txn clear() { let a = x; let b = y;\n"
	  "  if (a) { x = false; } if (b) { y = false; } }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	/* Two locks keep the doctors apart; one does not. */
	{ "txn go(a, b) { if (on[a] && on[b]) { on[a] = false; } }\n"
	  "global on[*] = true;\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
	{ "txn go(a, b) { if (locked on[a] && locked on[b])"
	  " { on[a] = false; } }\nglobal on[*] = true;\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	/* The longest cycle but one that is met: three that each write what
	 * the one before reads. */
	{ "txn a() { let v = x; y = v; }\ntxn b() { let v = y; z = v; }\n"
	  "txn c() { let v = z; x = v; }\nglobal x = 0;\nglobal y = 0;\n"
	  "global z = 0;\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
	/* Loops of any number of rounds, over the same keys. */
	{ "global n[*] = 0;\n"
	  "txn all(keys) { for k in keys { n[k] = n[k] + 1; } }\n",
	  LEVEL_SI, false, VERDICT_HOLDS },
	{ "global n[*] = 0;\n"
	  "txn all(m) { for k in 0..m { n[k] = n[k] + 1; } }\n",
	  LEVEL_CC, true, VERDICT_VIOLATED },
	{ "global n[*] = 0;\nglobal sum = 0;\n"
	  "txn add(m) { let s = 0; for k in 0..m { s = s + n[k]; } sum = s; }\n"
	  "txn set(k, v) { let s = sum; n[k] = s + v; }\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
	{ "global x = 0;\n"
	  "txn none(a) { let b = exists(k in a : x > k); x = 1; }\n",
	  LEVEL_SER, true, VERDICT_INCONCLUSIVE },
	/* A list that one loop makes of known items, and another one walks
	 * through. */
	{ "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a) { let l = [];\n"
	  "  for k in [1, 2, 3] { if (k != 2) { l = l + [k]; } }\n"
	  "  for k in l { m[k] = n[k]; } }\n"
	  "txn other() { n[2] = m[2]; }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	{ "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a) { let l = [];\n"
	  "  for k in [1, 2, 3] { if (k != a) { l = l + [(k, n[k])]; } }\n"
	  "  for k in filter(i in l : i[1] == 0) { m[k[0]] = 1; } }\n"
	  "txn other() { n[2] = m[2]; }\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
	{ "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a) { let l = map(k in [1, 2, 3] : k + 1);\n"
	  "  let k = filter(i in l : i >= 3)[1]; m[k] = n[k];\n"
	  "  if (size(l) != 3 || max(l) != 4) { m[2] = n[2]; } }\n"
	  "txn other() { n[2] = m[2]; }\n",
	  LEVEL_SI, true, VERDICT_HOLDS },
	{ "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a) { let l = [1];\n"
	  "  if (a == 0) { l = l + [3]; } else { l = l + [2]; }\n"
	  "  for k in l { m[k] = n[k]; } }\ntxn other() { n[2] = m[2]; }\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
	{ "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "txn one(a) { let l = [2]; if (a == 0) { l = [1] + l; }\n"
	  "  let k = l[0]; m[k] = n[k]; }\ntxn other() { n[2] = m[2]; }\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
	/* What is found by what rows hold is found where the program has it at
	 * first. */
	{ "global page = [13, 645];\nglobal row[13] = {t: \"Paris\"};\n"
	  "global row[645] = {t: \"Lisbon\"};\n"
	  "global n[*] = 0;\nglobal m[*] = 0;\n"
	  "fn with(all, t) = filter(p in all : p[1].t == t);\n"
	  "txn one(t) { let all = [];\n"
	  "  for id in page { all = all + [(id, row[id])]; }\n"
	  "  let found = with(all, t); if (size(found) == 0) abort;\n"
	  "  m[t] = n[found[0][0]] + 1; }\n"
	  "txn other(t) { let x = m[t]; for id in page {\n"
	  "  if (row[id].t == t) { n[id] = x + 1; } } }\n",
	  LEVEL_SI, true, VERDICT_VIOLATED },
};

enum { SEEDS = 5 };

static void try_known(int i, unsigned seed)
{
	struct load_text text = { "known.tx", known[i].text,
		                  strlen(known[i].text) };
	struct diags d = { 0 };
	struct application app;
	struct proof found;
	struct prove_options o = { .terms = { .level = known[i].level,
		                              .one_each = known[i].one_each,
		                              .no_errors = true,
		                              .seed = seed },
		                   .max_length = PROVE_LENGTH };
	struct program *p = prove_load(&app, "known.tx", &text, &d);
	ck_assert_ptr_nonnull(p);
	prove(&found, &app, &o);
	ck_assert_str_eq(verdict_word(found.verdict),
	                 verdict_word(known[i].verdict));
	prove_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
}

/* Whatever the solver's seed is. */
START_TEST(known_programs)
{
	unsigned seeds = is_quick() ? 2 : SEEDS;
	for (unsigned seed = 0; seed < seeds; seed++) try_known(_i, seed);
}
END_TEST

/* ---- interrupted ---- */

static atomic_bool interrupted;

static void on_alarm(int signal)
{
	(void)signal;
	atomic_store(&interrupted, true);
}

/* Many rounds of loops: the solver is asked for long. */
START_TEST(interruptions_end_questions)
{
	struct text t = { 0 };
	struct prove_options o = { .terms.level = LEVEL_SI,
		                   .max_length = INSTANCES_MAX,
		                   .interrupt = &interrupted };
	struct itimerval soon = { .it_value.tv_usec = 300000 };
	text_string(&t, "global n[*] = 0;\n");
	for (int i = 0; i < 6; i++)
		text_format(&t,
		            "txn t%d(a, b) { for k in 0..8 { let x = n[a + k];"
		            " n[b + k] = x + %d; } }\n",
		            i, i);
	ck_assert(signal(SIGALRM, on_alarm) != SIG_ERR);
	setitimer(ITIMER_REAL, &soon, NULL);
	double begun = seconds_now();
	struct proof found = prove_text(text_get(&t), &o);
	ck_assert_int_eq(found.stop, STOP_INTERRUPTED);
	ck_assert_int_eq(found.verdict, VERDICT_INCONCLUSIVE);
	ck_assert(seconds_now() - begun < 30);
	prove_free(&found);
	text_free(&t);
}
END_TEST

void add_prove_tests(TCase *tests)
{
	tcase_add_test(tests, interruptions_end_questions);
	tcase_add_loop_test(tests, known_programs, 0,
	                    sizeof known / sizeof *known);
	tcase_add_loop_test(tests, proofs_hold_when_explored, 0, PROCESSES);
	tcase_add_loop_test(tests, sets_are_as_each_by_itself, 0, PROCESSES);
	tcase_add_loop_test(tests, levels_are_as_each_mix_by_itself, 0,
	                    PROCESSES);
}
