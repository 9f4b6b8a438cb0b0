# The part of docs/benchmarks.md on large explorations; sourced by
# scripts/bench-table.sh, whose $results and $limit it uses.
# shellcheck shell=dash disable=SC2154

# What the programs here share: the median of list[1..n], which is sorted; a
# count, marked if the run was cut off.
scale_functions='
function median(list, n,   i, j, x) {
	for (i = 2; i <= n; i++) {
		x = list[i]
		for (j = i; j > 1 && list[j - 1] > x; j--)
			list[j] = list[j - 1]
		list[j] = x
	}
	return n ? (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2 : 0
}
function count(number, status) {
	return (status == "done" ? "" : status == "timeout" ? "> " : \
		status " ") sprintf("%.0f", number)
}
function ratio(x, y) {
	return y > 0 ? sprintf("%.2f", x / y) : "-"
}
BEGIN { FS = "," }
FNR == 1 { next }
'

# scale_csv PART: its file, or nothing.
scale_csv() {
	if [ -f "$results/scale-$1.csv" ]; then
		echo "$results/scale-$1.csv"
	else
		echo /dev/null
	fi
}

# By size: what all clients together took, and the most memory of one.
scale_by_size() {
	awk -v kind="$1" "$scale_functions"'
	$1 !~ kind || $2 < 2 { next }
	{
		key = $2 SUBSEP $3 SUBSEP $4
		wall[key] += $7
		if ($11 != "done") { cut[key] = "> "; cuts[$2] = "> " }
		if ($3 == "no" && $4 == 1) histories[$2] += $5
		if ($11 != "done") next
		if ($9 > rss[key]) rss[key] = $9
		if ($3 == "no" && $10 > held[$2, $4]) held[$2, $4] = $10
	}
	function seconds(size, symmetry, jobs,   key) {
		key = size SUBSEP symmetry SUBSEP jobs
		return sprintf("%s%.2f", cut[key], wall[key])
	}
	function megabytes(size, symmetry, jobs) {
		return sprintf("%.1f", rss[size, symmetry, jobs] / 1024)
	}
	END {
		print "| size | histories | s, 1 worker | s, 2 workers " \
			"| `--symmetry`: s, 1 | s, 2 | MB, 1 worker " \
			"| MB, 2 workers | `--symmetry`: MB, 1 | MB, 2 " \
			"| held, kB, 1 | held, kB, 2 |"
		print "|---|---|---|---|---|---|---|---|---|---|---|---|"
		for (s = 2; s <= 6; s++)
			printf "| %d | %s%.0f | %s | %s | %s | %s | %s | %s " \
				"| %s | %s | %.0f | %.0f |\n", s,
				cut[s, "no", 1], histories[s],
				seconds(s, "no", 1), seconds(s, "no", 2),
				seconds(s, "yes", 1), seconds(s, "yes", 2),
				megabytes(s, "no", 1), megabytes(s, "no", 2),
				megabytes(s, "yes", 1), megabytes(s, "yes", 2),
				held[s, 1] / 1024, held[s, 2] / 1024
		printf "\nFrom size 2 to 6: %.0f times as many histories, " \
			"%.2f times the memory (one worker), %.2f times " \
			"(two).\n\n", histories[6] / histories[2],
			rss[6, "no", 1] / rss[2, "no", 1],
			rss[6, "no", 2] / rss[2, "no", 2]
	}' "$results/scale-sizes.csv"
}

# By client and size: histories, and seconds with one worker and with two. What
# is out of reach has an estimate.
scale_by_client() {
	awk -v kind="$1" "$scale_functions"'
	FILENAME ~ /estimates/ {
		if ($3 == 1) expected[$1, $2] = sprintf(" (about %.2g)", $5)
		next
	}
	$1 !~ kind || $3 != "no" { next }
	{
		if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 }
		if ($4 == 1)
			cell[$1, $2] = count($5, $11) \
				($11 == "timeout" ? expected[$1, $2] : "") \
				sprintf(", %.2f", $7)
		else
			cell[$1, $2] = cell[$1, $2] sprintf(" / %.2f", $7)
	}
	END {
		print "| client | 2 | 3 | 4 | 5 | 6 |"
		print "|---|---|---|---|---|---|"
		for (i = 1; i <= n; i++) {
			printf "| %s", order[i]
			for (s = 2; s <= 6; s++)
				printf " | %s", cell[order[i], s]
			print " |"
		}
		print ""
	}' "$(scale_csv estimates)" "$(scale_csv sizes)"
}

