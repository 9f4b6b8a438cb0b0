/* The front end: where errors are put and what they say, canonical layout,
 * and input that is no program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "dpor/explorer.h"
#include "file_support.h"
#include "compile/load.h"
#include "lang/format.h"
#include "random_program.h"
#include "suites.h"
#include "support.h"

/* ---- errors ---- */

struct wrong {
	const char *source;
	/* One line per diagnostic: `kind:line:column: words that it says`. */
	const char *expected;
};

#define SESSION "\nsession s { txn { x = 1; } }\n"

static const struct wrong wrongs[] = {
	/* syntax */
	{ "global x = 0\nsession s { txn { x = 1; } }",
	  "error:1:13: expected ';'" },
	{ "globl x = 0;" SESSION, "error:1:1: 'global'" },
	{ "global x = ;" SESSION, "error:1:12: expected an expression" },
	{ "global x = 0;\nsession s { txn { x = (1; } }",
	  "error:2:25: expected ')'" },
	{ "global x = 0;\nsession s { txn { x = 1; }",
	  "error:2:27: expected '}'" },
	{ "global x = 0;\nsession s {\n\ttxn { if x == 1 { } }\n}",
	  "error:3:11: expected '('" },
	{ "global x = 0;\nsession s { txn { x + 1; } }",
	  "error:2:19: no effect" },
	{ "global x = 0; @" SESSION, "error:1:15: unexpected" },
	{ "global x = \"abc;" SESSION, "error:1:12: string does not end" },
	{ "/* no */ global x = 1;" SESSION, "error:1:1: comments begin with" },
	{ "global x = {a: 1, b: 2, a: 3};" SESSION,
	  "error:1:25: the record has this field already" },
	{ "global x = 1.5;" SESSION, "error:1:13: integers" },
	{ "global x = 9223372036854775808;" SESSION, "error:1:12: too large" },
	{ "global x = 0;\nsession s { txn { x = 1 & 2; } }",
	  "error:2:25: '&&'" },
	{ "global x = 0;\ntxn t() at sj { x = 1; }\nsession s { t(); }",
	  "error:2:12: unknown isolation level 'sj'; did you mean 'si'?" },
	{ "global x = 0;\nsession s { txn at psi { x = 1; } }",
	  "error:2:20: no transaction can have it of its own" },
	{ "global x = 0;\nsession s at cc { txn { x = 1; } }",
	  "error:2:11: expected '{'" },
	{ "table item(id key);\nglobal x = 0;" SESSION,
	  "error:1:1: tables are not supported" },
	/* functions in C */
	{ "extern f(): int from \"l.so\";" SESSION,
	  "error:1:8: expected 'fn'" },
	{ "extern;" SESSION, "error:1:7: expected 'fn'" },
	{ "extren fn f(): int from \"l.so\";" SESSION,
	  "error:1:1: did you mean 'extern'\nerror:1:14: expected '='" },
	{ "extern fn (): int from \"l.so\";" SESSION,
	  "error:1:11: expected a function's name, found '('" },
	{ "extern fn in(): int from \"l.so\";" SESSION,
	  "error:1:11: 'in' is a word of the language" },
	{ "extern fn f: int from \"l.so\";" SESSION,
	  "error:1:12: expected '('" },
	{ "extern fn f(a): int from \"l.so\";" SESSION,
	  "error:1:14: ': int' or ': string' after the parameter, found ')'" },
	{ "extern fn f(a: bool): int from \"l.so\";" SESSION,
	  "error:1:16: expected a type, 'int' or 'string', found 'bool'" },
	{ "extern fn f(a: int b: int): int from \"l.so\";" SESSION,
	  "error:1:20: expected ')'" },
	{ "extern fn f(a: int) from \"l.so\";" SESSION,
	  "error:1:21: ': int' or ': string' after the parameters" },
	{ "extern fn f() = 1;" SESSION,
	  "error:1:15: ': int' or ': string' after the parameters, found '='" },
	{ "extern fn f(): 3 from \"l.so\";" SESSION,
	  "error:1:16: expected a type, 'int' or 'string', found '3'" },
	{ "extern fn f(): int;" SESSION,
	  "error:1:19: expected 'from' and the library, found ';'" },
	{ "extern fn f(): int in \"l.so\";" SESSION,
	  "error:1:20: expected 'from' and the library" },
	{ "extern fn f(): int from l.so;" SESSION,
	  "error:1:25: the library's name in double quotes, found 'l'" },
	{ "extern fn f(): int from \"\";" SESSION,
	  "error:1:25: which library?" },
	{ "extern fn f(): int from \"l.so\"" SESSION,
	  "error:1:31: expected ';'" },
	{ "global x = 0;\nsession s {\n\textern fn f(): int from \"l.so\";\n}",
	  "error:3:2: expected '}'\nerror:4:1: a declaration" },
	{ "global x = 0;\nextern fn size(v: string): int from "
	  "\"l.so\";" SESSION,
	  "error:2:11: 'size' is a built-in function" },
	{ "global x = 0;\nfn f() = 1;\nextern fn f(): int from "
	  "\"l.so\";" SESSION,
	  "error:3:11: 'f' is declared already, on line 2" },
	{ "global x = 0;\nextern fn f(a: int, a: int): int from "
	  "\"l.so\";" SESSION,
	  "error:2:21: 'a' is declared already" },
	{ "extern fn f(a: int): int from \"l.so\";\nglobal x = f(1, "
	  "2);" SESSION,
	  "error:2:12: 'f' takes 1 argument, not 2" },
	{ "extern fn f(): int from \"l.so\";\nglobal x = f;" SESSION,
	  "error:2:12: 'f' is a function: call it" },
	{ "extern fn twice(): int from \"l.so\";\nglobal x = twcie();" SESSION,
	  "error:2:12: did you mean 'twice'" },
	{ "extern fn f(): int from \"l.so\";\nglobal x = 0;\n"
	  "session s { f(); }",
	  "error:3:13: no effect" },
	{ "extern fn f(a: int): int from \"l.so\";\nglobal x = 0;\n"
	  "fn g(a) = f(x);" SESSION,
	  "error:3:13: pure" },
	/* columns count characters, not bytes */
	{ "global x = \"\xc3\xa9\xc3\xa9\" + ;" SESSION,
	  "error:1:19: expected an expression" },
	/* names */
	{ "global counter = 0;\nsession s { txn { countre = 1; } }",
	  "error:2:19: did you mean 'counter'" },
	{ "global x = 0;\ntxn enroll(a) { x = a; }\n"
	  "session s { enrol(1); }",
	  "error:3:13: did you mean 'enroll'" },
	{ "global x = 0;\nsession s { txn { let a = sise({1}); x = a; } }",
	  "error:2:27: did you mean 'size'" },
	{ "global x = 0;\nisolation sir;" SESSION,
	  "error:2:11: did you mean 'si'" },
	{ "global x = 0;\nsession s { txn { x = zzzzzzz; } }",
	  "error:2:23: unknown name 'zzzzzzz'" },
	{ "global x = 0;\nsession alice { let ok = 1; }\n"
	  "assert alice.ko == 1;",
	  "error:3:14: " },
	/* scopes */
	{ "global x = 0;\nsession s { let a = x; }",
	  "error:2:21: outside a transaction" },
	{ "global x = 0;\nsession s { x = 1; }",
	  "error:2:13: outside a transaction" },
	{ "global x = 0;\nsession s { txn { if (x == 0) { let a = 1; } "
	  "x = a; } }",
	  "error:2:50: 'a'" },
	{ "global x = 0;\nsession s { txn { let a = 1; let a = 2; } }",
	  "error:2:34: declared already" },
	{ "global x = 0;\nglobal x = 1;" SESSION,
	  "error:2:8: declared already" },
	{ "global x = 0;\nfn f(a) = a + x;" SESSION, "error:2:15: pure" },
	{ "const A = B;\nconst B = A;\nglobal x = 0;" SESSION,
	  "error:2:11: 'A' is defined by itself" },
	{ "global x = 0;\ntxn t(a) { x = a; }\nsession s { t(1, 2); }",
	  "error:3:13: takes 1 argument, not 2" },
	{ "global x = 0;\ntxn t() { x = 1; }\ntxn u() { t(); }\n"
	  "session s { u(); }",
	  "error:3:11: within a transaction" },
	{ "global x = 0;" SESSION "assert x == 0;",
	  "error:3:8: top-level assertion" },
	{ "global x = 0;\nconst C = 1;\nsession s { txn { C = 2; } }",
	  "error:3:19: constant" },
	/* locks and statements */
	{ "global x = 0;\nsession s { let a = locked x; }",
	  "error:2:28: outside a transaction" },
	{ "global x = 0;\nsession s { txn { assert locked x == 0; } }",
	  "error:2:26: an assertion only looks" },
	{ "global x[0] = 0;\nsession s { txn { assert shared x[0] == 0; } }",
	  "error:2:26: an assertion only looks" },
	{ "global x = 0;" SESSION "assert locked x == 0;",
	  "error:3:15: top-level assertion" },
	{ "global x = 0;\nsession s { txn { let a = 1; x = locked a; } }",
	  "error:2:34: only the read of a global can lock: 'a' is a local" },
	{ "const C = 1;\nglobal x = 0;\nsession s { txn { x = shared C; } }",
	  "error:3:23: 'C' is a constant" },
	{ "global x = 0;\nsession s { txn { x = locked max(1, 2); } }",
	  "error:2:23: not a call" },
	{ "global x = 0;\nsession s { txn { locked x = 1; } }",
	  "error:2:19: a write locks by itself" },
	{ "global x = 0;\nsession s { txn { atomic x = 1; } }",
	  "error:2:28: expected '+=', found '='" },
	{ "global x = 0;\nsession s { txn { let a = 1; atomic a += 1; } }",
	  "error:2:37: 'a' is a local" },
	{ "global x = 0;\nsession s { statement { txn { x = 1; } } }",
	  "error:2:13: outside a transaction" },
	{ "global x = 0;\n"
	  "session s { txn { statement { statement { x = 1; } } } }",
	  "error:2:31: within a statement" },
	{ "global x = 0;\nglobal y = 0;\n"
	  "session s { txn { statement { let a = locked x; let b = y; } } }",
	  "error:3:57: before it locks" },
	{ "global x = 0;\nglobal y = 0;\n"
	  "session s { txn { atomic x += locked y + y; } }",
	  "error:3:42: before it locks" },
	/* constant expressions that fail */
	{ "global x = 1 / 0;" SESSION, "error:1:14: zero" },
	{ "const N = 9223372036854775807 + 1;\nglobal x = N;" SESSION,
	  "error:1:31: " },
	/* bounds */
	{ "global x = 0;\nsession s { for i in 0..x { skip; } }",
	  "error:2:25: outside a transaction" },
	{ "global x = 0;\n"
	  "session s { for i in 0..99999999999 { txn { x = 1; } } }",
	  "error:2:" },
	/* a program needs somebody who runs it */
	{ "global x = 0;\ntxn t() { x = 1; }\n", "error:1:1: no session" },
	{ "", "error:1:1: no session" },
	{ "// nothing but a remark\n", "error:1:1: no session" },
	/* several at once */
	{ "global x = ;\nglobal y = 0;\ntxn t() { y = = 2; }\n"
	  "session s { txn { y = 1 } t(); }\n",
	  "error:1:12: expected an expression\n"
	  "error:3:15: expected an expression\n"
	  "error:4:24: expected ';'" },
	{ "global x = 0;\nsession s { txn { x = a; x = b; y = 1; } }",
	  "error:2:23: 'a'\nerror:2:30: 'b'\nerror:2:33: 'y'" },
};
enum { WRONGS = sizeof wrongs / sizeof *wrongs };

