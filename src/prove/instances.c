#include "prove/instances.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "prove/functions.h"
#include "prove/rules.h"
#include "prove/spots.h"
#include "prove/wishes.h"

enum {
	STEPS_MOST = 20000000 /* of the solver, for a question: some seconds */
};

/* ---- formulas ---- */

static Z3_ast truth_of(Z3_context z, bool b)
{
	return b ? Z3_mk_true(z) : Z3_mk_false(z);
}

Z3_ast instances_fresh(Z3_context z, bool truth)
{
	return Z3_mk_fresh_const(
		z, "x", truth ? Z3_mk_bool_sort(z) : Z3_mk_int_sort(z));
}

const char *rule_word(enum rule r)
{
	static const char *const names[] = {
#define X(id, word, words) [id] = (word),
		RULE_TABLE(X)
#undef X
	};
	assert(r > RULE_NONE && r < RULE_UNWRITTEN);
	return names[r];
}

const char *rule_words(enum rule r)
{
	static const char *const names[] = {
#define X(id, word, words) [id] = (words),
		RULE_TABLE(X)
#undef X
	};
	assert(r > RULE_NONE && r < RULE_UNWRITTEN);
	return names[r];
}

unsigned instances_rule_count(const struct application *a)
{
	return RULE_UNWRITTEN + a->family_count;
}

void instances_assert(struct instances *x, Z3_ast condition)
{
	assert(condition);
	if (x->names && x->rule) {
		assert(x->rule < instances_rule_count(x->app));
		if (!x->names[x->rule])
			x->names[x->rule] = instances_fresh(x->z, true);
		condition = Z3_mk_implies(x->z, x->names[x->rule], condition);
	}
	Z3_solver_assert(x->z, x->solver, condition);
}

Z3_ast instances_not(const struct instances *x, Z3_ast condition)
{
	return Z3_mk_not(x->z, condition);
}

Z3_ast instances_before(const struct instances *x, uint32_t a, uint32_t b)
{
	assert(a < x->count && b < x->count);
	return Z3_mk_lt(x->z, x->items[a].commit, x->items[b].commit);
}

/* ---- values ---- */

static Z3_ast has_tag(const struct instances *x, struct term t,
                      enum value_tag tag)
{
	return Z3_mk_eq(x->z, t.tag, number(x->z, tag));
}

static Z3_ast within(const struct instances *x, Z3_ast n, int64_t least,
                     int64_t most)
{
	return both(x->z, Z3_mk_le(x->z, number(x->z, least), n),
	            Z3_mk_le(x->z, n, number(x->z, most)));
}

struct term instances_any_value(struct instances *x, Z3_ast tag, Z3_ast value)
{
	struct term t = { tag, value };
	instances_assert(x, within(x, t.tag, VALUE_NULL, VALUE_STRING));
	implies(x, has_tag(x, t, VALUE_NULL),
	        Z3_mk_eq(x->z, t.number, number(x->z, 0)));
	implies(x, has_tag(x, t, VALUE_BOOL), within(x, t.number, 0, 1));
	implies(x, has_tag(x, t, VALUE_INT),
	        within(x, t.number, INT64_MIN, INT64_MAX));
	return t;
}

struct term instances_constant(const struct instances *x, uint32_t constant)
{
	struct value v = x->app->constants[constant];
	bool scalar = v.tag < VALUE_STRING;
	return (struct term){ number(x->z,
		                     scalar ? (int64_t)v.tag : VALUE_STRING),
		              number(x->z, scalar ? v.i : (int64_t)constant) };
}

static struct term choose(const struct instances *x, Z3_ast c, struct term a,
                          struct term b)
{
	return (struct term){ Z3_mk_ite(x->z, c, a.tag, b.tag),
		              Z3_mk_ite(x->z, c, a.number, b.number) };
}

/* The first node of the transaction that asks for this field? */
static bool is_first_of_field(const struct summary *s, const struct node *n)
{
	for (const struct node *m = s->nodes; m < n; m++)
		if (m->op == NODE_HAS && m->b == n->b) return false;
	return true;
}

static Z3_ast node_truth(struct instances *x, const struct instance *t,
                         const struct node *n)
{
	Z3_context z = x->z;
	const union node_term *of = t->nodes;
	switch (n->op) {
	case NODE_FALSE: return truth_of(z, false);
	case NODE_TRUE: return truth_of(z, true);
	case NODE_NOT: return Z3_mk_not(z, of[n->a].truth);
	case NODE_AND: return both(z, of[n->a].truth, of[n->b].truth);
	case NODE_OR: return either(z, of[n->a].truth, of[n->b].truth);
	case NODE_EQUAL: return same_term(x, of[n->a].value, of[n->b].value);
	case NODE_LESS:
		return Z3_mk_lt(z, of[n->a].value.number,
		                of[n->b].value.number);
	case NODE_IS_INT: return has_tag(x, of[n->a].value, VALUE_INT);
	case NODE_IS_BOOL: return has_tag(x, of[n->a].value, VALUE_BOOL);
	case NODE_IS_STRING: return has_tag(x, of[n->a].value, VALUE_STRING);
	case NODE_FIRST: return Z3_mk_eq(z, t->source[n->a], number(z, 0));
	case NODE_HAS:
		if (is_first_of_field(t->s, n)) function_know_field(x, n->b);
		return function_has(x, of[n->a].value, n->b);
	case NODE_IS:
		return function_truth(x, n->a, of[n->b].value, of[n->c].value);
	case NODE_HOLDS:
		return both(z, has_tag(x, of[n->a].value, VALUE_BOOL),
		            Z3_mk_eq(z, of[n->a].value.number, number(z, 1)));
	case NODE_FITS:
		if (x->unbounded) return truth_of(z, true);
		return within(x, of[n->a].value.number, INT64_MIN, INT64_MAX);
	default: assert(n->op == NODE_GUESS); return instances_fresh(z, true);
	}
}

