/* Values, operators and functions, keys, and sessions step by step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/rng.h"
#include "random_program.h"
#include "suites.h"
#include "support.h"
#include "vm/keys.h"
#include "vm/machine.h"
#include "vm/program.h"
#include "vm/session_run.h"
#include "vm/value.h"

/* ---- values ---- */

static struct value string(struct region *r, const char *s)
{
	return value_string(r, s, strlen(s));
}

/* A random value; small, so that equal ones occur. */
static struct value random_value(struct rng *rng, struct region *r, int depth)
{
	static const char *const words[] = { "", "a", "b", "ab" };
	struct value items[4];
	uint32_t count = rng_below(rng, 3);
	uint32_t tag = rng_below(rng, depth ? VALUE_RECORD + 1 : 4);
	for (uint32_t i = 0; i < 4; i++)
		items[i] =
			depth ? random_value(rng, r, depth - 1) : value_null();
	switch (tag) {
	case VALUE_NULL: return value_null();
	case VALUE_BOOL: return value_bool(rng_below(rng, 2));
	case VALUE_INT: return value_int((int64_t)rng_below(rng, 4) - 2);
	case VALUE_STRING: return string(r, words[rng_below(rng, 4)]);
	case VALUE_SET: return value_set(r, items, count);
	case VALUE_RECORD:
		items[0] = string(r, words[1 + rng_below(rng, 2)]);
		items[2] = string(r, words[1 + rng_below(rng, 2)]);
		return value_record(r, items, count);
	default: return value_sequence(r, (enum value_tag)tag, items, count);
	}
}

static int sign(int i)
{
	return (i > 0) - (i < 0);
}

/* Compare is a total order; equality, hash and text agree with it; copies are
 * equal in another region. */
START_TEST(values_are_ordered)
{
	enum { N = 150 };
	struct region r, other;
	struct rng rng = { process_seed(_i, 0) };
	struct value v[N];
	struct text a = { 0 }, b = { 0 };
	region_init(&r);
	region_init(&other);
	for (int i = 0; i < N; i++) v[i] = random_value(&rng, &r, 2);
	for (int i = 0; i < N; i++) {
		struct value copy = value_copy(&other, v[i]);
		ck_assert(value_equal(copy, v[i]));
		ck_assert(value_depth(copy) == value_depth(v[i]));
		for (int j = 0; j < N; j++) {
			int order = sign(value_compare(v[i], v[j]));
			bool equal = value_equal(v[i], v[j]);
			text_clear(&a);
			text_clear(&b);
			value_print_json(&a, v[i]);
			value_print_json(&b, v[j]);
			ck_assert_int_eq(order,
			                 -sign(value_compare(v[j], v[i])));
			ck_assert(equal == (order == 0));
			ck_assert(equal == !strcmp(text_get(&a), text_get(&b)));
			if (equal)
				ck_assert(value_hash(v[i]) == value_hash(v[j]));
			if (v[i].tag < v[j].tag) ck_assert_int_lt(order, 0);
			int k = (int)rng_below(&rng, N);
			if (order <= 0 && value_compare(v[j], v[k]) <= 0)
				ck_assert_int_le(value_compare(v[i], v[k]), 0);
		}
	}
	text_free(&a);
	text_free(&b);
	region_free(&r);
	region_free(&other);
}
END_TEST

START_TEST(values_are_canonical)
{
	struct region r;
	region_init(&r);
	struct value items[] = { value_int(3), value_int(1), value_int(3) };
	struct value turned[] = { value_int(1), value_int(3) };
	ck_assert(
		value_equal(value_set(&r, items, 3), value_set(&r, turned, 2)));
	ck_assert(!value_equal(value_sequence(&r, VALUE_LIST, turned, 2),
	                       value_sequence(&r, VALUE_TUPLE, turned, 2)));
	struct value pairs[] = { string(&r, "q"), value_int(1),
		                 string(&r, "a"), value_int(2),
		                 string(&r, "q"), value_int(3) };
	struct text t = { 0 };
	value_print(&t, value_record(&r, pairs, 3));
	ck_assert_str_eq(text_get(&t), "{a: 2, q: 3}");
	text_clear(&t);
	value_print_json(&t, value_record(&r, pairs, 3));
	ck_assert_str_eq(text_get(&t), "{\"record\":{\"a\":2,\"q\":3}}");
	text_free(&t);
	region_free(&r);
}
END_TEST

