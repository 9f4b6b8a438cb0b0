#include "lang/ast.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

void syntax_init(struct syntax *s, struct region *r)
{
	*s = (struct syntax){ .region = r };
	s->last = &s->first;
	s->last_pure = &s->first_pure;
	s->symbols.region = r;
	table_init(&s->symbols.table, 0);
}

void syntax_free(struct syntax *s)
{
	table_free(&s->symbols.table);
	free(s->symbols.items);
}

struct symbol *symbol_find(struct symbols *s, const char *text, uint32_t length)
{
	struct table_probe at = table_probe(hash_bytes(0, text, length));
	uint32_t i;
	while ((i = table_next(&s->table, &at)) != TABLE_NONE)
		if (s->items[i]->length == length &&
		    !memcmp(s->items[i]->text, text, length))
			return s->items[i];
	struct symbol *new = region_take0(s->region, sizeof *new);
	new->text = region_copy_string(s->region, text, length);
	new->length = length;
	VEC_RESERVE(s->items, s->count, s->capacity);
	table_put(&s->table, at, s->count);
	s->items[s->count++] = new;
	assert(s->count == s->table.count);
	return new;
}

static void visit_all(struct expr **items, uint32_t count,
                      void (*visit)(void *context, struct expr *part),
                      void *context)
{
	for (uint32_t i = 0; i < count; i++) visit(context, items[i]);
}

void expr_parts(struct expr *e, void (*visit)(void *context, struct expr *part),
                void *context)
{
	switch ((enum expr_kind)e->kind) {
	case EXPR_VALUE:
	case EXPR_NAME:
	case EXPR_TXN: return;
	case EXPR_FIELD:
		if (e->ref != REF_SESSION_LOCAL) visit(context, e->base);
		return;
	case EXPR_INDEX:
		if (e->ref != REF_GLOBAL) visit(context, e->indexed);
		visit_all(e->indexes, e->index_count, visit, context);
		return;
	case EXPR_UNARY: visit(context, e->left); return;
	case EXPR_BINARY:
	case EXPR_AND:
	case EXPR_OR:
		visit(context, e->left);
		visit(context, e->right);
		return;
	case EXPR_TUPLE:
	case EXPR_LIST:
	case EXPR_SET: visit_all(e->items, e->count, visit, context); return;
	case EXPR_RECORD:
		for (uint32_t i = 0; i < e->field_count; i++)
			visit(context, e->fields[i].value);
		return;
	case EXPR_CALL:
		visit_all(e->arguments, e->argument_count, visit, context);
		return;
	case EXPR_LOOP:
		visit(context, e->collection);
		visit(context, e->body);
		return;
	}
}
