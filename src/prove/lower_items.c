/* Collections whose items are known. */
#include <stdbool.h>

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

/* exists, forall over items that are known: one after the other, until it is
 * decided. */
static uint32_t lower_quantifier(struct lowering *l, struct expr *e,
                                 const uint32_t *values, uint32_t count)
{
	struct summary *s = l->b.s;
	bool all = e->op == LOOP_FORALL;
	uint32_t open = TRUE_NODE, decided = FALSE_NODE;
	for (uint32_t i = 0; i < count; i++) {
		l->b.live = node_and(s, l->b.live, open);
		lower_bind(l, e->variable, values[i]);
		uint32_t c = lower_condition(l, e->body);
		uint32_t goes_on = all ? c : node_not(s, c);
		decided = node_or(s, decided,
		                  node_and(s, l->b.live, node_not(s, goes_on)));
		open = node_and(s, open, goes_on);
	}
	l->b.live = node_or(s, l->b.live, decided);
	return lower_truth(l, all ? open : node_not(s, open));
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

/* filter, map, exists, forall: but for quantifiers over items that are known,
 * their bodies say nothing here. */
uint32_t lower_comprehension(struct lowering *l, struct expr *e)
{
	uint32_t values[LOWER_ROUNDS], count;
	bool reads = false;
	if (e->op >= LOOP_EXISTS &&
	    lower_items(l, e->collection, values, &count))
		return lower_quantifier(l, e, values, count);
	lower_expr(l, e->collection);
	note_read(&reads, e->body);
	if (reads)
		lower_leave_out(l, expr_place(e->body),
		                "a comprehension that reads the database");
	build_require(&l->b, build_guess(&l->b));
	return e->op >= LOOP_EXISTS ? lower_truth(l, build_guess(&l->b))
	                            : build_unknown(&l->b);
}
