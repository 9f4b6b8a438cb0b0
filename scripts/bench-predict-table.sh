# The part of docs/benchmarks.md on prediction; sourced by
# scripts/bench-table.sh, whose $results it uses.
# shellcheck shell=dash disable=SC2154

# Ten traces of each workload, form and size: predicted FILE LEVELS STRATEGIES.
predicted() {
	awk -F, -v levels="$2" -v strategies="$3" '
	function cell(key) {
		if (!found[key])
			return "-, " time(key)
		return found[key] " / " valid[key] + 0 " / " \
			apart[key] + 0 ", " time(key)
	}
	# The median in milliseconds.
	function time(key,   n, i, j, x, list) {
		n = traces[key]
		for (i = 1; i <= n; i++) {
			x = seconds[key, i]
			for (j = i; j > 1 && list[j - 1] > x; j--)
				list[j] = list[j - 1]
			list[j] = x
		}
		x = (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2
		return sprintf("%.1f", 1000 * x)
	}
	NR == 1 { next }
	{
		row = $1 " " $2 ", 3 x " $4
		if (!(row in seen)) { seen[row] = 1; order[++rows] = row }
		key = row SUBSEP $6 SUBSEP $7 " " $8
		seconds[key, ++traces[key]] = $13 + 0
		if ($9 == "found") found[key]++
		valid[key] += $10; apart[key] += $11
	}
	END {
		names["smallbank"] = "SmallBank"; names["voter"] = "Voter"
		names["tpcc"] = "TPC-C"; names["wikipedia"] = "Wikipedia"
		wanted = split(levels, level, " ")
		columns = split(strategies, strategy, ",")
		printf "| trace |"
		for (l = 1; l <= wanted; l++)
			for (c = 1; c <= columns; c++)
				printf " %s %s |", level[l], strategy[c]
		printf "\n|---|"
		for (c = wanted * columns; c > 0; c--)
			printf "---|"
		print ""
		for (i = 1; i <= rows; i++) {
			name = order[i]
			sub(/ .*/, "", name)
			rest = substr(order[i], length(name) + 1)
			printf "| %s%s |", names[name], rest
			for (l = 1; l <= wanted; l++)
				for (c = 1; c <= columns; c++)
					printf " %s |", cell(order[i] SUBSEP \
						level[l] SUBSEP strategy[c])
			print ""
		}
		print ""
	}' "$1"
}

# In words: missed_by_approx FILE.
missed_by_approx() {
	awk -F, '
	$9 == "found" {
		key = $1 FS $2 FS $4 FS $5 FS $6 FS $7
		if ($8 == "exact") { exact++; keys[key] = 1 }
		else approx[key] = 1
	}
	END {
		for (key in keys)
			if (!(key in approx)) missed++
		printf "At all levels, the exact encoding finds %d " \
			"predictions, of which\nthe approximate one " \
			"misses %d.\n\n", exact, missed
	}' "$1"
}

# Larger traces, one level in a column: larger FILE BOUNDARY.
larger() {
	awk -F, -v boundary="$2" '
	function cell(key,   text) {
		text = found[key] + 0 " of " traces[key] ", "
		if (unknown[key])
			return text unknown[key] " undecided, > 60"
		return text sprintf("%.2f", most[key])
	}
	NR == 1 || $7 != boundary { next }
	{
		row = $1 SUBSEP $2 ", " $3 " x " $4
		if (!(row in seen)) { seen[row] = 1; order[++rows] = row }
		key = row SUBSEP $6
		traces[key]++
		if ($9 == "found") found[key]++
		if ($9 == "unknown") unknown[key]++
		if ($13 > most[key]) most[key] = $13
		if ($15 > memory[row]) memory[row] = $15
	}
	END {
		names["smallbank"] = "SmallBank"; names["voter"] = "Voter"
		names["tpcc"] = "TPC-C"; names["wikipedia"] = "Wikipedia"
		levels = split("rc ra cc pc psi si", level, " ")
		printf "| %s | trace |", boundary
		for (l = 1; l <= levels; l++)
			printf " %s |", level[l]
		print " MB |"
		printf "|---|---|---|"
		for (l = 1; l <= levels; l++)
			printf "---|"
		print ""
		for (i = 1; i <= rows; i++) {
			split(order[i], part, SUBSEP)
			printf "| %s | %s |", names[part[1]], part[2]
			for (l = 1; l <= levels; l++)
				printf " %s |", cell(order[i] SUBSEP level[l])
			printf " %.0f |\n", memory[order[i]] / 1024
		}
		print ""
	}' "$1"
}

# Sums over the programs of a folder that were explored to the end.
compared() {
	awk -F, '
	NR == 1 { next }
	{
		folder = $1
		sub(/\/[^\/]*$/, "", folder)
		key = folder SUBSEP $2 SUBSEP $3
		if (!(key in all)) order[++rows] = key
		all[key]++
		if ($14 != "true" || $4 != "true") next
		whole[key]++
		for (c = 5; c <= 25; c++)
			sum[key, c] += $c
	}
	END {
		print "| programs | level | boundary | unserializable " \
			"histories | predicted | at random | assertions " \
			"violated | predicted | at random | predictions " \
			"| validated | diverged | false |"
		print "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
		for (i = 1; i <= rows; i++) {
			k = order[i]
			split(k, part, SUBSEP)
			printf "| %s, %d of %d | %s | %s ", part[1], whole[k],
				all[k], part[2], part[3]
			printf "| %d | %d | %d ", sum[k, 16], sum[k, 6],
				sum[k, 11]
			printf "| %d | %d | %d ", sum[k, 17], sum[k, 7],
				sum[k, 12]
			printf "| %d | %d | %d | %d |\n", sum[k, 21],
				sum[k, 22], sum[k, 23], sum[k, 24]
		}
		print ""
		print "CPU seconds of all of them:"
		print ""
		print "| programs | level | boundary | prediction | random " \
			"runs | exploration |"
		print "|---|---|---|---|---|---|"
		for (i = 1; i <= rows; i++) {
			k = order[i]
			split(k, part, SUBSEP)
			printf "| %s | %s | %s | %.2f | %.2f | %.2f |\n",
				part[1], part[2], part[3], sum[k, 8],
				sum[k, 13], sum[k, 18]
		}
		print ""
	}' "$1"
}