/* Does the line begin with the place and contain the words? */
static bool is_expected(const char *line, size_t length, const char *expected,
                        size_t expected_length)
{
	char found[512], want[512];
	snprintf(found, sizeof found, "%.*s", (int)length, line);
	snprintf(want, sizeof want, "%.*s", (int)expected_length, expected);
	char *words = strstr(want, ": ");
	if (!words) return !strncmp(found, want, strlen(want));
	if (strncmp(found, want, (size_t)(words - want + 2))) return false;
	return strstr(found, words + 2) != NULL;
}

static void expect_diagnostics(const char *source, const char *found,
                               const char *expected)
{
	const char *f = found, *e = expected;
	while (*f && *e) {
		size_t length = strcspn(f, "\n"), want = strcspn(e, "\n");
		if (!is_expected(f, length, e, want)) break;
		f += length + (f[length] == '\n');
		e += want + (e[want] == '\n');
	}
	if (*f || *e)
		ck_abort_msg("%s\nfound:\n%s\nexpected:\n%s", source, found,
		             expected);
}

START_TEST(errors_have_their_place)
{
	const struct wrong *w = &wrongs[_i];
	struct diags d = { 0 };
	struct program *p =
		load_program_text("w.tx", w->source, strlen(w->source), &d);
	ck_assert_msg(!p, "compiles: %s", w->source);
	char *found = diags_to_text(&d);
	expect_diagnostics(w->source, found, w->expected);
	free(found);
	diags_free(&d);
}
END_TEST

