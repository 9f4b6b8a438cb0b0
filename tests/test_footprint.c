/* What transactions may read, as their code tells, against what they do read
 * when each read is answered at random. */
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/level.h"
#include "base/rng.h"
#include "dpor/explorer.h"
#include "compile/load.h"
#include "suites.h"
#include "support.h"
#include "analyse/footprint.h"
#include "vm/keys.h"
#include "vm/machine.h"
#include "vm/program.h"

/* ---- a program that is run with random answers ---- */

enum { MOMENTS = 64, WRITTEN = 256, BEGUN = 64 };

/* A transaction that was run: the session at its beginning, and a key that it
 * read. */
struct begun {
	const struct machine_state *state;
	uint32_t key;
};

struct bench {
	const struct program *program;
	struct machine machine;
	struct region region;
	struct footprints *footprints;
	struct rng rng;
	struct machine_state *live;
	/* The transaction so far: at its beginning, and where reads waited. */
	struct machine_state *moments[MOMENTS];
	uint32_t moment_count;
	/* This and the session's transactions before it, at their beginnings.
	 */
	struct machine_state *begins[MOMENTS];
	uint32_t begin_count;
	struct begun begun[BEGUN]; /* by anybody */
	uint32_t begun_count;
	/* What was written, by anybody. */
	uint32_t keys[WRITTEN];
	struct value values[WRITTEN];
	uint32_t written;
	uint64_t reads;
};

static void bench_init(struct bench *b, const struct program *p, uint64_t seed)
{
	*b = (struct bench){ .program = p, .rng = { seed } };
	region_init(&b->region);
	b->machine = (struct machine){ .program = p,
		                       .keys = keys_new(p),
		                       .region = &b->region };
	b->footprints = footprints_new(p, b->machine.keys);
	b->live = region_take0(&b->region, machine_state_size(p));
}

static void bench_free(struct bench *b)
{
	footprints_free(b->footprints);
	keys_free(b->machine.keys);
	region_free(&b->region);
}

static void note_moment(struct bench *b)
{
	size_t size = machine_state_size(b->program);
	if (b->moment_count == MOMENTS) return;
	struct machine_state *copy = region_take(&b->region, size);
	memcpy(copy, b->live, size);
	b->moments[b->moment_count++] = copy;
}

static void note_begin(struct bench *b)
{
	b->moment_count = 0;
	note_moment(b);
	if (b->begin_count < MOMENTS)
		b->begins[b->begin_count++] = b->moments[0];
}

static struct value some_value(struct bench *b, uint32_t key)
{
	uint32_t tries = 8;
	while (b->written && tries--) {
		uint32_t i = rng_below(&b->rng, b->written);
		if (b->keys[i] == key) return b->values[i];
	}
	return keys_initial(b->machine.keys, key);
}

static void note_write(struct bench *b, uint32_t key, struct value v)
{
	uint32_t i = b->written < WRITTEN ? b->written++
	                                  : rng_below(&b->rng, WRITTEN);
	b->keys[i] = key;
	b->values[i] = v;
	for (uint32_t r = 0; r < b->begun_count; r++) {
		if (b->begun[r].key != key) continue;
		bool fed = true;
		for (uint32_t w = 0; w < b->begin_count; w++)
			fed &= footprints_may_feed(b->footprints, b->begins[w],
			                           b->begun[r].state);
		ck_assert_msg(fed, "%s is written for it",
		              keys_name(b->machine.keys, key));
	}
}

static void check_read(struct bench *b, uint32_t key)
{
	for (uint32_t i = 0; i < b->moment_count; i++)
		ck_assert_msg(
			footprints_may_read(b->footprints, b->moments[i], key),
			"%s is read, after %u reads",
			keys_name(b->machine.keys, key), i);
	uint32_t i = b->begun_count < BEGUN ? b->begun_count++
	                                    : rng_below(&b->rng, BEGUN);
	b->begun[i] = (struct begun){ b->moments[0], key };
	b->reads++;
}

static void run_session(struct bench *b, uint32_t session)
{
	struct request r = { .kind = REQUEST_BEGIN };
	machine_start(b->program, session, b->live);
	b->begin_count = 0;
	while (r.kind != REQUEST_DONE) {
		machine_step(&b->machine, b->live, &r);
		switch (r.kind) {
		case REQUEST_BEGIN: note_begin(b); break;
		case REQUEST_READ:
			check_read(b, r.key);
			note_moment(b);
			machine_answer(b->program, b->live,
			               some_value(b, r.key));
			break;
		case REQUEST_WRITE: note_write(b, r.key, r.value); break;
		default: break;
		}
	}
}

