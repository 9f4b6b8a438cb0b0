/* From the tree to summaries: each transaction is run once, with expressions in
 * the place of values. Where it branches, both arms are run, and what they
 * leave is chosen from by the condition. `live` is the condition under which
 * the transaction is still running at the place that is looked at.
 */
#include "prove/lower.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/memory.h"
#include "prove/lower_parts.h"
#include "prove/texts.h"

enum { LOWER_STATEMENTS = 20000 };

void lower_leave_out(struct lowering *l, struct place at, const char *what)
{
	application_leave_out(l->b.app, source_position(l->all, at), what);
}

/* ---- what is known where it runs ---- */

void lower_bind(struct lowering *l, const struct local *local, uint32_t value)
{
	assert(node_is_value(&l->b.s->nodes[value]));
	for (uint32_t i = 0; i < l->bound_count; i++)
		if (l->bound[i].local == local) {
			l->bound[i].value = value;
			return;
		}
	VEC_RESERVE(l->bound, l->bound_count, l->bound_capacity);
	l->bound[l->bound_count++] = (struct binding){ local, value };
}

static uint32_t bound_value(const struct lowering *l, const struct local *local)
{
	for (uint32_t i = 0; i < l->bound_count; i++)
		if (l->bound[i].local == local) return l->bound[i].value;
	assert(!"a local that was not set");
	return TRUE_NODE;
}

static uint32_t unknown(struct lowering *l)
{
	return build_unknown(&l->b);
}

void lower_note_untold(struct lowering *l)
{
	struct summary *s = l->b.s;
	if (l->b.app->from_first) s->untold = node_or(s, s->untold, l->b.live);
}

static uint32_t guess(struct lowering *l)
{
	return build_guess(&l->b);
}

uint32_t lower_constant(struct lowering *l, struct value v)
{
	/* Of a tuple its items are asked for. */
	for (uint32_t i = 0; v.tag == VALUE_TUPLE && i < v.o->length; i++)
		lower_constant(l, v.o->items[i]);
	return build_constant(&l->b, v);
}

static void require(struct lowering *l, uint32_t condition)
{
	build_require(&l->b, condition);
}

static uint32_t is_int(struct lowering *l, uint32_t v)
{
	const struct node *n = &l->b.s->nodes[v];
	if (n->op == NODE_CONSTANT)
		return l->b.app->constants[n->a].tag == VALUE_INT ? TRUE_NODE
		                                                  : FALSE_NODE;
	if (n->op >= NODE_SUM) return TRUE_NODE;
	if (n->op == NODE_TRUTH) return FALSE_NODE;
	return node_add(l->b.s, NODE_IS_INT, v, 0, 0);
}

uint32_t lower_condition(struct lowering *l, struct expr *e)
{
	uint32_t v = lower_expr(l, e);
	const struct node *n = &l->b.s->nodes[v];
	if (n->op == NODE_TRUTH) return n->a;
	if (n->op == NODE_CONSTANT) {
		struct value k = l->b.app->constants[n->a];
		if (k.tag == VALUE_BOOL) return k.i ? TRUE_NODE : FALSE_NODE;
		require(l, FALSE_NODE);
		return FALSE_NODE;
	}
	require(l, node_add(l->b.s, NODE_IS_BOOL, v, 0, 0));
	return node_add(l->b.s, NODE_HOLDS, v, 0, 0);
}

uint32_t lower_truth(struct lowering *l, uint32_t condition)
{
	if (condition <= TRUE_NODE)
		return lower_constant(l, value_bool(condition == TRUE_NODE));
	return node_add(l->b.s, NODE_TRUTH, condition, 0, 0);
}

/* ---- accesses ---- */

static uint32_t family_of(struct lowering *l, const struct item *global)
{
	return application_family(l->b.app, global->family->name->text,
	                          global->family->index_count, 1);
}

/* Index values are evaluated first; a list, set or record is none. */
static struct build_key lower_key(struct lowering *l, struct expr *e)
{
	struct build_key k = { .count = 0 };
	if (e->kind == EXPR_INDEX) k.count = e->index_count;
	k.family = family_of(l, e->kind == EXPR_NAME ? e->item : e->family);
	k.indexes = region_take(&l->b.app->region,
	                        ((size_t)k.count + 1) * sizeof *k.indexes);
	for (uint32_t i = 0; i < k.count; i++)
		k.indexes[i] = lower_expr(l, e->indexes[i]);
	for (uint32_t i = 0; i < k.count; i++) {
		const struct node *n = &l->b.s->nodes[k.indexes[i]];
		if (n->op == NODE_CONSTANT || n->op >= NODE_SUM ||
		    n->op == NODE_TRUTH)
			continue;
		uint32_t fine =
			node_or(l->b.s, is_int(l, k.indexes[i]), guess(l));
		require(l, fine);
	}
	return k;
}

