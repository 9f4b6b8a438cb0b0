#include "axioms/closure.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/closure_check.h"
#include "axioms/closure_sparse.h"
#include "axioms/forward.h"
#include "base/memory.h"

/* Below this many transactions every block keeps a snapshot of the rows. */
enum { SNAPSHOT_ALWAYS = 256, SNAPSHOT_SPARSE = 64 };

/* Room to begin with if nobody says how much. */
enum { FEW = 8 };

/* Makes room for n numbers; what the rows hold is lost. */
static void lay_rows(struct closure *c, uint32_t n)
{
	c->n = n;
	c->words = BITS_WORDS(n);
	size_t rows = (size_t)n * c->words;
	c->reach = mem_take0(6 * rows + 16 * c->words, sizeof(word));
	c->into = c->reach + rows;
	c->past = c->into + rows;
	c->direct = c->past + rows;
	c->so = c->direct + rows;
	c->scratch = c->so + rows;
	c->seen = c->scratch + rows + 8 * c->words;
	c->sight = c->seen + c->words;
	c->targets = mem_grow(c->targets, n, sizeof *c->targets);
	c->order = mem_grow(c->order, n, sizeof *c->order);
	c->position = mem_grow(c->position, n, sizeof *c->position);
	c->blocks = mem_grow(c->blocks, n, sizeof *c->blocks);
	c->snapshot_every = !c->takes_snapshots    ? 0
	                    : n <= SNAPSHOT_ALWAYS ? 1
	                                           : (n + SNAPSHOT_SPARSE - 1) /
	                                                     SNAPSHOT_SPARSE;
}

void closure_init(struct closure *c, enum level level, uint32_t room,
                  struct region *region)
{
	memset(c, 0, sizeof *c);
	c->level = level <= LEVEL_CC ? level : LEVEL_CC;
	c->levelless = c->level == LEVEL_NONE;
	c->region = region;
	c->takes_snapshots = true;
	c->forward_from = UINT32_MAX;
	lay_rows(c, room ? room : FEW);
	c->order[0] = c->position[0] = 0;
	c->blocks[0] = (struct closure_block){ 0 };
	c->count = 1;
}

/* Rows of `from_words` words become longer ones, elsewhere. */
static void spread_rows(word *to, uint32_t to_words, const word *from,
                        uint32_t from_words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		memcpy(to + i * to_words, from + i * from_words,
		       from_words * sizeof(word));
}

/* Room for number t, and as many more: all in all a transaction costs what its
 * rows do at the end. */
static __attribute__((noinline, cold)) void make_room(struct closure *c,
                                                      uint32_t t)
{
	if (t >= c->forward_from && !c->forward)
		closure_turn_sparse(c, c->level);
	if (c->forward) {
		closure_room_sparse(c, t);
		return;
	}
	struct closure old = *c;
	uint32_t n = t < 2 * old.n ? 2 * old.n : t + 1;
	if (n > 64) n = 64 * BITS_WORDS(n);
	lay_rows(c, n);
	size_t rows = (size_t)old.n;
	spread_rows(c->reach, c->words, old.reach, old.words, rows);
	spread_rows(c->into, c->words, old.into, old.words, rows);
	spread_rows(c->past, c->words, old.past, old.words, rows);
	spread_rows(c->direct, c->words, old.direct, old.words, rows);
	spread_rows(c->so, c->words, old.so, old.words, rows);
	free(old.reach);
	if (c->owns) {
		c->owns = mem_grow(c->owns, c->n, sizeof *c->owns);
		memset(c->owns + old.n, 0, c->n - old.n);
	}
	if (c->words == old.words || !c->key_capacity) return;
	c->writers =
		mem_take0((size_t)c->key_capacity * c->words, sizeof(word));
	spread_rows(c->writers, c->words, old.writers, old.words, c->key_count);
	free(old.writers);
}

void closure_go_forward(struct closure *c, bool pending)
{
	assert(c->count == 1);
	c->one_snapshot = true;
	c->takes_snapshots = pending;
	if (!pending) c->snapshot_every = 0;
}

void closure_go_without_level(struct closure *c)
{
	assert(c->count == 1);
	c->level = LEVEL_NONE;
	c->levelless = true;
}

void closure_may_mix(struct closure *c)
{
	assert(c->count == 1 && !c->forward);
	c->levelless = false;
}

