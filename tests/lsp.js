/* Drives isoscope lsp as an editor does:	node lsp.js ISOSCOPE FOLDER
 *
 * What is wrong is printed, and the exit code is then 1. */
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const path = require('path');
const [isoscope, folder] = process.argv.slice(2);
let wrong = 0;

function check(fine, what) {
	if (fine) return;
	wrong++;
	console.log('wrong: ' + what);
}

function start() {
	const child = spawn(isoscope, ['lsp'], { stdio: ['pipe', 'pipe',
		'inherit'] });
	let rest = Buffer.alloc(0);
	const messages = [], waiting = [];
	let next = 1;
	child.stdin.on('error', () => {});
	function look() {
		for (let w = 0; w < waiting.length; w++) {
			const i = messages.findIndex(waiting[w].fits);
			if (i < 0) continue;
			const [m] = messages.splice(i, 1);
			waiting.splice(w--, 1)[0].yes(m);
		}
	}
	child.stdout.on('data', (data) => {
		rest = Buffer.concat([rest, data]);
		for (;;) {
			const end = rest.indexOf('\r\n\r\n');
			if (end < 0) break;
			const head = rest.subarray(0, end).toString();
			const length = +/^Content-Length: (\d+)$/.exec(head)[1];
			if (rest.length < end + 4 + length) break;
			messages.push(JSON.parse(
				rest.subarray(end + 4, end + 4 + length)));
			rest = rest.subarray(end + 4 + length);
		}
		look();
	});
	const ended = new Promise((yes) => child.on('exit', (c, s) =>
		yes(s || c)));
	const raw = (bytes) => child.stdin.write(bytes);
	const send = (m) => {
		const words = JSON.stringify(m);
		raw('Content-Length: ' + Buffer.byteLength(words) + '\r\n\r\n' +
			words);
	};
	const wait = (fits) => new Promise((yes) => {
		waiting.push({ fits, yes });
		look();
	});
	const notify = (method, params) =>
		send({ jsonrpc: '2.0', method, params });
	const ask = (method, params) => {
		const id = next++;
		send({ jsonrpc: '2.0', id, method, params });
		return wait((m) => m.id === id);
	};
	return { child, raw, send, wait, notify, ask, ended, messages };
}

const uri = (name) => 'file://' + path.join(folder, name).split('/')
	.map(encodeURIComponent).join('/');
const about = (name) => ({ textDocument: { uri: uri(name) } });
const diagnostics = (s, name, fits) => s.wait((m) =>
	m.method === 'textDocument/publishDiagnostics' &&
	m.params.uri === uri(name) && fits(m.params));
const open = (s, name, text) => s.notify('textDocument/didOpen',
	{ textDocument: { uri: uri(name), languageId: 'isoscope', version: 1,
		text } });
const change = (s, name, version, changes) =>
	s.notify('textDocument/didChange', { textDocument: { uri: uri(name),
		version }, contentChanges: changes });
const range = (a, b, c, d) => ({ start: { line: a, character: b },
	end: { line: c, character: d } });

/* The text with the edits of a code action. */
function edited(text, edits) {
	const starts = [0];
	for (let i = 0; i < text.length; i++)
		if (text[i] === '\n') starts.push(i + 1);
	const at = (p) => starts[p.line] + p.character;
	return [...edits].sort((x, y) => at(y.range.start) - at(x.range.start))
		.reduce((t, e) => t.slice(0, at(e.range.start)) + e.newText +
			t.slice(at(e.range.end)), text);
}

