#include "predict/proposal.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static int is_over(void *clock)
{
	return check_clock_over(clock);
}

void proposal_add(struct proposal *p, int literal)
{
	assert(literal >= -p->variables && literal <= p->variables);
	p->literals++;
	ccadical_add(p->sat, literal);
}

uint64_t proposal_bytes(const struct proposal *p)
{
	enum { VARIABLE = 150, LITERAL = 40 }; /* as measured */
	return VARIABLE * (uint64_t)p->variables + LITERAL * p->literals;
}

int proposal_variable(struct proposal *p)
{
	assert(p->variables < INT_MAX);
	return ++p->variables;
}

static void implies(struct proposal *p, int a, int b)
{
	assert(a && b);
	proposal_add(p, -a);
	proposal_add(p, b);
	proposal_add(p, 0);
}

/* ---- variables that stand for clauses ---- */

static uint32_t find_definition(const struct proposal *p, const int *clauses,
                                size_t count, struct table_probe *at)
{
	uint32_t i;
	*at = table_probe(hash_bytes(count, clauses, count * sizeof *clauses));
	while ((i = table_next(&p->by_clauses, at)) != TABLE_NONE) {
		const struct definition *d = &p->definitions[i];
		if (d->count == count && !memcmp(p->defined + d->first, clauses,
		                                 count * sizeof *clauses))
			break;
	}
	return i;
}

static void keep_definition(struct proposal *p, const int *clauses,
                            size_t count, int variable, struct table_probe at)
{
	VEC_RESERVE(p->definitions, p->definition_count,
	            p->definition_capacity);
	table_put(&p->by_clauses, at, p->definition_count);
	p->definitions[p->definition_count++] =
		(struct definition){ variable, p->defined_count, count };
	for (size_t i = 0; i < count; i++) {
		VEC_RESERVE(p->defined, p->defined_count, p->defined_capacity);
		p->defined[p->defined_count++] = clauses[i];
	}
}

int proposal_implying(struct proposal *p, const int *clauses, size_t count)
{
	struct table_probe at;
	assert(count > 1 && clauses[0] && !clauses[count - 1]);
	if (count == 2) return clauses[0];
	uint32_t known = find_definition(p, clauses, count, &at);
	if (known != TABLE_NONE) return p->definitions[known].variable;
	int variable = proposal_variable(p);
	keep_definition(p, clauses, count, variable, at);
	for (size_t i = 0; i < count; i++) {
		if (!i || !clauses[i - 1]) proposal_add(p, -variable);
		proposal_add(p, clauses[i]);
	}
	return variable;
}

/* ---- at most one ---- */

enum { PAIRWISE = 6 }; /* beyond, a chain of variables is smaller */

/* ladder(i): one of the literals up to i is true. */
static void at_most_one_by_ladder(struct proposal *p, const int *literals,
                                  size_t count)
{
	int before = 0;
	for (size_t i = 0; i < count; i++) {
		if (before) implies(p, before, -literals[i]);
		if (i + 1 == count) break;
		int ladder = proposal_variable(p);
		implies(p, literals[i], ladder);
		if (before) implies(p, before, ladder);
		before = ladder;
	}
}

static void at_most_one(struct proposal *p, const int *literals, size_t count)
{
	if (count > PAIRWISE) {
		at_most_one_by_ladder(p, literals, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			implies(p, literals[i], -literals[j]);
}

/* Of the variables first, first + 1, ... */
static void at_most_one_from(struct proposal *p, int first, size_t count)
{
	int *literals = mem_take((count + 1) * sizeof *literals);
	for (size_t i = 0; i < count; i++) literals[i] = first + (int)i;
	at_most_one(p, literals, count);
	free(literals);
}

/* ---- what a proposal is ---- */

static void keep_closed(struct proposal *p, uint32_t t)
{
	const struct observed_history *o = p->o;
	const struct facts *f = o->facts;
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++)
		implies(p, literal_out(o->needs[i]), literal_out(t));
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++)
		if (f->reads[i].from)
			implies(p, literal_out(f->reads[i].from),
			        literal_out(t));
}

/* The writers of fixed reads are kept. The variable *before, 0 at first, stands
 * for the reads that an earlier copy of the transaction fixes; those behind
 * them begin at the event *from. */
