#include "api/split_files.h"

#include <assert.h>
#include <inttypes.h>

#include "base/seconds.h"
#include "cli/exit_codes.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/given_program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "distribute/split.h"
#include "distribute/task.h"
#include "distribute/unit_files.h"
#include "result/numbers.h"
#include "vm/program.h"

struct splitting {
	struct exploration x;
	struct division division;
	struct problem problem;
	uint64_t count; /* of units */
	struct progress progress;
	double begun; /* in seconds_now() */
};

/* ---- options ---- */

static bool read_count(struct splitting *s)
{
	if (!s->x.line->value[OPTION_UNITS]) {
		say("split needs the number of units: -n K");
		return false;
	}
	return setting_count(s->x.line, OPTION_UNITS, &s->count);
}

static bool alone(const struct command_line *c)
{
	static const enum option_id others[] = {
		OPTION_ISOLATION,      OPTION_BASE,        OPTION_ALGORITHM,
		OPTION_ROBUST,         OPTION_MAX_CHANGES, OPTION_SYMMETRY,
		OPTION_SESSIONS_ORDER,
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (!c->value[others[i]]) continue;
		say("a unit cannot be split with --%s: the unit says what is "
		    "explored",
		    option_table[others[i]].word);
		return false;
	}
	return true;
}

/* ---- what is said ---- */

static void on_tick(void *payload, size_t branches, size_t enough)
{
	struct splitting *s = payload;
	double seconds = seconds_now() - s->begun;
	if (!progress_due(&s->progress, seconds)) return;
	struct text line = { 0 };
	number_count(&line, branches);
	text_string(&line, " branches (");
	number_count(&line, enough);
	text_string(&line, " are enough), ");
	number_seconds(&line, seconds);
	progress_say(&s->progress, seconds, text_get(&line));
	text_free(&line);
}

static bool tell(const struct division *v)
{
	struct text t = { 0 };
	size_t branches = split_branches(v);
	uint64_t found = split_histories(v);
	assert(v->count || !branches);
	text_format(&t,
	            "%s: %" PRIu32 " %s with %zu %s; %" PRIu64
	            " %s met so far\n",
	            v->folder, v->count, v->count == 1 ? "unit" : "units",
	            branches, branches == 1 ? "branch" : "branches", found,
	            found == 1 ? "history was" : "histories were");
	if (!v->count)
		text_format(&t,
		            "%s: these are all, so there is nothing to "
		            "explore: isoscope merge %s\n",
		            v->folder, v->folder);
	bool fine = output_text(stdout, "-", &t);
	text_free(&t);
	return fine;
}

/* ---- the whole ---- */

static bool make(struct splitting *s)
{
	const struct command_line *c = s->x.line;
	const struct split_observer observer = { s, on_tick };
	signals_catch();
	s->x.plan.options.interrupt = signals_flag();
	s->progress = output_progress(c);
	s->begun = seconds_now();
	bool fine = split_make(&s->division, c->operands[0], &observer,
	                       &s->problem);
	progress_end(&s->progress);
	return fine;
}

static int split_program(struct splitting *s, const struct program *p)
{
	const struct command_line *c = s->x.line;
	struct explore_wish w = explore_wish_read(c);
	if (s->division.from_file) w.task = &s->division.unit->task;
	w.otherwise = "split it again";
	if (w.symmetry) w.any_algorithm = false;
	bool fine =
		explore_plan_make(&s->x.plan, p, &w, &s->problem) && make(s);
	bool fault = s->problem.kind == PROBLEM_FAULT;
	int code = say_problem(c, fault ? p : NULL, &s->problem);
	if (fine && !c->value[OPTION_QUIET] && !tell(&s->division))
		return EXIT_INTERNAL;
	return code;
}

static int split(struct splitting *s)
{
	const struct command_line *c = s->x.line;
	struct division *v = &s->division;
	const char *path = c->operands[0];
	bool from_file = unit_is_file(path);
	if (from_file && !alone(c)) return EXIT_USAGE;
	if (!from_file && !c->value[OPTION_FOLDER]) {
		say("split needs a folder for the units: -o DIR");
		return EXIT_USAGE;
	}
	bool fine = (!from_file || split_read(v, path, &s->problem)) &&
	            split_into(v, c->value[OPTION_FOLDER], path, s->count,
	                       &s->problem);
	if (v->result)
		say("%s holds what was found of the unit so far, so the rest "
		    "of it is split",
		    v->result);
	int code = say_problem(c, NULL, &s->problem);
	problem_free(&s->problem);
	if (!fine) return code;
	struct program *p =
		read_program(c, from_file ? task_path(&v->unit->task) : path);
	if (!p) return EXIT_INPUT;
	code = split_program(s, p);
	explore_plan_free(&s->x.plan);
	program_free(p);
	return code;
}

int split_main(const struct command_line *c)
{
	struct splitting s = { .x = { .line = c } };
	s.division.plan = &s.x.plan;
	if (!settings_read(&s.x) || !read_count(&s)) return EXIT_USAGE;
	int code = split(&s);
	split_free(&s.division);
	problem_free(&s.problem);
	return code;
}
