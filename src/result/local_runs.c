/* What sessions can do: the table of `isoscope runs`. */
#include "solve/local_runs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "result/decided.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"
#include "vm/keys.h"
#include "vm/machine.h"

enum { VALUES_WIDTH = 80, OUTCOMES_SHOWN = 20 };

/* What a transaction reads, or writes: a key, and the values that it had. */
struct access_values {
	bool writes;
	uint32_t key;
	struct value *values;
	uint32_t count, capacity;
};

/* Transactions of one name in one place of a session. */
struct told_transaction {
	uint32_t index, name;
	bool commits, aborts; /* there are such */
	struct access_values *accesses;
	uint32_t count, capacity;
};

/* A whole run, and what it leaves in the session, in words: equal ones say the
 * same. */
struct ended_run {
	const struct run_node *leaf;
	char *words;
	uint32_t outcome; /* number of these words */
};

struct told_session {
	const struct local_runs *of;
	uint32_t session, same; /* the first session of the same code */
	struct told_transaction *transactions; /* by index */
	uint32_t count, capacity;
	struct ended_run *runs; /* by words */
	uint32_t run_count, run_capacity, outcome_count;
};

/* ---- what there is ---- */

static struct told_transaction *transaction_of(struct told_session *s,
                                               uint32_t index, uint32_t name)
{
	uint32_t i = s->count;
	for (uint32_t k = 0; k < s->count; k++) {
		struct told_transaction *t = &s->transactions[k];
		if (t->index == index && t->name == name) return t;
		if (t->index > index && k < i) i = k;
	}
	VEC_RESERVE(s->transactions, s->count, s->capacity);
	struct told_transaction *t = &s->transactions[i];
	memmove(t + 1, t, (s->count++ - i) * sizeof *t);
	*t = (struct told_transaction){ .index = index, .name = name };
	return t;
}

static void add_value(struct access_values *a, struct value v)
{
	uint32_t i = 0;
	while (i < a->count && value_compare(a->values[i], v) < 0) i++;
	if (i < a->count && value_equal(a->values[i], v)) return;
	VEC_RESERVE(a->values, a->count, a->capacity);
	memmove(a->values + i + 1, a->values + i,
	        (a->count++ - i) * sizeof *a->values);
	a->values[i] = v;
}

static void add_access(struct told_transaction *t, bool writes, uint32_t key,
                       struct value v)
{
	uint32_t i = 0;
	while (i < t->count &&
	       (t->accesses[i].writes != writes || t->accesses[i].key != key))
		i++;
	if (i == t->count) {
		VEC_RESERVE(t->accesses, t->count, t->capacity);
		t->accesses[t->count++] =
			(struct access_values){ .writes = writes, .key = key };
	}
	add_value(&t->accesses[i], v);
}

static void add_writes(struct told_transaction *t, const struct run_write *w)
{
	if (!w) return;
	add_writes(t, w->older);
	add_access(t, true, w->key, w->value);
}

static void add_end(struct told_session *s, const struct run_end_of *end)
{
	struct told_transaction *t = transaction_of(s, end->index, end->name);
	t->commits |= !end->aborted;
	t->aborts |= end->aborted;
	add_writes(t, end->writes);
}

static void add_node(struct told_session *s, const struct run_node *n)
{
	const struct run_node *q = n->parent;
	if (q)
		add_access(transaction_of(s, q->index, q->name), false, q->key,
		           n->answer);
	for (uint32_t i = 0; i < n->ended_count; i++) add_end(s, &n->ended[i]);
}

static void add_known(void *words, const char *name, struct value v)
{
	struct text *t = words;
	if (t->length) text_string(t, ", ");
	name_finding_value(t, &(struct finding_value){ name, v });
}

static void add_finding(struct text *t, const struct program *p,
                        const struct finding *f)
{
	if (t->length) text_string(t, "; ");
	if (f->kind == FINDING_ASSERT)
		text_format(t, "fails: assert %s",
		            program_assertion(p, f->assertion)->text);
	else
		text_format(t, "run-time error: %s", f->message);
}

