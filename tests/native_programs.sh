#!/bin/sh
# The clients in C of programs/native: the Makefile builds them as a user would,
# and each does what its twin in the language does. Under every level of the
# twin's side file it has that many histories, which violate its assertions that
# often, in whichever order its sessions are explored; they are the same
# histories, event by event. So are random runs, recorded ones, predictions from
# them, and comparisons.
# With ISOSCOPE_QUICK only counts that are not marked `once`, in one order.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS
programs=$top/programs

# twin CLIENT: its program in the language, without the ending.
twin() {
	case $1 in
	last_seat) echo "$programs/examples/last-seat" ;;
	*) echo "$programs/$1" ;;
	esac
}

# ---- building ----

# make_clients FOLDER TARGET...: as a user would.
make_clients() {
	what="make -C $*"
	if make -C "$@" CC="${CC:-cc}" >out 2>err; then
		pass
	else
		fail "$what"
	fi
	says_nothing
}

# A copy of the sources: the header is found beside them.
mkdir source source/programs
cp -R "$programs/native" source/programs
cp -R "$top/include" source
chmod -R u+w .
(cd source/programs/native && find . -name '*.so' -exec rm -f {} +)
PKG_CONFIG_LIBDIR=$work make_clients source/programs/native
clients=$(cd source/programs/native && find . -name '*.so' |
	sed 's/^\.\///; s/\.so$//' | sort)
expected=$(cd "$programs/native" && find . -name '*.c' |
	xargs grep -l '^void iso_client' | sed 's/^\.\///; s/\.c$//' | sort)
equal 'clients that were built' "$clients" "$expected"
equal 'how many' "$(echo "$clients" | wc -l | tr -d ' ')" 11

# A copy of the folder alone, and an isoscope that is installed somewhere.
mkdir -p installed/include installed/lib/pkgconfig
cp -R source/programs/native copy
cp -R "$top/include/." installed/include
chmod -R u+w installed
sed "s|@prefix@|$work/installed|; s|@exec_prefix@|\${prefix}|
	s|@libdir@|\${prefix}/lib|; s|@includedir@|\${prefix}/include|
	s|^Requires.*||; s|@PACKAGE_VERSION@|1|" \
	"$top/isoscope.pc.in" >installed/lib/pkgconfig/isoscope.pc
make_clients copy clean
equal 'built files that are left' "$(find copy -name '*.so')" ''
if command -v pkg-config >/dev/null; then
	PKG_CONFIG_LIBDIR=$work/installed/lib/pkgconfig \
		make_clients copy last_seat.so
	PKG_CONFIG_LIBDIR=$work/installed/lib/pkgconfig \
		make_clients copy
fi

# Without the Makefile.
if ${CC:-cc} -g -shared -fPIC -I "$work/installed/include" \
	-o alone.so "$programs/native/last_seat.c" >out 2>err; then
	pass
else
	fail 'the line of the README'
fi

# Where the counterexample's places are told from: a short name.
mv source/programs/native native

# ---- counts ----

# counts PROGRAM LEVEL [ORDER]: the line of a side file that this would have.
counts() {
	"$ISOSCOPE" explore "$1" -i "$2" ${3:+--sessions-order "$3"} --json \
		>out 2>err
	status=$?
	if [ $status -gt 1 ]; then
		echo "exit code $status: $(head -n 1 err)"
		return
	fi
	tr -d ' \n' <out | tr '{},' '\n\n\n' | awk -F: -v level="$2" '
		$1 == "\"complete\"" && $2 != "true" { bad = " incomplete" }
		$1 == "\"algorithm\"" { ce = $2 == "\"ce\"" }
		$1 == "\"blocked\"" && $2 != 0 && ce { bad = bad " blocked" }
		$1 == "\"violated\"" { violated = violated " " $2 }
		$1 == "\"histories\"" { histories = $2 }
		END { print level " " histories violated bad }'
}

# orders PROGRAM: as declared (an empty line), backwards, the second first.
orders() {
	echo
	[ -z "${ISOSCOPE_QUICK:-}" ] || return
	awk '/^session / { name[++n] = $2 }
	END {
		for (i = n; i > 0; i--)
			printf "%s%s", name[i], (i > 1 ? "," : "\n")
		for (i = 2; i <= n && n > 2; i++)
			printf "%s,", name[i]
		if (n > 2) print name[1]
	}' "$1"
}

# counted CLIENT: all lines of the side file.
counted() {
	sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "$(twin "$1").expect" >lines
	while read -r line; do
		case $line in
		*' once') [ -z "${ISOSCOPE_QUICK:-}" ] || continue
			echo >orders ;;
		*) orders "$(twin "$1").tx" >orders ;;
		esac
		while read -r order; do
			equal "$1.so ${order:+($order) }${line%% *}" \
				"$(counts "native/$1.so" "${line%% *}" \
					"$order")" "${line% once}"
		done <orders
	done <lines
}

