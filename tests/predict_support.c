#include "predict_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertions.h"
#include "axioms/allows.h"
#include "axioms/level.h"
#include "base/memory.h"
#include "base/text.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_predict.h"

/* ---- random executions ---- */

enum { SESSIONS = 8, TRANSACTIONS = 32, KEYS = 8 };

struct running {
	struct rng *rng;
	struct observed_shape shape;
	struct text sessions[SESSIONS];
	char names[TRANSACTIONS][8]; /* "b2"; "0" is init */
	uint32_t writers[KEYS][TRANSACTIONS], writer_count[KEYS];
	uint32_t only; /* with WRITERS_ONE: who */
};

static bool chance(struct running *x, uint32_t of_100)
{
	return rng_below(x->rng, 100) < of_100;
}

static void run_read(struct running *x, struct text *t, uint32_t key, bool own)
{
	uint32_t last = x->writer_count[key] - 1;
	if (chance(x, x->shape.wild)) last = rng_below(x->rng, last + 1);
	text_format(t, " %c<%s", 'p' + key,
	            own ? "self" : x->names[x->writers[key][last]]);
}

static bool may_write(const struct running *x, uint32_t t)
{
	return x->shape.writers == WRITERS_ANY ||
	       (x->shape.writers == WRITERS_ONE && t == x->only);
}

static void run_events(struct running *x, struct text *t, bool writes,
                       bool *own)
{
	uint32_t keys = x->shape.keys, wrote = keys;
	uint32_t events = 1 + rng_below(x->rng, x->shape.events);
	while (events) {
		uint32_t key = rng_below(x->rng, keys);
		bool may = writes && !(x->shape.quiet && key + 1 == keys);
		bool both = may && events > 1 && chance(x, 20);
		bool read = !may || both || chance(x, 55);
		if (!read && wrote < keys && chance(x, 30)) key = wrote;
		bool again = read && events > 1u + both && chance(x, 15);
		if (read) run_read(x, t, key, own[key]);
		if (again) run_read(x, t, key, own[key]);
		if (both || !read) {
			text_format(t, " W%c", 'p' + key);
			own[key] = true;
			wrote = key;
		}
		events -= 1u + both + again;
	}
}

static void run_transaction(struct running *x, uint32_t t, uint32_t session,
                            uint32_t index)
{
	struct text *text = &x->sessions[session];
	bool own[KEYS] = { false }, aborts = chance(x, x->shape.aborted);
	snprintf(x->names[t], sizeof x->names[t], "%c%u", (int)('a' + session),
	         index + 1);
	text_format(text, "%s%s%s:", index ? " ; " : "", x->names[t],
	            aborts ? "!" : "");
	run_events(x, text, may_write(x, t), own);
	for (uint32_t k = 0; k < x->shape.keys; k++)
		if (own[k] && !aborts) x->writers[k][x->writer_count[k]++] = t;
}

static void run_all(struct running *x, uint32_t sessions, bool last)
{
	uint32_t count[SESSIONS] = { 0 }, n = x->shape.transactions;
	uint32_t finally = last ? 1 + rng_below(x->rng, 2) : 0;
	strcpy(x->names[0], "0");
	x->only = 1 + rng_below(x->rng, n);
	for (uint32_t k = 0; k < x->shape.keys; k++) x->writer_count[k] = 1;
	for (uint32_t t = 1; t <= n; t++) {
		uint32_t s = rng_below(x->rng, sessions - last);
		if (t + finally > n) s = sessions - 1;
		run_transaction(x, t, s, count[s]++);
	}
}

