#!/bin/sh
# isoscope check on the histories of tests/histories: for each its verdicts,
# exit codes and the name of its anomaly, as the file `expected` there has them;
# and again after each conversion that is not refused. With
# ISOSCOPE_QUICK there are fewer conversions.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
folder=$top/tests/histories
levels='none rc ra cc prc pc psi si ser'
formats='isoscope plume awdit dbcop-bincode dbcop-json dbcop-text cobra rw-edn
	rw-json list-edn list-json isopredict'
if [ -n "${ISOSCOPE_QUICK:-}" ]; then formats='isoscope plume list-edn'; fi

# judge FILE: sets `row` to a letter for each level, `name` to what violates the
# weakest one that is violated, and `code` to the exit code.
judge() {
	"$ISOSCOPE" check --json "$1" >out 2>err
	code=$?
	awk -v levels="$levels" 'BEGIN { n = split(levels, level, " ") } {
		row = name = ""
		for (i = 1; i <= n; i++) {
			start = "\"" level[i] "\":{\"verdict\":\""
			at = index($0, start "violated\"")
			if (index($0, start "holds\"")) row = row "A"
			else row = row (at ? "-" : "?")
			if (!at || name != "") continue
			name = substr($0, at)
			sub(/^[^}]*"anomaly":"/, "", name)
			sub(/".*/, "", name)
		}
		print row, name
	}' out >judged
	read -r row name <judged || row=none
}

# refused FILE WORDS: what is wrong with a file that cannot be read.
refused() {
	"$ISOSCOPE" check "$folder/$1" >out 2>err
	equal "exit code of check $1" $? 3
	equal "what check prints of $1" "$(wc -c <out)" 0
	grep -qF -e "$2" err
	equal "check $1 says '$2'" $? 0
}

# each_level FILE ROW: the exit code where one level is asked for.
each_level() {
	rest=$2
	for level in $levels; do
		case $rest in A*) wanted=0 ;; *) wanted=1 ;; esac
		rest=${rest#?}
		"$ISOSCOPE" check -q -i $level "$folder/$1" >out 2>err
		equal "exit code of check -i $level $1" $? $wanted
	done
}

# converted FILE ROW: the new histories satisfy the same levels.
converted() {
	for format in $formats; do
		rm -rf again
		"$ISOSCOPE" convert "$folder/$1" --to "$format" -o again \
			>out 2>err
		code=$?
		if [ $code -eq 3 ] && [ ! -e again ]; then
			grep -qF ': error: ' err || grep -qF 'isoscope: ' err
			equal "$1 as $format is refused" $? 0
			refusals=$((refusals + 1))
			continue
		fi
		equal "exit code of convert $1 --to $format" $code 0
		judge again
		equal "levels of $1 as $format" "$row" "$2"
		conversions=$((conversions + 1))
	done
}

# history FILE ROW NAME
history() {
	if [ "$2" = error ]; then
		refused "$1" "$3"
		return
	fi
	judge "$folder/$1"
	equal "levels of $1" "$row" "$2"
	equal "anomaly of $1" "$name" "$3"
	case $2 in *-*) wanted=1 ;; *) wanted=0 ;; esac
	equal "exit code of check $1" "$code" $wanted
	each_level "$1" "$2"
	converted "$1" "$2"
}

conversions=0
refusals=0
grep '^[^#]' "$folder/expected" >list
while read -r path row_expected name_expected; do
	history "$path" "$row_expected" "$name_expected"
done <list
equal 'more conversions than refusals' $((conversions > 4 * refusals)) 1

# What rc forbids since it is checked does not show why prc forbids the whole.
"$ISOSCOPE" check "$folder/edges/checked-beside.jsonl" >out 2>err
grep -q "^statement sees an older state: violates .* (prc)$" out
equal 'what shows prc violated' $? 0

# Every file has its line.
sed 's/ .*//' list | sort >listed
(cd "$folder" && find . -path ./manual -prune -o -type f ! -name expected \
	-print) | sed 's,^\./,,; s,\(\.cobra\)/.*,\1,' | sort -u >present
equal 'files without a line, lines without a file' \
	"$(diff present listed)" ''

echo "$passed passed, $failed failed;" \
	"$conversions conversions, $refusals refused"
[ "$failed" -eq 0 ]
