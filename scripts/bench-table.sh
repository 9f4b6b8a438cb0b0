#!/bin/sh
# bench-table.sh FOLDER SECONDS: docs/benchmarks.md from the CSV in the folder.
set -eu
results=$1 limit=$2
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)

cat <<END
# Benchmarks

Written by \`scripts/bench\`, which repeats the three experiments of *Dynamic
Partial Order Reduction for Checking Correctness against Transaction Isolation
Levels* (PLDI 2023) on the clients in \`programs/\`. One core of a shared
machine (${machine:-unknown processor}); user CPU time and the largest
resident set of the whole process, as GNU time reports them; at most $limit s
of wall time per run. \`>\` marks runs that were cut off: their counts are what
was reached.

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
