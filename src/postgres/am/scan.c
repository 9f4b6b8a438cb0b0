/* How sessions read tables. One plan node stands for all ways: it knows the
 * conditions on its table, and asks for the rows that could satisfy them in
 * some version that is known, in the order of their keys; or, where the
 * conditions name the whole primary key, for that row, whether it is there or
 * not.
 */
#include "postgres/am/backend.h"

#include <access/transam.h>
#include <access/htup_details.h>
#include <access/nbtree.h>
#include <access/relation.h>
#include <access/stratnum.h>
#include <access/transam.h>
#include <access/xact.h>
#include <catalog/pg_class_d.h>
#include <catalog/pg_opfamily_d.h>
#include <catalog/pg_proc_d.h>
#include <catalog/pg_type_d.h>
#include <commands/trigger.h>
#include <executor/executor.h>
#include <nodes/extensible.h>
#include <nodes/makefuncs.h>
#include <nodes/nodeFuncs.h>
#include <optimizer/clauses.h>
#include <optimizer/cost.h>
#include <optimizer/optimizer.h>
#include <optimizer/pathnode.h>
#include <optimizer/paths.h>
#include <optimizer/plancat.h>
#include <optimizer/planner.h>
#include <optimizer/restrictinfo.h>
#include <parser/parsetree.h>
#include <port/pg_bswap.h>
#include <utils/builtins.h>
#include <utils/datum.h>
#include <utils/fmgroids.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>
#include <utils/numeric.h>
#include <utils/timestamp.h>
#include <utils/typcache.h>

static set_rel_pathlist_hook_type next_paths;
static get_relation_info_hook_type next_info;
static planner_hook_type next_planner;
static ExecutorStart_hook_type next_start;

/* ---- Plans ---- */

static bool asks_variables; /* do the conditions of the query being planned? */
static bool calls_code;     /* does it call functions that may read tables? */

static Plan *make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
                       List *targets, List *clauses, List *plans);
static Node *make_state(CustomScan *plan);

static const CustomPathMethods path_methods = { .CustomName = "isoscope",
	                                        .PlanCustomPath = make_plan };
static const CustomScanMethods plan_methods = { .CustomName = "isoscope",
	                                        .CreateCustomScanState =
	                                                make_state };

static Plan *make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
                       List *targets, List *clauses, List *plans)
{
	CustomScan *s = makeNode(CustomScan);
	s->scan.plan.targetlist = targets;
	s->scan.plan.qual = extract_actual_clauses(clauses, false);
	s->scan.scanrelid = rel->relid;
	s->flags = path->flags;
	s->custom_private = list_make2(makeBoolean(asks_variables),
	                               makeBoolean(calls_code));
	s->methods = &plan_methods;
	return &s->scan.plan;
}

static bool is_table_of_ours(Oid oid)
{
	Relation rel = relation_open(oid, NoLock);
	bool ours = iso_is_ours(rel);
	relation_close(rel, NoLock);
	return ours;
}

/* Tables before it in FROM that conditions on this one mention. */
static Relids tables_before(PlannerInfo *root, RelOptInfo *rel)
{
	Relids all = NULL, before = NULL;
	ListCell *cell;
	int i = -1;
	foreach(cell, rel->joininfo) all = bms_add_members(
		all, lfirst_node(RestrictInfo, cell)->clause_relids);
	while ((i = bms_next_member(rel->eclass_indexes, i)) >= 0) {
		EquivalenceClass *c = list_nth(root->eq_classes, i);
		if (!c->ec_has_const) all = bms_add_members(all, c->ec_relids);
	}
	for (i = -1; (i = bms_next_member(all, i)) >= 0;)
		if (i < (int)rel->relid && root->simple_rel_array[i])
			before = bms_add_member(before, i);
	return before;
}

