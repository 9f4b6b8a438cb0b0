/* Traces: what a parser adds, in a short notation, and what comes out of it;
 * the same against a simple twin on random input; to histories and back;
 * facts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/facts.h"
#include "history/trace_builder.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"

static struct rng seeded(uint64_t base)
{
	return (struct rng){ first_seed() * 10000 + base };
}

/* ---- the notation ----
 *
 * Operations in the order of a file, a line each: SESSION NUMBER [!|?] : OP.
 * `A1:wx=5` session A, transaction 1 writes 5 to x; `B2?:rx=5` a read;
 * `rx=5<1` names the source, `<0` init, `<s` itself; `rx<1` leaves out the
 * value; values are integers, `nil`, or "text". `lx=5` is a read of a list,
 * `ax=5` an append. `!` aborted, `?` of unknown outcome. */

struct script {
	struct trace_builder *b;
	uint32_t handles[100]; /* by number in the notation */
	uint32_t line;
};

static struct trace_value script_value(struct script *s, const char **at)
{
	const char *from = *at;
	if (*from != '=') return (struct trace_value){ .flags = TRACE_MISSING };
	size_t length = strcspn(++from, "< ");
	*at = from + length;
	if (!strncmp(from, "nil", 3)) return trace_value_null();
	return trace_value_text(s->b, from, length);
}

static void script_source(struct script *s, const char *at)
{
	if (*at != '<') return;
	if (at[1] == 's')
		trace_op_source(s->b, TRACE_FROM_SELF, 0);
	else if (at[1] == '0')
		trace_op_source(s->b, TRACE_FROM_INIT, 0);
	else
		trace_op_source(s->b, TRACE_FROM_OTHER,
		                s->handles[strtoul(at + 1, NULL, 10)]);
}

static void script_op(struct script *s, const char *word)
{
	char *at;
	uint32_t session = trace_session_named(s->b, word, 1);
	unsigned long number = strtoul(word + 1, &at, 10);
	enum trace_status status = *at == '!'   ? TRACE_ABORTED
	                           : *at == '?' ? TRACE_UNKNOWN
	                                        : TRACE_COMMITTED;
	ck_assert(number < 100);
	s->line++;
	if (!s->handles[number]) {
		s->handles[number] =
			trace_transaction_new(s->b, session, status, s->line);
		trace_transaction_number(s->b, s->handles[number],
		                         (int64_t)number);
	}
	at += strcspn(at, ":");
	if (!*at) return;
	char kind = at[1];
	uint32_t key = trace_key_named(s->b, at + 2, 1);
	const char *rest = at + 3;
	struct trace_value v = script_value(s, &rest);
	trace_op_add(s->b, s->handles[number],
	             kind == 'w' || kind == 'a' ? EVENT_WRITE : EVENT_READ, key,
	             v, s->line);
	if (kind == 'a' || kind == 'l') trace_op_list(s->b);
	script_source(s, rest);
}

static struct trace_rules plain_rules(void)
{
	return (struct trace_rules){ .initial = trace_value_number(0) };
}

/* The caller finishes it. */
static struct trace_builder *script_run(const char *text,
                                        struct trace_rules rules)
{
	struct script s = { .b = trace_builder_new("test.txt", &rules) };
	char *copy = mem_copy_string(text);
	for (char *w = strtok(copy, " \n"); w; w = strtok(NULL, " \n"))
		script_op(&s, w);
	free(copy);
	return s.b;
}

/* ---- what came out ---- */

static void dump_op(struct text *t, const struct trace *r,
                    const struct trace_op *op, uint32_t transaction)
{
	bool list = op->flags & TRACE_LIST;
	text_string(t, op->kind == EVENT_WRITE ? list ? " a" : " w"
	               : list                  ? " l"
	                                       : " r");
	trace_print_key(t, r, op->key);
	text_char(t, '=');
	trace_print_value(t, r, op->value, op->flags);
	if (op->kind == EVENT_WRITE) {
		ck_assert_uint_eq(op->from, transaction);
		if (!(op->flags & TRACE_FINAL)) text_char(t, '-');
	} else if (op->from == TRACE_SELF) {
		text_string(t, "<s");
	} else if (op->from == TRACE_NOBODY) {
		text_string(t, "<?");
	} else if (op->from == TRACE_INIT) {
		text_string(t, "<0");
	} else {
		text_format(t, "<%" PRId64, r->transactions[op->from].number);
	}
}

static void dump_anomalies(struct text *t, const struct trace *r)
{
	for (uint32_t i = 0; i < r->anomaly_count; i++) {
		const struct trace_anomaly *a = &r->anomalies[i];
		const struct trace_transaction *w =
			&r->transactions[a->transaction];
		ck_assert(a->op >= w->first_op &&
		          a->op < w->first_op + w->op_count);
		text_format(t, "; %s %" PRId64, trace_anomaly_word(a->kind),
		            w->number);
		dump_op(t, r, &r->ops[a->op], a->transaction);
		if (a->writer != TRACE_NOBODY)
			text_format(t, " by %" PRId64,
			            r->transactions[a->writer].number);
		if (a->other == TRACE_NONE) continue;
		text_string(t, " other");
		dump_op(t, r, &r->ops[a->other],
		        r->ops[a->other].kind == EVENT_WRITE
		                ? r->ops[a->other].from
		                : 0);
	}
	for (uint32_t i = 0; i < r->known_count; i++)
		text_format(t, "; %" PRId64 " -%s-> %" PRId64,
		            r->transactions[r->known[i].from].number,
		            r->keys[r->known[i].key].name,
		            r->transactions[r->known[i].to].number);
}

/* A [1 wx=5 ry=0<0] [2! ..] | B .. ; anomalies ; known order */
static char *dump(const struct trace *r)
{
	struct text t = { 0 };
	for (uint32_t s = 0; s < r->session_count; s++) {
		const struct trace_session *session = &r->sessions[s];
		text_format(&t, "%s%s", s ? " | " : "", session->name);
		for (uint32_t i = 0; i < session->count; i++) {
			uint32_t n = session->first + i;
			const struct trace_transaction *w = &r->transactions[n];
			ck_assert_uint_eq(w->session, s);
			text_format(&t, " [%" PRId64 "%s", w->number,
			            w->status == TRACE_ABORTED   ? "!"
			            : w->status == TRACE_UNKNOWN ? "?"
			                                         : "");
			for (uint32_t k = 0; k < w->op_count; k++)
				dump_op(&t, r, &r->ops[w->first_op + k], n);
			text_char(&t, ']');
		}
	}
	dump_anomalies(&t, r);
	char *copy = mem_copy_string(text_get(&t));
	text_free(&t);
	return copy;
}

static void expect_finished(struct trace_builder *b, const char *expected)
{
	struct diags d = { 0 };
	struct trace *t = trace_builder_finish(b, &d);
	char *messages = diags_to_text(&d);
	if (!t) ck_abort_msg("not finished:\n%s", messages);
	char *got = dump(t);
	ck_assert_str_eq(got, expected);
	ck_assert_uint_eq(d.count, 0);
	free(messages);
	free(got);
	trace_free(t);
	diags_free(&d);
}

static void expect_under(const char *script, struct trace_rules rules,
                         const char *expected)
{
	expect_finished(script_run(script, rules), expected);
}

static void expect(const char *script, const char *expected)
{
	expect_under(script, plain_rules(), expected);
}

static void expect_error_of(struct trace_builder *b, const char *expected)
{
	struct diags d = { 0 };
	struct trace *t = trace_builder_finish(b, &d);
	char *messages = diags_to_text(&d);
	ck_assert_msg(!t, "finished");
	ck_assert_str_eq(messages, expected);
	ck_assert_str_eq(d.items[0].file, "test.txt");
	free(messages);
	diags_free(&d);
}

static void expect_error(const char *script, struct trace_rules rules,
                         const char *expected)
{
	expect_error_of(script_run(script, rules), expected);
}

/* ---- numbers and sources ---- */

START_TEST(numbers_follow_sessions)
{
	expect("A1:wx=1 B2:wy=2 A3:rx=1 B4:ry=2 A5:ry=0",
	       "A [1 wx=1] [3 rx=1<1] [5 ry=0<0] | B [2 wy=2] [4 ry=2<2]");
	expect("A1:wx=1 B2:wx=2 A1:wy=3 B2:wy=4 A1:ry=3 C3:rx=1 C3:ry=4 B4",
	       "A [1 wx=1 wy=3 ry=3<s] | B [2 wx=2 wy=4] [4] | "
	       "C [3 rx=1<1 ry=4<2]");
	expect("A1", "A [1]");
}
END_TEST

