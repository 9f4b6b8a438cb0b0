/* Logs of SQL: their formats, transactions, what statements read and write. */
#include <string.h>

#include "audit/mysql.h"
#include "audit_support.h"
#include "base/memory.h"
#include "base/rng.h"
#include "file_support.h"
#include "result/audited.h"
#include "suites.h"
#include "support.h"

/* ---- formats ---- */

/* The same lost update in each. */
static const char mysql_log[] =
	"/usr/sbin/mysqld, Version: 5.5.5 (MySQL).\nTcp port: 3306\n"
	"Time                 Id Command    Argument\n"
	"161102 14:43:16\t   10 Connect\troot@localhost on shop\n"
	"\t\t   10 Query\tBEGIN\n"
	"\t\t   10 Query\tSELECT n FROM `stock`\nWHERE id = 5\n"
	"\t\t   11 Query\tSELECT 1\n"
	"\t\t   10 Query\tUPDATE stock SET n = 3 WHERE id = 5 LIMIT 1\n"
	"161102 14:43:17\t   10 Query\tCOMMIT\n"
	"\t\t   10 Quit\t\n";
static const char mysql8_log[] =
	"2016-11-02T14:43:16.123456Z\t   10 Query\tSTART TRANSACTION\n"
	"2016-11-02T14:43:16.123456Z\t   10 Query\tSELECT n FROM stock WHERE "
	"id = 5\n"
	"2016-11-02T14:43:16.123456Z\t   10 Execute\tUPDATE stock SET n = 3 "
	"WHERE id = 5\n"
	"2016-11-02T14:43:16.123456Z\t   10 Query\tCOMMIT\n";
#define CSV(line, vxid, severity, message, detail)                            \
	"2024-01-02 10:20:30.123 UTC,\"u\",\"d\",71,\"[local]\",65a."         \
	"47," line ",\"SELECT\",2024-01-02 10:20:00 UTC," vxid ",0," severity \
	",00000,\"" message "\",\"" detail                                    \
	"\",,,,,,,,\"psql\",\"client backend\",,0\n"
static const char csv_log[] = CSV("1", "3/7", "LOG", "statement: BEGIN", "")
	CSV("2", "3/7", "LOG",
            "execute <unnamed>: SELECT n FROM stock\nWHERE id = $1",
            "parameters: $1 = '5'")
		CSV("3", "3/7", "LOG",
                    "duration: 0.1 ms  execute u1: UPDATE stock SET n "
                    "= $2 WHERE id = $1",
                    "Parameters: $1 = '5', $2 = '3'")
			CSV("4", "3/7", "LOG", "statement: COMMIT", "");
#define JSON(message, more)                                          \
	"{\"timestamp\":\"2024-01-02 10:20:30.123 "                  \
	"UTC\",\"pid\":71,\"session_id"                              \
	"\":\"65a.47\",\"vxid\":\"3/7\",\"error_severity\":\"LOG\"," \
	"\"message\":\"" message "\"" more "}\n"
static const char json_log[] = JSON("statement: BEGIN", "")
	JSON("execute s: SELECT n FROM stock WHERE id = $1",
             ",\"detail\":\"parameters: $1 = '5'\"")
		JSON("statement: UPDATE stock SET n = 3 WHERE id = 5; "
                     "COMMIT",
                     "");
static const char stderr_log[] =
	"2024-01-02 10:20:30.1 UTC [71] LOG:  statement: BEGIN\n"
	"2024-01-02 10:20:30.1 UTC [72] LOG:  statement: SELECT 1\n"
	"2024-01-02 10:20:30.1 UTC [71] LOG:  execute s: SELECT n FROM stock\n"
	"\tWHERE id = $1\n"
	"2024-01-02 10:20:30.1 UTC [71] DETAIL:  parameters: $1 = '5'\n"
	"2024-01-02 10:20:30.1 UTC [71] LOG:  statement: UPDATE stock SET n = "
	"3 "
	"WHERE id = 5\n"
	"2024-01-02 10:20:30.1 UTC [71] LOG:  statement: COMMIT\n";
static const char stock_schema[] = "stock,id,int,,PRI\nstock,n,int,,\n";

/* The same two statements, without transactions. */
static const char queries_csv[] =
	"calls,query,userid\n7,\"SELECT n FROM stock\nWHERE id = $1 -- "
	"\"\"x\"\"\","
	"10\n3,UPDATE stock SET n = $1 WHERE id = $2,10\n1,BEGIN,10\n";
static const char queries_table[] =
	"                 query                 | calls \n"
	"---------------------------------------+-------\n"
	" SELECT n FROM stock                  +|     7\n"
	" WHERE id = $1                         |      \n"
	" UPDATE stock SET n = $1 WHERE id = $2 |     3\n"
	" BEGIN                                 |     1\n"
	"(3 rows)\n"
	"\n";
static const char queries_bordered[] =
	"+-------+---------------------------------------+\n"
	"| calls |                 query                 |\n"
	"+-------+---------------------------------------+\n"
	"|     7 | SELECT n FROM stock -- \xc3\xa9\xc3\xa9            +|\n"
	"|       | WHERE id = $1                         |\n"
	"|     3 | UPDATE stock SET n = $1 WHERE id = $2 |\n"
	"|     1 | BEGIN                                 |\n"
	"+-------+---------------------------------------+\n";