START_TEST(the_line_is_quoted)
{
	static const char source[] = "global x = 0;\n\tglobal y = ;\n";
	struct diags d = { 0 };
	ck_assert_ptr_null(
		load_program_text("w.tx", source, strlen(source), &d));
	ck_assert_uint_ge(d.count, 1);
	ck_assert_str_eq(d.items[0].source_line, "\tglobal y = ;");
	ck_assert_str_eq(d.items[0].file, "w.tx");
	diags_free(&d);
}
END_TEST

/* ---- input that is no program ---- */

static void expect_refused(const char *source, size_t length, const char *why)
{
	struct diags d = { 0 };
	ck_assert_ptr_null(load_program_text("w.tx", source, length, &d));
	char *all = diags_to_text(&d);
	ck_assert_msg(d.errors > 0 && strstr(all, why), "not '%s' but: %s", why,
	              all);
	free(all);
	diags_free(&d);
}

START_TEST(no_texts)
{
	expect_refused("global x = 0;\0", 14, "not a text");
	expect_refused("global x = \"\xff\xfe\";", 15, "not a text");
	expect_refused("\x7f"
	               "ELF\2\1\1\0\0\0",
	               10, "not a text");
}
END_TEST

static void repeat(struct text *t, const char *s, int count)
{
	for (int i = 0; i < count; i++) text_string(t, s);
}

