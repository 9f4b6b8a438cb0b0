/* Proofs of assertions about final states, for any number of transactions,
 * against exploring: where they are proved, no client that begins with a state
 * in which they hold has a history in which they fail. */
#include <stdlib.h>
#include <string.h>

#include "history/history.h"
#include "lang/source.h"
#include "prove/client.h"
#include "prove/invariant.h"
#include "suites.h"
#include "support.h"
#include "vm/program.h"

struct writer {
	struct rng *r;
	struct text *t;
	unsigned locals, depth;
};

static bool one_in(struct writer *w, uint32_t n)
{
	return !rng_below(w->r, n);
}

static const char *pick(struct writer *w, const char *const *of, uint32_t n)
{
	return of[rng_below(w->r, n)];
}
#define PICK(w, of) pick(w, of, sizeof(of) / sizeof *(of))

/* ---- random programs ---- */

static const char *const keys[] = { "x0", "x0", "x1", "y[0]", "y[1]", "y[p0]" };

static void write_value(struct writer *w)
{
	static const char *const plain[] = { "0", "1", "2", "p0", "p0", "p1" };
	if (w->locals && !one_in(w, 3)) {
		text_format(w->t, "v%u", rng_below(w->r, w->locals));
		if (one_in(w, 2))
			text_string(w->t, one_in(w, 2) ? " - 1" : " + 1");
	} else {
		text_string(w->t, PICK(w, plain));
	}
}

static void write_condition(struct writer *w)
{
	static const char *const relations[] = { " > ", " >= ", " < ",
		                                 " == ", " != " };
	if (one_in(w, 4))
		text_string(w->t, PICK(w, keys));
	else
		write_value(w);
	text_string(w->t, PICK(w, relations));
	write_value(w);
}

static void write_block(struct writer *w, uint32_t statements);

static void write_statement(struct writer *w)
{
	static const char *const locks[] = { "", "", "locked ", "shared " };
	uint32_t n = rng_below(w->r, w->depth < 3 ? 14 : 9);
	if (n < 3) {
		text_format(w->t, "let v%u = %s%s;\n", w->locals,
		            PICK(w, locks), PICK(w, keys));
		w->locals++;
	} else if (n < 6) {
		text_format(w->t, "%s = ", PICK(w, keys));
		write_value(w);
		text_string(w->t, ";\n");
	} else if (n < 8) {
		text_format(w->t, "%s%s += %d;\n",
		            one_in(w, 2) ? "atomic " : "", PICK(w, keys),
		            (int)rng_below(w->r, 3) - 1);
	} else if (n < 9) {
		static const char *const ends[] = { "abort;\n", "return 1;\n",
			                            "assume p0 != p1;\n" };
		if (w->depth > 1) text_string(w->t, PICK(w, ends));
	} else if (n < 13) {
		text_string(w->t, "if (");
		write_condition(w);
		text_string(w->t, ") {\n");
		write_block(w, 1 + rng_below(w->r, 2));
		text_string(w->t, "}\n");
	} else {
		text_string(w->t, "statement {\n");
		text_format(w->t, "let a%u = %s;\n%s = a%u;\n}\n", w->depth,
		            PICK(w, keys), PICK(w, keys), w->depth);
	}
}

static void write_block(struct writer *w, uint32_t statements)
{
	unsigned locals = w->locals;
	w->depth++;
	for (uint32_t i = 0; i < statements; i++) write_statement(w);
	w->depth--;
	w->locals = locals;
}

/* Guarded changes, which are proved now and then. */
static void write_likely(struct writer *w)
{
	static const char *const likely[] = {
		"let v = %1$sx0; if (v > 0) { x0 = v - 1; }\n",
		"let v = %1$sy[p0]; if (v >= 1) { y[p0] = v - 1; }\n",
		"let v = %1$sx0; let u = %1$sx1; if (u + v >= 1) { x0 = v - 1; "
		"}\n",
		"let v = x0; let u = %1$sx1; if (v < u) { x0 = v + 1; }\n",
		"x0 = p0; x1 = p0;\n",
		"let v = x0; x1 = v;\n",
		"let v = %1$sx1; if (v != 1) { x0 = 1; }\n",
		"let v = %1$sx0; if (v != 1) { x1 = 1; }\n",
		"if (p0 >= 0) { y[p1] = p0; }\n",
		"atomic x1 += 1;\n",
		"atomic x0 += 1;\natomic x1 += 1;\n",
		"statement { let v = x0; let u = x1; y[0] = u - v; }\n",
		"let v = %1$sy[0]; let u = %1$sy[1]; if (v > 0) "
		"{ y[0] = v - 1; y[1] = u + 1; }\n",
		"if (x0 > 0) { y[0] = 1; }\n",
	};
	static const char *const locks[] = { "", "locked " };
	text_format(w->t, PICK(w, likely), PICK(w, locks));
}