static void add_scan(PlannerInfo *root, RelOptInfo *rel, Relids outer,
                     double cost)
{
	CustomPath *p = makeNode(CustomPath);
	p->path.pathtype = T_CustomScan;
	p->path.parent = rel;
	p->path.pathtarget = rel->reltarget;
	p->path.param_info = get_baserel_parampathinfo(root, rel, outer);
	if (outer && p->path.param_info &&
	    !bms_equal(outer, rel->lateral_relids) &&
	    p->path.param_info->ppi_clauses == NIL)
		return;
	p->path.rows = cost;
	p->path.total_cost = cost;
	p->flags = CUSTOMPATH_SUPPORT_PROJECTION |
	           CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	p->methods = &path_methods;
	add_path(rel, &p->path);
}

static void set_paths(PlannerInfo *root, RelOptInfo *rel, Index index,
                      RangeTblEntry *entry)
{
	if (next_paths) next_paths(root, rel, index, entry);
	if (!iso_is_session() || entry->rtekind != RTE_RELATION ||
	    entry->relkind != RELKIND_RELATION || entry->inh ||
	    !is_table_of_ours(entry->relid))
		return;
	if (entry->tablesample) refuse("TABLESAMPLE");
	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	rel->consider_parallel = false;
	add_scan(root, rel, rel->lateral_relids, 1000);
	Relids before = tables_before(root, rel);
	if (!bms_is_empty(before) &&
	    !bms_overlap(before, bms_make_singleton((int)rel->relid)))
		add_scan(root, rel, bms_union(before, rel->lateral_relids), 1);
}

/* Indexes lead to rows that others have met. */
static void hide_indexes(PlannerInfo *root, Oid oid, bool inherits,
                         RelOptInfo *rel)
{
	if (next_info) next_info(root, oid, inherits, rel);
	if (!iso_is_session()) return;
	Relation table = relation_open(oid, NoLock);
	if (iso_is_ours(table)) {
		rel->indexlist = NIL;
		unique_take_indexes(table);
	}
	relation_close(table, NoLock);
}

/* Tables are joined in the order of FROM. */
static RelOptInfo *join_in_order(PlannerInfo *root, int levels, List *initial)
{
	RelOptInfo *all = NULL;
	ListCell *cell;
	if (!iso_is_session())
		return standard_join_search(root, levels, initial);
	foreach(cell, initial)
	{
		RelOptInfo *rel = lfirst(cell);
		RelOptInfo *both = all ? make_join_rel(root, all, rel) : rel;
		if (!both) return standard_join_search(root, levels, initial);
		if (all) {
			generate_partitionwise_join_paths(root, both);
			set_cheapest(both);
		}
		all = both;
	}
	return all;
}

/* ---- What does not depend on what is read ---- */

/* `data` is not NULL: parameters are given before. */
static bool has_variable(Node *n, void *data)
{
	if (!n) return false;
	if (IsA(n, Query)) return true;
	if (IsA(n, Param))
		return !data || ((Param *)n)->paramkind != PARAM_EXTERN;
	return expression_tree_walker(n, has_variable, data);
}

/* What a client gives is as what it writes. Who serves does not count what is
 * read, so variables of functions are, too. */
static bool are_given(ParamListInfo params)
{
	return iso_serves ||
	       (iso_client && params && !params->paramFetch && !moments_run());
}

/* `data` is not NULL: also such as only reads tables. */
static bool is_users_code(Oid function, void *data)
{
	return function >= FirstNormalObjectId &&
	       (data || func_volatile(function) == PROVOLATILE_VOLATILE);
}

static bool has_users_code(Node *n, void *data)
{
	if (!n) return false;
	if (check_functions_in_node(n, is_users_code, data)) return true;
	if (IsA(n, Query))
		return query_tree_walker((Query *)n, has_users_code, data, 0);
	return expression_tree_walker(n, has_users_code, data);
}

