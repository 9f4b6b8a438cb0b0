#!/bin/sh
# Functions in C that programs call (extern fn): what they are given and give
# back, where their library is looked for, and what is said of those that are
# not there, fail, or are no functions in the sense of mathematics.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

cat >lib.c <<'END'
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 16];

int64_t zero(void) { return 0; }
const char *word(void) { return "w\303\266rd"; }
int64_t same(int64_t a) { return a; }
const char *echo(const char *s) { return s; }
int64_t length(const char *s) { return (int64_t)strlen(s); }
const char *nothing(const char *s) { return *s == '-' ? NULL : s; }

/* A word, repeated. */
const char *times(int64_t n, const char *s)
{
	*text = 0;
	while (n-- > 0) strcat(text, s);
	return text;
}

const char *ten(int64_t a, const char *b, int64_t c, const char *d, int64_t e,
                const char *f, int64_t g, const char *h, int64_t i,
                const char *j)
{
	snprintf(text, sizeof text, "%" PRId64 "%s%" PRId64 "%s%" PRId64
	         "%s%" PRId64 "%s%" PRId64 "%s", a, b, c, d, e, f, g, h, i, j);
	return text;
}

int64_t digits(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e,
               int64_t f, int64_t g, int64_t h, int64_t i, int64_t j)
{
	return ((((((((a * 10 + b) * 10 + c) * 10 + d) * 10 + e) * 10 + f) *
	            10 + g) * 10 + h) * 10 + i) * 10 + j;
}

const char *latin(void) { return "caf\351"; }
int64_t counted(int64_t a) { static int64_t n; return a + n++; }
const char *changing(const char *s)
{
	static int n;
	snprintf(text, sizeof text, "%s%d", s, n++);
	return text;
}
/* Fails the second time. */
int64_t tired(int64_t a)
{
	static int n;
	if (n++) abort();
	return a;
}
int64_t crash(int64_t a) { return *(volatile int64_t *)(uintptr_t)a; }
int64_t divide(int64_t a, int64_t b) { return a / b; }
int64_t leave(int64_t a) { exit((int)a); }
int64_t endless(int64_t a) { for (volatile int64_t n = a; n; ) {} return a; }
int64_t deep(int64_t a)
{
	volatile char room[4096];
	memset((char *)room, 1, sizeof room);
	return a ? deep(a + 1) + room[a & 4095] : 0;
}
/* Notes each call in a file. */
int64_t noted(int64_t a)
{
	FILE *f = fopen("calls", "a");
	fprintf(f, "%" PRId64 "\n", a);
	fclose(f);
	return a + 1;
}
int64_t talk(int64_t a) { puts("the function talks"); return a; }
END
mkdir shared sub
# Sanitizers that check this program need not check the library.
if ! ${CC:-cc} -g -O0 -shared -fPIC -o shared/lib.so lib.c 2>err; then
	fail "no library: ${CC:-cc} cannot compile one"
	finish
	exit
fi

# program FILE BODY...: declares all of the functions; a line for each argument.
declare='
extern fn zero(): int from "LIB";
extern fn word(): string from "LIB";
extern fn same(a: int): int from "LIB";
extern fn echo(s: string): string from "LIB";
extern fn length(s: string): int from "LIB";
extern fn nothing(s: string): string from "LIB";
extern fn times(n: int, s: string): string from "LIB";
extern fn ten(a: int, b: string, c: int, d: string, e: int, f: string, g: int,
    h: string, i: int, j: string): string from "LIB";
extern fn digits(a: int, b: int, c: int, d: int, e: int, f: int, g: int,
    h: int, i: int, j: int): int from "LIB";
extern fn latin(): string from "LIB";
extern fn counted(a: int): int from "LIB";
extern fn changing(s: string): string from "LIB";
extern fn tired(a: int): int from "LIB";
extern fn crash(a: int): int from "LIB";
extern fn divide(a: int, b: int): int from "LIB";
extern fn leave(a: int): int from "LIB";
extern fn endless(a: int): int from "LIB";
extern fn deep(a: int): int from "LIB";
extern fn noted(a: int): int from "LIB";
extern fn talk(a: int): int from "LIB";'
program() {
	file=$1 library=${library:-shared/lib.so}
	shift
	{
		echo "$declare" | sed "s,LIB,$library,"
		printf '%s\n' "$@"
	} >"$file"
}

