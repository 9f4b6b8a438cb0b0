/* Queries: which rows are read, and what is made of them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/numeric.h"
#include "sql/procs.h"
#include "sql/run.h"

/* ---- FROM ---- */

/* What is done with each joined row, which is in the frame. */
struct sink {
	bool (*put)(struct sink *self);
};

/* The rows of a query's FROM, one by one. */
struct joining {
	struct sql_run *run;
	const struct sql_query *query;
	const struct sql_frame *frame;
	struct sql_rows *cache; /* of relations that are queries, by number */
	bool *cached;
};

static bool relation_rows(struct joining *j, uint32_t number,
                          struct sql_rows *out)
{
	const struct sql_relation *relation = &j->query->relations[number];
	assert(number < j->query->relation_count);
	const struct sql_frame *f = j->frame;
	switch (relation->kind) {
	case RELATION_TABLE:
		return sql_scan(j->run, j->query, number, j->frame,
		                relation->access.condition_count, out);
	case RELATION_STEP: *out = j->run->steps[relation->step]; return true;
	case RELATION_CALL:
	case RELATION_QUERY: break;
	}
	for (uint32_t i = 0; i < relation->query_up; i++) f = f->outer;
	if (relation->lateral || !j->cached[number]) {
		j->cached[number] = true;
		if (relation->call ? !sql_set_rows(j->run, f, relation->call,
		                                   &j->cache[number])
		                   : !sql_run_query(j->run, relation->query, f,
		                                    &j->cache[number]))
			return false;
	}
	*out = j->cache[number];
	return true;
}

struct join_sink {
	struct sink sink; /* first */
	struct joining *joining;
	const struct sql_from *join;
	struct sink *then;
	bool matched;
};

static bool join_rows(struct joining *j, const struct sql_from *f,
                      struct sink *then);

/* Both sides are there. */
static bool put_pair(struct sink *self)
{
	struct join_sink *s = (struct join_sink *)self;
	bool holds = true;
	if (s->join->on &&
	    !sql_eval_condition(s->joining->run, s->joining->frame, s->join->on,
	                        &holds))
		return false;
	if (!holds) return true;
	s->matched = true;
	return s->then->put(s->then);
}

static void clear_rows(struct joining *j, const struct sql_from *f)
{
	if (f->join == JOIN_NONE) {
		j->frame->rows[f->relation] = NULL;
		return;
	}
	clear_rows(j, f->a);
	clear_rows(j, f->b);
}

/* FULL JOIN, once all with the left side were there: this row of the right side
 * stands alone if no row of the left side goes with it. */
static bool put_found(struct sink *self)
{
	(void)self;
	return true;
}

static bool put_right(struct sink *self)
{
	struct join_sink *s = (struct join_sink *)self;
	struct sink found = { put_found };
	struct join_sink pairs = {
		{ put_pair }, s->joining, s->join, &found, false
	};
	if (!join_rows(s->joining, s->join->a, &pairs.sink)) return false;
	clear_rows(s->joining, s->join->a);
	return pairs.matched || s->then->put(s->then);
}

/* The left side is there. */
static bool put_left(struct sink *self)
{
	struct join_sink *s = (struct join_sink *)self;
	struct join_sink pairs = *s;
	pairs.sink.put = put_pair;
	pairs.matched = false;
	if (!join_rows(s->joining, s->join->b, &pairs.sink)) return false;
	clear_rows(s->joining, s->join->b);
	if (pairs.matched || s->join->join == JOIN_INNER) return true;
	return s->then->put(s->then);
}