static uint32_t add_read(struct lowering *l, const struct build_key *k,
                         enum strength strength, struct place at)
{
	if (!l->in_statement) l->b.statement++;
	return *build_read(&l->b, k, strength,
	                   source_position(l->all, at).line);
}

static void add_write(struct lowering *l, const struct build_key *k,
                      enum strength strength, uint32_t value, struct place at)
{
	if (!l->in_statement) l->b.statement++;
	build_write(&l->b, k,
	            strength == STRENGTH_PLAIN ? STRENGTH_UPDATE : strength,
	            &value, source_position(l->all, at).line);
}

/* ---- expressions ---- */

uint32_t lower_sum(struct lowering *l, enum opcode op, uint32_t a, uint32_t b)
{
	struct summary *s = l->b.s;
	uint32_t list;
	if (op == OP_ADD && lower_append(l, a, b, &list)) return list;
	uint32_t ints = node_and(s, is_int(l, a), is_int(l, b));
	uint32_t sum =
		node_add(s, op == OP_ADD ? NODE_SUM : NODE_DIFFERENCE, a, b, 0);
	uint32_t fits = node_add(s, NODE_FITS, sum, 0, 0);
	/* Lists, sets, strings, both of them; or an error. */
	uint32_t result = unknown(l), others = guess(l);
	uint32_t parts[] = { a, b, result };
	for (int i = 0; i < 3; i++)
		others = node_and(s, others,
		                  node_add(s, NODE_IS_STRING, parts[i], 0, 0));
	if (ints == FALSE_NODE) {
		require(l, others);
		return result;
	}
	if (ints == TRUE_NODE) {
		require(l, fits);
		return sum;
	}
	require(l, node_or(s, node_and(s, ints, fits), others));
	return node_choose(s, ints, sum, result);
}

static uint32_t lower_product(struct lowering *l, uint32_t a, uint32_t b)
{
	struct summary *s = l->b.s;
	require(l, node_and(s, is_int(l, a), is_int(l, b)));
	if (s->nodes[a].op != NODE_CONSTANT &&
	    s->nodes[b].op != NODE_CONSTANT) {
		require(l, guess(l));
		return unknown(l);
	}
	uint32_t product = node_add(s, NODE_PRODUCT, a, b, 0);
	require(l, node_add(s, NODE_FITS, product, 0, 0));
	return product;
}

static uint32_t lower_order(struct lowering *l, enum opcode op, uint32_t a,
                            uint32_t b)
{
	struct summary *s = l->b.s;
	uint32_t ints = node_and(s, is_int(l, a), is_int(l, b));
	uint32_t less = op == OP_LT || op == OP_GE
	                        ? node_add(s, NODE_LESS, a, b, 0)
	                        : node_add(s, NODE_LESS, b, a, 0);
	if (op == OP_LE || op == OP_GE) less = node_not(s, less);
	if (ints == TRUE_NODE) return lower_truth(l, less);
	/* An integer and something else have no order. */
	uint32_t others = node_and(s, node_not(s, is_int(l, a)),
	                           node_not(s, is_int(l, b)));
	require(l, node_or(s, ints, node_and(s, others, guess(l))));
	return lower_truth(l, node_or(s, node_and(s, ints, less),
	                              node_and(s, others, guess(l))));
}

static uint32_t lower_binary(struct lowering *l, struct expr *e)
{
	struct summary *s = l->b.s;
	uint32_t a = lower_expr(l, e->left), b = lower_expr(l, e->right);
	switch ((enum opcode)e->op) {
	case OP_ADD:
	case OP_SUB: return lower_sum(l, (enum opcode)e->op, a, b);
	case OP_MUL: return lower_product(l, a, b);
	case OP_EQ: return lower_truth(l, node_equal(s, a, b));
	case OP_NE: return lower_truth(l, node_not(s, node_equal(s, a, b)));
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE: return lower_order(l, (enum opcode)e->op, a, b);
	case OP_IN: return lower_in(l, a, b);
	default: require(l, guess(l)); return unknown(l);
	}
}