static void keep_fixed(struct proposal *p, int in, const struct copy *x,
                       int *before, uint32_t *from)
{
	const struct observed_history *o = p->o;
	if (p->c->boundary == BOUNDARY_RELAXED) return;
	assert(x->end > *from && x->end <= o->first[x->transaction + 1]);
	int fixed = proposal_variable(p);
	implies(p, in, fixed);
	if (*before) implies(p, fixed, *before);
	for (uint32_t i = *from; i + 1 < x->end; i++)
		if (o->events[i].kind == EVENT_READ && o->events[i].from)
			implies(p, fixed, -literal_out(o->events[i].from));
	*before = fixed;
	*from = x->end - 1;
}

static void add_read(struct proposal *p, int in, const struct free_read *r)
{
	for (uint32_t a = r->first; a < r[1].first; a++) {
		uint32_t w = p->c->options[a].writer;
		implies(p, literal_option(p, a), in);
		if (w) implies(p, literal_option(p, a), -literal_out(w));
	}
	at_most_one_from(p, literal_option(p, r->first), r[1].first - r->first);
	proposal_add(p, -in);
	for (uint32_t a = r->first; a < r[1].first; a++)
		proposal_add(p, literal_option(p, a));
	proposal_add(p, 0);
}

static void some_change(struct proposal *p, int in, const struct copy *x)
{
	const struct divergent_copies *c = p->c;
	uint32_t first = c->reads[x->first].first;
	uint32_t end = c->reads[x[1].first].first;
	proposal_add(p, -in);
	for (uint32_t a = first; a < end; a++)
		if (!c->options[a].observed)
			proposal_add(p, literal_option(p, a));
	proposal_add(p, 0);
}

static void add_copy(struct proposal *p, size_t copy)
{
	const struct observed_history *o = p->o;
	const struct copy *x = &p->c->copies[copy];
	uint32_t t = x->transaction;
	int in = literal_copy(p, copy);
	implies(p, in, literal_out(t));
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++)
		implies(p, in, -literal_out(o->needs[i]));
	for (uint32_t r = x->first; r < x[1].first; r++)
		add_read(p, in, &p->c->reads[r]);
	if (p->c->unchanged == UNCHANGED_NONE) some_change(p, in, x);
}

static void add_copies(struct proposal *p, uint32_t t)
{
	const struct divergent_copies *c = p->c;
	uint32_t first = c->first_copy[t], end = c->first_copy[t + 1];
	assert(first <= end && end <= c->count);
	uint32_t from = p->o->first[t];
	int before = 0;
	for (uint32_t i = first; i < end; i++) {
		add_copy(p, i);
		keep_fixed(p, literal_copy(p, i), &c->copies[i], &before,
		           &from);
	}
	at_most_one_from(p, literal_copy(p, first), end - first);
}

/* ---- what no level allows ---- */

static void add_conflict(void *data, size_t a, size_t b)
{
	struct proposal *p = data;
	implies(p, literal_option(p, a), -literal_option(p, b));
}

static void add_rival(void *data, size_t option, uint32_t u)
{
	struct proposal *p = data;
	assert(!p->rival_count ||
	       p->rivals[p->rival_count - 1].option <= option);
	implies(p, literal_option(p, option), literal_out(u));
	VEC_RESERVE(p->rivals, p->rival_count, p->rival_capacity);
	p->rivals[p->rival_count++] = (struct option_rival){ option, u };
}

static void add_updates(void *data, const size_t *options, size_t count)
{
	struct proposal *p = data;
	int *literals = mem_take((count + 1) * sizeof *literals);
	for (size_t i = 0; i < count; i++)
		literals[i] = literal_option(p, options[i]);
	at_most_one(p, literals, count);
	free(literals);
}

/* Tests of pairs of options: some hundredths of a second. */
enum { PAIR_BUDGET = 1000000 };

static void drop_sat(void *sat)
{
	ccadical_release(sat);
}

