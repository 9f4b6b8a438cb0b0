/* isoscope.h: audits of logs of SQL. */
#include <stdio.h>

#include "api/programs.h"
#include "api/results.h"
#include "audit/all_classes.h"
#include "audit/confirm.h"
#include "audit/lift.h"
#include "result/audited.h"

static bool options_fit(const iso_audit_options *o)
{
	struct grouping g;
	return grouping_read(&g, o->group_by) &&
	       !(o->group_by && (o->program || o->confirm || o->prove)) &&
	       (o->level == ISO_LEVEL_DEFAULT ||
	        (is_level(o->level) &&
	         conflicts_level(internal_level(o->level)))) &&
	       o->timeout >= 0;
}

static int write_program(const char *path, struct audit *a)
{
	struct lifted l;
	FILE *f = fopen(path, "wb");
	if (!f) return ISO_E_FILE;
	lift(&l, a);
	bool fine = fwrite(text_get(&l.program), 1, l.program.length, f) ==
	            l.program.length;
	lift_free(&l);
	if (fclose(f)) fine = false;
	return fine ? ISO_OK : ISO_E_FILE;
}

static int try_audit(iso_result **out, const char *const *paths, size_t count,
                     const iso_audit_options *options, iso_diags **diags)
{
	iso_audit_options given;
	struct problem problem = { 0 };
	struct audit a;
	int status = ISO_E_HISTORY;
	if (diags) *diags = NULL;
	if (!out || !paths || !count || count > UINT32_MAX ||
	    !options_read(&given, sizeof given, options) ||
	    !options_fit(&given))
		return ISO_E_ARGUMENT;
	*out = NULL;
	struct audit_options o = {
		.logs = paths,
		.log_count = (uint32_t)count,
		.schema = given.schema,
		.hints = given.hints,
		.level = given.level == ISO_LEVEL_DEFAULT
		                 ? level_from_word("prc")
		                 : internal_level(given.level),
		.group_by = given.group_by,
		.lifts = given.program != NULL,
		.confirms = given.confirm,
		.proves = given.prove,
		.timeout = given.timeout,
	};
	if (audit_run(&a, &o, &problem.diags)) {
		if (o.confirms) confirm_anomalies(&a);
		if (o.proves && a.anomaly_count) prove_all_classes(&a);
		status = given.program ? write_program(given.program, &a)
		                       : ISO_OK;
		if (!status) *out = iso_result_of(result_of_audit(&a, 0));
	}
	audit_free(&a);
	diags_give(diags, &problem.diags);
	problem_free(&problem);
	return status;
}

int iso_logs_audit(iso_result **out, const char *const *paths, size_t count,
                   const iso_audit_options *options, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_audit(out, paths, count, options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}
