/* Proofs of programs in SQL against exploring: what is proved has no client
 * with an execution that is not serializable, what is violated has one. Most
 * programs are such that each of their accesses matters: one transaction reads
 * what the other changes, and the other way round, each in its own way. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "history/history.h"
#include "lang/source.h"
#include "prove/client.h"
#include "prove/prove.h"
#include "suites.h"
#include "support.h"
#include "vm/program.h"

static const char schema[] =
	"CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, w int);\n"
	"CREATE TABLE u (id int PRIMARY KEY, v int NOT NULL, w int);\n"
	"CREATE TABLE s (id int PRIMARY KEY, v int NOT NULL, w int);\n";
static const char keyed_schema[] =
	"CREATE TABLE u (id int PRIMARY KEY, v int NOT NULL UNIQUE, w int);\n"
	"CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, w int REFERENCES "
	"u);\n"
	"CREATE TABLE s (id int PRIMARY KEY, v int NOT NULL, w int);\n";

/* What others call in FROM: a row by its key, and one by what it holds. */
static const char finders[] =
	"CREATE FUNCTION find_t(k int, OUT i int, OUT n int) LANGUAGE plpgsql "
	"AS $$\nBEGIN\n  SELECT id, v INTO i, n FROM t WHERE id = k;\n"
	"  IF NOT FOUND THEN n := 0; END IF;\nEND $$;\n"
	"CREATE FUNCTION find_u(k int, OUT i int, OUT n int) LANGUAGE plpgsql "
	"AS $$\nDECLARE o int;\nBEGIN\n  SELECT id INTO o FROM u WHERE v = k "
	"ORDER BY id LIMIT 1;\n  SELECT id, w INTO i, n FROM u WHERE id = o;\n"
	"END $$;\n";

struct maker {
	struct rng *r;
	struct text *t;
	bool finds; /* it has the finders */
};

static bool one_in(struct maker *m, uint32_t n)
{
	return !rng_below(m->r, n);
}

/* Mostly one key, so that transactions meet. */
static const char *key(struct maker *m)
{
	static const char *const keys[] = { "1", "1", "1", "a",
		                            "a", "b", "2", "a + 1" };
	return keys[rng_below(m->r, 8)];
}

static const char *number(struct maker *m)
{
	static const char *const numbers[] = { "1", "1", "0", "2", "a", "x" };
	return numbers[rng_below(m->r, 6)];
}

/* Into x: what the transaction makes of the table. */
static void add_read(struct maker *m, const char *table)
{
	struct text *t = m->t;
	if (m->finds && one_in(m, 2)) {
		text_format(
			t,
			one_in(m, 2)
				? "  SELECT f.n INTO x FROM find_%s(%s) f;\n"
				: "  SELECT f.n + q.v INTO x FROM find_%s(%s) "
				  "f JOIN t q ON q.id = f.i;\n",
			table, key(m));
		return;
	}
	switch (rng_below(m->r, 9)) {
	case 0:
	case 1:
		text_format(t, "  SELECT v INTO x FROM %s WHERE id = %s;\n",
		            table, key(m));
		return;
	case 2:
		text_format(t,
		            "  SELECT v INTO x FROM %s WHERE id = %s "
		            "FOR UPDATE;\n",
		            table, key(m));
		return;
	case 3:
		text_format(t,
		            "  SELECT count(*) INTO x FROM %s WHERE v = %s;\n",
		            table, number(m));
		return;
	case 4:
		text_format(t, "  SELECT %s(v) INTO x FROM %s;\n",
		            one_in(m, 2)   ? "max"
		            : one_in(m, 2) ? "min"
		                           : "sum",
		            table);
		return;
	case 5:
		text_format(t,
		            "  SELECT count(*) INTO x FROM %s WHERE id >= "
		            "%s;\n",
		            table, number(m));
		return;
	case 6:
		text_format(t,
		            "  x := (SELECT w FROM %s WHERE v > %s AND NOT "
		            "w = %s LIMIT 1);\n",
		            table, number(m), number(m));
		return;
	case 7:
		text_format(t,
		            "  IF EXISTS (SELECT 1 FROM %s WHERE id = %s) "
		            "THEN x := 1; ELSE x := 0; END IF;\n",
		            table, key(m));
		return;
	default:
		text_format(t,
		            "  SELECT l.v + r.v INTO x FROM %s l JOIN %s r ON "
		            "r.id = l.v WHERE l.id = %s;\n",
		            table, table, key(m));
	}
}