static struct term node_value(struct instances *x, const struct instance *t,
                              const struct node *n)
{
	Z3_context z = x->z;
	const union node_term *of = t->nodes;
	struct term v = { .tag = number(z, VALUE_INT) };
	Z3_ast parts[2];
	switch (n->op) {
	case NODE_CONSTANT: return instances_constant(x, n->a);
	case NODE_TRUTH:
		v.tag = number(z, VALUE_BOOL);
		v.number = Z3_mk_ite(z, of[n->a].truth, number(z, 1),
		                     number(z, 0));
		return v;
	case NODE_CHOOSE:
		return choose(x, of[n->a].truth, of[n->b].value,
		              of[n->c].value);
	case NODE_SUM:
	case NODE_DIFFERENCE:
	case NODE_PRODUCT:
		parts[0] = of[n->a].value.number;
		parts[1] = of[n->b].value.number;
		v.number = n->op == NODE_SUM       ? Z3_mk_add(z, 2, parts)
		           : n->op == NODE_PRODUCT ? Z3_mk_mul(z, 2, parts)
		                                   : Z3_mk_sub(z, 2, parts);
		return v;
	case NODE_FIELD: return function_field(x, of[n->a].value, n->b);
	case NODE_WITH:
		return function_with(x, of[n->a].value, n->b, of[n->c].value);
	case NODE_TUPLE:
		return function_tuple(x, n->c > 1 ? &of[n->a].value : NULL,
		                      of[n->b].value, n->c);
	case NODE_APPLY:
		return function_value(x, n->a, of[n->b].value, of[n->c].value);
	default:
		return instances_any_value(x, instances_fresh(z, false),
		                           instances_fresh(z, false));
	}
}

/* ---- what depends on what ---- */

Z3_ast instances_conflict(const struct instances *x, uint32_t first, uint32_t i,
                          uint32_t second, uint32_t j)
{
	const struct instance *s = &x->items[first], *t = &x->items[second];
	struct spot m = { s, i }, n = { t, j };
	Z3_context z = x->z;
	Z3_ast met, how;
	if (!access_at(m)->write && !access_at(n)->write) return NULL;
	if (!access_at(n)->write) {
		met = read_meets_write(x, n, m);
		how = Z3_mk_eq(z, t->source[j], s->commit);
	} else if (!access_at(m)->write) {
		met = read_meets_write(x, m, n);
		how = Z3_mk_lt(z, s->source[i], t->commit);
	} else {
		met = meet(x, m, n);
		how = both(z, both(z, commits(s), commits(t)),
		           instances_before(x, first, second));
	}
	return met ? both(z, met, how) : NULL;
}

static Z3_ast or_false(Z3_context z, Z3_ast sum)
{
	return sum ? sum : Z3_mk_false(z);
}

static void find_conflicts(struct instances *x, uint32_t a, uint32_t b)
{
	struct between *k = &x->between[a][b];
	const struct instance *s = &x->items[a], *t = &x->items[b];
	Z3_context z = x->z;
	Z3_ast wr = NULL, ww = NULL, rw = NULL, seen = NULL, missed = NULL;
	for (uint32_t i = 0; i < s->s->access_count; i++)
		for (uint32_t j = 0; j < t->s->access_count; j++) {
			const struct access *n =
				access_at((struct spot){ t, j });
			bool writes = access_at((struct spot){ s, i })->write;
			Z3_ast one = instances_conflict(x, a, i, b, j);
			if (!one) continue;
			if (writes && n->write)
				ww = some(z, ww, one);
			else if (writes)
				wr = some(z, wr, one);
			else
				rw = some(z, rw, one);
			if (writes && !n->write && !n->beside)
				seen = some(z, seen, one);
			if (!writes &&
			    !access_at((struct spot){ s, i })->beside)
				missed = some(z, missed, one);
		}
	k->wr = or_false(z, wr);
	k->seen = or_false(z, seen);
	k->missed = or_false(z, missed);
	k->ww = or_false(z, ww);
	k->rw = or_false(z, rw);
	Z3_ast all[] = { k->session, k->wr, k->ww, k->rw };
	k->depends = Z3_mk_or(z, 4, all);
}

/* ---- all ---- */

