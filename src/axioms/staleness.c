#include "axioms/staleness.h"

#include <assert.h>
#include <stdlib.h>

#include "axioms/dead_ends.h"
#include "axioms/undecided_reads.h"
#include "base/memory.h"

/* Orders of the transactions that matter are searched for one in which few of
 * the undecided reads are stale.
 *
 * An order is built from its beginning. A place of the search is the set of
 * transactions put there so far and the set of reads still undecided; where a
 * budget did not suffice, a smaller one need not be tried. Places with the same
 * transactions differ only in the stale reads that the budget paid for, so for
 * a bounded number of sessions, and a bounded budget, there are polynomially
 * many. */
struct staleness {
	struct undecided_reads reads;
	word *frames;    /* open choices, one behind the other */
	size_t capacity; /* in words */
	struct dead_ends dead_ends;
};

struct staleness *staleness_new(void)
{
	return mem_take0(1, sizeof(struct staleness));
}

void staleness_free(struct staleness *s)
{
	if (!s) return;
	free(s->reads.memory);
	free(s->frames);
	dead_ends_free(&s->dead_ends);
	free(s);
}

size_t staleness_bytes(const struct staleness *s)
{
	return sizeof *s + s->reads.capacity + s->capacity * sizeof *s->frames +
	       dead_ends_bytes(&s->dead_ends);
}

/* One place of the search. What lies behind each other in memory: budget, left,
 * placed, undecided, open. */
struct node {
	word *budget;    /* stale reads that may still come; one word */
	word *left;      /* transactions to try next */
	word *placed;    /* and those whose place does not matter */
	word *undecided; /* reads neither fresh for good nor stale */
	word *open;      /* reads whose source is placed, or matters not */
};

BITS_INLINE size_t node_size(unsigned words, unsigned read_words)
{
	return 1 + 2 * (size_t)words + 2 * (size_t)read_words;
}

BITS_INLINE struct node node_at(struct staleness *s, size_t depth,
                                unsigned words, unsigned read_words)
{
	word *at = s->frames + depth * node_size(words, read_words);
	return (struct node){ at, at + 1, at + 1 + words, at + 1 + 2 * words,
		              at + 1 + 2 * words + read_words };
}

static void make_room(struct staleness *s, size_t words)
{
	if (words <= s->capacity) return;
	s->capacity = 2 * words;
	s->frames = mem_grow(s->frames, s->capacity, sizeof *s->frames);
}

BITS_INLINE const word *row_of(const word *rows, unsigned i, unsigned words)
{
	return rows + (size_t)i * words;
}

BITS_INLINE bool is_available(const struct undecided_reads *d,
                              const struct node *n, unsigned t, unsigned words)
{
	const word *past = row_of(d->past, t, words);
	word missing = 0;
	for (unsigned w = 0; w < words; w++) missing |= past[w] & ~n->placed[w];
	return !missing;
}

/* How many fresh reads it would make stale. */
BITS_INLINE unsigned price_of(const struct undecided_reads *d,
                              const struct node *n, unsigned t,
                              unsigned read_words)
{
	const word *spoils = row_of(d->spoils, t, read_words);
	unsigned price = 0;
	for (unsigned w = 0; w < read_words; w++) {
		word stale = spoils[w] & n->undecided[w] & n->open[w];
		price += (unsigned)__builtin_popcountll(stale);
	}
	return price;
}

/* Is there no order in which it is better placed later? If it makes no read
 * stale now, then moving it to the front of all that follow makes none stale of
 * those whose source is not it; and none of those from it, unless some rival
 * that is still to come would get between. */
BITS_INLINE bool is_free(const struct undecided_reads *d, const struct node *n,
                         unsigned t, unsigned words, unsigned read_words)
{
	if (price_of(d, n, t, read_words)) return false;
	const word *opens = row_of(d->opens, t, read_words);
	for (unsigned w = 0; w < read_words; w++) {
		word reads = opens[w] & n->undecided[w];
		for (; reads; reads &= reads - 1) {
			unsigned i = 64 * w + (unsigned)__builtin_ctzll(reads);
			const word *rivals = row_of(d->rivals, i, words);
			for (unsigned v = 0; v < words; v++)
				if (rivals[v] & ~n->placed[v]) return false;
		}
	}
	return true;
}

/* Must some rival come between, now that its source is placed? */
BITS_INLINE bool is_doomed(const struct undecided_reads *d,
                           const struct node *n, unsigned read, unsigned words)
{
	const word *rivals = row_of(d->rivals, read, words);
	const word *past = row_of(d->past, d->reader[read], words);
	word coming = 0;
	for (unsigned w = 0; w < words; w++)
		coming |= rivals[w] & past[w] & ~n->placed[w];
	return coming;
}

BITS_INLINE unsigned open_reads(const struct undecided_reads *d, struct node *n,
                                unsigned t, unsigned words, unsigned read_words)
{
	const word *opens = row_of(d->opens, t, read_words);
	unsigned doomed = 0;
	for (unsigned w = 0; w < read_words; w++) {
		word reads = opens[w] & n->undecided[w];
		n->open[w] |= opens[w];
		for (; reads; reads &= reads - 1) {
			unsigned i = 64 * w + (unsigned)__builtin_ctzll(reads);
			if (!is_doomed(d, n, i, words)) continue;
			bits_drop(n->undecided, i);
			doomed++;
		}
	}
	return doomed;
}

