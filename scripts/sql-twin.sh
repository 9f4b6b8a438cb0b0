# Clients of the shipped applications in SQL: sourced by tests/sql_twins.sh and
# scripts/bench-sql.sh, which say where the sources are: $top.
# shellcheck shell=dash disable=SC2154

# sql_twin APPLICATION <CLIENT: a specification of its sessions, each call a
# step, on programs/sql/apps.
sql_twin() {
	printf 'setup "%s/programs/sql/apps/%s.sql"\n' "$top" "$1"
	sed -n 's/^session \(.*\) {$/session \1/p
		s/^ *\([a-z_]*(.*)\);$/\1/p' |
		sed "s/\"/'/g; s/\\[/ARRAY[/g; s/\\<[A-J]\\>/'&'/g" |
		awk '/^session/ { s = $2; n = 0; print; next }
			{ printf "step %s_%d { SELECT %s AS r; }\n", s, ++n, $0 }'
}