START_TEST(reads_by_value)
{
	/* the last write of a transaction is final, its own read sees it */
	expect("A1:wx=1 A1:rx=1 A1:wx=2 A1:rx=2 B2:rx=2 B3:rx=0",
	       "A [1 wx=1- rx=1<s wx=2 rx=2<s] | B [2 rx=2<1] [3 rx=0<0]");
	/* who writes the initial value is read, unless it stands for init */
	expect("A1:wx=0 B2:rx=0 B2:ry=0", "A [1 wx=0] | B [2 rx=0<1 ry=0<0]");
	/* numbers, texts and null are different values */
	expect("A1:wx=1 A1:wy=\"1\" B2:wx=\"1\" B2:wy=1 B3:wx=nil "
	       "C4:rx=1 C4:ry=\"1\" C5:rx=\"1\" C6:rx=nil",
	       "A [1 wx=1 wy=\"1\"] | B [2 wx=\"1\" wy=1] [3 wx=null] | "
	       "C [4 rx=1<1 ry=\"1\"<1] [5 rx=\"1\"<2] [6 rx=null<3]");
}
END_TEST

START_TEST(anomalies)
{
	expect("A1:rx=7", "A [1 rx=7<?]; thin-air 1 rx=7<?");
	expect("A1!:wx=7 B2:rx=7", "A [1! wx=7] | B [2 rx=7<?]; "
	                           "G1a 2 rx=7<? by 1 other wx=7");
	expect("A1:wx=7 A1:wx=8 B2:rx=7", "A [1 wx=7- wx=8] | B [2 rx=7<1]; "
	                                  "G1b 2 rx=7<1 by 1 other wx=7-");
	expect("A1:wx=7 B2:wx=8 B2:rx=7", "A [1 wx=7] | B [2 wx=8 rx=7<?]; "
	                                  "internal 2 rx=7<? other wx=8");
	expect("A1:wx=7 A1:wx=8 A1:rx=7",
	       "A [1 wx=7- wx=8 rx=7<?]; internal 1 rx=7<? other wx=8");
	expect("A1:wx=7 A1:rx=0", "A [1 wx=7 rx=0<?]; "
	                          "internal 1 rx=0<? other wx=7");
	expect("A1:rx=7 A1:wx=7", "A [1 rx=7<? wx=7]; "
	                          "future 1 rx=7<? other wx=7");
	ck_assert(trace_anomaly_forbidden_always(ANOMALY_THIN_AIR));
	ck_assert(!trace_anomaly_forbidden_always(ANOMALY_ABORTED));
	ck_assert_str_eq(trace_anomaly_name(ANOMALY_ABORTED),
	                 "aborted read (G1a)");
}
END_TEST

/* In order of transaction and operation, whatever the order of the file. */
START_TEST(anomalies_in_order)
{
	expect("B2:rx=7 A1:ry=8 B2:ry=9 A1:wx=1",
	       "B [2 rx=7<? ry=9<?] | A [1 ry=8<? wx=1]; "
	       "thin-air 2 rx=7<?; thin-air 2 ry=9<?; thin-air 1 ry=8<?");
	struct trace_builder *b = script_run(
		"B2:rx=7 A1:ry=8 B2:ry=1 C3:rx=0 A1:wy=1", plain_rules());
	trace_anomaly_add(b, ANOMALY_LISTS, 2, 3);
	trace_anomaly_add(b, ANOMALY_LISTS, 2, 3);
	trace_anomaly_add(b, ANOMALY_INTERNAL, 1, TRACE_NONE);
	expect_finished(b, "B [2 rx=7<? ry=1<1] | A [1 ry=8<? wy=1] | "
	                   "C [3 rx=0<0]; thin-air 2 rx=7<?; "
	                   "incompatible-order 2 ry=1<1 by 3 other rx=0<0; "
	                   "thin-air 1 ry=8<?; internal 1 ry=8<?");
}
END_TEST

START_TEST(anomalies_beyond_those_kept)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("test.txt", &rules);
	struct diags d = { 0 };
	uint32_t key = trace_key_number(b, -5);
	for (uint32_t i = 0; i < 3000; i++)
		trace_op_add(b,
		             trace_transaction_new(
				     b, trace_session_number(b, i % 3), 0, i),
		             EVENT_READ, key, trace_value_number(i + 1), i);
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_uint_eq(t->anomaly_count, TRACE_ANOMALIES_KEPT);
	ck_assert_uint_eq(t->anomalies_found[ANOMALY_THIN_AIR], 3000);
	for (uint32_t i = 0; i < t->anomaly_count; i++)
		ck_assert_uint_eq(t->anomalies[i].transaction, i + 1);
	trace_free(t);
}
END_TEST

START_TEST(outcomes)
{
	struct trace_rules counting = plain_rules();
	counting.aborted_reads = true;
	/* reads of aborted transactions count only if the format says so */
	expect("A1!:rx=7 A1!:wy=1 A1!:ry=1", "A [1! rx=7<? wy=1 ry=1<?]");
	expect_under("A1!:rx=7 A2:wx=8 A3!:rx=8 A3!:wx=9 A3!:rx=9", counting,
	             "A [1! rx=7<?] [2 wx=8] [3! rx=8<2 wx=9 rx=9<s]; "
	             "thin-air 1 rx=7<?");
	/* unknown: committed if somebody read from it who did */
	expect("A1?:wx=1 A1?:ry=5 B2:rx=1 C3?:wx=2 D4?:rx=2",
	       "A [1 wx=1 ry=5<?] | B [2 rx=1<1] | C [3? wx=2] | "
	       "D [4? rx=2<?]; thin-air 1 ry=5<?");
	expect("B2:rx=1 A1?:wx=1 A1?:ry=2 C3?:wy=2",
	       "B [2 rx=1<1] | A [1 wx=1 ry=2<3] | C [3 wy=2]");
}
END_TEST

#define WRITES_INITIAL                                                      \
	", which in this format is the value that it has initially; it is " \
	"then unclear who reads it: write another value, or use a format "  \
	"that names the writer that is read (isoscope)\n"

START_TEST(the_initial_transaction)
{
	struct trace_rules rules = plain_rules();
	rules.initial_transaction = true;
	/* its session goes with it when nothing else is there */
	expect_under("Z9:wx=0 Z9:wy=0 A1:rx=0 A1:wx=1 B2:ry=0 B2:rx=1", rules,
	             "A [1 rx=0<0 wx=1] | B [2 ry=0<0 rx=1<1]");
	expect_under("A1:rx=0 A1:wx=1 Z9:wx=0 Z9:wy=0", rules,
	             "A [1 rx=0<0 wx=1]");
	expect_under("A1:rx=0 Z9:wx=0 A1:wx=1 Z9:wy=0 A1:ry=0", rules,
	             "A [1 rx=0<0 wx=1 ry=0<0]");
	/* in two parts, at the beginning of a session */
	expect_under("A9:wx=0 A8:wy=0 A1:rx=0 A1:wx=1 B2:ry=0", rules,
	             "A [1 rx=0<0 wx=1] | B [2 ry=0<0]");
	/* not what comes later, reads, or writes something else */
	expect_error(
		"A1:wx=1 A9:wx=0 B3:wy=0 B3:rx=1 C5:rx=0 C5:ry=0", rules,
		"error:2:0: A.2 t9 (line 2) writes 0 to key x" WRITES_INITIAL
		"error:3:0: B.1 t3 (line 3) writes 0 to key y, which in this "
		"format is the value that it has initially\n");
	expect_error(
		"A9!:wx=0 B1:rx=0", rules,
		"error:1:0: A.1 t9 (line 1) writes 0 to key x" WRITES_INITIAL);
	/* nothing but it */
	expect_under("A9:wx=0 B8:wy=0", rules, "A | B");
}
END_TEST

START_TEST(unknown_values_as_initial)
{
	struct trace_rules rules = plain_rules();
	rules.unknown_is_initial = true;
	expect_under("A1:rx=7 B2:wy=1 B3:ry=1 B3:ry=2", rules,
	             "A [1 rx=0<0] | B [2 wy=1] [3 ry=1<2 ry=0<0]");
	/* several: each has a writer; what was there initially is another */
	expect_under("A1:rx=7 A2:rx=8 A3:rx=7 B4:ry=1 B5:ry=0", rules,
	             "A [1 rx=7<0] [2 rx=8<0] [3 rx=7<0] | "
	             "B [4 ry=1<0] [5 ry=0<0] | "
	             "unseen1 [0 wx=7] | unseen2 [0 wx=8] | unseen3 [0 wy=1]");
	/* beside transactions that stand for init */
	rules.initial_transaction = true;
	expect_under("A9:wx=0 B1:rx=7 B1:wx=5 B2:rx=8", rules,
	             "B [1 rx=7<0 wx=5] [2 rx=8<0] | unseen1 [0 wx=7] | "
	             "unseen2 [0 wx=8]");
}
END_TEST

