/* Programs in SQL against any text: specifications, PostgreSQL's parser, names
 * and types, set-up, PL/pgSQL, and a few histories.
 *
 * One entry for libFuzzer (scripts/fuzz) and for tests/fuzz_replay.c, which
 * runs it over the corpus. A text is taken for a specification, and for a file
 * of SQL. Beyond not crashing: what is no program has an error, one that loads
 * loads the second time as well, and can be listed and explored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "dpor/explorer.h"
#include "fuzz_parser.h"
#include "sql/load.h"
#include "vm/program.h"

static void broken(const char *what, const char *path)
{
	fprintf(stderr, "%s: %s\n", path, what);
	abort();
}

static struct program *load(const char *path, const char *text, size_t size)
{
	static const char *const sessions[] = {
		"a: SELECT * FROM t; UPDATE t SET v = v + 1", "b: SELECT f(1)",
		NULL
	};
	static const char *const asserts[] = { "SELECT count(*) > 0 FROM t",
		                               NULL };
	struct sql_arguments given = { .sessions = sessions,
		                       .asserts = asserts };
	struct diags d = { 0 };
	struct program *p = sql_load(path, text, size, &given, &d);
	if (!p != (d.errors > 0)) broken("an error is missing", path);
	diags_free(&d);
	return p;
}

static void explore(const struct program *p)
{
	struct explore_options o = { .algorithm = EXPLORE_CE,
		                     .level = LEVEL_DEFAULT,
		                     .base = LEVEL_DEFAULT,
		                     .max_histories = 20,
		                     .timeout = 1,
		                     .max_changes = UINT64_MAX,
		                     .jobs = 1 };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	explorer_free(e);
}

static void try_as(const char *path, const char *text, size_t size)
{
	struct program *p = load(path, text, size);
	struct text t = { 0 };
	if (!p) return;
	sql_dump(p, &t);
	explore(p);
	program_free(p);
	text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = { 0 };
	text_bytes(&t, (const char *)data, size);
	try_as("fuzz.spec", text_get(&t), t.length);
	try_as("fuzz.sql", text_get(&t), t.length);
	text_free(&t);
	return 0;
}