static char *outcome_words(const struct program *p, const struct run_node *leaf)
{
	struct text t = { 0 };
	const char *failure = machine_failure(p, leaf->state);
	machine_tell(p, leaf->state, add_known, &t);
	if (failure) text_format(&t, "%s%s", t.length ? "; " : "", failure);
	for (const struct finding *f = machine_findings(leaf->state); f;
	     f = f->older)
		add_finding(&t, p, f);
	char *words = mem_take(t.length + 1);
	memcpy(words, text_get(&t), t.length + 1);
	text_free(&t);
	return words;
}

static int by_words(const void *x, const void *y)
{
	const struct ended_run *a = x, *b = y;
	int order = strcmp(a->words, b->words);
	if (order) return order;
	return a->leaf->number < b->leaf->number ? -1 : 1;
}

static void number_outcomes(struct told_session *s)
{
	if (s->run_count)
		qsort(s->runs, s->run_count, sizeof *s->runs, by_words);
	for (uint32_t i = 0; i < s->run_count; i++) {
		if (!i || strcmp(s->runs[i].words, s->runs[i - 1].words))
			s->outcome_count++;
		s->runs[i].outcome = s->outcome_count - 1;
	}
}

/* In the order in which they go on. */
static void add_path(struct told_session *s, const struct run_node *n,
                     bool *told)
{
	if (!n || told[n->number]) return;
	told[n->number] = true;
	add_path(s, n->parent, told);
	add_node(s, n);
}

static void tell_session(struct told_session *s, const struct local_runs *l,
                         uint32_t session)
{
	const struct runs *r = &l->runs;
	bool *told = mem_take0(r->count + 1, sizeof *told);
	*s = (struct told_session){ .of = l,
		                    .session = session,
		                    .same = r->first_same[session] };
	for (uint32_t i = 0; i < r->count; i++) {
		const struct run_node *n = r->nodes[i];
		if (n->session != session || !local_runs_seen(l, n)) continue;
		add_path(s, n, told);
		VEC_RESERVE(s->runs, s->run_count, s->run_capacity);
		s->runs[s->run_count++] = (struct ended_run){
			.leaf = n,
			.words = outcome_words(l->decision.program, n)
		};
	}
	free(told);
	number_outcomes(s);
}

static void untell_session(struct told_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct told_transaction *t = &s->transactions[i];
		for (uint32_t k = 0; k < t->count; k++)
			free(t->accesses[k].values);
		free(t->accesses);
	}
	for (uint32_t i = 0; i < s->run_count; i++) free(s->runs[i].words);
	free(s->transactions);
	free(s->runs);
}

/* ---- the table ---- */

static void name_session_of(struct text *t, const struct told_session *s,
                            uint32_t session)
{
	name_plain(t, program_session_name(s->of->decision.program, session));
}

static const char *key_name(const struct told_session *s, uint32_t key)
{
	return keys_name(s->of->runs.context.machine.keys, key);
}

static void row(struct result *r, struct text *label, const char *first,
                const char *second)
{
	if (label->length) text_string(label, "  ");
	struct result_row *to = result_row(r, text_get(label));
	to->cells[0] = (struct result_cell){ first, MARK_NONE };
	to->cells[1] = (struct result_cell){ second, MARK_NONE };
	text_clear(label);
}

static const char *values_words(struct result *r, const struct access_values *a)
{
	struct text t = { 0 };
	uint32_t shown = 0;
	while (shown < a->count &&
	       (t.length < VALUES_WIDTH || shown + 1 == a->count)) {
		if (shown) text_string(&t, ", ");
		value_print(&t, a->values[shown++]);
	}
	if (shown < a->count) {
		text_string(&t, " and ");
		number_count(&t, a->count - shown);
		text_string(&t, " others");
	}
	const char *words = result_words(r, &t);
	text_free(&t);
	return words;
}

