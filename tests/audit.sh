#!/bin/sh
# isoscope audit, from outside: its output, exit codes, and the number of classes
# and operations in the logs of the applications that IsoDiff measured. Whole
# logs are read from the folder ISOSCOPE_LOGS, if it is set.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
logs=$top/tests/logs

# measured NAME: what --json says of it.
measured() {
	sed -n "s/.*\"stats\":{.*\"$1\":\([0-9]*\).*/\1/p" out
}
# within NAME VALUE WANTED PERCENT
within() {
	off=$((100 * ($2 - $3)))
	[ "$off" -ge 0 ] || off=$((-off))
	if [ "$off" -le $(($3 * $4)) ]; then
		pass
	else
		fail "$1: $2, not within $4 % of $3"
	fi
}

run 1 audit "$logs/shoppe.log" --schema "$logs/shoppe_schema.csv"
prints 'violated: 20 anomalies are possible under PostgreSQL'
prints 'protecting 15 columns removes all of them, and nothing cheaper does'
prints 'add FOR UPDATE'
prints 'classes                  28  of 102 transactions'
prints 'operations              548  reads and writes of columns'
run 1 audit "$logs/shoppe.log" --schema "$logs/shoppe_schema.csv" --json -i rc
[ "$(measured classes)" = 28 ] && [ "$(measured operations)" = 548 ] && pass ||
	fail 'classes and operations'
prints '"verdict":"violated"'
prints '"edges":[{"kind":"rw"'
cp out first
run 1 audit "$logs/shoppe.log" --schema "$logs/shoppe_schema.csv" --json -i rc
sed 's/"[a-z_]*seconds":[0-9.]*//g' first >once
sed 's/"[a-z_]*seconds":[0-9.]*//g' out >twice
cmp -s once twice && pass || fail 'the same output twice'
run 1 audit "$logs/shoppe.log" --schema "$logs/shoppe_schema.csv" --explain 7
prints 'anomaly 7: lost update'
prints 'A reads shoppe_orders.'
prints 'B writes shoppe_orders.'
run 2 audit "$logs/shoppe.log" --explain 1000
says 'there is no anomaly 1000'
run 0 audit "$logs/shoppe.log" -i ser
prints 'holds: no anomaly is possible under Serializability (ser)'
run 1 audit "$logs/shoppe.log" "$logs/lfs.log" -q
prints 'violated: '
run 1 audit "$logs/lfs.log" -i postgres-repeatable-read
prints 'Snapshot Isolation (si), as postgres-repeatable-read'

# What the manual shows.
cat >shop.log <<-END
	2026-01-02 10:20:30.1 UTC [71] LOG:  statement: BEGIN
	2026-01-02 10:20:30.1 UTC [71] LOG:  statement: SELECT n FROM stock WHERE id = 5
	2026-01-02 10:20:30.2 UTC [72] LOG:  statement: SELECT sum(n) FROM stock
	2026-01-02 10:20:30.2 UTC [71] LOG:  statement: UPDATE stock SET n = 7 WHERE id = 5
	2026-01-02 10:20:30.3 UTC [71] LOG:  statement: COMMIT
END
echo 'CREATE TABLE stock (id int PRIMARY KEY, n int);' >shop.sql
run 1 audit shop.log --schema shop.sql
awk '/^    violated: 1 anomaly is possible.*[(]prc[)]$/ { on = 1 }
	on { sub(/^    /, ""); print }
	/^reads  / { on = 0 }' "$top/docs/manual.md" >shown
cmp -s shown out && pass || fail 'what the manual shows'
run 0 audit shop.log --schema shop.sql -i si

# The transactions as a program: what varies is a parameter.
cat >>shop.log <<-END
	2026-01-02 10:20:30.1 UTC [73] LOG:  statement: BEGIN
	2026-01-02 10:20:30.1 UTC [73] LOG:  execute s: SELECT n FROM stock WHERE id = \$1
	2026-01-02 10:20:30.1 UTC [73] DETAIL:  parameters: \$1 = '6'
	2026-01-02 10:20:30.2 UTC [73] LOG:  statement: UPDATE stock SET n = 8 WHERE id = 6
	2026-01-02 10:20:30.3 UTC [73] LOG:  statement: COMMIT
END
run 1 audit shop.log --schema shop.sql --program lifted.sql -q
says 'lifted.sql: functions for 2 of 2 classes'
cat >wanted.sql <<-'END'
	CREATE TABLE stock (id int PRIMARY KEY, n int);


	-- T1, shop.log:2: SELECT t1(5, 7)
	CREATE FUNCTION t1(p1 int4, p2 int4) RETURNS void LANGUAGE sql AS $lifted$
	  SELECT n FROM stock WHERE id = p1;
	  UPDATE stock SET n = p2 WHERE id = p1;
	$lifted$;

	-- T2, shop.log:3: SELECT t2()
	CREATE FUNCTION t2() RETURNS void LANGUAGE sql AS $lifted$
	  SELECT sum(n) FROM stock;
	$lifted$;