START_TEST(deep_nesting_is_an_error)
{
	static const char *const open[] = { "(", "[", "{", "!", "-", "f(" };
	static const char *const shut[] = { ")", "]", "}", "", "", ")" };
	for (int i = 0; i < 6; i++) {
		struct text t = { 0 };
		text_string(&t, "global x = ");
		repeat(&t, open[i], 100000);
		text_string(&t, "1");
		repeat(&t, shut[i], 100000);
		text_string(&t, ";\nsession s { txn { x = 1; } }\n");
		expect_refused(text_get(&t), t.length, "nested deeper than");
		text_free(&t);
	}
	struct text t = { 0 };
	text_string(&t, "global x = 0; session s { ");
	repeat(&t, "if (true) { ", 100000);
	repeat(&t, "}", 100001);
	expect_refused(text_get(&t), t.length, "nested deeper than");
	text_free(&t);
}
END_TEST

/* extern fn f(a0: int, a1: int, ...) */
static void declare_extern(struct text *t, int parameters)
{
	text_string(t, "extern fn f(");
	for (int i = 0; i < parameters; i++)
		text_format(t, "%sa%d: int", i ? ", " : "", i);
	text_string(t, "): int from \"l.so\";\n"
	               "global x = 0;\nsession s { txn { x = 1; } }\n");
}