static void add_transaction(struct result *r, const struct told_session *s,
                            const struct told_transaction *t)
{
	const char *name =
		program_transaction_name(s->of->decision.program, t->name);
	struct text label = { 0 };
	text_format(&label, "  %u", t->index + 1);
	if (name && strcmp(name, "txn") && *name) {
		text_char(&label, ' ');
		name_plain(&label, name);
	}
	for (uint32_t i = 0; i < t->count; i++) {
		const struct access_values *a = &t->accesses[i];
		row(r, &label,
		    result_format(r, "%s %s", a->writes ? "writes" : "reads",
		                  key_name(s, a->key)),
		    values_words(r, a));
	}
	if (t->aborts)
		row(r, &label, "aborts",
		    t->commits ? "in some runs" : "always");
	else if (!t->count)
		row(r, &label, "reads and writes nothing", "");
	text_free(&label);
}

/* Has some run a value at its end? */
static bool tells_outcomes(const struct told_session *s)
{
	for (uint32_t i = 0; i < s->run_count; i++)
		if (*s->runs[i].words) return true;
	return false;
}

static void add_outcomes(struct result *r, const struct told_session *s)
{
	struct text label = { 0 }, count = { 0 };
	uint32_t shown = 0;
	if (!tells_outcomes(s)) return;
	text_string(&label, "  at its end");
	for (uint32_t i = 0, next; i < s->run_count; i = next) {
		next = i + 1;
		while (next < s->run_count &&
		       s->runs[next].outcome == s->runs[i].outcome)
			next++;
		if (shown++ == OUTCOMES_SHOWN) {
			number_plural(&count, s->outcome_count - OUTCOMES_SHOWN,
			              "other outcome", "other outcomes");
			row(r, &label, "...", result_words(r, &count));
			break;
		}
		number_plural(&count, next - i, "run", "runs");
		const char *first = result_words(r, &count);
		const char *words = s->runs[i].words;
		row(r, &label, first,
		    result_format(r, "%s", *words ? words : "no value"));
	}
	text_free(&label);
	text_free(&count);
}

static void add_session(struct result *r, const struct told_session *s)
{
	struct text label = { 0 }, words = { 0 };
	name_session_of(&label, s, s->session);
	number_plural(&words, s->run_count, "run", "runs");
	const char *count = result_words(r, &words);
	bool alike = s->same != s->session;
	if (alike) {
		text_string(&words, "those of ");
		name_session_of(&words, s, s->same);
	}
	row(r, &label, count, result_words(r, &words));
	for (uint32_t i = 0; !alike && i < s->count; i++)
		add_transaction(r, s, &s->transactions[i]);
	if (!alike) add_outcomes(r, s);
	text_free(&label);
	text_free(&words);
}

/* ---- the same as values ---- */

static void value_in(struct result *r, struct result_values *to,
                     const char *name, struct value v)
{
	struct text t = { 0 };
	value_print_json(&t, v);
	result_json(r, to, name, &t);
	text_free(&t);
}

static void list_transaction(struct result *r, struct result_values *to,
                             const struct told_session *s,
                             const struct told_transaction *t)
{
	struct result_values *one = result_group(r, to, NULL);
	result_count(r, one, "transaction", t->index + 1);
	result_text(r, one, "name",
	            program_transaction_name(s->of->decision.program, t->name));
	result_flag(r, one, "commits", t->commits);
	result_flag(r, one, "aborts", t->aborts);
	struct result_values *list = result_list(r, one, "accesses");
	for (uint32_t i = 0; i < t->count; i++) {
		const struct access_values *a = &t->accesses[i];
		struct result_values *x = result_group(r, list, NULL);
		result_text(r, x, "does", a->writes ? "writes" : "reads");
		result_text(r, x, "key", key_name(s, a->key));
		struct result_values *values = result_list(r, x, "values");
		for (uint32_t k = 0; k < a->count; k++)
			value_in(r, values, NULL, a->values[k]);
	}
}

static void list_reads(struct result *r, struct result_values *to,
                       const struct told_session *s, const struct run_node *n)
{
	if (!n->parent) return;
	list_reads(r, to, s, n->parent);
	struct result_values *x = result_group(r, to, NULL);
	result_count(r, x, "transaction", n->parent->index + 1);
	result_text(r, x, "key", key_name(s, n->parent->key));
	value_in(r, x, "value", n->answer);
}

