/* Sums, counts and EXISTS over all rows of a table, as totals (finals.h): in
 * what is asserted in SQL, and of transactions, if something is. */
#include <string.h>

#include "base/memory.h"
#include "lang/source.h"
#include "prove/finals.h"
#include "prove/sql_lower.h"
#include "sql/procs.h"

static bool is_inner(const struct sql_from *f)
{
	return f->join == JOIN_NONE ||
	       (f->join == JOIN_INNER && is_inner(f->a) && is_inner(f->b));
}

bool prove_has_keys(const struct sql_query *q)
{
	if (q->combination || !q->from || !is_inner(q->from) || q->having ||
	    q->group_count || q->set_count || q->limit || q->offset ||
	    q->relation_count > CLAIM_ROWS)
		return false;
	for (uint32_t i = 0; i < q->relation_count; i++) {
		const struct sql_relation *r = &q->relations[i];
		if (r->kind != RELATION_TABLE || !r->table->primary)
			return false;
		for (uint32_t k = 0; k < r->table->primary->count; k++)
			if (!prove_is_exact(
				    r->table->columns[r->table->primary
			                                      ->columns[k]]
					    .type.kind))
				return false;
	}
	return true;
}

/* Of one table, of which it does not name one row: of that more is known. */
static bool is_of_table(const struct sql_query *q)
{
	return prove_has_keys(q) && q->relation_count == 1 &&
	       q->from->join == JOIN_NONE && !q->relations[0].access.key &&
	       !q->relations[0].lock;
}

/* Sums of bigint are no integers, and those of these always fit: there are
 * fewer than 2^32 rows. */
static bool is_followed(const struct sql_expr *e)
{
	if (e->distinct || e->count > 1) return false;
	if (e->function->operation == DO_COUNT) return true;
	return e->function->operation == DO_SUM && e->count == 1 &&
	       (e->args[0]->type.kind == SQL_INT2 ||
	        e->args[0]->type.kind == SQL_INT4);
}

/* Is it something that is not computed from the row? */
static bool is_open(const struct node *n)
{
	return n->op == NODE_GUESS || n->op == NODE_UNKNOWN ||
	       n->op == NODE_FIRST;
}

/* Does it follow from the row, and from nothing else? Parts come before what is
 * made of them. */
static bool is_known(const struct total *t)
{
	bool *from = mem_take0(t->s.node_count, sizeof *from);
	bool known = t->s.access_count == 1;
	from[t->counts] = from[t->value] = from[t->s.errs] = true;
	for (uint32_t i = t->s.node_count; i-- > 0 && known;) {
		uint32_t parts[NODE_PARTS];
		uint32_t count = node_parts(&t->s.nodes[i], parts);
		for (uint32_t k = 0; k < count && from[i]; k++)
			from[parts[k]] = true;
		known = !from[i] || !is_open(&t->s.nodes[i]);
	}
	free(from);
	return known;
}

/* What is counted, for people. */
static const char *name_of(struct application *a, const struct sql_table *t,
                           const struct sql_expr *e)
{
	const char *of = "*", *function = e ? e->function->name : "count";
	if (e && e->count)
		of = e->args[0]->kind == EXPR_COLUMN && !e->args[0]->up
		             ? t->columns[e->args[0]->column].name
		             : "...";
	struct text name = { 0 };
	text_format(&name, "%s(%s) of %s", function, of, t->name);
	char *kept = region_take(&a->region, name.length + 1);
	memcpy(kept, text_get(&name), name.length + 1);
	text_free(&name);
	return kept;
}

/* Of the row that is there: is it one of them, and what is added? Errors of
 * conditions may be noticed or not, as others are looked at first: false if
 * there are any. */
static bool lower_row(struct sql_lowering *l, struct total *t,
                      const struct sql_query *q, const struct sql_expr *e,
                      uint32_t there, const uint32_t *columns)
{
	const uint32_t *rows[] = { columns };
	struct sql_scope scope = { .rows = rows };
	t->counts = there;
	t->value = prove_int_node(l, 1);
	l->b.live = t->counts;
	if (q->where)
		t->counts = node_and(&t->s, t->counts,
		                     prove_condition(l, &scope, q->where).yes);
	l->b.live = t->counts;
	if (e && e->filter)
		t->counts = node_and(&t->s, t->counts,
		                     prove_condition(l, &scope, e->filter).yes);
	if (t->s.errs != FALSE_NODE) return false;
	l->b.live = t->counts;
	if (!e || !e->count) return true;
	t->value = prove_value(l, &scope, e->args[0]);
	t->counts = node_and(&t->s, t->counts,
	                     node_not(&t->s, prove_is_null_node(l, t->value)));
	return true;
}

/* The total of the aggregate, or of rows if that is NULL; UINT32_MAX if it is
 * not followed. */
