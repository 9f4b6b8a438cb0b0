/* Types, and expressions made into ones of another type. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/convert.h"
#include "sql/numeric.h"
#include "sql/resolve_parts.h"

/* ---- Types ---- */

static bool kind_of_name(const char *name, enum sql_kind *out)
{
	static const struct {
		const char *name;
		enum sql_kind kind;
	} names[] = {
		{ "bool", SQL_BOOL },
		{ "int2", SQL_INT2 },
		{ "int4", SQL_INT4 },
		{ "int8", SQL_INT8 },
		{ "numeric", SQL_NUMERIC },
		{ "text", SQL_TEXT },
		{ "varchar", SQL_VARCHAR },
		{ "bpchar", SQL_CHAR },
		{ "date", SQL_DATE },
		{ "timestamp", SQL_TIMESTAMP },
		{ "timestamptz", SQL_TIMESTAMPTZ },
		{ "interval", SQL_INTERVAL },
		{ "uuid", SQL_UUID },
		{ "void", SQL_VOID },
		{ "smallserial", SQL_INT2 },
		{ "serial", SQL_INT4 },
		{ "bigserial", SQL_INT8 },
		{ "serial2", SQL_INT2 },
		{ "serial4", SQL_INT4 },
		{ "serial8", SQL_INT8 },
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i].name, name)) {
			*out = names[i].kind;
			return true;
		}
	return false;
}

static bool find_enum(const struct resolver *r, const char *name,
                      struct sql_type *out)
{
	const struct sql_catalog *c = r->catalog;
	for (uint32_t i = 0; i < c->enum_count; i++)
		if (!strcmp(c->enums[i]->name, name)) {
			*out = (struct sql_type){ .kind = SQL_ENUM,
				                  .labels = c->enums[i] };
			return true;
		}
	return false;
}

/* A type of PostgreSQL that is not supported here? */
static bool is_outside(const char *name)
{
	static const char *const names[] = {
		"bit",       "box",       "bytea",    "char",      "cidr",
		"circle",    "float4",    "float8",   "inet",      "json",
		"jsonb",     "line",      "lseg",     "macaddr",   "money",
		"name",      "oid",       "path",     "point",     "polygon",
		"record",    "regclass",  "time",     "timetz",    "trigger",
		"tsquery",   "tsvector",  "varbit",   "xml",       "xid",
		"int4range", "int8range", "numrange", "daterange", "tsrange",
		"tstzrange",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name)) return true;
	return false;
}

static int64_t modifier(json_t *list, size_t i)
{
	json_t *body;
	if (!node_is(json_array_get(list, i), "A_Const", &body)) return -1;
	return node_integer(json_object_get(body, "ival"), "ival");
}

/* (n) of texts, (precision, scale) of numbers */
static bool read_length(json_t *mods, struct sql_type *out)
{
	size_t count = json_array_size(mods);
	int64_t n = modifier(mods, 0);
	int64_t scale = count > 1 ? modifier(mods, 1) : 0;
	if (out->kind == SQL_NUMERIC && count <= 2 && n >= 1 && n <= 1000 &&
	    scale >= 0 && scale <= 1000) {
		out->length = sql_numeric_length((int)n, (int)scale);
		return true;
	}
	if (count != 1 || n < 1 || n > 10485760 ||
	    (out->kind != SQL_VARCHAR && out->kind != SQL_CHAR))
		return false;
	out->length = (int32_t)n;
	return true;
}

static bool resolve_length(struct resolver *r, json_t *type_name,
                           struct sql_type *out)
{
	json_t *mods = json_object_get(type_name, "typmods");
	if (!json_array_size(mods) || read_length(mods, out)) return true;
	struct text t = { 0 };
	sql_type_print(&t, *out);
	refuse(r, node_place(r, type_name),
	       "type modifier is not allowed, or "
	       "out of range, for type \"%s\"",
	       text_get(&t));
	text_free(&t);
	return false;
}

bool resolve_type(struct resolver *r, json_t *type_name, struct sql_type *out,
                  bool *serial)
{
	json_t *names = json_object_get(type_name, "names");
	size_t count = json_array_size(names);
	size_t bounds =
		json_array_size(json_object_get(type_name, "arrayBounds"));
	const char *name = node_name(json_array_get(names, count - 1));
	struct place at = node_place(r, type_name);
	struct text t = { 0 };
	*out = (struct sql_type){ 0 };
	if (serial) *serial = strstr(name, "serial") != NULL;
	if (bounds > 1) {
		refuse_construct(r, at, "an array of several dimensions");
	} else if ((!kind_of_name(name, &out->kind) &&
	            !find_enum(r, name, out)) ||
	           (!serial && strstr(name, "serial"))) {
		text_format(&t, "type \"%s\"", name);
		if (is_outside(name) || strstr(name, "serial"))
			refuse_construct(r, at, text_get(&t));
		else
			refuse(r, at, "%s does not exist", text_get(&t));
	}
	text_free(&t);
	if (r->failed || !resolve_length(r, type_name, out)) return false;
	if (bounds)
		*out = (struct sql_type){ .kind = SQL_ARRAY,
			                  .element = out->kind,
			                  .labels = out->labels };
	return true;
}

