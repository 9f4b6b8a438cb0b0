#!/bin/sh
# The rows of Hermitage (https://github.com/ept/hermitage): the statements are
# those of its tests of PostgreSQL, each program asserts that its anomaly does not
# happen, and tests/hermitage/expected has what Hermitage reports.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

# row NAME REPORTED LEVEL...: a letter of what is reported for each level.
row() {
	name=$1
	rest=$2
	shift 2
	for level in "$@"; do
		case $rest in A*) wanted=1 ;; -*) wanted=0 ;; *) wanted= ;; esac
		rest=${rest#?}
		[ "$wanted" ] || continue
		"$ISOSCOPE" explore -q -i "$level" \
			"$top/tests/hermitage/$name.spec" >out 2>err
		equal "exit code of $name at $level" $? $wanted
	done
}

while read -r name reported; do
	case $name in
	'' | '#'*) ;;
	*) row "$name" "$reported" postgres-read-committed \
		postgres-repeatable-read postgres-serializable \
		oracle-serializable sqlserver-snapshot cockroachdb prc ser ;;
	esac
done <"$top/tests/hermitage/expected"
finish
