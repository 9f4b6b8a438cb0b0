/* The edges that every commit order must contain.
 *
 * For a read of key x by r from a, and another writer w of x:
 *	(source) if w is before r, then w is before a;
 *	(reader) if a is before w, then r is before w; under psi only where r
 *	         writes x too, since it is not to see w then;
 * and for two writers a and b of one key under si:
 *	(rival)  if a begins before b commits, then a commits before b begins;
 * in a mix, where one of them is of si, `begins' is the commit for the other.
 * Of the writers in one chain only the last one before, and the first one
 * after, give an edge that does not follow from the chain. So a pass costs
 * the number of operations times the number of chains.
 */
#include "check/strong.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* A batch of edges this large goes into the closure before more are sought:
 * with them, many others are implied. */
enum { BATCH = 4096 };

static inline int32_t commit_place(const struct strong *s, uint32_t t)
{
	return point_place(s, point_commit(s, t));
}

/* The first of these writers whose commit is at or after the place. */
static uint32_t writer_from(const struct strong *s,
                            const struct chain_writers *g, int32_t place)
{
	uint32_t low = g->first, high = g->end;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (commit_place(s, s->chains->writers[middle]) < place)
			low = middle + 1;
		else
			high = middle;
	}
	assert(low >= g->first && low <= g->end);
	return low;
}

/* Appends an edge unless it is implied; a conflict if it is impossible. */
static void force(struct strong *s, uint32_t from, uint32_t to,
                  enum edge_rule rule, uint32_t third)
{
	assert(from < s->points && to < s->points);
	if (point_before(s, from, to)) return;
	if (from == to || point_before(s, to, from)) {
		s->conflicting = true;
	} else if (s->edge_count > s->linked) {
		const struct edge *e = &s->edges[s->edge_count - 1];
		if (e->from == from && e->to == to) return;
	}
	struct edge e = { .from = from,
		          .to = to,
		          .rule = rule,
		          .third = third,
		          .limit = (uint32_t)s->closed };
	if (s->conflicting) {
		s->conflict = e;
		s->conflict_limit = s->closed;
	} else {
		reach_append(s, e);
	}
}

/* A read from init although w is before the reader. */
static void conflict_with_init(struct strong *s, uint32_t w, uint32_t r)
{
	s->conflicting = true;
	s->conflict_limit = s->closed;
	s->conflict = (struct edge){ .from = point_commit(s, w),
		                     .to = 0,
		                     .rule = EDGE_SOURCE,
		                     .third = r,
		                     .limit = (uint32_t)s->closed };
}

/* In each rule the second row tells of which writers the edge is implied. */
static void source_rule(struct strong *s, uint32_t r, struct facts_read read)
{
	const struct chains *c = s->chains;
	uint32_t a = read.from;
	assert(r && a < s->f->n);
	uint32_t to = point_rival(s, a);
	const lanes *pre = point_row(s, s->pre, point_sight(s, r));
	const lanes *known = point_row(s, s->pre, to);
	for (uint32_t i = c->group_first[read.key];
	     i < c->group_first[read.key + 1] && !s->conflicting; i++) {
		const struct chain_writers *g = &c->groups[i];
		int32_t before = row_pre(s, pre, g->chain);
		if (before <= (a ? row_pre(s, known, g->chain) : 0)) continue;
		uint32_t at = writer_from(s, g, before);
		if (at == g->first) continue;
		uint32_t w = c->writers[at - 1];
		if (w == a) continue;
		if (!a)
			conflict_with_init(s, w, r);
		else
			force(s, point_commit(s, w), to, EDGE_SOURCE, r);
	}
}

static void reader_rule(struct strong *s, uint32_t r, uint32_t key, uint32_t a)
{
	const struct chains *c = s->chains;
	const lanes *suc = a ? point_row(s, s->suc, point_commit(s, a)) : NULL;
	const lanes *known = point_row(s, s->suc, point_sight(s, r));
	for (uint32_t i = c->group_first[key];
	     i < c->group_first[key + 1] && !s->conflicting; i++) {
		const struct chain_writers *g = &c->groups[i];
		int32_t from = suc ? row_suc(s, suc, g->chain) : 0;
		if (from >= row_suc(s, known, g->chain)) continue;
		uint32_t at = writer_from(s, g, from);
		if (at == g->end) continue;
		uint32_t w = c->writers[at];
		if (w != r)
			force(s, point_sight(s, r), point_commit(s, w),
			      EDGE_READER, a);
	}
}

/* Must one of two writers of a key be in sight of the other? */
static inline bool are_rivals(const struct strong *s, uint32_t a, uint32_t b)
{
	return excludes_rivals(s, a) || excludes_rivals(s, b);
}

