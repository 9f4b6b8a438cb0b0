# The experiment of scripts/bench on large explorations; sourced by it. It uses
# its $isoscope, $work, $results, $limit, cut_client() and number().
# shellcheck shell=dash disable=SC2154

scale_columns=histories,classes,wall_seconds,cpu_seconds,max_rss_kb,held_bytes,\
status
bounded_limit=10

# scale_explore LEVEL PROGRAM OPTION...: the columns above of one exploration;
# wall and CPU time are those of exploring, without the start.
scale_explore() {
	level=$1
	shift
	status=0
	command time -o "$work/time" -f %M "$isoscope" explore -q -i "$level" \
		--timeout "$limit" --json "$@" >"$work/out" 2>"$work/log" ||
		status=$?
	case $status,$(grep -o '"stop": *"[a-z-]*"' "$work/out") in
	[14],*'"time"') end=timeout ;;
	[01],*|4,*'"stale-reads"') end='done' ;; # all that was asked for
	*) end=error; cat "$work/log" >&2 ;;
	esac
	classes=$(number classes)
	printf '%s,%s,%s,%s,%s,%s,%s\n' "$(number histories)" \
		"${classes:-$(number histories)}" "$(number seconds)" \
		"$(number cpu_seconds)" "$(tail -n 1 "$work/time")" \
		"$(number memory_peak)" "$end"
}

# scale_four NAME PROGRAM: with and without symmetry, one worker and two; lines
# of CSV that begin with NAME.
scale_four() {
	for jobs in 1 2; do
		echo "$1,no,$jobs,$(scale_explore cc "$2" -j "$jobs")"
		found=$(scale_explore cc "$2" -j "$jobs" --symmetry)
		echo "$1,yes,$jobs,$found"
	done
}

# scale_cut CLIENT SIZE: the client of programs/scale/six with so many sessions
# of three transactions, or three sessions of so many; as $cut.
scale_cut() {
	[ -d "$work/apps" ] || cp -R programs/apps "$work/apps"
	mkdir -p "$work/scale/six/client"
	cut=$work/scale/six/client/cut.tx
	case $1 in
	*/sessions-*) cut_client "programs/scale/six/$1.tx" "$2" 3 ;;
	*) cut_client "programs/scale/six/$1.tx" 3 "$2" ;;
	esac >"$cut"
}