static PlannedStmt *plan(Query *q, const char *text, int options,
                         ParamListInfo params)
{
	if (iso_is_session()) {
		moments_fix_clock();
		refuse_query(q);
		if (!iso_serves) q = sequences_replace(q);
	}
	bool before = asks_variables, called = calls_code;
	PlannedStmt *p;
	calls_code = iso_serves && has_users_code((Node *)q, NULL);
	asks_variables =
		q->jointree && has_variable(q->jointree->quals,
	                                    are_given(params) ? params : NULL);
	p = (next_planner ? next_planner : standard_planner)(q, text, options,
	                                                     params);
	asks_variables = before;
	calls_code = called;
	return p;
}

/* ---- Execution ---- */

struct scan_state {
	CustomScanState custom; /* first */
	struct table *table;
	struct named *names; /* of the columns of the key; NULL: not all are */
	bool key_alone;      /* the conditions say nothing else */
	bool tries;          /* conditions can be tried on rows */
	bool asks_variables; /* they do */
	bool calls_code;     /* the query does: functions that may read */
	bool was_ahead;      /* all rows that are known were read before */
	bool started, lazy;  /* rows are read as they are asked for */
	int lock;   /* it locks what it finds, and nothing else is read */
	bool alone; /* nor do functions read or change tables */
	struct version **found;
	struct row **rows; /* if it is lazy, instead of them */
	int count, at;
	MemoryContext memory; /* of what is found */
	TupleTableSlot *trial;
};

static void begin_scan(CustomScanState *c, EState *estate, int flags);
static TupleTableSlot *exec_scan(CustomScanState *c);
static void end_scan(CustomScanState *c);
static void rescan(CustomScanState *c);

static const CustomExecMethods exec_methods = {
	.CustomName = "isoscope",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
};

static Node *make_state(CustomScan *plan)
{
	struct scan_state *s = palloc0(sizeof *s);
	NodeSetTag(s, T_CustomScanState);
	s->custom.methods = &exec_methods;
	return (Node *)s;
}

static void find_names(struct scan_state *s)
{
	List *quals = s->custom.ss.ps.plan->qual;
	Index scanned = ((Scan *)s->custom.ss.ps.plan)->scanrelid;
	int named = 0, conditions = list_length(quals);
	ListCell *cell;
	if (!s->table->key_count) return;
	s->names = palloc0(s->table->key_count * sizeof *s->names);
	foreach(cell, quals)
	{
		struct named n;
		int i = named_column(s->table, lfirst(cell), scanned,
		                     &s->custom.ss.ps, &n);
		if (i < 0 || s->names[i].value) continue;
		s->names[i] = n;
		named++;
	}
	s->key_alone = named == conditions;
	if (named < s->table->key_count) s->names = NULL;
}

static bool is_trouble(Node *n, void *data)
{
	if (!n) return false;
	if (IsA(n, SubPlan) || IsA(n, AlternativeSubPlan)) return true;
	return expression_tree_walker(n, is_trouble, data);
}

static void begin_scan(CustomScanState *c, EState *estate, int flags)
{
	struct scan_state *s = (struct scan_state *)c;
	Relation rel = c->ss.ss_currentRelation;
	List *quals = c->ss.ps.plan->qual;
	CustomScan *plan = (CustomScan *)c->ss.ps.plan;
	s->asks_variables = boolVal(linitial(plan->custom_private));
	s->calls_code = boolVal(lsecond(plan->custom_private));
	s->table = table_of(rel);
	find_names(s);
	s->tries = !contain_volatile_functions((Node *)quals) &&
	           !is_trouble((Node *)quals, NULL);
	s->memory = AllocSetContextCreate(estate->es_query_cxt, "isoscope scan",
	                                  ALLOCSET_SMALL_SIZES);
	/* The conditions are made for such a slot. */
	s->trial = ExecInitExtraTupleSlot(estate, RelationGetDescr(rel),
	                                  &TTSOpsVirtual);
}

/* Does the version satisfy the conditions? What fails on a version that may
 * never be read is worth a read. */
