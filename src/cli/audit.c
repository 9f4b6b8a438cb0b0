#include "audit/all_classes.h"
#include "audit/confirm.h"
#include "audit/lift.h"

#include <assert.h>

#include "base/memory.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "report/progress.h"
#include "result/audited.h"
#include "result/names.h"
#include "result/numbers.h"

static void on_tick(void *payload, const struct audit_progress *p)
{
	struct progress *to = payload;
	struct text words = { 0 };
	if (!progress_due(to, p->seconds)) return;
	if (p->log) {
		name_plain(&words, p->log);
		text_string(&words, ": ");
	} else if (p->proves) {
		text_string(&words, "proof: ");
		number_plural(&words, p->done, "question", "questions");
		text_string(&words, ", ");
	} else {
		text_string(&words, "cycles: ");
	}
	if (p->total)
		text_format(&words, "%.0f %%, ",
		            100.0 * (double)p->done / (double)p->total);
	if (p->log) {
		number_plural(&words, p->statements, "statement", "statements");
		text_string(&words, ", ");
	}
	number_plural(&words, p->classes, "class", "classes");
	text_string(&words, ", ");
	number_seconds(&words, p->seconds);
	progress_say(to, p->seconds, text_get(&words));
	text_free(&words);
}

/* What is explored and lifted are transactions. */
static bool grouping_fits(const struct command_line *c, const char *words)
{
	struct grouping g;
	if (!words) return true;
	if (!grouping_read(&g, words)) {
		say("--group-by takes connection, tag:NAME or request:NAME, "
		    "not '%s'",
		    words);
		return false;
	}
	const char *other = c->value[OPTION_CONFIRM]         ? "confirm"
	                    : c->value[OPTION_PROVE_ALL]     ? "prove"
	                    : c->value[OPTION_AUDIT_PROGRAM] ? "program"
	                                                     : NULL;
	if (!other) return true;
	say("--group-by is about calls of several transactions: --%s does not "
	    "go with it",
	    other);
	return false;
}

static bool settings(const struct command_line *c, struct audit_options *o,
                     uint64_t *explain)
{
	if (!c->operand_count) {
		say("audit needs a log: isoscope audit LOG");
		return false;
	}
	const char *word = c->value[OPTION_AUDIT_LEVEL];
	o->level = level_from_word(word ? word : "prc");
	o->as = word ? level_deployment(word) : NULL;
	if (!conflicts_level(o->level)) {
		say("audit knows how databases provide rc, prc, si and ser, "
		    "not %s",
		    word);
		return false;
	}
	o->logs = c->operands;
	o->log_count = (uint32_t)c->operand_count;
	o->schema = c->value[OPTION_SCHEMA];
	o->hints = c->value[OPTION_HINTS];
	o->group_by = c->value[OPTION_GROUP_BY];
	o->lifts = c->value[OPTION_AUDIT_PROGRAM] != NULL;
	o->confirms = c->value[OPTION_CONFIRM] != NULL;
	o->proves = c->value[OPTION_PROVE_ALL] != NULL;
	*explain = 0;
	return setting_count(c, OPTION_EXPLAIN, explain) &&
	       setting_seconds(c, OPTION_TIMEOUT, &o->timeout) &&
	       grouping_fits(c, o->group_by) && outputs_fit(c, "log");
}

static bool write_program(const struct command_line *c, struct audit *a)
{
	const char *path = c->value[OPTION_AUDIT_PROGRAM];
	struct lifted l;
	if (!path) return true;
	FILE *to = output_open(path);
	if (!to) return false;
	lift(&l, a);
	bool fine = output_text(to, path, &l.program);
	say("%s: functions for %u of %u classes", path, l.functions, l.count);
	lift_free(&l);
	return output_close(to, path) && fine;
}

static int tell(const struct command_line *c, const struct audit *a,
                uint64_t explain)
{
	if (explain > a->anomaly_count) {
		say("there is no anomaly %llu: %u were found",
		    (unsigned long long)explain, a->anomaly_count);
		return EXIT_USAGE;
	}
	struct result *r = result_of_audit(a, (uint32_t)explain);
	bool fine = outputs_result(c, r, "");
	int code = fine ? exit_code_of(r->verdict) : EXIT_INTERNAL;
	result_free(r);
	return code;
}

int audit_main(const struct command_line *c)
{
	struct audit_options o = { .logs = NULL };
	struct audit a;
	struct diags d = { 0 };
	uint64_t explain;
	if (!settings(c, &o, &explain)) return EXIT_USAGE;
	struct progress progress = output_progress(c);
	o.tick = on_tick;
	o.payload = &progress;
	signals_catch();
	o.interrupt = signals_flag();
	bool fine = audit_run(&a, &o, &d);
	if (fine && o.confirms) confirm_anomalies(&a);
	if (fine && o.proves && a.anomaly_count) prove_all_classes(&a);
	progress_end(&progress);
	say_diagnostics(c, &d);
	int code = fine ? tell(c, &a, explain) : EXIT_INPUT;
	if (fine && !write_program(c, &a)) code = EXIT_INTERNAL;
	audit_free(&a);
	diags_free(&d);
	return code;
}
