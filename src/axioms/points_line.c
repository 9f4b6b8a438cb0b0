#include "axioms/points_inside.h"

#include <assert.h>
#include <stdlib.h>

#include "axioms/kernels.h"
#include "base/memory.h"
#include "history/relation.h"

/* ---- Is there a line? ---- */

static bool is_open(const struct points *p, const struct point_choice *c)
{
	return !is_before(p, c->first.from, c->first.to) &&
	       !is_before(p, c->second.from, c->second.to);
}

/* Of each pair of which one edge would close a cycle, the other is there. A
 * choice that is added is none of them, so only a change can make it one. */
static bool saturate(struct points *p)
{
	size_t *changes = &p->rows.change_count;
	if (p->rows.logging && p->saturated == *changes) return true;
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < p->choice_count; i++) {
			const struct point_choice *c = &p->choices[i];
			if (!is_open(p, c)) continue;
			if (is_closed(p, &c->first)) {
				if (!points_add(p, &c->second)) return false;
				changed = true;
			} else if (is_closed(p, &c->second)) {
				if (!points_add(p, &c->first)) return false;
				changed = true;
			}
		}
	}
	p->saturated = *changes;
	return true;
}

/* Changes are taken back, and perhaps others made. */
static void undo(struct points *p, size_t changes)
{
	order_undo(&p->rows, changes);
	if (p->saturated > changes) p->saturated = SIZE_MAX;
}

/* An order of the points with all edges, near the one that was found last: so
 * most of what that one chose stays as it is. Each is put behind the others,
 * and before it all that must come before it. */
BITS_INLINE void mend_rows(struct points *p, unsigned width)
{
	uint32_t n = p->node_count, count = 0, *line = p->count;
	const word *rows = p->rows.before;
	word *done = p->rows.spare;
	bits_zero(done, width);
	for (uint32_t i = 0; i < p->lined; i++)
		if (p->line[i] < n)
			count = order_put(&p->rows, line, count, done,
			                  p->line[i], rows, width, width);
	for (uint32_t i = p->lined; i < n; i++)
		count = order_put(&p->rows, line, count, done, i, rows, width,
		                  width);
	assert(count == n);
	p->count = p->line;
	p->line = line;
	p->lined = n;
	for (uint32_t i = 0; i < n; i++) p->rank[line[i]] = i;
}

static void mend_line(struct points *p)
{
	if (p->width == 1)
		mend_rows(p, 1);
	else
		mend_rows(p, p->width);
}

/* An order of the points with all edges: by how many are before each. */
static void make_line(struct points *p)
{
	uint32_t n = p->node_count, end = 0;
	for (uint32_t i = 0; i < n; i++) p->count[i] = 0;
	for (uint32_t i = 0; i < n; i++) {
		p->rank[i] = bits_count(before(p, i), p->width);
		p->count[p->rank[i]]++;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t here = p->count[i];
		p->count[i] = end;
		end += here;
	}
	for (uint32_t i = 0; i < n; i++) {
		p->rank[i] = p->count[p->rank[i]]++;
		p->line[p->rank[i]] = i;
	}
}

/* A pair of which the line has neither edge; NULL: there is none. */
static const struct point_choice *broken_choice(const struct points *p)
{
	const uint32_t *rank = p->rank;
	for (size_t i = 0; i < p->choice_count; i++) {
		const struct point_choice *c = &p->choices[i];
		if (rank[c->first.from] >= rank[c->first.to] &&
		    rank[c->second.from] >= rank[c->second.to])
			return c;
	}
	return NULL;
}

/* By transaction: who commits first in this line of those that write what it
 * reads and whose writes it does not see, if that one commits before it does; 0
 * if there is none. */
static uint32_t *first_missed(const struct points *p)
{
	const uint32_t *rank = p->rank;
	uint32_t *first = mem_take0(p->transactions + (size_t)1, sizeof *first);
	for (uint32_t i = 0; i < p->read_count; i++) {
		const struct point_read *r = &p->reads[i];
		const struct point_transaction *t = &p->of[r->reader];
		if (!t->ssi || r->beside) continue;
		for (uint32_t k = p->keys[r->key].first_lock; k != NONE;
		     k = p->locks[k].next) {
			uint32_t s = p->locks[k].owner, *other;
			if (!points_is_version(p, &p->locks[k]) ||
			    !p->of[s].ssi || s == r->reader ||
			    rank[commit_of(p, s)] < rank[t->begin] ||
			    rank[commit_of(p, s)] > rank[t->commit])
				continue;
			other = &first[r->reader];
			if (!*other ||
			    rank[commit_of(p, s)] < rank[commit_of(p, *other)])
				*other = s;
		}
	}
	return first;
}

