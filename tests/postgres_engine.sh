#!/bin/sh
# Programs in SQL that a private PostgreSQL carries out give what the built-in
# engine gives: the same verdicts, and as many histories. Where the two read
# differently, only the verdicts are compared. Nothing is left behind.
source=${ISOSCOPE_SOURCE:?}
if ! "$ISOSCOPE" explore --engine=postgres "$source/programs/sql/seats.spec" \
	>/dev/null 2>&1; then
	echo "skipped: no PostgreSQL"
	exit 77
fi
# What is said, but for the numbers and the examples.
told() {
	"$ISOSCOPE" explore --jobs 1 -i "$1" "--engine=$2" "$3" 2>&1 |
		grep -E "^  (holds|fails) |^histories" | grep -v "$4"
}
compare() {
	[ "$(told "$1" builtin "$2" "$3")" = \
		"$(told "$1" postgres "$2" "$3")" ] || {
		echo "$2 at $1: the engines differ" >&2
		exit 1
	}
}
for file in seats bookings cart inventory on-call overdraft queue smallbank \
	twitter user-names wikipedia; do
	compare prc "$source/programs/sql/$file.spec" "^$"
	compare si "$source/programs/sql/$file.spec" "^$"
done
# FOR KEY SHARE looks for any row that refers to one that goes.
compare prc "$source/programs/sql/courseware.spec" "histor"
for file in delete-and-insert eval-plan-qual eval-plan-qual-delete fk-deadlock \
	handled-locks insert-conflict-do-update insert-unique \
	lock-strengths lost-update multiple-statements savepoint-error \
	savepoint-locks savepoint-upsert two-ids; do
	compare prc "$source/tests/specs/$file.spec" "^$"
done