/* ---- running a program alone, one session after another ---- */

struct store {
	struct program *program;
	struct region region;
	struct machine machine;
	struct value current[64]; /* per key */
	bool known[64];
	struct machine_state *states[8];
};

static struct value *cell(struct store *s, uint32_t key)
{
	ck_assert_uint_lt(key, 64);
	if (!s->known[key])
		s->current[key] = keys_initial(s->machine.keys, key);
	s->known[key] = true;
	return &s->current[key];
}

static void run_session(struct store *s, uint32_t session)
{
	struct value before[64];
	struct request q;
	for (;;) {
		machine_step(&s->machine, s->states[session], &q);
		if (q.kind == REQUEST_DONE) return;
		if (q.kind == REQUEST_BEGIN)
			for (uint32_t k = 0; k < keys_count(s->machine.keys);
			     k++)
				before[k] = *cell(s, k);
		if (q.kind == REQUEST_READ)
			machine_answer(s->program, s->states[session],
			               *cell(s, q.key));
		if (q.kind == REQUEST_WRITE) *cell(s, q.key) = q.value;
		if (q.kind == REQUEST_ABORT)
			memcpy(s->current, before, sizeof before);
	}
}

static struct store *run_alone(const char *source)
{
	struct store *s = calloc(1, sizeof *s);
	s->program = program_from_text(source);
	region_init(&s->region);
	s->machine = (struct machine){ .program = s->program,
		                       .keys = keys_new(s->program),
		                       .region = &s->region };
	size_t size = machine_state_size(s->program);
	for (uint32_t i = 0; i < program_session_count(s->program); i++) {
		s->states[i] = aligned_alloc(16, (size + 15) / 16 * 16);
		machine_start(s->program, i, s->states[i]);
		run_session(s, i);
	}
	return s;
}

static void store_free(struct store *s)
{
	for (int i = 0; i < 8; i++) free(s->states[i]);
	keys_free(s->machine.keys);
	region_free(&s->region);
	program_free(s->program);
	free(s);
}

static struct value local_named(const struct store *s, uint32_t session,
                                const char *name)
{
	for (uint32_t i = 0; i < program_local_count(s->program, session); i++)
		if (!strcmp(program_local_name(s->program, session, i), name))
			return machine_local(s->program, s->states[session], i);
	ck_abort_msg("no local %s", name);
}

/* ---- operators ---- */

struct evaluation {
	const char *expression;
	const char *value; /* NULL: a run-time error */
};