static bool join_rows(struct joining *j, const struct sql_from *f,
                      struct sink *then)
{
	struct sql_rows rows = { 0 };
	if (f->join != JOIN_NONE) {
		struct join_sink left = { { put_left }, j, f, then, false };
		if (!join_rows(j, f->a, &left.sink)) return false;
		if (f->join != JOIN_FULL) return true;
		clear_rows(j, f->a);
		left.sink.put = put_right;
		return join_rows(j, f->b, &left.sink);
	}
	if (!relation_rows(j, f->relation, &rows)) return false;
	for (uint32_t i = 0; i < rows.count; i++) {
		j->frame->rows[f->relation] = rows.items[i];
		if (!sql_spend(j->run, 0)) return false;
		if (!then->put(then)) return false;
	}
	return true;
}

struct match_sink {
	struct sink sink; /* first */
	struct joining *joining;
	struct sql_matches *out;
};

static bool put_match(struct sink *self)
{
	struct match_sink *s = (struct match_sink *)self;
	struct joining *j = s->joining;
	struct region *r = j->run->region;
	uint32_t n = j->query->relation_count;
	bool holds = true;
	if (j->query->where &&
	    !sql_eval_condition(j->run, j->frame, j->query->where, &holds))
		return false;
	if (!holds) return true;
	const struct value **rows = region_take(r, (n + 1) * sizeof *rows);
	memcpy(rows, j->frame->rows, n * sizeof *rows);
	REGION_RESERVE(r, s->out->items, s->out->count, s->out->capacity);
	s->out->items[s->out->count++] = rows;
	return true;
}

bool sql_match(struct sql_run *x, const struct sql_query *q,
               const struct sql_frame *outer, struct sql_matches *out)
{
	size_t n = q->relation_count + (size_t)1;
	struct sql_frame frame = { .outer = outer,
		                   .rows = region_take0(
					   x->region, n * sizeof *frame.rows) };
	struct joining j = { .run = x,
		             .query = q,
		             .frame = &frame,
		             .cache = region_take0(x->region,
		                                   n * sizeof *j.cache),
		             .cached = region_take0(x->region, n) };
	struct match_sink sink = { { put_match }, &j, out };
	*out = (struct sql_matches){ 0 };
	return q->from ? join_rows(&j, q->from, &sink.sink)
	               : put_match(&sink.sink);
}

/* ---- Order ---- */

/* A row of the result, or the rows that it is made of, and what it is ordered
 * by. */
struct made {
	const struct value *row, **of, *by;
	const struct value **found; /* by relation, if some are locked */
};

static int order_of(const struct made *a, const struct made *b,
                    const struct sql_order *order, uint32_t count,
                    const struct sql_target *targets)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct sql_order *o = &order[i];
		assert(o->by || targets);
		const struct sql_expr *of =
			o->by ? o->by : targets[o->target].value;
		bool na = sql_is_null(a->by[i]), nb = sql_is_null(b->by[i]);
		int n;
		if (na || nb)
			n = na == nb ? 0 : na == o->nulls_first ? -1 : 1;
		else
			n = sql_compare(a->by[i], b->by[i], of->type);
		if (n && !na && !nb && o->descending) n = -n;
		if (n) return n;
	}
	return 0;
}

/* Insertion from the left: stable, and results are short. */
static void sort_made(struct made *items, uint32_t item_count,
                      const struct sql_order *order, uint32_t count,
                      const struct sql_target *targets)
{
	for (uint32_t i = 1; count && i < item_count; i++) {
		struct made x = items[i];
		uint32_t at = i;
		for (; at &&
		       order_of(&items[at - 1], &x, order, count, targets) > 0;
		     at--)
			items[at] = items[at - 1];
		items[at] = x;
	}
}

/* ---- Groups ---- */

struct group {
	struct value *by;
	struct sql_matches rows;
	const struct value *aggregates;
};

struct groups {
	struct group *items;
	uint32_t count, capacity;
};

static bool same_values(const struct value *a, const struct value *b,
                        const struct sql_expr **of, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (sql_is_null(a[i]) != sql_is_null(b[i])) return false;
		if (!sql_is_null(a[i]) && sql_compare(a[i], b[i], of[i]->type))
			return false;
	}
	return true;
}

