#!/bin/sh
# isoscope separate, from outside; and the table of the manual that it made.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

run 0 separate si ser
prints 'Snapshot Isolation (si) allows what Serializability (ser) forbids, in 2'
prints 'write skew'
prints 'Serializability (ser) allows nothing that Snapshot Isolation (si) forbids, however large'
prints 'which leads back to where it began'
run 0 separate ser si --quiet
prints 'ser allows none that si forbids, si allows a history that ser forbids'
run 0 separate psi pc --json
prints '"allows":"psi","forbids":"pc","implied":false,"transactions":4,"events":4'
prints '"allows":"pc","forbids":"psi","implied":false,"transactions":2,"events":4'
run 0 separate si prc --max-transactions 3
prints 'forbids, up to 3 transactions and 6 events'
run 0 separate si prc --locks
prints '2 transactions and 4 events'
run 0 separate si si+ser
prints 'a mix of si and ser'
run 0 separate cc si --dot picture
grep -q '^digraph' picture; result=$?
[ $result -eq 0 ] && pass || fail 'a picture'
run 4 separate si prc --max-transactions 7 --max-events 14 --timeout 0.1
prints 'the time limit was reached'
run 0 separate ser ser
prints 'however large'

run 2 separate si
says 'separate takes two levels, not 1'
run 2 separate si sre
says "did you mean 'ser'"
run 2 separate si+psi cc
says 'si+psi: '
run 2 separate si+ser cc+ra
says 'not with another mix'
run 2 separate si ser --max-events 15
says 'at most 7 transactions and 14 events'

if "$top/scripts/separations" --check "$ISOSCOPE" >out 2>err; then
	pass
else
	fail "the manual's table is not what scripts/separations writes"
fi
finish
