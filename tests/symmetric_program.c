#include "symmetric_program.h"

#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "random_program.h"

struct writer {
	struct rng rng;
	struct text *out;
	uint32_t sessions; /* in this order of declaration */
	char names[16][8];
};

static uint32_t below(struct writer *w, uint32_t n)
{
	return rng_below(&w->rng, n);
}

static bool one_in(struct writer *w, uint32_t n)
{
	return !below(w, n);
}

static const char *some_session(struct writer *w)
{
	return w->names[below(w, w->sessions)];
}

/* ---- copies ---- */

/* The session whose text (after its name) ends at `end`, under a name. */
static void copy(struct writer *w, const char *name, const char *body,
                 const char *end, uint32_t number, const char *assertion)
{
	strcpy(w->names[w->sessions], name);
	w->sessions++;
	text_format(w->out, "session %s ", name);
	text_bytes(w->out, body, (size_t)(end - body));
	text_format(w->out, assertion, number);
	text_string(w->out, "}\n");
}

static const char *own_assertion(struct writer *w)
{
	static const char *const assertions[] = { "\tassert r%u != 1;\n",
		                                  "\tassert r%u == null;\n",
		                                  "\tassert r%u > 0;\n", "",
		                                  "" };
	return assertions[below(w, 5)];
}

/* Copies a session of the program, "session sN {...\n}\n", often. */
static const char *copy_session(struct writer *w, const char *at, bool repeated)
{
	static const char *const suffixes[] = { "", "b", "c", "d" };
	uint32_t number = (uint32_t)(at[strlen("session s")] - '0');
	const char *body = at + strlen("session s0 ");
	const char *end = strstr(body, "\n}\n") + 1;
	const char *assertion = own_assertion(w);
	uint32_t count = repeated ? 2 + below(w, 2) + one_in(w, 4) : 1;
	for (uint32_t i = 0; i < count; i++) {
		struct text name = { 0 };
		text_format(&name, "s%u%s", number, suffixes[i]);
		copy(w, text_get(&name), body, end, number, assertion);
		text_free(&name);
	}
	return end + strlen("}\n");
}

static void final_assertion(struct writer *w)
{
	const char *a = some_session(w), *b = some_session(w);
	uint32_t x = below(w, 3), y = below(w, 3);
	switch (below(w, 6)) {
	case 0:
		text_format(w->out, "assert %s.r%c != %u || %s.r%c == null;\n",
		            a, a[1], x, b, b[1]);
		return;
	case 1:
		text_format(w->out, "assert %s.r%c < %u;\n", a, a[1], x);
		return;
	case 2:
		text_format(w->out, "assert %s.r%c == %s.r%c;\n", a, a[1], b,
		            b[1]);
		return;
	case 3:
		text_format(w->out, "assert %s.r%c != %u || %s.r%c < %u;\n", a,
		            a[1], x, b, b[1], y);
		return;
	case 4:
		text_format(w->out, "assert {%s.r%c, %s.r%c} != {%u};\n", a,
		            a[1], b, b[1], x);
		return;
	default: text_string(w->out, "assert serializable;\n"); return;
	}
}

void program_of_copies(struct text *out, uint64_t seed)
{
	struct writer w = { .rng = { seed ^ 0x5ca1ab1e }, .out = out };
	struct text original = { 0 };
	random_program(&original, seed);
	const char *from = text_get(&original);
	const char *at = strstr(from, "session s");
	uint32_t sessions = 0;
	for (const char *s = at; s; s = strstr(s + 1, "\nsession s"))
		sessions++;
	uint32_t repeated = below(&w, sessions);
	text_bytes(out, from, (size_t)(at - from));
	for (uint32_t i = 0; i < sessions; i++) {
		bool often = i == repeated || (sessions < 3 && one_in(&w, 4));
		if (!often && sessions > 2 && one_in(&w, 2)) {
			at = strstr(at, "\n}\n") + strlen("\n}\n");
			continue;
		}
		at = copy_session(&w, at, often);
	}
	const char *end = strstr(at, "assert s0.");
	text_bytes(out, at, end ? (size_t)(end - at) : strlen(at));
	for (uint32_t i = below(&w, 4); i; i--) final_assertion(&w);
	text_free(&original);
}

/* ---- names ---- */

static const char *const steps[] = {
	"x = m;",
	"seen[m] = true;",
	"let v%u = seen[m];",
	"if (x == m) { y = 1; }",
	"if (x != null && x != m) { abort; }",
	"likes = likes + {m};",
	"if (m in likes) { y = 2; }",
	"log = log + [m];",
	"let v%u = log; if (v%u == [m]) { y = 3; }",
	"box = (m, n);",
	"let v%u = box[1]; seen[v%u] = 1;",
	"let v%u = x; assert v%u != m;",
	"let v%u = y; assert v%u != 1;",
	"let v%u = likes; assume size(v%u) < 2;",
	"if (exists(q in likes : q == n)) { y = 4; }",
	"row[m] = {...row[m], by: n};",
	"let v%u = row[n].by; x = v%u;",
	"let v%u = y / 0;",
	"y = y + 1;",
	"x = n;",
	"seen[n] = m;",
};

