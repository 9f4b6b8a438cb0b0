#include "sql/resolve.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/level_words.h"
#include "base/memory.h"
#include "sql/resolve_parts.h"
#include "vm/bytecode.h"

/* ---- Changes ---- */

static int find_column(struct resolver *r, const struct sql_table *t,
                       const char *name)
{
	const char **names = mem_take0(t->column_count + 1, sizeof *names);
	int found = -1;
	for (uint32_t i = 0; i < t->column_count; i++) {
		names[i] = t->columns[i].name;
		if (!strcmp(names[i], name)) found = (int)i;
	}
	const char *near = diag_nearest(name, names, t->column_count);
	free(names);
	if (found < 0)
		refuse(r, r->place,
		       "column \"%s\" of relation \"%s\" does not "
		       "exist%s%s%s",
		       name, t->name, near ? "; did you mean \"" : "",
		       near ? near : "", near ? "\"?" : "");
	return found;
}

static const struct sql_expr *assigned(struct resolver *r,
                                       const struct sql_table *t,
                                       uint32_t column,
                                       const struct sql_expr *e)
{
	struct text what = { 0 };
	text_format(&what, "column \"%s\"", t->columns[column].name);
	e = coerce(r, e, t->columns[column].type, COERCE_ASSIGNMENT,
	           text_get(&what));
	text_free(&what);
	return e;
}

static void refuse_always(struct resolver *r, const struct sql_column *c,
                          bool update)
{
	if (c->always && update)
		refuse(r, r->place,
		       "column \"%s\" can only be updated to DEFAULT (428C9)",
		       c->name);
	else if (c->always)
		refuse(r, r->place,
		       "cannot insert a non-DEFAULT value into column \"%s\" "
		       "(428C9)",
		       c->name);
}

/* SET (a, b) = (x, y): what stands for the column. */
static json_t *item_of_row(struct resolver *r, json_t *ref)
{
	json_t *items = row_items(json_object_get(ref, "source"));
	if (!items)
		refuse_construct(r, r->place,
		                 "several columns that are set to this");
	else if (node_integer(ref, "ncolumns") !=
	         (int64_t)json_array_size(items))
		refuse(r, r->place,
		       "number of columns does not match number of values");
	return json_array_get(items, (size_t)node_integer(ref, "colno") - 1);
}

/* SET (a, b) = (SELECT x, y ...): the query, which all of them take; NULL
 * without an error: it is none. Each takes its own row of it, the same one. */
static const struct sql_query *query_of_row(struct resolver *r, struct scope *s,
                                            json_t *ref)
{
	json_t *link, *select;
	struct place at = r->place;
	if (!node_is(json_object_get(ref, "source"), "SubLink", &link) ||
	    !node_is(json_object_get(link, "subselect"), "SelectStmt", &select))
		return NULL;
	const struct sql_query *q = resolve_query(r, s, select);
	r->place = at;
	if (!q) return NULL;
	if (node_integer(ref, "ncolumns") != q->target_count)
		return refuse(r, at,
		              "number of columns does not match number of "
		              "values");
	if (query_acts(q))
		return refuse_construct(
			r, at,
			"several columns that are set to a query which calls "
			"functions or locks rows");
	return q;
}

