#include "prove/wishes.h"

#include "base/memory.h"
#include "prove/spots.h"

enum { PLAIN_MOST = 100 };

static Z3_ast has_tag(const struct instances *x, struct term t,
                      enum value_tag tag)
{
	return Z3_mk_eq(x->z, t.tag, number(x->z, tag));
}

/* As integers are. */
static Z3_ast is_small(const struct instances *x, struct term v, int64_t least)
{
	Z3_ast small = both(x->z, Z3_mk_le(x->z, number(x->z, least), v.number),
	                    Z3_mk_le(x->z, v.number, number(x->z, PLAIN_MOST)));
	return Z3_mk_implies(x->z, has_tag(x, v, VALUE_INT), small);
}

/* What is read is of the kind that the program has at first; with sources, if
 * it is read from init. */
static Z3_ast plain_value(const struct instances *x, const struct instance *t,
                          uint32_t node, bool sources)
{
	const struct node *n = &t->s->nodes[node];
	struct term v = t->nodes[node].value;
	/* Of most programs numbers that count something are above 0; in SQL
	 * many of them count what nobody has done yet. */
	bool counts = sources && !x->app->image;
	Z3_ast small = is_small(x, v, counts ? 1 : -PLAIN_MOST);
	if (n->op != NODE_READ)
		return both(x->z, small,
		            Z3_mk_not(x->z, has_tag(x, v, VALUE_NULL)));
	uint32_t f = t->s->accesses[n->a].family;
	uint32_t initial = x->app->families[f].initial;
	if (initial == UINT32_MAX) return small;
	Z3_ast alike =
		Z3_mk_eq(x->z, v.tag, instances_constant(x, initial).tag);
	if (sources)
		alike = Z3_mk_implies(
			x->z, Z3_mk_eq(x->z, t->source[n->a], number(x->z, 0)),
			alike);
	return both(x->z, small, alike);
}

/* NULL: there is nothing to wish of this node. Where integers are expected,
 * others may be errors. */
static Z3_ast plain_node(const struct instances *x, const struct instance *t,
                         uint32_t node, bool sources)
{
	switch (t->s->nodes[node].op) {
	case NODE_READ:
	case NODE_PARAMETER:
	case NODE_FIELD: return plain_value(x, t, node, sources);
	case NODE_IS_INT: return t->nodes[node].truth;
	default: return NULL;
	}
}

static Z3_ast plain_values(const struct instances *x, const struct instance *t,
                           bool sources)
{
	Z3_ast plain = Z3_mk_true(x->z);
	for (uint32_t i = 0; i < t->s->node_count; i++) {
		Z3_ast one = plain_node(x, t, i, sources);
		if (one) plain = both(x->z, plain, one);
	}
	return plain;
}

Z3_ast instance_plain(const struct instances *x, const struct instance *t)
{
	return plain_values(x, t, false);
}

Z3_ast instances_fine(const struct instances *x)
{
	Z3_ast fine = Z3_mk_true(x->z);
	for (uint32_t a = 0; a < x->count; a++) {
		const struct instance *t = &x->items[a];
		fine = both(x->z, fine,
		            Z3_mk_not(x->z, t->nodes[t->s->errs].truth));
	}
	return fine;
}

/* Is the read of instance a, if it happens, from another one or from init? */
static Z3_ast is_from_these(const struct instances *x, uint32_t a, uint32_t i)
{
	const struct instance *t = &x->items[a];
	Z3_context z = x->z;
	Z3_ast known = Z3_mk_eq(z, t->source[i], number(z, 0));
	for (uint32_t b = 0; b < x->count; b++)
		if (b != a)
			known = either(
				z, known,
				Z3_mk_eq(z, t->source[i], x->items[b].commit));
	return Z3_mk_implies(z, happens((struct spot){ t, i }), known);
}

static Z3_ast all_closed(const struct instances *x)
{
	Z3_ast closed = Z3_mk_true(x->z);
	for (uint32_t a = 0; a < x->count; a++) {
		const struct summary *s = x->items[a].s;
		for (uint32_t i = 0; i < s->access_count; i++)
			if (!s->accesses[i].write)
				closed = both(x->z, closed,
				              is_from_these(x, a, i));
	}
	return closed;
}

