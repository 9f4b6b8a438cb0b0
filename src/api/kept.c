#include "api/kept.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/seconds.h"
#include "base/utf8.h"
#include "distribute/unit_files.h"
#include "dpor/tally.h"
#include "vm/program.h"

static const double EVERY_USUAL = 60; /* seconds */

static struct unit *read_unit(const char *path, struct problem *p)
{
	assert(path);
	struct unit *u = unit_read(path, &p->diags);
	if (!u) problem_diagnosed(p, PROBLEM_INPUT);
	return u;
}

/* ---- checkpoints ---- */

/* A checkpoint of something else may have cost days. */
static bool may_be_replaced(const struct kept *k, const char *path,
                            struct problem *p)
{
	const char *resume = k->files.resume;
	if (!path_exists(path) || (resume && !strcmp(path, resume)))
		return true;
	if (!unit_is_file(path))
		return problem_set(p, PROBLEM_REQUEST,
		                   "--checkpoint would overwrite '%s', which "
		                   "is not a checkpoint; choose another file",
		                   path);
	struct unit *old = read_unit(path, p);
	bool finished = old && unit_is_finished(old);
	if (old && !finished)
		problem_set(p, PROBLEM_REQUEST,
		            "--checkpoint would overwrite '%s', the checkpoint "
		            "of an exploration that is not finished; resume "
		            "that with isoscope explore --resume %s, or remove "
		            "the file",
		            path, path);
	unit_free(old);
	return finished;
}

static bool keep_in(struct kept *k, const char *path, struct problem *p)
{
	assert(!k->path);
	if (!strcmp(path, "-"))
		return problem_set(p, PROBLEM_REQUEST,
		                   "a checkpoint needs a file, not the "
		                   "standard output");
	k->path = mem_copy_string(path);
	if (path_is_writable(path)) return true;
	return problem_set(p, PROBLEM_REQUEST, "cannot write %s: %s", path,
	                   strerror(errno));
}

static bool is_whole(const struct unit *unit, const char *path,
                     struct problem *p)
{
	if (*unit->id)
		problem_set(p, PROBLEM_REQUEST,
		            "%s is unit %s of a split: resume it with isoscope "
		            "explore --unit",
		            path, unit->id);
	else if (unit->parts)
		problem_set(
			p, PROBLEM_REQUEST,
			"%s is what remains of an exploration that was "
			"split into %" PRIu32
			" units: continue them with isoscope explore --unit",
			path, unit->parts);
	return !*unit->id && !unit->parts;
}

/* By default the same file goes on to be the checkpoint. */
static bool read_checkpoint(struct kept *k, struct problem *p)
{
	const char *path = k->files.resume, *keep = k->files.checkpoint;
	k->unit = read_unit(path, p);
	k->resumed = true;
	return k->unit && is_whole(k->unit, path, p) &&
	       (!keep || may_be_replaced(k, keep, p)) &&
	       keep_in(k, keep ? keep : path, p);
}

/* ---- units of a split ---- */

static bool is_part(const struct unit *unit, const char *path,
                    struct problem *p)
{
	if (*unit->id && !unit->parts) return true;
	if (unit->parts)
		return problem_set(p, PROBLEM_REQUEST,
		                   "%s is what remains of what was split into "
		                   "%" PRIu32 " units; explore those",
		                   path, unit->parts);
	return problem_set(p, PROBLEM_REQUEST,
	                   "%s is a checkpoint, not a unit: resume it with "
	                   "isoscope explore --resume",
	                   path);
}

/* What was found of the unit before takes its place. */
static bool go_on_with(struct kept *k, struct unit *old, struct problem *p)
{
	assert(old && k->unit);
	struct text why = { 0 };
	bool same = task_equal(&old->task, &k->unit->task, &why) &&
	            old->split == k->unit->split &&
	            !strcmp(old->id, k->unit->id) && !old->parts;
	text_free(&why);
	if (!same) {
		unit_free(old);
		return problem_set(p, PROBLEM_INPUT,
		                   "%s is not a result of this unit, but of "
		                   "another unit or another split; remove it, "
		                   "or choose another file with --output",
		                   k->path);
	}
	unit_free(k->unit);
	k->unit = old;
	return true;
}