void closure_free(struct closure *c)
{
	forward_free(c->forward);
	free(c->found);
	free(c->owns);
	free(c->reach);
	free(c->newest);
	free(c->targets);
	free(c->order);
	free(c->position);
	free(c->blocks);
	free(c->writers);
	free(c->reads);
	memset(c, 0, sizeof *c);
}

size_t closure_bytes(const struct closure *c)
{
	size_t rows = (size_t)c->n * c->words;
	if (c->forward)
		return forward_bytes(c->forward) +
		       c->n * (2 * sizeof(uint32_t) + sizeof *c->blocks) +
		       c->read_capacity * sizeof *c->reads;
	return (6 * rows + 16 * c->words) * sizeof(word) + c->newest_size +
	       c->n * (3 * sizeof(uint32_t) + sizeof *c->blocks) +
	       (size_t)c->key_capacity * c->words * sizeof(word) +
	       c->read_capacity * sizeof *c->reads;
}

/* For so many keys. */
static void reserve_keys(struct closure *c, uint32_t count)
{
	if (count <= c->key_capacity) return;
	uint32_t capacity = c->key_capacity ? c->key_capacity : 16;
	while (capacity < count) capacity *= 2;
	c->writers =
		mem_grow(c->writers, (size_t)capacity * c->words, sizeof(word));
	c->key_capacity = capacity;
}

void closure_know_key(struct closure *c, uint32_t key)
{
	if (key < c->key_count) return;
	if (c->forward) return;
	reserve_keys(c, key + 1);
	for (; c->key_count <= key; c->key_count++) {
		word *row = c->writers + (size_t)c->key_count * c->words;
		bits_zero(row, c->words);
		bits_add(row, 0);
	}
}

/* Adds each of `sources` before b, and everything that follows. Nothing may
 * lead from b to one of them. */
BITS_INLINE void add_edges(struct closure *c, const word *sources, uint32_t b,
                           unsigned words)
{
	const word *into_b = c->into + (size_t)b * words;
	word *fresh = c->scratch + (size_t)c->n * words;
	word *before = fresh + words;
	word *after = before + words, *news = after + words;
	for (unsigned w = 0; w < words; w++) fresh[w] = sources[w] & ~into_b[w];
	if (bits_empty(fresh, words)) return;
	bits_copy(after, c->reach + (size_t)b * words, words);
	bits_add(after, b);
	assert(!bits_meet(fresh, after, words));
	bits_copy(before, fresh, words);
	bits_copy(news, after, words);
	BITS_EACH(u, fresh, words) {
		bits_or(before, c->into + (size_t)u * words, words);
		bits_and(news, c->reach + (size_t)u * words, words);
	}
	for (unsigned w = 0; w < words; w++) {
		fresh[w] = before[w] & ~into_b[w];
		news[w] = after[w] & ~news[w]; /* not behind all yet */
	}
	BITS_EACH(u, fresh, words)
		bits_or(c->reach + (size_t)u * words, after, words);
	BITS_EACH(v, news, words)
		bits_or(c->into + (size_t)v * words, before, words);
}

/* Where the next snapshot goes. */
static struct closure_snapshot *snapshot_place(struct closure *c, size_t size)
{
	if (!c->one_snapshot) return region_take(c->region, size);
	if (size > c->newest_size) {
		c->newest = mem_grow(c->newest, size, 1);
		c->newest_size = size;
	}
	c->blocks[c->newest_at].snapshot = NULL;
	c->newest_at = c->count;
	return c->newest;
}

static const struct closure_snapshot *take_snapshot(struct closure *c)
{
	if (c->levelless || !c->snapshot_every) return NULL;
	if (c->count % c->snapshot_every) return NULL;
	size_t size = 2 * (size_t)c->n * c->words * sizeof(word);
	struct closure_snapshot *s = snapshot_place(c, sizeof *s + size);
	s->n = c->n;
	memcpy(s->rows, c->reach, size);
	return s;
}