static uint32_t lower_unary(struct lowering *l, struct expr *e)
{
	if (e->op == OP_NOT)
		return lower_truth(
			l, node_not(l->b.s, lower_condition(l, e->left)));
	assert(e->op == OP_NEG);
	uint32_t v = lower_expr(l, e->left);
	uint32_t zero = lower_constant(l, value_int(0));
	require(l, is_int(l, v));
	v = node_add(l->b.s, NODE_DIFFERENCE, zero, v, 0);
	require(l, node_add(l->b.s, NODE_FITS, v, 0, 0));
	return v;
}

/* The right side is evaluated only if the left one leaves it open. */
static uint32_t lower_logical(struct lowering *l, struct expr *e)
{
	struct summary *s = l->b.s;
	uint32_t left = lower_condition(l, e->left);
	uint32_t open = e->kind == EXPR_AND ? left : node_not(s, left);
	uint32_t decided = node_and(s, l->b.live, node_not(s, open));
	l->b.live = node_and(s, l->b.live, open);
	uint32_t right = lower_condition(l, e->right);
	l->b.live = node_or(s, l->b.live, decided);
	return lower_truth(l, e->kind == EXPR_AND ? node_and(s, left, right)
	                                          : node_or(s, left, right));
}

/* A number that is not negative, of a collection or a string. */
static uint32_t lower_size(struct lowering *l, uint32_t of)
{
	struct summary *s = l->b.s;
	uint32_t zero = lower_constant(l, value_int(0));
	uint32_t size = node_add(s, NODE_APPLY, FUNCTION_SIZE, of, zero);
	require(l, node_add(s, NODE_IS_STRING, of, 0, 0));
	s->assumed = node_and(s, s->assumed, is_int(l, size));
	s->assumed =
		node_and(s, s->assumed,
	                 node_not(s, node_add(s, NODE_LESS, size, zero, 0)));
	return size;
}

/* Is what it makes only to be written back, as it were? */
static bool is_of_collections(const struct expr *e)
{
	return e->op == BUILTIN_REMOVE || e->op == BUILTIN_UNION ||
	       e->op == BUILTIN_INTER;
}

static uint32_t lower_call(struct lowering *l, struct expr *e)
{
	uint32_t count = e->argument_count;
	uint32_t *values = mem_take0((size_t)count + 1, sizeof *values);
	const struct item *fn = e->ref == REF_FUNCTION ? e->callee_item : NULL;
	uint32_t result;
	bool builtin = e->ref == REF_BUILTIN;
	if (lower_sum_of(l, e, &result)) {
		free(values);
		return result;
	}
	for (uint32_t i = 0; i < count; i++)
		values[i] = lower_expr(l, e->arguments[i]);
	if (fn && fn->kind == ITEM_FN) {
		assert(fn->param_count == count);
		for (uint32_t i = 0; i < count; i++)
			lower_bind(l, fn->params[i], values[i]);
		result = lower_expr(l, fn->value);
	} else if (!builtin || count != 1 ||
	           !lower_list_call(l, e->op, values[0], &result)) {
		require(l, guess(l));
		if (builtin && e->op == BUILTIN_SIZE && count) {
			result = lower_size(l, values[0]);
		} else {
			result = unknown(l);
			if (!builtin || !is_of_collections(e))
				lower_note_untold(l);
		}
	}
	free(values);
	return result;
}

static uint32_t lower_field(struct lowering *l, struct expr *e)
{
	struct summary *s = l->b.s;
	uint32_t record = lower_expr(l, e->base);
	uint32_t name =
		application_field(l->b.app, e->field->text, e->field->length);
	/* What was written into it, or what was below that. */
	for (const struct node *n = &s->nodes[record]; n->op == NODE_WITH;
	     n = &s->nodes[record]) {
		if (n->b == name) return n->c;
		record = n->a;
	}
	require(l, node_add(s, NODE_HAS, record, name, 0));
	return node_add(s, NODE_FIELD, record, name, 0);
}

static void lower_part(void *context, struct expr *part)
{
	lower_expr(context, part);
}

static uint32_t lower_name(struct lowering *l, struct expr *e)
{
	if (e->ref == REF_LOCAL) return bound_value(l, e->local);
	if (e->ref == REF_CONST) return lower_expr(l, e->item->value);
	assert(e->ref == REF_GLOBAL);
	struct build_key k = lower_key(l, e);
	return add_read(l, &k, (enum strength)e->op, expr_place(e));
}

