#include <inttypes.h>
#include <string.h>

#include "axioms/level.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "cli/target.h"
#include "history/history.h"
#include "history/trace.h"
#include "report/names.h"
#include "run/replay.h"
#include "vm/machine.h"
#include "vm/program.h"

/* A run that makes an assumption false was none: so many seeds are tried. */
enum { SEED_USUAL = 1, SEEDS_TRIED = 1000 };

struct recording {
	const struct command_line *line;
	struct target to;
	uint64_t seed; /* asked for, then used */
	struct runner *runner;
	struct diags diags;
};

/* The first run that counts. False, after saying why, if there is none; of a
 * fault of the program nothing is said. */
static bool record(struct recording *x)
{
	uint64_t first = x->seed, tried = 0;
	enum run_end end;
	do {
		x->seed = first + tried;
		end = record_serial(x->runner, x->seed);
	} while (end == RUN_PRUNED && ++tried < SEEDS_TRIED);
	if (program_fault(runner_program(x->runner))) return false;
	switch (end) {
	case RUN_COMPLETE:
		if (tried)
			say("the run of seed %" PRIu64 " makes an assumption "
			    "false; this is the run of seed %" PRIu64,
			    first, x->seed);
		return true;
	case RUN_PRUNED:
		say("no run was recorded: those of the %d seeds from %" PRIu64
		    " on all make an assumption false",
		    SEEDS_TRIED, first);
		break;
	case RUN_INTERRUPTED: say("interrupted"); break;
	case RUN_MEMORY:
	case RUN_TOO_LARGE:
		say("no run was recorded: %s", runner_problem(x->runner));
		break;
	}
	return false;
}

static void warn(struct recording *x, struct position at, const char *what)
{
	struct diags *d = &x->diags;
	for (size_t i = 0; i < d->count; i++)
		if (d->items[i].line == at.line &&
		    d->items[i].column == at.column && d->items[i].file &&
		    at.file && !strcmp(d->items[i].file, at.file))
			return;
	diags_add(d, DIAG_WARNING, at.file, at.line, at.column, at.source_line,
	          "in this serial run %s", what);
}

/* Of the errors, each place in the program once. */
static void warn_of_error(void *data, uint32_t slot, const struct finding *f)
{
	struct recording *x = data;
	const struct program *p = runner_program(x->runner);
	if (slot == program_assertion_count(p))
		warn(x, name_program_slot_position(p, slot, f),
		     f->message ? f->message : "a run-time error happens");
}

/* An observed run need not be a good one, but who sees only the trace would
 * not know. */
static void warn_of_failures(struct recording *x)
{
	const struct program *p = runner_program(x->runner);
	struct execution run = runner_execution(x->runner);
	uint32_t count;
	const uint32_t *slots = runner_violated(x->runner, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct finding *f = runner_finding(x->runner, slots[i]);
		if (slots[i] == program_assertion_count(p)) continue;
		warn(x, name_program_slot_position(p, slots[i], f),
		     "the assertion fails");
	}
	execution_findings(&run, warn_of_error, x);
}

static int write_trace(struct recording *x)
{
	struct history *h = runner_history(x->runner);
	const char *path = program_path(runner_program(x->runner));
	struct trace *t = trace_of_history(h, path);
	t->program = path;
	t->level = level_word(LEVEL_SER);
	int code = target_write(&x->to, t, h->order, &x->diags);
	trace_free(t);
	history_free(h);
	return code;
}

static int record_program(struct recording *x, const struct program *p)
{
	int code = EXIT_INCONCLUSIVE;
	signals_catch();
	x->runner = runner_new(p, LEVEL_SER, signals_flag());
	bool recorded = record(x);
	if (program_failed(x->line, p)) {
		code = EXIT_INPUT;
	} else if (recorded) {
		warn_of_failures(x);
		code = write_trace(x);
	}
	runner_free(x->runner);
	return code;
}

int record_main(const struct command_line *c)
{
	struct recording x = { .line = c, .seed = SEED_USUAL };
	if (!one_program(c) || !setting_seed(c, OPTION_RUN_SEED, &x.seed) ||
	    !outputs_fit(c, "program") || !target_read(c, &x.to))
		return EXIT_USAGE;
	int code = EXIT_INPUT;
	struct program *p = given_program(c, c->operands[0], &x.diags);
	if (p) code = record_program(&x, p);
	say_diagnostics(c, &x.diags);
	diags_free(&x.diags);
	program_free(p);
	return code;
}
