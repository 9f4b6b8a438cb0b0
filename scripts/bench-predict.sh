# The experiments of scripts/bench on prediction; sourced by it. They use its
# $isoscope, $work, $results and number().
# shellcheck shell=dash disable=SC2154

oltp='smallbank voter tpcc wikipedia'
predict_columns=workload,form,sessions,transactions,seed,level,boundary,\
encoding,result,validated,diverged,reads,predict_seconds,user_seconds,\
max_rss_kb

# predict_once NAME LEVEL BOUNDARY ENCODING LIMIT: predicts from $work/trace and
# validates with $work/client.tx; a line of CSV that begins with NAME. The
# seconds of predict are wall time without reading and validating.
predict_once() {
	status=0
	command time -o "$work/time" -f '%U,%M' "$isoscope" predict -q --json \
		-i "$2" --boundary "$3" --encoding "$4" --timeout "$5" \
		--validate "$work/client/1/client.tx" "$work/trace" \
		>"$work/out" 2>"$work/log" || status=$?
	case $status,$(number found),$(grep -c '"stop":null' "$work/out") in
	0,0,1) result=none ;;
	1,1,*|4,1,*) result=found ;;
	4,0,1) result='not found' ;; # by approx, which proves nothing
	4,0,0) result=unknown ;;
	*) result=error; cat "$work/log" >&2 ;;
	esac
	printf '%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n' "$1" "$2" "$3" "$4" "$result" \
		"$(number validated)" "$(number diverged)" "$(number reads)" \
		"$(number predict)" "$(tail -n 1 "$work/time")"
}

# observe WORKLOAD FORM SESSIONS TRANSACTIONS SEED: a client of this size, and
# one serial execution of it in $work/trace.
observe() {
	mkdir -p "$work/client/1"
	[ -d "$work/apps" ] || cp -R programs/oltp/apps "$work/apps"
	scripts/workloads client "$@" >"$work/client/1/client.tx"
	"$isoscope" record --seed "$5" --output "$work/trace" \
		"$work/client/1/client.tx"
}

strategies='strict,exact strict,approx relaxed,exact relaxed,approx'

# Tables 4 to 7 of the paper, and the levels that it leaves open.
predict_small() {
	echo "$predict_columns"
	for workload in $oltp; do
		for form in rows cells; do
			for transactions in 4 8; do
				echo "$workload $form 3x$transactions" >&2
				predict_ten "$workload" "$form" "$transactions"
			done
		done
	done
}

# predict_ten WORKLOAD FORM TRANSACTIONS: ten clients with three sessions.
predict_ten() {
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		observe "$1" "$2" 3 "$3" "$seed"
		for level in rc ra cc pc psi si; do
			for strategy in $strategies; do
				predict_once "$1,$2,3,$3,$seed" "$level" \
					"${strategy%,*}" "${strategy#*,}" 60
			done
		done
	done
}

# Traces of 100 and of 1000 transactions, with the exact encoding.
predict_large() {
	echo "$predict_columns"
	for workload in $oltp; do
		predict_size "$workload" rows 4 25 3
		predict_size "$workload" rows 10 10 3
		predict_size "$workload" cells 4 25 1
		predict_size "$workload" rows 4 250 1
		predict_size "$workload" rows 10 100 1
	done
}

# predict_size WORKLOAD FORM SESSIONS TRANSACTIONS SEEDS
predict_size() {
	echo "$1 $2 ${3}x$4" >&2
	seed=1
	while [ $seed -le "$5" ]; do
		observe "$1" "$2" "$3" "$4" "$seed"
		predict_levels "$1,$2,$3,$4,$seed"
		seed=$((seed + 1))
	done
}

# predict_levels NAME: the exact predictions from $work/trace.
predict_levels() {
	for level in rc ra cc pc psi si; do
		for boundary in strict relaxed; do
			predict_once "$1" "$level" "$boundary" exact 60
		done
	done
}

# ---- how much of what there is ----

# compare_once PROGRAM LEVEL BOUNDARY: a line of CSV. An exploration that is cut
# off has found at least what it says.
compare_once() {
	status=0
	"$isoscope" compare -q --json -i "$2" --boundary "$3" --timeout 5 \
		"$1" >"$work/out" 2>"$work/log" || status=$?
	case $status in
	0|1|4) ;;
	*) cat "$work/log" >&2; return ;;
	esac
	name=${1#programs/}
	printf '%s,%s,%s' "${name%.tx}" "$2" "$3"
	for way in prediction random exploration; do
		part "$way" >"$work/part"
		for member in complete executions unserializable violated \
			cpu_seconds; do
			printf ',%s' "$(member "$work/part" $member)"
		done
	done
	part traces >"$work/part"
	printf ',%s,%s' "$(member "$work/part" distinct)" \
		"$(member "$work/part" all)"
	part predictions >"$work/part"
	for member in replayed validated diverged false; do
		printf ',%s' "$(member "$work/part" $member)"
	done
	echo
}

# The object of that name in the result.
part() {
	sed -n "s/.*\"$1\":{\([^}]*\)}.*/\1/p" "$work/out" | head -n 1
}

# member FILE NAME: its number or word.
member() {
	sed -n "s/.*\"$2\": *\([a-z0-9.]*\).*/\1/p" "$1"
}

compare_columns() {
	printf program,level,boundary
	for way in prediction random exploration; do
		for member in complete executions unserializable violated \
			seconds; do
			printf ',%s_%s' $way $member
		done
	done
	echo ,traces,all_traces,replayed,validated,diverged,false
}

compare_clients() {
	compare_columns
	for program in programs/courseware/client-*.tx \
		programs/shopping_cart/client-*.tx \
		programs/tpcc/client-*.tx programs/twitter/client-*.tx \
		programs/wikipedia/client-*.tx \
		programs/examples/*.tx programs/oltp/checked/*.tx; do
		echo "compare ${program#programs/}" >&2
		for level in rc cc si; do
			for boundary in strict relaxed; do
				compare_once "$program" $level $boundary
			done
		done
	done
}
