#include "analyse/declared_symmetry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "analyse/align.h"
#include "analyse/flow.h"
#include "vm/bytecode.h"

/* Values that stand in the same place of each session, and differ. */
struct column {
	const struct sort *sort;
	const struct value *values; /* by session */
	struct place at;            /* in the first session */
};

/* One declaration. Its permutations are made of exchanges of the first session
 * with another one, `with`; each exchanges values of some sorts. */
struct group {
	struct item *declaration;
	struct item **sessions;
	uint32_t count;
	struct sources *all;
	struct flow *flow;
	struct program *program;
	struct column *columns;
	uint32_t column_count, column_capacity;
	uint32_t with;
	bool failed;
};

/* ---- errors ---- */

static const char *name_of(const struct group *g, uint32_t session)
{
	assert(session < g->count);
	return g->sessions[session]->name->text;
}

/* A value for a message: as the language writes it, but not too much of it. */
static const char *shown(struct group *g, struct value v)
{
	enum { LONGEST = 60 };
	struct text t = { 0 };
	value_print(&t, v);
	const char *s = t.length > LONGEST
	                        ? "a value"
	                        : region_copy_string(g->flow->sorts.region,
	                                             text_get(&t), t.length);
	text_free(&t);
	return s;
}

static void fail(struct group *g, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void fail(struct group *g, struct place at, const char *format, ...)
{
	va_list args;
	struct text t = { 0 };
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	source_error(g->all, at, "%s", text_get(&t));
	source_note(g->all, g->declaration->at,
	            "'%s' and '%s' are declared symmetric here", name_of(g, 0),
	            name_of(g, g->with));
	text_free(&t);
	g->failed = true;
}

/* ---- which values are exchanged ---- */

static void add_column(struct group *g, struct sort *sort,
                       const struct value *values, struct place at)
{
	VEC_RESERVE(g->columns, g->column_count, g->column_capacity);
	g->columns[g->column_count++] = (struct column){ sort, values, at };
	sort_find(sort)->symmetric = true;
}

/* One value of each session, in the same place of the code. */
struct row {
	struct value *values;
	const struct place *places;
};

static bool find_columns(struct group *g, struct sort *sort, struct row r);

/* The same part of all values. */
static bool find_in_part(struct group *g, struct sort *sort, struct row r,
                         uint32_t part)
{
	assert(part < r.values[0].o->length);
	struct value *parts =
		region_take(g->flow->sorts.region, g->count * sizeof *parts);
	for (uint32_t i = 0; i < g->count; i++)
		parts[i] = r.values[i].o->items[part];
	return find_columns(g, sort, (struct row){ parts, r.places });
}

static bool find_in_parts(struct group *g, struct sort *sort, struct row r)
{
	struct sorts *s = &g->flow->sorts;
	const struct value_object *first = r.values[0].o;
	for (uint32_t i = 0; i < first->length; i++) {
		struct sort *part;
		if (r.values[0].tag == VALUE_TUPLE) {
			part = sort_place(s, sort, i);
		} else if (r.values[0].tag == VALUE_LIST) {
			part = sort_item(s, sort);
		} else {
			const struct value_object *name = first->items[i++].o;
			part = sort_field(s, sort,
			                  symbol_find(s->symbols, name->bytes,
			                              name->length));
		}
		if (!find_in_part(g, part, r, i)) return false;
	}
	return true;
}

static bool same_fields(const struct value_object *a,
                        const struct value_object *b)
{
	assert(a->length == b->length);
	for (uint32_t i = 0; i < a->length; i += 2)
		if (!value_equal(a->items[i], b->items[i])) return false;
	return true;
}

/* Have both the same shape, so that one can stand for the other? */
static bool same_shape(struct value a, struct value b)
{
	if (a.tag != b.tag) return false;
	switch (a.tag) {
	case VALUE_INT:
	case VALUE_SET: return true;
	/* What is computed may be bounded by how long strings are. */
	case VALUE_STRING: return a.o->length / 16 == b.o->length / 16;
	case VALUE_TUPLE:
	case VALUE_LIST: return a.o->length == b.o->length;
	case VALUE_RECORD:
		return a.o->length == b.o->length && same_fields(a.o, b.o);
	default: return value_equal(a, b);
	}
}

static bool find_columns(struct group *g, struct sort *sort, struct row r)
{
	bool differ = false;
	for (uint32_t i = 1; i < g->count; i++) {
		differ |= !value_equal(r.values[0], r.values[i]);
		if (same_shape(r.values[0], r.values[i])) continue;
		g->with = i;
		fail(g, r.places[i],
		     "%s cannot be exchanged with %s, which "
		     "session '%s' has in its place: only integers, and "
		     "strings that are about equally long, can be",
		     shown(g, r.values[i]), shown(g, r.values[0]),
		     name_of(g, 0));
		return false;
	}
	if (!differ) return true;
	if (r.values[0].tag == VALUE_INT || r.values[0].tag == VALUE_STRING)
		add_column(g, sort, r.values, r.places[0]);
	else if (r.values[0].tag != VALUE_SET)
		return find_in_parts(g, sort, r);
	return true;
}

/* The occurrences in the sessions' own code: those of session i are number
 * own[i], own[i] + 1, ... of own_count. */
struct own {
	uint32_t *numbers;
	uint32_t count;
};

static struct own own_occurrences(struct group *g, uint32_t session)
{
	struct own own = { 0 };
	uint32_t capacity = 0;
	for (uint32_t i = 0; i < g->flow->occurrence_count; i++) {
		if (g->flow->occurrences[i].owner != g->sessions[session])
			continue;
		VEC_RESERVE(own.numbers, own.count, capacity);
		own.numbers[own.count++] = i;
	}
	return own;
}

static struct row take_row(struct group *g, const struct own *own, uint32_t at)
{
	struct region *region = g->flow->sorts.region;
	struct value *values = region_take(region, g->count * sizeof *values);
	struct place *places = region_take(region, g->count * sizeof *places);
	for (uint32_t i = 0; i < g->count; i++) {
		assert(at < own[i].count);
		const struct occurrence *o =
			&g->flow->occurrences[own[i].numbers[at]];
		values[i] = o->value;
		places[i] = o->at;
		sort_unite(&g->flow->sorts,
		           g->flow->occurrences[own[0].numbers[at]].sort,
		           o->sort);
	}
	return (struct row){ values, places };
}

static bool find_all_columns(struct group *g, const struct own *own)
{
	for (uint32_t i = 0; i < own[0].count; i++) {
		struct row r = take_row(g, own, i);
		struct sort *sort =
			g->flow->occurrences[own[0].numbers[i]].sort;
		if (!find_columns(g, sort, r)) return false;
	}
	return true;
}

/* ---- exchanging them ---- */

static bool rename_scalar(const struct group *g, const struct sort *sort,
                          struct value v, struct value *out)
{
	assert(g->with > 0 && g->with < g->count);
	*out = v;
	for (uint32_t i = 0; i < g->column_count; i++) {
		const struct column *c = &g->columns[i];
		if (sort_find((struct sort *)c->sort) != sort) continue;
		struct value a = c->values[0], b = c->values[g->with];
		if (!value_equal(v, a) && !value_equal(v, b)) continue;
		*out = value_equal(v, a) ? b : a;
		return true;
	}
	return false;
}

static struct value rename_value(struct group *g, const struct sort *sort,
                                 struct value v);

static const struct sort *part_sort(struct group *g, const struct sort *sort,
                                    struct value v, uint32_t i)
{
	struct sorts *s = &g->flow->sorts;
	if (v.tag != VALUE_RECORD) return sort_known_place(sort, i);
	assert(i % 2 == 1);
	const struct value_object *name = v.o->items[i - 1].o;
	return sort_known_field(
		sort, symbol_find(s->symbols, name->bytes, name->length));
}

static struct value rename_parts(struct group *g, const struct sort *sort,
                                 struct value v)
{
	struct region *region = g->flow->sorts.region;
	uint32_t n = v.o->length;
	struct value *items = region_take(region, (n + 1) * sizeof *items);
	assert(v.tag > VALUE_STRING);
	for (uint32_t i = 0; i < n; i++) {
		bool is_name = v.tag == VALUE_RECORD && i % 2 == 0;
		items[i] = is_name ? v.o->items[i]
		                   : rename_value(g, part_sort(g, sort, v, i),
		                                  v.o->items[i]);
	}
	if (v.tag == VALUE_RECORD) return value_record(region, items, n / 2);
	if (v.tag == VALUE_SET) return value_set(region, items, n);
	return value_sequence(region, v.tag, items, n);
}

/* The value, of this sort, after the exchange with session `with`. */
static struct value rename_value(struct group *g, const struct sort *sort,
                                 struct value v)
{
	struct value out = v;
	if (!sort) return v;
	sort = sort_find((struct sort *)sort);
	if (!sort->symmetric && !sort->holds_symmetric) return v;
	if (v.tag == VALUE_INT || v.tag == VALUE_STRING)
		rename_scalar(g, sort, v, &out);
	else if (v.tag > VALUE_STRING)
		out = rename_parts(g, sort, v);
	return out;
}

/* ---- is the program the same after it? ---- */

static void fail_to_rename(struct group *g, struct place at, struct value v,
                           struct value wanted)
{
	fail(g, at, "%s would have to be %s when '%s' and '%s' are exchanged",
	     shown(g, v), shown(g, wanted), name_of(g, 0), name_of(g, g->with));
}

/* The sessions become one another, and the others stay as they are. */
static void check_own(struct group *g, const struct own *own)
{
	assert(g->with > 0 && g->with < g->count);
	for (uint32_t at = 0; at < own[0].count; at++)
		for (uint32_t i = 0; i < g->count && !g->failed; i++) {
			uint32_t j = i == 0 ? g->with : i == g->with ? 0 : i;
			const struct occurrence *a =
				&g->flow->occurrences[own[i].numbers[at]];
			const struct occurrence *b =
				&g->flow->occurrences[own[j].numbers[at]];
			struct value v = rename_value(g, a->sort, a->value);
			if (!value_equal(v, b->value))
				fail_to_rename(g, b->at, b->value, v);
		}
}

static bool is_own(const struct group *g, const struct occurrence *o)
{
	for (uint32_t i = 0; i < g->count; i++)
		if (o->owner == g->sessions[i]) return true;
	return false;
}

static void check_others(struct group *g)
{
	for (uint32_t i = 0; i < g->flow->occurrence_count; i++) {
		const struct occurrence *o = &g->flow->occurrences[i];
		if (is_own(g, o)) continue;
		struct value v = rename_value(g, o->sort, o->value);
		if (value_equal(v, o->value)) continue;
		fail(g, o->at,
		     "%s is named here, and it is one of the values "
		     "that tell '%s' and '%s' apart: after an exchange it "
		     "would have to be %s",
		     shown(g, o->value), name_of(g, 0), name_of(g, g->with),
		     shown(g, v));
		return;
	}
}

static struct value initial_of(const struct program *p, uint32_t global,
                               const struct value *index, uint32_t count)
{
	assert(global < p->globals_count);
	for (uint32_t i = 0; i < p->keys_count; i++) {
		const struct static_key *k = &p->keys[i];
		bool same = k->has_initial && k->global == global;
		for (uint32_t n = 0; same && n < count; n++)
			same = value_equal(k->index[n], index[n]);
		if (same) return k->initial;
	}
	return p->globals[global].initial;
}

/* The key becomes one that has to begin with what this one's value becomes. */
static void check_initial(struct group *g, const struct item *i,
                          const struct static_key *k)
{
	const struct item *family = i->family;
	struct value *index = region_take(g->flow->sorts.region,
	                                  (k->count + 1) * sizeof *index);
	bool changed = false;
	assert(k->count == family->index_count);
	for (uint32_t n = 0; n < k->count; n++) {
		index[n] = rename_value(g, family->sorts[n], k->index[n]);
		changed |= !value_equal(index[n], k->index[n]);
	}
	struct value v = rename_value(g, family->sort, k->initial);
	struct value there = k->initial;
	if (changed) there = initial_of(g->program, k->global, index, k->count);
	if (value_equal(v, there)) return;
	fail(g, i->at,
	     "this key begins with %s, and the one that it becomes "
	     "when '%s' and '%s' are exchanged, with %s instead of %s",
	     shown(g, k->initial), name_of(g, 0), name_of(g, g->with),
	     shown(g, there), shown(g, v));
}

static void check_other_keys(struct group *g, const struct item *i)
{
	struct value v = g->program->globals[i->family->number].initial;
	struct value renamed = rename_value(g, i->family->sort, v);
	if (!value_equal(v, renamed)) fail_to_rename(g, i->at, v, renamed);
}

static void check_initials(struct group *g)
{
	uint32_t key = 0;
	for (struct item *i = g->flow->syntax->first; i && !g->failed;
	     i = i->next) {
		if (i->kind != ITEM_GLOBAL) continue;
		if (i->star)
			check_other_keys(g, i);
		else
			check_initial(g, i, &g->program->keys[key++]);
	}
}

/* ---- are they only copied and compared? ---- */

static void spread_symmetric(struct flow *f)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (struct sort *s = f->sorts.first; s; s = s->next) {
			if (s->same || s->holds_symmetric) continue;
			for (uint32_t i = 0; i < s->part_count; i++) {
				struct sort *p = sort_find(s->parts[i].sort);
				s->holds_symmetric |=
					p->symmetric || p->holds_symmetric;
			}
			changed |= s->holds_symmetric;
		}
	}
}

