#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/convert.h"
#include "sql/resolve_parts.h"

/* ---- Nodes ---- */

const char *node_kind(json_t *node, json_t **body)
{
	void *i = json_object_iter(node);
	*body = i ? json_object_iter_value(i) : NULL;
	return i ? json_object_iter_key(i) : "";
}

bool node_is(json_t *node, const char *kind, json_t **body)
{
	return !strcmp(node_kind(node, body), kind);
}

const char *node_string(json_t *body, const char *field)
{
	const char *s = json_string_value(json_object_get(body, field));
	return s ? s : "";
}

int64_t node_integer(json_t *body, const char *field)
{
	return json_integer_value(json_object_get(body, field));
}

bool node_flag(json_t *body, const char *field)
{
	return json_is_true(json_object_get(body, field));
}

const char *node_name(json_t *string)
{
	return node_string(json_object_get(string, "String"), "sval");
}

struct place node_place(const struct resolver *r, json_t *body)
{
	int64_t at = node_integer(body, "location");
	struct place p = r->base;
	if (at > 0) p.offset += (uint32_t)at;
	return at < 0 ? r->place : p;
}

uint32_t skip_blanks(const char *text, uint32_t from, uint32_t to)
{
	while (from < to) {
		if (strchr(" \t\r\n\f\v;", text[from])) {
			from++;
		} else if (!strncmp(text + from, "--", 2)) {
			while (from < to && text[from] != '\n') from++;
		} else if (!strncmp(text + from, "/*", 2)) {
			int depth = 0;
			do {
				int open = !strncmp(text + from, "/*", 2);
				int shut = !strncmp(text + from, "*/", 2);
				depth += open - shut;
				from += open || shut ? 2 : 1;
			} while (depth && from < to);
		} else {
			break;
		}
	}
	return from;
}

void *refuse(struct resolver *r, struct place at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (!r->failed) source_verror(r->catalog->all, at, format, args);
	va_end(args);
	r->failed = true;
	return NULL;
}

void *refuse_construct(struct resolver *r, struct place at, const char *what)
{
	return refuse(r, at,
	              "%s: not supported; see 'SQL programs' in the manual for "
	              "what is, and write it in another way",
	              what);
}

const char *keep_name(struct resolver *r, const char *name)
{
	return region_copy_string(r->region, name, strlen(name));
}

/* ---- Types ---- */

static bool kind_of_name(const char *name, enum sql_kind *out)
{
	static const struct {
		const char *name;
		enum sql_kind kind;
	} names[] = {
		{ "bool", SQL_BOOL },    { "int2", SQL_INT2 },
		{ "int4", SQL_INT4 },    { "int8", SQL_INT8 },
		{ "text", SQL_TEXT },    { "varchar", SQL_VARCHAR },
		{ "bpchar", SQL_CHAR },  { "smallserial", SQL_INT2 },
		{ "serial", SQL_INT4 },  { "bigserial", SQL_INT8 },
		{ "serial2", SQL_INT2 }, { "serial4", SQL_INT4 },
		{ "serial8", SQL_INT8 },
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i].name, name)) {
			*out = names[i].kind;
			return true;
		}
	return false;
}

static bool resolve_length(struct resolver *r, json_t *type_name,
                           struct sql_type *out)
{
	json_t *mods = json_object_get(type_name, "typmods"), *body;
	if (!json_array_size(mods)) return true;
	bool one = json_array_size(mods) == 1 &&
	           node_is(json_array_get(mods, 0), "A_Const", &body);
	int64_t n =
		one ? node_integer(json_object_get(body, "ival"), "ival") : 0;
	if (n >= 1 && n <= 10485760 &&
	    (out->kind == SQL_VARCHAR || out->kind == SQL_CHAR)) {
		out->length = (int32_t)n;
		return true;
	}
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
	const char *name = node_name(json_array_get(names, count - 1));
	struct place at = node_place(r, type_name);
	struct text t = { 0 };
	*out = (struct sql_type){ 0 };
	if (serial) *serial = strstr(name, "serial") != NULL;
	if (json_array_size(json_object_get(type_name, "arrayBounds"))) {
		text_format(&t, "an array type (%s[])", name);
		refuse_construct(r, at, text_get(&t));
	} else if (!kind_of_name(name, &out->kind) ||
	           (!serial && strstr(name, "serial"))) {
		text_format(&t, "type \"%s\"", name);
		refuse_construct(r, at, text_get(&t));
	}
	text_free(&t);
	return !r->failed && resolve_length(r, type_name, out);
}

