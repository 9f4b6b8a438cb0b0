#include "analyse/flow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vm/bytecode.h"

enum {
	SORTS_MAX = 1 << 20,
	CALLS_MAX = 20 /* of functions within each other */
};

static struct sort *flow_expr(struct flow *f, struct expr *e);
static void flow_block(struct flow *f, struct block *b);

static struct sort *new_sort(struct flow *f)
{
	if (f->sorts.count >= SORTS_MAX) f->too_large = true;
	return sort_new(&f->sorts);
}

static void unite(struct flow *f, struct sort *a, struct sort *b)
{
	sort_unite(&f->sorts, a, b);
}

static struct sort *item_of(struct flow *f, struct sort *a)
{
	return sort_item(&f->sorts, a);
}

static struct sort *local_sort(struct flow *f, struct local *l)
{
	if (!l->sort) l->sort = new_sort(f);
	return l->sort;
}

static struct sort *constant(struct flow *f, struct value v, struct place at)
{
	struct sort *sort = new_sort(f);
	sort_hold(&f->sorts, sort, v);
	VEC_RESERVE(f->occurrences, f->occurrence_count,
	            f->occurrence_capacity);
	f->occurrences[f->occurrence_count++] = (struct occurrence){
		.value = v, .sort = sort, .at = at, .owner = f->owner
	};
	return sort;
}

static void add_visit(struct flow *f, struct sort *collection, struct place at,
                      bool any_order)
{
	VEC_RESERVE(f->visits, f->visit_count, f->visit_capacity);
	f->visits[f->visit_count++] =
		(struct visit){ collection, at, any_order };
}

static void add_image(struct flow *f, struct sort *from, struct sort *to)
{
	VEC_RESERVE(f->images, f->image_count, f->image_capacity);
	f->images[f->image_count++] = (struct image){ from, to };
}

static void add_lookup(struct flow *f, struct sort *value,
                       struct sort *collection, struct place at)
{
	VEC_RESERVE(f->lookups, f->lookup_count, f->lookup_capacity);
	f->lookups[f->lookup_count++] =
		(struct lookup){ value, collection, at };
}

/* ---- names and keys ---- */

/* The sorts of a family's index values, and of what its keys hold. */
static struct item *family_of(struct flow *f, struct item *i)
{
	struct item *family = i->family;
	assert(family && family->kind == ITEM_GLOBAL);
	if (family->sorts) return family;
	size_t count = family->index_count + !family->index_count;
	family->sorts =
		region_take(f->sorts.region, count * sizeof *family->sorts);
	for (size_t n = 0; n < count; n++) family->sorts[n] = new_sort(f);
	family->sort = new_sort(f);
	return family;
}

static struct sort *flow_key(struct flow *f, struct expr *e)
{
	struct item *family = family_of(f, e->family);
	assert(e->index_count == family->index_count);
	for (uint32_t i = 0; i < e->index_count; i++)
		unite(f, family->sorts[i], flow_expr(f, e->indexes[i]));
	return family->sort;
}

static struct sort *flow_name(struct flow *f, struct expr *e)
{
	if (e->ref == REF_LOCAL) return local_sort(f, e->local);
	if (e->ref == REF_CONST)
		return constant(f, e->item->constant, expr_place(e));
	assert(e->ref == REF_GLOBAL);
	return family_of(f, e->item)->sort;
}

static struct sort *flow_field(struct flow *f, struct expr *e)
{
	if (e->ref == REF_SESSION_LOCAL) return local_sort(f, e->member);
	return sort_field(&f->sorts, flow_expr(f, e->base), e->field);
}