char *observed_random(struct rng *r, struct observed_shape shape)
{
	struct running x = { .rng = r, .shape = shape };
	struct text all = { 0 };
	uint32_t sessions = 1 + rng_below(r, shape.sessions);
	bool last = shape.last && sessions > 1 && !rng_below(r, 6);
	ck_assert(shape.sessions <= SESSIONS && shape.keys <= KEYS);
	ck_assert(shape.transactions < TRANSACTIONS);
	x.shape.keys = 1 + rng_below(r, shape.keys);
	x.shape.transactions -= rng_below(r, shape.transactions / 2 + 1);
	run_all(&x, sessions, last);
	for (uint32_t s = 0; s < sessions; s++) {
		text_format(&all, "%s%s%s", s ? " | " : "",
		            last && s == sessions - 1 ? "* " : "",
		            x.sessions[s].length ? text_get(&x.sessions[s])
		                                 : "");
		text_free(&x.sessions[s]);
	}
	char *copy = mem_copy_string(text_get(&all));
	text_free(&all);
	return copy;
}

/* ---- messages ---- */

void predict_complain(const struct predict_trial *t, const char *what)
{
	char *printed = t->notation ? NULL : history_to_notation(t->h);
	ck_abort_msg("seed %llu, %s %s %s%s%s: %s:\n%s",
	             (unsigned long long)t->seed, level_word(t->o.level),
	             t->o.boundary == BOUNDARY_STRICT ? "strict" : "relaxed",
	             t->o.encoding == ENCODING_EXACT ? "exact" : "approx",
	             t->o.enumerate ? " all" : "", t->ssi ? " ssi" : "", what,
	             printed ? printed : t->notation);
	abort();
}

static void expect(const struct predict_trial *t, bool yes, const char *what)
{
	if (!yes) predict_complain(t, what);
}

/* ---- the shape of a prediction ---- */

static uint32_t divergent_of(const struct trace *t, const struct prediction *p,
                             uint32_t transaction)
{
	uint32_t s = t->transactions[transaction].session;
	return p->cuts[s].divergent;
}

/* Cuts give the transactions, and `numbers` are these. */
static void expect_cuts(const struct predict_trial *t,
                        const struct prediction *p)
{
	uint32_t next = 1, divergent = 0;
	bool whole = true;
	expect(t, p->numbers[0] == TRACE_INIT, "init is another");
	for (uint32_t s = 0; s < t->trace->session_count; s++) {
		const struct trace_session *from = &t->trace->sessions[s];
		struct session_cut c = p->cuts[s];
		expect(t, c.kept <= from->count, "more kept than there is");
		for (uint32_t i = 0; i < c.kept; i++, next++)
			expect(t,
			       next < p->history->transaction_count &&
			               p->numbers[next] == from->first + i,
			       "a kept transaction has another number");
		whole &= c.kept == from->count;
		if (c.divergent == TRACE_NONE) continue;
		divergent++;
		expect(t,
		       c.kept < from->count &&
		               c.divergent == from->first + c.kept,
		       "not the transaction behind the cut diverges");
		expect(t,
		       next < p->history->transaction_count &&
		               p->numbers[next++] == c.divergent,
		       "a divergent transaction has another number");
		expect(t,
		       p->cuts[s].ops <=
		               t->trace->transactions[c.divergent].op_count,
		       "a divergent transaction has grown");
	}
	expect(t, next == p->history->transaction_count, "transactions");
	expect(t, divergent == p->divergent_count, "divergent_count");
	expect(t, p->observed == (whole && !p->changed_count), "observed");
}

/* The same sessions, keys and names. */
static void expect_frame(const struct predict_trial *t,
                         const struct prediction *p)
{
	const struct trace *a = t->trace, *b = p->history;
	expect(t, a->session_count == b->session_count, "sessions");
	expect(t, a->key_count == b->key_count, "keys");
	for (uint32_t s = 0; s < a->session_count; s++)
		expect(t,
		       !strcmp(a->sessions[s].name, b->sessions[s].name) &&
		               a->sessions[s].after_all ==
		                       b->sessions[s].after_all,
		       "a session is another");
	for (uint32_t k = 0; k < a->key_count; k++) {
		const struct trace_key *x = &a->keys[k], *y = &b->keys[k];
		expect(t,
		       !x->name == !y->name &&
		               (!x->name || !strcmp(x->name, y->name)) &&
		               x->number == y->number &&
		               x->initial.number == y->initial.number &&
		               x->initial.flags == y->initial.flags,
		       "a key is another");
	}
}

