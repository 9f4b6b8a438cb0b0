/* Histories of programs in SQL, on an unmodified PostgreSQL by their schedules:
 * at PostgreSQL's own levels all that is explored happens there, with the same
 * results and the same rows. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/level.h"
#include "base/memory.h"
#include "base/rng.h"
#include "confirm/confirm.h"
#include "confirm/inside.h"
#include "dpor/engine.h"
#include "dpor/explorer.h"
#include "dpor/known_rows.h"
#include "file_support.h"
#include "history/history.h"
#include "postgres/stock.h"
#include "random_situation.h"
#include "sql/load.h"
#include "suites.h"
#include "support.h"

/* Some of the histories of a program: each as likely as any other. */
struct sample {
	struct history *items[64];
	uint32_t most, count;
	uint64_t seen;
	struct rng *rng;
};

static bool take_history(void *payload, const struct explore_execution *e)
{
	struct sample *s = payload;
	uint64_t at = s->seen++;
	if (s->count < s->most) {
		s->items[s->count++] = explore_history(e);
		return true;
	}
	at = rng_below(s->rng, (uint32_t)s->seen);
	if (at >= s->most) return true;
	history_free(s->items[at]);
	s->items[at] = explore_history(e);
	return true;
}

static void explore(struct program *p, enum level level, struct sample *s)
{
	struct explore_options o = { .level = level,
		                     .base = level,
		                     .max_changes = UINT64_MAX,
		                     .max_histories = 3000,
		                     .jobs = 1 };
	struct explore_observer observer = { .payload = s,
		                             .history = take_history };
	o.algorithm = explorer_usual_algorithm(p, level);
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	explorer_free(e);
}

static const enum level levels[] = { LEVEL_PRC, LEVEL_SI, LEVEL_SER };

enum { ENOUGH = 3000 }; /* of what differs */

/* Counts and complaints of a test. */
struct told {
	struct stock stock;
	bool missing; /* there is no PostgreSQL */
	uint64_t tried, confirmed, held, others;
	uint64_t searched; /* confirmed, but not by the schedule */
	struct text words;
};

static void print_lines(struct text *t, const struct confirmer *c,
                        const struct confirmation *x)
{
	for (uint32_t i = 0; i < x->count; i++) {
		const struct confirm_line *l = &x->lines[i];
		text_format(t, "  %s: %s%s -> %s\n",
		            confirmer_session(c, l->session),
		            l->again ? "(goes on) " : "", l->sql,
		            l->result ? l->result : "waits");
	}
}

/* Rows that the one has and the other has not made. */
static const char *rows_beside(const struct outcome *a, const struct outcome *b,
                               uint32_t table, struct region *to)
{
	struct text t = { 0 };
	text_format(&t, "%s%s", a->gone[table], b->gone[table]);
	const char *rows = outcome_rows(a, table, text_get(&t), to);
	text_free(&t);
	return rows;
}

/* In how many steps and tables two outcomes differ. */
static uint32_t differences(const struct confirmer *c, const struct outcome *a,
                            const struct outcome *b, struct region *to)
{
	const struct spec *s = &c->script.spec;
	uint32_t count = 0;
	for (uint32_t i = 0; i < s->session_count; i++)
		for (uint32_t k = 0; k < s->sessions[i].step_count; k++)
			count += strcmp(a->steps[i][k], b->steps[i][k]) != 0;
	for (uint32_t t = 0; t < a->table_count; t++)
		count += strcmp(rows_beside(a, b, t, to),
		                rows_beside(b, a, t, to)) != 0;
	return count;
}

/* What can be run by its schedule is not taken for another history: for that
 * which differs least from it, if any does. */
static void try_as_another(struct confirmer *c, const struct sample *s,
                           uint32_t run, enum level level, struct told *told)
{
	struct schedule schedules[64];
	struct outcome outcomes[64];
	struct region r;
	struct confirmation x;
	uint32_t least = UINT32_MAX, taken_for = run;
	region_init(&r);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct history *h = s->items[i];
		ck_assert(schedule_of_history(level, h->others, h,
		                              &schedules[i]));
		ck_assert(outcome_of_history(&c->script, h, &schedules[i],
		                             level, NULL, &r, &outcomes[i]));
	}
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t n = differences(c, &outcomes[run], &outcomes[i], &r);
		if (!n || n >= least) continue;
		least = n;
		taken_for = i;
	}
	c->orders = 0; /* but for the order of its own */
	if (taken_for != run)
		confirm_outcome(c, s->items[run], &schedules[run], level,
		                &outcomes[run], &r, &x);
	if (taken_for != run && x.answer == CONFIRM_YES) {
		confirm_outcome(c, s->items[run], &schedules[run], level,
		                &outcomes[taken_for], &r, &x);
		if (x.answer == CONFIRM_YES) {
			struct text t = { 0 };
			history_print_canonical(&t, s->items[run]);
			text_char(&t, '\n');
			history_print_canonical(&t, s->items[taken_for]);
			ck_abort_msg("taken for another history at %s:\n%s",
			             level_word(level), text_get(&t));
		}
		ck_assert(x.why != NULL);
		told->others++;
	}
	for (uint32_t i = 0; i < s->count; i++) schedule_free(&schedules[i]);
	region_free(&r);
}

