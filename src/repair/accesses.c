#include "repair/accesses.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vm/bytecode.h"

struct walk {
	struct accesses *to;
	struct sources *all;
	uint32_t transaction; /* UINT32_MAX: outside of any */
	/* As in struct access. */
	bool fixed, in_statement, of_value;
	uint32_t sum;
};

static void walk_block(struct walk *w, const struct block *b);

static void add_access(struct walk *w, const struct expr *e, bool write,
                       enum strength strength)
{
	struct accesses *a = w->to;
	struct position at = source_position(w->all, expr_place(e));
	assert(w->transaction < a->transaction_count);
	VEC_RESERVE(a->items, a->count, a->capacity);
	a->items[a->count++] = (struct access){ .transaction = w->transaction,
		                                .write = write,
		                                .fixed = w->fixed,
		                                .in_statement = w->in_statement,
		                                .sum = w->sum,
		                                .of_value = w->of_value,
		                                .strength = strength,
		                                .key = e,
		                                .source = e->source,
		                                .offset = e->at,
		                                .line = at.line,
		                                .column = at.column };
}

static void walk_transaction(struct walk *w, const struct item *item,
                             const struct block *b, struct place at)
{
	struct accesses *a = w->to;
	uint32_t outer = w->transaction;
	VEC_RESERVE(a->transactions, a->transaction_count,
	            a->transaction_capacity);
	w->transaction = a->transaction_count;
	a->transactions[a->transaction_count++] = (struct access_transaction){
		.name = item ? item->name : NULL,
		.body = b,
		.at = at,
		.item = item,
		.last = item && item->kind == ITEM_FINALLY,
	};
	walk_block(w, b);
	w->transaction = outer;
}

static bool is_key(const struct expr *e)
{
	return e->ref == REF_GLOBAL &&
	       (e->kind == EXPR_NAME || e->kind == EXPR_INDEX);
}

static void walk_expr(void *context, struct expr *e)
{
	struct walk *w = context;
	if (e->kind == EXPR_TXN) {
		walk_transaction(w, NULL, e->transaction, expr_place(e));
		return;
	}
	if (e->kind == EXPR_CALL && e->ref == REF_TRANSACTION) {
		struct accesses *a = w->to;
		VEC_RESERVE(a->called, a->called_count, a->called_capacity);
		a->called[a->called_count++] = e->callee_item;
	}
	expr_parts(e, walk_expr, w);
	if (is_key(e)) add_access(w, e, false, (enum strength)e->op);
}

/* ---- updates ---- */

static bool same_text(const struct walk *w, const struct expr *a,
                      const struct expr *b)
{
	const char *text = w->all->items[a->source].text;
	assert(a->at <= a->end && b->at <= b->end);
	uint32_t n = a->end - a->at;
	return a->source == b->source && n == b->end - b->at &&
	       !memcmp(text + a->at, text + b->at, n);
}

struct use {
	const struct local *local; /* NULL: any access */
	uint32_t count;
};

static void count_uses(void *context, struct expr *e)
{
	struct use *u = context;
	u->count += u->local ? e->ref == REF_LOCAL && e->kind == EXPR_NAME &&
	                               e->local == u->local
	                     : is_key(e) || e->kind == EXPR_TXN;
	expr_parts(e, count_uses, u);
}

static uint32_t uses(const struct local *l, struct expr *e)
{
	struct use u = { l, 0 };
	if (e) count_uses(&u, e);
	return u.count;
}

static uint32_t uses_behind(const struct local *l, const struct stmt *s)
{
	uint32_t n = 0;
	for (; s; s = s->next) {
		n += uses(l, s->target) + uses(l, s->value) + uses(l, s->until);
		for (uint32_t i = 0; i < s->arm_count; i++)
			n += uses(l, s->arms[i].condition) +
			     uses_behind(l, s->arms[i].body->first);
		if (s->orelse) n += uses_behind(l, s->orelse->first);
		if (s->body) n += uses_behind(l, s->body->first);
	}
	return n;
}

/* Do its indexes read nothing? Then the target is one access. */
static bool is_plain_target(struct expr *e)
{
	return is_key(e) && uses(NULL, e) == 1;
}

/* Of `first + e` and `first - e`, each as written without parentheses around
 * first: what the value is computed from. */
struct sum {
	struct expr *first, *second;
	bool minus;
};

/* The terms behind the second may only be added, as + is all of an update: it
 * joins strings and lists and unites sets as well. Behind a minus all are
 * numbers. */
static bool find_sum(struct expr *e, struct sum *out)
{
	bool less = false, minus = false;
	*out = (struct sum){ .first = e };
	while (e->kind == EXPR_BINARY && (e->op == OP_ADD || e->op == OP_SUB) &&
	       e->start == e->left->start) {
		less |= minus;
		minus = e->op == OP_SUB;
		*out = (struct sum){ e->left, e->right, minus };
		e = e->left;
	}
	return out->second && (out->minus || !less);
}

static bool is_number(const struct expr *e)
{
	return e->kind == EXPR_VALUE && e->value.tag == VALUE_INT;
}

/* May it be an error to compute what an update adds? That is done before the
 * update reads, and behind a read that stands by itself. */
static bool may_fail(const struct expr *added)
{
	return added->kind != EXPR_VALUE && added->kind != EXPR_NAME;
}

