#include "axioms/forward.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/key_writers.h"
#include "base/memory.h"

enum {
	NOWHERE = UINT32_MAX,
	CHUNK = 256 /* clocks are in chunks, so that growing moves none */
};

struct place {
	uint32_t chain, position; /* position from 1; init has 0 */
};

struct chain {
	uint32_t *members; /* transactions by position, from 1 */
	uint32_t count, capacity;
};

/* The edges of the closure that are not so, from each transaction. */
struct link {
	uint32_t to, next; /* next: place in links, or NOWHERE */
};

/* A change of a clock, or (chain NOWHERE) a link added from t. */
struct change {
	uint32_t t, chain, old;
};

struct pending_read {
	uint32_t key, source;
	size_t changes;     /* before it */
	uint32_t low, high; /* before it */
};

struct edge {
	uint32_t from, to;
};

struct forward {
	enum level level;
	bool in_order; /* prc, pc, psi, si, ser: all are one chain */
	uint32_t room; /* transaction numbers */
	struct place *place;
	uint32_t *links_of; /* newest link from a transaction, or NOWHERE */
	struct chain *chains;
	uint32_t chain_count, chain_capacity;
	/* Clocks, `stride` entries each; those of cc are two: the closure,
	 * and behind it what is seen. */
	uint32_t **chunks;
	uint32_t chunk_count, stride;
	struct key_writers keys;
	struct link *links;
	uint32_t link_count, link_capacity;
	/* The pending transaction. */
	uint32_t pending; /* 0: none was begun */
	bool opened;      /* it is the first of its chain */
	struct pending_read *reads;
	uint32_t read_count, read_capacity;
	struct change *changes; /* since it began */
	size_t change_count, change_capacity;
	uint32_t *before; /* what precedes it in so */
	/* In order: how long a beginning it may see. */
	uint32_t low, high;
	/* Scratch. */
	uint32_t *sight, *bound; /* clocks */
	struct edge *edges;
	uint32_t edge_count, edge_capacity;
	uint32_t *stack;
	uint32_t stack_capacity;
	uint32_t *found;
	uint32_t found_count, found_capacity;
};

struct forward *forward_new(enum level level)
{
	struct forward *f = mem_take0(1, sizeof *f);
	f->level = level;
	f->in_order = level > LEVEL_CC;
	return f;
}

void forward_free(struct forward *f)
{
	if (!f) return;
	for (uint32_t i = 0; i < f->chain_capacity; i++)
		free(f->chains[i].members);
	for (uint32_t i = 0; i < f->chunk_count; i++) free(f->chunks[i]);
	key_writers_free(&f->keys);
	free(f->chains);
	free(f->chunks);
	free(f->place);
	free(f->links_of);
	free(f->links);
	free(f->reads);
	free(f->changes);
	free(f->before);
	free(f->sight);
	free(f->bound);
	free(f->edges);
	free(f->stack);
	free(f->found);
	free(f);
}

/* ---- Clocks ---- */

static bool has_clocks(const struct forward *f)
{
	return !f->in_order && f->level != LEVEL_NONE;
}

static size_t clock_width(const struct forward *f)
{
	return (size_t)f->stride * (f->level == LEVEL_CC ? 2 : 1);
}

/* How many of each chain precede t in the closure. */
static uint32_t *clock_of(const struct forward *f, uint32_t t)
{
	return f->chunks[t / CHUNK] + t % CHUNK * clock_width(f);
}

/* How many of each chain t sees, under cc. */
static uint32_t *sight_of(const struct forward *f, uint32_t t)
{
	assert(f->level == LEVEL_CC);
	return clock_of(f, t) + f->stride;
}

static bool clock_has(const struct forward *f, const uint32_t *clock,
                      uint32_t t)
{
	struct place p = f->place[t];
	return !t || clock[p.chain] >= p.position;
}

/* Does a precede b in the closure, or is it b? */
static bool leads_to(const struct forward *f, uint32_t a, uint32_t b)
{
	return a == b || !a || (b && clock_has(f, clock_of(f, b), a));
}

/* Clocks with more entries: a little more than are needed, since most histories
 * have all sessions soon. */