/* A value that is exchanged, and of this sort or in its values. */
static const struct column *column_within(struct group *g, struct sort *sort,
                                          unsigned depth)
{
	sort = sort_find(sort);
	for (uint32_t i = 0; i < g->column_count; i++)
		if (sort_find((struct sort *)g->columns[i].sort) == sort)
			return &g->columns[i];
	for (uint32_t i = 0; depth && i < sort->part_count; i++) {
		const struct column *c =
			column_within(g, sort->parts[i].sort, depth - 1);
		if (c) return c;
	}
	return NULL;
}

static void fail_at_use(struct group *g, struct sort *sort, const char *use,
                        struct place at)
{
	enum { DEPTH = 8 };
	const struct column *c = column_within(g, sort, DEPTH);
	if (!c) c = &g->columns[0];
	uint32_t with = 1;
	while (value_equal(c->values[0], c->values[with])) with++;
	assert(with < g->count);
	g->with = with;
	fail(g, at,
	     "%s can get here, and %s: then it makes a difference when "
	     "it is exchanged with %s",
	     shown(g, c->values[0]), use, shown(g, c->values[with]));
	source_note(g->all, c->at, "%s comes from here",
	            shown(g, c->values[0]));
}

static void check_uses(struct group *g)
{
	for (struct sort *s = g->flow->sorts.first; s && !g->failed;
	     s = s->next) {
		if (s->same) continue;
		if (s->symmetric && s->use)
			fail_at_use(g, s, s->use, s->used_at);
		else if ((s->symmetric || s->holds_symmetric) && s->deep_use)
			fail_at_use(g, s, s->deep_use, s->deep_at);
	}
}