START_TEST(statements_alone)
{
	static const char *const logs[] = { queries_csv, queries_table,
		                            queries_bordered };
	struct audit a;
	audit_of(&a, (struct audit_given){ .log = logs[_i],
	                                   .schema = stock_schema,
	                                   .level = LEVEL_PRC });
	ck_assert_int_eq(a.logs[0].format, LOG_QUERIES);
	ck_assert_uint_eq(a.classes.count, 2);
	ck_assert_uint_eq(a.classes.items[0].instances, 7);
	ck_assert_uint_eq(a.classes.items[0].operations, 2);
	ck_assert_uint_eq(a.classes.items[1].instances, 3);
	ck_assert_uint_eq(a.classes.transactions, 10);
	ck_assert_uint_eq(a.anomaly_count, 0);
	for (int k = 0; k < LOG_SKIP_COUNT; k++)
		ck_assert_uint_eq(a.logs[0].skipped[k].count, 0);
	audit_free(&a);
}
END_TEST

START_TEST(every_format)
{
	static const struct {
		enum log_format format;
		const char *log;
	} logs[] = { { LOG_MYSQL, mysql_log },
		     { LOG_MYSQL, mysql8_log },
		     { LOG_CSV, csv_log },
		     { LOG_JSON, json_log },
		     { LOG_STDERR, stderr_log } };
	struct audit a;
	audit_of(&a, (struct audit_given){ .log = logs[_i].log,
	                                   .schema = stock_schema,
	                                   .level = LEVEL_PRC });
	ck_assert_int_eq(a.logs[0].format, logs[_i].format);
	ck_assert_uint_eq(a.classes.count, 1);
	ck_assert_uint_eq(a.classes.items[0].count, 2);
	ck_assert_uint_eq(a.classes.items[0].operations, 4);
	ck_assert_uint_eq(a.anomaly_count, 1);
	ck_assert_uint_eq(a.anomalies[0].cycle.count, 2);
	ck_assert_uint_eq(a.protected_count, 1);
	for (int k = 0; k < LOG_SKIP_COUNT; k++)
		ck_assert_uint_eq(a.logs[0].skipped[k].count, 0);
	audit_free(&a);
}
END_TEST

/* An error and a ROLLBACK undo; several statements of a message are one
 * transaction; sessions are apart; a virtual transaction ends the one before.
 */
START_TEST(ends_of_transactions)
{
	static const struct {
		const char *log;
		uint32_t classes, instances, rolled_back;
	} cases[] = {
		{ "\t\t 1 Query\tBEGIN\n\t\t 1 Query\tSELECT a FROM t\n"
		  "\t\t 1 Query\tROLLBACK\n",
		  0, 0, 1 },
		{ "\t\t 1 Query\tSELECT a FROM t\n\t\t 1 Query\tSELECT a FROM "
		  "t\n",
		  1, 2, 0 },
		{ "\t\t 1 Query\tset autocommit=0\n\t\t 1 Query\tSELECT a FROM "
		  "t\n\t\t 1 Query\tSELECT b FROM t\n\t\t 1 Query\tset "
		  "autocommit=1\n",
		  1, 1, 0 },
		{ "\t\t 1 Query\tBEGIN\n\t\t 2 Query\tBEGIN\n\t\t 1 Query\t"
		  "SELECT a FROM t\n\t\t 2 Query\tSELECT b FROM t\n\t\t 1 "
		  "Query\tCOMMIT\n\t\t 2 Query\tCOMMIT\n",
		  2, 2, 0 },
		{ "\t\t 1 Query\tBEGIN\n\t\t 1 Query\tSAVEPOINT s\n\t\t 1 "
		  "Query\tSELECT a FROM t\n\t\t 1 Query\tROLLBACK TO s\n\t\t "
		  "1 Query\tCOMMIT\n",
		  1, 1, 0 },
		{ "2024-01-02 10:20:30 UTC [7] LOG:  statement: SELECT a FROM "
		  "t; SELECT b FROM t\n",
		  1, 1, 0 },
		{ "2024-01-02 10:20:30 UTC [7] LOG:  statement: SELECT a FROM "
		  "t\n2024-01-02 10:20:30 UTC [7] ERROR:  division by zero\n",
		  0, 0, 1 },
		/* What cannot be parsed is not logged. */
		{ "2024-01-02 10:20:30 UTC [7] LOG:  statement: SELECT a FROM "
		  "t\n2024-01-02 10:20:30 UTC [7] ERROR:  syntax error at or "
		  "near \"FROM\" at character 8\n2024-01-02 10:20:30 UTC [7] "
		  "STATEMENT:  SELECT FROM WHERE\n2024-01-02 10:20:30 UTC [7] "
		  "LOG:  statement: SELECT a FROM t\n",
		  1, 2, 0 },
		{ "2024-01-02 10:20:30 UTC [7] LOG:  statement: SELECT a\n"
		  "\tFROM t\n2024-01-02 10:20:30 UTC [7] ERROR:  no word at or "
		  "near \"a\"\n2024-01-02 10:20:30 UTC [7] STATEMENT:  SELECT "
		  "a\n\tFROM t\n",
		  0, 0, 1 },
		{ "2024-01-02 10:20:30 UTC [7] LOG:  statement: BEGIN\n"
		  "2024-01-02 10:20:30 UTC [7] LOG:  statement: SELECT a FROM "
		  "t\n2024-01-02 10:20:30 UTC [7] ERROR:  syntax error at end "
		  "of input\n2024-01-02 10:20:30 UTC [7] STATEMENT:  SELECT\n"
		  "2024-01-02 10:20:30 UTC [7] LOG:  statement: COMMIT\n",
		  0, 0, 1 },
		{ CSV("1", "3/7", "LOG", "statement: SELECT a FROM t", "") CSV(
			  "2", "3/8", "LOG", "statement: SELECT a FROM t", ""),
		  1, 2, 0 },
		/* Three rounds of a loop are as two. */
		{ "\t\t 1 Query\tBEGIN\n\t\t 1 Query\tSELECT a FROM t\n\t\t 1 "
		  "Query\tSELECT a FROM t\n\t\t 1 Query\tCOMMIT\n\t\t 1 Query\t"
		  "BEGIN\n\t\t 1 Query\tSELECT a FROM t\n\t\t 1 Query\tSELECT "
		  "a FROM t\n\t\t 1 Query\tSELECT a FROM t\n\t\t 1 Query\t"
		  "COMMIT\n",
		  1, 2, 0 },
	};
	struct audit a;
	uint64_t instances = 0;
	audit_of(&a, (struct audit_given){ .log = cases[_i].log,
	                                   .level = LEVEL_PRC });
	for (uint32_t i = 0; i < a.classes.count; i++)
		instances += a.classes.items[i].instances;
	ck_assert_uint_eq(a.classes.count, cases[_i].classes);
	ck_assert_uint_eq(instances, cases[_i].instances);
	ck_assert_uint_eq(a.classes.rolled_back, cases[_i].rolled_back);
	audit_free(&a);
}
END_TEST