static const struct evaluation evaluations[] = {
	{ "1 + 2 * 3", "7" },
	{ "(1 + 2) * 3", "9" },
	{ "7 - 2 - 1", "4" },
	{ "-7 / 2", "-3" },
	{ "-7 % 2", "-1" },
	{ "7 % one", "0" },
	{ "- - 3", "3" },
	{ "9223372036854775807", "9223372036854775807" },
	{ "9223372036854775807 + one", NULL },
	{ "-9223372036854775807 - one - one", NULL },
	{ "9223372036854775807 * (one + one)", NULL },
	{ "(-9223372036854775807 - one) / (-one)", NULL },
	{ "(-9223372036854775807 - one) % (-one)", NULL },
	{ "-(-9223372036854775807 - one)", NULL },
	{ "one / (one - 1)", NULL },
	{ "one % (one - 1)", NULL },
	{ "one + true", NULL },
	{ "one && true", NULL },
	{ "!one", NULL },
	{ "true && false || true", "true" },
	{ "true || false && false", "true" },
	{ "false && one / 0 == 1", "false" },
	{ "true || one / 0 == 1", "true" },
	{ "1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 2", "true" },
	{ "1 == 1 && 1 != 2 && null == null", "true" },
	{ "\"1\" == 1", "false" },
	{ "(1, \"a\") == (1, \"a\")", "true" },
	{ "{2, 1, 2} == {1, 2}", "true" },
	{ "\"ab\" + \"cd\"", "\"abcd\"" },
	{ "[1] + [2, 1]", "[1, 2, 1]" },
	{ "{1, 3} + {2}", "{1, 2, 3}" },
	{ "{1, 2, 3} - {2, 5}", "{1, 3}" },
	{ "2 in {1, 2}", "true" },
	{ "3 in [1, 2]", "false" },
	{ "[5, 6, 7][one]", "6" },
	{ "[5, 6, 7][one + 2]", NULL },
	{ "[5, 6, 7][-one]", NULL },
	{ "(5, \"x\")[one]", "\"x\"" },
	{ "{qty: 2, price: 5}.price", "5" },
	{ "{qty: one}.price", NULL },
	{ "{...{qty: 2, price: 5}, qty: 3}", "{price: 5, qty: 3}" },
	{ "size({1, 2, 1})", "2" },
	{ "size([1, 2, 1])", "3" },
	{ "size(\"abc\")", "3" },
	{ "min({3, 1, 2})", "1" },
	{ "max([3, 1, 2])", "3" },
	{ "sum([3, 1, 2])", "6" },
	{ "sum([9223372036854775807, one])", NULL },
	{ "sort([3, 1, 2])", "[1, 2, 3]" },
	{ "keys({b: 1, a: 2})", "{\"a\", \"b\"}" },
	{ "union({1}, {2})", "{1, 2}" },
	{ "inter({1, 2}, {2, 3})", "{2}" },
	{ "remove([1, 2, 1], 1)", "[2, 1]" },
	{ "range(2, 5)", "[2, 3, 4]" },
	{ "str(12)", "\"12\"" },
	{ "filter(x in {1, 2, 3} : x > one)", "{2, 3}" },
	{ "filter(x in [3, 1, 2] : x > one)", "[3, 2]" },
	{ "map(x in [1, 2] : x * 10)", "[10, 20]" },
	{ "map(x in {1, 2, 3} : x % 2)", "{0, 1}" },
	{ "exists(x in {1, 2} : x == 2)", "true" },
	{ "exists(x in {} : true)", "false" },
	{ "forall(x in {1, 2} : x == 2)", "false" },
	{ "forall(x in [] : false)", "true" },
	{ "double(21)", "42" },
	{ "LIMIT + one", "6" },
};
enum { EVALUATIONS = sizeof evaluations / sizeof *evaluations };

START_TEST(expressions)
{
	const struct evaluation *e = &evaluations[_i];
	struct text source = { 0 }, shown = { 0 };
	text_format(&source,
	            "const LIMIT = 5;\nfn double(n) = n * 2;\n"
	            "session s { let one = 1; let v = %s; }\n",
	            e->expression);
	struct store *s = run_alone(text_get(&source));
	const struct finding *f = machine_findings(s->states[0]);
	value_print(&shown, local_named(s, 0, "v"));
	if (e->value) {
		ck_assert_msg(!f, "%s: %s", e->expression,
		              f && f->message ? f->message : "finding");
		ck_assert_msg(!strcmp(text_get(&shown), e->value),
		              "%s is %s, not %s", e->expression,
		              text_get(&shown), e->value);
	} else {
		ck_assert_msg(f && f->kind == FINDING_ERROR && f->message,
		              "%s is %s, not an error", e->expression,
		              text_get(&shown));
		ck_assert_uint_eq(program_position(s->program, f->point).line,
		                  3);
	}
	text_free(&source);
	text_free(&shown);
	store_free(s);
}
END_TEST

/* ---- sessions ---- */

static void expect_local(const struct store *s, uint32_t session,
                         const char *name, const char *value)
{
	struct text t = { 0 };
	value_print(&t, local_named(s, session, name));
	ck_assert_msg(!strcmp(text_get(&t), value), "%s is %s, not %s", name,
	              text_get(&t), value);
	text_free(&t);
}