static void write_transaction(struct writer *w, uint32_t i, bool mixed)
{
	static const char *const levels[] = { "rc", "ra",  "cc", "prc",
		                              "pc", "ser", "si", "si" };
	w->locals = 0;
	w->depth = 0;
	text_format(w->t, "txn t%u(p0, p1)", i);
	if (mixed && one_in(w, 2)) text_format(w->t, " at %s", PICK(w, levels));
	text_string(w->t, " {\n");
	if (one_in(w, 3))
		write_block(w, 1 + rng_below(w->r, 3));
	else
		write_likely(w);
	text_string(w->t, "}\n");
}

static void write_assertion(struct writer *w)
{
	static const char *const what[] = {
		"x0 >= 0",
		"x0 <= x1",
		"x0 + x1 >= 0",
		"x0 == x1",
		"y[0] + y[1] >= 0",
		"forall(k in [0, 1] : y[k] >= 0)",
		"!(x0 == 1 && x1 == 1)",
		"sum(map(k in [0, 1] : y[k])) >= x0",
		"y[0] == 0 || x0 > 0",
		"y[0] >= 0 && x0 <= 2",
	};
	if (one_in(w, 3))
		text_format(w->t,
		            "finally { let v = x0; let u = x1; }\n"
		            "assert finally.v + finally.u %s;\n",
		            one_in(w, 2) ? ">= 0" : "!= 3");
	else
		text_format(w->t, "finally { assert %s; }\n", PICK(w, what));
}

static void write_globals(struct writer *w)
{
	static const char *const odd[] = { "null", "true", "\"s\"",
		                           "9223372036854775807" };
	static const char *const names[] = { "x0", "x1", "y[*]" };
	for (unsigned i = 0; i < 3; i++)
		text_format(w->t, "global %s = %s;\n", names[i],
		            one_in(w, 40)  ? PICK(w, odd)
		            : one_in(w, 3) ? "1"
		                           : "0");
}

static void write_sessions(struct writer *w, uint32_t count)
{
	static const char *const values[] = { "0", "1", "2", "1", "-1", "0" };
	uint32_t instances = 1 + rng_below(w->r, 4), session = 0;
	for (uint32_t i = 0; i < instances; i++) {
		if (!i || one_in(w, 2))
			text_format(w->t, "%ssession s%u {\n", i ? "}\n" : "",
			            session++);
		text_format(w->t, "t%u(%s, %s);\n", rng_below(w->r, count),
		            PICK(w, values), PICK(w, values));
	}
	text_string(w->t, "}\n");
}

/* ---- against exploring ---- */

enum { CLIENTS = 10 };

static const struct budget limits = { .timeout = 20, .max_histories = 2000 };

static struct client_found explore(const struct text *t, const char *finals,
                                   enum level l, bool no_errors,
                                   struct text *whole)
{
	uint32_t line = 1;
	text_clear(whole);
	text_string(whole, text_get(t));
	for (const char *s = text_get(t); *s; s++) line += *s == '\n';
	text_string(whole, finals);
	return client_explore_finals("random.tx", whole, line, l, no_errors,
	                             &limits);
}

static void explore_clients(struct rng *r, const char *transactions,
                            const char *finals, uint32_t count,
                            struct instances_terms terms)
{
	struct text whole = { 0 };
	enum level l = terms.level;
	for (int i = 0; i < CLIENTS; i++) {
		struct text t = { 0 }, idle = { 0 };
		struct writer w = { .r = r, .t = &t };
		write_globals(&w);
		text_string(&t, transactions);
		text_format(&idle, "%ssession s { skip; }\n", text_get(&t));
		struct client_found first =
			explore(&idle, finals, l, terms.no_errors, &whole);
		bool holds = !first.history && !first.errs;
		history_free(first.history);
		program_free(first.program);
		write_sessions(&w, count);
		struct client_found found = { .history = NULL };
		if (holds)
			found = explore(&t, finals, l, terms.no_errors, &whole);
		if (found.history)
			ck_abort_msg("proved at %s, but\n%s", level_word(l),
			             text_get(&whole));
		text_free(&idle);
		text_free(&t);
	}
	text_free(&whole);
}