/* The rows of a transaction that follows exactly those in session order. */
static void begin_rows(struct closure *c, uint32_t t,
                       const struct closure_block *b)
{
	unsigned words = c->words;
	word *so = closure_row(c, c->so, t), *past = closure_row(c, c->past, t);
	word *into = closure_row(c, c->into, t);
	if (b->after_all) {
		bits_zero(so, words);
		for (uint32_t i = 0; i + 1 < c->count; i++)
			bits_add(so, c->order[i]);
		bits_copy(past, so, words);
		bits_copy(into, so, words);
	} else {
		uint32_t p = b->previous;
		bits_copy(so, closure_row(c, c->so, p), words);
		bits_copy(past, closure_row(c, c->past, p), words);
		bits_copy(into, closure_row(c, c->into, p), words);
		bits_add(so, p);
		bits_add(past, p);
		bits_add(into, p);
	}
	bits_copy(closure_row(c, c->direct, t), so, words);
	bits_zero(closure_row(c, c->reach, t), words);
	bits_zero(c->seen, words);
	c->reads_beside = false;
	BITS_EACH(u, into, words) bits_add(closure_row(c, c->reach, u), t);
}

/* ---- Levels of single transactions ---- */

/* Lemma. A mix of none, rc, ra and cc, by the level of each reader, is prefix
 * closed and causally extensible (PLDI 2023, section 3.2), so explore-ce may
 * explore under it.
 *
 * Let co be a commit order of h. A prefix has fewer premises and the same
 * order. Let t be maximal in so U wr and read x next. Nobody reads from t or
 * follows it, so what the new read forces is forced by t's own level alone: let
 * it read from the last in co of those writers of x that t's level shows it
 * already (init among them; under rc its sources, under ra so and its sources,
 * under cc its past). Each of those is before it in co, and it adds nothing to
 * what t is shown. A write of t is seen by nobody. Hence co, with t last, is a
 * commit order again: at no point were levels of others in question.
 *
 * The incremental test is that of one level for the same reason: all new edges
 * lead into sources of the pending transaction's reads, by its own level.
 *
 * Reads beside the snapshot (strength_is_beside), under cc. What levels with
 * snapshots allow need not satisfy the axiom of cc, since such a read does not
 * show its source to the plain reads of its transaction. So here, and whatever
 * the level that cc stands for:
 *
 *     a plain read of t sees P = { t2 : t2 (so U wr)* t4, where t4 is before t
 *     in so or the source of a plain read of t };
 *     the i-th read beside the snapshot sees P, the sources of those up to it,
 *     and the pasts of these.
 *
 * Who reads from t, or follows it, sees t's whole past as ever. Every history
 * of pc, si or ser satisfies this: what is before t4 in so U wr is so in the
 * commit order; t begins behind P, and makes read i, in the order of these,
 * behind that and their sources; and all that commits before such a point is
 * before the version that is read there. Under psi and cc all reads see the
 * whole past, which is more. (Then who asks for cc checks it, as it has to for
 * what reads lock.)
 *
 * It is prefix closed, for a prefix has fewer premises. And the lemma holds:
 * what t's next read sees without it, P or more, is in t's past, has init, and
 * is before t in co; from the last in co of the writers among these it may
 * read, which adds nothing to it. What is forced by other reads of t stays, as
 * P and the sources of those before them do.
 *
 * The incremental test: a plain read brings more into P, and so into sight of
 * all reads of t; one beside the snapshot only of those behind it, and these
 * are still to come. */
static enum level reader_level(const struct closure *c, own_level own)
{
	if (c->levelless || !own) return c->level;
	return level_base((enum level)(own - 1));
}

static inline void note_level(struct closure *c, uint32_t t, own_level own)
{
	c->reader = c->level;
	if (__builtin_expect(c->owns == NULL, 1)) return;
	c->reader = reader_level(c, own);
	c->owns[t] = own;
}

void closure_give_level(struct closure *c, own_level own)
{
	uint32_t t = c->order[c->count - 1];
	assert(own && !c->forward);
	assert(c->count > 1 && !c->blocks[c->count - 1].written);
	if (!c->owns) c->owns = mem_take0(c->n, sizeof *c->owns);
	c->blocks[c->count - 1].own = own;
	c->strong_owns |= !level_is_extensible((enum level)(own - 1));
	c->statement_owns |= level_has_statements((enum level)(own - 1));
	note_level(c, t, own);
}

/* ---- Appending ---- */