/* One of them must be there, lest t1 -rw-> t2 -rw-> t3 be dangerous. */
static void add_danger(struct points *p, uint32_t t1, uint32_t t2, uint32_t t3)
{
	const struct point_transaction *a = &p->of[t1], *b = &p->of[t2],
				       *c = &p->of[t3];
	struct point_danger d = {
		.edges = { { c->commit, b->begin, REASON_SSI, 0, t2 },
		           { b->commit, c->commit, REASON_SSI, 0, t2 },
		           { a->commit, c->commit, REASON_SSI, 0, t2 },
		           { b->commit, a->begin, REASON_SSI, 0, t2 } },
		.count = t1 == t3 ? 2 : 4
	};
	VEC_RESERVE(p->dangers, p->danger_count, p->danger_capacity);
	p->dangers[p->danger_count++] = d;
}

/* Notes three transactions that are dangerous in this line; false if there are
 * none. */
static bool find_danger(struct points *p)
{
	const uint32_t *rank = p->rank;
	uint32_t *first = first_missed(p), count = p->danger_count;
	for (uint32_t i = 0; i < p->read_count && count == p->danger_count;
	     i++) {
		const struct point_read *r = &p->reads[i];
		const struct point_transaction *t = &p->of[r->reader];
		if (!t->ssi || r->beside) continue;
		for (uint32_t k = p->keys[r->key].first_lock; k != NONE;
		     k = p->locks[k].next) {
			uint32_t s = p->locks[k].owner;
			if (!points_is_version(p, &p->locks[k]) || !first[s] ||
			    s == r->reader ||
			    rank[commit_of(p, s)] < rank[t->begin] ||
			    rank[commit_of(p, first[s])] > rank[t->commit])
				continue;
			add_danger(p, r->reader, s, first[s]);
			break;
		}
	}
	free(first);
	return count < p->danger_count;
}

/* Goes back to the last choice with an edge left, and takes that edge. (A frame
 * keeps the number of the choice and 0; or of the danger and of its edge.) */
static bool backtrack(struct points *p)
{
	struct level_scratch *s = &p->rows;
	while (s->frame_count) {
		struct order_frame f = s->frames[--s->frame_count];
		struct point_edge edge;
		uint32_t i = f.second.from, next = f.second.to;
		undo(p, f.changes);
		if (next) {
			const struct point_danger *d = &p->dangers[i];
			edge = d->edges[next];
			if (next + 1 < d->count)
				order_push(s,
				           (struct order_edge){ i, next + 1 });
		} else {
			edge = p->choices[i].second;
		}
		if (points_add(p, &edge) && saturate(p)) return true;
	}
	return false;
}

/* Every choice adds an edge, so this ends. */
static bool search_line(struct points *p)
{
	for (;;) {
		if (p->lined)
			mend_line(p);
		else
			make_line(p);
		const struct point_choice *c = broken_choice(p);
		struct order_edge second = { 0 };
		struct point_edge first;
		if (!c && !(p->ssi && find_danger(p))) return true;
		if (p->rows.stop && p->rows.stop(p->rows.stop_data)) {
			p->gave_up = true;
			return true;
		}
		if (c) {
			second.from = (uint32_t)(c - p->choices);
			first = c->first;
		} else {
			second.from = p->danger_count - 1;
			second.to = 1;
			first = p->dangers[second.from].edges[0];
		}
		order_push(&p->rows, second);
		if (!(points_add(p, &first) && saturate(p)) && !backtrack(p))
			return false;
	}
}

void points_stop_when(struct points *p, bool (*stop)(void *data), void *data)
{
	level_scratch_stop_when(&p->rows, stop, data);
}

bool points_gave_up(const struct points *p)
{
	return p->gave_up;
}

bool points_have_failed(const struct points *p)
{
	return p->failed;
}

bool points_saturate(struct points *p)
{
	if (!p->failed && !saturate(p)) p->failed = true;
	return !p->failed;
}

