#include "random_trace.h"

#include <stdlib.h>

#include "assertions.h"
#include "history/trace_build.h"
#include "support.h"

enum { SESSIONS = 4, MOST = 12, OPS = 5, KEYS = 3 };

struct random_op {
	bool write;
	uint32_t key;
	int64_t value; /* unique; 0: initial */
};

struct random_trace {
	struct random_op ops[MOST][OPS];
	uint32_t counts[MOST], transactions;
	bool names; /* of keys; and values are texts */
};

static void random_ops(struct random_trace *x, struct rng *r)
{
	int64_t next = 1, step = 1 + rng_below(r, 1000);
	for (uint32_t t = 0; t < x->transactions; t++) {
		x->counts[t] = rng_below(r, OPS + 1);
		for (uint32_t i = 0; i < x->counts[t]; i++)
			x->ops[t][i] = (struct random_op){
				.write = rng_below(r, 2),
				.key = rng_below(r, KEYS),
				.value = step * next++,
			};
	}
}

/* A read takes the value of any write of its key, the initial one, or one that
 * nobody writes. */
static void random_sources(struct random_trace *x, struct rng *r)
{
	for (uint32_t t = 0; t < x->transactions; t++)
		for (uint32_t i = 0; i < x->counts[t]; i++) {
			struct random_op *op = &x->ops[t][i];
			if (op->write || !rng_below(r, 30)) continue;
			op->value = 0;
			for (int tries = 0; tries < 8 && !op->value; tries++) {
				uint32_t u = rng_below(r, x->transactions);
				if (!x->counts[u]) continue;
				const struct random_op *w =
					&x->ops[u][rng_below(r, x->counts[u])];
				if (w->write && w->key == op->key)
					op->value = w->value;
			}
		}
}

static void add_op(struct trace_builder *b, const struct random_trace *x,
                   uint32_t transaction, const struct random_op *op)
{
	char name[] = { '"', (char)('x' + op->key), '"', '\0' };
	uint32_t key = x->names ? trace_key_named(b, name + 1, 1)
	                        : trace_key_number(b, 7 * op->key);
	struct trace_value v = trace_value_number(op->value);
	struct text t = { 0 };
	text_format(&t, "\"v%d\"", (int)op->value);
	if (x->names && op->value) v = trace_value_text(b, t.data, t.length);
	trace_op_add(b, transaction, op->write ? EVENT_WRITE : EVENT_READ, key,
	             v, 1);
	text_free(&t);
}

struct trace *trace_random(struct rng *r)
{
	struct random_trace x = { .transactions = 1 + rng_below(r, MOST),
		                  .names = rng_below(r, 2) };
	struct trace_rules rules = { .initial = trace_value_number(0) };
	struct trace_builder *b = trace_builder_new("test", &rules);
	struct diags d = { 0 };
	uint32_t sessions = 1 + rng_below(r, SESSIONS);
	random_ops(&x, r);
	random_sources(&x, r);
	for (uint32_t s = 0; s < sessions; s++)
		if (x.names)
			trace_session_new(b, "some", 4, false);
		else
			trace_session_number(b, 3 * s + 2);
	for (uint32_t t = 0; t < x.transactions; t++) {
		uint32_t status = rng_below(r, 10);
		uint32_t h =
			trace_transaction_new(b, rng_below(r, sessions),
		                              status == 0   ? TRACE_ABORTED
		                              : status == 1 ? TRACE_UNKNOWN
		                                            : TRACE_COMMITTED,
		                              1);
		for (uint32_t i = 0; i < x.counts[t]; i++)
			add_op(b, &x, h, &x.ops[t][i]);
	}
	struct trace *t = trace_builder_finish(b, &d);
	ck_assert_ptr_nonnull(t);
	diags_free(&d);
	return t;
}
