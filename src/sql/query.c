/* Queries: which rows are read, and what is made of them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/numeric.h"
#include "sql/procs.h"
#include "sql/run.h"

/* An array in a region: the old one stays there. */
static void *grow(struct region *r, const void *old, uint32_t count,
                  size_t size)
{
	void *more = region_take(r, (count ? 2 * (size_t)count : 8) * size);
	if (count) memcpy(more, old, count * size);
	return more;
}

#define REGION_RESERVE(r, items, count, capacity)                             \
	do {                                                                  \
		if ((count) == (capacity)) {                                  \
			(items) =                                             \
				grow((r), (items), (count), sizeof *(items)); \
			(capacity) = (capacity) ? 2 * (capacity) : 8;         \
		}                                                             \
	} while (0)

void sql_rows_add(struct region *r, struct sql_rows *rows,
                  const struct value *row)
{
	REGION_RESERVE(r, rows->items, rows->count, rows->capacity);
	rows->items[rows->count++] = row;
}

/* ---- Reading ---- */

static bool same_key(uint32_t global, struct value key, uint32_t g,
                     struct value k)
{
	return global == g && value_equal(key, k);
}

const struct sql_write *sql_own_write(const struct sql_write *w,
                                      uint32_t global, struct value key)
{
	while (w && !same_key(global, key, w->global, w->key)) w = w->older;
	return w;
}

/* The row that set-up left. */
static struct value initial_row(const struct sql_run *x, uint32_t global,
                                struct value key)
{
	const struct known_row *row =
		known_find(known_of(x->known, global), key);
	return row && row->initial ? row->versions[0] : value_null();
}

bool sql_read(struct sql_run *x, uint32_t global, struct value key,
              enum strength strength, struct value *out)
{
	const struct sql_write *own = sql_own_write(
		strength == STRENGTH_PLAIN ? x->written_before : x->writes,
		global, key);
	if (own) {
		*out = own->row;
		return true;
	}
	if (x->serial) {
		*out = initial_row(x, global, key);
		return true;
	}
	for (uint32_t i = x->read_base; i < x->read_count; i++)
		if (same_key(global, key, x->reads[i].global,
		             x->reads[i].key) &&
		    x->reads[i].strength == strength) {
			*out = x->values[i];
			return true;
		}
	if (x->locked && strength < STRENGTH_SHARE) sql_begin_moment(x);
	struct sql_read read = { global, x->point, key, strength, x->begun };
	x->begun = true;
	x->locked |= strength >= STRENGTH_SHARE;
	if (x->read_count == x->answer_count) {
		x->wanted = read;
		x->stop = SQL_WAITS;
		return false;
	}
	if (x->read_count == x->read_capacity) {
		uint32_t n = x->read_count;
		x->reads = grow(x->region, x->reads, n, sizeof *x->reads);
		x->values = grow(x->region, x->values, n, sizeof *x->values);
		x->read_capacity = n ? 2 * n : 8;
	}
	*out = x->answers[x->read_count];
	x->reads[x->read_count] = read;
	x->values[x->read_count++] = *out;
	return true;
}

const struct value *sql_columns(struct sql_run *x, const struct sql_table *t,
                                struct value key, struct value row)
{
	struct value *columns =
		region_take(x->region, (t->column_count + 1) * sizeof *columns);
	assert(row.tag == VALUE_RECORD && row.o->length == 2 * t->column_count);
	for (uint32_t c = 0; c < t->column_count; c++)
		columns[c] = row.o->items[2 * t->columns[c].slot + 1];
	columns[t->column_count] = key;
	return columns;
}

struct value sql_key(struct sql_run *x, const struct sql_unique *u,
                     const struct value *columns)
{
	struct value *items = region_take(x->region, u->count * sizeof *items);
	for (uint32_t i = 0; i < u->count; i++) {
		items[i] = columns[u->columns[i]];
		if (sql_is_null(items[i])) return value_null();
		items[i] = sql_key_part(x->region, items[i], u->types[i]);
	}
	return value_sequence(x->region, VALUE_TUPLE, items, u->count);
}

/* ---- Rows of a table ---- */