struct tally {
	unsigned proved, violated, open;
};

static void check_client(const struct invariance *p, enum level l)
{
	uint32_t line = 1;
	const char *last = strstr(text_get(&p->client), "\nfinally");
	ck_assert_ptr_nonnull(last);
	for (const char *s = text_get(&p->client); s <= last; s++)
		line += *s == '\n';
	struct client_found found = client_explore_finals(
		"random.tx", &p->client, line, l, false, &limits);
	ck_assert_ptr_nonnull(found.history);
	history_free(found.history);
	program_free(found.program);
}

static void try_program(uint64_t seed, struct tally *tally)
{
	struct rng r = { seed };
	struct text transactions = { 0 }, finals = { 0 }, t = { 0 };
	struct writer w = { .r = &r, .t = &transactions };
	struct diags d = { 0 };
	struct application app;
	struct invariance found;
	bool mixed = one_in(&w, 4);
	uint32_t count = 1 + rng_below(&r, 3);
	struct prove_options o = {
		.terms.level = (enum level)(
			LEVEL_RC + rng_below(&r, LEVEL_COUNT - LEVEL_RC)),
		.terms.no_errors = !one_in(&w, 3),
		.timeout = 30,
	};
	if (mixed && !level_mixes(o.terms.level)) o.terms.level = LEVEL_PRC;
	for (uint32_t i = 0; i < count; i++) write_transaction(&w, i, mixed);
	w.t = &finals;
	write_assertion(&w);
	w.t = &t;
	text_string(&t, "global x0 = 0;\nglobal x1 = 0;\nglobal y[*] = 0;\n");
	text_string(&t, text_get(&transactions));
	text_string(&t, text_get(&finals));
	struct load_text text = { "random.tx", text_get(&t), t.length };
	struct program *p =
		invariant_load(&app, "random.tx", &text, NULL, NULL, &d);
	if (!p)
		ck_abort_msg("seed %llu: %s\n%s", (unsigned long long)seed,
		             d.count ? d.items[0].message : "", text_get(&t));
	prove_invariant(&found, &app, &o);
	tally->proved += found.verdict == VERDICT_HOLDS;
	tally->violated += found.verdict == VERDICT_VIOLATED;
	tally->open += found.verdict == VERDICT_INCONCLUSIVE;
	if (found.verdict == VERDICT_VIOLATED)
		check_client(&found, o.terms.level);
	else if (found.verdict == VERDICT_INCONCLUSIVE)
		ck_assert(found.obstacle || found.stop);
	else
		explore_clients(&r, text_get(&transactions), text_get(&finals),
		                count, o.terms);
	invariance_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
	text_free(&transactions);
	text_free(&finals);
	text_free(&t);
}

enum { PROGRAMS = 400, OF_ALL = 30, PROCESSES = 2 };

START_TEST(proved_assertions_hold_when_explored)
{
	struct tally tally = { 0 };
	uint64_t seed = process_seed(_i, 0);
	uint64_t count = programs_each(PROGRAMS, is_quick() ? OF_ALL : PROGRAMS,
	                               PROCESSES);
	for (uint64_t i = 0; i < count; i++) try_program(seed + i, &tally);
	if (getenv("ISOSCOPE_TALLY"))
		fprintf(stderr, "proved %u, violated %u, open %u\n",
		        tally.proved, tally.violated, tally.open);
	ck_assert(count < 200 || (tally.proved && tally.violated));
}
END_TEST

/* ---- in SQL ---- */

static const char sql_tables[] =
	"CREATE TABLE acc (id int PRIMARY KEY, n int NOT NULL, ok bool NOT "
	"NULL);\n"
	"CREATE TABLE log (id int PRIMARY KEY, acc int NOT NULL, v int);\n";

/* All of sql_totals is so of these. */
static const char sql_first[] = "INSERT INTO acc VALUES (1, 1, true), (2, 1, "
				"true);\n";