struct known_list {
	struct result *r;
	struct result_values *to;
};

static void list_known(void *data, const char *name, struct value v)
{
	const struct known_list *k = data;
	struct result_values *x = result_group(k->r, k->to, NULL);
	result_text(k->r, x, "name", name);
	value_in(k->r, x, "value", v);
}

static void list_session(struct result *r, struct result_values *to,
                         const struct told_session *s)
{
	const struct program *p = s->of->decision.program;
	struct result_values *one = result_group(r, to, NULL);
	result_text(r, one, "session", program_session_name(p, s->session));
	struct result_values *list = result_list(r, one, "transactions");
	for (uint32_t i = 0; i < s->count; i++)
		list_transaction(r, list, s, &s->transactions[i]);
	list = result_list(r, one, "outcomes");
	for (uint32_t i = 0; i < s->run_count; i++) {
		const struct ended_run *run = &s->runs[i];
		if (i && run->outcome == run[-1].outcome) continue;
		struct result_values *x = result_group(r, list, NULL);
		result_text(r, x, "words", run->words);
		struct known_list k = { r, result_list(r, x, "locals") };
		machine_tell(p, run->leaf->state, list_known, &k);
	}
	list = result_list(r, one, "runs");
	for (uint32_t i = 0; i < s->run_count; i++) {
		struct result_values *x = result_group(r, list, NULL);
		result_count(r, x, "outcome", s->runs[i].outcome);
		list_reads(r, result_list(r, x, "reads"), s, s->runs[i].leaf);
	}
}

/* ---- all ---- */

static bool is_reached(const void *reached, uint32_t point)
{
	return bits_has(reached, point);
}

/* Only where no session comes: what final assertions do is not looked at. */
static void add_unreached(struct result *r, const struct local_runs *l)
{
	const struct program *p = l->decision.program;
	uint32_t words = BITS_WORDS(program_reach_count(p));
	word *reached = mem_take0(words + 1, sizeof *reached);
	for (uint32_t i = 0; i < l->runs.count; i++) {
		if (!local_runs_seen(l, l->runs.nodes[i])) continue;
		const word *own = machine_reached(p, l->runs.nodes[i]->state);
		for (uint32_t k = 0; k < words; k++) reached[k] |= own[k];
	}
	r->has_warnings = true;
	warn_unreached(&r->warnings, p, is_reached, reached);
	free(reached);
}

static void add_reason(struct result *r, const struct decision *d)
{
	struct text t = { 0 };
	number_plural(&t, program_session_count(d->program), "session",
	              "sessions");
	text_string(&t, program_session_count(d->program) == 1 ? " has "
	                                                       : " have ");
	number_plural(&t, d->runs, "run", "runs");
	if (d->verdict == VERDICT_HOLDS)
		text_string(&t, ", and no others, under ");
	else if (d->vacuous) {
		text_clear(&t);
		text_string(&t, "there is no history, under ");
	} else {
		text_string(&t, ", and perhaps others: ");
		if (!name_decision_end(&t, d))
			text_string(&t, "some are left open");
		text_string(&t, ", under ");
	}
	name_program_level(&t, d->program, d->options.level, d->options.as);
	name_decision_left_out(&t, d);
	r->reason = result_words(r, &t);
	text_free(&t);
}

struct result *result_of_local_runs(const struct local_runs *l)
{
	const struct decision *d = &l->decision;
	struct result *r = result_new(d->program, d->options.level);
	r->verdict = d->verdict;
	add_reason(r, d);
	result_decision_terms(r, d);
	result_table(r, 2, 0, 0)->left = true;
	r->table_leads = true;
	struct result_values *list = result_list(r, &r->findings, "sessions");
	for (uint32_t i = 0; i < l->runs.context.sessions; i++) {
		struct told_session s;
		tell_session(&s, l, i);
		add_session(r, &s);
		list_session(r, list, &s);
		untell_session(&s);
	}
	if (d->settled) add_unreached(r, l);
	result_decision_costs(r, d);
	return r;
}
