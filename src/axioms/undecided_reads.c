#include "axioms/undecided_reads.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "history/history.h"

enum { NONE = UINT32_MAX };

/* The next `size` bytes of the memory; only counted where there is none. */
static void *carve(char *memory, size_t *used, size_t size)
{
	char *at = memory ? memory + *used : NULL;
	*used += size;
	return at;
}

/* Returns the bytes that it takes. */
static size_t lay_out(struct undecided_reads *d, const struct relation *r,
                      char *m)
{
	size_t used = 0, reads = r->read_count;
	size_t row = d->words * sizeof(word);
	size_t read_row = d->read_words * sizeof(word);
	d->matters = carve(m, &used, row);
	d->open = carve(m, &used, read_row);
	d->before = carve(m, &used, r->n * row);
	d->after = carve(m, &used, r->n * row);
	d->own = carve(m, &used, r->n * read_row);
	d->spoils = carve(m, &used, r->n * read_row);
	d->opens = carve(m, &used, r->n * read_row);
	d->rivals = carve(m, &used, reads * row);
	d->exclusive = carve(m, &used, reads * read_row);
	d->reader = carve(m, &used, reads * sizeof *d->reader);
	d->newest = carve(m, &used, r->key_count * sizeof *d->newest);
	d->older = carve(m, &used, reads * sizeof *d->older);
	d->source = carve(m, &used, reads * sizeof *d->source);
	d->last = carve(m, &used, reads * sizeof *d->last);
	return used;
}

void undecided_grow(struct undecided_reads *d, const struct relation *r)
{
	d->words = r->words;
	d->read_words = r->read_count ? BITS_WORDS(r->read_count) : 1;
	size_t need = lay_out(d, r, NULL);
	if (need > d->capacity) {
		free(d->memory);
		d->capacity = need + need / 2;
		d->memory = mem_take(d->capacity);
	}
	size_t used = lay_out(d, r, d->memory);
	assert(used == need && used <= d->capacity);
}

BITS_INLINE word *row_of(word *rows, unsigned i, unsigned words)
{
	return rows + (size_t)i * words;
}

/* The earlier of two writers precedes the later, and so does what precedes
 * the earlier. False if that closes a cycle. */
BITS_INLINE bool put_before(struct undecided_reads *d, const struct relation *r,
                            struct history_known e, unsigned words)
{
	const word *from = row_of(d->before, e.from, words);
	if (e.from == e.to || bits_has(from, e.to)) return false;
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		word *row = row_of(d->before, t, words);
		if (t != e.to && !bits_has(row, e.to)) continue;
		bits_or(row, from, words);
		bits_add(row, e.from);
	}
	return true;
}

BITS_INLINE bool heed_known(struct undecided_reads *d, const struct relation *r,
                            unsigned words)
{
	d->past = r->past;
	if (!r->known_count) return true;
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		bits_copy(row_of(d->before, t, words),
		          row_of(r->past, t, words), words);
	}
	for (uint32_t i = 0; i < r->known_count; i++)
		if (!put_before(d, r, r->known[i], words)) return false;
	d->past = d->before;
	return true;
}

BITS_INLINE void begin(struct undecided_reads *d, const struct relation *r,
                       unsigned words, unsigned read_words)
{
	d->read_count = d->exclusive_count = 0;
	d->lost = 0;
	bits_zero(d->matters, words);
	bits_zero(d->open, read_words);
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		bits_zero(row_of(d->after, t, words), words);
		bits_zero(row_of(d->own, t, read_words), read_words);
		bits_zero(row_of(d->spoils, t, read_words), read_words);
		bits_zero(row_of(d->opens, t, read_words), read_words);
	}
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		const word *past = d->past + (size_t)t * words;
		BITS_EACH(u, past, words)
			bits_add(row_of(d->after, u, words), t);
	}
	for (uint32_t i = 0; i < r->read_count; i++)
		d->newest[r->reads[i].key] = NONE;
}

enum fate { FRESH, LOST, UNDECIDED };