/* These keep sums, or seem to. */
static void write_moving(struct writer *w, const char *lock)
{
	static const char *const moving[] = {
		"SELECT n INTO b FROM acc WHERE id = a%1$s;\n"
		"IF b > 0 AND EXISTS (SELECT 1 FROM acc WHERE id = k) THEN\n"
		"UPDATE acc SET n = n - 1 WHERE id = a;\n"
		"UPDATE acc SET n = n + 1 WHERE id = k; END IF;",
		"SELECT n INTO b FROM acc WHERE id = a%1$s;\n"
		"SELECT n INTO c FROM acc WHERE id = k%1$s;\n"
		"IF b > 0 AND c IS NOT NULL AND a <> k THEN\n"
		"UPDATE acc SET n = b - 1 WHERE id = a;\n"
		"UPDATE acc SET n = c + 1 WHERE id = k; END IF;",
		"SELECT n INTO b FROM acc WHERE id = a%1$s;\n"
		"SELECT n INTO c FROM acc WHERE id = k%1$s;\n"
		"IF b > 0 AND c IS NOT NULL THEN\n"
		"UPDATE acc SET n = b - 1 WHERE id = a;\n"
		"UPDATE acc SET n = c + 1 WHERE id = k; END IF;",
		"IF k >= 0 THEN UPDATE acc SET n = n + k WHERE id = a; END IF;",
		"SELECT n INTO b FROM acc WHERE id = a%1$s;\n"
		"IF b IS NOT NULL THEN DELETE FROM acc WHERE id = a;\n"
		"INSERT INTO log VALUES (k, a, b); END IF;",
		"UPDATE acc SET ok = true WHERE id = a;",
		"UPDATE acc SET ok = false WHERE id = a AND n = 0;",
		"INSERT INTO acc VALUES (a, 0, true) ON CONFLICT DO NOTHING;",
		"IF EXISTS (SELECT 1 FROM acc WHERE id = k AND ok%1$s) AND "
		"a <> k\n"
		"THEN DELETE FROM acc WHERE id = a; END IF;",
		("IF a <> k THEN DELETE FROM log WHERE id = a;\n"
		 "INSERT INTO log VALUES (k, a, 1); END IF;"),
	};
	/* Those that read the sum, before they write or between. */
	static const char *const looking[] = {
		"SELECT sum(n) INTO b FROM acc;\n"
		"IF b + k <= 2 THEN UPDATE acc SET n = n + k WHERE id = a; END "
		"IF;",
		"SELECT coalesce(sum(n), 0) INTO b FROM acc;\n"
		"IF b < 2 THEN INSERT INTO acc VALUES (a, 1, true); END IF;",
		"UPDATE acc SET n = n + k WHERE id = a;\n"
		"SELECT sum(n) INTO b FROM acc;\n"
		"IF b > 2 THEN UPDATE acc SET n = n - k WHERE id = a; END IF;",
		"IF (SELECT count(*) FROM acc WHERE ok) > 1 THEN\n"
		"UPDATE acc SET ok = false WHERE id = a; END IF;",
		"DELETE FROM acc WHERE id = a;\n"
		"IF NOT EXISTS (SELECT 1 FROM acc WHERE n > 0) THEN\n"
		"INSERT INTO acc VALUES (a, 1, true); END IF;",
		"SELECT count(v) INTO b FROM log;\n"
		"IF b = 0 THEN INSERT INTO log VALUES (k, a, 1); END IF;",
		"UPDATE acc SET n = (SELECT 2 - sum(o.n) FROM acc o) WHERE id "
		"= a;",
	};
	if (one_in(w, 2))
		text_string(w->t, PICK(w, looking));
	else
		text_format(w->t, PICK(w, moving), lock);
}