static void check_visits(struct group *g)
{
	for (uint32_t i = 0; i < g->flow->visit_count && !g->failed; i++) {
		const struct visit *v = &g->flow->visits[i];
		struct sort *s = sort_find(v->collection);
		if (s->is_set && s->holds_symmetric && !v->any_order)
			fail_at_use(g, s,
			            "this visits a set in the order of "
			            "its values",
			            v->at);
	}
}

static void check_lookups(struct group *g)
{
	for (uint32_t i = 0; i < g->flow->lookup_count && !g->failed; i++) {
		const struct lookup *l = &g->flow->lookups[i];
		struct sort *s = sort_find(l->value);
		if (s->symmetric && sort_find(l->collection)->is_record)
			fail_at_use(g, s,
			            "it is looked for among the fields "
			            "of a record",
			            l->at);
	}
}

/* ---- the declaration ---- */

static bool are_aligned(struct group *g)
{
	struct difference d;
	for (uint32_t i = 1; i < g->count; i++) {
		g->with = i;
		if (align_sessions(g->sessions[0], g->sessions[i], &d))
			continue;
		fail(g, d.b,
		     "sessions '%s' and '%s' are not the same code up "
		     "to constants: here they %s",
		     name_of(g, 0), name_of(g, i), d.what);
		source_note(g->all, d.a, "session '%s'", name_of(g, 0));
		return false;
	}
	return true;
}