static bool resolve_sets(struct resolver *r, struct scope *s,
                         const struct sql_table *t, json_t *list,
                         const struct sql_set **out, uint32_t *out_count)
{
	uint32_t count = (uint32_t)json_array_size(list);
	struct sql_set *sets =
		region_take0(r->region, (count + 1) * sizeof *sets);
	const struct sql_query *row = NULL;
	s->no_aggregates = "UPDATE";
	for (uint32_t i = 0; i < count; i++) {
		json_t *body, *x;
		const struct sql_expr *given = NULL;
		node_is(json_array_get(list, i), "ResTarget", &body);
		struct place at = r->place = node_place(r, body);
		int column = find_column(r, t, node_string(body, "name"));
		json_t *value = json_object_get(body, "val");
		if (column < 0) return false;
		note_name(r, at, t, (uint32_t)column);
		if (node_is(value, "MultiAssignRef", &x)) {
			if (node_integer(x, "colno") == 1)
				row = query_of_row(r, s, x);
			if (r->failed) return false;
			if (row)
				given = column_of_query(
					r, s, row,
					(uint32_t)node_integer(x, "colno") - 1);
			else
				value = item_of_row(r, x);
		}
		if (json_object_get(body, "indirection"))
			refuse_construct(r, at, "SET of an element or a field");
		sets[i].column = (uint32_t)column;
		for (uint32_t j = 0; j < i; j++)
			if (sets[j].column == sets[i].column)
				refuse(r, at,
				       "multiple assignments to same column "
				       "\"%s\"",
				       t->columns[column].name);
		if (!given && node_is(value, "SetToDefault", &x)) continue;
		refuse_always(r, &t->columns[column], true);
		if (!given && !r->failed) given = resolve_expr(r, s, value);
		if (!r->failed)
			sets[i].value = assigned(r, t, sets[i].column, given);
	}
	s->no_aggregates = NULL;
	*out = sets;
	*out_count = count;
	return !r->failed;
}

static bool resolve_returning(struct resolver *r, struct scope *s, json_t *body,
                              struct sql_statement *st)
{
	s->no_aggregates = "RETURNING";
	return resolve_targets(r, s, json_object_get(body, "returningList"),
	                       &st->returning, &st->returning_count);
}

static void heed_returning(struct sql_statement *st)
{
	for (uint32_t i = 0; i < st->returning_count; i++)
		if (sql_reads_tables(st->returning[i].value))
			st->query->alone = false;
}

static struct sql_table *changed_table(struct resolver *r, json_t *body,
                                       const char **alias)
{
	json_t *relation = json_object_get(body, "relation");
	r->place = node_place(r, relation);
	if (json_object_get(body, "withClause"))
		refuse_construct(r, r->place, "WITH before a change");
	json_t *named = json_object_get(relation, "alias");
	*alias = named ? node_string(named, "aliasname") : NULL;
	return r->failed ? NULL : find_table(r, relation);
}

/* The rows that UPDATE and DELETE change: relation 0 first. */
static bool resolve_rows(struct resolver *r, struct scope *s, json_t *body,
                         const char *more, const char *alias,
                         struct sql_statement *st)
{
	struct sql_query *q = region_take0(r->region, sizeof *q);
	struct sql_from *first = region_take0(r->region, sizeof *first);
	json_t *where = json_object_get(body, "whereClause");
	q->at = st->at;
	q->from = first;
	st->query = q;
	add_table(r, s, st->table, alias);
	if (!resolve_from(r, s, json_object_get(body, more), &q->from))
		return false;
	if (where) q->where = resolve_condition(r, s, where, "WHERE");
	return !r->failed;
}

/* Rows get defaults, or keys, that may tell who inserts them. */
static void note_inserted(struct resolver *r, const struct sql_table *t)
{
	if (r->purpose != PURPOSE_SETUP)
		r->catalog->tables[t->number]->inserted = true;
}

bool resolve_update(struct resolver *r, json_t *body, struct sql_statement *st)
{
	struct scope s = { .outer = r->outer };
	const char *alias;
	st->kind = STATEMENT_UPDATE;
	st->table = changed_table(r, body, &alias);
	bool fine = st->table &&
	            resolve_rows(r, &s, body, "fromClause", alias, st) &&
	            resolve_sets(r, &s, st->table,
	                         json_object_get(body, "targetList"), &st->sets,
	                         &st->set_count) &&
	            resolve_returning(r, &s, body, st);
	if (fine) finish_query(r, &s, st->query);
	if (fine) st->query->relations[0].lock = STRENGTH_NO_KEY_UPDATE;
	assert(!fine || st->query->relations[0].table == st->table);
	for (uint32_t i = 0; fine && i < st->set_count; i++) {
		const struct sql_expr *e = st->sets[i].value;
		if (sql_has_query(e)) st->query->plain = false;
		if (sql_reads_tables(e)) st->query->alone = false;
	}
	if (fine) heed_returning(st);
	for (uint32_t i = 0; fine && i < st->set_count; i++)
		if (!st->sets[i].value) note_inserted(r, st->table);
	free_scope(&s);
	return fine;
}