/* ---- operations ---- */

static void expect_value(const struct predict_trial *t, const struct trace *h,
                         const struct trace_op *read, uint32_t before)
{
	struct trace_value v = h->keys[read->key].initial;
	uint32_t begin = 0, end = 0;
	if (read->from == TRACE_SELF) {
		end = before;
	} else if (read->from != TRACE_INIT) {
		const struct trace_transaction *w =
			&h->transactions[read->from];
		expect(t, w->status == TRACE_COMMITTED, "a dirty read");
		begin = w->first_op;
		end = begin + w->op_count;
	}
	bool written = read->from == TRACE_INIT;
	for (uint32_t i = begin; i < end; i++)
		if (h->ops[i].kind == EVENT_WRITE &&
		    h->ops[i].key == read->key) {
			v.number = h->ops[i].value;
			v.flags = h->ops[i].flags & (TRACE_TEXT | TRACE_NULL);
			written = true;
		}
	expect(t, written, "the writer did not write the key");
	expect(t,
	       v.number == read->value &&
	               v.flags == (read->flags & (TRACE_TEXT | TRACE_NULL)),
	       "a read has another value than was written");
}

struct reading {
	const struct predict_trial *t;
	const struct prediction *p;
	uint32_t changed; /* so many were seen */
};

/* Op `op` of the trace is op `at` of the history. */
static bool expect_op(struct reading *x, uint32_t op, uint32_t at,
                      bool divergent)
{
	const struct trace_op *a = &x->t->trace->ops[op];
	const struct trace_op *b = &x->p->history->ops[at];
	expect(x->t, a->kind == b->kind && a->key == b->key,
	       "another operation");
	expect(x->t, a->strength == b->strength && a->joined == b->joined,
	       "it locks otherwise, or is of another statement");
	if (a->kind == EVENT_WRITE || a->from == TRACE_SELF) {
		expect(x->t,
		       (a->kind == EVENT_WRITE || b->from == a->from) &&
		               a->value == b->value &&
		               (a->flags & ~TRACE_FINAL) ==
		                       (b->flags & ~TRACE_FINAL),
		       "a value is another");
		return false;
	}
	expect(x->t, b->from < x->p->history->transaction_count,
	       "a read of nobody");
	uint32_t from = x->p->numbers[b->from];
	expect(x->t,
	       from == TRACE_INIT ||
	               divergent_of(x->t->trace, x->p, from) != from,
	       "a read from a divergent transaction");
	if (from == a->from) return false;
	expect(x->t, divergent, "a read of a kept transaction has changed");
	expect(x->t, x->changed < x->p->changed_count, "changed_count");
	const struct changed_read *c = &x->p->changed[x->changed++];
	expect(x->t, c->op == op && c->observed == a->from && c->writer == from,
	       "a changed read is listed otherwise");
	return true;
}

/* How a divergent transaction ends, with so many changed reads. Relaxed: it
 * is whole. Strict: with the changed read, or with any read where it has none,
 * but would not be kept. */
static void expect_end(const struct reading *x,
                       const struct trace_transaction *w, uint32_t ops,
                       uint32_t changes, bool last_changed)
{
	if (x->t->o.boundary == BOUNDARY_RELAXED) {
		expect(x->t, changes > 0, "a divergent one changes nothing");
		expect(x->t, ops == w->op_count, "truncated though relaxed");
		return;
	}
	const struct trace_op *last = &x->t->trace->ops[w->first_op + ops - 1];
	expect(x->t,
	       ops > 0 && last->kind == EVENT_READ && last->from != TRACE_SELF,
	       "a divergent one does not end with a read");
	expect(x->t, changes ? changes == 1 && last_changed : ops < w->op_count,
	       "a divergent one does not end with the changed read");
}