START_TEST(parameters_of_c_functions)
{
	struct text t = { 0 };
	struct diags d = { 0 };
	declare_extern(&t, 33);
	expect_refused(text_get(&t), t.length, "more than 32 parameters");
	text_clear(&t);
	declare_extern(&t, 32);
	struct program *p =
		load_untrusted_text("w.tx", text_get(&t), t.length, &d);
	ck_assert_ptr_nonnull(p);
	program_free(p);
	text_free(&t);
	diags_free(&d);
}
END_TEST

START_TEST(large_texts)
{
	struct text t = { 0 };
	repeat(&t, "garbage ", 10 << 17);
	expect_refused(text_get(&t), t.length, "expected");
	text_clear(&t);
	repeat(&t, "// 10 MB of remarks are no reason to refuse anything\n",
	       200000);
	text_string(&t, "global x = 0;\nsession s { txn { x = 1; } }\n");
	struct program *p = program_from_text(text_get(&t));
	ck_assert_uint_eq(program_session_count(p), 1);
	program_free(p);
	text_clear(&t);
	text_string(&t, "global x = ");
	text_pad(&t, 'a', 1 << 20);
	text_string(&t, ";");
	expect_refused(text_get(&t), t.length, "longer than");
	text_free(&t);
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
	struct diags d = { 0 };
	ck_assert_ptr_null(load_program("no/such/file.tx", &d));
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_ptr_null(load_program(".", &d));
	ck_assert_uint_eq(d.errors, 2);
	diags_free(&d);
}
END_TEST

/* Whatever the text: a program without errors, or errors without a program,
 * each at a place that exists. */
static void load_anything(const char *source, size_t length)
{
	struct diags d = { 0 };
	struct program *p = load_program_text("m.tx", source, length, &d);
	if ((p != NULL) == (d.errors > 0))
		ck_abort_msg("%zu errors and %s:\n%s", d.errors,
		             p ? "a program" : "no program", source);
	for (size_t i = 0; i < d.count; i++) {
		const char *line = source;
		for (uint32_t n = 1; n < d.items[i].line; n++) {
			line = strchr(line, '\n');
			ck_assert_ptr_nonnull(line);
			line++;
		}
		ck_assert_uint_le(d.items[i].column, strcspn(line, "\n") + 1);
	}
	program_free(p);
	diags_free(&d);
}

static void mutate(struct rng *rng, struct text *t)
{
	static const char pieces[] = "(){}[];,.:=<>+-*/%!&|\"xk0 \n9";
	uint32_t at = rng_below(rng, (uint32_t)t->length);
	switch (rng_below(rng, 4)) {
	case 0:
		memmove(t->data + at, t->data + at + 1, t->length - at);
		t->length--;
		break;
	case 1: t->data[at] = pieces[rng_below(rng, sizeof pieces - 1)]; break;
	case 2: /* a part of the text comes again at its end */
		for (uint32_t i = at; i < at + 10 && i < t->length; i++)
			text_char(t, t->data[i]);
		break;
	default:
		if (rng_below(rng, 10)) return;
		t->data[at + !at] = 0;
		t->length = at + !at;
	}
}

START_TEST(mutated_programs)
{
	struct rng rng = { first_seed() * 100 + (uint64_t)_i };
	for (int i = 0; i < 3000; i++) {
		struct text t = { 0 };
		random_program(&t, rng_next(&rng));
		uint32_t mutations = 1 + rng_below(&rng, 6);
		for (uint32_t m = 0; m < mutations && t.length > 20; m++)
			mutate(&rng, &t);
		load_anything(text_get(&t), t.length);
		text_free(&t);
	}
}
END_TEST

/* ---- layout ---- */

static void format(const char *source, struct text *out)
{
	struct diags d = { 0 };
	bool done =
		format_program_text("f.tx", source, strlen(source), out, &d);
	ck_assert_msg(done && !d.errors, "not laid out:\n%s", source);
	diags_free(&d);
}

static uint64_t count_histories(const struct program *p)
{
	struct explore_options o = { .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .max_histories = 500 };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	uint64_t n = explorer_stats(e)->histories;
	explorer_free(e);
	return n;
}

