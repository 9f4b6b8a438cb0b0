#!/bin/sh
# The program from outside: exit codes, messages, files written, and input that
# is wrong. ISOSCOPE names the binary (default ./isoscope).
set -u

ISOSCOPE=${ISOSCOPE:-./isoscope}
case $ISOSCOPE in
/*) ;;
*) ISOSCOPE=$PWD/$ISOSCOPE ;;
esac
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 99
passed=0
failed=0

pass() {
	passed=$((passed + 1))
}

fail() {
	failed=$((failed + 1))
	echo "FAIL $*"
	sed 's/^/    | /' out err | head -n 20
}

# run CODE ARGUMENT...: runs the program; its exit code is CODE.
run() {
	code=$1
	shift
	what="isoscope $*"
	"$ISOSCOPE" "$@" >out 2>err </dev/null
	found=$?
	if [ $found -eq "$code" ]; then
		pass
	else
		fail "$what: exit code $found, not $code"
	fi
}

# says TEXT, prints TEXT: on standard error, on standard output.
says() {
	if grep -qF -e "$1" err; then pass; else fail "$what: no '$1'"; fi
}
prints() {
	if grep -qF -e "$1" out; then pass; else fail "$what: no '$1'"; fi
}
prints_nothing() {
	if [ -s out ]; then fail "$what: prints something"; else pass; fi
}

# wrong TEXT EXPECTED: the program text is refused, with these words, and
# nothing is explored.
wrong() {
	printf '%s' "$1" >wrong.tx
	run 3 explore wrong.tx
	says "$2"
	prints_nothing
}

cat >lost.tx <<'END'
global x = 0;
txn add() { let v = x; x = v + 1; return v; }
session a { let r = add(); }
session b { let r = add(); }
assert "only one can be first" : !(a.r == 0 && b.r == 0);
END
cat >fine.tx <<'END'
global x = 0;
session a { txn { x = 1; } }
session b { txn { let v = x; assert v < 2; } }
END
{
	echo 'global x = 0;'
	for s in a b c d e f g h i; do
		echo "session $s { txn { let v = x; x = v + 1; }"
		echo "	txn { x += 1; } }"
	done
} >huge.tx

# --- verdicts ---
run 1 explore lost.tx
prints 'only one can be first'
prints 'lost.tx:5:1'
prints 'lost update'
prints 'psi'
run 0 explore lost.tx -i si
run 0 explore lost.tx --isolation=ser
run 1 explore lost.tx -ipc --base rc
run 1 explore lost.tx --algorithm dfs
run 0 explore fine.tx
run 0 explore fine.tx --robust
run 1 explore lost.tx --robust
run 0 explore lost.tx -i ser --robust
run 1 explore lost.tx --levels
for level in none rc ra cc pc psi si ser; do
	prints "$level"
done
sed 's/^global/isolation ser; global/' lost.tx >serial.tx
run 0 explore serial.tx
run 1 explore serial.tx -i cc

# --- results as files ---
run 1 explore lost.tx --histories h.jsonl --json
if [ "$(sort -u h.jsonl | wc -l)" -eq 3 ] && [ "$(wc -l <h.jsonl)" -eq 3 ]
then pass; else fail "three different histories are written"; fi
if grep -q '"sessions":\[{"name":"a","transactions":\[{"name":"add"' h.jsonl
then pass; else fail "histories have sessions and transactions"; fi
if tr -d ' \n' <out | grep -q '"histories":3'
then pass; else fail "the JSON result counts three histories"; fi
run 1 explore lost.tx --dot g.dot
if grep -q digraph g.dot; then pass; else fail "a graph is written"; fi
run 2 explore lost.tx --histories no/such/folder/h.jsonl
says 'no/such/folder/h.jsonl'
cp lost.tx kept.tx
run 2 explore lost.tx --histories ./lost.tx
says 'would overwrite the program'
cmp -s lost.tx kept.tx && pass || fail 'the program was overwritten'
run 2 explore lost.tx --histories both --dot both
says 'cannot both be written'
run 2 explore lost.tx --timeout 0x10
run 1 explore lost.tx --check-duplicates

# --- limits ---
run 4 explore huge.tx --max-histories 10
run 4 explore huge.tx --timeout 0.2
run 4 explore huge.tx --timeout 0.2 --json
run 1 explore lost.tx --stop-on-violation
"$ISOSCOPE" explore huge.tx >out 2>err &
pid=$!
sleep 0.5
kill -INT $pid
wait $pid
code=$?
what="interrupted"
if [ $code -eq 4 ]; then pass; else fail "interrupted: exit code $code"; fi
prints 'nconclusive'
if [ -s err ]; then fail "progress is silent when piped"; else pass; fi

# --- usage ---
run 2
run 2 explroe lost.tx
says "explore"
run 2 explore
run 2 explore lost.tx --isolaton cc
says "did you mean '--isolation'"
run 2 explore lost.tx -i sre
says "did you mean 'ser'"
run 2 explore lost.tx -i
run 2 explore lost.tx -Z
says "-Z"
run 2 explore lost.tx --base ser -i ser
run 2 explore lost.tx --base cc -i rc
run 2 explore lost.tx --max-histories many
run 2 explore lost.tx --max-histories -1
run 2 explore lost.tx --timeout soon
run 2 explore lost.tx --robust=yes
run 2 explore lost.tx --sessions-order a,c
run 0 explore lost.tx -i si --sessions-order b,a
run 0 --help
for command in explore fmt compile help version; do
	prints $command
done
run 0 explore --help
prints '--max-histories'
run 0 --version
run 0 help --man
prints '.TH'
run 0 help --completion bash
prints 'isoscope'
run 2 help --completion fish

# --- other commands ---
run 0 compile lost.tx
run 0 compile --dump lost.tx
prints 'add'
run 3 compile /dev/null
printf 'global   x=0;\nsession a{txn{x=1;}}\n' >ugly.tx
run 0 fmt ugly.tx
prints 'global x = 0;'
run 1 fmt --check ugly.tx
prints ugly.tx
run 0 fmt --write ugly.tx
run 0 fmt --check ugly.tx
run 3 fmt no-such.tx

# --- input that is wrong ---
run 3 explore no-such-file.tx
says 'no-such-file.tx'
prints_nothing
run 3 explore .
prints_nothing
wrong '' 'session'
wrong 'global x = 0;' 'session'
wrong 'global x = 0' "wrong.tx:1:13: error: expected ';'"
wrong 'global counter = 0;
session s { txn { conter = 1; } }' "did you mean 'counter'"
wrong 'global x = 0;
session s { txn { x = zzz; y = 1; } }' "wrong.tx:2:28: error: unknown name 'y'"
says "wrong.tx:2:23: error: unknown name 'zzz'"
says 'session s { txn { x = zzz; y = 1; } }'
wrong 'global x = 1 / 0;
session s { txn { x = 1; } }' 'wrong.tx:1:14: error: '
wrong 'global x = 0;
session s { for i in 0..x { txn { x = 1; } } }' 'outside a transaction'
wrong 'global x = 0;
session s { while (true) { txn { x = 1; } } }' 'wrong.tx:2:'
head -c 4000 "$ISOSCOPE" >binary.tx
run 3 explore binary.tx
says 'binary.tx'
prints_nothing
head -c 10485760 /dev/zero | tr '\0' 'a' >large.tx
run 3 explore large.tx
if [ "$(wc -c <err)" -lt 5000 ]
then pass; else fail "the message about a long line is short"; fi
head -c 10485760 /dev/zero >zeros.tx
run 3 explore zeros.tx
{
	printf 'global x = '
	head -c 100000 /dev/zero | tr '\0' '('
} >deep.tx
run 3 explore deep.tx
says 'nested deeper than'

# --- run-time errors are findings ---
finding() {
	printf 'global x = 1;\nsession s { txn {\n%s } }\n' "$1" >finding.tx
	run 1 explore finding.tx
	prints 'finding.tx:3:'
	prints "$2"
}
finding 'x = x / (x - 1);' 'zero'
finding 'x = x + 9223372036854775807;' 'overflow'
finding 'x = x + true;' 'boolean'
finding 'let l = [1, 2]; x = l[x + 1];' 'index'

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
