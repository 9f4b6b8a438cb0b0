/* What of SQL is supported, one statement each, as a private PostgreSQL 15
 * carries it out: the same rows, names and types of columns, the same errors.
 * And what is not: refused, with its place and what can be written instead. */
#include <string.h>

#include "base/memory.h"
#include "sql_server.h"
#include "suites.h"
#include "support.h"

/* In their order: later ones see what those before them did. */
static const char *const supported[] = {
	/* ---- the schema ---- */
	"CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
	"CREATE SEQUENCE numbers START WITH 5 INCREMENT BY 2",
	"CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL DEFAULT 7, s text, "
	"m mood, CHECK (n < 100), UNIQUE (s, n))",
	"CREATE TABLE u (a serial PRIMARY KEY, t_id int REFERENCES t ON DELETE "
	"CASCADE, b numeric(6,2), c bigint GENERATED ALWAYS AS IDENTITY, d int "
	"GENERATED ALWAYS AS (t_id * 2) STORED)",
	"CREATE TABLE log (what text, who text)",
	"CREATE UNIQUE INDEX u_b ON u (b)",
	"CREATE VIEW v AS SELECT id, n FROM t WHERE n > 1",
	"ALTER TABLE log ADD CONSTRAINT named CHECK (what <> '')",
	"TRUNCATE log",
	/* ---- INSERT ---- */
	"INSERT INTO t VALUES (1, 10, 'a', 'ok'), (2, DEFAULT, 'b', NULL)",
	"INSERT INTO t (id, s) SELECT 3, 'c'",
	"INSERT INTO t VALUES (1, 1, 'x', 'sad')",
	"INSERT INTO t VALUES (9, 100, 'x', 'sad')",
	"INSERT INTO t VALUES (9, NULL, 'x', 'sad')",
	"INSERT INTO t VALUES (9, 10, 'a', 'sad')",
	"INSERT INTO t VALUES (9, 10, 'q', 'glad')",
	"INSERT INTO t VALUES (3, 1) ON CONFLICT DO NOTHING",
	"INSERT INTO t VALUES (3, 1) ON CONFLICT (id) DO UPDATE SET n = "
	"t.n + excluded.n WHERE t.n < 50 RETURNING id, n AS now",
	"INSERT INTO t VALUES (3, 1) ON CONFLICT (id) DO UPDATE SET (n, s) = "
	"(SELECT excluded.n + 1, 'd') RETURNING *",
	"INSERT INTO u (t_id, b) VALUES (1, 1.005), (2, 2.5) RETURNING *",
	"INSERT INTO u (t_id) VALUES (77)",
	"INSERT INTO u DEFAULT VALUES RETURNING t_id, d",
	/* ---- UPDATE and DELETE ---- */
	"UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n",
	"UPDATE t SET (n, s) = (5, 'e') WHERE id = 2 RETURNING *",
	"UPDATE t SET (n, m) = (SELECT 6, 'happy'::mood) WHERE id = 2 "
	"RETURNING *",
	"UPDATE t SET (n, m) = (SELECT u.d, NULL::mood FROM u WHERE u.t_id = "
	"t.id) WHERE id = 2 RETURNING *",
	"UPDATE t SET (n, m) = (SELECT id, 'ok'::mood FROM t) WHERE id = 2",
	"UPDATE t SET (s, m) = (SELECT 'x', 'ok'::mood WHERE false) WHERE id = "
	"2 RETURNING *",
	"UPDATE u SET b = t.n FROM t WHERE t.id = u.t_id AND t.id = 1 "
	"RETURNING b, t.s",
	"DELETE FROM u USING t WHERE u.t_id = t.id AND t.n = 4 RETURNING u.a",
	"DELETE FROM t WHERE id = 3 RETURNING *",
	/* ---- types ---- */
	"SELECT 1::smallint AS a, 2::int, 3::bigint, 4.50, 5::numeric(5,2), "
	"true, 'x'::text, 'abcd'::varchar(3), 'ab'::char(3)",
	"SELECT '2024-02-29'::date, '2024-02-29 10:00'::timestamp, "
	"'2024-02-29 10:00+02'::timestamptz, '1 day 02:00'::interval, "
	"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, 'ok'::mood",
	"SELECT '{1,2}'::int[], ARRAY['a', NULL], '{ok,sad}'::mood[]",
	"SELECT 'x'::int",
	"SELECT 40000::smallint",
	"SELECT 'glad'::mood",
	"SELECT CASE WHEN true THEN 1 ELSE 'x'::text::int END, CASE 1 WHEN 1 "
	"THEN 2 END::bigint, (SELECT 1 AS z), (SELECT max(n) FROM t)::int, "
	"EXISTS (SELECT 1), -id, (s || 'x')::varchar(3), NULLIF(1, 2) FROM t "
	"WHERE false",
	/* ---- expressions ---- */
	"SELECT NULL = NULL, NULL IS NULL, NOT NULL::bool, NULL AND false, "
	"NULL OR true",
	"SELECT 7 / 2, -7 / 2, 7 % 3, 7.0 / 2, 1 / 3.0, 2 * 3 - 1",
	"SELECT 1 / 0",
	"SELECT 2147483647 + 1",
	"SELECT 2.0 ^ 3, 2 ^ 0.0, 2.5 ^ -2, (-2.0) ^ 3, 0.0 ^ 0, 1.5 ^ 1",
	"SELECT power(1.05, 12), pow(10.00, 4), power(100.0, 2), "
	"power(0.001, 3), power(7.123456789012345678901, 2)",
	"SELECT power(3::numeric, -3), 0.5 ^ 17, 123456.789 ^ 5, "
	"0.00012 ^ 3, 1.0 ^ 100",
	"SELECT 0.0 ^ -1",
	"SELECT (-2.0) ^ 0.5",
	"SELECT sqrt(2.0), sqrt(0.0), sqrt(100.00), sqrt(123456789.0), "
	"sqrt(0.0004), sqrt(12345678901234567890.123), sqrt(0.25)",
	"SELECT sqrt(-1.0)",
	"SELECT power(10.0, 200000)",
	"SELECT sqrt(n::numeric), n::numeric ^ 2 FROM t ORDER BY id",
	"SELECT n BETWEEN 1 AND 10, n IN (1, 6), s LIKE '_', s ILIKE 'A%', "
	"n IS DISTINCT FROM 6, s IS NOT NULL FROM t ORDER BY id",
	"SELECT CASE WHEN n > 6 THEN 'much' ELSE s END, COALESCE(m, 'sad'), "
	"NULLIF(n, 6), GREATEST(n, 8), LEAST(n, 8.5) FROM t ORDER BY id",
	"SELECT 1 = ANY (ARRAY[1, 2]), 3 <> ALL ('{1,2}'::int[]), "
	"(ARRAY[5, 6])[2], (ARRAY[5, 6])[3], cardinality(ARRAY[1, 2]), "
	"array_length(ARRAY[1], 1)",
	"SELECT abs(-3), mod(7, 4), sign(-2.5), round(2.5), trunc(2.55, 1), "
	"ceil(1.1), floor(-1.1), 6 & 3, 6 | 1, 6 # 3, ~1, 1 << 4, 16 >> 2",
	"SELECT length('ab'), lower('A'), upper('a'), initcap('ab cd'), "
	"substring('abc' FROM 2 FOR 1), position('b' IN 'abc'), trim(' a '), "
	"replace('aba', 'a', 'c'), left('abc', 2), right('abc', 2), "
	"lpad('a', 3), rpad('a', 3, 'x'), repeat('ab', 2), reverse('ab'), "
	"split_part('a,b', ',', 2), starts_with('abc', 'ab'), "
	"concat('a', 1, NULL), concat_ws('-', 'a', NULL, 'b'), "
	"format('%s %I %L', 1, 'a b', 'c'), 'a' || 1, md5('a'), to_hex(255)",
	"SELECT extract(year FROM date '2024-02-29'), date_trunc('month', "
	"timestamp '2024-02-29 10:00'), date '2024-02-29' + 1, date "
	"'2024-03-01' - date '2024-02-29', timestamp '2024-01-31' + interval "
	"'1 month'",
	"SELECT nextval('numbers'), nextval('numbers')",
	"SELECT currval('numbers'), lastval()",
	/* ---- rows of values ---- */
	"SELECT (1, 2) = (1, 2), (1, NULL) = (2, 3), (1, NULL) = (1, 3), "
	"(1, 2) < (1, 3), (1, 'a') IN ((1, 'a'), (2, 'b'))",
	"SELECT (1, 2) = (SELECT 1, 2), (1, 2) < (SELECT 1, 3), (1, 2) = "
	"(SELECT 1, NULL::int), (1, 2) <> (SELECT 2, 2 WHERE false)",
	"SELECT id, (n, s) = (SELECT x.n, x.s FROM t x WHERE x.id = t.id), "
	"(id, n) >= (SELECT max(x.id), min(x.n) FROM t x) FROM t ORDER BY id",
	"SELECT id FROM t WHERE (id, n) = (SELECT x.id, x.n FROM t x WHERE x.s "
	"= 'a')",
	"SELECT (1, 2) = (SELECT id, n FROM t)",
	"SELECT (1, 2) = (SELECT 1)",
	"SELECT ROW(t.*) = ROW(1, 11, 'a', 'ok'::mood), t IS NULL, t.* IS NOT "
	"NULL, t IS DISTINCT FROM t FROM t ORDER BY id",
	"SELECT x.* IS DISTINCT FROM y.*, y IS NULL, x IS NOT NULL FROM t x "
	"LEFT JOIN t y ON y.id = x.id + 1 ORDER BY x.id",
	"SELECT * FROM (VALUES (1, 'a'), (2, 'b')) x (i, j) WHERE ROW(x.*) <> "
	"(1, 'a')",
	/* ---- queries ---- */
	"SELECT * FROM t ORDER BY id",
	"SELECT t.*, u.b FROM t LEFT JOIN u ON "
	"u.t_id = t.id ORDER BY id, a",
	"SELECT t.id, x.id FROM t CROSS JOIN t x ORDER BY 1, 2",
	"SELECT id, a FROM t JOIN u ON t_id = id",
	"TABLE v",
	"SELECT n, "
	"count(*), sum(id), min(s), max(n), avg(n) FROM t GROUP BY n HAVING "
	"count(*) > 0 ORDER BY n",
	"SELECT bool_and(n > 1), bool_or(n > 8), string_agg(s, ',' ORDER BY "
	"id), array_agg(id ORDER BY id DESC), count(DISTINCT n), count(*) "
	"FILTER (WHERE n > 6) FROM t",
	"SELECT DISTINCT n > 1 AS big FROM t",
	"SELECT id FROM t ORDER BY n "
	"DESC LIMIT 1 OFFSET 1",
	"SELECT (SELECT max(n) FROM t), EXISTS (SELECT 1 FROM u), 1 IN (SELECT "
	"id FROM t), 3 > ALL (SELECT id FROM t)",
	"WITH big AS (SELECT id FROM t WHERE n > 6) SELECT * FROM big",
	"VALUES (1, 'a'), (2, NULL)",
	"SELECT 1 UNION SELECT 2 ORDER BY 1",
	"SELECT id FROM t INTERSECT SELECT 2",
	"SELECT id FROM t EXCEPT "
	"SELECT 2 ORDER BY id",
	"SELECT * FROM generate_series(1, 3) g",
	"SELECT unnest(ARRAY[1, 2])",
	"SELECT id FROM t WHERE id = 1 FOR UPDATE",
	"SELECT id FROM t WHERE id = 1 FOR SHARE",
	/* ---- routines ---- */
	"CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS $$ SELECT n "
	"* 2 $$",
	"SELECT twice(4)",
	"CREATE PROCEDURE tell(w text) LANGUAGE plpgsql AS $$ BEGIN INSERT "
	"INTO log VALUES (w, 'p'); END $$",
	"CALL tell('hello')",
	"CALL tell('')",
	"CREATE FUNCTION walk(upto int, OUT total int, OUT words text) "
	"LANGUAGE plpgsql AS $$\n"
	"DECLARE\n  r t%ROWTYPE; x record; k t.n%TYPE := 0; c CONSTANT int := "
	"2; a int[] := ARRAY[1, 2]; e int;\n"
	"BEGIN\n"
	"  total := 0; words := '';\n"
	"  FOR i IN 1 .. upto LOOP CONTINUE WHEN i = 2; total := total + i; "
	"END LOOP;\n"
	"  FOR x IN SELECT * FROM t ORDER BY id LOOP words := words || x.s; "
	"END LOOP;\n"
	"  FOREACH e IN ARRAY a LOOP total := total + e; END LOOP;\n"
	"  WHILE k < 3 LOOP k := k + 1; END LOOP;\n"
	"  LOOP k := k - 1; EXIT WHEN k < 0; END LOOP;\n"
	"  SELECT * INTO STRICT r FROM t WHERE id = 1;\n"
	"  IF r.n = 11 THEN words := words || '!'; ELSIF r.n IS NULL THEN "
	"NULL; ELSE words := '?'; END IF;\n"
	"  CASE c WHEN 1 THEN total := -1; ELSE total := total + 100; END "
	"CASE;\n"
	"  EXECUTE 'SELECT n FROM t WHERE id = $1' INTO e USING 2;\n"
	"  IF NOT FOUND THEN RAISE 'none'; END IF;\n"
	"  UPDATE t SET n = n WHERE id < 3; GET DIAGNOSTICS k = ROW_COUNT;\n"
	"  words := words || k || e;\n"
	"  BEGIN INSERT INTO t VALUES (1); EXCEPTION WHEN unique_violation "
	"THEN words := words || sqlstate; END;\n"
	"  PERFORM twice(1); ASSERT total > 0, 'no';\n"
	"END $$",
	"SELECT * FROM walk(4)",
	"SELECT total, words FROM walk(0)",
	"CREATE FUNCTION rows_of(k int) RETURNS SETOF t LANGUAGE plpgsql AS $$ "
	"BEGIN RETURN QUERY SELECT * FROM t WHERE id <= k; END $$",
	"SELECT id, s FROM rows_of(2) ORDER BY id",
	"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = 'P0042'; END $$",
	/* ---- triggers ---- */
	"CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n"
	"  INSERT INTO log VALUES (TG_ARGV[0] || ' ' || TG_OP || ' ' || "
	"TG_WHEN "
	"|| ' ' || TG_LEVEL, TG_TABLE_NAME || TG_NARGS || coalesce(TG_ARGV[1], "
	"'-') || TG_NAME);\n"
	"  RETURN COALESCE(NEW, OLD); END $$",
	"CREATE TABLE w (id int PRIMARY KEY, n int)",
	"CREATE TABLE w_old (id int, n int, why text)",
	"CREATE TRIGGER a_row AFTER INSERT OR UPDATE OR DELETE ON w FOR EACH "
	"ROW "
	"EXECUTE FUNCTION note('row', 2)",
	"CREATE TRIGGER b_before BEFORE INSERT OR UPDATE OR DELETE ON w FOR "
	"EACH STATEMENT EXECUTE FUNCTION note('before')",
	"CREATE TRIGGER c_after AFTER INSERT OR UPDATE OF n OR DELETE ON w "
	"EXECUTE FUNCTION note('after')",
	"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n"
	"  EXECUTE format('INSERT INTO %I VALUES ($1, $2, %L)', TG_TABLE_NAME "
	"|| '_old', TG_ARGV[0]) USING OLD.id, OLD.n;\n"
	"  INSERT INTO w_old SELECT NEW.*, array_length(TG_ARGV, 1)::text;\n"
	"  INSERT INTO w_old VALUES (OLD.*, 'again');\n"
	"  IF NEW IS DISTINCT FROM OLD AND ROW(NEW.*) <> ROW(OLD.*) THEN "
	"INSERT INTO log VALUES ('other', 'k'); END IF;\n"
	"  RETURN NEW; END $$",
	"CREATE TRIGGER d_keep BEFORE UPDATE ON w FOR EACH ROW WHEN (OLD.* IS "
	"DISTINCT FROM NEW.*) EXECUTE FUNCTION keep('it''s')",
	"INSERT INTO w VALUES (1, 1), (2, 2)",
	"UPDATE w SET n = n + 1",
	"UPDATE w SET id = id WHERE id = 1",
	"UPDATE w SET n = 5 WHERE id = 9",
	"INSERT INTO w VALUES (1, 7) ON CONFLICT (id) DO UPDATE SET n = "
	"excluded.n",
	"INSERT INTO w SELECT 3, 3 WHERE false",
	"DELETE FROM w WHERE id = 2",
	"INSERT INTO w VALUES (1, 1)",
	"SELECT * FROM log",
	"SELECT * FROM w_old ORDER BY why, id, n",
	"SELECT * FROM w",
	"CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
	"UPDATE w SET n = 0 WHERE id = 1; RETURN NULL; END $$",
	"CREATE TRIGGER e_meddle BEFORE DELETE ON w EXECUTE FUNCTION meddle()",
	"DELETE FROM w WHERE id = 1",
	"DELETE FROM w WHERE id = 2",
	"CREATE TRIGGER wrong BEFORE DELETE ON w WHEN (OLD.n > 1) EXECUTE "
	"FUNCTION note()",
};

START_TEST(each_construct_is_postgresqls)
{
	struct script s = { 0 };
	text_string(&s.all, "SET client_min_messages = error;\n"
	                    "SET timezone = 'UTC';\n");
	for (size_t i = 0; i < sizeof supported / sizeof *supported; i++) {
		const char *sql = supported[i];
		bool query = !strncmp(sql, "SELECT", 6) ||
		             !strncmp(sql, "VALUES", 6) ||
		             strstr(sql, "RETURNING");
		if (query && !strstr(sql, "CREATE")) script_describe(&s, sql);
		script_add(&s, sql);
	}
	script_compare(&s);
}
END_TEST

void add_sql_subset_tests(TCase *tests)
{
	tcase_add_test(tests, each_construct_is_postgresqls);
}