static void rival_rule(struct strong *s, uint32_t a, uint32_t key)
{
	const struct chains *c = s->chains;
	assert(s->two && s->exclusive && a);
	const lanes *suc = point_row(s, s->suc, point_rival(s, a));
	const lanes *known = point_row(s, s->suc, point_commit(s, a));
	for (uint32_t i = c->group_first[key];
	     i < c->group_first[key + 1] && !s->conflicting; i++) {
		const struct chain_writers *g = &c->groups[i];
		int32_t after = row_suc(s, suc, g->chain);
		if (!s->asks && after >= row_suc(s, known, g->chain)) continue;
		uint32_t at = writer_from(s, g, after);
		if (at < g->end && c->writers[at] == a) at++;
		if (at == g->end || !are_rivals(s, a, c->writers[at])) continue;
		force(s, point_commit(s, a), point_rival(s, c->writers[at]),
		      EDGE_RIVAL, 0);
	}
}

static void look_at_reads(struct strong *s, uint32_t t)
{
	const struct facts *f = s->f;
	if (!reads_by_order(s, t)) return;
	for (uint32_t i = f->read_first[t];
	     i < f->read_first[t + 1] && !s->conflicting; i++)
		source_rule(s, t, f->reads[i]);
}

static void look_at_writes(struct strong *s, uint32_t t)
{
	const struct facts *f = s->f;
	if (!s->exclusive || !s->two) return;
	for (uint32_t i = f->write_first[t];
	     i < f->write_first[t + 1] && !s->conflicting; i++)
		rival_rule(s, t, f->writes[i]);
}

static void look_at_commit(struct strong *s, uint32_t t)
{
	for (uint32_t i = s->reader_first[t];
	     i < s->reader_first[t + 1] && !s->conflicting; i++) {
		uint32_t r = s->readers[i].reader, key = s->readers[i].key;
		if (!reads_by_order(s, r)) continue;
		if (s->prefix || facts_writes(s->f, r, key))
			reader_rule(s, r, key, t);
	}
}

static void force_lock(struct strong *s, uint32_t from, uint32_t to,
                       uint32_t lock)
{
	force(s, from, to, EDGE_LOCK, lock);
}

static void look_at(struct strong *s, uint32_t p)
{
	uint32_t t = point_owner(s, p);
	uint8_t what = s->has_changed[p];
	assert(t && p < s->points);
	s->has_changed[p] = 0;
	if (p == point_sight(s, t) && what & CHANGED_PRE) look_at_reads(s, t);
	if (!(what & CHANGED_SUC)) return;
	if (p == point_rival(s, t)) look_at_writes(s, t);
	if (p == point_commit(s, t)) look_at_commit(s, t);
	if (s->locks) locks_saturate(s, p, force_lock);
}

bool saturate(struct strong *s)
{
	if (s->conflicting || s->out_of_time) return false;
	if (!s->init_read) look_at_commit(s, HISTORY_INIT);
	s->init_read = true;
	while (s->changed_count || s->edge_count > s->linked) {
		while (s->changed_count && !s->conflicting &&
		       s->edge_count - s->linked < BATCH &&
		       !check_clock_over(s->clock)) {
			uint32_t p = s->changed[s->changed_first];
			s->changed_first = (s->changed_first + 1) % s->points;
			s->changed_count--;
			look_at(s, p);
		}
		if (s->conflicting || !reach_update(s)) return false;
		if (check_clock_over(s->clock)) {
			s->out_of_time = true;
			return false;
		}
	}
	assert(s->edge_count == s->linked || s->conflicting);
	return !s->conflicting;
}

/* ---- Open choices ---- */

struct choice_visit {
	struct strong *s;
	choice_visitor *visit;
	void *data;
};

/* The read is from a; w may come before a, or after the reader. */
static bool visit_read(struct choice_visit *v, uint32_t r,
                       struct facts_read read)
{
	struct strong *s = v->s;
	const struct chains *c = s->chains;
	uint32_t a = read.from;
	if (!a) return true;
	const lanes *pre = point_row(s, s->pre, point_commit(s, a));
	const lanes *suc = point_row(s, s->suc, point_sight(s, r));
	for (uint32_t i = c->group_first[read.key];
	     i < c->group_first[read.key + 1]; i++) {
		const struct chain_writers *g = &c->groups[i];
		int32_t before = row_pre(s, pre, g->chain);
		int32_t after = row_suc(s, suc, g->chain);
		for (uint32_t at = writer_from(s, g, before); at < g->end;
		     at++) {
			uint32_t w = c->writers[at];
			if (commit_place(s, w) >= after) break;
			if (w == a || w == r) continue;
			struct open_choice choice = {
				.first = { .from = point_commit(s, w),
				           .to = point_commit(s, a) },
				.second = { .from = point_sight(s, r),
				            .to = point_commit(s, w) },
			};
			if (!v->visit(v->data, &choice)) return false;
		}
	}
	return true;
}

/* Which of two writers comes first? */
static bool visit_write(struct choice_visit *v, uint32_t a, uint32_t key)
{
	struct strong *s = v->s;
	const struct chains *c = s->chains;
	const lanes *pre = point_row(s, s->pre, point_rival(s, a));
	const lanes *suc = point_row(s, s->suc, point_commit(s, a));
	for (uint32_t i = c->group_first[key]; i < c->group_first[key + 1];
	     i++) {
		const struct chain_writers *g = &c->groups[i];
		int32_t before = row_pre(s, pre, g->chain);
		int32_t after = row_suc(s, suc, g->chain);
		for (uint32_t at = writer_from(s, g, before); at < g->end;
		     at++) {
			uint32_t w = c->writers[at];
			if (point_place(s, point_rival(s, w)) >= after) break;
			if (w <= a || !are_rivals(s, a, w)) continue;
			struct open_choice choice = {
				.first = { .from = point_commit(s, a),
				           .to = point_rival(s, w) },
				.second = { .from = point_commit(s, w),
				            .to = point_rival(s, a) },
			};
			if (!v->visit(v->data, &choice)) return false;
		}
	}
	return true;
}