static uint32_t add_total(struct sql_lowering *of, const struct sql_query *q,
                          const struct sql_expr *e)
{
	struct application *a = of->b.app;
	const struct sql_table *table = q->relations[0].table;
	struct total *t = finals_total(a);
	struct sql_lowering l = {
		.b = { .app = a, .s = &t->s, .live = TRUE_NODE },
		.image = of->image,
		.facts = of->facts,
	};
	uint32_t n = table->primary->count, *columns;
	uint32_t *index =
		region_take0(&a->region, (n + (size_t)1) * sizeof *index);
	t->s.name = t->name = name_of(a, table, e);
	t->s.param_count = n;
	for (uint32_t i = 0; i < n; i++)
		index[i] = node_add(&t->s, NODE_PARAMETER, i, 0, 0);
	prove_begin(&l);
	t->family = prove_table_family(&l, table);
	uint32_t there = prove_read_row(&l, table, index, STRENGTH_PLAIN, false,
	                                &columns);
	t->all = !q->where && (!e || (!e->filter && !e->count));
	bool wanted = lower_row(&l, t, q, e, there, columns) && !l.b.full &&
	              is_known(t);
	return finals_total_end(a, wanted);
}

/* The node, of any value, is the sum or the count. */
static void is_total(struct sql_lowering *l, uint32_t node, uint32_t total,
                     bool counts)
{
	struct found_total t = { .node = node,
		                 .total = total,
		                 .access = l->before,
		                 .statement = l->b.statement,
		                 .counts = counts };
	const struct total *of = &l->b.app->finals->totals[total];
	if (of->s.errs != FALSE_NODE) {
		t.errs = build_guess(&l->b);
		build_require(&l->b, node_not(l->b.s, t.errs));
	}
	finals_finds_total(l->b.s, t);
}

static uint32_t total_node(struct sql_lowering *l, uint32_t total, bool counts)
{
	uint32_t node = prove_any_value(l, sql_type(SQL_INT8));
	is_total(l, node, total, counts);
	return node;
}

static bool counts_rows(const struct sql_expr *e)
{
	return e->function->operation == DO_COUNT;
}

static uint32_t is_some(struct sql_lowering *l, uint32_t count)
{
	return node_not(l->b.s, node_add(l->b.s, NODE_LESS, count,
	                                 prove_int_node(l, 1), 0));
}

static bool find_totals(struct sql_lowering *l, const struct sql_query *q,
                        struct sql_answer *out)
{
	uint32_t nodes[SQL_RELATIONS], total[SQL_RELATIONS];
	if (!l->claim || !is_of_table(q) || !q->grouped || q->value_count ||
	    q->aggregate_count > SQL_RELATIONS)
		return false;
	for (uint32_t i = 0; i < q->aggregate_count; i++)
		if (!is_followed(q->aggregates[i])) return false;
	for (uint32_t i = 0; i < q->aggregate_count; i++) {
		total[i] = add_total(l, q, q->aggregates[i]);
		if (total[i] == UINT32_MAX) return false;
	}
	for (uint32_t i = 0; i < q->aggregate_count; i++)
		nodes[i] =
			total_node(l, total[i], counts_rows(q->aggregates[i]));
	struct sql_scope scope = { .aggregates = nodes };
	for (uint32_t i = 0; i < q->target_count; i++)
		out->values[i] = prove_value(l, &scope, q->targets[i].value);
	out->found = TRUE_NODE;
	out->rows = prove_int_node(l, 1);
	return true;
}

/* Does it look for rows whose keys it does not name? */
static bool looks_around(const struct sql_query *q)
{
	for (uint32_t i = 0; i < q->relation_count && q->from; i++)
		if (!q->relations[i].access.key) return true;
	return false;
}

bool prove_totals(struct sql_lowering *l, const struct sql_query *q,
                  struct sql_answer *out)
{
	if (find_totals(l, q, out)) return true;
	if (l->claim && looks_around(q)) {
		struct sources *all =
			(struct sources *)(uintptr_t)&l->image->all;
		l->b.app->finals->loose = source_position(all, q->at);
	}
	return false;
}

bool prove_total_exists(struct sql_lowering *l, const struct sql_query *q,
                        uint32_t *found)
{
	if (!l->claim || !is_of_table(q) || q->grouped) return false;
	uint32_t total = add_total(l, q, NULL);
	if (total == UINT32_MAX) return false;
	*found = is_some(l, total_node(l, total, true));
	return true;
}

/* ---- of transactions ---- */

/* In a loop there are other rounds, which may have written. */
static bool is_asked(const struct sql_lowering *l, const struct sql_query *q)
{
	return l->b.app->finals && !l->claim && !l->b.rounds && !l->b.maybe &&
	       is_of_table(q);
}

void prove_note_total(struct sql_lowering *l, const struct sql_query *q,
                      const struct sql_expr *e, uint32_t node)
{
	if (!is_asked(l, q) || !is_followed(e)) return;
	uint32_t total = add_total(l, q, e);
	if (total != UINT32_MAX) is_total(l, node, total, counts_rows(e));
}

void prove_note_exists(struct sql_lowering *l, const struct sql_query *q,
                       uint32_t found)
{
	struct summary *s = l->b.s;
	if (!is_asked(l, q) || q->grouped) return;
	uint32_t total = add_total(l, q, NULL);
	if (total == UINT32_MAX) return;
	uint32_t some = is_some(l, total_node(l, total, true));
	uint32_t none = node_and(s, node_not(s, found), node_not(s, some));
	prove_assume(l, node_or(s, node_and(s, found, some), none));
}