/* Puts t at the end. False, with the node in pieces, if that is too dear. */
BITS_INLINE bool place(const struct undecided_reads *d, struct node *n,
                       unsigned t, unsigned words, unsigned read_words)
{
	const word *spoils = row_of(d->spoils, t, read_words);
	const word *own = row_of(d->own, t, read_words);
	uint64_t stale = price_of(d, n, t, read_words);
	for (unsigned w = 0; w < read_words; w++)
		n->undecided[w] &= ~(spoils[w] & n->open[w]) & ~own[w];
	bits_add(n->placed, t);
	stale += open_reads(d, n, t, words, read_words);
	if (stale > *n->budget) return false;
	assert(bits_has(n->placed, t));
	*n->budget -= stale;
	return true;
}

BITS_INLINE void place_free(const struct undecided_reads *d, struct node *n,
                            unsigned words, unsigned read_words)
{
	for (bool again = true; again;) {
		again = false;
		for (unsigned w = 0; w < words; w++) {
			word rest = ~n->placed[w];
			for (; rest; rest &= rest - 1) {
				unsigned t = 64 * w +
				             (unsigned)__builtin_ctzll(rest);
				if (!is_available(d, n, t, words) ||
				    !is_free(d, n, t, words, read_words))
					continue;
				place(d, n, t, words, read_words);
				again = true;
			}
		}
	}
}

/* So many at least of the undecided reads will be stale. */
BITS_INLINE uint64_t still_to_come(const struct undecided_reads *d,
                                   const struct node *n, unsigned read_words)
{
	uint64_t stale = 0;
	for (uint32_t i = 0; i < d->exclusive_count; i++) {
		const word *set = row_of(d->exclusive, i, read_words);
		unsigned count = 0;
		for (unsigned w = 0; w < read_words; w++)
			count += (unsigned)__builtin_popcountll(
				set[w] & n->undecided[w]);
		if (count) stale += count - 1;
	}
	return stale;
}

enum outcome { HOPELESS, DONE, OPEN };

/* Goes on from a node as long as there is no choice, and fills its `left`. */
BITS_INLINE enum outcome go_on(struct staleness *s,
                               const struct undecided_reads *d, struct node *n,
                               unsigned words, unsigned read_words)
{
	for (;;) {
		unsigned count = 0, some = 0;
		place_free(d, n, words, read_words);
		if (bits_count(n->undecided, read_words) <= *n->budget)
			return DONE;
		if (still_to_come(d, n, read_words) > *n->budget)
			return HOPELESS;
		bits_zero(n->left, words);
		for (unsigned w = 0; w < words; w++) {
			word rest = ~n->placed[w];
			for (; rest; rest &= rest - 1) {
				unsigned t = 64 * w +
				             (unsigned)__builtin_ctzll(rest);
				if (!is_available(d, n, t, words)) continue;
				bits_add(n->left, t);
				some = t;
				count++;
			}
		}
		if (count != 1) break;
		if (!place(d, n, some, words, read_words)) return HOPELESS;
	}
	return dead_ends_has(&s->dead_ends, n->placed, words + read_words,
	                     *n->budget)
	               ? HOPELESS
	               : OPEN;
}

/* The cheapest of what is left, which is taken out; 64 * words if none. */
BITS_INLINE unsigned choose(const struct undecided_reads *d, struct node *n,
                            unsigned words, unsigned read_words)
{
	unsigned best = 64 * words, least = UINT32_MAX;
	BITS_EACH(t, n->left, words) {
		unsigned price = price_of(d, n, t, read_words);
		if (price >= least) continue;
		least = price;
		best = t;
	}
	assert(best == 64 * words || !bits_has(n->placed, best));
	if (best < 64 * words) bits_drop(n->left, best);
	return best;
}

BITS_INLINE void begin(const struct undecided_reads *d, struct node *n,
                       uint64_t budget, unsigned words, unsigned read_words)
{
	*n->budget = budget;
	bits_zero(n->undecided, read_words);
	for (uint32_t i = 0; i < d->read_count; i++) bits_add(n->undecided, i);
	bits_copy(n->open, d->open, read_words);
	for (unsigned w = 0; w < words; w++) n->placed[w] = ~d->matters[w];
}

BITS_INLINE bool search(struct staleness *s, const struct undecided_reads *d,
                        uint64_t budget, unsigned words, unsigned read_words)
{
	size_t size = node_size(words, read_words), depth = 0;
	make_room(s, size);
	dead_ends_begin(&s->dead_ends, words + read_words);
	struct node n = node_at(s, 0, words, read_words);
	begin(d, &n, budget, words, read_words);
	enum outcome outcome = go_on(s, d, &n, words, read_words);
	if (outcome != OPEN) return outcome == DONE;
	for (;;) {
		n = node_at(s, depth, words, read_words);
		unsigned t = choose(d, &n, words, read_words);
		if (t == 64 * words) {
			dead_ends_add(&s->dead_ends, n.placed,
			              words + read_words, *n.budget);
			if (depth-- == 0) return false;
			continue;
		}
		make_room(s, (depth + 2) * size);
		struct node next = node_at(s, depth + 1, words, read_words);
		memcpy(next.budget, next.budget - size, size * sizeof(word));
		if (!place(d, &next, t, words, read_words)) continue;
		outcome = go_on(s, d, &next, words, read_words);
		if (outcome == DONE) return true;
		if (outcome == OPEN) depth++;
	}
}

bool staleness_within(struct staleness *s, const struct relation *r,
                      uint64_t bound)
{
	struct undecided_reads *d = &s->reads;
	if (!r->order) return false;
	if (bound >= r->read_count && !r->known_count) return true;
	undecided_grow(d, r);
	if (!undecided_find(d, r, bound)) return false;
	assert(d->lost <= bound);
	uint64_t budget = bound - d->lost;
	if (d->read_count <= budget) return true;
	if (d->words == 1 && d->read_words == 1)
		return search(s, d, budget, 1, 1);
	return search(s, d, budget, d->words, d->read_words);
}
