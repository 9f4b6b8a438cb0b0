#include "prove/functions.h"

#include <assert.h>
#include <inttypes.h>

#include "base/text.h"
#include "prove/spots.h"

/* A function of integers, by a word and a number, which is declared once. */
static Z3_ast apply(const struct instances *x, const char *word, uint32_t f,
                    bool truth, uint32_t count, const Z3_ast *args)
{
	Z3_sort number = Z3_mk_int_sort(x->z);
	Z3_sort domain[] = { number, number, number, number };
	struct text name = { 0 };
	assert(count && count <= sizeof domain / sizeof *domain);
	text_format(&name, "%s %" PRIu32, word, f);
	Z3_func_decl d = Z3_mk_func_decl(
		x->z, Z3_mk_string_symbol(x->z, text_get(&name)), count, domain,
		truth ? Z3_mk_bool_sort(x->z) : number);
	text_free(&name);
	return Z3_mk_app(x->z, d, count, args);
}

static struct term other_value(const struct instances *x, Z3_ast value)
{
	return (struct term){ number(x->z, VALUE_STRING), value };
}

/* ---- records ---- */

/* Its number, or UINT32_MAX: it is not one of the application's. */
static uint32_t constant_of(const struct application *a, struct value v)
{
	for (uint32_t i = 0; i < a->constant_count; i++)
		if (value_equal(a->constants[i], v)) return i;
	return UINT32_MAX;
}

/* What a constant record has in this field. */
static void know_record(struct instances *x, uint32_t constant, uint32_t field)
{
	const struct application *app = x->app;
	struct value v = app->constants[constant];
	struct term record = instances_constant(x, constant);
	uint32_t c = UINT32_MAX;
	for (uint32_t i = 0; i < v.o->length; i += 2)
		if (value_equal(v.o->items[i], app->constants[field]))
			c = constant_of(app, v.o->items[i + 1]);
	Z3_ast has = function_has(x, record, field);
	instances_assert(x, c == UINT32_MAX ? Z3_mk_not(x->z, has) : has);
	if (c != UINT32_MAX)
		instances_assert(x,
		                 same_term(x, function_field(x, record, field),
		                           instances_constant(x, c)));
}

void function_know_field(struct instances *x, uint32_t field)
{
	const struct application *app = x->app;
	for (uint32_t i = 0; i < app->constant_count; i++) {
		Z3_ast n = number(x->z, i);
		Z3_ast has = apply(x, "has", field, true, 1, &n);
		if (app->constants[i].tag >= VALUE_STRING &&
		    app->constants[i].tag != VALUE_RECORD)
			instances_assert(x, Z3_mk_not(x->z, has));
		if (app->from_first && app->constants[i].tag == VALUE_RECORD)
			know_record(x, i, field);
	}
}

Z3_ast function_has(const struct instances *x, struct term record,
                    uint32_t field)
{
	return both(x->z,
	            Z3_mk_eq(x->z, record.tag, number(x->z, VALUE_STRING)),
	            apply(x, "has", field, true, 1, &record.number));
}

struct term function_field(struct instances *x, struct term record,
                           uint32_t field)
{
	return instances_any_value(
		x, apply(x, "tag", field, false, 1, &record.number),
		apply(x, "number", field, false, 1, &record.number));
}

struct term function_with(struct instances *x, struct term record,
                          uint32_t field, struct term value)
{
	const struct application *app = x->app;
	Z3_ast args[] = { record.number, value.tag, value.number };
	struct term t = other_value(x, apply(x, "with", field, false, 3, args));
	instances_assert(x, apply(x, "has", field, true, 1, &t.number));
	instances_assert(x, same_term(x, function_field(x, t, field), value));
	for (uint32_t i = 0; i < app->field_count; i++) {
		uint32_t f = app->fields[i];
		if (f == field) continue;
		instances_assert(
			x,
			Z3_mk_iff(x->z, apply(x, "has", f, true, 1, &t.number),
		                  apply(x, "has", f, true, 1, &record.number)));
		instances_assert(x, same_term(x, function_field(x, t, f),
		                              function_field(x, record, f)));
	}
	return t;
}