static void step(struct writer *w, uint32_t number)
{
	enum { STEPS = sizeof steps / sizeof *steps };
	uint32_t choice = below(w, STEPS);
	if (!strcmp(steps[choice], "let v%u = y / 0;") && !one_in(w, 8))
		choice = 0;
	text_string(w->out, "\t");
	text_format(w->out, steps[choice], number, number);
	text_char(w->out, '\n');
}

static void named_transaction(struct writer *w, uint32_t number)
{
	static const char *const results[] = { "x == m", "y", "x",
		                               "likes",  "m", "seen[n]" };
	text_format(w->out, "txn t%u(m, n) {\n", number);
	for (uint32_t i = 0, n = 1 + below(w, 3); i < n; i++)
		step(w, 10 * number + i);
	if (!one_in(w, 4))
		text_format(w->out, "\treturn %s;\n", results[below(w, 6)]);
	text_string(w->out, "}\n");
}

struct plan {
	uint32_t first, second, transactions, assertion, order;
};

static void call(struct writer *w, const struct plan *p, const char *result,
                 uint32_t which, uint32_t of, uint32_t me)
{
	/* With two, each knows the other; with more, itself twice. */
	uint32_t other = of == 2 ? 1 - me : me;
	static const char *const words[] = { "\"ann\"", "\"bob\"", "\"cid\"" };
	const char *a = words[p->order ? other : me];
	const char *b = words[p->order ? me : other];
	text_format(w->out, "\tlet %s = t%u(%s, %s);\n", result, which, a, b);
}

static void named_session(struct writer *w, const struct plan *p, uint32_t of,
                          uint32_t me)
{
	static const char *const names[] = { "a", "b", "c" };
	static const char *const own[] = {
		"", "\tassert r == null || r != true;\n", "\tassert r != 1;\n",
		"\tassert r;\n", "\tif (r == \"%s\") { assert r == null; }\n"
	};
	static const char *const words[] = { "ann", "bob", "cid" };
	strcpy(w->names[w->sessions++], names[me]);
	text_format(w->out, "session %s {\n", names[me]);
	call(w, p, "r", p->first, of, me);
	if (p->transactions > 1) call(w, p, "q", p->second, of, me);
	text_format(w->out, own[p->assertion], words[me]);
	text_string(w->out, "}\n");
}

static void named_assertion(struct writer *w)
{
	const char *a = some_session(w), *b = some_session(w);
	switch (below(w, 5)) {
	case 0:
		text_format(w->out, "assert %s.r != true || %s.r != true;\n", a,
		            b);
		return;
	case 1: text_format(w->out, "assert %s.r || %s.r;\n", a, b); return;
	case 2: text_format(w->out, "assert %s.r != %s.r;\n", a, b); return;
	case 3: text_format(w->out, "assert %s.r == 1;\n", a); return;
	default: text_string(w->out, "assert serializable;\n"); return;
	}
}

static void initial_values(struct writer *w, uint32_t count)
{
	static const char *const words[] = { "ann", "bob", "cid" };
	text_string(w->out, "global x = null;\nglobal y = 0;\n"
	                    "global likes = {};\nglobal log = [];\n"
	                    "global box = (null, \"nobody\");\n"
	                    "global seen[*] = null;\n"
	                    "global row[*] = {by: null};\n");
	bool own = one_in(w, 2);
	for (uint32_t i = 0; own && i < count; i++)
		text_format(w->out, "global seen[\"%s\"] = \"%s\";\n", words[i],
		            words[i]);
}

void program_of_names(struct text *out, uint64_t seed)
{
	struct writer w = { .rng = { seed ^ 0xba5eba11 }, .out = out };
	uint32_t count = 2 + below(&w, 2), named = 1 + below(&w, 2);
	initial_values(&w, count);
	for (uint32_t i = 0; i < named; i++) named_transaction(&w, i);
	text_string(out, "txn other() { x = \"dan\"; y = 5; }\n");
	struct plan p = { .first = below(&w, named),
		          .second = below(&w, named),
		          .transactions = 1 + one_in(&w, 2),
		          .assertion = below(&w, 5),
		          .order = below(&w, 2) };
	bool before = one_in(&w, 6);
	if (before) text_string(out, "session d { other(); }\n");
	for (uint32_t i = 0; i < count; i++) named_session(&w, &p, count, i);
	if (!before && one_in(&w, 4))
		text_string(out, "session e { other(); }\n");
	text_string(out,
	            count == 2 ? "symmetric a, b;\n" : "symmetric a, b, c;\n");
	if (one_in(&w, 4))
		text_string(out,
		            "finally {\n\tlet l = likes;\n\tlet z = x;\n"
		            "\tassert size(l) != 1;\n\tassert z != \"dan\";"
		            "\n}\n");
	for (uint32_t i = below(&w, 3); i; i--) named_assertion(&w);
}
