/* Sessions that change a few rows: which go, come again, get other keys, refer
 * to each other. */
#include "random_situation.h"

#include <check.h>
#include <string.h>

#include "base/diag.h"
#include "dpor/known_rows.h"
#include "random_sql.h"
#include "sql/load.h"
#include "support.h"

/* The format with a key for each %. */
static void fill_in(struct text *t, struct rng *r, const char *format)
{
	for (; *format; format++) {
		if (*format == '%')
			text_format(t, "%u", 1 + (unsigned)rng_below(r, 3));
		else
			text_char(t, *format);
	}
	text_string(t, "; ");
}

/* Tables, and what sessions do with them. */
struct situation {
	const char *setup; /* ! stands for what becomes of rows that refer */
	bool calls;        /* functions of several statements */
	const char *changes[16];
};

static const struct situation situations[] = {
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0);\n",
	  false,
	  { "DELETE FROM t WHERE id = %", "DELETE FROM t WHERE id = 1",
	    "INSERT INTO t VALUES (%, 5)", "INSERT INTO t VALUES (1, 6)",
	    "UPDATE t SET id = % WHERE id = %",
	    "UPDATE t SET id = 3 WHERE id = 1",
	    "UPDATE t SET id = 1 WHERE id = 3",
	    "UPDATE t SET n = n + 1 WHERE id = % RETURNING id, n",
	    "UPDATE t SET n = n + 1 WHERE n = 0 AND id < 3 RETURNING id, n",
	    "UPDATE t SET n = n + (SELECT sum(n) FROM t) WHERE id < 3 "
	    "RETURNING id, n, (SELECT count(*) FROM t)",
	    "SELECT id, n FROM t", "SELECT id, n FROM t WHERE id = % FOR SHARE",
	    "SELECT id, n FROM t WHERE id = % FOR UPDATE",
	    "SELECT id, n FROM t WHERE n = 0 FOR UPDATE" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0);\n",
	  false,
	  { "INSERT INTO t VALUES (%, 9) ON CONFLICT DO NOTHING RETURNING id",
	    "INSERT INTO t VALUES (%, 9) ON CONFLICT (id) DO UPDATE SET n = "
	    "t.n + 10 RETURNING id, n",
	    "DELETE FROM t WHERE id = % RETURNING n",
	    "UPDATE t SET id = % WHERE id = %", "INSERT INTO t VALUES (%, 5)",
	    "SELECT id, n FROM t" } },
	{ "  CREATE TABLE u (id int PRIMARY KEY, k int UNIQUE, n int DEFAULT "
	  "0);\n"
	  "  INSERT INTO u VALUES (1, 1), (2, 2);\n",
	  false,
	  { "UPDATE u SET k = % WHERE id = %",
	    "UPDATE u SET id = % WHERE k = % RETURNING id, k",
	    "DELETE FROM u WHERE k = % RETURNING id",
	    "INSERT INTO u VALUES (%, %)",
	    "INSERT INTO u VALUES (%, %) ON CONFLICT (k) DO UPDATE SET n = u.n "
	    "+ 1 RETURNING id, n",
	    "SELECT id, k, n FROM u" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0);\n"
	  "  CREATE TABLE c (id int PRIMARY KEY, t_id int REFERENCES t!);\n"
	  "  INSERT INTO c VALUES (1, 1);\n",
	  false,
	  { "DELETE FROM t WHERE id = %", "INSERT INTO t VALUES (%, 5)",
	    "UPDATE t SET id = % WHERE id = %",
	    "UPDATE t SET n = n + 1 WHERE id = % RETURNING id, n",
	    "INSERT INTO c VALUES (%, %)", "UPDATE c SET t_id = % WHERE id = %",
	    "DELETE FROM c WHERE id = %", "SELECT id, t_id FROM c",
	    "UPDATE c SET id = % WHERE id = %",
	    "INSERT INTO c VALUES (%, %) ON CONFLICT (id) DO UPDATE SET t_id = "
	    "excluded.t_id RETURNING t_id",
	    "DELETE FROM t WHERE NOT EXISTS (SELECT 1 FROM c WHERE t_id = "
	    "t.id) RETURNING id",
	    "SELECT id FROM t WHERE id = % FOR KEY SHARE",
	    "SELECT id, t_id FROM c WHERE id = % FOR KEY SHARE",
	    "DELETE FROM t WHERE id = % RETURNING (SELECT count(*) FROM c)",
	    "DELETE FROM c WHERE t_id = %" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0);\n"
	  "  CREATE TABLE c (id int PRIMARY KEY, t_id int REFERENCES t!);\n"
	  "  INSERT INTO c VALUES (1, 1), (2, 2);\n"
	  "  CREATE FUNCTION del(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    DELETE FROM t WHERE id = k; RETURN 1;\n"
	  "    EXCEPTION WHEN foreign_key_violation THEN RETURN 2; END $$;\n"
	  "  CREATE FUNCTION put(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    UPDATE c SET t_id = k WHERE id = 1; RETURN 1;\n"
	  "    EXCEPTION WHEN foreign_key_violation THEN RETURN 2; END $$;\n",
	  true,
	  { "SELECT del(%)", "SELECT put(%)", "DELETE FROM c WHERE id = %",
	    "SELECT id, t_id FROM c", "INSERT INTO t VALUES (%, 1)",
	    "UPDATE t SET n = n + 1 WHERE id = %" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, up int REFERENCES t!);\n"
	  "  INSERT INTO t VALUES (1, NULL), (2, 1);\n",
	  false,
	  { "DELETE FROM t WHERE id = %", "INSERT INTO t VALUES (%, %)",
	    "UPDATE t SET up = % WHERE id = %",
	    "UPDATE t SET up = NULL WHERE id = % RETURNING id",
	    "UPDATE t SET id = 3 WHERE id = %", "SELECT id, up FROM t",
	    "SELECT id, up FROM t WHERE up = % FOR KEY SHARE",
	    "SELECT id FROM t WHERE id = % FOR NO KEY UPDATE" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int DEFAULT 0);\n"
	  "  CREATE TABLE c (id int PRIMARY KEY, t_id int REFERENCES t!);\n"
	  "  CREATE TABLE d (id int PRIMARY KEY, c_id int REFERENCES c!);\n"
	  "  INSERT INTO t VALUES (1), (2); INSERT INTO c VALUES (1, 1), (2, "
	  "1);\n"
	  "  INSERT INTO d VALUES (1, 1);\n",
	  false,
	  { "DELETE FROM t WHERE id = %", "DELETE FROM t WHERE id = 1",
	    "DELETE FROM c WHERE id = %", "UPDATE c SET t_id = % WHERE id = %",
	    "UPDATE t SET id = 3 WHERE id = %", "INSERT INTO d VALUES (%, %)",
	    "UPDATE d SET c_id = % WHERE id = 1", "SELECT id, c_id FROM d",
	    "SELECT id, t_id FROM c", "UPDATE t SET n = 1 WHERE id = %",
	    "SELECT id, t_id FROM c WHERE id = % FOR SHARE" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0), (3, 1);\n",
	  false,
	  { "SELECT id, n FROM t ORDER BY n DESC, id LIMIT 1 FOR UPDATE",
	    "UPDATE t SET n = t.n + s.n + 1 FROM t s WHERE s.id = t.id + 1 AND "
	    "t.id = % RETURNING t.id, t.n, s.n",
	    "UPDATE t SET n = 5 WHERE id = (SELECT min(id) FROM t WHERE n = 0) "
	    "RETURNING id",
	    "DELETE FROM t USING t s WHERE s.id = t.id + 1 AND s.n > 0 "
	    "RETURNING "
	    "t.id",
	    "SELECT a.id, b.n FROM t a JOIN t b ON b.id = a.id + 1 WHERE a.n = "
	    "0 "
	    "FOR UPDATE OF a",
	    "UPDATE t SET n = % WHERE id = %",
	    "UPDATE t SET n = n + 1 WHERE n = 0",
	    "INSERT INTO t SELECT max(id) + 1, 0 FROM t",
	    "WITH x AS (SELECT id FROM t WHERE n = 0) SELECT id, (SELECT "
	    "sum(n) "
	    "FROM t) FROM x" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, k int UNIQUE, n int DEFAULT "
	  "0);\n"
	  "  INSERT INTO t VALUES (1, 1), (2, 2);\n"
	  "  CREATE TABLE c (id int PRIMARY KEY, k int REFERENCES t (k)!);\n"
	  "  INSERT INTO c VALUES (1, 1);\n",
	  false,
	  { "DELETE FROM t WHERE k = %", "INSERT INTO t VALUES (%, %)",
	    "UPDATE t SET k = % WHERE id = %",
	    "UPDATE t SET id = % WHERE k = %",
	    "UPDATE t SET n = n + 1 WHERE k = % RETURNING id, n",
	    "INSERT INTO c VALUES (%, %)", "UPDATE c SET k = % WHERE id = %",
	    "SELECT id, k FROM c", "SELECT id, k, n FROM t" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, k int, n int);\n"
	  "  CREATE TABLE w (id int PRIMARY KEY, v int);\n"
	  "  INSERT INTO t VALUES (1, 1, 0), (2, 1, 0);\n"
	  "  INSERT INTO w VALUES (1, 10), (2, 20);\n"
	  "  CREATE FUNCTION v_of(k int) RETURNS int LANGUAGE sql STABLE AS "
	  "$$ SELECT v FROM w WHERE id = k $$;\n",
	  false,
	  { "UPDATE t SET k = %", "UPDATE t SET k = % WHERE id = %",
	    "UPDATE w SET v = v + 1 WHERE id = %",
	    "UPDATE t SET n = (SELECT v FROM w WHERE id = t.k) WHERE id = % "
	    "RETURNING k, n",
	    "UPDATE t SET n = 5, k = t.k + 1 WHERE (SELECT v FROM w WHERE id = "
	    "t.k) < 21 RETURNING id, k, (SELECT v FROM w WHERE id = t.k)",
	    "SELECT k, (SELECT v FROM w WHERE id = t.k) FROM t WHERE id = % "
	    "FOR UPDATE",
	    "DELETE FROM t WHERE id = % AND EXISTS (SELECT FROM w WHERE v > 10 "
	    "AND id = k) RETURNING id",
	    "INSERT INTO t VALUES (%, %) ON CONFLICT (id) DO UPDATE SET n = "
	    "(SELECT v FROM w WHERE id = t.k) RETURNING k, n",
	    "UPDATE t SET n = v_of(k) WHERE id = % RETURNING k, n",
	    "UPDATE t SET n = w.v FROM w WHERE w.id = t.k AND t.id = % "
	    "RETURNING k, n",
	    "UPDATE t SET id = % WHERE id = %", "DELETE FROM w WHERE id = %",
	    "SELECT x.k, v FROM (SELECT k FROM t WHERE id = % FOR UPDATE) x "
	    "JOIN w ON w.id = x.k",
	    "SELECT t.id, k, v FROM t JOIN w ON w.id = k FOR UPDATE OF t" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0);\n"
	  "  CREATE FUNCTION put(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    BEGIN INSERT INTO t VALUES (k, 5); RETURN 1;\n"
	  "    EXCEPTION WHEN unique_violation THEN NULL; END;\n"
	  "    UPDATE t SET n = n + 10 WHERE id = k; RETURN 2; END $$;\n"
	  "  CREATE FUNCTION add(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    UPDATE t SET n = n + 1 WHERE id = k;\n"
	  "    RETURN (SELECT sum(n) FROM t); END $$;\n"
	  "  CREATE FUNCTION look(k int) RETURNS int LANGUAGE plpgsql STABLE "
	  "AS "
	  "$$ BEGIN\n"
	  "    RETURN (SELECT sum(n) FROM t WHERE id >= k); END $$;\n"
	  "  CREATE FUNCTION total(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    RETURN 100 * add(k) + 10 * look(1) + (SELECT sum(n) FROM t); "
	  "END "
	  "$$;\n"
	  "  CREATE FUNCTION take(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    UPDATE t SET n = 10 / (n - 1) WHERE id = k; RETURN 1;\n"
	  "    EXCEPTION WHEN division_by_zero THEN RETURN 2; END $$;\n",
	  true,
	  { "SELECT put(%)", "SELECT take(%)", "SELECT total(%)",
	    "SELECT add(%), (SELECT sum(n) FROM t)",
	    "SELECT id, add(id), look(1), (SELECT sum(n) FROM t) FROM t WHERE "
	    "id = %",
	    "UPDATE t SET n = look(1) + 1 WHERE id = % RETURNING id, n",
	    "UPDATE t SET n = n + 1 WHERE id = % RETURNING add(3), look(%)",
	    "DELETE FROM t WHERE id = %", "SELECT look(%)",
	    "INSERT INTO t VALUES (%, 7)" } },
};