/* In all that PostgreSQL can be made to do, without waiting inside of
 * functions. */
static void try_history(struct confirmer *c, const struct history *h,
                        enum level level, const char *text, struct told *told)
{
	struct schedule s = { 0 };
	struct region r;
	struct confirmation x;
	region_init(&r);
	ck_assert(schedule_of_history(level, h->others, h, &s));
	c->orders = 0;
	confirm_history(c, h, level, &s, &r, &x);
	c->orders = CONFIRM_ORDERS;
	if (x.answer != CONFIRM_YES) {
		confirm_history(c, h, level, &s, &r, &x);
		told->searched += x.answer == CONFIRM_YES;
	}
	told->tried++;
	told->confirmed += x.answer == CONFIRM_YES;
	bool held = x.why && (strstr(x.why, "no order of its") ||
	                      strstr(x.why, "nor do the first") ||
	                      strstr(x.why, "sequences give each") ||
	                      strstr(x.why, "BEGIN and COMMIT were added"));
	told->held += held;
	if (x.answer != CONFIRM_YES && !held && told->words.length < ENOUGH) {
		text_format(&told->words, "%s\nat %s: %s\n", text,
		            level_word(level), x.why ? x.why : "no line");
		print_lines(&told->words, c, &x);
		history_print_canonical(&told->words, h);
		text_char(&told->words, '\n');
	}
	schedule_free(&s);
	region_free(&r);
}

static bool says(const char *text, const char *what, enum level l)
{
	struct text t = { 0 };
	text_format(&t, "# %s at %s:", what, level_word(l));
	bool found = strstr(text, text_get(&t)) != NULL;
	text_free(&t);
	return found;
}

static void try_program(const char *path, const char *text, struct rng *rng,
                        uint32_t most, struct told *told)
{
	struct sql_arguments given = { 0 };
	struct diags d = { 0 };
	struct text why = { 0 };
	struct program *p = sql_load(path, text, strlen(text), &given, &d);
	ck_assert_msg(p != NULL, "%s: %s\n%s", path,
	              d.count ? d.items[0].message : "", text);
	explorer_know_rows(p, NULL, 0);
	struct confirmer *c = confirmer_new(p, &told->stock, &why);
	ck_assert_msg(c != NULL, "%s", text_get(&why));
	for (int l = 0; !told->missing && l < 3; l++) {
		struct sample s = { .most = most, .rng = rng };
		if (says(text, "not compared", levels[l]) ||
		    says(text, "not all seen", levels[l]))
			continue;
		explore(p, levels[l], &s);
		if (s.count)
			try_as_another(c, &s, rng_below(rng, s.count),
			               levels[l], told);
		for (uint32_t i = 0; i < s.count; i++) {
			try_history(c, s.items[i], levels[l], text, told);
			history_free(s.items[i]);
		}
	}
	confirmer_free(c);
	program_free(p);
	diags_free(&d);
	text_free(&why);
}

static void begin(struct told *told)
{
	struct text why = { 0 };
	*told = (struct told){ .missing = false };
	if (stock_start(&told->stock, NULL, &why)) return;
	told->missing = strstr(text_get(&why), "without PostgreSQL") ||
	                strstr(text_get(&why), "is missing");
	ck_assert_msg(told->missing, "%s", text_get(&why));
	fprintf(stderr, "not tried: %s\n", text_get(&why));
	text_free(&why);
}

static void tell(struct told *told)
{
	stock_stop(&told->stock);
	printf("%" PRIu64 " tried, %" PRIu64 " confirmed, %" PRIu64
	       " would have to wait in functions; %" PRIu64
	       " not taken for others; %" PRIu64 " in another order\n",
	       told->tried, told->confirmed, told->held, told->others,
	       told->searched);
	fflush(stdout);
	if (told->words.length) fprintf(stderr, "%s", text_get(&told->words));
	ck_assert_msg(!told->words.length, "ISOSCOPE_SEED=%" PRIu64,
	              first_seed());
	/* Of few, all may be ones that PostgreSQL cannot be made to do. */
	ck_assert(told->tried < 100 || 20 * told->searched <= told->tried);
	ck_assert(told->tried < 100 || 5 * told->confirmed >= 4 * told->tried);
}

/* What differs is the first step alone, or a table alone. */
static const char near_ones[] =
	"setup { CREATE TABLE t (id int PRIMARY KEY, v int);"
	" INSERT INTO t VALUES (1, 0); }\n"
	"session ann\n"
	"step a { SELECT v FROM t WHERE id = 1; }\n"
	"step b { UPDATE t SET v = 1 WHERE id = 1; }\n"
	"step c { SELECT 7 AS seven; }\n"
	"session ben\n"
	"step d { UPDATE t SET v = 2 WHERE id = 1; }\n"
	"step e { SELECT 8 AS eight; }\n";

