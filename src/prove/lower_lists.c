/* Lists whose items are known, each with the condition under which it is there:
 * those that are written down, what is put together of them (in a loop over
 * items that are known, too), and what filter and map make of them.
 *
 * Each is an unknown value of its own, which is all that others are told of it.
 * So what is said here is what the language says of these items, in their
 * order: a run of the transaction fills in the conditions as it goes.
 */
#include <string.h>

#include "base/memory.h"
#include "prove/lower_parts.h"

static void may_fail(struct lowering *l)
{
	build_require(&l->b, build_guess(&l->b));
}

void lower_note_list(struct lowering *l, uint32_t value, const struct items *k)
{
	VEC_RESERVE(l->lists, l->list_count, l->list_capacity);
	l->lists[l->list_count] = *k;
	l->lists[l->list_count++].value = value;
}

static struct items *take_items(struct lowering *l, uint32_t capacity)
{
	struct items *k = region_take0(&l->b.app->region, sizeof *k);
	size_t size = (capacity + (size_t)1) * sizeof *k->all;
	k->all = region_take(&l->b.app->region, size);
	return k;
}

static void put(struct items *k, uint32_t value, uint32_t there)
{
	if (there != FALSE_NODE)
		k->all[k->count++] = (struct listed){ value, there };
}

/* Its value: a new one, which is no scalar. */
static uint32_t value_of(struct lowering *l, const struct items *k)
{
	struct summary *s = l->b.s;
	uint32_t v = build_unknown(&l->b);
	s->assumed =
		node_and(s, s->assumed, node_add(s, NODE_IS_STRING, v, 0, 0));
	if (!l->blunt && k->count <= LOWER_ROUNDS) lower_note_list(l, v, k);
	return v;
}

static bool is_noted(const struct lowering *l, uint32_t value,
                     struct items *out)
{
	for (uint32_t i = 0; i < l->list_count; i++)
		if (l->lists[i].value == value) {
			*out = l->lists[i];
			return true;
		}
	return false;
}

bool lower_list_of(struct lowering *l, uint32_t value, struct items *out)
{
	return is_noted(l, value, out) || lower_first_list(l, value, out);
}

uint32_t lower_list(struct lowering *l, struct expr *e)
{
	struct items *k = take_items(l, e->count);
	for (uint32_t i = 0; i < e->count; i++)
		put(k, lower_expr(l, e->items[i]), TRUE_NODE);
	may_fail(l); /* too deep */
	return value_of(l, k);
}

bool lower_append(struct lowering *l, uint32_t a, uint32_t b, uint32_t *out)
{
	struct items x, y;
	if (!is_noted(l, a, &x) || !is_noted(l, b, &y) || x.set || y.set)
		return false;
	struct items *k = take_items(l, x.count + y.count);
	for (uint32_t i = 0; i < x.count; i++) k->all[k->count++] = x.all[i];
	for (uint32_t i = 0; i < y.count; i++) k->all[k->count++] = y.all[i];
	may_fail(l); /* too large */
	*out = value_of(l, k);
	return true;
}

/* Items at one place that are the same are one. */
uint32_t lower_choose(struct lowering *l, uint32_t c, uint32_t a, uint32_t b)
{
	struct summary *s = l->b.s;
	struct items x, y;
	uint32_t v = node_choose(s, c, a, b), i = 0, other = node_not(s, c);
	if (v == a || v == b || !is_noted(l, a, &x) || !is_noted(l, b, &y) ||
	    x.set != y.set)
		return v;
	struct items *k = take_items(l, x.count + y.count);
	k->set = x.set;
	for (; i < x.count && i < y.count && x.all[i].value == y.all[i].value;
	     i++) {
		uint32_t one = x.all[i].there, two = y.all[i].there;
		if (one != two)
			one = node_or(s, node_and(s, c, one),
			              node_and(s, other, two));
		put(k, x.all[i].value, one);
	}
	for (uint32_t n = i; n < x.count; n++)
		put(k, x.all[n].value, node_and(s, c, x.all[n].there));
	for (uint32_t n = i; n < y.count; n++)
		put(k, y.all[n].value, node_and(s, other, y.all[n].there));
	if (k->count <= LOWER_ROUNDS) lower_note_list(l, v, k);
	return v;
}

/* ---- what is asked of them ---- */

/* filter, and map of a list: each item that is there, one after the other. */
static uint32_t lower_made(struct lowering *l, struct expr *e,
                           const struct items *from)
{
	struct summary *s = l->b.s;
	struct items *k = take_items(l, from->count);
	k->set = from->set;
	for (uint32_t i = 0; i < from->count; i++) {
		struct listed one = from->all[i];
		uint32_t before = l->b.live;
		l->b.live = node_and(s, before, one.there);
		lower_bind(l, e->variable, one.value);
		if (e->op == LOOP_MAP)
			put(k, lower_expr(l, e->body), one.there);
		else
			put(k, one.value,
			    node_and(s, one.there,
			             lower_condition(l, e->body)));
		l->b.live =
			node_or(s, l->b.live,
		                node_and(s, before, node_not(s, one.there)));
	}
	may_fail(l); /* too deep */
	return value_of(l, k);
}

