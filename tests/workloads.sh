#!/bin/sh
# The generated files of programs/oltp are what scripts/workloads writes, and
# every client compiles, over rows and over cells.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

"$top/scripts/workloads" "$work/oltp" || exit 99
(cd oltp && find . -name '*.tx') | sort >written
while read -r file; do
	if cmp -s "oltp/$file" "$top/programs/oltp/$file"; then
		pass
	else
		fail "programs/oltp/$file is not what scripts/workloads writes"
	fi
done <written

find "$top/programs/oltp/clients" -name '*.tx' | sort >clients
while read -r client; do
	run 0 compile "$client"
done <clients
finish
