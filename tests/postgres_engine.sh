#!/bin/sh
# Programs in SQL that a private PostgreSQL carries out give what the built-in
# engine gives: the same verdicts, in as many histories. What it refuses, and how
# it ends. With ISOSCOPE_QUICK only some of the programs.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
# As most have it: no PostgreSQL along PATH.
PATH=/usr/bin:/bin "$ISOSCOPE" explore --engine=postgres \
	"$top/programs/sql/seats.spec" >out 2>err
found=$?
if grep -q 'without PostgreSQL\|PostgreSQL is missing' err; then
	cat err
	finish
	exit
fi
equal 'without PATH' "$found" 0
chmod 711 "$work"
mkdir -m 1777 folders
TMPDIR=$work/folders
export TMPDIR

# told ENGINE LEVEL FILE: what is said, but for examples and costs.
told() {
	"$ISOSCOPE" explore --jobs 1 "--engine=$1" -i "$2" "$3" 2>&1 |
		grep -E "^  (holds|fails) |^histories|error"
}

# compare LEVEL FILE...
compare() {
	level=$1
	shift
	for file; do
		equal "$file at $level" "$(told postgres "$level" "$file")" \
			"$(told builtin "$level" "$file")"
	done
}

programs=$top/programs/sql
specs=$top/tests/specs
compare prc "$programs/tpcc.spec" "$programs/courseware.spec" \
	"$specs/foreign-key.spec" "$specs/newer-row-keys.spec" \
	"$specs/delete-and-insert.spec" "$specs/savepoint-locks.spec"
compare si "$programs/inventory.spec" "$specs/insert-conflict-do-update.spec"
if [ -z "${ISOSCOPE_QUICK:-}" ]; then
	compare prc "$programs"/*.spec
	compare si "$programs"/*.spec
	for file in "$specs"/*.spec; do
		# These differ, as the manual says.
		case $file in
		*/function-snapshots.* | */gone-rows.* | */handled-errors.* | \
			*/savepoint-key-locks.*) ;;
		*) compare prc "$file" ;;
		esac
	done
fi

# spec STEP [SETUP]: a session of this step, in x.spec.
spec() {
	cat >x.spec <<END
setup { CREATE TABLE t (id int PRIMARY KEY, v int);
        INSERT INTO t VALUES (1, 0); ${2-} }
session s
step a { $1 }
END
}

# refused WHAT STEP [SETUP]
refused() {
	spec "$2" "${3-}"
	run 3 explore --engine=postgres x.spec
	says "--engine=postgres does not support $1"
}

refused 'random() in a session' 'SELECT f()' \
	"CREATE FUNCTION f() RETURNS float LANGUAGE sql AS 'SELECT random()';"
refused 'pg_advisory_xact_lock() in a session; lock a row instead' \
	'SELECT pg_advisory_xact_lock(1)'
says 'x.spec:'
refused 'ctid' 'SELECT v FROM t WHERE ctid IS NOT NULL'
refused 'SKIP LOCKED' 'SELECT v FROM t FOR UPDATE SKIP LOCKED'
refused 'an UPDATE that changes a primary key' 'UPDATE t SET id = 2'
refused 'LOCK TABLE in a session' 'LOCK TABLE t'
refused 'FETCH from a cursor that has more to read, after another statement' 'BEGIN;
	DECLARE c CURSOR FOR SELECT v FROM t; UPDATE t SET v = 1; FETCH ALL c; COMMIT'
refused 'constraint u_i_key, which is deferrable' 'SELECT 1' \
	'CREATE TABLE u (i int UNIQUE DEFERRABLE);'
refused 'partitioned table u' 'SELECT 1' \
	'CREATE TABLE u (i int) PARTITION BY LIST (i);'
if [ -z "${ISOSCOPE_QUICK:-}" ]; then
	refused 'clock_timestamp()' 'UPDATE t SET v =
		extract(epoch FROM clock_timestamp())'
	refused 'CREATE TABLE in a session' 'CREATE TABLE u (i int)'
	refused 'SET timezone' "SET timezone = 'CET'"
	refused 'keys of type numeric (i of table u)' 'SELECT 1' \
		'CREATE TABLE u (i numeric PRIMARY KEY);'
	refused 'MERGE' 'MERGE INTO t USING (VALUES (1)) s(i) ON id = s.i
		WHEN MATCHED THEN UPDATE SET v = 1'
	refused 'SET TRANSACTION in a function' \
		"DO 'BEGIN SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; END'"
fi

# What the built-in engine says of it is so.
outside() {
	spec "$1" "${2-}"
	run 3 explore x.spec
	says 'explore it with --engine=postgres'
	[ -n "${ISOSCOPE_QUICK:-}" ] && return
	run 0 explore --engine=postgres x.spec
}
outside 'SELECT rank() OVER (ORDER BY id) FROM t'
outside 'UPDATE t SET v = (WITH RECURSIVE w AS (SELECT 1 AS n UNION ALL SELECT
	n + 1 FROM w WHERE n < 3) SELECT max(n) FROM w)'