static void add_write(struct maker *m, const char *table)
{
	struct text *t = m->t;
	switch (rng_below(m->r, 9)) {
	case 0:
	case 1:
		text_format(t, "  UPDATE %s SET v = %s WHERE id = %s;\n", table,
		            number(m), key(m));
		return;
	case 2:
		text_format(t, "  UPDATE %s SET v = v + 1 WHERE id = %s;\n",
		            table, key(m));
		return;
	case 3:
		text_format(t, "  UPDATE %s SET w = %s WHERE v = %s;\n", table,
		            number(m), number(m));
		return;
	case 4:
	case 5:
		text_format(t, "  INSERT INTO %s VALUES (%s, %s)%s;\n", table,
		            key(m), number(m),
		            one_in(m, 2)   ? ""
		            : one_in(m, 2) ? " ON CONFLICT DO NOTHING"
		                           : " ON CONFLICT (id) DO UPDATE "
		                             "SET w = excluded.v");
		return;
	case 6:
		text_format(t, "  DELETE FROM %s WHERE id = %s;\n", table,
		            key(m));
		return;
	case 7:
		text_format(t, "  DELETE FROM %s WHERE v = %s;\n", table,
		            number(m));
		return;
	default:
		text_format(t,
		            "  FOR r IN SELECT id, v FROM %s LOOP UPDATE %s "
		            "SET w = x WHERE id = r.id; END LOOP;\n",
		            table, table);
	}
}

static void begin_function(struct maker *m, unsigned i)
{
	text_format(m->t,
	            "CREATE FUNCTION f%u(a int, b int) RETURNS int LANGUAGE "
	            "plpgsql AS $$\nDECLARE x int := 0; r record;\nBEGIN\n",
	            i);
}

static void end_function(struct maker *m)
{
	text_string(m->t, "  RETURN x;\nEND $$;\n");
}

/* It reads one table and then, perhaps, changes the other. */
static void add_step(struct maker *m, const char *from, const char *to)
{
	static const char *const conditions[] = { "x = 0",     "x = 1",
		                                  "x IS NULL", "NOT x > 0",
		                                  "x >= 1",    "FOUND" };
	bool guarded = one_in(m, 2);
	add_read(m, from);
	if (guarded)
		text_format(m->t, "  IF %s THEN\n",
		            conditions[rng_below(m->r, 6)]);
	add_write(m, to);
	if (guarded) text_string(m->t, "  END IF;\n");
}

static unsigned add_functions(struct maker *m)
{
	static const char *const tables[] = { "t", "u" };
	unsigned count = 1 + rng_below(m->r, 2);
	bool crossed = one_in(m, 2);
	m->finds = one_in(m, 3);
	if (m->finds) text_string(m->t, finders);
	for (unsigned i = 0; i < count; i++) {
		const char *one = tables[crossed ? i : 0];
		const char *other = tables[crossed ? 1 - i : 0];
		begin_function(m, i);
		uint32_t shape = rng_below(m->r, 10);
		if (shape < 7)
			add_step(m, one, other);
		else if (shape < 8)
			add_write(m, other);
		else if (shape < 9)
			add_read(m, one);
		else
			for (int k = 0; k < 2; k++)
				add_step(m, tables[rng_below(m->r, 2)],
				         tables[rng_below(m->r, 2)]);
		end_function(m);
	}
	return count;
}

/* ---- clients ---- */

enum { CLIENTS = 10 };

