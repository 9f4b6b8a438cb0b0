/* The anomalies that the transactions of a log can have, against all that a few
 * instances can do, in a twin and explored; and the cheapest columns, against
 * all sets. */
#include <string.h>

#include "audit_support.h"
#include "base/memory.h"
#include "base/rng.h"
#include "history/history.h"
#include "prove/client.h"
#include "suites.h"
#include "support.h"
#include "vm/program.h"

/* ---- all that instances can do ---- */

/* Transactions of a few statements, each on a row of t or u, named by one of
 * two parameters. */
enum { COLUMNS = 2, TABLES = 2, PARAMETERS = 2, INSTANCES = 3 };
enum kind { PLAIN, LOCKED, SET, ADD, COPY, KINDS };

struct statement {
	enum kind kind;
	uint32_t table, column, parameter;
};
struct program_class {
	struct statement items[3];
	uint32_t count;
	bool ends[3]; /* of a call: a transaction ends behind the statement */
};

/* How varied a program is: few names meet more often. */
struct variety {
	uint32_t tables, columns, parameters, statements;
};

static struct variety random_variety(struct rng *r)
{
	return (struct variety){ 1 + rng_below(r, TABLES),
		                 1 + rng_below(r, COLUMNS),
		                 1 + rng_below(r, PARAMETERS),
		                 2 + rng_below(r, 2) };
}

/* Which of its transactions a statement of a call is in. */
static uint32_t part_of(const struct program_class *c, uint32_t statement)
{
	uint32_t part = 0;
	for (uint32_t i = 0; i < statement; i++) part += c->ends[i];
	return part;
}

static struct program_class random_class(struct rng *r, struct variety v,
                                         bool si, bool calls)
{
	struct program_class c = { .count = 1 + rng_below(r, v.statements) };
	for (uint32_t i = 0; i < c.count; i++) {
		struct statement *s = &c.items[i];
		*s = (struct statement){ (enum kind)rng_below(r, KINDS),
			                 rng_below(r, v.tables),
			                 rng_below(r, v.columns),
			                 rng_below(r, v.parameters) };
		/* What a lock keeps under si is not the same everywhere. */
		if (si && s->kind == LOCKED) s->kind = PLAIN;
		c.ends[i] = calls && rng_below(r, 2);
	}
	return c;
}

static void print_class(struct text *t, const struct program_class *c,
                        const uint32_t *rows, uint32_t connection)
{
	text_format(t, "\t\t %u Query\tBEGIN\n", connection);
	for (uint32_t i = 0; i < c->count; i++) {
		const struct statement *s = &c->items[i];
		char table = "tu"[s->table], column = "ab"[s->column];
		char other = "ba"[s->column];
		text_format(t, "\t\t %u Query\t", connection);
		switch (s->kind) {
		case PLAIN:
		case LOCKED:
			text_format(t, "SELECT %c FROM %c", column, table);
			break;
		case SET:
			text_format(t, "UPDATE %c SET %c = 7", table, column);
			break;
		case ADD:
			text_format(t, "UPDATE %c SET %c = %c + 1", table,
			            column, column);
			break;
		default:
			text_format(t, "UPDATE %c SET %c = %c", table, column,
			            other);
		}
		text_format(t, " WHERE id = %u%s\n", rows[s->parameter],
		            s->kind == LOCKED ? " FOR UPDATE" : "");
		if (c->ends[i] && i + 1 < c->count)
			text_format(t,
			            "\t\t %u Query\tCOMMIT\n\t\t %u "
			            "Query\tBEGIN\n",
			            connection, connection);
	}
	text_format(t, "\t\t %u Query\tCOMMIT\n", connection);
}

/* One order of the events of some instances: each has one for each statement,
 * and for each transaction (under si one for its beginning, and then for those
 * that lock) its end. */
struct twin {
	enum level level;
	const struct program_class *of[INSTANCES];
	uint32_t count;
	uint32_t rows[INSTANCES][PARAMETERS];
	uint32_t at[INSTANCES];                          /* events that were */
	uint32_t begin[INSTANCES][3], end[INSTANCES][3]; /* by transaction */
	uint32_t when[INSTANCES][3];                     /* of the statement */
	uint32_t now;
	bool anomaly;
};

static bool locks(const struct statement *s)
{
	return s->kind != PLAIN;
}
static bool writes(const struct statement *s)
{
	return s->kind > LOCKED;
}