# Sessions that are the same: classes against histories.
scale_classes() {
	awk "$scale_functions"'
	FILENAME ~ /estimates/ {
		if ($3 == 1) expected[$1, $2] = sprintf(" (about %.2g)", $5)
		next
	}
	{
		key = $1 " | " $2
		if (!(key in seen)) { seen[key] = 1; order[++n] = key }
		if ($3 == "no" && $4 == 1)
			plain[key] = count($5, $11) \
				($11 == "timeout" ? expected[$1, $2] : "")
		if ($3 == "yes" && $4 == 1) {
			stands[key] = count($5, $11)
			classes[key] = count($6, $11)
			fewer[key] = $11 == "done" && $6 ? \
				sprintf("%.1f", $5 / $6) : "-"
		}
		time[key, $3, $4] = sprintf("%.2f", $7)
		memory[key, $3, $4] = $9 / 1024
	}
	END {
		print "| sessions | n | histories | s, 1 worker | s, 2 " \
			"workers | `--symmetry`: classes | histories " \
			"| times fewer | s, 1 worker | s, 2 workers " \
			"| MB, without / with |"
		print "|---|---|---|---|---|---|---|---|---|---|---|"
		for (i = 1; i <= n; i++) {
			k = order[i]
			printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s " \
				"| %.1f / %.1f |\n", k, plain[k],
				time[k, "no", 1], time[k, "no", 2], classes[k],
				stands[k], fewer[k], time[k, "yes", 1],
				time[k, "yes", 2], memory[k, "no", 1],
				memory[k, "yes", 1]
		}
		print ""
	}' "$(scale_csv estimates)" "$(scale_csv symmetric)"
}

# One worker against two: medians of the rounds, client by client, and of the
# sums of all clients in a round.
scale_speed() {
	awk "$scale_functions"'
	$11 != "done" { cut[$1, $2] = cut["", $2] = 1 }
	{
		if (!(($1, $2) in seen)) {
			seen[$1, $2] = 1
			name[++n] = $1; level[n] = $2
		}
		histories[$1, $2] = $5
		if ($4 > rounds) rounds = $4
		wall[$1, $2, $3, $4] = $7
		wall["", $2, $3, $4] += $7
	}
	function middle(client, level, jobs,   r, list) {
		for (r = 1; r <= rounds; r++)
			list[r] = wall[client, level, jobs, r]
		return median(list, rounds)
	}
	function row(client, level, histories,   one, two) {
		one = middle(client, level, 1)
		two = middle(client, level, 2)
		printf "| %s | %s | %.0f | %.4f | %.4f | %s |\n",
			client == "" ? "all" : client, level, histories, one,
			two, cut[client, level] ? "-" : ratio(one, two)
	}
	END {
		print "| client | level | histories | s, 1 worker " \
			"| s, 2 workers | times faster |"
		print "|---|---|---|---|---|---|"
		for (i = 1; i <= n; i++) {
			total[level[i]] += histories[name[i], level[i]]
			if (middle(name[i], level[i], 1) < 0.02) continue
			row(name[i], level[i], histories[name[i], level[i]])
		}
		row("", "cc", total["cc"])
		row("", "ra", total["ra"])
		print ""
	}' "$results/scale-workers.csv"
}

# What each thread more takes.
scale_memory() {
	awk "$scale_functions"'
	BEGIN {
		print "| client | threads | s | resident, MB | each thread " \
			"more | held, kB | each thread more |"
		print "|---|---|---|---|---|---|---|"
	}
	$2 == 1 { rss = $7; held = $8 }
	{
		printf "| %s | %d | %s%.2f | %.1f | %s | %.0f | %s |\n", $1,
			$2, ($9 == "done" ? "" : "> "), $5, $7 / 1024,
			$2 == 1 ? "-" : \
			sprintf("%.2f", ($7 - rss) / 1024 / ($2 - 1)),
			$8 / 1024, $2 == 1 ? "-" : \
			sprintf("%.0f", ($8 - held) / 1024 / ($2 - 1))
	}
	END { print "" }' "$results/scale-threads.csv"
}

