/* Replaces the names in a result by what would do harm if a page took it for
 * anything but words:	node hostile.js WHAT <result.json */
'use strict';
const fs = require('fs');
const harm = {
	script: '</script><script>window.stranger = 1</script>',
	quotes: '"\'><img src=x onerror="window.stranger=1"><b x=`',
	long: 'w'.repeat(10000),
	right: '\u202egnol\u202c \u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627',
	zero: 'a\u0000b\u001b[31m\u0007<!--',
}[process.argv[2]];
const results = JSON.parse(fs.readFileSync(0, 'utf8'));
const kept = ['isoscope', 'verdict', 'does', 'kind', 'level', 'forbidden_by'];

/* A reason keeps its kind, so that it is drawn. */
function replace(name, value) {
	if (typeof value === 'string') {
		if (kept.includes(name)) return value;
		if (name === 'reason' && /^(so|wr|ww|rw)\b/.test(value))
			return value.split(' ')[0] + ' ' + harm;
		return value === 'init' || value === 'self' ? value
			: harm + ' ' + value;
	}
	if (Array.isArray(value)) return value.map((v) => replace('', v));
	if (value && typeof value === 'object')
		return Object.fromEntries(Object.entries(value).map(([k, v]) =>
			[name === 'values' || name === 'init'
				? harm.replace(/\0/g, '') + k : k,
				replace(k, v)]));
	return value;
}
process.stdout.write(JSON.stringify(replace('', results)) + '\n');
