#!/bin/sh
# bench-table.sh FOLDER SECONDS: docs/benchmarks.md from the CSV in the folder.
set -eu
results=$1 limit=$2
. "$(dirname "$0")/bench-predict-table.sh"
. "$(dirname "$0")/bench-scale-table.sh"
. "$(dirname "$0")/bench-decide-table.sh"
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)

cat <<END
# Benchmarks

Written by \`scripts/bench\`, which repeats the three experiments of *Dynamic
Partial Order Reduction for Checking Correctness against Transaction Isolation
Levels* (PLDI 2023) on the clients in \`programs/\`, [checks recorded
histories](#checking-recorded-histories), and repeats the experiments of
*IsoPredict: Dynamic Predictive Analysis for Detecting Unserializable Behaviors
in Weakly Isolated Data Store Applications* (PLDI 2024) on
[predictions](#predictions-from-observed-executions). One core of a shared
machine (${machine:-unknown processor}); user CPU time and the largest resident
set of the whole process, as GNU time reports them; at most $limit s of wall
time per exploration. \`>\` marks runs that were cut off: their counts are what
was reached.

Algorithms: \`ce(cc)\` is explore-ce under causal consistency, \`ce*(A B)\`
explores under A and keeps the histories of B, \`orderly(A)\`, the default for
strong levels, explores A itself, \`dfs(cc)\` is the search without reduction,
in which histories repeat. \`ce(rc)\` and \`prc\` are Read Committed, that of
the paper and that of PostgreSQL.

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
	awk -F, '
	$2 == "ce(rc)" && $5 >= 0.05 { each = $5 / $4 }
	$2 == "prc" && $5 >= 0.05 && each {
		sum += log($5 / $4 / each); n++
	}
	$2 == "prc" { each = 0 }
	END {
		if (n) printf "A history under `prc` takes %.1f times the " \
			"time of one under `rc` (geometric mean of the %d " \
			"clients that take 0.05 s under both).\n\n",
			exp(sum / n), n
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
	if [ "$kind" = sessions ]; then
		printf '\n%s\n%s\n%s\n' \
			"The paper's own clients of these sizes are not published: those of" \
			"\`programs/scale\` are this project's, so the numbers cannot be compared with" \
			"the paper's one by one."
	fi
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

if [ -f "$results/predict.csv" ]; then
	cat <<-'END'
	## Predictions from observed executions

	Ten clients of each workload in `programs/oltp/clients`: one serial
	execution of each is recorded, and `isoscope predict -i LEVEL
	--validate CLIENT` looks for an unserializable one. Over rows, and over
	cells, where every statement scans its table. Tables 4 to 7 of the
	paper are those for `cc` and `rc`; its tool has no relaxed boundary
	with the exact encoding, and no other level.

	In a cell: predictions found of ten / validated (the program, run along
	the prediction, is not serializable) / diverged, and the median of the
	milliseconds of predicting, without reading and validating. `-`: there
	is none, which the exact encoding proves.

	END
	all='strict exact,strict approx,relaxed exact,relaxed approx'
	predicted "$results/predict.csv" cc "$all"
	predicted "$results/predict.csv" rc "$all"
	missed_by_approx "$results/predict.csv"
	printf 'The other levels:\n\n'
	predicted "$results/predict.csv" 'ra pc psi si' \
		'strict exact,relaxed exact'
	cat <<-'END'
	Within the strict boundary alone, a transaction that reads something
	else loses the writes behind that read, and with them the write
	conflict that `psi` and `si` forbid: such predictions diverge and are
	rarely validated. The relaxed boundary keeps the writes. These numbers
	are of each boundary by itself; without `--boundary`, `predict` looks
	at both, the strict one first.

	TPC-C is known to be robust against `si`. The predictions that are
	validated are read-only transaction anomalies, through what that
	leaves out: transactions keep their order in a session, a row is read
	as a whole (the warehouse by an order, while a payment writes its
	sum), and a scan over cells reads rows that do not match.

	END
fi

if [ -f "$results/predict-large.csv" ]; then
	cat <<-'END'
	Larger traces, of 100 and 1000 transactions, exact encoding: traces with
	a prediction, and the longest time in seconds; the largest resident
	set of the process. Undecided: after a minute.

	END
	larger "$results/predict-large.csv" strict
	larger "$results/predict-large.csv" relaxed
fi

if [ -f "$results/compare.csv" ]; then
	cat <<-'END'
	## How much prediction finds

	`isoscope compare -i LEVEL` records all distinct serial executions of a
	program (within a time limit), predicts one execution from each, and
	runs the program along the predictions; runs the program at random as
	often; and explores it. Sums over the programs of which all three came
	to an end within 5 s: distinct unserializable histories, and assertions
	that fail. False predictions led to a serializable execution.

	END
	compared "$results/compare.csv"
fi

if [ -f "$results/native.csv" ]; then
	cat <<-'END'
	## Clients in C

	`isoscope explore` of the clients in `programs/native` and of their
	twins in the language: user CPU seconds of a whole run, the start of
	the program and its worker process included (the mean of 20 when
	shorter than 0.2 s), and histories per second. The last column is how
	many times longer a history takes in C. What a session does after
	certain reads is looked up once it is known, so that C code itself
	runs for a small part of the histories only.

	END
	awk -F, '
	function cut(key) {
		return ended[key] == "done" ? "" : "> "
	}
	function rate(key) {
		return count[key] / (seconds[key] > 0 ? seconds[key] : 0.0005)
	}
	function row(name, t, c) {
		printf "| %s | %s%d | %.3f | %d ", name, cut(t), count[t],
			seconds[t], rate(t)
		printf "| %s%d | %.3f | %d | %.1f |\n", cut(c), count[c],
			seconds[c], rate(c), rate(t) / rate(c)
	}
	function add(key, to) {
		count[to] += count[key]; seconds[to] += seconds[key]
		if (ended[key] != "done") ended[to] = "timeout"
		else if (!(to in ended)) ended[to] = "done"
	}
	NR == 1 { next }
	{
		name = $1 " | " $2
		if (!(name in seen)) { seen[name] = 1; order[++n] = name }
		key = name FS $3
		count[key] = $4; ended[key] = $5; seconds[key] = $6
		add(key, "all " $3)
	}
	END {
		print "| client | level | histories | user CPU s | per s " \
			"| in C: histories | user CPU s | per s | times |"
		print "|---|---|---|---|---|---|---|---|---|"
		for (i = 1; i <= n; i++)
			row(order[i], order[i] FS "tx", order[i] FS "c")
		row("all |", "all tx", "all c")
		print ""
	}' "$results/native.csv"
fi

if [ -f "$results/sql.csv" ]; then
	cat <<-'END'
	## Programs in SQL

	`isoscope explore -i prc` of the programs in `programs/sql`, and of the
	clients of the applications in SQL (`programs/sql/apps`) beside those in
	isoscope's language, which keep lists of the rows as well and so have
	other histories: user CPU seconds of a whole run, reading the program
	and finding out which rows there can be included (the mean of 20 when
	shorter than 0.2 s).

	| program | language | histories | user CPU s | per s |
	|---|---|---|---|---|
	END
	awk -F, 'NR > 1 {
		printf "| %s | %s | %s%d | %.3f | %d |\n", $1,
			$3 == "sql" ? "SQL" : "isoscope",
			$5 == "done" ? "" : "> ", $4, $6,
			$4 / ($6 > 0 ? $6 : 0.0005)
	}' "$results/sql.csv"
	echo
fi

if [ -f "$results/postgres-served.csv" ]; then
	cat <<-'END'
	## A private PostgreSQL

	pgbench with one client, the best of five runs of 2 s, on tables of PostgreSQL's own and served
	by `isoscope serve --policy latest`, in one cluster: transactions a second, and how many times as long one takes.

	| pgbench | PostgreSQL's own | served | times as long |
	|---|---|---|---|
	END
	awk -F, 'NR > 1 {
		printf "| %s | %d | %d | %.2f |\n", $1, $2, $3, $4
	}' "$results/postgres-served.csv"
	echo
fi

if [ -f "$results/postgres-explored.csv" ]; then
	cat <<-'END'
	`isoscope explore --engine=postgres -i prc` of clients of the applications
	in SQL: seconds of wall time of the whole run, the start of the server and
	finding out which rows there can be included; and the histories a second
	when that is known.

	| program | histories | s | per s | at last |
	|---|---|---|---|---|
	END
	awk -F, 'NR > 1 {
		printf "| %s | %d | %.1f | %d | %d |\n", $1, $2, $3, $4, $5
	}' "$results/postgres-explored.csv"
	echo
fi

decide_section
scale_section
