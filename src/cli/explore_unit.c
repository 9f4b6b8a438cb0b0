#include "cli/explore_unit.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/settings.h"
#include "distribute/unit_files.h"
#include "distribute/unit.h"
#include "dpor/tally.h"
#include "vm/program.h"

#define EVERY_USUAL 60.0 /* seconds from checkpoint to checkpoint */

static struct unit *read_unit(struct explore_unit *u, const char *path)
{
	assert(path);
	struct diags d = { 0 };
	struct unit *unit = unit_read(path, &d);
	if (!unit) u->code = EXIT_INPUT;
	say_diagnostics(u->line, &d);
	diags_free(&d);
	return unit;
}

static bool file_is_there(const char *path)
{
	return !access(path, F_OK);
}

/* ---- --checkpoint ---- */

/* A checkpoint of something else may have cost days. */
static bool may_be_replaced(struct explore_unit *u, const char *path)
{
	const char *resume = u->line->value[OPTION_RESUME];
	if (!file_is_there(path) || (resume && !strcmp(path, resume)))
		return true;
	if (!unit_is_file(path)) {
		say("--checkpoint would overwrite '%s', which is not a "
		    "checkpoint; choose another file",
		    path);
		return false;
	}
	struct unit *old = read_unit(u, path);
	bool finished = old && unit_is_finished(old);
	if (!finished)
		say("--checkpoint would overwrite '%s', the checkpoint of an "
		    "exploration that is not finished; resume that with "
		    "isoscope explore --resume %s, or remove the file",
		    path, path);
	unit_free(old);
	return finished;
}

static bool keep_in(struct explore_unit *u, const char *path)
{
	assert(!u->keep);
	if (is_standard(path)) {
		say("a checkpoint needs a file, not the standard output");
		return false;
	}
	u->keep = mem_copy_string(path);
	return output_possible(path);
}

/* ---- --resume ---- */

static bool is_whole(const struct unit *unit, const char *path)
{
	if (*unit->id)
		say("%s is unit %s of a split: resume it with isoscope explore "
		    "--unit",
		    path, unit->id);
	else if (unit->parts)
		say("%s is what remains of an exploration that was split into "
		    "%" PRIu32 " units; isoscope explore --unit goes on with "
		    "them",
		    path, unit->parts);
	return !*unit->id && !unit->parts;
}

/* Without --checkpoint, the same file goes on to be the checkpoint. */
static bool read_checkpoint(struct explore_unit *u, const char *path)
{
	const char *keep = u->line->value[OPTION_CHECKPOINT];
	u->unit = read_unit(u, path);
	u->resumed = true;
	return u->unit && is_whole(u->unit, path) &&
	       (!keep || may_be_replaced(u, keep)) &&
	       keep_in(u, keep ? keep : path);
}

/* ---- --unit ---- */

/* Beside the unit: result-003.json. The caller frees it. */
static char *result_path(const char *path, const struct unit *unit)
{
	struct text t = { 0 }, folder = { 0 };
	const char *slash = strrchr(path, '/');
	text_bytes(&folder, slash ? path : ".",
	           slash ? (size_t)(slash - path) : 1);
	unit_file_name(&t, text_get(&folder), "result", unit->id);
	text_free(&folder);
	return t.data;
}

static bool is_part(const struct unit *unit, const char *path)
{
	if (*unit->id && !unit->parts) return true;
	if (unit->parts)
		say("%s is what remains of what was split into %" PRIu32
		    " units; explore those",
		    path, unit->parts);
	else
		say("%s is a checkpoint, not a unit: resume it with isoscope "
		    "explore --resume",
		    path);
	return false;
}

/* What was found of the unit before takes its place. */
static bool go_on_with(struct explore_unit *u, struct unit *old)
{
	assert(old && u->unit);
	struct text why = { 0 };
	bool same = task_equal(&old->task, &u->unit->task, &why) &&
	            old->split == u->unit->split &&
	            !strcmp(old->id, u->unit->id) && !old->parts;
	text_free(&why);
	if (!same) {
		say("%s is not a result of this unit, but of another unit or "
		    "another split; remove it, or choose another file with "
		    "--output",
		    u->keep);
		unit_free(old);
		u->code = EXIT_INPUT;
		return false;
	}
	unit_free(u->unit);
	u->unit = old;
	return true;
}

