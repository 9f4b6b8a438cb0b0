#include "random_transactions.h"

enum { SCALARS = 2, FAMILIES = 2, PARAMETERS = 2 };

bool one_in(struct writer *w, uint32_t n)
{
	return !rng_below(w->r, n);
}

static void write_value(struct writer *w)
{
	uint32_t pick = rng_below(w->r, 6 + w->locals);
	if (one_in(w, 20))
		text_string(w->t, one_in(w, 2) ? "C" : "f(p0)");
	else if (w->locals && one_in(w, 8))
		text_format(w->t, "v%u.f", rng_below(w->r, w->locals));
	else if (one_in(w, 16))
		text_string(w->t, "{f: p1}");
	else if (pick < 2)
		text_format(w->t, "%u", pick);
	else if (pick < 6)
		text_format(w->t, "p%u", pick % PARAMETERS);
	else
		text_format(w->t, "v%u", pick - 6);
}

static void write_key(struct writer *w)
{
	uint32_t pick = rng_below(w->r, SCALARS + 2 * FAMILIES + 1);
	if (pick < SCALARS) {
		text_format(w->t, "x%u", pick);
		return;
	}
	if (pick == SCALARS + 2 * FAMILIES) {
		text_string(w->t, "z[");
		write_value(w);
		text_string(w->t, ", ");
		write_value(w);
		text_char(w->t, ']');
		return;
	}
	text_format(w->t, "y%u[", pick % FAMILIES);
	write_value(w);
	text_char(w->t, ']');
}

static void write_expression(struct writer *w)
{
	static const char *const operators[] = { " + ", " - ", " * " };
	write_value(w);
	if (one_in(w, 12)) {
		text_string(w->t, " + {p1}");
	} else if (one_in(w, 2)) {
		text_string(w->t,
		            operators[one_in(w, 4) ? 2 : rng_below(w->r, 2)]);
		if (one_in(w, 3))
			write_key(w);
		else
			text_format(w->t, "%u", rng_below(w->r, 3));
	}
}

static void write_condition(struct writer *w)
{
	static const char *const relations[] = { " == ", " != ", " < ",
		                                 " >= " };
	if (one_in(w, 5)) text_char(w->t, '!');
	text_char(w->t, '(');
	if (one_in(w, 4)) {
		write_value(w);
		text_string(w->t, " == ");
		write_value(w);
		text_string(w->t, one_in(w, 2) ? " && " : " || ");
	}
	if (one_in(w, 3))
		write_key(w);
	else
		write_value(w);
	if (one_in(w, 15)) {
		text_string(w->t, " in {p0, 1})");
		return;
	}
	text_string(w->t, relations[rng_below(w->r, 4)]);
	write_value(w);
	text_char(w->t, ')');
}

static void write_block(struct writer *w, uint32_t statements);

/* Of a form, with an item for each %. */
static void write_form(struct writer *w, const char *form)
{
	static const char *const items[] = { "p0", "0", "1", "2", "p1", "x0" };
	for (; *form; form++) {
		if (*form == '%')
			text_string(w->t, items[rng_below(w->r, 6)]);
		else
			text_char(w->t, *form);
	}
}

/* m: a list of items that are known. */
static void write_list(struct writer *w)
{
	static const char *const made[] = {
		"for q in [%, %] { if (q != p1) m = m + [q]; }\n",
		"for q in [%, %] { if (q == p0) { m = [q] + m; } else { m += "
		"[%]; } }",
		"m = filter(q in [%, %, %] : q != p1);\n",
		"m = map(q in filter(r in [%, %] : r != p0) : q + 1);\n",
		"m = [%]; if (p1 == %) { m = m + [%]; } else { m = m + [%]; "
		"}\n",
		"for q in [%, %] { m = m + [(q, y0[q])]; } m = map(q in filter("
		"r in m : r[1] != p1) : q[0]);\n",
	};
	text_string(w->t, "let m = [];\n");
	write_form(w, made[rng_below(w->r, 6)]);
}

static void use_list(struct writer *w)
{
	static const char *const uses[] = {
		"y0[size(m)] = p0;\n",
		"if (size(m) > 0) y1[m[0]] = p1;\n",
		"for q in m { let u = y0[q]; y1[q] = u; }\n",
		"if (exists(q in m : q == p0)) { x0 = 1; }\n",
		"if (forall(q in m : y0[q] == 0)) { x0 = p0; }\n",
		"if (p0 in m) { x1 = x0; } else { y1[0] = x1; }\n",
		"y0[max(m + [0])] += 1;\n",
		"if (size(m) > 0) x1 = min(m);\n",
		"if (y1[m[0]] == 0) y0[0] = 1;\n",
	};
	text_string(w->t, uses[rng_below(w->r, 9)]);
}

void write_list_transactions(struct writer *w)
{
	static const char *const keys[] = {
		"for k in m {",
		"if (size(m) > 0) { let k = m[0];",
		"if (size(m) > 1) { let k = m[1];",
		"if (size(m) != %) { let k = size(m);",
		"if (size(m) > 0) { let k = max(m);",
		"if (size(m) > 0) { let k = min(m + [%]);",
		"if (% in m) { let k = %;",
		"if (exists(q in m : q == %)) { let k = %;",
		"if (forall(q in m : q != %)) { let k = %;",
	};
	uint32_t key = rng_below(w->r, 3);
	text_string(w->t, "txn t0(p0, p1, list) {\n");
	write_list(w);
	write_form(w, keys[rng_below(w->r, 9)]);
	text_format(w->t,
	            " let u = y0[k]; y1[k] = u; }\n}\n"
	            "txn t1(p0, p1, list) { let u = y1[%u]; y0[%u] = u; }\n",
	            key, key);
}