static bool same_row(const struct twin *w, uint32_t i,
                     const struct statement *s, uint32_t k,
                     const struct statement *q)
{
	return s->table == q->table &&
	       w->rows[i][s->parameter] == w->rows[k][q->parameter];
}

/* The column that it reads; COLUMNS: none. */
static uint32_t column_read(const struct statement *s)
{
	return s->kind == SET    ? (uint32_t)COLUMNS
	       : s->kind == COPY ? 1 - s->column
	                         : s->column;
}

/* May the statement of instance i happen now? */
static bool may_run(const struct twin *w, uint32_t i, uint32_t at)
{
	const struct statement *s = &w->of[i]->items[at];
	uint32_t part = part_of(w->of[i], at);
	for (uint32_t k = 0; k < w->count; k++) {
		uint32_t last = w->at[k] ? part_of(w->of[k], w->at[k] - 1) : 0;
		/* One transaction after the other. */
		if (w->level == LEVEL_SERIAL && k != i && w->at[k] &&
		    !w->end[k][last])
			return false;
		for (uint32_t q = 0; k != i && q < w->of[k]->count; q++) {
			const struct statement *other = &w->of[k]->items[q];
			uint32_t end = w->end[k][part_of(w->of[k], q)];
			if (!w->when[k][q] || !same_row(w, i, s, k, other))
				continue;
			if (locks(s) && locks(other) && !end) return false;
			/* Reads wait for writers, under rc with locks. */
			if (w->level == LEVEL_RC && writes(other) && !end)
				return false;
			if (w->level == LEVEL_SI && writes(s) &&
			    writes(other) && end > w->begin[i][part])
				return false;
		}
	}
	return true;
}

/* Is instance i before k, by a dependency? */
static bool depends(const struct twin *w, uint32_t i, uint32_t k)
{
	for (uint32_t p = 0; p < w->of[i]->count; p++)
		for (uint32_t q = 0; q < w->of[k]->count; q++) {
			const struct statement *s = &w->of[i]->items[p];
			const struct statement *o = &w->of[k]->items[q];
			bool si = w->level == LEVEL_SI;
			uint32_t x = part_of(w->of[i], p);
			uint32_t y = part_of(w->of[k], q);
			if (!same_row(w, i, s, k, o)) continue;
			if (writes(s) && writes(o) && s->column == o->column &&
			    w->end[i][x] < w->end[k][y])
				return true;
			uint32_t seen = si ? w->begin[k][y] : w->when[k][q];
			if (writes(s) && column_read(o) == s->column &&
			    w->end[i][x] < seen)
				return true;
			seen = si ? w->begin[i][x] : w->when[i][p];
			if (writes(o) && column_read(s) == o->column &&
			    w->end[k][y] > seen)
				return true;
		}
	return false;
}

static void look(struct twin *w)
{
	bool before[INSTANCES][INSTANCES];
	for (uint32_t i = 0; i < w->count; i++)
		for (uint32_t k = 0; k < w->count; k++)
			before[i][k] = i != k && depends(w, i, k);
	for (uint32_t m = 0; m < w->count; m++)
		for (uint32_t i = 0; i < w->count; i++)
			for (uint32_t k = 0; k < w->count; k++)
				before[i][k] |= before[i][m] && before[m][k];
	for (uint32_t i = 0; i < w->count; i++) w->anomaly |= before[i][i];
}

/* The transaction that instance i is in; 3: it is in none. */
static uint32_t open_part(const struct twin *w, uint32_t i)
{
	uint32_t at = w->at[i];
	uint32_t part = at ? part_of(w->of[i], at - 1) : 0;
	return at && !w->end[i][part] ? part : 3;
}

static void interleave(struct twin *w)
{
	bool over = true;
	for (uint32_t i = 0; i < w->count && !w->anomaly; i++) {
		uint32_t at = w->at[i], n = w->of[i]->count;
		uint32_t open = open_part(w, i), part = part_of(w->of[i], at);
		if (at == n && open == 3) continue;
		over = false;
		w->now++;
		if (open < 3 && (at == n || part != open)) {
			w->end[i][open] = w->now;
			interleave(w);
			w->end[i][open] = 0;
		} else if (w->level == LEVEL_SI && !w->begin[i][part]) {
			w->begin[i][part] = w->now;
			interleave(w);
			w->begin[i][part] = 0;
		} else if (may_run(w, i, at)) {
			w->at[i]++;
			w->when[i][at] = w->now;
			interleave(w);
			w->when[i][at] = 0;
			w->at[i]--;
		}
		w->now--;
	}
	if (over && !w->anomaly) look(w);
}