static void add_change(struct text *t, struct rng *r,
                       const struct situation *in)
{
	uint32_t count = 0;
	while (in->changes[count]) count++;
	fill_in(t, r, one_of(r, in->changes, count));
}

/* One statement, several at once, between which no schedule of steps can stop,
 * or (true) a block of some steps, of which a savepoint may take some back. */
static bool add_session_steps(struct text *t, struct rng *r,
                              const struct situation *in, unsigned session,
                              bool many)
{
	uint64_t form = rng_below(r, many && session > 1 ? 2 : 8);
	unsigned step = 0;
	bool saves = form > 6;
	if (form > 3) form = 3;
	if (form == 1 || form == 2 || in->calls)
		text_string(t, "# not all seen at prc: several at once\n"
		               "# not all seen at si: several at once\n");
	if (form == 3 && many)
		text_string(t, "# not all seen at prc: a statement would have "
		               "to be held before it locks\n");
	text_format(t, "session s%u\n", session);
	if (form == 3)
		text_format(t, "step b%u { BEGIN; ", session);
	else
		text_format(t, "step a%u { ", session);
	if (saves) text_string(t, "SAVEPOINT p; ");
	for (uint64_t n =
	             1 + (form > 0) + saves + (form == 2 && rng_below(r, 2));
	     n; n--) {
		add_change(t, r, in);
		if (form == 3)
			text_format(t, "}\nstep a%u_%u { ", session, ++step);
		if (saves && n > 1 && rng_below(r, 2))
			text_string(t, "SAVEPOINT p; ");
		else if (saves && n > 1)
			text_format(t, "ROLLBACK TO p; }\nstep a%u_%u { ",
			            session, ++step);
	}
	if (form == 3) text_string(t, "COMMIT; ");
	text_string(t, "}\n");
	return form == 3;
}

