#include "predict/dangerous_structure.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

struct structures {
	const struct observed_history *o;
	word *reader_rows; /* by key, as observed.writer_rows */
	/* Of a transaction: who writes a key that it writes as well, who reads
	 * what it writes, who writes what it reads. */
	word *rivals, *before, *behind;
};

static word *row_of(const struct structures *x, word *rows, uint32_t key)
{
	assert(key < x->o->key_count);
	return rows + (size_t)key * x->o->words;
}

static void find_readers(struct structures *x)
{
	const struct observed_history *o = x->o;
	for (uint32_t t = 1; t < o->n; t++)
		for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++)
			if (o->events[i].kind == EVENT_READ)
				bits_add(row_of(x, x->reader_rows,
				                o->events[i].key),
				         t);
}

/* Those in the session of t, and one that waits for all others or is waited
 * for, never run beside t. */
static void drop_ordered(struct structures *x, uint32_t t)
{
	const struct facts *f = x->o->facts;
	for (uint32_t s = 0; s < f->session_count; s++)
		if (s == f->session_of[t] || s == f->after_all ||
		    f->session_of[t] == f->after_all)
			for (uint32_t u = f->session_first[s];
			     u < f->session_first[s + 1]; u++)
				bits_add(x->rivals, u);
}

static bool is_between(struct structures *x, uint32_t t)
{
	const struct observed_history *o = x->o;
	bits_zero(x->rivals, o->words);
	bits_zero(x->before, o->words);
	bits_zero(x->behind, o->words);
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		uint32_t key = o->events[i].key;
		const word *writers = observed_row(o, o->writer_rows, key);
		if (o->events[i].kind == EVENT_READ) {
			bits_or(x->behind, writers, o->words);
			continue;
		}
		bits_or(x->rivals, writers, o->words);
		bits_or(x->before, row_of(x, x->reader_rows, key), o->words);
	}
	drop_ordered(x, t);
	assert(bits_has(x->rivals, t));
	for (uint32_t w = 0; w < o->words; w++) {
		x->before[w] &= ~x->rivals[w];
		x->behind[w] &= ~x->rivals[w];
	}
	return !bits_empty(x->before, o->words) &&
	       !bits_empty(x->behind, o->words);
}

bool has_dangerous_structure(const struct observed_history *o)
{
	struct structures x = { .o = o };
	size_t words = o->words + (size_t)1;
	bool found = false;
	x.reader_rows =
		mem_take0(((size_t)o->key_count + 1) * words, sizeof(word));
	x.rivals = mem_take0(words, sizeof(word));
	x.before = mem_take0(words, sizeof(word));
	x.behind = mem_take0(words, sizeof(word));
	find_readers(&x);
	for (uint32_t t = 1; t < o->n && !found; t++) found = is_between(&x, t);
	free(x.reader_rows);
	free(x.rivals);
	free(x.before);
	free(x.behind);
	return found;
}
