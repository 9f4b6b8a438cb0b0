/* explore --watch: explores again whenever a file of the program changes.
 *
 * Each exploration is a process of its own, a fork, so that one that a change
 * has overtaken is ended like one that a user interrupts. It tells this one
 * which files it read: their paths, each with a zero byte, through a pipe.
 * Folders are watched, not files, for many editors write a new file and give it
 * the name of the old one; whether a file is another one is seen by its stamp.
 */
#include "cli/explore.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/paths.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reports.h"
#include "cli/signals.h"

enum {
	QUIET_MS = 60, /* editors write in several steps */
	FOLDER_EVENTS = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
	                IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF
};

/* What a file was. One that is not there is all zeros. */
struct stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct watched_file {
	char *path;
	struct stamp stamp;
};

struct rerun {
	const struct command_line *line;
	int events; /* of inotify */
	struct watched_file *files;
	size_t count, capacity;
	bool heard;            /* of files: the options are fine */
	struct text told;      /* what came through the pipe and has no end */
	struct timespec begun; /* the exploration */
	sigset_t usual;        /* signals that are let through while waiting */
};

/* ---- files ---- */

static struct stamp stamp_of(const char *path)
{
	struct stat s;
	if (stat(path, &s)) return (struct stamp){ 0 };
	return (struct stamp){ s.st_dev, s.st_ino, s.st_size, s.st_mtim };
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec
	                            : a.tv_nsec > b.tv_nsec;
}

/* Its folder, and behind a link that of the file itself. A folder that is not
 * there, or cannot be watched, is not. */
static void watch_folders(struct rerun *w, const char *path)
{
	struct text folder = { 0 };
	char *real = realpath(path, NULL);
	path_folder(&folder, path);
	inotify_add_watch(w->events, text_get(&folder), FOLDER_EVENTS);
	text_clear(&folder);
	if (real) {
		path_folder(&folder, real);
		inotify_add_watch(w->events, text_get(&folder), FOLDER_EVENTS);
	}
	text_free(&folder);
	free(real);
}

/* One that was written after the exploration began, which may have read what
 * was there before, counts as changed: its stamp is none. */
static void add_file(struct rerun *w, const char *path)
{
	assert(*path);
	for (size_t i = 0; i < w->count; i++)
		if (!strcmp(w->files[i].path, path)) return;
	VEC_RESERVE(w->files, w->count, w->capacity);
	struct watched_file *f = &w->files[w->count++];
	f->path = mem_copy_string(path);
	watch_folders(w, path);
	f->stamp = stamp_of(path);
	if (is_later(f->stamp.changed, w->begun))
		f->stamp = (struct stamp){ .size = -1 };
}

/* Is a file another one than it was? From now on it is what it is. */
static bool take_changes(struct rerun *w)
{
	bool any = false;
	for (size_t i = 0; i < w->count; i++) {
		struct stamp now = stamp_of(w->files[i].path);
		if (same_stamp(&now, &w->files[i].stamp)) continue;
		w->files[i].stamp = now;
		any = true;
	}
	return any;
}

static void forget_events(const struct rerun *w)
{
	char events[4096];
	while (read(w->events, events, sizeof events) > 0)
		;
}

/* ---- the exploration ---- */

/* In its own process. */
static void tell_files(int to, const struct said *said)
{
	FILE *f = fdopen(to, "w");
	for (size_t i = 0; f && i < said->errors.file_count; i++) {
		fputs(said->errors.files[i], f);
		fputc(0, f);
	}
	if (f) fclose(f);
}

void explore_read(const struct command_line *c)
{
	if (!c->said->watcher) return;
	tell_files(c->said->watcher, c->said);
	c->said->watcher = 0;
}

static _Noreturn void explore_here(const struct rerun *w, int to)
{
	struct command_line c = *w->line;
	struct said said = { .watcher = to };
	c.said = &said;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, &w->usual, NULL);
	int code = explore_once(&c);
	code = command_end(&c, code);
	diags_free(&said.errors);
	fflush(NULL);
	exit(code);
}

/* A terminal shows the last result only. */
static void clear_screen(void)
{
	if (isatty(STDOUT_FILENO)) fputs("\033[H\033[2J\033[3J", stdout);
	fflush(stdout);
}

