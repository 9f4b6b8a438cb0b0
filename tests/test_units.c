/* Texts of work units, checkpoints and results: what is written is read again,
 * and nothing that is read breaks anything, neither the reader nor whoever
 * explores what is in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "distribute/unit_files.h"
#include "distribute/seal.h"
#include "distribute/unit.h"
#include "dpor/explorer.h"
#include "dpor/tally.h"
#include "random_program.h"
#include "suites.h"
#include "support.h"

enum { SESSIONS = 4, UNITS = 300, CHANGES = 40, EXPLORED = 150 };

static const char *const strings[] = {
	"a.tx",
	"/there/\"quoted\\\".tx",
	"\xc3\xa4/\xe2\x82\xac.tx",
	"tab\t\n",
};

static const char *any_string(struct rng *r)
{
	return strings[rng_below(r, sizeof strings / sizeof *strings)];
}

/* Small, large, and those that no signed number can hold. */
static uint64_t any_count(struct rng *r)
{
	switch (rng_below(r, 4)) {
	case 0: return rng_below(r, 10);
	case 1: return UINT64_MAX - rng_below(r, 3);
	case 2: return (uint64_t)INT64_MAX + rng_below(r, 3) - 1;
	default: return rng_next(r);
	}
}

/* ---- random units ---- */

static uint32_t add_transaction(struct rng *r, uint32_t *script, uint32_t *done)
{
	uint32_t n = 0, session = rng_below(r, SESSIONS);
	uint32_t reads = rng_below(r, 4) + 1;
	script[n++] = session;
	script[n++] = reads;
	for (uint32_t i = 0; i < reads; i++) {
		uint32_t from = rng_below(r, SESSIONS);
		bool init = !done[from];
		script[n++] = init ? 0 : from + 1;
		script[n++] = init ? 0 : rng_below(r, done[from]);
	}
	done[session]++;
	return n;
}

static struct branch *any_branch(struct rng *r)
{
	uint32_t path[16], script[64], done[SESSIONS] = { 0 };
	uint32_t path_length = rng_below(r, 17), length = 0;
	for (uint32_t i = 0; i < path_length; i++)
		path[i] = (uint32_t)any_count(r);
	uint32_t transactions = rng_below(r, 6) + 1;
	for (uint32_t i = 0; i < transactions; i++)
		length += add_transaction(r, script + length, done);
	return branch_new((enum branch_kind)rng_below(r, BRANCH_END + 1), path,
	                  path_length, script, length);
}

static struct task any_task(struct rng *r)
{
	enum level level = (enum level)rng_below(r, LEVEL_COUNT);
	struct task t = {
		.program = mem_copy_string(any_string(r)),
		.given = mem_copy_string(any_string(r)),
		.digest = rng_next(r),
		.sessions = SESSIONS,
		.order = rng_below(r, 2) ? mem_copy_string("a,b") : NULL,
		.algorithm = rng_below(r, 2) ? EXPLORE_DFS : EXPLORE_ORDERLY,
		.level = level,
		.base = level,
		.robust = rng_below(r, 2),
		.classify = rng_below(r, 2),
		.symmetry = rng_below(r, 2),
		.max_changes = any_count(r),
	};
	return t;
}

static void fill_stats(struct rng *r, struct explore_stats *s)
{
#define COUNT(name) s->name = any_count(r);
	RESULTS_FILE_COUNTS(COUNT)
#undef COUNT
	s->seconds = rng_below(r, 1000) / 8.0;
	s->cpu_seconds = rng_below(r, 1000) / 8.0;
	s->stop = (enum stop_reason)rng_below(r, STOP_STALE + 1);
	for (int l = 0; l < LEVEL_COUNT; l++) s->per_level[l] = any_count(r);
}

static void fill_found(struct rng *r, struct results_file *f)
{
	fill_stats(r, &f->stats);
	for (uint32_t i = rng_below(r, 4); i--;) {
		VEC_RESERVE(f->slots, f->slot_count, f->slot_capacity);
		f->slots[f->slot_count++] = (struct results_file_slot){
			.slot = rng_below(r, 9),
			.histories = any_count(r),
			.where = rng_below(r, 2) ? any_branch(r) : NULL
		};
		VEC_RESERVE(f->reached, f->reach_count, f->reach_capacity);
		f->reached[f->reach_count++] = rng_below(r, 100);
		VEC_RESERVE(f->assertions, f->assertion_count,
		            f->assertion_capacity);
		f->assertions[f->assertion_count++] =
			(struct results_file_assertion){
				.slot = i,
				.address = any_count(r),
				.message = mem_copy_string(any_string(r)),
				.object =
					rng_below(r, 2)
						? mem_copy_string(any_string(r))
						: NULL
			};
	}
}