static void wish(struct instances *x, Z3_ast condition)
{
	VEC_RESERVE(x->wishes, x->wish_count, x->wish_capacity);
	x->wishes[x->wish_count] = instances_fresh(x->z, true);
	implies(x, x->wishes[x->wish_count++], condition);
}

static void wish_of_each(struct instances *x)
{
	for (uint32_t a = 0; a < x->count; a++) {
		const struct instance *t = &x->items[a];
		for (uint32_t i = 0; i < t->s->node_count; i++)
			if (t->s->nodes[i].op == NODE_PARAMETER)
				wish(x,
				     has_tag(x, t->nodes[i].value, VALUE_INT));
	}
	for (uint32_t a = 0; a < x->count; a++)
		for (uint32_t i = 0; i < x->items[a].s->node_count; i++) {
			Z3_ast one = plain_node(x, &x->items[a], i, true);
			if (one) wish(x, one);
		}
}

static void wish_of_all(struct instances *x)
{
	Z3_ast all = Z3_mk_true(x->z);
	for (uint32_t a = 0; a < x->count; a++)
		all = both(x->z, all, plain_values(x, &x->items[a], true));
	wish(x, all);
}

/* In SQL columns have types, and a model has many values: most of them are
 * none of the cycle, and giving them up one by one takes long. */
void wishes_make(struct instances *x)
{
	x->wish_count = 0;
	wish(x, all_closed(x));
	wish(x, instances_fine(x));
	for (uint32_t a = 0; a < x->count; a++) {
		const struct instance *t = &x->items[a];
		if (t->s->untold != FALSE_NODE)
			wish(x, Z3_mk_not(x->z, t->nodes[t->s->untold].truth));
	}
	if (x->app->image)
		wish_of_all(x);
	else
		wish_of_each(x);
}

/* The last one that the solver says it cannot do with the others. */
static uint32_t least_of_core(const struct instances *x)
{
	Z3_ast_vector core = Z3_solver_get_unsat_core(x->z, x->solver);
	uint32_t least = 0;
	Z3_ast_vector_inc_ref(x->z, core);
	for (unsigned k = 0; k < Z3_ast_vector_size(x->z, core); k++) {
		Z3_ast one = Z3_ast_vector_get(x->z, core, k);
		for (uint32_t i = least + 1; i < x->wish_count; i++)
			if (x->wishes[i] == one) least = i;
	}
	Z3_ast_vector_dec_ref(x->z, core);
	return least;
}

bool wishes_leave_out(struct instances *x, Z3_lbool answer)
{
	bool none = answer == Z3_L_FALSE;
	/* What was not found with many may be found with few. */
	uint32_t out = none ? least_of_core(x) : x->wish_count / 2;
	if (!out) return false;
	x->wish_count = none ? x->wish_count - 1 : out;
	for (uint32_t i = out; i < x->wish_count; i++)
		x->wishes[i] = x->wishes[i + 1];
	return true;
}

void wishes_block(struct instances *x, Z3_model m)
{
	Z3_context z = x->z;
	Z3_ast same = Z3_mk_true(z);
	for (uint32_t a = 0; a < x->count; a++) {
		const struct instance *t = &x->items[a];
		for (uint32_t i = 0; i < t->s->node_count; i++) {
			enum node_op op = t->s->nodes[i].op;
			Z3_ast tag, number;
			if (op != NODE_PARAMETER && op != NODE_READ) continue;
			struct term v = t->nodes[i].value;
			if (!Z3_model_eval(z, m, v.tag, true, &tag) ||
			    !Z3_model_eval(z, m, v.number, true, &number))
				continue;
			Z3_ast parts[] = { same, Z3_mk_eq(z, v.tag, tag),
				           Z3_mk_eq(z, v.number, number) };
			same = Z3_mk_and(z, 3, parts);
		}
	}
	instances_assert(x, Z3_mk_not(z, same));
}