START_TEST(transactions_change_the_database)
{
	struct store *s = run_alone(
		"global x = 5; global k[\"a\"] = 1; global k[*] = 7;\n"
		"global u[1] = 3;\n"
		"txn add(n) { x += n; return x; }\n"
		"txn fail() { x = 100; abort; }\n"
		"txn look() { return (k[\"a\"], k[\"b\"], u[1], u[2]); }\n"
		"txn early(n) { if (n > 1) return \"big\"; x = 0; }\n"
		"session a { let r = add(2); let f = fail(); let l = look();\n"
		"  let e = early(2); let d = early(1); let z = add(1); }\n"
		"session b { let r = add(10); }\n");
	expect_local(s, 0, "r", "7");
	expect_local(s, 0, "f", "null");
	expect_local(s, 0, "l", "(1, 7, 3, null)");
	expect_local(s, 0, "e", "\"big\"");
	expect_local(s, 0, "d", "null");
	expect_local(s, 0, "z", "1");
	expect_local(s, 1, "r", "11");
	store_free(s);
}
END_TEST

START_TEST(control_flow)
{
	struct store *s = run_alone(
		"global x = 0;\n"
		"txn loops() {\n"
		"  let n = 0; let order = [];\n"
		"  for i in 0..3 { for j in i..3 { n += 1; } }\n"
		"  for e in {\"b\", \"a\"} { order = order + [e]; }\n"
		"  for i in 3..0 { n = 100; }\n"
		"  if (n == 6) { skip; } else if (n == 7) n = 1; else n = 2;\n"
		"  return (n, order);\n"
		"}\n"
		"session s { let r = loops(); let c = 0;\n"
		"  for i in 0..2 { let t = loops(); c += t[0]; } }\n");
	expect_local(s, 0, "r", "(6, [\"a\", \"b\"])");
	expect_local(s, 0, "c", "12");
	ck_assert_ptr_null(machine_findings(s->states[0]));
	store_free(s);
}
END_TEST

/* Every occurrence of a global is a read, from left to right, and `&&` may
 * leave one out. */
START_TEST(accesses_in_order)
{
	static const char *const expected[] = {
		"begin t", "read x", "read y",     "read x", "write x",
		"read x",  "read y", "write k[0]", "commit", NULL
	};
	struct program *p = program_from_text(
		"global x = 0; global y = 1; global k[*] = 0;\n"
		"txn t() { let a = x + y; x += 1; if (x == 5 && y == 1) "
		"abort;\n"
		"  k[y - 1] = 2; }\n"
		"session s { t(); }\n");
	struct region region;
	struct request q;
	region_init(&region);
	struct machine m = { .program = p,
		             .keys = keys_new(p),
		             .region = &region };
	size_t size = (machine_state_size(p) + 15) / 16 * 16;
	struct machine_state *state = aligned_alloc(16, size);
	machine_start(p, 0, state);
	for (int i = 0;; i++) {
		static const char *const kinds[] = {
			[REQUEST_BEGIN] = "begin ", [REQUEST_READ] = "read ",
			[REQUEST_WRITE] = "write ", [REQUEST_COMMIT] = "commit",
			[REQUEST_ABORT] = "abort",
		};
		char text[64];
		machine_step(&m, state, &q);
		if (q.kind == REQUEST_DONE) {
			ck_assert_ptr_null(expected[i]);
			break;
		}
		bool access = q.kind == REQUEST_READ || q.kind == REQUEST_WRITE;
		snprintf(text, sizeof text, "%s%s", kinds[q.kind],
		         access ? keys_name(m.keys, q.key)
		         : q.kind == REQUEST_BEGIN
		                 ? program_transaction_name(p, q.name)
		                 : "");
		ck_assert_ptr_nonnull(expected[i]);
		ck_assert_str_eq(text, expected[i]);
		if (q.kind == REQUEST_READ)
			machine_answer(
				p, state,
				value_int(keys_name(m.keys, q.key)[0] == 'y'));
	}
	free(state);
	keys_free(m.keys);
	region_free(&region);
	program_free(p);
}
END_TEST

