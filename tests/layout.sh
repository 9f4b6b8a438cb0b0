#!/bin/sh
# The layout of the sources: 80 columns (a tab counts up to the next multiple of
# eight), no blank at the end of a line, no tab behind a space in the
# indentation, a line end at the end of the file.
set -u
top=${srcdir:-$(dirname "$0")/..}

LC_ALL=C
export LC_ALL
layout() {
	awk '
	function columns(line, n, i, c) {
		gsub(/[\200-\277]/, "", line)
		n = 0
		for (i = 1; i <= length(line); i++) {
			c = substr(line, i, 1)
			n = c == "\t" ? n + 8 - n % 8 : n + 1
		}
		return n
	}
	columns($0) > 80 {
		print FILENAME ":" FNR ": wider than 80 columns"
	}
	/[ \t\r]$/ { print FILENAME ":" FNR ": blank at the end of the line" }
	/^\t* +\t/ { print FILENAME ":" FNR ": a tab behind a space" }
	' "$@"
	for file in "$@"; do
		[ -z "$(tail -c 1 "$file")" ] ||
			echo "$file: no line end at the end"
	done
}

cd "$top" || exit 99
found=$(find src include tests scripts .ci -type f \
	! -path 'tests/corpus/*' \( -name '*.[ch]' -o -name '*.sh' \
	-o -path 'scripts/*' -o -path '.ci/*' \) |
	sort | while read -r file; do layout "$file"; done)
passed=0 failed=0
if [ -z "$found" ]; then
	passed=1
else
	echo "$found"
	failed=1
fi

# The check itself finds what it is for.
probe=$(mktemp)
trap 'rm -f "$probe"' EXIT
printf '\t\t\t\t\t\t\t\t\t\tint wide;\n  \tint mixed;\nint blank; \nint end;' \
	>"$probe"
if [ "$(layout "$probe" | wc -l)" -eq 4 ]; then
	passed=$((passed + 1))
else
	echo "the planted errors are not found"
	failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