static struct sort *flow_index(struct flow *f, struct expr *e)
{
	if (e->ref == REF_GLOBAL) return flow_key(f, e);
	struct sort *base = flow_expr(f, e->indexed);
	struct expr *index = e->indexes[0];
	if (index->kind == EXPR_VALUE && index->value.tag == VALUE_INT &&
	    index->value.i >= 0 && index->value.i < UINT32_MAX)
		return sort_place(&f->sorts, base, (uint32_t)index->value.i);
	struct sort *at = flow_expr(f, index);
	sort_use(at, "it is used as an index of a list, tuple or record",
	         expr_place(e));
	return item_of(f, base);
}

/* ---- operators ---- */

static const char *use_of(uint8_t op)
{
	switch (op) {
	case OP_ADD: return "'+' is applied to it";
	case OP_SUB: return "'-' is applied to it";
	case OP_MUL: return "'*' is applied to it";
	case OP_DIV: return "'/' is applied to it";
	case OP_MOD: return "'%' is applied to it";
	default: return "it is compared by order";
	}
}

static struct sort *flow_binary(struct flow *f, struct expr *e)
{
	struct sort *a = flow_expr(f, e->left), *b = flow_expr(f, e->right);
	struct place at = expr_place(e);
	switch (e->op) {
	case OP_EQ:
	case OP_NE: unite(f, a, b); return new_sort(f);
	case OP_IN:
		add_lookup(f, a, b, at);
		unite(f, a, item_of(f, b));
		return new_sort(f);
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE:
		sort_use_deep(a, use_of(e->op), at);
		sort_use_deep(b, use_of(e->op), at);
		return new_sort(f);
	default:
		unite(f, a, b);
		sort_use(a, use_of(e->op), at);
		return a;
	}
}

static struct sort *flow_negation(struct flow *f, struct expr *e)
{
	struct sort *s = flow_expr(f, e->left);
	sort_use(s, use_of(OP_SUB), expr_place(e));
	return s;
}

static struct sort *flow_sequence(struct flow *f, struct expr *e)
{
	struct sort *s = new_sort(f);
	s->is_set = e->kind == EXPR_SET;
	for (uint32_t i = 0; i < e->count; i++) {
		struct sort *item = flow_expr(f, e->items[i]);
		unite(f,
		      e->kind == EXPR_TUPLE ? sort_place(&f->sorts, s, i)
		                            : item_of(f, s),
		      item);
	}
	return s;
}

static struct sort *flow_record(struct flow *f, struct expr *e)
{
	struct sort *s = new_sort(f);
	s->is_record = true;
	for (uint32_t i = 0; i < e->field_count; i++) {
		struct field *field = &e->fields[i];
		struct sort *value = flow_expr(f, field->value);
		if (field->name)
			unite(f, sort_field(&f->sorts, s, field->name), value);
		else
			unite(f, s, value);
	}
	return s;
}

/* ---- calls ---- */

static struct sort *flow_extreme(struct flow *f, struct sort **arguments,
                                 uint32_t count, struct place at)
{
	struct sort *s = count == 1 ? item_of(f, arguments[0]) : arguments[0];
	assert(count > 0);
	for (uint32_t i = 1; i < count; i++) unite(f, s, arguments[i]);
	sort_use_deep(s, "it is compared by order", at);
	return s;
}

static struct sort *flow_sort(struct flow *f, struct sort *a, struct place at)
{
	struct sort *s = new_sort(f), *item = item_of(f, a);
	sort_use_deep(item, "it is sorted", at);
	unite(f, item_of(f, s), item);
	return s;
}

/* A new value that is none of the program's constants. */
static struct sort *computed(struct flow *f, const char *what, struct place at)
{
	struct sort *s = new_sort(f);
	sort_use(s, what, at);
	return s;
}

static struct sort *flow_union(struct flow *f, struct sort **arguments,
                               uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		unite(f, arguments[0], arguments[i]);
	sort_find(arguments[0])->is_set = true;
	return arguments[0];
}