static pid_t begin(struct rerun *w, int *from)
{
	int ends[2];
	clear_screen();
	text_clear(&w->told);
	clock_gettime(CLOCK_REALTIME_COARSE, &w->begun);
	if (pipe2(ends, O_CLOEXEC)) return -1;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	pid_t pid = fork();
	if (!pid) {
		close(ends[0]);
		explore_here(w, ends[1]);
	}
	close(ends[1]);
	*from = ends[0];
	return pid;
}

/* Files whose paths have come; false at the end. */
static bool hear(struct rerun *w, int from)
{
	char part[4096];
	ssize_t n;
	while ((n = read(from, part, sizeof part)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (part[i]) {
				text_char(&w->told, part[i]);
			} else if (w->told.length) {
				add_file(w, text_get(&w->told));
				w->heard = true;
				text_clear(&w->told);
			}
		}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool interrupted(void)
{
	return atomic_load(signals_flag());
}

/* Waits for one of the two descriptors, or a change; -1: for none. */
static void wait_for(const struct rerun *w, int a, int b)
{
	struct pollfd any[] = { { w->events, POLLIN, 0 },
		                { a, POLLIN, 0 },
		                { b, POLLIN, 0 } };
	assert(w->events >= 0);
	ppoll(any, 3, NULL, &w->usual);
}

/* Until the exploration ends, or a change or a signal has ended it; returns its
 * exit code. */
static int follow(struct rerun *w, pid_t pid, int from, bool *changed)
{
	int end = pidfd_open(pid, 0), status = 0;
	bool asked = false;
	struct timespec moment = { .tv_nsec = 50000000 };
	while (waitpid(pid, &status, WNOHANG) == 0) {
		forget_events(w);
		if (from >= 0 && !hear(w, from)) {
			close(from);
			from = -1;
		}
		*changed |= take_changes(w);
		if (!asked && (*changed || interrupted())) {
			kill(pid, SIGTERM);
			asked = true;
		}
		if (end >= 0)
			wait_for(w, asked ? -1 : from, end);
		else
			nanosleep(&moment, NULL);
	}
	if (from >= 0) {
		hear(w, from);
		close(from);
	}
	if (end >= 0) close(end);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
}

/* Waits until nothing changes for a moment; false when a signal came. */
static bool wait_for_change(struct rerun *w, bool changed)
{
	struct timespec quiet = { .tv_nsec = QUIET_MS * 1000000L };
	while (!changed && !interrupted()) {
		wait_for(w, -1, -1);
		forget_events(w);
		changed = take_changes(w);
	}
	while (changed && !interrupted()) {
		nanosleep(&quiet, NULL);
		forget_events(w);
		changed = take_changes(w);
	}
	return !interrupted();
}

static int explore_again(struct rerun *w)
{
	int code = EXIT_INTERNAL;
	bool changed, goes_on = true;
	while (goes_on) {
		int from = -1;
		pid_t pid = begin(w, &from);
		if (pid < 0) {
			say("cannot start an exploration: %s", strerror(errno));
			return EXIT_INTERNAL;
		}
		changed = false;
		code = follow(w, pid, from, &changed);
		/* Nothing that could change would make it right. */
		if (code == EXIT_USAGE && !w->heard) return code;
		changed |= take_changes(w);
		if (!changed && !interrupted())
			say("waiting for changes of %zu file%s; Ctrl-C ends",
			    w->count, w->count == 1 ? "" : "s");
		goes_on = wait_for_change(w, changed);
	}
	return code;
}

int explore_watch(const struct command_line *c)
{
	struct rerun w = { .line = c };
	sigset_t ends;
	if (c->operand_count != 1 || is_standard(c->operands[0])) {
		say("--watch needs a program in a file: isoscope explore "
		    "--watch PROGRAM");
		return EXIT_USAGE;
	}
	w.events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w.events < 0) {
		say("--watch cannot follow changes: %s", strerror(errno));
		return EXIT_INTERNAL;
	}
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &w.usual);
	signals_catch();
	clock_gettime(CLOCK_REALTIME_COARSE, &w.begun);
	add_file(&w, c->operands[0]);
	int code = explore_again(&w);
	sigprocmask(SIG_SETMASK, &w.usual, NULL);
	close(w.events);
	for (size_t i = 0; i < w.count; i++) free(w.files[i].path);
	free(w.files);
	text_free(&w.told);
	return code;
}
