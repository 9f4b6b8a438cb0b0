/* What clients that are served may define, as migrations of test suites do
 * while the server runs. Tables that they make are PostgreSQL's own: there is
 * nothing to choose in what they are read as. Those of set-up can be dropped
 * and renamed, and referred to; their columns, and what is unique in them,
 * stay. */
#include "postgres/am/backend.h"

#include <access/relation.h>
#include <access/tableam.h>
#include <access/transam.h>
#include <catalog/index.h>
#include <catalog/namespace.h>
#include <catalog/objectaccess.h>
#include <catalog/pg_class.h>
#include <catalog/pg_constraint.h>
#include <catalog/pg_index.h>
#include <tcop/utility.h>
#include <utils/lsyscache.h>
#include <utils/syscache.h>

static Oid oid_of(RangeVar *v)
{
	return v ? RangeVarGetRelid(v, NoLock, true) : InvalidOid;
}

/* A table of set-up. */
static bool is_served(Oid oid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(oid));
	bool served = false;
	if (!HeapTupleIsValid(tuple)) return false;
	bool table =
		((Form_pg_class)GETSTRUCT(tuple))->relkind == RELKIND_RELATION;
	ReleaseSysCache(tuple);
	if (table) {
		Relation rel = relation_open(oid, AccessShareLock);
		served = iso_is_ours(rel);
		relation_close(rel, NoLock);
	}
	return served;
}

static void refuse_definition(const char *what) pg_attribute_noreturn();

static void refuse_definition(const char *what)
{
	ereport(ERROR,
	        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
	         errmsg("isoscope does not support %s while clients are served",
	                what),
	         errhint("Do it before: isoscope serve --schema FILE or "
	                 "--setup COMMAND.")));
}

/* ---- Tables ---- */

static void define_table(RangeVar *v, const char *method, List *parents)
{
	ListCell *cell;
	if (!strcmp(method ? method : default_table_access_method, "isoscope"))
		refuse_definition("CREATE TABLE .. USING isoscope");
	foreach(cell,
	        parents) if (is_served(oid_of(lfirst_node(RangeVar, cell))))
		refuse_definition("a table that inherits from one of "
	                          "set-up");
	if (v->relpersistence == RELPERSISTENCE_TEMP) return;
	ereport(NOTICE,
	        (errmsg("reads of table \"%s\" always see the newest version",
	                v->relname),
	         errdetail("Which versions a level allows is chosen for tables "
	                   "that were there when clients were served."),
	         errhint("Make it before: isoscope serve --schema FILE or "
	                 "--setup COMMAND.")));
}

/* A foreign key, or a CHECK. */
static bool is_condition(Oid table, const char *name)
{
	Oid oid = get_relation_constraint_oid(table, name, true);
	HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(oid));
	if (!HeapTupleIsValid(tuple)) return !OidIsValid(oid);
	char kind = ((Form_pg_constraint)GETSTRUCT(tuple))->contype;
	ReleaseSysCache(tuple);
	return kind == CONSTRAINT_FOREIGN || kind == CONSTRAINT_CHECK;
}

static bool keeps_rows(Oid table, AlterTableCmd *c)
{
	switch (c->subtype) {
	case AT_AddConstraint:
		return castNode(Constraint, c->def)->contype == CONSTR_FOREIGN;
	case AT_DropConstraint: return is_condition(table, c->name);
	case AT_AlterConstraint:
	case AT_ChangeOwner:
	case AT_SetStatistics:
	case AT_SetRelOptions:
	case AT_ResetRelOptions:
	case AT_ReplicaIdentity:
	case AT_EnableTrig:
	case AT_EnableAlwaysTrig:
	case AT_EnableReplicaTrig:
	case AT_DisableTrig:
	case AT_EnableTrigAll:
	case AT_DisableTrigAll:
	case AT_EnableTrigUser:
	case AT_DisableTrigUser: return true;
	default: return false;
	}
}

static void alter_table(AlterTableStmt *s)
{
	Oid table = oid_of(s->relation);
	ListCell *cell;
	if (!is_served(table)) return;
	foreach(cell, s->cmds) if (!keeps_rows(table, lfirst_node(AlterTableCmd,
	                                                          cell)))
		refuse_definition(psprintf("this ALTER TABLE of \"%s\"",
	                                   s->relation->relname));
}

/* ---- Indexes ---- */

static void define_index(IndexStmt *s)
{
	if (!is_served(oid_of(s->relation))) return;
	if (s->unique)
		refuse_definition(psprintf("a unique index of \"%s\"",
		                           s->relation->relname));
	s->concurrent = false; /* nobody else is there */
}

