/* How tables are read: by key, or by which conditions. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "sql/procs.h"
#include "sql/resolve_parts.h"
#include "sql/walk.h"

/* What the expression mentions of this query's relations. */
struct mentioned {
	uint64_t relations; /* bit set; those from 63 on share a bit */
	bool outer;         /* something of the queries around */
	bool asks;          /* has subqueries, which find other rows */
	bool tables;        /* rows of them are read */
	bool calls; /* nextval(), or a routine that has snapshots of its own */
	bool unclear; /* what is to be done in its place only: routines, locks,
	                 aggregates */
	bool inside;  /* of the arguments of a routine that reads */
	bool locks;   /* rows of a query in FROM */
	uint32_t table_count; /* in FROM, here and in subqueries */
	uint64_t followed;    /* relations on whose columns it depends what is
	                       * read */
	/* Whose columns are noted, if some that it mentions are to be told
	 * apart; or NULL. */
	const struct sql_relation *noted;
	uint32_t noted_count;
};

static uint64_t relation_bit(uint32_t relation)
{
	return (uint64_t)1 << (relation < 63 ? relation : 63);
}

static void mention_query(const struct sql_query *q, uint32_t depth,
                          struct mentioned *m);

static void mention_column(const struct sql_expr *e, uint32_t depth,
                           struct mentioned *m)
{
	m->relations |= relation_bit(e->relation);
	if (depth || m->inside) m->followed |= relation_bit(e->relation);
	if (e->relation < m->noted_count && m->noted[e->relation].lock)
		m->noted[e->relation].table->filtered[e->column] = true;
}

struct mentioning {
	struct mentioned *m;
	uint32_t depth;
};

static void mention(const struct sql_expr *e, uint32_t depth,
                    struct mentioned *m);

static void mention_part(void *data, const struct sql_expr *e)
{
	const struct mentioning *x = data;
	mention(e, x->depth, x->m);
}

/* `depth`: so many subqueries inside of this query. */
static void mention(const struct sql_expr *e, uint32_t depth,
                    struct mentioned *m)
{
	if (!e) return;
	bool inside = m->inside;
	if (e->kind == EXPR_COLUMN && e->up == depth)
		mention_column(e, depth, m);
	if (e->kind == EXPR_COLUMN && e->up > depth) m->outer = true;
	if ((e->kind == EXPR_AGGREGATE && !depth) ||
	    (e->kind == EXPR_NEXTVAL && depth) || e->kind == EXPR_STEP_ERROR ||
	    e->kind == EXPR_ROUTINE)
		m->unclear = true;
	m->calls |= e->kind == EXPR_NEXTVAL;
	if (e->kind == EXPR_ROUTINE) {
		m->calls |= !e->routine->fixed;
		m->asks |= e->routine->fixed;
		m->inside |= e->routine->fixed;
	}
	if (e->query) {
		m->asks = true;
		mention_query(e->query, depth + 1, m);
	}
	struct mentioning parts = { m, depth + sql_is_about_row(e) };
	sql_expr_parts(e, mention_part, &parts);
	m->inside = inside;
}

static void mention_relation(const struct sql_relation *x, uint32_t depth,
                             struct mentioned *m)
{
	if (x->kind == RELATION_TABLE) {
		m->tables = true;
		m->table_count++;
		return;
	}
	m->locks |= x->kind == RELATION_QUERY && x->query->locks;
	if (x->call) mention(x->call, depth, m);
	if (x->kind == RELATION_QUERY && x->query_up <= depth)
		mention_query(x->query, depth + 1 - x->query_up, m);
	else
		m->unclear = true;
}

static void mention_query(const struct sql_query *q, uint32_t depth,
                          struct mentioned *m)
{
	m->unclear |= q->locks;
	for (uint32_t i = 0; i < q->relation_count; i++)
		mention_relation(&q->relations[i], depth, m);
	sql_query_parts(q, mention_part, &(struct mentioning){ m, depth });
}

/* What is done with the rows that a change finds. */
static void mention_change(const struct sql_statement *s, struct mentioned *m)
{
	sql_statement_parts(s, mention_part, &(struct mentioning){ m, 0 });
}

