#!/bin/sh
# PostgreSQL's own regression SQL, statement by statement, by one client, gives on
# isoscope's tables what it gives on PostgreSQL's own: while set up, and served. It
# is of Debian's source package; the known differences are in regress/differences.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
needs_server
chmod 777 "$work"

# The sources of the package, without a change to the system's own lists.
fetch() {
	mkdir -p apt/lists/partial apt/cache/archives/partial
	for list in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
		[ -e $list ] || continue
		case $list in
		*.sources) sed 's/^Types:.*/Types: deb-src/' $list >apt/debian.sources ;;
		*) sed -n 's/^deb /deb-src /p' $list >apt/debian.list ;;
		esac
		break
	done
	set -- -o "Dir::Etc::sourcelist=$(ls "$work"/apt/debian.*)" \
		-o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$work/apt/lists" \
		-o "Dir::Cache=$work/apt/cache"
	apt-get "$@" update || return
	# A mirror may lack the newest one.
	for version in $(apt-cache "$@" showsrc postgresql-15 |
		sed -n 's/^Version: //p' | sort -rVu); do
		apt-get "$@" source --download-only "postgresql-15=$version" && break
	done
	tar xf postgresql-15_*.orig.tar.* --strip-components=4 --wildcards \
		'*/src/test/regress/sql/*' '*/src/test/regress/data/*'
}
if ! fetch >out 2>err; then
	tail -n 3 err
	echo 'the sources of PostgreSQL cannot be had: its regression SQL is not run'
	finish
	exit
fi
chmod -R a+rX sql data

files='select select_distinct select_having aggregates join union case subselect with
window limit transactions portals insert insert_conflict update delete constraints
foreign_key triggers plpgsql returning rangefuncs prepare namespace sequence'
[ -z "${ISOSCOPE_QUICK:-}" ] || files='select limit with insert_conflict'

cat >passes.sh <<'END'
# begin: tables of the tests, but for those that inherit; few rows, since joins
# have no index.
begin() {
	psql -X -f sql/test_setup.sql >/dev/null 2>&1
	psql -qX -c 'SET client_min_messages = error' -c 'DROP TABLE IF EXISTS person,
		emp, student, stud_emp, road, ihighway, shighway CASCADE' \
		-c 'DELETE FROM tenk1 WHERE unique1 >= 500' \
		-c 'DELETE FROM tenk2 WHERE unique1 >= 500'
}
# pass NAME
pass() {
	for file in $files; do
		{
			echo "SET statement_timeout = '30s'; \\set VERBOSITY terse"
			cat "sql/$file.sql"
		} >"$file.sql"
		psql -X -L "$1.$file.log" -f "$file.sql" >/dev/null 2>"$1.$file.err"
	done
}
clear() {
	psql -qXAt -c 'SET client_min_messages = error' -c "DROP SCHEMA $1 CASCADE"
	psql -qXAt -c "SELECT format('DROP SCHEMA %I CASCADE;', nspname) FROM
		pg_namespace WHERE oid >= 16384 AND nspname NOT IN ('isoscope_engine')
		UNION ALL SELECT format('DROP FUNCTION %s CASCADE;', oid::regprocedure)
		FROM pg_proc WHERE oid >= 16384 AND pronamespace = 'public'::regnamespace
		" | psql -qX >/dev/null 2>&1
}
PG_ABS_SRCDIR=$PWD PG_LIBDIR=/none PG_DLSUFFIX=.so
export PG_ABS_SRCDIR PG_LIBDIR PG_DLSUFFIX
if [ "$1" = set_up ]; then
	for method in heap isoscope; do
		psql -qX -c "CREATE SCHEMA own"
		PGOPTIONS="-c search_path=own -c default_table_access_method=$method"
		export PGOPTIONS
		begin
		pass $method
		unset PGOPTIONS
		clear own 2>/dev/null
	done
	psql -qX -c 'CREATE SCHEMA own' -c 'ALTER ROLE isoscope RESET ALL'
	PGOPTIONS='-c search_path=own' begin
else
	PGOPTIONS='-c search_path=own'
	export PGOPTIONS
	pass served
fi
true
END
export files
run 0 serve -i ser --policy latest --setup 'sh passes.sh set_up' -- sh passes.sh served
cp "$top/tests/regress/differences" .
for way in isoscope served; do
	for file in $files; do
		python3 "$top/tests/regress/compare.py" heap $way "$file" differences \
			>out 2>err && pass || fail "$file, $way"
	done
done
finish
