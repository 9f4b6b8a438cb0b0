/* Campaigns of runs: what they repeat, take back and count, where they stop,
and how soon they meet a violation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/load.h"
#include "file_support.h"
#include "run/campaign.h"
#include "suites.h"
#include "support.h"

/* ---- The same seed makes the same run ---- */

struct hashes {
	uint64_t items[64];
	uint32_t count;
};

static bool keep_hash(void *payload, const struct campaign_run *r)
{
	struct hashes *h = payload;
	ck_assert_uint_eq(r->number, h->count + 1);
	h->items[h->count++] = runner_hash(r->runner);
	return true;
}

static void run_campaign(const struct program *p, struct campaign_options o,
                         struct hashes *out)
{
	struct campaign_observer observer = { .payload = out,
		                              .run = keep_hash };
	out->count = 0;
	struct campaign *c = campaign_new(p, &o, &observer);
	campaign_start(c);
	campaign_free(c);
}

static const char swapped[] =
	"global k[*] = 0;\n"
	"session s0 { txn { let a = k[1]; k[1] = 2; let b = k[0]; } }\n"
	"session s1 { txn { k[0] = 4; k[0] = 5; k[1] = 6; }\n"
	"             txn { k[0] = 7; k[1] = 8; k[1] = 9; } }\n"
	"session s2 { txn { let a = k[0]; k[0] = a + 11; }\n"
	"             txn { let b = k[1]; k[1] = 13; } }\n";

START_TEST(runs_repeat_from_their_seeds)
{
	struct program *p = program_from_text(swapped);
	for (int kind = 0; kind < POLICY_COUNT; kind++)
		for (int l = 0; l < LEVEL_COUNT; l++) {
			struct campaign_options o = {
				.level = (enum level)l,
				.runs = 40,
				.seed = 7,
				.policy = { (enum policy_kind)kind, 2 }
			};
			struct hashes all, one;
			run_campaign(p, o, &all);
			ck_assert_uint_eq(all.count, 40);
			o.runs = 1;
			for (uint32_t i = 0; i < 40; i++, o.seed++) {
				run_campaign(p, o, &one);
				ck_assert_uint_eq(one.items[0], all.items[i]);
			}
		}
	program_free(p);
}
END_TEST

/* ---- Choices that are taken back ---- */

static struct campaign_stats run_text(const char *source, enum level l,
                                      enum policy_kind kind, uint64_t runs)
{
	struct program *p = program_from_text(source);
	struct campaign_options o = {
		.level = l, .policy = { kind, 3 }, .runs = runs, .seed = 1
	};
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	struct campaign_stats s = *campaign_stats(c);
	ck_assert_int_eq(s.stop, STOP_NONE);
	campaign_free(c);
	program_free(p);
	return s;
}

/* Both increments may read init; only the second one's write shows that it may
 * not. A store that tests reads only makes a lost update of it. */
START_TEST(lost_update_is_taken_back)
{
	static const char source[] =
		"global x = 0;\n"
		"session a { txn { let v = x; x = v + 1; } }\n"
		"session b { txn { let v = x; x = v + 1; } }\n";
	static const enum level forbid[] = { LEVEL_PSI, LEVEL_SI, LEVEL_SER };
	for (int i = 0; i < 3; i++) {
		struct campaign_stats s =
			run_text(source, forbid[i], POLICY_UNIFORM, 1000);
		ck_assert_uint_eq(s.histories, 2);
		ck_assert_uint_eq(s.unserializable, 0);
		ck_assert_uint_gt(s.taken_back, 400);
		ck_assert_uint_lt(s.taken_back, 600);
	}
	ck_assert_uint_eq(
		run_text(source, LEVEL_PC, POLICY_UNIFORM, 1000).taken_back, 0);
}
END_TEST

/* The first of many reads is what the last write makes wrong: to take back all
 * choices of those in between, two for each, would take some 16,000 steps in
 * most runs. */
START_TEST(the_read_to_blame_is_taken_back)
{
	enum { KEYS = 14 };
	struct text source = { 0 };
	text_string(&source, "global x = 0; global k[*] = 0;\n"
	                     "session a { txn { x += 1; } txn { x += 1; } }\n");
	for (int i = 0; i < KEYS; i++)
		text_format(&source, "session b%d { txn { k[%d] = 1; } }\n", i,
		            i);
	text_string(&source, "session c { txn { let v = x;");
	for (int i = 0; i < KEYS; i++)
		text_format(&source, "let r%d = k[%d];", i, i);
	text_string(&source, "x = v + 1; } }\n");
	static const enum level levels[] = { LEVEL_PSI, LEVEL_SI, LEVEL_SER };
	for (int i = 0; i < 3; i++)
		for (int kind = 0; kind < POLICY_COUNT; kind++) {
			struct campaign_stats s =
				run_text(text_get(&source), levels[i],
			                 (enum policy_kind)kind, 200);
			bool latest = kind == POLICY_LATEST;
			ck_assert((s.taken_back > 0) == !latest);
			ck_assert_uint_lt(s.taken_back, 2000);
		}
	text_free(&source);
}
END_TEST

