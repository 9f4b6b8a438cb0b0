/* Tuples, records, and what is in them: what is known of them is in
 * prove/functions.h. Whether they can be made is left open. */
#include "prove/lower_parts.h"

static void may_fail(struct lowering *l)
{
	build_require(&l->b, build_guess(&l->b));
}

/* Each beginning of a tuple is one as well, so that what is told of its items
 * grows with the square of its length. Of long ones nothing is told. */
uint32_t lower_tuple(struct lowering *l, struct expr *e)
{
	enum { LONG = 16 };
	uint32_t tuple = lower_constant(
		l, value_sequence(&l->b.app->region, VALUE_TUPLE, NULL, 0));
	for (uint32_t i = 0; i < e->count; i++) {
		uint32_t item = lower_expr(l, e->items[i]);
		if (e->count <= LONG)
			tuple = node_add(l->b.s, NODE_TUPLE, tuple, item,
			                 i + 1);
	}
	may_fail(l); /* too deep */
	return e->count <= LONG ? tuple : build_unknown(&l->b);
}

/* What is spread first is below all others. Else nothing is known of whose
 * fields count. */
static uint32_t lower_spread(struct lowering *l, uint32_t v, bool first)
{
	struct summary *s = l->b.s;
	if (s->nodes[v].op != NODE_WITH)
		build_require(&l->b, node_add(s, NODE_IS_STRING, v, 0, 0));
	may_fail(l);
	return first ? v : build_unknown(&l->b);
}

uint32_t lower_record(struct lowering *l, struct expr *e)
{
	uint32_t record =
		lower_constant(l, value_record(&l->b.app->region, NULL, 0));
	for (uint32_t i = 0; i < e->field_count; i++) {
		const struct field *f = &e->fields[i];
		uint32_t v = lower_expr(l, f->value);
		if (!f->name) {
			record = lower_spread(l, v, i == 0);
			continue;
		}
		uint32_t name = application_field(l->b.app, f->name->text,
		                                  f->name->length);
		record = node_add(l->b.s, NODE_WITH, record, name, v);
	}
	may_fail(l);
	return record;
}

/* The item of a tuple that is made here, or constant; FALSE_NODE: it is none.
 */
static uint32_t known_item(struct lowering *l, uint32_t base, uint32_t at)
{
	const struct node *nodes = l->b.s->nodes, *n = &nodes[base];
	const struct node *i = &nodes[at];
	if (i->op != NODE_CONSTANT) return FALSE_NODE;
	struct value k = l->b.app->constants[i->a];
	if (k.tag != VALUE_INT || k.i < 0) return FALSE_NODE;
	if (n->op == NODE_CONSTANT) {
		struct value v = l->b.app->constants[n->a];
		return v.tag == VALUE_TUPLE && k.i < v.o->length
		               ? lower_constant(l, v.o->items[k.i])
		               : FALSE_NODE;
	}
	if (n->op != NODE_TUPLE || k.i >= n->c) return FALSE_NODE;
	while (n->c > k.i + 1) n = &nodes[n->a];
	return n->b;
}

uint32_t lower_index(struct lowering *l, struct expr *e)
{
	uint32_t v = lower_expr(l, e->indexed);
	for (uint32_t i = 0; i < e->index_count; i++) {
		uint32_t at = lower_expr(l, e->indexes[i]);
		uint32_t item = known_item(l, v, at);
		if (item == FALSE_NODE && !lower_listed_item(l, v, at, &item)) {
			build_require(&l->b, node_add(l->b.s, NODE_IS_STRING, v,
			                              0, 0));
			may_fail(l);
			item = node_add(l->b.s, NODE_APPLY, FUNCTION_ITEM, v,
			                at);
		}
		v = item;
	}
	return v;
}

uint32_t lower_in(struct lowering *l, uint32_t a, uint32_t b)
{
	struct items k;
	bool read = l->b.s->nodes[b].op == NODE_READ;
	if (!read && lower_list_of(l, b, &k))
		return lower_truth(l, lower_is_listed(l, a, &k));
	build_require(&l->b, node_add(l->b.s, NODE_IS_STRING, b, 0, 0));
	may_fail(l);
	return lower_truth(l, node_add(l->b.s, NODE_IS, FUNCTION_IN, a, b));
}
