/* What an assertion asks for: steps, and the tables that it reads. */
#include "base/memory.h"
#include "sql/image.h"
#include "sql/walk.h"

static void note_step(struct sql_assertion *a, uint32_t step)
{
	for (uint32_t i = 0; i < a->step_count; i++)
		if (a->steps[i] == step) return;
	VEC_RESERVE(a->steps, a->step_count, a->step_capacity);
	a->steps[a->step_count++] = step;
}

struct asking {
	struct sql_image *image;
	struct sql_assertion *assertion;
};

static void find_asked(void *data, const struct sql_expr *e)
{
	const struct asking *f = data;
	if (e->kind == EXPR_STEP_ERROR) note_step(f->assertion, e->relation);
	sql_expr_parts(e, find_asked, data);
	if (e->query) sql_find_asked(f->image, f->assertion, e->query);
}

void sql_find_asked(struct sql_image *image, struct sql_assertion *a,
                    const struct sql_query *q)
{
	struct asking f = { image, a };
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
	sql_query_parts(q, find_asked, &f);
}
