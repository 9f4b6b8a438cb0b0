#include "distribute/split.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "base/utf8.h"
#include "cli/exit_codes.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "distribute/unit_files.h"
#include "distribute/unit.h"
#include "vm/program.h"
#include "analyse/symmetry.h"
#include "result/numbers.h"

struct division {
	const struct command_line *line;
	struct exploration x;
	struct unit *unit; /* what is split */
	bool from_file;    /* it was read */
	char *folder;      /* owned */
	uint32_t count;    /* of parts */
	struct symmetry *symmetry;
	struct unit **parts;
	struct progress progress;
	double begun; /* in seconds_now() */
};

/* ---- what is split ---- */

static bool read_count(struct division *v)
{
	uint64_t n = 0;
	if (!v->line->value[OPTION_UNITS]) {
		say("split needs the number of units: -n K");
		return false;
	}
	if (!setting_count(v->line, OPTION_UNITS, &n)) return false;
	v->count = (uint32_t)n;
	if (n <= UNIT_PARTS_MAX) return true;
	say("--units: at most %d", UNIT_PARTS_MAX);
	return false;
}

static char *folder_of(const char *path)
{
	struct text t = { 0 };
	const char *slash = strrchr(path, '/');
	text_bytes(&t, slash ? path : ".", slash ? (size_t)(slash - path) : 1);
	return t.data;
}

static bool find_folder(struct division *v)
{
	const char *given = v->line->value[OPTION_FOLDER];
	if (!given && !v->from_file) {
		say("split needs a folder for the units: -o DIR");
		return false;
	}
	v->folder = given ? mem_copy_string(given)
	                  : folder_of(v->line->operands[0]);
	return true;
}

static bool make_folder(const struct division *v)
{
	if (!mkdir(v->folder, 0777) || errno == EEXIST) return true;
	say("cannot make the folder %s: %s", v->folder, strerror(errno));
	return false;
}

static struct unit *read_file(const struct division *v, const char *path)
{
	struct diags d = { 0 };
	struct unit *u = unit_read(path, &d);
	say_diagnostics(v->line, &d);
	diags_free(&d);
	return u;
}

/* What was explored of a unit is not explored again: its result, if it is not
 * finished, is split instead. */
static bool prefer_result(struct division *v, const char *path)
{
	struct text beside = { 0 };
	char *folder = folder_of(path);
	unit_file_name(&beside, folder, "result", v->unit->id);
	free(folder);
	const char *result = text_get(&beside);
	struct unit *u =
		*v->unit->id && strcmp(result, path) && !access(result, F_OK)
			? read_file(v, result)
			: NULL;
	if (u && u->split == v->unit->split && !unit_is_finished(u)) {
		say("%s holds what was found of the unit so far, so the rest "
		    "of it is split",
		    result);
		unit_free(v->unit);
		v->unit = u;
		u = NULL;
	}
	bool finished = u && u->split == v->unit->split;
	if (finished) say("%s: this unit is finished", result);
	unit_free(u);
	text_free(&beside);
	return !finished;
}

static bool read_part(struct division *v, const char *path)
{
	v->unit = read_file(v, path);
	v->from_file = true;
	if (!v->unit || !prefer_result(v, path)) return false;
	if (v->unit->parts)
		say("%s was split already, into %" PRIu32 " units; split those",
		    path, v->unit->parts);
	else if (unit_is_finished(v->unit))
		say("%s: nothing is left to explore, so there is nothing to "
		    "split; merge it as it is",
		    path);
	return !v->unit->parts && !unit_is_finished(v->unit);
}

/* ---- the program ---- */

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

static bool find_symmetry(struct division *v)
{
	struct diags d = { 0 };
	bool wanted = v->from_file ? v->unit->task.symmetry
	                           : v->line->value[OPTION_SYMMETRY] != NULL;
	if (!wanted) return true;
	v->symmetry = symmetry_new(v->x.program, &d);
	v->x.options.symmetry = v->symmetry;
	say_diagnostics(v->line, &d);
	diags_free(&d);
	return v->symmetry;
}

static bool new_unit(struct division *v, const char *order)
{
	assert(!v->unit);
	struct task task;
	task_init(&task, v->x.program, &v->x.options, order);
	v->unit = unit_new(&task, "", 0);
	branch_list_add(&v->unit->open, branch_root());
	const char *path = v->unit->task.program, *given = v->unit->task.given;
	if (utf8_is_valid(path, strlen(path)) &&
	    utf8_is_valid(given, strlen(given)))
		return true;
	say("a unit cannot hold the path of %s, which is not in UTF-8; give "
	    "the file another name",
	    path);
	return false;
}

static bool is_its_program(const struct division *v)
{
	struct text why = { 0 };
	bool fits = task_has_program(&v->unit->task, v->x.program, &why);
	if (!fits) say("%s; split it again", text_get(&why));
	text_free(&why);
	return fits;
}

static bool prepare(struct division *v, const char *order)
{
	v->x.options.jobs = 1;
	v->x.options.interrupt = signals_flag();
	return find_symmetry(v) &&
	       (v->from_file ? is_its_program(v) : new_unit(v, order));
}

/* ---- files ---- */

/* The caller frees the text. */
static const char *file_name(const struct division *v, struct text *t,
                             const char *kind, const char *id)
{
	text_clear(t);
	unit_file_name(t, v->folder, kind, id);
	return text_get(t);
}

