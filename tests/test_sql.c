/* Statements of SQL, one after the other, as a private PostgreSQL 15 carries
 * them out: the same rows, and errors in the same places. */
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "random_sql.h"
#include "sql_server.h"
#include "suites.h"
#include "support.h"

/* ---- Random expressions ---- */

static const char *const schema[] = {
	"SET timezone = 'UTC'",
	"CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
	"CREATE TABLE e (k int PRIMARY KEY, b bool, s smallint, i int, "
	"l bigint, t text, v varchar(5), c char(4), n numeric, m numeric(6,2), "
	"d date, p timestamp, z timestamptz, w interval, q uuid, o mood, "
	"a int[], y text[])",
	"INSERT INTO e VALUES (1, true, 1, 2, 3, 'ab', 'abc', 'ab', 1.10, "
	"'12.345', '2024-01-31', '2024-02-29 10:20:30', "
	"'2024-02-29 12:20:30+02', '1 day 02:00', "
	"'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'ok', '{1,2,3}', "
	"'{a,\"b c\",NULL}')",
	"INSERT INTO e VALUES (2, false, 0, -7, 9000000000, 'b', 'ab ', 'a', "
	"-0.003, 7, '1999-12-31', '1970-01-01 00:00:00.25', '1969-12-31', "
	"'-3 mons', '{a0eebc999c0b4ef8bb6d6bb9bd380a12}', 'sad', '{}', '{}')",
	"INSERT INTO e (k) VALUES (3)",
	"INSERT INTO e VALUES (4, true, 32767, 2147483647, "
	"9223372036854775807, 'aBc', '', ' x', 123456789012345678901234567890, "
	"-1.5, '4000-01-01', '2023-06-15', '2023-06-15 23:00-05', "
	"'1 year -2 days +03:00', NULL, 'happy', '{NULL,5}', '{x}')",
	"INSERT INTO e VALUES (5, false, 2, 1, -1, '12', '7', '12', 1.1, 0, "
	"'2024-02-29', '2024-02-29', '2024-02-29 10:20:30', '24:00', NULL, "
	"'ok', '{2}', '{12,\"\"}')",
	"CREATE TABLE u (a int PRIMARY KEY, b int UNIQUE, t varchar(3) NOT "
	"NULL DEFAULT 'x', n smallint CHECK (n < 50), UNIQUE (t, n))",
	"CREATE SEQUENCE odd START WITH 5 INCREMENT BY 2",
	"CREATE TABLE w (a int GENERATED ALWAYS AS IDENTITY, b int DEFAULT "
	"nextval('odd'), n numeric(5,1) PRIMARY KEY, o mood DEFAULT 'ok', "
	"twice numeric GENERATED ALWAYS AS (n * 2.00) STORED, d date)",
	"INSERT INTO w (n) VALUES (0), (1.25)",
	"ALTER TABLE w ADD CONSTRAINT w_d CHECK (d < '2025-01-01')",
	"ALTER TABLE w ADD UNIQUE (o, d)",
	"CREATE TABLE late (i int, n numeric(4,1) UNIQUE)",
	"INSERT INTO late VALUES (1, 1), (2, 2), (5, 3)",
	"ALTER TABLE late ADD CONSTRAINT late_pkey PRIMARY KEY (i)",
	"INSERT INTO late VALUES (7, 2.00)",
	"INSERT INTO late VALUES (5, 7)",
	"UPDATE late SET i = 9, n = 4 WHERE i = 2",
	"INSERT INTO late VALUES (2, 2)",
	"SELECT * FROM late ORDER BY n",
	"CREATE TABLE refers (i int, n numeric)",
	"INSERT INTO refers VALUES (1, 2.00), (9, NULL)",
	"ALTER TABLE refers ADD FOREIGN KEY (i) REFERENCES late",
	"ALTER TABLE refers ADD FOREIGN KEY (n) REFERENCES late (n)",
	"DELETE FROM late WHERE i = 2",
	"CREATE TABLE lone (i int PRIMARY KEY)",
	"INSERT INTO lone VALUES (1), (2)",
	"CREATE TABLE wrong (i int)",
	"INSERT INTO wrong VALUES (1), (3)",
	"ALTER TABLE wrong ADD FOREIGN KEY (i) REFERENCES lone",
	"ALTER TABLE w ALTER COLUMN d SET DEFAULT date '2024-01-01' + 1",
};

