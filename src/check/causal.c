/* Causal consistency: a transaction sees all of its causal past, (so U wr)+.
 *
 * The past of a transaction is a vector clock over paths that cover so U wr:
 * how many members of each path are in it. A read of a key from t1 by t3
 * forces, for each path, its last writer of the key in the past of t3 before
 * t1; the earlier ones follow. What is in the past of t1 is before it anyway.
 *
 * Paths are taken in blocks of columns, so that memory stays proportional to
 * the history whatever the number of sessions: of 256 columns, as many equal
 * clocks are shared and old ones given back; of 64 if that takes too much.
 */
#include "check/weak_edges.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/path_cover.h"
#include "check/vector_clocks.h"

enum { BLOCK_WIDE = 256, BLOCK_NARROW = 64 }; /* columns */

/* ---- the state of a block ---- */

/* The writers of a key that are on the block's paths. */
struct key_writers {
	uint32_t met; /* how many the walk has met, listed in `recent` */
	uint32_t total;
	uint32_t groups; /* on how many paths */
	uint32_t group;  /* where the last of these begins, in `sorted` */
};

struct causal {
	struct graph *g;
	const struct facts *f;
	struct path_cover cover;
	uint32_t block;          /* columns of a block, at most */
	uint32_t first, columns; /* paths of this one */
	uint32_t first_rank;     /* of the first transaction on these */
	struct vector_clocks rows;
	/* By transaction. */
	uint32_t *row;  /* its past, and itself when it is done */
	uint32_t *need; /* row, or 0: what readers force before it, by path the
	                 * last; at least what is in its past */
	uint32_t *uses; /* so many have it as a direct predecessor */
	uint32_t *left; /* of these, so many have not come yet */
	uint32_t *pred_first, *preds; /* direct predecessors */
	/* The key's writers from f->writer_first[key] on. */
	struct key_writers *keys; /* by key */
	uint32_t *recent;         /* in the order of the walk */
	uint32_t *sorted;         /* by path and position: in groups by path */
	uint32_t *end;            /* at the beginning of a group: its end */
	uint32_t *hint;           /* there: the place in it found last */
};

/* Column of a transaction in the block; not below c->columns if it is on no
 * path of it. */
static uint32_t column_of(const struct causal *c, uint32_t t)
{
	return c->cover.place[t].path - c->first;
}

static int32_t position_of(const struct causal *c, uint32_t t)
{
	return (int32_t)c->cover.place[t].position;
}

static void list_writer(struct causal *c, uint32_t t, uint32_t key)
{
	struct key_writers *k = &c->keys[key];
	uint32_t at = c->f->writer_first[key] + k->total++;
	const struct path_cover_place *place = c->cover.place;
	assert(at < c->f->writer_first[key + 1]);
	c->sorted[at] = t;
	if (!k->groups || place[c->sorted[k->group]].path != place[t].path) {
		k->group = c->hint[at] = at;
		k->groups++;
	}
	c->end[k->group] = at + 1;
}

static void list_writers(struct causal *c)
{
	const struct facts *f = c->f;
	const struct path_cover *v = &c->cover;
	memset(c->keys, 0, f->key_count * sizeof *c->keys);
	c->first_rank = f->n;
	for (uint32_t i = v->first[c->first];
	     i < v->first[c->first + c->columns]; i++) {
		uint32_t t = v->members[i];
		if (f->rank[t] < c->first_rank) c->first_rank = f->rank[t];
		for (uint32_t w = f->write_first[t]; w < f->write_first[t + 1];
		     w++)
			list_writer(c, t, f->writes[w]);
	}
}