START_TEST(named_sources)
{
	/* values may repeat, and may be missing */
	expect("A1:wx=7 B2:wx=7 C3:rx=7<1 D4:rx<2 D4:ry<0 D4:wy=1 D4:ry<s",
	       "A [1 wx=7] | B [2 wx=7] | C [3 rx=7<1] | "
	       "D [4 rx=7<2 ry=0<0 wy=1 ry=1<s]");
	/* init is read although somebody writes the same value */
	expect("A1:wx=0 B2:rx=0<0 B3:rx=0<1",
	       "A [1 wx=0] | B [2 rx=0<0] [3 rx=0<1]");
	/* the last of equal writes of one transaction is what counts */
	expect("A1:wx=7 A1:wx=8 A1:wx=7 B2:rx=7<1 B3:rx=8<1",
	       "A [1 wx=7- wx=8- wx=7] | B [2 rx=7<1] [3 rx=8<1]; "
	       "G1b 3 rx=8<1 by 1 other wx=8-");
	/* anomalies by name */
	expect("A1!:wx=7 B2:rx<1 C3:rx=7<1",
	       "A [1! wx=7] | B [2 rx=7<?] | C [3 rx=7<?]; "
	       "G1a 2 rx=7<? by 1 other wx=7; G1a 3 rx=7<? by 1 other wx=7");
	expect("A1:wx=7 B2:wx=8 B2:rx=7<1 B3:rx=9<s B3:wx=9 B4:rx<4 B4:wx=1",
	       "A [1 wx=7] | B [2 wx=8 rx=7<?] [3 rx=9<? wx=9] "
	       "[4 rx=1<? wx=1]; internal 2 rx=7<? other wx=8; "
	       "future 3 rx=9<? other wx=9; future 4 rx=1<? other wx=1");
	expect("A1:wx=7 A1:rx=8<s B2?:wx=1 C3:rx<2",
	       "A [1 wx=7 rx=8<?] | B [2 wx=1] | C [3 rx=1<2]; "
	       "internal 1 rx=8<? other wx=7");
	/* only some are named: the others are looked up */
	expect("A1:wx=7 B2:wx=8 B2:wy=8 C3:rx<1 C4:rx=8",
	       "A [1 wx=7] | B [2 wx=8 wy=8] | C [3 rx=7<1] [4 rx=8<2]");
	/* a read tells the initial value that the file does not */
	expect("A1:rx=7<0 A2:rx<0 A3:rx=7", "A [1 rx=7<0] [2 rx=7<0] "
	                                    "[3 rx=7<0]");
}
END_TEST

START_TEST(formats_with_sources)
{
	struct trace_rules rules = plain_rules();
	rules.sources = true;
	expect_under("A1:wx=7 B2:wx=7 C3:wx=7", rules,
	             "A [1 wx=7] | B [2 wx=7] | C [3 wx=7]");
	expect_under("A1:wx=7 A1:wx=7 B2:rx=7", rules,
	             "A [1 wx=7- wx=7] | B [2 rx=7<1]");
}
END_TEST

#define TOLD                                                                \
	"; it is then unclear who reads it: each write of a key needs a "   \
	"value of its own, or a format that names the writer that is read " \
	"(isoscope)\n"
#define CORRECT                                                             \
	"; correct the writer or the value, or leave the writer out where " \
	"values tell it\n"

START_TEST(values_written_twice)
{
	struct trace_rules rules = plain_rules();
	struct trace_rules sources = plain_rules();
	sources.sources = true;
	/* an error where it is read, and one for all who read it */
	expect_error("A1:wx=7 B2:wy=7 B3:wx=7 C4:rx=7 C5:rx=7", rules,
	             "error:3:0: the value 7 is written twice to key x, by "
	             "A.1 t1 (line 1) and by B.2 t3 (line 3)" TOLD);
	expect_error("A1!:wx=7 B2?:wx=7 C3:rx=7", rules,
	             "error:2:0: the value 7 is written twice to key x, by "
	             "A.1 t1 (line 1) and by B.1 t2 (line 2)" TOLD);
	expect_under("A1:wx=7 B2:wy=7 B3:wx=7 C4:ry=7", rules,
	             "A [1 wx=7] | B [2 wy=7] [3 wx=7] | C [4 ry=7<2]");
	/* one transaction leaves the value, however often it wrote it */
	expect_under("A1:wx=\"a\" A1:wx=\"a\" B2:rx=\"a\"", rules,
	             "A [1 wx=\"a\"- wx=\"a\"] | B [2 rx=\"a\"<1]");
	rules.initial_transaction = true;
	expect_error(
		"B3:rx=1 B3:wx=0 A1:wx=0 C2:rx=0", rules,
		"error:2:0: B.1 t3 (line 2) writes 0 to key x" WRITES_INITIAL);
	expect_under("B3:wx=1 B3:wx=0 C2:rx=1", rules,
	             "B [3 wx=1- wx=0] | C [2 rx=1<3]; "
	             "G1b 2 rx=1<3 by 3 other wx=1-");
	expect_error("A1:wx=7 B2:wx=7 B2:wx=7 C3:rx=7", sources,
	             "error:4:0: C.1 t3 (line 4) reads the value 7 of key x, "
	             "which two transactions wrote: A.1 t1 (line 1) and B.1 "
	             "t2 (line 2); the read has to name its writer\n");
	/* wherever the two stand */
	expect_error("A1:wx=7 B2:wx=7 A1:wx=7 C3:rx=7", sources,
	             "error:4:0: C.1 t3 (line 4) reads the value 7 of key x, "
	             "which two transactions wrote: A.1 t1 (line 3) and B.1 "
	             "t2 (line 2); the read has to name its writer\n");
}
END_TEST

START_TEST(wrong_sources)
{
	struct trace_rules rules = plain_rules();
	expect_error("A1:wy=7 B2:rx=7<1", rules,
	             "error:2:0: B.1 t2 (line 2) reads the value 7 of key x "
	             "from A.1 t1, which does not write that key" CORRECT);
	expect_error("A1:wx=7 B2:rx=8<1 B2:ry<2", rules,
	             "error:2:0: B.1 t2 (line 2) reads the value 8 of key x "
	             "from A.1 t1, which writes 7 to it (line 1)" CORRECT
	             "error:3:0: B.1 t2 (line 3) reads key y from itself, "
	             "which does not write that key before\n");
	expect_error("A1:rx", rules,
	             "error:1:0: A.1 t1 (line 1) reads key x with neither a "
	             "value nor a writer: one of them is needed\n");
	struct trace_builder *b = script_run("A1:rx=7<0", rules);
	trace_key_initial(b, 0, trace_value_number(3));
	expect_error_of(b, "error:1:0: A.1 t1 (line 1) reads the value 7 of "
	                   "key x from init, but the initial value of that "
	                   "key is 3; correct the one or the other\n");
}
END_TEST

START_TEST(few_errors_are_enough)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new(NULL, &rules);
	struct diags d = { 0 };
	uint32_t session = trace_session_number(b, INT64_MIN);
	for (uint32_t i = 0; i < 1000; i++)
		trace_op_add(b, trace_transaction_new(b, session, 0, 0),
		             i % 3 < 2 ? EVENT_WRITE : EVENT_READ,
		             trace_key_number(b, 1 + i / 3),
		             trace_value_number(1), 0);
	ck_assert_ptr_null(trace_builder_finish(b, &d));
	ck_assert_uint_eq(d.errors, 8);
	ck_assert_str_eq(
		d.items[0].message,
		"the value 1 is written twice to key 1, by "
		"-9223372036854775808.1 and by "
		"-9223372036854775808.2; it is then unclear who reads it"
		": each write of a key needs a value of its own, "
		"or a format that names the writer that is read "
		"(isoscope)");
	/* what to do is said once */
	ck_assert_ptr_null(strstr(d.items[1].message, "who reads it"));
	diags_free(&d);
}
END_TEST

START_TEST(frames)
{
	struct trace_rules rules = plain_rules();
	expect_error("", rules,
	             "error:0:0: the history has no session: nothing was "
	             "recorded, or the file has another format (see "
	             "--format)\n");
	struct trace_builder *b = script_run("A1:wx=1", rules);
	trace_session_new(b, "y", 1, true);
	trace_session_new(b, "z", 1, true);
	expect_error_of(b, "error:0:0: 2 sessions follow all others; only one "
	                   "can\n");
	trace_builder_free(script_run("A1:wx=1 B2:rx=1", rules));
	trace_builder_free(NULL);
	trace_free(NULL);
}
END_TEST

static void add_many(struct trace_builder *b, uint32_t transactions,
                     uint32_t ops)
{
	uint32_t session = trace_session_number(b, 1);
	uint32_t key = trace_key_number(b, 1);
	for (uint32_t i = 0; i < transactions; i++) {
		uint32_t t = trace_transaction_new(b, session, 0, 0);
		for (uint32_t k = 0; k < ops; k++)
			trace_op_add(b, t, EVENT_READ, key,
			             trace_value_number(0), 0);
	}
}

START_TEST(too_many)
{
	static const char message[] =
		"error:0:0: the history has more than 10 operations or "
		"transactions, the most that isoscope holds; check a shorter "
		"part "
		"of it\n";
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("test.txt", &rules);
	b->op_limit = 10;
	add_many(b, 3, 4);
	expect_error_of(b, message);
	b = trace_builder_new("test.txt", &rules);
	b->transaction_limit = 10;
	add_many(b, 12, 1);
	expect_error_of(b, message);
	b = trace_builder_new("test.txt", &rules);
	b->op_limit = b->transaction_limit = 10;
	add_many(b, 2, 5);
	struct diags d = { 0 };
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_uint_eq(t->op_count, 10);
	trace_free(t);
}
END_TEST

/* ---- names and values ---- */