static void add_all(struct script *s, const char *const *statements,
                    size_t count)
{
	for (size_t i = 0; i < count; i++) script_add(s, statements[i]);
}

static void add_schema(struct script *s)
{
	/* The first is for the server alone. */
	text_format(&s->all, "%s;\n", schema[0]);
	add_all(s, schema + 1, sizeof schema / sizeof *schema - 1);
}

/* What comes behind each so many of the random statements. */
struct follower {
	unsigned each;
	const char *statement;
};

/* So many statements at random, of a schema; `followers` ends with none. */
static void compare_statements(void (*begin)(struct script *s),
                               void (*make)(struct text *t, struct rng *r),
                               uint64_t count, const struct follower *followers)
{
	struct script s = { 0 };
	struct rng r = { first_seed() };
	text_string(&s.all, "SET client_min_messages = error;\n");
	begin(&s);
	for (uint64_t i = 0; i < count; i++) {
		struct text t = { 0 };
		make(&t, &r);
		script_add(&s, text_get(&t));
		for (const struct follower *f = followers; f->each; f++)
			if (i % f->each == f->each - 1)
				script_add(&s, f->statement);
		text_free(&t);
	}
	script_compare(&s);
}

START_TEST(expressions_are_postgresqls)
{
	static const struct follower none[] = { { 0 } };
	compare_statements(add_schema, random_query, programs_or(10000), none);
}
END_TEST

/* ---- Random changes ---- */

