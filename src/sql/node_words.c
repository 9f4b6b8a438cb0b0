/* The nodes of PostgreSQL's parser in the words of SQL. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "sql/resolve_parts.h"

struct words {
	const char *kind, *words;
};

/* A star stands for the object, which a field of the node tells. */
static const struct words statements[] = {
	{ "AlterCollationStmt", "ALTER COLLATION" },
	{ "AlterDatabaseRefreshCollStmt", "ALTER DATABASE" },
	{ "AlterDatabaseSetStmt", "ALTER DATABASE ... SET" },
	{ "AlterDatabaseStmt", "ALTER DATABASE" },
	{ "AlterDefaultPrivilegesStmt", "ALTER DEFAULT PRIVILEGES" },
	{ "AlterDomainStmt", "ALTER DOMAIN" },
	{ "AlterEnumStmt", "ALTER TYPE ... ADD or RENAME VALUE" },
	{ "AlterEventTrigStmt", "ALTER EVENT TRIGGER" },
	{ "AlterExtensionContentsStmt", "ALTER EXTENSION" },
	{ "AlterExtensionStmt", "ALTER EXTENSION" },
	{ "AlterFdwStmt", "ALTER FOREIGN DATA WRAPPER" },
	{ "AlterForeignServerStmt", "ALTER SERVER" },
	{ "AlterFunctionStmt", "ALTER *" },
	{ "AlterObjectDependsStmt", "ALTER * ... DEPENDS ON EXTENSION" },
	{ "AlterObjectSchemaStmt", "ALTER * ... SET SCHEMA" },
	{ "AlterOpFamilyStmt", "ALTER OPERATOR FAMILY" },
	{ "AlterOperatorStmt", "ALTER OPERATOR" },
	{ "AlterOwnerStmt", "ALTER * ... OWNER TO" },
	{ "AlterPolicyStmt", "ALTER POLICY" },
	{ "AlterPublicationStmt", "ALTER PUBLICATION" },
	{ "AlterRoleSetStmt", "ALTER ROLE ... SET" },
	{ "AlterRoleStmt", "ALTER ROLE" },
	{ "AlterSeqStmt", "ALTER SEQUENCE" },
	{ "AlterStatsStmt", "ALTER STATISTICS" },
	{ "AlterSubscriptionStmt", "ALTER SUBSCRIPTION" },
	{ "AlterSystemStmt", "ALTER SYSTEM" },
	{ "AlterTSConfigurationStmt", "ALTER TEXT SEARCH CONFIGURATION" },
	{ "AlterTSDictionaryStmt", "ALTER TEXT SEARCH DICTIONARY" },
	{ "AlterTableMoveAllStmt", "ALTER * ALL IN TABLESPACE" },
	{ "AlterTableSpaceOptionsStmt", "ALTER TABLESPACE" },
	{ "AlterTableStmt", "ALTER *" },
	{ "AlterTypeStmt", "ALTER TYPE" },
	{ "AlterUserMappingStmt", "ALTER USER MAPPING" },
	{ "CallStmt", "CALL" },
	{ "CheckPointStmt", "CHECKPOINT" },
	{ "ClosePortalStmt", "CLOSE of a cursor" },
	{ "ClusterStmt", "CLUSTER" },
	{ "CommentStmt", "COMMENT ON" },
	{ "CompositeTypeStmt", "CREATE TYPE ... AS (...)" },
	{ "ConstraintsSetStmt", "SET CONSTRAINTS" },
	{ "CopyStmt", "COPY" },
	{ "CreateAmStmt", "CREATE ACCESS METHOD" },
	{ "CreateCastStmt", "CREATE CAST" },
	{ "CreateConversionStmt", "CREATE CONVERSION" },
	{ "CreateDomainStmt", "CREATE DOMAIN" },
	{ "CreateEnumStmt", "CREATE TYPE ... AS ENUM" },
	{ "CreateEventTrigStmt", "CREATE EVENT TRIGGER" },
	{ "CreateExtensionStmt", "CREATE EXTENSION" },
	{ "CreateFdwStmt", "CREATE FOREIGN DATA WRAPPER" },
	{ "CreateForeignServerStmt", "CREATE SERVER" },
	{ "CreateForeignTableStmt", "CREATE FOREIGN TABLE" },
	{ "CreateFunctionStmt", "CREATE FUNCTION" },
	{ "CreateOpClassStmt", "CREATE OPERATOR CLASS" },
	{ "CreateOpFamilyStmt", "CREATE OPERATOR FAMILY" },
	{ "CreatePLangStmt", "CREATE LANGUAGE" },
	{ "CreatePolicyStmt", "CREATE POLICY" },
	{ "CreatePublicationStmt", "CREATE PUBLICATION" },
	{ "CreateRangeStmt", "CREATE TYPE ... AS RANGE" },
	{ "CreateRoleStmt", "CREATE ROLE" },
	{ "CreateSchemaStmt", "CREATE SCHEMA" },
	{ "CreateSeqStmt", "CREATE SEQUENCE" },
	{ "CreateStatsStmt", "CREATE STATISTICS" },
	{ "CreateStmt", "CREATE TABLE" },
	{ "CreateSubscriptionStmt", "CREATE SUBSCRIPTION" },
	{ "CreateTableAsStmt", "CREATE * ... AS" },
	{ "CreateTableSpaceStmt", "CREATE TABLESPACE" },
	{ "CreateTransformStmt", "CREATE TRANSFORM" },
	{ "CreateTrigStmt", "CREATE TRIGGER" },
	{ "CreateUserMappingStmt", "CREATE USER MAPPING" },
	{ "CreatedbStmt", "CREATE DATABASE" },
	{ "DeallocateStmt", "DEALLOCATE" },
	{ "DeclareCursorStmt", "DECLARE ... CURSOR" },
	{ "DefineStmt", "CREATE *" },
	{ "DeleteStmt", "DELETE" },
	{ "DiscardStmt", "DISCARD" },
	{ "DoStmt", "DO" },
	{ "DropOwnedStmt", "DROP OWNED" },
	{ "DropRoleStmt", "DROP ROLE" },
	{ "DropStmt", "DROP *" },
	{ "DropSubscriptionStmt", "DROP SUBSCRIPTION" },
	{ "DropTableSpaceStmt", "DROP TABLESPACE" },
	{ "DropUserMappingStmt", "DROP USER MAPPING" },
	{ "DropdbStmt", "DROP DATABASE" },
	{ "ExecuteStmt", "EXECUTE of a prepared statement" },
	{ "ExplainStmt", "EXPLAIN" },
	{ "FetchStmt", "FETCH or MOVE of a cursor" },
	{ "GrantRoleStmt", "GRANT or REVOKE of a role" },
	{ "GrantStmt", "GRANT or REVOKE" },
	{ "ImportForeignSchemaStmt", "IMPORT FOREIGN SCHEMA" },
	{ "IndexStmt", "CREATE INDEX" },
	{ "InsertStmt", "INSERT" },
	{ "ListenStmt", "LISTEN" },
	{ "LoadStmt", "LOAD" },
	{ "LockStmt", "LOCK TABLE" },
	{ "MergeStmt", "MERGE" },
	{ "NotifyStmt", "NOTIFY" },
	{ "PrepareStmt", "PREPARE" },
	{ "ReassignOwnedStmt", "REASSIGN OWNED" },
	{ "RefreshMatViewStmt", "REFRESH MATERIALIZED VIEW" },
	{ "ReindexStmt", "REINDEX" },
	{ "RenameStmt", "ALTER * ... RENAME" },
	{ "ReturnStmt", "RETURN" },
	{ "RuleStmt", "CREATE RULE" },
	{ "SecLabelStmt", "SECURITY LABEL" },
	{ "SelectStmt", "SELECT" },
	{ "TransactionStmt", "BEGIN, COMMIT and the like" },
	{ "TruncateStmt", "TRUNCATE" },
	{ "UnlistenStmt", "UNLISTEN" },
	{ "UpdateStmt", "UPDATE" },
	{ "VacuumStmt", "VACUUM or ANALYZE" },
	{ "VariableSetStmt", "SET or RESET" },
	{ "VariableShowStmt", "SHOW" },
	{ "ViewStmt", "CREATE VIEW" },
};