static void forget_symmetric(struct flow *f)
{
	for (struct sort *s = f->sorts.first; s; s = s->next)
		s->symmetric = s->holds_symmetric = false;
}

static void check_exchanges(struct group *g, const struct own *own)
{
	assert(g->count > 0);
	forget_symmetric(g->flow);
	if (!find_all_columns(g, own)) return;
	/* Sorts were united: which are symmetric is known only now. */
	for (uint32_t i = 0; i < g->column_count; i++)
		sort_find((struct sort *)g->columns[i].sort)->symmetric = true;
	spread_symmetric(g->flow);
	check_uses(g);
	check_visits(g);
	check_lookups(g);
	for (g->with = 1; g->with < g->count && !g->failed; g->with++) {
		check_own(g, own);
		if (!g->failed) check_others(g);
		if (!g->failed) check_initials(g);
		if (g->failed) return;
	}
}

static void check_group(struct group *g)
{
	struct own *own = mem_take0(g->count, sizeof *own);
	assert(g->count > 0);
	if (are_aligned(g)) {
		for (uint32_t i = 0; i < g->count; i++)
			own[i] = own_occurrences(g, i);
		check_exchanges(g, own);
	}
	for (uint32_t i = 0; i < g->count; i++) free(own[i].numbers);
	free(own);
}