static void change(struct text *t, struct rng *r)
{
	static const char *const values[] = { "1",    "2",       "3", "4",
		                              "NULL", "DEFAULT", "7", "'5'" };
	static const char *const names[] = { "'a'",     "'b'",     "'abcd'",
		                             "'abc  '", "DEFAULT", "NULL" };
	static const char *const small[] = { "1", "40", "60", "NULL", "a" };
	static const char *const where[] = {
		"a = 2",
		"b > 1",
		"t = 'a'",
		"n IS NULL",
		"true",
		"a = b",
		"a IN (SELECT b FROM u)",
		"b = 3 AND a > 0",
		"a = (SELECT max(a) FROM u)",
	};
	static const char *const sets[] = {
		"b = NULL",
		"t = DEFAULT",
		"n = (SELECT count(*) FROM u)",
	};
	/* In which order rows are changed is not told. */
	static const char *const one[] = {
		"b = b + 1", "a = a + 1",    "a = b, b = a",
		"a = 9 - a", "t = t || 'x'", "n = a * 20",
	};
	static const char *const conflicts[] = {
		"",
		"",
		" ON CONFLICT DO NOTHING",
		" ON CONFLICT (a) DO NOTHING",
		" ON CONFLICT (b) DO NOTHING",
		" ON CONFLICT (a) DO UPDATE SET b = excluded.b, n = u.n + 1",
		" ON CONFLICT (t, n) DO UPDATE SET a = u.a + 10 WHERE u.a < 5",
	};
	static const char *const numbers[] = { "1", "2.04",    "'3.0'", "2.0",
		                               "7", "12345.6", "NULL" };
	static const char *const moods[] = { "'ok'", "'sad'", "DEFAULT", "NULL",
		                             "'bad'" };
	static const char *const days[] = { "DEFAULT", "'2024-05-01'", "NULL",
		                            "'2025-05-01'", "'2024-02-30'" };
	static const char *const changes[] = {
		"UPDATE w SET n = n + 1 WHERE n = 2",
		"UPDATE w SET o = 'happy', d = d + 1 WHERE n = 3.0",
		"UPDATE w SET a = DEFAULT, twice = DEFAULT WHERE n > 1 AND n < "
		"3",
		"UPDATE w SET twice = 4",
		"INSERT INTO w (a, n) VALUES (4, 4)",
		"INSERT INTO w (a, n) OVERRIDING SYSTEM VALUE VALUES (4, 4.4)",
		"DELETE FROM w WHERE n = 2.00 OR o = 'ok'",
		"INSERT INTO w (n, o) SELECT n + 1, o FROM w WHERE n = 1 "
		"UNION SELECT 9, 'sad' WHERE false ORDER BY 1",
		"INSERT INTO w (n) VALUES (1) ON CONFLICT (n) DO UPDATE SET "
		"d = excluded.d + 7 WHERE w.o = 'ok'",
	};
	switch (rng_below(r, 9)) {
	case 6:
	case 7:
		text_format(t, "INSERT INTO w (n, o, d) VALUES (%s, %s, %s)",
		            ONE_OF(r, numbers), ONE_OF(r, moods),
		            ONE_OF(r, days));
		break;
	case 8: text_string(t, ONE_OF(r, changes)); break;
	case 0:
	case 1:
		text_format(t, "INSERT INTO u VALUES (%s, %s, %s, %s)",
		            ONE_OF(r, values), ONE_OF(r, values),
		            ONE_OF(r, names), small[rng_below(r, 4)]);
		if (rng_below(r, 2))
			text_format(t, ", (%s, %s, %s, %s)", ONE_OF(r, values),
			            ONE_OF(r, values), ONE_OF(r, names),
			            small[rng_below(r, 4)]);
		text_string(t, ONE_OF(r, conflicts));
		break;
	case 2:
		text_format(t,
		            "INSERT INTO u (n, a) SELECT %s, a + %u FROM u "
		            "WHERE %s ORDER BY a%s",
		            ONE_OF(r, small), 1 + (unsigned)rng_below(r, 4),
		            ONE_OF(r, where), ONE_OF(r, conflicts));
		break;
	case 3:
		text_format(t, "UPDATE u SET %s WHERE a = %u", ONE_OF(r, one),
		            1 + (unsigned)rng_below(r, 4));
		break;
	case 4:
		text_format(t, "UPDATE u SET %s WHERE %s", ONE_OF(r, sets),
		            ONE_OF(r, where));
		break;
	default: text_format(t, "DELETE FROM u WHERE %s", ONE_OF(r, where));
	}
	if (rng_below(r, 2)) text_string(t, " RETURNING *");
}

START_TEST(changes_are_postgresqls)
{
	static const struct follower followers[] = {
		{ 1, "SELECT * FROM u ORDER BY a" },
		{ 1, "SELECT * FROM w ORDER BY n" },
		{ 16, "DELETE FROM u" },
		{ 24, "DELETE FROM w" },
		{ 0 },
	};
	compare_statements(add_schema, change, 5 * programs_or(2000),
	                   followers);
}
END_TEST

/* ---- Random calls ---- */