bool resolve_delete(struct resolver *r, json_t *body, struct sql_statement *st)
{
	struct scope s = { .outer = r->outer };
	const char *alias;
	st->kind = STATEMENT_DELETE;
	st->table = changed_table(r, body, &alias);
	bool fine = st->table &&
	            resolve_rows(r, &s, body, "usingClause", alias, st) &&
	            resolve_returning(r, &s, body, st);
	if (fine) finish_query(r, &s, st->query);
	if (fine) st->query->relations[0].lock = STRENGTH_UPDATE;
	assert(!fine || st->query->relations[0].table == st->table);
	if (fine) heed_returning(st);
	free_scope(&s);
	return fine;
}

/* The columns that INSERT gives: those named, or the first ones. */
static bool inserted_columns(struct resolver *r, json_t *body,
                             struct sql_statement *st, uint32_t given)
{
	json_t *list = json_object_get(body, "cols"), *x;
	const struct sql_table *t = st->table;
	uint32_t count = list ? (uint32_t)json_array_size(list) : given;
	if (given > count || (list && given < count) ||
	    given > t->column_count) {
		refuse(r, r->place, "INSERT has more %s",
		       given < count ? "target columns than expressions"
		                     : "expressions than target columns");
		return false;
	}
	struct sql_set *sets =
		region_take0(r->region, (count + 1) * sizeof *sets);
	for (uint32_t i = 0; i < count; i++) {
		sets[i].column = i;
		if (!list) continue;
		node_is(json_array_get(list, i), "ResTarget", &x);
		r->place = node_place(r, x);
		int column = find_column(r, t, node_string(x, "name"));
		if (column < 0) return false;
		note_name(r, r->place, t, (uint32_t)column);
		sets[i].column = (uint32_t)column;
		for (uint32_t j = 0; j < i; j++)
			if (sets[j].column == sets[i].column)
				refuse(r, r->place,
				       "column \"%s\" specified more than once",
				       t->columns[column].name);
	}
	st->sets = sets;
	st->set_count = count;
	return !r->failed;
}

/* VALUES of an INSERT: each expression becomes one of its column's type;
 * DEFAULT is NULL there. */
static bool inserted_values(struct resolver *r, json_t *body, json_t *rows,
                            struct sql_statement *st)
{
	struct scope s = { .outer = r->outer, .no_aggregates = "VALUES" };
	struct sql_query *q = region_take0(r->region, sizeof *q);
	uint32_t count = (uint32_t)json_array_size(rows);
	json_t *list, *x;
	q->at = st->at;
	q->value_count = count;
	q->values = region_take0(r->region, (count + 1) * sizeof *q->values);
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		node_is(json_array_get(rows, i), "List", &list);
		list = json_object_get(list, "items");
		spread_rows(&s, list);
		uint32_t n = (uint32_t)json_array_size(list);
		if (!i && !inserted_columns(r, body, st, n)) break;
		if (i && n != q->target_count) {
			refuse(r, r->place,
			       "VALUES lists must all be the same "
			       "length");
			break;
		}
		q->target_count = n;
		q->values[i] =
			region_take0(r->region, (n + 1) * sizeof **q->values);
		for (uint32_t c = 0; c < n && !r->failed; c++) {
			json_t *item = json_array_get(list, c);
			uint32_t to = st->sets[c].column;
			assert(to < st->table->column_count);
			if (node_is(item, "SetToDefault", &x)) continue;
			if (!st->overrides || st->table->columns[to].made)
				refuse_always(r, &st->table->columns[to],
				              false);
			q->values[i][c] =
				assigned(r, st->table, st->sets[c].column,
			                 resolve_expr(r, &s, item));
		}
	}
	st->query = q;
	free_scope(&s);
	return !r->failed;
}