outside "SELECT v FROM t WHERE v::text ~ 'a'"
outside 'SHOW search_path'
outside 'SELECT 1' 'CREATE UNIQUE INDEX i ON t (v) WHERE v > 0;'
outside 'SELECT 1' 'CREATE TABLE u (i int REFERENCES t DEFERRABLE);'
outside 'UPDATE u SET j = to_jsonb(2)' \
	"CREATE TABLE u (i int PRIMARY KEY, j jsonb); INSERT INTO u VALUES (1, '1');"
# Sequences, the clock, a file of set-up, and settings without effect.
echo 'CREATE SEQUENCE q;' >set-up.sql
cat >x.spec <<'END'
setup "set-up.sql"
session s
step a { SET statement_timeout = 1; SELECT nextval('q') AS n, now() AS at; }
session t
step b { SELECT nextval('q') AS n, now() AS at; }
assert { SELECT a.n = 1 AND b.n <> a.n AND a.at = b.at FROM a, b }
END
run 0 explore --engine=postgres x.spec
spec 'SELEC 1'
run 3 explore --engine=postgres x.spec
says 'x.spec:4:10: error: syntax error'
spec 'SELECT 1' 'INSERT INTO t VALUES (1, 1);'
run 3 explore --engine=postgres x.spec
says 'setup failed: duplicate key value violates unique constraint'

# Ctrl-C while it is set up.
spec 'SELECT 1' 'SELECT pg_sleep(60);'
timeout --foreground --preserve-status -s INT 1 "$ISOSCOPE" explore --engine=postgres x.spec \
	>out 2>err </dev/null
equal 'set-up is interrupted: exit code' $? 4
what='set-up is interrupted'
says interrupted

# Assertions are given the rows of the tables that they name.
assertion() {
	spec 'UPDATE t SET v = 1' \
		"CREATE VIEW w AS SELECT v FROM t; CREATE FUNCTION f() RETURNS
		int STABLE LANGUAGE sql AS 'SELECT v FROM public.t';"
	echo "assert { $2 }" >>x.spec
	run 3 explore --engine=postgres x.spec
	says "$1"
}
assertion 'does not support a view in an assertion: w' 'SELECT v = 1 FROM w'
assertion 'does not support a function that is not IMMUTABLE in an assertion: f' \
	'SELECT f() = 1'
assertion 'does not support the name of a schema in an assertion: public' \
	'SELECT v = 1 FROM public.t'
spec 'UPDATE t SET v = 1'
sed 's/^session s/session t/' x.spec >y.spec
echo 'assert { SELECT v = 1 FROM t }' >>y.spec
run 3 explore --engine=postgres y.spec
says '"t" is the name of a step or session and of a table'

spec 'SELECT 1'
run 2 explore --engine=oracle x.spec
says "takes builtin or postgres, not 'oracle'"
run 2 explore --engine=postgres --fix x.spec
says '--engine cannot be used with --fix'
run 2 run --engine=postgres x.spec
raise_program >raise.tx
run 3 explore --engine=postgres raise.tx
says '--engine=postgres is for programs in SQL'

# Nothing is left behind, whoever is killed, and two may run at once.
is_empty() {
	[ -z "$(ls folders)" ]
}
serves() {
	ls folders/*/.s.PGSQL.5432 >/dev/null 2>&1
}
equal 'folders left' "$(ls folders)" ''
spec 'SELECT pg_sleep(600)'
"$ISOSCOPE" explore --engine=postgres x.spec >/dev/null 2>&1 &
soon serves
kill -9 $!
soon is_empty
"$ISOSCOPE" explore --engine=postgres x.spec >/dev/null 2>&1 &
soon serves
sleep 0.5
memory=$(sed -n '7s/.* //p' folders/*/data/postmaster.pid)
kill -9 "$(head -n 1 folders/*/data/postmaster.pid)"
wait $!
equal 'the server is killed' $? 4
soon is_empty
equal 'shared memory' "$(awk -v n="${memory:-none}" '$2 == n' /proc/sysvipc/shm)" ''
"$ISOSCOPE" explore --engine=postgres --timeout 0.5 x.spec >out 2>err &
run 4 explore --engine=postgres --timeout 0.5 x.spec
wait $!
equal 'beside another' $? 4
soon is_empty
# A row that is changed and then deleted is locked as strongly as that asks for at
# once: nobody comes to refer to it in between.
for block in 'UPDATE t SET n = 1 WHERE id = 2; DELETE FROM t WHERE id = 2;' \
	'BEGIN UPDATE t SET n = 1 WHERE id = 2; DELETE FROM t WHERE id = 2; EXCEPTION WHEN others THEN NULL; END;'; do
	cat >deleted.spec <<-END
		setup {
		  CREATE TABLE t (id int PRIMARY KEY, n int);
		  CREATE TABLE c (id int PRIMARY KEY, t_id int REFERENCES t ON DELETE CASCADE);
		  INSERT INTO t VALUES (1, 0), (2, 0); INSERT INTO c VALUES (1, 1);
		  CREATE FUNCTION del() RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN $block RETURN 1; END \$\$;
		}
		session ann
		step deletes { SELECT del(); }
		session ben
		step refers { UPDATE c SET t_id = 2 WHERE id = 1; }
		assert { SELECT count(*) = 0 FROM c WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.id = t_id) }
	END
	for engine in builtin postgres; do
		run 0 explore --engine=$engine -i prc deleted.spec
		prints 'histories                 2 '
	done
done
finish