static bool read_part(struct explore_unit *u, const char *path)
{
	const char *output = u->line->value[OPTION_RESULT];
	if (u->line->value[OPTION_HISTORIES]) {
		say("--unit cannot be used with --histories: some of the "
		    "histories were met while splitting, and are in no unit");
		return false;
	}
	u->unit = read_unit(u, path);
	u->resumed = true;
	if (!u->unit || !is_part(u->unit, path)) return false;
	char *beside = output ? NULL : result_path(path, u->unit);
	bool fine = keep_in(u, output ? output : beside);
	free(beside);
	if (!fine || !file_is_there(u->keep)) return fine;
	struct unit *old = read_unit(u, u->keep);
	return old && go_on_with(u, old);
}

/* ---- the command line ---- */

/* Histories have to be cut off where the checkpoint says. */
static bool histories_fit(const struct command_line *c)
{
	const char *path = c->value[OPTION_HISTORIES];
	if (!path || !is_standard(path)) return true;
	say("a checkpoint needs --histories in a file, not on the standard "
	    "output");
	return false;
}

static bool read_files(struct explore_unit *u)
{
	const struct command_line *c = u->line;
	const char *checkpoint = c->value[OPTION_CHECKPOINT];
	if (c->value[OPTION_UNIT]) return read_part(u, c->value[OPTION_UNIT]);
	if (c->value[OPTION_RESUME])
		return histories_fit(c) &&
		       read_checkpoint(u, c->value[OPTION_RESUME]);
	return !checkpoint ||
	       (histories_fit(c) && may_be_replaced(u, checkpoint) &&
	        keep_in(u, checkpoint));
}

bool explore_unit_read(struct explore_unit *u, struct exploration *x)
{
	u->code = EXIT_USAGE;
	if (u->line->value[OPTION_RESULT] && !u->line->value[OPTION_UNIT]) {
		say("--output needs --unit");
		return false;
	}
	if (!read_files(u)) return false;
	if (u->unit) task_options(&u->unit->task, &x->options);
	x->options.snapshot_every = u->keep ? EVERY_USUAL : 0;
	return setting_seconds(u->line, OPTION_CHECKPOINT_EVERY,
	                       &x->options.snapshot_every);
}

const char *explore_unit_program(const struct explore_unit *u)
{
	if (u->line->operand_count) return u->line->operands[0];
	return u->unit ? task_path(&u->unit->task) : NULL;
}

const char *explore_unit_order(const struct explore_unit *u)
{
	return u->resumed ? u->unit->task.order
	                  : u->line->value[OPTION_SESSIONS_ORDER];
}

/* ---- the program ---- */

static bool path_can_be_written(const char *path)
{
	if (utf8_is_valid(path, strlen(path))) return true;
	say("a checkpoint cannot hold the path of %s, which is not in UTF-8; "
	    "give the file another name",
	    path);
	return false;
}

bool explore_unit_accept(struct explore_unit *u, struct exploration *x)
{
	assert(!u->keep || !u->resumed || u->unit);
	struct text why = { 0 };
	u->program = x->program;
	if (!u->keep) return true;
	if (!u->resumed) {
		struct task task;
		task_init(&task, x->program, &x->options,
		          explore_unit_order(u));
		u->unit = unit_new(&task, "", 0);
		branch_list_add(&u->unit->open, branch_root());
		return path_can_be_written(u->unit->task.program) &&
		       path_can_be_written(u->unit->task.given);
	}
	bool fits = task_has_program(&u->unit->task, x->program, &why);
	if (!fits)
		say("%s; what was found so far is void, so start again",
		    text_get(&why));
	text_free(&why);
	return fits;
}

/* ---- histories ---- */

static void remember_histories(struct unit *unit, const char *path)
{
	assert(path);
	char *real = realpath(path, NULL);
	free(unit->histories);
	unit->histories = real ? real : mem_copy_string(path);
}

static FILE *begin_histories(struct unit *unit, const char *path)
{
	if (!path_can_be_written(path)) return NULL;
	FILE *f = fopen(path, "w+e");
	if (f)
		remember_histories(unit, path);
	else
		say("cannot write %s: %s", path, strerror(errno));
	return f;
}

/* Of some bytes up to there. */
static bool hash_end(int file, uint64_t length, uint64_t *hash)
{
	char bytes[4096];
	size_t count = length < sizeof bytes ? length : sizeof bytes;
	ssize_t had = pread(file, bytes, count, (off_t)(length - count));
	if (had != (ssize_t)count) return false;
	*hash = hash_bytes(length, bytes, count);
	return true;
}