/* What a careless reading of a log overlooks: each has an anomaly, or says why
 * it has none for certain. */
#define PG(text) "2024-01-02 10:20:30 UTC [7] LOG:  statement: " text "\n"
#define TWO(read, write) PG("BEGIN") PG(read) PG(write) PG("COMMIT")
#define SET_N "UPDATE t SET n = 3 WHERE id = 5"
static const struct {
	const char *log;
	enum level level;
	enum verdict verdict;
} overlooked[] = {
	/* Rows that come and go are read without a column, ... */
	{ TWO("SELECT count(*) FROM t", "INSERT INTO t (n) VALUES (1)"),
	  LEVEL_SI, VERDICT_VIOLATED },
	{ TWO("SELECT EXISTS (SELECT 1 FROM t)", "DELETE FROM t WHERE id = 3"),
	  LEVEL_SI, VERDICT_VIOLATED },
	{ TWO("SELECT count(*) FROM t", SET_N), LEVEL_SI, VERDICT_HOLDS },
	/* ... and have columns that INSERT does not list, but a new key. */
	{ TWO("SELECT sum(n) FROM t", "INSERT INTO t (s) VALUES ('a')"),
	  LEVEL_SI, VERDICT_VIOLATED },
	{ TWO("SELECT n FROM t WHERE id = 5", "INSERT INTO t (n) VALUES (1)"),
	  LEVEL_SI, VERDICT_HOLDS },
	{ TWO("SELECT n FROM t WHERE id = 5", "INSERT INTO t (id) VALUES (6)"),
	  LEVEL_SI, VERDICT_VIOLATED },
	/* Names of queries, rows and columns. */
	{ TWO("WITH t AS (SELECT n FROM t WHERE id = 5) SELECT n FROM t",
	      SET_N),
	  LEVEL_PRC, VERDICT_VIOLATED },
	{ TWO("SELECT n FROM t WHERE id = 5", "WITH t AS (SELECT 1) " SET_N),
	  LEVEL_PRC, VERDICT_VIOLATED },
	{ TWO("SELECT row_to_json(x) FROM t x WHERE id = 5", SET_N), LEVEL_PRC,
	  VERDICT_VIOLATED },
	{ TWO("SELECT z FROM t WHERE id = 5",
	      "UPDATE t SET z = 3 WHERE id = 5"),
	  LEVEL_PRC, VERDICT_VIOLATED },
	{ TWO("SELECT id FROM t ORDER BY n LIMIT 1", SET_N), LEVEL_SI,
	  VERDICT_VIOLATED },
	{ TWO("SELECT id FROM t ORDER BY n * 2", SET_N), LEVEL_SI,
	  VERDICT_VIOLATED },
	{ TWO("SELECT rank() OVER (ORDER BY n) FROM t", SET_N), LEVEL_SI,
	  VERDICT_VIOLATED },
	{ TWO("SELECT count(*) FROM t GROUP BY n", SET_N), LEVEL_SI,
	  VERDICT_VIOLATED },
	{ TWO("SELECT DISTINCT ON (n) id FROM t", SET_N), LEVEL_SI,
	  VERDICT_VIOLATED },
	{ TWO("SELECT id FROM t ORDER BY id", SET_N), LEVEL_SI, VERDICT_HOLDS },
	/* Locks that are none. */
	{ TWO("SELECT n FROM t WHERE id = 5 FOR NO KEY UPDATE", SET_N),
	  LEVEL_PRC, VERDICT_HOLDS },
	{ TWO("SELECT n FROM t WHERE id = 5 FOR KEY SHARE", SET_N), LEVEL_PRC,
	  VERDICT_VIOLATED },
	{ TWO("SELECT n FROM t, u WHERE t.id = 5 AND u.id = 5 FOR UPDATE OF u",
	      SET_N),
	  LEVEL_PRC, VERDICT_VIOLATED },
	{ TWO("SELECT n FROM t, u WHERE t.id = 5 AND u.id = 5 FOR UPDATE OF t",
	      SET_N),
	  LEVEL_PRC, VERDICT_HOLDS },
	{ TWO("SELECT n FROM t WHERE id = 5 FOR SHARE", SET_N), LEVEL_PRC,
	  VERDICT_HOLDS },
	/* The first and the last of three conflict over the same row. */
	{ TWO("SELECT n FROM t WHERE id = 5",
	      "UPDATE t SET s = s || 'a' WHERE id = 5") PG(SET_N),
	  LEVEL_PRC, VERDICT_VIOLATED },
	/* Columns that no condition names. */
	{ TWO("SELECT v.m FROM t NATURAL JOIN v WHERE t.id = 5",
	      "UPDATE v SET n = 3 WHERE m = 5"),
	  LEVEL_PRC, VERDICT_VIOLATED },
	{ TWO("SELECT v.m FROM t CROSS JOIN v WHERE t.id = 5",
	      "UPDATE v SET n = 3 WHERE m = 5"),
	  LEVEL_PRC, VERDICT_HOLDS },
	{ TWO("SELECT x.m FROM t, (v x NATURAL LEFT JOIN u)",
	      "UPDATE t SET n = 3 WHERE id = 5"),
	  LEVEL_PRC, VERDICT_HOLDS },
	/* The row that is there already is locked. */
	{ PG("INSERT INTO t VALUES (5, 1) ON CONFLICT (id) DO UPDATE SET n = "
	     "t.n + 1"),
	  LEVEL_PRC, VERDICT_HOLDS },
	{ PG("INSERT INTO t VALUES (5, 1) ON CONFLICT (id) DO UPDATE SET n = "
	     "(SELECT max(n) FROM t)"),
	  LEVEL_PRC, VERDICT_VIOLATED },
	/* A row is locked from the first write on. */
	{ PG("BEGIN") PG("UPDATE t SET n = n + 1 WHERE id = 5")
	          PG("SELECT n FROM t WHERE id = 6") PG(SET_N) PG("COMMIT"),
	  LEVEL_RC, VERDICT_HOLDS },
	/* An UPDATE that finds no row locks none. */
	{ PG("BEGIN") PG("UPDATE t SET n = 2 WHERE id = 6")
	          PG("SELECT n FROM t WHERE id = 6")
	                  PG("SELECT m FROM u WHERE id = 5") PG("COMMIT")
	                          TWO("UPDATE u SET m = 3 WHERE id = 5",
	                              "INSERT INTO t (id, n) VALUES (6, 1)"),
	  LEVEL_PRC, VERDICT_VIOLATED },
	/* Ends of transactions that are none. */
	{ PG("BEGIN") PG("SAVEPOINT s") "2024-01-02 10:20:30 UTC [7] ERROR:  "
	                                "duplicate\n" PG("ROLLBACK TO s") PG(
						"SELECT n FROM t WHERE id = 5")
	                                        PG(SET_N) PG("COMMIT"),
	  LEVEL_PRC, VERDICT_VIOLATED },
	{ PG("BEGIN") PG("SELECT n FROM t WHERE id = 5") PG("BEGIN") PG(SET_N)
	          PG("COMMIT"),
	  LEVEL_PRC, VERDICT_VIOLATED },
	{ PG("BEGIN") PG("COMMIT AND CHAIN") PG("SELECT n FROM t WHERE id = 5")
	          PG(SET_N) PG("COMMIT"),
	  LEVEL_PRC, VERDICT_VIOLATED },
	/* What was not looked at. */
	{ PG("SHOW x"), LEVEL_PRC, VERDICT_INCONCLUSIVE },
	{ PG("BEGIN") PG("SELECT n FROM t WHERE id = 5") PG("ROLLBACK")
	          PG(SET_N),
	  LEVEL_PRC, VERDICT_INCONCLUSIVE },
	{ PG(SET_N) PG("BEGIN") PG("SELECT n FROM t WHERE id = 5"), LEVEL_PRC,
	  VERDICT_INCONCLUSIVE },
	{ PG(SET_N) PG("SELECT n FROM t WHERE s = 'a"), LEVEL_PRC,
	  VERDICT_INCONCLUSIVE },
	/* Another code than UTF-8. */
	{ TWO("SELECT n, '\xe9' FROM t WHERE id = 5", SET_N), LEVEL_PRC,
	  VERDICT_VIOLATED },
	{ PG(SET_N) "stray\n", LEVEL_PRC, VERDICT_INCONCLUSIVE },
	{ "LOG:  statement: " SET_N "\n", LEVEL_PRC, VERDICT_INCONCLUSIVE },
	/* The server's own lines begin otherwise. */
	{ "\t\t 1 Query\tUPDATE t SET s = 'a\nTime, Version: 3'\n\t\t 1 "
	  "Query\tSELECT n FROM t\n",
	  LEVEL_PRC, VERDICT_HOLDS },
};
enum { OVERLOOKED = sizeof overlooked / sizeof *overlooked };