/* ---- Making ---- */

struct sql_expr *expr_new(struct resolver *r, enum sql_expr_kind kind,
                          enum sql_kind type, uint32_t count)
{
	struct sql_expr *e = region_take0(r->region, sizeof *e);
	assert(type < SQL_KIND_COUNT);
	e->kind = kind;
	e->type.kind = type;
	e->at = r->place;
	e->count = count;
	e->args = region_take0(r->region, (count + 1) * sizeof *e->args);
	return e;
}

struct sql_expr *expr_constant(struct resolver *r, enum sql_kind type,
                               struct value v)
{
	struct sql_expr *e = expr_new(r, EXPR_CONSTANT, type, 0);
	e->constant = v;
	return e;
}

/* A constant can be converted at once; an error is the statement's. */
static const struct sql_expr *coerce_constant(struct resolver *r,
                                              const struct sql_expr *e,
                                              struct sql_type type,
                                              enum sql_coercion when)
{
	struct sql_failure why = { 0 };
	struct value v;
	if (!sql_convert(r->region, e->constant, e->type, type,
	                 when == COERCE_EXPLICIT, &v, &why)) {
		doom(r, e->at, &why);
		if (r->failed) return NULL;
		v = value_null();
	}
	struct sql_expr *c = expr_constant(r, type.kind, v);
	c->at = e->at;
	c->type = type;
	return c;
}

/* Enums do not become others; arrays become those whose elements they have. */
static bool same_labels(struct sql_type from, struct sql_type to,
                        enum sql_coercion when)
{
	if (from.kind != to.kind) return true;
	if (from.kind == SQL_ARRAY)
		return sql_can_coerce(from.element, to.element, when) &&
		       (to.element != SQL_ENUM || from.labels == to.labels);
	return from.kind != SQL_ENUM || from.labels == to.labels;
}

const struct sql_expr *coerce(struct resolver *r, const struct sql_expr *e,
                              struct sql_type type, enum sql_coercion when,
                              const char *what)
{
	if (!e) return NULL;
	if (sql_same_type(e->type, type)) return e;
	assert(type.kind < SQL_KIND_COUNT);
	if (!sql_can_coerce(e->type.kind, type.kind, when) ||
	    !same_labels(e->type, type, when)) {
		struct text from = { 0 }, to = { 0 };
		sql_type_print(&from, e->type);
		sql_type_print(&to, type);
		if (when == COERCE_ASSIGNMENT)
			refuse(r, e->at,
			       "%s is of type %s but expression is of type %s",
			       what, text_get(&to), text_get(&from));
		else
			refuse(r, e->at, "%s %s, not type %s", what,
			       text_get(&to), text_get(&from));
		text_free(&from);
		text_free(&to);
		return NULL;
	}
	if (e->kind == EXPR_CONSTANT && e->type.kind == SQL_UNKNOWN)
		return coerce_constant(r, e, type, when);
	/* Texts of all lengths are held alike. */
	if (sql_is_string(e->type.kind) && type.kind != SQL_CHAR &&
	    e->type.kind != SQL_CHAR && !type.length && e->kind != EXPR_CAST) {
		struct sql_expr *copy = region_take(r->region, sizeof *copy);
		*copy = *e;
		copy->type = type;
		return copy;
	}
	struct sql_expr *c = expr_new(r, EXPR_CAST, type.kind, 1);
	c->at = e->at;
	c->type = type;
	c->args[0] = e;
	c->negated = when == COERCE_EXPLICIT;
	return c;
}

const struct sql_expr *settle(struct resolver *r, const struct sql_expr *e)
{
	if (!e || e->type.kind != SQL_UNKNOWN) return e;
	return coerce(r, e, sql_type(SQL_TEXT), COERCE_IMPLICIT, "");
}

bool unify(struct resolver *r, const struct sql_expr **all, uint32_t count,
           const char *what, struct sql_type *out)
{
	struct sql_type best = sql_type(SQL_UNKNOWN);
	bool same = true;
	for (uint32_t i = 0; i < count; i++) {
		struct sql_type t = all[i]->type;
		if (t.kind == SQL_UNKNOWN) continue;
		if (best.kind == SQL_UNKNOWN) {
			best = t;
			continue;
		}
		same &= sql_same_type(best, t) && sql_same_type(t, best);
		if (sql_kind_category(t.kind) != sql_kind_category(best.kind)) {
			refuse(r, all[i]->at,
			       "%s types %s and %s cannot be matched", what,
			       sql_kind_name(best.kind), sql_kind_name(t.kind));
			return false;
		}
		if (!sql_kind_is_preferred(best.kind) &&
		    sql_can_coerce(best.kind, t.kind, COERCE_IMPLICIT) &&
		    !sql_can_coerce(t.kind, best.kind, COERCE_IMPLICIT))
			best = t;
	}
	if (best.kind == SQL_UNKNOWN) best = sql_type(SQL_TEXT);
	if (!same) best.length = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!(all[i] = coerce(r, all[i], best, COERCE_IMPLICIT, what)))
			return false;
	*out = best;
	assert(out->kind != SQL_UNKNOWN);
	return true;
}