static bool inserted_query(struct resolver *r, json_t *body, json_t *select,
                           struct sql_statement *st)
{
	r->keep_literals = true;
	struct sql_query *q = resolve_query(r, r->outer, select);
	if (!q || !inserted_columns(r, body, st, q->target_count)) return false;
	struct sql_target *targets = region_take0(
		r->region, (q->target_count + 1) * sizeof *targets);
	for (uint32_t i = 0; i < q->target_count; i++) {
		targets[i] = q->targets[i];
		if (!st->overrides ||
		    st->table->columns[st->sets[i].column].made)
			refuse_always(r,
			              &st->table->columns[st->sets[i].column],
			              false);
		if (r->failed) return false;
		uint32_t to = st->sets[i].column;
		targets[i].value =
			assigned(r, st->table, to, q->targets[i].value);
		if (q->combination)
			q->right[i] = assigned(r, st->table, to, q->right[i]);
		for (uint32_t k = 0; k < q->value_count; k++)
			q->values[k][i] =
				assigned(r, st->table, to, q->values[k][i]);
	}
	q->targets = targets;
	st->query = q;
	return !r->failed;
}

static bool same_columns(const struct sql_unique *u, const uint32_t *columns,
                         uint32_t count)
{
	for (uint32_t i = 0; i < u->count; i++) {
		bool found = false;
		for (uint32_t j = 0; j < count; j++)
			found |= u->columns[i] == columns[j];
		if (!found) return false;
	}
	return u->count == count;
}

/* The constraint that ON CONFLICT names, or that of its columns. */
static bool resolve_arbiter(struct resolver *r, json_t *infer,
                            struct sql_statement *st)
{
	const struct sql_table *t = st->table;
	json_t *list = json_object_get(infer, "indexElems"), *x;
	uint32_t count = (uint32_t)json_array_size(list);
	const char *name = node_string(infer, "conname");
	uint32_t *columns =
		region_take0(r->region, (count + 1) * sizeof *columns);
	if (json_object_get(infer, "whereClause"))
		refuse_construct(r, r->place, "a partial index");
	for (uint32_t i = 0; i < count; i++) {
		node_is(json_array_get(list, i), "IndexElem", &x);
		if (!*node_string(x, "name")) {
			refuse_construct(r, r->place,
			                 "an index of expressions");
			return false;
		}
		int column = find_column(r, t, node_string(x, "name"));
		if (column < 0) return false;
		columns[i] = (uint32_t)column;
	}
	for (uint32_t i = 0; i <= t->unique_count; i++) {
		const struct sql_unique *u =
			i < t->unique_count ? &t->uniques[i] : t->primary;
		if (u && (*name ? !strcmp(u->name, name)
		                : same_columns(u, columns, count))) {
			st->arbiter = u;
			return !r->failed;
		}
	}
	if (*name)
		refuse(r, r->place,
		       "constraint \"%s\" for table \"%s\" does not exist",
		       name, t->name);
	else
		refuse(r, r->place,
		       "there is no unique or exclusion constraint matching "
		       "the ON CONFLICT specification");
	return false;
}

static bool resolve_conflict(struct resolver *r, json_t *clause,
                             const char *alias, struct sql_statement *st)
{
	json_t *infer = json_object_get(clause, "infer");
	json_t *where = json_object_get(clause, "whereClause");
	struct scope s = { .outer = r->outer };
	bool update =
		!strcmp(node_string(clause, "action"), "ONCONFLICT_UPDATE");
	st->conflict = update ? CONFLICT_UPDATE : CONFLICT_NOTHING;
	r->place = node_place(r, clause);
	if (infer && !resolve_arbiter(r, infer, st)) return false;
	if (!update) return true;
	if (!infer) {
		refuse(r, r->place,
		       "ON CONFLICT DO UPDATE requires inference specification "
		       "or constraint name");
		return false;
	}
	add_table(r, &s, st->table, alias);
	add_table(r, &s, st->table, "excluded");
	bool fine = resolve_sets(r, &s, st->table,
	                         json_object_get(clause, "targetList"),
	                         &st->conflict_sets, &st->conflict_set_count);
	if (fine && where)
		fine = (st->conflict_where = resolve_condition(
				r, &s, where, "WHERE")) != NULL;
	free_scope(&s);
	return fine;
}