bool choices_of(struct strong *s, uint32_t t, choice_visitor *visit, void *data)
{
	const struct facts *f = s->f;
	struct choice_visit v = { s, visit, data };
	assert(t > 0 && t < f->n && !s->changed_count);
	for (uint32_t i = f->read_first[t];
	     !s->by_writers && reads_by_order(s, t) && i < f->read_first[t + 1];
	     i++)
		if (!visit_read(&v, t, f->reads[i])) return false;
	if (!s->by_writers && !s->asks)
		return !s->locks || lock_choices_of(s, t, visit, data);
	for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1]; i++)
		if (!visit_write(&v, t, f->writes[i])) return false;
	return true;
}

/* ---- Reads that do not go by the order ---- */

struct weak_reads {
	struct strong *s;
	/* Reads of the reader at hand: by key its first one, + 1; by read the
	 * next one of the key, + 1. What is not above its reads is of others.
	 */
	uint32_t *first, *next;
	uint32_t *seen; /* by writer: the last reader that read from it */
};

/* r sees w, and reads the key from another. */
static void force_later(struct strong *s, uint32_t w, uint32_t r,
                        struct facts_read read)
{
	if (w == read.from || s->conflicting) return;
	if (read.from)
		force(s, point_commit(s, w), point_rival(s, read.from),
		      EDGE_SOURCE, r);
	else
		conflict_with_init(s, w, r);
}

/* The last writer of the key before t in its session; 0: there is none. */
static uint32_t writer_in_session(const struct facts *f, uint32_t t,
                                  uint32_t key)
{
	uint32_t low = f->writer_first[key], high = f->writer_first[key + 1];
	uint32_t begin = low;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (f->writers[middle] < t)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == begin) return 0;
	uint32_t w = f->writers[low - 1];
	return w >= f->session_first[f->session_of[t]] ? w : 0;
}

static void list_by_key(struct weak_reads *x, uint32_t r)
{
	const struct facts *f = x->s->f;
	uint32_t begin = f->read_first[r];
	for (uint32_t i = f->read_first[r + 1]; i-- > begin;) {
		uint32_t *first = &x->first[f->reads[i].key];
		x->next[i] = *first > begin ? *first : 0;
		*first = i + 1;
	}
}

/* What the reader sees by reading from others: under rc (`in_turn`) its later
 * reads, else all of them. */
static void take_sources(struct weak_reads *x, uint32_t r, bool in_turn)
{
	const struct facts *f = x->s->f;
	uint32_t begin = f->read_first[r], end = f->read_first[r + 1];
	list_by_key(x, r);
	for (uint32_t i = begin; i < end && !x->s->conflicting; i++) {
		uint32_t w = f->reads[i].from;
		if (!w || x->seen[w] == r) continue;
		x->seen[w] = r;
		for (uint32_t k = f->write_first[w]; k < f->write_first[w + 1];
		     k++)
			for (uint32_t a = x->first[f->writes[k]]; a > begin;
			     a = x->next[a - 1])
				if (!in_turn || a - 1 > i)
					force_later(x->s, w, r,
					            f->reads[a - 1]);
	}
}

static void take_session(struct strong *s, uint32_t r)
{
	const struct facts *f = s->f;
	for (uint32_t i = f->read_first[r]; i < f->read_first[r + 1]; i++) {
		uint32_t w = writer_in_session(f, r, f->reads[i].key);
		if (w) force_later(s, w, r, f->reads[i]);
	}
}

void append_forced(struct strong *s, enum level others)
{
	const struct facts *f = s->f;
	struct weak_reads x = { .s = s };
	x.first = mem_take0((size_t)f->key_count + 1, sizeof *x.first);
	x.next = mem_take0((size_t)f->read_first[f->n] + 1, sizeof *x.next);
	x.seen = mem_take0(f->n, sizeof *x.seen);
	for (uint32_t t = 1; t < f->n && !s->conflicting; t++) {
		enum sight sight = level_sight(facts_level(f, others, t));
		bool all = f->session_of[t] == f->after_all;
		if (reads_by_order(s, t) || sight == SIGHT_NOTHING) continue;
		if (sight == SIGHT_PAST || (sight == SIGHT_DIRECT && all)) {
			for (uint32_t i = f->read_first[t];
			     i < f->read_first[t + 1] && !s->conflicting; i++)
				source_rule(s, t, f->reads[i]);
			continue;
		}
		take_sources(&x, t, sight == SIGHT_SOURCES);
		if (sight == SIGHT_DIRECT) take_session(s, t);
	}
	free(x.first);
	free(x.next);
	free(x.seen);
}