START_TEST(nothing_is_overlooked)
{
	struct audit a;
	audit_of(&a, (struct audit_given){
			     .log = overlooked[_i].log,
			     .schema = "CREATE TABLE t (id int PRIMARY "
				       "KEY, n int, s text);"
				       "CREATE TABLE u (id int PRIMARY "
				       "KEY, m int);"
				       "CREATE TABLE v (m int, n int);",
			     .level = overlooked[_i].level });
	ck_assert_msg(audit_verdict(&a) == overlooked[_i].verdict, "%s",
	              overlooked[_i].log);
	audit_free(&a);
}
END_TEST

/* The row that the second statement changes is one that the first one finds. */
START_TEST(rows_meet_all_conditions)
{
	struct audit a;
	audit_of(&a,
	         (struct audit_given){
			 .log = TWO("SELECT id FROM t WHERE s = 'new' ORDER BY "
	                            "id LIMIT 1",
	                            "UPDATE t SET s = 'taken' WHERE id = 5"),
			 .schema = "CREATE TABLE t (id int PRIMARY KEY, "
				   "n int, s text);",
			 .level = LEVEL_PRC,
			 .confirms = true });
	ck_assert_uint_eq(a.anomaly_count, 1);
	ck_assert_uint_eq(a.confirmations[CONFIRM_FOUND], 1);
	audit_free(&a);
}
END_TEST

