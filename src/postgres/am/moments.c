/* Which accesses are of one statement: those that see by one snapshot. A
 * statement of a function that is not STABLE has a snapshot of its own. */
#include "postgres/am/backend.h"

#include <access/relation.h>
#include <access/transam.h>
#include <access/xact.h>
#include <executor/executor.h>
#include <tcop/tcopprot.h>
#include <tcop/utility.h>
#include <utils/fmgrprotos.h>
#include <utils/guc.h>
#include <utils/queryjumble.h>
#include <utils/memutils.h>
#include <utils/snapmgr.h>
#include <utils/timestamp.h>

struct running {
	struct running *next;
	QueryDesc *query;
	Snapshot snapshot;
	struct moment *moment;
	int level; /* of transactions within each other */
};

static struct running *running; /* started, and not ended */
static struct moment *current;  /* of what is executed */
static uint64 last_moment;
static bool declares;               /* what is started next is a cursor */
static enum wire_level asked_level; /* of the transaction at hand */
static enum wire_level usual_level; /* of those that do not ask themselves */

static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;
static ExecutorFinish_hook_type next_finish;
static ExecutorEnd_hook_type next_end;
static ProcessUtility_hook_type next_utility;

static struct moment *moment_new(void)
{
	struct moment *m =
		MemoryContextAllocZero(TopTransactionContext, sizeof *m);
	m->number = ++last_moment;
	m->changes = true;
	return m;
}

static struct running *find(Snapshot snapshot)
{
	struct running *r = running;
	while (r && r->snapshot != snapshot) r = r->next;
	return r;
}

struct moment *moment_fresh(void)
{
	return moment_new();
}

struct moment *moment_of(Snapshot snapshot)
{
	struct running *r = find(snapshot);
	return r ? r->moment : moment_now();
}

struct moment *moment_now(void)
{
	if (!current) current = moment_new();
	return current;
}

void moments_forget(int level)
{
	struct running **at = &running;
	declares = false;
	while (*at)
		if ((*at)->level >= level)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	if (level <= 1) current = NULL;
	if (level <= 0) asked_level = WIRE_NO_LEVEL;
}

/* A foreign key's trigger asks whether the row is there that one refers to, or
 * which rows refer to one that goes: PostgreSQL looks at what these are now, at
 * every level. Conditions are `column = $n` there, and `$n = column` here. */
static void look_for_trigger(struct moment *m, QueryDesc *q)
{
	const char *s = q->sourceText, *where = s ? strstr(s, " WHERE ") : NULL;
	if (!where || !strstr(where, " OPERATOR(pg_catalog.=) ") ||
	    !DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, 0)))
		return;
	bool asks = !strncmp(s, "SELECT 1 FROM ", 14);
	m->checks =
		where[7] == '$' && (asks || !strncmp(s, "DELETE FROM ", 12) ||
	                            !strncmp(s, "UPDATE ", 7));
	m->refers =
		where[7] == '"' && asks && strstr(where, " FOR KEY SHARE OF x");
}

void moments_fix_clock(void)
{
	/* 2024-01-01 00:00:00+00 */
	TimestampTz at = INT64CONST(757382400000000);
	if (iso_serves) return;
	SetParallelStartTimestamps(at, at);
}

bool moments_run(void)
{
	return running != NULL;
}

/* Who connects by itself says much that has nothing to do with tables. */
static bool touches_tables(QueryDesc *q)
{
	ListCell *cell;
	foreach(cell, q->plannedstmt->rtable)
	{
		RangeTblEntry *e = lfirst_node(RangeTblEntry, cell);
		if (e->rtekind != RTE_RELATION ||
		    e->relkind != RELKIND_RELATION)
			continue;
		Relation rel = relation_open(e->relid, NoLock);
		/* Those that clients make are not, but lock each other. */
		bool ours = iso_is_ours(rel) ||
		            (iso_serves && e->relid >= FirstNormalObjectId &&
		             !RelationUsesLocalBuffers(rel));
		relation_close(rel, NoLock);
		if (ours) return true;
	}
	return false;
}

/* The text of what a client asks for, without what stands beside it. Served,
 * it is known again by its text, whatever its parameters are. */
static void tell_statement(QueryDesc *q)
{
	struct wire_head h = { .kind = WIRE_STATEMENT };
	int at = q->plannedstmt->stmt_location, n = q->plannedstmt->stmt_len;
	const char *text = CleanQuerytext(q->sourceText, &at, &n);
	StringInfoData s;
	initStringInfo(&s);
	if (iso_serves || !q->params || q->params->paramFetch)
		appendBinaryStringInfo(&s, text, n);
	else
		parameters_put(&s, text, n, q->params);
	channel_send(&h, s.data, (uint32)s.len);
	pfree(s.data);
}

static void begin_for(QueryDesc *q)
{
	if (iso_client && !touches_tables(q)) return;
	transaction_begin();
	if (iso_client && !running) tell_statement(q);
}

static void start(QueryDesc *q, int flags)
{
	if (iso_is_session() && !(flags & EXEC_FLAG_EXPLAIN_ONLY)) {
		rows_forget_news();
		struct running *same = find(q->snapshot);
		struct running *r = MemoryContextAllocZero(
			TopTransactionContext, sizeof *r);
		moments_fix_clock();
		begin_for(q);
		r->query = q;
		r->snapshot = q->snapshot;
		r->moment = same ? same->moment : moment_new();
		if (!same)
			r->moment->changes = q->operation != CMD_SELECT ||
			                     q->plannedstmt->hasModifyingCTE;
		if (!same) look_for_trigger(r->moment, q);
		r->moment->cursor |= declares;
		r->moment->empties |= truncate_is_on();
		declares = false;
		r->level = GetCurrentTransactionNestLevel();
		r->next = running;
		running = r;
	}
	(next_start ? next_start : standard_ExecutorStart)(q, flags);
}

