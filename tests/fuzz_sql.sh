#!/bin/sh
# The corpus of the fuzz target of programs in SQL, and the specifications that
# are shipped or tested.
set -u
top=${srcdir:-$(dirname "$0")/..}
find "$top/tests/corpus-sql" -type f -print0 | sort -z |
	xargs -0 ./tests/fuzz_replay_sql