/* A table being read for a query, with the rows before it in FROM. */
struct scan {
	struct sql_run *run;
	const struct sql_query *query; /* NULL: of no relation that is locked */
	const struct sql_relation *relation;
	uint32_t number; /* of the relation */
	const struct sql_frame *frame;
	uint32_t conditions; /* how many are looked at */
	struct sql_rows *out;
};

/* Does the row satisfy the conditions? An error is one where it counts only:
 * what fails on a version that may never be read is worth a read. */
static bool satisfies(const struct scan *s, const struct value *columns,
                      bool certain, bool *out)
{
	const struct sql_access *a = &s->relation->access;
	const struct value **place = &s->frame->rows[s->number];
	const struct value *before = *place;
	bool fine = true;
	*place = columns;
	*out = true;
	for (uint32_t i = 0; i < s->conditions && *out && fine; i++)
		fine = sql_eval_condition(s->run, s->frame, a->conditions[i],
		                          out);
	*place = before;
	if (fine || certain) return fine;
	s->run->stop = SQL_GOES_ON;
	*out = true;
	return true;
}

/* Can a version that is known satisfy the conditions? */
static bool matters(const struct scan *s, const struct known_row *row)
{
	const struct sql_table *t = s->relation->table;
	bool found = false;
	for (uint32_t i = 0; i < row->count && !found; i++) {
		struct region_mark mark = region_mark(s->run->region);
		satisfies(s, sql_columns(s->run, t, row->key, row->versions[i]),
		          false, &found);
		region_release(s->run->region, mark);
	}
	return found;
}

bool sql_may_match(struct sql_run *x, const struct sql_relation *relation,
                   const struct known_row *row)
{
	uint32_t n = relation->number;
	struct sql_frame f = { .rows = region_take0(x->region,
		                                    (n + 1) * sizeof *f.rows) };
	struct scan s = {
		x, NULL, relation, n, &f, relation->access.fixed, NULL
	};
	return matters(&s, row);
}

static bool add_if_satisfies(const struct scan *s, struct value key,
                             struct value row)
{
	const struct sql_table *t = s->relation->table;
	bool wanted;
	if (sql_is_null(row)) return true;
	const struct value *columns = sql_columns(s->run, t, key, row);
	if (!satisfies(s, columns, true, &wanted)) return false;
	if (wanted) sql_rows_add(s->run->region, s->out, columns);
	return true;
}

/* Keys in order: those known, and those that the transaction itself made. */
static int order_of_keys(const void *a, const void *b)
{
	return known_compare(*(const struct value *)a,
	                     *(const struct value *)b);
}

/* Is a version of it found whichever it is, now and when it is locked? */
static bool is_certain(const struct scan *s, const struct known_row *row)
{
	const struct sql_table *t = s->relation->table;
	const struct sql_access *a = &s->relation->access;
	bool found = true;
	if (!row || !row->initial || row->deleted) return false;
	if (a->key_alone) return true;
	/* Other versions than these are not told apart. */
	if (a->key) return false;
	for (uint32_t i = 0; i < row->count && found; i++) {
		struct region_mark mark = region_mark(s->run->region);
		found = satisfies(s,
		                  sql_columns(s->run, t, row->key,
		                              row->versions[i]),
		                  true, &found) &&
		        found;
		s->run->stop = SQL_GOES_ON;
		region_release(s->run->region, mark);
	}
	return found;
}

/* Where the row is locked and found in any case, it is not read before. */
static bool read_row(const struct scan *s, struct value key, struct value *out)
{
	struct sql_run *x = s->run;
	uint32_t global = s->relation->table->global;
	enum strength strength = STRENGTH_PLAIN;
	if (s->relation->lock && s->query->plain && !x->serial &&
	    is_certain(s, known_find(known_of(x->known, global), key)))
		strength = s->relation->lock;
	return sql_read(x, global, key, strength, out);
}

static bool scan_keys(const struct scan *s)
{
	struct sql_run *x = s->run;
	uint32_t global = s->relation->table->global, count = 0, most;
	const struct known_rows *rows = known_of(x->known, global);
	most = rows->count;
	for (const struct sql_write *w = x->written_before; w; w = w->older)
		most++;
	struct value *keys = region_take(x->region, (most + 1) * sizeof *keys);
	for (const struct sql_write *w = x->written_before; w; w = w->older)
		if (w->global == global &&
		    sql_own_write(x->written_before, global, w->key) == w)
			keys[count++] = w->key;
	for (uint32_t i = 0; i < rows->count; i++)
		if (!sql_own_write(x->written_before, global,
		                   rows->items[i]->key) &&
		    matters(s, rows->items[i]))
			keys[count++] = rows->items[i]->key;
	qsort(keys, count, sizeof *keys, order_of_keys);
	for (uint32_t i = 0; i < count; i++) {
		struct value row;
		if (!read_row(s, keys[i], &row) ||
		    !add_if_satisfies(s, keys[i], row))
			return false;
	}
	return true;
}