bool proposal_init(struct proposal *p, const struct observed_history *o,
                   const struct divergent_copies *c, struct check_clock *clock)
{
	*p = (struct proposal){ .o = o, .c = c, .sat = ccadical_init() };
	mem_hold_solver(p->sat, drop_sat);
	table_init(&p->by_clauses, 0);
	assert(o->n + c->count + c->option_count < INT_MAX);
	p->variables = (int)(o->n + c->count + c->option_count);
	p->kept = mem_take0(o->words + 1, sizeof *p->kept);
	p->chosen = mem_take0(c->count + 1, sizeof *p->chosen);
	p->taken = mem_take0(c->option_count + 1, sizeof *p->taken);
	ccadical_set_option(p->sat, "quiet", 1);
	/* Many small questions: what pays off for a single hard one does not
	 * here. */
	ccadical_set_option(p->sat, "lucky", 0);
	ccadical_set_option(p->sat, "inprocessing", 0);
	/* The first proposals are to be close to what was observed. */
	ccadical_set_option(p->sat, "phase", 0);
	/* Proposals of a thousand transactions have as many levels: going back
	 * by one of them for a conflict finds the next one nearby. */
	ccadical_set_option(p->sat, "chrono", 0);
	ccadical_set_terminate(p->sat, clock, is_over);
	for (uint32_t t = 1; t < o->n; t++) {
		if (check_clock_over(clock)) return false;
		keep_closed(p, t);
		add_copies(p, t);
	}
	copies_conflicts(c, PAIR_BUDGET, add_conflict, p);
	copies_rivals(c, add_rival, p);
	copies_updates(c, add_updates, p);
	return true;
}

void proposal_free(struct proposal *p)
{
	if (p->sat) {
		mem_let_go(p->sat);
		ccadical_release(p->sat);
	}
	free(p->kept);
	free(p->chosen);
	free(p->taken);
	free(p->counter);
	free(p->rivals);
	free(p->definitions);
	free(p->defined);
	table_free(&p->by_clauses);
}

/* ---- proposals ---- */

/* Only for variables does every version of the solver tell the value. */
static bool is_true(const struct proposal *p, int variable)
{
	return ccadical_val(p->sat, variable) > 0;
}

static void take_model(struct proposal *p)
{
	const struct observed_history *o = p->o;
	bits_zero(p->kept, o->words);
	for (uint32_t t = 1; t < o->n; t++)
		if (!is_true(p, literal_out(t))) bits_add(p->kept, t);
	p->chosen_count = 0;
	for (size_t i = 0; i < p->c->count; i++)
		if (is_true(p, literal_copy(p, i)))
			p->chosen[p->chosen_count++] = (uint32_t)i;
	for (size_t i = 0; i < p->c->option_count; i++)
		p->taken[i] = is_true(p, literal_option(p, i));
}

enum proposal_answer proposal_next(struct proposal *p)
{
	enum { SATISFIABLE = 10, UNSATISFIABLE = 20 };
	if (p->patience) ccadical_limit(p->sat, "conflicts", p->patience);
	switch (ccadical_solve(p->sat)) {
	case SATISFIABLE: take_model(p); return PROPOSAL_MADE;
	case UNSATISFIABLE: return PROPOSAL_NONE;
	default: return PROPOSAL_STOPPED;
	}
}

void proposal_leave_out(struct proposal *p, uint32_t t)
{
	const struct observed_history *o = p->o;
	const word *later = observed_row(o, o->later, t);
	for (uint32_t w = 0; w < o->words; w++) p->kept[w] &= ~later[w];
	bits_drop(p->kept, t);
}

void proposal_keep_most(struct proposal *p)
{
	const struct divergent_copies *c = p->c;
	size_t rival = 0;
	bits_zero(p->kept, p->o->words);
	for (uint32_t t = 1; t < p->o->n; t++) bits_add(p->kept, t);
	for (uint32_t i = 0; i < p->chosen_count; i++)
		proposal_leave_out(p, c->copies[p->chosen[i]].transaction);
	for (; rival < p->rival_count; rival++)
		if (p->taken[p->rivals[rival].option])
			proposal_leave_out(p, p->rivals[rival].transaction);
}

/* ---- counting changed reads ---- */

/* A totalizer that counts up to `most` (Bailleux and Boufkhad, CP 2003): output
 * i of a node is implied when more than i of its literals are true. */
struct total {
	int *outputs;
	uint32_t count;
};