bool points_allow(struct points *p)
{
	struct level_scratch *s = &p->rows;
	p->gave_up = false;
	p->danger_count = 0;
	if (!points_saturate(p)) return false;
	size_t changes = s->change_count;
	s->logging = true;
	bool found = search_line(p);
	undo(p, changes);
	p->saturated = changes;
	s->logging = !p->grows;
	s->frame_count = 0;
	if (found) p->lined = p->node_count;
	p->failed = !found;
	return found;
}

void points_commits(const struct points *p, uint32_t *out)
{
	for (uint32_t i = 0; i < p->node_count; i++) {
		uint32_t t = p->owner[p->line[i]];
		if (p->line[i] == commit_of(p, t)) *out++ = t;
	}
}

/* Was its statement moved to another point (points.c)? */
static bool was_moved(const struct points *p, uint32_t read)
{
	const struct point_read *r = &p->reads[read], *o = r + 1;
	for (; o < &p->reads[p->read_count] && o->reader == r->reader; o++)
		if (o->statement == r->statement && o->at != r->at) return true;
	return false;
}

/* By point: the last statement that it is of; NONE: it is no start of one. */
static uint32_t *statements_of(const struct points *p)
{
	uint32_t *of = mem_take0(p->node_count, sizeof *of);
	for (uint32_t i = 0; i < p->read_count; i++) {
		const struct point_read *r = &p->reads[i];
		if (r->at != NONE && r->statement > of[r->at] &&
		    (r->beside || !was_moved(p, i)))
			of[r->at] = r->statement;
	}
	for (uint32_t i = 0; i < p->given_count; i++) {
		uint32_t at = p->locks[p->given_up[i].lock].end;
		if (at != NONE && p->given_up[i].statement > of[at])
			of[at] = p->given_up[i].statement;
	}
	for (uint32_t i = 0; p->runnable && i < p->lock_count; i++) {
		const struct point_lock *l = &p->locks[i];
		if (l->start == NONE) continue;
		of[l->until] = NONE;
		if (l->starts) of[l->start] = l->statement;
	}
	return of;
}

void points_each(const struct points *p, point_visitor *visit, void *data)
{
	uint32_t *statements = statements_of(p);
	for (uint32_t i = 0; i < p->node_count; i++) {
		uint32_t at = p->line[i], t = p->owner[at];
		if (!t) continue;
		if (at == commit_of(p, t))
			visit(data, t, 0);
		else if (at == p->of[t].begin)
			visit(data, t, POINTS_NONE);
		else if (statements[at] != NONE)
			visit(data, t, statements[at]);
	}
	free(statements);
}

/* ---- A whole history ---- */

struct events {
	const struct relation_read *read, *read_end;
	const struct relation_write *write, *write_end;
};

/* A write of it is no version. */
static bool has_aborted(const struct relation *r, const struct events *e,
                        uint32_t t)
{
	const struct relation_write *w = e->write;
	while (w < e->write_end && w->writer == t && w->reads_own) w++;
	return w < e->write_end && w->writer == t &&
	       !bits_has(r->writers + (size_t)w->key * r->words, t);
}

/* Those of the transaction, which come next. */
static void take_events(struct points *p, struct events *e, uint32_t t)
{
	for (;;) {
		bool reads = e->read < e->read_end && e->read->reader == t;
		bool writes = e->write < e->write_end && e->write->writer == t;
		if (!reads && !writes) return;
		if (!writes ||
		    (reads && e->read->statement <= e->write->statement)) {
			const struct relation_read *a = e->read++;
			points_read(p, a->key, a->source, a->strength,
			            a->statement);
		} else {
			const struct relation_write *w = e->write++;
			if (w->strength == STRENGTH_GIVEN_UP)
				points_give_up(p, w->key, w->statement);
			else if (w->reads_own)
				points_lock(p, w->key, w->strength,
				            w->statement);
			else
				points_write(p, w->key, w->strength,
				             w->statement);
		}
	}
}