END
cmp -s wanted.sql lifted.sql && pass || fail 'the lifted program'
cp shop.log input.log
for option in --program --html; do
	run 2 audit input.log "$option" input.log
	says "$option would overwrite the log 'input.log'"
	run 2 audit shop.log --schema input.log "$option" input.log
	says "$option would overwrite 'input.log', the file of --schema"
done
cmp -s shop.log input.log && pass || fail 'an input was overwritten'
run 1 audit shop.log --program - --schema shop.sql -q
cmp -s wanted.sql out && pass || fail 'the lifted program on the standard output'
# Numbers that the column has no room for, and the end of the body in a literal.
cat >odd.log <<-'END'
	2026-01-02 10:20:30.1 UTC [71] LOG:  statement: SELECT '$lifted$' FROM stock WHERE n > 1.5e3
	2026-01-02 10:20:30.1 UTC [71] LOG:  statement: SELECT '$lifted$' FROM stock WHERE n > 2
END
run 0 audit odd.log --schema shop.sql --program odd.sql -q
says 'functions for 1 of 1 classes'
grep -q 't1(p1 numeric).*AS \$lifted1\$' odd.sql && pass || fail 'odd.sql'
run 0 explore odd.sql --session 'a: SELECT t1(1.5e3)'
echo 'INSERT INTO stock VALUES (5, 1);' >>lifted.sql
run 1 explore lifted.sql --robust --session 'a: SELECT t1(5, 7)' --session 'b: SELECT t1(5, 8)'
run 0 explore lifted.sql --robust --session 'a: SELECT t1(5, 7)' --session 'b: SELECT t2()'
run 1 audit shop.log --schema shop.sql --confirm --explain 1
prints 'exploring: confirmed'
sed -n '/^setup/,/^isolation/p' out >cycle.spec
run 1 explore cycle.spec --robust
# Rows that are inserted together have keys of each transaction's own.
cat >rows.log <<-END
	2026-01-02 10:20:30.1 UTC [71] LOG:  statement: BEGIN
	2026-01-02 10:20:30.1 UTC [71] LOG:  statement: SELECT n FROM stock WHERE id = 5
	2026-01-02 10:20:30.2 UTC [71] LOG:  statement: INSERT INTO stock (id, n) VALUES (6, 1), (7, 2)
	2026-01-02 10:20:30.2 UTC [71] LOG:  statement: UPDATE stock SET n = 7 WHERE id = 5
	2026-01-02 10:20:30.3 UTC [71] LOG:  statement: COMMIT
END
run 1 audit rows.log --schema shop.sql --confirm
prints '1 confirmed, 2 another anomaly, 0 refuted, 0 inconclusive'
# Rows that no condition meets: the cycles are of columns, and the proof sees it,
# if what is the same in every transaction of the log always is.
once() {
	for s in BEGIN "SELECT n FROM stock WHERE id $2" "UPDATE stock SET n = $1$3" COMMIT; do
		echo "2026-01-02 10:20:3$1.1 UTC [71] LOG:  statement: $s"
	done
}
twice() {
	for n in 1 2; do
		once $n "$1" ' WHERE id = 5'
		once $n "$2" ', m = 1 WHERE id = 6'
	done
}
echo 'CREATE TABLE stock (id int PRIMARY KEY, n int, m int);' >far.sql
twice '> 100' '> 200' >far.log
run 1 audit -i si far.log --schema far.sql
run 0 audit -i si far.log --schema far.sql --prove
prints 'holds: no anomaly is possible under Snapshot Isolation (si), if values that are always the same in the logs always are'
prints 'T1: stock.id at far.log:2 is always 100'
prints 'T2: stock.id at far.log:7 is always 6'
prints '4 by proof'
run 0 audit -i si far.log --schema far.sql --prove --confirm --json
prints '"protect":[],'
prints '"assumed":["T1: stock.id at far.log:2 is always 100",'
prints '"cleared_by_proof":4'
# It writes what was proved. What was seen once may be any value.
run 0 audit -i si far.log --schema far.sql --prove --program proved.sql -q
run 0 prove proved.sql -i si
head -8 far.log >once.log
run 1 audit -i si once.log --schema far.sql --prove --json
prints '"assumed":[],'
prints '"not_proved":"this happens: t'
twice '< 100' '< 200' >near.log
run 1 audit -i si near.log --schema far.sql --prove
prints 'of all transactions together: none, since this happens: t'
# What the functions cannot tell: lists, several ways to write it, loops.
twice 'IN (100, 101)' '> 200' >list.log
run 1 audit -i si list.log --schema far.sql --prove
prints 'none, since T1 has no function: the statement at list.log:2 has a list or rows of any number'
sed '10s/>/>=/' far.log >ways.log
run 1 audit -i si ways.log --schema far.sql --prove
prints 'none, since T1 has no function: the statement at ways.log:2 is written in several ways'
sed '3p;3p;3p' far.log >loop.log
run 1 audit -i si loop.log --schema far.sql --prove
prints 'none, since loops of the log may have more rounds than are read'
run 2 audit far.log --group-by connection --prove
run 1 audit shop.log --schema shop.sql --confirm -i rc
prints '0 confirmed, 0 another anomaly, 0 refuted, 2 inconclusive'
run 1 audit shop.log --schema shop.sql --confirm --json
prints '"exploring":{"answer":"confirmed","why":null'
run 1 audit "$logs/shoppe.log" --schema "$logs/shoppe_schema.csv" --program lifted.sql -q
says 'functions for 28 of 28 classes'
run 0 explore lifted.sql --session 'a: SELECT 1'

