#include "trace_script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "assertions.h"
#include "base/memory.h"

struct rng trace_rng(uint64_t base)
{
	return (struct rng){ first_seed() * 10000 + base };
}

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

struct trace_rules plain_rules(void)
{
	return (struct trace_rules){ .initial = trace_value_number(0) };
}

/* The caller finishes it. */
struct trace_builder *script_run(const char *text, struct trace_rules rules)
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
char *trace_dump(const struct trace *r)
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

void expect_finished(struct trace_builder *b, const char *expected)
{
	struct diags d = { 0 };
	struct trace *t = trace_builder_finish(b, &d);
	char *messages = diags_to_text(&d);
	if (!t) ck_abort_msg("not finished:\n%s", messages);
	char *got = trace_dump(t);
	ck_assert_str_eq(got, expected);
	ck_assert_uint_eq(d.count, 0);
	free(messages);
	free(got);
	trace_free(t);
	diags_free(&d);
}

void expect_under(const char *script, struct trace_rules rules,
                  const char *expected)
{
	expect_finished(script_run(script, rules), expected);
}

void expect_trace(const char *script, const char *expected)
{
	expect_under(script, plain_rules(), expected);
}

void expect_error_of(struct trace_builder *b, const char *expected)
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

void expect_error(const char *script, struct trace_rules rules,
                  const char *expected)
{
	expect_error_of(script_run(script, rules), expected);
}

struct trace *script_trace(const char *script, struct trace_rules rules)
{
	struct diags d = { 0 };
	struct trace *t = trace_builder_finish(script_run(script, rules), &d);
	ck_assert_ptr_nonnull(t);
	return t;
}

struct trace_rules list_rules(void)
{
	return (struct trace_rules){ .initial = trace_value_null(),
		                     .lists = true };
}

void add_versions(struct trace_builder *b, const char *key,
                  const char *elements)
{
	struct trace_value values[20];
	uint32_t count = 0;
	for (const char *c = elements; *c; c++)
		values[count++] = trace_value_number(*c - '0');
	trace_key_versions(b, trace_key_named(b, key, 1), values, count);
}