static void expect_value(struct trace_builder *b, const char *json,
                         int64_t number, uint8_t flags)
{
	struct trace_value v = trace_value_text(b, json, strlen(json));
	ck_assert_int_eq(v.number, number);
	ck_assert_int_eq(v.flags, flags);
}

START_TEST(names_and_values)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("f", &rules);
	expect_value(b, "0", 0, 0);
	expect_value(b, "-17", -17, 0);
	expect_value(b, "9223372036854775807", INT64_MAX, 0);
	expect_value(b, "-9223372036854775808", INT64_MIN, 0);
	expect_value(b, "null", 0, TRACE_NULL);
	expect_value(b, "9223372036854775808", 0, TRACE_TEXT);
	expect_value(b, "-9223372036854775809", 1, TRACE_TEXT);
	expect_value(b, "18446744073709551616", 2, TRACE_TEXT);
	expect_value(b, "-0", 3, TRACE_TEXT);
	expect_value(b, "01", 4, TRACE_TEXT);
	expect_value(b, "-", 5, TRACE_TEXT);
	expect_value(b, "\"1\"", 6, TRACE_TEXT);
	expect_value(b, "1.5", 7, TRACE_TEXT);
	expect_value(b, "9223372036854775808", 0, TRACE_TEXT);
	/* zero bytes do not make names equal */
	uint32_t k = trace_key_named(b, "a\0b", 3);
	ck_assert_uint_ne(k, trace_key_named(b, "a\0c", 3));
	ck_assert_uint_ne(k, trace_key_named(b, "a", 1));
	ck_assert_uint_eq(trace_key_named(b, "a", 1),
	                  trace_key_named(b, "ab", 1));
	ck_assert_uint_eq(trace_key_number(b, 7), trace_key_number(b, 7));
	ck_assert_uint_ne(trace_key_number(b, 7), trace_key_number(b, -7));
	ck_assert_uint_eq(trace_session_named(b, "bob", 3),
	                  trace_session_named(b, "bob2", 3));
	ck_assert_uint_ne(trace_session_named(b, "7", 1),
	                  trace_session_number(b, 7));
	trace_builder_free(b);
}
END_TEST

/* ---- lists ---- */

static struct trace_rules list_rules(void)
{
	return (struct trace_rules){ .initial = trace_value_null(),
		                     .lists = true };
}

static void add_versions(struct trace_builder *b, const char *key,
                         const char *elements)
{
	struct trace_value values[20];
	uint32_t count = 0;
	for (const char *c = elements; *c; c++)
		values[count++] = trace_value_number(*c - '0');
	trace_key_versions(b, trace_key_named(b, key, 1), values, count);
}

static void expect_list(const char *script, const char *elements,
                        const char *expected)
{
	struct trace_builder *b = script_run(script, list_rules());
	add_versions(b, "x", elements);
	expect_finished(b, expected);
}

START_TEST(orders_of_lists)
{
	expect_list("A1:ax=1 A1:ax=2 B2:ax=3 C3:lx=3 C4:lx=nil C5:lx=2", "123",
	            "A [1 ax=1- ax=2] | B [2 ax=3] | "
	            "C [3 lx=3<2] [4 lx=null<0] [5 lx=2<1]; 1 -x-> 2");
	/* what was not read comes last; what aborted or is unknown, not */
	expect_list("A1:ax=1 B2:ax=2 C3:ax=3 C3:ax=7 D4!:ax=4 E5?:ax=5 F6:lx=2",
	            "12",
	            "A [1 ax=1] | B [2 ax=2] | C [3 ax=3- ax=7] | D [4! ax=4] "
	            "| E [5? ax=5] | F [6 lx=2<2]; 1 -x-> 2; 2 -x-> 3");
	/* an element in the middle was read too */
	expect_list("A1?:ax=1 B2:ax=2 C3:lx=2", "12",
	            "A [1 ax=1] | B [2 ax=2] | C [3 lx=2<2]; 1 -x-> 2");
	/* own elements */
	expect_list("A1:ax=1 B2:lx=1 B2:ax=2 B2:lx=2 B2:ax=3", "12",
	            "A [1 ax=1] | B [2 lx=1<1 ax=2- lx=2<s ax=3]; 1 -x-> 2");
	/* mixed appends order both ways: once each */
	expect_list("A1:ax=1 A1:ax=3 A1:ax=5 B2:ax=2 B2:ax=4 C3:lx=5", "12345",
	            "A [1 ax=1- ax=3- ax=5] | B [2 ax=2- ax=4] | "
	            "C [3 lx=5<1]; 1 -x-> 2; 2 -x-> 1");
	expect_list("A1:ax=1 A1:ax=2 B2:ax=3 C3:lx=1", "1",
	            "A [1 ax=1- ax=2] | B [2 ax=3] | C [3 lx=1<1]; "
	            "G1b 3 lx=1<1 by 1 other ax=1-; 1 -x-> 2");
	expect_list("A1:ax=1 B2:lx=nil", "", "A [1 ax=1] | B [2 lx=null<0]");
}
END_TEST

START_TEST(bad_elements_of_lists)
{
	expect_list("A1:ax=1 B2!:ax=2 C3:ax=3 D4:lx=1 D5:lx=2 D6:lx=3", "123",
	            "A [1 ax=1] | B [2! ax=2] | C [3 ax=3] | "
	            "D [4 lx=1<1] [5 lx=2<?] [6 lx=3<3]; "
	            "G1a 5 lx=2<? by 2 other ax=2; "
	            "G1a 6 lx=3<3 by 2 other ax=2; 1 -x-> 3");
	expect_list("A1:ax=1 C3:ax=3 D4:lx=1 D6:lx=3", "193",
	            "A [1 ax=1] | C [3 ax=3] | D [4 lx=1<1] [6 lx=3<3]; "
	            "thin-air 6 lx=3<3; 1 -x-> 3");
}
END_TEST

/* ---- the twin of lists ---- */

enum { LIST_TRANSACTIONS = 8, LIST_APPENDS = 12 };

/* Transactions 1 .. append elements 1 .. to one key; the list that was read
 * has some of the elements, some of which nobody or an aborted one wrote. */
struct lists {
	uint8_t status[LIST_TRANSACTIONS + 1];
	bool read[LIST_TRANSACTIONS + 1];  /* from: so it did commit */
	uint32_t writer[LIST_APPENDS + 1]; /* by element; 0: nobody */
	uint32_t versions[LIST_APPENDS], count;
	bool pairs[LIST_TRANSACTIONS + 1][LIST_TRANSACTIONS + 1];
};

static bool counts(const struct lists *l, uint32_t element)
{
	uint32_t t = l->writer[element];
	return t && (l->status[t] == TRACE_COMMITTED ||
	             (l->status[t] == TRACE_UNKNOWN && l->read[t]));
}

static void make_lists(struct lists *l, struct rng *r)
{
	*l = (struct lists){ .count = 0 };
	for (uint32_t t = 1; t <= LIST_TRANSACTIONS; t++)
		l->status[t] = rng_below(r, 4) ? TRACE_COMMITTED
		                               : (uint8_t)rng_below(r, 3);
	for (uint32_t e = 1; e <= LIST_APPENDS; e++) {
		if (rng_below(r, 12))
			l->writer[e] = 1 + rng_below(r, LIST_TRANSACTIONS);
		bool aborted = l->status[l->writer[e]] == TRACE_ABORTED;
		if (rng_below(r, aborted ? 5 : 3) == 0) {
			l->versions[l->count++] = e;
			uint32_t k = rng_below(r, l->count);
			l->versions[l->count - 1] = l->versions[k];
			l->versions[k] = e;
		}
	}
	for (uint32_t i = 0; i < l->count; i++)
		l->read[l->writer[l->versions[i]]] = true;
}

static bool is_listed(const struct lists *l, uint32_t element)
{
	for (uint32_t i = 0; i < l->count; i++)
		if (l->versions[i] == element) return true;
	return false;
}

/* By definition: neighbours among the elements that count, and the last of
 * these before all that were not read. */
static void find_pairs(struct lists *l)
{
	uint32_t last = 0;
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t e = l->versions[i];
		if (!counts(l, e)) continue;
		if (last && last != l->writer[e])
			l->pairs[last][l->writer[e]] = true;
		last = l->writer[e];
	}
	for (uint32_t e = 1; last && e <= LIST_APPENDS; e++)
		if (counts(l, e) && !is_listed(l, e) && l->writer[e] != last)
			l->pairs[last][l->writer[e]] = true;
}

/* Every prefix is read, by a transaction each. */
static struct trace *build_lists(const struct lists *l)
{
	struct trace_rules rules = list_rules();
	struct trace_builder *b = trace_builder_new("lists", &rules);
	struct trace_value values[LIST_APPENDS];
	struct diags d = { 0 };
	uint32_t key = trace_key_number(b, 5);
	for (uint32_t t = 1; t <= LIST_TRANSACTIONS; t++)
		trace_transaction_new(b, trace_session_number(b, 0),
		                      (enum trace_status)l->status[t], 0);
	for (uint32_t e = 1; e <= LIST_APPENDS; e++) {
		if (!l->writer[e]) continue;
		trace_op_add(b, l->writer[e], EVENT_WRITE, key,
		             trace_value_number(e), 0);
		trace_op_list(b);
	}
	for (uint32_t i = 0; i <= l->count; i++) {
		struct trace_value v = trace_value_null();
		if (i) v = trace_value_number(l->versions[i - 1]);
		uint32_t t = trace_transaction_new(
			b, trace_session_number(b, 1), TRACE_COMMITTED, 0);
		trace_op_add(b, t, EVENT_READ, key, v, 0);
		trace_op_list(b);
		if (i) values[i - 1] = v;
	}
	trace_key_versions(b, key, values, l->count);
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_ptr_nonnull(t);
	return t;
}