/* Each direct predecessor once, but for init. */
static void list_predecessors(struct causal *c)
{
	const struct facts *f = c->f;
	uint32_t count = 0, capacity = 0;
	uint32_t *last = mem_take0(f->n, sizeof *last);
	for (uint32_t t = 1; t < f->n; t++) {
		struct graph_preds p = graph_preds(c->g, t);
		p.edge = GRAPH_NONE;
		for (uint32_t u;
		     (u = graph_next_pred(c->g, t, &p)) != GRAPH_NONE;) {
			if (last[u] == t) continue;
			last[u] = t;
			VEC_RESERVE(c->preds, count, capacity);
			c->preds[count++] = u;
			c->uses[u]++;
		}
		c->pred_first[t + 1] = count;
	}
	free(last);
}

static void begin_block(struct causal *c, uint32_t first)
{
	assert(first < c->cover.count);
	uint32_t rest = c->cover.count - first;
	c->first = first;
	c->columns = rest < c->block ? rest : c->block;
	vector_clocks_init(&c->rows, c->columns);
	memcpy(c->left, c->uses, c->f->n * sizeof *c->left);
	list_writers(c);
}

/* ---- what a read forces ---- */

/* All of the block up to this rank is in the past of the row's owner. */
static uint32_t floor_of(struct causal *c, uint32_t row)
{
	int32_t *past = clock_at(&c->rows, row);
	int32_t *known = clock_floor(&c->rows, row);
	if (row == CLOCK_ZERO || *known) return (uint32_t)*known;
	uint32_t floor = c->f->n;
	for (uint32_t i = 0; i < c->columns; i++) {
		uint32_t path = c->first + i, seen = (uint32_t)past[i];
		if (seen == path_cover_length(&c->cover, path)) continue;
		uint32_t next = path_cover_at(&c->cover, path, seen + 1);
		if (c->f->rank[next] < floor) floor = c->f->rank[next];
	}
	*known = (int32_t)floor;
	return floor;
}

/* The last one in sorted[begin .. end - 1] whose position is not above the
 * limit; `end` if there is none. In steps of doubling width from where it was
 * last time. */
static uint32_t last_within(struct causal *c, uint32_t begin, uint32_t end,
                            int32_t limit)
{
	uint32_t low = c->hint[begin], high = low, step = 1;
	while (high < end && position_of(c, c->sorted[high]) <= limit) {
		low = high;
		high = end - high > step ? high + step : end;
		step *= 2;
	}
	while (low > begin && position_of(c, c->sorted[low]) > limit) {
		high = low;
		low = low - begin > step ? low - step : begin;
		step *= 2;
	}
	if (position_of(c, c->sorted[low]) > limit) return end;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (position_of(c, c->sorted[middle]) <= limit)
			low = middle;
		else
			high = middle;
	}
	assert(low >= begin && low < end);
	c->hint[begin] = low;
	return low;
}

/* What must precede t1 so far: at least its past. */
static const int32_t *needed(struct causal *c, uint32_t t1)
{
	return clock_at(&c->rows, c->need[t1] ? c->need[t1] : c->row[t1]);
}

static const int32_t *raise_need(struct causal *c, uint32_t t1, uint32_t t2)
{
	if (!c->need[t1]) c->need[t1] = clock_copy(&c->rows, c->row[t1]);
	int32_t *need = clock_at(&c->rows, c->need[t1]);
	assert(column_of(c, t2) < c->columns);
	need[column_of(c, t2)] = position_of(c, t2);
	return need;
}

/* By looking at the last writers of each path. */
static void force_by_groups(struct causal *c, const int32_t *past,
                            struct facts_read read)
{
	uint32_t begin = c->f->writer_first[read.key];
	uint32_t end = begin + c->keys[read.key].total;
	const int32_t *need = needed(c, read.from);
	for (uint32_t i = begin; i < end; i = c->end[i]) {
		uint32_t column = column_of(c, c->sorted[i]);
		if (past[column] <= need[column]) continue;
		uint32_t at = last_within(c, i, c->end[i], past[column]);
		if (at < c->end[i] &&
		    position_of(c, c->sorted[at]) > need[column])
			need = raise_need(c, read.from, c->sorted[at]);
	}
}