/* Rivals are the writers that some order puts between source and reader. */
BITS_INLINE enum fate find_rivals(const struct undecided_reads *d,
                                  const struct relation *r,
                                  struct relation_read a, word *rivals,
                                  unsigned words)
{
	const word *writers = r->writers + (size_t)a.key * words;
	const word *before = d->past + (size_t)a.source * words;
	const word *before_reader = d->past + (size_t)a.reader * words;
	const word *after = d->after + (size_t)a.source * words;
	const word *after_reader = d->after + (size_t)a.reader * words;
	word some = 0, always = 0;
	for (unsigned w = 0; w < words; w++) {
		word others = writers[w] & ~before[w] & ~after_reader[w];
		if (w == 0) others &= ~(word)1;
		if (w == a.source >> 6) others &= ~((word)1 << (a.source & 63));
		if (w == a.reader >> 6) others &= ~((word)1 << (a.reader & 63));
		rivals[w] = others;
		some |= others;
		always |= others & after[w] & before_reader[w];
	}
	return always ? LOST : some ? UNDECIDED : FRESH;
}

/* Reads of one transaction, which have the same fate, count as one here; they
 * are found together. */
BITS_INLINE void join_exclusive(struct undecided_reads *d,
                                struct relation_read a, uint32_t read,
                                unsigned read_words)
{
	uint32_t set = d->newest[a.key];
	while (set != NONE && d->source[set] != a.source) set = d->older[set];
	if (set == NONE) {
		set = d->exclusive_count++;
		assert(set <= read);
		bits_zero(row_of(d->exclusive, set, read_words), read_words);
		d->source[set] = a.source;
		d->older[set] = d->newest[a.key];
		d->newest[a.key] = set;
	} else if (d->last[set] == a.reader) {
		return;
	}
	d->last[set] = a.reader;
	bits_add(row_of(d->exclusive, set, read_words), read);
}

BITS_INLINE void add_undecided(struct undecided_reads *d,
                               struct relation_read a, unsigned words,
                               unsigned read_words)
{
	assert(a.reader != a.source && a.reader);
	uint32_t read = d->read_count++;
	const word *rivals = row_of(d->rivals, read, words);
	const word *after = row_of(d->after, a.source, words);
	word early = 0;
	for (unsigned w = 0; w < words; w++) early |= rivals[w] & ~after[w];
	if (early) {
		bits_add(row_of(d->opens, a.source, read_words), read);
		bits_add(d->matters, a.source);
	} else {
		bits_add(d->open, read);
	}
	bits_add(d->matters, a.reader);
	bits_or(d->matters, rivals, words);
	bits_add(row_of(d->own, a.reader, read_words), read);
	BITS_EACH(t, rivals, words)
		bits_add(row_of(d->spoils, t, read_words), read);
	d->reader[read] = a.reader;
}

BITS_INLINE void drop_single_sets(struct undecided_reads *d,
                                  unsigned read_words)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < d->exclusive_count; i++) {
		const word *set = row_of(d->exclusive, i, read_words);
		if (bits_count(set, read_words) < 2) continue;
		word *to = row_of(d->exclusive, kept++, read_words);
		if (to != set) bits_copy(to, set, read_words);
	}
	assert(kept <= d->exclusive_count);
	d->exclusive_count = kept;
}

BITS_INLINE bool find(struct undecided_reads *d, const struct relation *r,
                      uint64_t bound, unsigned words, unsigned read_words)
{
	if (!heed_known(d, r, words)) return false;
	begin(d, r, words, read_words);
	for (uint32_t i = 0; i < r->read_count; i++) {
		struct relation_read a = r->reads[i];
		word *rivals = row_of(d->rivals, d->read_count, words);
		enum fate fate = find_rivals(d, r, a, rivals, words);
		if (fate == LOST && ++d->lost > bound) return false;
		if (fate != UNDECIDED) continue;
		const word *writers = r->writers + (size_t)a.key * words;
		if (bits_has(writers, a.reader))
			join_exclusive(d, a, d->read_count, read_words);
		add_undecided(d, a, words, read_words);
	}
	drop_single_sets(d, read_words);
	return true;
}

bool undecided_find(struct undecided_reads *d, const struct relation *r,
                    uint64_t bound)
{
	if (d->words == 1 && d->read_words == 1) return find(d, r, bound, 1, 1);
	return find(d, r, bound, d->words, d->read_words);
}
