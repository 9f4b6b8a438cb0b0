#include "api/record.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "api/programs.h"
#include "axioms/level.h"
#include "execution/complete.h"
#include "history/history.h"
#include "history/trace.h"
#include "result/names.h"
#include "run/replay.h"
#include "vm/machine.h"
#include "vm/program.h"

/* A run that makes an assumption false was none: so many seeds are tried. */
enum { SEEDS_TRIED = 1000 };

/* The first run that counts. */
static bool run_once(struct runner *r, uint64_t *seed, struct problem *problem)
{
	const struct program *p = runner_program(r);
	uint64_t first = *seed, tried = 0;
	struct position at;
	enum run_end end;
	do {
		*seed = first + tried;
		end = record_serial(r, *seed);
	} while (end == RUN_PRUNED && ++tried < SEEDS_TRIED);
	if (program_fault(runner_program(r)))
		return problem_diagnosed(problem, PROBLEM_FAULT);
	switch (end) {
	case RUN_COMPLETE: return true;
	case RUN_PRUNED:
		return problem_set(
			problem, PROBLEM_LIMIT,
			"no run was recorded: the runs of all %d seeds from "
			"%" PRIu64 " on violate an assumption",
			SEEDS_TRIED, first);
	case RUN_BOUND:
		return problem_set(problem, PROBLEM_LIMIT,
		                   "no run was recorded: %s, and is cut short",
		                   program_bound_met(p, &at));
	case RUN_INTERRUPTED:
		return problem_set(problem, PROBLEM_LIMIT, "interrupted");
	case RUN_MEMORY:
	case RUN_TOO_LARGE: break;
	}
	return problem_set(problem, PROBLEM_LIMIT, "no run was recorded: %s",
	                   runner_problem(r));
}

/* ---- warnings ---- */

struct warnings {
	const struct program *program;
	struct diags *diags;
};

/* Each place in the program once. */
static void warn(struct diags *d, struct position at, const char *what)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->items[i].line == at.line &&
		    d->items[i].column == at.column && d->items[i].file &&
		    at.file && !strcmp(d->items[i].file, at.file))
			return;
	diags_add(d, DIAG_WARNING, at.file, at.line, at.column, at.source_line,
	          "in this serial run %s", what);
}

static void warn_of_error(void *data, uint32_t slot, const struct finding *f)
{
	struct warnings *w = data;
	if (slot == program_assertion_count(w->program))
		warn(w->diags, name_program_slot_position(w->program, slot, f),
		     f->message ? f->message : "a run-time error happens");
}

/* An observed run need not be a good one, but who sees only the trace would
 * not know. */
static void warn_of_failures(struct runner *r, struct diags *d)
{
	struct warnings w = { runner_program(r), d };
	const struct execution *run = runner_execution(r);
	uint32_t count;
	const uint32_t *slots = runner_violated(r, &count);
	assert(level_is_serial(runner_level(r)));
	for (uint32_t i = 0; i < count; i++) {
		const struct finding *f = runner_finding(r, slots[i]);
		if (slots[i] == program_assertion_count(w.program)) continue;
		warn(d, name_program_slot_position(w.program, slots[i], f),
		     "the assertion fails");
	}
	execution_findings(run, warn_of_error, &w);
}

bool record_run(struct recorded *out, const struct program *p, uint64_t seed,
                const atomic_bool *interrupt, struct problem *problem)
{
	*out = (struct recorded){ .seed = seed };
	struct runner *r = runner_new(p, LEVEL_SERIAL, interrupt);
	bool fine = run_once(r, &out->seed, problem);
	fine = program_sound(p, problem) && fine;
	if (fine) {
		const char *path = program_path(p);
		warn_of_failures(r, &problem->diags);
		out->history = runner_history(r);
		out->trace = trace_of_history(out->history, path);
		out->trace->program = path;
		out->trace->level = level_word(LEVEL_SERIAL);
		out->order = out->history->order;
		out->order_count = out->history->transaction_count;
		assert(out->order_count == out->trace->transaction_count);
	}
	runner_free(r);
	return fine;
}

void recorded_free(struct recorded *r)
{
	if (r->trace) trace_free(r->trace);
	if (r->history) history_free(r->history);
	*r = (struct recorded){ 0 };
}