/* Was it this file that the checkpoint was made with? It says so if not. */
static bool are_its_histories(const struct unit *unit, int file,
                              const char *path)
{
	struct stat what;
	uint64_t length = unit->histories_length, hash;
	if (!fstat(file, &what) && what.st_size < (off_t)length) {
		say("%s is shorter than it was at the time of the checkpoint, "
		    "so histories are missing; start again",
		    path);
		return false;
	}
	bool known = hash_end(file, length, &hash);
	if (known && hash == unit->histories_end) return true;
	if (known)
		say("%s does not hold the histories of the checkpoint, which "
		    "were written to %s; name that file",
		    path, unit->histories);
	else
		say("cannot read %s: %s", path, strerror(errno));
	return false;
}

/* The part of the file that belongs to the checkpoint is kept. */
static FILE *go_on_histories(struct unit *unit, const char *path)
{
	off_t length = (off_t)unit->histories_length;
	FILE *f = fopen(path, "r+be");
	if (f && !are_its_histories(unit, fileno(f), path)) {
		fclose(f);
		return NULL;
	}
	if (f && !ftruncate(fileno(f), length) &&
	    !fseeko(f, length, SEEK_SET)) {
		remember_histories(unit, path);
		return f;
	}
	say("cannot continue writing %s: %s", path, strerror(errno));
	if (f) fclose(f);
	return NULL;
}

FILE *explore_unit_histories(struct explore_unit *u, bool *fine)
{
	const char *path = u->line->value[OPTION_HISTORIES];
	struct unit *unit = u->unit;
	*fine = true;
	if (!path && !unit->histories) return NULL;
	if (unit->histories && unit->histories_length)
		u->histories =
			go_on_histories(unit, path ? path : unit->histories);
	else if (unit->found.stats.end_states && !unit->histories)
		say("the exploration was started without --histories, so those "
		    "found before are missing; start again");
	else
		u->histories =
			begin_histories(unit, path ? path : unit->histories);
	*fine = u->histories;
	return u->histories;
}

/* ---- while it runs ---- */

static bool flush_histories(struct explore_unit *u)
{
	if (!u->histories) return true;
	int file = fileno(u->histories);
	if (fflush(u->histories) || fsync(file)) return false;
	off_t length = ftello(u->histories);
	u->unit->histories_length = (uint64_t)length;
	return length >= 0 &&
	       hash_end(file, (uint64_t)length, &u->unit->histories_end);
}

/* An exploration is worth more than one checkpoint: when the disk is full, it
 * goes on, and tries again the next time. */
static bool save(struct explore_unit *u)
{
	assert(u->keep && u->unit);
	bool fine = flush_histories(u) && unit_save(u->keep, u->unit);
	if (!fine && !u->failing)
		say("cannot write the checkpoint %s: %s", u->keep,
		    strerror(errno));
	u->failing = !fine;
	return fine;
}

bool explore_unit_begin(struct explore_unit *u, struct explorer *e)
{
	assert(u->unit && u->program);
	struct tally found;
	struct branch_list open = { 0 };
	if (!results_file_tally(&u->unit->found, u->program, &found) ||
	    !tally_make_examples(&found, u->program, explorer_options(e))) {
		say("the file holds what the program cannot do; start again");
		tally_free(&found);
		return false;
	}
	u->was_finished = unit_is_finished(u->unit) && file_is_there(u->keep);
	if (!u->was_finished) save(u);
	branch_list_copy(&open, &u->unit->open);
	explorer_resume(e, &open, &found);
	return true;
}

bool explore_unit_snapshot(void *payload, const struct tally *found,
                           const struct branch_list *open)
{
	struct explore_unit *u = payload;
	assert(u->unit && u->keep);
	unit_update(u->unit, u->program, found, open);
	save(u);
	return true;
}

bool explore_unit_end(struct explore_unit *u, struct explorer *e)
{
	bool worthless = e && explorer_stats(e)->stop == STOP_GUEST;
	if (!e || u->was_finished || worthless) return true;
	if (!explorer_open(e)) {
		say("what is left to explore is too large to be written (over "
		    "256 MiB): %s is unchanged",
		    u->keep);
		return false;
	}
	unit_update(u->unit, u->program, explorer_tally(e), explorer_open(e));
	return save(u);
}

void explore_unit_free(struct explore_unit *u)
{
	unit_free(u->unit);
	free(u->keep);
}