# Estimates beside what there was to find.
scale_truths() {
	awk "$scale_functions"'
	FILENAME !~ /estimates/ {
		if ($11 == "done") truth[$1, $2] = $5
		if ($3 == "no" && $4 == 1 && $11 == "done")
			took[$1, $2] = $7
		next
	}
	$4 == "true" { exact[$2]++; next }
	!(($1, $2) in truth) { unknown[$2]++; next }
	{
		right = truth[$1, $2]
		n = ++runs[$2]
		if ($6 <= right && right <= $7) inside[$2]++
		off[$2, n] = $5 > right ? $5 / right : right / $5
		wide[$2, n] = $7 / ($6 > 1 ? $6 : 1)
		cost[$2, n] = $9
		if (($1, $2) in took && $8 > 0)
			slow[$2, ++timed[$2]] = $8 > took[$1, $2] ? \
				$8 / took[$1, $2] : took[$1, $2] / $8
	}
	function middle(values, size, n,   i, list) {
		for (i = 1; i <= n; i++) list[i] = values[size, i]
		return n ? sprintf("%.2f", median(list, n)) : "-"
	}
	END {
		print "| size | all explored meanwhile " \
			"| true number unknown | estimates " \
			"| true number inside | times off | high / low " \
			"| took, s | seconds: times off |"
		print "|---|---|---|---|---|---|---|---|---|"
		for (s = 4; s <= 6; s++)
			printf "| %d | %d | %d | %d | %d | %s | %s | %s | %s " \
				"|\n", s, exact[s], unknown[s], runs[s],
				inside[s], middle(off, s, runs[s]),
				middle(wide, s, runs[s]),
				middle(cost, s, runs[s]),
				middle(slow, s, timed[s])
		print ""
	}' "$(scale_csv sizes)" "$(scale_csv symmetric)" \
		"$(scale_csv estimates)"
}

# Few stale reads beside any number of them.
scale_few() {
	awk "$scale_functions"'
	FILENAME ~ /sizes/ {
		if ($2 == 6 && $3 == "no" && $4 == 1)
			whole[$1] = count($5, $11) sprintf(", %.2f", $7)
		next
	}
	{
		if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 }
		cell[$1, $3] = count($4, $10) sprintf(", %.2f", $6)
		if ($1 !~ "/" && !($1 in whole)) whole[$1] = "see above"
	}
	END {
		print "| client | none | at most 1 | at most 2 | all |"
		print "|---|---|---|---|---|"
		for (i = 1; i <= n; i++)
			printf "| %s | %s | %s | %s | %s |\n", order[i],
				cell[order[i], 0], cell[order[i], 1],
				cell[order[i], 2], whole[order[i]]
		print ""
	}' "$(scale_csv sizes)" "$(scale_csv bounded)"
}

scale_section_sizes() {
	cat <<-'END'
	## Large explorations

	Sizes 2 to 6 of clients of TPC-C and Wikipedia (`programs/scale/six`:
	those of the two sections above, and one session or transaction more),
	under `cc`. Here seconds are wall time of exploring, as `--json` gives
	it; MB the largest resident set of the process, of what was explored to
	the end (what is cut off is estimated then, which takes memory of its
	own); held: the largest sum of what the exploration itself has allocated
	(`memory_peak`).
	`--symmetry` explores one history of each class; here no two sessions
	are alike, and there is nothing to gain.

	END
	for kind in sessions transactions; do
		case $kind in
		sessions) echo 'Sessions of three transactions:' ;;
		*) echo 'Transactions of each of three sessions:' ;;
		esac
		echo
		scale_by_size "$kind"
	done
	printf 'Histories, and seconds with one worker / with two:\n\n'
	scale_by_client .
}

scale_section_symmetric() {
	cat <<-'END'
	### Sessions that are the same

	`programs/scale/symmetric`: n times the same session. With
	`--symmetry` one history of each class is explored, and told how many
	it stands for. The payments of n sessions are read by one another as in
	a tree, so there are (n + 1)^(n - 1) histories, by Cayley's formula,
	and as many classes as rooted trees of n + 1 nodes: 2, 4, 9, 20, 48.

	END
	scale_classes
}

scale_section_workers() {
	cat <<-'END'
	### One worker and two

	The 25 clients of three sessions of three transactions, nine rounds,
	one worker and two in turn; medians. Clients that one worker explores
	in less than 0.02 s are in the sum only.

	END
	scale_speed
}

scale_section_threads() {
	printf 'What a thread more takes:\n\n'
	scale_memory
}

scale_section_estimates() {
	cat <<-'END'
	### Estimates

	`--estimate` with five seeds, for the sizes 4 to 6 above and for five
	and six sessions that are the same: how often the true number is inside
	the 95 % interval; medians of the factor that the estimate is off, of
	the interval's width, of the seconds that the estimate took, and of the
	factor that the expected seconds are off.

	END
	scale_truths
}

scale_section_bounded() {
	cat <<-'END'
	### Few stale reads

	`--max-changes K`: histories that have a serial order in which at most K
	reads do not read the latest; of size 6, at most 10 s each. Histories,
	and seconds with one worker. That search goes from partial history to
	partial history, so where most transactions do not conflict, all
	histories come sooner by themselves; it is for what is out of reach.
	Sessions that are the same are explored with `--symmetry` as well.

	END
	scale_few
}

# The parts that were measured, in this order.
scale_section() {
	for part in sizes symmetric workers threads estimates bounded; do
		[ ! -f "$results/scale-$part.csv" ] || "scale_section_$part"
	done
}