/* In SQL: tables, columns, sessions, steps, statements and transactions. */
async function namesOfSql(s) {
	const text = ['setup { CREATE TABLE t (k text PRIMARY KEY, n int NOT NULL);',
		"INSERT INTO t (k, n) VALUES ('a', 1); }",
		'session ann',
		'step look { BEGIN; SELECT x.n FROM t x WHERE k = $$a$$; }',
		'step leave { UPDATE t SET n = 2 WHERE t.n = 1; COMMIT; }'];
	open(s, 'names.spec', text.join('\n'));
	const expected = [
		[0, 'CREATE TABLE t', 't', /table t\n {2}k text PRIMARY KEY\n {2}n integer NOT NULL/],
		[1, 'INTO t', 't', /table t/],
		[1, '(k, n', 'n', /t\.n integer NOT NULL/],
		[2, 'ann', 'ann', /session ann\n {4}BEGIN[^]*UPDATE t[^]*COMMIT/],
		[3, 'look', 'look', /step look\n {4}BEGIN\n {4}SELECT\n +reads t as x/],
		[3, 'BEGIN', 'BEGIN', /transaction of ann[^]*locks to update t[^]*COMMIT/],
		[3, 'SELECT', 'SELECT', /^```\nSELECT\n +reads t as x by key \['a'\]/],
		[3, 'x.n', 'n', /t\.n integer/],
		[3, 'FROM t', 't', /table t/],
		[3, 'WHERE k', 'k', /t\.k text PRIMARY KEY/],
		[4, 'SET n', 'n', /t\.n integer/],
		[4, 't.n', 'n', /t\.n integer/]];
	for (const [line, words, name, says] of expected) {
		const character = text[line].indexOf(words) + words.length - name.length;
		const { result } = await s.ask('textDocument/hover',
			{ ...about('names.spec'), position: { line, character } });
		check(result && says.test(result.contents.value) &&
			result.range.start.character === character,
			`hover on ${words} ` + JSON.stringify(result));
	}
	check((await s.ask('textDocument/hover', { ...about('names.spec'),
		position: { line: 3, character: 32 } })).result === null,
		'hover on nothing in SQL');
	s.notify('textDocument/didClose', about('names.spec'));
}

async function session() {
	const s = start();
	check((await s.ask('textDocument/hover', {})).error.code === -32002,
		'a request before initialize');
	const { result } = await s.ask('initialize', { processId: null,
		rootUri: null, capabilities: {},
		initializationOptions: { level: 'si' } });
	check(result.capabilities.hoverProvider === true &&
		result.capabilities.textDocumentSync.change === 2 &&
		result.capabilities.textDocumentSync.save.includeText === false,
		'capabilities ' + JSON.stringify(result));
	s.notify('initialized', {});
	check((await s.ask('initialize', {})).error.code === -32600,
		'initialize twice');
	check((await s.ask('no/such', {})).error.code === -32601,
		'an unknown method');
	s.notify('$/unknown', {});

	/* Violations, with the text as it is on disk. */
	const text = fs.readFileSync(path.join(folder, 'on call.tx'), 'utf8');
	open(s, 'on call.tx', text);
	/* Hover is answered once the text is read. */
	const lines = text.split('\n');
	const line = lines.findIndex((l) => l.startsWith('txn go_home'));
	const hover = await s.ask('textDocument/hover',
		{ ...about('on call.tx'), position: { line, character: 6 } });
	check(/txn go_home\(me, other\)/.test(hover.result.contents.value) &&
		/reads `on_call\[me\]`, `on_call\[other\]`/.test(
			hover.result.contents.value) &&
		/writes `on_call\[me\]`/.test(hover.result.contents.value),
		'hover ' + JSON.stringify(hover));
	const global = lines.findIndex((l) => l.startsWith('global'));
	const family = await s.ask('textDocument/hover',
		{ ...about('on call.tx'), position: { line: global,
			character: 8 } });
	check(/a family of keys, by 1 index value, at first of type boolean/
		.test(family.result.contents.value),
		'hover ' + JSON.stringify(family));
	check((await s.ask('textDocument/hover', { ...about('on call.tx'),
		position: { line: 0, character: 0 } })).result === null,
		'hover on nothing');
	const found = await diagnostics(s, 'on call.tx', (p) =>
		p.diagnostics.length >= 2);
	await namesOfSql(s);
	const first = found.params.diagnostics[0];
	check(/somebody stays on call: write skew .*under si/.test(
		first.message), 'violation ' + JSON.stringify(first));
	check(lines[first.range.start.line].startsWith('assert'),
		'place ' + JSON.stringify(first.range));
	let actions = [];
	for (let i = 0; i < 200 && !actions.length; i++) {
		actions = (await s.ask('textDocument/codeAction',
			{ ...about('on call.tx'), range: first.range,
				context: { diagnostics: [first] } })).result;
		await new Promise((yes) => setTimeout(yes, 50));
	}
	check(actions.length > 0 && actions.every((a) =>
		a.kind === 'quickfix' && a.title.startsWith('isoscope: ')),
		'actions');
	/* The first of them is enough. */
	const fixed = edited(text, actions[0].edit.documentChanges[0].edits);
	check(fixed !== text && fixed.includes('locked'), 'the edit');
	change(s, 'on call.tx', 2, [{ text: fixed }]);
	await diagnostics(s, 'on call.tx', (p) => p.version === 2 &&
		!p.diagnostics.length);
	await new Promise((yes) => setTimeout(yes, 900));
	check(!s.messages.some((m) => m.params && m.params.version === 2 &&
		m.params.diagnostics.length), 'the edit is not enough');

	/* Errors, and positions in UTF-16: a pair counts two. */
	open(s, 'new.tx', '// \u{1F600}\u00e9\nglobal x = 0;\n' +
		'txn t() { x = "\u{1F600}" + ; }\n');
	const error = await diagnostics(s, 'new.tx', (p) =>
		p.diagnostics.length);
	const at = error.params.diagnostics[0];
	check(at.severity === 1 && at.range.start.line === 2 &&
		at.range.start.character === 'txn t() { x = "\u{1F600}" + '.length,
		'place ' + JSON.stringify(at));
	/* Incremental changes: behind a pair, and two that follow each other. */
	change(s, 'new.tx', 2, [
		{ range: range(2, 'txn t() { x = "\u{1F600}" '.length, 2,
			'txn t() { x = "\u{1F600}" + '.length), text: '' },
		{ range: range(0, 5, 0, 6), text: 'e\r\n// ' }]);
	await diagnostics(s, 'new.tx', (p) => p.version === 2 &&
		!p.diagnostics.length);
	const layout = await s.ask('textDocument/formatting',
		{ ...about('new.tx'), options: {} });
	check(layout.result.length === 1 &&
		layout.result[0].newText.includes('\u{1F600}e\n//\n') &&
		layout.result[0].newText.includes('{ x = "\u{1F600}"; }\n') &&
		layout.result[0].range.end.line === 4, 'layout ' +
		JSON.stringify(layout.result));
	change(s, 'new.tx', 3, [{ text: layout.result[0].newText }]);
	check((await s.ask('textDocument/formatting',
		{ ...about('new.tx'), options: {} })).result.length === 0,
		'layout of what has it');
	/* Ranges that are none, and wrong parameters, change nothing. */
	change(s, 'new.tx', 4, [{ range: range(3, 0, 1, 0), text: 'x' }]);
	change(s, 'new.tx', 5, [{ range: { start: 1 }, text: 'x' }]);
	change(s, 'new.tx', 6, 'no list');
	s.notify('textDocument/didChange', null);
	s.notify('textDocument/didOpen', [1]);
	await diagnostics(s, 'new.tx', (p) => p.version === 6 &&
		!p.diagnostics.length);
	check((await s.ask('textDocument/formatting',
		{ ...about('new.tx'), options: {} })).result.length === 0,
		'a wrong range changed the text');

	/* SQL. */
	const spec = 'setup { CREATE TABLE t (id int PRIMARY KEY, n int); ' +
		'INSERT INTO t VALUES (1, 0); }\n' +
		'session a step a1 { UPDATE t SET m = 1; }\n';
	open(s, 'sum.spec', spec);
	const column = await diagnostics(s, 'sum.spec', (p) =>
		p.diagnostics.length);
	check(column.params.diagnostics[0].range.start.line === 1 &&
		/m/.test(column.params.diagnostics[0].message),
		'SQL ' + JSON.stringify(column.params));

	/* An exploration that takes long delays nothing, and a change ends it. */
	let long = 'global x = 0;\ntxn t(v) { x = x + v; x = x + v; }\n';
	for (const name of ['a', 'b', 'c', 'd'])
		long += 'session ' + name + ' { t(1); t(2); t(3); t(4); }\n';
	open(s, 'long.tx', long + 'assert serializable;\n');
	await diagnostics(s, 'long.tx', () => true);
	await new Promise((yes) => setTimeout(yes, 600));
	const begun = Date.now();
	await s.ask('textDocument/hover', { ...about('long.tx'),
		position: { line: 1, character: 5 } });
	check(Date.now() - begun < 2000, 'an answer took long');
	s.notify('textDocument/didClose', about('long.tx'));
	await diagnostics(s, 'long.tx', (p) => !p.diagnostics.length);
	check((await s.ask('textDocument/hover', { ...about('long.tx'),
		position: { line: 1, character: 5 } })).error.code === -32602,
		'a text that is closed');

	check((await s.ask('shutdown')).result === null, 'shutdown');
	check((await s.ask('textDocument/hover', {})).error.code === -32600,
		'a request after shutdown');
	s.notify('exit');
	check(await s.ended === 0, 'exit code');
}

/* What no editor sends. */
async function hostile() {
	const s = start();
	const broken = () => s.wait((m) => m.id === null);
	s.raw('Content-Type: x\r\n\r\n');
	check((await broken()).error.code === -32700, 'no length');
	s.raw('Content-Length: 5\r\n\r\n{"a":');
	check((await broken()).error.code === -32700, 'no JSON');
	s.raw('Content-Length: -7\r\n\r\n');
	check((await broken()).error.code === -32700, 'a negative length');
	s.raw('Content-Length: 99999999999999999999999\r\nX: y\r\n\r\n');
	check((await broken()).error.code === -32700, 'a length without end');
	s.child.stdin.end();
	check(await s.ended === 1, 'the exit code without shutdown');

	const t = start();
	const bad = () => t.wait((m) => m.id === null);
	t.raw('x'.repeat(10000));
	check((await bad()).error.code === -32700, 'no headers');
	t.raw('\0\0\r\n\r\n');
	check((await bad()).error.code === -32700, 'zero bytes');
	for (const m of [[], [{ jsonrpc: '2.0', id: 1, method: 'x' }], 7, null,
		{ id: {} }, { id: [1], method: 'initialize' }, {}, { id: null }]) {
		t.send(m);
		check((await bad()).error.code === -32600,
			'invalid: ' + JSON.stringify(m));
	}
	const deep = '['.repeat(100000);
	t.raw('Content-Length: ' + deep.length + '\n\n' + deep);
	check((await bad()).error.code === -32700, 'deep');
	/* In pieces, a byte each. */
	const words = JSON.stringify({ jsonrpc: '2.0', id: 'a\u0000b',
		method: 'initialize', params: {} });
	for (const c of 'content-length:' + words.length + '\r\n\r\n' + words) {
		t.raw(c);
		await new Promise((yes) => setImmediate(yes));
	}
	await t.wait((m) => m.id === 'a\u0000b' && m.result);
	/* Texts that are no programs; many at once. */
	for (let i = 0; i < 20; i++)
		open(t, 'n' + i + '.tx', String.fromCharCode(i).repeat(1000));
	open(t, 'big.tx', '// ' + 'w'.repeat(3000000) + '\nglobal x = 0;\n');
	open(t, 'nest.tx', 'const x = ' + '('.repeat(100000));
	open(t, '%zz%00\u2028.tx', 'txn t() { skip; }');
	await diagnostics(t, 'nest.tx', (p) => p.diagnostics.length);
	await diagnostics(t, 'big.tx', () => true);
	for (let i = 0; i < 20; i++)
		change(t, 'n0.tx', i + 2, [{ text: 'global x' + i + ' = 0;\n' }]);
	await diagnostics(t, 'n0.tx', (p) => p.version === 21 &&
		!p.diagnostics.length);
	t.notify('exit');
	check(await t.ended === 1, 'exit without shutdown');
}

Promise.resolve().then(session).then(hostile).then(() =>
	process.exit(wrong ? 1 : 0)).catch((e) => {
	console.log(e.stack);
	process.exit(1);
});
