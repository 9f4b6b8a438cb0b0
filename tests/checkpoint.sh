#!/bin/sh
# Checkpoints: explorations that are killed at random moments, time and again,
# and gone on with, find what an undisturbed one finds: the same counts, the
# same counterexamples, the same set of histories. Then what --checkpoint and
# --resume refuse. ISOSCOPE_SEED chooses the moments, ISOSCOPE_KILLS how many
# there are.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

kills=${ISOSCOPE_KILLS:-50}
[ -z "${ISOSCOPE_QUICK-}" ] || kills=${ISOSCOPE_KILLS:-15}
seed=${ISOSCOPE_SEED:-$(date +%s)}
echo "ISOSCOPE_SEED=$seed"

# draw N: sets `drawn` to a number below N.
draw() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	drawn=$((seed / 65536 % $1))
}

{ raise_program; echo 'assert serializable;'; } >raise.tx

# A case each: the file for histories, or none; the program; options.
cat >cases <<END
histories raise.tx -i cc
histories raise.tx -i si
histories raise.tx -i ser --algorithm orderly
histories raise.tx -i ra --robust --sessions-order c,a,b
none raise.tx -i rc
histories $top/programs/wikipedia/client-1.tx -i ser
END

# set_of FILE: the histories in it, without their numbers, which tell the order.
set_of() {
	sed 's/^{"history":[0-9]*,//' "$1" | sort
}

# plain PROGRAM OPTIONS: the undisturbed exploration; how long it took is left
# in `long`, in milliseconds.
plain() {
	: >histories
	begin=$(date +%s%N)
	"$ISOSCOPE" explore "$@" -j 1 --json ${file:+--histories $file} \
		>out 2>err
	verdict=$?
	[ $verdict -le 1 ] || fail "$*: exit code $verdict"
	long=$((($(date +%s%N) - begin) / 1000000))
	without_times <out >plain.json
	set_of histories >plain.histories
}

# end_after MILLISECONDS SIGNAL: ends the program in the background.
end_after() {
	sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
	kill -s "$2" "$running" 2>/dev/null
	wait "$running" 2>/dev/null
	status=$?
}

# disturb COMMAND...: runs it for a random time. `landed` counts the times that
# the signal came before the end.
disturb() {
	draw $((long + 20)); moment=$drawn
	draw 4
	case $drawn in
	0) signal=TERM expected='1 4' ;;
	1) signal=INT expected='1 4' ;;
	*) signal=KILL expected=137 ;;
	esac
	"$@" >out 2>err </dev/null &
	running=$!
	end_after $moment $signal
	# A signal that comes before it is caught has its usual effect.
	case " $expected 137 143 130 $verdict " in
	*" $status "*) ;;
	*) fail "$*: exit code $status after SIG$signal" ;;
	esac
	finished=false
	if [ "$status" -eq "$verdict" ] &&
		grep -q '"complete":true' out; then
		finished=true
	else
		landed=$((landed + 1))
	fi
}

# One exploration in pieces; its last piece is not disturbed.
in_pieces() {
	rm -f check.json
	: >histories
	draw 2; first=$((drawn + 1))
	disturb "$ISOSCOPE" explore "$@" -j $first --json \
		--checkpoint check.json --checkpoint-every 0.02 \
		${file:+--histories $file}
	draw 4; pieces=$drawn
	# Whether it can be written is tried at first: it may be left empty then.
	while ! $finished && [ $pieces -gt 0 ] && [ -s check.json ]; do
		pieces=$((pieces - 1))
		draw 2
		disturb "$ISOSCOPE" explore --resume check.json --json \
			-j $((drawn + 1)) --checkpoint-every 0.02
	done
	$finished && return
	if [ ! -s check.json ]; then # it was not begun
		rm -f check.json
		"$ISOSCOPE" explore "$@" -j 2 --json --checkpoint check.json \
			${file:+--histories $file} >out 2>err
	else
		"$ISOSCOPE" explore --resume check.json -j 2 --json >out 2>err
	fi
	status=$?
}

compare_pieces() {
	equal "$*: the exit code" $status $verdict
	without_times <out >pieces.json
	equal "$*: what was found" "$(cat pieces.json)" "$(cat plain.json)"
	set_of histories >pieces.histories
	equal "$*: the histories" "$(cksum <pieces.histories)" \
		"$(cksum <plain.histories)"
}

landed=0 tried=0 count=$(wc -l <cases)
while read -r file program options; do
	[ "$file" != none ] || file=
	tried=$((tried + 1))
	plain $program $options
	rounds=0 before=$landed
	while [ $((landed * count)) -lt $((kills * tried)) ] &&
		[ $rounds -lt 200 ]; do
		rounds=$((rounds + 1))
		in_pieces $program $options
		compare_pieces $program $options
	done
	echo "$((landed - before)) signals in $rounds explorations of" \
		"${program##*/} $options"