static bool save(const struct division *v, const char *kind,
                 const struct unit *u)
{
	assert(v->folder && u);
	struct text t = { 0 };
	const char *path = file_name(v, &t, kind, u->id);
	bool fine = unit_save(path, u);
	if (!fine) say("cannot write %s: %s", path, strerror(errno));
	text_free(&t);
	return fine;
}

/* What remains of the whole comes last: when it is there, all are. */
static bool save_all(const struct division *v)
{
	for (uint32_t i = 0; i < v->count; i++)
		if (!save(v, "unit", v->parts[i])) return false;
	return save(v, "split", v->unit);
}

static bool is_new(const struct division *v)
{
	struct text t = { 0 };
	const char *path =
		file_name(v, &t, "split", v->from_file ? v->unit->id : "");
	bool there = !access(path, F_OK);
	if (there)
		say("%s already exists and holds units of its own; choose "
		    "another folder",
		    path);
	text_free(&t);
	return !there;
}

static bool tell(const struct division *v)
{
	assert(v->parts);
	struct text t = { 0 };
	size_t branches = 0;
	for (uint32_t i = 0; i < v->count; i++)
		branches += v->parts[i]->open.count;
	uint64_t found = v->unit->found.stats.histories;
	text_format(&t,
	            "%s: %" PRIu32 " %s with %zu %s; %" PRIu64
	            " %s met so far\n",
	            v->folder, v->count, v->count == 1 ? "unit" : "units",
	            branches, branches == 1 ? "branch" : "branches", found,
	            found == 1 ? "history was" : "histories were");
	bool fine =
		v->line->value[OPTION_QUIET] || output_text(stdout, "-", &t);
	text_free(&t);
	return fine;
}

/* ---- the whole ---- */

static void on_tick(void *payload, size_t branches, size_t enough)
{
	struct division *v = payload;
	double seconds = seconds_now() - v->begun;
	if (!progress_due(&v->progress, seconds)) return;
	struct text line = { 0 };
	number_count(&line, branches);
	text_string(&line, " branches (");
	number_count(&line, enough);
	text_string(&line, " are enough), ");
	number_seconds(&line, seconds);
	progress_say(&v->progress, seconds, text_get(&line));
	text_free(&line);
}

static enum split_end make_parts(struct division *v)
{
	assert(v->count && !v->parts);
	const struct split_observer observer = { v, on_tick };
	v->parts = mem_take0(v->count, sizeof *v->parts);
	v->progress = output_progress(v->line);
	v->begun = seconds_now();
	enum split_end how = split_unit(v->unit, v->x.program, &v->x.options,
	                                &observer, v->count, v->parts);
	progress_end(&v->progress);
	return how;
}

static int split(struct division *v)
{
	enum split_end how = make_parts(v);
	if (program_failed(v->line, v->x.program)) return EXIT_INPUT;
	switch (how) {
	case SPLIT_DONE:
		return save_all(v) && tell(v) ? EXIT_HOLDS : EXIT_INTERNAL;
	case SPLIT_FOREIGN:
		say("%s holds what the program cannot do; split it again",
		    v->line->operands[0]);
		return EXIT_INPUT;
	case SPLIT_STOPPED: break;
	}
	if (atomic_load(signals_flag()))
		say("interrupted; nothing was split");
	else
		say("the program is too large, and nothing was split: isoscope "
		    "explore says in which respect");
	return EXIT_INCONCLUSIVE;
}

static int split_view(struct division *v, const struct program *p)
{
	const char *order = v->line->value[OPTION_SESSIONS_ORDER];
	if (v->from_file) order = v->unit->task.order;
	struct program *view = NULL;
	int code = EXIT_INPUT;
	v->x.program = p;
	if (!v->from_file && !settings_levels(&v->x)) return EXIT_USAGE;
	if (order) {
		view = settings_reordered(p, order);
		if (!view) return EXIT_USAGE;
		v->x.program = view;
	}
	signals_catch();
	if (prepare(v, order)) code = split(v);
	program_free(view);
	return code;
}

static int split_program(struct division *v)
{
	const char *path =
		v->from_file ? task_path(&v->unit->task) : v->line->operands[0];
	if (!is_new(v)) return EXIT_USAGE;
	struct program *p = read_program(v->line, path);
	if (!p) return EXIT_INPUT;
	int code = make_folder(v) ? split_view(v, p) : EXIT_USAGE;
	program_free(p);
	return code;
}

static void end(struct division *v)
{
	for (uint32_t i = 0; v->parts && i < v->count; i++)
		unit_free(v->parts[i]);
	free(v->parts);
	unit_free(v->unit);
	free(v->folder);
	symmetry_free(v->symmetry);
}

int split_main(const struct command_line *c)
{
	struct division v = { .line = c, .x = { .line = c } };
	int code = EXIT_USAGE;
	if (!settings_read(&v.x) || !read_count(&v)) return EXIT_USAGE;
	const char *path = c->operands[0];
	bool fine = true;
	if (unit_is_file(path)) {
		if (!alone(c)) return EXIT_USAGE;
		fine = read_part(&v, path);
		if (v.unit) task_options(&v.unit->task, &v.x.options);
		code = EXIT_INPUT;
	}
	if (fine) code = find_folder(&v) ? split_program(&v) : EXIT_USAGE;
	end(&v);
	return code;
}