static bool add_to_group(struct sql_run *x, const struct sql_query *q,
                         const struct sql_frame *f, struct groups *g)
{
	struct value *by =
		region_take(x->region, (q->group_count + 1) * sizeof *by);
	uint32_t i;
	for (i = 0; i < q->group_count; i++)
		if (!sql_eval(x, f, q->group[i], &by[i])) return false;
	for (i = 0; i < g->count; i++)
		if (same_values(g->items[i].by, by, q->group, q->group_count))
			break;
	if (i == g->count) {
		REGION_RESERVE(x->region, g->items, g->count, g->capacity);
		g->items[g->count++] = (struct group){ .by = by };
	}
	struct sql_matches *m = &g->items[i].rows;
	REGION_RESERVE(x->region, m->items, m->count, m->capacity);
	m->items[m->count++] = f->rows;
	return true;
}

/* One aggregate while it sees row after row. */
struct accumulator {
	struct value value; /* so far; NULL before the first */
	struct text text;
	int64_t count;
	struct sql_rows seen;  /* with DISTINCT */
	struct sql_rows items; /* of an array */
};

/* Sums are of type bigint or numeric. */
static bool add_number(struct sql_run *x, const struct sql_expr *e,
                       struct value v, bool first, struct accumulator *a)
{
	enum sql_kind of = e->args[0]->type.kind;
	assert(e->type.kind == SQL_INT8 || e->type.kind == SQL_NUMERIC);
	if (e->type.kind == SQL_INT8) {
		if (first) a->value = value_int(0);
		if (!__builtin_add_overflow(a->value.i, v.i, &a->value.i))
			return true;
		return sql_run_fails(x, "22003", "bigint out of range");
	}
	if (of != SQL_NUMERIC) v = sql_numeric_of_integer(x->region, v.i);
	if (first) {
		a->value = v;
		return true;
	}
	if (sql_numeric_compute(x->region, DO_ADD, a->value, v, &a->value,
	                        &x->failure))
		return true;
	x->stop = SQL_FAILED;
	return false;
}

static bool accumulate(struct sql_run *x, const struct sql_expr *e,
                       const struct value *args, struct accumulator *a)
{
	bool first = !a->count++;
	switch (e->function->operation) {
	case DO_COUNT: return true;
	case DO_SUM:
	case DO_AVG: return add_number(x, e, args[0], first, a);
	case DO_MIN:
	case DO_MAX: {
		int order = first ? 0 : sql_compare(args[0], a->value, e->type);
		if (first || (e->function->operation == DO_MIN ? order <= 0
		                                               : order >= 0))
			a->value = args[0];
		return true;
	}
	case DO_BOOL_AND:
		a->value = value_bool((first || a->value.i) && args[0].i);
		return true;
	case DO_BOOL_OR:
		a->value = value_bool((!first && a->value.i) || args[0].i);
		return true;
	case DO_STRING_AGG:
		if (!first && !sql_is_null(args[1]))
			text_bytes(&a->text, args[1].o->bytes,
			           args[1].o->length);
		text_bytes(&a->text, args[0].o->bytes, args[0].o->length);
		return true;
	case DO_ARRAY_AGG:
		sql_rows_add(x->region, &a->items,
		             memcpy(region_take(x->region, sizeof *args), args,
		                    sizeof *args));
		return true;
	default: assert(!"an aggregate"); return true;
	}
}

static bool is_seen(struct sql_run *x, struct accumulator *a,
                    const struct sql_expr *e, const struct value *args)
{
	for (uint32_t i = 0; i < a->seen.count; i++)
		if (same_values(a->seen.items[i], args, e->args, e->count))
			return true;
	struct value *copy = region_take(x->region, e->count * sizeof *copy);
	memcpy(copy, args, e->count * sizeof *copy);
	sql_rows_add(x->region, &a->seen, copy);
	return false;
}