static void add_rows(struct maker *m, const char *table)
{
	for (int id = 0; id < 3; id++)
		if (one_in(m, 2))
			text_format(
				m->t,
				"INSERT INTO %s VALUES (%d, %u, %s) ON "
				"CONFLICT DO NOTHING;\n",
				table, id, rng_below(m->r, 3),
				one_in(m, 3)
					? "NULL"
					: "(SELECT id FROM u WHERE id = 1)");
}

/* explore lets an INSERT that goes on where a row is in its way look for the
 * row before it locks its key, so that of a row that it finds it keeps nothing.
 * What comes and goes between the look and the lock is no dependency. */
static void forget_looks(struct transaction *t)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < t->event_count; i++) {
		struct event *e = &t->events[i];
		bool looks = i + 1 < t->event_count && e->kind == EVENT_READ &&
		             e[1].kind == EVENT_READ && e[1].joined &&
		             e[1].key == e->key && e[1].from != e->from &&
		             e->value.tag == VALUE_NULL &&
		             e[1].value.tag == VALUE_NULL &&
		             e->strength < STRENGTH_SHARE &&
		             e[1].strength == STRENGTH_UPDATE;
		if (looks) e[1].joined = e->joined;
		if (!looks) t->events[count++] = *e;
	}
	t->event_count = count;
}

static bool is_serial(struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		forget_looks(&h->transactions[t]);
	return level_allows_history(LEVEL_SERIAL, h);
}

static void explore_one(struct maker *m, const char *tables,
                        const char *functions, unsigned count,
                        const struct prove_options *o)
{
	struct budget budget = { .timeout = 5, .max_histories = 400 };
	struct text t = { 0 };
	struct maker w = { .r = m->r, .t = &t };
	uint32_t instances = 2 + rng_below(m->r, 2), session = 0;
	text_format(&t, "isolation %s\nsetup {\n%s%s",
	            level_word(o->terms.level), tables, functions);
	add_rows(&w, "u");
	add_rows(&w, "t");
	text_string(&t, "}\n");
	for (uint32_t i = 0; i < instances; i++) {
		if (!i || o->terms.one_each || one_in(&w, 2))
			text_format(&t, "session s%u\n", session++);
		text_format(&t, "step p%u { SELECT f%u(%u, %u); }\n", i,
		            rng_below(m->r, count), rng_below(m->r, 3),
		            rng_below(m->r, 3));
	}
	struct client_found found =
		client_explore("random.sql", &t, o->terms.level, &budget);
	if (found.history && !is_serial(found.history))
		ck_abort_msg(
			"proved at %s%s, but\n%s", level_word(o->terms.level),
			o->terms.one_each ? " (one each)" : "", text_get(&t));
	history_free(found.history);
	program_free(found.program);
	ck_assert(found.histories || !found.complete);
	text_free(&t);
}

struct tally {
	unsigned proved, violated, open;
};

static void try_program(uint64_t seed, struct tally *tally)
{
	struct rng r = { seed };
	struct text functions = { 0 }, text = { 0 };
	struct maker m = { .r = &r, .t = &functions };
	struct diags d = { 0 };
	struct application app;
	struct proof found;
	static const enum level levels[] = { LEVEL_PRC, LEVEL_SI, LEVEL_SI,
		                             LEVEL_PC,  LEVEL_CC, LEVEL_PSI,
		                             LEVEL_RC,  LEVEL_RA, LEVEL_SER };
	struct prove_options o = { .terms.level = levels[rng_below(&r, 9)],
		                   .terms.one_each = one_in(&m, 2),
		                   .max_length = 3,
		                   .timeout = 2 };
	unsigned count = add_functions(&m);
	const char *tables = one_in(&m, 3) ? keyed_schema : schema;
	text_format(&text, "%s%s", tables, text_get(&functions));
	struct load_text file = { "random.sql", text_get(&text), text.length };
	struct program *p = prove_load(&app, "random.sql", &file, &d);
	if (!p)
		ck_abort_msg("seed %llu: %s\n%s", (unsigned long long)seed,
		             d.count ? d.items[0].message : "",
		             text_get(&text));
	prove(&found, &app, &o);
	ck_assert(found.verdict != VERDICT_VIOLATED || found.history);
	tally->proved += found.verdict == VERDICT_HOLDS;
	tally->violated += found.verdict == VERDICT_VIOLATED;
	tally->open += found.verdict == VERDICT_INCONCLUSIVE;
	for (int i = 0; i < CLIENTS && found.verdict == VERDICT_HOLDS; i++)
		explore_one(&m, tables, text_get(&functions), count, &o);
	prove_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
	text_free(&functions);
	text_free(&text);
}