enum { FLOOR_AFTER = 4 }; /* writers looked at: finding it takes time too */

/* By looking at the writers met last, down to the floor of t1. False if they
 * are more than the paths; then nothing is lost but time. */
static bool force_by_recent(struct causal *c, const int32_t *past,
                            struct facts_read read)
{
	const struct key_writers *k = &c->keys[read.key];
	const uint32_t *recent = c->recent + c->f->writer_first[read.key];
	const int32_t *need = needed(c, read.from);
	uint32_t most = k->groups + FLOOR_AFTER, looked = 0;
	for (uint32_t i = k->met; i-- > 0; looked++) {
		uint32_t t2 = recent[i], column = column_of(c, t2);
		if (looked >= FLOOR_AFTER &&
		    c->f->rank[t2] < floor_of(c, c->row[read.from]))
			return true;
		if (looked > most) return false;
		int32_t position = position_of(c, t2);
		if (position <= past[column] && position > need[column])
			need = raise_need(c, read.from, t2);
	}
	return true;
}

/* Nothing may precede init. */
static void force_before_init(struct causal *c, const int32_t *past,
                              uint32_t key)
{
	uint32_t begin = c->f->writer_first[key];
	uint32_t end = begin + c->keys[key].total;
	for (uint32_t i = begin; i < end; i = c->end[i]) {
		uint32_t t2 = c->sorted[i];
		if (position_of(c, t2) <= past[column_of(c, t2)])
			graph_add(c->g, t2, 0);
	}
}

static void take_reads(struct causal *c, uint32_t t)
{
	const struct facts *f = c->f;
	if (c->row[t] == CLOCK_ZERO) return;
	const int32_t *past = clock_at(&c->rows, c->row[t]);
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++) {
		struct facts_read read = f->reads[i];
		if (graph_enough(c->g, 4)) return;
		if (!read.from)
			force_before_init(c, past, read.key);
		else if (c->row[read.from] != c->row[t] &&
		         !force_by_recent(c, past, read))
			force_by_groups(c, past, read);
	}
}

/* ---- a transaction after the other ---- */

/* Nobody looks at t any more: what must precede it is known. */
static void finish(struct causal *c, uint32_t t)
{
	if (c->need[t]) {
		const int32_t *need = clock_at(&c->rows, c->need[t]);
		const int32_t *past = clock_at(&c->rows, c->row[t]);
		for (uint32_t i = 0; i < c->columns; i++)
			if (need[i] > past[i])
				graph_add(c->g,
				          path_cover_at(&c->cover, c->first + i,
				                        (uint32_t)need[i]),
				          t);
		clock_drop(&c->rows, c->need[t]);
	}
	clock_drop(&c->rows, c->row[t]);
	c->row[t] = c->need[t] = 0;
}

static uint32_t join_predecessors(struct causal *c, uint32_t t)
{
	uint32_t row = CLOCK_ZERO;
	for (uint32_t i = c->pred_first[t]; i < c->pred_first[t + 1]; i++) {
		uint32_t u = c->preds[i], other = c->row[u];
		uint32_t column = column_of(c, u);
		if (other == CLOCK_ZERO || other == row) continue;
		/* Whoever sees u sees its past. */
		if (column < c->columns &&
		    clock_at(&c->rows, row)[column] >= position_of(c, u))
			continue;
		row = clock_join(&c->rows, row, other);
	}
	return row;
}

static void leave_predecessors(struct causal *c, uint32_t t)
{
	for (uint32_t i = c->pred_first[t]; i < c->pred_first[t + 1]; i++) {
		uint32_t u = c->preds[i];
		assert(c->left[u]);
		if (--c->left[u] == 0 && (c->row[u] || c->need[u]))
			finish(c, u);
	}
}

/* The transaction, if it is on a path of the block, belongs to what those see
 * that see it; and later readers look at its writes. */