/* A state is a plain block of bytes: a copy goes on by itself. */
START_TEST(states_are_copied)
{
	struct program *p = program_from_text(
		"global x = 0;\n"
		"session s { txn { let a = x; x = a + 1; } }\n");
	struct region region;
	struct request q;
	region_init(&region);
	struct machine m = { .program = p,
		             .keys = keys_new(p),
		             .region = &region };
	size_t size = (machine_state_size(p) + 15) / 16 * 16;
	struct machine_state *state = aligned_alloc(16, size);
	struct machine_state *copy = aligned_alloc(16, size);
	machine_start(p, 0, state);
	machine_step(&m, state, &q);
	machine_step(&m, state, &q);
	ck_assert_int_eq(q.kind, REQUEST_READ);
	memcpy(copy, state, machine_state_size(p));
	for (int i = 0; i < 3; i++) {
		memcpy(state, copy, machine_state_size(p));
		machine_answer(p, state, value_int(10 * i));
		machine_step(&m, state, &q);
		ck_assert_int_eq(q.kind, REQUEST_WRITE);
		ck_assert_int_eq(q.value.i, 10 * i + 1);
	}
	machine_step(&m, state, &q);
	ck_assert_int_eq(q.kind, REQUEST_COMMIT);
	for (int i = 0; i < 2; i++) {
		machine_step(&m, state, &q);
		ck_assert_int_eq(q.kind, REQUEST_DONE);
	}
	free(state);
	free(copy);
	keys_free(m.keys);
	region_free(&region);
	program_free(p);
}
END_TEST

START_TEST(findings)
{
	struct store *s = run_alone(
		"global x = 1;\n"
		"session a { txn { let v = x; assert v == 2; assert v == 1; } "
		"}\n"
		"session b { txn { let v = x; let w = v / (v - 1); } txn { x = "
		"9; "
		"} }\n"
		"session c { txn { x = 5; assume x == 4; } let never = 1; }\n"
		"session d { txn { let v = x; assert v == 1; } }\n"
		"assert c.never == null;\n"
		"assert c.never == 1;\n");
	const struct finding *f = machine_findings(s->states[0]);
	ck_assert_int_eq(f->kind, FINDING_ASSERT);
	ck_assert_uint_eq(f->assertion, 0);
	ck_assert_ptr_null(f->older);
	ck_assert_uint_eq(f->value_count, 1);
	ck_assert_str_eq(f->values[0].name, "v");
	ck_assert_int_eq(f->values[0].value.i, 1);
	f = machine_findings(s->states[1]);
	ck_assert_int_eq(f->kind, FINDING_ERROR);
	ck_assert_ptr_null(f->older);
	ck_assert(machine_pruned(s->states[2]));
	ck_assert(!machine_pruned(s->states[1]));
	/* What aborted left no trace, and the session went no further. */
	ck_assert_ptr_null(machine_findings(s->states[3]));
	const struct machine_state *const *states =
		(const struct machine_state *const *)s->states;
	uint32_t last = program_assertion_count(s->program) - 1;
	ck_assert_ptr_null(
		machine_final_assertion(&s->machine, last - 1, states));
	f = machine_final_assertion(&s->machine, last, states);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(f->kind, FINDING_ASSERT);
	store_free(s);
}
END_TEST

/* ---- runs that are kept beside the machine itself ---- */

enum { MOMENTS = 8 };

/* A session's run, and the same step by step. */
struct both {
	const struct program *program;
	struct rng rng;
	struct region regions[2], answers;
	struct machine machines[2];
	struct session_memo memo;
	struct session_run run;
	struct machine_state *plain;
	/* Where reads waited, to go on from there another time. */
	struct {
		const struct machine_state *kept;
		struct machine_state *plain;
	} moments[MOMENTS];
	uint32_t moment_count;
	/* By session: where it stands before all. */
	const struct machine_state *starts[8];
	struct region_mark started;
};

static void both_init(struct both *b, const struct program *p, size_t budget)
{
	*b = (struct both){ .program = p, .rng = { process_seed(0, 0) } };
	region_init(&b->answers);
	for (int i = 0; i < 2; i++) {
		region_init(&b->regions[i]);
		b->machines[i] = (struct machine){ .program = p,
			                           .keys = keys_new(p),
			                           .region = &b->regions[i] };
	}
	session_memo_init(&b->memo, &b->machines[0], budget);
	for (uint32_t i = 0; i < program_session_count(p); i++) {
		struct request begin;
		session_run_start(&b->run, &b->memo, i);
		session_run_step(&b->run, &begin);
		b->starts[i] = session_run_state(&b->run);
	}
	b->started = region_mark(&b->regions[0]);
}