/* ---- transactions of specifications ---- */

enum { SPEC_STEPS = 5 };

/* The SQL of each step. */
struct made {
	struct text steps[SPEC_STEPS];
	unsigned count;
};

static void add_spec_statement(struct maker *m)
{
	static const char *const reads[] = {
		"SELECT v FROM %s WHERE id = 1;",
		"SELECT v FROM %s WHERE id = 2;",
		"SELECT v FROM %s WHERE id = 1 FOR UPDATE;",
		"SELECT count(*) FROM %s WHERE v = 1;", "SELECT max(v) FROM %s;"
	};
	static const char *const writes[] = {
		"UPDATE %s SET v = v + 1 WHERE id = 1;",
		"UPDATE %s SET v = 1 WHERE id = 2;",
		"UPDATE %s SET v = 1 WHERE v = 0;",
		"INSERT INTO %s VALUES (1, 1);",
		"INSERT INTO %s VALUES (2, 0) ON CONFLICT DO NOTHING;",
		"DELETE FROM %s WHERE id = 1;",
		("UPDATE %1$s SET v = 2 WHERE id = 1 AND 1 <= (SELECT "
		 "count(*) FROM %2$s);")
	};
	const char *table = one_in(m, 2) ? "t" : "u";
	const char *format = one_in(m, 2) ? reads[rng_below(m->r, 5)]
	                                  : writes[rng_below(m->r, 7)];
	text_format(m->t, format, table, one_in(m, 2) ? "t" : "u");
	text_char(m->t, ' ');
}

static struct maker into(struct maker *m, struct made *x)
{
	assert(x->count < SPEC_STEPS);
	return (struct maker){ .r = m->r, .t = &x->steps[x->count++] };
}

/* A step is a transaction, or several are by BEGIN. */
static void make_transaction(struct maker *m, struct made *x)
{
	static const char *const begins[] = {
		"BEGIN;",
		"BEGIN;",
		"BEGIN;",
		"BEGIN ISOLATION LEVEL REPEATABLE READ;",
		"BEGIN ISOLATION LEVEL READ COMMITTED; ",
		"BEGIN; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;",
		"BEGIN ISOLATION LEVEL SERIALIZABLE;",
		"BEGIN ISOLATION LEVEL SERIALIZABLE;"
	};
	const uint32_t kinds = sizeof begins / sizeof *begins;
	static const char *const ends[] = { "COMMIT;", "COMMIT;", "COMMIT;",
		                            "ROLLBACK;" };
	struct maker step;
	bool block = one_in(m, 2);
	uint32_t count = 1 + rng_below(m->r, 3);
	*x = (struct made){ .count = 0 };
	if (!block || one_in(m, 3)) step = into(m, x);
	if (block && !x->count) {
		step = into(m, x);
		text_string(step.t, begins[rng_below(m->r, kinds)]);
	} else if (block) {
		text_format(step.t, "%s ", begins[rng_below(m->r, kinds)]);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (block && i && one_in(m, 2)) step = into(m, x);
		add_spec_statement(&step);
	}
	if (!block) return;
	step = into(m, x);
	text_string(step.t, ends[rng_below(m->r, 4)]);
}