/* What is confirmed by its schedule alone: reads of one transaction with others
 * in between, and statements that end long before their transactions. */
static const char skewed[] =
	"setup { CREATE TABLE t (id int PRIMARY KEY, v int);"
	" INSERT INTO t VALUES (1, 0), (2, 0); }\n"
	"session ann\n"
	"step a { UPDATE t SET v = 1 WHERE id = 1 AND"
	" (SELECT v FROM t WHERE id = 2) = 0; }\n"
	"session ben\n"
	"step d { UPDATE t SET v = 1 WHERE id = 2 AND"
	" (SELECT v FROM t WHERE id = 1) = 0; }\n"
	"session cid\n"
	"step g { BEGIN; SELECT v FROM t WHERE id = 1; }\n"
	"step h { SELECT v FROM t WHERE id = 1; }\n"
	"step i { SELECT v FROM t WHERE id = 2; COMMIT; }\n";

typedef void history_test(struct confirmer *c, const struct sample *s,
                          uint32_t i, struct told *told);

static void try_all(const char *text, history_test *test, struct rng *r,
                    struct told *told)
{
	struct sql_arguments given = { 0 };
	struct diags d = { 0 };
	struct text why = { 0 };
	struct sample s = { .most = 64, .rng = r };
	struct program *p =
		sql_load("fixed.spec", text, strlen(text), &given, &d);
	ck_assert(p != NULL);
	explorer_know_rows(p, NULL, 0);
	struct confirmer *c = confirmer_new(p, &told->stock, &why);
	ck_assert(c != NULL);
	explore(p, LEVEL_PRC, &s);
	ck_assert_uint_ge(s.count, 3);
	for (uint32_t i = 0; i < s.count; i++) test(c, &s, i, told);
	for (uint32_t i = 0; i < s.count; i++) history_free(s.items[i]);
	confirmer_free(c);
	program_free(p);
	diags_free(&d);
	text_free(&why);
}

static void is_not_another(struct confirmer *c, const struct sample *s,
                           uint32_t i, struct told *told)
{
	uint64_t before = told->others;
	try_as_another(c, s, i, LEVEL_PRC, told);
	ck_assert_uint_eq(told->others, before + 1);
}

static void follows_schedule(struct confirmer *c, const struct sample *s,
                             uint32_t i, struct told *told)
{
	uint64_t before = told->confirmed;
	try_history(c, s->items[i], LEVEL_PRC, skewed, told);
	ck_assert_uint_eq(told->confirmed, before + 1);
	ck_assert_msg(!told->searched, "confirmed in another order only");
}

START_TEST(random_programs)
{
	struct rng r = { first_seed() };
	struct told told;
	begin(&told);
	if (!told.missing) {
		try_all(near_ones, is_not_another, &r, &told);
		try_all(skewed, follows_schedule, &r, &told);
	}
	uint64_t count = is_quick() ? 3 : programs_or(100);
	for (uint64_t i = 0; i < count; i++) {
		struct text t = { 0 };
		random_rows(&t, &r);
		try_program("random.spec", text_get(&t), &r, fewer(12), &told);
		text_free(&t);
	}
	tell(&told);
	text_free(&told.words);
}
END_TEST

static char *read_all(const char *path)
{
	struct text t = { 0 };
	char buffer[1 << 12];
	size_t n;
	FILE *f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
		text_bytes(&t, buffer, n);
	fclose(f);
	return t.data;
}

static void try_folder(const char *folder, struct rng *r, struct told *told)
{
	struct dirent **entries;
	struct text path = { 0 };
	const char *only = getenv("ISOSCOPE_SPEC");
	text_format(&path, "%s/%s", source_top(), folder);
	int count = scandir(text_get(&path), &entries, NULL, alphasort);
	ck_assert_int_gt(count, 2);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		text_clear(&path);
		text_format(&path, "%s/%s/%s", source_top(), folder, name);
		if (sql_is_spec(name) && (!only || strstr(name, only)) &&
		    (!is_quick() || only || !rng_below(r, 12))) {
			char *text = read_all(text_get(&path));
			try_program(text_get(&path), text, r, fewer(12), told);
			free(text);
		}
		free(entries[i]);
	}
	free(entries);
	text_free(&path);
}

START_TEST(classic_programs)
{
	struct rng r = { first_seed() };
	struct told told;
	begin(&told);
	try_folder("tests/specs", &r, &told);
	try_folder("programs/sql", &r, &told);
	tell(&told);
	text_free(&told.words);
}
END_TEST

void add_confirm_tests(TCase *tests)
{
	tcase_add_test(tests, random_programs);
	tcase_add_test(tests, classic_programs);
}