static void write_function(struct writer *w, uint32_t i, bool moves)
{
	static const char *const likely[] = {
		"SELECT n INTO b FROM acc WHERE id = a%1$s;\n"
		"IF b >= k THEN UPDATE acc SET n = n - k WHERE id = a; END IF;",
		"SELECT n INTO b FROM acc WHERE id = a%1$s;\n"
		"IF b >= k AND k > 0 THEN UPDATE acc SET n = b - k WHERE id = "
		"a; "
		"END IF;",
		"UPDATE acc SET n = n - k WHERE id = a AND n >= k;",
		"UPDATE acc SET n = n - 1 WHERE id = a AND n >= 1;",
		"IF k >= 0 THEN INSERT INTO acc VALUES (a, k, k > 0); END IF;",
		"INSERT INTO acc VALUES (a, 1, true) ON CONFLICT (id) DO "
		"UPDATE "
		"SET n = acc.n + 1;",
		"INSERT INTO acc VALUES (a, 0, false) ON CONFLICT (id) DO "
		"NOTHING;",
		"DELETE FROM acc WHERE id = a;",
		"DELETE FROM acc WHERE id = a AND n = 0;",
		"UPDATE acc SET ok = (n > 0) WHERE id = a;",
		"INSERT INTO log SELECT k, id, n FROM acc WHERE id = a AND ok;",
		"IF EXISTS (SELECT 1 FROM acc WHERE id = a AND n > 0) THEN\n"
		"UPDATE acc SET ok = true WHERE id = a; END IF;",
		"IF EXISTS (SELECT 1 FROM acc WHERE id = a%1$s) THEN\n"
		"INSERT INTO log VALUES (k, a, 0); END IF;",
		"IF NOT EXISTS (SELECT 1 FROM log WHERE acc = a) THEN\n"
		"DELETE FROM acc WHERE id = a; END IF;",
		"UPDATE acc SET n = 1 WHERE id = 1 AND\n"
		"(SELECT n FROM acc WHERE id = 2) = 0;",
		"SELECT n INTO b FROM acc WHERE id = 2;\n"
		"IF b = 0 THEN UPDATE acc SET n = 1 WHERE id = 1; END IF;",
		"UPDATE acc SET n = 2 WHERE NOT ok;",
	};
	static const char *const locks[] = { "", " FOR UPDATE", " FOR SHARE" };
	text_format(w->t,
	            "CREATE FUNCTION f%u(a int, k int) RETURNS void LANGUAGE "
	            "plpgsql AS $$\nDECLARE b int; c int;\nBEGIN\n",
	            i);
	for (uint32_t n = 1 + one_in(w, 4); n > 0; n--) {
		const char *lock = PICK(w, locks);
		if (moves)
			write_moving(w, lock);
		else
			text_format(w->t, PICK(w, likely), lock);
		text_char(w->t, '\n');
	}
	text_string(w->t, "END $$;\n");
}

static const char *const sql_assertions[] = {
	"SELECT count(*) = 0 FROM acc WHERE n < 0",
	"SELECT NOT EXISTS (SELECT 1 FROM acc WHERE ok AND n = 0)",
	"SELECT NOT EXISTS (SELECT 1 FROM log l JOIN acc a ON a.id = l.acc "
	"WHERE l.v > a.n)",
	"SELECT NOT EXISTS (SELECT 1 FROM log WHERE NOT EXISTS "
	"(SELECT 1 FROM acc WHERE acc.id = log.acc))",
	"SELECT (SELECT count(*) FROM acc WHERE n > 2) = 0 AND "
	"NOT EXISTS (SELECT 1 FROM acc WHERE n < 0)",
	"SELECT coalesce((SELECT n FROM acc WHERE id = 1), 0) + "
	"coalesce((SELECT n FROM acc WHERE id = 2), 0) >= 0",
	"SELECT NOT EXISTS (SELECT 1 FROM acc a, acc b WHERE a.id = 1 AND "
	"b.id = 2 AND a.n = 1 AND b.n = 1)",
	"SELECT count(*) = 0 FROM log WHERE v < 0",
	"SELECT count(*) < 3 FROM acc",
};

static const char *const sql_totals[] = {
	"SELECT sum(n) = 2 FROM acc",
	"SELECT sum(n) >= 2 FROM acc",
	"SELECT coalesce(sum(n), 0) <= 2 FROM acc",
	"SELECT sum(n) > 0 FROM acc WHERE ok",
	"SELECT count(*) >= 1 FROM acc WHERE ok",
	"SELECT count(*) <= 2 FROM acc",
	"SELECT count(v) <= 1 FROM log",
	"SELECT EXISTS (SELECT 1 FROM acc WHERE n > 0)",
	"SELECT EXISTS (SELECT 1 FROM acc) AND (SELECT count(v) FROM log) <= 1",
	"SELECT (SELECT coalesce(sum(n), 0) FROM acc) + "
	"(SELECT coalesce(sum(v), 0) FROM log) = 2",
	"SELECT sum(CASE WHEN ok THEN n ELSE 0 - n END) >= 0 AND count(*) > 1 "
	"FROM acc",
	"SELECT count(*) FILTER (WHERE ok) <= sum(n) FROM acc",
	"SELECT sum(n - 1) >= 0 FROM acc",
};

