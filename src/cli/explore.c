#include "cli/explore.h"

#include <stdlib.h>

#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "cli/signals.h"
#include "cli/watch.h"
#include "dpor/origin.h"
#include "dpor/verdict.h"
#include "history/history.h"
#include "isoscope.h"
#include "report/changes.h"
#include "report/dot.h"
#include "report/json.h"
#include "report/names.h"
#include "report/text.h"
#include "vm/program.h"

int exit_code_of_verdict(int verdict)
{
	switch ((enum verdict)verdict) {
	case VERDICT_HOLDS: return EXIT_HOLDS;
	case VERDICT_VIOLATED: return EXIT_VIOLATED;
	case VERDICT_INCONCLUSIVE: break;
	}
	return EXIT_INCONCLUSIVE;
}

/* ---- the picture ---- */

/* The slot whose counterexample is drawn: the first that has one. */
static const struct history *history_to_draw(const struct explorer *e,
                                             struct text *title)
{
	for (uint32_t s = 0; s < explorer_slot_count(e); s++) {
		if (!explorer_slot_violated(e, s)) continue;
		const struct history *h = explorer_violation(e, s)->example;
		if (!h) continue;
		name_slot(title, e, s);
		text_string(title, " fails");
		return h;
	}
	return NULL;
}

static void draw(struct text *picture, const struct explorer *e,
                 const struct history *h, const char *title)
{
	uint32_t count;
	if (!explores_outward(e)) {
		report_dot(picture, h, title, NULL);
		return;
	}
	struct dot_change *changes = changes_to_draw(e, h, &count);
	report_dot_predicted(picture, h, title, NULL, changes, count);
	free(changes);
}

static bool write_pictures(const struct exploration *x,
                           const struct explorer *e)
{
	if (!pictures_wanted(x->line)) return true;
	struct text title = { 0 }, picture = { 0 };
	const struct history *h = history_to_draw(e, &title);
	if (h) draw(&picture, e, h, text_get(&title));
	bool fine = pictures_write(x->line, &picture,
	                           "there is no counterexample, so nothing "
	                           "was drawn");
	text_free(&title);
	text_free(&picture);
	return fine;
}

/* ---- one exploration ---- */

static bool write_result(const struct exploration *x, const struct explorer *e)
{
	struct text t = { 0 };
	if (x->json)
		report_json(&t, e, iso_version());
	else if (x->quiet)
		report_verdict(&t, &x->style, e);
	else
		report_result(&t, &x->style, e);
	FILE *to = outputs_result_stream(x->line);
	bool fine = output_text(to, "-", &t);
	text_free(&t);
	return fine;
}

static int deliver(const struct exploration *x, const struct explorer *e)
{
	if (program_failed(x->line, x->program)) return EXIT_INPUT;
	bool fine = write_result(x, e);
	fine = write_pictures(x, e) && fine;
	return fine ? exit_code_of_verdict((int)explorer_verdict(e))
	            : EXIT_INTERNAL;
}

static int explore_one(const struct exploration *x)
{
	struct watch *w = watch_new(x);
	if (!w) return EXIT_USAGE;
	struct explore_observer observer = watch_observer(w);
	struct explorer *e = explorer_new(x->program, &x->options, &observer);
	explorer_run(e);
	bool fine = watch_end(w);
	int code = deliver(x, e);
	explorer_free(e);
	return fine ? code : EXIT_INTERNAL;
}

static int explore_as_asked(const struct exploration *x)
{
	return x->line->value[OPTION_LEVELS] ? explore_levels(x)
	                                     : explore_one(x);
}

/* ---- the program ---- */

static int explore_known(struct exploration *x)
{
	struct origin *origin = NULL;
	if (!pictures_possible(x->line)) return EXIT_USAGE;
	if (x->options.algorithm == EXPLORE_OUTWARD) {
		origin = explore_origin(x);
		if (!origin) return EXIT_INPUT;
		x->options.origin = origin;
	}
	signals_catch();
	x->options.interrupt = signals_flag();
	int code = explore_as_asked(x);
	origin_free(origin);
	return code;
}

static int explore_program(struct exploration *x, const struct program *p)
{
	const char *order = x->line->value[OPTION_SESSIONS_ORDER];
	struct program *view = NULL;
	x->program = p;
	if (!settings_levels(x)) return EXIT_USAGE;
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
	struct exploration x = { .line = c };
	if (!settings_read(&x)) return EXIT_USAGE;
	return explore_path(&x, c->operands[0]);
}