/* exists, forall: one after the other, until it is decided. */
uint32_t lower_quantifier(struct lowering *l, struct expr *e,
                          const struct items *k)
{
	struct summary *s = l->b.s;
	bool all = e->op == LOOP_FORALL;
	uint32_t open = TRUE_NODE;
	for (uint32_t i = 0; i < k->count; i++) {
		uint32_t before = l->b.live;
		uint32_t asked = node_and(s, open, k->all[i].there);
		l->b.live = node_and(s, before, asked);
		lower_bind(l, e->variable, k->all[i].value);
		uint32_t c = lower_condition(l, e->body);
		uint32_t goes_on = all ? c : node_not(s, c);
		open = node_and(
			s, open,
			node_or(s, node_not(s, k->all[i].there), goes_on));
		l->b.live = node_or(s, l->b.live,
		                    node_and(s, before, node_not(s, asked)));
	}
	return lower_truth(l, all ? open : node_not(s, open));
}

bool lower_of_list(struct lowering *l, struct expr *e, uint32_t collection,
                   uint32_t *out)
{
	struct items k;
	if (!lower_list_of(l, collection, &k)) return false;
	if (e->op == LOOP_MAP && k.set) return false; /* the same item twice */
	*out = e->op >= LOOP_EXISTS ? lower_quantifier(l, e, &k)
	                            : lower_made(l, e, &k);
	return true;
}

uint32_t lower_is_listed(struct lowering *l, uint32_t item,
                         const struct items *k)
{
	struct summary *s = l->b.s;
	uint32_t any = FALSE_NODE;
	for (uint32_t i = 0; i < k->count; i++)
		any = node_or(s, any,
		              node_and(s, k->all[i].there,
		                       node_equal(s, item, k->all[i].value)));
	return any;
}

static uint32_t size_of(struct lowering *l, const struct items *k)
{
	struct summary *s = l->b.s;
	uint32_t zero = lower_constant(l, value_int(0));
	uint32_t one = lower_constant(l, value_int(1)), sum = 0;
	int64_t always = 0;
	for (uint32_t i = 0; i < k->count; i++)
		always += k->all[i].there == TRUE_NODE;
	sum = lower_constant(l, value_int(always));
	for (uint32_t i = 0; i < k->count; i++)
		if (k->all[i].there != TRUE_NODE)
			sum = node_add(
				s, NODE_SUM, sum,
				node_choose(s, k->all[i].there, one, zero), 0);
	return sum;
}

/* The least or the greatest of integers; of other items, any value. */
static uint32_t extreme_of(struct lowering *l, const struct items *k, bool most)
{
	struct summary *s = l->b.s;
	uint32_t v = build_unknown(&l->b), any = FALSE_NODE, ints = TRUE_NODE;
	uint32_t bound = TRUE_NODE;
	for (uint32_t i = 0; i < k->count; i++) {
		struct listed one = k->all[i];
		uint32_t absent = node_not(s, one.there);
		uint32_t beyond =
			most ? node_add(s, NODE_LESS, v, one.value, 0)
			     : node_add(s, NODE_LESS, one.value, v, 0);
		any = node_or(s, any, one.there);
		ints = node_and(
			s, ints,
			node_or(s, absent,
		                node_add(s, NODE_IS_INT, one.value, 0, 0)));
		bound = node_and(s, bound,
		                 node_or(s, absent, node_not(s, beyond)));
	}
	bound = node_and(s, bound, lower_is_listed(l, v, k));
	build_require(&l->b, any);
	build_require(&l->b, node_or(s, ints, build_guess(&l->b)));
	s->assumed = node_and(
		s, s->assumed,
		node_or(s, node_not(s, node_and(s, any, ints)), bound));
	return v;
}

bool lower_list_call(struct lowering *l, uint32_t builtin, uint32_t value,
                     uint32_t *out)
{
	struct items k;
	bool ends = builtin == BUILTIN_MIN || builtin == BUILTIN_MAX;
	if ((!ends && builtin != BUILTIN_SIZE) || !lower_list_of(l, value, &k))
		return false;
	*out = ends ? extreme_of(l, &k, builtin == BUILTIN_MAX)
	            : size_of(l, &k);
	return true;
}

/* The item behind `at` others that are there. */
bool lower_listed_item(struct lowering *l, uint32_t list, uint32_t at,
                       uint32_t *out)
{
	struct summary *s = l->b.s;
	struct items k;
	const struct node *n = &s->nodes[at];
	struct value v = n->op == NODE_CONSTANT ? l->b.app->constants[n->a]
	                                        : value_null();
	uint32_t before[LOWER_ROUNDS + 1] = { TRUE_NODE }, any = FALSE_NODE;
	if (v.tag != VALUE_INT || v.i < 0 || v.i > LOWER_ROUNDS ||
	    !lower_list_of(l, list, &k) || k.set || k.count > LOWER_ROUNDS)
		return false;
	*out = build_unknown(&l->b);
	for (int64_t i = 1; i <= v.i; i++) before[i] = FALSE_NODE;
	for (uint32_t i = 0; i < k.count; i++) {
		uint32_t there = k.all[i].there, not_there = node_not(s, there);
		uint32_t here = node_and(s, there, before[v.i]);
		*out = node_choose(s, here, k.all[i].value, *out);
		any = node_or(s, any, here);
		for (int64_t b = v.i; b >= 0; b--)
			before[b] =
				node_or(s, node_and(s, not_there, before[b]),
			                b ? node_and(s, there, before[b - 1])
			                  : FALSE_NODE);
	}
	build_require(&l->b, any);
	return true;
}