uint32_t lower_expr(struct lowering *l, struct expr *e)
{
	if (build_is_full(&l->b)) return unknown(l);
	switch ((enum expr_kind)e->kind) {
	case EXPR_VALUE: return lower_constant(l, e->value);
	case EXPR_NAME: return lower_name(l, e);
	case EXPR_INDEX:
		if (e->ref == REF_GLOBAL) {
			struct build_key k = lower_key(l, e);
			return add_read(l, &k, (enum strength)e->op,
			                expr_place(e));
		}
		return lower_index(l, e);
	case EXPR_UNARY: return lower_unary(l, e);
	case EXPR_BINARY: return lower_binary(l, e);
	case EXPR_AND:
	case EXPR_OR: return lower_logical(l, e);
	case EXPR_CALL: return lower_call(l, e);
	case EXPR_LOOP: return lower_comprehension(l, e);
	case EXPR_FIELD:
		if (e->ref == REF_SESSION_LOCAL)
			return bound_value(l, e->member);
		return lower_field(l, e);
	case EXPR_TUPLE: return lower_tuple(l, e);
	case EXPR_RECORD: return lower_record(l, e);
	case EXPR_LIST: return lower_list(l, e);
	case EXPR_SET: break;
	case EXPR_TXN: assert(!"a transaction in a transaction");
	}
	/* Made of parts. */
	expr_parts(e, lower_part, l);
	require(l, guess(l));
	return unknown(l);
}

/* ---- statements ---- */

static void lower_add(struct lowering *l, const struct stmt *s, bool atomic)
{
	struct place at = expr_place(s->target);
	struct expr *target = s->target;
	if (target->ref == REF_LOCAL) {
		uint32_t right = lower_expr(l, s->value);
		lower_bind(l, target->local,
		           lower_sum(l, OP_ADD, bound_value(l, target->local),
		                     right));
		return;
	}
	bool begun = !l->in_statement && atomic;
	enum strength strength =
		atomic ? STRENGTH_NO_KEY_UPDATE : STRENGTH_PLAIN;
	if (begun) {
		l->b.statement++;
		l->in_statement = true;
	}
	struct build_key k = lower_key(l, target);
	uint32_t left = 0, right = 0;
	if (atomic) right = lower_expr(l, s->value);
	left = add_read(l, &k, strength, at);
	if (!atomic) right = lower_expr(l, s->value);
	uint32_t sum = lower_sum(l, OP_ADD, left, right);
	add_write(l, &k, strength, sum, at);
	if (begun) l->in_statement = false;
}

static void lower_set(struct lowering *l, const struct stmt *s)
{
	if (s->target->ref == REF_LOCAL) {
		lower_bind(l, s->target->local, lower_expr(l, s->value));
		return;
	}
	struct build_key k = lower_key(l, s->target);
	uint32_t value = lower_expr(l, s->value);
	add_write(l, &k, STRENGTH_PLAIN, value, expr_place(s->target));
}

struct snapshot {
	struct binding *bound;
	uint32_t count, live;
};

static struct snapshot snapshot(const struct lowering *l)
{
	struct snapshot x = { .count = l->bound_count, .live = l->b.live };
	x.bound = mem_take0((size_t)x.count + 1, sizeof *x.bound);
	if (x.count) memcpy(x.bound, l->bound, x.count * sizeof *x.bound);
	return x;
}

/* Goes on where either this arm or the other one, which began at a snapshot of
 * the same, ended. Frees the other. */
static void join(struct lowering *l, uint32_t condition, struct snapshot other)
{
	struct summary *s = l->b.s;
	assert(other.count <= l->bound_count);
	l->bound_count = other.count; /* what the arm declared is gone */
	for (uint32_t i = 0; i < other.count; i++) {
		assert(l->bound[i].local == other.bound[i].local);
		l->bound[i].value = lower_choose(
			l, condition, l->bound[i].value, other.bound[i].value);
	}
	l->b.live = node_or(s, l->b.live, other.live);
	free(other.bound);
}

static void restore(struct lowering *l, const struct snapshot *x)
{
	l->bound_count = x->count;
	if (x->count) memcpy(l->bound, x->bound, x->count * sizeof *x->bound);
	l->b.live = x->live;
}