/* `let n = x; x = n + e` where n has no other use. */
static bool is_held(const struct walk *w, const struct sum *sum,
                    const struct stmt *s, const struct stmt *before)
{
	return before && before->kind == STMT_LET &&
	       is_plain_target(before->value) && !before->value->op &&
	       same_text(w, before->value, s->target) &&
	       sum->first->kind == EXPR_NAME && sum->first->ref == REF_LOCAL &&
	       sum->first->local == before->local &&
	       uses(before->local, s->value) == 1 &&
	       !uses(before->local, s->target) &&
	       !uses_behind(before->local, s->next);
}

/* The statement, and the one before it, were walked: the accesses from `first`
 * on are this one's, and those from `earlier` on the other's. */
static void note_update(struct walk *w, const struct stmt *s,
                        const struct stmt *before, uint32_t first,
                        uint32_t earlier)
{
	struct accesses *a = w->to;
	struct access_update u = { .read = first,
		                   .write = a->count - 1,
		                   .begin = s->at.offset,
		                   .target = s->target };
	if (!s->target || !is_plain_target(s->target)) return;
	if (s->kind == STMT_SET) {
		struct sum sum;
		if (!find_sum(s->value, &sum)) return;
		bool read = is_plain_target(sum.first) && !sum.first->op &&
		            same_text(w, sum.first, s->target);
		if (!read) {
			if (!is_held(w, &sum, s, before)) return;
			u.begin = before->at.offset;
			u.read = earlier;
		}
		u.second = sum.second->start;
		u.minus = sum.minus;
		u.moves = uses(NULL, s->value) > read || may_fail(sum.second) ||
		          sum.second != s->value->right ||
		          (sum.minus && !is_number(sum.second));
	} else if (s->kind == STMT_ADD) {
		u.second = s->value->start;
		u.moves = uses(NULL, s->value) > 0 || may_fail(s->value);
	} else {
		return;
	}
	assert(u.read < u.write && u.begin < u.second);
	assert(a->items[u.write].write && !a->items[u.read].write);
	assert(a->items[u.read].transaction == a->items[u.write].transaction);
	VEC_RESERVE(a->updates, a->update_count, a->update_capacity);
	a->updates[a->update_count++] = u;
}

/* ---- statements ---- */

/* Of a target: what its indexes read, and the read of an update. */
static void walk_target(struct walk *w, const struct stmt *s)
{
	if (!is_key(s->target)) return;
	expr_parts(s->target, walk_expr, w);
	if (s->kind != STMT_ATOMIC && s->kind != STMT_ADD) return;
	add_access(w, s->target, false,
	           s->kind == STMT_ATOMIC ? STRENGTH_NO_KEY_UPDATE
	                                  : STRENGTH_PLAIN);
	w->to->items[w->to->count - 1].fixed = true;
}

/* All of it is one statement of the database. */
static void walk_one(struct walk *w, const struct block *b)
{
	assert(!w->in_statement);
	w->in_statement = true;
	walk_block(w, b);
	w->in_statement = false;
}

static void walk_statement(struct walk *w, const struct stmt *s)
{
	bool target = s->target != NULL, outer = w->fixed;
	w->fixed |= s->kind == STMT_ASSERT;
	if (s->kind == STMT_ADD && is_key(s->target)) w->sum = ++w->to->sums;
	if (target) walk_target(w, s);
	w->of_value = w->sum;
	if (s->value) walk_expr(w, s->value);
	w->of_value = false;
	if (target && is_key(s->target))
		add_access(w, s->target, true,
		           s->kind == STMT_ATOMIC ? STRENGTH_NO_KEY_UPDATE
		                                  : STRENGTH_PLAIN);
	w->sum = 0;
	if (s->until) walk_expr(w, s->until);
	for (uint32_t i = 0; i < s->arm_count; i++) {
		walk_expr(w, s->arms[i].condition);
		walk_block(w, s->arms[i].body);
	}
	if (s->orelse) walk_block(w, s->orelse);
	if (s->kind == STMT_TXN)
		walk_transaction(w, NULL, s->body, s->at);
	else if (s->kind == STMT_STATEMENT)
		walk_one(w, s->body);
	else if (s->body)
		walk_block(w, s->body);
	w->fixed = outer;
}

static void walk_block(struct walk *w, const struct block *b)
{
	const struct stmt *before = NULL;
	uint32_t earlier = 0;
	for (const struct stmt *s = b->first; s; before = s, s = s->next) {
		uint32_t first = w->to->count;
		walk_statement(w, s);
		if (w->transaction != UINT32_MAX)
			note_update(w, s, before, first, earlier);
		earlier = first;
	}
}

void accesses_find(struct accesses *a, const struct syntax *tree,
                   struct sources *all)
{
	struct walk w = { .to = a, .all = all, .transaction = UINT32_MAX };
	for (const struct item *i = tree->first; i; i = i->next) {
		if (i->kind == ITEM_SESSION)
			walk_block(&w, i->body);
		else if (i->kind == ITEM_TXN || i->kind == ITEM_FINALLY)
			walk_transaction(&w, i, i->body, i->at);
	}
	for (uint32_t t = 0; t < a->transaction_count; t++) {
		struct access_transaction *x = &a->transactions[t];
		x->runs = !x->item || x->last;
		for (uint32_t k = 0; k < a->called_count; k++)
			x->runs |= a->called[k] == x->item;
	}
}

void accesses_free(struct accesses *a)
{
	free(a->items);
	free(a->transactions);
	free(a->updates);
	free(a->called);
	*a = (struct accesses){ 0 };
}