static bool satisfies(struct scan_state *s, HeapTuple tuple)
{
	ExprContext *context = s->custom.ss.ps.ps_ExprContext;
	TupleTableSlot *before = context->ecxt_scantuple;
	MemoryContext memory = CurrentMemoryContext;
	volatile bool fine = true;
	if (!s->tries || !s->custom.ss.ps.qual) return true;
	ExecForceStoreHeapTuple(tuple, s->trial, false);
	context->ecxt_scantuple = s->trial;
	PG_TRY();
	{
		fine = ExecQual(s->custom.ss.ps.qual, context);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(memory);
		FlushErrorState();
	}
	PG_END_TRY();
	context->ecxt_scantuple = before;
	ExecClearTuple(s->trial);
	return fine;
}

/* Can a version that is known satisfy the conditions? */
static bool matters(struct scan_state *s, struct row *r)
{
	for (struct version *v = r->versions; v; v = v->older)
		if (v->known && v->tuple && satisfies(s, v->tuple)) return true;
	return false;
}

/* Is a version of it found whichever it is, now and when it is locked? */
static bool is_certain(struct scan_state *s, struct row *r)
{
	if (!r->initial || r->gone) return false;
	if (s->key_alone) return true;
	if (s->names) return false;
	for (struct version *v = r->versions; v; v = v->older)
		if (v->known && v->tuple && !satisfies(s, v->tuple))
			return false;
	return true;
}

/* Can the key be another row's, behind that of this one? Then which of them is
 * found by it counts. */
static bool comes_again(struct row *r)
{
	for (struct version *v = r->versions; r->gone && v; v = v->older)
		if (v->known && v->origin_length) return true;
	return false;
}

static Relation relation_of(struct scan_state *s)
{
	return s->custom.ss.ss_currentRelation;
}

/* The row that the conditions name; NULL: one of the values is NULL. */
static struct row *named_row(struct scan_state *s)
{
	ExprContext *context = s->custom.ss.ps.ps_ExprContext;
	struct table *t = s->table;
	StringInfoData image;
	initStringInfo(&image);
	for (int i = 0; i < t->key_count; i++) {
		bool none, varlena;
		Oid function;
		Datum v = ExecEvalExprSwitchContext(s->names[i].value, context,
		                                    &none);
		if (none) return NULL;
		getTypeOutputInfo(s->names[i].type, &function, &varlena);
		char *text = OidOutputFunctionCall(function, v);
		uint32 n = pg_hton32((uint32)strlen(text));
		appendBinaryStringInfo(&image, (char *)&n, sizeof n);
		appendStringInfoString(&image, text);
	}
	return row_find(t->oid, image.data, (uint32)image.len);
}

/* Rows that the transaction has made are among them. */
static struct row **all_rows(struct scan_state *s, int *count)
{
	struct row **own;
	int more = rows_own(s->table->oid, &own);
	rows_learn(moment_of(s->custom.ss.ps.state->es_snapshot), s->table);
	struct row **all = palloc((s->table->count + more + 1) * sizeof *all);
	rows_sort(s->table, relation_of(s));
	*count = 0;
	for (int i = 0; i < s->table->count; i++)
		all[(*count)++] = s->table->rows[i];
	for (int i = 0; i < more; i++)
		if (!own[i]->known) all[(*count)++] = own[i];
	if (more) rows_order(s->table, all, *count);
	return all;
}

/* Rows that could be found, by what is known of them. */
static struct row **candidates(struct scan_state *s, int *count)
{
	CommandId now = s->custom.ss.ps.state->es_snapshot->curcid;
	struct row **all;
	int n = 0;
	if (s->names) {
		all = palloc(sizeof *all);
		all[0] = named_row(s);
		*count = all[0] != NULL;
		return all;
	}
	all = all_rows(s, count);
	for (int i = 0; i < *count; i++)
		if (row_own(all[i], now) || matters(s, all[i]))
			all[n++] = all[i];
	*count = n;
	return all;
}

