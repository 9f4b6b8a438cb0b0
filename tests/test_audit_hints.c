/* Hints: what is known beyond a log of SQL. */
#include "audit_support.h"
#include "suites.h"

static const char stock_schema[] = "stock,id,int,,PRI\nstock,n,int,,\n";

#define LOST                                                                 \
	"\t\t 1 Query\tBEGIN\n\t\t 1 Query\tSELECT n FROM stock WHERE id = " \
	"5\n\t\t 1 Query\tUPDATE stock SET n = n + 1 WHERE id = 5\n\t\t 1 "  \
	"Query\tCOMMIT\n"

START_TEST(hints)
{
	static const struct {
		const char *hints;
		uint32_t anomalies, columns;
		uint64_t unprotectable;
	} cases[] = {
		{ "", 1, 1, 0 },
		{ "# nothing\n\nweight stock.n 7\n", 1, 1, 0 },
		{ "unique stock.id # one each\n", 0, 0, 0 },
		{ "ignore T1\n", 0, 0, 0 },
		{ "exclusive T1 T1\n", 0, 0, 0 },
		{ "fixed stock.n\n", 1, 0, 1 },
		{ "commutes stock.n\n", 1, 1, 0 }, /* it is read as well */
	};
	struct audit a;
	audit_of(&a, (struct audit_given){ .log = LOST LOST,
	                                   .schema = stock_schema,
	                                   .hints = cases[_i].hints,
	                                   .level = LEVEL_PRC });
	ck_assert_uint_eq(a.anomaly_count, cases[_i].anomalies);
	ck_assert_uint_eq(a.protected_count, cases[_i].columns);
	ck_assert_uint_eq(a.unprotectable, cases[_i].unprotectable);
	audit_free(&a);
}
END_TEST

#define QUERY(who, text) "\t\t " who " Query\t" text "\n"
#define SESSION(s, a, b) \
	QUERY(s, "BEGIN") QUERY(s, a) QUERY(s, b) QUERY(s, "COMMIT")
#define PAIR(a, b, c, d) SESSION("1", a, b) SESSION("2", c, d)

/* Which column is protected, if any, each hint decides. */
START_TEST(hints_that_decide)
{
	static const char keyless[] = "t,id,int,,\nt,n,int,,\nt,m,int,,\n"
				      "u,id,int,,\nu,n,int,,\n";
	static const char skew[] = PAIR("SELECT n FROM t WHERE id = 5",
	                                "UPDATE t SET m = 1 WHERE id = 5",
	                                "SELECT m FROM t WHERE id = 5",
	                                "UPDATE t SET n = 2 WHERE id = 5");
	static const char stale[] = PAIR("SELECT n FROM t WHERE id = 5",
	                                 "SELECT n FROM u WHERE id = 5",
	                                 "UPDATE t SET n = 2 WHERE id = 5",
	                                 "UPDATE u SET n = 2 WHERE id = 5");
	static const char insert[] = PAIR("SELECT n FROM t WHERE id = 5",
	                                  "SELECT n FROM u WHERE id = 5",
	                                  "INSERT INTO t VALUES (5, 1, 1)",
	                                  "INSERT INTO u VALUES (5, 2)");
	static const char row[] = PAIR("UPDATE t SET n = 3 WHERE id = 5",
	                               "UPDATE t SET n = 1 WHERE id = 5",
	                               "UPDATE t SET n = 4 WHERE id = 5",
	                               "SELECT n FROM t WHERE id = 5");
	static const struct {
		const char *log, *hints, *column; /* protected; NULL: none */
	} cases[] = {
		{ skew, "key t.id\nweight t.n 5\n", "m" },
		{ skew, "key t.id\nweight t.m 5\n", "n" },
		{ stale, "key t.id\nkey u.id\n", "n" },
		{ stale, "tolerates T1\n", NULL },
		{ insert, "key t.id\nkey u.id\n", "id" },
		{ insert, "key t.id\nkey u.id\nexists t\nexists u\n", NULL },
		{ row, "", "n" },
		{ row, "key t.id\n", NULL },
	};
	struct audit a;
	audit_of(&a, (struct audit_given){ .log = cases[_i].log,
	                                   .schema = keyless,
	                                   .hints = cases[_i].hints,
	                                   .level = LEVEL_PRC });
	ck_assert_uint_eq(a.protected_count, cases[_i].column ? 1 : 0);
	ck_assert((a.anomaly_count > 0) == (cases[_i].column != NULL));
	for (uint32_t c = 0; c < a.catalog.column_count; c++)
		if (bits_has(a.protected, c))
			ck_assert_str_eq(a.catalog.columns[c].name,
			                 cases[_i].column);
	audit_free(&a);
}
END_TEST

START_TEST(wrong_hints)
{
	static const char *const wrong[] = {
		"commute stock.n\n", "commutes stock.m\n",
		"commutes n\n",      "weight stock.n 0\n",
		"weight stock.n\n",  "ignore T2\n",
		"tolerates T1\n",    "ignore 1\n",
		"key stock.n,x\n",   "exclusive T1 T2 T3\n",
		"exists orders\n",   "weight orders.n 2\n"
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct audit a;
		struct diags d = { 0 };
		ck_assert_msg(
			!run_audit(&a,
		                   (struct audit_given){ .log = LOST,
		                                         .schema = stock_schema,
		                                         .hints = wrong[i],
		                                         .level = LEVEL_PRC },
		                   &d),
			"%s", wrong[i]);
		ck_assert_uint_eq(d.errors, 1);
		ck_assert_uint_eq(d.items[0].line, 1);
		audit_free(&a);
		diags_free(&d);
	}
}
END_TEST

void add_audit_hints_tests(TCase *tests)
{
	tcase_add_loop_test(tests, hints, 0, 7);
	tcase_add_loop_test(tests, hints_that_decide, 0, 8);
	tcase_add_test(tests, wrong_hints);
}
