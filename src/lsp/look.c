#include "lsp/look.h"

#include <assert.h>
#include <string.h>

#include "base/access.h"
#include "base/text.h"
#include "compile/load.h"
#include "lang/ast.h"
#include "sql/load.h"
#include "sql/names.h"
#include "vm/program.h"

enum { DIAGNOSTICS_MOST = 200, NAMES_MOST = 20000, WORDS_MOST = 2000 };

/* SQL: which rows there can be is looked for so long. */
static const double SECONDS = 2;

struct looking {
	struct sources *all;
	const struct syntax *tree;
	json_t *names;
	struct text words;
	bool has_sessions, has_code;
};

/* ---- what a transaction does ---- */

struct accesses {
	struct sources *all;
	struct text reads, writes;
};

static void add_once(struct text *list, const char *words, size_t length)
{
	struct text one = { 0 };
	text_char(&one, '`');
	for (size_t i = 0; i < length; i++)
		text_char(&one, words[i] == '\n' || words[i] == '\t' ||
		                                words[i] == '`'
		                        ? ' '
		                        : words[i]);
	text_char(&one, '`');
	if (list->length < WORDS_MOST &&
	    !strstr(text_get(list), text_get(&one))) {
		if (list->length) text_string(list, ", ");
		text_string(list, text_get(&one));
	}
	text_free(&one);
}

static void note(const struct accesses *a, struct text *list,
                 const struct expr *e)
{
	const char *text = a->all->items[e->source].text;
	assert(e->start <= e->end);
	if (e->op != STRENGTH_PLAIN && list == &a->reads)
		text_format(list, "%s%s ", list->length ? ", " : "",
		            strength_word((enum strength)e->op));
	add_once(list, text + e->start, e->end - e->start);
}

static void walk_block(struct accesses *a, const struct block *b);

static void walk(void *data, struct expr *e)
{
	struct accesses *a = data;
	bool key = (e->kind == EXPR_NAME || e->kind == EXPR_INDEX) &&
	           e->ref == REF_GLOBAL;
	if (key) note(a, &a->reads, e);
	expr_parts(e, walk, a);
	if (e->kind == EXPR_TXN) walk_block(a, e->transaction);
}

/* The key itself is not read, but its indexes are. */
static void walk_target(struct accesses *a, struct expr *e, bool read)
{
	if (read) note(a, &a->reads, e);
	note(a, &a->writes, e);
	expr_parts(e, walk, a);
}

static void walk_stmt(struct accesses *a, const struct stmt *s)
{
	bool adds = s->kind == STMT_ADD || s->kind == STMT_ATOMIC;
	if (s->target && s->target->ref == REF_GLOBAL)
		walk_target(a, s->target, adds);
	else if (s->target)
		walk(a, s->target);
	if (s->value) walk(a, s->value);
	if (s->until) walk(a, s->until);
	for (uint32_t i = 0; i < s->arm_count; i++) {
		walk(a, s->arms[i].condition);
		walk_block(a, s->arms[i].body);
	}
	walk_block(a, s->body);
	walk_block(a, s->orelse);
}

static void walk_block(struct accesses *a, const struct block *b)
{
	if (!b) return;
	for (const struct stmt *s = b->first; s; s = s->next) walk_stmt(a, s);
}

static void add_accesses(struct looking *l, const struct block *body)
{
	struct accesses a = { .all = l->all };
	walk_block(&a, body);
	text_format(&l->words, "\n\nreads %s\n\nwrites %s",
	            a.reads.length ? text_get(&a.reads) : "nothing",
	            a.writes.length ? text_get(&a.writes) : "nothing");
	text_free(&a.reads);
	text_free(&a.writes);
}

/* ---- what a name is ---- */

static void add_params(struct looking *l, const struct item *i)
{
	text_char(&l->words, '(');
	for (uint32_t n = 0; n < i->param_count; n++)
		text_format(&l->words, "%s%s", n ? ", " : "",
		            i->params[n]->name->text);
	text_char(&l->words, ')');
}

static const char *type_of(struct value v)
{
	switch (v.tag) {
	case VALUE_NULL: return "null";
	case VALUE_BOOL: return "boolean";
	case VALUE_INT: return "integer";
	case VALUE_STRING: return "string";
	case VALUE_TUPLE: return "tuple";
	case VALUE_LIST: return "list";
	case VALUE_SET: return "set";
	case VALUE_RECORD: return "record";
	default: return "value";
	}
}

/* A global is a key, or a family of keys; its type is that of what it has at
 * first. */
static void tell_global(struct looking *l, const struct item *i)
{
	const struct item *first = i->family ? i->family : i;
	text_format(&l->words, "```\nglobal %s", i->name->text);
	for (uint32_t n = 0; n < first->index_count; n++)
		text_string(&l->words, n ? ", " : "[");
	if (first->index_count) text_char(&l->words, ']');
	text_string(&l->words, "\n```\n");
	if (first->index_count)
		text_format(&l->words, "a family of keys, by %u index value%s",
		            first->index_count,
		            first->index_count == 1 ? "" : "s");
	else
		text_string(&l->words, "a key");
	if (i->value && i->value->kind == EXPR_VALUE)
		text_format(&l->words, ", at first of type %s",
		            type_of(i->value->value));
}