static void add_itself(struct causal *c, uint32_t t)
{
	const struct facts *f = c->f;
	uint32_t column = column_of(c, t), row = c->row[t];
	if (column >= c->columns) return;
	if (!clock_is_own(&c->rows, row)) {
		c->row[t] = clock_copy(&c->rows, row);
		clock_drop(&c->rows, row);
	}
	clock_at(&c->rows, c->row[t])[column] = position_of(c, t);
	for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1]; i++) {
		uint32_t key = f->writes[i];
		assert(c->keys[key].met < c->keys[key].total);
		c->recent[f->writer_first[key] + c->keys[key].met++] = t;
	}
}

static void take_transaction(struct causal *c, uint32_t t)
{
	c->row[t] = join_predecessors(c, t);
	take_reads(c, t);
	add_itself(c, t);
	leave_predecessors(c, t);
	if (!c->left[t]) finish(c, t);
}

/* Do rows take more than there would be in narrow blocks? */
static bool is_too_wide(const struct causal *c)
{
	uint64_t most = (uint64_t)c->f->n * BLOCK_NARROW * sizeof(int32_t);
	return c->columns > BLOCK_NARROW && c->rows.chunk_count > 1 &&
	       vector_clocks_bytes(&c->rows) > most;
}

/* Nothing of the block is seen before its first transaction; those that earlier
 * ones would have left are finished in the end. False if the block is too wide;
 * then part of its edges has been added. */
static bool take_block(struct causal *c, uint32_t first)
{
	const struct facts *f = c->f;
	bool fits = true;
	begin_block(c, first);
	for (uint32_t i = c->first_rank; i < f->n && fits; i++) {
		uint32_t t = f->order[i];
		uint32_t reads = f->read_first[t + 1] - f->read_first[t];
		take_transaction(c, t);
		if (graph_enough(c->g, 1 + (uint64_t)reads)) break;
		if (graph_too_large(c->g, vector_clocks_bytes(&c->rows))) break;
		fits = !is_too_wide(c);
	}
	for (uint32_t t = 1; t < f->n; t++)
		if (c->row[t] || c->need[t]) finish(c, t);
	vector_clocks_free(&c->rows);
	return fits;
}

static void take_blocks(struct causal *c)
{
	c->block = BLOCK_WIDE;
	for (uint32_t first = 0; first < c->cover.count;) {
		if (graph_enough(c->g, 1)) return;
		if (take_block(c, first))
			first += c->columns;
		else
			c->block = BLOCK_NARROW;
	}
}

static void causal_init(struct causal *c, struct graph *g)
{
	const struct facts *f = g->f;
	size_t writes = f->writer_first[f->key_count];
	*c = (struct causal){ .g = g, .f = f };
	path_cover_init(&c->cover, f, BLOCK_NARROW);
	c->row = mem_take0(f->n, sizeof *c->row);
	c->need = mem_take0(f->n, sizeof *c->need);
	c->uses = mem_take0(f->n, sizeof *c->uses);
	c->left = mem_take0(f->n, sizeof *c->left);
	c->pred_first = mem_take0(f->n + (size_t)1, sizeof *c->pred_first);
	c->keys = mem_take0(f->key_count, sizeof *c->keys);
	c->recent = mem_take(writes * sizeof *c->recent);
	c->sorted = mem_take(writes * sizeof *c->sorted);
	c->end = mem_take(writes * sizeof *c->end);
	c->hint = mem_take(writes * sizeof *c->hint);
	list_predecessors(c);
}

static void causal_free(struct causal *c)
{
	path_cover_free(&c->cover);
	free(c->row);
	free(c->need);
	free(c->uses);
	free(c->left);
	free(c->pred_first);
	free(c->preds);
	free(c->keys);
	free(c->recent);
	free(c->sorted);
	free(c->end);
	free(c->hint);
}

void causal_edges(struct graph *g)
{
	struct causal c;
	causal_init(&c, g);
	take_blocks(&c);
	causal_free(&c);
}