/* How many reads were checked. */
static uint64_t check_program(const struct program *p, uint64_t seed)
{
	struct bench b;
	bench_init(&b, p, seed);
	uint32_t sessions = program_session_count(p);
	for (int i = 0; i < (is_quick() ? 4 : 20); i++)
		for (uint32_t s = 0; s < sessions; s++)
			run_session(&b, rng_below(&b.rng, sessions));
	uint64_t reads = b.reads;
	bench_free(&b);
	return reads;
}

/* ---- random programs: arguments, loops, and branches around reads ---- */

struct writer {
	struct rng rng;
	struct text *out;
	uint32_t depth;
	uint32_t locals; /* v0 .. are in scope */
};

static const char *one_of(struct writer *w, const char *const *words,
                          uint32_t count)
{
	return words[rng_below(&w->rng, count)];
}

static void operand(struct writer *w)
{
	static const char *const words[] = { "a", "b", "0", "1", "2", "a" };
	if (w->locals && !rng_below(&w->rng, 4))
		text_format(w->out, "v%u", rng_below(&w->rng, w->locals));
	else
		text_string(w->out, one_of(w, words, 6));
}

static void key(struct writer *w)
{
	switch (rng_below(&w->rng, 6)) {
	case 0: text_string(w->out, "g"); return;
	case 1: text_string(w->out, "row[("); break;
	case 2: text_string(w->out, "pair["); break;
	default:
		text_string(w->out, "row[");
		operand(w);
		text_char(w->out, ']');
		return;
	}
	bool tuple = text_get(w->out)[w->out->length - 1] == '(';
	operand(w);
	text_string(w->out, ", ");
	operand(w);
	text_string(w->out, tuple ? ")]" : "]");
}

static void block(struct writer *w);

static void assign(struct writer *w)
{
	static const char *const targets[] = { "p", "q", "a" };
	text_format(w->out, "%s = ", one_of(w, targets, 3));
	operand(w);
	text_string(w->out, "; ");
}

static void loop(struct writer *w)
{
	static const char *const over[] = { "0..2", "1..1", "[1, 2]", "0..p" };
	uint32_t locals = w->locals;
	text_format(w->out, "for v%u in %s { ", w->locals++,
	            one_of(w, over, 4));
	block(w);
	text_string(w->out, "} ");
	w->locals = locals;
}

static void branch(struct writer *w)
{
	uint32_t locals = w->locals;
	text_string(w->out, "if (");
	rng_below(&w->rng, 2) ? key(w) : operand(w);
	text_string(w->out, " == ");
	operand(w);
	text_string(w->out, ") { ");
	block(w);
	w->locals = locals;
	text_string(w->out, "} else { ");
	block(w);
	text_string(w->out, "} ");
	w->locals = locals;
}

static void statement(struct writer *w)
{
	switch (rng_below(&w->rng, w->depth < 3 ? 9 : 6)) {
	case 0: assign(w); return;
	case 1:
		key(w);
		text_string(w->out, " = ");
		operand(w);
		text_string(w->out, "; ");
		return;
	case 6: loop(w); return;
	case 7: branch(w); return;
	case 8: text_string(w->out, "if (p == q) return; "); return;
	default:
		text_format(w->out, "let v%u = ", w->locals);
		rng_below(&w->rng, 4) ? key(w) : operand(w);
		w->locals++;
		text_string(w->out, "; ");
	}
}

static void block(struct writer *w)
{
	w->depth++;
	for (uint32_t n = rng_below(&w->rng, 4) + 1; n--;) statement(w);
	w->depth--;
}

static void session_statement(struct writer *w, uint32_t n)
{
	static const char *const arguments[] = { "0", "1", "2", "n", "r", "i" };
	uint32_t known = rng_below(&w->rng, 2) ? 3 : 5;
	bool looped = !rng_below(&w->rng, 4);
	if (looped) text_string(w->out, "  for i in 0..2 { ");
	if (looped) known = 6;
	if (!rng_below(&w->rng, 4)) {
		text_string(w->out, "txn { let a = 1; let b = 2; let p = 0; "
		                    "let q = 1; ");
		block(w);
		text_string(w->out, "} ");
	} else {
		text_format(w->out, "r = t%u(%s, ", n,
		            one_of(w, arguments, known));
		text_format(w->out, "%s); ", one_of(w, arguments, known));
	}
	w->locals = 0;
	text_string(w->out, looped ? "}\n" : "\n");
}

static void random_readers(struct text *out, uint64_t seed)
{
	struct writer w = { .rng = { seed }, .out = out };
	text_string(out, "global g = 1;\nglobal row[*] = 1;\n"
	                 "global pair[*] = 0;\n");
	for (int t = 0; t < 3; t++) {
		text_format(out, "txn t%d(a, b) { let p = a; let q = b; ", t);
		block(&w);
		text_string(out, "return p; }\n");
		w.locals = 0;
	}
	for (int s = 0; s < 3; s++) {
		text_format(out, "session s%d {\n  let n = %d; let r = 0;\n", s,
		            s);
		for (uint32_t n = rng_below(&w.rng, 3) + 1; n--;)
			session_statement(&w, rng_below(&w.rng, 3));
		text_string(out, "}\n");
	}
}