/* Do they access a column of one row, which one of them writes? */
static bool conflict(const struct twin *w, uint32_t i, uint32_t k)
{
	for (uint32_t p = 0; p < w->of[i]->count; p++)
		for (uint32_t q = 0; q < w->of[k]->count; q++) {
			const struct statement *s = &w->of[i]->items[p];
			const struct statement *o = &w->of[k]->items[q];
			if (same_row(w, i, s, k, o) &&
			    ((writes(s) && (o->column == s->column ||
			                    column_read(o) == s->column)) ||
			     (writes(o) && column_read(s) == o->column)))
				return true;
		}
	return false;
}

static bool has_parameter(const struct program_class *c, uint32_t parameter)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->items[i].parameter == parameter) return true;
	return false;
}

/* All ways in which parameters can be the same. A cycle of all of two or three
 * instances needs conflicts of all pairs. */
static void choose_rows(struct twin *w, uint32_t parameter, uint32_t used)
{
	uint32_t i = parameter / PARAMETERS, k = parameter % PARAMETERS;
	if (w->anomaly) return;
	if (i == w->count) {
		bool all = true;
		for (i = 1; i < w->count; i++)
			for (k = 0; k < i; k++) all &= conflict(w, i, k);
		if (all) interleave(w);
		return;
	}
	/* What is not named is no other's. */
	uint32_t row = has_parameter(w->of[i], k) ? 0 : used;
	for (; row <= used; row++) {
		w->rows[i][k] = row;
		choose_rows(w, parameter + 1, used + (row == used));
	}
}

/* Can so many instances of the classes have an anomaly, if fewer have none? */
static bool twin_finds(enum level l, const struct program_class *classes,
                       uint32_t count, uint32_t instances)
{
	uint32_t all = 1;
	for (uint32_t i = 0; i < instances; i++) all *= count;
	for (uint32_t n = 0; n < all; n++) {
		struct twin w = { .level = l, .count = instances };
		uint32_t left = n;
		bool sorted = true;
		for (uint32_t i = 0; i < instances; i++, left /= count) {
			w.of[i] = &classes[left % count];
			sorted &= !i || w.of[i] >= w.of[i - 1];
		}
		if (sorted) choose_rows(&w, 0, 0);
		if (w.anomaly) return true;
	}
	return false;
}

/* The last one for calls only. */
static const enum level levels[] = { LEVEL_RC, LEVEL_PRC, LEVEL_SI,
	                             LEVEL_SERIAL };

START_TEST(all_that_instances_do)
{
	static const uint32_t rows[][PARAMETERS] = {
		{ 1, 2 }, { 3, 4 }, { 5, 1 }, { 6, 6 }
	};
	struct rng r = { process_seed(_i, 0) };
	uint64_t with = 0, without = 0;
	for (uint64_t n = programs_each(1000, 1000, 4); n; n--) {
		bool calls = rng_below(&r, 3) == 0;
		enum level l = levels[rng_below(&r, calls ? 4 : 3)];
		struct variety v = random_variety(&r);
		struct program_class c[2];
		struct text log = { 0 };
		struct audit a;
		uint32_t count = 1 + rng_below(&r, 2), shortest = 99;
		for (uint32_t i = 0; i < count; i++)
			c[i] = random_class(&r, v, l == LEVEL_SI, calls);
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t k = 0; k < 4; k++)
				print_class(&log, &c[i], rows[k], 4 * i + k);
		audit_of(&a, (struct audit_given){
				     .log = text_get(&log),
				     .schema = "t,id,,,PRI\nt,a,,,\nt,b,,,\n"
					       "u,id,,,PRI\nu,a,,,\nu,b,,,\n",
				     .group_by = calls ? "connection" : NULL,
				     .level = l });
		for (uint32_t i = 0; i < a.anomaly_count; i++)
			if (a.anomalies[i].cycle.count < shortest)
				shortest = a.anomalies[i].cycle.count;
		bool two = twin_finds(l, c, count, 2);
		ck_assert_msg(two == (shortest == 2), "%s: %s of two:\n%s",
		              level_word(l), two ? "missed one" : "none",
		              text_get(&log));
		if (v.statements == 2 && !two) {
			bool three = twin_finds(l, c, count, 3);
			ck_assert_msg(three == (shortest == 3),
			              "%s: %s of three:\n%s", level_word(l),
			              three ? "missed one" : "none",
			              text_get(&log));
		}
		/* Without the columns there is none. */
		ck_assert_uint_eq(a.anomaly_count > 0, a.protected_count > 0);
		ck_assert(a.cover_exact && a.cover_complete);
		*(a.anomaly_count ? &with : &without) += 1;
		audit_free(&a);
		text_free(&log);
	}
	/* One in ten has an anomaly. */
	if (with + without >= 200) ck_assert(with > 0 && without > 0);
}
END_TEST