static const char *const routines[] = {
	"CREATE TABLE acc (id int PRIMARY KEY, owner text, n int NOT NULL "
	"CHECK "
	"(n >= 0))",
	"CREATE TABLE log (id serial PRIMARY KEY, what text, at date DEFAULT "
	"now())",
	"INSERT INTO acc VALUES (1, 'a', 10), (2, 'b', 5), (3, NULL, 0)",
	"CREATE FUNCTION move(src int, dst int, much int) RETURNS int LANGUAGE "
	"plpgsql AS $$\n"
	"<<outer>>\nDECLARE\n  had int;\n  r acc%ROWTYPE;\n"
	"  c CONSTANT numeric(6,2) NOT NULL := 1.5;\n"
	"BEGIN\n"
	"  SELECT n INTO STRICT had FROM acc WHERE id = src;\n"
	"  IF had < much THEN\n"
	"    RAISE EXCEPTION 'only % of %', had, much USING ERRCODE = "
	"'P0042';\n"
	"  ELSIF much = 0 THEN RETURN -1; END IF;\n"
	"  UPDATE acc SET n = n - much WHERE id = src;\n"
	"  UPDATE acc SET n = n + much WHERE id = dst RETURNING * INTO r;\n"
	"  IF NOT FOUND THEN RAISE no_data_found; END IF;\n"
	"  INSERT INTO log (what) VALUES (src || '->' || dst || ' ' || "
	"coalesce(r.owner, '?'));\n"
	"  RETURN had + r.n * c;\n"
	"END outer $$",
	"CREATE FUNCTION tried(src int, dst int, much int) RETURNS text "
	"LANGUAGE "
	"plpgsql AS $$\n"
	"DECLARE x int := 7; state text;\n"
	"BEGIN\n"
	"  INSERT INTO log (what) VALUES ('try');\n"
	"  BEGIN\n"
	"    x := move(src, dst, much);\n"
	"    UPDATE acc SET n = n - 1 WHERE id = 3;\n"
	"    RETURN 'moved ' || x;\n"
	"  EXCEPTION\n"
	"    WHEN check_violation THEN RETURN 'check ' || sqlstate;\n"
	"    WHEN no_data_found OR too_many_rows THEN x := x + 1;\n"
	"    WHEN SQLSTATE 'P0042' THEN\n"
	"      GET STACKED DIAGNOSTICS state = MESSAGE_TEXT;\n"
	"      RETURN state;\n"
	"    WHEN OTHERS THEN RAISE;\n"
	"  END;\n"
	"  RETURN x::text || ' nothing';\n"
	"END $$",
	"CREATE FUNCTION walk(most int) RETURNS SETOF int LANGUAGE plpgsql AS "
	"$$\n"
	"DECLARE i int := 100; r record; k int = 0;\n"
	"BEGIN\n"
	"  FOR i IN REVERSE most..1 BY 2 LOOP\n"
	"    CONTINUE WHEN i = 3;\n    EXIT WHEN i < -5;\n    RETURN NEXT i;\n"
	"  END LOOP;\n"
	"  <<all_rows>> FOR r IN SELECT id, n FROM acc ORDER BY id DESC LOOP\n"
	"    LOOP k := k + 1; EXIT all_rows WHEN k > most; EXIT WHEN k % 2 = "
	"0; "
	"END LOOP;\n"
	"    RETURN NEXT r.id * 10 + r.n;\n"
	"  END LOOP;\n"
	"  WHILE k > 0 LOOP k := k - 2; END LOOP;\n"
	"  RETURN QUERY SELECT k UNION ALL SELECT i;\n"
	"  GET DIAGNOSTICS k = ROW_COUNT;\n  RETURN NEXT k;\n"
	"  IF FOUND THEN RETURN NEXT -7; END IF;\n"
	"END $$",
	"CREATE FUNCTION named(x int) RETURNS text LANGUAGE plpgsql AS $$\n"
	"DECLARE v text; a int[] := ARRAY[x, 2]; y int; d date := "
	"'2024-01-01';\n"
	"BEGIN\n"
	"  CASE x WHEN 1, 2 THEN v := 'small'; WHEN 3 THEN NULL; ELSE v := x; "
	"END "
	"CASE;\n"
	"  FOREACH y IN ARRAY a LOOP v := v || '/' || y; END LOOP;\n"
	"  CASE WHEN x > 2 THEN v := coalesce(v, 'none') || d + x; WHEN x = 0 "
	"THEN "
	"RETURN NULL; END CASE;\n"
	"  DECLARE x text := v; BEGIN RETURN x || named.x; END;\n"
	"END $$",
	"CREATE FUNCTION total(who text DEFAULT 'a') RETURNS bigint LANGUAGE "
	"sql AS "
	"$$ SELECT sum(n) FROM acc WHERE owner = who OR owner IS NULL $$",
	"CREATE FUNCTION both_of(a int, INOUT b int, OUT c text) LANGUAGE "
	"plpgsql "
	"AS $$ BEGIN b := a + b; c := 'c' || a; IF a = 3 THEN RETURN; END IF; "
	"b := "
	"b * 2; END $$",
	"CREATE FUNCTION listed(low int) RETURNS TABLE (num int, who text) "
	"LANGUAGE sql STRICT AS $$ SELECT id, owner FROM acc WHERE n >= low "
	"ORDER "
	"BY id $$",
	"CREATE PROCEDURE pay(src int, INOUT much int) LANGUAGE plpgsql AS $$ "
	"BEGIN "
	"PERFORM move(src, 3, much); much := much * 2; END $$",
	"CREATE FUNCTION dynamic(src int, much int) RETURNS SETOF text "
	"LANGUAGE plpgsql AS $$\n"
	"DECLARE k bigint; o text; r record;\n"
	"BEGIN\n"
	"  EXECUTE 'UPDATE acc SET n = n + $1 WHERE id = $2' USING much, "
	"src;\n"
	"  GET DIAGNOSTICS k = ROW_COUNT;\n"
	"  RETURN NEXT k || ' ' || FOUND;\n"
	"  EXECUTE format('SELECT %I, n FROM %I WHERE id = $1', 'owner', "
	"'acc') INTO o, k USING src;\n"
	"  RETURN NEXT concat(o, k);\n"
	"  FOR r IN EXECUTE 'SELECT id FROM acc WHERE n > $1 + 2 ORDER BY id' "
	"USING much LOOP RETURN NEXT r.id; END LOOP;\n"
	"  RETURN QUERY EXECUTE 'SELECT owner FROM acc WHERE id <> ' || 1 || ' "
	"ORDER BY id';\n"
	"  EXECUTE 'SELECT n FROM acc WHERE id < $1' INTO STRICT k USING "
	"src;\n"
	"  RETURN NEXT k;\n"
	"END $$",
	"CREATE FUNCTION fact(n int) RETURNS numeric LANGUAGE plpgsql AS $$ "
	"BEGIN "
	"IF n < 2 THEN RETURN 1; END IF; RETURN n * fact(n - 1); END $$",
};