static bool add_row(struct sql_run *x, const struct sql_frame *f,
                    const struct sql_expr *e, struct accumulator *a)
{
	struct value args[PROC_ARGUMENTS] = { { 0 } };
	bool holds = true;
	assert(e->count <= PROC_ARGUMENTS);
	if (e->filter && !sql_eval_condition(x, f, e->filter, &holds))
		return false;
	if (!holds) return true;
	for (uint32_t i = 0; i < e->count; i++)
		if (!sql_eval(x, f, e->args[i], &args[i])) return false;
	/* NULL is no input, but for count(*) and array_agg(). */
	if (e->count && sql_is_null(args[0]) &&
	    e->function->operation != DO_ARRAY_AGG)
		return true;
	if (e->distinct && is_seen(x, a, e, args)) return true;
	return accumulate(x, e, args, a);
}

/* The order in which an aggregate sees the rows; with DISTINCT, PostgreSQL
 * sorts by the arguments. */
static bool order_rows(struct sql_run *x, const struct sql_frame *outer,
                       const struct sql_expr *e, struct sql_matches *rows)
{
	struct sql_order own[PROC_ARGUMENTS] = { { 0 } };
	const struct sql_order *order = e->order;
	uint32_t count = e->order_count;
	if (!count && e->distinct && e->function->operation != DO_COUNT) {
		for (count = 0; count < e->count; count++)
			own[count].by = e->args[count];
		order = own;
	}
	if (!count) return true;
	struct made *all =
		region_take(x->region, (rows->count + (size_t)1) * sizeof *all);
	const struct value ***items = region_take(
		x->region, (rows->count + (size_t)1) * sizeof *items);
	for (uint32_t i = 0; i < rows->count; i++) {
		struct sql_frame f = { .outer = outer, .rows = rows->items[i] };
		struct value *by = region_take(x->region, count * sizeof *by);
		for (uint32_t k = 0; k < count; k++)
			if (!sql_eval(x, &f, order[k].by, &by[k])) return false;
		all[i] = (struct made){ .of = rows->items[i], .by = by };
	}
	sort_made(all, rows->count, order, count, NULL);
	for (uint32_t i = 0; i < rows->count; i++) items[i] = all[i].of;
	rows->items = items;
	return true;
}

static bool finish(struct sql_run *x, const struct sql_expr *e,
                   struct accumulator *a, struct value *out)
{
	struct value *items, count;
	*out = a->value;
	switch (e->function->operation) {
	case DO_COUNT: *out = value_int(a->count); return true;
	case DO_STRING_AGG:
		if (a->count)
			*out = value_string(x->region, text_get(&a->text),
			                    a->text.length);
		return true;
	case DO_ARRAY_AGG:
		if (!a->count) return true;
		items = region_take(x->region, a->items.count * sizeof *items);
		for (uint32_t i = 0; i < a->items.count; i++)
			items[i] = a->items.items[i][0];
		*out = value_sequence(x->region, VALUE_LIST, items,
		                      a->items.count);
		return true;
	case DO_AVG:
		if (!a->count) return true;
		count = sql_numeric_of_integer(x->region, a->count);
		if (sql_numeric_compute(x->region, DO_DIV, a->value, count, out,
		                        &x->failure))
			return true;
		x->stop = SQL_FAILED;
		return false;
	default: return true;
	}
}

static bool aggregate(struct sql_run *x, const struct sql_frame *outer,
                      const struct sql_expr *e, const struct sql_matches *rows,
                      struct value *out)
{
	struct accumulator a = { .value = value_null() };
	struct sql_matches sorted = *rows;
	assert(sql_proc_is_aggregate(e->function));
	bool fine = order_rows(x, outer, e, &sorted);
	for (uint32_t i = 0; i < rows->count && fine; i++) {
		struct sql_frame f = { .outer = outer,
			               .rows = sorted.items[i] };
		fine = add_row(x, &f, e, &a);
	}
	fine = fine && finish(x, e, &a, out);
	text_free(&a.text);
	return fine;
}