static struct sort *flow_builtin(struct flow *f, struct expr *e,
                                 struct sort **arguments)
{
	struct sort *a = arguments[0], *s;
	struct place at = expr_place(e);
	assert(e->op < BUILTIN_COUNT);
	switch ((enum builtin)e->op) {
	case BUILTIN_SIZE:
		sort_use(a, "size() is applied to it", at);
		return computed(f, "it may be a size", at);
	case BUILTIN_MIN:
	case BUILTIN_MAX:
		return flow_extreme(f, arguments, e->argument_count, at);
	case BUILTIN_SUM:
		sort_use(item_of(f, a), "it is summed up", at);
		return item_of(f, a);
	case BUILTIN_SORT: return flow_sort(f, a, at);
	case BUILTIN_KEYS:
		s = new_sort(f);
		s->is_set = true;
		unite(f, item_of(f, s),
		      computed(f, "it may be the name of a field", at));
		return s;
	case BUILTIN_UNION:
	case BUILTIN_INTER: return flow_union(f, arguments, e->argument_count);
	case BUILTIN_REMOVE: unite(f, item_of(f, a), arguments[1]); return a;
	case BUILTIN_RANGE:
		s = new_sort(f);
		for (uint32_t i = 0; i < e->argument_count; i++)
			sort_use(arguments[i], "it is the end of a range", at);
		unite(f, item_of(f, s),
		      computed(f, "it may be a number of a range", at));
		return s;
	case BUILTIN_STR:
		sort_use_deep(a, "str() is applied to it", at);
		return computed(f, "it may be a result of str()", at);
	case BUILTIN_COUNT: break;
	}
	return a;
}

/* Every call of a function has sorts of its own: its body is an expression,
 * and it does not call itself. */
static struct sort *flow_function(struct flow *f, struct item *fn,
                                  struct sort **arguments)
{
	const struct item *owner = f->owner;
	assert(fn->value);
	f->owner = NULL;
	f->too_large |= ++f->calls > CALLS_MAX;
	for (uint32_t i = 0; i < fn->param_count; i++)
		fn->params[i]->sort = arguments[i];
	struct sort *s = flow_expr(f, fn->value);
	f->owner = owner;
	assert(f->calls > 0);
	f->calls--;
	return s;
}

static struct sort *flow_extern(struct flow *f, struct expr *e,
                                struct sort **arguments)
{
	struct place at = expr_place(e);
	for (uint32_t i = 0; i < e->argument_count; i++)
		sort_use_deep(arguments[i], "it is given to a function in C",
		              at);
	return computed(f, "it may be the result of a function in C", at);
}

static struct sort *flow_transaction(struct flow *f, struct item *txn,
                                     struct sort **arguments)
{
	for (uint32_t i = 0; i < txn->param_count; i++)
		unite(f, local_sort(f, txn->params[i]), arguments[i]);
	if (!txn->sort) txn->sort = new_sort(f);
	return txn->sort;
}

static struct sort *flow_call(struct flow *f, struct expr *e)
{
	struct sort **arguments = region_take(
		f->sorts.region, (e->argument_count + 1) * sizeof *arguments);
	for (uint32_t i = 0; i < e->argument_count; i++)
		arguments[i] = flow_expr(f, e->arguments[i]);
	if (e->ref == REF_BUILTIN) return flow_builtin(f, e, arguments);
	switch (e->callee_item->kind) {
	case ITEM_TXN: return flow_transaction(f, e->callee_item, arguments);
	case ITEM_EXTERN: return flow_extern(f, e, arguments);
	default: return flow_function(f, e->callee_item, arguments);
	}
}

/* ---- comprehensions ---- */

struct traits {
	bool reads, may_fail;
};

static void find_traits(void *context, struct expr *e);

/* Values of these are booleans, and they never fail. */
static bool is_test(const struct expr *e)
{
	return e->kind == EXPR_BINARY && (e->op == OP_EQ || e->op == OP_NE);
}

