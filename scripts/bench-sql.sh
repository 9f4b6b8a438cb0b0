# The experiment of scripts/bench on programs in SQL; sourced by it, behind
# bench-native.sh. It uses its $work and native_once().
# shellcheck shell=dash disable=SC2154

. scripts/sql-twin.sh

# The shipped programs in SQL, and the clients of the applications in SQL beside
# those in isoscope's language, as lines of CSV.
sql_programs() {
	top=$PWD
	echo "$native_columns"
	for program in programs/sql/*.spec; do
		native_once "$(basename "$program" .spec)" prc sql "$program"
	done
	for app in shopping_cart courseware twitter wikipedia tpcc; do
		for client in 1 2 3 4 5; do
			name=$app/client-$client
			sql_twin $app <"programs/$name.tx" >"$work/twin.spec"
			native_once "$name" prc sql "$work/twin.spec"
			native_once "$name" prc tx "programs/$name.tx"
		done
	done
}