/* ---- the same applications, explored ---- */

/* One column beside the key, so that rows conflict where columns do. */
static void random_statement(struct text *t, struct rng *r, uint32_t fresh)
{
	char table = "tu"[rng_below(r, 2)], other = "tu"[rng_below(r, 2)];
	uint32_t id = 1 + rng_below(r, 3), k = 1 + rng_below(r, 3);
	switch (rng_below(r, 12)) {
	case 0:
	case 1:
		text_format(t, "SELECT n FROM %c WHERE id = %u", table, id);
		break;
	case 2:
		text_format(t, "SELECT n FROM %c WHERE id = %u FOR %s", table,
		            id, rng_below(r, 3) ? "UPDATE" : "SHARE");
		break;
	case 3:
		text_format(t, "UPDATE %c SET n = 7 WHERE id = %u", table, id);
		break;
	case 4:
		text_format(t, "UPDATE %c SET n = n + 1 WHERE id = %u", table,
		            id);
		break;
	case 5: text_format(t, "SELECT sum(n) FROM %c", table); break;
	case 6:
		text_format(t, "SELECT count(*) FROM %c WHERE n > 5", table);
		break;
	case 7: text_format(t, "UPDATE %c SET n = 2 WHERE n > 5", table); break;
	case 8:
		text_format(t, "DELETE FROM %c WHERE id = %u", table, id);
		break;
	case 9:
		text_format(t,
		            "INSERT INTO %c (id, n) VALUES (%u, 6) ON CONFLICT "
		            "(id) DO UPDATE SET n = 3",
		            table, id);
		break;
	case 10:
		text_format(t, "INSERT INTO %c (id, n) VALUES (%u, 6)", table,
		            fresh);
		break;
	default:
		text_format(t,
		            "UPDATE %c SET n = (SELECT x.n FROM %c x WHERE "
		            "x.id = %u) WHERE id = %u",
		            table, other, k, id);
	}
}

static const char explored_schema[] =
	"CREATE TABLE t (id int PRIMARY KEY, n int);"
	"CREATE TABLE u (id int PRIMARY KEY, n int);";

/* Sessions of a transaction each, as a specification and as its log. */
static void random_application(struct rng *r, uint32_t sessions,
                               struct text *spec, struct text *log)
{
	static const char line[] = "2026-01-02 10:20:30 UTC [%u] LOG:  "
				   "statement: %s\n";
	struct text s = { 0 };
	uint32_t fresh = 10;
	text_format(spec,
	            "setup { %s INSERT INTO t VALUES (1, 1), (2, 6); "
	            "INSERT INTO u VALUES (1, 6), (2, 1); }\n",
	            explored_schema);
	for (uint32_t i = 0; i < sessions; i++) {
		text_format(spec, "session s%u\nstep p%u { BEGIN;", i, i);
		text_format(log, line, i, "BEGIN");
		for (uint32_t n = 1 + rng_below(r, 3); n; n--) {
			text_clear(&s);
			random_statement(&s, r, fresh++);
			text_format(spec, "\n  %s;", text_get(&s));
			text_format(log, line, i, text_get(&s));
		}
		text_string(spec, " COMMIT; }\n");
		text_format(log, line, i, "COMMIT");
	}
	text_free(&s);
}

/* Each is answered, and one that is confirmed has a history. */
static void all_are_explored(const struct audit *a)
{
	uint64_t answers = 0;
	for (int k = CONFIRM_FOUND; k < CONFIRMATIONS; k++)
		answers += a->confirmations[k];
	ck_assert_uint_eq(answers, a->anomaly_count);
	for (uint32_t i = 0; i < a->anomaly_count; i++) {
		const struct confirmed *c = &a->anomalies[i].confirmed;
		ck_assert((c->answer == CONFIRM_FOUND ||
		           c->answer == CONFIRM_OTHER) == !!c->history);
		ck_assert((c->answer == CONFIRM_OPEN) == !!c->why);
	}
}

