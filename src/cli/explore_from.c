#include "api/inputs.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/program.h"
#include "execution/observed_reads.h"
#include "history/trace.h"

/* The first history of the file. */
static struct trace *read_trace(const char *path, struct problem *p)
{
	struct reader_options o = { .format = FORMAT_COUNT };
	if (input_is_client(path, "--from takes a recorded history", p))
		return NULL;
	struct history_reader *r = history_reader_open(path, &o, &p->diags);
	if (!r) return NULL;
	struct trace *t = history_reader_next(r, &p->diags);
	history_reader_close(r);
	if (!t && !p->diags.errors) input_too_short(path, 0, 0, p);
	return t;
}

struct observed_reads *explore_observed(const struct exploration *x)
{
	struct problem problem = { 0 };
	struct observed_reads *o = NULL;
	struct trace *t =
		read_trace(x->line->value[OPTION_EXPLORE_FROM], &problem);
	if (t) o = observed_reads_new(x->program, t, &problem.diags);
	say_problem(x->line, x->program, &problem);
	problem_free(&problem);
	trace_free(t);
	return o;
}