static struct client_found explore_sql(struct writer *w, const char *functions,
                                       const char *assertion, enum level l,
                                       const char *rows, uint32_t count,
                                       struct text *t)
{
	uint32_t instances = count ? 1 + rng_below(w->r, 3) : 0;
	struct budget budget = limits;
	budget.timeout = 5;
	text_clear(t);
	text_format(t, "setup {\n%s%s%s}\n", sql_tables, functions, rows);
	if (!count) text_string(t, "session s\nstep p { SELECT 1; }\n");
	for (uint32_t i = 0; i < instances; i++) {
		if (!i || one_in(w, 2)) text_format(t, "session s%u\n", i);
		text_format(t, "step p%u { SELECT f%u(%u, %u); }\n", i,
		            rng_below(w->r, count), 1 + rng_below(w->r, 2),
		            rng_below(w->r, 3));
	}
	text_format(t, "isolation %s\nassert { %s }\n", level_word(l),
	            assertion);
	return client_explore_finals("random.sql", t, 1, l, false, &budget);
}

static void explore_sql_clients(struct rng *r, const char *functions,
                                const char *assertion, uint32_t count,
                                enum level l)
{
	struct text t = { 0 }, rows = { 0 };
	struct writer w = { .r = r };
	for (int i = 0; i < CLIENTS; i++) {
		text_clear(&rows);
		for (unsigned id = 1; id < 4; id++)
			if (!one_in(&w, 3))
				text_format(&rows,
				            "INSERT INTO acc VALUES (%u, %u, "
				            "%s);\n",
				            id, rng_below(r, 3),
				            one_in(&w, 2) ? "true" : "false");
		if (one_in(&w, 3))
			text_string(&rows,
			            "INSERT INTO log VALUES (7, 1, 0);\n");
		struct client_found first = explore_sql(
			&w, functions, assertion, l, text_get(&rows), 0, &t);
		bool holds = !first.history && !first.errs;
		history_free(first.history);
		program_free(first.program);
		if (!holds) continue;
		struct client_found found =
			explore_sql(&w, functions, assertion, l,
		                    text_get(&rows), count, &t);
		if (found.history)
			ck_abort_msg("proved at %s, but\n%s", level_word(l),
			             text_get(&t));
	}
	text_free(&rows);
	text_free(&t);
}

static void try_sql(uint64_t seed, struct tally *tally)
{
	static const enum level levels[] = { LEVEL_PRC, LEVEL_PRC, LEVEL_SI,
		                             LEVEL_PC,  LEVEL_CC,  LEVEL_PSI,
		                             LEVEL_RC,  LEVEL_RA,  LEVEL_SER };
	struct rng r = { seed };
	struct text functions = { 0 }, t = { 0 };
	struct writer w = { .r = &r, .t = &functions };
	struct diags d = { 0 };
	struct application app;
	struct invariance found;
	struct prove_options o = { .terms.level = levels[rng_below(&r, 9)],
		                   .timeout = 10 };
	uint32_t count = 1 + rng_below(&r, 2);
	bool totals = one_in(&w, 2), moves = totals && !one_in(&w, 4);
	const char *assertion =
		totals ? PICK(&w, sql_totals) : PICK(&w, sql_assertions);
	if (moves) count -= one_in(&w, 2);
	count += !count;
	for (uint32_t i = 0; i < count; i++) write_function(&w, i, moves);
	text_format(&t, "%s%s%s", sql_tables, totals ? sql_first : "",
	            text_get(&functions));
	struct load_text file = { "random.sql", text_get(&t), t.length };
	struct program *p =
		invariant_load(&app, "random.sql", &file, assertion, NULL, &d);
	if (!p)
		ck_abort_msg("seed %llu: %s\n%s\n%s", (unsigned long long)seed,
		             d.count ? d.items[0].message : "", text_get(&t),
		             assertion);
	prove_invariant(&found, &app, &o);
	tally->proved += found.verdict == VERDICT_HOLDS;
	tally->violated += found.verdict == VERDICT_VIOLATED;
	tally->open += found.verdict == VERDICT_INCONCLUSIVE;
	ck_assert(found.verdict != VERDICT_VIOLATED || found.history);
	if (found.verdict == VERDICT_HOLDS)
		explore_sql_clients(&r, text_get(&functions), assertion, count,
		                    o.terms.level);
	invariance_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
	text_free(&functions);
	text_free(&t);
}

