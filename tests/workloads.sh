#!/bin/sh
# The generated files of programs/oltp are what scripts/workloads writes, and
# every client compiles, over rows and over cells. ISOSCOPE names the binary
# (default ./isoscope).
set -u

ISOSCOPE=${ISOSCOPE:-./isoscope}
top=${srcdir:-$(dirname "$0")/..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0
failed=0

fail() {
	failed=$((failed + 1))
	echo "FAIL $*"
}

"$top/scripts/workloads" "$work/oltp" || exit 99
(cd "$work/oltp" && find . -name '*.tx') | LC_ALL=C sort >"$work/written"
while read -r file; do
	if cmp -s "$work/oltp/$file" "$top/programs/oltp/$file"; then
		passed=$((passed + 1))
	else
		fail "programs/oltp/$file is not what scripts/workloads writes"
	fi
done <"$work/written"

find "$top/programs/oltp/clients" -name '*.tx' | LC_ALL=C sort >"$work/clients"
while read -r client; do
	if "$ISOSCOPE" compile "$client" >/dev/null 2>"$work/errors"; then
		passed=$((passed + 1))
	else
		fail "$client: $(head -n 1 "$work/errors")"
	fi
done <"$work/clients"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
