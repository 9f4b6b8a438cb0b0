#!/bin/sh
# Work units: programs that are split, explored unit by unit in several threads,
# some of the units split again, some ended early and gone on with, and merged,
# give what exploring them gives: the same counts, verdict, and counterexamples.
# Then everything that split, explore --unit and merge refuse; and GNU parallel,
# where it is installed. ISOSCOPE_SEED chooses how units are made.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

seed=${ISOSCOPE_SEED:-$(date +%s)}
echo "ISOSCOPE_SEED=$seed"

# draw N: sets `drawn` to a number below N.
draw() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	drawn=$((seed / 65536 % $1))
}

# found: what a result in JSON on standard input says, but for times and memory,
# and for estimates of what bounds leave out.
found() {
	without_times | sed -E 's/,"estimate":\{[^}]*\}//'
}

# explore_unit FILE: in a random number of threads; some are ended early.
explore_unit() {
	[ -e "$1" ] || return 0 # a split may have no units
	draw 2; threads=$((drawn + 1))
	draw 3
	if [ "$drawn" -eq 0 ]; then
		draw 20
		"$ISOSCOPE" explore -q --unit "$1" -j $threads \
			--max-histories $((drawn + 1)) >/dev/null 2>err
	fi
	"$ISOSCOPE" explore -q --unit "$1" -j $threads >/dev/null 2>err
	status=$?
	[ $status -le 1 ] || fail "explore --unit $1: exit code $status"
}

# split_again FILE: unless nothing is left of it, or after it was begun.
split_again() {
	draw 2
	if [ "$drawn" -eq 0 ]; then
		"$ISOSCOPE" explore -q --unit "$1" -j 1 --max-histories 3 \
			>/dev/null 2>&1
	fi
	draw 3
	"$ISOSCOPE" split -q "$1" -n $((drawn + 1)) >/dev/null 2>err
}

# compare K PROGRAM OPTIONS: the whole way, with K units.
compare() {
	units=$1
	shift
	rm -rf units
	"$ISOSCOPE" explore "$@" -j 1 --json 2>err | found >plain.json
	"$ISOSCOPE" split -q "$@" -n "$units" -o units 2>err ||
		fail "split $*"
	for unit in units/unit-*.json; do
		draw 4
		if [ "$drawn" -gt 0 ] || ! split_again "$unit"; then
			explore_unit "$unit"
			continue
		fi
		for part in "${unit%.json}".*.json; do
			explore_unit "$part"
		done
	done
	"$ISOSCOPE" merge units --json 2>err | found >merged.json
	equal "$units units of $*" "$(cat merged.json)" "$(cat plain.json)"
}

cat >lost.tx <<'END'
global x = 0;
txn add() { let v = x; x = v + 1; return v; }
session a { let r = add(); add(); }
session b { let r = add(); add(); }
session c { let r = add(); }
assert "only one can be first" : !(a.r == 0 && b.r == 0);
assert serializable;
END

step=3
[ -z "${ISOSCOPE_QUICK-}" ] || step=11
number=0
for program in lost.tx "$top"/programs/litmus/*.tx \
	"$top"/programs/examples/last-seat.tx \
	"$top"/programs/examples/on-call.tx \
	"$top"/programs/*/client-1.tx; do
	for level in none rc ra cc pc psi si ser; do
		# Some of all the pairs; where nothing is isolated, there are
		# too many histories of the larger clients.
		number=$((number + 1))
		[ $((number % step)) -eq 0 ] || continue
		case $level/$program in none*client*) continue ;; esac
		draw 9
		compare $((drawn + 1)) "$program" -i $level
	done
done
compare 3 lost.tx -i rc --robust
compare 5 lost.tx -i cc --algorithm dfs
compare 4 lost.tx -i cc --algorithm orderly
compare 4 lost.tx -i none --symmetry
compare 4 lost.tx -i cc --max-changes 2
compare 4 lost.tx -i si --base rc
compare 4 lost.tx -i cc --sessions-order c,b,a
compare 30 lost.tx -i none
compare 2 "$top/programs/courseware/client-3.tx" -i cc

