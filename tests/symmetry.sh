#!/bin/sh
# isoscope explore --symmetry: the same histories, violations and verdicts as
# without it, from as many classes as it says; declarations of symmetric
# sessions from outside. Arguments: programs, else a choice.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

# counts FILE: what must be the same with and without symmetry.
counts() {
	tr '{,' '\n\n' <"$1" | tr -d '}]' |
		grep -E '^"(verdict|histories|unserializable|violated)":'
}

run_any() {
	what="isoscope $*"
	"$ISOSCOPE" "$@" >out 2>err </dev/null
	code=$?
	case $code in
	0 | 1) ;;
	*) fail "$what: exit code $code" ;;
	esac
}

# member NAME: a number of the JSON that was printed.
member() {
	tr '{,' '\n\n' <out | sed -n "s/^\"$1\":\([0-9]*\).*/\1/p" | head -n 1
}

compare() {
	run_any explore "$1" -i "$2" --robust --json
	plain=$code
	counts out >expected
	run_any explore "$1" -i "$2" --robust --json --symmetry -j "$3" \
		--histories lines
	equal "$what: exit code" $code $plain
	counts out >found
	same "$what" found expected
	if ! grep -q '"classes":' out; then
		says 'no two sessions are interchangeable'
		return
	fi
	classes=$((classes + 1))
	equal "$what: classes" "$(wc -l <lines)" "$(member classes)"
	sum=$(sed 's/.*"stands_for":\([0-9]*\).*/\1/' lines |
		awk '{ n += $1 } END { print n }')
	equal "$what: stands_for" "$sum" "$(member histories)"
}

if [ $# -eq 0 ]; then
	cd "$top" || exit 99
	set -- programs/examples/on-call.tx programs/litmus/[d-ln-s]*.tx \
		programs/scale/symmetric/*-[23].tx
	cd "$work" || exit 99
fi
classes=0
for program; do
	case $program in
	/*) ;;
	*) program=$top/$program ;;
	esac
	for level in cc si; do compare "$program" $level 1; done
done
if [ $classes -gt 10 ]; then pass; else fail "$classes with classes"; fi

compare "$top/programs/scale/symmetric/wikipedia-watches-4.tx" cc 2
run 0 explore "$top/programs/scale/symmetric/tpcc-orders-4.tx" -i cc \
	--symmetry
prints '777  that stand for them'
prints 's1, s2, s3 and s4 are interchangeable'

# Names that tell sessions apart.
cat >call.tx <<'END'
isolation si;
global on_call["ann"] = true;
global on_call["ben"] = true;
txn go_home(me, other) {
    if (on_call[me] && on_call[other]) {
        on_call[me] = false;
        return true;
    }
    return false;
}
session ann { let gone = go_home("ann", "ben"); assert !gone; }
session ben { let gone = go_home("ben", "ann"); assert !gone; }
symmetric ann, ben;
assert ann.gone == null || !ann.gone;
assert "somebody stays" : !(ann.gone && ben.gone);
END
compare "$work/call.tx" si 1
run 1 explore call.tx --symmetry
prints 'ann and ben are interchangeable'
prints '2  that stand for them'

# All levels, each by itself.
run_any explore call.tx --levels --json
tr '{,' '\n\n' <out | grep '"histories":' >expected
run_any explore call.tx --levels --json --symmetry
tr '{,' '\n\n' <out | grep '"histories":' >found
same "$what" found expected

run 0 fmt call.tx
same 'layout of symmetric' out call.tx
sed 's/^symmetric/  symmetric  /; s/ann, ben;$/ann\n,ben ;/' call.tx >loose.tx
run 0 fmt loose.tx
prints 'symmetric ann, ben;'

sed 's/"ben"\] = true/"ben"] = false/' call.tx >wrong.tx
run 3 explore wrong.tx --symmetry
says 'wrong.tx:2:8: error: this key begins with true'
says 'declared symmetric here'
run 3 compile wrong.tx

# Sessions in SQL whose statements have the same text.

# sql_program SEED: a specification of two or three such sessions, and of one
# with another text; assertions name some of them.
sql_program() {
	awk -v seed="$1" 'function below(n) { return int(rand() * n) }
		function statement(kind, k) {
			kind = below(6)
			k = 1 + below(2)
			if (kind == 0) return "SELECT v FROM x WHERE k = " k
			if (kind == 1) return "SELECT sum(v) AS v FROM x"
			if (kind == 2)
				return "UPDATE x SET v = v + " k " WHERE v < 2 RETURNING v"
			if (kind == 3)
				return "SELECT v FROM x WHERE k = " k " FOR UPDATE"
			if (kind == 4)
				return "INSERT INTO x SELECT max(k) + 1, " k " FROM x RETURNING v"
			return "DELETE FROM x WHERE v = " k " RETURNING v"
		}
		function steps(n, t, i) {
			for (t = 1; t <= n; t++) {
				text[t] = "{ BEGIN;"
				for (i = below(2); i < 2; i++) text[t] = text[t] " " statement() ";"
				text[t] = text[t] (below(5) ? " COMMIT; }" : " ROLLBACK; }")
			}
		}
		function session(name, n, t) {
			print "session " name
			for (t = 1; t <= n; t++) print "step " name t " " text[t]
		}
		BEGIN {
			srand(seed)
			print "setup { CREATE TABLE x (k int PRIMARY KEY, v int);" \
				" INSERT INTO x VALUES (1, 0), (2, 1); }"
			n = 1 + below(2)
			many = n == 1 ? 3 : 2
			steps(n)
			session("a", n)
			session("b", n)
			steps(1)
			session("other", 1)
			if (many == 3) { steps(1); session("c", 1); session("d", 1) }
			print "assert { SELECT count(*) < 2 FROM a1, b1 WHERE a1.v = b1.v }"
			print "assert { SELECT a1.error IS NULL OR other1.error IS NULL }"
			print "assert { SELECT coalesce(sum(v), 0) <> 3 FROM x }"
		}'
}
seed=${ISOSCOPE_SEED:-$(date +%s)}
echo "ISOSCOPE_SEED=$seed"
classes=0
for n in 1 2 3 4 5 6 7 8; do
	sql_program $((seed * 100 + n)) >random.spec
	for level in prc si; do compare "$work/random.spec" $level 1; done
done
if [ $classes -gt 10 ]; then pass; else fail "$classes of SQL with classes"; fi

# What keeps sessions of the same text apart.
cat >rows.spec <<'END'
setup { CREATE TABLE x (v int); CREATE TABLE y (k serial PRIMARY KEY, v int); }
session a
step a { INSERT INTO x VALUES (1); }
session b
step b { INSERT INTO x VALUES (1); }
END
run 0 explore rows.spec --symmetry
says 'rows without a primary key are known by the session that inserts them'
sed 's/INTO x VALUES (1)/INTO y (v) VALUES (1)/' rows.spec >drawn.spec
run 0 explore drawn.spec --symmetry
says 'each draws numbers of its own from a sequence'
sed 's/INTO x VALUES (1)/INTO y VALUES (1, 1)/' rows.spec >keys.spec
run 0 explore keys.spec --symmetry
says 'each draws numbers of its own from a sequence'
sed 's/k serial/k int/' keys.spec >plain.spec
run 0 explore plain.spec --symmetry
prints 'a and b are interchangeable'
sed '$ s/1, 1/1, 2/' plain.spec >other.spec
run 0 explore other.spec --symmetry
says 'no two have the same statements'

finish