bool resolve_insert(struct resolver *r, json_t *body, struct sql_statement *st)
{
	struct scope s = { .outer = r->outer };
	const char *alias;
	json_t *select = NULL, *rows, *conflict;
	st->kind = STATEMENT_INSERT;
	if (!(st->table = changed_table(r, body, &alias))) return false;
	note_inserted(r, st->table);
	if (!strcmp(node_string(body, "override"), "OVERRIDING_USER_VALUE"))
		refuse_construct(r, r->place, "OVERRIDING USER VALUE");
	st->overrides = !strcmp(node_string(body, "override"),
	                        "OVERRIDING_SYSTEM_VALUE");
	node_is(json_object_get(body, "selectStmt"), "SelectStmt", &select);
	rows = json_object_get(select, "valuesLists");
	bool plain = rows && !json_object_get(select, "sortClause") &&
	             !json_object_get(select, "limitCount") &&
	             !json_object_get(select, "limitOffset");
	if (!select) { /* DEFAULT VALUES */
		struct sql_query *q = region_take0(r->region, sizeof *q);
		q->value_count = 1;
		q->values = region_take0(r->region, sizeof *q->values);
		q->at = st->at;
		st->query = q;
	} else if (plain ? !inserted_values(r, body, rows, st)
	                 : !inserted_query(r, body, select, st)) {
		return false;
	}
	conflict = json_object_get(body, "onConflictClause");
	if (conflict && !resolve_conflict(r, conflict, alias, st)) return false;
	add_table(r, &s, st->table, alias);
	bool fine = resolve_returning(r, &s, body, st);
	free_scope(&s);
	return fine;
}

/* ---- Transactions ---- */

/* What PostgreSQL calls the levels. */
static const struct {
	const char *words, *level;
} levels[] = { { "READ COMMITTED", "prc" },
	       { "REPEATABLE READ", "si" },
	       { "SERIALIZABLE", "ser" },
	       { "READ UNCOMMITTED", "prc" } };

const char *sql_level_words(const char *level)
{
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (!strcmp(levels[i].level, level)) return levels[i].words;
	return NULL;
}

/* ISOLATION LEVEL, READ ONLY, READ WRITE, [NOT] DEFERRABLE, which only waits.
 */
static void resolve_modes(struct resolver *r, json_t *options,
                          struct sql_modes *out)
{
	json_t *x, *constant;
	for (size_t i = 0; i < json_array_size(options) && !r->failed; i++) {
		node_is(json_array_get(options, i), "DefElem", &x);
		const char *name = node_string(x, "defname");
		node_is(json_object_get(x, "arg"), "A_Const", &constant);
		const char *word =
			node_string(json_object_get(constant, "sval"), "sval");
		if (!strcmp(name, "transaction_read_only")) {
			out->read_only =
				node_integer(json_object_get(constant, "ival"),
			                     "ival") != 0;
			out->read_write = !out->read_only;
		}
		for (size_t k = 0; k < sizeof levels / sizeof *levels; k++)
			if (!strcmp(name, "transaction_isolation") &&
			    !strcasecmp(word, levels[k].words))
				out->level =
					(own_level)(level_number(
							    levels[k].level) +
				                    1);
	}
}

/* With --engine=postgres, where these change nothing that is seen. */
static bool server_sets(const char *name)
{
	static const char *const names[] = {
		"application_name",
		"check_function_bodies",
		"client_min_messages",
		"constraint_exclusion",
		"role",
		"search_path",
		"transaction_deferrable",
		"transaction_read_only",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name)) return true;
	return strstr(name, "_timeout") || strchr(name, '.') ||
	       !strncmp(name, "log_", 4) || !*name;
}

