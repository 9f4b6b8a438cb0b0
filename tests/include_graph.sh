#!/bin/sh
# Reads the include graph of src/ and fails on an include that points upward,
# on a cycle, on a source file that no sources.am lists, and on memory that is
# freed past base/memory.h. Then plants
# such errors in a copy, to see that they would be found.
#
#	base < vm < native < lang < sql < postgres < analyse < compile < history < axioms
#	< execution < dpor < formats < check < generate < separate < repair
#	< prove < audit < run < solve < predict < distribute < confirm < serve < result < report < api < lsp < cli
#
# A folder includes only what stands left of it; history and axioms know
# nothing of the language; native/runtime knows nothing of native/host; report
# knows the result of a check, a prediction or a run, and not how it was found.
# `include/isoscope.h` belongs to api, what is in `include/isoscope/` to native.
set -u
top=${srcdir:-$(dirname "$0")/..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# Prints "including-file included-file" for every quoted include under $1/src,
# paths relative to $1.
edges() {
	(cd "$1" && find src include -name '*.[ch]' | sort | xargs awk '
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, part, "\"")
		print FILENAME, (part[2] ~ /^isoscope[.\/]/ ? \
			"include/" : "src/") part[2]
	}')
}

# Complaints about edges on standard input, one a line.
upward() {
	awk '
	BEGIN {
		n = split("base vm native lang sql postgres analyse compile " \
			"history axioms execution dpor " \
			"formats check generate separate repair prove audit run solve predict " \
			"distribute confirm serve " \
			"result report api lsp cli", name)
		for (i = 1; i <= n; i++) rank[name[i]] = i
	}
	function folder(path, part) {
		split(path, part, "/")
		if (path ~ /^include\/isoscope\//) return "native"
		return part[1] == "include" ? "api" : part[2]
	}
	{
		from = folder($1); to = folder($2)
		if (!(from in rank) || !(to in rank))
			print $1 " includes " $2 ": not in a layer"
		else if (rank[to] > rank[from])
			print $1 " includes " $2 ": upward"
		else if ($1 !~ /native\/host\// && \
				$1 ~ /native\// && $2 ~ /native\/host\//)
			print $1 " includes " $2 ": the explorer'"'"'s side"
		else if (to ~ /^(lang|sql|analyse|compile)$/ && \
				 from ~ /^(history|axioms)$/)
			print $1 " includes " $2 ": knows no programs"
		else if (from == "report" && to ~ \
				/^(formats|check|generate|separate|prove|run|solve|predict)$/)
			print $1 " includes " $2 ": renders the result"
	}'
}

# A source file stands for itself: nobody includes it. So cycles are those
# of the headers.
cyclic() {
	tsort 2>&1 >/dev/null | sed -n 's/^tsort: \(.*\.h\)$/\1: in a cycle/p'
}

unlisted() {
	(cd "$1" && find src -name '*.[ch]' | sort >"$work/files" &&
		find src -name sources.am | xargs cat Makefile.am |
		tr -s '[:space:]' '\n' | sort -u | comm -23 "$work/files" - |
		sed 's/$/: in no sources.am/')
}

# Work that ends for want of memory gives back what it took; free() has to know of
# it, and does in base/memory.h, where it is a macro.
frees_unseen() {
	(cd "$1" && grep -rlE '(^|[^_[:alnum:]])free\(' src --include='*.c' |
		xargs grep -L '"base/memory\.h"' |
		sed 's/$/: calls free() without base\/memory.h/')
}

complaints() {
	edges "$1" >"$work/edges"
	frees_unseen "$1"
	upward <"$work/edges"
	cyclic <"$work/edges"
	unlisted "$1"
}

# result NAME STATUS: counts a test.
result() {
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1)); echo "PASS: $1"
	else
		failed=$((failed + 1)); echo "FAIL: $1"
	fi
}

complaints "$top" >"$work/found"
cat "$work/found"
[ -s "$work/edges" ]; result "the include graph is read" $?
[ ! -s "$work/found" ]; result "the include graph of src/ is in order" $?

# planted NAME PATTERN (FILE LINE)...: errors added to a fresh copy are found.
planted() {
	name=$1 pattern=$2
	shift 2
	rm -rf "$work/copy"
	mkdir "$work/copy"
	cp -R "$top/src" "$top/include" "$top/Makefile.am" "$work/copy"
	chmod -R u+w "$work/copy"
	while [ $# -gt 0 ]; do
		printf '%s\n' "$2" >>"$work/copy/$1"
		shift 2
	done
	complaints "$work/copy" | grep -q "$pattern"
	result "$name is found" $?
}
planted "an upward include" 'src/base/text.c .*: upward' \
	src/base/text.c '#include "history/history.h"'
planted "a header that includes upward" 'src/history/history.h .*: upward' \
	src/history/history.h '#include "dpor/explorer.h"'
planted "an axiom that knows the language" \
	'src/axioms/level.h .*: knows no programs' \
	src/axioms/level.h '#include "lang/ast.h"'
planted "a worker that knows the explorer" ": the explorer's side" \
	src/native/runtime/user_code.h '#include "native/host/process.h"'
planted "a renderer that asks an engine" \
	'src/report/check_text.c .*: renders the result' \
	src/report/check_text.c '#include "check/check.h"'
planted "a cycle inside a layer" 'src/base/memory.h: in a cycle' \
	src/base/memory.h '#include "base/bits.h"' \
	src/base/bits.h '#include "base/memory.h"'
planted "a file that is not listed" 'src/base/planted.c: in no sources.am' \
	src/base/planted.c '#include "base/text.h"'
planted "memory freed behind the back" 'src/base/hash.c: calls free() without' \
	src/base/hash.c 'void planted(void *p) { free(p); }'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
