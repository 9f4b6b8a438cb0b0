/* Logs of SQL against any bytes: their formats, MySQL's dialect, transactions
 * and calls, the graph, the columns, and what is told of them.
 *
 * One entry for libFuzzer (scripts/fuzz) and for tests/fuzz_replay.c, which
 * runs it over the corpus. Beyond not crashing: a log that is refused has an
 * error, and each transaction that is read is counted once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/audit.h"
#include "audit/lift.h"
#include "base/diag.h"
#include "fuzz_parser.h"
#include "result/audited.h"

static const char schema[] =
	"CREATE TABLE t (id int PRIMARY KEY, n int, s text);"
	"CREATE TABLE stock (id int PRIMARY KEY, n int);";

static void broken(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static void write_file(char *path, const void *data, size_t size)
{
	int f = mkstemp(path);
	if (f < 0) broken("no file can be made");
	FILE *to = fdopen(f, "wb");
	if (!to || fwrite(data, 1, size, to) != size || fclose(to))
		broken("no file can be written");
}

static uint64_t instances_of(const struct audit *a)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < a->classes.count; i++)
		n += a->classes.items[i].instances;
	return n;
}

static void tell(struct audit *a)
{
	result_free(result_of_audit(a, 0));
	if (a->anomaly_count) result_free(result_of_audit(a, 1));
	if (!a->options.lifts) return;
	struct lifted l;
	lift(&l, a);
	lift_free(&l);
}

static void try_as(const char *path, const char *tables, enum level level,
                   const char *group_by, bool lifts)
{
	struct audit a;
	struct diags d = { 0 };
	struct audit_options o = { .logs = &path,
		                   .log_count = 1,
		                   .schema = tables,
		                   .level = level,
		                   .group_by = group_by,
		                   .lifts = lifts,
		                   .timeout = 5 };
	bool fine = audit_run(&a, &o, &d);
	if (fine == (d.errors > 0)) broken("an error is missing");
	if (fine) {
		const struct classes *c = &a.classes;
		uint64_t all = instances_of(&a) + c->rolled_back +
		               c->unfinished + c->too_long;
		if (!group_by && all != c->transactions)
			broken("a transaction is lost");
		tell(&a);
	}
	audit_free(&a);
	diags_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		enum level level;
		const char *group_by;
		bool lifts;
	} ways[] = { { LEVEL_PRC, NULL, true },
		     { LEVEL_RC, "connection", false },
		     { LEVEL_SI, "tag:a,controller", false },
		     { LEVEL_SERIAL, "request:id", false } };
	char log[] = "/tmp/isoscope-fuzz-XXXXXX";
	char tables[] = "/tmp/isoscope-fuzz-XXXXXX";
	write_file(log, data, size);
	write_file(tables, schema, sizeof schema - 1);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		try_as(log, i & 1 ? NULL : tables, ways[i].level,
		       ways[i].group_by, ways[i].lifts);
	unlink(log);
	unlink(tables);
	return 0;
}