static void both_free(struct both *b)
{
	session_memo_free(&b->memo);
	for (int i = 0; i < 2; i++) {
		keys_free(b->machines[i].keys);
		region_free(&b->regions[i]);
	}
	region_free(&b->answers);
}

static void ck_same_request(const struct both *b, const struct request *q,
                            const struct request *plain)
{
	bool access =
		plain->kind == REQUEST_READ || plain->kind == REQUEST_WRITE;
	ck_assert_int_eq(q->kind, plain->kind);
	if (q->kind == REQUEST_BEGIN) ck_assert_uint_eq(q->name, plain->name);
	if (!access) return;
	ck_assert_str_eq(keys_name(b->machines[0].keys, q->key),
	                 keys_name(b->machines[1].keys, plain->key));
	ck_assert_uint_eq(q->point, plain->point);
	ck_assert_int_eq(q->strength, plain->strength);
	ck_assert_int_eq(q->joined, plain->joined);
	if (q->kind == REQUEST_WRITE)
		ck_assert(value_equal(q->value, plain->value));
}

static void ck_same_state(const struct both *b)
{
	const struct machine_state *s = session_run_state(&b->run);
	const struct finding *f = machine_findings(s);
	const struct finding *g = machine_findings(b->plain);
	for (; f && g; f = f->older, g = g->older) {
		ck_assert_int_eq(f->kind, g->kind);
		ck_assert_uint_eq(f->point, g->point);
		ck_assert_uint_eq(f->value_count, g->value_count);
	}
	ck_assert(!f && !g);
	ck_assert_int_eq(machine_pruned(s), machine_pruned(b->plain));
	ck_assert(machine_outcome(b->program, s, 1) ==
	          machine_outcome(b->program, b->plain, 1));
	ck_assert_mem_eq(machine_reached(b->program, s),
	                 machine_reached(b->program, b->plain),
	                 BITS_WORDS(program_reach_count(b->program)) *
	                         sizeof(word));
}

static void keep_moment(struct both *b)
{
	size_t size = machine_state_size(b->program);
	if (b->moment_count == MOMENTS) return;
	uint32_t i = b->moment_count++;
	b->moments[i].kept = session_run_keep(&b->run, &b->regions[1]);
	b->moments[i].plain = region_take(&b->regions[1], size);
	memcpy(b->moments[i].plain, b->plain, size);
}

static void answer(struct both *b)
{
	struct value v = value_int(rng_below(&b->rng, 3));
	uint32_t kind = rng_below(&b->rng, 3);
	if (kind == 1) v = value_sequence(&b->answers, VALUE_LIST, &v, 1);
	if (kind == 2) v = random_value(&b->rng, &b->answers, 1);
	session_run_answer(&b->run, v);
	machine_answer(b->program, b->plain, v);
}

/* To the session's end. */
static void run_both(struct both *b)
{
	struct request q, plain;
	for (;;) {
		session_run_step(&b->run, &q);
		machine_step(&b->machines[1], b->plain, &plain);
		ck_same_request(b, &q, &plain);
		if (q.kind == REQUEST_BEGIN || q.kind == REQUEST_DONE)
			ck_same_state(b);
		if (q.kind == REQUEST_DONE) return;
		if (q.kind != REQUEST_READ) continue;
		ck_same_state(b);
		if (!rng_below(&b->rng, 2)) keep_moment(b);
		answer(b);
	}
}

static void run_both_again(struct both *b)
{
	uint32_t i = rng_below(&b->rng, b->moment_count);
	session_run_resume(&b->run, &b->memo, b->moments[i].kept);
	memcpy(b->plain, b->moments[i].plain, machine_state_size(b->program));
	answer(b);
	run_both(b);
}