static struct unit *any_unit(struct rng *r)
{
	static const char *const ids[] = { "", "1", "7.10.3" };
	struct task task = any_task(r);
	struct unit *u = unit_new(&task, ids[rng_below(r, 3)], rng_next(r));
	for (uint32_t i = rng_below(r, 6); i--;)
		branch_list_add(&u->open, any_branch(r));
	fill_found(r, &u->found);
	if (rng_below(r, 2)) {
		u->parts = rng_below(r, 100) + 1;
		u->parts_split = rng_next(r);
	}
	if (rng_below(r, 2)) {
		u->histories = mem_copy_string(any_string(r));
		u->histories_length = rng_next(r) >> 1;
		u->histories_end = rng_next(r);
	}
	return u;
}

/* ---- there and back ---- */

static struct unit *parse(const struct text *t, char **errors)
{
	struct diags d = { 0 };
	struct unit *u = unit_parse("unit", text_get(t), t->length, &d);
	ck_assert_msg(!u == (d.errors > 0), "an error is missing");
	*errors = diags_to_text(&d);
	diags_free(&d);
	return u;
}

static void compare_branches(const struct unit *a, const struct unit *b)
{
	ck_assert_uint_eq(a->open.count, b->open.count);
	for (size_t i = 0; i < a->open.count; i++) {
		const struct branch *x = a->open.items[i];
		const struct branch *y = b->open.items[i];
		ck_assert_int_eq(x->kind, y->kind);
		ck_assert_int_eq(branch_compare(x, y), 0);
		ck_assert_uint_eq(x->script_length, y->script_length);
		ck_assert_mem_eq(x->script, y->script,
		                 4 * (size_t)x->script_length);
	}
}

static void compare(const struct unit *a, const struct unit *b)
{
	struct text why = { 0 };
	ck_assert_msg(task_equal(&a->task, &b->task, &why), "%s",
	              text_get(&why));
	ck_assert_str_eq(a->task.program, b->task.program);
	ck_assert_str_eq(a->id, b->id);
	ck_assert_uint_eq(a->split, b->split);
	ck_assert_uint_eq(a->parts, b->parts);
#define COUNT(name) ck_assert_uint_eq(a->found.stats.name, b->found.stats.name);
	RESULTS_FILE_COUNTS(COUNT)
#undef COUNT
	ck_assert_uint_eq(a->found.slot_count, b->found.slot_count);
	compare_branches(a, b);
}

START_TEST(units_are_read_as_they_were_written)
{
	struct rng r = { process_seed(_i, 0) };
	for (int i = 0; i < UNITS; i++) {
		struct text once = { 0 }, again = { 0 };
		struct unit *u = any_unit(&r);
		char *errors;
		unit_write(&once, u);
		struct unit *back = parse(&once, &errors);
		ck_assert_msg(back, "%s%s", errors, text_get(&once));
		compare(u, back);
		unit_write(&again, back);
		ck_assert_str_eq(text_get(&once), text_get(&again));
		free(errors);
		unit_free(u);
		unit_free(back);
		text_free(&once);
		text_free(&again);
	}
}
END_TEST

/* ---- damage ---- */

/* Another byte, a byte less, or a byte more, which the text may have. */
static void damage(struct rng *r, struct text *t)
{
	size_t at = rng_below(r, (uint32_t)t->length);
	char byte = t->data[rng_below(r, (uint32_t)t->length)];
	switch (rng_below(r, 4)) {
	case 0: t->data[at] = byte; break;
	case 1: t->data[at] = (char)rng_below(r, 256); break;
	case 2: t->length = at; break;
	default:
		memmove(t->data + at, t->data + at + 1, t->length - at - 1);
		t->length--;
	}
	t->data[t->length] = '\0';
}

START_TEST(damage_is_seen)
{
	struct rng r = { process_seed(_i, 1) };
	for (int i = 0; i < UNITS / 4; i++) {
		struct text whole = { 0 };
		struct unit *u = any_unit(&r);
		unit_write(&whole, u);
		for (int j = 0; j < CHANGES; j++) {
			struct text t = { 0 };
			char *errors;
			text_bytes(&t, whole.data, whole.length);
			damage(&r, &t);
			bool same = t.length == whole.length &&
			            !memcmp(t.data, whole.data, t.length);
			struct unit *back = parse(&t, &errors);
			ck_assert_msg(!back || same, "not seen:\n%s", t.data);
			free(errors);
			unit_free(back);
			text_free(&t);
		}
		unit_free(u);
		text_free(&whole);
	}
}
END_TEST

static void break_seal(struct text *t)
{
	static const char line[] = ",\n\"seal\"";
	t->length -= sizeof line - 1;
	while (memcmp(t->data + t->length, line, sizeof line - 1)) t->length--;
	t->data[t->length] = '\0';
}

/* Sealed again: what somebody made on purpose. */
START_TEST(nothing_breaks_the_reader)
{
	struct rng r = { process_seed(_i, 2) };
	int read = 0;
	for (int i = 0; i < UNITS; i++) {
		struct text t = { 0 };
		struct diags d = { 0 };
		struct unit *u = any_unit(&r);
		unit_write(&t, u);
		break_seal(&t);
		for (uint32_t n = rng_below(&r, 3) + 1; n-- && t.length;)
			damage(&r, &t);
		seal_add(&t, 0);
		char *exact = mem_take(t.length + 1);
		memcpy(exact, t.data, t.length);
		struct unit *back = unit_parse("unit", exact, t.length, &d);
		ck_assert_msg(!back == (d.errors > 0), "an error is missing");
		read += back != NULL;
		free(exact);
		diags_free(&d);
		unit_free(back);
		unit_free(u);
		text_free(&t);
	}
	ck_assert_msg(read > UNITS / 60, "only %d were read", read);
}
END_TEST