/* ---- Limits ---- */

static void expect_same_from_seeds(const char *source, uint32_t runs)
{
	struct program *p = program_from_text(source);
	struct campaign_options o = { .level = LEVEL_CC,
		                      .runs = runs,
		                      .seed = 5 };
	struct hashes all, one;
	run_campaign(p, o, &all);
	ck_assert_uint_eq(all.count, runs);
	o.runs = 1;
	for (uint32_t i = 0; i < runs; i++, o.seed++) {
		run_campaign(p, o, &one);
		ck_assert_uint_eq(one.items[0], all.items[i]);
	}
	program_free(p);
}

/* Sessions whose number of transactions no text shows, in some runs beyond the
 * first room. Runs and their hashes are the same whatever the room. */
START_TEST(room_for_transactions_grows)
{
	expect_same_from_seeds(
		"global x = 0;\n"
		"txn count(n) { let v = x; x = v + 1; return range(0, n); }\n"
		"session a { let r = count(50); for i in r { txn { let v = x; "
		"} }\n"
		"}\n"
		"session b { let r = count(40); for i in r { txn { x = i; } } "
		"}\n",
		3);
	expect_same_from_seeds(
		"global n = 2; global x = 0;\n"
		"txn count() { let v = n; return range(0, v); }\n"
		"session a { let r = count(); for i in r { txn { let v = x; } "
		"}\n"
		"}\n"
		"session b { txn { x = 1; } txn { x = 2; } }\n"
		"session c { txn { n = 60; } }\n",
		30);
}
END_TEST

static enum stop_reason stop_of(const char *source, struct campaign_options o)
{
	struct program *p = program_from_text(source);
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	enum stop_reason stop = campaign_stats(c)->stop;
	ck_assert(stop != STOP_TOO_LARGE || campaign_problem(c));
	if (o.memory) ck_assert_int_lt(campaign_stats(c)->seconds, 5);
	campaign_free(c);
	program_free(p);
	return stop;
}

START_TEST(campaigns_stop)
{
	static const char many[] =
		"global x = 0; txn n() { return range(0, 20000); }\n"
		"session a { let r = n(); for i in r { txn { x = i; } } }\n";
	static const char statically_many[] =
		"global x = 0; session a { for i in 0..20000 { txn { x = i; } "
		"} }";
	static const char large[] = "global x = 0; session a { txn { for i in "
				    "0..70000 { x = i; } } }";
	static const char statically_long[] =
		"global x = 0; session a { for i in 0..16000 { txn { x = i; } "
		"} }";
	static const char growing[] =
		"global k[*] = 0;\n"
		"session a { txn { for i in 0..60000 { let v = k[i]; } } }";
	atomic_bool yes = true;
	struct campaign_options o = { .level = LEVEL_CC,
		                      .runs = UINT64_MAX,
		                      .seed = 1 };
	ck_assert_int_eq(stop_of(many, o), STOP_TOO_LARGE);
	ck_assert_int_eq(stop_of(statically_many, o), STOP_TOO_LARGE);
	ck_assert_int_eq(stop_of(large, o), STOP_TOO_LARGE);
	o.timeout = 0.05;
	ck_assert_int_eq(stop_of(swapped, o), STOP_TIME);
	o.timeout = 0;
	o.memory = 1000;
	ck_assert_int_eq(stop_of(swapped, o), STOP_MEMORY);
	/* The memory of one run counts, too: at its beginning, and later. */
	o.memory = 16 << 20;
	ck_assert_int_eq(stop_of(statically_long, o), STOP_MEMORY);
	o.memory = 1 << 20;
	ck_assert_int_eq(stop_of(growing, o), STOP_MEMORY);
	o.memory = 0;
	o.interrupt = &yes;
	ck_assert_int_eq(stop_of(swapped, o), STOP_INTERRUPTED);
}
END_TEST

/* Keys that only some runs touch do not fill the table for ever. */
START_TEST(keys_are_forgotten)
{
	struct campaign_stats s = run_text(
		"global k[*] = 0; global x = 0;\n"
		"session a { for i in 0..6 { txn { let v = x;\n"
		"    k[v] = 1; x = v * 7 + i; let w = k[v + 1]; } } }\n"
		"session b { for i in 0..6 { txn { let v = x; x = v * 5 + i;\n"
		"    let w = k[v]; } } }\n",
		LEVEL_RA, POLICY_UNIFORM, 20000);
	ck_assert_uint_gt(s.histories, 5000);
}
END_TEST