static void append(struct closure *c, uint32_t t, struct closure_block b)
{
	assert(c->count < c->n && t > 0 && t < c->n);
	c->order[c->count] = t;
	c->position[t] = c->begun = c->count;
	c->blocks[c->count++] = b;
	note_level(c, t, b.own);
	begin_rows(c, t, &b);
}

void closure_begin(struct closure *c, uint32_t t, uint32_t previous,
                   bool after_all)
{
	if (t >= c->n) make_room(c, t);
	if (__builtin_expect(c->forward != NULL, 0)) {
		closure_begin_sparse(c, t, previous, after_all);
		return;
	}
	append(c, t,
	       (struct closure_block){ .first_read = c->read_count,
	                               .previous = previous,
	                               .after_all = after_all,
	                               .snapshot = take_snapshot(c) });
}

static uint32_t pending(const struct closure *c)
{
	return c->order[c->count - 1];
}

/* What is in sight of the pending transaction's plain reads, and of those
 * beside its snapshot. */
BITS_INLINE const word *in_sight(const struct closure *c, bool beside,
                                 unsigned words)
{
	return c->reads_beside && !beside
	               ? c->sight
	               : c->past + (size_t)pending(c) * words;
}

/* Row of what comes into sight with `source`. */
BITS_INLINE void newly_visible(const struct closure *c, uint32_t source,
                               const word *visible, word *out, unsigned words)
{
	bits_copy(out, c->past + (size_t)source * words, words);
	bits_add(out, source);
	for (unsigned w = 0; w < words; w++) out[w] &= ~visible[w];
}

/* The edges that a read of `key` from `source` forces: for each target, the
 * row of transactions to be ordered before it, in c->scratch; returns how many
 * targets, listed in c->targets. Each list is merged by target. */
struct forced {
	uint32_t count;
};

BITS_INLINE void force(struct closure *c, struct forced *f, uint32_t target,
                       const word *writers, const word *mask, unsigned words)
{
	word *row = c->scratch + (size_t)target * words;
	bool any = false, listed = false;
	for (unsigned w = 0; w < words; w++) {
		word more = writers[w] & mask[w];
		if (w == target >> 6) more &= ~((word)1 << (target & 63));
		any |= more != 0;
	}
	if (!any) return;
	for (uint32_t i = 0; i < f->count; i++)
		listed |= c->targets[i] == target;
	if (!listed) {
		c->targets[f->count++] = target;
		bits_zero(row, words);
	}
	for (unsigned w = 0; w < words; w++) {
		word more = writers[w] & mask[w];
		if (w == target >> 6) more &= ~((word)1 << (target & 63));
		row[w] |= more;
	}
}

/* What the read makes visible, by level, and the edges it forces: with what it
 * brings into sight the reads before it may ask for more; but not if it is
 * beside the snapshot, whose source only those behind it see, that are so as
 * well. */
BITS_INLINE struct forced forced_edges(struct closure *c, uint32_t key,
                                       uint32_t source, bool beside,
                                       unsigned words)
{
	struct forced f = { 0 };
	uint32_t t = pending(c);
	const word *writers = c->writers + (size_t)key * words;
	word *visible = c->scratch + ((size_t)c->n + 4) * words;
	word *fresh = visible + words;
	if (c->reader == LEVEL_NONE) return f;
	if (c->reader == LEVEL_RC) {
		force(c, &f, source, writers, c->seen, words);
		return f;
	}
	bits_zero(fresh, words);
	if (c->reader == LEVEL_RA) {
		bits_copy(visible, c->direct + (size_t)t * words, words);
		if (!bits_has(visible, source)) bits_add(fresh, source);
	} else {
		bits_copy(visible, in_sight(c, beside, words), words);
		newly_visible(c, source, visible, fresh, words);
	}
	bits_or(visible, fresh, words);
	force(c, &f, source, writers, visible, words);
	if (beside || bits_empty(fresh, words)) return f;
	for (uint32_t i = c->blocks[c->count - 1].first_read; i < c->read_count;
	     i++) {
		const struct relation_read *r = &c->reads[i];
		force(c, &f, r->source, c->writers + (size_t)r->key * words,
		      fresh, words);
	}
	return f;
}

/* Does target i, or what follows it, meet the sources of target j? */
BITS_INLINE bool leads_to(const struct closure *c, uint32_t i, uint32_t j,
                          unsigned words)
{
	const word *sources = c->scratch + (size_t)j * words;
	return bits_has(sources, i) ||
	       bits_meet(c->reach + (size_t)i * words, sources, words);
}

