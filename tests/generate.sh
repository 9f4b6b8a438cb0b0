#!/bin/sh
# isoscope generate, from outside: its histories satisfy their level in every
# format, a planted anomaly is found in each, and equal seeds give equal bytes.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

# refused WORDS ARGUMENT...: a wrong command line, and why.
refused() {
	words=$1
	shift
	"$ISOSCOPE" generate "$@" >out 2>err
	equal "exit code of generate $*" $? 2
	equal "what generate $* prints" "$(wc -c <out)" 0
	grep -qF -e "$words" err
	equal "generate $* says '$words'" $? 0
}

strongest() {
	"$ISOSCOPE" check --strongest "$1" 2>err | tr '\n' ' '
}

formats="isoscope plume awdit dbcop-bincode dbcop-json dbcop-text cobra rw-edn
	rw-json list-edn list-json isopredict"

# A level holds in all formats, and what else holds is the same in those that
# tell the same.
for level in none rc ra cc pc psi si ser; do
	first=
	for format in $formats; do
		case $format in cobra) aborts=0 ;; *) aborts=0.1 ;; esac
		rm -rf history
		"$ISOSCOPE" generate --level $level --ops 120 --seed 3 \
			--format "$format" --aborts $aborts -o history 2>err
		equal "exit code of generate --format $format" $? 0
		"$ISOSCOPE" check -q -i $level history >out 2>err
		equal "$level in $format" $? 0
		found=$(strongest history)
		case $format in
		isoscope) continue ;; # has the reads of those that abort
		list-*|cobra) continue ;;
		plume) first=$found ;;
		esac
		equal "strongest levels of $level in $format" "$found" "$first"
	done
done

# anomaly NAME STRONGEST [FORMAT...]: is found in every format but those.
anomaly() {
	name=$1 expected=$2
	shift 2
	for format in $formats; do
		case " $* " in *" $format "*) continue ;; esac
		rm -rf history
		"$ISOSCOPE" generate --anomaly "$name" --format "$format" \
			--output history 2>err
		equal "exit code of generate --anomaly $name" $? 0
		equal "$name in $format" "$(strongest history)" "$expected "
	done
}
anomaly thin-air 'no level' list-edn list-json isopredict
anomaly G1a none awdit list-edn list-json cobra isopredict
anomaly G1b none isopredict
anomaly internal 'no level' list-edn list-json isopredict
anomaly G1c 'no level'
anomaly otv none
anomaly fractured-read prc
anomaly causality ra
anomaly long-fork psi
anomaly lost-update pc
anomaly write-skew si

# A store of some size keeps its level and no stronger one.
for level in none rc ra cc pc psi si ser; do
	"$ISOSCOPE" generate --ops 10000 --sessions 50 --txn-len 10 \
		--keys 1000 --level $level -o history 2>err
	equal "strongest levels of $level" "$(strongest history)" "$level "
done

# Levels of transactions, and reads that lock.
for arguments in '--level rc+prc+ser' '--level none+ra+cc+pc+si --locks 0.3' \
	'--level prc --locks 0.5' '--level psi --locks 0.2'; do
	# shellcheck disable=SC2086
	"$ISOSCOPE" generate $arguments --ops 400 --sessions 8 --aborts 0.1 \
		--keys 40 --lag 20 -o history 2>err
	equal "exit code of generate $arguments" $? 0
	level=${arguments#* }
	case $arguments in *+*) level=cc ;; *) level=${level%% *} ;; esac
	"$ISOSCOPE" check -q -i "$level" history >out 2>err
	equal "check of generate $arguments" $? 0
	"$ISOSCOPE" convert history --to isoscope -o again 2>err
	cmp -s history again
	equal "what $arguments made, converted" $? 0
	"$ISOSCOPE" convert history --to plume >out 2>err
	equal "generate $arguments, to plume" $? 3
	grep -q 'write the history as isoscope' err
	equal "what can hold $arguments is said" $? 0
done
"$ISOSCOPE" generate --level rc+ser --ops 400 --anomaly lost-update -o history
"$ISOSCOPE" check -q -i rc history >out
equal "an anomaly beside a mix, under rc" $? 0
"$ISOSCOPE" check -q -i si history >out
equal "an anomaly beside a mix, under si" $? 1
refused "--level si+sj: unknown isolation level 'sj'; did you mean 'si'" \
	--level si+sj
refused "psi is a level of all transactions together" --level psi+si
refused "no way to write" --format plume --level si+ser
refused "no way to write" --format list-edn --locks 1
refused "fraction of reads that lock" --locks 2

# Seeds.
"$ISOSCOPE" generate >plain 2>err
equal "exit code of generate" $? 0
"$ISOSCOPE" generate --seed 1 --output same
cmp -s plain same
equal "the seed is 1, the output standard" $? 0
"$ISOSCOPE" generate --seed 2 >other
cmp -s plain other
equal "another seed gives another history" $? 1
equal "a history is a line" "$(wc -l <plain)" 1

# A large one passes through a pipe.
equal "operations" "$("$ISOSCOPE" generate --ops 200000 --sessions 50 \
	--txn-len 10 --keys 1000 --format plume | wc -l)" 200000

refused "--ops takes a 64-bit number" --ops x
refused "--ops takes a 64-bit number" --ops -1
refused "operations, not 0" --ops 0
refused "1 to 1073741824 operations" --ops 99999999999
refused "--ops and --transactions cannot be used" --ops 5 --transactions 5
refused "--transactions takes a positive number" --transactions 0
refused "sessions, not 0" --sessions 0
refused "--sessions takes a number from 0 to 4294967295" --sessions 4294967296
refused "keys, not 0" --keys 0
refused "operations in a transaction, not 0" --txn-len 0
refused "fraction of reads is a number from 0 to 1" --reads 1.5
refused "--reads takes a number such as 0.5, not 'half'" --reads half
refused "fraction of aborts" --aborts 2
refused "--theta belongs to the zipf" --theta 1
refused "theta is a number from 0 to 10" --dist zipf --theta 11
refused "did you mean 'zipf'" --dist zip
refused "did you mean 'long-fork'" --anomaly longfork
refused "takes 4 sessions, and there are only 2" --sessions 2 \
	--anomaly long-fork
refused "is a folder: name it with --output" --format cobra
refused "no way to write" --format awdit --anomaly G1a
refused "reads no file" history.jsonl
refused "cannot write" --output /nowhere/history

finish