static const struct words expressions[] = {
	{ "A_ArrayExpr", "ARRAY[...]" },
	{ "A_Const", "a constant" },
	{ "A_Expr", "an operator" },
	{ "A_Indirection", "a subscript, or a field of a value" },
	{ "A_Star", "*" },
	{ "BitString", "a bit string" },
	{ "BoolExpr", "AND, OR and NOT" },
	{ "BooleanTest", "IS TRUE and the like" },
	{ "CaseExpr", "CASE" },
	{ "CoalesceExpr", "COALESCE" },
	{ "CollateClause", "COLLATE" },
	{ "ColumnRef", "a name" },
	{ "CurrentOfExpr", "WHERE CURRENT OF" },
	{ "FuncCall", "a function" },
	{ "GroupingFunc", "GROUPING()" },
	{ "List", "a list of values" },
	{ "MinMaxExpr", "GREATEST and LEAST" },
	{ "MultiAssignRef", "SET (...) = (...)" },
	{ "NamedArgExpr", "an argument by name (name => value)" },
	{ "NullTest", "IS NULL" },
	{ "ParamRef", "a parameter" },
	{ "RowExpr", "a row of values (...) as a value" },
	{ "SQLValueFunction", "a value of the session" },
	{ "SetToDefault", "DEFAULT" },
	{ "SubLink", "a subquery" },
	{ "TypeCast", "a cast" },
	{ "XmlExpr", "an XML expression" },
	{ "XmlSerialize", "XMLSERIALIZE" },
	/* In FROM. */
	{ "JoinExpr", "JOIN" },
	{ "RangeFunction", "a function in FROM" },
	{ "RangeSubselect", "a subquery in FROM" },
	{ "RangeTableFunc", "XMLTABLE" },
	{ "RangeTableSample", "TABLESAMPLE" },
	{ "RangeVar", "a table" },
};