static struct version *found_in(struct scan_state *s, struct moment *m,
                                struct row *r, int strength)
{
	struct version *v =
		row_own(r, s->custom.ss.ps.state->es_snapshot->curcid);
	return v ? v : row_answer(m, r, strength);
}

/* Nobody has ever written it. */
static bool is_never(struct scan_state *s, struct row *r)
{
	return s->was_ahead && !r->versions &&
	       !row_own(r, s->custom.ss.ps.state->es_snapshot->curcid);
}

/* isoscope knows whether the row is there in all versions. */
static bool may_be_sure(const struct scan_state *s, const struct moment *m)
{
	return rows_may_read_surely(m) && !s->table->told && s->names &&
	       s->lock != STRENGTH_PLAIN && !m->checks &&
	       (m->refers || (s->key_alone && !s->asks_variables));
}

static void find(struct scan_state *s)
{
	Snapshot snapshot = s->custom.ss.ps.state->es_snapshot;
	struct moment *m = moment_of(snapshot);
	MemoryContext old = MemoryContextSwitchTo(s->memory);
	int count = 0, wanted = 0;
	struct row **all = candidates(s, &count);
	s->started = true;
	s->at = s->count = 0;
	s->lazy = m->checks && s->lock == STRENGTH_KEY_SHARE;
	if (s->lazy) {
		s->rows = all;
		s->count = count;
		MemoryContextSwitchTo(old);
		return;
	}
	struct row **asked = palloc((count + 1) * sizeof *asked);
	bool refers = m->refers && s->names, told = rows_are_told();
	bool certain = s->lock != STRENGTH_PLAIN && !m->checks && !m->empties &&
	               (refers || !s->asks_variables);
	for (int i = 0; i < count; i++) {
		if (row_own(all[i], snapshot->curcid)) continue;
		if (is_never(s, all[i])) continue;
		certain = certain &&
		          (refers ? all[i]->initial && !comes_again(all[i])
		                  : is_certain(s, all[i]));
		asked[wanted++] = all[i];
	}
	int strength = certain || m->empties ? s->lock
	               : m->checks           ? STRENGTH_CHECK
	                                     : STRENGTH_PLAIN;
	bool first = !m->begun;
	if (wanted == 1 && may_be_sure(s, m)) {
		strength = rows_read_surely(m, asked[0], s->lock);
		certain = strength != STRENGTH_PLAIN;
	} else {
		rows_read(m, asked, wanted, strength);
	}
	if (first && wanted == 1 && s->alone && s->names && s->key_alone &&
	    strength == STRENGTH_PLAIN)
		m->alone = asked[0];
	s->found = palloc((count + 1) * sizeof *s->found);
	for (int i = 0; i < count; i++) {
		struct version *v = is_never(s, all[i])
		                            ? NULL
		                            : found_in(s, m, all[i], strength);
		/* Another row, inserted behind the statement's moment. */
		if (v && v->number && certain && !refers && told &&
		    v->origin_length)
			v = NULL;
		if (v && v->tuple)
			s->found[s->count++] = v;
		else if (strength == s->lock && !is_never(s, all[i]) &&
		         !row_own(all[i], snapshot->curcid))
			row_give_up(all[i], strength);
	}
	MemoryContextSwitchTo(old);
}

/* `at` is one more than where it stands: 0 is before the first. Cursors go
 * back, too. */
static struct version *next_of_all(struct scan_state *s)
{
	if (ScanDirectionIsBackward(s->custom.ss.ps.state->es_direction)) {
		if (s->at > 0) s->at--;
	} else if (s->at <= s->count) {
		s->at++;
	}
	return s->at > 0 && s->at <= s->count ? s->found[s->at - 1] : NULL;
}

