#include "random_client.h"

#include <stdbool.h>

#include "base/rng.h"
#include "random_program.h"

enum {
	LOCALS = 12,
	TRANSACTIONS = 3,
	RESULT = 1000 /* the local of sessions that assertions look at */
};

struct writer {
	struct rng rng;
	struct text *out;
	int indent;
	uint32_t keys;  /* how many of x, k[0], y, k[1] are in play */
	uint32_t names; /* locals so far: v0, v1, ... */
	uint32_t locals[LOCALS], local_count; /* in scope */
	uint32_t budget; /* statements that access keys, left */
	bool strings, aborts, assumes;
};

static uint32_t below(struct writer *w, uint32_t n)
{
	return rng_below(&w->rng, n);
}

static bool one_in(struct writer *w, uint32_t n)
{
	return !below(w, n);
}

static void line(struct writer *w)
{
	text_char(w->out, '\n');
	text_pad(w->out, '\t', (size_t)w->indent);
}

static void local(struct writer *w)
{
	text_format(w->out, "v%u", w->locals[below(w, w->local_count)]);
}

/* Names a new local; it is in scope after keep(). */
static uint32_t name(struct writer *w)
{
	text_format(w->out, "v%u", w->names);
	return w->names++;
}

static void keep(struct writer *w, uint32_t v)
{
	if (w->local_count < LOCALS) w->locals[w->local_count++] = v;
}

static void key(struct writer *w)
{
	static const char *const names[] = { "x", "k[0]", "y", "k[1]" };
	if (w->local_count && one_in(w, 5)) {
		text_string(w->out, "k[");
		local(w);
		text_string(w->out, " % 2]");
	} else {
		text_string(w->out, names[below(w, w->keys)]);
	}
}

static void constant(struct writer *w)
{
	if (w->strings && one_in(w, 8))
		text_string(w->out, one_in(w, 2) ? "\"a\"" : "\"b\"");
	else if (one_in(w, 16))
		text_string(w->out, "null");
	else
		text_int(w->out, below(w, 4));
}

static void value(struct writer *w)
{
	if (w->local_count && !one_in(w, 3)) {
		local(w);
		if (one_in(w, 2)) return;
		text_string(w->out, one_in(w, 3) ? " * " : " + ");
	}
	constant(w);
}

static void condition(struct writer *w)
{
	static const char *const compare[] = { "==", "!=", "<", ">", "<=" };
	if (w->local_count && !one_in(w, 5))
		local(w);
	else
		key(w);
	text_format(w->out, " %s ", compare[below(w, one_in(w, 2) ? 5 : 2)]);
	constant(w);
}

static void statements(struct writer *w, uint32_t count);

static void block(struct writer *w)
{
	uint32_t locals = w->local_count;
	text_string(w->out, "{");
	w->indent++;
	statements(w, 1 + one_in(w, 2));
	w->indent--;
	line(w);
	text_string(w->out, "}");
	w->local_count = locals;
}

/* At most three rounds, as many as some local says. */
static void rounds(struct writer *w, uint32_t *v)
{
	text_string(w->out, "for ");
	*v = name(w);
	text_string(w->out, " in 0..");
	if (w->local_count) {
		local(w);
		text_string(w->out, " % 4 ");
	} else {
		text_string(w->out, "2 ");
	}
}

static void loop(struct writer *w)
{
	uint32_t locals = w->local_count, v;
	rounds(w, &v);
	keep(w, v);
	block(w);
	w->local_count = locals;
}

static void branch(struct writer *w)
{
	text_string(w->out, "if (");
	condition(w);
	text_string(w->out, ") ");
	if (w->aborts && one_in(w, 3)) {
		text_string(w->out, "abort;");
		return;
	}
	block(w);
	if (one_in(w, 2)) return;
	text_string(w->out, " else ");
	block(w);
}

static void claim(struct writer *w)
{
	bool assume = w->assumes && one_in(w, 2);
	text_string(w->out, assume ? "assume " : "assert ");
	local(w);
	text_string(w->out, one_in(w, 3) ? " == " : " != ");
	constant(w);
	text_string(w->out, ";");
}

static void access(struct writer *w)
{
	if (one_in(w, 2)) {
		text_string(w->out, "let ");
		uint32_t v = name(w);
		text_string(w->out, " = ");
		key(w);
		keep(w, v);
	} else {
		key(w);
		text_string(w->out, one_in(w, 5) ? " += " : " = ");
		value(w);
	}
	text_string(w->out, ";");
}