# Statements of one request that should be one transaction.
cat >calls.log <<-END
	2026-01-02 10:20:30.1 UTC [71] LOG:  statement: SELECT n FROM stock WHERE id = 5 /*request_id='a1',route='%2Fbuy'*/
	2026-01-02 10:20:30.2 UTC [72] LOG:  statement: UPDATE stock SET n = 7 WHERE id = 5 /*request_id='a1',route='%2Fbuy'*/
END
run 0 audit calls.log --schema shop.sql
run 1 audit calls.log --schema shop.sql --group-by request:request_id
prints '1 of them where a call should be one transaction'
awk '/^    violated: 1 anomaly is possible.*, 1 of them/ { on = 1 }
	on { sub(/^    /, ""); print }
	/^reads  / { on = 0 }' "$top/docs/manual.md" >shown
cmp -s shown out && pass || fail 'what the manual shows of calls'
run 1 audit calls.log --schema shop.sql --group-by request:request_id -i ser --json
prints '"change":"put both in one transaction","one_transaction":true'
run 1 audit calls.log --schema shop.sql --group-by request:request_id --explain 1
prints 'commits, and begins another transaction'
run 2 audit calls.log --group-by request
says "not 'request'"
run 2 audit calls.log --group-by connection --confirm
says '--confirm does not go with it'

# Only one transaction reads and writes: nothing can go wrong.
printf '\t\t 1 Query\tSELECT a FROM t\n' >one.log
run 0 audit one.log
prints 'holds: no anomaly is possible'
printf '\t\t 1 Query\tCALL f(1)\n\t\t 1 Query\tSELECT FROM WHERE\n' >odd.log
run 4 audit odd.log
prints 'inconclusive: no anomaly, but not all statements could be read'
prints 'odd.log:1: what this statement does is not known'
prints 'odd.log:2: syntax error'
printf '\t\t 1 Query\tSELECT a FROM t\n' | "$ISOSCOPE" audit - >out 2>err
[ $? -eq 0 ] && pass || fail 'the standard input'

printf '\t\t 1 Query\tSELECT "\351", \377 FROM t\n' >latin.log
run 0 audit latin.log --json
iconv -f UTF-8 -t UTF-8 out >/dev/null && pass || fail 'JSON that is UTF-8'

run 2 audit
says 'audit needs a log'
run 2 audit one.log -i cc
says 'not cc'
run 3 audit none.log
says 'No such file'
: >empty.log
run 3 audit empty.log
says 'it is empty'
run 3 audit .
says 'it cannot be read'
run 3 audit "$ISOSCOPE"
says 'no entry of a MySQL general log'
run 3 audit one.log --hints one.log
says "there is no hint '1'"
run 3 audit one.log --schema odd.log
says 'this is no line'

# Classes within 10 %, and operations within 20 %, of what was published.
if [ -n "${ISOSCOPE_LOGS:-}" ]; then
	while read -r name classes operations; do
		run 1 audit "$ISOSCOPE_LOGS/$name.log" --schema \
			"$ISOSCOPE_LOGS/${name}_schema.csv" --json
		within "$name classes" "$(measured classes)" "$classes" 10
		within "$name operations" "$(measured unfolded)" \
			"$operations" 20
		search=$(sed -n 's/.*"search_seconds":\([0-9]*\)\..*/\1/p' out)
		[ "$search" -lt 1 ] && pass || fail "$name: $search s"
	done <<-END
		shoppe 28 548
		lfs 77 1365
		opencart 75 890
		prestashop 210 2834
		woocommerce 55 999
	END
	# What is kept are classes: memory does not grow with the log.
	for _ in $(seq 30); do cat "$ISOSCOPE_LOGS"/*.log; done >many.log
	for _ in 1 2 3; do cat many.log; done >long.log
	for log in many.log long.log; do
		/usr/bin/time -f %M -o "$log.kb" "$ISOSCOPE" audit $log -q >out
	done
	[ "$(tail -1 long.log.kb)" -lt $(($(tail -1 many.log.kb) * 2)) ] &&
		pass || fail "$(tail -1 many.log.kb), $(tail -1 long.log.kb) KB"
	rm many.log long.log
else
	echo "skipped: whole logs (ISOSCOPE_LOGS names their folder)"
fi

finish
