#!/bin/sh
# The clients of the shipped applications in SQL (programs/sql/apps), beside
# those in isoscope's language, with the same sessions and arguments: what their
# transactions give is the same in as many ways.
#
# At ser it must be, however rows are found and locked: each outcome is that of
# some serial order. At si and psi it is so for these clients: a transaction sees
# one snapshot, and of two that write a row one fails or waits, whether it reads
# what it writes or not. At the levels below, outcomes differ by design: there a
# table has one more key, with the list of its rows, so that two who add rows
# are in conflict, and who reads one sees which others there are; here UPDATE
# locks its row and sees its newest version, and INSERT the newest state of its
# key, where there a write is blind. So there are no lost updates here, and there
# no phantoms but by that list.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
if ! command -v jq >/dev/null; then
	finish
	exit
fi

# shellcheck source=/dev/null
. "$top/scripts/sql-twin.sh" # sql_twin APPLICATION <CLIENT

# in_tx <CLIENT: what its calls give is noted.
in_tx() {
	sed "s|\"\\.\\./apps/|\"$top/programs/apps/|" |
		awk '/^session/ { n = 0 }
			/^ *[a-z_]*\(.*\);$/ { sub(/[a-z_]*\(/, "let r" ++n " = &") }
			{ print }'
}

# outcomes PROGRAM LEVEL: how many there are.
outcomes() {
	"$ISOSCOPE" run "$1" -i "$2" --runs 1 --coverage --json 2>err |
		jq '.coverage.outcomes'
}

# told CLIENT-LEVEL: how many there are where INSERT tells some of them apart.
# Two who take the same new number from their snapshots: here the second is told
# that the key is there (23505), there its transaction is refused.
told() {
	case $1 in
	wikipedia-2-si) echo 3 ;;
	wikipedia-4-si) echo 7 ;;
	*) return 1 ;;
	esac
}

for app in shopping_cart courseware twitter wikipedia tpcc; do
	for n in 1 2 3 4 5; do
		# There the list of items tells which of two was added first.
		[ $app-$n != shopping_cart-2 ] || continue
		client=$top/programs/$app/client-$n.tx
		in_tx <"$client" >twin.tx
		sql_twin $app <"$client" >twin.spec
		for level in psi si ser; do
			equal "outcomes of $app $n at $level" \
				"$(outcomes twin.spec $level)" \
				"$(told $app-$n-$level ||
					outcomes twin.tx $level)"
		done
	done
done

# Where the rows are the keys in both, and both lock alike, there are as many
# histories at every level.

# key_programs SEED: sessions at random, in twin.tx and twin.spec.
key_programs() {
	awk -v seed="$1" 'function below(n) { return int(rand() * n) }
		function access(i, kind, k) {
			kind = below(5)
			k = 1 + below(2)
			if (kind < 2) {
				tx = tx "    let r" i " = x[" k "];\n"
				sql = sql " SELECT v FROM x WHERE k = " k ";"
			} else if (kind == 2) {
				tx = tx "    atomic x[" k "] += " i ";\n"
				sql = sql " UPDATE x SET v = v + " i " WHERE k = " k ";"
			} else {
				tx = tx "    let r" i " = " (kind == 3 ? "locked" : "shared")
				tx = tx " x[" k "];\n"
				sql = sql " SELECT v FROM x WHERE k = " k " FOR "
				sql = sql (kind == 3 ? "UPDATE;" : "SHARE;")
			}
		}
		BEGIN {
			srand(seed)
			print "global x[1] = 0;\nglobal x[2] = 0;" >"twin.tx"
			print "setup { CREATE TABLE x (k int PRIMARY KEY, v int);" \
				" INSERT INTO x VALUES (1, 0), (2, 0); }" >"twin.spec"
			for (s = 1; s <= 3; s++) {
				tx = "session s" s " {\n"
				sql = "session s" s "\n"
				n = s == 1 ? 2 : 1
				for (t = 1; t <= n; t++) {
					tx = tx "  txn {\n"
					sql = sql "step s" s "_" t " { BEGIN;"
					m = 1 + below(n == 2 ? 2 : 3)
					for (i = 1; i <= m; i++) access(i)
					tx = tx "  }\n"
					sql = sql " COMMIT; }\n"
				}
				printf "%s}\n", tx >"twin.tx"
				printf "%s", sql >"twin.spec"
			}
		}'
}

# histories PROGRAM LEVEL: how many there are.
histories() {
	"$ISOSCOPE" explore "$1" -i "$2" 2>err |
		sed -n 's/^histories *\([0-9,]*\) .*/\1/p'
}

seed=${ISOSCOPE_SEED:-$(date +%s)}
echo "ISOSCOPE_SEED=$seed"
for n in 1 2 3 4 5 6; do
	key_programs $((seed * 100 + n))
	for level in rc ra cc prc pc psi si ser; do
		equal "histories at $level, ISOSCOPE_SEED=$seed, program $n" \
			"$(histories twin.spec $level)" \
			"$(histories twin.tx $level)"
	done
done
finish