# both COMMAND ARGUMENT...: runs the command for the client's `it` and for its
# twin; same exit code. What it prints is in the files found and wanted, the
# program's name left out.
both() {
	what="isoscope $* ($it)"
	"$ISOSCOPE" "$@" "native/$it.so" >out 2>err </dev/null
	found=$?
	sed "s|native/$it\.so|PROGRAM|g" out >found
	"$ISOSCOPE" "$@" "$(twin "$it").tx" >out.twin 2>err.twin </dev/null
	equal "$what: exit code" $found $?
	sed "s|$(twin "$it")\.tx|PROGRAM|g" out.twin >wanted
}

# The numbers, verdicts and limits of JSON that do not tell time or memory, and
# not which program it was.
alike() {
	sed -n 's/,"assertions":\[.*//; s/"program":"[^"]*",//
		s/"[a-z_]*seconds":[0-9.e-]*//g; p' "$1"
}

# levels: the table of levels, up to a number of histories in each.
levels() {
	both explore --levels --json --max-histories 10000
	sed 's/"assertions":\[[^]]*\]//' found >out
	sed 's/"assertions":\[[^]]*\]//' wanted >out.twin
	same "$what" out out.twin
}

# Which session reads and writes what in which transaction, and whose writes it
# reads: one line per history, sorted. Keys up to what they are made of.
events() {
	jq -c '[.sessions[] | [.name, (.transactions[] | [.name, .status,
		(.events[] | [.[0], (.[1] | gsub("_row|[^a-z0-9]"; "")),
		if .[0] == "r" then .[3] else null end])])]]' | sort
}

# histories LEVEL: the first ones are all, or there are too many.
histories() {
	if ! command -v jq >/dev/null; then return; fi
	both explore -i "$1" -q --histories - --max-histories "$most"
	[ "$(wc -l <wanted)" -lt "$most" ] || return
	events <found >out
	events <wanted >out.twin
	same "$what" out out.twin
	[ -s out ] || fail "$what: no history"
}

most=4000
[ -z "${ISOSCOPE_QUICK:-}" ] || most=500
for it in $clients; do
	counted "$it"
	levels
	histories cc
	histories rc
done

# from_trace: what was recorded leads to the same predictions, validated, and to
# the same histories around it, as the twin's does.
from_trace() {
	cp found found.trace
	cp wanted wanted.trace
	for level in rc cc; do
		for how in 'predict --validate,' 'explore,--from'; do
			what="isoscope $how -i $level ($it)"
			numbers "native/$it.so" found.trace >out
			numbers "$(twin "$it").tx" wanted.trace >out.twin
			same "$what" out out.twin
		done
	done
}

# numbers PROGRAM TRACE: exit code, verdict and counts of $how under $level.
numbers() {
	# shellcheck disable=SC2086
	"$ISOSCOPE" ${how%,*} "$1" ${how#*,} "$2" -q --json -i "$level" \
		>json 2>err </dev/null
	echo "exit code $?"
	tr '{},' '\n\n\n' <json | grep -E '"(verdict|reproduced|changes)":
"(found|validated|diverged|histories|violated|complete)":'
}

# ---- assertions ----

it=last_seat
for level in none rc ra cc pc psi si ser; do
	both explore -i $level --json
	for file in found wanted; do
		tr ',' '\n' <$file | grep -E '"(verdict|violated)":' \
			>out.$file
		grep -q 'only one may be told that the seat' $file ||
			fail "$what: no message"
	done
	same "$what" out.found out.wanted
done
run 1 explore native/last_seat.so
prints 'only one may be told that the seat is theirs'
prints 'alice.ok = 1, bob.ok = 1'
prints "last_seat.c:$(sed -n '/iso_expect(/=' native/last_seat.c)"
prints 'This is a lost update.'
run 0 explore native/last_seat.so -i si
run 1 explore alone.so

# ---- run, record, predict, explore --from, compare ----

for it in last_seat courseware/client-1; do
	for seed in 1 2 3; do
		both run --json --runs 300 --seed $seed
		alike found >out
		alike wanted >out.twin
		same "$what" out out.twin
		both record --seed $seed
		run 0 check -i ser found
		if command -v jq >/dev/null; then
			events <found >out
			events <wanted >out.twin
			same "$what" out out.twin
		fi
		from_trace
	done
	for boundary in strict relaxed; do
		both compare --json --boundary $boundary
		alike found >out
		alike wanted >out.twin
		same "$what" out out.twin
	done
done
finish
