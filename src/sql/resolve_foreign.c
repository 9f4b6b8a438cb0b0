/* FOREIGN KEY. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"
#include "vm/bytecode.h"

/* The columns of this name, or those of the primary key. */
static uint32_t *foreign_columns(struct resolver *r, const struct sql_table *t,
                                 json_t *names, uint32_t *count)
{
	const struct sql_unique *primary = t->primary;
	*count = (uint32_t)json_array_size(names);
	if (names)
		return columns_named(r, t, names,
		                     "referenced in foreign key constraint");
	if (!primary)
		return refuse(r, r->place,
		              "there is no primary key for referenced table "
		              "\"%s\"",
		              t->name);
	*count = primary->count;
	return memcpy(region_take(r->region, *count * sizeof(uint32_t)),
	              primary->columns, *count * sizeof(uint32_t));
}

/* Puts the pairs of columns in the order of a key of the other table. */
static bool match_unique(struct sql_foreign *f, uint32_t *from, uint32_t *to)
{
	const struct sql_table *t = f->to;
	for (uint32_t i = 0; i <= t->unique_count; i++) {
		const struct sql_unique *u =
			i ? &t->uniques[i - 1] : t->primary;
		uint32_t k = 0;
		if (!u || u->count != f->count) continue;
		assert(u->count);
		for (uint32_t j; k < f->count; k++) {
			for (j = k; j < f->count && to[j] != u->columns[k];)
				j++;
			if (j == f->count) break;
			uint32_t a = from[k], b = to[k];
			from[k] = from[j];
			to[k] = to[j];
			from[j] = a;
			to[j] = b;
		}
		f->unique = i;
		if (k == f->count) return true;
	}
	return false;
}

static enum sql_action foreign_action(struct resolver *r, json_t *body,
                                      const char *field)
{
	switch (*node_string(body, field)) {
	case 'r': return ACTION_RESTRICT;
	case 'c': return ACTION_CASCADE;
	case 'n': return ACTION_SET_NULL;
	case 'd': refuse_construct(r, r->place, "SET DEFAULT"); break;
	}
	return ACTION_NONE;
}

static struct sql_foreign **foreign_place(struct sql_foreign **first, bool from)
{
	while (*first) first = from ? &(*first)->next_from : &(*first)->next_to;
	return first;
}

void look_for_referring(struct sql_table *t)
{
	for (const struct sql_foreign *f = t->foreigns; f; f = f->next_from) {
		t->scanned = true;
		for (uint32_t i = 0; i < f->count; i++)
			t->filtered[f->columns[i]] = true;
	}
	/* Which row has the key may change. */
	for (const struct sql_foreign *f = t->referrers; f; f = f->next_to) {
		if (!f->unique) continue;
		t->scanned = true;
		for (uint32_t i = 0; i < f->count; i++)
			t->filtered[f->to_columns[i]] = true;
	}
}

void add_foreign(struct resolver *r, struct sql_table *t, json_t *body,
                 int64_t self)
{
	json_t *other = json_object_get(body, "pktable");
	json_t *names = json_object_get(body, "fk_attrs");
	struct sql_foreign *f = region_take0(r->region, sizeof *f);
	assert(self < (int64_t)t->column_count);
	uint32_t own = (uint32_t)self, count = 1, *from = &own;
	struct sql_table *to = t;
	if (strcmp(node_string(other, "relname"), t->name))
		to = find_table(r, other);
	if (to && self < 0) from = foreign_columns(r, t, names, &count);
	uint32_t *to_columns =
		to && from ? foreign_columns(r, to,
	                                     json_object_get(body, "pk_attrs"),
	                                     &f->count)
			   : NULL;
	if (*node_string(body, "fk_matchtype") == 'f')
		refuse_construct(r, r->place, "MATCH FULL");
	if (json_object_get(body, "fk_del_set_cols"))
		refuse_construct(r, r->place, "SET NULL of some columns");
	if (to_columns && f->count != count)
		refuse(r, r->place,
		       "number of referencing and referenced columns for "
		       "foreign key disagree");
	f->from = t;
	f->to = to;
	f->on_delete = foreign_action(r, body, "fk_del_action");
	f->on_update = foreign_action(r, body, "fk_upd_action");
	if (r->failed) return;
	f->columns = memcpy(region_take(r->region, count * sizeof *from), from,
	                    count * sizeof *from);
	f->to_columns = to_columns;
	if (!match_unique(f, (uint32_t *)f->columns, to_columns)) {
		refuse(r, r->place,
		       "there is no unique constraint matching given keys for "
		       "referenced table \"%s\"",
		       to->name);
		return;
	}
	f->name = name_constraint(r, t, body, f->columns, count, "fkey");
	*foreign_place(&t->foreigns, true) = f;
	*foreign_place(&to->referrers, false) = f;
	if (t->filtered) look_for_referring(t);
	if (to->filtered) look_for_referring(to);
	forbid_cascades(r, t);
}