static struct moment *enter(QueryDesc *q)
{
	struct moment *before = current;
	for (struct running *r = running; r; r = r->next)
		if (r->query == q) current = r->moment;
	return before;
}

static void run(QueryDesc *q, ScanDirection direction, uint64 count, bool once)
{
	struct moment *before = enter(q);
	if (!once && current != before) current->cursor = true;
	PG_TRY();
	{
		(next_run ? next_run : standard_ExecutorRun)(q, direction,
		                                             count, once);
	}
	PG_FINALLY();
	{
		current = before;
	}
	PG_END_TRY();
}

static void finish(QueryDesc *q)
{
	struct moment *before = enter(q);
	PG_TRY();
	{
		(next_finish ? next_finish : standard_ExecutorFinish)(q);
	}
	PG_FINALLY();
	{
		current = before;
	}
	PG_END_TRY();
}

static void end(QueryDesc *q)
{
	for (struct running **at = &running; *at; at = &(*at)->next)
		if ((*at)->query == q) {
			*at = (*at)->next;
			break;
		}
	(next_end ? next_end : standard_ExecutorEnd)(q);
}

static enum wire_level level_named(const char *name)
{
	return !pg_strcasecmp(name, "serializable")      ? WIRE_SER
	       : !pg_strcasecmp(name, "repeatable read") ? WIRE_SI
	                                                 : WIRE_PRC;
}

static void note_level(List *options)
{
	ListCell *cell;
	foreach(cell, options)
	{
		DefElem *e = lfirst_node(DefElem, cell);
		if (strcmp(e->defname, "transaction_isolation")) continue;
		asked_level =
			level_named(strVal(&castNode(A_Const, e->arg)->val));
	}
}

/* Of BEGIN and SET TRANSACTION. */
static void find_level(Node *n)
{
	if (IsA(n, TransactionStmt)) {
		TransactionStmt *s = (TransactionStmt *)n;
		if (s->kind == TRANS_STMT_BEGIN || s->kind == TRANS_STMT_START)
			note_level(s->options);
	} else if (IsA(n, VariableSetStmt)) {
		VariableSetStmt *s = (VariableSetStmt *)n;
		if (s->kind == VAR_SET_MULTI && !strcmp(s->name, "TRANSACTION"))
			note_level(s->args);
	}
}

enum wire_level moments_level(void)
{
	return asked_level ? asked_level : usual_level;
}

/* What else is said of all that follow, as PostgreSQL has it. */
static void set_others(List *options)
{
	ListCell *cell;
	foreach(cell, options)
	{
		DefElem *e = lfirst_node(DefElem, cell);
		if (strcmp(e->defname, "transaction_isolation"))
			SetPGVariable(psprintf("default_%s", e->defname),
			              list_make1(e->arg), false);
	}
}

/* How sessions say what their transactions ask for: PostgreSQL itself is to go
 * on at READ COMMITTED. */
bool moments_take_setting(VariableSetStmt *s)
{
	if (s->kind == VAR_SET_MULTI &&
	    !strcmp(s->name, "SESSION CHARACTERISTICS")) {
		enum wire_level before = asked_level;
		asked_level = usual_level;
		note_level(s->args);
		usual_level = asked_level;
		asked_level = before;
		set_others(s->args);
		return true;
	}
	if (!s->name || strcmp(s->name, "default_transaction_isolation"))
		return false;
	usual_level = WIRE_NO_LEVEL;
	if (s->kind == VAR_SET_VALUE)
		usual_level = level_named(
			strVal(&linitial_node(A_Const, s->args)->val));
	return true;
}

/* Which versions a transaction sees is isoscope's business, by its level; the
 * executor is to look again at rows that have changed, as at READ COMMITTED. */
static void utility(PlannedStmt *p, const char *text, bool keep,
                    ProcessUtilityContext context, ParamListInfo params,
                    QueryEnvironment *env, DestReceiver *to,
                    QueryCompletion *done)
{
	if (iso_is_session() && IsTransactionState() &&
	    !IsAbortedTransactionBlockState()) {
		bool outermost = text == debug_query_string;
		moments_fix_clock();
		if (!refuse_command(p->utilityStmt, outermost)) return;
		find_level(p->utilityStmt);
		declares = IsA(p->utilityStmt, DeclareCursorStmt);
		if (iso_serves && IsA(p->utilityStmt, TruncateStmt) &&
		    truncate_tables((TruncateStmt *)p->utilityStmt)) {
			if (done)
				SetQueryCompletion(done, CMDTAG_TRUNCATE_TABLE,
				                   0);
			return;
		}
	}
	(next_utility ? next_utility : standard_ProcessUtility)(
		p, text, keep, context, params, env, to, done);
	if (!iso_is_session() || !IsTransactionState()) return;
	if (IsA(p->utilityStmt, TransactionStmt) && !iso_client) {
		TransactionStmt *s = (TransactionStmt *)p->utilityStmt;
		if (s->kind == TRANS_STMT_BEGIN || s->kind == TRANS_STMT_START)
			transaction_begin();
	}
	XactIsoLevel = XACT_READ_COMMITTED;
}

void moments_init(void)
{
	next_start = ExecutorStart_hook;
	ExecutorStart_hook = start;
	next_run = ExecutorRun_hook;
	ExecutorRun_hook = run;
	next_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = finish;
	next_end = ExecutorEnd_hook;
	ExecutorEnd_hook = end;
	next_utility = ProcessUtility_hook;
	ProcessUtility_hook = utility;
}