/* Transaction number i of the history. */
static void expect_transaction(struct reading *x, uint32_t i)
{
	const struct trace *from = x->t->trace, *to = x->p->history;
	uint32_t n = x->p->numbers[i], before = x->changed;
	const struct trace_transaction *a = &from->transactions[n];
	const struct trace_transaction *b = &to->transactions[i];
	bool divergent = divergent_of(from, x->p, n) == n;
	bool last_changed = false;
	uint32_t ops = divergent ? x->p->cuts[a->session].ops : a->op_count;
	uint32_t end = a->first_op + ops, at = b->first_op;
	expect(x->t,
	       a->status == b->status && a->session == b->session &&
	               a->own == b->own,
	       "a transaction is another");
	for (uint32_t op = a->first_op; op < end; op++) {
		expect(x->t, at < b->first_op + b->op_count, "ops are missing");
		uint32_t seen = x->changed;
		last_changed = expect_op(x, op, at, divergent);
		if (last_changed)
			expect(x->t, x->p->changed[seen].transaction == n,
			       "a changed read is of another transaction");
		if (to->ops[at].kind == EVENT_READ)
			expect_value(x->t, to, &to->ops[at], at);
		at++;
	}
	expect(x->t, at == b->first_op + b->op_count, "ops too many");
	expect(x->t, x->p->truncated[i] == (ops < a->op_count), "truncated");
	if (divergent) expect_end(x, a, ops, x->changed - before, last_changed);
}

/* ---- the whole ---- */

static void expect_order(const struct predict_trial *t,
                         const struct prediction *p, const struct history *h)
{
	uint32_t n = h->transaction_count;
	bool *done = mem_take0(n, sizeof *done);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t b = p->order[i];
		expect(t, b < n && !done[b], "the order repeats");
		for (uint32_t a = 0; a < n; a++)
			expect(t,
			       done[a] || !(twin_session_order(h, a, b) ||
			                    twin_write_read(h, a, b)),
			       "the order breaks so or wr");
		done[b] = true;
	}
	expect(t, p->order[0] == HISTORY_INIT, "init is not first");
	free(done);
}

/* With few transactions by definition, else by the kernels. */
enum { FEW = 8 };

static bool allows(enum level l, const struct history *h)
{
	return h->transaction_count <= FEW ? twin_allows(l, h)
	                                   : level_allows_mix(l, h);
}

static bool is_serializable(const struct history *h)
{
	return h->transaction_count <= FEW ? twin_serializable(h)
	                                   : level_allows_history(LEVEL_SER, h);
}

/* A session that follows all others is there only if they are whole. */
static void expect_last_session(const struct predict_trial *t,
                                const struct prediction *p)
{
	bool whole = true, begun = false;
	for (uint32_t s = 0; s < t->trace->session_count; s++) {
		const struct trace_session *x = &t->trace->sessions[s];
		if (x->after_all)
			begun |= p->cuts[s].kept ||
			         p->cuts[s].divergent != TRACE_NONE;
		else
			whole &= p->cuts[s].kept == x->count;
	}
	expect(t, whole || !begun, "the last session before the others' end");
}

void expect_prediction(const struct predict_trial *t,
                       const struct prediction *p)
{
	struct reading x = { t, p, 0 };
	expect_frame(t, p);
	expect_cuts(t, p);
	expect_last_session(t, p);
	for (uint32_t i = 1; i < p->history->transaction_count; i++)
		expect_transaction(&x, i);
	expect(t, x.changed == p->changed_count, "changed_count");
	struct history *h = trace_history(p->history, NULL, NULL);
	expect_order(t, p, h);
	expect(t, allows(t->o.level, h), "the level forbids the prediction");
	expect(t, !is_serializable(h), "the prediction is serializable");
	if (t->o.encoding == ENCODING_APPROX)
		expect(t, twin_pco_cyclic(h), "pco is acyclic");
	history_free(h);
}