enum { SQL_PROGRAMS = 200, SQL_OF_ALL = 8 };

START_TEST(proved_queries_hold_when_explored)
{
	struct tally tally = { 0 };
	uint64_t seed = process_seed(_i, 1);
	uint64_t count = programs_each(SQL_PROGRAMS,
	                               is_quick() ? SQL_OF_ALL : SQL_PROGRAMS,
	                               PROCESSES);
	for (uint64_t i = 0; i < count; i++) try_sql(seed + i, &tally);
	if (getenv("ISOSCOPE_TALLY"))
		fprintf(stderr, "SQL: proved %u, violated %u, open %u\n",
		        tally.proved, tally.violated, tally.open);
	ck_assert(count < 100 || (tally.proved && tally.violated));
}
END_TEST

/* ---- known programs ---- */

#define BANK "global balance[*] = 10;\n"
#define TAKE(read)                                                     \
	"txn take(a, n) { assume n > 0; let b = " read "balance[a];\n" \
	"if (b >= n) { balance[a] = b - n; } }\n"
#define TAKE_BOTH                                                 \
	"txn take(a, b, n) { assume n > 0; let x = balance[a];\n" \
	"let y = balance[b]; if (x + y >= n) { balance[a] = x - n; } }\n"
#define NONE "finally { assert balance[\"a\"] >= 0; }\n"
#define TOGETHER "finally { assert balance[\"a\"] + balance[\"b\"] >= 0; }\n"

