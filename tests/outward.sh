#!/bin/sh
# isoscope explore --from: the command from outside, and held against the
# exploration without an observed history.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

# observe PROGRAM FILE: a serializable history of the program.
observe() {
	"$ISOSCOPE" explore -i ser --max-histories 1 -q --histories - "$1" \
		>"$2" 2>err
	[ "$(wc -l <"$2")" -eq 1 ] || fail "no history of $1"
}

cat >lost.tx <<'END'
global x = 0;
txn add() { let v = x; x = v + 1; return v; }
session a { let r = add(); }
session b { let r = add(); }
assert "only one can be first" : !(a.r == 0 && b.r == 0);
END
cat >fork.tx <<'END'
global x = 0;
global y = 0;
session a { txn { x = 1; } }
session b { txn { y = 1; } }
session c { let r = look(); }
session d { let r = look(); }
txn look() { return (x, y); }
END
observe lost.tx lost.jsonl
observe fork.tx fork.jsonl

# --- what is found ---
run 1 explore lost.tx --from lost.jsonl
prints 'violated: a history with 1 changed read is not serializable, and the'
prints ' add reads x from init, observed from '
prints 'lost update'
prints 'changed reads             1  at most; all histories with fewer'
run 1 explore lost.tx --from lost.jsonl -q
[ "$(wc -l <out)" -eq 1 ] && pass || fail '-q prints a line'
run 0 explore lost.tx --from lost.jsonl -i si
prints 'holds: every history is serializable, and the assertion is true in it'
run 1 explore fork.tx --from fork.jsonl
prints 'violated: a history with '
prints 'long fork'
run 1 explore lost.tx --from lost.jsonl --json
for member in '"algorithm":"outward"' '"changes":1' '"changed_reads":[{' \
	'"found":"init"' '"from":{"trace":"lost.jsonl","reproduced":true'; do
	prints "$member"
done
run 1 explore lost.tx --from lost.jsonl --dot g.dot
grep -q digraph g.dot && pass || fail 'no picture'
"$ISOSCOPE" explore lost.tx -q --from - <lost.jsonl >out 2>err
if [ $? -eq 1 ]; then pass; else fail 'a trace from the standard input'; fi

# --- with a limit ---
run 0 explore lost.tx --from lost.jsonl --max-changes 0
prints 'every history with no changed read is serializable'
prints '; any with more were not explored'
run 1 explore lost.tx --from lost.jsonl --max-changes 1 --check-duplicates
prints ' 0 seen before'
prints 'fails in 1 of 2 histories:'
run 0 explore lost.tx --from lost.jsonl --max-changes 9 -i ser
prints 'every history is serializable'
run 1 explore fork.tx --from fork.jsonl --max-changes 9 --stop-on-violation
prints 'the first violation was enough'
run 4 explore fork.tx --from fork.jsonl --max-changes 9 --max-histories 1
prints 'inconclusive: the limit of histories was reached'

# --- an observed history that is none of the program ---
"$ISOSCOPE" explore lost.tx -q --histories h.jsonl >out 2>err
grep '"ser":false' h.jsonl >weak.jsonl
run 1 explore lost.tx --from weak.jsonl
prints 'violated: the observed history is not serializable'
run 0 explore lost.tx --from weak.jsonl -i si
prints 'is none of the program under si: the nearest one has 1 changed read'
run 4 explore lost.tx --from weak.jsonl -i si --max-changes 0
prints 'inconclusive: no history with no changed read exists under Snapshot'
prints 'is none of the program under si: there is none with no changed read'
prints '  open   '
lacks '  holds  '
run 4 explore lost.tx --from weak.jsonl -i si --max-changes 0 --json
prints '"verdict":"inconclusive","reason":"no history with no changed read'
run 0 explore lost.tx --from weak.jsonl -i si --json
prints '"reproduced":false,"nearest":1}'
sed 's/"name":"add"/"name":"sub"/g' lost.jsonl >other.jsonl
run 1 explore lost.tx --from other.jsonl
prints "the program does not run as observed in other.jsonl: a.1 add is not"
sed 's/"name":"b"/"name":"bb"/' lost.jsonl >other.jsonl
run 3 explore lost.tx --from other.jsonl
says "other.jsonl:1: error: lost.tx has no session 'bb'"
sed 's/\]}\],"verdict"/,{"events":[]}]}],"verdict"/' lost.jsonl >other.jsonl
run 3 explore lost.tx --from other.jsonl
says "session 'b' has 2 transactions, but lost.tx runs at most 1 in it"

# --- what cannot be read ---
run 3 explore lost.tx --from no-such.jsonl
says 'no-such.jsonl'
: >empty.jsonl
run 3 explore lost.tx --from empty.jsonl
echo '{"history":1,"sessions":[' >broken.jsonl
run 3 explore lost.tx --from broken.jsonl
says 'broken.jsonl:1:'
run 3 explore no-such.tx --from lost.jsonl

# --- usage ---
run 2 explore lost.tx --from lost.jsonl --jobs 2
says '--from explores in one thread: omit --jobs'
run 1 explore lost.tx --from lost.jsonl -j 1 -q
run 2 explore lost.tx --from lost.jsonl --max-changes few
run 2 explore lost.tx --from lost.jsonl --max-changes -1
run 2 explore lost.tx --from
for option in --base=cc --algorithm=dfs --levels --sessions-order=b,a; do
	run 2 explore lost.tx --from lost.jsonl $option
	says "--from cannot be used with ${option%=*}"
done
cp lost.jsonl kept.jsonl
run 2 explore lost.tx --from lost.jsonl --histories ./lost.jsonl
says "would overwrite 'lost.jsonl', the file of --from"
cmp -s lost.jsonl kept.jsonl && pass || fail 'the trace was overwritten'

# --- the same histories, in order of changes ---
# bare: histories without what names the program, the level and the changes.
bare() {
	sed 's/"program":"[^"]*","level":"[a-z]*",//
		s/"changes":[0-9]*,//
		s/,"verdict":{[^{}]*},"violated":.*$/}/' | sort
}

# agrees PROGRAM LEVEL: plain exploration outputs the same histories.
agrees() {
	rm -f all found
	"$ISOSCOPE" explore "$1" -i "$2" -q --histories all >out 2>err
	"$ISOSCOPE" explore "$1" -i "$2" -q --histories found --from trace \
		--max-changes 100000 >out 2>err
	bare <all >all.bare
	bare <found >found.bare
	same "histories of $1 under $2" found.bare all.bare
	sed 's/.*"changes":\([0-9]*\),.*/\1/' found >changes
	if sort -n -c changes 2>/dev/null && [ "$(head -n 1 changes)" = 0 ]
	then pass; else fail "$1 under $2: not in order of changes"; fi
}

for program in lost.tx fork.tx "$top"/programs/examples/last-seat.tx \
	"$top"/programs/examples/on-call.tx \
	"$top"/programs/examples/shopping-cart.tx; do
	observe "$program" trace
	for level in none rc ra cc pc psi si ser; do
		agrees "$program" $level
	done
done
finish