# true EXPRESSION...: each holds, computed when the program runs and before.
true() {
	{
		echo 'global shared = 0;'
		echo 'session s {'
		for e; do printf '\tassert %s;\n' "$e"; done
		echo '	txn {'
		for e; do printf '\tassert %s;\n' "$e"; done
		echo '	}'
		echo '}'
		n=0
		for e; do
			n=$((n + 1))
			printf 'const C%s = %s;\n' $n "$e"
			printf 'assert C%s;\nassert %s;\n' $n "$e"
		done
	} >body
	program true.tx "$(cat body)"
	run 0 explore true.tx
	prints 'holds'
	says_nothing
}

# --- what goes in and comes out ---
true 'zero() == 0' 'word() == "wörd"' 'same(1) == 1' 'same(-1) == -1' \
	'same(9223372036854775807) == 9223372036854775807' \
	'same(-9223372036854775808) == -9223372036854775808' \
	'same(4294967296) == 4294967296' 'same(2147483648) == 2147483648'
true 'echo("") == ""' 'echo("a") == "a"' \
	'echo("żółw \u20ac 🐢") == "żółw € 🐢"' \
	'echo("tab\t\"\\\n") == "tab\t\"\\\n"' 'length("") == 0' \
	'length("żółw") == 7' 'length(times(60000, "x")) == 60000' \
	'size(times(60000, "x")) == 60000' \
	'nothing("-") == null' 'nothing("+") == "+"' \
	'times(3, "ab") == "ababab"'
true 'ten(-1, "a", 2, "", 3, "ccc", 9223372036854775807, "é", 5, "e") ==
	"-1a23ccc9223372036854775807é5e"' \
	'digits(1, 2, 3, 4, 5, 6, 7, 8, 9, 0) == 1234567890' \
	'map(x in [1, 2, 3] : times(x, "a")) == ["a", "aa", "aaa"]' \
	'forall(x in range(100) : same(x) == x)' \
	'exists(x in {1, 2} : same(x) == 2)' \
	'same(same(same(7))) == 7' \
	'length(times(same(2), echo("ab"))) + same(1) == 5' \
	'times(2, "a") + times(3, "b") == "aabbb"'

# --- wherever fn may be called ---
program everywhere.tx 'const TWO = same(1) + 1;' \
	'fn twice(n) = same(n) * TWO;' 'global x = twice(length("abc"));' \
	'global y[same(1), echo("k")] = times(TWO, "z");' \
	'global z[*] = zero();' \
	'txn t(a) { let v = x; x = twice(v); y[same(1), echo("k")] = echo(a);
		if (same(v) == v) return twice(v); }' \
	'session a { let r = t("A"); }' \
	'session b { let r = t(times(TWO, "B"));
		for i in zero()..same(2) { txn { z[i] = same(i); } } }' \
	'finally { let v = x; let w = z[7]; }' \
	'assert "lost" : finally.v == twice(twice(twice(length("abc"))));' \
	'assert {a.r, b.r} - {12, 24} == {} && finally.w == zero();'
run 1 explore -i cc everywhere.tx
prints 'lost'
run 0 explore -i ser everywhere.tx
run 0 run -i ser --runs 20 everywhere.tx
run 1 explore -i cc --algorithm dfs everywhere.tx
run 1 explore -i cc --sessions-order b,a everywhere.tx
run 0 compile everywhere.tx
prints 'compiles: 2 sessions and finally'
run 0 compile --dump everywhere.tx
prints 'EXTERN'
prints ' same'
run 0 record -o trace.json everywhere.tx
run 0 check -i ser trace.json