static const struct {
	const char *text;
	enum level level;
	enum verdict verdict;
} known[] = {
	/* What a transaction writes nobody else has written. */
	{ BANK TAKE("") NONE, LEVEL_SER, VERDICT_HOLDS },
	{ BANK TAKE("") NONE, LEVEL_SI, VERDICT_HOLDS },
	{ BANK TAKE("") NONE, LEVEL_PSI, VERDICT_HOLDS },
	/* Two takers: each leaves enough, over any older state. */
	{ BANK TAKE("") NONE, LEVEL_CC, VERDICT_HOLDS },
	{ BANK TAKE("") NONE, LEVEL_PRC, VERDICT_HOLDS },
	{ BANK TAKE("") NONE, LEVEL_RC, VERDICT_HOLDS },
	{ BANK "txn take(a, n) { assume n > 0; if (balance[a] >= n) "
	       "{ atomic balance[a] += 0 - n; } }\n" NONE,
	  LEVEL_PRC, VERDICT_VIOLATED },
	{ BANK "txn take(a, n) { assume n > 0; if (locked balance[a] >= n) "
	       "{ atomic balance[a] += 0 - n; } }\n" NONE,
	  LEVEL_PRC, VERDICT_HOLDS },
	{ BANK "txn take(a, n) { assume n > 0; if (balance[a] >= n) "
	       "{ atomic balance[a] += 0 - n; } }\n" NONE,
	  LEVEL_SI, VERDICT_HOLDS },
	/* Two accounts together: write skew. */
	{ BANK TAKE_BOTH "finally { assert balance[\"a\"] + balance[\"b\"] >= "
	                 "0; }\n",
	  LEVEL_SI, VERDICT_VIOLATED },
	{ BANK "txn take(n) { assume n > 0; let x = balance[\"a\"];\n"
	       "let y = balance[\"b\"]; if (x + y >= n) "
	       "{ balance[\"a\"] = x - n; } }\n" TOGETHER,
	  LEVEL_SER, VERDICT_HOLDS },
	{ BANK "txn take(n) { assume n > 0; let x = balance[\"a\"];\n"
	       "let y = balance[\"b\"]; if (x + y >= n) "
	       "{ balance[\"a\"] = x - n; } }\n" TOGETHER,
	  LEVEL_SI, VERDICT_INCONCLUSIVE },
	{ BANK "txn take(n) { assume n > 0; let x = balance[\"a\"];\n"
	       "let y = balance[\"b\"]; if (x + y >= n) "
	       "{ balance[\"a\"] = x - n; } }\n"
	       "txn other(n) { assume n > 0; let x = balance[\"a\"];\n"
	       "let y = balance[\"b\"]; if (x + y >= n) "
	       "{ balance[\"b\"] = y - n; } }\n" TOGETHER,
	  LEVEL_SI, VERDICT_VIOLATED },
	/* Two keys that are written together. */
	{ "global x = 0;\nglobal y = 0;\ntxn set(v) { x = v; y = v; }\n"
	  "finally { assert x == y; }\n",
	  LEVEL_RA, VERDICT_HOLDS },
	{ "global x = 0;\nglobal y = 0;\ntxn set(v) { x = v; y = v; }\n"
	  "finally { assert x == y; }\n",
	  LEVEL_RC, VERDICT_VIOLATED },
	{ "global x = 0;\nglobal y = 0;\ntxn set(v) { x = v; y = v; }\n"
	  "txn copy() { let v = x; let u = y; assume u == v; }\n"
	  "txn bump() { let v = x; let u = y; x = v + 1; y = u + 1; }\n"
	  "finally { assert x == y; }\n",
	  LEVEL_PRC, VERDICT_VIOLATED },
	{ "global x = 0;\nglobal y = 0;\n"
	  "txn bump() { statement { let v = x; let u = y; x = v + 1; "
	  "y = u + 1; } }\nfinally { assert x == y; }\n",
	  LEVEL_PRC, VERDICT_HOLDS },
	/* True, but not for a reason that one transaction has. */
	{ "global x = 0;\nglobal y = 0;\ntxn one() { x = 1; }\n"
	  "txn two() { if (x == 1) { y = 1; } }\n"
	  "finally { assert y == 0 || x == 1; }\n",
	  LEVEL_CC, VERDICT_INCONCLUSIVE },
	{ "global x = 0;\nglobal y = 0;\ntxn one() { x = 1; }\n"
	  "txn two() { if (x == 1) { y = 1; } }\n"
	  "finally { assert y == 0 || x == 1; }\n",
	  LEVEL_SER, VERDICT_HOLDS },
	/* Any number of keys. */
	{ "global n[*] = 0;\n"
	  "txn all(keys) { for k in keys { n[k] = 1; } }\n"
	  "finally { assert n[0] >= 0; }\n",
	  LEVEL_SER, VERDICT_INCONCLUSIVE },
	/* It fails at first. */
	{ "global x = 0;\ntxn t() { x = 1; }\nfinally { assert x == 1; }\n",
	  LEVEL_SER, VERDICT_VIOLATED },
	{ "global x = \"s\";\ntxn t() { x = 0; }\n"
	  "finally { assert x + 1 >= 1; }\n",
	  LEVEL_SER, VERDICT_INCONCLUSIVE },
	{ "global x = 0;\ntxn t() { x = 1; }\n"
	  "session a { let v = t(); }\nassert a.v == null;\n",
	  LEVEL_SER, VERDICT_INCONCLUSIVE },
	{ "global x = 0;\ntxn t() { x = 1; }\nfinally { assert x >= 0; }\n",
	  LEVEL_NONE, VERDICT_INCONCLUSIVE },
};

START_TEST(known_programs)
{
	struct load_text text = { "known.tx", known[_i].text,
		                  strlen(known[_i].text) };
	struct diags d = { 0 };
	struct application app;
	struct invariance found;
	struct prove_options o = { .terms = { .level = known[_i].level,
		                              .no_errors = _i % 2 } };
	struct program *p =
		invariant_load(&app, "known.tx", &text, NULL, NULL, &d);
	if (!p) ck_abort_msg("%s\n%s", d.items[0].message, known[_i].text);
	o.terms.no_errors = strstr(known[_i].text, "\"s\"") == NULL;
	prove_invariant(&found, &app, &o);
	if (found.verdict != known[_i].verdict)
		ck_abort_msg("%s at %s (%d):\n%s", verdict_word(found.verdict),
		             level_word(known[_i].level), (int)found.obstacle,
		             known[_i].text);
	invariance_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
}
END_TEST

void add_prove_invariant_tests(TCase *tests)
{
	tcase_add_loop_test(tests, known_programs, 0,
	                    sizeof known / sizeof *known);
	tcase_add_loop_test(tests, proved_queries_hold_when_explored, 0,
	                    PROCESSES);
	tcase_add_loop_test(tests, proved_assertions_hold_when_explored, 0,
	                    PROCESSES);
}