static struct total add_totals(struct proposal *p, struct total a,
                               struct total b, uint32_t most)
{
	assert(most && a.count <= most && b.count <= most);
	uint32_t count = a.count + b.count < most ? a.count + b.count : most;
	struct total sum = { mem_take0(count + (size_t)1, sizeof *sum.outputs),
		             count };
	for (uint32_t i = 0; i < count; i++)
		sum.outputs[i] = proposal_variable(p);
	for (uint32_t i = 0; i <= a.count; i++)
		for (uint32_t j = 0; j <= b.count; j++) {
			uint32_t both = i + j < most ? i + j : most;
			if (!both) continue;
			if (i) proposal_add(p, -a.outputs[i - 1]);
			if (j) proposal_add(p, -b.outputs[j - 1]);
			proposal_add(p, sum.outputs[both - 1]);
			proposal_add(p, 0);
		}
	free(a.outputs);
	free(b.outputs);
	return sum;
}

static struct total total_of(struct proposal *p, const int *literals,
                             size_t count, uint32_t most)
{
	if (count <= 1) {
		struct total leaf = { mem_take(sizeof(int)), (uint32_t)count };
		if (count) leaf.outputs[0] = literals[0];
		return leaf;
	}
	size_t half = count / 2;
	struct total a = total_of(p, literals, half, most);
	struct total b = total_of(p, literals + half, count - half, most);
	return add_totals(p, a, b, most);
}

/* A literal that every option that changes the read implies; 0 if there is
 * none. */
static int change_of(struct proposal *p, const struct free_read *r)
{
	const struct option *options = p->c->options;
	int only = 0, changed = 0;
	for (uint32_t a = r->first; a < r[1].first; a++) {
		if (options[a].observed) continue;
		if (!only) {
			only = literal_option(p, a);
			continue;
		}
		if (!changed) {
			changed = proposal_variable(p);
			implies(p, only, changed);
		}
		implies(p, literal_option(p, a), changed);
	}
	return changed ? changed : only;
}

static struct total changes_of_copy(struct proposal *p, const struct copy *y,
                                    uint32_t most)
{
	size_t count = 0, room = 0;
	int *changes = NULL;
	for (uint32_t k = y->first; k < y[1].first; k++) {
		const struct free_read *r = &p->c->reads[k];
		uint32_t times = p->o->events[r->event].count;
		int change = change_of(p, r);
		for (uint32_t i = 0; i < times && i < most && change; i++) {
			VEC_RESERVE(changes, count, room);
			changes[count++] = change;
		}
	}
	struct total t = total_of(p, changes, count, most);
	free(changes);
	return t;
}

/* A session has one copy at most, so that theirs need no adding up. */
static struct total changes_of_session(struct proposal *p, uint32_t session,
                                       uint32_t most)
{
	const struct divergent_copies *c = p->c;
	const struct facts *f = p->o->facts;
	struct total all = { mem_take0((size_t)most + 1, sizeof(int)), 0 };
	for (uint32_t i = c->first_copy[f->session_first[session]];
	     i < c->first_copy[f->session_first[session + 1]]; i++) {
		struct total t = changes_of_copy(p, &c->copies[i], most);
		for (uint32_t k = 0; k < t.count; k++) {
			if (k == all.count)
				all.outputs[all.count++] = proposal_variable(p);
			implies(p, t.outputs[k], all.outputs[k]);
		}
		free(t.outputs);
	}
	return all;
}

static void count_changes(struct proposal *p, uint32_t most)
{
	struct total t = total_of(p, NULL, 0, most);
	for (uint32_t s = 0; s < p->o->facts->session_count; s++)
		t = add_totals(p, t, changes_of_session(p, s, most), most);
	assert(t.count <= most);
	p->counted_all = t.count < most;
	free(p->counter);
	p->counter = t.outputs;
	p->counter_size = t.count;
}

uint32_t proposal_changes(const struct proposal *p)
{
	const struct divergent_copies *c = p->c;
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->chosen_count; i++) {
		const struct copy *y = &c->copies[p->chosen[i]];
		for (uint32_t k = y->first; k < y[1].first; k++)
			for (uint32_t a = c->reads[k].first;
			     a < c->reads[k + 1].first; a++)
				if (p->taken[a] && !c->options[a].observed)
					count += p->o->events[c->reads[k].event]
					                 .count;
	}
	return count;
}

enum proposal_answer proposal_next_within(struct proposal *p, uint32_t changes)
{
	/* Room for twice as many, so that it is seldom built again. */
	if (changes >= p->counter_size && !p->counted_all)
		count_changes(p, 2 * changes + 2);
	if (changes < p->counter_size)
		ccadical_assume(p->sat, -p->counter[changes]);
	return proposal_next(p);
}