void instance_make(struct instances *x, struct instance *t,
                   const struct summary *s, const struct instances_terms *terms)
{
	enum level said = s->own ? (enum level)(s->own - 1) : terms->level;
	*t = (struct instance){ .s = s,
		                .level = level_behind(said, terms->ssi),
		                .watched = terms->ssi && level_is_serial(said),
		                .commit = instances_fresh(x->z, false),
		                .begin = instances_fresh(x->z, false) };
	t->nodes = mem_take0(s->node_count, sizeof *t->nodes);
	t->source = mem_take0((size_t)s->access_count + 1, sizeof *t->source);
	t->point = mem_take0((size_t)s->access_count + 1, sizeof *t->point);
	for (uint32_t i = 0; i < s->access_count; i++) {
		t->source[i] = instances_fresh(x->z, false);
		t->point[i] = instances_fresh(x->z, false);
	}
	for (uint32_t i = 0; i < s->node_count; i++) {
		const struct node *n = &s->nodes[i];
		if (node_is_value(n))
			t->nodes[i].value = node_value(x, t, n);
		else
			t->nodes[i].truth = node_truth(x, t, n);
	}
}

void instance_clear(struct instance *t)
{
	free(t->nodes);
	free(t->source);
	free(t->point);
}

static void make_between(struct instances *x, bool sessions)
{
	for (uint32_t a = 0; a < x->count; a++)
		for (uint32_t b = 0; b < x->count; b++) {
			struct between *k = &x->between[a][b];
			if (a == b) continue;
			k->session = sessions ? instances_fresh(x->z, true)
			                      : Z3_mk_false(x->z);
			k->past = instances_fresh(x->z, true);
			k->direct = instances_fresh(x->z, true);
		}
	for (uint32_t a = 0; a < x->count; a++)
		for (uint32_t b = 0; b < x->count; b++)
			if (a != b) find_conflicts(x, a, b);
}

/* A question that cannot be answered has the answer `undecided`; nothing else
 * of what is asked can fail. */
static void on_error(Z3_context z, Z3_error_code e)
{
	(void)z;
	(void)e;
}

static void release_context(void *z)
{
	Z3_del_context(z);
}

void instances_limit(struct instances *x, unsigned seed)
{
	Z3_params p = Z3_mk_params(x->z);
	Z3_params_inc_ref(x->z, p);
	Z3_params_set_uint(x->z, p, Z3_mk_string_symbol(x->z, "rlimit"),
	                   STEPS_MOST);
	Z3_params_set_uint(x->z, p, Z3_mk_string_symbol(x->z, "random_seed"),
	                   seed);
	/* Who is interrupted is the program: it asks nothing more then. */
	Z3_params_set_bool(x->z, p, Z3_mk_string_symbol(x->z, "ctrl_c"), false);
	Z3_solver_set_params(x->z, x->solver, p);
	Z3_params_dec_ref(x->z, p);
}

Z3_context instances_context(void)
{
	Z3_config config = Z3_mk_config();
	Z3_set_param_value(config, "model", "true");
	Z3_context z = Z3_mk_context(config);
	Z3_del_config(config);
	Z3_set_error_handler(z, on_error);
	mem_hold(z, release_context);
	return z;
}

void instances_context_free(Z3_context z)
{
	if (!z) return;
	mem_let_go(z);
	Z3_del_context(z);
}

struct instances *instances_new(Z3_context z, const struct application *app,
                                const uint32_t *which, uint32_t count,
                                struct instances_terms terms)
{
	struct instances *x = mem_take0(1, sizeof *x);
	assert(count > 1 && count <= INSTANCES_MAX);
	x->app = app;
	x->z = z;
	x->solver = Z3_mk_simple_solver(x->z);
	Z3_solver_inc_ref(x->z, x->solver);
	x->count = count;
	if (terms.named)
		x->names =
			mem_take0(instances_rule_count(app), sizeof *x->names);
	for (uint32_t i = 0; i < count; i++)
		instance_make(x, &x->items[i], &app->summaries[which[i]],
		              &terms);
	make_between(x, !terms.one_each);
	rules_assert(x, terms.level);
	instances_limit(x, terms.seed);
	x->rule = RULE_ERRORS;
	if (terms.no_errors) instances_assert(x, instances_fine(x));
	x->rule = RULE_NONE;
	return x;
}

void instances_free(struct instances *x)
{
	if (!x) return;
	for (uint32_t i = 0; i < x->count; i++) instance_clear(&x->items[i]);
	Z3_solver_dec_ref(x->z, x->solver);
	free(x->names);
	free(x->wishes);
	free(x);
}

bool summaries_conflict(const struct application *app, uint32_t x, uint32_t y)
{
	const struct summary *s = &app->summaries[x], *t = &app->summaries[y];
	for (uint32_t i = 0; i < s->access_count; i++)
		for (uint32_t j = 0; j < t->access_count; j++)
			if (s->accesses[i].family == t->accesses[j].family &&
			    (s->accesses[i].write || t->accesses[j].write))
				return true;
	return false;
}
