#include "sql/walk.h"

static void one(const struct sql_expr *e, sql_on_expr *on, void *data)
{
	if (e) on(data, e);
}

static void each(const struct sql_expr *const *e, uint32_t count,
                 sql_on_expr *on, void *data)
{
	for (uint32_t i = 0; i < count; i++) one(e[i], on, data);
}

static void orders(const struct sql_order *o, uint32_t count, sql_on_expr *on,
                   void *data)
{
	for (uint32_t i = 0; i < count; i++) one(o[i].by, on, data);
}

void sql_expr_parts(const struct sql_expr *e, sql_on_expr *on, void *data)
{
	each(e->args, e->count, on, data);
	one(e->filter, on, data);
	orders(e->order, e->order_count, on, data);
}

static void joins(const struct sql_from *f, sql_on_expr *on, void *data)
{
	if (!f || f->join == JOIN_NONE) return;
	joins(f->a, on, data);
	joins(f->b, on, data);
	one(f->on, on, data);
}

void sql_query_parts(const struct sql_query *q, sql_on_expr *on, void *data)
{
	for (uint32_t i = 0; q->targets && i < q->target_count; i++)
		one(q->targets[i].value, on, data);
	for (uint32_t i = 0; i < q->value_count; i++)
		each(q->values[i], q->target_count, on, data);
	joins(q->from, on, data);
	one(q->where, on, data);
	each(q->group, q->group_count, on, data);
	one(q->having, on, data);
	orders(q->order, q->order_count, on, data);
	one(q->limit, on, data);
	one(q->offset, on, data);
}

static void sets(const struct sql_set *s, uint32_t count, sql_on_expr *on,
                 void *data)
{
	for (uint32_t i = 0; i < count; i++) one(s[i].value, on, data);
}

void sql_statement_parts(const struct sql_statement *s, sql_on_expr *on,
                         void *data)
{
	one(s->call, on, data);
	sets(s->sets, s->set_count, on, data);
	sets(s->conflict_sets, s->conflict_set_count, on, data);
	one(s->conflict_where, on, data);
	for (uint32_t i = 0; i < s->returning_count; i++)
		one(s->returning[i].value, on, data);
}