static void print_made(struct text *t, const struct made *x, const char *name,
                       uint32_t number)
{
	for (unsigned i = 0; i < x->count; i++)
		text_format(t, "step %s%u_%u { %s }\n", name, number, i,
		            text_get((struct text *)&x->steps[i]));
}

static void begin_spec(struct text *t, enum level level)
{
	text_format(t, "isolation %s\nsetup {\n%s}\n", level_word(level),
	            schema);
}

static void explore_made(struct maker *m, const struct made *all,
                         unsigned count, const struct prove_options *o)
{
	struct budget budget = { .timeout = 5, .max_histories = 400 };
	struct text t = { 0 };
	struct maker w = { .r = m->r, .t = &t };
	uint32_t instances = 2 + rng_below(m->r, 3), session = 0;
	begin_spec(&t, o->terms.level);
	text_string(&t, "setup {\n");
	add_rows(&w, "u");
	add_rows(&w, "t");
	text_string(&t, "}\n");
	for (uint32_t i = 0; i < instances; i++) {
		if (!i || o->terms.one_each || one_in(&w, 2))
			text_format(&t, "session s%u\n", session++);
		print_made(&t, &all[rng_below(m->r, count)], "p", i);
	}
	struct client_found found =
		client_explore("random.spec", &t, o->terms.level, &budget);
	if (found.history && !is_serial(found.history))
		ck_abort_msg(
			"proved at %s%s, but\n%s", level_word(o->terms.level),
			o->terms.one_each ? " (one each)" : "", text_get(&t));
	history_free(found.history);
	program_free(found.program);
	ck_assert(found.histories || !found.complete);
	text_free(&t);
}

static void try_spec(uint64_t seed, struct tally *tally)
{
	static const enum level levels[] = { LEVEL_PRC, LEVEL_PRC, LEVEL_SI,
		                             LEVEL_SI,  LEVEL_SER, LEVEL_RC,
		                             LEVEL_CC,  LEVEL_PC };
	struct rng r = { seed };
	struct text text = { 0 };
	struct maker m = { .r = &r };
	struct diags d = { 0 };
	struct application app;
	struct proof found;
	struct made all[3];
	struct prove_options o = { .terms.level = levels[rng_below(&r, 8)],
		                   .terms.one_each = one_in(&m, 2),
		                   .max_length = 3,
		                   .timeout = 2 };
	unsigned count = 1 + rng_below(&r, 3);
	begin_spec(&text, o.terms.level);
	for (unsigned i = 0; i < count; i++) {
		make_transaction(&m, &all[i]);
		if (!i || one_in(&m, 2)) text_format(&text, "session s%u\n", i);
		print_made(&text, &all[i], "f", i);
	}
	struct load_text file = { "random.spec", text_get(&text), text.length };
	struct program *p = prove_load(&app, "random.spec", &file, &d);
	if (!p)
		ck_abort_msg("seed %llu: %s\n%s", (unsigned long long)seed,
		             d.count ? d.items[0].message : "",
		             text_get(&text));
	ck_assert_uint_eq(app.summary_count, count);
	/* What all ask for is the program's. */
	o.terms.level = level_from_word(program_isolation(p));
	prove(&found, &app, &o);
	ck_assert(found.verdict != VERDICT_VIOLATED || found.history);
	tally->proved += found.verdict == VERDICT_HOLDS;
	tally->violated += found.verdict == VERDICT_VIOLATED;
	tally->open += found.verdict == VERDICT_INCONCLUSIVE;
	for (int i = 0; i < CLIENTS && found.verdict == VERDICT_HOLDS; i++)
		explore_made(&m, all, count, &o);
	prove_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
	text_free(&text);
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < all[i].count; k++)
			text_free(&all[i].steps[k]);
}

/* ---- what is known ---- */

/* Bodies of functions f0, f1 .., and at each level whether they are
 * serializable. Where they are, calls with these arguments are explored. */
struct known {
	const char *bodies[2];
	enum level level;
	bool serializable, keyed, one_each;
};