# The clients of programs/scale/six, one a line.
scale_clients() {
	for file in programs/scale/six/*/sessions-*.tx \
		programs/scale/six/*/transactions-*.tx; do
		name=${file#programs/scale/six/}
		echo "${name%.tx}"
	done
}

# Clients of TPC-C and Wikipedia, of sizes 2 to 6.
scale_sizes() {
	echo "client,size,symmetry,jobs,$scale_columns"
	for client in $(scale_clients); do
		echo "scale $client" >&2
		for size in 2 3 4 5 6; do
			scale_cut "$client" "$size"
			scale_four "$client,$size" "$cut"
		done
	done
}

# Two to six sessions that are all the same.
scale_symmetric() {
	echo "client,size,symmetry,jobs,$scale_columns"
	for file in programs/scale/symmetric/*.tx; do
		name=${file#programs/scale/symmetric/}
		name=${name%.tx}
		echo "scale $name" >&2
		scale_four "${name%-*},${name##*-}" "$file"
	done
}

# scale_truth FILE: complains if the lines of one client and size do not agree,
# or not with its side file.
scale_truth() {
	awk -F, '
	function side(client, size,   file, line, word, count) {
		if (FILENAME ~ /symmetric/)
			file = "programs/scale/symmetric/" client "-" size
		else if (size > 4)
			file = "programs/scale/" (size == 6 ? "six/" : "") \
				client
		while (file && (getline line <(file ".expect")) > 0) {
			split(line, word, " ")
			if (word[1] == "cc") count = word[2]
		}
		close(file ".expect")
		return count
	}
	NR > 1 && $11 == "done" {
		key = $1 "," $2
		if (!(key in truth)) truth[key] = side($1, $2)
		if (truth[key] == "") truth[key] = $5
		if (truth[key] != $5)
			print "scripts/bench: " $1 ", size " $2 ": " $5 \
				" histories, not " truth[key] >"/dev/stderr"
	}' "$1"
}

# ---- workers ----

# One worker and two in turn, nine times, on the clients of three sessions of
# three transactions. Under ra there is more to do.
scale_workers() {
	echo "client,level,jobs,round,$scale_columns"
	for program in programs/courseware/client-*.tx \
		programs/shopping_cart/client-*.tx \
		programs/tpcc/client-*.tx programs/twitter/client-*.tx \
		programs/wikipedia/client-*.tx; do
		name=${program#programs/}
		name=${name%.tx}
		echo "scale $name" >&2
		for round in 1 2 3 4 5 6 7 8 9; do
			for level in cc ra; do
				for jobs in 1 2; do
					found=$(scale_explore "$level" \
						"$program" -j "$jobs")
					echo "$name,$level,$jobs,$round,$found"
				done
			done
		done
	done
}

# What a thread more takes.
scale_threads() {
	echo "client,jobs,$scale_columns"
	for client in tpcc/sessions-5 wikipedia/sessions-5; do
		for jobs in 1 2 4 8; do
			echo "scale $client, $jobs threads" >&2
			program=programs/scale/six/$client.tx
			found=$(scale_explore cc "$program" -j "$jobs")
			echo "$client,$jobs,$found"
		done
	done
}

# ---- when the whole is out of reach ----

# Estimates of what scale_sizes and scale_symmetric explored.
scale_estimates() {
	echo "client,size,seed,exact,histories,low,high,$(
		)expected_seconds,seconds"
	for client in $(scale_clients); do
		echo "scale $client, estimate" >&2
		for size in 4 5 6; do
			scale_cut "$client" "$size"
			scale_estimate "$client,$size" "$cut"
		done
	done
	for file in programs/scale/symmetric/*-[56].tx; do
		name=${file#programs/scale/symmetric/}
		name=${name%.tx}
		echo "scale $name, estimate" >&2
		scale_estimate "${name%-*},${name##*-}" "$file"
	done
}

# scale_estimate NAME PROGRAM: with five seeds; what is so small that it is
# explored meanwhile needs one.
scale_estimate() {
	for seed in 1 2 3 4 5; do
		found=$(scale_guess "$2" $seed)
		echo "$1,$seed,$found"
		case $found in true,*) break ;; esac
	done
}

# scale_guess PROGRAM SEED
scale_guess() {
	status=0
	command time -o "$work/time" -f %e "$isoscope" explore -q -i cc -j 1 \
		--estimate --seed "$2" --json "$1" >"$work/out" \
		2>"$work/log" || status=$?
	case $status in 0|4) ;; *) cat "$work/log" >&2 ;; esac
	echo "$(guessed exact),$(guessed histories),$(guessed low),$(
		guessed high),$(guessed seconds),$(tail -n 1 "$work/time")"
}

# The value that the estimate in $work/out gives for the name.
guessed() {
	sed -n "s/.*\"estimate\": *{//
		s/.*\"$1\": *\([a-z0-9.+-]*\).*/\1/p" "$work/out" | head -n 1
}

# Histories with few stale reads, beside all of them; of sessions that are the
# same with symmetry.
scale_bounded() {
	whole=$limit
	limit=$bounded_limit
	echo "client,size,changes,$scale_columns"
	for client in $(scale_clients); do
		scale_few "$client" "programs/scale/six/$client.tx"
	done
	for file in programs/scale/symmetric/*-6.tx; do
		name=${file#programs/scale/symmetric/}
		scale_few "${name%-6.tx}" "$file" --symmetry
	done
	limit=$whole
}

# scale_few NAME PROGRAM [OPTION]: with at most 0, 1 and 2; when there are too
# many of them, there are of more as well.
scale_few() {
	name=$1
	shift
	echo "scale $name, bounded" >&2
	for changes in 0 1 2; do
		found=$(scale_explore cc "$@" -j 1 --max-changes $changes)
		echo "$name,6,$changes,$found"
		case $found in *,timeout) break ;; esac
	done
}

scale_parts='sizes symmetric workers threads estimates bounded'

# scale_part PART: its CSV.
scale_part() {
	case " $scale_parts " in
	*" $1 "*) ;;
	*) echo "scripts/bench: no experiment 'scale-$1'" >&2; exit 2 ;;
	esac
	"scale_$1" >"$results/scale-$1.csv"
	case $1 in sizes|symmetric) scale_truth "$results/scale-$1.csv" ;; esac
}