static bool cannot_fail(const struct expr *e)
{
	switch ((enum expr_kind)e->kind) {
	case EXPR_VALUE: return true;
	case EXPR_NAME: return e->ref == REF_LOCAL || e->ref == REF_CONST;
	case EXPR_BINARY:
		return is_test(e) && cannot_fail(e->left) &&
		       cannot_fail(e->right);
	case EXPR_UNARY:
		return e->op == OP_NOT && is_test(e->left) &&
		       cannot_fail(e->left);
	case EXPR_AND:
	case EXPR_OR:
		return is_test(e->left) && is_test(e->right) &&
		       cannot_fail(e->left) && cannot_fail(e->right);
	case EXPR_TUPLE:
		for (uint32_t i = 0; i < e->count; i++)
			if (!cannot_fail(e->items[i])) return false;
		return true;
	default: return false;
	}
}

static void find_traits(void *context, struct expr *e)
{
	struct traits *t = context;
	t->reads |= e->ref == REF_GLOBAL &&
	            (e->kind == EXPR_NAME || e->kind == EXPR_INDEX);
	expr_parts(e, find_traits, t);
}

/* A set has its items in an order of their own. All items are looked at by
 * filter and map; the others stop at one, perhaps before one that fails. */
static bool is_any_order(struct expr *e)
{
	struct traits t = { 0 };
	bool all = e->op == LOOP_FILTER || e->op == LOOP_MAP;
	find_traits(&t, e->body);
	return !t.reads && (all || (is_test(e->body) && cannot_fail(e->body)));
}

static struct sort *flow_loop(struct flow *f, struct expr *e)
{
	struct sort *collection = flow_expr(f, e->collection);
	e->variable->sort = item_of(f, collection);
	add_visit(f, collection, expr_place(e), is_any_order(e));
	struct sort *body = flow_expr(f, e->body), *s = new_sort(f);
	if (e->op == LOOP_EXISTS || e->op == LOOP_FORALL) return s;
	add_image(f, collection, s);
	unite(f, item_of(f, s),
	      e->op == LOOP_MAP ? body : item_of(f, collection));
	return s;
}

static struct sort *flow_anonymous(struct flow *f, struct block *b)
{
	struct sort *outer = f->result, *s = new_sort(f);
	assert(b);
	f->result = s;
	flow_block(f, b);
	f->result = outer;
	return s;
}

static struct sort *flow_expr(struct flow *f, struct expr *e)
{
	if (f->too_large) return new_sort(f);
	switch ((enum expr_kind)e->kind) {
	case EXPR_VALUE: return constant(f, e->value, expr_place(e));
	case EXPR_NAME: return flow_name(f, e);
	case EXPR_FIELD: return flow_field(f, e);
	case EXPR_INDEX: return flow_index(f, e);
	case EXPR_BINARY: return flow_binary(f, e);
	case EXPR_TUPLE:
	case EXPR_LIST:
	case EXPR_SET: return flow_sequence(f, e);
	case EXPR_RECORD: return flow_record(f, e);
	case EXPR_CALL: return flow_call(f, e);
	case EXPR_LOOP: return flow_loop(f, e);
	case EXPR_TXN: return flow_anonymous(f, e->transaction);
	case EXPR_UNARY:
		if (e->op == OP_NEG) return flow_negation(f, e);
		flow_expr(f, e->left);
		break;
	case EXPR_AND:
	case EXPR_OR:
		flow_expr(f, e->left);
		flow_expr(f, e->right);
		break;
	}
	return new_sort(f);
}

/* ---- statements ---- */

static void flow_if(struct flow *f, struct stmt *s)
{
	for (uint32_t i = 0; i < s->arm_count; i++) {
		flow_expr(f, s->arms[i].condition);
		flow_block(f, s->arms[i].body);
	}
	if (s->orelse) flow_block(f, s->orelse);
}