/* What exploring finds among two or three transactions is among the cycles; but
 * under prc a statement that waits for a row which is then deleted, or whose
 * value is a query, has read two states of the row in a history, although what
 * it does is up to the later one. */
START_TEST(what_exploring_finds)
{
	struct rng r = { process_seed(_i, 3) };
	uint64_t found = 0, holds = 0;
	for (uint64_t n = programs_each(2000, 2000, 4); n; n--) {
		uint32_t sessions = rng_below(&r, 4) ? 2 : 3, shortest = 99;
		struct text spec = { 0 }, log = { 0 };
		struct audit a;
		struct budget budget = { .max_histories = 2000 };
		enum level l = rng_below(&r, 3) ? LEVEL_PRC : LEVEL_SI;
		random_application(&r, sessions, &spec, &log);
		text_format(&spec, "isolation %s\n", level_word(l));
		struct client_found c =
			client_explore("random.spec", &spec, l, &budget);
		ck_assert_msg(c.histories > 0, "%s", text_get(&spec));
		bool twice = l == LEVEL_PRC && (strstr(log.data, "DELETE") ||
		                                strstr(log.data, "x.id"));
		/* What is always the same was seen twice. */
		bool proves = n % 16 == 8;
		struct text all = { 0 };
		for (int k = proves ? 2 : 1; k; k--)
			text_bytes(&all, text_get(&log), log.length);
		audit_of(&a, (struct audit_given){ .log = text_get(&all),
		                                   .schema = explored_schema,
		                                   .level = l,
		                                   .lifts = n % 8 == 0,
		                                   .confirms = n % 16 == 0,
		                                   .proves = proves });
		if (a.edges_proof) {
			ck_assert_msg(!c.history || twice, "proved\n%s",
			              text_get(&spec));
			shortest = 0;
		}
		if (a.options.confirms) all_are_explored(&a);
		for (uint32_t i = 0; i < a.anomaly_count; i++)
			if (a.anomalies[i].cycle.count < shortest)
				shortest = a.anomalies[i].cycle.count;
		ck_assert_msg(!c.history || twice || shortest <= sessions,
		              "%s: %u anomalies, shortest %u\n%s",
		              level_word(l), a.anomaly_count, shortest,
		              text_get(&spec));
		*(c.history ? &found : &holds) += 1;
		history_free(c.history);
		program_free(c.program);
		audit_free(&a);
		text_free(&spec);
		text_free(&log);
		text_free(&all);
	}
	if (found + holds >= 250) ck_assert(found > 0 && holds > 0);
}
END_TEST

/* ---- columns ---- */

START_TEST(cheapest_cover)
{
	struct rng r = { process_seed(_i, 2) };
	for (int n = fewer(300); n; n--) {
		uint32_t weights[10], sets[12], things = 1 + rng_below(&r, 10);
		uint32_t set_count = rng_below(&r, 13), members[10];
		uint64_t best = UINT64_MAX;
		struct cover c;
		for (uint32_t i = 0; i < things; i++)
			weights[i] = 1 + rng_below(&r, 4);
		cover_init(&c, weights, things);
		for (uint32_t s = 0; s < set_count; s++) {
			uint32_t count = 0;
			sets[s] = 1 + rng_below(&r, (1u << things) - 1);
			for (uint32_t i = 0; i < things; i++)
				if (sets[s] >> i & 1) members[count++] = i;
			cover_add(&c, members, count);
		}
		for (uint32_t m = 0; m < 1u << things; m++) {
			uint64_t cost = 0;
			bool meets = true;
			for (uint32_t s = 0; s < set_count; s++)
				meets &= (sets[s] & m) != 0;
			for (uint32_t i = 0; i < things; i++)
				cost += m >> i & 1 ? weights[i] : 0;
			if (meets && cost < best) best = cost;
		}
		cover_solve(&c);
		ck_assert(c.exact);
		ck_assert_uint_eq(c.cost, best);
		for (uint32_t s = 0; s < set_count; s++) {
			bool met = false;
			for (uint32_t i = 0; i < things; i++)
				met |= c.best[i] && sets[s] >> i & 1;
			ck_assert(met);
		}
		cover_free(&c);
	}
}
END_TEST

void add_anomalies_tests(TCase *tests)
{
	tcase_add_loop_test(tests, all_that_instances_do, 0, 4);
	tcase_add_loop_test(tests, what_exploring_finds, 0, 4);
	tcase_add_loop_test(tests, cheapest_cover, 0, 2);
}