START_TEST(nothing_is_read_that_is_not_in_it)
{
	int programs = is_quick() ? 100 : 400;
	uint64_t reads = 0;
	for (int i = 0; i < programs; i++) {
		struct text t = { 0 };
		uint64_t seed = process_seed(_i, 0) + (uint64_t)i;
		random_readers(&t, seed);
		struct program *p = program_from_text(text_get(&t));
		reads += check_program(p, seed);
		program_free(p);
		text_free(&t);
	}
	ck_assert_uint_gt(reads, 2 * (uint64_t)programs);
}
END_TEST

START_TEST(nor_in_shipped_programs)
{
	static const char *const folders[] = { "litmus", "examples",
		                               "tpcc",   "wikipedia",
		                               "oltp/*", "scale/symmetric" };
	char pattern[4096];
	glob_t found;
	uint64_t reads = 0;
	snprintf(pattern, sizeof pattern, "%s/programs/%s/*.tx",
	         getenv("ISOSCOPE_SOURCE"), folders[_i]);
	ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct diags d = { 0 };
		struct program *p = load_program(found.gl_pathv[i], &d);
		if (p) reads += check_program(p, i);
		program_free(p);
		diags_free(&d);
	}
	ck_assert_uint_gt(reads, 0);
	globfree(&found);
}
END_TEST

/* ---- explorations that go by it ---- */

/* Histories under the level; UINT64_MAX if there are `most` or more. */
static uint64_t count_histories(const struct program *p, enum level level,
                                enum explorer_algorithm algorithm,
                                uint64_t most)
{
	struct explore_options o = { .algorithm = algorithm,
		                     .level = level,
		                     .base = level,
		                     .max_histories = most,
		                     .max_changes = UINT64_MAX,
		                     .check_duplicates = true };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	const struct explore_stats *s = explorer_stats(e);
	uint64_t count = s->stop ? UINT64_MAX : s->histories;
	ck_assert_uint_eq(s->duplicates, 0);
	explorer_free(e);
	return count;
}

START_TEST(no_history_is_lost)
{
	enum { PROGRAMS = 250, MOST = 400 };
	static const enum level levels[] = { LEVEL_RC, LEVEL_RA, LEVEL_CC };
	int compared = 0;
	for (int i = 0; i < PROGRAMS; i++) {
		struct text t = { 0 };
		random_readers(&t, process_seed(_i, 1) + (uint64_t)i);
		struct program *p = program_from_text(text_get(&t));
		enum level l = levels[i % 3];
		uint64_t expected = count_histories(p, l, EXPLORE_CE, MOST);
		if (expected < UINT64_MAX) {
			uint64_t found = count_histories(p, l, EXPLORE_ORDERLY,
			                                 MOST + 1);
			ck_assert_msg(found == expected,
			              "%" PRIu64 " histories, not %" PRIu64
			              ", under %s:\n%s",
			              found, expected, level_word(l),
			              text_get(&t));
			compared++;
		}
		program_free(p);
		text_free(&t);
	}
	ck_assert_int_gt(compared, PROGRAMS / 4);
}
END_TEST

/* Appending, under the level of serial histories. The caller frees it. */
static struct explorer *explore_serially(const struct program *p)
{
	struct explore_options o = { .algorithm = EXPLORE_ORDERLY,
		                     .level = LEVEL_SERIAL,
		                     .base = LEVEL_SERIAL,
		                     .max_changes = UINT64_MAX };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	return e;
}

/* Whoever reads first waits for nobody: of the orders in which others pass a
 * session that nobody writes for, none is begun. */
START_TEST(nobody_waits_in_vain)
{
	enum { READERS = 7 };
	struct text t = { 0 };
	text_string(&t, "global x = 0; global y = 0;\n");
	for (int i = 0; i < READERS; i++)
		text_format(&t, "session r%d { txn { let a = x; } }\n", i);
	text_string(&t, "session w { txn { let a = x; y = a; } }\n");
	struct program *p = program_from_text(text_get(&t));
	struct explorer *e = explore_serially(p);
	ck_assert_uint_eq(explorer_stats(e)->histories, 1);
	ck_assert_uint_eq(explorer_stats(e)->blocked, 0);
	/* Begins, reads, ends, and a write. */
	ck_assert_uint_eq(explorer_stats(e)->explore_calls, 3 * READERS + 4);
	explorer_free(e);
	program_free(p);
	text_free(&t);
}
END_TEST