static void widen_clocks(struct forward *f)
{
	uint32_t stride = f->chain_count + f->chain_count / 16 + 1;
	uint32_t parts = f->level == LEVEL_CC ? 2 : 1, old = f->stride;
	for (uint32_t i = 0; i < f->chunk_count; i++) {
		uint32_t *from = f->chunks[i];
		uint32_t *to =
			mem_take0((size_t)CHUNK * parts * stride, sizeof *to);
		for (size_t k = 0; k < CHUNK * parts; k++)
			memcpy(to + k * stride, from + k * old,
			       old * sizeof *to);
		f->chunks[i] = to;
		free(from);
	}
	uint32_t **rows[] = { &f->before, &f->sight, &f->bound };
	for (int i = 0; i < 3; i++) {
		*rows[i] = mem_grow0(*rows[i], old, stride, sizeof **rows[i]);
	}
	f->stride = stride;
}

static void make_room(struct forward *f, uint32_t t)
{
	if (t >= f->room) {
		uint32_t room = f->room ? f->room + f->room / 2 : CHUNK;
		if (room <= t) room = t + 1;
		room = (room + CHUNK - 1) / CHUNK * CHUNK;
		f->place = mem_grow(f->place, room, sizeof *f->place);
		f->links_of = mem_grow(f->links_of, room, sizeof *f->links_of);
		f->chunks =
			mem_grow(f->chunks, room / CHUNK, sizeof *f->chunks);
		f->place[0] = (struct place){ 0 };
		f->links_of[0] = NOWHERE;
		f->room = room;
	}
	if (!has_clocks(f)) return;
	for (; f->chunk_count <= t / CHUNK; f->chunk_count++)
		f->chunks[f->chunk_count] =
			mem_take0(CHUNK * clock_width(f), sizeof **f->chunks);
}

/* `to` becomes what it was, and what t and all that precedes it tell. */
static void join(const struct forward *f, uint32_t *to, const uint32_t *clock,
                 uint32_t t)
{
	if (!t) return;
	for (uint32_t i = 0; i < f->chain_count; i++)
		if (to[i] < clock[i]) to[i] = clock[i];
	struct place p = f->place[t];
	if (to[p.chain] < p.position) to[p.chain] = p.position;
}

static void note_change(struct forward *f, uint32_t t, uint32_t chain,
                        uint32_t old)
{
	VEC_RESERVE(f->changes, f->change_count, f->change_capacity);
	f->changes[f->change_count++] = (struct change){ t, chain, old };
}

static void add_link(struct forward *f, uint32_t from, uint32_t to)
{
	VEC_RESERVE(f->links, f->link_count, f->link_capacity);
	note_change(f, from, NOWHERE, 0);
	f->links[f->link_count] = (struct link){ to, f->links_of[from] };
	f->links_of[from] = f->link_count++;
}

/* t comes after u; false if that is known, and of all that follows t too. */
static bool raise_clock(struct forward *f, uint32_t t, uint32_t u)
{
	uint32_t *to = clock_of(f, t);
	const uint32_t *from = clock_of(f, u);
	struct place p = f->place[u];
	if (to[p.chain] >= p.position) return false;
	for (uint32_t i = 0; i < f->chain_count; i++) {
		uint32_t more = i == p.chain ? p.position : from[i];
		if (to[i] >= more) continue;
		note_change(f, t, i, to[i]);
		to[i] = more;
	}
	return true;
}

static uint32_t member(const struct forward *f, uint32_t chain,
                       uint32_t position)
{
	assert(position && position <= f->chains[chain].count);
	return f->chains[chain].members[position - 1];
}

static void push(struct forward *f, uint32_t depth, uint32_t t)
{
	VEC_RESERVE(f->stack, depth, f->stack_capacity);
	f->stack[depth] = t;
}

/* Adds u before s to the closure. The closure is closed, so whoever has u has
 * all that precedes u, and nothing is to be done behind it. */
static void add_edge(struct forward *f, uint32_t u, uint32_t s)
{
	if (leads_to(f, u, s)) return;
	assert(!leads_to(f, s, u));
	uint32_t depth = 0;
	add_link(f, u, s);
	push(f, depth++, s);
	while (depth) {
		uint32_t t = f->stack[--depth];
		if (!raise_clock(f, t, u)) continue;
		struct place p = f->place[t];
		if (p.position < f->chains[p.chain].count)
			push(f, depth++, member(f, p.chain, p.position + 1));
		for (uint32_t l = f->links_of[t]; l != NOWHERE;
		     l = f->links[l].next)
			push(f, depth++, f->links[l].to);
	}
}