static void call(struct text *t, struct rng *r)
{
	unsigned a = (unsigned)rng_below(r, 5), b = (unsigned)rng_below(r, 4);
	unsigned n = (unsigned)rng_below(r, 8);
	switch (rng_below(r, 16)) {
	case 14: text_format(t, "SELECT dynamic(%u, %u)", a, n); break;
	case 15:
		text_format(t, "SELECT walk(%u), id FROM acc ORDER BY 2, 1", n);
		break;
	case 0: text_format(t, "SELECT move(%u, %u, %u)", a, b, n); break;
	case 1:
	case 2: text_format(t, "SELECT tried(%u, %u, %u)", a, b, n); break;
	case 3: text_format(t, "SELECT * FROM walk(%u)", n); break;
	case 4: text_format(t, "SELECT named(%u) AS x", a); break;
	case 5: text_string(t, "SELECT total(), total('b')"); break;
	case 6: text_format(t, "SELECT * FROM both_of(%u, %u)", a, n); break;
	case 7:
		text_format(t,
		            "SELECT l.num, a.n FROM listed(%u) l JOIN acc a ON "
		            "a.id = l.num ORDER BY 1",
		            n);
		break;
	case 8: text_format(t, "CALL pay(%u, %u)", a, n); break;
	case 9: text_format(t, "SELECT fact(%u), fact(20)", n); break;
	case 10:
		text_format(t,
		            "DO $$ DECLARE i int; BEGIN FOR i IN 1..%u LOOP "
		            "UPDATE acc SET n = n + 1 WHERE id = i; END LOOP; "
		            "IF i IS NOT NULL THEN RAISE 'x'; END IF; END $$",
		            n);
		break;
	case 11:
		text_format(t, "DO $$ BEGIN ASSERT %u > 3, 'small'; END $$", n);
		break;
	case 12:
		text_format(t, "UPDATE acc SET n = fact(%u) WHERE id = %u", n,
		            a);
		break;
	default:
		text_format(t,
		            "SELECT id, named(id) FROM acc WHERE total() > "
		            "%u ORDER BY id",
		            n);
	}
}

