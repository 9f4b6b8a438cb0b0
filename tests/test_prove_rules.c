/* What proofs rest on: with one thing less, an execution is not serializable.
 * And that the solver's seed does not matter. */
#include <string.h>

#include "file_support.h"
#include "history/history.h"
#include "lang/source.h"
#include "prove/prove.h"
#include "prove_support.h"
#include "suites.h"
#include "support.h"
#include "vm/program.h"

#define BANK                                                 \
	"txn withdraw(a, v) { assume v > 0; let b = n[a];\n" \
	"  if (b >= v) { n[a] = b - v; } }\nglobal n[*] = 9;\n"

/* With each of these it is proved, by this rule among others; without it an
 * execution is not serializable, which was explored. */
#define CROSSED(a, b) "global x = 0;\nglobal y = 0;\n" a b
static const struct {
	const char *with, *without;
	enum level level, weaker; /* of the two */
	unsigned rule;            /* RULE_NONE: another family of keys */
} rests[] = {
	/* Two that write a key. */
	{ BANK, BANK, LEVEL_SI, LEVEL_PC, RULE_RIVALS },
	{ BANK, BANK, LEVEL_PSI, LEVEL_CC, RULE_RIVALS },
	/* All that commits before is in sight. */
	{ CROSSED("txn one() { let v = x; y = v + 1; }\n",
	          "txn two() { let v = y; x = v + 1; }\n"),
	  CROSSED("txn one() { let v = x; y = v + 1; }\n",
	          "txn two() { let v = y; x = v + 1; }\n"),
	  LEVEL_SER, LEVEL_SI, RULE_SERIAL },
	/* What it sees is of one moment. */
	{ CROSSED("txn one() { x = 1; y = 1; }\n",
	          "txn look() { let v = x; let u = y; return v + u; }\n"),
	  CROSSED("txn one() { x = 1; y = 1; }\n",
	          "txn look() { let v = x; let u = y; return v + u; }\n"),
	  LEVEL_SI, LEVEL_RC, RULE_SNAPSHOT },
	/* A lock. */
	{ "global n[*] = 9;\n"
	  "txn take(a) { let b = locked n[a]; n[a] = b - 1; }\n",
	  "global n[*] = 9;\n"
	  "txn take(a) { let b = n[a]; n[a] = b - 1; }\n",
	  LEVEL_PRC, LEVEL_PRC, RULE_LOCKS },
	/* What is assumed of arguments. */
	{ CROSSED("txn one(k) { assume k < 1; if (k > 2) { let v = x; y = v + "
	          "1; } }\n",
	          "txn two() { let v = y; x = v + 1; }\n"),
	  CROSSED("txn one(k) { if (k > 2) { let v = x; y = v + 1; } }\n",
	          "txn two() { let v = y; x = v + 1; }\n"),
	  LEVEL_SI, LEVEL_SI, RULE_NONE },
	/* What reads return. */
	{ CROSSED("txn one() { let v = x; y = v + 1; }\n",
	          "txn two() { let v = y; if (v == v + 1) { x = v; } }\n"),
	  CROSSED("txn one() { let v = x; y = v + 1; }\n",
	          "txn two() { let v = y; x = v; }\n"),
	  LEVEL_SI, LEVEL_SI, RULE_NONE },
	/* Nobody writes what is looked at. */
	{ "global on = false;\n" CROSSED(
		  "txn one() { let v = x; y = v + 1; }\n",
		  "txn two() { let a = on; let b = on; if (a != b) { let v = "
		  "y; x = v + 1; } }\n"),
	  "global on = false;\ntxn turn() { on = !on; }\n" CROSSED(
		  "txn one() { let v = x; y = v + 1; }\n",
		  "txn two() { let a = on; let b = on; if (a != b) { let v = "
		  "y; x = v + 1; } }\n"),
	  LEVEL_RC, LEVEL_RC, RULE_UNWRITTEN },
};

static bool rests_on(const struct proof *p, unsigned rule)
{
	unsigned count = instances_rule_count(p->app);
	bool found = rule == RULE_NONE;
	for (uint32_t i = 0; i < p->exclusion_count; i++)
		for (unsigned r = 0; r < count; r++)
			found |= p->exclusions[i].rules[r] &&
			         (r == rule ||
			          (r > rule && rule == RULE_UNWRITTEN));
	return found;
}

/* Proves it, and looks at what excludes each cycle: without any of it there may
 * be one. */