/* ---- Writers ---- */

bool forward_writes(const struct forward *f, uint32_t key, uint32_t t)
{
	if (!t) return true;
	struct place p = f->place[t];
	return key_writers_has(&f->keys, key, p.chain, p.position);
}

/* The last writer of the group among the first `to` of its chain, if it is not
 * among the first `from`; else 0. */
static uint32_t last_between(const struct forward *f,
                             const struct writer_group *g, uint32_t from,
                             uint32_t to)
{
	if (from >= to) return 0;
	uint32_t count = writer_group_up_to(g, to);
	if (!count || g->positions[count - 1] <= from) return 0;
	return member(f, g->chain, g->positions[count - 1]);
}

/* ---- Begin ---- */

static uint32_t new_chain(struct forward *f)
{
	uint32_t old = f->chain_capacity;
	if (f->chain_count == old) {
		uint32_t more = old ? 2 * old : 8;
		f->chains = mem_grow0(f->chains, old, more, sizeof *f->chains);
		f->chain_capacity = more;
	}
	f->chains[f->chain_count].count = 0;
	f->chain_count++;
	if (has_clocks(f) && f->chain_count > f->stride) widen_clocks(f);
	return f->chain_count - 1;
}

/* What precedes t in session order: in `before`, in its clocks, in links. */
static void begin_clocks(struct forward *f, uint32_t t, uint32_t previous,
                         bool after_all)
{
	struct place p = f->place[t];
	size_t size = f->stride * sizeof *f->before;
	memset(clock_of(f, t), 0, clock_width(f) * sizeof *f->before);
	memset(f->before, 0, size);
	if (after_all) {
		for (uint32_t i = 0; i < f->chain_count; i++) {
			uint32_t count = f->chains[i].count;
			if (i != p.chain && count)
				add_link(f, member(f, i, count), t);
			f->before[i] = count;
		}
		f->before[p.chain] = p.position - 1;
		memcpy(clock_of(f, t), f->before, size);
		if (f->level == LEVEL_CC)
			memcpy(sight_of(f, t), f->before, size);
		return;
	}
	f->before[p.chain] = p.position - 1;
	if (!previous) return;
	join(f, clock_of(f, t), clock_of(f, previous), previous);
	if (f->level == LEVEL_CC)
		join(f, sight_of(f, t), sight_of(f, previous), previous);
}

void forward_begin(struct forward *f, uint32_t t, uint32_t previous,
                   bool after_all)
{
	assert(t);
	bool first = f->in_order ? !f->chain_count : !previous;
	uint32_t chain = first         ? new_chain(f)
	                 : f->in_order ? 0
	                               : f->place[previous].chain;
	struct chain *c = &f->chains[chain];
	assert(first || f->in_order || f->place[previous].position == c->count);
	make_room(f, t);
	VEC_RESERVE(c->members, c->count, c->capacity);
	f->place[t] = (struct place){ chain, c->count + 1 };
	f->links_of[t] = NOWHERE;
	f->pending = t;
	f->opened = first;
	f->read_count = 0;
	f->change_count = 0;
	if (f->in_order) {
		f->high = c->count;
		f->low = after_all || f->level == LEVEL_SER ? f->high
		         : previous ? f->place[previous].position
		                    : 0;
	} else if (has_clocks(f)) {
		begin_clocks(f, t, previous, after_all);
	}
	c->members[c->count++] = t;
}

/* ---- Reads ---- */

/* Notes that u must precede s; false if that cannot be. */
static bool force(struct forward *f, uint32_t u, uint32_t s)
{
	if (leads_to(f, u, s)) return true;
	if (leads_to(f, s, u)) return false;
	VEC_RESERVE(f->edges, f->edge_count, f->edge_capacity);
	f->edges[f->edge_count++] = (struct edge){ u, s };
	return true;
}

/* The pending transaction sees these writers of a key, of each chain those
 * behind `from` up to `to`, and reads the key from s. */