static bool read_part(struct kept *k, struct problem *p)
{
	const char *path = k->files.unit;
	struct text beside = { 0 };
	if (k->files.histories)
		return problem_set(p, PROBLEM_REQUEST,
		                   "--unit cannot be used with --histories: "
		                   "some of the histories were met while "
		                   "splitting, and are in no unit");
	k->unit = read_unit(path, p);
	k->resumed = true;
	if (!k->unit || !is_part(k->unit, path, p)) return false;
	unit_file_beside(&beside, path, "result", k->unit->id);
	const char *output = k->files.checkpoint;
	bool fine = keep_in(k, output ? output : text_get(&beside), p);
	text_free(&beside);
	if (!fine || !path_exists(k->path)) return fine;
	struct unit *old = read_unit(k->path, p);
	return old && go_on_with(k, old, p);
}

/* ---- reading ---- */

/* Histories have to be cut off where the checkpoint says. */
static bool histories_fit(const struct kept *k, struct problem *p)
{
	const char *path = k->files.histories;
	if (!path || strcmp(path, "-") != 0) return true;
	return problem_set(p, PROBLEM_REQUEST,
	                   "a checkpoint needs --histories in a file, not on "
	                   "the standard output");
}

bool kept_read(struct kept *k, const struct kept_files *files,
               struct problem *p)
{
	assert(!files->resume || !files->unit);
	k->files = *files;
	if (k->files.every <= 0) k->files.every = EVERY_USUAL;
	if (files->unit) return read_part(k, p);
	if (files->resume) return histories_fit(k, p) && read_checkpoint(k, p);
	return !files->checkpoint ||
	       (histories_fit(k, p) &&
	        may_be_replaced(k, files->checkpoint, p) &&
	        keep_in(k, files->checkpoint, p));
}

const struct task *kept_task(const struct kept *k)
{
	return k->resumed && k->unit ? &k->unit->task : NULL;
}

static bool path_can_be_written(const char *path, struct problem *p)
{
	if (utf8_is_valid(path, strlen(path))) return true;
	return problem_set(p, PROBLEM_INPUT,
	                   "a checkpoint cannot hold the path of %s, which is "
	                   "not in UTF-8; give the file another name",
	                   path);
}

bool kept_accept(struct kept *k, const struct program *program,
                 const struct explore_options *o, const char *order,
                 struct problem *p)
{
	assert(!k->path || !k->resumed || k->unit);
	struct task task;
	k->program = program;
	k->next = seconds_now() + k->files.every;
	if (!k->path || k->resumed) return true;
	task_init(&task, program, o, order);
	k->unit = unit_new(&task, "", 0);
	branch_list_add(&k->unit->open, branch_root());
	return path_can_be_written(k->unit->task.program, p) &&
	       path_can_be_written(k->unit->task.given, p);
}

/* ---- histories ---- */

static void remember_histories(struct unit *unit, const char *path)
{
	assert(path);
	char real[PATH_MAX];
	char *known = mem_copy_string(realpath(path, real) ? real : path);
	free(unit->histories);
	unit->histories = known;
}