# As many units as there is something for, of 12 histories none.
rm -rf few
run 0 split "$top/programs/examples/last-seat.tx" -i cc -n 1000 -o few
prints 'few: 0 units with 0 branches; '
prints 'there is nothing to explore: isoscope merge few'
equal 'files' "$(ls few)" split.json
"$ISOSCOPE" explore "$top/programs/examples/last-seat.tx" -i cc --json -j 1 \
	2>err | found >plain.json
"$ISOSCOPE" merge few --json 2>err | found >merged.json
same 'a split without units' merged.json plain.json
run 3 split few/split.json -n 2 -o fewer
says 'nothing is left to explore'
run 0 split lost.tx -i cc -n 5000 -o few2
equal 'units' "$(ls few2/unit-* | wc -l)" "$(sed -n 's/.*: \([0-9]*\) units.*/\1/p' out)"
if grep -l '"open":\[\]' few2/unit-*; then fail 'empty units'; else pass; fi

# --- words ---
run 0 split lost.tx -i cc -n 3 -o s
prints 's: 3 units with '
run 1 explore --unit s/unit-001.json --max-histories 1 -q -j 1
[ -s s/result-001.json ] && pass || fail 'no result of an unfinished unit'
run 3 merge s
says 's/result-001.json: error: unit 1 is not finished (histories); continue it'
says 's/split.json: error: unit 2 of 3 has no result; explore it: isoscope e'
says 'explore --unit s/unit-003.json'
"$ISOSCOPE" merge s --partial >out 2>err
status=$?
[ $status -eq 1 ] || [ $status -eq 4 ] && pass || fail "--partial: $status"
says '0 of 3 units are finished'
for unit in s/unit-*.json; do
	"$ISOSCOPE" explore --unit $unit -q >/dev/null
done
run 1 merge s -q
prints 'violated: 2 of 2 assertions fail under Causal Consistency (cc)'
cp s/result-002.json before
run 1 explore --unit s/unit-002.json -q # finished: it stays as it is
same 'a finished result' s/result-002.json before
run 1 explore --unit s/unit-002.json -o elsewhere.json -q
[ -s elsewhere.json ] && pass || fail '-o'

# --- doubled ---
cp s/result-002.json s/result-002-copy.json
run 3 merge s
says 'unit 2 has a result here and in s/result-002'
rm s/result-002-copy.json
run 3 merge s s
says 'the program was split here and in s/split.json as well'
run 0 split lost.tx -i cc -n 2 -o t
run 2 split lost.tx -i cc -n 2 -o t
says 't/split.json already exists'
mkdir aside
mv s/result-003.json aside
run 0 split s/unit-003.json -n 2
run 2 split s/unit-003.json -n 2
says 's/split-003.json already exists'
for unit in s/unit-003.*.json; do
	"$ISOSCOPE" explore --unit $unit -q >/dev/null
done
run 1 merge s -q
mv aside/result-003.json s
run 3 merge s
says 'unit 3 was explored as a whole, and it was split as well (s/split-003.j'
rm s/result-003.json

# --- foreign ---
cp s/result-002.json t
run 3 merge t
says 't/result-002.json: error: this belongs to another split'
rm t/result-002.json
for unit in t/unit-*.json; do
	"$ISOSCOPE" explore --unit $unit -q >/dev/null
done
run 1 merge t -q
run 0 split lost.tx -i rc -n 2 -o u
"$ISOSCOPE" explore --unit u/unit-001.json -q >/dev/null
cp u/result-001.json t
run 3 merge t
says 'this is not part of the same exploration: it is under rc, not cc'
"$ISOSCOPE" explore --unit t/unit-001.json -q >/dev/null 2>err
says 't/result-001.json is not a result of this unit'
rm t/result-001.json
"$ISOSCOPE" explore --unit t/unit-001.json -q >/dev/null
cp s/result-003.1.json t
run 3 merge t
says 't/result-003.1.json: error: this belongs to another split'
rm t/result-003.1.json
run 0 split lost.tx -i cc -n 3 -o v
cp v/unit-003.json t/result-003.json
sed -i 's/nothing/something/' t/result-003.json
run 3 merge t
says 'this belongs to another split'
rm t/result-003.json