/* Does a read of the first `length` elements see one that should not be? And
 * is its last one not the last of its transaction? */
static bool sees_bad(const struct lists *l, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		uint32_t t = l->writer[l->versions[i]];
		if (!t || l->status[t] == TRACE_ABORTED) return true;
	}
	return false;
}

static bool sees_part(const struct lists *l, uint32_t length)
{
	uint32_t e = length ? l->versions[length - 1] : 0;
	for (uint32_t later = e + 1; e && later <= LIST_APPENDS; later++)
		if (l->writer[later] == l->writer[e]) return true;
	return false;
}

static void compare_lists(const struct lists *l, const struct trace *t)
{
	uint32_t pairs = 0;
	for (uint32_t a = 1; a <= LIST_TRANSACTIONS; a++)
		for (uint32_t b = 1; b <= LIST_TRANSACTIONS; b++)
			pairs += l->pairs[a][b];
	ck_assert_uint_eq(t->known_count, pairs);
	for (uint32_t i = 0; i < t->known_count; i++)
		ck_assert(l->pairs[t->known[i].from][t->known[i].to]);
	for (uint32_t i = 0; i <= l->count; i++) {
		bool bad = false, part = false;
		for (uint32_t k = 0; k < t->anomaly_count; k++) {
			const struct trace_anomaly *a = &t->anomalies[k];
			if (a->transaction != LIST_TRANSACTIONS + 1 + i)
				continue;
			if (a->kind == ANOMALY_INTERMEDIATE) part = true;
			if (a->kind == ANOMALY_ABORTED ||
			    a->kind == ANOMALY_THIN_AIR)
				bad = true;
		}
		ck_assert(bad == sees_bad(l, i));
		if (!bad) ck_assert(part == sees_part(l, i));
	}
}

START_TEST(lists_like_the_twin)
{
	struct rng r = seeded(400 + (uint64_t)_i);
	for (int i = 0; i < 10000; i++) {
		struct lists l;
		make_lists(&l, &r);
		find_pairs(&l);
		struct trace *t = build_lists(&l);
		compare_lists(&l, t);
		trace_free(t);
	}
}
END_TEST

/* ---- the twin: sources by searching everything ---- */

struct twin_op {
	uint32_t session, transaction; /* transaction: also its number */
	bool write;
	uint32_t key;
	int64_t value;
	int64_t from; /* what the twin finds: -1 self, -2 nobody, 0 init */
	int anomaly;  /* or -1 */
};

enum { MADE_OPS = 60, MADE_TRANSACTIONS = 12 };

struct twin {
	struct twin_op ops[MADE_OPS];
	uint32_t count;
	uint8_t status[MADE_TRANSACTIONS + 1];
	bool read_from[MADE_TRANSACTIONS + 1];
};

/* Operations of transactions whose numbers tell their sessions: as the sorted
 * trace has them. Values of reads are any, mostly written ones. */
static void make_ops(struct twin *w, struct rng *r)
{
	uint32_t keys = 1 + rng_below(r, 4), next = 1;
	*w = (struct twin){ .count = 1 + rng_below(r, MADE_OPS) };
	for (uint32_t t = 1; t <= MADE_TRANSACTIONS; t++)
		w->status[t] = rng_below(r, 4) ? TRACE_COMMITTED
		                               : (uint8_t)rng_below(r, 3);
	for (uint32_t i = 0; i < w->count; i++) {
		struct twin_op *op = &w->ops[i];
		op->transaction = 1 + rng_below(r, MADE_TRANSACTIONS);
		op->session = (op->transaction - 1) / 3;
		op->write = rng_below(r, 2);
		op->key = rng_below(r, keys);
		if (op->write) op->value = next++;
	}
	for (uint32_t i = 0; i < w->count; i++) {
		struct twin_op *op = &w->ops[i];
		if (op->write) continue;
		op->value = rng_below(r, 5) ? 0 : rng_below(r, 40);
		for (int attempt = 0; attempt < 6; attempt++) {
			struct twin_op *o = &w->ops[rng_below(r, w->count)];
			if (o->write && o->key == op->key) op->value = o->value;
		}
	}
}

static void twin_source(struct twin *w, uint32_t i)
{
	struct twin_op *op = &w->ops[i];
	const struct twin_op *own = NULL, *writer = NULL;
	bool final = true;
	op->from = -2;
	op->anomaly = -1;
	if (w->status[op->transaction] == TRACE_ABORTED ||
	    (w->status[op->transaction] == TRACE_UNKNOWN &&
	     !w->read_from[op->transaction]))
		return;
	for (uint32_t k = 0; k < w->count; k++) {
		const struct twin_op *o = &w->ops[k];
		if (!o->write || o->key != op->key) continue;
		if (k < i && o->transaction == op->transaction) own = o;
		if (o->value == op->value)
			writer = o;
		else if (writer && writer->transaction == o->transaction)
			final = false;
	}
	if (own) {
		op->from = own->value == op->value ? -1 : -2;
		if (op->from == -2) op->anomaly = ANOMALY_INTERNAL;
	} else if (!writer) {
		op->from = op->value ? -2 : 0;
		if (op->value) op->anomaly = ANOMALY_THIN_AIR;
	} else if (writer->transaction == op->transaction) {
		op->anomaly = ANOMALY_FUTURE;
	} else if (w->status[writer->transaction] == TRACE_ABORTED) {
		op->anomaly = ANOMALY_ABORTED;
	} else {
		op->from = writer->transaction;
		if (!final) op->anomaly = ANOMALY_INTERMEDIATE;
		w->read_from[writer->transaction] = true;
	}
}

/* Often enough for all that committed to be known. */
static void twin_sources(struct twin *w)
{
	for (int pass = 0; pass < MADE_TRANSACTIONS; pass++)
		for (uint32_t k = 0; k < w->count; k++)
			if (!w->ops[k].write) twin_source(w, k);
}

/* Adds them in the order of `place`, which keeps each transaction's order. */
static struct trace *twin_build(const struct twin *w, const uint32_t *place)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("twin", &rules);
	struct diags d = { 0 };
	uint32_t handles[MADE_TRANSACTIONS + 1];
	for (uint32_t t = 1; t <= MADE_TRANSACTIONS; t++) {
		uint32_t s = trace_session_number(b, (t - 1) / 3);
		handles[t] = trace_transaction_new(
			b, s, (enum trace_status)w->status[t], 0);
		trace_transaction_number(b, handles[t], t);
	}
	for (uint32_t k = 0; k < 4; k++) trace_key_number(b, k);
	for (uint32_t i = 0; i < w->count; i++) {
		const struct twin_op *op = &w->ops[place[i]];
		trace_op_add(b, handles[op->transaction],
		             op->write ? EVENT_WRITE : EVENT_READ,
		             trace_key_number(b, op->key),
		             trace_value_number(op->value), place[i] + 1);
	}
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_msg(t != NULL, "%s", d.count ? d.items[0].message : "");
	return t;
}

static int anomaly_of(const struct trace *t, uint32_t op)
{
	for (uint32_t i = 0; i < t->anomaly_count; i++)
		if (t->anomalies[i].op == op) return t->anomalies[i].kind;
	return -1;
}

static int64_t source_of(const struct trace_op *op)
{
	if (op->from == TRACE_SELF) return -1;
	return op->from == TRACE_NOBODY ? -2 : (int64_t)op->from;
}

static void twin_compare(const struct twin *w, const struct trace *t)
{
	uint32_t seen = 0;
	ck_assert_uint_eq(t->transaction_count, MADE_TRANSACTIONS + 1);
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		const struct trace_transaction *tr = &t->transactions[i];
		int status = w->status[i];
		if (status == TRACE_UNKNOWN && w->read_from[i])
			status = TRACE_COMMITTED;
		ck_assert_int_eq(tr->number, i);
		ck_assert_int_eq(tr->status, status);
		for (uint32_t k = 0; k < tr->op_count; k++, seen++) {
			uint32_t at = tr->first_op + k;
			const struct trace_op *op = &t->ops[at];
			const struct twin_op *o = &w->ops[op->line - 1];
			if (k) ck_assert_uint_gt(op->line, op[-1].line);
			ck_assert_uint_eq(o->transaction, i);
			ck_assert_int_eq(op->value, o->value);
			if (o->write) continue;
			ck_assert_int_eq(source_of(op), o->from);
			ck_assert_int_eq(anomaly_of(t, at), o->anomaly);
		}
	}
	ck_assert_uint_eq(seen, w->count);
}

static int compare_places(const void *a, const void *b, const struct twin *w)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t t = w->ops[x].transaction, u = w->ops[y].transaction;
	if (t != u) return t < u ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Operations of a transaction together, transactions in another order. */
