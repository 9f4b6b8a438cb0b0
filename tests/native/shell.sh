# What the tests of native clients share; sourced behind shell.sh.
#
# The program is run so that it is ended when it hangs: exit code 124.
real=$ISOSCOPE
# How long a session may take that comes to no end.
patience=1
clients=$top/tests/native
cat >limited <<END
#!/bin/sh
exec timeout -k 5 120 "$real" "\$@"
END
chmod +x limited
ISOSCOPE=$work/limited

# compile FILE CASE [OPTION...]: CASE.so of FILE.c, as the manual says.
compile() {
	file=$1
	name=$2
	shift 2
	# shellcheck disable=SC2086
	${CC:-cc} -g -shared -fPIC -I"$top/include" -DCASE="$name" "$@" \
		-o "$name.so" "$clients/$file.c" 2>err || {
		: >out
		fail "$file.c does not compile with -DCASE=$name"
	}
}

# try CODE FILE CASE TEXT...: explores the client; its exit code is CODE, and
# it prints each text.
try() {
	code=$1
	file=$2
	name=$3
	shift 3
	compile "$file" "$name"
	run "$code" explore "$name.so" --step-timeout $patience
	for text; do prints "$text"; done
}

# refuse FILE CASE TEXT...: the client cannot be used, and it is said why.
refuse() {
	file=$1
	name=$2
	shift 2
	compile "$file" "$name"
	run 3 explore "$name.so" --step-timeout $patience
	prints_nothing
	for text in "$name.so" "$@"; do says "$text"; done
}

# processes WORD: how many of this test have it in their command line.
processes() {
	cat >counting <<-'END'
	for each in /proc/[0-9]*; do
		tr '\0' ' ' <"$each/cmdline" | grep -q -e "$1" &&
			[ "$(readlink "$each/cwd")" = "$(pwd -P)" ] && echo 1
	done | wc -l
	END
	sh counting "$(printf '%s' "$1" | sed 's/./[&]/')" 2>/dev/null
}

# gone WORD: soon there is no process with it in its command line.
gone() {
	for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ "$(processes "$1")" -eq 0 ] && break
		sleep 0.1
	done
	equal "$what: processes left" "$(processes "$1")" 0
}
