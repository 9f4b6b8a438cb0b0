#include "audit_support.h"

#include <string.h>

#include "assertions.h"
#include "audit/all_classes.h"
#include "audit/confirm.h"
#include "audit/lift.h"
#include "base/memory.h"
#include "file_support.h"
#include "result/audited.h"
#include "support.h"

/* Of what a test proves: it is left open then. */
static const double PROVE_SECONDS = 10;

/* While the paths are there, which the audit borrows. */
static void all_are_lifted(struct audit *a)
{
	struct lifted l;
	lift(&l, a);
	ck_assert_msg(l.functions == a->classes.count, "%s",
	              text_get(&l.program));
	lift_free(&l);
}

bool run_audit(struct audit *a, struct audit_given g, struct diags *d)
{
	static const char *paths[1];
	struct folder f = folder_new();
	char *log = folder_file(&f, "log"), *schema = folder_file(&f, "schema");
	char *hints = folder_file(&f, "hints");
	struct audit_options o = { .log_count = 1,
		                   .level = g.level,
		                   .group_by = g.group_by,
		                   .lifts = g.lifts,
		                   .confirms = g.confirms,
		                   .proves = g.proves,
		                   .timeout = g.proves ? PROVE_SECONDS : 0 };
	file_write(log, g.log, g.length ? g.length : strlen(g.log));
	if (g.schema) file_write_text(schema, g.schema);
	if (g.hints) file_write_text(hints, g.hints);
	paths[0] = log;
	o.logs = paths;
	o.schema = g.schema ? schema : NULL;
	o.hints = g.hints ? hints : NULL;
	bool fine = audit_run(a, &o, d);
	if (fine && g.lifts) all_are_lifted(a);
	if (fine && g.confirms) confirm_anomalies(a);
	if (fine && g.proves && a->anomaly_count) prove_all_classes(a);
	if (fine) { /* it can be told in every way */
		struct result *r = result_of_audit(a, 0);
		result_free(r);
	}
	folder_remove(&f);
	free(log);
	free(schema);
	free(hints);
	return fine;
}

void audit_of(struct audit *a, struct audit_given g)
{
	struct diags d = { 0 };
	bool fine = run_audit(a, g, &d);
	char *said = diags_to_text(&d);
	ck_assert_msg(fine, "%s\n%s", said, g.log);
	free(said);
	diags_free(&d);
}