/* The next one; NULL: there are no more. */
static struct version *next_found(struct scan_state *s)
{
	Snapshot snapshot = s->custom.ss.ps.state->es_snapshot;
	struct moment *m = moment_of(snapshot);
	if (!s->lazy) return next_of_all(s);
	while (s->at < s->count) {
		struct version *v;
		struct row *r = s->rows[s->at++];
		if (!row_own(r, snapshot->curcid))
			rows_read(m, &r, 1, STRENGTH_CHECK);
		v = found_in(s, m, r, STRENGTH_CHECK);
		if (v && v->tuple) return v;
	}
	return NULL;
}

static TupleTableSlot *next(ScanState *ss)
{
	struct scan_state *s = (struct scan_state *)ss;
	if (!s->started) find(s);
	struct version *v = next_found(s);
	if (!v) return ExecClearTuple(ss->ss_ScanTupleSlot);
	version_store(v, ss->ss_currentRelation, ss->ss_ScanTupleSlot);
	return ss->ss_ScanTupleSlot;
}

/* Conditions are all in the plan; they are made for a slot that has its values
 * already, and this one is another. */
static bool recheck(ScanState *ss, TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	return true;
}

static TupleTableSlot *exec_scan(CustomScanState *c)
{
	return ExecScan(&c->ss, next, recheck);
}

static void end_scan(CustomScanState *c)
{
	struct scan_state *s = (struct scan_state *)c;
	MemoryContextDelete(s->memory);
}

static void rescan(CustomScanState *c)
{
	struct scan_state *s = (struct scan_state *)c;
	MemoryContextReset(s->memory);
	s->started = false;
	ExecScanReScan(&c->ss);
}

/* ---- Statements that lock the rows of one table, and read nothing else ----
 */

static struct scan_state *scan_below(PlanState *p)
{
	if (!p || !IsA(p, CustomScanState)) return NULL;
	struct scan_state *s = (struct scan_state *)p;
	bool ours = s->custom.methods == &exec_methods;
	return ours && s->tries ? s : NULL;
}

static int strength_of_mark(RowMarkType mark)
{
	switch (mark) {
	case ROW_MARK_EXCLUSIVE: return STRENGTH_UPDATE;
	case ROW_MARK_NOKEYEXCLUSIVE: return STRENGTH_NO_KEY_UPDATE;
	case ROW_MARK_SHARE: return STRENGTH_SHARE;
	case ROW_MARK_KEYSHARE: return STRENGTH_KEY_SHARE;
	default: return STRENGTH_PLAIN;
	}
}

/* Is a function called that is not PostgreSQL's own? */
static bool calls(List *expressions)
{
	bool any = true;
	return has_users_code((Node *)expressions, &any);
}

static bool plan_calls(const Plan *p)
{
	return calls(p->targetlist) || calls(p->qual);
}

static void find_lock(PlanState *p, EState *estate)
{
	if (p && IsA(p, LimitState)) return;
	if (p && IsA(p, LockRowsState)) {
		LockRows *plan = (LockRows *)p->plan;
		struct scan_state *s = scan_below(outerPlanState(p));
		PlanRowMark *mark = linitial(plan->rowMarks);
		if (!s || list_length(plan->rowMarks) != 1 ||
		    mark->waitPolicy != LockWaitBlock)
			return;
		s->lock = strength_of_mark(mark->markType);
		s->alone = !plan_calls(p->plan) &&
		           !plan_calls(s->custom.ss.ps.plan);
	}
	if (p && IsA(p, ModifyTableState)) {
		ModifyTableState *m = (ModifyTableState *)p;
		struct scan_state *s = scan_below(outerPlanState(p));
		if (!s || m->mt_nrels != 1) return;
		if (m->operation == CMD_DELETE) s->lock = STRENGTH_UPDATE;
		if (m->operation == CMD_UPDATE)
			s->lock =
				ExecUpdateLockMode(estate, m->resultRelInfo) ==
						LockTupleExclusive
					? STRENGTH_UPDATE
					: STRENGTH_NO_KEY_UPDATE;
		s->alone = !plan_calls(s->custom.ss.ps.plan) &&
		           !calls(((ModifyTable *)p->plan)->returningLists);
	}
}