/* Versions of rows that the query locks, also in FROM, are told apart by the
 * columns that it mentions, or, of a change, what is done with the rows. */
static void tell_apart(struct resolver *r, const struct sql_query *q,
                       const struct sql_statement *change)
{
	struct mentioned all = { .noted = q->relations,
		                 .noted_count = q->relation_count };
	mention_query(q, 0, &all);
	if (change) mention_change(change, &all);
	for (uint32_t i = 0; i < q->relation_count; i++) {
		const struct sql_relation *x = &q->relations[i];
		if (x->lock)
			r->catalog->tables[x->table->number]->scanned = true;
		if (x->kind == RELATION_QUERY) tell_apart(r, x->query, NULL);
	}
}

/* The same of rows in the way of an INSERT. */
static void tell_met_apart(struct resolver *r, const struct sql_statement *s)
{
	const struct sql_relation met = { .table = s->table,
		                          .lock = STRENGTH_NO_KEY_UPDATE };
	struct mentioned all = { .noted = &met, .noted_count = 1 };
	mention_change(s, &all);
	r->catalog->tables[s->table->number]->scanned = true;
}

void look_for_late_reads(struct resolver *r, struct sql_statement *s)
{
	struct mentioned rows = { 0 }, late = { 0 };
	uint64_t locked = 0;
	bool inserts = s->kind == STATEMENT_INSERT, locks;
	if (s->kind > STATEMENT_DELETE) return;
	mention_query(s->query, 0, &rows);
	mention_change(s, &late);
	for (uint32_t i = 0; i < s->query->relation_count; i++)
		if (s->query->relations[i].lock) locked |= relation_bit(i);
	s->follows_rows = inserts ? s->conflict == CONFLICT_UPDATE &&
	                                    late.followed & relation_bit(0)
	                          : (rows.followed | late.followed) & locked;
	locks = (rows.followed & locked) ||
	        (rows.locks && (rows.table_count > 1 || late.tables));
	if (locks || (s->follows_rows && !inserts))
		tell_apart(r, s->query, inserts ? NULL : s);
	if (s->follows_rows && inserts) tell_met_apart(r, s);
	if (s->query->value_count > 1) late.asks |= rows.asks;
	/* Triggers of statements come before its rows are looked for. */
	late.calls |= s->table && s->table->counts_statements;
	s->looks_ahead =
		locks || s->follows_rows || late.asks ||
		((rows.calls || late.calls) && (rows.tables || late.tables));
}

bool query_acts(const struct sql_query *q)
{
	struct mentioned m = { 0 };
	mention_query(q, 1, &m);
	return m.unclear;
}

/* A condition, and the relations whose rows it can rule out. */
struct conjunct {
	const struct sql_expr *condition;
	struct mentioned mentioned;
	uint64_t rules_out;
};

struct conjuncts {
	struct conjunct *items;
	uint32_t count, capacity;
	uint64_t there, before[63];
};

static void add_conjuncts(struct conjuncts *c, const struct sql_expr *e,
                          uint64_t rules_out)
{
	if (e->kind == EXPR_AND) {
		for (uint32_t i = 0; i < e->count; i++)
			add_conjuncts(c, e->args[i], rules_out);
		return;
	}
	struct conjunct x = { .condition = e, .rules_out = rules_out };
	mention(e, 0, &x.mentioned);
	if (x.mentioned.unclear) return;
	VEC_RESERVE(c->items, c->count, c->capacity);
	c->items[c->count++] = x;
}

/* `open`: relations that conditions from here on up can rule out. Of each
 * relation it is noted which ones are there before it. */
static void add_joins(struct conjuncts *c, const struct sql_from *f,
                      uint64_t *open)
{
	uint64_t a = 0, b = 0;
	if (f->join == JOIN_NONE) {
		*open = relation_bit(f->relation);
		if (f->relation < 63) c->before[f->relation] = c->there;
		c->there |= *open;
		return;
	}
	add_joins(c, f->a, &a);
	add_joins(c, f->b, &b);
	*open = f->join == JOIN_LEFT ? a : f->join == JOIN_FULL ? 0 : a | b;
	if (f->on && f->join != JOIN_FULL)
		add_conjuncts(c, f->on, f->join == JOIN_LEFT ? b : a | b);
}

