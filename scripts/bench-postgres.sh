# The experiments of scripts/bench on a private PostgreSQL; sourced by it, behind
# bench-native.sh and bench-sql.sh. It uses $isoscope, $work, number().
# shellcheck shell=dash disable=SC2154,SC2034

# pgbench, one client, on tables of PostgreSQL's own and on isoscope's, in one cluster and one
# after the other: transactions a second.
postgres_served() {
	cat >"$work/measure.sh" <<-'END2'
	folder=$1 tables=$2
	for kind in "tpcb simple" "tpcb prepared" "select simple" "select prepared"; do
		set -- $kind
		script=tpcb-like
		[ "$1" = tpcb ] || script=select-only
		pgbench -n -T 20 -M "$2" -b $script >"$folder/log" 2>&1 || exit
		tps=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$folder/log")
		echo "$1-$2 $tables $tps" >>"$folder/tps"
	done
	END2
	cat >"$work/both.sh" <<-'END2'
	PGOPTIONS='-c default_table_access_method=heap' pgbench -i -I dtGp -q &&
		sh "$1/measure.sh" "$1" postgres &&
		pgbench -i -I dtGp -q
	END2
	: >"$work/tps"
	"$isoscope" serve --policy latest --setup "sh $work/both.sh $work" -- \
		sh "$work/measure.sh" "$work" isoscope >"$work/log" 2>&1 ||
		{ cat "$work/log" >&2; return 1; }
	awk '$2 == "postgres" { own[$1] = $3 }
		$2 == "isoscope" { printf "%s,%.0f,%.0f,%.2f\n", $1, own[$1], $3,
			$3 / own[$1] }' "$work/tps"
}

# All that the explorations of the clients of two applications take, the start of
# the server included.
postgres_explored() {
	top=$PWD # of sql_twin()
	for app in shopping_cart tpcc; do
		for client in 1 2 3 4 5; do
			name=$app/client-$client
			sql_twin $app <"programs/$name.tx" >"$work/twin.spec"
			command time -o "$work/time" -f %e "$isoscope" explore \
				--engine=postgres -i prc --timeout 60 --json \
				"$work/twin.spec" >"$work/out" 2>"$work/log" ||
				cat "$work/log" >&2
			awk -v name="$name" -v n="$(number histories)" '{
				printf "%s,%d,%.1f,%.0f\n", name, n, $1, n / $1
			}' "$work/time"
		done
	done
}
