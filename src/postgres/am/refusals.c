/* What sessions may not do, since it would not depend on what they read alone:
 * on the clock, on chance, on other backends; or since others would have to
 * wait for it. */
#include "postgres/am/backend.h"

#include <access/relation.h>
#include <access/sysattr.h>
#include <access/transam.h>
#include <catalog/dependency.h>
#include <catalog/objectaccess.h>
#include <catalog/pg_proc.h>
#include <nodes/nodeFuncs.h>
#include <nodes/parsenodes.h>
#include <tcop/utility.h>
#include <utils/fmgroids.h>
#include <utils/lsyscache.h>

/* Of PostgreSQL and of extensions; with a star: all that begin so. */
static const char *const functions[] = { "clock_timestamp",
	                                 "gen_random_*",
	                                 "gen_salt",
	                                 "lastval",
	                                 "lo_*",
	                                 "loread",
	                                 "lowrite",
	                                 "nextval",
	                                 "currval",
	                                 "normal_rand",
	                                 "pg_advisory_*",
	                                 "pg_backend_pid",
	                                 "pg_blocking_pids",
	                                 "pg_cancel_backend",
	                                 "pg_conf_load_time",
	                                 "pg_current_logfile",
	                                 "pg_current_snapshot",
	                                 "pg_current_wal_*",
	                                 "pg_current_xact_id*",
	                                 "pg_export_snapshot",
	                                 "pg_listening_channels",
	                                 "pg_lock_status",
	                                 "pg_logical_*",
	                                 "pg_ls_*",
	                                 "pg_my_temp_schema",
	                                 "pg_notify",
	                                 "pg_postmaster_start_time",
	                                 "pg_read_*",
	                                 "pg_reload_conf",
	                                 "pg_safe_snapshot_blocking_pids",
	                                 "pg_sequence_last_value",
	                                 "pg_stat_*",
	                                 "pg_switch_wal",
	                                 "pg_terminate_backend",
	                                 "pg_try_advisory_*",
	                                 "pg_xact_status",
	                                 "random",
	                                 "set_config",
	                                 "setseed",
	                                 "setval",
	                                 "timeofday",
	                                 "txid_*",
	                                 "uuid_generate_v1*",
	                                 "uuid_generate_v4" };

static bool is_named(const char *pattern, const char *name)
{
	size_t n = strcspn(pattern, "*");
	return pattern[n] ? !strncmp(pattern, name, n) : !strcmp(pattern, name);
}

static bool is_of_server(Oid function)
{
	return function < FirstNormalObjectId ||
	       OidIsValid(getExtensionOfObject(ProcedureRelationId, function));
}

/* Before a function is called for the first time in a statement. */
static object_access_hook_type next_access;

static void access(ObjectAccessType kind, Oid class, Oid object, int part,
                   void *data)
{
	if (next_access) next_access(kind, class, object, part, data);
	if (iso_serves && kind == OAT_DROP)
		definition_dropped(class, object, part);
	if (!iso_is_session() || iso_serves || kind != OAT_FUNCTION_EXECUTE)
		return;
	const char *name = get_func_name(object);
	for (int i = 0; name && i < lengthof(functions); i++)
		if (is_named(functions[i], name) && is_of_server(object))
			refuse(object == F_NEXTVAL || object == F_CURRVAL
			               ? psprintf("%s() in such a place", name)
			       : strstr(name, "_advisory_")
			               ? psprintf("%s() in a session; lock a "
			                          "row instead: SELECT ... FOR "
			                          "UPDATE",
			                          name)
			               : psprintf("%s() in a session", name));
}

/* Tables that clients have made while they are served are PostgreSQL's own. */
static bool reads_ours(Query *q)
{
	ListCell *cell;
	foreach(cell, q->rtable)
	{
		RangeTblEntry *e = lfirst_node(RangeTblEntry, cell);
		if (e->rtekind != RTE_RELATION ||
		    e->relkind != RELKIND_RELATION)
			continue;
		Relation rel = relation_open(e->relid, NoLock);
		bool ours = iso_is_ours(rel);
		relation_close(rel, NoLock);
		if (ours) return true;
	}
	return false;
}