static uint64_t steps_of(const char *source)
{
	struct program *p = program_from_text(source);
	struct explorer *e = explore_serially(p);
	ck_assert_uint_eq(explorer_stats(e)->histories, 2 * 3 * 3 * 3);
	uint64_t steps = explorer_stats(e)->explore_calls;
	explorer_free(e);
	program_free(p);
	return steps;
}

/* Who only reads is tried last, wherever it is declared. */
START_TEST(readers_come_last)
{
	static const char readers[] = "session r { txn { let a = x; } }\n"
				      "session s { txn { let a = x; } }\n"
				      "session t { txn { let a = x; } }\n";
	static const char writers[] =
		"session v { txn { let a = x; x = a + 1; } }\n"
		"session w { txn { let a = x; x = a + 2; } }\n";
	struct text a = { 0 }, b = { 0 };
	text_format(&a, "global x = 0;\n%s%s", writers, readers);
	text_format(&b, "global x = 0;\n%s%s", readers, writers);
	ck_assert_uint_eq(steps_of(text_get(&a)), steps_of(text_get(&b)));
	text_free(&a);
	text_free(&b);
}
END_TEST

/* ---- what is known ---- */

/* The first session's first transaction: may it read these, at its beginning
 * and where its reads wait? A row of + and - for each key. */
static void expect(const char *code, const char *const *names,
                   const char *const *rows)
{
	struct program *p = program_from_text(code);
	struct bench b;
	bench_init(&b, p, 1);
	run_session(&b, 0);
	for (uint32_t k = 0; names[k]; k++) {
		uint32_t key = 0;
		while (strcmp(keys_name(b.machine.keys, key), names[k])) key++;
		ck_assert_uint_eq(strlen(rows[k]), b.moment_count);
		for (uint32_t i = 0; i < b.moment_count; i++)
			ck_assert_msg(footprints_may_read(b.footprints,
			                                  b.moments[i], key) ==
			                      (rows[k][i] == '+'),
			              "%s after %u reads", names[k], i);
	}
	bench_free(&b);
	program_free(p);
}

START_TEST(constants_are_known)
{
	static const char *const names[] = { "x",         "y",    "m[(1, 2)]",
		                             "m[(2, 1)]", "m[3]", NULL };
	static const char *const rows[] = { "++++-", "+----", "++---", "-----",
		                            "+++--" };
	expect("global x = 0; global y = 0; global m[*] = 0;\n"
	       "global m[(2, 1)] = 0;\n"
	       "txn t(a, b) { let p = y; let q = m[(a, b)]; let r = m[3];\n"
	       "  let s = x; }\n"
	       "session s { t(1, 2); }\n"
	       "session o { txn { m[(2, 1)] = 1; } }\n",
	       names, rows);
}
END_TEST

START_TEST(what_changes_is_not_known)
{
	static const char *const names[] = { "m[1]", "m[2]", "m[3]", NULL };
	static const char *const rows[] = { "++-", "++-", "++-" };
	expect("global m[*] = 0;\n"
	       "txn t(a, b) { let p = m[3]; if (p == 0) a = b;\n"
	       "  let q = m[a]; }\n"
	       "session s { t(1, 2); }\n"
	       "session o { txn { m[1] = 1; m[2] = 1; } }\n",
	       names, rows);
}
END_TEST

START_TEST(loops_come_again)
{
	static const char *const names[] = { "x", "y", "z", NULL };
	static const char *const rows[] = { "+-----", "++++++", "++++++" };
	expect("global x = 0; global y = 0; global z = 0;\n"
	       "txn t() { let p = x;\n"
	       "  for i in 0..2 { let q = y; let r = z; } }\n"
	       "session s { t(); }\n",
	       names, rows);
}
END_TEST

START_TEST(each_call_has_its_own)
{
	static const char *const names[] = { "m[1]", "m[2]", NULL };
	static const char *const rows[] = { "--", "+-" };
	expect("global m[*] = 0;\n"
	       "txn t(a) { let p = m[a]; }\n"
	       "session s { t(2); }\n"
	       "session o { t(1); txn { m[1] = 1; } }\n",
	       names, rows);
}
END_TEST

void add_footprint_tests(TCase *tests)
{
	tcase_add_loop_test(tests, nothing_is_read_that_is_not_in_it, 0, 4);
	tcase_add_loop_test(tests, nor_in_shipped_programs, 0, 6);
	tcase_add_loop_test(tests, no_history_is_lost, 0, 4);
	tcase_add_test(tests, nobody_waits_in_vain);
	tcase_add_test(tests, readers_come_last);
	tcase_add_test(tests, constants_are_known);
	tcase_add_test(tests, what_changes_is_not_known);
	tcase_add_test(tests, loops_come_again);
	tcase_add_test(tests, each_call_has_its_own);
}
