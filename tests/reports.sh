#!/bin/sh
# What other tools read: SARIF, JUnit's XML, TAP and annotations of GitHub.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

cp "$top"/programs/examples/on-call.tx .
run 1 explore on-call.tx -i si --json
mv out result.json
run 1 explore on-call.tx -i si --fix --json
mv out fix.json
run 1 explore on-call.tx --levels --json
mv out levels.json
run 4 explore "$top"/programs/examples/courseware.tx -i ser --max-histories 1 --json
mv out open.json
run 0 explore on-call.tx -i ser --json
mv out holds.json
run 1 run on-call.tx -i si --runs 30 --json
mv out run.json
run 1 compare on-call.tx -i si --json
mv out compare.json
run 1 prove on-call.tx -i si --json
mv out prove.json
run 1 audit "$top"/tests/logs/shoppe.log --json
mv out audit.json
run 0 generate --ops 60 --anomaly write-skew -o skew.jsonl
run 1 check skew.jsonl --json
mv out check.json
run 0 generate --ops 60 --anomaly long-fork -o fork.jsonl
cat skew.jsonl fork.jsonl skew.jsonl >three.jsonl
run 1 check three.jsonl skew.jsonl --json
mv out several.json
run 0 record "$top"/programs/examples/courseware.tx -o courseware.jsonl
run 1 predict courseware.jsonl -i cc --json
mv out predict.json
mkdir names
if command -v node >/dev/null; then
	for harm in script quotes long right zero; do
		node "$top"/tests/browser/hostile.js $harm <result.json \
			>names/$harm.json
	done
fi