/* True when the forced edges, taken together, close no cycle: repeatedly
 * deletes targets from which no other target is reached. */
BITS_INLINE bool forced_acyclic(struct closure *c, struct forced f,
                                unsigned words)
{
	for (bool deleted = true; deleted && f.count;) {
		deleted = false;
		for (uint32_t i = 0; i < f.count;) {
			bool leads = false;
			for (uint32_t j = 0; j < f.count && !leads; j++)
				leads = leads_to(c, c->targets[i],
				                 c->targets[j], words);
			if (leads) {
				i++;
				continue;
			}
			c->targets[i] = c->targets[--f.count];
			deleted = true;
		}
	}
	return f.count == 0;
}

/* Is a read of the pending transaction one beside its snapshot, and so not
 * bound by it? Of the levels that these rows are of, or that they stand for,
 * only those do without it that show a whole past. */
BITS_INLINE bool is_beside(const struct closure *c, enum strength strength)
{
	return strength_is_beside(strength) &&
	       level_sight(c->reader) == SIGHT_PAST;
}

BITS_INLINE bool may_read(struct closure *c, uint32_t key, uint32_t source,
                          bool beside, unsigned words)
{
	return forced_acyclic(c, forced_edges(c, key, source, beside, words),
	                      words);
}

BITS_INLINE void valid_writers(struct closure *c, uint32_t key, bool beside,
                               word *out, unsigned words)
{
	const word *writers = c->writers + (size_t)key * words;
	bits_copy(out, writers, words);
	if (c->reader == LEVEL_NONE) return;
	BITS_EACH(source, writers, words)
		if (!may_read(c, key, source, beside, words))
			bits_drop(out, source);
}

void closure_valid_writers(struct closure *c, uint32_t key,
                           enum strength strength, word *out)
{
	bool beside = is_beside(c, strength);
	assert(key < c->key_count && !c->forward);
	if (c->words == 1)
		valid_writers(c, key, beside, out, 1);
	else
		valid_writers(c, key, beside, out, c->words);
}

