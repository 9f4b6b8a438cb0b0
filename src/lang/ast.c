#include "lang/ast.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { FIRST_SLOTS = 256 };

void syntax_init(struct syntax *s, struct region *r)
{
	*s = (struct syntax){ .region = r };
	s->last = &s->first;
	s->last_pure = &s->first_pure;
	s->symbols.region = r;
	s->symbols.slot_count = FIRST_SLOTS;
	s->symbols.slots = mem_take0(FIRST_SLOTS, sizeof *s->symbols.slots);
}

void syntax_free(struct syntax *s)
{
	free(s->symbols.slots);
}

static uint32_t slot_of(const struct symbols *s, const char *text,
                        uint32_t length)
{
	return (uint32_t)hash_bytes(0, text, length) & (s->slot_count - 1);
}

static void grow(struct symbols *s)
{
	struct symbol **old = s->slots;
	uint32_t count = s->slot_count;
	s->slot_count = 2 * count;
	s->slots = mem_take0(s->slot_count, sizeof *s->slots);
	for (uint32_t i = 0; i < count; i++) {
		while (old[i]) {
			struct symbol *moved = old[i];
			old[i] = moved->next;
			uint32_t at = slot_of(s, moved->text, moved->length);
			moved->next = s->slots[at];
			s->slots[at] = moved;
		}
	}
	free(old);
}

struct symbol *symbol_find(struct symbols *s, const char *text, uint32_t length)
{
	uint32_t at = slot_of(s, text, length);
	for (struct symbol *y = s->slots[at]; y; y = y->next)
		if (y->length == length && !memcmp(y->text, text, length))
			return y;
	if (s->count >= s->slot_count) {
		grow(s);
		at = slot_of(s, text, length);
	}
	struct symbol *new = region_take0(s->region, sizeof *new);
	new->text = region_copy_string(s->region, text, length);
	new->length = length;
	new->next = s->slots[at];
	s->slots[at] = new;
	s->count++;
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