static bool resolve_set(struct resolver *r, json_t *body,
                        struct sql_statement *s)
{
	const char *name = node_string(body, "name");
	if (strcmp(node_string(body, "kind"), "VAR_SET_MULTI") ||
	    strcmp(name, "TRANSACTION")) {
		struct text t = { 0 };
		text_format(&t, "SET %s", name);
		if (server_sets(name))
			refuse_construct(r, s->at, text_get(&t));
		else
			refuse_everywhere(r, s->at, text_get(&t));
		text_free(&t);
		return false;
	}
	s->kind = STATEMENT_SET_TRANSACTION;
	resolve_modes(r, json_object_get(body, "args"), &s->modes);
	return !r->failed;
}

static bool resolve_transaction(struct resolver *r, json_t *body,
                                struct sql_statement *s)
{
	static const struct {
		const char *kind;
		enum sql_statement_kind means;
	} kinds[] = {
		{ "TRANS_STMT_BEGIN", STATEMENT_BEGIN },
		{ "TRANS_STMT_START", STATEMENT_BEGIN },
		{ "TRANS_STMT_COMMIT", STATEMENT_COMMIT },
		{ "TRANS_STMT_ROLLBACK", STATEMENT_ROLLBACK },
		{ "TRANS_STMT_SAVEPOINT", STATEMENT_SAVEPOINT },
		{ "TRANS_STMT_ROLLBACK_TO", STATEMENT_ROLLBACK_TO },
		{ "TRANS_STMT_RELEASE", STATEMENT_RELEASE },
	};
	const char *kind = node_string(body, "kind");
	resolve_modes(r, json_object_get(body, "options"), &s->modes);
	if (node_flag(body, "chain")) refuse_everywhere(r, s->at, "AND CHAIN");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !r->failed; i++)
		if (!strcmp(kinds[i].kind, kind)) {
			s->kind = kinds[i].means;
			s->name = keep_name(
				r, node_string(body, "savepoint_name"));
			return true;
		}
	refuse_everywhere(r, s->at, "two-phase commit");
	return false;
}

/* ---- The whole ---- */

static const struct {
	const char *kind;
	bool (*resolve)(struct resolver *r, json_t *body,
	                struct sql_statement *s);
} schema[] = {
	{ "CreateStmt", resolve_create_table },
	{ "IndexStmt", resolve_index },
	{ "ViewStmt", resolve_view },
	{ "TruncateStmt", resolve_truncate },
	{ "CreateSeqStmt", resolve_sequence },
	{ "CreateEnumStmt", resolve_enum },
	{ "AlterTableStmt", resolve_alter_table },
	{ "CreateFunctionStmt", resolve_routine },
	{ "CreateTrigStmt", resolve_trigger },
};

/* Not what is no part of a transaction, or of what isoscope can look at. */
static bool server_sets_up(const char *kind, json_t *body)
{
	static const char *const kinds[] = {
		"AlterSystemStmt",         "CopyStmt",
		"CreateForeignTableStmt",  "CreateSubscriptionStmt",
		"CreateTableSpaceStmt",    "CreatedbStmt",
		"DropTableSpaceStmt",      "DropdbStmt",
		"ImportForeignSchemaStmt", "RefreshMatViewStmt",
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kind, kinds[i])) return false;
	if (!strcmp(kind, "VacuumStmt"))
		return !node_flag(body, "is_vacuumcmd");
	return strcmp(kind, "CreateTableAsStmt") ||
	       strcmp(node_string(body, "objtype"), "OBJECT_MATVIEW");
}

/* With --engine=postgres. */
static bool server_carries_out(const struct resolver *r, const char *kind,
                               json_t *body)
{
	static const char *const kinds[] = {
		"ClosePortalStmt", "DeallocateStmt",  "DeclareCursorStmt",
		"DiscardStmt",     "ExecuteStmt",     "FetchStmt",
		"PrepareStmt",     "VariableSetStmt", "VariableShowStmt",
	};
	if (r->purpose == PURPOSE_SETUP) return server_sets_up(kind, body);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kind, kinds[i])) return true;
	return false;
}