/* ---- Statements that run code between their reads ---- */

static bool collect(PlanState *p, void *data)
{
	List **all = data;
	if (IsA(p, CustomScanState) &&
	    ((CustomScanState *)p)->methods == &exec_methods)
		*all = lappend(*all, p);
	return planstate_tree_walker(p, collect, data);
}

static bool has_trigger_before(EState *estate)
{
	ListCell *cell;
	foreach(cell, estate->es_opened_result_relations)
	{
		TriggerDesc *t = ((ResultRelInfo *)lfirst(cell))->ri_TrigDesc;
		if (t &&
		    (t->trig_insert_before_row || t->trig_update_before_row ||
		     t->trig_delete_before_row))
			return true;
	}
	return false;
}

/* Does the value come from another part of the plan? */
static bool is_given(Node *n, void *data)
{
	if (!n) return false;
	if (IsA(n, Param)) return ((Param *)n)->paramkind == PARAM_EXEC;
	if (IsA(n, SubPlan) || IsA(n, AlternativeSubPlan)) return true;
	return expression_tree_walker(n, is_given, data);
}

static void read_table_ahead(struct scan_state *s, struct moment *m)
{
	MemoryContext old = MemoryContextSwitchTo(s->memory);
	bool given = is_given((Node *)s->custom.ss.ps.plan->qual, NULL);
	CommandId now = s->custom.ss.ps.state->es_snapshot->curcid;
	int count, wanted = 0;
	struct row **all = given ? all_rows(s, &count) : candidates(s, &count);
	for (int i = 0; i < count; i++)
		if (!row_own(all[i], now)) all[wanted++] = all[i];
	rows_read(m, all, wanted, STRENGTH_PLAIN);
	s->was_ahead = given;
	MemoryContextSwitchTo(old);
}

/* What a statement of a function reads has a moment of its own, and those of
 * moments follow each other: so all that this one may read is read before it
 * runs any; and what a cursor reads, before others come. Explorations, where
 * more reads are more histories, refuse it. */
static void read_ahead(QueryDesc *q)
{
	List *scans = NIL;
	ListCell *cell;
	struct moment *m = moment_of(q->snapshot);
	if (collect(q->planstate, &scans) || scans == NIL) return;
	struct scan_state *first = linitial(scans);
	if (!m->cursor && !first->calls_code &&
	    (list_length(scans) == 1 || !has_trigger_before(q->estate)))
		return;
	foreach(cell, scans) read_table_ahead(lfirst(cell), m);
}

static void start(QueryDesc *q, int flags)
{
	(next_start ? next_start : standard_ExecutorStart)(q, flags);
	ListCell *cell;
	if (!iso_is_session()) return;
	foreach(cell, q->estate->es_opened_result_relations)
	{
		Relation rel = ((ResultRelInfo *)lfirst(cell))->ri_RelationDesc;
		if (iso_is_ours(rel)) unique_take_indexes(rel);
	}
	if (IsA(q->planstate, ModifyTableState) &&
	    ((ModifyTable *)q->planstate->plan)->onConflictAction ==
	            ONCONFLICT_NOTHING)
		moment_of(q->snapshot)->goes_on = true;
	if (!q->plannedstmt->subplans) find_lock(q->planstate, q->estate);
	if (iso_serves && !(flags & EXEC_FLAG_EXPLAIN_ONLY)) read_ahead(q);
}

void scans_init(void)
{
	RegisterCustomScanMethods(&plan_methods);
	next_paths = set_rel_pathlist_hook;
	set_rel_pathlist_hook = set_paths;
	next_info = get_relation_info_hook;
	get_relation_info_hook = hide_indexes;
	join_search_hook = join_in_order;
	next_planner = planner_hook;
	planner_hook = plan;
	next_start = ExecutorStart_hook;
	ExecutorStart_hook = start;
}