static void group_places(const struct twin *w, uint32_t *place)
{
	for (uint32_t i = 1; i < w->count; i++)
		for (uint32_t k = i; k; k--) {
			uint32_t swap = place[k];
			if (compare_places(&place[k - 1], &place[k], w) < 0)
				break;
			place[k] = place[k - 1];
			place[k - 1] = swap;
		}
}

START_TEST(sources_like_the_twin)
{
	struct rng r = seeded((uint64_t)_i);
	for (int i = 0; i < fewer(5000); i++) {
		struct twin w;
		uint32_t place[MADE_OPS];
		make_ops(&w, &r);
		twin_sources(&w);
		for (uint32_t k = 0; k < w.count; k++) place[k] = k;
		struct trace *mixed = twin_build(&w, place);
		twin_compare(&w, mixed);
		group_places(&w, place);
		struct trace *grouped = twin_build(&w, place);
		twin_compare(&w, grouped);
		char *a = dump(mixed), *b = dump(grouped);
		ck_assert_str_eq(a, b);
		free(a);
		free(b);
		trace_free(mixed);
		trace_free(grouped);
	}
}
END_TEST

/* ---- histories ---- */

static struct history_shape random_shape(struct rng *r)
{
	return (struct history_shape){ .sessions = 1 + rng_below(r, 5),
		                       .transactions = 1 + rng_below(r, 12),
		                       .events = 1 + rng_below(r, 6),
		                       .keys = 1 + rng_below(r, 5) };
}

static void expect_same_history(const struct history *a,
                                const struct history *b)
{
	struct text t = { 0 }, u = { 0 };
	history_print_canonical(&t, a);
	history_print_canonical(&u, b);
	ck_assert_str_eq(text_get(&t), text_get(&u));
	text_free(&t);
	text_free(&u);
}

static bool is_order(const struct history *h, const uint32_t *order)
{
	uint32_t place[64] = { 0 };
	for (uint32_t i = 0; i < h->transaction_count; i++) {
		ck_assert_uint_lt(order[i], h->transaction_count);
		ck_assert_uint_eq(place[order[i]], 0);
		place[order[i]] = i + 1;
	}
	for (uint32_t a = 0; a < h->transaction_count; a++)
		for (uint32_t b = 0; b < h->transaction_count; b++)
			if ((twin_session_order(h, a, b) ||
			     twin_write_read(h, a, b)) &&
			    place[a] >= place[b])
				return false;
	return order[0] == HISTORY_INIT;
}

START_TEST(histories_and_back)
{
	struct rng r = seeded(100 + (uint64_t)_i);
	for (int i = 0; i < 2000; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		for (uint32_t k = 1; k < h->transaction_count; k++)
			h->transactions[k].own = (uint8_t)rng_below(&r, 9);
		struct trace *t = trace_of_history(h, "memory");
		uint32_t *numbers;
		struct history *back = trace_history(t, NULL, &numbers);
		expect_same_history(h, back);
		for (uint32_t k = 0; k < h->transaction_count; k++) {
			ck_assert_uint_eq(numbers[k], k);
			ck_assert_uint_eq(back->transactions[k].own,
			                  h->transactions[k].own);
		}
		ck_assert(is_order(back, back->order));
		ck_assert_uint_eq(t->anomaly_count, 0);
		free(numbers);
		trace_free(t);
		history_free(h);
		history_free(back);
	}
}
END_TEST

/* By value, what the names of sources say. */
START_TEST(values_tell_the_sources)
{
	struct rng r = seeded(200 + (uint64_t)_i);
	for (int i = 0; i < 2000; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		struct trace *t = trace_of_history(h, "memory");
		struct trace_rules rules = plain_rules();
		rules.aborted_reads = true;
		struct trace_builder *b = trace_builder_new("memory", &rules);
		struct diags d = { 0 };
		for (uint32_t k = 0; k < h->key_count; k++)
			trace_key_named(b, h->keys[k].name,
			                strlen(h->keys[k].name));
		for (uint32_t s = 0; s < h->session_count; s++)
			trace_session_named(b, h->sessions[s].name,
			                    strlen(h->sessions[s].name));
		for (uint32_t n = 1; n < h->transaction_count; n++) {
			const struct transaction *w = &h->transactions[n];
			uint32_t handle = trace_transaction_new(
				b, w->session,
				w->aborted ? TRACE_ABORTED : TRACE_COMMITTED,
				0);
			for (uint32_t k = 0; k < w->event_count; k++)
				trace_op_add(b, handle, w->events[k].kind,
				             w->events[k].key,
				             trace_value_number(
						     w->events[k].value.i),
				             0);
		}
		struct trace *u = trace_builder_finish(b, &d);
		char *x = dump(t), *y = dump(u);
		ck_assert_str_eq(x, y);
		free(x);
		free(y);
		trace_free(t);
		trace_free(u);
		history_free(h);
	}
}
END_TEST

static void check_round_trip(struct value v, struct region *r)
{
	struct event e = { .kind = EVENT_WRITE, .value = v };
	struct transaction w[2] = {
		{ .name = "init", .session = UINT32_MAX },
		{ .name = "T", .event_count = 1, .events = &e }
	};
	struct history_session s = { .name = "a", .first = 1, .count = 1 };
	struct history_key k = { .name = "x", .initial = v };
	struct history h = { .session_count = 1,
		             .transaction_count = 2,
		             .key_count = 1,
		             .sessions = &s,
		             .transactions = w,
		             .keys = &k };
	(void)r;
	struct trace *t = trace_of_history(&h, NULL);
	struct history *back = trace_history(t, NULL, NULL);
	expect_same_history(&h, back);
	ck_assert(value_equal(back->keys[0].initial, v));
	ck_assert(value_equal(back->transactions[1].events[0].value, v));
	history_free(back);
	trace_free(t);
}

START_TEST(rich_values)
{
	struct region r;
	region_init(&r);
	struct value items[] = { value_int(3), value_string(&r, "b\"\n", 3),
		                 value_null(), value_bool(true),
		                 value_int(INT64_MIN) };
	struct value pairs[] = { value_string(&r, "set", 3), value_int(1),
		                 value_string(&r, "a", 1), items[1] };
	struct value all[8] = { value_null(),
		                value_bool(false),
		                value_string(&r, "", 0),
		                value_sequence(&r, VALUE_TUPLE, items, 5),
		                value_sequence(&r, VALUE_LIST, items, 0),
		                value_set(&r, items, 5),
		                value_record(&r, pairs, 2),
		                value_record(&r, pairs, 1) };
	for (int i = 0; i < 8; i++) check_round_trip(all[i], &r);
	check_round_trip(value_sequence(&r, VALUE_LIST, all, 8), &r);
	struct value deep = value_int(1);
	for (int i = 0; i < VALUE_DEPTH_MAX; i++)
		deep = value_sequence(&r, VALUE_TUPLE, &deep, 1);
	check_round_trip(deep, &r);
	region_free(&r);
}
END_TEST

/* What is no value of the language is shown as it is. */
START_TEST(foreign_values)
{
	static const char *const texts[] = { "1.5", "18446744073709551616",
		                             "[1,2]", "{\"x\":1}", "tru" };
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("f", &rules);
	struct diags d = { 0 };
	uint32_t t = trace_transaction_new(b, trace_session_number(b, 1), 0, 0);
	for (int i = 0; i < 5; i++)
		trace_op_add(b, t, EVENT_WRITE, trace_key_number(b, i),
		             trace_value_text(b, texts[i], strlen(texts[i])),
		             0);
	struct trace *r = trace_builder_finish(b, &d);
	struct history *h = trace_history(r, NULL, NULL);
	struct text out = { 0 };
	for (int i = 0; i < 5; i++) {
		value_print_json(&out, h->transactions[1].events[i].value);
		text_char(&out, ' ');
	}
	ck_assert_str_eq(text_get(&out),
	                 "\"1.5\" \"18446744073709551616\" {\"list\":[1,2]} "
	                 "{\"record\":{\"x\":1}} \"tru\" ");
	text_free(&out);
	history_free(h);
	trace_free(r);
}
END_TEST

/* ---- parts ---- */

static struct trace *finished(const char *script, struct trace_rules rules)
{
	struct diags d = { 0 };
	struct trace *t = trace_builder_finish(script_run(script, rules), &d);
	ck_assert_ptr_nonnull(t);
	return t;
}

static void expect_part(const struct trace *t, const struct trace_part *part,
                        const char *notation)
{
	struct history *h = trace_history(t, part, NULL);
	char *got = history_to_notation(h);
	ck_assert_str_eq(got, notation);
	ck_assert_ptr_nonnull(h->order);
	ck_assert(is_order(h, h->order));
	free(got);
	history_free(h);
}

