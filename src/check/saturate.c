/* The edges that every commit order must contain.
 *
 * For a read of key x by r from a, and another writer w of x:
 *	(source) if w is before r, then w is before a;
 *	(reader) if a is before w, then r is before w; under psi only where r
 *	         writes x too, since it is not to see w then;
 * and for two writers a and b of one key under si:
 *	(rival)  if a begins before b commits, then a commits before b begins.
 * Of the writers in one chain only the last one before, and the first one
 * after, give an edge that does not follow from the chain. So a pass costs
 * the number of operations times the number of chains.
 */
#include "check/strong.h"

#include <assert.h>

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
	uint32_t to = s->exclusive ? point_begin(s, a) : point_commit(s, a);
	const lanes *pre = point_row(s, s->pre, point_begin(s, r));
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
	const lanes *known = point_row(s, s->suc, point_begin(s, r));
	for (uint32_t i = c->group_first[key];
	     i < c->group_first[key + 1] && !s->conflicting; i++) {
		const struct chain_writers *g = &c->groups[i];
		int32_t from = suc ? row_suc(s, suc, g->chain) : 0;
		if (from >= row_suc(s, known, g->chain)) continue;
		uint32_t at = writer_from(s, g, from);
		if (at == g->end) continue;
		uint32_t w = c->writers[at];
		if (w != r)
			force(s, point_begin(s, r), point_commit(s, w),
			      EDGE_READER, a);
	}
}

static void rival_rule(struct strong *s, uint32_t a, uint32_t key)
{
	const struct chains *c = s->chains;
	assert(s->two && s->exclusive && a);
	const lanes *suc = point_row(s, s->suc, point_begin(s, a));
	const lanes *known = point_row(s, s->suc, point_commit(s, a));
	for (uint32_t i = c->group_first[key];
	     i < c->group_first[key + 1] && !s->conflicting; i++) {
		const struct chain_writers *g = &c->groups[i];
		int32_t after = row_suc(s, suc, g->chain);
		if (after >= row_suc(s, known, g->chain)) continue;
		uint32_t at = writer_from(s, g, after);
		if (at < g->end && c->writers[at] == a) at++;
		if (at == g->end) continue;
		force(s, point_commit(s, a), point_begin(s, c->writers[at]),
		      EDGE_RIVAL, 0);
	}
}

static void look_at_begin(struct strong *s, uint32_t t, uint8_t what)
{
	const struct facts *f = s->f;
	if (what & CHANGED_PRE)
		for (uint32_t i = f->read_first[t];
		     i < f->read_first[t + 1] && !s->conflicting; i++)
			source_rule(s, t, f->reads[i]);
	if (!(what & CHANGED_SUC) || !s->exclusive || !s->two) return;
	for (uint32_t i = f->write_first[t];
	     i < f->write_first[t + 1] && !s->conflicting; i++)
		rival_rule(s, t, f->writes[i]);
}

static void look_at_commit(struct strong *s, uint32_t t)
{
	for (uint32_t i = s->reader_first[t];
	     i < s->reader_first[t + 1] && !s->conflicting; i++) {
		uint32_t r = s->readers[i].reader, key = s->readers[i].key;
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
	if (p == point_begin(s, t)) look_at_begin(s, t, what);
	if (p == point_commit(s, t) && what & CHANGED_SUC) look_at_commit(s, t);
	if (s->locks && what & CHANGED_SUC) locks_saturate(s, p, force_lock);
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
	const lanes *suc = point_row(s, s->suc, point_begin(s, r));
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
				.second = { .from = point_begin(s, r),
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
	const lanes *pre = point_row(s, s->pre, point_begin(s, a));
	const lanes *suc = point_row(s, s->suc, point_commit(s, a));
	for (uint32_t i = c->group_first[key]; i < c->group_first[key + 1];
	     i++) {
		const struct chain_writers *g = &c->groups[i];
		int32_t before = row_pre(s, pre, g->chain);
		int32_t after = row_suc(s, suc, g->chain);
		for (uint32_t at = writer_from(s, g, before); at < g->end;
		     at++) {
			uint32_t w = c->writers[at];
			if (point_place(s, point_begin(s, w)) >= after) break;
			if (w <= a) continue;
			struct open_choice choice = {
				.first = { .from = point_commit(s, a),
				           .to = point_begin(s, w) },
				.second = { .from = point_commit(s, w),
				            .to = point_begin(s, a) },
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
	if (!s->by_writers) {
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++)
			if (!visit_read(&v, t, f->reads[i])) return false;
		return !s->locks || lock_choices_of(s, t, visit, data);
	}
	for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1]; i++)
		if (!visit_write(&v, t, f->writes[i])) return false;
	return true;
}
