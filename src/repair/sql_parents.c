#include "repair/sql_parents.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "repair/edits_parts.h"
#include "repair/sql_text.h"
#include "sql/ir.h"

static void add(struct edits *e, const struct sql_table *t, uint32_t point,
                struct place at, const char *text)
{
	struct edit *new =
		edits_add(e, EDIT_LOCK, e->terms.weights.lock[STRENGTH_UPDATE]);
	assert(e->transaction_count);
	new->transaction = e->transaction_count - 1;
	new->read = point;
	new->strength = STRENGTH_UPDATE;
	new->key = edits_text(e, "", t->name, "");
	new->source = at.source;
	new->offset = at.offset;
	new->text = text;
	new->mutex = t->number + 1;
}

static bool locks_already(const struct edits *e, const struct sql_table *t)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (e->items[i].mutex == t->number + 1 &&
		    e->items[i].transaction == e->transaction_count - 1)
			return true;
	return false;
}

void parents_lock_read(struct edits *e, const struct sql_statement *s,
                       const struct sql_table *t)
{
	add(e, t, s->point, (struct place){ s->at.source, s->end },
	    " FOR UPDATE");
}

/* What the INSERT gives the column, if it says so in one word: a constant, a
 * parameter. */
static bool find_value(const struct edits *e, const struct sql_statement *s,
                       uint32_t column, struct part *out)
{
	const struct sql_query *q = s->query;
	const struct edit_file *f = &e->files[s->at.source];
	const struct sql_expr *value = NULL;
	uint32_t behind, end;
	for (uint32_t i = 0; i < s->set_count; i++) {
		if (s->sets[i].column != column) continue;
		if (q->value_count)
			value = q->values[0][i];
		else if (i < q->target_count)
			value = q->targets[i].value;
	}
	if (!value || value->at.source != s->at.source ||
	    value->at.offset < s->at.offset || value->at.offset >= s->end)
		return false;
	struct part rest = { f->text, value->at.offset, s->end };
	out->text = f->text;
	out->from = part_next_word(&rest, rest.from, &out->to);
	behind = part_next_word(&rest, out->to, &end);
	return (goes_on_word(f->text[out->from]) ||
	        f->text[out->from] == '\'') &&
	       (behind == s->end || strchr(",)", f->text[behind]) ||
	        isalpha((unsigned char)f->text[behind]));
}

static void print_name(struct text *t, const char *name)
{
	bool plain = *name && !isdigit((unsigned char)*name);
	for (const char *c = name; *c; c++)
		plain &= *c == '_' || islower((unsigned char)*c) ||
		         isdigit((unsigned char)*c);
	if (!plain) text_char(t, '"');
	for (const char *c = name; *c; c++) {
		if (*c == '"') text_char(t, '"');
		text_char(t, *c);
	}
	if (!plain) text_char(t, '"');
}

void parents_lock_before(struct edits *e, const struct sql_statement *insert,
                         const bool *written, const char *word,
                         struct place first, uint32_t point)
{
	const struct sql_foreign *f = insert->table->foreigns;
	assert(insert->kind == STATEMENT_INSERT);
	for (; f; f = f->next_from) {
		struct text t = { 0 };
		bool fine = !written[f->to->number] && !locks_already(e, f->to);
		text_format(&t, "%s 1 FROM ", word);
		print_name(&t, f->to->name);
		for (uint32_t i = 0; i < f->count && fine; i++) {
			struct part v;
			fine = find_value(e, insert, f->columns[i], &v);
			if (!fine) break;
			text_string(&t, i ? " AND " : " WHERE ");
			print_name(&t, f->to->columns[f->to_columns[i]].name);
			text_string(&t, " = ");
			text_bytes(&t, v.text + v.from, v.to - v.from);
		}
		text_string(&t, " FOR UPDATE; ");
		if (fine)
			add(e, f->to, point, first,
			    edits_text(e, "", text_get(&t), ""));
		text_free(&t);
	}
}

/* Whoever inserts a row that refers to one locks that one. */
static bool is_locked_by_others(const struct sql_table *t, const bool *written)
{
	const struct sql_foreign *f = t->referrers;
	while (f && !written[f->from->number]) f = f->next_to;
	return f != NULL;
}

void parents_keep(struct edits *e, const bool *written,
                  struct sql_table *const *tables, uint32_t routines_from)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < e->count; i++) {
		const struct edit *x = &e->items[i];
		bool keep = !x->mutex || x->transaction >= routines_from ||
		            is_locked_by_others(tables[x->mutex - 1], written);
		for (uint32_t k = 0; k < e->count && !keep; k++)
			keep = e->items[k].mutex == x->mutex &&
			       e->items[k].transaction != x->transaction;
		if (keep) e->items[kept++] = *x;
	}
	e->count = kept;
}
