# The experiment of scripts/bench on clients in C; sourced by it. It uses its
# $isoscope, $work, $limit and number().
# shellcheck shell=dash disable=SC2154

native_columns=client,level,language,histories,end,user_seconds,\
system_seconds,max_rss_kb

# native_rounds ROUNDS PROGRAM LEVEL: so many explorations; the last result in
# $work/out, the CPU seconds of all of them and of their worker processes, and
# the largest of them in kB, in $work/time.
native_rounds() {
	command time -o "$work/time" -f '%U %S %M' sh -c '
		rounds=$1 status=0
		shift
		while [ $rounds -gt 0 ]; do
			"$@" || status=$?
			rounds=$((rounds - 1))
		done
		exit $status' - "$1" "$isoscope" explore -i "$3" -j 1 \
		--timeout "$limit" --json "$2" >"$work/rounds" 2>"$work/log"
}

# native_once CLIENT LEVEL LANGUAGE PROGRAM: a line of CSV. What is short is
# repeated, and the seconds are those of one.
native_once() {
	for rounds in 1 20; do
		status=0
		native_rounds $rounds "$4" "$2" || status=$?
		tail -n 1 "$work/rounds" >"$work/out"
		case $(tail -n 1 "$work/time") in 0.[01]*) ;; *) break ;; esac
	done
	case $status in
	0|1) end='done' ;;
	4) end=timeout ;;
	*) end=error; cat "$work/log" >&2 ;;
	esac
	if grep -q '"complete": *false' "$work/out"; then end=timeout; fi
	tail -n 1 "$work/time" | awk -v rounds=$rounds \
		-v name="$1,$2,$3,$(number histories),$end" '{
		printf "%s,%.4f,%.4f,%d\n", name, $1 / rounds, $2 / rounds, $3
	}'
}

# The shipped clients in C, and their twins in the language.
native_clients() {
	echo "$native_columns"
	cp -R programs/native "$work/native"
	make -C "$work/native" ISOSCOPE="-I$PWD/include" >"$work/log" 2>&1 || {
		cat "$work/log" >&2
		return 1
	}
	native_levels last_seat programs/examples/last-seat.tx
	for app in shopping_cart courseware; do
		for client in 1 2 3 4 5; do
			name=$app/client-$client
			native_levels "$name" "programs/$name.tx"
		done
	done
}

# native_levels CLIENT TWIN
native_levels() {
	echo "native $1" >&2
	for level in rc cc si; do
		native_once "$1" $level tx "$2"
		native_once "$1" $level c "$work/native/$1.so"
	done
}
