#!/bin/sh
# The library from outside: tests/api_program uses isoscope.h and compares with
# what the program prints. Also reads the header as C++.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
program=${ISOSCOPE%/*}/tests/api_program

# part NAME ARGUMENT...: one of its parts finds no difference.
part() {
	if "$program" "$ISOSCOPE" "$@" >out 2>err; then
		pass
	else
		fail "api_program $1"
	fi
}

"$ISOSCOPE" record "$top/programs/examples/on-call.tx" >other.jsonl
part mistakes other.jsonl \
	"$top/programs/litmus/lost-update.tx"
part generated
part memory
part programs "$top"/programs/litmus/*.tx "$top"/programs/examples/on-call.tx
part parts "$top/programs/litmus/lost-update.tx" \
	"$top/programs/examples/on-call.tx" \
	"$top/programs/courseware/client-1.tx" \
	"$top/programs/examples/shopping-cart-layout.tx"
cat >client.c <<'END'
#include <isoscope/client.h>
static void count(void *key)
{
	for (int i = 0; i < 9; i++) {
		iso_begin("count");
		iso_put_int(key, iso_get_int(key) + 1);
		for (int k = 0; k < 9; k++) iso_get_int(key);
		iso_commit();
	}
}
void iso_client(void)
{
	iso_initial_int("x", 0);
	iso_session("ann", count, "x");
	iso_session("ben", count, "x");
}
END
if ${CC:-cc} -g -shared -fPIC -I"$top/include" -o client.so client.c 2>err
then
	part clients "$PWD/client.so"
else
	fail 'a client does not compile'
fi
for folder in anomalies databases edges good hermitage isopredict lists manual
do
	find "$top/tests/histories/$folder" -type f | sort >files
	[ -s files ] || fail "there are histories in $folder"
	# shellcheck disable=SC2046
	part histories $(cat files)
done

if command -v c++ >/dev/null; then
	if c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only \
		-I"$top/include" -x c++ "$top"/tests/api_*.c \
		>out 2>err; then
		pass
	else
		fail "isoscope.h is C++ as well"
	fi
fi
finish
