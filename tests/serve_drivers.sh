#!/bin/sh
# Drivers of PostgreSQL, each with a client in tests/drivers, are served: they
# connect, prepare, roll back, catch an error and read types; what they print is
# what they print on tables of PostgreSQL's own.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
needs_server
GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$work/go GOFLAGS=-buildvcs=false
NODE_PATH=${NODE_PATH:+$NODE_PATH:}/usr/share/nodejs
export GO111MODULE GOPATH GOCACHE GOFLAGS NODE_PATH
drivers=$top/tests/drivers

# there WHAT COMMAND...: it is installed.
there() {
	name=$1
	shift
	"$@" >out 2>err </dev/null && return
	echo "$name is not installed: it is not served"
	false
}

# serves NAME LEVEL TABLES COMMAND...: TABLES are options of serve.
serves() {
	name=$1 level=$2 tables=$3
	shift 3
	rm -f history.jsonl
	eval "run 0 serve -i $level $tables --history history.jsonl -- "'"$@"'
	cp err told
	equal "$name at $level" "$(cat told)" "$(cat "$drivers/expected")"
	run 0 check -i "$level" history.jsonl
	prints holds
}

# drives NAME COMMAND...: at PostgreSQL's three levels.
drives() {
	name=$1
	shift
	for level in prc si ser; do
		serves "$name" $level '--schema "$drivers/items.sql"' "$@"
	done
}

drives psql sh "$drivers/psql.sh"
for module in psycopg2 psycopg asyncpg sqlalchemy; do
	there $module python3 -c "import $module" || continue
	script=$module
	[ $module != psycopg ] || script=psycopg3
	drives $module python3 "$drivers/with_$script.py"
done
if there Django python3 -c 'import django'; then
	for level in prc si ser; do
		serves Django $level \
			"--setup 'python3 $drivers/with_django.py tables'" \
			python3 "$drivers/with_django.py"
	done
fi
if there node-postgres node -e 'require("pg")'; then
	drives node-postgres node "$drivers/with_node.js"
fi
java=/usr/share/java
CLASSPATH=$work:$(echo $java/postgresql.jar $java/junixsocket-*.jar | tr ' ' ':')
export CLASSPATH
if there JDBC test -e $java/postgresql.jar -a -e $java/junixsocket-common.jar &&
	there Java javac -d "$work" "$drivers/WithJdbc.java"; then
	drives JDBC java WithJdbc
	serves 'JDBC by TCP' prc '--listen localhost:0 --schema "$drivers/items.sql"' \
		java WithJdbc
fi
if there "Go's lib/pq" go build -o with_go "$drivers/with_go.go"; then
	drives "Go's lib/pq" ./with_go
fi
if there "Ruby's pg" ruby -e 'require "pg"'; then
	drives "Ruby's pg" ruby "$drivers/with_pg.rb"
fi
if there ActiveRecord ruby -e 'require "active_record"'; then
	for level in prc si ser; do
		serves ActiveRecord $level \
			"--setup 'ruby $drivers/with_active_record.rb tables'" \
			ruby "$drivers/with_active_record.rb"
	done
fi
if there DBD::Pg perl -MDBD::Pg -e 1; then
	drives DBD::Pg perl "$drivers/with_dbd.pl"
fi

# pgbench, in each protocol: its accounts, tellers and branches agree.
if there pgbench pgbench --version; then
	for protocol in simple extended prepared; do
		run 0 serve --policy latest --history history.jsonl \
			--setup 'pgbench -i -I dtGp -q' -- sh -c \
			"pgbench -n -M $protocol -t 20 &&
			psql -qXAt -c 'SELECT (SELECT sum(abalance) FROM
			pgbench_accounts) = (SELECT sum(delta) FROM
			pgbench_history), (SELECT count(*) FROM pgbench_history)'"
		says 't|20'
	done
fi
finish