# What the standard requires of the parts that are used here.
cat >sarif.jq <<'END'
def must(f; $what): if f then empty else $what end;
def place: (.artifactLocation.uri | type == "string" and
		(test("^[A-Za-z0-9%._~/:-]+$"))) and
	(.region | .startLine >= 1 and
		(.startColumn // 1) >= 1);
def message: .text | type == "string" and length > 0;
must(.version == "2.1.0"; "version"),
must(."$schema" | test("sarif-schema-2.1.0"); "schema"),
must(.runs | length == 1; "runs"),
(.runs[0] |
	must(.tool.driver.name == "isoscope"; "driver"),
	must([.tool.driver.rules[].id] | . == unique or
		length == (unique | length); "rules are there once"),
	must(.invocations[0].executionSuccessful | type == "boolean"; "invocation"),
	([.tool.driver.rules[].id] as $rules | .results[] |
		must(.ruleId | IN($rules[]); "rule \(.ruleId)"),
		must(.level | IN("error", "warning", "note", "none"); "level"),
		must(.message | message; "message"),
		must(.partialFingerprints."isoscope/v1" | test("^[0-9a-f]{16}$");
			"fingerprint"),
		must(.locations | length == 1; "a location"),
		(.locations[]? | must(.physicalLocation | place; "location \(.)")),
		(.codeFlows[]? | must(.threadFlows | length > 0; "flows"),
			(.threadFlows[] | must(.locations | length > 0; "flow"),
				(.locations[] |
				must(.executionOrder >= 0; "order"),
				must(.location.message | message; "step"),
				must(.location.physicalLocation | place;
					"place of \(.location.message.text)")))),
		(.fixes[]? | must(.artifactChanges | length > 0; "changes"),
			must(.description | message; "description"),
			(.artifactChanges[] | must(.artifactLocation.uri != null;
				"artifact"), must(.replacements | length > 0;
				"replacements"), (.replacements[] |
			must(.deletedRegion | .startLine >= 1 and .startColumn == 1 and
				.endLine >= .startLine; "region \(.)"),
			must(.insertedContent.text | type == "string"; "text"))))))
END

for json in *.json names/*.json; do
	[ -e "$json" ] || continue
	name=${json%.json}
	run 0 report "$json" --sarif "$name.sarif" --junit "$name.xml"
	if command -v jq >/dev/null; then
		equal "$name: SARIF" "$(jq -r -f sarif.jq "$name.sarif" 2>&1)" ''
	fi
	if command -v xmllint >/dev/null; then
		xmllint --noout "$name.xml" >out 2>&1 && pass ||
			fail "$name: XML"
	fi
	run 0 report "$json" --tap
	mv out "$name.tap"
	if command -v perl >/dev/null && perl -MTAP::Parser -e 1 2>/dev/null; then
		equal "$name: TAP" "$(perl -MTAP::Parser -e '
			my $p = TAP::Parser->new({ tap => do {
				local (@ARGV, $/) = $ARGV[0]; <> } });
			$p->run; print $p->parse_errors' "$name.tap" 2>&1)" ''
	fi
done

# What they say.
has() {
	if grep -qF -e "$2" "$1"; then pass; else fail "$1: no '$2'"; fi
}
has result.tap 'not ok 1 - assert !(ann.gone && ben.gone) under si'
has result.tap '    line: 27'
has holds.tap 'ok 1 - assert !(ann.gone && ben.gone) under ser'
has open.tap '# SKIP '
has levels.tap '1..18'
has levels.tap 'not ok 1 - assert !(ann.gone && ben.gone) under none'
has levels.tap 'ok 17 - assert !(ann.gone && ben.gone) under ser'
has check.tap 'not ok 9 - skew.jsonl satisfies ser'
has check.tap 'ok 8 - skew.jsonl satisfies si'
has result.xml 'failures="2" errors="0" skipped="0"'
has result.xml 'message="somebody stays on call: write skew (G2-item)" type="write skew (G2-item)"'
has open.xml '<skipped message='
has result.sarif '"id":"ben"'
has result.sarif '"uri":"on-call.tx"'
has fix.sarif '"insertedContent":{"text":"    if (on_call[me] && locked on_call[other]) {\n"}'

# Questions have names, and findings fingerprints, of their own.
for name in audit several levels result; do
	equal "$name: names" "$(sed -n 's/^[a-z ]*[0-9]* - //p' "$name.tap" |
		sort | uniq -d)" ''
	equal "$name: fingerprints" "$(grep -o '"isoscope/v1":"[0-9a-f]*"' \
		"$name.sarif" | sort | uniq -d)" ''
done
has several.tap 'not ok 18 - three.jsonl satisfies ser (2)'
has several.tap 'skew.jsonl satisfies ser'

# What has no place, no reason, and time that runs backwards.
echo '{"isoscope":"1","verdict":"violated","assertions":[{"text":"a","violated":1}],"stats":{"seconds":-1}}{"isoscope":"1"}' >odd.json
run 0 report odd.json --sarif odd.sarif --html odd.html
if command -v jq >/dev/null; then
	equal 'odd: SARIF' "$(jq -r -f sarif.jq odd.sarif 2>&1)" ''
fi
echo '{"isoscope":"1","results_left_out":5,"cycles":[],"assertions":[{"text":"a","violated":1,"example":{"steps":[],"steps_left_out":7}}]}' >more.json
run 0 report more.json --tap --html more.html
has out '# SKIP 5 more that are not shown here'
has more.html '5 more results are not shown here'
has more.html '7 more reads and writes are not shown'
run 0 report odd.json --tap
has out 'ok 2 - result # SKIP not decided'
# Edits of a program with an absolute path are of that file.
run 1 explore "$PWD/on-call.tx" -i si --fix --sarif odd.sarif -q
equal 'one file' "$(grep -o '"uri":"[^"]*"' odd.sarif | sort -u)" \
	"\"uri\":\"file://$PWD/on-call.tx\""

# What cannot be read is said in each form, with its place.
printf 'session a { txn { x := ; } }\n' >broken.tx
run 3 explore broken.tx -i si --sarif broken.sarif --junit broken.xml --html broken.html --github
has out '::error title=broken.tx,file=broken.tx,line=1'
has broken.xml 'failures="0" errors="1" skipped="0"'
has broken.xml '<error message='
has broken.sarif '"executionSuccessful":false'
has broken.sarif '"ruleId":"error"'
has broken.sarif '"toolExecutionNotifications":[{"level":"error"'
has broken.html '<h2>Errors</h2>'
run 3 explore nowhere.tx --tap
has out 'not ok 1 - nowhere.tx'
# What was checked before it is there, too.
run 3 check skew.jsonl nowhere.jsonl --junit part.xml -q
has part.xml 'skew.jsonl satisfies ser'
has part.xml 'errors="1"'
if command -v jq >/dev/null; then
	equal 'broken: SARIF' "$(jq -r -f sarif.jq broken.sarif 2>&1)" ''
fi

# Names of files that are not UTF-8.
odd_name=$(printf 'on\377call.tx')
cp on-call.tx "$odd_name"
run 1 explore "$odd_name" -i si -q --html odd.html --sarif odd.sarif --junit odd.xml
has odd.html "$(printf 'on\357\277\275call.tx')"
if command -v jq >/dev/null; then
	equal 'no UTF-8: SARIF' "$(jq -r -f sarif.jq odd.sarif 2>&1)" ''
fi

# Edits that are enough are cases that pass.
has fix.tap 'ok 2 - enough: '

# What was saved by another version.
sed 's/"version":1/"version":2/' result.json >newer.json
run 3 report newer.json --tap
says 'newer.json: result 1: this is of a newer isoscope'

# Fingerprints stay the same between runs, and where lines move.
run 1 run on-call.tx -i si --runs 30 --sarif one.sarif -q
run 1 explore on-call.tx -i si --sarif other.sarif -q
marks() {
	grep -o '"isoscope/v1":"[0-9a-f]*"' "$1" | sort
}
marks one.sarif >one
marks other.sarif >other
cmp -s one other && [ -s one ] && pass || fail 'fingerprints change'
{ echo; cat on-call.tx; } >moved && mv moved on-call.tx
run 1 explore on-call.tx -i si --sarif other.sarif -q
marks other.sarif >other
cmp -s one other && pass || fail 'fingerprints tell lines'
mkdir folder
cp on-call.tx folder
run 1 explore folder/on-call.tx -i si --sarif other.sarif -q
marks other.sarif >other
cmp -s one other && pass || fail 'fingerprints tell folders'
cp on-call.tx other-name.tx
run 1 explore other-name.tx -i si --sarif other.sarif -q
marks other.sarif >other
cmp -s one other && fail 'fingerprints do not tell files' || pass

# Where they go.
run 1 explore on-call.tx -i si --github -q
has out '::error title=assert !(ann.gone && ben.gone) under si,file=on-call.tx,line=28,col=1::somebody stays on call: write skew (G2-item)'
has out 'violated: 2 of 2 assertions fail'
run 1 explore on-call.tx -i si --tap
has out 'TAP version 13'
has err 'violated: 2 of 2 assertions fail'
run 2 explore on-call.tx -i si --tap --json
says 'cannot both be written to the standard output'
run 2 explore on-call.tx -i si --github --html -
says 'cannot both be written to the standard output'
run 2 explore on-call.tx -i si --sarif x --junit x
says "cannot both be written to 'x'"
run 2 explore on-call.tx -i si --sarif x --html ./x
says "cannot both be written to 'x'"
run 2 explore on-call.tx -i si --html ''
says '--html needs the name of a file'
run 2 explore on-call.tx -i si --html /proc/x
says 'cannot write /proc/x: '
echo 'import "on-call.tx";' >whole.tx
run 2 explore whole.tx -i si --html ./on-call.tx
says "--html would overwrite 'on-call.tx', a part of the program"
run 0 separate si ser --junit separate.xml -q
has separate.xml '<testcase '
run 1 check skew.jsonl -i ser --github -q
has out '::error title=skew.jsonl satisfies ser,file=skew.jsonl,line=1::write skew (G2-item)'

# All options, for programs.
run 0 help --json
json '.[0].commands | map(.command) | index("explore") != null' true
json '.[0].commands[] | select(.command == "explore") | .options[] | select(.option == "isolation") | .letter + .argument' iLEVEL
json '.[0].levels | length' 9
json '.[0].exit_codes[1].code' 1
# What the schema of SARIF 2.1.0 requires of all of it, which Microsoft's validator
# brings along; 100 MB, so not always. It exits with 0 whatever it finds.
if [ -z "${ISOSCOPE_QUICK:-}" ]; then
	cp "$top"/tests/browser/sarif/package*.json .
	npm ci --ignore-scripts --no-audit --no-fund >out 2>err
	tool=node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool
	chmod +x "$tool"
	sed 's/"results":\[{/&"nonsense":1,/' result.sarif >wrong.sarif
	# found FILE...: errors in the syntax or the schema.
	found() {
		DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 "$tool" validate "$@" \
			--output found.json --log ForceOverwrite >out 2>err &&
			grep -o '"ruleId": *"JSON[0-9]*"' found.json
	}
	if found wrong.sarif >/dev/null; then pass; else fail 'no schema'; fi
	rm wrong.sarif
	equal 'SARIF and its schema' "$(found ./*.sarif names/*.sarif)" ''
	grep -q '"executionSuccessful": *true' found.json && pass ||
		fail 'SARIF was not validated'
fi

# The pictures of the manual are what is drawn now, and each anomaly of its table
# has one.
if "$top/scripts/pictures" --check "$ISOSCOPE" >out 2>err; then
	pass
else
	fail "the manual's pictures are not what scripts/pictures draws"
fi
sed -n '/^### Anomalies/,/^<!-- pictures/s/^| \([^|]*\) |.*/\1/p' \
	"$top/docs/manual.md" | tr ',;' '\n\n' |
	sed 's/^ *//; s/^monotonic writes$/& violation/
		s/^monotonic reads$/& violation/; s/ (.*//
		/^name$/d; /^-*$/d; /^intermediate read$/d' >names-of-anomalies
[ "$(wc -l <names-of-anomalies)" -ge 20 ] && pass || fail 'names of anomalies'
while read -r name; do
	file=$(echo "$name" | tr ' [:upper:]' '-[:lower:]').svg
	[ -s "$top/docs/anomalies/$file" ] && pass || fail "no picture of: $name"
done <names-of-anomalies
finish
