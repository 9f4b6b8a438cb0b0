#!/bin/sh
# Counterexamples are tried on an unmodified PostgreSQL; what is written for
# isolationtester and for psql shows them again, on a server of the test's own.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
programs=$top/programs/sql

# Who updates a row waits for who has updated it, and then overwrites it.
cat >lost.spec <<'END_OF_SPEC'
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0); }
session ann
step a { BEGIN; SELECT v FROM t WHERE id = 1; }
step b { UPDATE t SET v = 1 WHERE id = 1; }
step c { COMMIT; }
session "ben's"
step d { BEGIN; SELECT v FROM t WHERE id = 1; UPDATE t SET v = 2 WHERE id = 1; }
step e { SELECT 'a\b' AS s; COMMIT; }
assert "it's lost" { SELECT v < 2 OR (SELECT v FROM d) > 0 OR
	(SELECT v FROM a) > 0 FROM t }
END_OF_SPEC
run 1 explore --confirm --html page.html --reproduce lost-again.spec -i prc lost.spec
if ! grep -q 'onfirmed on' out; then
	grep 'without PostgreSQL\|is missing' err
	finish
	exit
fi
prints 'Confirmed on an unmodified PostgreSQL at READ COMMITTED'
prints 'COMMIT  '
equal page "$(grep -c 'Confirmed on an unmodified' page.html)" 1

# One each, at PostgreSQL's own levels.
for name in bookings courseware inventory on-call overdraft smallbank; do
	for level in prc si; do
		[ -z "${ISOSCOPE_QUICK:-}" ] || continue
		run 1 explore --confirm -i $level "$programs/$name.spec"
		equal "$name at $level" "$(grep -c '^  Confirmed' out)" \
			"$(grep -c '^  This \(is\|history\)' out)"
	done
done

# What PostgreSQL has no schedule for, and why; a random run.
run 1 explore --confirm -i rc "$programs/seats.spec"
prints 'Not possible on PostgreSQL: rc allows it'
if [ -z "${ISOSCOPE_QUICK:-}" ]; then
	run 1 explore --confirm --json -i rc "$programs/seats.spec"
	prints '"answer":"not possible"'
fi
run 0 explore --confirm "$programs/seats.spec"
run 1 run --confirm --json -i prc --runs 100 "$programs/on-call.spec"
prints '"confirmed":{"confirmed":1,"of":1}'

# What is predicted, once the program has run along it.
run 1 predict --program lost.spec -i prc --confirm --reproduce predicted.sh
prints '; confirmed on an unmodified PostgreSQL'
prints '  Confirmed on an unmodified PostgreSQL at READ COMMITTED:'
equal 'the title' "$(sed -n 2p predicted.sh)" \
	'# not serializable, predicted from lost.spec, seed 1'
run 0 record -o lost.jsonl lost.spec
run 1 predict lost.jsonl --validate lost.spec -i prc --confirm --json \
	--histories predicted.jsonl
prints '"confirmed":{"confirmed":1,"of":1}'
prints '"confirmation":{"confirmed":true,"answer":"confirmed"'
equal 'histories' "$(grep -c '"validated":true,"confirmed":true' \
	predicted.jsonl)" 1
run 1 predict --program lost.spec -i rc --confirm --runs 2
equal 'none of them' "$(grep -c '^    confirmed  *0$' out)" 1
prints 'Not possible on PostgreSQL: rc allows it'
run 1 predict --program "$programs/smallbank.spec" -i si --confirm
prints '  Confirmed on an unmodified PostgreSQL at REPEATABLE READ:'
run 2 predict lost.jsonl --confirm
says '--confirm needs the program that the history is of'
run 2 predict --program lost.spec --reproduce predicted.sh
says '--reproduce needs --confirm'

run 1 explore --confirm -i prc --reproduce lost.sh lost.spec
run 2 explore --reproduce lost.sh lost.spec
says '--reproduce needs --confirm'
run 2 explore --confirm --reproduce lost.txt lost.spec
says "FILE.spec, for isolationtester, or FILE.sh, for psql; not 'lost.txt'"
run 2 explore --confirm --levels lost.spec
says '--confirm cannot be used with --levels'
raise_program >raise.tx
run 3 explore --confirm raise.tx
says '--confirm: it is for programs in SQL'
run 3 predict --confirm --program raise.tx
says '--confirm: it is for programs in SQL'
run 0 explore --confirm --reproduce none.sh -i prc "$programs/seats.spec"
says "nothing was confirmed, so 'none.sh' was not written"
rm -rf none.sh

# A server as Debian's packages have it.
bin=/usr/lib/postgresql/15/bin
tester=/usr/lib/postgresql/15/lib/pgxs/src/test/isolation/isolationtester
if [ ! -x $bin/initdb ] || ! command -v psql >/dev/null; then
	finish
	exit
fi
as=
[ "$(id -u)" != 0 ] || as='setpriv --reuid postgres --regid postgres --init-groups'
server=$(mktemp -d /tmp/isoscope-confirm-XXXXXX)
chmod 777 "$server"
trap '$as $bin/pg_ctl -D "$server/data" -m immediate stop >/dev/null 2>&1
	rm -rf "$server" "$work"' EXIT
(cd "$server" && $as $bin/initdb -D data -U test -A trust --no-locale -E UTF8 \
	--no-sync >/dev/null 2>&1 &&
	$as $bin/pg_ctl -D data -w -l "$server/log" \
		-o "-k $server -h '' -F" start >/dev/null)
PGHOST=$server PGUSER=test PGDATABASE=postgres
export PGHOST PGUSER PGDATABASE

# at_the_end WHAT: what is left of the table, which ends then.
at_the_end() {
	equal "$1" "$(psql -XAtqc 'SELECT v FROM t; DROP TABLE t')" 2
}
if [ -x "$tester" ]; then
	$tester 'dbname=postgres' <lost-again.spec >tested 2>&1
	equal 'isolationtester' $? 0
	equal 'who waits' "$(grep -c 'waiting' tested)" \
		"$(grep -c '([^ ]*_[0-9]*")' lost-again.spec)"
	equal 'errors' "$(grep -c ERROR tested)" 0
	at_the_end 'the row after isolationtester'
fi
sh lost.sh >tested 2>&1
equal 'the script' $? 0
equal 'errors' "$(grep -c ERROR tested)" 0
at_the_end 'the row after the script'
finish