bool has_any(const char *text, const char *const *signs)
{
	while (*signs && !strstr(text, *signs)) signs++;
	return *signs != NULL;
}

/* Does a statement read other rows than those that it locks? */
static bool reads_others(const struct text *t)
{
	static const char *const signs[] = { "(SELECT",  "INTO t SELECT",
		                             "FROM t s", "FROM w",
		                             "USING",    "JOIN",
		                             "v_of(k)",  NULL };
	return has_any(text_get(t), signs);
}

/* Does a row come, or get a key? It is looked for beside the snapshot. */
static bool puts_keys(const struct text *t)
{
	static const char *const signs[] = { "INSERT", "SELECT put(", "SET id",
		                             "SET k", NULL };
	return has_any(text_get(t), signs);
}

/* Does a row that others may refer to go? */
static bool looks_for_referring(const struct text *t)
{
	static const char *const signs[] = {
		"DELETE FROM t",   "DELETE FROM c",  "SELECT del(",
		"UPDATE t SET id", "UPDATE t SET k", NULL
	};
	return strstr(text_get(t), "REFERENCES") && has_any(text_get(t), signs);
}

void random_situation(struct text *t, struct rng *r)
{
	static const char *const actions[] = {
		"",
		" ON DELETE CASCADE",
		" ON DELETE SET NULL ON UPDATE CASCADE",
		" ON DELETE RESTRICT ON UPDATE SET NULL",
		" ON DELETE CASCADE ON UPDATE CASCADE",
	};
	const struct situation *in = &situations[rng_below(
		r, sizeof situations / sizeof *situations)];
	bool many = rng_below(r, 3) == 0, blocks = true;
	text_string(t, "# not all seen at ser: it ends more than it must\n");
	text_string(t, "setup {\n");
	for (const char *s = in->setup; *s; s++)
		if (*s == '!')
			text_string(t, ONE_OF(r, actions));
		else
			text_char(t, *s);
	text_string(t, "}\n");
	for (unsigned i = 1; i <= 2 + (unsigned)many; i++)
		blocks &= add_session_steps(t, r, in, i, many);
	/* One that is a step by itself begins and commits while the other one
	 * stands between its snapshot and the lock. */
	if (!blocks && reads_others(t))
		text_string(t, "# not all seen at prc: a statement would have "
		               "to be held before it locks\n");
	/* Another one commits between the snapshot of a statement and its look
	 * at rows that refer, or between its look at one key and at another;
	 * or it begins as well. */
	if (looks_for_referring(t) || strstr(text_get(t), "ON CONFLICT (k)") ||
	    (!blocks && puts_keys(t)))
		text_string(t, "# not all seen at si: a statement would have "
		               "to be held\n");
	/* The manual says what INSERT may do there. */
	static const char *const inserts[] = { "; INSERT", "{ INSERT",
		                               "SELECT put(", NULL };
	if (has_any(text_get(t), inserts))
		text_string(t, "# not all explored at ser: INSERT\n");
	if (looks_for_referring(t))
		text_string(t, "# not all explored at ser: foreign keys\n");
}

