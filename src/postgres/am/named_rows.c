/* Conditions that name rows by their primary keys. */
#include "postgres/am/backend.h"

#include <access/nbtree.h>
#include <access/stratnum.h>
#include <catalog/pg_type_d.h>
#include <executor/executor.h>
#include <nodes/nodeFuncs.h>
#include <optimizer/optimizer.h>
#include <utils/lsyscache.h>
#include <utils/typcache.h>

static bool is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID;
}

static Node *without_relabel(Node *n)
{
	while (n && IsA(n, RelabelType)) n = (Node *)((RelabelType *)n)->arg;
	return n;
}

/* Which column of the table is `e`? */
static AttrNumber column_of(Node *e, Index relation)
{
	e = without_relabel(e);
	if (!e || !IsA(e, Var)) return 0;
	Var *v = (Var *)e;
	return v->varno == (int)relation && v->varlevelsup == 0 ? v->varattno
	                                                        : 0;
}

static bool mentions(Node *e, void *relation)
{
	if (!e) return false;
	if (IsA(e, Var)) return ((Var *)e)->varno == *(int *)relation;
	return expression_tree_walker(e, mentions, relation);
}

static bool is_equality(OpExpr *e, Oid column)
{
	TypeCacheEntry *type = lookup_type_cache(
		is_text(column) ? TEXTOID : column, TYPECACHE_BTREE_OPFAMILY);
	return OidIsValid(type->btree_opf) &&
	       get_op_opfamily_strategy(e->opno, type->btree_opf) ==
	               BTEqualStrategyNumber;
}

static bool fits(const OpExpr *e, Oid column, Oid value)
{
	return is_equality((OpExpr *)e, column) &&
	       (column == value || (is_integer(column) && is_integer(value)) ||
	        (is_text(column) && is_text(value)));
}

static int place_in_key(const struct table *t, AttrNumber column)
{
	int i = t->key_count;
	while (i-- > 0 && t->key[i] != column) continue;
	return i;
}

int named_column(struct table *t, Node *n, Index scanned, PlanState *plan,
                 struct named *out)
{
	if (!IsA(n, OpExpr) || list_length(((OpExpr *)n)->args) != 2) return -1;
	OpExpr *e = (OpExpr *)n;
	for (int side = 0; side < 2; side++) {
		Node *value = list_nth(e->args, 1 - side);
		AttrNumber a = column_of(list_nth(e->args, side), scanned);
		int number = (int)scanned, place;
		if (a <= 0 || mentions(value, &number) ||
		    contain_volatile_functions(value) ||
		    !fits(e, TupleDescAttr(t->desc, a - 1)->atttypid,
		          exprType(value)))
			continue;
		place = place_in_key(t, a);
		if (place < 0) continue;
		out->type = exprType(value);
		out->value = ExecInitExpr((Expr *)value, plan);
		return place;
	}
	return -1;
}
