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
cp "$top"/programs/examples/on-call.tx .
if timeout 300 node "$top"/tests/lsp.js "$ISOSCOPE" "$PWD" >out 2>err; then
	pass
else
	fail 'isoscope lsp'
	cat out
fi
# The settings for Neovim, in Neovim.
printf 'setup { CREATE TABLE t (a int); }\nsession s\nstep x { SELECT b FROM t; }\n' \
	>one.spec
if SETTINGS=$top/editors/neovim/isoscope.lua PATH=$(dirname "$ISOSCOPE"):$PATH \
	timeout 300 nvim --clean --headless -c "luafile $top/tests/neovim.lua" \
	</dev/null >out 2>err; then
	for line in 'type isoscope' 'comments // %s' \
		'line 27: somebody stays on call: write skew (G2-item) (violated in 1 history under si)' \
		'reads `on_call\[me\]`, `on_call\[other\]`' \
		'action isoscope: all at ser' \
		'formatted txn go_home(me, other) {' 'type isoscope-spec' \
		'line 3: column "b" does not exist' 'servers isoscope'; do
		grep -qx "$line" out && pass || fail "Neovim shows no '$line'"
	done
else
	fail 'Neovim'
	cat out err
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