static void lower_arms(struct lowering *l, const struct stmt *s, uint32_t i)
{
	if (i == s->arm_count) {
		if (s->orelse) lower_block(l, s->orelse);
		return;
	}
	uint32_t c = lower_condition(l, s->arms[i].condition);
	struct snapshot before = snapshot(l);
	l->b.live = node_and(l->b.s, before.live, node_not(l->b.s, c));
	lower_arms(l, s, i + 1);
	l->bound_count = before.count;
	struct snapshot other = snapshot(l);
	restore(l, &before);
	free(before.bound);
	l->b.live = node_and(l->b.s, l->b.live, c);
	lower_block(l, s->arms[i].body);
	join(l, c, other);
}

/* One round, if it comes to that. */
static void lower_round(struct lowering *l, const struct stmt *s, uint32_t c,
                        uint32_t value)
{
	struct snapshot other = snapshot(l);
	other.live = node_and(l->b.s, other.live, node_not(l->b.s, c));
	l->b.live = node_and(l->b.s, l->b.live, c);
	lower_bind(l, s->local, value);
	lower_block(l, s->body);
	join(l, c, other);
}

void lower_forget(struct lowering *l, const struct block *b, bool *ends,
                  bool *returns)
{
	for (const struct stmt *s = b->first; s; s = s->next) {
		bool sets = s->kind == STMT_SET || s->kind == STMT_ADD ||
		            s->kind == STMT_ATOMIC;
		for (uint32_t i = 0;
		     sets && s->target->ref == REF_LOCAL && i < l->bound_count;
		     i++)
			if (l->bound[i].local == s->target->local)
				l->bound[i].value = unknown(l);
		*returns |= s->kind == STMT_RETURN;
		*ends |= s->kind == STMT_RETURN || s->kind == STMT_ABORT ||
		         s->kind == STMT_ASSUME;
		if (s->body) lower_forget(l, s->body, ends, returns);
		for (uint32_t i = 0; i < s->arm_count; i++)
			lower_forget(l, s->arms[i].body, ends, returns);
		if (s->orelse) lower_forget(l, s->orelse, ends, returns);
	}
}

/* Any number of rounds: two of them are looked at (struct access, many), each
 * with what it may find there. Others may end the transaction as well. Over the
 * numbers from a to b, without b; or over the items of a, if b is none. */
static void lower_rounds(struct lowering *l, const struct stmt *s, uint32_t a,
                         uint32_t b)
{
	struct summary *x = l->b.s;
	bool ends = false, returns = false, numbers = b != TRUE_NODE;
	lower_note_untold(l);
	l->b.rounds++;
	for (int i = 0; i < 2; i++) {
		uint32_t value = unknown(l), goes_on = guess(l);
		if (numbers) {
			uint32_t least = node_add(x, NODE_LESS, value, a, 0);
			uint32_t most = node_add(x, NODE_LESS, value, b, 0);
			goes_on = node_and(x, goes_on, is_int(l, value));
			goes_on = node_and(x, goes_on, node_not(x, least));
			goes_on = node_and(x, goes_on, most);
		} else {
			goes_on =
				node_and(x, goes_on, lower_passes(l, a, value));
		}
		lower_forget(l, s->body, &ends, &returns);
		lower_round(l, s, goes_on, value);
	}
	lower_forget(l, s->body, &ends, &returns);
	require(l, guess(l));
	if (ends) {
		uint32_t ended = guess(l);
		if (returns)
			x->commits = node_or(x, x->commits,
			                     node_and(x, l->b.live, ended));
		l->b.live = node_and(x, l->b.live, node_not(x, ended));
	}
	l->b.rounds--;
}

static bool constant_int(const struct lowering *l, uint32_t v, int64_t *out)
{
	const struct node *n = &l->b.s->nodes[v];
	if (n->op != NODE_CONSTANT) return false;
	struct value k = l->b.app->constants[n->a];
	*out = k.i;
	return k.tag == VALUE_INT;
}

/* Where only some executions are looked for: those of up to two rounds. */
static void lower_two_rounds(struct lowering *l, const struct stmt *s,
                             uint32_t a, uint32_t b)
{
	struct summary *x = l->b.s;
	uint32_t one = lower_constant(l, value_int(1)), at = a;
	int64_t from;
	for (int i = 0; i < 2; i++) {
		lower_round(l, s, node_add(x, NODE_LESS, at, b, 0), at);
		at = constant_int(l, at, &from)
		             ? lower_constant(l, value_int(from + 1))
		             : node_add(x, NODE_SUM, at, one, 0);
	}
	uint32_t more =
		node_and(x, l->b.live, node_add(x, NODE_LESS, at, b, 0));
	x->assumed = node_and(x, x->assumed, node_not(x, more));
}