/* Is it column = expression of others? The expression, and the column. */
static const struct sql_expr *equals(const struct sql_expr *e,
                                     uint32_t relation, uint32_t *column)
{
	if (e->kind != EXPR_CALL || e->function->operation != DO_EQ)
		return NULL;
	assert(e->count == 2);
	for (int i = 0; i < 2; i++) {
		const struct sql_expr *a = e->args[i], *b = e->args[1 - i];
		struct mentioned m = { 0 };
		if (a->kind != EXPR_COLUMN || a->up || a->relation != relation)
			continue;
		mention(b, 0, &m);
		if (m.relations & relation_bit(relation)) continue;
		*column = a->column;
		return b;
	}
	return NULL;
}

/* Can the condition be looked at when the relation's rows are read? Others that
 * it mentions stand before it in FROM. */
static bool is_of(const struct conjunct *j, const struct conjuncts *c,
                  uint32_t relation)
{
	uint64_t self = relation_bit(relation), m = j->mentioned.relations;
	return (m & self) && (j->rules_out & self) &&
	       !(m & ~(self | c->before[relation]));
}

/* What a subquery gives as a key is taken where nothing simpler names it. */
static void find_key(struct resolver *r, struct sql_relation *x,
                     const struct conjuncts *c, uint32_t relation)
{
	const struct sql_unique *primary = x->table->primary;
	if (!primary) return;
	const struct sql_expr **key =
		region_take0(r->region, (primary->count + 1) * sizeof *key);
	for (int asks = 1; asks >= 0; asks--)
		for (uint32_t i = 0; i < c->count; i++) {
			const struct conjunct *j = &c->items[i];
			const struct sql_expr *to;
			uint32_t column;
			if (j->mentioned.asks != asks || !is_of(j, c, relation))
				continue;
			to = equals(j->condition, relation, &column);
			for (uint32_t k = 0; to && k < primary->count; k++)
				if (column == primary->columns[k]) key[k] = to;
		}
	for (uint32_t k = 0; k < primary->count; k++)
		if (!key[k]) return;
	x->access.key = key;
}

static bool mentions_others(const struct sql_expr *e,
                            const struct sql_unique *primary)
{
	bool found = e->kind == EXPR_COLUMN && !e->up;
	for (uint32_t k = 0; found && k < primary->count; k++)
		found = primary->columns[k] != e->column;
	for (uint32_t i = 0; i < e->count && !found; i++)
		found = mentions_others(e->args[i], primary);
	return found;
}

static bool is_about_key(const struct sql_relation *x)
{
	const struct sql_access *a = &x->access;
	for (uint32_t i = 0; i < a->condition_count; i++)
		if (mentions_others(a->conditions[i], x->table->primary))
			return false;
	return true;
}

/* From integers to larger ones, and from texts to text, all values are
 * converted. */
static bool widens(const struct sql_expr *e)
{
	enum sql_kind from = e->args[0]->type.kind, to = e->type.kind;
	if (sql_is_integer(from) && sql_is_integer(to)) return from <= to;
	return to == SQL_TEXT && sql_is_string(from);
}

/* Whatever the rows are, can it be evaluated without an error? (It may even if
 * this says that it may not.) */
static bool never_fails(const struct sql_expr *e)
{
	switch (e->kind) {
	case EXPR_CONSTANT:
	case EXPR_COLUMN:
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_NOT:
	case EXPR_IS_NULL:
	case EXPR_IS_BOOL:
	case EXPR_IS_DISTINCT:
	case EXPR_CASE:
	case EXPR_COALESCE:
	case EXPR_NULLIF:
	case EXPR_GREATEST:
	case EXPR_ARRAY: break;
	case EXPR_CALL:
		if (e->function->operation > DO_GE) return false;
		break;
	case EXPR_ANY:
		if (!e->function || e->query) return false;
		break;
	case EXPR_CAST:
		if (!widens(e)) return false;
		break;
	default: return false;
	}
	for (uint32_t i = 0; i < e->count; i++)
		if (!never_fails(e->args[i])) return false;
	return true;
}

