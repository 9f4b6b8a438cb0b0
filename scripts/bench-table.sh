#!/bin/sh
# bench-table.sh FOLDER SECONDS: docs/benchmarks.md from the CSV in the folder.
set -eu
results=$1 limit=$2
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)

cat <<END
# Benchmarks

Written by \`scripts/bench\`, which repeats the three experiments of *Dynamic
Partial Order Reduction for Checking Correctness against Transaction Isolation
Levels* (PLDI 2023) on the clients in \`programs/\`, and [checks recorded
histories](#checking-recorded-histories). One core of a shared machine
(${machine:-unknown processor}); user CPU time and the largest resident set of
the whole process, as GNU time reports them; at most $limit s of wall time per
exploration. \`>\` marks runs that were cut off: their counts are what was
reached.

Algorithms: \`ce(cc)\` is explore-ce under causal consistency, \`ce*(A B)\`
explores under A and keeps the histories of B, \`dfs(cc)\` is the search without
reduction, in which histories repeat.

END

if [ -f "$results/clients.csv" ]; then
	cat <<-'END'
	## 25 clients, three sessions of three transactions

	![time](benchmarks/clients-time.svg)
	![memory](benchmarks/clients-memory.svg)
	![end states](benchmarks/clients-end-states.svg)

	END
	awk -F, '
	function rate(count, seconds) {
		return seconds < 0.05 ? "-" : sprintf("%d", count / seconds)
	}
	NR == 1 { next }
	{
		if (!($2 in seen)) { seen[$2] = 1; order[++n] = $2 }
		runs[$2]++
		if ($7 == "done") done[$2]++
		ends[$2] += $3; time[$2] += $5
		if ($6 > memory[$2]) memory[$2] = $6
	}
	END {
		print "| algorithm | clients done | end states | user CPU s" \
			" | end states per s | most memory, MB |"
		print "|---|---|---|---|---|---|"
		for (i = 1; i <= n; i++) {
			a = order[i]
			printf "| `%s` | %d of %d | %d | %.2f | %s | %.1f |\n",
				a, done[a], runs[a], ends[a], time[a],
				rate(ends[a], time[a]), memory[a] / 1024
		}
		print ""
	}' "$results/clients.csv"
	cat <<-'END'
	Under `ce(cc)`, client by client:

	| client | histories | user CPU s | histories per s | memory, MB |
	|---|---|---|---|---|
	END
	awk -F, '
	function rate(count, seconds) {
		return seconds < 0.05 ? "-" : sprintf("%d", count / seconds)
	}
	NR > 1 && $2 == "ce(cc)" {
		printf "| %s | %s%d | %.2f | %s | %.1f |\n", $1,
			$7 == "done" ? "" : "> ", $4, $5,
			rate($4, $5), $6 / 1024
	}' "$results/clients.csv"
	echo
fi

for kind in sessions transactions; do
	[ -f "$results/$kind.csv" ] || continue
	case $kind in
	sessions) echo "## Scaling in sessions (of three transactions)" ;;
	*) echo "## Scaling in transactions per session (three sessions)" ;;
	esac
	printf '\n![%s](benchmarks/%s.svg)\n\n' "$kind" "$kind"
	printf 'Histories under `ce(cc)`, and user CPU seconds:\n\n'
	awk -F, '
	NR == 1 { next }
	{
		if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 }
		cell[$1, $2] = sprintf("%s%d (%.2f)", \
			$8 == "done" ? "" : "> ", $5, $6)
	}
	END {
		print "| client | 1 | 2 | 3 | 4 | 5 |"
		print "|---|---|---|---|---|---|"
		for (i = 1; i <= n; i++) {
			printf "| %s", order[i]
			for (s = 1; s <= 5; s++)
				printf " | %s", cell[order[i], s]
			print " |"
		}
		print ""
	}' "$results/$kind.csv"
done

# The table of a file whose columns are name, operations, level, user CPU
# seconds, kB, verdict: one row per history, one column per level.
checks() {
	awk -F, -v words="$2" '
	function cell(seconds, kilobytes, verdict) {
		return sprintf("%s%.2f / %d%s", \
			verdict == "undecided" ? "> " : "", seconds, \
			(kilobytes + 512) / 1024, \
			verdict == "violated" ? " violated" : \
			verdict == "error" ? " failed" : "")
	}
	NR == 1 { next }
	{
		row = $1 SUBSEP $2
		if (!(row in seen)) { seen[row] = 1; order[++n] = row }
		cells[row, $3] = cell($4, $5, $6)
	}
	END {
		levels = split(words, level, " ")
		printf "| history | operations |"
		for (l = 1; l <= levels; l++) printf " %s |", level[l]
		printf "\n|---|---|"
		for (l = 1; l <= levels; l++) printf "---|"
		print ""
		for (i = 1; i <= n; i++) {
			split(order[i], part, SUBSEP)
			printf "| %s | %s |", part[1], part[2]
			for (l = 1; l <= levels; l++)
				printf " %s |", cells[order[i], level[l]]
			print ""
		}
		print ""
	}' "$1"
}

if [ -f "$results/check.csv" ]; then
	cat <<-'END'
	## Checking recorded histories

	`isoscope check -i LEVEL` on text files (`--format plume`) that
	`isoscope generate --sessions 50 --seed 1` wrote: user CPU seconds /
	MB of the whole run, reading included, the best of three if shorter
	than a second. All hold but what says `violated`; `>` marks what was
	undecided after a minute.

	- A: 10 operations in a transaction, 1000 keys, half of the operations
	  reads; a store that is serializable (ser), causal (cc: five replicas)
	  or read committed (rc)
	- B: the same, keys by Zipf's distribution, a snapshot isolation store
	  that lags by up to 50 commits
	- C: 100 operations on average, a tenth as many keys as operations, nine
	  of ten operations reads, a causal store
	- D: 1000 operations, 1000 keys, a read committed store

	![time by operations](benchmarks/check.svg)

	END
	checks "$results/check.csv" "rc ra cc"
fi

if [ -f "$results/check-strong.csv" ]; then
	cat <<-'END'
	The other levels, on 10000 transactions: of 10 operations in a
	serializable store (ser), of 8 in stores that keep si, psi or pc and lag
	by up to 50 commits; half of the operations reads and 1000 keys, unless
	the name says otherwise, or names the anomaly that was planted:

	END
	checks "$results/check-strong.csv" "pc psi si ser"
fi
