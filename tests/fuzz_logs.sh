#!/bin/sh
# The corpus of the fuzz target of SQL logs.
set -u
top=${srcdir:-$(dirname "$0")/..}
find "$top/tests/corpus-logs" -type f -print0 | sort -z |
	xargs -0 ./tests/fuzz_replay_logs
