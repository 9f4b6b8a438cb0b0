# The section of docs/benchmarks.md on deciding, from decide.csv. Read by
# scripts/bench-table.sh, which sets $results.

# A line for each program and level: the most sessions with which each ended,
# and how long each number of sessions took.
decide_rows() {
	awk -F, '
	NR == 1 { next }
	!(($1, $3) in seen) { seen[$1, $3] = 1; order[++rows] = $1 SUBSEP $3 }
	{
		key = $1 SUBSEP $3 SUBSEP $4
		done = $7 == "holds" || $7 == "violated"
		count = $4 == "explore" ? $9 : $8
		text[key] = text[key] (text[key] ? ", " : "") $2 ": " \
			(done ? $6 " s" : "open")
		if (done) last[key] = count
	}
	END {
		for (i = 1; i <= rows; i++) {
			split(order[i], of, SUBSEP)
			e = order[i] SUBSEP "explore"; d = order[i] SUBSEP "decide"
			printf "| %s | %s | %s | %s | %s | %s |\n", of[1], of[2],
				text[e], last[e], text[d], last[d]
		}
	}' "$results/decide.csv"
}

decide_section() {
	[ -f "$results/decide.csv" ] || return 0
	cat <<-'END'
	## Deciding

	`isoscope decide`, which enumerates in a second thread for the first twenty
	seconds, against `isoscope explore`, on two processors: seconds of wall
	time for each number of sessions, until one does not end within a minute.
	Each session of counter adds 1, and none is lost; of seat, books the one
	seat; of the others, runs three transactions of a client in `programs/`.
	Of the largest that ended: histories, and parts of runs.

	| program | level | exploring | histories | deciding | parts |
	|---|---|---|---|---|---|
	END
	decide_rows
	echo
}
