# The experiments of scripts/bench on a private PostgreSQL; sourced by it, behind
# bench-native.sh and bench-sql.sh. It uses $isoscope, $work, number().
# shellcheck shell=dash disable=SC2154,SC2034

# pgbench, one client, on tables of PostgreSQL's own and on isoscope's, in one cluster and one
# after the other: TPC-B, its reads alone, a row and a scan of a table of 10,000;
# transactions a second in the best of five runs of 2 s, since who waits for the
# other process waits for whatever else runs, and how many times as long each takes.
postgres_served() {
	cat >"$work/rows.sql" <<-'END2'
	CREATE TABLE line (id int PRIMARY KEY, n int NOT NULL, name text NOT NULL);
	INSERT INTO line SELECT i, i % 100, 'line ' || i FROM generate_series(1, 10000) i;
	END2
	cat >"$work/row.sql" <<-'END2'
	\set id random(1, 10000)
	SELECT * FROM line WHERE id = :id;
	END2
	echo 'SELECT * FROM line;' >"$work/scan.sql"
	cat >"$work/measure.sh" <<-'END2'
	folder=$1 tables=$2
	while read -r name mode script; do
		set -- -b "$script"
		[ -e "$folder/$script" ] && set -- -f "$folder/$script"
		for run in 1 2 3 4 5; do
			pgbench -n -T 2 -M "$mode" "$@" </dev/null || exit
		done >"$folder/log" 2>&1
		tps=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$folder/log" |
			sort -g | tail -n 1)
		echo "$name-$mode $tables $tps" >>"$folder/tps"
	done <<-'END3'
	tpcb simple tpcb-like
	tpcb prepared tpcb-like
	select simple select-only
	select prepared select-only
	row prepared row.sql
	scan prepared scan.sql
	END3
	END2
	cat >"$work/both.sh" <<-'END2'
	PGOPTIONS='-c default_table_access_method=heap'
	export PGOPTIONS
	pgbench -i -I dtGp -q && psql -qX -f "$1/rows.sql" &&
		sh "$1/measure.sh" "$1" postgres || exit
	unset PGOPTIONS
	psql -qXc 'DROP TABLE line' && pgbench -i -I dtGp -q && psql -qX -f "$1/rows.sql"
	END2
	: >"$work/tps"
	"$isoscope" serve --policy latest --setup "sh $work/both.sh $work" -- \
		sh "$work/measure.sh" "$work" isoscope >"$work/log" 2>&1 ||
		{ cat "$work/log" >&2; return 1; }
	awk '$2 == "postgres" { own[$1] = $3 }
		$2 == "isoscope" { printf "%s,%.0f,%.0f,%.2f\n", $1, own[$1], $3,
			own[$1] / $3 }' "$work/tps"
}

# All that the explorations of the clients of two applications take, the start of
# the server included; and how many histories a second there are when it is known
# which rows there can be.
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
			awk -v name="$name" -v n="$(number histories)" \
				-v at_last="$(number seconds)" '{
				printf "%s,%d,%.1f,%.0f,%.0f\n", name, n, $1, n / $1,
					n / at_last
			}' "$work/time"
		done
	done
}