static FILE *begin_histories(struct unit *unit, const char *path,
                             struct problem *p)
{
	if (unit && !path_can_be_written(path, p)) return NULL;
	/* To be read again, for its hash. */
	FILE *f = fopen(path, unit ? "w+e" : "we");
	if (f && unit)
		remember_histories(unit, path);
	else if (!f)
		problem_set(p, PROBLEM_REQUEST, "cannot write %s: %s", path,
		            strerror(errno));
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

/* Was it this file that the checkpoint was made with? */
static bool are_its_histories(const struct unit *unit, int file,
                              const char *path, struct problem *p)
{
	struct stat what;
	uint64_t length = unit->histories_length, hash;
	if (!fstat(file, &what) && what.st_size < (off_t)length)
		return problem_set(p, PROBLEM_REQUEST,
		                   "%s is shorter than it was at the time of "
		                   "the checkpoint, so histories are missing; "
		                   "start again",
		                   path);
	if (!hash_end(file, length, &hash))
		return problem_set(p, PROBLEM_REQUEST, "cannot read %s: %s",
		                   path, strerror(errno));
	if (hash == unit->histories_end) return true;
	return problem_set(p, PROBLEM_REQUEST,
	                   "%s does not hold the histories of the checkpoint, "
	                   "which were written to %s; name that file",
	                   path, unit->histories);
}

/* The part of the file that belongs to the checkpoint is kept. */
static FILE *go_on_histories(struct unit *unit, const char *path,
                             struct problem *p)
{
	off_t length = (off_t)unit->histories_length;
	FILE *f = fopen(path, "r+be");
	if (f && !are_its_histories(unit, fileno(f), path, p)) {
		fclose(f);
		return NULL;
	}
	if (f && !ftruncate(fileno(f), length) &&
	    !fseeko(f, length, SEEK_SET)) {
		remember_histories(unit, path);
		return f;
	}
	problem_set(p, PROBLEM_REQUEST, "cannot continue writing %s: %s", path,
	            strerror(errno));
	if (f) fclose(f);
	return NULL;
}

FILE *kept_histories(struct kept *k, struct problem *p)
{
	const char *path = k->files.histories;
	struct unit *unit = k->unit;
	if (unit && !path) path = unit->histories;
	if (!path) return NULL;
	if (!unit && !strcmp(path, "-")) return stdout;
	if (unit && unit->histories && unit->histories_length)
		k->histories = go_on_histories(unit, path, p);
	else if (unit && unit->found.stats.end_states && !unit->histories)
		problem_set(p, PROBLEM_REQUEST,
		            "the exploration was started without --histories, "
		            "so those found before are missing; start again");
	else
		k->histories = begin_histories(unit, path, p);
	return k->histories;
}

/* ---- while it runs ---- */

static bool flush_histories(struct kept *k)
{
	if (!k->histories) return true;
	int file = fileno(k->histories);
	if (fflush(k->histories) || fsync(file)) return false;
	off_t length = ftello(k->histories);
	k->unit->histories_length = (uint64_t)length;
	return length >= 0 &&
	       hash_end(file, (uint64_t)length, &k->unit->histories_end);
}

static bool save(struct kept *k, struct problem *p)
{
	assert(k->path && k->unit);
	bool fine = flush_histories(k) && unit_save(k->path, k->unit);
	if (!fine && !k->failing)
		problem_set(p, PROBLEM_SYSTEM,
		            "cannot write the checkpoint %s: %s", k->path,
		            strerror(errno));
	k->failing = !fine;
	return fine;
}

bool kept_begin(struct kept *k, struct explorer *e, struct problem *p)
{
	struct tally found;
	struct branch_list open = { 0 };
	if (!k->unit) return true;
	assert(k->program);
	if (!results_file_tally(&k->unit->found, k->program, &found) ||
	    !tally_make_examples(&found, k->program, explorer_options(e))) {
		tally_free(&found);
		return problem_set(p, PROBLEM_INPUT,
		                   "the file holds what the program cannot do; "
		                   "start again");
	}
	k->was_finished = unit_is_finished(k->unit) && path_exists(k->path);
	if (!k->was_finished) save(k, p);
	branch_list_copy(&open, &k->unit->open);
	explorer_resume(e, &open, &found);
	return true;
}

void kept_snapshot(struct kept *k, const struct tally *found,
                   const struct branch_list *open, struct problem *p)
{
	double now = seconds_now();
	assert(k->unit && k->path);
	if (now < k->next) return;
	k->next = now + k->files.every;
	unit_update(k->unit, k->program, found, open);
	save(k, p);
}

bool kept_end(struct kept *k, struct explorer *e, struct problem *p)
{
	bool worthless = e && explorer_stats(e)->stop == STOP_GUEST;
	if (!k->unit || !e || k->was_finished || worthless) return true;
	if (!explorer_open(e))
		return problem_set(p, PROBLEM_SYSTEM,
		                   "what is left to explore is too large to be "
		                   "written (over 256 MiB): %s is unchanged",
		                   k->path);
	unit_update(k->unit, k->program, explorer_tally(e), explorer_open(e));
	return save(k, p);
}

void kept_free(struct kept *k)
{
	unit_free(k->unit);
	free(k->path);
}
