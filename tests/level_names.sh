#!/bin/sh
# A level is a row of LEVEL_TABLE (src/axioms/level.h), and everybody asks for
# properties of the row. Fails where a level is named outside the table and the
# axioms, or compared with the two that have a use for a name: the serial one
# and the default. Then plants such lines in a copy, to see them found.
set -u
top=${srcdir:-$(dirname "$0")/..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# Files that define levels: the table, and the incremental axioms.
allowed='^src/axioms/(level\.h|closure\.[ch]|forward\.[ch]):'

# The identifiers of the table in $1, as alternatives.
identifiers() {
	sed -n 's/^[[:space:]]*X(\(LEVEL_[A-Z]*\),.*/\1/p' \
		"$1/src/axioms/level.h" | paste -sd '|' -
}

complaints() {
	ids=$(identifiers "$1")
	(cd "$1" && {
		grep -rnEw "$ids" src
		grep -rnE '[=!<>]=? *LEVEL_(SERIAL|DEFAULT)\>' src |
			grep -vE '[^=!<>]= *LEVEL_'
		grep -rnE '\<LEVEL_(SERIAL|DEFAULT) *[=!<>]' src
	} | grep -vE "$allowed")
}

# result NAME STATUS: counts a test.
result() {
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1)); echo "PASS: $1"
	else
		failed=$((failed + 1)); echo "FAIL: $1"
	fi
}

[ "$(identifiers "$top" | tr '|' '\n' | grep -c LEVEL_)" -ge 8 ]
result "the table is read" $?
complaints "$top" >"$work/found"
cat "$work/found"
[ ! -s "$work/found" ]; result "no level is named outside of the table" $?

# planted NAME FILE LINE: a line added to a fresh copy is found.
planted() {
	rm -rf "$work/copy"
	mkdir "$work/copy"
	cp -R "$top/src" "$work/copy"
	chmod -R u+w "$work/copy"
	printf '%s\n' "$3" >>"$work/copy/$2"
	complaints "$work/copy" | grep -q "^$2:"
	result "$1 is found" $?
}
planted "a named level" src/check/check.c 'if (l <= LEVEL_CC) return;'
planted "a named level in the axioms" src/axioms/witness.c \
	'case LEVEL_SI: break;'
planted "a comparison with the serial level" src/cli/check.c \
	'if (l == LEVEL_SERIAL) return;'
planted "a comparison with the default" src/run/runner.c \
	'while (LEVEL_DEFAULT < l) l--;'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