/* The first reads what the second has changed before. */
#define FIRST                                                             \
	"UPDATE s SET v = 0 WHERE id = 1; IF FOUND THEN SELECT v INTO x " \
	"FROM s WHERE id = 2; "
#define SECOND "UPDATE s SET v = 3 WHERE id = 2; IF FOUND THEN "

#define COUNTS                                                      \
	"SELECT count(*) INTO x FROM t WHERE v = 1; IF x = 0 THEN " \
	"INSERT INTO t VALUES (a, 1); END IF;"
#define LOOKS "SELECT q.v INTO x FROM find_u(a) f JOIN t q ON q.id = f.i; "
#define ADDS                                                          \
	"SELECT f.n INTO x FROM find_t(a) f; UPDATE t SET v = x + 1 " \
	"WHERE id = a;"
#define MOVES "SELECT f.n INTO x FROM find_u(a) f; UPDATE t SET v = x;"
#define WRITES LOOKS "UPDATE u SET v = x WHERE id = b;"

/* Each of one thing that a row, a scan, a guard, a lock or a moment does: what
 * forgets it proves too much. */
static const struct known all_known[] = {
	/* Each reads what the other changes: a row, */
	{ { "SELECT v INTO x FROM t WHERE id = a; IF x = 1 THEN UPDATE t SET v "
	    "= 0 WHERE id = b; END IF;" },
	  LEVEL_SI,
	  false,
	  false,
	  false },
	/* one that is not there, */
	{ { "IF NOT EXISTS (SELECT 1 FROM u WHERE id = 1) THEN INSERT INTO t "
	    "VALUES (1, 0); END IF;",
	    "IF NOT EXISTS (SELECT 1 FROM t WHERE id = 1) THEN INSERT INTO u "
	    "VALUES (1, 0); END IF;" },
	  LEVEL_SI,
	  false,
	  false,
	  false },
	{ { "x := (SELECT v FROM u WHERE id = 1); INSERT INTO t VALUES (1, 0) "
	    "ON CONFLICT DO NOTHING;",
	    "x := (SELECT v FROM t WHERE id = 1); INSERT INTO u VALUES (1, 0) "
	    "ON CONFLICT DO NOTHING;" },
	  LEVEL_SI,
	  false,
	  false,
	  false },
	/* one that goes, */
	{ { "IF EXISTS (SELECT 1 FROM u WHERE id = 1) THEN DELETE FROM t WHERE "
	    "id = 1; END IF;",
	    "IF EXISTS (SELECT 1 FROM t WHERE id = 1) THEN DELETE FROM u WHERE "
	    "id = 1; END IF;" },
	  LEVEL_SI,
	  false,
	  false,
	  false },
	/* those that a condition finds. */
	{ { COUNTS }, LEVEL_SI, false, false, false },
	{ { COUNTS }, LEVEL_SER, true, false, false },
	{ { "SELECT count(*) INTO x FROM t; IF x >= 2 THEN DELETE FROM t WHERE "
	    "id = a; END IF;" },
	  LEVEL_SI,
	  false,
	  false,
	  false },
	{ { "UPDATE t SET v = 1 WHERE v = 0;",
	    "UPDATE t SET v = 0 WHERE v = 1;" },
	  LEVEL_SI,
	  false,
	  false,
	  false },
	{ { "FOR r IN SELECT id, v FROM u LOOP UPDATE t SET v = r.v WHERE id = "
	    "r.id; END LOOP;",
	    "FOR r IN SELECT id, v FROM t LOOP UPDATE u SET v = r.v WHERE id = "
	    "r.id; END LOOP;" },
	  LEVEL_PRC,
	  false,
	  false,
	  false },
	/* What all change keeps them apart, where they do change it. */
	{ { "UPDATE u SET v = 1 WHERE id = 1; IF FOUND THEN SELECT v INTO x "
	    "FROM t WHERE id = a; UPDATE t SET v = x WHERE id = b; END IF;" },
	  LEVEL_SI,
	  true,
	  false,
	  false },
	{ { "SELECT v INTO x FROM t WHERE id = a; IF x = 0 THEN UPDATE u SET v "
	    "= 1 WHERE id = 1; END IF; UPDATE t SET v = 1 WHERE id = b;" },
	  LEVEL_SI,
	  false,
	  false,
	  false },
	/* A lock is no change: whoever comes behind it goes on. */
	{ { "SELECT v INTO x FROM t WHERE id = 1 FOR UPDATE; UPDATE u SET v = "
	    "x WHERE id = 1;",
	    "SELECT v INTO x FROM u WHERE id = 1; UPDATE t SET v = x WHERE id "
	    "= 1;" },
	  LEVEL_SI,
	  false,
	  false,
	  false },
	{ { "SELECT v INTO x FROM t WHERE id = 1 FOR UPDATE; UPDATE u SET v = "
	    "x WHERE id = 1;",
	    "SELECT v INTO x FROM u WHERE id = 1 FOR UPDATE; UPDATE t SET v = "
	    "x WHERE id = 1;" },
	  LEVEL_SI,
	  true,
	  false,
	  false },
	{ { "SELECT v INTO x FROM t WHERE id = 1; UPDATE t SET v = x + 1 WHERE "
	    "id = 1;" },
	  LEVEL_PRC,
	  false,
	  false,
	  false },
	{ { "SELECT v INTO x FROM t WHERE id = 1; UPDATE t SET v = x + 1 WHERE "
	    "id = 1;" },
	  LEVEL_SI,
	  true,
	  false,
	  false },
	/* Statements have snapshots of their own, or the transaction has one.
	 */
	{ { "INSERT INTO t VALUES (1, 0) ON CONFLICT DO NOTHING;",
	    "SELECT v INTO x FROM t WHERE id = 1; SELECT v INTO x FROM t WHERE "
	    "id = 1;" },
	  LEVEL_PRC,
	  false,
	  false,
	  false },
	{ { "INSERT INTO t VALUES (1, 0) ON CONFLICT DO NOTHING;",
	    "SELECT v INTO x FROM t WHERE id = 1; SELECT v INTO x FROM t WHERE "
	    "id = 1;" },
	  LEVEL_SI,
	  true,
	  false,
	  false },
	{ { "INSERT INTO t VALUES (a, 1);",
	    "SELECT count(*) INTO x FROM t; SELECT count(*) INTO x FROM t;" },
	  LEVEL_PRC,
	  false,
	  false,
	  false },
	/* Keys, entries and rows that refer are looked at beside the snapshot.
	 */
	{ { "SELECT v INTO x FROM t WHERE id = 1; INSERT INTO u VALUES (1, 0);",
	    "UPDATE t SET v = 3 WHERE id = 1; DELETE FROM u WHERE id = 1; IF "
	    "NOT FOUND THEN RAISE EXCEPTION 'gone'; END IF;" },
	  LEVEL_SI,
	  false,
	  false,
	  false },
	/* A row that nobody makes is locked by nobody. */
	{ { "UPDATE s SET v = v + 1 WHERE id = 1; UPDATE t SET v = 1 WHERE v = "
	    "0;" },
	  LEVEL_PRC,
	  false,
	  false,
	  true },
	/* From here on each has a lock that keeps it from others of its kind,
	 * and nobody aborts: all that leads back is what is looked at beside
	 * the snapshot. A row in the way of a new one, */
	{ { FIRST "INSERT INTO u VALUES (1, 0) ON CONFLICT DO NOTHING; END IF;",
	    SECOND "INSERT INTO u VALUES (1, 0); END IF;" },
	  LEVEL_PRC,
	  false,
	  false,
	  false },
	/* the row that a new one refers to, */
	{ { FIRST "INSERT INTO t VALUES (1, 1, 1); END IF;",
	    SECOND "INSERT INTO u VALUES (1, 1); END IF;" },
	  LEVEL_PRC,
	  false,
	  true,
	  false },
	/* rows that refer to one that goes, */
	{ { FIRST "DELETE FROM u WHERE id = 1; END IF;",
	    SECOND "DELETE FROM t WHERE id = 1; END IF;" },
	  LEVEL_PRC,
	  false,
	  true,
	  true },
	/* an entry that went. */
	{ { FIRST "INSERT INTO u VALUES (2, 5); END IF;",
	    SECOND "DELETE FROM u WHERE id = 1; END IF;" },
	  LEVEL_PRC,
	  false,
	  true,
	  true },
	/* A row that a function finds. */
	{ { ADDS, LOOKS }, LEVEL_SI, true, false, true },
	{ { ADDS, LOOKS }, LEVEL_PRC, false, false, true },
	{ { WRITES, MOVES }, LEVEL_SI, false, false, true },
};

