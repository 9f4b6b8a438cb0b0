/* What is asserted of final states, in .tx. */
#include <assert.h>

#include "base/level_words.h"
#include "base/memory.h"
#include "lang/format.h"
#include "prove/finals.h"
#include "prove/lower_parts.h"

static void note_sessions(void *context, struct expr *e)
{
	bool *others = context;
	*others |= e->kind == EXPR_FIELD && e->ref == REF_SESSION_LOCAL &&
	           e->session->kind != ITEM_FINALLY;
	expr_parts(e, note_sessions, others);
}

/* An assertion, about what sessions have: that is left out, as there are any
 * number of these here. */
static bool is_assertion(const struct item *i, bool about_sessions)
{
	bool others = false;
	if (i->kind != ITEM_ASSERT || !i->value) return false;
	note_sessions(&others, i->value);
	return others == about_sessions;
}

static void lower_top_assertions(struct lowering *l, const struct syntax *tree,
                                 struct finals *f)
{
	for (const struct item *i = tree->first; i; i = i->next) {
		f->left_out += is_assertion(i, true);
		if (!is_assertion(i, false)) continue;
		f->asserted++;
		lower_assert(l, i->value);
	}
}

void lower_keep_assertions(struct application *a, const struct syntax *tree,
                           struct sources *all)
{
	struct text words = { 0 };
	for (const struct item *i = tree->first; i; i = i->next) {
		if (!is_assertion(i, false)) continue;
		text_clear(&words);
		format_expression(all, i->value, &words);
		text_format(&a->asserted, "assert %s;\n", text_get(&words));
	}
	text_free(&words);
}

static uint32_t count_assertions(const struct block *b)
{
	uint32_t count = 0;
	for (const struct stmt *s = b->first; s; s = s->next) {
		count += s->kind == STMT_ASSERT;
		if (s->body) count += count_assertions(s->body);
		for (uint32_t i = 0; i < s->arm_count; i++)
			count += count_assertions(s->arms[i].body);
		if (s->orelse) count += count_assertions(s->orelse);
	}
	return count;
}

void lower_finals(struct application *a, const struct syntax *tree,
                  struct sources *all)
{
	struct finals *f = a->finals;
	struct claim *k = finals_claim(a);
	struct lowering l = { .b = { .app = a, .s = &k->s, .live = TRUE_NODE },
		              .all = all };
	const struct item *last = NULL;
	bool ends = false, returns = false;
	for (const struct item *i = tree->first; i; i = i->next)
		if (i->kind == ITEM_FINALLY) last = i;
	k->s.name = "finally";
	if (last && last->body->level)
		k->s.own =
			(own_level)(1 + level_number(last->body->level->text));
	if (last) {
		f->asserted = count_assertions(last->body);
		lower_forget(&l, last->body, &ends, &returns);
		lower_block(&l, last->body);
	}
	k->s.commits = node_or(&k->s, k->s.commits, l.b.live);
	l.b.live = TRUE_NODE;
	uint32_t inside = f->asserted;
	if (!l.b.full) lower_top_assertions(&l, tree, f);
	f->inside = f->asserted == inside;
	if (ends && f->asserted > inside)
		lower_leave_out(
			&l, last->at,
			"an assertion about what a transaction has that "
			"may end early");
	if (l.b.full) {
		lower_leave_out(&l, last ? last->at : tree->first->at,
		                "an assertion as large as this");
		build_empty(&l.b);
	}
	for (uint32_t i = 0; i < k->s.access_count; i++)
		if (k->s.accesses[i].many)
			lower_leave_out(&l, last->at,
			                "a loop in the last transaction");
	k->fails = l.failing;
	free(l.bound);
}