START_TEST(parts)
{
	struct trace *t = finished("A1:wx=1 A1:rx=1 A2:ry=0 B3:rx=1 B3:wy=2 "
	                           "C4?:wy=9 C5!:wz=3 D6:rz=3 D6:ry=2",
	                           plain_rules());
	uint32_t some[] = { 1, 3, 6 };
	bool ops[] = { true, true, true, true, false, true, true, true, true };
	struct trace_part part = { .transactions = some, .count = 3 };
	expect_part(t, NULL,
	            "t1: Wx x<self ; t2: y<0 | t3: x<t1 Wy | "
	            "t5!: Wz | t6: y<t3");
	expect_part(t, &part, "t1: Wx x<self | t3: x<t1 Wy | t6: y<t3");
	part.ops = ops;
	expect_part(t, &part, "t1: Wx x<self | t3: x<t1 | t6:");
	ops[0] = false;
	expect_part(t, &part, "t1: | t3: | t6:");
	part = (struct trace_part){ .ops = ops };
	expect_part(t, &part, "t1: ; t2: y<0 | t3: | t5!: Wz | t6:");
	uint32_t *numbers;
	part = (struct trace_part){ .transactions = some + 2, .count = 1 };
	struct history *h = trace_history(t, &part, &numbers);
	ck_assert_uint_eq(h->session_count, 1);
	ck_assert_uint_eq(h->key_count, 0);
	ck_assert_str_eq(h->sessions[0].name, "D");
	ck_assert_uint_eq(numbers[1], 6);
	free(numbers);
	history_free(h);
	trace_free(t);
}
END_TEST

/* ---- the twin of parts ---- */

struct cut {
	const struct history *h;
	const struct trace *t;
	bool transactions[64];
	bool *ops; /* NULL: all */
};

static uint32_t place_of(const struct cut *c, uint32_t t, uint32_t event)
{
	return c->t->transactions[t].first_op + event;
}

/* Is a write of the key kept, among the first `end` events of t? */
static bool still_written(const struct cut *c, uint32_t t, uint32_t key,
                          uint32_t end)
{
	const struct transaction *w = &c->h->transactions[t];
	if (t == HISTORY_INIT) return true;
	for (uint32_t i = 0; i < end && i < w->event_count; i++)
		if (w->events[i].kind == EVENT_WRITE &&
		    w->events[i].key == key &&
		    (!c->ops || c->ops[place_of(c, t, i)]))
			return c->transactions[t];
	return false;
}

static bool is_kept(const struct cut *c, uint32_t t, uint32_t event)
{
	const struct event *e = &c->h->transactions[t].events[event];
	if (c->ops && !c->ops[place_of(c, t, event)]) return false;
	if (e->kind == EVENT_WRITE) return true;
	return e->from == HISTORY_SELF
	               ? still_written(c, t, e->key, event)
	               : still_written(c, e->from, e->key, UINT32_MAX);
}

static void compare_event(const struct cut *c, const struct history *part,
                          const struct event *a, const struct event *b,
                          const uint32_t *numbers)
{
	ck_assert_int_eq(a->kind, b->kind);
	ck_assert_str_eq(c->h->keys[a->key].name, part->keys[b->key].name);
	ck_assert(value_equal(a->value, b->value));
	if (a->kind == EVENT_WRITE) return;
	if (a->from == HISTORY_SELF)
		ck_assert_uint_eq(b->from, HISTORY_SELF);
	else
		ck_assert_uint_eq(numbers[b->from], a->from);
}

static void compare_cut(const struct cut *c, const struct history *part,
                        const uint32_t *numbers)
{
	uint32_t n = 0;
	for (uint32_t t = 1; t < c->h->transaction_count; t++) {
		const struct transaction *w = &c->h->transactions[t], *v;
		uint32_t event = 0;
		if (!c->transactions[t]) continue;
		ck_assert_uint_lt(++n, part->transaction_count);
		ck_assert_uint_eq(numbers[n], t);
		v = &part->transactions[n];
		ck_assert_str_eq(v->name, w->name);
		ck_assert_uint_eq(v->index, w->index);
		ck_assert_int_eq(v->aborted, w->aborted);
		ck_assert_str_eq(part->sessions[v->session].name,
		                 c->h->sessions[w->session].name);
		for (uint32_t i = 0; i < w->event_count; i++) {
			if (!is_kept(c, t, i)) continue;
			ck_assert_uint_lt(event, v->event_count);
			compare_event(c, part, &w->events[i],
			              &v->events[event++], numbers);
		}
		ck_assert_uint_eq(event, v->event_count);
	}
	ck_assert_uint_eq(n + 1, part->transaction_count);
	ck_assert(is_order(part, part->order));
}

static void cut_and_compare(struct cut *c, struct rng *r)
{
	uint32_t chosen[64], *numbers;
	uint32_t modes = 1 + rng_below(r, 3);
	struct trace_part part = { 0 };
	for (uint32_t t = 1; t < c->h->transaction_count; t++) {
		c->transactions[t] = modes == 2 || rng_below(r, 3);
		if (c->transactions[t]) chosen[part.count++] = t;
	}
	c->ops = mem_take0(c->t->op_count, sizeof *c->ops);
	for (uint32_t i = 0; i < c->t->op_count; i++)
		c->ops[i] = rng_below(r, 4);
	if (modes != 2) part.transactions = chosen;
	bool *ops = c->ops;
	if (modes == 1) c->ops = NULL;
	part.ops = c->ops;
	struct history *h = trace_history(c->t, &part, &numbers);
	compare_cut(c, h, numbers);
	free(ops);
	free(numbers);
	history_free(h);
}

START_TEST(parts_like_the_twin)
{
	struct rng r = seeded(500 + (uint64_t)_i);
	for (int i = 0; i < 3000; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		struct trace *t = trace_of_history(h, NULL);
		struct cut c = { .h = h, .t = t };
		cut_and_compare(&c, &r);
		trace_free(t);
		history_free(h);
	}
}
END_TEST

START_TEST(indexes_in_parts)
{
	struct trace *t = finished("A1:wx=1 A2:wx=2 A3:wx=3", plain_rules());
	uint32_t some[] = { 1, 3 };
	struct trace_part part = { .transactions = some, .count = 2 };
	struct history *h = trace_history(t, &part, NULL);
	ck_assert_uint_eq(h->transactions[1].index, 0);
	ck_assert_uint_eq(h->transactions[2].index, 2);
	history_free(h);
	trace_free(t);
}
END_TEST

START_TEST(keys_are_sorted)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("f", &rules);
	struct diags d = { 0 };
	uint32_t t = trace_transaction_new(b, trace_session_number(b, 1), 0, 0);
	for (int i = 12; i >= 8; i--)
		trace_op_add(b, t, EVENT_WRITE, trace_key_number(b, i),
		             trace_value_number(i), 0);
	trace_key_named(b, "a", 1);
	struct trace *r = trace_builder_finish(b, &d);
	struct history *h = trace_history(r, NULL, NULL);
	ck_assert_uint_eq(h->key_count, 6);
	for (uint32_t k = 1; k < h->key_count; k++)
		ck_assert_int_lt(strcmp(h->keys[k - 1].name, h->keys[k].name),
		                 0);
	for (uint32_t i = 0; i < 5; i++) {
		const struct event *e = &h->transactions[1].events[i];
		ck_assert_int_eq(e->value.i,
		                 strtol(h->keys[e->key].name, NULL, 10));
	}
	history_free(h);
	trace_free(r);
}
END_TEST

/* Who is left out of a list leaves its neighbours ordered. */
START_TEST(known_order_in_parts)
{
	struct trace_builder *b = script_run(
		"A1:ax=1 B2:ax=2 C3:ax=3 D4:ax=4 E5:lx=3", list_rules());
	struct diags d = { 0 };
	add_versions(b, "x", "123");
	struct trace *t = trace_builder_finish(b, &d);
	uint32_t some[] = { 1, 3, 4 }, ends[] = { 1, 4 };
	struct trace_part part = { .transactions = some, .count = 3 };
	struct history *h = trace_history(t, &part, NULL);
	ck_assert_uint_eq(h->known_count, 2);
	ck_assert_uint_eq(h->known[0].from, 1);
	ck_assert_uint_eq(h->known[0].to, 2);
	ck_assert_uint_eq(h->known[1].from, 2);
	ck_assert_uint_eq(h->known[1].to, 3);
	history_free(h);
	part = (struct trace_part){ .transactions = ends, .count = 2 };
	h = trace_history(t, &part, NULL);
	ck_assert_uint_eq(h->known_count, 1);
	ck_assert_uint_eq(h->known[0].from, 1);
	ck_assert_uint_eq(h->known[0].to, 2);
	struct trace *back = trace_of_history(h, NULL);
	ck_assert_uint_eq(back->known_count, 1);
	trace_free(back);
	history_free(h);
	h = trace_history(t, NULL, NULL);
	ck_assert_uint_eq(h->known_count, 3);
	history_free(h);
	trace_free(t);
}
END_TEST

START_TEST(cycles_have_no_order)
{
	struct trace *t =
		finished("A1:rx=2 A1:wy=1 B2:ry=1 B2:wx=2", plain_rules());
	struct history *h = trace_history(t, NULL, NULL);
	struct facts *f = facts_of_trace(t);
	ck_assert_ptr_null(h->order);
	ck_assert_ptr_null(f->order);
	ck_assert_ptr_null(f->rank);
	facts_free(f);
	history_free(h);
	trace_free(t);
}
END_TEST