static void try_session(struct both *b, uint32_t session)
{
	struct request begin;
	b->moment_count = 0;
	b->plain = region_take(&b->regions[1], machine_state_size(b->program));
	machine_start(b->program, session, b->plain);
	machine_step(&b->machines[1], b->plain, &begin);
	session_run_resume(&b->run, &b->memo, b->starts[session]);
	run_both(b);
	for (int i = 0; i < 4 && b->moment_count; i++) run_both_again(b);
	region_release(&b->regions[0], b->started);
	region_release(&b->regions[1], (struct region_mark){ 0 });
	region_release(&b->answers, (struct region_mark){ 0 });
}

/* Whatever is kept: nothing, all, or what a small budget has room for, which is
 * then used up in the middle. */
START_TEST(runs_are_kept)
{
	static const size_t budgets[] = { 0, 1, 1 << 17, 1 << 24 };
	struct text source = { 0 };
	if (_i)
		random_program(&source, process_seed(_i, 1));
	else /* whatever it reads, it writes */
		text_string(
			&source,
			"global x = 0; global y = 0;\nsession s { txn { let "
			"a = x; y = a; let b = x; y = [a, b]; } }\n");
	struct program *p = program_from_text(text_get(&source));
	for (int i = 0; i < 4; i++) {
		struct both b;
		both_init(&b, p, budgets[i]);
		for (int k = 0; k < fewer(200); k++)
			try_session(&b, rng_below(&b.rng,
			                          program_session_count(p)));
		ck_assert(budgets[i] || !session_memo_bytes(&b.memo));
		both_free(&b);
	}
	text_free(&source);
	program_free(p);
}
END_TEST

/* ---- keys ---- */

START_TEST(keys_are_numbered_once)
{
	struct program *p = program_from_text(
		"global x = 4; global k[1, \"a\"] = 2; global k[*] = 3;\n"
		"session s { txn { let a = k[1, \"a\"]; let b = x; } }\n");
	struct keys *k = keys_new(p);
	struct region r;
	region_init(&r);
	uint32_t scalar = keys_find(k, 0, NULL, 0);
	struct value index[] = { value_int(1), string(&r, "a") };
	uint32_t named = keys_find(k, 1, index, 2);
	index[0] = value_int(2);
	uint32_t before = keys_count(k);
	uint32_t new = keys_find(k, 1, index, 2);
	ck_assert_uint_eq(keys_count(k), before + 1);
	ck_assert_uint_eq(keys_find(k, 1, index, 2), new);
	ck_assert_uint_eq(keys_count(k), before + 1);
	ck_assert(scalar != named && named != new &&scalar != new);
	ck_assert_str_eq(keys_name(k, scalar), "x");
	ck_assert_str_eq(keys_name(k, named), "k[1, \"a\"]");
	ck_assert_str_eq(keys_name(k, new), "k[2, \"a\"]");
	ck_assert_int_eq(keys_initial(k, scalar).i, 4);
	ck_assert_int_eq(keys_initial(k, named).i, 2);
	ck_assert_int_eq(keys_initial(k, new).i, 3);
	/* Many, so that the table grows. */
	for (int64_t i = 0; i < 5000; i++) {
		index[0] = value_int(i + 10);
		uint32_t found = keys_find(k, 1, index, 2);
		ck_assert_uint_eq(keys_find(k, 1, index, 2), found);
		ck_assert_uint_eq(found, new + 1 + (uint32_t)i);
	}
	keys_free(k);
	region_free(&r);
	program_free(p);
}
END_TEST

void add_vm_tests(TCase *tests)
{
	tcase_add_loop_test(tests, values_are_ordered, 0, 4);
	tcase_add_test(tests, values_are_canonical);
	tcase_add_loop_test(tests, expressions, 0, EVALUATIONS);
	tcase_add_test(tests, transactions_change_the_database);
	tcase_add_test(tests, control_flow);
	tcase_add_test(tests, accesses_in_order);
	tcase_add_test(tests, states_are_copied);
	tcase_add_test(tests, findings);
	tcase_add_loop_test(tests, runs_are_kept, 0, 8);
	tcase_add_test(tests, keys_are_numbered_once);
}
