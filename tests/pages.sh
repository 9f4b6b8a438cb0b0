#!/bin/sh
# Pages of results (--html), opened in Chromium: as wide as a desk and as narrow
# as a telephone, light and dark, with the keyboard, and without their script.
# What axe-core has to say of them; names that would do harm are inert.
here=$PWD
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

# Pages without a browser.
cp "$top"/programs/examples/on-call.tx .
run 1 explore on-call.tx -i si --html explore.html
prints 'violated: 2 of 2 assertions fail under Snapshot Isolation (si)'
has() {
	if grep -qF -e "$2" "$1"; then pass; else fail "$1: no '$2'"; fi
}
has explore.html '<b>violated</b>: 2 of 2 assertions fail under Snapshot Isolation (si)'
has explore.html 'isoscope explore on-call.tx -i si</code>'
has explore.html "default-src 'none'"
if grep -qE '(src|href)="?[^#"]' explore.html; then
	fail 'something is loaded'
else
	pass
fi

# What was saved gives the same page.
run 1 explore on-call.tx -i si --json
mv out result.json
run 0 report result.json --html again.html
plain() {
	sed -E '/(seconds|memory peak)<.th>/d' "$1"
}
plain explore.html >one
plain again.html >other
cmp -s one other && pass || fail 'the page of a saved result'
run 0 report result.json --html -
grep -q '<!DOCTYPE html>' out && pass || fail 'a page on standard output'

# What is none.
run 2 report result.json
says 'say in which form: --html FILE, --sarif FILE'
run 2 report
says 'report needs one saved result'
run 2 report result.json --html result.json
says 'would overwrite the result'
run 2 explore on-call.tx --html on-call.tx
says 'would overwrite the program'
echo '{"isoscope":"1"} nonsense' >bad.json
run 3 report bad.json --html bad.html
says 'result 2: '
echo '{"verdict":"holds"}' >bad.json
run 3 report bad.json --html bad.html
says 'this is no result of isoscope'
: >bad.json
run 3 report bad.json --html bad.html
[ -e bad.html ] && fail 'a page of nothing' || pass
run 3 report nowhere.json --html bad.html
says 'cannot read nowhere.json'
# Whatever the members are, nothing breaks.
echo '{"isoscope":"1","assertions":[{"example":{"steps":[{},1,{"session":"a","key":2},{"session":"a"}],"cycle":[{"from":1},{"from":"a","to":"b","reason":""}]}},3],"cycles":[{"edges":[{"kind":"rw"},2]}],"levels":[1,{"level":3}],"predictions":[1,{}],"witnesses":{},"answers":[{"diff":1},"x"],"sources":[{"first":-3,"lines":[1]}],"stats":[{"a":1},{"b":{"c":[]}}]}' >odd.json
run 0 report odd.json --html odd.html

# Every kind.
run 1 explore on-call.tx -i si --levels --html levels.html -q
run 1 explore on-call.tx -i si --fix --html fix.html -q
run 1 run "$top"/programs/examples/courseware.tx -i cc --runs 50 --html run.html -q
run 1 compare on-call.tx -i si --html compare.html -q
run 1 prove on-call.tx -i si --html prove.html -q
run 0 prove on-call.tx -i ser --html proved.html -q
run 1 audit "$top"/tests/logs/shoppe.log --schema "$top"/tests/logs/shoppe_schema.csv \
	--html audit.html -q
run 0 generate --ops 60 --anomaly write-skew -o skew.jsonl
run 0 generate --ops 60 --anomaly long-fork -o fork.jsonl
run 0 separate si ser --html separate.html -q
run 1 check skew.jsonl --html check.html -q
cat skew.jsonl fork.jsonl skew.jsonl >three.jsonl
run 1 check three.jsonl --html checks.html -q
has checks.html 'three.jsonl'
has checks.html '(2 findings)'
run 0 record "$top"/programs/examples/courseware.tx -o courseware.jsonl
run 1 predict courseware.jsonl -i cc --html predict.html -q

# Hundreds of findings are grouped by their cause.
for _ in $(seq 150); do cat skew.jsonl fork.jsonl; done >hundreds.jsonl
run 1 check hundreds.jsonl --html hundreds.html -q
[ "$(grep -o '(150 findings)' hundreds.html | wc -l)" -eq 2 ] &&
	[ "$(grep -c '<input type="search"' hundreds.html)" -eq 1 ] &&
	[ "$(wc -c <hundreds.html)" -lt 2000000 ] && pass || fail 'hundreds'

# Of a large history only what violates is shown.
if [ -n "${ISOSCOPE_QUICK:-}" ]; then ops=50000; else ops=1000000; fi
run 0 generate --ops $ops --keys 20000 --anomaly lost-update -o large.jsonl
run 1 check large.jsonl -i si --html large.html -q
[ "$(wc -c <large.html)" -lt 2000000 ] && pass || fail 'a large page'

# The browser.
need() {
	command -v "$1" >/dev/null && return
	fail "there is no $1: . scripts/packages.sh && packages_install \$packages_test"
	finish
	exit 1
}
need "${CHROMIUM:-chromium}"
need node
need npm
# What is not installed there is here, once for each build.
axe=$here/tests/pages.modules/axe-core/axe.min.js
if ! [ -s "$axe" ]; then
	mkdir -p "$here"/tests
	cp "$top"/tests/browser/package.json \
		"$top"/tests/browser/package-lock.json "$work"
	(npm ci --ignore-scripts --no-audit --no-fund >out 2>err) &&
		rm -rf "$here"/tests/pages.modules &&
		cp -R node_modules "$here"/tests/pages.modules
fi
if ! [ -s "$axe" ]; then
	fail 'axe-core cannot be had from the npm registry'
	finish
	exit 1
fi

hostile=
for harm in script quotes long right zero; do
	node "$top"/tests/browser/hostile.js $harm <result.json >$harm.json
	run 0 report $harm.json --html $harm.html
	hostile="$hostile $harm.html"
done
"$ISOSCOPE" audit "$top"/tests/logs/shoppe.log --json |
	node "$top"/tests/browser/hostile.js quotes >quotes-audit.json
run 0 report quotes-audit.json --html quotes-audit.html
mkdir pictures
# Hundreds of findings take the browser half a minute.
many=
[ -n "${ISOSCOPE_QUICK:-}" ] || many=hundreds.html
# shellcheck disable=SC2086
if node "$top"/tests/browser/pages.js "$axe" pictures explore.html levels.html \
	fix.html run.html compare.html prove.html proved.html audit.html \
	separate.html check.html checks.html $many predict.html quotes-audit.html \
	$hostile >out 2>err; then
	pass
else
	fail 'pages in a browser'
	cat out
fi
[ "$(find pictures -name '*.png' | wc -l)" -eq $((${many:+4} + 72)) ] && pass || fail 'pictures'
# They stay where CI finds them.
[ -z "${ISOSCOPE_PICTURES:-}" ] || cp pictures/*.png "$ISOSCOPE_PICTURES"
finish