static void lower_range(struct lowering *l, const struct stmt *s)
{
	int64_t from, until;
	uint32_t a = lower_expr(l, s->value), b = lower_expr(l, s->until);
	struct summary *x = l->b.s;
	if (constant_int(l, a, &from) && constant_int(l, b, &until) &&
	    (until <= from ||
	     (uint64_t)until - (uint64_t)from <= LOWER_ROUNDS)) {
		for (int64_t i = from; i < until; i++)
			lower_round(l, s, TRUE_NODE,
			            lower_constant(l, value_int(i)));
		return;
	}
	require(l, node_and(x, is_int(l, a), is_int(l, b)));
	if (l->b.app->from_first)
		lower_two_rounds(l, s, a, b);
	else
		lower_rounds(l, s, a, b);
}

static void lower_each(struct lowering *l, const struct stmt *s)
{
	uint32_t values[LOWER_ROUNDS], count;
	if (lower_items(l, s->value, values, &count)) {
		for (uint32_t i = 0; i < count; i++)
			lower_round(l, s, TRUE_NODE, values[i]);
		return;
	}
	uint32_t items = lower_expr(l, s->value);
	struct items k;
	if (lower_list_of(l, items, &k)) {
		for (uint32_t i = 0; i < k.count; i++)
			lower_round(l, s, k.all[i].there, k.all[i].value);
		return;
	}
	require(l, node_add(l->b.s, NODE_IS_STRING, items, 0, 0));
	require(l, guess(l));
	lower_rounds(l, s, items, TRUE_NODE);
}

static void lower_assume(struct lowering *l, const struct stmt *s)
{
	struct summary *x = l->b.s;
	uint32_t c = lower_condition(l, s->value);
	uint32_t fails = node_and(x, l->b.live, node_not(x, c));
	x->assumed = node_and(x, x->assumed, node_not(x, fails));
	l->b.live = node_and(x, l->b.live, c);
}

void lower_assert(struct lowering *l, struct expr *e)
{
	struct summary *x = l->b.s;
	uint32_t c = lower_condition(l, e);
	if (!l->b.app->finals) return;
	l->failing =
		node_or(x, l->failing, node_and(x, l->b.live, node_not(x, c)));
}

static void lower_statement(struct lowering *l, const struct stmt *s)
{
	switch (s->kind) {
	case STMT_LET: lower_bind(l, s->local, lower_expr(l, s->value)); return;
	case STMT_SET: lower_set(l, s); return;
	case STMT_ADD: lower_add(l, s, false); return;
	case STMT_ATOMIC: lower_add(l, s, true); return;
	case STMT_IF: lower_arms(l, s, 0); return;
	case STMT_FOR:
		if (s->until)
			lower_range(l, s);
		else
			lower_each(l, s);
		return;
	case STMT_ABORT: l->b.live = FALSE_NODE; return;
	case STMT_RETURN:
		if (s->value) lower_expr(l, s->value);
		l->b.s->commits = node_or(l->b.s, l->b.s->commits, l->b.live);
		l->b.live = FALSE_NODE;
		return;
	case STMT_ASSERT: lower_assert(l, s->value); return;
	case STMT_ASSUME: lower_assume(l, s); return;
	case STMT_SKIP: return;
	case STMT_STATEMENT:
		l->b.statement++;
		l->in_statement = true;
		lower_block(l, s->body);
		l->in_statement = false;
		return;
	case STMT_CALL: lower_expr(l, s->value); return;
	case STMT_TXN: assert(!"a transaction in a transaction");
	}
}

/* Loops in loops grow out of all bounds: what comes then is left out. */
void lower_block(struct lowering *l, const struct block *b)
{
	for (const struct stmt *s = b->first; s; s = s->next) {
		l->b.full |= ++l->statements > LOWER_STATEMENTS;
		if (build_is_full(&l->b)) return;
		lower_statement(l, s);
	}
}

/* ---- items ---- */