# As a function of the language does, history by history.
cat >twin.tx <<'END'
fn next(n) = n + 1;
global x = 0;
txn add() { let v = x; x = next(v); return v; }
session a { let r = add(); add(); }
session b { let r = add(); }
session c { let r = add(); }
assert a.r != b.r || b.r != c.r;
END
sed 's/^fn .*/extern fn next(n: int): int from "next.so";/' twin.tx >extern.tx
echo 'long long next(long long n) { return n + 1; }' >next.c
${CC:-cc} -shared -fPIC -o next.so next.c
for level in none rc ra cc pc psi si ser; do
	"$ISOSCOPE" explore -j 1 -i $level twin.tx --histories twin.json \
		>twin.out
	code=$?
	run $code explore -j 1 -i $level extern.tx --histories found.json
	sed 's/extern\.tx/twin.tx/g' found.json >extern.json
	same "histories under $level" extern.json twin.json
done

# --- layout ---
printf '%s\n' 'extern   fn f(a:int , b :string):int   from"l.so";' \
	'global x=0;session s{skip;}' >layout.tx
run 0 fmt layout.tx
prints 'extern fn f(a: int, b: string): int from "l.so";'
cp out again.tx
run 0 fmt again.tx
same 'laid out twice' out again.tx

# --- where the library is ---
cp shared/lib.so sub/beside.so
library=beside.so
program sub/beside.tx 'global x = 0;' 'session s { assert same(3) == 3; }'
run 0 explore sub/beside.tx
echo 'import "sub/beside.tx";' >import.tx
run 0 explore import.tx
cp sub/beside.tx sub/beside.so "$work"
run 0 explore beside.tx
library=$work/shared/lib.so
program sub/absolute.tx 'global x = 0;' 'session s { assert same(3) == 3; }'
run 0 explore sub/absolute.tx
cat >system.tx <<'END'
extern fn llabs(n: int): int from "libc.so.6";
session s { assert llabs(-9000000000) == 9000000000; }
END
run 0 explore system.tx
# Nothing is looked for in other folders, whatever the environment says.
library=sub/beside.so
LD_LIBRARY_PATH=$work/sub
export LD_LIBRARY_PATH
cat >none.tx <<'END'
extern fn same(a: int): int from "./elsewhere.so";
extern fn zero(): int from "sub/none.so";
session s { assert zero() == 0; }
END
cp sub/beside.so sub/elsewhere.so
run 3 explore none.tx
says 'none.tx:1:11: error: cannot load the library: ././elsewhere.so'
says 'none.tx:2:11: error: cannot load the library: ./sub/none.so'
unset LD_LIBRARY_PATH

# --- what cannot be loaded ---
echo 'extern fn nix(): int from "shared/lib.so";
extern fn same(a: int): int from "shared/lib.so";
extern fn gone(): int from "shared/lib.so";
global x = nix();
session s { skip; }' >missing.tx
run 3 explore missing.tx
says "tx:1:11: error: the library './shared/lib.so' has no function 'nix'"
says "tx:3:11: error: the library './shared/lib.so' has no function 'gone'"
if grep -q 'tx:2:' err; then fail "$what: 'same' is there"; else pass; fi
run 3 compile missing.tx
run 3 run missing.tx
run 0 fmt missing.tx
echo 'this is no library' >text.so
echo 'extern fn f(): int from "text.so"; session s { skip; }' >text.tx
run 3 explore text.tx
says 'text.tx:1:11: error: cannot load the library'
echo '#include <stdlib.h>
__attribute__((constructor)) static void start(void) { abort(); }
long long f(void) { return 1; }' >start.c
${CC:-cc} -shared -fPIC -o start.so start.c
echo 'extern fn f(): int from "start.so"; session s { skip; }' >start.tx
run 3 explore start.tx
says 'start.tx:1:11: error:'
says 'SIGABRT'