void points_of_relation(struct points *p, const struct relation *r,
                        enum level level)
{
	uint32_t *first = mem_take0(2 * (size_t)r->n + 2, sizeof *first);
	uint32_t *writes = first + r->n + 1;
	uint32_t locks = p->runnable ? 2 * (r->read_count + r->write_count) : 0;
	p->ssi = r->ssi;
	if (r->given_up) points_may_give_up(p);
	points_clear(p, r->n,
	             points_of_transaction(0) * r->order_count + r->read_count +
	                     r->given_up + locks);
	for (uint32_t i = r->read_count; i-- > 0;)
		first[r->reads[i].reader] = i;
	for (uint32_t i = r->write_count; i-- > 0;)
		writes[r->writes[i].writer] = i;
	/* Where there are none, there may be no array. */
	const struct relation_write no_write, *all = &no_write;
	if (r->write_count) all = r->writes;
	for (uint32_t k = 1; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		struct events e = { r->reads + first[t],
			            r->reads + r->read_count, all + writes[t],
			            all + r->write_count };
		points_begin(p, t, level_of(level, r, t), has_aborted(r, &e, t),
		             r->so + (size_t)t * r->words, r->words);
		take_events(p, &e, t);
		points_end(p);
	}
	for (uint32_t i = 0; i < r->known_count; i++)
		points_know(p, r->known[i]);
	free(first);
}

bool points_allows(struct level_scratch *s, const struct relation *r,
                   enum level level)
{
	if (!s->points) s->points = points_new();
	points_of_relation(s->points, r, level);
	return points_allow(s->points);
}

/* ---- Why not ---- */

/* The edge that brought the search to each point, NONE where it did not come:
 * from where the closing edge leads to, until it is back. */
static uint32_t *search_back(const struct points *p)
{
	uint32_t *by = mem_take(2 * (size_t)p->node_count * sizeof *by);
	uint32_t *queue = by + p->node_count, first = 0, last = 0;
	for (uint32_t i = 0; i < p->node_count; i++) by[i] = NONE;
	queue[last++] = p->closing.to;
	while (queue[first] != p->closing.from) {
		uint32_t at = queue[first++];
		for (size_t i = 0; i < p->edge_count; i++) {
			uint32_t to = p->edges[i].to;
			if (p->edges[i].from != at || by[to] != NONE ||
			    to == p->closing.to)
				continue;
			by[to] = (uint32_t)i;
			queue[last++] = to;
		}
		assert(first < last);
	}
	return by;
}

/* The closing edge, and the way back from where it leads to. */
static void take_cycle(const struct points *p, struct witness *out)
{
	uint32_t *by = search_back(p), at = p->closing.from;
	const struct point_edge *e = &p->closing;
	out->edges = mem_take((p->node_count + (size_t)1) * sizeof *out->edges);
	out->count = 0;
	for (;; e = &p->edges[by[at]], at = e->from) {
		uint32_t from = p->owner[e->from], to = p->owner[e->to];
		enum reason_kind reason = e->reason;
		if (reason == REASON_WW &&
		    !(p->of[from].committed && p->of[to].committed))
			reason = REASON_LOCK;
		if (reason != REASON_COUNT)
			out->edges[out->count++] =
				(struct witness_edge){ from, to, reason, e->key,
				                       e->reader };
		if (at == p->closing.to) break;
	}
	for (uint32_t i = 0; i < out->count / 2; i++) {
		struct witness_edge w = out->edges[i];
		out->edges[i] = out->edges[out->count - 1 - i];
		out->edges[out->count - 1 - i] = w;
	}
	free(by);
}

/* The one to try next: of the first pair that is open; or one that keeps three
 * transactions from being dangerous, if there is such a one. */
static struct point_edge next_edge(struct points *p)
{
	const struct point_danger *d;
	uint32_t k = 0;
	for (size_t i = 0; i < p->choice_count; i++)
		if (is_open(p, &p->choices[i])) return p->choices[i].first;
	make_line(p);
	bool found = find_danger(p);
	assert(found);
	(void)found;
	d = &p->dangers[p->danger_count - 1];
	while (k + 1 < d->count && is_closed(p, &d->edges[k])) k++;
	return d->edges[k];
}

void points_witness(const struct relation *r, enum level level,
                    struct witness *out)
{
	struct points *p = points_new();
	p->recording = true;
	points_of_relation(p, r, level);
	while (!p->failed) {
		if (saturate(p))
			points_add_edge(p, next_edge(p));
		else
			p->failed = true;
	}
	take_cycle(p, out);
	points_free(p);
}