static void lower_body(struct lowering *l, const struct item *i)
{
	struct summary *s = l->b.s;
	for (uint32_t p = 0; p < i->param_count; p++)
		lower_bind(l, i->params[p],
		           node_add(s, NODE_PARAMETER, p, 0, 0));
	lower_block(l, i->body);
	s->commits = node_or(s, s->commits, l->b.live);
	build_finish(&l->b);
	free(l->filtered);
	free(l->bound);
	free(l->lists);
}

/* Where the items of lists are told apart it may be too large. */
static void lower_transaction(struct application *a, struct sources *all,
                              const struct item *i)
{
	VEC_RESERVE(a->summaries, a->summary_count, a->summary_capacity);
	struct summary *s = &a->summaries[a->summary_count++];
	struct lowering l = { .b = { .app = a, .s = s, .live = TRUE_NODE },
		              .all = all };
	const char **params = region_take0(
		&a->region, ((size_t)i->param_count + 1) * sizeof *params);
	for (uint32_t p = 0; p < i->param_count; p++) {
		const struct symbol *name = i->params[p]->name;
		params[p] = region_copy_string(&a->region, name->text,
		                               name->length);
	}
	summary_init(s);
	lower_body(&l, i);
	if (l.b.full) {
		summary_free(s);
		summary_init(s);
		l = (struct lowering){
			.b = { .app = a, .s = s, .live = TRUE_NODE },
			.all = all,
			.blunt = true
		};
		lower_body(&l, i);
	}
	s->name =
		region_copy_string(&a->region, i->name->text, i->name->length);
	s->param_count = i->param_count;
	s->params = params;
	s->stale_ok = i->body->stale_ok;
	if (i->body->level)
		s->own = (own_level)(1 + level_number(i->body->level->text));
	if (l.b.full) {
		/* Of its beginning alone there may be more to ask than can be
		 * answered in time. */
		lower_leave_out(&l, i->at, "a transaction as large as this");
		build_empty(&l.b);
	}
}

static void find_anonymous(struct lowering *l, const struct block *b);

static void find_in_expr(void *context, struct expr *e)
{
	if (e->kind == EXPR_TXN)
		lower_leave_out(context, expr_place(e),
		                "a transaction without a name");
	expr_parts(e, find_in_expr, context);
}

static void find_in_statement(struct lowering *l, const struct stmt *s)
{
	if (s->kind == STMT_TXN) {
		lower_leave_out(l, s->at, "a transaction without a name");
		return;
	}
	if (s->value) find_in_expr(l, s->value);
	if (s->body) find_anonymous(l, s->body);
	for (uint32_t i = 0; i < s->arm_count; i++)
		find_anonymous(l, s->arms[i].body);
	if (s->orelse) find_anonymous(l, s->orelse);
}

/* Sessions only say which instances there are, which is not asked here; but
 * transactions that they hold are part of the program. */
static void find_anonymous(struct lowering *l, const struct block *b)
{
	for (const struct stmt *s = b->first; s; s = s->next)
		find_in_statement(l, s);
}

/* The value of keys that are not named, if it is plain. */
static void note_initial(struct lowering *l, const struct item *i)
{
	if (i->kind != ITEM_GLOBAL || !i->value) return;
	uint32_t family = family_of(l, i);
	struct family *f = &l->b.app->families[family];
	bool plain = i->value->kind == EXPR_VALUE;
	f->sets |= i->value->kind == EXPR_SET ||
	           (plain && i->value->value.tag == VALUE_SET);
	if ((i->keyed && !i->star) || !plain) return;
	f->initial = application_constant(l->b.app, i->value->value);
}

void lower(struct application *a, const struct syntax *tree,
           struct sources *all)
{
	struct lowering l = { .b = { .app = a }, .all = all };
	lower_first_values(&l, tree);
	for (const struct item *i = tree->first; i; i = i->next) {
		if (i->kind == ITEM_TXN) lower_transaction(a, all, i);
		if (i->kind == ITEM_SESSION) find_anonymous(&l, i->body);
		note_initial(&l, i);
		if (!i->name) continue;
		VEC_RESERVE(a->names, a->name_count, a->name_capacity);
		a->names[a->name_count++] = region_copy_string(
			&a->region, i->name->text, i->name->length);
	}
	for (uint32_t i = 0; i < all->count; i++) keep_texts(a, all, i);
	lower_keep_assertions(a, tree, all);
	if (a->finals) lower_finals(a, tree, all);
}
