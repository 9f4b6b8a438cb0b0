#!/bin/sh
# Proves what the side files NAME.proved of programs/ say, beside NAME.tx, .sql
# or .spec. A line is a level, a verdict and options; `#` starts a comment. With
# ISOSCOPE_QUICK those that end in `long` are left out.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

find "$ISOSCOPE_SOURCE/programs" -name '*.proved' | LC_ALL=C sort >all
while read -r side; do
	for program in "${side%.proved}".*; do
		case $program in *.tx | *.sql | *.spec) break ;; esac
	done
	sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "$side" |
		sed "${ISOSCOPE_QUICK:+/ long\$/d; }s/ long\$//" >lines
	while read -r level verdict options; do
		case $verdict in
		holds) code=0 ;;
		violated) code=1 ;;
		*) code=4 ;;
		esac
		eval "run $code prove \"\$program\" -i $level -q $options" </dev/null
		prints "$verdict: "
	done <lines
done <all
[ $((passed + failed)) -gt 10 ] || fail 'few side files'
finish
