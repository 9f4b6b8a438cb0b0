/* Proofs that the solver writes: an independent checker accepts them, and
 * refuses what is no proof.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "file_support.h"
#include "proof_checker.h"
#include "random_program.h"
#include "solve/decision.h"
#include "suites.h"
#include "support.h"

enum { RUNS = 2, PROGRAMS = 2400, DROPPED = 12 };

/* ---- the checker ---- */

static const char square[] = "c all four\n"
			     "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n";

static void expect_checked(const char *formula, const char *proof, bool fine)
{
	const char *why;
	bool found = proof_is_fine(formula, proof, &why);
	ck_assert_msg(found == fine, "%s\nby\n%s%s", formula, proof,
	              found ? "" : why);
}

START_TEST(checker)
{
	expect_checked(square, "1 0\n0\n", true);
	expect_checked(square, "0\n", false);
	expect_checked(square, "1 0\n", true); /* as that is enough */
	expect_checked(square, "", false);
	expect_checked("p cnf 2 3\n1 2 0\n-1 2 0\n1 -2 0\n", "1 0\n0\n", false);
	expect_checked("p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n", "1 0\n0\n", false);
	/* A new variable that is defined, by its first literal; then not. */
	expect_checked(square, "3 -1 0\n3 -2 0\n-3 1 2 0\n1 0\n0\n", true);
	expect_checked("p cnf 2 2\n1 2 0\n-1 -2 0\n", "-1 0\n", false);
	expect_checked("p cnf 2 2\n1 2 0\n-1 2 0\n", "1 0\n-2 0\n", false);
	expect_checked(square, "d 1 2 0\n1 0\n0\n", true);
}
END_TEST

/* ---- proofs of programs ---- */

/* All of the file; the caller frees it. */
static char *read_all(const char *path)
{
	FILE *f = fopen(path, "re");
	ck_assert_msg(f != NULL, "%s", path);
	char *text = NULL;
	size_t count = 0, capacity = 0;
	for (int c; (c = getc(f)) != EOF;) {
		VEC_RESERVE(text, count, capacity);
		text[count++] = (char)c;
	}
	fclose(f);
	VEC_RESERVE(text, count, capacity);
	text[count] = '\0';
	return text;
}

/* A copy of the text without a line. */
static char *without_line(const char *text, uint64_t line)
{
	const char *at = text;
	while (line--) at = strchr(at, '\n') + 1;
	size_t before = (size_t)(at - text);
	const char *rest = strchr(at, '\n') + 1;
	char *copy = mem_take(strlen(text) + 1);
	memcpy(copy, text, before);
	memcpy(copy + before, rest, strlen(rest) + 1);
	return copy;
}

struct tally {
	uint64_t proofs, long_ones, refused;
};

/* Proofs that lack a step: some of them are none. */
static void drop_steps(const char *formula, const char *proof, uint64_t lemmas,
                       struct tally *t)
{
	for (uint64_t i = 0; i < DROPPED; i++) {
		const char *why;
		char *less = without_line(proof, i * (lemmas - 1) / DROPPED);
		t->refused += !proof_is_fine(formula, less, &why);
		free(less);
	}
	const char *why;
	ck_assert(!proof_is_fine(formula, "", &why));
}

static void try_program(const char *source, const struct decide_options *o,
                        struct tally *t)
{
	struct program *p = program_from_text(source);
	struct decision d;
	if (!decide_obstacle(p, o->level)) {
		decide(&d, p, o);
		bool holds = d.verdict == VERDICT_HOLDS;
		ck_assert_msg(holds ? d.proof == PROOF_WHOLE ||
		                              d.proof == PROOF_LARGE
		                    : d.proof == PROOF_NONE,
		              "%d\n%s", d.proof, source);
		if (d.proof == PROOF_WHOLE) {
			char *formula = read_all("proof.cnf");
			char *proof = read_all("proof");
			const char *why;
			ck_assert_msg(proof_is_fine(formula, proof, &why),
			              "%s: %s\n%s", level_word(o->level), why,
			              source);
			t->proofs++;
			t->long_ones += d.proof_size.lemmas > 20;
			if (d.proof_size.lemmas > 20)
				drop_steps(formula, proof, d.proof_size.lemmas,
				           t);
			free(formula);
			free(proof);
		}
		decision_free(&d);
	}
	program_free(p);
}

START_TEST(random_programs)
{
	uint64_t first = first_seed() * 1000000;
	uint64_t count = programs_or(PROGRAMS) / RUNS;
	struct tally t = { 0 };
	struct text source = { 0 };
	folder_enter();
	for (uint64_t i = 0; i < count; i++) {
		uint64_t seed = first + (uint64_t)_i * count + i;
		text_clear(&source);
		if (seed % 3)
			random_program(&source, seed);
		else
			random_locking_program(&source, seed);
		try_program(text_get(&source),
		            &(struct decide_options){
				    .level = (enum level)(seed % LEVEL_COUNT),
				    .positions_first = seed & 1,
				    .proof = "proof" },
		            &t);
	}
	text_free(&source);
	folder_leave();
	if (is_quick()) return;
	ck_assert_uint_ge(t.proofs, count / 10);
	ck_assert_uint_ge(t.long_ones, 1);
}
END_TEST

/* Proofs that need more: nothing is lost where each adds 1, under each level
 * that is strong enough; steps that are left out are missed. */
START_TEST(counters)
{
	static const enum level levels[] = { LEVEL_PSI, LEVEL_SI, LEVEL_SER };
	struct tally t = { 0 };
	folder_enter();
	for (int i = 0; i < 3; i++)
		try_program("global x = 0;\n"
		            "txn add() { x += 1; }\n"
		            "session a { add(); }\n"
		            "session b { add(); }\n"
		            "session c { add(); add(); }\n"
		            "finally { let end = x; }\n"
		            "assert finally.end == 4;\n",
		            &(struct decide_options){ .level = levels[i],
		                                      .proof = "proof" },
		            &t);
	folder_leave();
	ck_assert_uint_eq(t.proofs, 3);
	ck_assert_uint_eq(t.long_ones, 3);
	ck_assert_uint_ge(t.refused, 3);
}
END_TEST

void add_proof_tests(TCase *tests)
{
	tcase_add_test(tests, checker);
	tcase_add_loop_test(tests, random_programs, 0, RUNS);
	tcase_add_test(tests, counters);
}