static bool resolve_body(struct resolver *r, const char *kind, json_t *body,
                         struct sql_statement *s)
{
	struct text t = { 0 };
	bool changes = true;
	if (!strcmp(kind, "SelectStmt")) {
		s->query = resolve_query(r, r->outer, body);
		return s->query != NULL;
	}
	if (r->purpose == PURPOSE_ASSERT) {
		refuse(r, s->at, "an assertion is one query");
		return false;
	}
	if (!strcmp(kind, "InsertStmt")) return resolve_insert(r, body, s);
	if (!strcmp(kind, "UpdateStmt")) return resolve_update(r, body, s);
	if (!strcmp(kind, "DeleteStmt")) return resolve_delete(r, body, s);
	if (!strcmp(kind, "CallStmt"))
		return resolve_call_statement(r, body, s);
	if (!strcmp(kind, "DoStmt")) return resolve_do(r, body, s);
	if (!strcmp(kind, "TransactionStmt") && r->purpose == PURPOSE_STEP)
		return resolve_transaction(r, body, s);
	if (!strcmp(kind, "VariableSetStmt") && r->purpose == PURPOSE_STEP)
		return resolve_set(r, body, s);
	s->kind = STATEMENT_NOTHING;
	for (size_t i = 0; i < sizeof schema / sizeof *schema; i++) {
		if (strcmp(kind, schema[i].kind)) continue;
		if (r->purpose == PURPOSE_SETUP)
			return schema[i].resolve(r, body, s);
		changes = false;
	}
	node_words(&t, kind, body);
	if (!changes)
		refuse(r, s->at,
		       "%s changes the schema, which is not supported outside "
		       "of setup; write it there",
		       text_get(&t));
	else if (server_carries_out(r, kind, body))
		refuse_construct(r, s->at, text_get(&t));
	else
		refuse_everywhere(r, s->at, text_get(&t));
	text_free(&t);
	return false;
}

struct sql_statement *resolve_statement(struct resolver *r, json_t *statement,
                                        struct place at, uint32_t end)
{
	struct sql_statement *s = region_take0(r->region, sizeof *s);
	json_t *body;
	const char *kind = node_kind(json_object_get(statement, "stmt"), &body);
	assert(at.offset <= end);
	s->at = r->place = at;
	s->end = end;
	s->point = program_add_position(
		r->catalog->program, source_position(r->catalog->all, s->at));
	r->doom = (struct sql_failure){ 0 };
	bool fine = resolve_body(r, kind, body, s);
	assert(fine == !r->failed);
	if (fine) look_for_late_reads(r, s);
	s->doom = r->doom;
	r->doom = (struct sql_failure){ 0 };
	return fine ? s : NULL;
}

struct sql_statement *resolve_in_block(struct resolver *r, json_t *statement,
                                       const struct spec_block *block)
{
	const char *text = r->catalog->all->items[block->at.source].text;
	uint32_t from = (uint32_t)node_integer(statement, "stmt_location");
	uint32_t length = (uint32_t)node_integer(statement, "stmt_len");
	if (!length) length = block->length - from; /* it has no semicolon */
	assert(from + length <= block->length);
	from += block->at.offset;
	struct place at = { block->at.source,
		            skip_blanks(text, from, from + length) };
	return resolve_statement(r, statement, at,
	                         end_of_words(text, at.offset, from + length));
}

struct sql_statement *sql_resolve(struct sql_catalog *c,
                                  const struct spec_block *block,
                                  enum sql_purpose purpose, json_t *statement)
{
	struct resolver r = { .catalog = c,
		              .region = c->region,
		              .base = block->at,
		              .place = block->at,
		              .purpose = purpose };
	return resolve_in_block(&r, statement, block);
}