/* Laying out twice changes nothing more; the program means the same. */
START_TEST(layout_of_random_programs)
{
	for (uint64_t seed = 0; seed < 500; seed++) {
		struct text source = { 0 }, once = { 0 }, twice = { 0 };
		random_program(&source, seed);
		format(text_get(&source), &once);
		format(text_get(&once), &twice);
		ck_assert_str_eq(text_get(&once), text_get(&twice));
		struct program *p = program_from_text(text_get(&source));
		struct program *q = program_from_text(text_get(&once));
		ck_assert_uint_eq(count_histories(p), count_histories(q));
		program_free(p);
		program_free(q);
		text_free(&source);
		text_free(&once);
		text_free(&twice);
	}
}
END_TEST

START_TEST(layout_keeps_remarks_and_brackets)
{
	static const char source[] = "// first\nglobal x=0;   // behind\n\n\n\n"
				     "session s{txn{let a=(x+1)*2; // inside\n"
				     "// before the end\n"
				     "if(a==1)abort;else{x=- -a;}}}\n// last\n";
	static const char *const kept[] = {
		"// first\n",          "// behind\n", "// inside\n",
		"// before the end\n", "// last\n",   "(x + 1) * 2"
	};
	struct text out = { 0 };
	format(source, &out);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		ck_assert_msg(strstr(text_get(&out), kept[i]),
		              "'%s' is not in\n%s", kept[i], text_get(&out));
	program_free(program_from_text(text_get(&out)));
	text_free(&out);
}
END_TEST

START_TEST(layout_of_c_functions)
{
	static const char source[] =
		"extern   fn f( a :int,b\n:string ) :string from\"l.so\" ;\n"
		"extern fn no():int from \"../l.so\";fn g(a)=f(a,\"x\");\n"
		"session s{let extern=filter(from in[1]:from>0);}\n";
	static const char expected[] =
		"extern fn f(a: int, b: string): string from \"l.so\";\n"
		"extern fn no(): int from \"../l.so\";\n"
		"fn g(a) = f(a, \"x\");\n"
		"session s { let extern = filter(from in [1] : from > 0); }\n";
	struct text once = { 0 }, twice = { 0 };
	format(source, &once);
	ck_assert_str_eq(text_get(&once), expected);
	format(text_get(&once), &twice);
	ck_assert_str_eq(text_get(&twice), expected);
	text_free(&once);
	text_free(&twice);
}
END_TEST

/* ---- programs ---- */

/* They are words of the language only where a declaration of a function in C
 * has them. */
START_TEST(words_that_are_names_too)
{
	struct program *p = program_from_text(
		"const string = 1;\nglobal extern = string;\n"
		"global from[\"a\"] = 2;\nfn int(extern) = extern + string;\n"
		"txn move(from_, to) { extern = int(from_); from[to] += 1; }\n"
		"session s { let int = 1; move(int, \"a\"); }\n"
		"session extern { let int = 2; move(int, {string: 1}.string); "
		"}\n"
		"assert s.int == 1 && extern.int == 2;\n");
	ck_assert_str_eq(program_session_name(p, 1), "extern");
	program_free(p);
}
END_TEST

/* Of a text that nobody vouches for no library is looked for: this one would
 * be an error, and what needs it is one. */
START_TEST(untrusted_texts_load_nothing)
{
	static const char declared[] =
		"extern fn f(a: int, b: string): int from \"no/such/lib.so\";\n"
		"global x = 0;\n"
		"session s { txn { let y = x; x = f(y, \"b\"); } }\n";
	static const char evaluated[] =
		"extern fn f(): int from \"no/such/lib.so\";\n"
		"const C = 1 + f();\nsession s { skip; }\n";
	struct diags d = { 0 };
	struct text t = { 0 };
	struct program *p =
		load_untrusted_text("u.tx", declared, strlen(declared), &d);
	ck_assert_ptr_nonnull(p);
	dump_program(p, &t);
	ck_assert_ptr_nonnull(strstr(text_get(&t), "EXTERN"));
	ck_assert_ptr_nonnull(strstr(text_get(&t), " 2 r"));
	program_free(p);
	text_free(&t);
	p = load_untrusted_text("u.tx", evaluated, strlen(evaluated), &d);
	ck_assert_ptr_null(p);
	char *found = diags_to_text(&d);
	expect_diagnostics(evaluated, found,
	                   "error:2:15: in a constant expression: 'f' is in a "
	                   "library that is not loaded here");
	free(found);
	diags_free(&d);
}
END_TEST