/* Objects whose names, but for OBJECT_, are not the words for them. */
static const struct words objects[] = {
	{ "AMOP", "OPERATOR" },
	{ "AMPROC", "FUNCTION" },
	{ "ATTRIBUTE", "TYPE" },
	{ "COLUMN", "TABLE" },
	{ "DOMCONSTRAINT", "DOMAIN" },
	{ "FDW", "FOREIGN DATA WRAPPER" },
	{ "FOREIGN_SERVER", "SERVER" },
	{ "MATVIEW", "MATERIALIZED VIEW" },
	{ "OPCLASS", "OPERATOR CLASS" },
	{ "OPFAMILY", "OPERATOR FAMILY" },
	{ "STATISTIC_EXT", "STATISTICS" },
	{ "TABCONSTRAINT", "TABLE" },
	{ "TSCONFIGURATION", "TEXT SEARCH CONFIGURATION" },
	{ "TSDICTIONARY", "TEXT SEARCH DICTIONARY" },
	{ "TSPARSER", "TEXT SEARCH PARSER" },
	{ "TSTEMPLATE", "TEXT SEARCH TEMPLATE" },
};

/* What ALTER TABLE does. */
static const struct words changes[] = {
	{ "AddColumn", "ADD COLUMN" },
	{ "AddConstraint", "ADD CONSTRAINT" },
	{ "AddIdentity", "ALTER COLUMN ... ADD GENERATED" },
	{ "AddInherit", "INHERIT" },
	{ "AddOf", "OF" },
	{ "AlterColumnGenericOptions", "ALTER COLUMN ... OPTIONS" },
	{ "AlterColumnType", "ALTER COLUMN ... TYPE" },
	{ "AlterConstraint", "ALTER CONSTRAINT" },
	{ "AttachPartition", "ATTACH PARTITION" },
	{ "ChangeOwner", "OWNER TO" },
	{ "ClusterOn", "CLUSTER ON" },
	{ "ColumnDefault", "ALTER COLUMN ... SET or DROP DEFAULT" },
	{ "DetachPartition", "DETACH PARTITION" },
	{ "DetachPartitionFinalize", "DETACH PARTITION" },
	{ "DisableRowSecurity", "DISABLE ROW LEVEL SECURITY" },
	{ "DisableRule", "DISABLE RULE" },
	{ "DisableTrig", "DISABLE TRIGGER" },
	{ "DisableTrigAll", "DISABLE TRIGGER ALL" },
	{ "DisableTrigUser", "DISABLE TRIGGER USER" },
	{ "DropCluster", "SET WITHOUT CLUSTER" },
	{ "DropColumn", "DROP COLUMN" },
	{ "DropConstraint", "DROP CONSTRAINT" },
	{ "DropExpression", "ALTER COLUMN ... DROP EXPRESSION" },
	{ "DropIdentity", "ALTER COLUMN ... DROP IDENTITY" },
	{ "DropInherit", "NO INHERIT" },
	{ "DropNotNull", "ALTER COLUMN ... DROP NOT NULL" },
	{ "DropOf", "NOT OF" },
	{ "DropOids", "SET WITHOUT OIDS" },
	{ "EnableAlwaysRule", "ENABLE ALWAYS RULE" },
	{ "EnableAlwaysTrig", "ENABLE ALWAYS TRIGGER" },
	{ "EnableReplicaRule", "ENABLE REPLICA RULE" },
	{ "EnableReplicaTrig", "ENABLE REPLICA TRIGGER" },
	{ "EnableRowSecurity", "ENABLE ROW LEVEL SECURITY" },
	{ "EnableRule", "ENABLE RULE" },
	{ "EnableTrig", "ENABLE TRIGGER" },
	{ "EnableTrigAll", "ENABLE TRIGGER ALL" },
	{ "EnableTrigUser", "ENABLE TRIGGER USER" },
	{ "ForceRowSecurity", "FORCE ROW LEVEL SECURITY" },
	{ "GenericOptions", "OPTIONS" },
	{ "NoForceRowSecurity", "NO FORCE ROW LEVEL SECURITY" },
	{ "ReplicaIdentity", "REPLICA IDENTITY" },
	{ "ResetOptions", "ALTER COLUMN ... RESET" },
	{ "ResetRelOptions", "RESET" },
	{ "SetAccessMethod", "SET ACCESS METHOD" },
	{ "SetCompression", "ALTER COLUMN ... SET COMPRESSION" },
	{ "SetIdentity", "ALTER COLUMN ... SET GENERATED" },
	{ "SetLogged", "SET LOGGED" },
	{ "SetNotNull", "ALTER COLUMN ... SET NOT NULL" },
	{ "SetOptions", "ALTER COLUMN ... SET" },
	{ "SetRelOptions", "SET" },
	{ "SetStatistics", "ALTER COLUMN ... SET STATISTICS" },
	{ "SetStorage", "ALTER COLUMN ... SET STORAGE" },
	{ "SetTableSpace", "SET TABLESPACE" },
	{ "SetUnLogged", "SET UNLOGGED" },
	{ "ValidateConstraint", "VALIDATE CONSTRAINT" },
};