/* ---- facts ---- */

#define SAME_ARRAY(a, b, count) \
	ck_assert_int_eq((count) ? memcmp(a, b, (count) * sizeof *(a)) : 0, 0)

static void expect_same_facts(const struct facts *a, const struct facts *b)
{
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->key_count, b->key_count);
	ck_assert_uint_eq(a->session_count, b->session_count);
	ck_assert_uint_eq(a->after_all, b->after_all);
	SAME_ARRAY(a->session_first, b->session_first, a->session_count + 1);
	SAME_ARRAY(a->session_of, b->session_of, a->n);
	SAME_ARRAY(a->read_first, b->read_first, a->n + 1);
	SAME_ARRAY(a->write_first, b->write_first, a->n + 1);
	SAME_ARRAY(a->writer_first, b->writer_first, a->key_count + 1);
	SAME_ARRAY(a->reads, b->reads, a->read_first[a->n]);
	SAME_ARRAY(a->writes, b->writes, a->write_first[a->n]);
	SAME_ARRAY(a->writers, b->writers, a->writer_first[a->key_count]);
	SAME_ARRAY(a->order, b->order, a->n);
	SAME_ARRAY(a->rank, b->rank, a->n);
}

static void check_facts(const struct facts *f, const struct history *h)
{
	uint32_t reads = 0, writers = 0;
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct transaction *w = &h->transactions[t];
		ck_assert_uint_eq(f->read_first[t], reads);
		for (uint32_t i = 0; i < w->event_count; i++) {
			const struct event *e = &w->events[i];
			if (e->kind != EVENT_READ || e->from == HISTORY_SELF)
				continue;
			ck_assert_uint_eq(f->reads[reads].key, e->key);
			ck_assert_uint_eq(f->reads[reads].from, e->from);
			reads++;
		}
		for (uint32_t k = 0; k < h->key_count; k++)
			ck_assert(facts_writes(f, t, k) ==
			          twin_writes(h, t, k));
		for (uint32_t a = 0; a < h->transaction_count; a++)
			ck_assert(facts_so(f, a, t) ==
			          twin_session_order(h, a, t));
	}
	for (uint32_t k = 0; k < h->key_count; k++) {
		ck_assert_uint_eq(f->writer_first[k], writers);
		for (uint32_t t = 1; t < h->transaction_count; t++)
			if (twin_writes(h, t, k))
				ck_assert_uint_eq(f->writers[writers++], t);
	}
	ck_assert_uint_eq(f->read_first[f->n], reads);
	ck_assert_uint_eq(f->writer_first[f->key_count], writers);
	ck_assert_uint_eq(f->write_first[f->n], writers);
	ck_assert(is_order(h, f->order));
	for (uint32_t i = 0; i < f->n; i++)
		ck_assert_uint_eq(f->rank[f->order[i]], i);
}

START_TEST(facts_of_random_histories)
{
	struct rng r = seeded(300 + (uint64_t)_i);
	for (int i = 0; i < 3000; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		struct trace *t = trace_of_history(h, NULL);
		struct facts *f = facts_of_history(h), *g = facts_of_trace(t);
		check_facts(f, h);
		expect_same_facts(f, g);
		facts_free(f);
		facts_free(g);
		trace_free(t);
		history_free(h);
	}
	facts_free(NULL);
}
END_TEST

static void expect_order(const char *notation, const char *expected)
{
	struct history *h = history_from_notation(notation);
	struct facts *f = facts_of_history(h);
	struct text t = { 0 };
	ck_assert_ptr_nonnull(f->order);
	for (uint32_t i = 1; i < f->n; i++)
		text_format(&t, "%s%s", i > 1 ? " " : "",
		            h->transactions[f->order[i]].name);
	ck_assert_str_eq(text_get(&t), expected);
	text_free(&t);
	facts_free(f);
	history_free(h);
}

START_TEST(sessions_advance_side_by_side)
{
	expect_order("a: ; b: ; c: | d: ; e: | f: ; g:", "a d f b e g c");
	expect_order("a: x<e ; b: | d: ; e: Wx | f: ; g:", "d f e g a b");
	expect_order("a: | * z: | b: ; c:", "a b c z");
	expect_order("* z: ; y:", "z y");
}
END_TEST

START_TEST(facts_leave_out_what_did_not_happen)
{
	struct trace *t = finished("A1?:wx=1 A1?:ry=2 B2!:wy=2 C3:ry=2 "
	                           "C3:rx=0 D4?:wy=3 E5:ry=3",
	                           plain_rules());
	struct facts *f = facts_of_trace(t);
	ck_assert_uint_eq(f->read_first[2], 0);
	ck_assert_uint_eq(f->read_first[4], 1);
	ck_assert_uint_eq(f->read_first[6], 2);
	ck_assert_uint_eq(f->reads[1].from, 4);
	ck_assert_uint_eq(f->writer_first[f->key_count], 1);
	ck_assert_uint_eq(f->writers[0], 4);
	facts_free(f);
	trace_free(t);
}
END_TEST

/* ---- size ---- */

/* A serial history, whose operations come from several sessions at once. */
static struct trace *large(uint32_t ops, uint32_t keys, bool interleaved)
{
	struct trace_rules rules = plain_rules();
	struct trace_builder *b = trace_builder_new("large", &rules);
	struct diags d = { 0 };
	struct rng r = seeded(7);
	int64_t *current = mem_take0(keys, sizeof *current);
	uint32_t open[20] = { 0 }, s = 0;
	for (uint32_t i = 0; i < ops; i++) {
		if (interleaved || i % 10 == 0) s = rng_below(&r, 20);
		if (!open[s] || i % 10 == 0)
			open[s] = trace_transaction_new(
				b, trace_session_number(b, s), 0, i);
		uint32_t k = rng_below(&r, keys);
		bool write = rng_below(&r, 2);
		if (write) current[k] = i + 1;
		trace_op_add(b, open[s], write ? EVENT_WRITE : EVENT_READ,
		             trace_key_number(b, k),
		             trace_value_number(current[k]), i + 1);
	}
	free(current);
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->op_count, ops);
	return t;
}

START_TEST(large_traces)
{
	for (int mixed = 0; mixed < 2; mixed++) {
		struct trace *t = large(200000, 5000, mixed);
		struct facts *f = facts_of_trace(t);
		ck_assert(mixed || f->order);
		ck_assert(mixed || !t->anomaly_count);
		ck_assert_uint_eq(t->key_count, 5000);
		ck_assert_uint_eq(t->session_count, 20);
		uint64_t ops = 0;
		for (uint32_t i = 1; i < t->transaction_count; i++)
			ops += t->transactions[i].op_count;
		ck_assert_uint_eq(ops, t->op_count);
		struct history *h = trace_history(t, NULL, NULL);
		struct facts *g = facts_of_history(h);
		ck_assert_uint_eq(g->n, f->n);
		ck_assert_uint_eq(g->read_first[g->n], f->read_first[f->n]);
		ck_assert_uint_eq(g->write_first[g->n], f->write_first[f->n]);
		facts_free(f);
		facts_free(g);
		history_free(h);
		trace_free(t);
	}
}
END_TEST

void add_trace_tests(TCase *tests)
{
	tcase_add_test(tests, numbers_follow_sessions);
	tcase_add_test(tests, reads_by_value);
	tcase_add_test(tests, anomalies);
	tcase_add_test(tests, anomalies_in_order);
	tcase_add_test(tests, anomalies_beyond_those_kept);
	tcase_add_test(tests, outcomes);
	tcase_add_test(tests, the_initial_transaction);
	tcase_add_test(tests, unknown_values_as_initial);
	tcase_add_test(tests, named_sources);
	tcase_add_test(tests, formats_with_sources);
	tcase_add_test(tests, values_written_twice);
	tcase_add_test(tests, wrong_sources);
	tcase_add_test(tests, few_errors_are_enough);
	tcase_add_test(tests, frames);
	tcase_add_test(tests, too_many);
	tcase_add_test(tests, names_and_values);
	tcase_add_test(tests, orders_of_lists);
	tcase_add_test(tests, bad_elements_of_lists);
	tcase_add_loop_test(tests, lists_like_the_twin, 0, 2);
	tcase_add_loop_test(tests, sources_like_the_twin, 0, 4);
	tcase_add_loop_test(tests, histories_and_back, 0, 2);
	tcase_add_loop_test(tests, values_tell_the_sources, 0, 2);
	tcase_add_test(tests, rich_values);
	tcase_add_test(tests, foreign_values);
	tcase_add_test(tests, parts);
	tcase_add_loop_test(tests, parts_like_the_twin, 0, 2);
	tcase_add_test(tests, indexes_in_parts);
	tcase_add_test(tests, keys_are_sorted);
	tcase_add_test(tests, known_order_in_parts);
	tcase_add_test(tests, cycles_have_no_order);
	tcase_add_loop_test(tests, facts_of_random_histories, 0, 2);
	tcase_add_test(tests, sessions_advance_side_by_side);
	tcase_add_test(tests, facts_leave_out_what_did_not_happen);
	tcase_add_test(tests, large_traces);
}