/* ---- What campaigns count ---- */

START_TEST(campaigns_count)
{
	struct program *p = program_from_text(
		"global x = 0;\n"
		"session a { let ok = t(); } session b { let ok = t(); }\n"
		"txn t() { let v = x; x = v + 1; return v; }\n"
		"assert a.ok + b.ok == 1; assert serializable;\n"
		"assert a.ok == 7;\n");
	struct campaign_options o = {
		.level = LEVEL_CC, .runs = 1234, .seed = 3, .robust = true
	};
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	const struct campaign_stats *s = campaign_stats(c);
	ck_assert_uint_eq(s->runs, 1234);
	ck_assert_uint_eq(s->violating, 1234);
	ck_assert_uint_eq(s->reads, 2468);
	ck_assert_uint_eq(campaign_slot_count(c), 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct campaign_slot *x = campaign_slot(c, i);
		if (i == 2) ck_assert_uint_eq(x->violating, 1234);
		if (i == 3) ck_assert_uint_eq(x->violating, 0);
		if (i == 2 || i == 3) continue;
		ck_assert_uint_eq(x->violating, s->unserializable);
		ck_assert_uint_eq(x->first_run, campaign_slot(c, 4)->first_run);
		ck_assert((x->finding != NULL) == (i == 0));
	}
	uint32_t count;
	const struct campaign_point *curve = campaign_curve(c, &count);
	static const uint64_t runs[] = { 1,   2,   5,   10,   20,  50,
		                         100, 200, 500, 1000, 1234 };
	ck_assert_uint_eq(count, sizeof runs / sizeof *runs);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_uint_eq(curve[i].runs, runs[i]);
	ck_assert_uint_eq(curve[count - 1].histories, s->histories);
	campaign_free(c);
	o.stop_on_violation = true;
	c = campaign_new(p, &o, NULL);
	campaign_start(c);
	ck_assert_uint_eq(campaign_stats(c)->runs, 1);
	ck_assert_int_eq(campaign_stats(c)->stop, STOP_VIOLATION);
	campaign_free(c);
	program_free(p);
}
END_TEST

/* A run that makes an assumption false is none: neither the mean nor the curve
 * counts it, only the seeds go on. */
START_TEST(pruned_runs_are_no_runs)
{
	struct program *p = program_from_text(
		"global x = 0; session a { txn { x = 1; } }\n"
		"session b { txn { let v = x; assume v == 1; } }\n"
		"assert 1 == 2;\n");
	struct campaign_options o = { .level = LEVEL_CC,
		                      .runs = 100,
		                      .seed = 1 };
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	const struct campaign_stats *s = campaign_stats(c);
	const struct campaign_slot *x = campaign_slot(c, 0);
	uint64_t counted = s->runs - s->pruned;
	uint32_t count;
	const struct campaign_point *curve = campaign_curve(c, &count);
	ck_assert_uint_eq(s->runs, 100);
	ck_assert(s->pruned > 20 && s->pruned < 95);
	ck_assert_uint_eq(x->violating, counted);
	ck_assert_uint_eq(x->last_counted, counted);
	ck_assert_uint_ge(count, 2);
	ck_assert_uint_eq(curve[0].runs, 1);
	ck_assert_uint_eq(curve[count - 1].runs, counted);
	campaign_free(c);
	program_free(p);
}
END_TEST

/* ---- The mean number of runs until a violation, as published ---- */

/* Measured on the same tests with a store of MonkeyDB's semantics: 4,000 runs
 * of each, 600 of the stack (random runs of the same programs). */
static const struct published {
	const char *program;
	uint32_t slot;
	enum level level;
	double uniform, session_first; /* 0: never */
	double tolerance;              /* relative */
} published[] = {
	{ "courseware", 0, LEVEL_RC, 14.3, 14.8, 0.2 },
	{ "courseware", 0, LEVEL_CC, 4.7, 4.9, 0.2 },
	{ "courseware", 0, LEVEL_SI, 0, 0, 0 },
	{ "courseware", 1, LEVEL_CC, 4.9, 5.0, 0.2 },
	{ "courseware", 1, LEVEL_PC, 15.3, 14.4, 0.2 },
	{ "courseware", 2, LEVEL_RC, 11.7, 13.3, 0.2 },
	{ "courseware", 2, LEVEL_RA, 6.9, 7.1, 0.2 },
	{ "courseware", 2, LEVEL_PC, 0, 0, 0 },
	{ "shopping-cart", 0, LEVEL_CC, 28, 25, 0.25 },
	{ "shopping-cart-reload", 0, LEVEL_RC, 6.7, 6.4, 0.2 },
	{ "shopping-cart-reload", 0, LEVEL_CC, 4.7, 4.8, 0.2 },
	{ "shopping-cart-layout", 0, LEVEL_RA, 0, 0, 0 },
	{ "treiber-stack", 0, LEVEL_RA, 19, 27, 0.4 },
	{ "treiber-stack", 0, LEVEL_CC, 5.5, 5.3, 0.3 },
	{ "twitter", 0, LEVEL_RC, 4.8, 5.3, 0.2 },
	{ "twitter", 0, LEVEL_RA, 7.9, 7.4, 0.2 },
	{ "twitter", 0, LEVEL_CC, 0, 0, 0 },
};
enum { PUBLISHED = sizeof published / sizeof *published };

