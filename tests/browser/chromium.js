/* Drives a headless Chromium by the DevTools protocol, over a pipe. */
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

/* The program of Debian's package, or the one that CHROMIUM names. */
function start() {
	const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'isoscope-web-'));
	const child = spawn(process.env.CHROMIUM || 'chromium', [
		'--headless', '--no-sandbox', '--disable-gpu', '--disable-quic',
		'--no-first-run', '--disable-background-networking',
		'--disable-component-update', '--disable-sync',
		'--disable-dev-shm-usage', '--hide-scrollbars',
		'--host-resolver-rules=MAP * ~NOTFOUND',
		'--user-data-dir=' + profile, '--remote-debugging-pipe',
		'about:blank'
	], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
	const waiting = new Map(), listeners = [];
	let next = 1, rest = '';

	function take(message) {
		if (message.id === undefined) {
			listeners.forEach((l) => l(message));
			return;
		}
		const w = waiting.get(message.id);
		waiting.delete(message.id);
		if (message.error)
			w.no(new Error(w.method + ': ' + message.error.message));
		else
			w.yes(message.result);
	}
	child.stdio[4].setEncoding('utf8');
	child.stdio[4].on('data', (data) => {
		const parts = (rest + data).split('\0');
		rest = parts.pop();
		parts.forEach((p) => take(JSON.parse(p)));
	});
	const ended = new Promise((yes) => child.on('exit', yes));
	ended.then(() => waiting.forEach((w) =>
		w.no(new Error('chromium has ended'))));
	child.on('error', (e) => waiting.forEach((w) => w.no(e)));

	function send(method, params, sessionId) {
		const id = next++;
		return new Promise((yes, no) => {
			waiting.set(id, { yes, no, method });
			child.stdio[3].write(JSON.stringify(
				{ id, method, params: params || {}, sessionId }) +
				'\0');
		});
	}
	async function stop() {
		await send('Browser.close').catch(() => {});
		await ended;
		fs.rmSync(profile, { recursive: true, force: true,
			maxRetries: 5 });
	}
	return { send, stop, listen: (l) => listeners.push(l) };
}

/* A tab. `problems` is what the console, the page and the network complain
 * about. */
async function open(browser) {
	const { targetId } = await browser.send('Target.createTarget',
		{ url: 'about:blank' });
	const { sessionId } = await browser.send('Target.attachToTarget',
		{ targetId, flatten: true });
	const send = (m, p) => browser.send(m, p, sessionId);
	const problems = [], requests = [];
	let loaded = () => {};
	browser.listen((m) => {
		if (m.sessionId !== sessionId) return;
		if (m.method === 'Page.loadEventFired') loaded();
		if (m.method === 'Runtime.exceptionThrown')
			problems.push(m.params.exceptionDetails.text + ' ' +
				(m.params.exceptionDetails.exception || {})
					.description);
		if (m.method === 'Log.entryAdded')
			problems.push(m.params.entry.text);
		if (m.method === 'Runtime.consoleAPICalled')
			problems.push(m.params.type + ': ' +
				m.params.args.map((a) => a.value).join(' '));
		if (m.method === 'Page.javascriptDialogOpening')
			problems.push('a dialog opened');
		if (m.method === 'Network.requestWillBeSent')
			requests.push(m.params.request.url);
	});
	for (const domain of ['Page', 'Runtime', 'Log', 'Network'])
		await send(domain + '.enable');

	async function visit(url) {
		const there = new Promise((yes) => { loaded = yes; });
		await send('Page.navigate', { url });
		await there;
	}
	/* The value of an expression, waited for if it is a promise. */
	async function ask(expression) {
		const r = await send('Runtime.evaluate', { expression,
			returnByValue: true, awaitPromise: true });
		if (r.exceptionDetails)
			throw new Error(r.exceptionDetails.text + ' ' +
				(r.exceptionDetails.exception || {}).description);
		return r.result.value;
	}
	async function look(width, scheme) {
		await send('Emulation.setDeviceMetricsOverride', { width,
			height: 900, deviceScaleFactor: 1, mobile: false });
		await send('Emulation.setEmulatedMedia', { media: 'screen',
			features: [{ name: 'prefers-color-scheme',
				value: scheme }] });
	}
	async function picture(file, most) {
		const { cssContentSize: size } =
			await send('Page.getLayoutMetrics');
		const { data } = await send('Page.captureScreenshot', {
			format: 'png', captureBeyondViewport: true,
			clip: { x: 0, y: 0, width: size.width,
				height: Math.min(size.height, most || 8000), scale: 1 } });
		fs.writeFileSync(file, Buffer.from(data, 'base64'));
		return data.length;
	}
	async function press(key) {
		const code = { Tab: 9, ArrowRight: 39, Enter: 13 }[key];
		for (const type of ['keyDown', 'keyUp'])
			await send('Input.dispatchKeyEvent', { type, key,
				code: key, windowsVirtualKeyCode: code });
	}
	return { send, visit, ask, look, picture, press, problems, requests };
}

module.exports = { start, open };
