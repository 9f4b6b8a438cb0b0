#!/bin/sh
# The corpus of the parser's fuzz target, and every program that is shipped.
set -u
top=${srcdir:-$(dirname "$0")/..}
find "$top/tests/corpus" "$top/programs" -type f -print0 |
	sort -z | xargs -0 ./tests/fuzz_replay