static void statement(struct writer *w)
{
	uint32_t choice = below(w, 16);
	line(w);
	if (choice < 2)
		loop(w);
	else if (choice < 5)
		branch(w);
	else if (choice < 7 && w->local_count)
		claim(w);
	else
		access(w);
}

static void statements(struct writer *w, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (w->budget) {
			w->budget--;
			statement(w);
		} else if (!i) {
			text_string(w->out, " skip;");
		}
	}
}

static void transaction(struct writer *w, uint32_t number)
{
	text_format(w->out, "txn t%u(", number);
	w->local_count = 0;
	keep(w, name(w));
	text_string(w->out, ") {");
	w->budget = 6;
	w->indent = 1;
	line(w);
	access(w);
	statements(w, 1 + below(w, 3));
	line(w);
	text_string(w->out, "return ");
	value(w);
	text_string(w->out, ";\n}\n");
}

/* ---- sessions ---- */

static void call(struct writer *w)
{
	text_format(w->out, "t%u(", below(w, TRANSACTIONS));
	if (w->local_count && one_in(w, 2))
		local(w);
	else
		constant(w);
	text_string(w->out, ");");
}

/* Transactions that are run, or not, or several times. */
static void more_calls(struct writer *w)
{
	uint32_t v, locals = w->local_count;
	line(w);
	switch (below(w, 5)) {
	case 0:
	case 1:
		text_string(w->out, "if (");
		local(w);
		text_string(w->out, one_in(w, 2) ? " == " : " != ");
		constant(w);
		text_string(w->out, ") ");
		call(w);
		if (one_in(w, 2)) return;
		text_string(w->out, " else ");
		break;
	case 2:
		rounds(w, &v);
		keep(w, v);
		text_string(w->out, "{ ");
		call(w);
		text_string(w->out, " }");
		w->local_count = locals;
		return;
	case 3: claim(w); return;
	default: break;
	}
	call(w);
}

static void session(struct writer *w, uint32_t number, uint32_t calls)
{
	text_format(w->out, "session s%u {", number);
	w->local_count = 0;
	w->indent = 1;
	line(w);
	text_format(w->out, "let v%u = ", RESULT);
	call(w);
	keep(w, RESULT);
	for (uint32_t i = 0; i < calls; i++) more_calls(w);
	text_string(w->out, "\n}\n");
}

static void finally(struct writer *w)
{
	text_string(w->out, "finally {");
	w->local_count = 0;
	w->budget = 3;
	w->indent = 1;
	line(w);
	text_format(w->out, "let v%u = x;", w->names);
	keep(w, w->names++);
	line(w);
	claim(w);
	statements(w, 2);
	text_string(w->out, "\n}\n");
}

static void programs_of_loops(struct text *out, uint64_t seed)
{
	struct writer w = { .rng = { seed }, .out = out };
	w.keys = 1 + below(&w, 1 + below(&w, 4));
	w.strings = one_in(&w, 4);
	w.aborts = one_in(&w, 2);
	w.assumes = one_in(&w, 3);
	text_format(out, "global x = %s;\n",
	            w.strings && one_in(&w, 2) ? "\"a\"" : "1");
	text_format(out,
	            "global y = %s;\nglobal k[0] = 3;\n"
	            "global k[*] = 0;\n",
	            one_in(&w, 4) ? "null" : "2");
	for (uint32_t i = 0; i < TRANSACTIONS; i++) transaction(&w, i);
	uint32_t sessions = 1 + below(&w, 4), where = below(&w, 10);
	if (!where) finally(&w);
	for (uint32_t i = 0; i < sessions; i++)
		session(&w, i,
		        sessions < 3 ? 1 + below(&w, 2)
		                     : one_in(&w, 2 * sessions - 3));
	if (where == 1) finally(&w);
	if (one_in(&w, 2))
		text_format(out, "assert s0.v%u != %u || s0.v%u == s%u.v%u;\n",
		            RESULT, below(&w, 3), RESULT, sessions - 1, RESULT);
}

void random_client(struct text *out, uint64_t seed)
{
	if (seed % 2)
		random_program(out, seed);
	else
		programs_of_loops(out, seed);
}