START_TEST(facts_about_a_program)
{
	struct program *p = program_from_text(
		"isolation si;\nglobal x = 0;\n"
		"txn t() { x = 1; assert x == 1; }\n"
		"session a { let r = 1; t(); for i in 0..3 { t(); } }\n"
		"session b { txn { x = 2; } }\n"
		"finally { let v = x; }\n"
		"assert \"r is one\" : a.r == 1;\n"
		"assert serializable;\n");
	ck_assert_str_eq(program_isolation(p), "si");
	ck_assert_uint_eq(program_session_count(p), 3);
	ck_assert(program_has_finally(p));
	ck_assert_str_eq(program_session_name(p, 0), "a");
	ck_assert_str_eq(program_session_name(p, 1), "b");
	ck_assert_uint_eq(program_session_bound(p, 0), 4);
	ck_assert_uint_eq(program_session_bound(p, 1), 1);
	ck_assert_uint_eq(program_assertion_count(p), 3);
	int kinds[3] = { 0 };
	for (uint32_t i = 0; i < 3; i++) {
		const struct assertion *a = program_assertion(p, i);
		kinds[a->kind]++;
		if (a->kind != ASSERTION_FINAL) continue;
		ck_assert_str_eq(a->message, "r is one");
		ck_assert_str_eq(a->text, "a.r == 1");
		ck_assert_uint_eq(a->at.line, 7);
	}
	for (int i = 0; i < 3; i++) ck_assert_int_eq(kinds[i], 1);
	program_free(p);
}
END_TEST

START_TEST(imports)
{
	struct diags d = { 0 };
	folder_enter();
	file_write_text("shared.tx", "global x = 0;\ntxn t() { x = 1; }\n");
	file_write_text("main.tx",
	                "import \"shared.tx\";\nimport \"shared.tx\";\n"
	                "session s { t(); }\n");
	struct program *p = load_program("main.tx", &d);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(count_histories(p), 1);
	program_free(p);
	file_write_text("main.tx",
	                "import \"share.tx\";\nsession s { skip; }\n");
	ck_assert_ptr_null(load_program("main.tx", &d));
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_uint_eq(d.items[0].line, 1);
	folder_leave();
	diags_free(&d);
}
END_TEST

START_TEST(listing_shows_every_session)
{
	struct program *p = program_from_text(
		"global x = 0;\nsession alice { txn { x = 41; } }\n"
		"session bob { txn { let v = x; } }\n");
	struct text t = { 0 };
	dump_program(p, &t);
	ck_assert_ptr_nonnull(strstr(text_get(&t), "alice"));
	ck_assert_ptr_nonnull(strstr(text_get(&t), "bob"));
	ck_assert_ptr_nonnull(strstr(text_get(&t), "41"));
	text_free(&t);
	program_free(p);
}
END_TEST

void add_lang_tests(TCase *tests)
{
	tcase_add_loop_test(tests, errors_have_their_place, 0, WRONGS);
	tcase_add_test(tests, the_line_is_quoted);
	tcase_add_test(tests, no_texts);
	tcase_add_test(tests, deep_nesting_is_an_error);
	tcase_add_test(tests, parameters_of_c_functions);
	tcase_add_test(tests, large_texts);
	tcase_add_test(tests, files_that_cannot_be_read);
	tcase_add_loop_test(tests, mutated_programs, 0, 4);
	tcase_add_test(tests, layout_of_random_programs);
	tcase_add_test(tests, layout_keeps_remarks_and_brackets);
	tcase_add_test(tests, layout_of_c_functions);
	tcase_add_test(tests, words_that_are_names_too);
	tcase_add_test(tests, untrusted_texts_load_nothing);
	tcase_add_test(tests, facts_about_a_program);
	tcase_add_test(tests, imports);
	tcase_add_test(tests, listing_shows_every_session);
}