/* ---- tuples ---- */

static struct term item_of(struct instances *x, struct term t, uint32_t i)
{
	struct term at = { number(x->z, VALUE_INT), number(x->z, i) };
	return function_value(x, FUNCTION_ITEM, t, at);
}

/* The number of the tuple, behind which something is put. */
static struct term longer(const struct instances *x, const struct term *front,
                          struct term last, uint32_t length)
{
	Z3_ast args[] = { front ? front->number : number(x->z, 0), last.tag,
		          last.number };
	return other_value(x, apply(x, "tuple", length, false, 3, args));
}

/* What constants are as tuples, made of their items. */
static void know_constants(struct instances *x)
{
	const struct application *app = x->app;
	if (x->tuples) return;
	x->tuples = true;
	for (uint32_t k = 0; k < app->constant_count; k++) {
		struct value v = app->constants[k];
		struct term t = instances_constant(x, k), front = t;
		if (v.tag < VALUE_STRING) continue;
		uint32_t n = v.tag == VALUE_TUPLE ? v.o->length : 0;
		instances_assert(
			x, Z3_mk_eq(x->z,
		                    apply(x, "length", 0, false, 1, &t.number),
		                    number(x->z, n)));
		for (uint32_t i = 0; i < n; i++) {
			uint32_t c = constant_of(app, v.o->items[i]);
			if (c == UINT32_MAX) break;
			struct term item = instances_constant(x, c);
			front = longer(x, i ? &front : NULL, item, i + 1);
			instances_assert(x,
			                 same_term(x, item_of(x, t, i), item));
			if (i + 1 == n)
				instances_assert(x, same_term(x, front, t));
		}
	}
}

/* A tuple's length, and all of its items: what is in front of the last one is
 * known to have its own. */
struct term function_tuple(struct instances *x, const struct term *front,
                           struct term last, uint32_t length)
{
	struct term t = longer(x, front, last, length);
	know_constants(x);
	instances_assert(x, Z3_mk_eq(x->z,
	                             apply(x, "length", 0, false, 1, &t.number),
	                             number(x->z, length)));
	for (uint32_t i = 0; i + 1 < length; i++)
		instances_assert(x, same_term(x, item_of(x, t, i),
		                              item_of(x, *front, i)));
	instances_assert(x, same_term(x, item_of(x, t, length - 1), last));
	return t;
}

/* ---- others ---- */

struct term function_value(struct instances *x, uint32_t f, struct term a,
                           struct term b)
{
	Z3_ast args[] = { a.tag, a.number, b.tag, b.number };
	return instances_any_value(x, apply(x, "value tag", f, false, 4, args),
	                           apply(x, "value", f, false, 4, args));
}

/* Whether a is in b, where that is a constant. */
static void know_items(struct instances *x, Z3_ast is, struct term a,
                       struct term b)
{
	const struct application *app = x->app;
	for (uint32_t i = 0; i < app->constant_count; i++) {
		struct value v = app->constants[i];
		Z3_ast any = Z3_mk_false(x->z);
		if (v.tag != VALUE_LIST && v.tag != VALUE_SET) continue;
		for (uint32_t k = 0; k < v.o->length; k++) {
			uint32_t c = constant_of(app, v.o->items[k]);
			any = either(x->z, any,
			             same_term(x, a, instances_constant(x, c)));
		}
		implies(x, same_term(x, b, instances_constant(x, i)),
		        Z3_mk_iff(x->z, is, any));
	}
}

Z3_ast function_truth(struct instances *x, uint32_t f, struct term a,
                      struct term b)
{
	Z3_ast args[] = { a.tag, a.number, b.tag, b.number };
	Z3_ast is = apply(x, "is", f, true, 4, args);
	if (x->app->from_first && f == FUNCTION_IN) know_items(x, is, a, b);
	return is;
}