/* ---- Rows that are found by conditions ---- */

/* One of `t`, with a key, and `u`, without one; ? is a small number. */
static const char *const row_statements[] = {
	"SELECT v FROM t WHERE id = ?",
	"SELECT id, v FROM t WHERE v > ?",
	"SELECT count(*) FROM u WHERE n = ?",
	"SELECT v FROM t WHERE v = ? FOR UPDATE",
	"SELECT t.v FROM t JOIN u ON t.v = u.n WHERE t.id <= ?",
	"UPDATE t SET v = v + 1 WHERE id = ?",
	"UPDATE t SET v = ? WHERE v = ?",
	"UPDATE t SET v = ?",
	"DELETE FROM t WHERE v = ?",
	"DELETE FROM u WHERE n = ?",
	"INSERT INTO t VALUES (?, ?)",
	"INSERT INTO t VALUES (?, ?) ON CONFLICT DO NOTHING",
	"INSERT INTO u VALUES (?)",
	("INSERT INTO u SELECT v FROM t WHERE v = ? AND NOT EXISTS "
	 "(SELECT 1 FROM u WHERE n = ?)"),
};

static void add_row_statement(struct text *t, struct rng *r)
{
	const uint32_t count = sizeof row_statements / sizeof *row_statements;
	for (const char *s = row_statements[rng_below(r, count)]; *s; s++)
		text_char(t, *s == '?' ? (char)('1' + rng_below(r, 3)) : *s);
	text_string(t, "; ");
}