static unsigned add_known(struct text *t, const struct known *k)
{
	struct maker m = { .t = t };
	unsigned count = 0;
	if (strstr(k->bodies[0], "find_")) text_string(t, finders);
	for (; count < 2 && k->bodies[count]; count++) {
		begin_function(&m, count);
		text_string(t, k->bodies[count]);
		end_function(&m);
	}
	return count;
}

START_TEST(what_is_known)
{
	const struct known *k = &all_known[_i];
	struct rng r = { process_seed(_i, 1) };
	struct text functions = { 0 }, text = { 0 };
	struct maker m = { .r = &r, .t = &functions };
	struct diags d = { 0 };
	struct application app;
	struct proof found;
	struct prove_options o = { .terms.level = k->level,
		                   .terms.one_each = k->one_each,
		                   .max_length = 4 };
	unsigned count = add_known(&functions, k);
	const char *tables = k->keyed ? keyed_schema : schema;
	text_format(&text, "%s%s", tables, text_get(&functions));
	struct load_text file = { "known.sql", text_get(&text), text.length };
	struct program *p = prove_load(&app, "known.sql", &file, &d);
	ck_assert(p && !app.uncovered_count);
	prove(&found, &app, &o);
	if (found.verdict !=
	    (k->serializable ? VERDICT_HOLDS : VERDICT_VIOLATED))
		ck_abort_msg("%s: %d\n%s", level_word(k->level), found.verdict,
		             text_get(&functions));
	ck_assert(!found.history == k->serializable);
	for (int i = 0; i < CLIENTS && k->serializable; i++)
		explore_one(&m, tables, text_get(&functions), count, &o);
	prove_free(&found);
	program_free(p);
	application_free(&app);
	diags_free(&d);
	text_free(&functions);
	text_free(&text);
}
END_TEST