done <cases
echo "$landed explorations were ended early"
[ $landed -ge "$kills" ] && pass || fail "only $landed of $kills signals landed"

# --- what a checkpoint says ---
run 1 explore raise.tx -i cc --max-histories 10 --checkpoint c.json -q
[ -s c.json ] && pass || fail 'a checkpoint is written when a limit ends a run'
run 1 explore --resume c.json --max-histories 20 -j 1 -q
run 1 explore --resume c.json -q
prints 'violated'
run 1 explore --resume c.json -q # of a finished one: the same again
prints 'violated'
cp c.json finished.json
run 1 explore raise.tx --checkpoint c.json -q # a finished one is replaced

# --- what is refused ---
run 1 explore raise.tx -i cc --max-histories 10 --checkpoint c.json -q
run 2 explore raise.tx -i cc --checkpoint c.json
says "would overwrite 'c.json', the checkpoint of an exploration that is not finished"
says 'explore --resume c.json'
run 2 explore raise.tx -i cc --checkpoint raise.tx
says "--checkpoint would overwrite the program 'raise.tx'"
echo 'important' >notes
run 2 explore raise.tx -i cc --checkpoint notes
says 'which is not a checkpoint'
run 2 explore raise.tx -i cc --checkpoint new --histories new
says "--histories and --checkpoint cannot both be written to 'new'"
run 1 explore raise.tx -i cc --checkpoint h.json --histories met \
	--max-histories 1
seq 1 1000 >numbers
cp numbers kept
run 2 explore --resume h.json --histories numbers
says 'numbers does not hold the histories of the checkpoint, which were'
same "$what: the file" numbers kept
mv met moved
run 2 explore --resume h.json
says 'cannot continue writing '
run 1 explore --resume h.json --histories moved
run 1 explore raise.tx -i cc --histories all
set_of moved >moved.sorted
set_of all >all.sorted
same "$what" moved.sorted all.sorted
run 2 explore --resume c.json --histories c.json
says "--histories would overwrite 'c.json', the file of --resume"
run 2 explore --resume c.json -i si
says '--resume cannot be used with --isolation'
run 3 explore --resume none.json
says 'none.json'
run 3 explore --resume raise.tx
says 'raise.tx:1:'
run 2 explore --resume c.json --checkpoint -
says 'needs a file'
run 2 explore raise.tx --checkpoint d.json --histories -
says 'needs --histories in a file'
[ ! -e d.json ] && pass || fail 'nothing is written'
run 2 explore --resume c.json --histories h.jsonl
says 'started without --histories'
run 2 explore raise.tx --checkpoint d.json --checkpoint-every 0
says '--checkpoint-every takes a positive number of seconds'
sed 's/"histories":[0-9]*/"histories":7/' c.json >changed.json
run 3 explore --resume changed.json
says 'changed.json: error: the file is damaged, or was changed by hand'
head -c 700 c.json >short.json
run 3 explore --resume short.json
says 'short.json:'
says 'the file is damaged'
sed 's/"isoscope_unit":1/"isoscope_unit":2/' c.json >new.json
run 3 explore --resume new.json
says 'this is in version 2 of the format, and this isoscope knows version 1'
run 1 explore raise.tx -i cc --max-histories 10 --checkpoint h.json -q \
	--histories h.jsonl
: >h.jsonl
run 2 explore --resume h.json
says 'h.jsonl is shorter than it was'
rm h.jsonl
run 2 explore --resume h.json
says 'h.jsonl: No such file'

# --- the program has to be the same ---
cp raise.tx other.tx
run 1 explore other.tx --resume c.json -q # the same, elsewhere
run 1 explore raise.tx -i cc --max-histories 10 --checkpoint m.json -q
echo '// changed' >>raise.tx
run 3 explore --resume m.json
says 'is not what it was'
run 1 explore other.tx --resume m.json -q

# --- what is left is too large: no memory is taken for it, and that is said ---
{
	echo 'global k[*] = 0;'
	echo 'txn t(a, b) { let v = k[(a, b)]; k[(a, b)] = v + 1; k[a] = v; }'
	for session in a b c d e f g h; do
		echo "session $session {"
		for a in 1 2 3 4 5 6 7; do
			i=0
			while [ $i -lt 36 ]; do
				echo "    t($a, $((i % 3)));"
				i=$((i + 1))
			done
		done
		echo '}'
	done
} >long.tx
run 70 explore long.tx -i cc -j 1 --max-histories 3 --checkpoint long.json -q
says 'too large to be written (over 256 MiB): long.json is unchanged'
prints 'inconclusive: the limit of histories was reached'
run 4 explore long.tx -i cc -j 2 --max-histories 3 -q
prints 'inconclusive: the limit of histories was reached'
finish
