#!/bin/sh
# isoscope lsp, driven as an editor does; and what editors/ says of it.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

run 2 lsp program.tx
says 'lsp takes no files'
run 1 lsp </dev/null
if ! command -v node >/dev/null; then
	fail 'there is no node'
	finish
	exit 1
fi
cp "$top"/programs/examples/on-call.tx 'on call.tx'
if timeout 300 node "$top"/tests/lsp.js "$ISOSCOPE" "$PWD" >out 2>err; then
	pass
else
	fail 'isoscope lsp'
	cat out
fi
for json in "$top"/editors/vscode/*.json "$top"/editors/vscode/syntaxes/*.json; do
	node -e 'JSON.parse(require("fs").readFileSync(process.argv[1]))' \
		"$json" 2>err && pass || fail "$json: no JSON"
done
node --check "$top"/editors/vscode/extension.js && pass || fail extension.js
# The grammar knows all words of the language.
for word in $(sed -n 's/^.*X(TOKEN_[A-Z]*, "\([a-z][a-z]*\)").*/\1/p' \
	"$top"/src/lang/lexer.h); do
	grep -qE "[(|]$word[|)]" \
		"$top"/editors/vscode/syntaxes/isoscope.tmLanguage.json &&
		pass || fail "the grammar has no '$word'"
done
finish