static int by_position(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

const uint32_t *closure_list_writers(struct closure *c, uint32_t key,
                                     enum strength strength, uint32_t most,
                                     uint32_t *count)
{
	uint32_t found = 0;
	if (c->forward) {
		const uint32_t *list =
			forward_writers(c->forward, key, most, &found);
		if (c->found_capacity < found) {
			c->found =
				mem_grow(c->found, 2 * found, sizeof *c->found);
			c->found_capacity = 2 * found;
		}
		for (uint32_t i = 0; i < found; i++)
			c->found[i] = c->position[list[i]];
		qsort(c->found, found, sizeof *c->found, by_position);
		for (uint32_t i = 0; i < found; i++)
			c->found[i] = c->order[c->found[i]];
	} else {
		if (c->found_capacity < c->n) {
			c->found = mem_grow(c->found, c->n, sizeof *c->found);
			c->found_capacity = c->n;
		}
		for (uint32_t i = 0; i < c->count; i++) {
			uint32_t t = c->order[i];
			if (closure_writes(c, key, t) &&
			    closure_may_read(c, key, strength, t))
				c->found[found++] = t;
		}
	}
	*count = found;
	return c->found;
}

bool closure_may_read(struct closure *c, uint32_t key, enum strength strength,
                      uint32_t source)
{
	bool beside = is_beside(c, strength);
	assert(closure_writes(c, key, source));
	if (c->words == 1) return may_read(c, key, source, beside, 1);
	if (c->forward) return forward_may_read(c->forward, key, source);
	return may_read(c, key, source, beside, c->words);
}

bool closure_is_newest(const struct closure *c, uint32_t key, uint32_t source)
{
	assert(c->forward && closure_writes(c, key, source));
	return forward_is_newest(c->forward, key, source);
}

BITS_INLINE void read_from(struct closure *c, uint32_t key, uint32_t source,
                           bool beside, unsigned words)
{
	uint32_t t = pending(c);
	struct forced f = forced_edges(c, key, source, beside, words);
	for (uint32_t i = 0; i < f.count; i++) {
		uint32_t target = c->targets[i];
		const word *sources = c->scratch + (size_t)target * words;
		add_edges(c, sources, target, words);
	}
	word *past = c->past + (size_t)t * words;
	if (beside && !c->reads_beside) {
		bits_copy(c->sight, past, words);
		c->reads_beside = true;
	}
	if (!beside && c->reads_beside) {
		bits_or(c->sight, c->past + (size_t)source * words, words);
		bits_add(c->sight, source);
	}
	bits_or(past, c->past + (size_t)source * words, words);
	bits_add(past, source);
	bits_add(c->direct + (size_t)t * words, source);
	bits_add(c->seen, source);
	if (c->levelless) return;
	word *only = c->scratch + ((size_t)c->n + 4) * words;
	bits_zero(only, words);
	bits_add(only, source);
	add_edges(c, only, t, words);
}

void closure_read(struct closure *c, uint32_t key, uint32_t source)
{
	closure_read_locking(c, key, source, STRENGTH_PLAIN);
}

void closure_read_locking(struct closure *c, uint32_t key, uint32_t source,
                          enum strength strength)
{
	bool beside = is_beside(c, strength);
	assert(closure_writes(c, key, source));
	if (c->words == 1)
		read_from(c, key, source, beside, 1);
	else if (c->forward)
		forward_read(c->forward, key, source);
	else
		read_from(c, key, source, beside, c->words);
	VEC_RESERVE(c->reads, c->read_count, c->read_capacity);
	c->reads[c->read_count++] =
		(struct relation_read){ .reader = pending(c),
		                        .key = key,
		                        .source = source,
		                        .strength = strength };
	closure_check(c);
}

static void mark_writes(struct closure *c, const struct closure_block *b,
                        uint32_t t)
{
	for (uint32_t i = 0; i < b->written_count; i++)
		bits_add(closure_row(c, c->writers, b->written[i]), t);
}

static void unmark_writes(struct closure *c, const struct closure_block *b,
                          uint32_t t)
{
	for (uint32_t i = 0; i < b->written_count; i++)
		bits_drop(closure_row(c, c->writers, b->written[i]), t);
}

void closure_end(struct closure *c, const uint32_t *written, uint32_t count)
{
	struct closure_block *b = &c->blocks[c->count - 1];
	b->written = written;
	b->written_count = count;
	if (__builtin_expect(c->forward != NULL, 0))
		forward_end(c->forward, written, count);
	else
		mark_writes(c, b, pending(c));
}

/* Appends again what stood at order[from] .. order[to - 1], with its reads. */
static void replay(struct closure *c, uint32_t from, uint32_t to,
                   uint32_t reads)
{
	for (uint32_t i = from; i < to; i++) {
		struct closure_block b = c->blocks[i];
		uint32_t end = i + 1 < to ? c->blocks[i + 1].first_read : reads;
		c->count = i;
		append(c, c->order[i], b);
		c->read_count = b.first_read;
		while (c->read_count < end) {
			struct relation_read r = c->reads[c->read_count];
			closure_read_locking(c, r.key, r.source, r.strength);
		}
		mark_writes(c, &b, c->order[i]);
	}
}

/* reach and into as the snapshot has them, which may be of a time when there
 * was less room. */
static void copy_snapshot(struct closure *c, const struct closure_snapshot *s)
{
	size_t rows = (size_t)c->n * c->words;
	if (s->n == c->n) {
		memcpy(c->reach, s->rows, 2 * rows * sizeof(word));
		return;
	}
	assert(s->n < c->n);
	uint32_t words = BITS_WORDS(s->n);
	memset(c->reach, 0, 2 * rows * sizeof(word));
	spread_rows(c->reach, c->words, s->rows, words, s->n);
	spread_rows(c->into, c->words, s->rows + (size_t)s->n * words, words,
	            s->n);
}

/* reach and into as they were before order[at], from the nearest snapshot at
 * or before it; returns where that was taken. */
static uint32_t restore_rows(struct closure *c, uint32_t at)
{
	while (at > 1 && !c->blocks[at].snapshot) at--;
	if (c->blocks[at].snapshot)
		copy_snapshot(c, c->blocks[at].snapshot);
	else
		memset(c->reach, 0, 2 * (size_t)c->n * c->words * sizeof(word));
	return at;
}

void closure_rewind(struct closure *c, uint32_t count, uint32_t reads,
                    bool is_pending)
{
	assert(count <= c->count && reads <= c->read_count);
	if (count == c->count && reads == c->read_count && is_pending &&
	    !c->blocks[count - 1].written && c->begun + 1 == count)
		return;
	if (c->forward) {
		closure_rewind_sparse(c, count, reads, is_pending);
		return;
	}
	uint32_t from = is_pending ? count - 1 : count;
	for (uint32_t i = from; i < c->count; i++) {
		unmark_writes(c, &c->blocks[i], c->order[i]);
		if (i >= count) continue;
		c->blocks[i].written = NULL;
		c->blocks[i].written_count = 0;
	}
	uint32_t start = from;
	if (!c->levelless && from < c->count) {
		start = restore_rows(c, from);
		for (uint32_t i = start; i < from; i++)
			unmark_writes(c, &c->blocks[i], c->order[i]);
	}
	replay(c, start, count, reads);
	c->count = count;
	c->read_count = reads;
	closure_check(c);
}

/* The writers of each key among the first to->count transactions. */
static void copy_writers(struct closure *to, const struct closure *from)
{
	unsigned words = from->words;
	word *kept = to->scratch;
	reserve_keys(to, from->key_count);
	to->key_count = from->key_count;
	bits_zero(kept, words);
	for (uint32_t i = 0; i < to->count; i++) bits_add(kept, to->order[i]);
	size_t size = (size_t)from->key_count * words;
	if (words == 1) {
		for (size_t i = 0; i < size; i++)
			to->writers[i] = from->writers[i] & kept[0];
		return;
	}
	for (size_t i = 0; i < size; i++)
		to->writers[i] = from->writers[i] & kept[i % words];
}

static void copy_owns(struct closure *to, const struct closure *from)
{
	to->owns = mem_grow(to->owns, to->n, sizeof *to->owns);
	memset(to->owns, 0, to->n * sizeof *to->owns);
	if (from->owns)
		memcpy(to->owns, from->owns, from->n * sizeof *to->owns);
}

void closure_copy_prefix(struct closure *to, const struct closure *from,
                         uint32_t count)
{
	size_t rows = (size_t)from->n * from->words;
	uint32_t reads = count == from->count ? from->read_count
	                                      : from->blocks[count].first_read;
	assert(count <= from->count && !from->forward && !to->forward);
	if (to->n != from->n) {
		free(to->reach);
		free(to->writers);
		to->writers = NULL;
		to->key_capacity = 0;
		lay_rows(to, from->n);
	}
	to->level = from->level;
	to->levelless = from->levelless;
	to->strong_owns |= from->strong_owns;
	to->statement_owns |= from->statement_owns;
	if (from->owns || to->owns) copy_owns(to, from);
	to->region = from->region;
	memcpy(to->past, from->past, 3 * rows * sizeof(word));
	memcpy(to->order, from->order, count * sizeof *to->order);
	memcpy(to->position, from->position, from->n * sizeof *to->position);
	uint32_t blocks = count + (count < from->count);
	memcpy(to->blocks, from->blocks, blocks * sizeof *to->blocks);
	if (to->read_capacity < reads) {
		to->read_capacity = from->read_capacity;
		to->reads = mem_grow(to->reads, to->read_capacity,
		                     sizeof *to->reads);
	}
	if (reads) memcpy(to->reads, from->reads, reads * sizeof *to->reads);
	to->count = count;
	to->read_count = reads;
	copy_writers(to, from);
	if (count == from->count) {
		memcpy(to->reach, from->reach, 2 * rows * sizeof(word));
	} else if (!to->levelless) {
		uint32_t start = restore_rows(to, count);
		for (uint32_t i = start; i < count; i++)
			unmark_writes(to, &to->blocks[i], to->order[i]);
		replay(to, start, count, reads);
	}
}

void closure_relation(const struct closure *c, struct relation *out)
{
	assert(!c->forward);
	*out = (struct relation){
		.n = c->n,
		.words = c->words,
		.key_count = c->key_count,
		.read_count = c->read_count,
		.order_count = c->count,
		.order = c->order,
		.so = c->so,
		.direct = c->direct,
		.past = c->past,
		.writers = c->writers,
		.reads = c->reads,
		.owns = c->owns,
	};
}
