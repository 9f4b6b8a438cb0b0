#include "axioms/closure_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "axioms/closure.h"
#include "base/memory.h"

#ifdef ISO_CHECKS

/* Rows as in struct closure, n each, one behind the other. */
struct derived {
	const struct closure *c;
	unsigned words;
	word *so, *direct, *past, *reach;
};

static word *row(const struct derived *d, word *rows, uint32_t t)
{
	return rows + (size_t)t * d->words;
}

static uint32_t end_of_reads(const struct closure *c, uint32_t place)
{
	return place + 1 < c->count ? c->blocks[place + 1].first_read
	                            : c->read_count;
}

/* so, so U wr, and (so U wr)+ of the transaction that was appended there. */
static void derive_past(struct derived *d, uint32_t place)
{
	const struct closure *c = d->c;
	const struct closure_block *b = &c->blocks[place];
	uint32_t t = c->order[place];
	word *so = row(d, d->so, t), *direct = row(d, d->direct, t);
	word *past = row(d, d->past, t);
	if (b->after_all) {
		for (uint32_t k = 0; k < place; k++) bits_add(so, c->order[k]);
	} else {
		bits_copy(so, row(d, d->so, b->previous), d->words);
		bits_add(so, b->previous);
	}
	bits_copy(direct, so, d->words);
	for (uint32_t i = b->first_read; i < end_of_reads(c, place); i++)
		bits_add(direct, c->reads[i].source);
	bits_copy(past, direct, d->words);
	BITS_EACH(u, direct, d->words)
		bits_or(past, row(d, d->past, u), d->words);
}

/* What is in sight under cc of read number `read` of the transaction that was
 * appended there, as closure.c defines it. */
static void derive_sight(struct derived *d, uint32_t place, uint32_t read,
                         word *out)
{
	const struct closure *c = d->c;
	bool beside = strength_is_beside(c->reads[read].strength);
	bits_copy(out, row(d, d->so, c->order[place]), d->words);
	for (uint32_t i = c->blocks[place].first_read;
	     i < end_of_reads(c, place); i++) {
		if (strength_is_beside(c->reads[i].strength) &&
		    (!beside || i > read))
			continue;
		bits_add(out, c->reads[i].source);
	}
	for (uint32_t k = place; k-- > 0;)
		if (bits_has(out, c->order[k]))
			bits_or(out, row(d, d->past, c->order[k]), d->words);
}

/* The edges that its reads force: whoever is in sight and writes the key comes
 * before the one that was read. */
static void derive_forced(struct derived *d, uint32_t place)
{
	const struct closure *c = d->c;
	uint32_t t = c->order[place];
	own_level own = c->blocks[place].own;
	enum sight sight =
		level_sight(own ? level_base((enum level)(own - 1)) : c->level);
	if (sight == SIGHT_NOTHING) return;
	word *earlier = mem_take0(2 * (size_t)d->words, sizeof *earlier);
	word *whole = earlier + d->words;
	const word *seen = sight == SIGHT_SOURCES  ? earlier
	                   : sight == SIGHT_DIRECT ? row(d, d->direct, t)
	                                           : whole;
	for (uint32_t i = c->blocks[place].first_read;
	     i < end_of_reads(c, place); i++) {
		struct relation_read read = c->reads[i];
		if (seen == whole) derive_sight(d, place, i, whole);
		BITS_EACH(u, seen, d->words)
			if (u != read.source && closure_writes(c, read.key, u))
				bits_add(row(d, d->reach, u), read.source);
		bits_add(earlier, read.source);
	}
	free(earlier);
}

static void derive_reach(struct derived *d)
{
	const struct closure *c = d->c;
	for (uint32_t k = 1; k < c->count; k++) {
		uint32_t t = c->order[k];
		BITS_EACH(u, row(d, d->direct, t), d->words)
			bits_add(row(d, d->reach, u), t);
		derive_forced(d, k);
	}
	for (uint32_t k = 0; k < c->count; k++)
		for (uint32_t i = 0; i < c->count; i++) {
			uint32_t via = c->order[k], t = c->order[i];
			if (bits_has(row(d, d->reach, t), via))
				bits_or(row(d, d->reach, t),
				        row(d, d->reach, via), d->words);
		}
}

static void expect(bool right, const char *what, uint32_t t)
{
	if (right) return;
	fprintf(stderr, "closure_check: the row '%s' of %u is wrong\n", what,
	        t);
	abort();
}

static void compare(const struct derived *d)
{
	const struct closure *c = d->c;
	bool reaches = !c->levelless;
	size_t size = d->words * sizeof(word);
	for (uint32_t k = 1; k < c->count; k++) {
		uint32_t t = c->order[k];
		expect(!memcmp(row(d, d->so, t), row(d, c->so, t), size), "so",
		       t);
		expect(!memcmp(row(d, d->direct, t), row(d, c->direct, t),
		               size),
		       "direct", t);
		expect(!memcmp(row(d, d->past, t), row(d, c->past, t), size),
		       "past", t);
		expect(!bits_has(row(d, d->reach, t), t) || !reaches, "reach",
		       t);
		for (uint32_t i = 0; reaches && i < c->count; i++) {
			uint32_t u = c->order[i];
			bool after = bits_has(row(d, d->reach, u), t);
			expect(bits_has(row(d, c->reach, u), t) == after,
			       "reach", u);
			expect(bits_has(row(d, c->into, t), u) == after, "into",
			       t);
		}
	}
}

void closure_check(const struct closure *c)
{
	if (c->forward) return;
	size_t rows = (size_t)c->n * c->words;
	word *memory = mem_take0(4 * rows, sizeof(word));
	struct derived d = { c,
		             c->words,
		             memory,
		             memory + rows,
		             memory + 2 * rows,
		             memory + 3 * rows };
	for (uint32_t k = 1; k < c->count; k++) derive_past(&d, k);
	derive_reach(&d);
	compare(&d);
	free(memory);
}

#endif
