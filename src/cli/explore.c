#include "cli/explore.h"

#include <assert.h>
#include <stdlib.h>

#include "analyse/symmetry.h"
#include "api/explorations.h"
#include "base/diag.h"
#include "base/memory.h"
#include "cli/exit_codes.h"
#include "cli/explore_unit.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "cli/signals.h"
#include "cli/watch.h"
#include "distribute/unit.h"
#include "dpor/verdict.h"
#include "execution/observed_reads.h"
#include "history/history.h"
#include "vm/program.h"

/* ---- one exploration ---- */

int explore_deliver(const struct exploration *x, const struct explorer *e,
                    const struct explored_beside *beside)
{
	assert(beside);
	if (program_failed(x->line, x->program)) return EXIT_INPUT;
	struct result *r =
		result_of_exploration(e, beside, outputs_depth(x->line));
	bool fine = outputs_result(x->line, r,
	                           "there is no counterexample, so nothing "
	                           "was drawn");
	int code = fine ? exit_code_of(r->verdict) : EXIT_INTERNAL;
	result_free(r);
	return code;
}

static int deliver(const struct exploration *x, const struct explorer *e)
{
	struct estimate all = { 0 };
	if (!x->quiet || x->json) all = explored_share(e);
	return explore_deliver(x, e,
	                       &(struct explored_beside){ .share = &all });
}

static struct explorer *explorer_watched(const struct exploration *x,
                                         struct watch *w)
{
	struct explore_options o = x->options;
	struct explore_observer observer = watch_observer(w);
	o.snapshot_every = watch_every(w);
	return explorer_new(x->program, &o, &observer);
}

static int explore_one(const struct exploration *x)
{
	struct watch *w = watch_new(x, NULL);
	if (!w) return EXIT_USAGE;
	struct explorer *e = explorer_watched(x, w);
	bool known = !x->unit->unit || explore_unit_begin(x->unit, e);
	if (known) explorer_run(e);
	bool fine = watch_end(w, known ? e : NULL);
	int code = known ? deliver(x, e) : EXIT_INPUT;
	explorer_free(e);
	return fine ? code : EXIT_INTERNAL;
}

static int explore_as_asked(const struct exploration *x)
{
	const struct command_line *c = x->line;
	if (c->value[OPTION_LEVELS]) return explore_levels(x);
	if (c->value[OPTION_ESTIMATE]) return explore_estimate(x);
	if (c->value[OPTION_RANDOM]) return explore_random(x);
	return explore_one(x);
}

/* ---- the program ---- */

/* What the exploration borrows of the program: the observed history, classes
 * of sessions. */
struct borrowed {
	struct observed_reads *observed;
	struct symmetry *symmetry;
};

static struct symmetry *find_symmetry(const struct exploration *x)
{
	struct diags d = { 0 };
	struct symmetry *s = symmetry_new(x->program, &d);
	say_diagnostics(x->line, &d);
	diags_free(&d);
	return s;
}

/* Where each history is a class of its own, the usual algorithm finds the same,
 * and faster. */
static void explore_plainly(struct exploration *x)
{
	struct explore_options *o = &x->options;
	if (!x->quiet)
		say("%s: no two sessions are interchangeable, so --symmetry "
		    "changes nothing",
		    program_path(x->program));
	if (x->unit->resumed || o->max_changes < UINT64_MAX ||
	    x->line->value[OPTION_ALGORITHM])
		return;
	o->symmetry = NULL;
	o->algorithm = EXPLORE_CE;
	o->base = level_base(o->level);
}

static bool wants_symmetry(const struct exploration *x)
{
	const struct explore_unit *u = x->unit;
	return x->line->value[OPTION_SYMMETRY] ||
	       (u->resumed && u->unit->task.symmetry);
}

/* False after saying why. */
static bool borrow(struct exploration *x, struct borrowed *b)
{
	if (x->options.algorithm == EXPLORE_OUTWARD &&
	    !(x->options.observed = b->observed = explore_observed(x)))
		return false;
	if (!wants_symmetry(x)) return true;
	x->options.symmetry = b->symmetry = find_symmetry(x);
	if (b->symmetry && b->symmetry->trivial) explore_plainly(x);
	return b->symmetry;
}

static int explore_known(struct exploration *x)
{
	struct borrowed b = { 0 };
	int code = EXIT_INPUT;
	assert(x->program);
	if (!pictures_possible(x->line)) return EXIT_USAGE;
	if (borrow(x, &b) && explore_unit_accept(x->unit, x)) {
		signals_catch();
		x->options.interrupt = signals_flag();
		code = explore_as_asked(x);
	}
	observed_reads_free(b.observed);
	symmetry_free(b.symmetry);
	return code;
}

static int explore_program(struct exploration *x, const struct program *p)
{
	const char *order = explore_unit_order(x->unit);
	struct program *view = NULL;
	x->program = p;
	if (!x->unit->resumed && !settings_levels(x)) return EXIT_USAGE;
	if (order) {
		view = settings_reordered(p, order);
		if (!view) return EXIT_USAGE;
		x->program = view;
	}
	int code = explore_known(x);
	program_free(view);
	return code;
}

static int explore_path(struct exploration *x, const char *path)
{
	x->style = output_style(x->line, outputs_result_stream(x->line));
	struct program *p = read_program(x->line, path);
	if (!p) return EXIT_INPUT;
	int code = explore_program(x, p);
	program_free(p);
	return code;
}

int explore_main(const struct command_line *c)
{
	struct explore_unit unit = { .line = c };
	struct exploration x = { .line = c, .unit = &unit };
	if (!settings_read(&x)) return EXIT_USAGE;
	int code = EXIT_INPUT;
	if (!explore_unit_read(&unit, &x))
		code = unit.code;
	else
		code = explore_path(&x, explore_unit_program(&unit));
	explore_unit_free(&unit);
	return code;
}
