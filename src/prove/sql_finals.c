/* What is asserted of final states in SQL: queries that give one boolean.
 *
 * That no rows are there of which a condition is true ("count(*) = 0", "NOT
 * EXISTS") is a claim about any rows, by their keys; rows that a query names by
 * key are what they are. Sums and counts over all rows are in sql_totals.c.
 * What other queries find may be anything: of that nothing is proved.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "prove/finals.h"
#include "prove/lower.h"
#include "prove/sql_lower.h"
#include "sql/image.h"
#include "sql/procs.h"

struct asserting {
	struct application *a;
	const struct sql_image *image;
	const struct sql_facts *facts;
};

static struct sql_lowering begin(struct asserting *x, struct claim *k)
{
	k->s.name = "finally";
	return (struct sql_lowering){
		.b = { .app = x->a, .s = &k->s, .live = TRUE_NODE },
		.image = x->image,
		.facts = x->facts,
		.claim = k
	};
}

static void end(struct sql_lowering *l, struct claim *k, struct place at,
                uint32_t holds)
{
	struct summary *s = &k->s;
	s->commits = l->b.live;
	k->fails = node_and(s, l->b.live, node_not(s, holds));
	if (!l->b.full) return;
	prove_uncovered(l, at, "an assertion as large as this");
	build_empty(&l->b);
}

/* ---- no rows ---- */

static uint32_t joined(struct sql_lowering *l, const struct sql_scope *scope,
                       const struct sql_from *f)
{
	struct summary *s = l->b.s;
	if (f->join == JOIN_NONE) return TRUE_NODE;
	uint32_t a = joined(l, scope, f->a), b = joined(l, scope, f->b);
	uint32_t on = f->on ? prove_condition(l, scope, f->on).yes : TRUE_NODE;
	return node_and(s, on, node_and(s, a, b));
}

/* The row of a key that may be any: is it there? */
static uint32_t any_row(struct sql_lowering *l, struct claim *k,
                        const struct sql_table *t, uint32_t **columns)
{
	struct summary *s = l->b.s;
	uint32_t n = t->primary->count, first = s->param_count;
	uint32_t *index = region_take0(&l->b.app->region,
	                               (n + (size_t)1) * sizeof *index);
	for (uint32_t i = 0; i < n; i++) {
		index[i] = node_add(s, NODE_PARAMETER, first + i, 0, 0);
		prove_assume(l, prove_has_type(
					l, index[i],
					t->columns[t->primary->columns[i]].type,
					false));
	}
	s->param_count += n;
	k->rows[k->row_count++] =
		(struct claim_row){ prove_table_family(l, t), first };
	return prove_read_row(l, t, index, STRENGTH_PLAIN, false, columns);
}

static void claim_no_rows(struct asserting *x, const struct sql_query *q)
{
	struct claim *k = finals_claim(x->a);
	struct sql_lowering l = begin(x, k);
	uint32_t *rows[CLAIM_ROWS], found = TRUE_NODE;
	const uint32_t *read[CLAIM_ROWS];
	prove_begin(&l);
	for (uint32_t i = 0; i < q->relation_count; i++) {
		uint32_t there =
			any_row(&l, k, q->relations[i].table, &rows[i]);
		found = node_and(&k->s, found, there);
		read[i] = rows[i];
	}
	struct sql_scope scope = { .rows = read };
	struct sql_branch b = prove_enter(&l, found);
	l.conditions++;
	found = node_and(&k->s, found, joined(&l, &scope, q->from));
	if (q->where)
		found = node_and(&k->s, found,
		                 prove_condition(&l, &scope, q->where).yes);
	l.conditions--;
	prove_leave(&l, b);
	end(&l, k, q->at, node_not(&k->s, found));
}

static bool is_number(const struct sql_expr *e, int64_t n)
{
	while (e->kind == EXPR_CAST && sql_is_integer(e->type.kind))
		e = e->args[0];
	return e->kind == EXPR_CONSTANT && e->constant.tag == VALUE_INT &&
	       e->constant.i == n;
}

static bool counts_rows(const struct sql_expr *e)
{
	return e->kind == EXPR_AGGREGATE &&
	       e->function->operation == DO_COUNT && !e->count && !e->filter &&
	       !e->distinct;
}

/* Is it a count of rows, of this query or of the one in there, that is to be 0?
 * The query; else NULL. */