static void note(struct group *g)
{
	uint32_t *numbers = mem_take0(g->count, sizeof *numbers);
	for (uint32_t i = 0; i < g->count; i++)
		numbers[i] = g->sessions[i]->number;
	program_add_symmetric(g->program, numbers, g->count);
	free(numbers);
}

static bool check_declaration(struct item *declaration, struct sources *all,
                              struct flow *f, struct program *p)
{
	struct group g = { .declaration = declaration,
		           .all = all,
		           .flow = f,
		           .program = p,
		           .count = declaration->param_count,
		           .with = 1 };
	g.sessions = mem_take0(g.count, sizeof *g.sessions);
	for (uint32_t i = 0; i < g.count; i++)
		g.sessions[i] = declaration->params[i]->name->session;
	if (f->too_large)
		fail(&g, declaration->at,
		     "the program is too large to see "
		     "whether this holds");
	else
		check_group(&g);
	if (!g.failed) note(&g);
	free(g.columns);
	free(g.sessions);
	return !g.failed;
}

bool declared_symmetry_check(struct syntax *syntax, struct sources *all,
                             struct program *p)
{
	struct flow f;
	bool ok = true, known = false;
	for (struct item *i = syntax->first; i; i = i->next) {
		if (i->kind != ITEM_SYMMETRIC) continue;
		if (!known) flow_init(&f, syntax, p);
		known = true;
		ok &= check_declaration(i, all, &f, p);
	}
	if (known) flow_free(&f);
	return ok;
}