static bool force_seen(struct forward *f, uint32_t key, uint32_t s,
                       const uint32_t *from, const uint32_t *to)
{
	const struct writer_groups *k = key_writers_of(&f->keys, key);
	for (uint32_t i = 0; i < k->count; i++) {
		const struct writer_group *g = &k->groups[i];
		uint32_t first = from ? from[g->chain] : 0;
		uint32_t u = last_between(f, g, first, to[g->chain]);
		if (u && !force(f, u, s)) return false;
	}
	return true;
}

/* Read Committed: those that were read from before. */
static bool force_committed(struct forward *f, uint32_t key, uint32_t s)
{
	for (uint32_t i = 0; i < f->read_count; i++) {
		uint32_t u = f->reads[i].source;
		if (u != s && forward_writes(f, key, u) && !force(f, u, s))
			return false;
	}
	return true;
}

/* Read Atomic: what precedes in session order, or is read from. */
static bool force_atomic(struct forward *f, uint32_t key, uint32_t s)
{
	if (!force_seen(f, key, s, NULL, f->before) ||
	    !force_committed(f, key, s))
		return false;
	if (clock_has(f, f->before, s)) return true;
	for (uint32_t i = 0; i < f->read_count; i++) {
		const struct pending_read *r = &f->reads[i];
		if (r->source != s && forward_writes(f, r->key, s) &&
		    !force(f, s, r->source))
			return false;
	}
	return true;
}

/* Causal Consistency: what precedes in so U wr, and with s more. */
static bool force_causal(struct forward *f, uint32_t key, uint32_t s)
{
	const uint32_t *sight = sight_of(f, f->pending);
	bool more = !clock_has(f, sight, s);
	if (more) {
		memcpy(f->sight, sight, f->stride * sizeof *sight);
		join(f, f->sight, sight_of(f, s), s);
	}
	if (!force_seen(f, key, s, NULL, more ? f->sight : sight)) return false;
	for (uint32_t i = 0; more && i < f->read_count; i++) {
		const struct pending_read *r = &f->reads[i];
		if (!force_seen(f, r->key, r->source, sight, f->sight))
			return false;
	}
	return true;
}

/* What a read from s forces, in f->edges; false if one edge of it closes a
 * cycle. */
static bool forced_edges(struct forward *f, uint32_t key, uint32_t s)
{
	f->edge_count = 0;
	switch (f->level) {
	case LEVEL_NONE: return true;
	case LEVEL_RC: return force_committed(f, key, s);
	case LEVEL_RA: return force_atomic(f, key, s);
	default: return force_causal(f, key, s);
	}
}

/* The edges, each of which is possible, together too? Deletes again and again
 * those from whose end no other begins. */
static bool edges_acyclic(struct forward *f)
{
	uint32_t count = f->edge_count;
	for (bool deleted = true; deleted && count > 1;) {
		deleted = false;
		for (uint32_t i = 0; i < count;) {
			bool leads = false;
			for (uint32_t k = 0; k < count && !leads; k++)
				leads = leads_to(f, f->edges[i].to,
				                 f->edges[k].from);
			if (leads) {
				i++;
				continue;
			}
			f->edges[i] = f->edges[--count];
			deleted = true;
		}
	}
	return count <= 1;
}

/* How long a beginning of the order shows `s` as the last writer of the key:
 * at least *low, at most *high transactions. */
static void narrow(const struct forward *f, uint32_t key, uint32_t s,
                   uint32_t *low, uint32_t *high)
{
	const struct writer_groups *k = key_writers_of(&f->keys, key);
	uint32_t position = f->place[s].position;
	if (*low < position) *low = position;
	if (!k->count) return;
	const struct writer_group *g = &k->groups[0];
	uint32_t next = writer_group_up_to(g, position);
	if (next < g->count && g->positions[next] <= *high)
		*high = g->positions[next] - 1;
}

bool forward_is_newest(const struct forward *f, uint32_t key, uint32_t t)
{
	const struct writer_groups *k = key_writers_of(&f->keys, key);
	const struct writer_group *g = k->groups;
	assert(f->in_order && forward_writes(f, key, t));
	return !k->count || !g->count ||
	       g->positions[g->count - 1] == f->place[t].position;
}

/* Where the next read is at the latest: that of a new statement, at the end. */
static uint32_t latest(const struct forward *f)
{
	return level_has_statements(f->level) ? f->chains[0].count - 1
	                                      : f->high;
}