static const char *find(const struct words *all, size_t count, const char *kind)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(all[i].kind, kind)) return all[i].words;
	return NULL;
}

#define FIND(all, kind) find(all, sizeof all / sizeof *all, kind)

/* "MATERIALIZED VIEW", of the field that says what is changed. */
static void print_object(struct text *t, json_t *body)
{
	static const char *const fields[] = { "removeType", "renameType",
		                              "objectType", "objtype", "kind" };
	const char *name = "";
	for (size_t i = 0; i < sizeof fields / sizeof *fields && !*name; i++)
		name = node_string(body, fields[i]);
	if (!strncmp(name, "OBJECT_", 7)) name += 7;
	const char *words = FIND(objects, name);
	for (const char *c = words ? words : name; *c; c++)
		text_char(t, *c == '_' ? ' ' : *c);
}

void node_words(struct text *t, const char *kind, json_t *body)
{
	const char *words = FIND(statements, kind);
	if (!words) words = FIND(expressions, kind);
	assert(words);
	for (const char *c = words ? words : kind; *c; c++) {
		if (*c != '*' || c == words)
			text_char(t, *c);
		else
			print_object(t, body);
	}
}

const char *change_words(json_t *command)
{
	const char *kind = node_string(command, "subtype");
	if (!strncmp(kind, "AT_", 3)) kind += 3;
	const char *words = FIND(changes, kind);
	return words ? words : "ALTER TABLE";
}
