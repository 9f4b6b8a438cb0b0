# What the tests of the program from outside share. They begin with
#	. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
# and end with finish. Behind the first line they are in an empty folder of
# their own, ISOSCOPE is the binary (default ./isoscope of where the test was
# started) and `top` the source tree, both as absolute paths. The last run's
# standard output and error are in the files out and err.
set -u
unset COLUMNS
LC_ALL=C
export LC_ALL

ISOSCOPE=${ISOSCOPE:-./isoscope}
case $ISOSCOPE in
/*) ;;
*) ISOSCOPE=$PWD/$ISOSCOPE ;;
esac
top=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd) || exit 99
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
	cat out err 2>/dev/null | sed 's/^/    | /' | head -n 20
}

# finish: says how it went; the last command of each test.
finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
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

# says TEXT, prints TEXT, lacks TEXT: on standard error; on standard output;
# not there.
says() {
	if grep -qF -e "$1" err; then pass; else fail "$what: no '$1'"; fi
}
prints() {
	if grep -qF -e "$1" out; then pass; else fail "$what: no '$1'"; fi
}
lacks() {
	if grep -qF -e "$1" out; then fail "$what: '$1'"; else pass; fi
}
prints_nothing() {
	if [ -s out ]; then fail "$what: prints something"; else pass; fi
}
says_nothing() {
	if [ -s err ]; then fail "$what: says something"; else pass; fi
}

# equal WHAT FOUND EXPECTED
equal() {
	if [ "$2" = "$3" ]; then pass; else fail "$1: '$2', not '$3'"; fi
}

# same WHAT FOUND EXPECTED: files.
same() {
	if cmp -s "$2" "$3"; then
		pass
	else
		fail "$1: other than expected"
		diff "$2" "$3" | head -n 20
	fi
}

# soon COMMAND...: waits until it succeeds, but not for ever.
soon() {
	for _ in $(seq 600); do
		if "$@"; then return; fi
		sleep 0.1
	done
	fail "$what: never: $*"
}

# heeds_signals PID: the program catches SIGINT by now.
heeds_signals() {
	grep -qi '^SigCgt:.*[2367abef]$' "/proc/$1/status" 2>/dev/null
}

# begins PID: a program that was started heeds signals, and has worked for a
# moment.
begins() {
	soon heeds_signals "$1"
	sleep 0.3
}

# json EXPRESSION VALUE: of the JSON that was printed, where jq is there.
json() {
	if ! command -v jq >/dev/null; then return; fi
	equal "$what: $1" "$(jq -rs "$1" <out 2>&1)" "$2"
}

# without_times: what a result in JSON on standard input says, but for times,
# memory and the command.
without_times() {
	sed -E 's/"(seconds|cpu_seconds|memory_peak|jobs)":[0-9.e+-]+,?//g
		s/,"command":"[^"]*"//'
}

# raise_program: a program whose exploration takes a moment; it fails under cc.
raise_program() {
	cat <<'END'
global account[0] = 100;
global account[1] = 100;
global account[2] = 100;
txn raise(k, n) { let v = account[k]; account[k] = v + n; return v; }
txn total() { return account[0] + account[1] + account[2]; }
session a { raise(0, 1); raise(1, 2); let s = total(); }
session b { raise(1, 1); raise(2, 2); let s = total(); }
session c { raise(2, 1); raise(0, 2); let s = total(); }
assert "late" : !(a.s == 303 && b.s == 303 && c.s == 303);
END
}

# needs_server: the test is over, having passed, where the program was built
# without PostgreSQL, or there is none. Else what it makes is in folders of this
# test's, which the server's user gets to; python3 is Debian's, where its
# packages are.
needs_server() {
	"$ISOSCOPE" serve -- true >out 2>err
	if grep -q 'without PostgreSQL\|PostgreSQL is missing' err; then
		cat err
		finish
		exit
	fi
	chmod 711 "$work"
	mkdir -m 1777 folders
	mkdir bin
	[ ! -x /usr/bin/python3 ] || ln -s /usr/bin/python3 bin/python3
	TMPDIR=$work/folders
	PATH=$work/bin:$PATH
	PYTHONDONTWRITEBYTECODE=1
	export TMPDIR PYTHONDONTWRITEBYTECODE
}

# SmallBank, with updates that lock.
small_bank() {
	cat <<'END'
global savings[*] = 250;
global checking[*] = 250;
txn balance(who) {
    let s = savings[who];
    return s + checking[who];
}
txn deposit_checking(who, amount) { atomic checking[who] += amount; }
txn transact_savings(who, amount) {
    let have = locked savings[who];
    if (have < amount) abort;
    savings[who] = have - amount;
}
txn amalgamate(from, to) {
    let s = locked savings[from];
    savings[from] = 0;
    let c = locked checking[from];
    checking[from] = 0;
    atomic checking[to] += s + c;
}
txn write_check(who, amount) {
    let s = savings[who];
    let penalty = 0;
    if (s + checking[who] < amount) { penalty = 1; }
    atomic checking[who] += -amount - penalty;
}
END
}
