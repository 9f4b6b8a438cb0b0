#!/bin/sh
# isoscope audit of what a PostgreSQL 15 writes: csvlog, jsonlog and the lines on
# stderr of the same sessions, by the simple and the extended protocol, with
# several statements in a message, errors and rollbacks; and what its
# pg_stat_statements has.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
bin=/usr/lib/postgresql/15/bin
if ! [ -x $bin/initdb ] || ! [ -x $bin/pgbench ]; then
	echo "skipped: no PostgreSQL writes logs (install postgresql-15)"
	finish
	exit
fi

folder=$(mktemp -d /tmp/isoscope-logs-XXXXXX)
chmod 777 "$folder"
as=
[ "$(id -u)" -ne 0 ] ||
	as='setpriv --reuid postgres --regid postgres --init-groups'
(cd "$folder" && $as $bin/initdb -D data -U test -A trust --no-locale -E UTF8 \
	--no-sync) >init 2>&1 || { cat init; fail 'initdb'; }
(cd "$folder" && exec $as $bin/postgres -D data -k "$folder" -h '' -F \
	-c logging_collector=on -c log_directory="$folder/logs" \
	-c log_filename=server -c log_file_mode=0644 \
	-c log_destination=stderr,csvlog,jsonlog \
	-c log_statement=all -c log_disconnections=on \
	-c shared_preload_libraries=pg_stat_statements >start 2>&1) &
server=$!
trap 'kill -QUIT $server 2>/dev/null; rm -rf "$folder"' EXIT
sql() {
	psql -X -q -h "$folder" -U test postgres "$@" >said 2>&1
}
what='the server'
soon sql -c 'SELECT 1'

cat >schema.sql <<-END
	CREATE TABLE stock (id int PRIMARY KEY, n int);
END
sql -c 'CREATE EXTENSION pg_stat_statements' -f schema.sql
sql -c 'SELECT pg_stat_statements_reset()'
# Two at once, so that their lines are mixed.
cat >buy <<-'EOF'
	\set id random(1, 2)
	BEGIN;
	SELECT n FROM stock
	WHERE id = :id;
	UPDATE stock SET n = n - 1 WHERE id = :id;
	END;
EOF
for protocol in simple extended prepared; do
	$bin/pgbench -n -h "$folder" -U test -M $protocol -c 2 -t 10 -f buy \
		postgres >pgbench 2>&1 || { cat pgbench; fail pgbench; }
done
cat >more.sql <<-'END'
	SELECT sum(n) FROM stock \; INSERT INTO stock VALUES (7, 1);
	SELECT n / 0 FROM stock WHERE id = 7;
	SELECT FROM WHERE;
	SELECT n FROM stock WHERE id = 7 AND id = 'x"y';
	BEGIN;
	DELETE FROM stock;
	SELECT 'it''s, "quoted"
	over lines';
	ROLLBACK;
	BEGIN;
	DELETE FROM stock WHERE id = 7;
	SELECT FROM WHERE;
	COMMIT;
	BEGIN; SAVEPOINT s; INSERT INTO stock VALUES (7, 2); ROLLBACK TO s; DELETE FROM stock WHERE id = 8; COMMIT;
END
sql -f more.sql
# Sessions are logged as they end.
what='ends of sessions'
soon sh -c "[ \"\$(grep -c disconnection: '$folder/logs/server')\" -ge 10 ]"
sql -c "\\copy (SELECT query, calls FROM pg_stat_statements) TO '$folder/queries.csv' csv header"
psql -X -h "$folder" -U test postgres -c \
	'SELECT calls, query, rows FROM pg_stat_statements' >queries.txt 2>err
psql -X -h "$folder" -U test postgres -P border=2 -P linestyle=ascii -c \
	'SELECT query, calls FROM pg_stat_statements' >bordered.txt 2>err
cp "$folder"/logs/server* "$folder/queries.csv" .

for log in server server.csv server.json; do
	run 1 audit "$log" --schema schema.sql --json
	# Instances and statements of each class that has a table.
	grep -o '"instances":[0-9]*,"statements":[0-9]*,"operations":[0-9]*' \
		out >"$log.classes"
	prints '"skipped":[]'
	for class in '"instances":60,"statements":2,"operations":5' \
		'"instances":1,"statements":2,"operations":3'; do
		grep -q "$class\$" "$log.classes" && pass ||
			fail "$log has no class $class"
	done
	cmp -s server.classes "$log.classes" && pass ||
		fail "$log: other classes"
	# A division by 0, what is no number, ROLLBACK, and the transaction with
	# a statement that was not parsed.
	prints '"rolled_back":4,'
	run 1 audit "$log" --schema schema.sql
	prints 'lost update: stock.n, read by'
done
for log in queries.csv queries.txt bordered.txt; do
	run 1 audit "$log" --schema schema.sql --json
	prints '"format":"pg_stat_statements"'
	prints '"skipped":[]'
	prints '"instances":60,"statements":1,"operations":2'
	prints '"instances":60,"statements":1,"operations":3'
done

# TPC-C, as terminals run it. What IsoDiff's paper has of it at Read Committed is
# there; at Snapshot Isolation no update is lost.
tpcc=$top/tests/logs
sql -c 'DROP TABLE stock' -f "$tpcc/tpcc.sql"
: >"$folder/logs/server.csv"
for d in 1 2; do
	for c in 1 2 3; do
		sql -v ON_ERROR_STOP=1 -v d=$d -v c=$c -f "$tpcc/tpcc-run.sql" ||
			{ cat said; fail 'TPC-C runs'; }
	done
done
what='the end of the last terminal'
soon sh -c "[ \"\$(grep -c disconnection: '$folder/logs/server.csv')\" -ge 6 ]"
cp "$folder/logs/server.csv" tpcc.csv
for level in rc prc; do
	run 1 audit -i $level tpcc.csv --schema "$tpcc/tpcc.sql"
	prints 'lost update: district.d_next_o_id'
	prints 'lost update: stock.s_quantity'
	prints 'lost update: customer.c_balance, read by T2'
	prints 'read skew: customer.c_balance, read by T3'
	prints 'read skew: orders.o_carrier_id, read by T3'
	grep -q '^classes  *5  of 30 transactions' out && pass || fail 'classes of TPC-C'
done
run 1 audit -i si tpcc.csv --schema "$tpcc/tpcc.sql"
for word in 'lost update' d_next_o_id s_quantity 'read skew'; do lacks "$word"; done
# Orders have numbers of their own, which the paper's authors told by hand.
printf 'unique %s\n' new_order.no_o_id orders.o_id order_line.ol_o_id >tpcc.hints
run 0 audit -i si tpcc.csv --schema "$tpcc/tpcc.sql" --hints tpcc.hints
run 1 audit -i rc tpcc.csv --schema "$tpcc/tpcc.sql" --hints tpcc.hints
prints 'lost update: district.d_next_o_id'
prints 'lost update: customer.c_balance, read by T2'
finish