void random_rows(struct text *t, struct rng *r)
{
	text_string(t, "setup { CREATE TABLE t (id int PRIMARY KEY, v int);\n"
	               "CREATE TABLE u (n int); INSERT INTO u VALUES (1);\n"
	               "INSERT INTO t VALUES (1, 1), (2, 2); }\n");
	for (int i = 0; i < 2; i++) {
		bool together = rng_below(r, 2);
		text_format(t, "session s%d\n", i);
		if (together) text_string(t, "setup { BEGIN; }\n");
		uint32_t steps = 1 + rng_below(r, 2);
		for (uint32_t k = 0; k < steps; k++) {
			text_format(t, "step s%d_%d { ", i, (int)k);
			add_row_statement(t, r);
			text_string(t, "}\n");
		}
		if (together) text_format(t, "step c%d { COMMIT; }\n", i);
	}
}

/* ---- Either ---- */

/* Each BEGIN of the text may ask for a level. */
static void at_levels(struct text *to, const char *text, struct rng *r)
{
	static const char *const levels[] = {
		"", "", " ISOLATION LEVEL READ COMMITTED",
		" ISOLATION LEVEL REPEATABLE READ",
		" ISOLATION LEVEL SERIALIZABLE"
	};
	const char *next;
	for (; (next = strstr(text, "BEGIN;")); text = next) {
		next += strlen("BEGIN");
		text_bytes(to, text, (size_t)(next - text));
		text_string(to, levels[rng_below(r, 5)]);
	}
	text_string(to, text);
}

struct program *random_spec(struct text *out, uint64_t seed)
{
	struct rng r = { seed };
	struct text plain = { 0 };
	struct diags d = { 0 };
	if (seed % 4)
		random_situation(&plain, &r);
	else
		random_rows(&plain, &r);
	if (seed % 3)
		text_string(out, text_get(&plain));
	else
		at_levels(out, text_get(&plain), &r);
	struct program *p = sql_load("random.spec", text_get(out), out->length,
	                             &(struct sql_arguments){ 0 }, &d);
	ck_assert_msg(p != NULL, "%s", text_get(out));
	explorer_know_rows(p, NULL, 0);
	diags_free(&d);
	text_free(&plain);
	return p;
}