static void tell_item(struct looking *l, const struct item *i)
{
	const char *name = i->name ? i->name->text : "";
	text_clear(&l->words);
	switch (i->kind) {
	case ITEM_GLOBAL: tell_global(l, i); return;
	case ITEM_CONST:
		text_format(&l->words, "```\nconst %s = ", name);
		value_print(&l->words, i->constant);
		text_format(&l->words, "\n```\nof type %s",
		            type_of(i->constant));
		return;
	case ITEM_FN:
	case ITEM_EXTERN:
		text_format(&l->words, "```\n%sfn %s",
		            i->kind == ITEM_FN ? "" : "extern ", name);
		add_params(l, i);
		text_string(&l->words, "\n```\na function without reads");
		return;
	case ITEM_TXN:
		text_format(&l->words, "```\ntxn %s", name);
		add_params(l, i);
		if (i->body->level)
			text_format(&l->words, " at %s", i->body->level->text);
		if (i->body->stale_ok) text_string(&l->words, " stale ok");
		text_string(&l->words, "\n```");
		add_accesses(l, i->body);
		return;
	case ITEM_SESSION:
		text_format(&l->words, "```\nsession %s\n```", name);
		add_accesses(l, i->body);
		return;
	default: return;
	}
}

/* Only what is in the file itself. */
static void add_words(void *data, struct sources *all, struct place at,
                      const char *words)
{
	struct looking *l = data;
	struct position p = source_position(all, at);
	if (at.source || json_array_size(l->names) >= NAMES_MOST) return;
	json_array_append_new(l->names,
	                      json_pack("{sIsIss}", "line", (json_int_t)p.line,
	                                "column", (json_int_t)p.column, "words",
	                                words));
}

static void add_name(struct looking *l, struct place at, const struct item *i)
{
	tell_item(l, i);
	if (l->words.length) add_words(l, l->all, at, text_get(&l->words));
}

static void names_in_block(struct looking *l, const struct block *b);

static void names_in(void *data, struct expr *e)
{
	struct looking *l = data;
	const struct item *i =
		e->kind == EXPR_CALL && (e->ref == REF_TRANSACTION ||
	                                 e->ref == REF_FUNCTION)
			? e->callee_item
		: e->kind == EXPR_NAME &&
				(e->ref == REF_GLOBAL || e->ref == REF_CONST)
			? e->item
		: e->kind == EXPR_INDEX && e->ref == REF_GLOBAL ? e->family
								: NULL;
	if (i) add_name(l, (struct place){ e->source, e->start }, i);
	expr_parts(e, names_in, l);
	if (e->kind == EXPR_TXN) names_in_block(l, e->transaction);
}

static void names_in_block(struct looking *l, const struct block *b)
{
	for (const struct stmt *s = b ? b->first : NULL; s; s = s->next) {
		if (s->target) names_in(l, s->target);
		if (s->value) names_in(l, s->value);
		if (s->until) names_in(l, s->until);
		for (uint32_t i = 0; i < s->arm_count; i++) {
			names_in(l, s->arms[i].condition);
			names_in_block(l, s->arms[i].body);
		}
		names_in_block(l, s->body);
		names_in_block(l, s->orelse);
	}
}

static void on_tree(void *data, const struct syntax *tree, struct sources *all)
{
	struct looking *l = data;
	l->all = all;
	for (const struct item *i = tree->first; i; i = i->next) {
		l->has_sessions |= i->kind == ITEM_SESSION;
		l->has_code |= i->kind == ITEM_EXTERN;
		if (i->at.source) continue;
		if (i->name) add_name(l, i->at, i);
		if (i->value) names_in(l, i->value);
		names_in_block(l, i->body);
	}
}

/* ---- all ---- */

static json_t *diagnostics_of(const struct diags *d)
{
	json_t *list = json_array();
	for (size_t i = 0; i < d->count && i < DIAGNOSTICS_MOST; i++) {
		const struct diag *x = &d->items[i];
		json_array_append_new(
			list, json_pack("{ss*sIsIsiss*}", "file", x->file,
		                        "line", (json_int_t)x->line, "column",
		                        (json_int_t)x->column, "kind",
		                        (int)x->kind, "message", x->message));
	}
	return list;
}

json_t *look_at(const struct load_text *text)
{
	struct looking l = { .names = json_array() };
	struct diags d = { 0 };
	struct sql_arguments given = { .timeout = SECONDS, .names = true };
	struct load_edited edited = { .texts = text,
		                      .count = 1,
		                      .given = &given,
		                      .shown = true,
		                      .look = on_tree,
		                      .data = &l };
	struct program *p = load_program_edited(text->path, &edited, &d);
	bool sql = sql_is_spec(text->path) || sql_is_script(text->path);
	if (p && sql) sql_names(p, add_words, &l);
	bool runs = p && (sql || (l.has_sessions && !l.has_code));
	json_t *found =
		json_pack("{sssososb}", "found", "look", "diagnostics",
	                  diagnostics_of(&d), "names", l.names, "runs", runs);
	program_free(p);
	diags_free(&d);
	text_free(&l.words);
	return found;
}