/* The key that the conditions name; NULL if there can be no such row. */
static bool named_key(const struct scan *s, struct value *out)
{
	const struct sql_table *t = s->relation->table;
	const struct sql_unique *u = t->primary;
	struct sql_run *x = s->run;
	struct value *items = region_take(x->region, u->count * sizeof *items);
	*out = value_null();
	for (uint32_t i = 0; i < u->count; i++) {
		const struct sql_expr *e = s->relation->access.key[i];
		struct sql_type to = t->columns[u->columns[i]].type;
		struct sql_failure why = { 0 };
		if (!sql_eval(x, s->frame, e, &items[i])) return false;
		if (sql_is_null(items[i])) return true;
		if (!sql_convert(x->region, items[i], e->type, to, false,
		                 &items[i], &why))
			return true;
		items[i] = sql_key_part(x->region, items[i], to);
	}
	*out = value_sequence(x->region, VALUE_TUPLE, items, u->count);
	return true;
}

static bool scan_table(const struct scan *s)
{
	struct sql_run *x = s->run;
	const struct sql_table *t = s->relation->table;
	struct value key, row;
	if (x->tables) {
		const struct sql_rows *all = &x->tables[t->number];
		for (uint32_t i = 0; i < all->count; i++) {
			bool wanted;
			if (!satisfies(s, all->items[i], true, &wanted))
				return false;
			if (wanted)
				sql_rows_add(x->region, s->out, all->items[i]);
		}
		return true;
	}
	if (!s->relation->access.key) return scan_keys(s);
	if (!named_key(s, &key)) return false;
	if (sql_is_null(key)) return true;
	return read_row(s, key, &row) && add_if_satisfies(s, key, row);
}

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

static bool call_rows(struct joining *j, const struct sql_expr *e,
                      struct sql_rows *out)
{
	struct sql_run *x = j->run;
	struct value *args =
		region_take(x->region, (e->count + (size_t)1) * sizeof *args);
	for (uint32_t i = 0; i < e->count; i++)
		if (!sql_eval(x, j->frame, e->args[i], &args[i])) return false;
	if (!sql_call(x, e->routine, args, out)) return false;
	/* One that returns no set returns one row. */
	if (!out->count && !e->routine->set)
		sql_rows_add(
			x->region, out,
			region_take0(x->region,
		                     (e->routine->column_count + (size_t)1) *
		                             sizeof(struct value)));
	return true;
}

static bool relation_rows(struct joining *j, uint32_t number,
                          struct sql_rows *out)
{
	const struct sql_relation *relation = &j->query->relations[number];
	const struct sql_frame *f = j->frame;
	switch (relation->kind) {
	case RELATION_TABLE:
		return scan_table(&(struct scan){
			j->run, j->query, relation, number, j->frame,
			relation->access.condition_count, out });
	case RELATION_STEP: *out = j->run->steps[relation->step]; return true;
	case RELATION_CALL: return call_rows(j, relation->call, out);
	case RELATION_QUERY: break;
	}
	for (uint32_t i = 0; i < relation->query_up; i++) f = f->outer;
	if (!j->cached[number]) {
		j->cached[number] = true;
		if (!sql_run_query(j->run, relation->query, f,
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

static bool make_row(struct making *m, const struct sql_frame *f)
{
	const struct sql_query *q = m->query;
	bool holds = true;
	if (q->having && !sql_eval_condition(m->run, f, q->having, &holds))
		return false;
	if (!holds) return true;
	struct value *row = region_take(m->run->region,
	                                (q->target_count + 1) * sizeof *row);
	for (uint32_t i = 0; i < q->target_count; i++)
		if (!sql_eval(m->run, f, q->targets[i].value, &row[i]))
			return false;
	return add_made(m, f, row);
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