static uint32_t count_conjuncts(const struct sql_expr *e)
{
	uint32_t count = e != NULL;
	if (!e || e->kind != EXPR_AND) return count;
	for (uint32_t i = count = 0; i < e->count; i++)
		count += count_conjuncts(e->args[i]);
	return count;
}

static void note_filtered(const struct sql_table *t, const struct sql_expr *e,
                          uint32_t relation)
{
	if (e->kind == EXPR_COLUMN && !e->up && e->relation == relation)
		t->filtered[e->column] = true;
	for (uint32_t i = 0; i < e->count; i++)
		note_filtered(t, e->args[i], relation);
}

/* Conditions whose other relations stand before it in FROM, those about it
 * alone first. */
static void find_access(struct resolver *r, struct scope *s,
                        const struct conjuncts *c, uint32_t relation)
{
	assert(relation < s->relation_count);
	struct sql_relation *x = &s->relations[relation];
	struct sql_access *access = &x->access;
	uint64_t self = relation_bit(relation);
	if (x->kind != RELATION_TABLE || relation >= 63) return;
	access->conditions = region_take0(
		r->region, (c->count + 1) * sizeof *access->conditions);
	for (int others = 0; others < 2; others++) {
		for (uint32_t i = 0; i < c->count; i++) {
			const struct conjunct *j = &c->items[i];
			bool alone = j->mentioned.relations == self &&
			             !j->mentioned.outer;
			if (j->mentioned.asks || !is_of(j, c, relation) ||
			    alone == others)
				continue;
			access->conditions[access->condition_count++] =
				j->condition;
		}
		if (!others) access->fixed = access->condition_count;
	}
	assert(access->fixed <= access->condition_count);
	assert(access->condition_count <= c->count);
	find_key(r, x, c, relation);
	access->key_alone = access->key && is_about_key(x);
	access->never_fails = true;
	for (uint32_t i = 0; i < access->condition_count; i++)
		access->never_fails &= never_fails(access->conditions[i]);
	struct sql_table *t = r->catalog->tables[x->table->number];
	t->scanned |= !access->key || r->purpose == PURPOSE_ASSERT;
	if (access->key && r->purpose != PURPOSE_ASSERT) return;
	for (uint32_t i = 0; i < access->condition_count; i++)
		note_filtered(x->table, access->conditions[i], relation);
}

void finish_query(struct resolver *r, struct scope *s, struct sql_query *q)
{
	struct conjuncts c = { 0 };
	uint64_t open = 0;
	bool reads = false, reads_more = sql_reads_tables(q->where);
	if (q->from) add_joins(&c, q->from, &open);
	if (q->where) add_conjuncts(&c, q->where, open);
	for (uint32_t i = 0; i < s->relation_count; i++)
		find_access(r, s, &c, i);
	free(c.items);
	q->relation_count = s->relation_count;
	q->relations = region_take0(r->region, (s->relation_count + 1) *
	                                               sizeof *q->relations);
	for (uint32_t i = 0; i < s->relation_count; i++)
		q->relations[i] = s->relations[i];
	q->aggregate_count = s->aggregate_count;
	q->aggregates = region_take0(r->region, (s->aggregate_count + 1) *
	                                                sizeof *q->aggregates);
	for (uint32_t i = 0; i < s->aggregate_count; i++)
		q->aggregates[i] = s->aggregates[i];
	q->set_count = s->set_count;
	q->sets = region_take0(r->region,
	                       (s->set_count + (size_t)1) * sizeof *q->sets);
	for (uint32_t i = 0; i < s->set_count; i++) q->sets[i] = s->sets[i];
	if (s->aggregate_count) q->grouped = true;
	for (uint32_t i = 0; i < q->target_count && q->targets; i++) {
		reads |= sql_has_query(q->targets[i].value);
		reads_more |= sql_reads_tables(q->targets[i].value);
	}
	bool simple = s->relation_count == 1 && !q->limit && !q->offset &&
	              !q->order_count;
	q->alone = simple && !reads_more;
	q->plain = simple && !reads &&
	           count_conjuncts(q->where) == q->relations[0].access.fixed;
}
