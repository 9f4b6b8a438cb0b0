/* TRUNCATE by served clients, as test suites have it between their tests: all
 * rows are deleted, no trigger looks on, and sequences begin anew. */
#include "postgres/am/backend.h"

#include <access/relation.h>
#include <access/xact.h>
#include <catalog/dependency.h>
#include <catalog/heap.h>
#include <catalog/namespace.h>
#include <executor/spi.h>
#include <utils/builtins.h>
#include <utils/guc.h>
#include <utils/lsyscache.h>

static bool empties;

bool truncate_is_on(void)
{
	return empties;
}

static void run(const char *sql)
{
	int result = SPI_execute(sql, false, 0);
	if (result < 0)
		elog(ERROR, "TRUNCATE: %s", SPI_result_code_string(result));
}

static bool is_ours(Oid table)
{
	Relation rel = relation_open(table, AccessShareLock);
	bool ours = iso_is_ours(rel);
	relation_close(rel, NoLock);
	return ours;
}

/* What clients have made may have parts. */
static void empty_table(Oid table)
{
	char *schema = get_namespace_name(get_rel_namespace(table));
	PG_TRY();
	{
		empties = true;
		run(psprintf("DELETE FROM %s%s", is_ours(table) ? "ONLY " : "",
		             quote_qualified_identifier(schema,
		                                        get_rel_name(table))));
	}
	PG_FINALLY();
	{
		empties = false;
	}
	PG_END_TRY();
}

static void restart_sequences(Oid table)
{
	ListCell *cell;
	foreach(cell, getOwnedSequences(table)) run(
		psprintf("SELECT pg_catalog.setval(%u::pg_catalog.regclass, "
	                 "seqstart, false) FROM pg_catalog.pg_sequence "
	                 "WHERE seqrelid = %u",
	                 lfirst_oid(cell), lfirst_oid(cell)));
}

/* Those that are named; and with CASCADE those that refer to them. */
static List *tables_of(TruncateStmt *s)
{
	List *tables = NIL, *relations = NIL;
	ListCell *cell;
	foreach(cell, s->relations)
	{
		RangeVar *v = lfirst_node(RangeVar, cell);
		Oid table = RangeVarGetRelid(v, AccessExclusiveLock, false);
		tables = list_append_unique_oid(tables, table);
	}
	while (s->behavior == DROP_CASCADE) {
		List *more = heap_truncate_find_FKs(tables);
		if (more == NIL) break;
		tables = list_concat_unique_oid(tables, more);
	}
	foreach(cell, tables) relations =
		lappend(relations,
	                relation_open(lfirst_oid(cell), AccessExclusiveLock));
	heap_truncate_check_FKs(relations, false);
	foreach(cell, relations) relation_close(lfirst(cell), NoLock);
	return tables;
}

bool truncate_tables(TruncateStmt *s)
{
	List *tables = tables_of(s);
	ListCell *cell;
	bool ours = false;
	foreach(cell, tables) ours |= is_ours(lfirst_oid(cell));
	if (!ours) return false;
	int level = NewGUCNestLevel();
	set_config_option("session_replication_role", "replica", PGC_SUSET,
	                  PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	foreach(cell, tables) empty_table(lfirst_oid(cell));
	if (s->restart_seqs)
		foreach(cell, tables) restart_sequences(lfirst_oid(cell));
	SPI_finish();
	AtEOXact_GUC(true, level);
	return true;
}