/* Each group becomes one row, its first, with its aggregates. Without GROUP
 * BY there is one group, even of no row. */
static bool make_groups(struct sql_run *x, const struct sql_query *q,
                        const struct sql_frame *outer,
                        const struct sql_matches *rows, struct groups *g)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		struct sql_frame f = { .outer = outer, .rows = rows->items[i] };
		if (!add_to_group(x, q, &f, g)) return false;
	}
	if (!g->count && !q->group_count) {
		REGION_RESERVE(x->region, g->items, g->count, g->capacity);
		g->items[g->count++] = (struct group){ 0 };
	}
	for (uint32_t i = 0; i < g->count; i++) {
		struct value *all = region_take(
			x->region, (q->aggregate_count + 1) * sizeof *all);
		for (uint32_t n = 0; n < q->aggregate_count; n++)
			if (!aggregate(x, outer, q->aggregates[n],
			               &g->items[i].rows, &all[n]))
				return false;
		g->items[i].aggregates = all;
	}
	return true;
}

/* ---- Results ---- */

struct making {
	struct sql_run *run;
	const struct sql_query *query;
	struct made *items;
	uint32_t count, capacity;
};

static bool same_row(const struct sql_query *q, const struct value *a,
                     const struct value *b)
{
	for (uint32_t c = 0; c < q->target_count; c++) {
		const struct sql_expr *of = q->targets[c].value;
		if (!same_values(&a[c], &b[c], &of, 1)) return false;
	}
	return true;
}

static bool is_double(const struct making *m, const struct value *row)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (same_row(m->query, m->items[i].row, row)) return true;
	return false;
}

static bool add_made(struct making *m, const struct sql_frame *f,
                     const struct value *row)
{
	const struct sql_query *q = m->query;
	struct region *r = m->run->region;
	struct value *by = region_take(r, (q->order_count + 1) * sizeof *by);
	bool distinct = q->combination ? !q->all : q->distinct;
	if (distinct && is_double(m, row)) return true;
	for (uint32_t i = 0; i < q->order_count; i++) {
		const struct sql_order *o = &q->order[i];
		if (!o->by)
			by[i] = row[o->target];
		else if (!sql_eval(m->run, f, o->by, &by[i]))
			return false;
	}
	REGION_RESERVE(r, m->items, m->count, m->capacity);
	m->items[m->count++] = (struct made){ .row = row,
		                              .by = by,
		                              .found = f ? f->rows : NULL };
	return true;
}

static bool make_one(struct making *m, const struct sql_frame *f)
{
	const struct sql_query *q = m->query;
	struct value *row = region_take(m->run->region,
	                                (q->target_count + 1) * sizeof *row);
	for (uint32_t i = 0; i < q->target_count; i++)
		if (!sql_eval(m->run, f, q->targets[i].value, &row[i]))
			return false;
	return add_made(m, f, row);
}

/* Sets go side by side, up to the end of the longest. */
static bool make_sets(struct making *m, const struct sql_frame *f)
{
	const struct sql_query *q = m->query;
	struct region *r = m->run->region;
	struct sql_rows *all = region_take(r, q->set_count * sizeof *all);
	uint32_t most = 0;
	assert(!q->locks);
	for (uint32_t i = 0; i < q->set_count; i++) {
		if (!sql_set_rows(m->run, f, q->sets[i]->args[0], &all[i]))
			return false;
		if (all[i].count > most) most = all[i].count;
	}
	for (uint32_t n = 0; n < most; n++) {
		struct value *row = region_take(r, q->set_count * sizeof *row);
		struct sql_frame with = *f;
		for (uint32_t i = 0; i < q->set_count; i++)
			row[i] = n < all[i].count ? all[i].items[n][0]
			                          : value_null();
		with.sets = row;
		if (!make_one(m, &with)) return false;
	}
	return true;
}