# --- damaged ---
cp t/result-001.json kept.json
sed 's/"histories":[0-9]*/"histories":0/' kept.json >t/result-001.json
run 3 merge t
says 't/result-001.json: error: the file is damaged, or was changed by hand'
head -n 4 kept.json >t/result-001.json
run 3 merge t
says 't/result-001.json:5:'
says 'the file is damaged'
: >t/result-001.json
run 3 merge t
says 't/result-001.json:'
echo '{}' >t/result-001.json
run 3 merge t
says 'this is not a work unit, result or checkpoint'
sed 's/"isoscope_unit":1/"isoscope_unit":77/' kept.json >t/result-001.json
run 3 merge t
says 'this is in version 77 of the format'
cp kept.json t/result-001.json
run 1 merge t -q
mkdir empty
run 3 merge empty
says 'empty: error: there is no split.json in this folder; make it with'
run 3 merge none
says 'none: error: cannot read this folder'

# --- the program moves, and changes ---
mkdir moved
mv lost.tx moved
run 3 merge t
says 'lost.tx: error: cannot read'
run 1 merge t --program moved/lost.tx -q
run 1 explore moved/lost.tx --unit u/unit-002.json -q
mv moved/lost.tx lost.tx
run 0 split lost.tx -i cc -n 2 -o w
echo '// changed' >>lost.tx
run 3 explore --unit w/unit-001.json
says 'lost.tx, or a file that it imports, is not what it was'
run 3 split w/unit-001.json -n 2
says 'is not what it was'
run 3 merge t
says 'is not what it was'

# --- the command line ---
run 2 split lost.tx -o x
says 'split needs the number of units: -n K'
run 2 split lost.tx -n 0 -o x
says '-n takes a positive number'
run 2 split lost.tx -n 3
says 'split needs a folder for the units: -o DIR'
run 2 split lost.tx -n 3 -o lost.tx/x
says 'cannot make the folder lost.tx/x'
run 2 split u/unit-001.json -n 3 -i si
says 'a unit cannot be split with --isolation'
run 2 merge
says 'merge needs the folder of a split'
run 2 explore --unit u/unit-001.json -i si
says '--unit cannot be used with --isolation'
run 2 explore --unit u/unit-001.json --histories h
says '--unit cannot be used with --histories'
run 2 explore lost.tx -o x
says '--output needs --unit'
run 3 explore --unit lost.tx
says 'lost.tx:1:6: error: the file is damaged: '
run 2 explore --unit w/split.json
says 'is what remains of what was split into 2 units'
run 3 split w/split.json -n 2
says 'w/split.json was split already, into 2 units'
run 1 explore lost.tx -i cc --max-histories 2 --checkpoint c.json -q
run 2 explore --unit c.json
says 'c.json is a checkpoint, not a unit'
run 2 explore --resume w/unit-001.json
says 'is unit 1 of a split'

# --- a checkpoint is split ---
run 0 split c.json -n 3 -o y
for unit in y/unit-*.json; do
	"$ISOSCOPE" explore --unit $unit -q >/dev/null
done
"$ISOSCOPE" explore lost.tx -i cc -j 1 --json 2>err | found >plain.json
"$ISOSCOPE" merge y --json 2>err | found >merged.json
same 'a checkpoint that was split' merged.json plain.json

# --- a disk that is full ---
if [ -w /dev/full ]; then
	for command in 'split lost.tx -n 2 -o full' 'merge y' 'merge y --json'
	do
		"$ISOSCOPE" $command >/dev/full 2>err
		equal "$command: exit code" $? 70
		says 'cannot write the standard output'
	done
fi
run 2 explore --unit y/unit-1.json --dot y/unit-1.json
says "--dot would overwrite 'y/unit-1.json', the file of --unit"

# --- GNU parallel, as in docs/distribution.md ---
if parallel --version 2>&1 | grep -q '^GNU parallel'; then
	run 0 split lost.tx -i cc -n 5 -o z
	: | parallel --will-cite true 2>/dev/null
	parallel -j 2 "$ISOSCOPE" explore -j 1 -q --unit {} ::: \
		z/unit-*.json >out 2>err
	"$ISOSCOPE" merge z --json 2>err | found >merged.json
	same 'units explored by GNU parallel' merged.json plain.json
else
	echo 'GNU parallel is not installed: not tried'
fi
finish