static enum verdict prove_ablated(const char *text, enum level level,
                                  unsigned rule)
{
	struct load_text given = { "rests.tx", text, strlen(text) };
	struct diags d = { 0 };
	struct application app;
	struct proof found;
	struct prove_options o = { .terms = { .level = level,
		                              .one_each = true,
		                              .no_errors = true },
		                   .max_length = PROVE_LENGTH,
		                   .explain = true };
	struct program *p = prove_load(&app, "rests.tx", &given, &d);
	if (!p) ck_abort_msg("%s\n%s", d.items[0].message, text);
	prove(&found, &app, &o);
	enum verdict v = found.verdict;
	ck_assert(v != VERDICT_VIOLATED || found.history);
	for (uint32_t i = 0; i < found.exclusion_count; i++)
		check_exclusion(&found, &found.exclusions[i]);
	if (v == VERDICT_HOLDS && !rests_on(&found, rule))
		ck_abort_msg("does not rest on rule %u at %s:\n%s", rule,
		             level_word(level), text);
	prove_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
	return v;
}

START_TEST(proofs_rest_on_what_they_say)
{
	const char *with = rests[_i].with, *without = rests[_i].without;
	if (prove_ablated(with, rests[_i].level, rests[_i].rule) !=
	    VERDICT_HOLDS)
		ck_abort_msg("not proved at %s:\n%s",
		             level_word(rests[_i].level), with);
	if (prove_ablated(without, rests[_i].weaker, RULE_NONE) !=
	    VERDICT_VIOLATED)
		ck_abort_msg("not violated at %s:\n%s",
		             level_word(rests[_i].weaker), without);
}
END_TEST

/* ---- seeds ---- */

static const struct {
	const char *path; /* below programs */
	enum level level;
} shipped[] = {
	{ "prove/courseware.tx", LEVEL_SI },
	{ "prove/bank.tx", LEVEL_PRC },
	{ "sql/seats.spec", LEVEL_SI },
	{ "sql/on-call.spec", LEVEL_SI },
	{ "oltp/apps/smallbank.tx", LEVEL_PRC },
	{ "apps/twitter.tx", LEVEL_SI },
	{ "apps/shopping_cart.tx", LEVEL_SI },
	{ "oltp/apps/smallbank.tx", LEVEL_SI },
	{ "oltp/apps/smallbank.tx", LEVEL_SER },
	{ "oltp/apps/wikipedia.tx", LEVEL_SI },
	{ "sql/smallbank.spec", LEVEL_SI },
	{ "sql/apps/courseware.sql", LEVEL_SI },
	{ "sql/apps/twitter.sql", LEVEL_SER },
};

enum { SEEDS = 5, FEW_SEEDS = 2, FEW_SHIPPED = 5 };

static enum verdict prove_shipped(const char *path, enum level level,
                                  unsigned seed)
{
	struct diags d = { 0 };
	struct application app;
	struct proof found;
	struct prove_options o = { .terms = { .level = level,
		                              .one_each = true,
		                              .no_errors = true,
		                              .seed = seed },
		                   .max_length = PROVE_LENGTH };
	struct program *p = prove_load(&app, path, NULL, &d);
	if (!p) ck_abort_msg("%s: %s", path, d.items[0].message);
	prove(&found, &app, &o);
	enum verdict v = found.verdict;
	prove_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
	return v;
}

START_TEST(seeds_do_not_matter)
{
	unsigned seeds = is_quick() ? FEW_SEEDS : SEEDS;
	struct text path = { 0 };
	if (is_quick() && _i >= FEW_SHIPPED) return;
	text_format(&path, "%s/programs/%s", source_top(), shipped[_i].path);
	enum verdict first =
		prove_shipped(text_get(&path), shipped[_i].level, 0);
	ck_assert_int_ne(first, VERDICT_INCONCLUSIVE);
	for (unsigned seed = 1; seed < seeds; seed++)
		ck_assert_int_eq(
			prove_shipped(text_get(&path), shipped[_i].level, seed),
			first);
	text_free(&path);
}
END_TEST

void add_prove_rules_tests(TCase *tests)
{
	tcase_add_loop_test(tests, proofs_rest_on_what_they_say, 0,
	                    sizeof rests / sizeof *rests);
	tcase_add_loop_test(tests, seeds_do_not_matter, 0,
	                    sizeof shipped / sizeof *shipped);
}