# --- run-time errors, each a finding with its place and history ---
library=shared/lib.so
# fails EXPRESSION TEXT...: in a session. wrong: also as a constant.
fails() {
	expression=$1
	shift
	program wrong.tx 'global x = 1;' \
		"session s { txn { let v = x;
			let w = $expression; } }" 'session t { txn { x = 2; } }'
	run 1 explore --step-timeout 0.5 wrong.tx
	prints 'run-time error'
	prints 'wrong.tx:'
	prints 'read x = '
	for text; do prints "$text"; done
}
wrong() {
	fails "$@"
	shift
	program wrong.tx "const v = 1; const C = $expression;" \
		'session s { skip; }'
	run 3 explore wrong.tx
	says 'error: in a constant expression: '
	for text; do says "$text"; done
}
wrong 'same("1")' "argument 1 of 'same' must be an integer, not string"
wrong 'same(null)' "argument 1 of 'same' must be an integer, not null"
wrong 'same(true)' "argument 1 of 'same' must be an integer, not boolean"
wrong 'times(1, [v])' "argument 2 of 'times' must be a string, not list"
wrong 'echo(v)' "argument 1 of 'echo' must be a string, not integer"
wrong 'length(nothing("-"))' "argument 1 of 'length' must be a string, not null"
wrong 'latin()' 'latin(): it gave a string that is not UTF-8'
wrong 'crash(16 * 1)' 'crash(16): ' 'SIGSEGV' 'address 0x10' 'lib.c:'
wrong 'divide(7, 0)' 'divide(7, 0): ' 'SIGFPE'
wrong 'leave(0)' 'leave(0): ' 'exit(0)'
wrong 'leave(3)' 'leave(3): ' 'exit(3)'
wrong 'deep(1)' 'deep(1): ' 'stack'
wrong 'counted(5)' 'not a pure function: counted(5) gave 5, then gave 6'
wrong 'changing("é")' \
	'not a pure function: changing("é") gave "é0", then gave "é1"'
fails 'endless(1)' 'endless(1): no access for 0.5 s: '
wrong 'tired(1)' 'not a pure function: tired(1) gave 1, then ' 'SIGABRT'

# Only where it is called so; and others go on with a new process.
program mixed.tx 'global x = 0;' 'session t { txn { x = 1; } }' \
	'session s { txn { let v = x; if (v == 1) x = crash(0);
		else x = same(5); }
	txn { let w = x; assert w == 5 || w == 1; } }'
run 1 explore -i ser mixed.tx
prints 'crash(0): '
prints 'happens in 1 of 3 histories'

# --- each call twice, then never again ---
program once.tx 'global x = 0;' 'txn t() { x = noted(x); }' \
	'session a { t(); }' 'session b { t(); }' 'session c { t(); }'
rm -f calls
run 0 explore once.tx
equal 'calls' "$(sort calls | tr '\n' ' ')" '0 0 1 1 2 2 '

# --- many arguments, none of them mixed up ---
for n in 1 6 7 8 15 31 32; do
	i=0 c='' t='' a='' sum='' total=0
	while [ $i -lt $n ]; do
		i=$((i + 1))
		c="$c${c:+, }int64_t a$i"
		t="$t${t:+, }a$i: int"
		a="$a${a:+, }$((i * 1000000007))"
		sum="$sum${sum:+ + }$i * a$i"
		total=$((total + i * i * 1000000007))
	done
	printf '%s\n' '#include <stdint.h>' \
		"int64_t f($c) { return $sum; }" >many.c
	${CC:-cc} -shared -fPIC -o many.so many.c
	printf '%s\n' "extern fn f($t): int from \"many.so\";" \
		"session s { assert f($a) == $total; }" >many.tx
	run 0 explore many.tx
done

# --- what it prints is no output of isoscope, unless one wants it ---
program talk.tx 'session s { assert talk(1) == 1; }'
run 0 explore talk.tx
lacks 'the function talks'
says_nothing
run 0 explore --client-output talk.tx
says 'the function talks'

# --- the example of the manual ---
# block N: the Nth block of code of the section.
block() {
	awk -v wanted="$1" '/^### /{ on = $0 == "### Functions in C" }
	on && /^```/ { n++; next }
	on && n == 2 * wanted - 1' "$top/docs/manual.md"
}
block 1 >fees.c
block 2 >fees.tx
${CC:-cc} -g -shared -fPIC -o fees.so fees.c
run 1 explore -i cc fees.tx
prints 'fails with web.paid = 606, shop.paid = 515'
run 0 explore -i psi fees.tx

finish