static bool is_unique(Oid index)
{
	HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	if (!HeapTupleIsValid(tuple)) return false;
	bool unique = ((Form_pg_index)GETSTRUCT(tuple))->indisunique;
	ReleaseSysCache(tuple);
	return unique;
}

static void drop(DropStmt *s)
{
	ListCell *cell;
	if (s->removeType != OBJECT_INDEX) return;
	foreach(cell, s->objects)
	{
		Oid index = oid_of(makeRangeVarFromNameList(lfirst(cell)));
		if (!OidIsValid(index)) continue;
		Oid table = IndexGetRelation(index, true);
		if (!OidIsValid(table) || !is_served(table)) continue;
		if (is_unique(index))
			refuse_definition(psprintf("DROP INDEX of \"%s\", "
			                           "which is unique",
			                           get_rel_name(index)));
		s->concurrent = false;
	}
}

/* ---- The whole ---- */

static bool is_definition(Node *n)
{
	switch (nodeTag(n)) {
	case T_AlterDefaultPrivilegesStmt:
	case T_AlterDomainStmt:
	case T_AlterEnumStmt:
	case T_AlterExtensionContentsStmt:
	case T_AlterExtensionStmt:
	case T_AlterFunctionStmt:
	case T_AlterObjectDependsStmt:
	case T_AlterObjectSchemaStmt:
	case T_AlterOperatorStmt:
	case T_AlterOwnerStmt:
	case T_AlterPolicyStmt:
	case T_AlterRoleSetStmt:
	case T_AlterRoleStmt:
	case T_AlterSeqStmt:
	case T_AlterStatsStmt:
	case T_AlterTableStmt:
	case T_AlterTypeStmt:
	case T_CommentStmt:
	case T_CompositeTypeStmt:
	case T_CreateCastStmt:
	case T_CreateConversionStmt:
	case T_CreateDomainStmt:
	case T_CreateEnumStmt:
	case T_CreateExtensionStmt:
	case T_CreateFunctionStmt:
	case T_CreateOpClassStmt:
	case T_CreateOpFamilyStmt:
	case T_CreatePolicyStmt:
	case T_CreateRangeStmt:
	case T_CreateRoleStmt:
	case T_CreateSchemaStmt:
	case T_CreateSeqStmt:
	case T_CreateStatsStmt:
	case T_CreateStmt:
	case T_CreateTableAsStmt:
	case T_CreateTransformStmt:
	case T_CreateTrigStmt:
	case T_DefineStmt:
	case T_DropOwnedStmt:
	case T_DropRoleStmt:
	case T_DropStmt:
	case T_GrantRoleStmt:
	case T_GrantStmt:
	case T_IndexStmt:
	case T_ReassignOwnedStmt:
	case T_RefreshMatViewStmt:
	case T_RenameStmt:
	case T_RuleStmt:
	case T_SecLabelStmt:
	case T_ViewStmt: return true;
	default: return false;
	}
}

bool definition_fits(Node *n)
{
	if (IsA(n, CreatedbStmt) || IsA(n, DropdbStmt))
		ereport(ERROR,
		        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		         errmsg("isoscope does not support %s",
		                GetCommandTagName(CreateCommandTag(n))),
		         errhint("There is one database, \"postgres\", which "
		                 "isoscope serve --schema FILE or --setup "
		                 "COMMAND sets up.")));
	if (!is_definition(n)) return false;
	transaction_take_turn();
	if (IsA(n, CreateStmt)) {
		CreateStmt *s = (CreateStmt *)n;
		define_table(s->relation, s->accessMethod, s->inhRelations);
	} else if (IsA(n, CreateTableAsStmt)) {
		IntoClause *i = ((CreateTableAsStmt *)n)->into;
		define_table(i->rel, i->accessMethod, NIL);
	} else if (IsA(n, AlterTableStmt)) {
		alter_table((AlterTableStmt *)n);
	} else if (IsA(n, IndexStmt)) {
		define_index((IndexStmt *)n);
	} else if (IsA(n, DropStmt)) {
		drop((DropStmt *)n);
	}
	return true;
}

/* What depends on a type goes with it, by CASCADE. */
void definition_dropped(Oid class, Oid object, int column)
{
	if (class == RelationRelationId && column && is_served(object))
		refuse_definition(psprintf("to drop a column of \"%s\"",
		                           get_rel_name(object)));
}
