#!/bin/sh
# What clients that are served define, as migrations do: it works as on PostgreSQL's
# own tables, or is refused with a way out.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
needs_server
chmod 777 "$work"

cat >base.sql <<'END'
CREATE TABLE acc (id int PRIMARY KEY, n int NOT NULL CHECK (n >= 0), u text UNIQUE);
INSERT INTO acc VALUES (1, 0, 'a'), (2, 0, 'b');
CREATE TYPE mood AS ENUM ('x', 'y');
CREATE TABLE feel (id serial PRIMARY KEY, m mood, note text);
INSERT INTO feel (m) VALUES ('x'), ('y');
END
cat >works.sql <<'END'
SET client_min_messages = warning;
CREATE TABLE entry (id serial PRIMARY KEY, acc int REFERENCES acc ON DELETE CASCADE,
	what text);
CREATE INDEX ON entry (what);
INSERT INTO entry (acc, what) VALUES (1, 'one'), (2, 'two') RETURNING *;
INSERT INTO entry (acc, what) VALUES (3, 'three');
ALTER TABLE entry ADD COLUMN at int DEFAULT 5;
SELECT e.*, a.n FROM entry e JOIN acc a ON a.id = e.acc ORDER BY 1;
BEGIN; CREATE TABLE t2 (id int); INSERT INTO t2 SELECT id FROM acc;
SELECT count(*) FROM t2; ROLLBACK;
SELECT count(*) FROM t2;
CREATE TEMP TABLE tt AS SELECT * FROM acc; ALTER TABLE tt ADD z int;
UPDATE tt SET z = n; SELECT * FROM tt ORDER BY id; DROP TABLE tt;
CREATE VIEW v AS SELECT id, n FROM acc; SELECT * FROM v ORDER BY id;
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT count(*)::int FROM entry';
SELECT f();
CREATE INDEX i1 ON acc (n); CREATE INDEX CONCURRENTLY i2 ON acc (n, u);
UPDATE acc SET n = n + id; SELECT id FROM acc WHERE n = 2; DROP INDEX i1;
DROP INDEX CONCURRENTLY i2;
ALTER TABLE acc DISABLE TRIGGER ALL; ALTER TABLE acc ENABLE TRIGGER ALL;
UPDATE acc SET n = -1 WHERE id = 1;
ALTER TABLE acc DROP CONSTRAINT acc_n_check;
UPDATE acc SET n = -1 WHERE id = 1;
ALTER TABLE feel ADD CONSTRAINT ff FOREIGN KEY (id) REFERENCES acc (id);
INSERT INTO feel VALUES (3);
CREATE TABLE x (LIKE acc INCLUDING ALL); INSERT INTO x SELECT * FROM acc;
SELECT * FROM x ORDER BY id;
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN INSERT INTO entry (what) VALUES (new.n); RETURN NULL; END';
CREATE TRIGGER tr AFTER UPDATE ON acc FOR EACH ROW EXECUTE FUNCTION noted();
UPDATE acc SET n = 77 WHERE id = 1; SELECT * FROM entry ORDER BY id;
CREATE MATERIALIZED VIEW mv AS SELECT * FROM acc; UPDATE acc SET u = 'c' WHERE id = 2;
SELECT * FROM mv ORDER BY id; REFRESH MATERIALIZED VIEW mv; SELECT * FROM mv ORDER BY id;
DELETE FROM acc WHERE id = 2;
ALTER TABLE feel DROP CONSTRAINT ff; DELETE FROM acc WHERE id = 2;
SELECT * FROM entry ORDER BY id;
ALTER TYPE mood ADD VALUE 'z'; INSERT INTO feel (id, m) VALUES (9, 'z');
TRUNCATE entry, acc CASCADE; SELECT count(*) FROM entry;
ALTER TABLE acc RENAME TO account; INSERT INTO account VALUES (6, 6); TABLE account;
CLUSTER feel USING feel_pkey; REINDEX TABLE feel; VACUUM; ANALYZE;
DROP TABLE feel; SELECT * FROM feel;
CREATE TABLE feel (id int PRIMARY KEY); INSERT INTO feel VALUES (4); TABLE feel;
COPY feel TO STDOUT;
CREATE SEQUENCE sq START 4; SELECT nextval('sq'); COMMENT ON TABLE account IS 'x';
CREATE SCHEMA other CREATE TABLE y (id int); INSERT INTO other.y VALUES (1);
DROP SCHEMA other CASCADE; DROP VIEW v; DROP MATERIALIZED VIEW mv; DROP TABLE account;
END
sed 's/^SET client.*/&\n\\set VERBOSITY terse/' works.sql >terse.sql
cat >theirs.sh <<'END'
psql -qX -c 'CREATE SCHEMA theirs' || exit
export PGOPTIONS='-c search_path=theirs -c default_table_access_method=heap'
psql -qX -v ON_ERROR_STOP=1 -f base.sql && psql -Xa -f terse.sql >theirs 2>&1
unset PGOPTIONS
psql -qX -c 'SET client_min_messages = error' -c 'DROP SCHEMA theirs CASCADE' \
	-f base.sql
END
run 0 serve --policy latest --history history.jsonl --setup 'sh theirs.sh' -- \
	sh -c 'psql -Xa -f terse.sql >served 2>&1'
grep -q 'violates foreign key constraint "entry_acc_fkey"' theirs && pass ||
	fail 'PostgreSQL was not asked'
same 'on tables of isoscope' served theirs
run 0 check -i prc history.jsonl

# refused WHAT SQL
refused() {
	run 1 serve --schema base.sql -- psql -qXc "$2"
	says "isoscope does not support $1"
	says 'isoscope serve --schema FILE or --setup COMMAND'
}
refused 'a unique index of "acc"' 'CREATE UNIQUE INDEX ON acc (n)'
refused 'this ALTER TABLE of "acc"' 'ALTER TABLE acc ADD COLUMN z int'
refused 'CREATE DATABASE' 'CREATE DATABASE test'
if [ -z "${ISOSCOPE_QUICK:-}" ]; then
	refused 'this ALTER TABLE of "acc"' 'ALTER TABLE acc DROP CONSTRAINT acc_pkey'
	echo 'CREATE UNIQUE INDEX i ON acc (u, n);' >>base.sql
	refused 'DROP INDEX of "i", which is unique' 'DROP INDEX i'
	refused 'to drop a column of "feel"' 'DROP TYPE mood CASCADE'
	refused 'a table that inherits' 'CREATE TABLE y () INHERITS (acc)'
	refused 'CREATE TABLE .. USING isoscope' 'CREATE TABLE y (id int) USING isoscope'
fi
run 0 serve --schema base.sql -- psql -qXc 'CREATE TABLE y (id int)'
says 'reads of table "y" always see the newest version'

# Each run begins anew, as far as that can be.
run 0 serve --runs 2 --schema base.sql -- psql -qX -v ON_ERROR_STOP=1 \
	-c 'CREATE TABLE y (id serial PRIMARY KEY)' -c 'CREATE TABLE z (y int REFERENCES y)'
prints 'runs                      2'
run 4 serve --runs 2 --schema base.sql -- psql -qX -v ON_ERROR_STOP=1 -c 'DROP TABLE feel'
prints 'inconclusive: the command has dropped tables of set-up, so there is no other run'
finish
