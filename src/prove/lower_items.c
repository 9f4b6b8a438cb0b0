/* Collections whose items are known. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "prove/lower_parts.h"

static void note_read(void *context, struct expr *e)
{
	bool *reads = context;
	*reads |= e->ref == REF_GLOBAL &&
	          (e->kind == EXPR_NAME || e->kind == EXPR_INDEX);
	expr_parts(e, note_read, reads);
}

static struct expr *written_down(struct expr *e)
{
	bool named = e->kind == EXPR_NAME && e->ref == REF_CONST;
	return named ? e->item->value : e;
}

bool lower_items(struct lowering *l, struct expr *in, uint32_t *values,
                 uint32_t *count)
{
	in = written_down(in);
	if (in->kind != EXPR_LIST && in->kind != EXPR_TUPLE &&
	    in->kind != EXPR_SET)
		return false;
	if (in->count > LOWER_ROUNDS) return false;
	bool set = in->kind == EXPR_SET;
	for (uint32_t i = 0; i < in->count && set; i++)
		if (in->items[i]->kind != EXPR_VALUE) return false;
	*count = 0;
	for (uint32_t i = 0; i < in->count; i++) {
		uint32_t v = lower_expr(l, in->items[i]), at = *count;
		const struct value *all = l->b.app->constants;
		for (; set && at && values[at - 1] != v; at--)
			if (value_compare(all[l->b.s->nodes[values[at - 1]].a],
			                  all[l->b.s->nodes[v].a]) < 0)
				break;
		if (set && at && values[at - 1] == v) continue;
		for (uint32_t k = *count; k > at; k--)
			values[k] = values[k - 1];
		values[at] = v;
		++*count;
	}
	return true;
}

bool lower_sum_of(struct lowering *l, struct expr *call, uint32_t *sum)
{
	struct expr *e = call->argument_count == 1 ? call->arguments[0] : NULL;
	uint32_t values[LOWER_ROUNDS], count;
	if (call->ref != REF_BUILTIN || call->op != BUILTIN_SUM || !e ||
	    e->kind != EXPR_LOOP || e->op != LOOP_MAP ||
	    written_down(e->collection)->kind == EXPR_SET || /* gives a set */
	    !lower_items(l, e->collection, values, &count))
		return false;
	*sum = lower_constant(l, value_int(0));
	for (uint32_t i = 0; i < count; i++) {
		lower_bind(l, e->variable, values[i]);
		*sum = lower_sum(l, OP_ADD, *sum, lower_expr(l, e->body));
	}
	return true;
}

/* ---- any items ---- */

static struct binding *copy_bound(const struct lowering *l)
{
	size_t size = (l->bound_count + (size_t)1) * sizeof *l->bound;
	struct binding *copy = region_take(&l->b.app->region, size);
	if (l->bound_count)
		memcpy(copy, l->bound, l->bound_count * sizeof *copy);
	return copy;
}

static void note_filtered(struct lowering *l, const struct expr *e,
                          uint32_t value, uint32_t collection)
{
	VEC_RESERVE(l->filtered, l->filtered_count, l->filtered_capacity);
	l->filtered[l->filtered_count++] =
		(struct filtered){ value, collection, e, copy_bound(l),
		                   l->bound_count };
}

/* The condition of a filter, of an item that has passed it: where the condition
 * was an error, there is no item. */
static uint32_t passes(struct lowering *l, const struct filtered *f,
                       uint32_t item)
{
	struct summary *s = l->b.s;
	struct lowering before = *l;
	uint32_t errs = s->errs;
	l->bound = NULL;
	l->bound_count = l->bound_capacity = 0;
	for (uint32_t i = 0; i < f->bound_count; i++)
		lower_bind(l, f->bound[i].local, f->bound[i].value);
	lower_bind(l, f->filter->variable, item);
	l->b.live = TRUE_NODE;
	s->errs = FALSE_NODE;
	uint32_t c = lower_condition(l, f->filter->body);
	c = node_and(s, c, l->b.live);
	s->errs = errs;
	free(l->bound);
	l->bound = before.bound;
	l->bound_count = before.bound_count;
	l->bound_capacity = before.bound_capacity;
	l->b.live = before.b.live;
	return c;
}

uint32_t lower_passes(struct lowering *l, uint32_t collection, uint32_t item)
{
	uint32_t all = TRUE_NODE;
	for (uint32_t i = l->filtered_count; i-- > 0;) {
		struct filtered f = l->filtered[i];
		if (f.value != collection) continue;
		all = node_and(l->b.s, all, passes(l, &f, item));
		collection = f.collection;
	}
	return node_and(
		l->b.s, all,
		node_add(l->b.s, NODE_IS, FUNCTION_IN, item, collection));
}

static uint32_t lower_over(struct lowering *l, struct expr *e,
                           const uint32_t *values, uint32_t count)
{
	struct listed all[LOWER_ROUNDS];
	for (uint32_t i = 0; i < count; i++)
		all[i] = (struct listed){ values[i], TRUE_NODE };
	return lower_quantifier(l, e,
	                        &(struct items){ .count = count, .all = all });
}

/* filter, map, exists, forall: over items that are not known all that is said
 * is what the items are that a filter leaves. */
uint32_t lower_comprehension(struct lowering *l, struct expr *e)
{
	uint32_t values[LOWER_ROUNDS], count, known;
	bool reads = false, truth = e->op >= LOOP_EXISTS;
	if (truth && lower_items(l, e->collection, values, &count))
		return lower_over(l, e, values, count);
	uint32_t collection = lower_expr(l, e->collection);
	if (lower_of_list(l, e, collection, &known)) return known;
	lower_note_untold(l);
	note_read(&reads, e->body);
	if (reads)
		lower_leave_out(l, expr_place(e->body),
		                "a comprehension that reads the database");
	build_require(&l->b,
	              node_add(l->b.s, NODE_IS_STRING, collection, 0, 0));
	build_require(&l->b, build_guess(&l->b));
	if (truth) return lower_truth(l, build_guess(&l->b));
	uint32_t result = build_unknown(&l->b);
	if (e->op == LOOP_FILTER && !reads)
		note_filtered(l, e, result, collection);
	return result;
}