/* A program of programs/examples. */
static struct program *load_example(const char *name)
{
	struct text path = { 0 };
	struct diags d = { 0 };
	text_format(&path, "%s/programs/examples/%s.tx", source_top(), name);
	struct program *p = load_program(text_get(&path), &d);
	ck_assert_msg(p != NULL, "%s", text_get(&path));
	diags_free(&d);
	text_free(&path);
	return p;
}

static void expect_mean(const struct program *p, const struct published *e,
                        enum policy_kind kind, double expected)
{
	struct campaign_options o = { .level = e->level,
		                      .policy = { kind, 0 },
		                      .runs = 12000,
		                      .seed = 1 };
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	const struct campaign_slot *s = campaign_slot(c, e->slot);
	double mean = s->violating
	                      ? (double)s->last_counted / (double)s->violating
	                      : 0;
	ck_assert_msg(mean >= expected * (1 - e->tolerance) &&
	                      mean <= expected * (1 + e->tolerance),
	              "%s, assertion %u under %s, %s: %.2f, not %.2f",
	              e->program, e->slot, level_word(e->level),
	              policy_word(kind), mean, expected);
	campaign_free(c);
}

START_TEST(runs_until_a_violation)
{
	const struct published *e = &published[_i];
	struct program *p = load_example(e->program);
	expect_mean(p, e, POLICY_UNIFORM, e->uniform);
	expect_mean(p, e, POLICY_SESSION_FIRST, e->session_first);
	program_free(p);
}
END_TEST

/* Session a is preferred to no other one. */
START_TEST(session_first_is_fair)
{
	struct program *p = program_from_text(
		"global x = 0;\n"
		"session a { txn { x = 1; } txn { x = 2; } txn { x = 3; } }\n"
		"session b { txn { x = 4; } }\n"
		"session c { txn { x = 5; } }\n"
		"finally { let v = x; }\n"
		"assert finally.v > 3; assert finally.v != 4;\n"
		"assert finally.v != 0;\n");
	static const double shares[] = { 0.5, 0.25, 0.25 };
	struct campaign_options o = { .level = LEVEL_NONE,
		                      .policy = { POLICY_SESSION_FIRST, 0 },
		                      .runs = 100000,
		                      .seed = 1 };
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	for (uint32_t i = 0; i < 3; i++) {
		double share = (double)campaign_slot(c, i)->violating / 1e5;
		ck_assert_msg(share > shares[i] - 0.006 &&
		                      share < shares[i] + 0.006,
		              "assertion %u fails in %f of the runs", i, share);
	}
	campaign_free(c);
	program_free(p);
}
END_TEST

START_TEST(words_of_policies)
{
	struct policy p;
	for (int k = 0; k < POLICY_WEAK; k++) {
		ck_assert(
			policy_from_word(policy_word((enum policy_kind)k), &p));
		ck_assert_int_eq(p.kind, k);
	}
	ck_assert(policy_from_word("weak=12", &p));
	ck_assert_int_eq(p.kind, POLICY_WEAK);
	ck_assert_uint_eq(p.weak, 12);
	static const char *const wrong[] = { "",
		                             "weak",
		                             "weak=",
		                             "weak=x",
		                             "weak=-1",
		                             "weak=4294967296",
		                             "weak=99999999999999999999999",
		                             "Uniform",
		                             "latest " };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		ck_assert(!policy_from_word(wrong[i], &p));
}
END_TEST

void add_campaign_tests(TCase *tests)
{
	tcase_add_test(tests, words_of_policies);
	tcase_add_test(tests, session_first_is_fair);
	tcase_add_test(tests, runs_repeat_from_their_seeds);
	tcase_add_test(tests, lost_update_is_taken_back);
	tcase_add_test(tests, the_read_to_blame_is_taken_back);
	tcase_add_test(tests, room_for_transactions_grows);
	tcase_add_test(tests, campaigns_stop);
	tcase_add_test(tests, keys_are_forgotten);
	tcase_add_test(tests, campaigns_count);
	tcase_add_test(tests, pruned_runs_are_no_runs);
	tcase_add_loop_test(tests, runs_until_a_violation, 0, PUBLISHED);
}