static bool make_row(struct making *m, const struct sql_frame *f)
{
	const struct sql_query *q = m->query;
	bool holds = true;
	if (q->having && !sql_eval_condition(m->run, f, q->having, &holds))
		return false;
	if (!holds) return true;
	return q->set_count ? make_sets(m, f) : make_one(m, f);
}

static bool make_values(struct making *m, const struct sql_frame *outer)
{
	const struct sql_query *q = m->query;
	struct sql_frame f = { .outer = outer };
	for (uint32_t i = 0; i < q->value_count; i++) {
		struct value *row = region_take(
			m->run->region, (q->target_count + 1) * sizeof *row);
		for (uint32_t c = 0; c < q->target_count; c++)
			if (!sql_eval(m->run, &f, q->values[i][c], &row[c]))
				return false;
		if (!add_made(m, &f, row)) return false;
	}
	return true;
}

/* One side of UNION and the like. */
static bool make_side(struct making *m, const struct sql_frame *outer,
                      uint32_t side, struct sql_rows *out)
{
	const struct sql_query *q = m->query;
	assert(side < 2 && q->relation_count == 2);
	const struct value *pair[2] = { NULL, NULL };
	struct sql_frame f = { .outer = outer, .rows = pair };
	struct sql_rows rows = { 0 };
	if (!sql_run_query(m->run, q->relations[side].query, &f, &rows))
		return false;
	for (uint32_t i = 0; i < rows.count; i++) {
		struct value *row = region_take(m->run->region,
		                                (q->target_count + (size_t)1) *
		                                        sizeof *row);
		pair[side] = rows.items[i];
		for (uint32_t c = 0; c < q->target_count; c++)
			if (!sql_eval(m->run, &f,
			              side ? q->right[c] : q->targets[c].value,
			              &row[c]))
				return false;
		sql_rows_add(m->run->region, out, row);
	}
	return true;
}

/* Takes an equal row out of them. */
static bool take_equal(const struct sql_query *q, struct sql_rows *rows,
                       const struct value *row)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		if (!same_row(q, rows->items[i], row)) continue;
		if (q->all) rows->items[i] = rows->items[--rows->count];
		return true;
	}
	return false;
}

static bool make_combination(struct making *m, const struct sql_frame *outer)
{
	const struct sql_query *q = m->query;
	struct sql_rows a = { 0 }, b = { 0 };
	if (!make_side(m, outer, 0, &a) || !make_side(m, outer, 1, &b))
		return false;
	for (uint32_t i = 0; i < a.count; i++) {
		bool kept = q->combination == COMBINE_UNION ||
		            take_equal(q, &b, a.items[i]) ==
		                    (q->combination == COMBINE_INTERSECT);
		if (kept && !add_made(m, NULL, a.items[i])) return false;
	}
	for (uint32_t i = 0; q->combination == COMBINE_UNION && i < b.count;
	     i++)
		if (!add_made(m, NULL, b.items[i])) return false;
	return true;
}

static bool make_rows(struct making *m, const struct sql_frame *outer)
{
	const struct sql_query *q = m->query;
	struct sql_matches rows;
	struct groups g = { 0 };
	if (q->combination) return make_combination(m, outer);
	if (q->value_count) return make_values(m, outer);
	if (!sql_match(m->run, q, outer, &rows)) return false;
	if (!q->grouped) {
		for (uint32_t i = 0; i < rows.count; i++) {
			struct sql_frame f = { .outer = outer,
				               .rows = rows.items[i] };
			if (!make_row(m, &f)) return false;
		}
		return true;
	}
	if (!make_groups(m->run, q, outer, &rows, &g)) return false;
	for (uint32_t i = 0; i < g.count; i++) {
		size_t n = q->relation_count + (size_t)1;
		struct sql_frame f = { .outer = outer,
			               .aggregates = g.items[i].aggregates };
		f.rows = g.items[i].rows.count
		                 ? g.items[i].rows.items[0]
		                 : region_take0(m->run->region,
		                                n * sizeof *f.rows);
		if (!make_row(m, &f)) return false;
	}
	return true;
}