/* ---- running the predictor ---- */

struct check_clock *clock_without_limits(void)
{
	return check_clock_new(&(struct check_limits){ 0 });
}

void predict_run_begin(struct predict_run *r, const struct predict_trial *t)
{
	memset(r, 0, sizeof *r);
	r->clock = clock_without_limits();
	r->predictor = predictor_new(t->trace, &t->o, r->clock, &r->diags);
	if (!r->predictor || r->diags.errors)
		predict_complain(t, "the trace is refused");
}

void predict_run_end(struct predict_run *r)
{
	predictor_free(r->predictor);
	check_clock_free(r->clock);
	diags_free(&r->diags);
}

bool predict_run_next(struct predict_run *r, const struct predict_trial *t,
                      struct prediction *p)
{
	enum predict_answer a = predictor_next(r->predictor, p);
	if (a == PREDICT_UNKNOWN) predict_complain(t, "unknown");
	if (a == PREDICT_FOUND) expect_prediction(t, p);
	return a == PREDICT_FOUND;
}

bool predicts(const struct predict_trial *t)
{
	struct predict_run r;
	struct prediction p;
	predict_run_begin(&r, t);
	bool found = predict_run_next(&r, t, &p);
	if (found) prediction_free(&p);
	predict_run_end(&r);
	return found;
}

void trial_begin(struct predict_trial *t, const char *notation)
{
	t->notation = notation;
	struct history *h = history_from_notation(notation);
	h->ssi = t->ssi;
	t->h = h;
	t->trace = trace_of_history(h, "test");
}

void trial_end(struct predict_trial *t)
{
	trace_free((struct trace *)t->trace);
	history_free((struct history *)t->h);
}

static struct twin_set changed_set(const struct predict_trial *t,
                                   const struct twin_trace *w,
                                   const struct prediction *p)
{
	struct twin_set set = { { 0 } };
	for (uint32_t c = 0; c < p->changed_count; c++) {
		uint32_t n = p->changed[c].transaction;
		uint32_t first = t->trace->transactions[n].first_op;
		for (uint32_t i = w->first[n]; i < w->first[n + 1]; i++)
			if (first + w->events[i].place == p->changed[c].op)
				twin_set_put(&set, w, i, p->changed[c].writer,
				             true);
	}
	return set;
}

void expect_all(struct predict_trial *t, const struct twin_trace *w,
                const struct twin_sets *expected)
{
	struct predict_run r;
	struct prediction p;
	uint32_t before = 0;
	size_t found = 0;
	bool *seen = mem_take0(expected->count + 1, sizeof *seen);
	t->o.enumerate = true;
	predict_run_begin(&r, t);
	for (; predict_run_next(&r, t, &p); prediction_free(&p), found++) {
		struct twin_set set = changed_set(t, w, &p);
		size_t i = 0;
		while (i < expected->count &&
		       memcmp(&expected->items[i], &set, sizeof set))
			i++;
		if (i == expected->count)
			predict_complain(t, "a prediction that is not minimal");
		if (seen[i]) predict_complain(t, "a prediction twice");
		if (p.changed_count < before)
			predict_complain(t, "more changed reads come first");
		before = p.changed_count;
		seen[i] = true;
	}
	if (found < expected->count) predict_complain(t, "one is missing");
	if (predict_run_next(&r, t, &p))
		predict_complain(t, "one after the end");
	predict_run_end(&r);
	t->o.enumerate = false;
	free(seen);
}

enum { TRACES = 3000 /* in all, unless ISOSCOPE_PROGRAMS says more */ };

uint64_t traces_per_run(void)
{
	uint64_t all = programs_or(TRACES);
	return all < 40 * PREDICT_PROCESSES ? 40 : all / PREDICT_PROCESSES;
}
