#include "random_program.h"

#include <string.h>

#include <stdbool.h>

#include "base/rng.h"

enum { LOCALS = 16 };

struct writer {
	struct rng rng;
	struct text *out;
	int indent;
	uint32_t keys;      /* how many of x, y, k[0], k[1] are in play */
	uint32_t next;      /* constant to be written: mostly distinct */
	uint32_t next_name; /* locals have names of their own */
	uint32_t locals[LOCALS], local_count; /* in scope, and set */
	uint32_t budget; /* accesses left in this transaction */
	uint32_t aborts; /* 0: none in this program */
	uint32_t assumes;
	bool locks;
};

static uint32_t below(struct writer *w, uint32_t n)
{
	return rng_below(&w->rng, n);
}

static bool one_in(struct writer *w, uint32_t n)
{
	return !rng_below(&w->rng, n);
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

static void spend(struct writer *w, uint32_t accesses)
{
	w->budget -= accesses < w->budget ? accesses : w->budget;
}

/* Before a key that is read. */
static void lock(struct writer *w)
{
	if (!w->locks || one_in(w, 2)) return;
	text_string(w->out, one_in(w, 3) ? "shared " : "locked ");
}

/* A key that can be read and assigned to. */
static void key(struct writer *w)
{
	static const char *const names[] = { "x", "k[0]", "k[1]", "y" };
	spend(w, 1);
	if (w->local_count && one_in(w, 6)) {
		text_string(w->out, "k[");
		local(w);
		text_string(w->out, " % 2]");
	} else if (w->budget > 1 && one_in(w, 20)) {
		spend(w, 1);
		text_string(w->out, "k[x % 2]");
	} else {
		text_string(w->out, names[below(w, w->keys)]);
	}
}

/* One whose index is none of the database. */
static void simple_key(struct writer *w)
{
	static const char *const names[] = { "x", "k[0]", "k[1]", "y" };
	spend(w, 1);
	text_string(w->out, names[below(w, w->keys)]);
}

static void constant(struct writer *w)
{
	if (one_in(w, 4))
		text_int(w->out, below(w, 3));
	else
		text_int(w->out, w->next++);
}

static void expression(struct writer *w)
{
	switch (below(w, 10)) {
	case 0:
	case 1:
	case 2:
		if (!w->local_count) break;
		local(w);
		return;
	case 3:
		if (!w->local_count) break;
		local(w);
		text_string(w->out, one_in(w, 2) ? " + " : " * ");
		constant(w);
		return;
	case 4:
		if (w->budget < 2) break;
		lock(w);
		key(w);
		text_string(w->out, " + 1");
		return;
	case 5:
		if (w->local_count < 2 || !one_in(w, 8)) break;
		local(w);
		text_string(w->out, " / ");
		local(w);
		return;
	default: break;
	}
	constant(w);
}

static void condition(struct writer *w)
{
	static const char *const compare[] = { "==", "!=", "<", ">=" };
	bool both = w->local_count && w->budget > 1 && one_in(w, 6);
	if (both) {
		/* The key on the right is read or not. */
		local(w);
		text_string(w->out, one_in(w, 2) ? " == 0 && " : " > 0 || ");
		lock(w);
		key(w);
	} else if (w->local_count && !one_in(w, 4)) {
		local(w);
	} else {
		lock(w);
		key(w);
	}
	text_format(w->out, " %s %u", compare[below(w, 4)], below(w, 3));
}

static void declare(struct writer *w)
{
	uint32_t name = w->next_name++;
	text_format(w->out, "let v%u = ", name);
	if (one_in(w, 5))
		expression(w);
	else {
		lock(w);
		key(w);
	}
	text_char(w->out, ';');
	if (w->local_count < LOCALS) w->locals[w->local_count++] = name;
}

static void assign(struct writer *w)
{
	if (w->budget > 1 && one_in(w, w->locks ? 2 : 4)) {
		bool atomic = w->locks && one_in(w, 2);
		spend(w, 1);
		if (atomic) text_string(w->out, "atomic ");
		key(w);
		text_string(w->out, " += ");
		if (w->locks && w->budget > 1 && one_in(w, 3)) {
			w->locks = !atomic;
			expression(w);
			w->locks = true;
		} else {
			constant(w);
		}
	} else {
		key(w);
		text_string(w->out, " = ");
		expression(w);
	}
	text_char(w->out, ';');
}

static void statements(struct writer *w, uint32_t count, int depth);

static void block(struct writer *w, int depth)
{
	uint32_t locals = w->local_count;
	text_string(w->out, "{");
	w->indent++;
	statements(w, 1 + below(w, 2), depth + 1);
	w->indent--;
	line(w);
	text_string(w->out, "}");
	w->local_count = locals;
}

static void branch(struct writer *w, int depth)
{
	text_string(w->out, "if (");
	condition(w);
	text_string(w->out, ") ");
	if (w->aborts && one_in(w, 3)) {
		text_string(w->out, "abort;");
		return;
	}
	block(w, depth);
	if (one_in(w, 2)) return;
	text_string(w->out, " else ");
	block(w, depth);
}

static void loop(struct writer *w)
{
	uint32_t locals = w->local_count, name = w->next_name++;
	text_format(w->out, "for v%u in 0..2 { ", name);
	if (w->local_count < LOCALS) w->locals[w->local_count++] = name;
	spend(w, 2);
	assign(w);
	text_string(w->out, " }");
	w->local_count = locals;
}

/* What it does not lock is read first. */
static void grouped(struct writer *w)
{
	uint32_t locals = w->local_count;
	text_string(w->out, "statement {");
	w->indent++;
	w->locks = false;
	for (uint32_t i = 1 + below(w, 2); i--;) {
		line(w);
		declare(w);
	}
	w->locks = true;
	for (uint32_t i = below(w, 3); i--;) {
		line(w);
		text_format(w->out, "let v%u = %s ", w->next_name++,
		            one_in(w, 2) ? "locked" : "shared");
		simple_key(w);
		text_char(w->out, ';');
	}
	if (!one_in(w, 3)) {
		line(w);
		bool atomic = one_in(w, 2);
		if (atomic) text_string(w->out, "atomic ");
		simple_key(w);
		text_string(w->out, atomic ? " += " : " = ");
		constant(w);
		text_char(w->out, ';');
	}
	w->indent--;
	line(w);
	text_string(w->out, "}");
	w->local_count = locals;
}

static void statement(struct writer *w, int depth)
{
	uint32_t choice = below(w, 24);
	line(w);
	if (w->locks && one_in(w, 8)) {
		grouped(w);
	} else if (choice < 9) {
		declare(w);
	} else if (choice < 17) {
		assign(w);
	} else if (choice < 21 && depth < 2) {
		branch(w, depth);
	} else if (choice == 21 && w->budget > 3) {
		loop(w);
	} else if (choice == 22 && w->assumes && w->local_count) {
		text_string(w->out, "assume ");
		local(w);
		text_format(w->out, " %s %u;", one_in(w, 2) ? "!=" : "<",
		            1 + below(w, 4));
	} else if (choice == 23 && w->local_count) {
		text_string(w->out, "assert ");
		local(w);
		text_format(w->out, " != %u;", below(w, 3));
	} else {
		assign(w);
	}
}

static void statements(struct writer *w, uint32_t count, int depth)
{
	for (uint32_t i = 0; i < count; i++) {
		if (depth && !w->budget) {
			if (!i) text_string(w->out, " skip;");
			return;
		}
		statement(w, depth);
	}
}

static void body(struct writer *w)
{
	w->budget = 4;
	w->indent++;
	statements(w, 1 + below(w, 4), 0);
	if (w->aborts && one_in(w, 12)) {
		line(w);
		text_string(w->out, "abort;");
	}
	w->indent--;
}

/* A named transaction with a parameter and a result. */
static void named_transaction(struct writer *w, uint32_t number)
{
	uint32_t parameter = w->next_name++;
	text_format(w->out, "txn t%u(v%u) {", number, parameter);
	w->locals[0] = parameter;
	w->local_count = 1;
	body(w);
	line(w);
	if (!one_in(w, 4)) {
		text_string(w->out, "\treturn ");
		local(w);
		text_string(w->out, ";");
		line(w);
	}
	text_string(w->out, "}\n");
}

static void call(struct writer *w, uint32_t session, uint32_t i, uint32_t named)
{
	line(w);
	if (one_in(w, 2)) {
		text_format(w->out, "let r%u_%u = t%u(", session, i,
		            below(w, named));
		/* The result of an aborted one is null: a type error there. */
		if (one_in(w, 4))
			text_format(w->out, "r%u);", session);
		else
			text_format(w->out, "%u);", below(w, 4));
		return;
	}
	/* Not to be mentioned later: never set where the name is used. */
	text_string(w->out, "txn {");
	w->local_count = 0;
	body(w);
	line(w);
	text_string(w->out, "}");
}

/* The second transaction may depend on the result of the first. */
static void session(struct writer *w, uint32_t number, uint32_t named,
                    uint32_t transactions)
{
	text_format(w->out, "session s%u {", number);
	w->indent++;
	line(w);
	text_format(w->out, "let r%u = t%u(%u);", number, below(w, named),
	            below(w, 4));
	if (transactions > 1) {
		bool guarded = one_in(w, 3);
		if (guarded) {
			line(w);
			text_format(w->out, "if (r%u %s %s) {", number,
			            one_in(w, 2) ? "==" : "!=",
			            one_in(w, 2) ? "null" : "0");
			w->indent++;
		}
		call(w, number, 1, named);
		if (guarded) {
			w->indent--;
			line(w);
			text_string(w->out, "}");
		}
	}
	w->indent--;
	text_string(w->out, "\n}\n");
}

static void globals(struct writer *w)
{
	text_string(w->out, "global x = 0;\nglobal y = 0;\n");
	if (!one_in(w, 3)) text_string(w->out, "global k[0] = 0;\n");
	if (one_in(w, 4)) text_string(w->out, "global k[1] = 1;\n");
	text_string(w->out, "global k[*] = 0;\n");
}

static void write_program(struct text *out, uint64_t seed, bool locks)
{
	struct writer w = {
		.rng = { seed }, .out = out, .next = 3, .locks = locks
	};
	w.keys = 1 + below(&w, 4);
	w.aborts = one_in(&w, 2);
	w.assumes = one_in(&w, 3);
	globals(&w);
	uint32_t named = 1 + below(&w, 3);
	for (uint32_t i = 0; i < named; i++) named_transaction(&w, i);
	uint32_t sessions = 2 + below(&w, 3);
	for (uint32_t i = 0; i < sessions; i++)
		session(&w, i, named, 1 + (sessions < 4 && one_in(&w, 2)));
	if (one_in(&w, 6)) {
		text_string(out, "finally {");
		w.local_count = 0;
		body(&w);
		text_string(out, "\n}\n");
	}
	if (one_in(&w, 2))
		text_format(out, "assert s0.r0 != %u || s1.r1 == null;\n",
		            below(&w, 4));
}

void random_program(struct text *out, uint64_t seed)
{
	write_program(out, seed, false);
}

void random_locking_program(struct text *out, uint64_t seed)
{
	write_program(out, seed, true);
}

own_level random_own(struct rng *r, uint32_t none, level_predicate *may)
{
	enum level l;
	if (rng_below(r, 8) < none) return 0;
	do l = (enum level)rng_below(r, LEVEL_COUNT);
	while (!may(l));
	return (own_level)(l + 1);
}

void random_mix(struct text *out, const char *source, struct rng *r,
                level_predicate *may, bool ssi)
{
	uint32_t none = rng_below(r, 5);
	for (const char *s = source; *s;) {
		size_t length = strcspn(s, "\n");
		const char *word = s + strspn(s, "\t");
		bool begins = !strncmp(word, "txn", 3) ||
		              !strncmp(word, "finally", 7);
		own_level own = begins ? random_own(r, none, may) : 0;
		if (begins && ssi && rng_below(r, 3))
			own = (own_level)(LEVEL_SER + 1);
		if (own) {
			text_bytes(out, s, length - 1);
			text_format(out, "at %s {", own_level_word(own));
		} else {
			text_bytes(out, s, length);
		}
		s += length;
		if (*s) text_char(out, *s++);
	}
}
