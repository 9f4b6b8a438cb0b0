/* CREATE SEQUENCE, and what is drawn from sequences. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"

int find_sequence(const struct sql_catalog *c, const char *name)
{
	for (uint32_t i = 0; i < c->sequence_count; i++)
		if (!strcmp(c->sequences[i].name, name)) return (int)i;
	return -1;
}

uint32_t add_sequence(struct resolver *r, const char *name, int64_t start,
                      int64_t step)
{
	struct sql_catalog *c = r->catalog;
	VEC_RESERVE(c->sequences, c->sequence_count, c->sequence_capacity);
	c->sequences[c->sequence_count] = (struct sql_sequence){
		.name = keep_name(r, name), .start = start, .step = step
	};
	return c->sequence_count++;
}

struct sql_expr *draw(struct resolver *r, uint32_t sequence)
{
	assert(sequence < r->catalog->sequence_count);
	struct sql_expr *e = expr_new(r, EXPR_NEXTVAL, SQL_INT8, 0);
	e->number = sequence;
	e->constant = value_int(r->catalog->sequences[sequence].step);
	return e;
}

/* The name may stand with ::regclass. */
const struct sql_expr *resolve_draw(struct resolver *r, const char *function,
                                    json_t *arg)
{
	json_t *body, *text;
	const struct sql_catalog *c = r->catalog;
	struct place at = r->place;
	if (node_is(arg, "TypeCast", &body)) arg = json_object_get(body, "arg");
	if (!node_is(arg, "A_Const", &body) ||
	    !(text = json_object_get(body, "sval")))
		return refuse_construct(
			r, at, "a sequence given by anything but its name");
	if (r->purpose == PURPOSE_ASSERT)
		return refuse_construct(r, at, "a sequence in an assertion");
	const char *name = node_string(text, "sval");
	int n = find_sequence(c, name);
	if (n < 0)
		return refuse(r, node_place(r, body),
		              "relation \"%s\" does not exist", name);
	r->catalog->draws |= r->purpose != PURPOSE_SETUP;
	if (!strcmp(function, "nextval")) return draw(r, (uint32_t)n);
	struct sql_expr *e = expr_new(r, EXPR_CURRVAL, SQL_INT8, 0);
	e->number = (uint32_t)n;
	e->constant = value_string(r->region, name, strlen(name));
	return e;
}

static int64_t option_number(struct resolver *r, json_t *option)
{
	json_t *body;
	json_t *arg = json_object_get(option, "arg");
	if (node_is(arg, "Integer", &body)) return node_integer(body, "ival");
	if (node_is(arg, "Float", &body))
		return strtoll(node_string(body, "fval"), NULL, 10);
	refuse_construct(r, r->place, "an option of a sequence without number");
	return 0;
}

/* Of a sequence, START and INCREMENT matter; CACHE and bounds do not. */
bool sequence_options(struct resolver *r, json_t *list, int64_t *start,
                      int64_t *step)
{
	json_t *x;
	*start = *step = 1;
	for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
		node_is(json_array_get(list, i), "DefElem", &x);
		const char *name = node_string(x, "defname");
		r->place = node_place(r, x);
		if (!strcmp(name, "start"))
			*start = option_number(r, x);
		else if (!strcmp(name, "increment"))
			*step = option_number(r, x);
		else if (!strcmp(name, "cycle") || !strcmp(name, "restart"))
			refuse_construct(r, r->place,
			                 *name == 'c'
			                         ? "CYCLE of a sequence"
			                         : "RESTART of a sequence");
	}
	if (!r->failed && *step < 1)
		refuse_construct(r, r->place, "a sequence that falls");
	return !r->failed;
}

bool resolve_sequence(struct resolver *r, json_t *body, struct sql_statement *s)
{
	json_t *relation = json_object_get(body, "sequence");
	const char *name = node_string(relation, "relname");
	int64_t start, step;
	(void)s;
	r->place = node_place(r, relation);
	if (find_sequence(r->catalog, name) >= 0) {
		if (node_flag(body, "if_not_exists")) return true;
		refuse(r, r->place, "relation \"%s\" already exists", name);
	}
	if (r->failed || !sequence_options(r, json_object_get(body, "options"),
	                                   &start, &step))
		return false;
	add_sequence(r, name, start, step);
	return true;
}
