/* What an assertion asks for: steps, and the tables that it reads. */
#include "base/memory.h"
#include "sql/image.h"

static void note_step(struct sql_assertion *a, uint32_t step)
{
	for (uint32_t i = 0; i < a->step_count; i++)
		if (a->steps[i] == step) return;
	VEC_RESERVE(a->steps, a->step_count, a->step_capacity);
	a->steps[a->step_count++] = step;
}

static void find_asked(struct sql_image *image, struct sql_assertion *a,
                       const struct sql_expr *e)
{
	if (!e) return;
	if (e->kind == EXPR_STEP_ERROR) note_step(a, e->relation);
	for (uint32_t i = 0; i < e->count; i++)
		find_asked(image, a, e->args[i]);
	find_asked(image, a, e->filter);
	if (e->query) sql_find_asked(image, a, e->query);
}

static void find_asked_from(struct sql_image *image, struct sql_assertion *a,
                            const struct sql_from *f)
{
	if (!f || f->join == JOIN_NONE) return;
	find_asked_from(image, a, f->a);
	find_asked_from(image, a, f->b);
	find_asked(image, a, f->on);
}

void sql_find_asked(struct sql_image *image, struct sql_assertion *a,
                    const struct sql_query *q)
{
	struct sql_asked *asked = &image->asked;
	for (uint32_t i = 0; i < q->relation_count; i++) {
		const struct sql_relation *x = &q->relations[i];
		if (x->kind == RELATION_STEP) note_step(a, x->step);
		if (x->kind == RELATION_QUERY)
			sql_find_asked(image, a, x->query);
		if (x->kind != RELATION_TABLE) continue;
		VEC_RESERVE(asked->relations, asked->count, asked->capacity);
		asked->relations[asked->count++] = x;
	}
	find_asked_from(image, a, q->from);
	find_asked(image, a, q->where);
	find_asked(image, a, q->having);
	for (uint32_t i = 0; i < q->group_count; i++)
		find_asked(image, a, q->group[i]);
	for (uint32_t i = 0; i < q->order_count; i++)
		find_asked(image, a, q->order[i].by);
	for (uint32_t i = 0; i < q->target_count; i++)
		find_asked(image, a, q->targets[i].value);
	for (uint32_t i = 0; i < q->value_count; i++)
		for (uint32_t c = 0; c < q->target_count; c++)
			find_asked(image, a, q->values[i][c]);
	find_asked(image, a, q->limit);
	find_asked(image, a, q->offset);
}