/* What is nested too deep to be read is told. */
START_TEST(deep_expressions)
{
	struct text log = { 0 };
	struct audit a;
	text_string(&log, "\t\t 1 Query\tSELECT ");
	for (int i = 0; i < 150; i++) text_string(&log, "-(");
	text_string(&log, "n");
	for (int i = 0; i < 150; i++) text_string(&log, ")");
	text_string(&log, " FROM stock\n");
	audit_of(&a, (struct audit_given){ .log = text_get(&log),
	                                   .schema = stock_schema,
	                                   .level = LEVEL_PRC });
	const struct template *x = &a.classes.templates.items[0];
	ck_assert_int_eq(x->kind, TEMPLATE_UNREAD);
	ck_assert_str_eq(x->why, "expressions are nested too deep");
	ck_assert_int_eq(audit_verdict(&a), VERDICT_INCONCLUSIVE);
	audit_free(&a);
	text_free(&log);
}
END_TEST

/* ---- calls ---- */

#define ON(connection, text) "\t\t " connection " Query\t" text "\n"
#define READ_N "SELECT n FROM t WHERE id = 5"
#define ALONE(tag) ON("1", READ_N " /*" tag "*/") ON("1", SET_N " /*" tag "*/")

START_TEST(calls)
{
	static const struct {
		const char *group_by, *log;
		enum level level;
		uint32_t calls, classes, anomalies, spanning;
	} cases[] = {
		/* By themselves, no two of them are anything. */
		{ NULL, ALONE("a='1'"), LEVEL_PRC, 0, 2, 0, 0 },
		{ "connection", ALONE("a='1'"), LEVEL_PRC, 1, 1, 1, 1 },
		/* What is not one transaction is no anomaly of a level. */
		{ "connection", ALONE("a='1'"), LEVEL_SI, 1, 1, 1, 1 },
		{ "connection", ALONE("a='1'"), LEVEL_SERIAL, 1, 1, 1, 1 },
		{ "connection",
		  ON("1", "BEGIN") ON("1", READ_N) ON("1", SET_N)
		          ON("1", "COMMIT"),
		  LEVEL_SERIAL, 1, 1, 0, 0 },
		{ "connection",
		  ON("1", "BEGIN") ON("1", READ_N) ON("1", SET_N)
		          ON("1", "COMMIT"),
		  LEVEL_PRC, 1, 1, 1, 0 },
		/* A lock is given up with the transaction that took it. */
		{ "connection",
		  ON("1", "BEGIN") ON("1", READ_N " FOR UPDATE")
		          ON("1", "COMMIT") ON("1", SET_N),
		  LEVEL_PRC, 1, 1, 1, 1 },
		/* Two writes, between which another may be seen. */
		{ "connection", ON("1", SET_N) ON("1", SET_N), LEVEL_PRC, 1, 1,
		  2, 2 },
		/* Connections are apart, and their ends are ends of calls. */
		{ "connection",
		  ON("1", READ_N) ON("2", SET_N) ON("1", READ_N) ON("2", SET_N),
		  LEVEL_SERIAL, 2, 2, 6, 6 },
		{ "connection",
		  ON("1", READ_N) "\t\t 1 Quit\t\n" ON("1", SET_N), LEVEL_PRC,
		  2, 2, 0, 0 },
		/* Tags of both kinds; without one, a statement is alone. */
		{ "tag:a", ALONE("a='1',b='2'") ALONE("a='2',b='2'"), LEVEL_PRC,
		  2, 1, 1, 1 },
		{ "tag:b", ALONE("a='1',b='2'") ALONE("a='2',b='2'"), LEVEL_PRC,
		  1, 1, 8, 8 },
		{ "tag:a,b", ALONE("app:shop,a:1,b:2"), LEVEL_PRC, 1, 1, 1, 1 },
		{ "tag:b", ALONE("a='b=1'"), LEVEL_PRC, 2, 2, 0, 0 },
		{ "tag:a", ON("1", READ_N " /*a:1*/") ON("1", SET_N), LEVEL_PRC,
		  2, 2, 0, 0 },
		/* BEGIN and COMMIT rarely have them. */
		{ "tag:a",
		  ON("1", "BEGIN") ON("1", READ_N " -- a:1") ON("1", "COMMIT")
		          ON("1", "BEGIN") ON("1", SET_N " -- a:1")
		                  ON("1", "COMMIT"),
		  LEVEL_PRC, 1, 1, 1, 1 },
		/* A request may have several connections. */
		{ "request:id",
		  ON("1", READ_N " /* id='7' */") ON("2", READ_N " /*id=8*/")
		          ON("3", SET_N " # id: 7\n"),
		  LEVEL_PRC, 2, 2, 1, 1 },
		{ "tag:id",
		  ON("1", READ_N " /*id=7*/") ON("2", SET_N " /*id=7*/"),
		  LEVEL_PRC, 2, 2, 0, 0 },
		/* What was rolled back is not part of it. */
		{ "connection",
		  ON("1", READ_N) ON("1", "BEGIN") ON("1", SET_N)
		          ON("1", "ROLLBACK"),
		  LEVEL_PRC, 1, 1, 0, 0 },
	};
	struct audit a;
	uint32_t spanning = 0;
	audit_of(&a, (struct audit_given){
			     .log = cases[_i].log,
			     .schema = "CREATE TABLE t (id int PRIMARY KEY, "
				       "n int);",
			     .group_by = cases[_i].group_by,
			     .level = cases[_i].level });
	for (uint32_t i = 0; i < a.anomaly_count; i++)
		spanning += audit_spans_call(&a, &a.anomalies[i]);
	ck_assert_uint_eq(a.classes.calls, cases[_i].calls);
	ck_assert_uint_eq(a.classes.count, cases[_i].classes);
	ck_assert_uint_eq(a.anomaly_count, cases[_i].anomalies);
	ck_assert_uint_eq(spanning, cases[_i].spanning);
	audit_free(&a);
}
END_TEST

