#include "lang/scope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lang/limits.h"
#include "vm/bytecode.h"

void scope_error(struct checker *c, struct place at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	source_verror(c->all, at, format, args);
	va_end(args);
	c->failed = true;
}

static uint32_t line(struct checker *c, struct place at)
{
	return source_position(c->all, at).line;
}

/* --- locals ------------------------------------------------------------ */

void scope_enter(struct checker *c)
{
	c->level++;
}

void scope_leave(struct checker *c)
{
	assert(c->level > 0);
	while (c->scope && c->scope->level == c->level) {
		assert(c->scope->name->local == c->scope);
		c->scope->name->local = c->scope->shadowed;
		c->scope = c->scope->previous;
	}
	assert(!c->scope || c->scope->level < c->level);
	c->level--;
}

/* Where no global can be meant, its name may be that of a local. */
static bool global_usable(const struct checker *c)
{
	return c->where == WHERE_TRANSACTION || c->where == WHERE_SESSION;
}

void scope_declare(struct checker *c, struct local *l)
{
	struct symbol *name = l->name;
	struct item *item = name->item;
	if (name->local && name->local->level == c->level)
		scope_error(c, l->at, "'%s' is declared already, on line %u",
		            name->text, line(c, name->local->at));
	else if (item && (item->kind == ITEM_CONST ||
	                  (item->kind == ITEM_GLOBAL && global_usable(c))))
		scope_error(c, l->at, "'%s' is already the name of a %s",
		            name->text,
		            item->kind == ITEM_GLOBAL ? "global" : "constant");
	assert(!c->scope || c->scope->level <= c->level);
	l->level = c->level;
	l->shadowed = name->local;
	l->previous = c->scope;
	c->scope = l;
	name->local = l;
	if (c->owner && c->level == 1) {
		*c->owner->last_local = l;
		c->owner->last_local = &l->next;
	}
}

/* --- items ------------------------------------------------------------- */

static void report_duplicate(struct checker *c, const struct item *i,
                             const struct item *before)
{
	struct position p = source_position(c->all, before->at);
	const char *file = i->at.source == before->at.source ? "" : p.file;
	scope_error(c, i->at, "'%s' is declared already, %s%son line %u",
	            i->name->text, file, *file ? " " : "", p.line);
}

/* A further key of a family, or the initial value of its other keys. */
static void declare_key(struct checker *c, struct item *i, struct item *first)
{
	assert(i->kind == ITEM_GLOBAL && i != first);
	if (first->kind != ITEM_GLOBAL || !first->keyed || !i->keyed) {
		report_duplicate(c, i, first);
		return;
	}
	i->family = first;
	if (i->star) return;
	if (!first->index_count) {
		first->index_count = i->index_count;
	} else if (first->index_count != i->index_count) {
		scope_error(c, i->at, "'%s' has %u index value%s, not %u",
		            i->name->text, first->index_count,
		            first->index_count == 1 ? "" : "s", i->index_count);
	}
}

static void declare_session(struct checker *c, struct item *i)
{
	struct symbol *name = i->name;
	assert(i->kind == ITEM_SESSION || i->kind == ITEM_FINALLY);
	if (name->session) {
		if (i->kind == ITEM_FINALLY)
			scope_error(c, i->at, "there is a 'finally' already");
		else
			report_duplicate(c, i, name->session);
	} else {
		name->session = i;
	}
}

static void declare_item(struct checker *c, struct item *i)
{
	uint32_t fewest, most;
	if ((i->kind == ITEM_FN || i->kind == ITEM_EXTERN ||
	     i->kind == ITEM_TXN) &&
	    (builtin_find(i->name->text, &fewest, &most) >= 0 ||
	     !strcmp(i->name->text, "filter") ||
	     !strcmp(i->name->text, "map") ||
	     !strcmp(i->name->text, "exists") ||
	     !strcmp(i->name->text, "forall")))
		scope_error(c, i->at, "'%s' is a built-in function",
		            i->name->text);
	assert(i->name);
	i->family = i;
	if (!i->name->item)
		i->name->item = i;
	else if (i->kind == ITEM_GLOBAL)
		declare_key(c, i, i->name->item);
	else
		report_duplicate(c, i, i->name->item);
}

void scope_declare_items(struct checker *c)
{
	for (struct item *i = c->syntax->first; i; i = i->next) {
		switch (i->kind) {
		case ITEM_GLOBAL:
		case ITEM_CONST:
		case ITEM_FN:
		case ITEM_EXTERN:
		case ITEM_TXN: declare_item(c, i); break;
		case ITEM_SESSION:
		case ITEM_FINALLY: declare_session(c, i); break;
		case ITEM_ASSERT:
		case ITEM_ISOLATION:
		case ITEM_IMPORT:
		case ITEM_SYMMETRIC: break;
		}
	}
}