static void write_statement(struct writer *w)
{
	static const char *const locks[] = { "", "", "", "locked ", "shared " };
	uint32_t pick = rng_below(w->r, w->depth < 2 ? 12 : 9);
	if (one_in(w, 8)) {
		text_string(w->t, "if (p0 == p0) {\n");
		write_list(w);
		use_list(w);
		if (one_in(w, 2)) use_list(w);
		text_string(w->t, "}\n");
	} else if (pick < 3) {
		text_format(w->t, "let v%u = %s", w->locals,
		            locks[rng_below(w->r, 5)]);
		write_key(w);
		text_string(w->t, ";\n");
		w->locals++;
	} else if (pick < 6) {
		write_key(w);
		text_string(w->t, " = ");
		write_expression(w);
		text_string(w->t, ";\n");
	} else if (pick < 8) {
		if (pick == 6) text_string(w->t, "atomic ");
		write_key(w);
		text_format(w->t, " += %u;\n", rng_below(w->r, 2));
	} else if (pick < 9) {
		static const char *const ends[] = { "abort;\n", "return p0;\n",
			                            "assume p0 != p1;\n",
			                            "assert p0 == 0;\n" };
		if (w->depth || one_in(w, 4))
			text_string(w->t, ends[rng_below(w->r, 4)]);
	} else if (pick < 11) {
		text_string(w->t, "if (");
		write_condition(w);
		text_string(w->t, ") {\n");
		write_block(w, 1 + rng_below(w->r, 2));
		if (one_in(w, 2)) {
			text_string(w->t, "} else {\n");
			write_block(w, 1 + rng_below(w->r, 2));
		}
		text_string(w->t, "}\n");
	} else if (one_in(w, 2)) {
		text_format(w->t, "statement {\nlet a%u = ", w->depth);
		write_key(w);
		text_format(w->t, ";\nlet b%u = ", w->depth);
		write_key(w);
		text_string(w->t, ";\n");
		write_key(w);
		text_format(w->t, " = a%u;\n}\n", w->depth);
	} else {
		static const char *const in[] = { "0..1",  "0..2", "0..p0",
			                          "p1..2", "list", "list" };
		text_format(w->t, "for i%u in %s {\n", w->depth,
		            in[rng_below(w->r, 6)]);
		if (one_in(w, 2))
			text_format(w->t, "y0[i%u] = p1;\n", w->depth);
		text_format(w->t, "let v%u = y%u[i%u];\n", w->locals,
		            rng_below(w->r, FAMILIES), w->depth);
		w->locals++;
		write_block(w, 1 + rng_below(w->r, 2));
		w->locals--;
		text_string(w->t, "}\n");
	}
}

static void write_block(struct writer *w, uint32_t statements)
{
	unsigned locals = w->locals;
	w->depth++;
	for (uint32_t i = 0; i < statements; i++) write_statement(w);
	w->depth--;
	w->locals = locals;
}

void write_transaction(struct writer *w, uint32_t i, bool mixed)
{
	static const char *const levels[] = { "rc", "ra",  "cc", "prc",
		                              "pc", "ser", "si", "si" };
	w->locals = 0;
	w->depth = 0;
	text_format(w->t, "txn t%u(p0, p1, list)", i);
	if (mixed && one_in(w, 2))
		text_format(w->t, " at %s", levels[rng_below(w->r, 8)]);
	text_string(w->t, " {\n");
	uint32_t statements = 1 + rng_below(w->r, 4);
	for (uint32_t s = 0; s < statements; s++) write_statement(w);
	text_string(w->t, "}\n");
}

static void write_initial(struct writer *w, uint32_t plain)
{
	static const char *const odd[] = {
		"null",   "true",         "\"s\"",
		"{1}",    "{f: 0}",       "{f: {f: 1}}",
		"{f: 1}", "{f: 0, g: 1}", "9223372036854775807"
	};
	if (one_in(w, plain))
		text_string(w->t, odd[rng_below(w->r, 9)]);
	else
		text_format(w->t, "%u", rng_below(w->r, 3));
}

void write_globals(struct writer *w)
{
	text_string(w->t, "const C = 1 + 1;\nfn f(a) = a + C;\n"
	                  "global z[*] = 1;\n");
	for (unsigned i = 0; i < SCALARS; i++) {
		text_format(w->t, "global x%u = ", i);
		write_initial(w, 12);
		text_string(w->t, ";\n");
	}
	for (unsigned i = 0; i < FAMILIES; i++) {
		text_format(w->t, "global y%u[*] = ", i);
		write_initial(w, 12);
		text_string(w->t, ";\n");
	}
}

void write_sessions(struct writer *w, uint32_t count, bool one_each)
{
	static const char *const lists[] = { ", [0, 1]);\n", ", [1, 0]);\n",
		                             ", [2, 0, 1]);\n", ", [1]);\n" };
	uint32_t instances = 2 + rng_below(w->r, 3), session = 0;
	for (uint32_t i = 0; i < instances; i++) {
		if (!i || one_each || one_in(w, 2))
			text_format(w->t, "%ssession s%u {\n", i ? "}\n" : "",
			            session++);
		text_format(w->t, "t%u(", rng_below(w->r, count));
		write_initial(w, 12);
		text_string(w->t, ", ");
		write_initial(w, 12);
		text_string(w->t, lists[rng_below(w->r, 4)]);
	}
	text_string(w->t, "}\n");
}
