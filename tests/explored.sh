#!/bin/sh
# What `isoscope explore` outputs, held against `isoscope check`: of the
# histories of a program under a weak level, the exploration under each level
# outputs exactly those that check says satisfy it, and drops the others. Apart
# from the formats, the two have only the kernels of the levels in common.
# With ISOSCOPE_QUICK programs of many histories are left out. Arguments:
# programs, else a choice.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
levels='none rc ra cc pc psi si ser'
if [ -n "${ISOSCOPE_QUICK:-}" ]; then most=100; else most=500; fi

# explored LEVEL FILE: writes the histories of the program, a line each.
explored() {
	"$ISOSCOPE" explore "$program" -i "$1" -q --histories "$2" \
		--max-histories $((most + 1)) >out 2>err
}

# bare FILE: without what names the program and the level, and the verdicts of
# the exploration.
bare() {
	sed 's/"program":"[^"]*","level":"[a-z]*",//
		s/,"verdict":{[^{}]*},"violated":.*$/}/' "$1"
}

# verdicts: of the lines of check --json a row each, A for a level that holds.
verdicts() {
	awk -v levels="$levels" 'BEGIN { n = split(levels, level, " ") } {
		row = ""
		for (i = 1; i <= n; i++) {
			start = "\"" level[i] "\":{\"verdict\":\""
			if (index($0, start "holds")) row = row "A"
			else if (index($0, start "violated")) row = row "-"
			else row = row "?"
		}
		print row
	}'
}

# with_level A|- NUMBER: the histories whose row has this character there.
with_level() {
	awk -F '\t' -v is="$1" -v place="$2" \
		'substr($1, place, 1) == is { print $2 }' judged
}

# asked CODE LEVEL FILE: the exit code of check for this level only.
asked() {
	[ -s "$3" ] || return 0
	"$ISOSCOPE" check -q -i "$2" "$3" >out 2>err
	code=$?
	if [ $code -eq "$1" ]; then
		pass
	else
		fail "$program: exit code of check -i $2 is $code, not $1"
	fi
}

# level LEVEL NUMBER: the exploration outputs what check says.
level() {
	with_level A "$2" >expected
	with_level - "$2" >dropped
	explored "$1" raw
	bare raw | sort >found
	if cmp -s found expected; then
		pass
	else
		fail "$program under $1: $(wc -l <found) histories, of which" \
			"check has $(wc -l <expected)"
		diff found expected | head -n 4
	fi
	asked 0 "$1" found
	asked 1 "$1" dropped
	kept="$kept $(wc -l <found)"
}

# program FILE: under the weakest level that does not give too many histories,
# and the levels after it.
program() {
	program=$1
	for base in none rc ra cc; do
		explored $base raw
		[ "$(wc -l <raw)" -le $most ] && break
	done
	if [ "$(wc -l <raw)" -gt $most ]; then return; fi
	bare raw | sort >all
	if [ -n "$(uniq -d all)" ]; then fail "$program: repeated"; fi
	"$ISOSCOPE" check -q --json all >json 2>err
	verdicts <json >rows
	paste rows all >judged
	if grep -q '^[A-]*?' judged; then fail "$program: undecided"; fi
	number=0
	kept=
	started=
	for level in $levels; do
		number=$((number + 1))
		[ "$level" = $base ] && started=1
		[ -n "$started" ] && level "$level" $number
	done
	programs=$((programs + 1))
	printf '%s\n' "$kept" >>counts
}

# --- programs with what the shipped ones lack ---

cat >last.tx <<'END'
// Reads of a transaction that aborts count, and one follows all the others.
global x = 0;
global y = 0;

txn add() {
    let a = x;
    if (a > 1) abort;
    x = a + 1;
    y = a;
    return a;
}

txn look() {
    let b = y;
    let a = x;
    if (a < b) abort;
    return (a, b);
}

session one { add(); add(); }
session two { add(); }
session three { look(); }

finally { return (x, y); }
END
cat >refuse.tx <<'END'
// Who finds the lock taken aborts, after writing.
global lock = 0;
global log = 0;

txn take(who) {
    log = who;
    if (lock != 0) abort;
    lock = who;
}

txn release() {
    if (lock == 0) abort;
    lock = 0;
}

session one { take(1); release(); }
session two { take(2); }

finally { let last = log; return (lock, last); }
END

# --- many rows locked by a statement each: on the way, and at the end ---
cat >rows.tx <<'END'
isolation prc;
global k[*] = 0;
txn add(n) {
    let seen = k[9];
    for i in 0..n { let a = locked k[i]; k[i] = a + 1; }
    let last = k[9];
    k[9] = last + 1;
    return k[0] + seen;
}
txn look() { let a = k[9]; let b = k[0]; let c = k[2]; return a + b + c + k[9]; }
session a { add(3); }
session b { add(3); }
session c { add(2); look(); }
END
for way in orderly ce; do
	run 0 explore --algorithm $way rows.tx
	prints 'histories               252'
done

# --- ser beside si, as PostgreSQL has it ---

cat >look.tx <<'END'
global x = 0;
global y = 0;

txn old() at ser { let v = x; y = 1; return v; }
txn new() at si { x = 1; }
txn look() at si { let v = x; let w = y; return v * 10 + w; }

session a { let seen = old(); }
session b { new(); }
session c { let seen = look(); }

assert a.seen == 1 || c.seen != 10;
END
run 0 explore look.tx
prints 'histories                 6'
run 1 explore --serializable=postgres --histories seen look.tx
prints 'histories                 7'
prints 'ser as in PostgreSQL'
prints 'a.1 starts; b.1 starts, commits; c.1 starts; a.1 commits; c.1 commits'
run 1 check -q seen
run 0 check -q --serializable=postgres seen
run 0 split --serializable=postgres -n 2 -o units look.tx
run 3 merge units
says "so it takes this option now"
run 1 merge --serializable=postgres units
prints 'histories                 7'
run 2 explore --serializable=axioms look.tx
says "takes postgres, not 'axioms'"
sed 's/at si/at ser/' look.tx >all.tx
run 0 explore --serializable=postgres --robust all.tx
prints 'histories                 6'
# A write skew of two of three that are serializable.
cat >skew.json <<'END'
{"sessions":[
{"transactions":[{"at":"ser","events":[["r","x",null,"init"],["w","y",1]]}]},
{"transactions":[{"at":"ser","events":[["r","y",null,"init"],["w","x",1]]}]},
{"transactions":[{"at":"rc","events":[["r","x",1,[1,0]]]}]}]}
END
tr -d '\n' <skew.json >line.json
run 1 check --serializable=postgres -i rc line.json
prints 'must not commit first'

programs=0
: >counts
if [ $# -eq 0 ]; then
	set -- last.tx refuse.tx "$top"/programs/litmus/*.tx \
		"$top"/programs/examples/*.tx "$top"/programs/*/client-1.tx
fi
for path in "$@"; do
	program "$path"
done
# Levels differ: no two columns are the same.
awk '{ for (i = 1; i < NF; i++) if ($i != $(i + 1)) differ[i] = 1 }
	END { for (i = 1; i < 8; i++) if (!(i in differ)) exit 1 }' counts ||
	fail 'two levels are never apart'
echo "$programs programs: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ $programs -gt 20 ]