/* --- names that stand for nothing --------------------------------------- */

struct names {
	const char **items;
	size_t count, capacity;
};

static void add_name(struct names *n, const char *name)
{
	VEC_RESERVE(n->items, n->count, n->capacity);
	n->items[n->count++] = name;
}

static void unknown(struct checker *c, struct place at, const char *what,
                    const char *name, struct names *names)
{
	const char *near = diag_nearest(name, names->items, names->count);
	if (near)
		scope_error(c, at, "unknown %s '%s'; did you mean '%s'?", what,
		            name, near);
	else
		scope_error(c, at, "unknown %s '%s'", what, name);
	free(names->items);
}

/* The statement in a block that declares this name. */
static const struct stmt *find_let(const struct block *b,
                                   const struct symbol *name)
{
	const struct stmt *found = NULL;
	for (const struct stmt *s = b ? b->first : NULL; s && !found;
	     s = s->next) {
		if (s->local && s->local->name == name) return s;
		if (s->body) found = find_let(s->body, name);
		for (uint32_t i = 0; i < s->arm_count && !found; i++)
			found = find_let(s->arms[i].body, name);
		if (s->orelse && !found) found = find_let(s->orelse, name);
	}
	return found;
}

static bool report_unset(struct checker *c, const struct expr *e)
{
	const struct stmt *s = find_let(c->body, e->name);
	if (!s) return false;
	const char *name = e->name->text;
	uint32_t declared = line(c, s->local->at);
	bool later = s->local->at.offset > e->at;
	bool within = s->value->start <= e->at && e->at < s->value->end;
	if (later && declared != line(c, expr_place(e)))
		scope_error(c, expr_place(e),
		            "'%s' is used before it is set, on line %u", name,
		            declared);
	else if (later || within)
		scope_error(c, expr_place(e), "'%s' is used before it is set",
		            name);
	else
		scope_error(c, expr_place(e),
		            "'%s' is not known here: it is a local of another "
		            "block, on line %u",
		            name, declared);
	return true;
}

void scope_unknown_name(struct checker *c, const struct expr *e)
{
	if (report_unset(c, e)) return;
	struct names names = { 0 };
	for (struct local *l = c->scope; l; l = l->previous)
		add_name(&names, l->name->text);
	for (struct item *i = c->syntax->first; i; i = i->next) {
		if (i->kind == ITEM_CONST ||
		    (i->kind == ITEM_GLOBAL && c->where == WHERE_TRANSACTION))
			add_name(&names, i->name->text);
		if (c->where == WHERE_ASSERTION &&
		    (i->kind == ITEM_SESSION || i->kind == ITEM_FINALLY))
			add_name(&names, i->name->text);
	}
	add_name(&names, "true");
	add_name(&names, "false");
	add_name(&names, "null");
	unknown(c, expr_place(e), "name", e->name->text, &names);
}

void scope_unknown_callee(struct checker *c, const struct expr *e)
{
	struct names names = { 0 };
	bool session = c->where == WHERE_SESSION;
	for (struct item *i = c->syntax->first; i; i = i->next)
		if (i->kind == ITEM_FN || i->kind == ITEM_EXTERN ||
		    (session && i->kind == ITEM_TXN))
			add_name(&names, i->name->text);
#define X(id, name, fewest, most) add_name(&names, name);
	BUILTINS(X)
#undef X
	add_name(&names, "filter");
	add_name(&names, "map");
	add_name(&names, "exists");
	add_name(&names, "forall");
	unknown(c, expr_place(e),
	        session ? "transaction or function" : "function",
	        e->callee->text, &names);
}

void scope_unknown_session(struct checker *c, struct place at, const char *name)
{
	struct names names = { 0 };
	for (struct item *i = c->syntax->first; i; i = i->next)
		if (i->kind == ITEM_SESSION) add_name(&names, i->name->text);
	unknown(c, at, "session", name, &names);
}

void scope_unknown_member(struct checker *c, const struct expr *e,
                          const struct item *session)
{
	struct names names = { 0 };
	struct text what = { 0 };
	for (struct local *l = session->locals; l; l = l->next)
		add_name(&names, l->name->text);
	text_format(&what, "local of session '%s':", session->name->text);
	unknown(c, expr_place(e), text_get(&what), e->field->text, &names);
	text_free(&what);
}