/* Rows are locked in their order, up to LIMIT; those that are newer by then are
 * made anew. */
static bool lock_made(struct making *m, const struct sql_frame *outer,
                      uint32_t i, bool *kept)
{
	const struct sql_query *q = m->query;
	struct made *a = &m->items[i];
	struct sql_frame f = { .outer = outer, .rows = a->found };
	assert(q->locks && a->found);
	if (!sql_lock_rows(m->run, q, outer, a->found, kept)) return false;
	if (!*kept) return true;
	struct value *row = region_take(m->run->region,
	                                (q->target_count + 1) * sizeof *row);
	for (uint32_t c = 0; c < q->target_count; c++)
		if (!sql_eval(m->run, &f, q->targets[c].value, &row[c]))
			return false;
	a->row = row;
	return true;
}

/* What becomes of rows of a query that locks them. */
struct locked_rows {
	const struct sql_query *query;
	const struct sql_frame *outer;
	struct sql_rows *out;
};

static bool add_locked(struct sql_run *x, const void *what,
                       const struct value **rows)
{
	const struct locked_rows *to = what;
	struct sql_frame f = { .outer = to->outer, .rows = rows };
	uint32_t count = to->query->target_count;
	struct value *row =
		region_take(x->region, (count + (size_t)1) * sizeof *row);
	for (uint32_t c = 0; c < count; c++)
		if (!sql_looks_on(x,
		                  sql_eval(x, &f, to->query->targets[c].value,
		                           &row[c])))
			return false;
	sql_rows_add(x->region, to->out, row);
	return true;
}

/* Looking ahead: whatever it may return. */
static bool look_at_made(struct making *m, const struct sql_frame *outer,
                         struct sql_rows *out)
{
	struct locked_rows to = { m->query, outer, out };
	assert(m->run->looks && m->query->locks);
	for (uint32_t i = 0; i < m->count; i++)
		if (!sql_look_at_versions(m->run, m->query, outer,
		                          m->items[i].found, add_locked, &to))
			return false;
	return true;
}

static bool eval_bound(struct sql_run *x, const struct sql_frame *outer,
                       const struct sql_expr *e, const char *clause,
                       const char *state, int64_t *out)
{
	struct sql_frame f = { .outer = outer };
	struct value v;
	if (!e) return true;
	if (!sql_eval(x, &f, e, &v)) return false;
	if (sql_is_null(v)) return true;
	if (v.i < 0)
		return sql_run_fails(x, state, "%s must not be negative",
		                     clause);
	*out = v.i;
	return true;
}

bool sql_run_query(struct sql_run *x, const struct sql_query *q,
                   const struct sql_frame *outer, struct sql_rows *out)
{
	struct making m = { .run = x, .query = q };
	int64_t limit = INT64_MAX, offset = 0;
	*out = (struct sql_rows){ 0 };
	if (!make_rows(&m, outer) ||
	    !eval_bound(x, outer, q->limit, "LIMIT", "2201W", &limit) ||
	    !eval_bound(x, outer, q->offset, "OFFSET", "2201X", &offset))
		return false;
	sort_made(m.items, m.count, q->order, q->order_count, q->targets);
	if (q->locks && x->looks) return look_at_made(&m, outer, out);
	if (!q->locks) {
		for (int64_t i = offset; i < m.count && i - offset < limit; i++)
			sql_rows_add(x->region, out, m.items[i].row);
		return true;
	}
	int64_t kept = 0;
	for (uint32_t i = 0; i < m.count && kept - offset < limit; i++) {
		bool keeps;
		if (!lock_made(&m, outer, i, &keeps)) return false;
		if (keeps && kept++ >= offset)
			sql_rows_add(x->region, out, m.items[i].row);
	}
	return true;
}