static const struct sql_query *counted(const struct sql_query *q,
                                       const struct sql_expr *e)
{
	if (e->kind != EXPR_CALL || e->count != 2) return NULL;
	enum sql_operation o = e->function->operation;
	const struct sql_expr *a = e->args[0], *b = e->args[1];
	bool zero = (o == DO_EQ && (is_number(a, 0) || is_number(b, 0))) ||
	            (o == DO_LE && is_number(b, 0)) ||
	            (o == DO_LT && is_number(b, 1));
	if (!zero) return NULL;
	if (o == DO_EQ && is_number(a, 0)) a = b;
	if (counts_rows(a)) return q && q->from ? q : NULL;
	if (a->kind != EXPR_SCALAR || a->count) return NULL;
	const struct sql_query *in = a->query;
	return in->from && in->target_count == 1 && in->targets &&
	                       counts_rows(in->targets[0].value)
	               ? in
	               : NULL;
}

/* ---- all that is asserted ---- */

/* Is it one row of expressions? */
static bool is_row(const struct sql_query *q)
{
	return !q->combination && !q->from && q->value_count <= 1 &&
	       !q->set_count && !q->grouped && !q->where && !q->limit &&
	       !q->offset && q->target_count == 1;
}

static const struct sql_expr *target_of(const struct sql_query *q)
{
	return q->value_count == 1 ? q->values[0][0] : q->targets[0].value;
}

static void claim_value(struct asserting *x, const struct sql_expr *e)
{
	static const struct sql_scope nothing;
	struct claim *k = finals_claim(x->a);
	struct sql_lowering l = begin(x, k);
	prove_begin(&l);
	end(&l, k, e->at, prove_condition(&l, &nothing, e).yes);
}

static void claim_query(struct asserting *x, const struct sql_query *q)
{
	struct claim *k = finals_claim(x->a);
	struct sql_lowering l = begin(x, k);
	prove_begin(&l);
	struct sql_answer a = prove_answer(&l, NULL, q);
	end(&l, k, q->at,
	    node_and(&k->s, a.found, prove_holds(&l, a.values[0])));
}

/* Each of what is joined by AND by itself. */
static void claim_expr(struct asserting *x, const struct sql_expr *e)
{
	const struct sql_expr *in = e->kind == EXPR_NOT ? e->args[0] : NULL;
	const struct sql_query *q = counted(NULL, e);
	if (in && in->kind == EXPR_EXISTS && !in->query->grouped) q = in->query;
	if (e->kind == EXPR_AND)
		for (uint32_t i = 0; i < e->count; i++)
			claim_expr(x, e->args[i]);
	else if (q && prove_has_keys(q))
		claim_no_rows(x, q);
	else
		claim_value(x, e);
}

static void claim_assertion(struct asserting *x, const struct sql_query *q)
{
	if (is_row(q)) {
		claim_expr(x, target_of(q));
		return;
	}
	const struct sql_query *rows =
		q->target_count == 1 && q->targets && !q->order_count
			? counted(q, q->targets[0].value)
			: NULL;
	if (rows && prove_has_keys(rows))
		claim_no_rows(x, rows);
	else
		claim_query(x, q);
}

/* Is it about what sessions have, or no query? */
static bool is_left_out(const struct sql_assertion *k)
{
	return k->step_count || !k->query->query;
}

void lower_sql_keep_assertions(struct application *a)
{
	const struct sql_image *image = a->image;
	for (uint32_t i = 0; i < image->assertion_count; i++) {
		const struct sql_statement *s = image->assertions[i].query;
		const struct source *from = &image->all.items[s->at.source];
		if (is_left_out(&image->assertions[i])) continue;
		text_string(&a->asserted, "assert {\n");
		text_bytes(&a->asserted, from->text + s->at.offset,
		           s->end - s->at.offset);
		text_string(&a->asserted, "\n}\n");
	}
}

void lower_sql_finals(struct application *a)
{
	const struct sql_image *image = a->image;
	struct finals *f = a->finals;
	struct sql_facts *facts = mem_take0(
		image->catalog.table_count + (size_t)1, sizeof *facts);
	struct asserting x = { a, image, facts };
	for (uint32_t i = 0; i < image->catalog.table_count; i++)
		facts[i] = (struct sql_facts){ true, true };
	for (uint32_t i = 0; i < image->assertion_count; i++) {
		if (is_left_out(&image->assertions[i])) {
			f->left_out++;
			continue;
		}
		f->asserted++;
		claim_assertion(&x, image->assertions[i].query->query);
	}
	free(facts);
}