static bool find_place(Node *n, void *data)
{
	if (!n) return false;
	if (IsA(n, Query)) {
		refuse_query((Query *)n);
		return false;
	}
	if (*(bool *)data && IsA(n, Var)) {
		int column = ((Var *)n)->varattno;
		if (column < 0 && column != TableOidAttributeNumber)
			refuse("ctid, xmin, xmax, cmin and cmax in a session");
	}
	if (*(bool *)data && IsA(n, CurrentOfExpr))
		refuse("WHERE CURRENT OF in a session");
	return expression_tree_walker(n, find_place, data);
}

void refuse_query(Query *q)
{
	ListCell *cell;
	bool ours = !iso_serves || reads_ours(q);
	if (ours && q->commandType == CMD_MERGE) refuse("MERGE in a session");
	foreach(cell, q->rowMarks)
	{
		RowMarkClause *c = lfirst_node(RowMarkClause, cell);
		if (c->waitPolicy != LockWaitBlock && !iso_serves)
			refuse("SKIP LOCKED and NOWAIT");
	}
	query_tree_walker(q, find_place, &ours, 0);
}

/* Settings that change nothing else that is seen. */
static const char *const settings[] = { "application_name",
	                                "check_function_bodies",
	                                "client_min_messages",
	                                "constraint_exclusion",
	                                "deadlock_timeout",
	                                "idle_in_transaction_session_timeout",
	                                "lock_timeout",
	                                "log_*",
	                                "role",
	                                "search_path",
	                                "statement_timeout",
	                                "transaction_deferrable",
	                                "transaction_read_only" };

/* False: it is to have no effect. */
static bool check_setting(VariableSetStmt *s, bool outermost)
{
	const char *name = s->name;
	if (iso_serves) return !moments_take_setting(s);
	if (s->kind == VAR_RESET_ALL) return true;
	if (s->kind == VAR_SET_MULTI && !strcmp(name, "TRANSACTION") &&
	    outermost)
		return true;
	if (s->kind == VAR_SET_MULTI)
		refuse(psprintf("SET %s%s", name,
		                outermost ? " in a session"
		                          : " in a function"));
	/* They are over at once, and nobody waits in vain. */
	if (strstr(name, "_timeout")) return false;
	if (strchr(name, '.') && strncmp(name, "isoscope.", 9)) return true;
	for (int i = 0; i < lengthof(settings); i++)
		if (is_named(settings[i], name)) return true;
	refuse(psprintf("SET %s in a session", name));
}

static void check_transaction(TransactionStmt *s)
{
	switch (s->kind) {
	case TRANS_STMT_PREPARE:
	case TRANS_STMT_COMMIT_PREPARED:
	case TRANS_STMT_ROLLBACK_PREPARED: refuse("transactions of two phases");
	default:
		if (s->chain && !iso_serves) refuse("AND CHAIN");
	}
}

/* What clients that are served may have besides. */
static bool is_harmless(Node *n)
{
	switch (nodeTag(n)) {
	case T_LockStmt:
	case T_TruncateStmt: transaction_take_turn(); return true;
	case T_CopyStmt:
	case T_ExplainStmt:
	case T_NotifyStmt:
	case T_ListenStmt:
	case T_UnlistenStmt:
	case T_ConstraintsSetStmt:
	case T_CheckPointStmt:
	case T_LoadStmt: return true;
	default: return false;
	}
}

bool refuse_command(Node *n, bool outermost)
{
	switch (nodeTag(n)) {
	case T_TransactionStmt:
		check_transaction((TransactionStmt *)n);
		return true;
	case T_VariableSetStmt:
		return check_setting((VariableSetStmt *)n, outermost);
	case T_VariableShowStmt:
	case T_PrepareStmt:
	case T_ExecuteStmt:
	case T_DeallocateStmt:
	case T_DeclareCursorStmt:
	case T_FetchStmt:
	case T_ClosePortalStmt:
	case T_DoStmt:
	case T_CallStmt:
	case T_DiscardStmt: return true;
	default: break;
	}
	if (iso_serves && is_harmless(n)) return true;
	/* Tables are isoscope's: there is nothing to tidy up. */
	if (iso_serves &&
	    (IsA(n, VacuumStmt) || IsA(n, ClusterStmt) || IsA(n, ReindexStmt)))
		return false;
	if (iso_serves && definition_fits(n)) return true;
	refuse(psprintf("%s in a session",
	                GetCommandTagName(CreateCommandTag(n))));
}

void refusals_init(void)
{
	next_access = object_access_hook;
	object_access_hook = access;
}