/* ---- exploring what was read ---- */

static struct explorer *explore(const struct program *p,
                                struct branch_list *open, uint64_t histories)
{
	struct explore_options o = { .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .max_histories = histories,
		                     .max_changes = UINT64_MAX };
	struct explorer *e = explorer_new(p, &o, NULL);
	if (open) explorer_resume(e, open, NULL);
	explorer_run(e);
	return e;
}

/* A number of it is another one; sound still, or it would not be read. */
static struct branch *turned(struct rng *r, const struct branch *b,
                             uint32_t sessions)
{
	struct branch *c = branch_copy(b);
	uint32_t *script = (uint32_t *)c->script;
	for (uint32_t n = rng_below(r, 3) + 1; n-- && c->script_length;) {
		uint32_t *word = &script[rng_below(r, c->script_length)];
		*word = rng_below(r, 5);
	}
	if (!rng_below(r, 3))
		c->kind = (enum branch_kind)rng_below(r, BRANCH_END + 1);
	if (branch_is_sound(c, sessions)) return c;
	free(c);
	return NULL;
}

static void explore_turned(struct rng *r, const struct program *p)
{
	struct explorer *e = explore(p, NULL, 3);
	const struct branch_list *open = explorer_open(e);
	uint32_t sessions = program_session_count(p);
	for (size_t i = 0; i < open->count; i++) {
		struct branch_list l = { 0 };
		struct branch *b = turned(r, open->items[i], sessions);
		if (!b) continue;
		branch_list_add(&l, b);
		explorer_free(explore(p, &l, 50));
	}
	explorer_free(e);
}

START_TEST(impossible_branches_are_nothing)
{
	struct rng r = { process_seed(_i, 3) };
	for (int i = 0; i < EXPLORED; i++) {
		struct text source = { 0 };
		random_program(&source, (uint64_t)_i * EXPLORED + (uint64_t)i);
		struct program *p = program_from_text(text_get(&source));
		explore_turned(&r, p);
		program_free(p);
		text_free(&source);
	}
}
END_TEST

/* ---- the rest ---- */

START_TEST(what_was_found_comes_back_as_a_tally)
{
	struct program *p = program_from_text(
		"global x = 0;\n"
		"session a { txn { let v = x; x = v + 1; } }\n"
		"session b { let r = txn { let v = x; x = v + 1; return v; }; "
		"}\n"
		"assert b.r == 1;\n");
	struct explorer *e = explore(p, NULL, 0);
	struct tally *before = explorer_tally(e), after;
	struct results_file f;
	results_file_init(&f, before, p);
	ck_assert(results_file_tally(&f, p, &after));
	ck_assert_uint_eq(after.stats.histories, before->stats.histories);
	ck_assert_uint_eq(after.violations[0].histories, 2);
	ck_assert(after.violations[0].where && !after.violations[0].example);
	ck_assert(tally_make_examples(&after, p, explorer_options(e)));
	ck_assert(after.violations[0].example != NULL);
	tally_free(&after);
	f.slots[0].slot = 77;
	ck_assert(!results_file_tally(&f, p, &after));
	tally_free(&after);
	results_file_clear(&f);
	explorer_free(e);
	program_free(p);
}
END_TEST

START_TEST(files_are_named_by_unit)
{
	static const char *const rows[][3] = {
		{ "split", "", "d/split.json" },
		{ "unit", "7", "d/unit-007.json" },
		{ "result", "12.3", "d/result-012.3.json" },
		{ "unit", "1234", "d/unit-1234.json" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct text t = { 0 };
		unit_file_name(&t, "d", rows[i][0], rows[i][1]);
		ck_assert_str_eq(text_get(&t), rows[i][2]);
		ck_assert_str_eq(unit_file_kind(text_get(&t) + 2), rows[i][0]);
		text_free(&t);
	}
	ck_assert_ptr_null(unit_file_kind("unit-001.json.Xq3"));
	ck_assert_ptr_null(unit_file_kind("units.txt"));
}
END_TEST

void add_units_tests(TCase *tests)
{
	tcase_add_loop_test(tests, units_are_read_as_they_were_written, 0, 4);
	tcase_add_loop_test(tests, damage_is_seen, 0, 4);
	tcase_add_loop_test(tests, nothing_breaks_the_reader, 0, 4);
	tcase_add_loop_test(tests, impossible_branches_are_nothing, 0, 4);
	tcase_add_test(tests, what_was_found_comes_back_as_a_tally);
	tcase_add_test(tests, files_are_named_by_unit);
}