static void add_routines(struct script *s)
{
	add_all(s, routines, sizeof routines / sizeof *routines);
}

START_TEST(routines_are_postgresqls)
{
	static const struct follower followers[] = {
		{ 1, "SELECT * FROM acc ORDER BY id" },
		{ 1, "SELECT id, what FROM log ORDER BY id" },
		{ 16, "DELETE FROM log" },
		{ 16, "UPDATE acc SET n = id * 3" },
		{ 0 },
	};
	compare_statements(add_routines, call, programs_or(2000), followers);
}
END_TEST

/* ---- Triggers ---- */

static const char *const triggers[] = {
	"CREATE TABLE note (what text)",
	"CREATE TABLE item (id int PRIMARY KEY, n int, t text DEFAULT 'x', "
	"twice int GENERATED ALWAYS AS (n * 2) STORED)",
	"CREATE TABLE part (id int PRIMARY KEY, item int REFERENCES item ON "
	"DELETE CASCADE ON UPDATE CASCADE, q int)",
	"INSERT INTO item VALUES (1, 10), (2, 20), (3, 30)",
	"INSERT INTO part VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7)",
	"CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $tell$ "
	"BEGIN INSERT INTO note VALUES (concat_ws(' ', TG_NAME, "
	"TG_WHEN, TG_LEVEL, TG_OP, TG_TABLE_NAME, OLD.id, NEW.id)); RETURN "
	"NULL; "
	"END $tell$",
	"CREATE FUNCTION shape() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n"
	"  IF NEW.n < 0 THEN RETURN NULL; END IF;\n"
	"  IF NEW.n = 99 THEN RAISE EXCEPTION 'no %', NEW.id USING ERRCODE = "
	"'23514'; END IF;\n"
	"  NEW.t := coalesce(OLD.t, '-') || upper(NEW.t) || (SELECT count(*) "
	"FROM item);\n"
	"  IF TG_OP = 'UPDATE' AND NEW.n = 7 THEN NEW.id = NEW.id + 10; END "
	"IF;\n"
	"  RETURN NEW;\nEND $$",
	"CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n"
	"  IF EXISTS (SELECT 1 FROM part WHERE item = OLD.id AND q > 6) THEN "
	"RETURN NULL; END IF;\n"
	"  UPDATE part SET q = q + 1 WHERE item = OLD.id;\n"
	"  RETURN COALESCE(NEW, OLD);\nEND $$",
	"CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n"
	"  IF NEW.id = 2 THEN UPDATE item SET t = 'again' WHERE id = 2; END "
	"IF;\n"
	"  RETURN NEW;\nEND $$",
	"CREATE TRIGGER b_shape BEFORE INSERT OR UPDATE ON item FOR EACH ROW "
	"EXECUTE FUNCTION shape()",
	"CREATE TRIGGER a_guard BEFORE DELETE OR UPDATE OF id ON item FOR EACH "
	"ROW EXECUTE FUNCTION guard()",
	"CREATE TRIGGER told AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH "
	"ROW EXECUTE FUNCTION tell()",
	"CREATE TRIGGER grew AFTER UPDATE ON item FOR EACH ROW WHEN (NEW.n > "
	"OLD.n OR OLD.n IS NULL) EXECUTE FUNCTION tell()",
	"CREATE TRIGGER parts AFTER UPDATE OF item OR DELETE ON part FOR EACH "
	"ROW EXECUTE FUNCTION tell()",
	"CREATE TRIGGER own BEFORE UPDATE ON item FOR EACH ROW WHEN (NEW.n = "
	"13) EXECUTE FUNCTION again()",
	"CREATE FUNCTION count_all() RETURNS trigger LANGUAGE plpgsql AS $$ "
	"BEGIN\n"
	"  INSERT INTO note SELECT concat_ws(' ', TG_NAME, TG_WHEN, TG_LEVEL, "
	"TG_OP, TG_ARGV[0], TG_ARGV[TG_NARGS - 1], TG_ARGV[TG_NARGS], NEW.id, "
	"count(*)) FROM item;\n"
	"  IF TG_ARGV[0] = 'c' THEN UPDATE part SET q = q + 1 WHERE id = 3; "
	"END "
	"IF;\n"
	"  RETURN NEW;\nEND $$",
	"CREATE TRIGGER z_first BEFORE INSERT OR UPDATE OR DELETE ON item FOR "
	"EACH STATEMENT EXECUTE FUNCTION count_all('a', 7)",
	"CREATE TRIGGER z_last AFTER INSERT OR UPDATE OF t OR DELETE ON item "
	"EXECUTE FUNCTION count_all('c', 'd')",
	/* Rows that are there are looked at, and not changed. */
	"INSERT INTO item VALUES (50, 5)",
	"ALTER TABLE item ADD CHECK (n < 1000)",
};