/* ---- at random ---- */

enum { PROGRAMS = 40, OF_ALL = 4, PROCESSES = 2 };

static void try_all(uint64_t seed,
                    void (*try)(uint64_t seed, struct tally *tally))
{
	struct tally tally = { 0 };
	uint64_t count = programs_each(PROGRAMS, OF_ALL, PROCESSES);
	for (uint64_t i = 0; i < count; i++) try(seed + i, &tally);
	if (getenv("ISOSCOPE_TALLY"))
		fprintf(stderr, "proved %u, violated %u, open %u\n",
		        tally.proved, tally.violated, tally.open);
	ck_assert(count < 100 || (tally.proved && tally.violated));
}

START_TEST(proofs_of_sql_hold_when_explored)
{
	try_all(process_seed(_i, 0), try_program);
}
END_TEST

START_TEST(proofs_of_specifications_hold_when_explored)
{
	try_all(process_seed(_i, 2), try_spec);
}
END_TEST

void add_prove_sql_tests(TCase *tests)
{
	tcase_add_loop_test(tests, what_is_known, 0,
	                    sizeof all_known / sizeof *all_known);
	tcase_add_loop_test(tests, proofs_of_sql_hold_when_explored, 0,
	                    PROCESSES);
	tcase_add_loop_test(tests, proofs_of_specifications_hold_when_explored,
	                    0, PROCESSES);
}