/* More calls than are kept open at once, and one that never ends. */
START_TEST(many_calls)
{
	struct text log = { 0 };
	struct audit a;
	for (int i = 0; i < 10000; i++)
		text_format(&log, "\t\t 1 Query\tSELECT n FROM t /*id=%d*/\n",
		            i);
	for (int i = 0; i < 30000; i++)
		text_format(&log, "\t\t 1 Query\t%s /*id=x*/\n",
		            i % 3 ? READ_N : SET_N);
	audit_of(&a, (struct audit_given){ .log = text_get(&log),
	                                   .group_by = "request:id",
	                                   .level = LEVEL_PRC });
	ck_assert_uint_eq(a.classes.calls, 10001);
	ck_assert_uint_eq(a.classes.count, 2);
	ck_assert_uint_eq(a.classes.items[0].instances, 10000);
	ck_assert_uint_le(a.classes.items[1].count, 7);
	audit_free(&a);
	text_free(&log);
}
END_TEST

/* Time that is up stops every part, and then nothing is certain. */
START_TEST(a_limit_stops_it)
{
	struct audit a;
	struct diags d = { 0 };
	struct folder f = folder_new();
	char *log = folder_file(&f, "log");
	const char *path = log;
	atomic_bool interrupt = true;
	file_write_text(log, PG(SET_N));
	for (int interrupted = 0; interrupted < 2; interrupted++) {
		struct audit_options o = { .logs = &path,
			                   .log_count = 1,
			                   .level = LEVEL_PRC };
		if (interrupted)
			o.interrupt = &interrupt;
		else
			o.timeout = 1e-9;
		ck_assert(audit_run(&a, &o, &d));
		ck_assert_int_eq(a.stop,
		                 interrupted ? STOP_INTERRUPTED : STOP_TIME);
		ck_assert_int_eq(audit_verdict(&a), VERDICT_INCONCLUSIVE);
		ck_assert(!a.cover_complete);
		audit_free(&a);
	}
	folder_remove(&f);
	free(log);
	diags_free(&d);
}
END_TEST

struct ticks {
	uint64_t logs, searches, done, total;
};

static void on_tick(void *payload, const struct audit_progress *p)
{
	struct ticks *t = payload;
	ck_assert_uint_le(p->done, p->total);
	if (!p->log) {
		t->searches++;
		return;
	}
	ck_assert_uint_eq(t->searches, 0);
	ck_assert_uint_gt(p->done, t->done);
	ck_assert_uint_gt(p->statements, 4000 * t->logs);
	t->done = p->done;
	t->total = p->total;
	t->logs++;
}

/* How far it has come is the share of all logs. */
START_TEST(progress_is_told)
{
	struct audit a;
	struct diags d = { 0 };
	struct folder f = folder_new();
	struct text text = { 0 };
	char *one = folder_file(&f, "one"), *two = folder_file(&f, "two");
	const char *paths[] = { one, two };
	struct ticks ticks = { 0 };
	struct audit_options o = { .logs = paths,
		                   .log_count = 2,
		                   .level = LEVEL_PRC,
		                   .tick = on_tick,
		                   .payload = &ticks };
	for (int i = 0; i < 2500; i++)
		text_string(&text, TWO("SELECT n FROM t WHERE id = 5", SET_N));
	file_write_text(one, text_get(&text));
	file_write_text(two, text_get(&text));
	ck_assert(audit_run(&a, &o, &d));
	ck_assert_uint_eq(ticks.logs, 4);
	ck_assert_uint_eq(ticks.total, 2 * text.length);
	ck_assert_uint_ge(ticks.searches, 1);
	ck_assert_uint_eq(a.classes.items[0].instances, 5000);
	audit_free(&a);
	folder_remove(&f);
	text_free(&text);
	free(one);
	free(two);
	diags_free(&d);
}
END_TEST

