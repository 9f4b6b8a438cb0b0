# Deciding against exploring: programs of more and more sessions, each engine
# until it has not ended within a minute. Read by scripts/bench.
decide_limit=60

# sessions_of N: that many times what follows the colon of standard input's
# lines, `@` being the session's number.
sessions_of() {
	awk -v n="$1" '
	/^each:/ { line = substr($0, 6)
		for (i = 1; i <= n; i++) { s = line; gsub("@", i, s); print s }
		next }
	/^sum:/ { printf "assert "
		for (i = 1; i <= n; i++) printf "%ss%d.ok", (i > 1 ? " + " : ""), i
		print " == 1;"
		next }
	{ gsub("@", n); print }'
}

# Each adds 1, and none is lost.
decide_counter() {
	sessions_of "$1" <<-'END'
	global x = 0;
	txn add() { x += 1; }
	each:session s@ { add(); }
	finally { let end = x; }
	assert finally.end == @;
	END
}

# One seat, which one gets.
decide_seat() {
	sessions_of "$1" <<-'END'
	global seats = 1;
	txn book() { let n = seats; if (n > 0) { seats = n - 1; return 1; } return 0; }
	each:session s@ { let ok = book(); }
	sum:
	END
}

# Sessions of three transactions of shipped clients, as many of them in a row:
# tpcc is the mix of the larger clients, in which few sessions write what others
# read, tpcc_hot that of small ones, which all read and write the same lists.
decide_client() {
	size=$1 app=$2
	shift 2
	printf 'import "%s/programs/apps/%s.tx";\n' "$PWD" "$app"
	cat "$@" | grep -v '^import' |
		awk -v most="$size" '
		/^session / { sub(/session [^ ]*/, "session c" (++n)) }
		n && n <= most'
}
decide_shopping_cart() {
	decide_client "$1" shopping_cart programs/shopping_cart/client-4.tx \
		programs/shopping_cart/client-5.tx programs/shopping_cart/client-2.tx
}
decide_tpcc() {
	decide_client "$1" tpcc programs/scale/six/tpcc/sessions-3.tx \
		programs/scale/six/tpcc/sessions-4.tx
}
decide_tpcc_hot() {
	decide_client "$1" tpcc programs/tpcc/client-1.tx \
		programs/tpcc/client-2.tx programs/tpcc/client-3.tx
}

# by ENGINE FAMILY N LEVEL: a line of CSV; false if it did not end.
by() {
	status=0
	command time -o "$work/time" -f '%U,%e' "$isoscope" "$1" --json \
		-i "$4" --timeout "$decide_limit" "$work/decide.tx" \
		>"$work/out" 2>"$work/log" || status=$?
	case $status in
	0) verdict=holds ;;
	1) verdict=violated ;;
	4) verdict=open ;;
	*) cat "$work/log" >&2; verdict=error ;;
	esac
	echo "$2,$3,$4,$1,$(tail -n 1 "$work/time"),$verdict,$(number runs),$(number histories)"
	[ "$status" -le 1 ]
}

# family NAME "LEVELS" N...
family() {
	family=$1 levels=$2
	shift 2
	for level in $levels; do
		for engine in explore decide; do
			for n in "$@"; do
				"decide_$family" "$n" >"$work/decide.tx"
				by "$engine" "$family" "$n" "$level" || break
			done
		done
	done
}

decide_bench() {
	echo program,sessions,level,engine,user_seconds,wall_seconds,verdict,runs,histories
	family counter 'ser si' 4 8 12 16 20 24 32 40 48
	family seat 'ser si' 4 8 12 20 40 80
	family shopping_cart cc 2 3 4 5 6 7
	family tpcc 'cc ser' 4 5 6 7 8 9 10 11 12
	family tpcc_hot 'cc ser' 3 4 5 6
}
