'use strict';
(function () {
	function make(name, words, className) {
		var e = document.createElement(name);
		if (words !== undefined) e.textContent = words;
		if (className) e.className = className;
		return e;
	}

	/* What each session has seen of each key, and the newest versions, when
	 * so many of the rows have happened. */
	function stateAt(rows, initial, at) {
		var s = { newest: new Map(initial), seen: [], own: new Map() };
		var open = new Map();
		for (var i = 0; i < at; i++) {
			var d = rows[i].dataset, column = +d.session;
			var seen = s.seen[column] || (s.seen[column] = new Map());
			if (s.own.get(column) !== d.who) {
				seen.clear();
				s.own.set(column, d.who);
			}
			if (d.does === 'reads') {
				seen.set(d.key, d.value);
			} else if (d.does === 'writes') {
				seen.set(d.key, d.value);
				if (!open.has(d.who)) open.set(d.who, new Map());
				open.get(d.who).set(d.key, d.value);
			} else if (d.does === 'commits' || d.does === 'runs') {
				(open.get(d.who) || []).forEach(function (v, k) {
					s.newest.set(k, v);
				});
			}
		}
		return s;
	}

	function stateTable(keys, names) {
		var table = make('table', undefined, 'state');
		var head = table.createTHead().insertRow();
		var title = ['key', 'newest committed'].concat(names);
		title.forEach(function (n) {
			var th = make('th');
			th.scope = 'col';
			th.appendChild(make('bdi', n));
			head.appendChild(th);
		});
		var body = table.createTBody();
		keys.forEach(function (k) {
			var row = body.insertRow();
			var th = make('th');
			th.scope = 'row';
			var code = make('code');
			code.appendChild(make('bdi', k));
			th.appendChild(code);
			row.appendChild(th);
			for (var i = 1; i < title.length; i++)
				row.insertCell().className = 'mono';
		});
		return table;
	}

	function play(box) {
		var rows = Array.prototype.slice.call(
			box.querySelectorAll('tr[data-does]'));
		if (!rows.length) return;
		var names = Array.prototype.map.call(
			box.querySelectorAll('.time thead th + th'),
			function (th) { return th.textContent; });
		var initial = new Map(), keys = [];
		function note(k) {
			if (k !== undefined && keys.indexOf(k) < 0) keys.push(k);
		}
		box.querySelectorAll('[data-initial]').forEach(function (e) {
			initial.set(e.dataset.key, e.dataset.initial);
		});
		rows.forEach(function (r) { note(r.dataset.key); });
		var player = make('div', undefined, 'player');
		var line = make('div', undefined, 'row');
		var back = make('button', 'Back');
		var next = make('button', 'Next');
		var range = make('input');
		back.type = next.type = 'button';
		range.type = 'range';
		range.min = 0;
		range.max = rows.length;
		range.value = 0;
		range.setAttribute('aria-label', 'Step of the schedule');
		[back, range, next].forEach(function (e) { line.appendChild(e); });
		var said = make('output');
		said.setAttribute('aria-live', 'polite');
		var scroll = make('div', undefined, 'scroll');
		scroll.tabIndex = 0;
		scroll.setAttribute('role', 'group');
		scroll.setAttribute('aria-label', 'State of the database');
		var table = stateTable(keys, names);
		scroll.appendChild(table);
		player.appendChild(line);
		player.appendChild(said);
		player.appendChild(scroll);
		player.appendChild(make('p', 'Below each session: what its ' +
			'transaction has seen or written. Marked where that is ' +
			'not the newest committed value.', 'legend'));

		function show(at) {
			var s = stateAt(rows, initial, at);
			var d = at ? rows[at - 1].dataset : null;
			range.value = at;
			range.setAttribute('aria-valuetext',
				'step ' + at + ' of ' + rows.length);
			back.disabled = at === 0;
			next.disabled = at === rows.length;
			said.textContent = at === 0
				? 'Before the first of ' + rows.length + ' steps'
				: 'Step ' + at + ' of ' + rows.length + ': ' +
				  d.words;
			rows.forEach(function (r, i) {
				r.classList.toggle('now', i === at - 1);
				r.classList.toggle('later', i >= at);
				if (i === at - 1)
					r.setAttribute('aria-current', 'step');
				else
					r.removeAttribute('aria-current');
			});
			keys.forEach(function (k, y) {
				var cells = table.tBodies[0].rows[y].cells;
				var newest = s.newest.get(k);
				cells[1].textContent =
					newest === undefined ? '' : newest;
				cells[1].classList.toggle('just', !!d &&
					(d.does === 'commits' || d.does === 'runs') &&
					stateAt(rows, initial, at - 1).newest.get(k)
						!== newest);
				for (var x = 0; x < names.length; x++) {
					var seen = s.seen[x] && s.seen[x].get(k);
					var cell = cells[x + 2];
					cell.textContent =
						seen === undefined ? '' : seen;
					cell.classList.toggle('differs',
						seen !== undefined &&
						seen !== newest);
					cell.classList.toggle('just', !!d &&
						+d.session === x && d.key === k);
				}
			});
		}
		back.addEventListener('click', function () {
			show(Math.max(0, +range.value - 1));
		});
		next.addEventListener('click', function () {
			show(Math.min(rows.length, +range.value + 1));
		});
		range.addEventListener('input', function () {
			show(+range.value);
		});
		rows.forEach(function (r, i) {
			r.addEventListener('click', function () { show(i + 1); });
		});
		box.classList.add('playing');
		box.insertBefore(player, box.querySelector('.scroll, table'));
		show(rows.length);
	}

	/* A finding comes to life when it is opened: there may be hundreds. */
	function begin(finding) {
		if (finding.dataset.begun) return;
		finding.dataset.begun = 'yes';
		finding.querySelectorAll('.schedule').forEach(play);
		finding.querySelectorAll('.edge').forEach(function (e) {
			var why = document.getElementById(
				e.getAttribute('data-why'));
			function lit(on) {
				return function () {
					if (why) why.classList.toggle('lit', on);
				};
			}
			e.addEventListener('mouseenter', lit(true));
			e.addEventListener('mouseleave', lit(false));
			e.addEventListener('focus', lit(true));
			e.addEventListener('blur', lit(false));
		});
	}

	var findings = Array.prototype.slice.call(
		document.querySelectorAll('details.finding'));
	findings.forEach(function (f) {
		if (f.open) begin(f);
		f.addEventListener('toggle', function () {
			if (f.open) begin(f);
		});
	});
	window.addEventListener('beforeprint', function () {
		findings.forEach(function (f) { f.open = true; });
	});

	document.querySelectorAll('.filter').forEach(function (bar) {
		var box = bar.querySelector('input');
		var count = bar.querySelector('output');
		var here = findings.filter(function (f) {
			return bar.parentNode.contains(f);
		});
		var words = here.map(function (f) {
			return f.textContent.toLowerCase();
		});
		bar.hidden = false;
		box.addEventListener('input', function () {
			var wanted = box.value.toLowerCase(), shown = 0;
			here.forEach(function (f, i) {
				f.hidden = words[i].indexOf(wanted) < 0;
				shown += !f.hidden;
			});
			bar.parentNode.querySelectorAll('.group').forEach(
				function (g) {
				g.hidden = !g.querySelector(
					'details.finding:not([hidden])');
			});
			count.textContent = wanted
				? shown + ' of ' + here.length + ' shown' : '';
		});
		bar.querySelector('button').addEventListener('click',
			function () {
			here.forEach(function (f) {
				if (!f.hidden) f.open = true;
			});
		});
	});
})();