START_TEST(what_is_no_log)
{
	static const struct {
		const char *log;
		size_t length;
	} cases[] = { { "", 0 },
		      { "\n\n", 0 },
		      { "SELECT 1;\n", 0 },
		      { "\0\1\2\3\377", 5 },
		      { "query,rows\nSELECT 1,2\n", 0 },
		      { " query | rows \n", 0 },
		      { "\x1f\x8b\x08", 0 },
		      { "{\"isoscope\":1}\n", 0 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct audit a;
		struct diags d = { 0 };
		ck_assert(!run_audit(
			&a,
			(struct audit_given){ .log = cases[i].log,
		                              .length = cases[i].length,
		                              .level = LEVEL_PRC },
			&d));
		ck_assert_uint_eq(d.errors, 1);
		audit_free(&a);
		diags_free(&d);
	}
}
END_TEST

/* What cannot be read is skipped, counted, and its place known. */
START_TEST(broken_logs)
{
	static const struct {
		const char *before, *broken;
		size_t length;
		enum log_skip kind;
		uint32_t line;
	} cases[] = {
		{ stderr_log, "garbage\n", 0, SKIP_STRAY, 8 },
		{ csv_log, "garbage\n", 0, SKIP_STRAY, 6 },
		{ csv_log, "2024-01-02 10:20:30.123 UTC,u,d,7,l,65a.47,9,\"SE",
		  0, SKIP_CUT, 6 },
		{ json_log, "{\"timestamp\":\"2024", 0, SKIP_CUT, 4 },
		{ json_log, "\377\376\n", 0, SKIP_STRAY, 4 },
		{ mysql_log, "\t\t   11 Query\tSELECT \0 \1\n", 25, SKIP_BINARY,
		  12 },
		{ stderr_log,
		  "2024-01-02 10:20:30 UTC [7] LOG:  statement: SELECT \0\n",
		  55, SKIP_BINARY, 8 },
	};
	struct text log = { 0 };
	struct audit a;
	text_string(&log, cases[_i].before);
	text_bytes(&log, cases[_i].broken,
	           cases[_i].length ? cases[_i].length
	                            : strlen(cases[_i].broken));
	audit_of(&a, (struct audit_given){ .log = text_get(&log),
	                                   .length = log.length,
	                                   .schema = stock_schema,
	                                   .level = LEVEL_PRC });
	ck_assert_uint_eq(a.anomaly_count, 1);
	const struct log_skipped *s = &a.logs[0].skipped[cases[_i].kind];
	ck_assert_uint_eq(s->count, 1);
	ck_assert_uint_eq(s->lines[0], cases[_i].line);
	audit_free(&a);
	text_free(&log);
}
END_TEST

START_TEST(broken_queries)
{
	static const struct {
		const char *before, *broken;
		enum log_skip kind;
		uint32_t line;
	} cases[] = {
		{ queries_csv, "1,\"SELECT", SKIP_CUT, 6 },
		{ queries_csv, "1\n", SKIP_CUT, 6 },
		{ queries_table, " SELECT 1 \n", SKIP_STRAY, 9 },
		{ queries_table,
		  " SELECT n                             +|     7\n", SKIP_CUT,
		  9 },
		{ queries_bordered, "garbage\n", SKIP_STRAY, 9 },
		{ "garbage\n", queries_csv, SKIP_STRAY, 1 },
	};
	struct text log = { 0 };
	struct audit a;
	text_string(&log, cases[_i].before);
	text_string(&log, cases[_i].broken);
	audit_of(&a, (struct audit_given){ .log = text_get(&log),
	                                   .schema = stock_schema,
	                                   .level = LEVEL_PRC });
	const struct log_skipped *s = &a.logs[0].skipped[cases[_i].kind];
	ck_assert_uint_eq(a.classes.count, 2);
	ck_assert_uint_eq(s->count, 1);
	ck_assert_uint_eq(s->lines[0], cases[_i].line);
	audit_free(&a);
	text_free(&log);
}
END_TEST

/* Bytes anywhere are changed, taken out, or end the log. */
START_TEST(damaged_logs)
{
	static const char *const logs[] = { mysql_log,   csv_log,
		                            json_log,    stderr_log,
		                            queries_csv, queries_table };
	struct rng r = { process_seed(_i, 1) };
	for (int n = fewer(100); n; n--) {
		const char *from = logs[rng_below(&r, 6)];
		size_t length = strlen(from);
		char *log = mem_copy_string(from);
		struct audit a;
		struct diags d = { 0 };
		for (uint32_t k = 1 + rng_below(&r, 5); k; k--) {
			uint32_t at = rng_below(&r, (uint32_t)length);
			switch (rng_below(&r, 3)) {
			case 0: log[at] = (char)rng_next(&r); break;
			case 1:
				log[at] = "'\"`\\;(/*\n\t"[rng_below(&r, 10)];
				break;
			default:
				memmove(log + at, log + at + 1, length - at);
				length -= length > 1;
			}
		}
		run_audit(&a,
		          (struct audit_given){ .log = log,
		                                .length = length,
		                                .schema = stock_schema,
		                                .level = LEVEL_PRC },
		          &d);
		audit_free(&a);
		diags_free(&d);
		free(log);
	}
}
END_TEST

/* ---- statements ---- */

/* "r:stock.id w:stock.n" */
static void operation_words(struct text *t, const struct audit *a)
{
	const struct shape *s = class_shape(&a->classes, 0, 0);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct operation *o = &s->items[i];
		if (i) text_char(t, ' ');
		text_string(t, o->flags & OPERATION_WRITE ? "w:" : "r:");
		name_column(t, &a->catalog, o->column);
	}
}

static const char two_tables[] =
	"CREATE TABLE t (id int PRIMARY KEY, n int, s text);"
	"CREATE TABLE u (id int, t_id int, v int, PRIMARY KEY (id, t_id));";

