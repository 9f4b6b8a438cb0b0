/* What the program has at first. */
#include <string.h>

#include "base/memory.h"
#include "prove/lower_parts.h"

static bool value_of(struct region *r, const struct expr *e, struct value *out);

/* A list, a tuple or a set. */
static bool sequence_of(struct region *r, const struct expr *e,
                        struct value *out)
{
	struct value *items =
		region_take(r, (e->count + (size_t)1) * sizeof *items);
	for (uint32_t i = 0; i < e->count; i++)
		if (!value_of(r, e->items[i], &items[i])) return false;
	*out = e->kind == EXPR_SET
	               ? value_set(r, items, e->count)
	               : value_sequence(r,
	                                e->kind == EXPR_LIST ? VALUE_LIST
	                                                     : VALUE_TUPLE,
	                                items, e->count);
	return true;
}

static bool record_of(struct region *r, const struct expr *e, struct value *out)
{
	struct value *pairs = region_take(r, (2 * e->field_count + (size_t)1) *
	                                             sizeof *pairs);
	for (uint32_t i = 0; i < e->field_count; i++) {
		const struct field *f = &e->fields[i];
		if (!f->name || !value_of(r, f->value, &pairs[2 * i + 1]))
			return false;
		pairs[2 * i] = value_string(r, f->name->text, f->name->length);
	}
	*out = value_record(r, pairs, e->field_count);
	return true;
}

/* Of what is written down; false if it is computed. */
static bool value_of(struct region *r, const struct expr *e, struct value *out)
{
	switch ((enum expr_kind)e->kind) {
	case EXPR_VALUE: *out = e->value; return true;
	case EXPR_NAME:
		return e->ref == REF_CONST && value_of(r, e->item->value, out);
	case EXPR_UNARY:
		if (e->op != OP_NEG || !value_of(r, e->left, out) ||
		    out->tag != VALUE_INT || out->i == INT64_MIN)
			return false;
		*out = value_int(-out->i);
		return true;
	case EXPR_LIST:
	case EXPR_SET:
	case EXPR_TUPLE: return sequence_of(r, e, out);
	case EXPR_RECORD: return record_of(r, e, out);
	default: return false;
	}
}

/* The constant, with all that it is made of. */
static uint32_t constant_of(struct application *a, struct value v)
{
	uint32_t n = v.tag > VALUE_STRING ? v.o->length : 0;
	for (uint32_t i = 0; i < n; i++) constant_of(a, v.o->items[i]);
	return application_constant(a, v);
}

static void note(struct lowering *l, const struct item *i)
{
	struct application *a = l->b.app;
	struct value v = value_null();
	struct first_value f = {
		.family = application_family(a, i->family->name->text,
		                             i->family->index_count, 1),
		.value = UINT32_MAX,
	};
	if (!i->value || value_of(&a->region, i->value, &v))
		f.value = constant_of(a, v);
	if (!i->star)
		f.indexes =
			region_take0(&a->region, (i->index_count + (size_t)1) *
		                                         sizeof *f.indexes);
	for (uint32_t k = 0; k < i->index_count && !i->star; k++) {
		if (value_of(&a->region, i->indexes[k], &v))
			f.indexes[k] = constant_of(a, v);
		else
			f.value = UINT32_MAX;
	}
	VEC_RESERVE(a->firsts, a->first_count, a->first_capacity);
	a->firsts[a->first_count++] = f;
}

void lower_first_values(struct lowering *l, const struct syntax *tree)
{
	if (!l->b.app->from_first) return;
	for (const struct item *i = tree->first; i; i = i->next)
		if (i->kind == ITEM_GLOBAL) note(l, i);
}

/* Is it the key that the access names? */
static uint32_t is_named(struct lowering *l, const struct access *r,
                         const struct first_value *f)
{
	struct summary *s = l->b.s;
	uint32_t same = TRUE_NODE;
	for (uint32_t k = 0; k < r->index_count; k++) {
		uint32_t c = node_add(s, NODE_CONSTANT, f->indexes[k], 0, 0);
		same = node_and(s, same, node_equal(s, r->indexes[k], c));
	}
	return same;
}

/* Of one key. */
static bool put_all(struct lowering *l, struct items *k, struct value v,
                    uint32_t there)
{
	bool set = v.tag == VALUE_SET;
	if (v.tag != VALUE_LIST && v.tag != VALUE_SET) return false;
	if (k->count + (uint64_t)v.o->length > LOWER_ROUNDS) return false;
	if (k->count && set != k->set) return false;
	k->set = set;
	for (uint32_t i = 0; i < v.o->length; i++) {
		uint32_t item = lower_constant(l, v.o->items[i]);
		k->all[k->count++] = (struct listed){ item, there };
	}
	return true;
}

bool lower_first_list(struct lowering *l, uint32_t value, struct items *out)
{
	struct application *a = l->b.app;
	struct summary *s = l->b.s;
	if (!a->from_first || l->blunt || s->nodes[value].op != NODE_READ)
		return false;
	uint32_t number = s->nodes[value].a, any = FALSE_NODE;
	struct access r = s->accesses[number];
	*out = (struct items){ .value = value };
	out->all =
		region_take(&a->region, (LOWER_ROUNDS + 1) * sizeof *out->all);
	for (uint32_t i = 0; i < a->first_count; i++) {
		const struct first_value *f = &a->firsts[i];
		if (f->family != r.family || !f->indexes) continue;
		if (f->value == UINT32_MAX) return false;
		uint32_t there = is_named(l, &r, f);
		if (!put_all(l, out, a->constants[f->value], there))
			return false;
		any = node_or(s, any, there);
	}
	if (any == FALSE_NODE) return false;
	uint32_t begins = node_add(s, NODE_FIRST, number, 0, 0);
	begins = node_and(s, begins, any);
	s->assumed = node_and(s, s->assumed,
	                      node_or(s, node_not(s, r.happens), begins));
	lower_note_list(l, value, out);
	return true;
}
