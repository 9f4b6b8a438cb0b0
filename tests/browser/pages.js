/* Opens pages of results in Chromium, and looks at them as people do:
 *
 *	node pages.js AXE PICTURES PAGE...
 *
 * AXE is the file of axe-core, PICTURES a folder for screenshots. What is wrong
 * is printed, and the exit code is then 1. */
'use strict';
const fs = require('fs');
const path = require('path');
const { start, open } = require('./chromium.js');

const [axe, pictures, ...pages] = process.argv.slice(2);
let wrong = 0;

function check(fine, page, what) {
	if (fine) return;
	wrong++;
	console.log(path.basename(page) + ': ' + what);
}

/* Nothing sticks out at the side, and nothing is cut off there. */
const OVERFLOW = `(() => {
	const wide = document.documentElement.scrollWidth - innerWidth;
	if (wide > 0) {
		const out = [...document.querySelectorAll('body *')].find((e) =>
			e.getBoundingClientRect().right > innerWidth + 1 &&
			!e.closest('.scroll, .sr, table.time thead'));
		return 'sticks out by ' + wide + ': ' +
			(out ? out.outerHTML.slice(0, 120) : '?');
	}
	const words = [...document.querySelectorAll('svg.cycle text')].find((e) => {
		const r = e.getBoundingClientRect();
		const box = e.ownerSVGElement.getBoundingClientRect();
		return r.width && (r.left < box.left - 1 || r.right > box.right + 1);
	});
	return words ? 'a label is cut off: ' + words.textContent : '';
})()`;

const AXE = `axe.run(document, { resultTypes: ['violations'] }).then((r) =>
	r.violations.map((v) => v.id + ' at ' + v.nodes.slice(0, 3).map((n) =>
		n.target + ' ' + (n.any[0] ? n.any[0].message : '')).join('; ')))`;

/* Back and Next go through all steps; what sessions see is compared with what
 * the rows of the schedule say. */
const SLIDER = `(() => {
	const wrong = [];
	document.querySelectorAll('details.finding[open] .schedule').forEach(
		(box) => {
		const [back, next] = box.querySelectorAll('.player button');
		const range = box.querySelector('input[type=range]');
		const rows = [...box.querySelectorAll('tr[data-does]')];
		const cells = () => [...box.querySelectorAll('.state tbody td')];
		while (!back.disabled) back.click();
		if (range.value !== '0') wrong.push('not at the beginning');
		if (box.querySelector('.differs')) wrong.push('differs at 0');
		if (box.querySelector('[aria-current]')) wrong.push('current at 0');
		rows.forEach((r, i) => {
			next.click();
			if (+range.value !== i + 1) wrong.push('step ' + range.value);
			if (r.getAttribute('aria-current') !== 'step')
				wrong.push('row ' + i + ' is not current');
			if (!box.querySelector('output').textContent
				.includes(r.dataset.words)) wrong.push('says not what');
			if (r.dataset.key === undefined ||
				r.dataset.value === undefined) return;
			const seen = [...box.querySelectorAll('.state tbody tr')]
				.find((s) => s.cells[0].textContent === r.dataset.key)
				.cells[+r.dataset.session + 2].textContent;
			if (seen !== r.dataset.value)
				wrong.push('sees ' + seen + ', not ' + r.dataset.value);
		});
		if (!next.disabled) wrong.push('there is more');
		rows[0].click();
		if (range.value !== '1') wrong.push('a click on a row');
		if (!cells().length) wrong.push('no state');
	});
	return wrong;
})()`;

/* The focus goes through the page as it is read. */
async function tabs(tab, page) {
	const count = await tab.ask(`document.querySelectorAll(
		'summary, a[href], button, input, [tabindex="0"]').length`);
	await tab.ask(`document.activeElement.blur(); window.last = null; 0`);
	let seen = 0;
	for (let i = 0; i < Math.min(count, 25); i++) {
		await tab.press('Tab');
		const order = await tab.ask(`(() => {
			const now = document.activeElement, before = window.last;
			if (now === document.body) return 'end';
			window.last = now;
			if (before && !(before.compareDocumentPosition(now) &
				Node.DOCUMENT_POSITION_FOLLOWING))
				return 'back to ' + now.outerHTML.slice(0, 80);
			const r = now.getBoundingClientRect();
			if (!r.width || !r.height)
				return 'out of sight ' + now.outerHTML.slice(0, 80);
			return '';
		})()`);
		if (order === 'end') break;
		check(!order, page, 'the focus goes ' + order);
		seen++;
	}
	check(seen > 0 || !count, page, 'nothing has the focus');
}

