#include "predict/dangerous_structure.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

struct structures {
	struct proposal *p;
	const struct observed_history *o;
	word *reader_rows; /* by key, as observed.writer_rows */
	/* Of a transaction: those with which it has no vulnerable conflict;
	 * those who read what it writes; who write what it reads. */
	word *safe, *before, *behind;
};

static word *readers_of(const struct structures *x, uint32_t key)
{
	assert(key < x->o->key_count);
	return x->reader_rows + (size_t)key * x->o->words;
}

static void find_readers(struct structures *x)
{
	const struct observed_history *o = x->o;
	for (uint32_t t = 1; t < o->n; t++)
		for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++)
			if (o->events[i].kind == EVENT_READ)
				bits_add(readers_of(x, o->events[i].key), t);
}

/* Those that are before t, or t before them, by what they need. In a session,
 * all behind the first one that happened after t need it. */
static void add_ordered(struct structures *x, uint32_t t)
{
	const struct observed_history *o = x->o;
	const struct facts *f = o->facts;
	const word *later = observed_row(o, o->later, t);
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++)
		observed_include(o, x->safe, o->needs[i]);
	for (uint32_t s = 0; s < f->session_count; s++) {
		uint32_t u = f->session_first[s];
		if (s == f->session_of[t])
			u = t;
		else if (s != f->after_all)
			u = bits_next(later, u, o->words) + 1;
		for (; u < f->session_first[s + 1]; u++) bits_add(x->safe, u);
	}
	assert(bits_has(x->safe, t));
}

/* Fills `before` and `behind`; false if one is empty. */
static bool may_be_pivot(struct structures *x, uint32_t t)
{
	const struct observed_history *o = x->o;
	bits_zero(x->safe, o->words);
	bits_zero(x->before, o->words);
	bits_zero(x->behind, o->words);
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		uint32_t key = o->events[i].key;
		const word *writers = observed_row(o, o->writer_rows, key);
		if (o->events[i].kind == EVENT_READ) {
			bits_or(x->behind, writers, o->words);
			continue;
		}
		bits_or(x->safe, writers, o->words);
		bits_or(x->before, readers_of(x, key), o->words);
	}
	add_ordered(x, t);
	for (uint32_t w = 0; w < o->words; w++) {
		x->before[w] &= ~x->safe[w];
		x->behind[w] &= ~x->safe[w];
	}
	return !bits_empty(x->before, o->words) &&
	       !bits_empty(x->behind, o->words);
}

/* The literals that say that t is there. */
static void add_presence(struct structures *x, uint32_t t)
{
	const struct divergent_copies *c = x->p->c;
	assert(t > 0 && t < x->o->n);
	proposal_add(x->p, -literal_out(t));
	if (c->first_copy[t] < c->first_copy[t + 1])
		proposal_add(x->p, literal_copy(x->p, c->first_copy[t]));
}

/* If `pivot` is true, somebody of the row is there: in some session the first
 * one, which the others need. */
static void demand_neighbour(struct structures *x, int pivot, const word *row)
{
	const struct facts *f = x->o->facts;
	proposal_add(x->p, -pivot);
	for (uint32_t s = 0; s < f->session_count; s++) {
		uint32_t t = bits_next(row, f->session_first[s], x->o->words);
		if (t < f->session_first[s + 1]) add_presence(x, t);
	}
	proposal_add(x->p, 0);
}

static void demand_structure(struct structures *x, int pivot, uint32_t t)
{
	proposal_add(x->p, -pivot);
	add_presence(x, t);
	proposal_add(x->p, 0);
	demand_neighbour(x, pivot, x->before);
	demand_neighbour(x, pivot, x->behind);
}

/* Literals: where so many can be the pivot, it is no help to know. */
enum { LITERALS_MOST = 1000000 };

void dangerous_structure_demand(struct proposal *p)
{
	const struct observed_history *o = p->o;
	struct structures x = { .p = p, .o = o };
	size_t words = o->words + (size_t)1;
	uint64_t most = p->literals + LITERALS_MOST;
	int first = p->variables + 1;
	assert(o->exclusive && p->c->boundary == BOUNDARY_RELAXED);
	x.reader_rows =
		mem_take0(((size_t)o->key_count + 1) * words, sizeof(word));
	x.safe = mem_take0(words, sizeof(word));
	x.before = mem_take0(words, sizeof(word));
	x.behind = mem_take0(words, sizeof(word));
	find_readers(&x);
	for (uint32_t t = 1; t < o->n && p->literals < most; t++)
		if (may_be_pivot(&x, t))
			demand_structure(&x, proposal_variable(p), t);
	if (p->literals < most) {
		for (int pivot = first; pivot <= p->variables; pivot++)
			proposal_add(p, pivot);
		proposal_add(p, 0);
	}
	free(x.reader_rows);
	free(x.safe);
	free(x.before);
	free(x.behind);
}