static void triggering(struct text *t, struct rng *r)
{
	static const char *const numbers[] = { "-1", "3",  "5",  "7",
		                               "13", "20", "99", "NULL" };
	unsigned id = (unsigned)rng_below(r, 6);
	const char *n = ONE_OF(r, numbers);
	switch (rng_below(r, 8)) {
	case 0:
		text_format(t, "INSERT INTO item VALUES (%u, %s) RETURNING *",
		            id, n);
		break;
	case 1:
		text_format(t,
		            "INSERT INTO item VALUES (%u, %s), (%u, 4) ON "
		            "CONFLICT (id) DO UPDATE SET n = excluded.n + 1, t "
		            "= excluded.t RETURNING id, n, t",
		            id, n, id + 1);
		break;
	case 2:
		text_format(t,
		            "INSERT INTO item VALUES (%u, %s) ON CONFLICT "
		            "DO NOTHING",
		            id, n);
		break;
	case 3:
		text_format(t,
		            "UPDATE item SET n = %s WHERE id = %u RETURNING *",
		            n, id);
		break;
	case 4:
		text_format(t,
		            "UPDATE item SET (id, t) = (id + 7, 'm') WHERE "
		            "id = %u",
		            id);
		break;
	case 5: text_format(t, "DELETE FROM item WHERE id = %u", id); break;
	case 6:
		/* In whatever order the rows are changed. */
		text_format(t,
		            "UPDATE item SET t = 'w' WHERE n > %s AND n <> 7",
		            n);
		break;
	default:
		text_format(t,
		            "INSERT INTO part SELECT %u, id, n FROM item "
		            "WHERE id < %u",
		            id + 3, id);
	}
}

static void add_triggers(struct script *s)
{
	add_all(s, triggers, sizeof triggers / sizeof *triggers);
}

START_TEST(triggers_are_postgresqls)
{
	static const struct follower followers[] = {
		{ 1, "SELECT * FROM item ORDER BY id" },
		{ 1, "SELECT * FROM part ORDER BY id" },
		{ 1, "SELECT what, count(*) FROM note GROUP BY what ORDER BY "
		     "what" },
		{ 8, "DELETE FROM note" },
		{ 32, "DELETE FROM part" },
		{ 0 },
	};
	compare_statements(add_triggers, triggering, programs_or(2000),
	                   followers);
}
END_TEST

void add_sql_tests(TCase *tests)
{
	tcase_add_test(tests, routines_are_postgresqls);
	tcase_add_test(tests, triggers_are_postgresqls);
	tcase_add_test(tests, expressions_are_postgresqls);
	tcase_add_test(tests, changes_are_postgresqls);
}
