#include "base/diag.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "execution/observed_reads.h"
#include "formats/formats.h"

/* The first history of the file. */
static struct trace *read_trace(const char *path, struct diags *d)
{
	struct reader_options o = { .format = FORMAT_COUNT };
	struct history_reader *r = history_reader_open(path, &o, d);
	if (!r) return NULL;
	struct trace *t = history_reader_next(r, d);
	history_reader_close(r);
	if (!t && !d->errors) say_no_history(path, 0, 0);
	return t;
}

struct observed_reads *explore_observed(const struct exploration *x)
{
	struct diags d = { 0 };
	struct observed_reads *o = NULL;
	const char *path = x->line->value[OPTION_EXPLORE_FROM];
	if (is_client(path, "--from takes a recorded history")) return NULL;
	struct trace *t = read_trace(path, &d);
	if (t) o = observed_reads_new(x->program, t, &d);
	say_diagnostics(x->line, &d);
	diags_free(&d);
	trace_free(t);
	return o;
}