/* ---- Making ---- */

struct sql_expr *expr_new(struct resolver *r, enum sql_expr_kind kind,
                          enum sql_kind type, uint32_t count)
{
	struct sql_expr *e = region_take0(r->region, sizeof *e);
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

static bool same_type(struct sql_type a, struct sql_type b)
{
	return a.kind == b.kind && (!b.length || a.length == b.length);
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
		/* What is too long fails before anything is done, each time. */
		if (strcmp(why.state, "22001")) {
			refuse(r, e->at, "%s (%s)", why.message, why.state);
			return NULL;
		}
		if (!*r->doom.state) r->doom = why;
		v = e->constant;
	}
	struct sql_expr *c = expr_constant(r, type.kind, v);
	c->at = e->at;
	c->type = type;
	return c;
}

const struct sql_expr *coerce(struct resolver *r, const struct sql_expr *e,
                              struct sql_type type, enum sql_coercion when,
                              const char *what)
{
	if (!e) return NULL;
	if (same_type(e->type, type)) return e;
	if (!sql_can_coerce(e->type.kind, type.kind, when)) {
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

const struct sql_expr *column_of(struct resolver *r, struct scope *s,
                                 uint32_t up, uint32_t relation,
                                 uint32_t column)
{
	for (uint32_t i = 0; i < up; i++) s = s->outer;
	const struct sql_relation *from = &s->relations[relation];
	assert(column < from->column_count);
	struct sql_expr *e = expr_new(r, EXPR_COLUMN, SQL_UNKNOWN, 0);
	e->type = from->columns[column].type;
	e->up = up;
	e->relation = relation;
	e->column = column;
	return e;
}

/* ---- Names ---- */

static int column_in(const struct sql_relation *from, const char *name)
{
	for (uint32_t i = 0; i < from->column_count; i++)
		if (!strcmp(from->columns[i].name, name)) return (int)i;
	return -1;
}

/* Of all columns in sight. */
static const char *nearest_column(struct scope *s, const char *relation,
                                  const char *name)
{
	const char **names = NULL, *near;
	size_t count = 0, capacity = 0;
	for (; s; s = s->outer)
		for (uint32_t i = 0; i < s->relation_count; i++) {
			const struct sql_relation *from = &s->relations[i];
			if (relation && strcmp(from->name, relation)) continue;
			for (uint32_t c = 0; c < from->column_count; c++) {
				VEC_RESERVE(names, count, capacity);
				names[count++] = from->columns[c].name;
			}
		}
	near = diag_nearest(name, names, count);
	free(names);
	return near;
}

static const struct sql_expr *no_column(struct resolver *r, struct scope *s,
                                        const char *relation, const char *name)
{
	const char *near = nearest_column(s, relation, name);
	const char *dot = relation ? "." : "", *quote = relation ? "" : "\"";
	return refuse(r, r->place, "column %s%s%s%s%s does not exist%s%s%s",
	              quote, relation ? relation : "", dot, name, quote,
	              near ? "; did you mean \"" : "", near ? near : "",
	              near ? "\"?" : "");
}

static const struct sql_expr *plain_column(struct resolver *r, struct scope *s,
                                           const char *name)
{
	uint32_t up = 0;
	for (struct scope *at = s; at; at = at->outer, up++) {
		int found = -1;
		uint32_t relation = 0;
		for (uint32_t i = 0; i < at->relation_count; i++) {
			int c = column_in(&at->relations[i], name);
			if (c < 0) continue;
			if (found >= 0)
				return refuse(r, r->place,
				              "column reference \"%s\" is "
				              "ambiguous",
				              name);
			found = c;
			relation = i;
		}
		if (found >= 0)
			return column_of(r, s, up, relation, (uint32_t)found);
	}
	return no_column(r, s, NULL, name);
}

static int find_relation(struct scope *s, const char *name, uint32_t *up,
                         struct scope **at)
{
	*up = 0;
	for (; s; s = s->outer, ++*up)
		for (uint32_t i = 0; i < s->relation_count; i++)
			if (!strcmp(s->relations[i].name, name)) {
				*at = s;
				return (int)i;
			}
	return -1;
}

/* step.error, which needs no FROM. */
static const struct sql_expr *step_error(struct resolver *r, const char *step)
{
	const struct sql_catalog *c = r->catalog;
	for (uint32_t i = 0; i < c->step_count; i++) {
		const struct sql_step_result *x = &c->steps[i];
		if (strcmp(x->name, step) &&
		    (!x->session || strcmp(x->session, step)))
			continue;
		struct sql_expr *e = expr_new(r, EXPR_STEP_ERROR, SQL_TEXT, 0);
		e->relation = i;
		return e;
	}
	return NULL;
}

static const struct sql_expr *qualified_column(struct resolver *r,
                                               struct scope *s,
                                               const char *relation,
                                               const char *name)
{
	uint32_t up = 0;
	struct scope *at = NULL;
	int found = find_relation(s, relation, &up, &at);
	int column = found < 0 ? -1 : column_in(&at->relations[found], name);
	if (column >= 0)
		return column_of(r, s, up, (uint32_t)found, (uint32_t)column);
	if (r->purpose == PURPOSE_ASSERT && !strcmp(name, "error")) {
		const struct sql_expr *e = step_error(r, relation);
		if (e) return e;
	}
	if (found >= 0) return no_column(r, s, relation, name);
	return refuse(r, r->place, "missing FROM-clause entry for table \"%s\"",
	              relation);
}

static const struct sql_expr *resolve_column(struct resolver *r,
                                             struct scope *s, json_t *body)
{
	json_t *fields = json_object_get(body, "fields"), *star;
	size_t count = json_array_size(fields);
	json_t *last = json_array_get(fields, count - 1);
	if (node_is(last, "A_Star", &star))
		return refuse_construct(r, r->place, "a whole row as a value");
	if (count == 1) return plain_column(r, s, node_name(last));
	if (count == 2)
		return qualified_column(r, s,
		                        node_name(json_array_get(fields, 0)),
		                        node_name(last));
	return refuse_construct(r, r->place, "a name of more than two parts");
}

/* ---- Constants ---- */

/* Digits that are too many for int4 come as "fval". */
static const struct sql_expr *resolve_digits(struct resolver *r,
                                             const char *digits)
{
	char *end;
	errno = 0;
	long long n = strtoll(digits, &end, 10);
	bool whole = *digits && !*end && !errno;
	if (whole) return expr_constant(r, SQL_INT8, value_int(n));
	return refuse_construct(r, r->place,
	                        "a number with a fraction, or of more than 64 "
	                        "bits,");
}

/* libpg_query leaves negative numbers out of its JSON, as it does zero: what
 * the source says. */
static int64_t integer_at(const struct resolver *r, json_t *x)
{
	const struct source *in = &r->catalog->all->items[r->place.source];
	uint32_t at = r->place.offset;
	int64_t n = node_integer(x, "ival");
	if (n || at >= in->length || in->text[at] != '-') return n;
	at = skip_blanks(in->text, at + 1, in->length);
	return -strtoll(in->text + at, NULL, 10);
}

static const struct sql_expr *resolve_constant(struct resolver *r, json_t *body)
{
	json_t *x;
	if (node_flag(body, "isnull"))
		return expr_constant(r, SQL_UNKNOWN, value_null());
	if ((x = json_object_get(body, "ival")))
		return expr_constant(r, SQL_INT4, value_int(integer_at(r, x)));
	if ((x = json_object_get(body, "boolval")))
		return expr_constant(r, SQL_BOOL,
		                     value_bool(node_flag(x, "boolval")));
	if ((x = json_object_get(body, "sval"))) {
		const char *s = node_string(x, "sval");
		return expr_constant(r, SQL_UNKNOWN,
		                     value_string(r->region, s, strlen(s)));
	}
	if ((x = json_object_get(body, "fval")))
		return resolve_digits(r, node_string(x, "fval"));
	return refuse_construct(r, r->place, "a bit string");
}

/* ---- Operators and functions ---- */

static void print_signature(struct text *t, const char *name,
                            const struct sql_expr *const *args, uint32_t count,
                            bool is_operator)
{
	if (!is_operator) text_format(t, "%s(", name);
	for (uint32_t i = 0; i < count; i++) {
		if (is_operator && (i || count == 1))
			text_format(t, "%s%s ", i ? " " : "", name);
		else if (i)
			text_string(t, ", ");
		text_string(t, sql_kind_name(args[i]->type.kind));
	}
	if (!is_operator) text_char(t, ')');
}

static const struct sql_expr *make_call(struct resolver *r, const char *name,
                                        const struct sql_expr **args,
                                        uint32_t count, bool is_operator)
{
	enum sql_kind kinds[PROC_ARGUMENTS];
	const struct sql_proc *p = NULL;
	enum sql_choice choice = CHOICE_NONE;
	for (uint32_t i = 0; i < count && count <= PROC_ARGUMENTS; i++) {
		if (!args[i]) return NULL;
		kinds[i] = args[i]->type.kind;
	}
	if (count <= PROC_ARGUMENTS)
		choice = sql_choose_proc(name, kinds, count, &p);
	if (choice != CHOICE_MADE) {
		struct text t = { 0 };
		print_signature(&t, name, args, count, is_operator);
		const char *near = is_operator || sql_has_proc(name)
		                           ? NULL
		                           : sql_nearest_proc(name);
		const char *why = choice == CHOICE_NONE ? "does not exist"
		                                        : "is not unique";
		if (is_operator)
			refuse(r, r->place, "operator %s: %s", why,
			       text_get(&t));
		else
			refuse(r, r->place, "function %s %s%s%s%s",
			       text_get(&t), why,
			       near ? "; did you mean \"" : "",
			       near ? near : "", near ? "\"?" : "");
		text_free(&t);
		return NULL;
	}
	struct sql_expr *e = expr_new(r, EXPR_CALL, p->result, count);
	e->function = p;
	for (uint32_t i = 0; i < count; i++) {
		struct sql_type type = sql_type(p->types[i]);
		e->args[i] = type.kind == SQL_ANY
		                     ? settle(r, args[i])
		                     : coerce(r, args[i], type, COERCE_IMPLICIT,
		                              "argument");
		if (!e->args[i]) return NULL;
		if (type.kind == SQL_ANY && p->operation == DO_CONCAT)
			e->args[i] = coerce(r, e->args[i], sql_type(SQL_TEXT),
			                    COERCE_EXPLICIT, "argument");
	}
	return r->failed ? NULL : e;
}

const struct sql_expr *make_operator(struct resolver *r, const char *name,
                                     const struct sql_expr *a,
                                     const struct sql_expr *b)
{
	const struct sql_expr *args[] = { a, b };
	if (!a || !b) return NULL;
	return make_call(r, name, args, 2, true);
}

static const struct sql_expr *resolve_operator(struct resolver *r,
                                               struct scope *s, json_t *body)
{
	json_t *names = json_object_get(body, "name");
	json_t *left = json_object_get(body, "lexpr");
	const char *name =
		node_name(json_array_get(names, json_array_size(names) - 1));
	struct place at = r->place;
	const struct sql_expr *args[2] = { NULL };
	uint32_t count = 0;
	if (left) args[count++] = resolve_expr(r, s, left);
	args[count++] = resolve_expr(r, s, json_object_get(body, "rexpr"));
	r->place = at;
	if (r->failed) return NULL;
	/* - 5 is a literal, so that there is a smallest one. */
	if (!left && !strcmp(name, "-") && args[0]->kind == EXPR_CONSTANT &&
	    sql_is_integer(args[0]->type.kind) &&
	    !sql_is_null(args[0]->constant)) {
		int64_t n = -args[0]->constant.i;
		return expr_constant(
			r, n == INT32_MIN ? SQL_INT4 : args[0]->type.kind,
			value_int(n));
	}
	return make_call(r, name, args, count, true);
}

/* AND or OR or another kind of two. */
static const struct sql_expr *both(struct resolver *r, enum sql_expr_kind kind,
                                   const struct sql_expr *a,
                                   const struct sql_expr *b)
{
	if (!a || !b) return NULL;
	struct sql_expr *e = expr_new(r, kind, SQL_BOOL, 2);
	e->args[0] = a;
	e->args[1] = b;
	return e;
}

static const struct sql_expr *negation(struct resolver *r,
                                       const struct sql_expr *a)
{
	if (!a) return NULL;
	struct sql_expr *e = expr_new(r, EXPR_NOT, SQL_BOOL, 1);
	e->args[0] = a;
	return e;
}

static const struct sql_expr *resolve_between(struct resolver *r,
                                              struct scope *s, json_t *body,
                                              bool negated, bool symmetric)
{
	json_t *list = json_object_get(
		json_object_get(json_object_get(body, "rexpr"), "List"),
		"items");
	const struct sql_expr *x =
		resolve_expr(r, s, json_object_get(body, "lexpr"));
	const struct sql_expr *low =
		resolve_expr(r, s, json_array_get(list, 0));
	const struct sql_expr *high =
		resolve_expr(r, s, json_array_get(list, 1));
	if (r->failed) return NULL;
	const struct sql_expr *in =
		both(r, EXPR_AND, make_operator(r, ">=", x, low),
	             make_operator(r, "<=", x, high));
	if (symmetric)
		in = both(r, EXPR_OR, in,
		          both(r, EXPR_AND, make_operator(r, ">=", x, high),
		               make_operator(r, "<=", x, low)));
	return negated ? negation(r, in) : in;
}

/* x IN (a, b) is x = a OR x = b; x NOT IN (a, b) is x <> a AND x <> b. */
static const struct sql_expr *resolve_in(struct resolver *r, struct scope *s,
                                         json_t *body)
{
	json_t *list = json_object_get(
		json_object_get(json_object_get(body, "rexpr"), "List"),
		"items");
	json_t *names = json_object_get(body, "name");
	const char *name = node_name(json_array_get(names, 0));
	uint32_t count = (uint32_t)json_array_size(list);
	const struct sql_expr *x =
		resolve_expr(r, s, json_object_get(body, "lexpr"));
	struct sql_expr *e = expr_new(
		r, !strcmp(name, "=") ? EXPR_OR : EXPR_AND, SQL_BOOL, count);
	const struct sql_expr **items =
		region_take0(r->region, (count + 1) * sizeof *items);
	if (!x) return NULL;
	for (uint32_t i = 0; i < count; i++)
		items[i] = resolve_expr(r, s, json_array_get(list, i));
	for (uint32_t i = 0; i < count; i++)
		e->args[i] = make_operator(r, name, x, items[i]);
	return r->failed ? NULL : e;
}

static const struct sql_expr *resolve_distinct(struct resolver *r,
                                               struct scope *s, json_t *body,
                                               bool negated)
{
	const struct sql_expr *a =
		resolve_expr(r, s, json_object_get(body, "lexpr"));
	const struct sql_expr *b =
		resolve_expr(r, s, json_object_get(body, "rexpr"));
	const struct sql_expr *same = make_operator(r, "=", a, b);
	if (!same) return NULL;
	struct sql_expr *e = expr_new(r, EXPR_IS_DISTINCT, SQL_BOOL, 2);
	e->args[0] = same->args[0];
	e->args[1] = same->args[1];
	e->negated = negated;
	return e;
}

static const struct sql_expr *resolve_nullif(struct resolver *r,
                                             struct scope *s, json_t *body)
{
	const struct sql_expr *a =
		resolve_expr(r, s, json_object_get(body, "lexpr"));
	const struct sql_expr *b =
		resolve_expr(r, s, json_object_get(body, "rexpr"));
	const struct sql_expr *same = make_operator(r, "=", a, b);
	if (!same) return NULL;
	a = a->type.kind == SQL_UNKNOWN ? same->args[0] : a;
	struct sql_expr *e = expr_new(r, EXPR_NULLIF, a->type.kind, 2);
	e->type = a->type;
	e->args[0] = a;
	e->args[1] = same;
	return e;
}

static const struct sql_expr *resolve_a_expr(struct resolver *r,
                                             struct scope *s, json_t *body)
{
	const char *kind = node_string(body, "kind");
	if (!strcmp(kind, "AEXPR_OP") || !strcmp(kind, "AEXPR_LIKE"))
		return resolve_operator(r, s, body);
	if (!strcmp(kind, "AEXPR_IN")) {
		json_t *list;
		if (!node_is(json_object_get(body, "rexpr"), "List", &list))
			return refuse_construct(r, r->place, "this IN");
		return resolve_in(r, s, body);
	}
	if (!strcmp(kind, "AEXPR_BETWEEN"))
		return resolve_between(r, s, body, false, false);
	if (!strcmp(kind, "AEXPR_NOT_BETWEEN"))
		return resolve_between(r, s, body, true, false);
	if (!strcmp(kind, "AEXPR_BETWEEN_SYM"))
		return resolve_between(r, s, body, false, true);
	if (!strcmp(kind, "AEXPR_NOT_BETWEEN_SYM"))
		return resolve_between(r, s, body, true, true);
	if (!strcmp(kind, "AEXPR_DISTINCT"))
		return resolve_distinct(r, s, body, false);
	if (!strcmp(kind, "AEXPR_NOT_DISTINCT"))
		return resolve_distinct(r, s, body, true);
	if (!strcmp(kind, "AEXPR_NULLIF")) return resolve_nullif(r, s, body);
	return refuse_construct(r, r->place, "this operator");
}

static const struct sql_expr *make_aggregate(struct resolver *r,
                                             struct scope *s, json_t *body,
                                             const struct sql_expr *call,
                                             bool was_in_aggregate)
{
	struct sql_expr *e = region_take(r->region, sizeof *e);
	json_t *filter = json_object_get(body, "agg_filter");
	const char *name = call->function->name;
	*e = *call;
	e->kind = EXPR_AGGREGATE;
	e->distinct = node_flag(body, "agg_distinct");
	if (was_in_aggregate)
		return refuse(r, r->place,
		              "aggregate function calls cannot be nested");
	if (s->no_aggregates)
		return refuse(r, r->place,
		              "aggregate functions are not allowed in %s",
		              s->no_aggregates);
	if (json_object_get(body, "agg_order"))
		return refuse_construct(r, r->place,
		                        "ORDER BY in an aggregate");
	if (filter && !(e->filter = resolve_condition(r, s, filter, "FILTER")))
		return NULL;
	if (!e->count && !node_flag(body, "agg_star"))
		return refuse(r, r->place,
		              "%s(*) must be used to call a parameterless "
		              "aggregate function",
		              name);
	e->number = s->aggregate_count;
	VEC_RESERVE(s->aggregates, s->aggregate_count, s->aggregate_capacity);
	s->aggregates[s->aggregate_count++] = e;
	return e;
}

static const struct sql_expr *resolve_call(struct resolver *r, struct scope *s,
                                           json_t *body)
{
	json_t *names = json_object_get(body, "funcname");
	json_t *given = json_object_get(body, "args");
	uint32_t count = (uint32_t)json_array_size(given);
	const char *name =
		node_name(json_array_get(names, json_array_size(names) - 1));
	struct place at = r->place;
	bool was = s->in_aggregate;
	const struct sql_expr **args =
		region_take0(r->region, (count + 1) * sizeof *args);
	if (json_object_get(body, "over"))
		return refuse_construct(r, at, "a window function");
	bool aggregates = false;
	static const char *const known[] = { "count", "sum",       "min",
		                             "max",   "bool_and",  "bool_or",
		                             "every", "string_agg" };
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		aggregates |= !strcmp(name, known[i]);
	s->in_aggregate = was || aggregates;
	for (uint32_t i = 0; i < count; i++)
		args[i] = resolve_expr(r, s, json_array_get(given, i));
	r->place = at;
	const struct sql_expr *e =
		r->failed ? NULL : make_call(r, name, args, count, false);
	if (e && sql_proc_is_aggregate(e->function))
		e = make_aggregate(r, s, body, e, was);
	s->in_aggregate = was;
	return e;
}

/* ---- Constructs ---- */

static const struct sql_expr *resolve_bool_expr(struct resolver *r,
                                                struct scope *s, json_t *body)
{
	const char *op = node_string(body, "boolop");
	json_t *list = json_object_get(body, "args");
	uint32_t count = (uint32_t)json_array_size(list);
	bool and = !strcmp(op, "AND_EXPR"), not = !strcmp(op, "NOT_EXPR");
	struct sql_expr *e = expr_new(r,
	                              and   ? EXPR_AND
	                              : not ? EXPR_NOT
	                                    : EXPR_OR,
	                              SQL_BOOL, count);
	const char *what = and   ? "argument of AND must be type"
	                   : not ? "argument of NOT must be type"
	                         : "argument of OR must be type";
	for (uint32_t i = 0; i < count && !r->failed; i++)
		e->args[i] =
			coerce(r, resolve_expr(r, s, json_array_get(list, i)),
		               sql_type(SQL_BOOL), COERCE_IMPLICIT, what);
	return r->failed ? NULL : e;
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
		same &= same_type(best, t) && same_type(t, best);
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
	return true;
}

/* CASE [x] WHEN c THEN v ... [ELSE e] END */
static const struct sql_expr *resolve_case(struct resolver *r, struct scope *s,
                                           json_t *body)
{
	json_t *whens = json_object_get(body, "args"), *when;
	json_t *arg = json_object_get(body, "arg");
	json_t *other = json_object_get(body, "defresult");
	uint32_t count = (uint32_t)json_array_size(whens);
	struct sql_expr *e = expr_new(r, EXPR_CASE, SQL_UNKNOWN, 2 * count + 1);
	const struct sql_expr *x = arg ? resolve_expr(r, s, arg) : NULL;
	/* ELSE comes first where types are unified. */
	const struct sql_expr **results =
		region_take0(r->region, (count + 1) * sizeof *results);
	results[0] = other ? resolve_expr(r, s, other)
	                   : expr_constant(r, SQL_UNKNOWN, value_null());
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		node_is(json_array_get(whens, i), "CaseWhen", &when);
		json_t *test = json_object_get(when, "expr");
		if (arg)
			e->args[2 * i] = make_operator(
				r, "=", settle(r, x), resolve_expr(r, s, test));
		else
			e->args[2 * i] =
				resolve_condition(r, s, test, "CASE/WHEN");
		results[i + 1] =
			resolve_expr(r, s, json_object_get(when, "result"));
	}
	if (r->failed || !unify(r, results, count + 1, "CASE", &e->type))
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		e->args[2 * i + 1] = results[i + 1];
	e->args[2 * count] = results[0];
	return e;
}

static const struct sql_expr *resolve_list(struct resolver *r, struct scope *s,
                                           json_t *list,
                                           enum sql_expr_kind kind,
                                           const char *what)
{
	uint32_t count = (uint32_t)json_array_size(list);
	struct sql_expr *e = expr_new(r, kind, SQL_UNKNOWN, count);
	for (uint32_t i = 0; i < count; i++)
		e->args[i] = resolve_expr(r, s, json_array_get(list, i));
	if (r->failed || !unify(r, e->args, count, what, &e->type)) return NULL;
	return e;
}

static const struct sql_expr *resolve_null_test(struct resolver *r,
                                                struct scope *s, json_t *body)
{
	struct sql_expr *e = expr_new(r, EXPR_IS_NULL, SQL_BOOL, 1);
	e->negated = !strcmp(node_string(body, "nulltesttype"), "IS_NOT_NULL");
	e->args[0] =
		settle(r, resolve_expr(r, s, json_object_get(body, "arg")));
	return r->failed ? NULL : e;
}

static const struct sql_expr *resolve_bool_test(struct resolver *r,
                                                struct scope *s, json_t *body)
{
	const char *test = node_string(body, "booltesttype");
	struct sql_expr *e = expr_new(r, EXPR_IS_BOOL, SQL_BOOL, 1);
	e->negated = strstr(test, "NOT") != NULL;
	e->constant = strstr(test, "UNKNOWN")
	                      ? value_null()
	                      : value_bool(strstr(test, "TRUE"));
	e->args[0] = coerce(r, resolve_expr(r, s, json_object_get(body, "arg")),
	                    sql_type(SQL_BOOL), COERCE_IMPLICIT,
	                    "argument of IS must be type");
	return r->failed ? NULL : e;
}

static const struct sql_expr *resolve_cast(struct resolver *r, struct scope *s,
                                           json_t *body)
{
	struct sql_type type;
	struct place at = r->place;
	const struct sql_expr *e =
		resolve_expr(r, s, json_object_get(body, "arg"));
	if (!e ||
	    !resolve_type(r, json_object_get(body, "typeName"), &type, NULL))
		return NULL;
	r->place = at;
	if (!sql_can_coerce(e->type.kind, type.kind, COERCE_EXPLICIT))
		return refuse(r, at, "cannot cast type %s to %s",
		              sql_kind_name(e->type.kind),
		              sql_kind_name(type.kind));
	return coerce(r, e, type, COERCE_EXPLICIT, "");
}

static const struct sql_expr *resolve_sublink(struct resolver *r,
                                              struct scope *s, json_t *body)
{
	const char *kind = node_string(body, "subLinkType");
	json_t *select = NULL;
	struct place at = r->place;
	node_is(json_object_get(body, "subselect"), "SelectStmt", &select);
	struct sql_query *q = resolve_query(r, s, select);
	r->place = at;
	if (!q) return NULL;
	struct sql_expr *e;
	if (!strcmp(kind, "EXISTS_SUBLINK")) {
		e = expr_new(r, EXPR_EXISTS, SQL_BOOL, 0);
		e->query = q;
		return e;
	}
	if (q->target_count != 1)
		return refuse(r, at, "subquery must return only one column");
	if (!strcmp(kind, "EXPR_SUBLINK")) {
		e = expr_new(r, EXPR_SCALAR, SQL_UNKNOWN, 0);
		e->type = q->targets[0].value->type;
		e->query = q;
		return e;
	}
	json_t *names = json_object_get(body, "operName");
	const char *name = names ? node_name(json_array_get(names, 0)) : "=";
	if (strcmp(kind, "ANY_SUBLINK") || strcmp(name, "="))
		return refuse_construct(r, at, "this kind of subquery");
	/* The comparison is of the left side and a column of the subquery's
	 * result, which stands for its value in arg 1. */
	struct sql_expr *item = expr_new(r, EXPR_CONSTANT, SQL_UNKNOWN, 0);
	item->type = q->targets[0].value->type;
	const struct sql_expr *same = make_operator(
		r, "=", resolve_expr(r, s, json_object_get(body, "testexpr")),
		item);
	if (!same) return NULL;
	e = expr_new(r, EXPR_IN, SQL_BOOL, 1);
	e->args[0] = same->args[0];
	e->query = q;
	return e;
}

static const struct sql_expr *resolve_min_max(struct resolver *r,
                                              struct scope *s, json_t *body)
{
	bool least = !strcmp(node_string(body, "op"), "IS_LEAST");
	const struct sql_expr *e =
		resolve_list(r, s, json_object_get(body, "args"), EXPR_GREATEST,
	                     least ? "LEAST" : "GREATEST");
	if (e) ((struct sql_expr *)e)->negated = least;
	return e;
}

static const struct sql_expr *resolve_kind(struct resolver *r, struct scope *s,
                                           const char *kind, json_t *body)
{
	struct text t = { 0 };
	if (!strcmp(kind, "ColumnRef")) return resolve_column(r, s, body);
	if (!strcmp(kind, "A_Const")) return resolve_constant(r, body);
	if (!strcmp(kind, "A_Expr")) return resolve_a_expr(r, s, body);
	if (!strcmp(kind, "BoolExpr")) return resolve_bool_expr(r, s, body);
	if (!strcmp(kind, "NullTest")) return resolve_null_test(r, s, body);
	if (!strcmp(kind, "BooleanTest")) return resolve_bool_test(r, s, body);
	if (!strcmp(kind, "CaseExpr")) return resolve_case(r, s, body);
	if (!strcmp(kind, "TypeCast")) return resolve_cast(r, s, body);
	if (!strcmp(kind, "FuncCall")) return resolve_call(r, s, body);
	if (!strcmp(kind, "SubLink")) return resolve_sublink(r, s, body);
	if (!strcmp(kind, "MinMaxExpr")) return resolve_min_max(r, s, body);
	if (!strcmp(kind, "CoalesceExpr"))
		return resolve_list(r, s, json_object_get(body, "args"),
		                    EXPR_COALESCE, "COALESCE");
	if (!strcmp(kind, "ParamRef"))
		return refuse(r, r->place, "there is no parameter $%d",
		              (int)node_integer(body, "number"));
	if (!strcmp(kind, "SetToDefault"))
		return refuse(r, r->place,
		              "DEFAULT is not allowed in this context");
	text_format(&t, "this expression (%s)", kind);
	refuse_construct(r, r->place, text_get(&t));
	text_free(&t);
	return NULL;
}

const struct sql_expr *resolve_expr(struct resolver *r, struct scope *s,
                                    json_t *node)
{
	json_t *body;
	const char *kind = node_kind(node, &body);
	if (r->failed) return NULL;
	r->place = node_place(r, body);
	const struct sql_expr *e = resolve_kind(r, s, kind, body);
	assert(e || r->failed);
	return e;
}

const struct sql_expr *resolve_condition(struct resolver *r, struct scope *s,
                                         json_t *node, const char *clause)
{
	struct text what = { 0 };
	const char *before = s->no_aggregates;
	bool none = strcmp(clause, "HAVING") && strcmp(clause, "CASE/WHEN");
	if (none) s->no_aggregates = clause;
	text_format(&what, "argument of %s must be type", clause);
	const struct sql_expr *e =
		coerce(r, resolve_expr(r, s, node), sql_type(SQL_BOOL),
	               COERCE_IMPLICIT, text_get(&what));
	text_free(&what);
	s->no_aggregates = before;
	return e;
}