/* Keys move the slider, and the reason of an arrow is lit while it has the
 * focus. */
async function keys(tab, page) {
	const slider = await tab.ask(`(() => {
		const r = document.querySelector('.player input');
		if (!r) return false;
		r.value = 0; r.focus(); r.dispatchEvent(new Event('input'));
		return true;
	})()`);
	if (slider) {
		await tab.press('ArrowRight');
		check(await tab.ask(`document.querySelector('.player input').value`)
			=== '1', page, 'a key does not move the slider');
	}
	check(await tab.ask(`(() => {
		const e = document.querySelector('details[open] .edge');
		if (!e) return true;
		e.focus();
		const why = document.getElementById(e.dataset.why);
		return why.classList.contains('lit') &&
			why.textContent.length > 3;
	})()`), page, 'an arrow does not tell its reason');
}

/* The filter leaves what has the words. */
async function filter(tab, page) {
	check(await tab.ask(`(() => {
		const box = document.querySelector('.filter input');
		if (!box) return true;
		const all = [...document.querySelectorAll('details.finding')];
		const shown = () => all.filter((f) => !f.hidden).length;
		box.value = 'no such words \\u2603';
		box.dispatchEvent(new Event('input'));
		const none = shown();
		box.value = '';
		box.dispatchEvent(new Event('input'));
		return none === 0 && shown() === all.length;
	})()`), page, 'the filter');
}

async function without_script(tab, page) {
	await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
	await tab.visit('file://' + page);
	await tab.send('Emulation.setScriptExecutionDisabled', { value: false });
	check(await tab.ask(`(() => {
		const rows = document.querySelectorAll('tr[data-does]');
		return document.querySelector('.verdict').offsetHeight > 0 &&
			!document.querySelector('.player') &&
			(!rows.length || [...rows].some((r) => r.offsetHeight > 0));
	})()`), page, 'it cannot be read without the script');
}

async function look_at(tab, page) {
	await tab.visit('file://' + page);
	check(await tab.ask('document.querySelectorAll("h1").length') === 1, page,
		'no heading');
	await tab.send('Runtime.evaluate',
		{ expression: fs.readFileSync(axe, 'utf8') });
	for (const [width, scheme] of [[1280, 'light'], [390, 'dark'],
		[1280, 'dark'], [390, 'light']]) {
		await tab.look(width, scheme);
		const over = await tab.ask(OVERFLOW);
		check(!over, page, width + ': ' + over);
		const name = path.basename(page, '.html') + '-' + width + '-' +
			scheme + '.png';
		check(await tab.picture(path.join(pictures, name), 4000) > 5000,
			page, 'an empty picture');
		if ((width === 1280) !== (scheme === 'light')) continue;
		for (const v of await tab.ask(AXE))
			check(false, page, width + ' ' + scheme + ': ' + v);
	}
	for (const w of await tab.ask(SLIDER)) check(false, page, 'slider: ' + w);
	await tab.look(1280, 'light');
	await tabs(tab, page);
	await keys(tab, page);
	await filter(tab, page);
	check(await tab.ask('window.stranger === undefined'), page,
		'a name was run as a script');
	await without_script(tab, page);
	tab.problems.forEach((p) => check(false, page, 'console: ' + p));
	tab.requests.filter((r) => !r.startsWith('file://')).forEach((r) =>
		check(false, page, 'it asked for ' + r));
}

(async () => {
	const browser = start();
	for (const page of pages) {
		const tab = await open(browser);
		await look_at(tab, path.resolve(page));
		await tab.send('Page.close').catch(() => {});
	}
	await browser.stop();
	process.exit(wrong ? 1 : 0);
})().catch((e) => {
	console.log(e.stack);
	process.exit(1);
});
