#!/bin/sh
# Explores every program of programs/ under each level of its side file and
# compares the counts, under three orders of the sessions; but not the clients
# of programs/oltp, which tests/workloads.sh compiles. ISOSCOPE names the binary
# (default ./isoscope); arguments name programs, to run only these. Lines of the
# side files that end in `large` count only if ISOSCOPE_LARGE is set. With
# ISOSCOPE_QUICK under one order each, in turn.
set -u

ISOSCOPE=${ISOSCOPE:-./isoscope}
top=${srcdir:-$(dirname "$0")/..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0
failed=0
turn=${ISOSCOPE_SEED:-0}

fail() {
	failed=$((failed + 1))
	echo "FAIL $*"
}

# counts PROGRAM LEVEL ORDER [--symmetry]: the line of the side file that this
# run would have, after the number of dead ends.
counts() {
	"$ISOSCOPE" explore "$1" -i "$2" ${3:+--sessions-order "$3"} \
		${4:+"$4"} --json >"$work/result" 2>"$work/errors"
	status=$?
	if [ $status -gt 1 ]; then
		echo "exit $status: $(head -n 1 "$work/errors")"
		return
	fi
	awk -v level="$2" '
		{ text = text $0 }
		END {
			gsub(/[ "]/, "", text)
			n = split(text, part, /[{},]/)
			for (i = 1; i <= n; i++) {
				split(part[i], member, ":")
				if (member[1] == "algorithm")
					ce = member[2] == "ce"
				if (member[1] == "blocked")
					blocked = member[2]
				if (member[1] == "histories")
					histories = member[2]
				if (member[1] == "classes")
					classes = " classes " member[2]
				if (member[1] == "violated")
					violated = violated " " member[2]
				if (member[1] == "complete")
					complete = member[2]
			}
			print (complete == "true" ? "" : "incomplete, ") \
				(ce && blocked ? "blocked, " : "") level " " \
				histories violated classes
		}' "$work/result"
}

# compare PROGRAM WANTED COUNTS-ARGUMENT...
compare() {
	wanted=$2
	found=$(counts "$1" "${2%% *}" "$3" ${4:+"$4"})
	if [ "$found" = "$wanted" ]; then
		passed=$((passed + 1))
	else
		fail "$1${3:+ ($3)}${4:+ $4}: expected $wanted; found $found"
	fi
}

# orders PROGRAM: the declared order (an empty line), the reversed one, and the
# one that begins with the second session; each only once.
orders() {
	echo
	awk '/^session / { name[++n] = $2 }
	END {
		for (i = n; i > 0 && n > 1; i--)
			printf "%s%s", name[i], (i > 1 ? "," : "\n")
		for (i = 2; i <= n && n > 2; i++)
			printf "%s,", name[i]
		if (n > 2)
			print name[1]
	}' "$1"
}

# chosen FILE: the orders there that are tried.
chosen() {
	awk -v turn="${ISOSCOPE_QUICK:+$turn}" '{ order[NR - 1] = $0 }
	END {
		if (turn != "") print order[turn % NR]
		for (i = 0; i < NR && turn == ""; i++) print order[i]
	}' "$1"
}

# program PROGRAM: all levels of its side file, all orders.
program() {
	expected=${1%.tx}.expect
	if [ ! -f "$expected" ]; then
		fail "$1: no side file"
		return
	fi
	if ! "$ISOSCOPE" compile "$1" >/dev/null 2>"$work/errors"; then
		fail "$1: $(head -n 1 "$work/errors")"
		return
	fi
	passed=$((passed + 1))
	orders "$1" >"$work/orders"
	sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "$expected" |
		sed "${ISOSCOPE_LARGE:+s/ large\$/ once/;}/ large\$/d" \
			>"$work/expected"
	while read -r line; do
		[ "$line" = "${line% once}" ] || echo >"$work/orders"
		line=${line% once}
		turn=$((turn + 1))
		chosen "$work/orders" >"$work/chosen"
		while read -r order; do
			compare "$1" "${line% classes *}" "$order"
		done <"$work/chosen"
		[ "$line" = "${line% classes *}" ] ||
			compare "$1" "$line" '' --symmetry
		orders "$1" >"$work/orders"
	done <"$work/expected"
}

if [ $# -eq 0 ]; then
	find "$top/programs" -name '*.tx' ! -path '*/apps/*' \
		! -path '*/oltp/clients/*' | LC_ALL=C sort >"$work/programs"
else
	printf '%s\n' "$@" >"$work/programs"
fi
while read -r path; do
	program "$path"
done <"$work/programs"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