void forward_write(struct forward *f, uint32_t key)
{
	if (!level_has_statements(f->level)) return;
	const struct writer_groups *k = key_writers_of(&f->keys, key);
	if (!k->count || !k->groups[0].count) return;
	uint32_t last = k->groups[0].positions[k->groups[0].count - 1];
	if (f->low < last) f->low = last;
}

bool forward_may_read(struct forward *f, uint32_t key, uint32_t source)
{
	assert(f->pending && forward_writes(f, key, source));
	if (f->in_order) {
		uint32_t low = f->low, high = latest(f);
		narrow(f, key, source, &low, &high);
		return low <= high;
	}
	return forced_edges(f, key, source) && edges_acyclic(f);
}

void forward_read(struct forward *f, uint32_t key, uint32_t source)
{
	uint32_t t = f->pending;
	VEC_RESERVE(f->reads, f->read_count, f->read_capacity);
	struct pending_read read = { key, source, f->change_count, f->low,
		                     f->high };
	if (f->in_order) {
		f->high = latest(f);
		narrow(f, key, source, &f->low, &f->high);
		assert(f->low <= f->high);
	} else if (has_clocks(f)) {
		bool possible = forced_edges(f, key, source);
		assert(possible);
		(void)possible;
		for (uint32_t i = 0; i < f->edge_count; i++)
			add_edge(f, f->edges[i].from, f->edges[i].to);
		add_edge(f, source, t);
		if (f->level == LEVEL_CC && source)
			join(f, sight_of(f, t), sight_of(f, source), source);
	}
	f->reads[f->read_count++] = read;
}

/* ---- Which writers ---- */

static void find(struct forward *f, uint32_t t)
{
	VEC_RESERVE(f->found, f->found_count, f->found_capacity);
	f->found[f->found_count++] = t;
}

/* What precedes this writer, which the pending transaction sees, is not to be
 * read from. */
static void bound_by(struct forward *f, uint32_t u, bool *any)
{
	if (!u) return;
	const uint32_t *clock = clock_of(f, u);
	for (uint32_t i = 0; i < f->chain_count; i++)
		if (f->bound[i] < clock[i]) f->bound[i] = clock[i];
	*any = true;
}

/* Fills `bound`: how many of each chain cannot be read from since they precede
 * a writer of the key that is seen already. True if there is such a writer. */
static bool find_bound(struct forward *f, uint32_t key)
{
	const struct writer_groups *k = key_writers_of(&f->keys, key);
	const uint32_t *seen = NULL;
	bool any = false;
	memset(f->bound, 0, f->stride * sizeof *f->bound);
	if (f->level == LEVEL_CC) seen = sight_of(f, f->pending);
	if (f->level == LEVEL_RA) seen = f->before;
	for (uint32_t i = 0; seen && i < k->count; i++) {
		const struct writer_group *g = &k->groups[i];
		bound_by(f, last_between(f, g, 0, seen[g->chain]), &any);
	}
	if (f->level == LEVEL_CC) return any;
	for (uint32_t i = 0; i < f->read_count; i++) {
		uint32_t u = f->reads[i].source;
		if (u && forward_writes(f, key, u)) bound_by(f, u, &any);
	}
	return any;
}

/* In order: the last writer in the shortest beginning, and those that a longer
 * one has. */
static void find_in_order(struct forward *f, uint32_t key, uint32_t most)
{
	const struct writer_groups *k = key_writers_of(&f->keys, key);
	const struct writer_group *g = k->groups;
	uint32_t first = k->count ? writer_group_up_to(g, f->low) : 0;
	uint32_t end = k->count ? writer_group_up_to(g, latest(f)) : 0;
	if (!first) find(f, 0);
	if (first) first--;
	if (end - first > most) first = end - most;
	for (; first < end; first++) find(f, member(f, 0, g->positions[first]));
}