/* In MySQL's words, and what they read and write, in IsoDiff's order. */
static const struct {
	const char *statement, *operations;
} statements[] = {
	{ "SELECT n FROM t WHERE id = 1", "r:t.id r:t.n" },
	{ "SELECT * FROM t", "r:t.id r:t.n r:t.s" },
	{ "UPDATE t SET n = 2 WHERE id = 1", "r:t.id w:t.n" },
	{ "UPDATE t SET n = n + 1 WHERE id = 1 ORDER BY s LIMIT 3",
	  "r:t.id r:t.n w:t.n" },
	{ "INSERT IGNORE INTO t (id, s) VALUES (1, \"it's\"), (2, 'a\\'b')",
	  "w:t.id w:t.s" },
	{ "INSERT INTO t SET id = 1, s = CONCAT('a', \"b\")", "w:t.id w:t.s" },
	{ "REPLACE INTO `t` (`id`) VALUES (1)", "w:t.id" },
	{ "INSERT INTO t (id, n) VALUES (1, 2) ON DUPLICATE KEY UPDATE n = "
	  "VALUES(n) + n",
	  "w:t.id w:t.n r:t.n w:t.n" },
	{ "DELETE FROM t WHERE s = 'x' LIMIT 1", "r:t.s w:t.id w:t.n w:t.s" },
	{ "DELETE a FROM t a JOIN u ON u.t_id = a.id WHERE u.v = 1",
	  "r:u.t_id r:t.id r:u.v w:t.id w:t.n w:t.s" },
	{ "UPDATE t a, u SET a.n = u.v WHERE a.id = u.t_id",
	  "r:t.id r:u.t_id r:u.v w:t.n" },
	{ "SELECT a.n FROM t AS a LEFT JOIN u USE INDEX (x) ON (a.id = u.t_id) "
	  "WHERE a.s <=> NULL && u.v REGEXP 'x' LIMIT 10, 20",
	  "r:t.id r:u.t_id r:t.s r:u.v r:t.n" },
	{ "SELECT SQL_CALC_FOUND_ROWS n FROM t WHERE id IN (SELECT t_id FROM u "
	  "WHERE v = 1) GROUP BY s ORDER BY s",
	  "r:u.v r:u.t_id r:t.id r:t.n r:t.s r:t.s" },
	{ "SELECT IF(n, 'a', 'b') FROM t WHERE s > DATE_SUB(NOW(), INTERVAL 1 "
	  "WEEK) # it's a comment",
	  "r:t.s r:t.n" },
	{ "SELECT /* it's */ n -- it's\n FROM t LOCK IN SHARE MODE", "r:t.n" },
	{ "SELECT x.m FROM (SELECT max(n) AS m FROM t) x", "r:t.n" },
	{ "SELECT n FROM t UNION SELECT v FROM u", "r:t.n r:u.v" },
	{ "SELECT @a := n, @@session.x FROM t WHERE s = 'a' 'b'", NULL },
	{ "INSERT INTO t (id) SELECT v FROM u WHERE id = 1",
	  "r:u.id r:u.v w:t.id" },
	{ "COPY t FROM STDIN", "w:t.id w:t.n w:t.s" },
	{ "COPY t (n, s) TO STDOUT", "r:t.n r:t.s" },
	{ "COPY (SELECT n FROM t WHERE id = 1) TO STDOUT", "r:t.id r:t.n" },
	{ "DECLARE c CURSOR FOR SELECT n FROM t", "r:t.n" },
	{ "SELECT count(*) FROM t WHERE n = 0x1F OR !n", "r:t.n r:t.n" },
	{ "SELECT n FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)",
	  "r:u.id r:t.id r:t.n" },
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

START_TEST(operations)
{
	struct text log = { 0 }, words = { 0 };
	struct audit a;
	text_format(&log, "\t\t    1 Query\t%s\n", statements[_i].statement);
	audit_of(&a, (struct audit_given){ .log = text_get(&log),
	                                   .schema = two_tables,
	                                   .level = LEVEL_PRC });
	if (!statements[_i].operations) { /* told, not dropped */
		ck_assert_uint_eq(a.classes.count, 0);
		ck_assert_int_eq(a.classes.templates.items[0].kind,
		                 TEMPLATE_UNREAD);
		ck_assert_int_eq(audit_verdict(&a), VERDICT_INCONCLUSIVE);
	} else {
		const struct template *x = &a.classes.templates.items[0];
		ck_assert_msg(x->kind == TEMPLATE_DATA, "%s: %s", x->text,
		              x->why ? x->why : "");
		operation_words(&words, &a);
		ck_assert_str_eq(text_get(&words), statements[_i].operations);
	}
	audit_free(&a);
	text_free(&log);
	text_free(&words);
}
END_TEST

void add_audit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, every_format, 0, 5);
	tcase_add_loop_test(tests, ends_of_transactions, 0, 12);
	tcase_add_loop_test(tests, nothing_is_overlooked, 0, OVERLOOKED);
	tcase_add_loop_test(tests, calls, 0, 19);
	tcase_add_test(tests, many_calls);
	tcase_add_test(tests, deep_expressions);
	tcase_add_test(tests, rows_meet_all_conditions);
	tcase_add_test(tests, a_limit_stops_it);
	tcase_add_test(tests, progress_is_told);
	tcase_add_test(tests, what_is_no_log);
	tcase_add_loop_test(tests, broken_logs, 0, 7);
	tcase_add_loop_test(tests, statements_alone, 0, 3);
	tcase_add_loop_test(tests, broken_queries, 0, 6);
	tcase_add_loop_test(tests, damaged_logs, 0, 4);
	tcase_add_loop_test(tests, operations, 0, STATEMENTS);
}