static void flow_for(struct flow *f, struct stmt *s)
{
	struct sort *over = flow_expr(f, s->value), *variable;
	if (s->until) {
		const char *use = "it is the end of a range";
		sort_use(over, use, s->at);
		sort_use(flow_expr(f, s->until), use, s->at);
		variable = computed(f, "it may be a number of a range", s->at);
	} else {
		variable = item_of(f, over);
		add_visit(f, over, s->at, false);
	}
	unite(f, local_sort(f, s->local), variable);
	flow_block(f, s->body);
}

static void flow_statement(struct flow *f, struct stmt *s)
{
	struct sort *target;
	switch (s->kind) {
	case STMT_LET:
		unite(f, local_sort(f, s->local), flow_expr(f, s->value));
		return;
	case STMT_SET:
	case STMT_ADD:
	case STMT_ATOMIC:
		target = flow_expr(f, s->target);
		unite(f, target, flow_expr(f, s->value));
		if (s->kind != STMT_SET)
			sort_use(target, use_of(OP_ADD), s->at);
		return;
	case STMT_IF: flow_if(f, s); return;
	case STMT_FOR: flow_for(f, s); return;
	case STMT_RETURN:
		if (s->value) unite(f, f->result, flow_expr(f, s->value));
		return;
	case STMT_ASSERT:
	case STMT_ASSUME:
	case STMT_CALL: flow_expr(f, s->value); return;
	case STMT_TXN: flow_anonymous(f, s->body); return;
	case STMT_STATEMENT: flow_block(f, s->body); return;
	case STMT_ABORT:
	case STMT_SKIP: return;
	}
}

static void flow_block(struct flow *f, struct block *b)
{
	for (struct stmt *s = b->first; s && !f->too_large; s = s->next)
		flow_statement(f, s);
}

/* ---- items ---- */

/* Initial values; the keys were made in the order of their declarations. */
static void flow_initial(struct flow *f, struct item *i, uint32_t *key)
{
	struct item *family = family_of(f, i);
	const struct program *p = f->program;
	if (i->star) {
		sort_hold(&f->sorts, family->sort,
		          p->globals[family->number].initial);
		return;
	}
	const struct static_key *k = &p->keys[(*key)++];
	assert(k->global == family->number);
	for (uint32_t n = 0; n < k->count; n++)
		sort_hold(&f->sorts, family->sorts[n], k->index[n]);
	sort_hold(&f->sorts, family->sort, k->initial);
}

static void flow_item(struct flow *f, struct item *i)
{
	switch (i->kind) {
	case ITEM_TXN:
		if (!i->sort) i->sort = new_sort(f);
		f->result = i->sort;
		flow_block(f, i->body);
		return;
	case ITEM_SESSION:
	case ITEM_FINALLY:
		assert(!f->owner);
		f->owner = i;
		f->result = new_sort(f);
		flow_block(f, i->body);
		f->owner = NULL;
		return;
	case ITEM_ASSERT:
		if (i->value) flow_expr(f, i->value);
		return;
	default: return;
	}
}

/* Sets are made of sets. */
static void spread_sets(struct flow *f)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < f->image_count; i++) {
			struct sort *from = sort_find(f->images[i].from);
			struct sort *to = sort_find(f->images[i].to);
			changed |= from->is_set && !to->is_set;
			to->is_set |= from->is_set;
		}
	}
}

void flow_init(struct flow *f, struct syntax *syntax, const struct program *p)
{
	*f = (struct flow){ .syntax = syntax, .program = p };
	f->sorts = (struct sorts){ .region = syntax->region,
		                   .symbols = &syntax->symbols };
	uint32_t key = 0;
	for (struct item *i = syntax->first; i; i = i->next)
		if (i->kind == ITEM_GLOBAL) flow_initial(f, i, &key);
	for (struct item *i = syntax->first; i; i = i->next) flow_item(f, i);
	assert(!f->calls && !f->owner);
	spread_sets(f);
}

void flow_free(struct flow *f)
{
	free(f->occurrences);
	free(f->visits);
	free(f->images);
	free(f->lookups);
}