const uint32_t *forward_writers(struct forward *f, uint32_t key, uint32_t most,
                                uint32_t *count)
{
	const struct writer_groups *k = key_writers_of(&f->keys, key);
	f->found_count = 0;
	if (f->in_order) {
		find_in_order(f, key, most);
		*count = f->found_count;
		return f->found;
	}
	bool any = has_clocks(f) && find_bound(f, key);
	if (!any && forward_may_read(f, key, 0)) find(f, 0);
	for (uint32_t i = 0; i < k->count; i++) {
		const struct writer_group *g = &k->groups[i];
		uint32_t end = g->count;
		uint32_t first =
			any ? writer_group_up_to(g, f->bound[g->chain]) : 0;
		if (end - first > most) first = end - most;
		for (; first < end; first++) {
			uint32_t u = member(f, g->chain, g->positions[first]);
			if (forward_may_read(f, key, u)) find(f, u);
		}
	}
	*count = f->found_count;
	return f->found;
}

/* ---- End, and taking back ---- */

bool forward_may_end(struct forward *f, const uint32_t *written, uint32_t count)
{
	if (f->level != LEVEL_PSI && f->level != LEVEL_SI) return true;
	for (uint32_t i = 0; i < count; i++) {
		const struct writer_groups *k =
			key_writers_of(&f->keys, written[i]);
		const struct writer_group *g = k->groups;
		if (k->count && g->count &&
		    g->positions[g->count - 1] > f->high)
			return false;
	}
	return true;
}

void forward_end(struct forward *f, const uint32_t *written, uint32_t count)
{
	assert(forward_may_end(f, written, count));
	struct place p = f->place[f->pending];
	for (uint32_t i = 0; i < count; i++)
		key_writers_add(&f->keys, written[i], p.chain, p.position);
}

uint32_t forward_last(const struct forward *f)
{
	return f->pending;
}

void forward_reopen(struct forward *f, const uint32_t *written, uint32_t count)
{
	struct place p = f->place[f->pending];
	for (uint32_t i = 0; i < count; i++)
		key_writers_take_back(&f->keys, written[i], p.chain,
		                      p.position);
}

static void undo_changes(struct forward *f, size_t count)
{
	while (f->change_count > count) {
		struct change c = f->changes[--f->change_count];
		if (c.chain == NOWHERE) {
			f->links_of[c.t] = f->links[f->links_of[c.t]].next;
			f->link_count--;
		} else {
			clock_of(f, c.t)[c.chain] = c.old;
		}
	}
}

void forward_unread(struct forward *f, uint32_t reads)
{
	assert(reads <= f->read_count);
	if (reads == f->read_count) return;
	const struct pending_read *r = &f->reads[reads];
	undo_changes(f, r->changes);
	f->low = r->low;
	f->high = r->high;
	f->read_count = reads;
	if (f->level != LEVEL_CC) return;
	/* What it sees, again. */
	uint32_t t = f->pending;
	uint32_t *sight = sight_of(f, t);
	memcpy(sight, f->before, f->stride * sizeof *sight);
	struct place p = f->place[t];
	if (p.position > 1) {
		uint32_t previous = member(f, p.chain, p.position - 1);
		join(f, sight, sight_of(f, previous), previous);
	}
	for (uint32_t i = 0; i < reads; i++) {
		uint32_t s = f->reads[i].source;
		if (s) join(f, sight, sight_of(f, s), s);
	}
}

void forward_drop(struct forward *f)
{
	struct place p = f->place[f->pending];
	undo_changes(f, 0);
	assert(f->chains[p.chain].count == p.position);
	f->chains[p.chain].count--;
	if (f->opened) f->chain_count--;
	f->read_count = 0;
	f->pending = 0;
}

void forward_clear(struct forward *f)
{
	key_writers_clear(&f->keys);
	f->chain_count = 0;
	f->link_count = 0;
	f->change_count = 0;
	f->read_count = 0;
	f->pending = 0;
}

size_t forward_bytes(const struct forward *f)
{
	size_t chains = 0;
	for (uint32_t i = 0; i < f->chain_capacity; i++)
		chains += sizeof *f->chains +
		          f->chains[i].capacity * sizeof(uint32_t);
	return sizeof *f + f->room * (sizeof *f->place + sizeof *f->links_of) +
	       chains +
	       f->chunk_count * (sizeof *f->chunks +
	                         CHUNK * clock_width(f) * sizeof(uint32_t)) +
	       key_writers_bytes(&f->keys) +
	       f->link_capacity * sizeof *f->links +
	       f->read_capacity * sizeof *f->reads +
	       f->change_capacity * sizeof *f->changes;
}
