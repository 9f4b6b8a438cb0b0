#include "report/graphviz.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool graphviz_present(void)
{
	const char *path = getenv("PATH");
	struct text name = { 0 };
	bool found = false;
	while (path && *path && !found) {
		size_t length = strcspn(path, ":");
		struct stat what;
		text_clear(&name);
		text_bytes(&name, path, length);
		text_string(&name, length ? "/dot" : "dot");
		found = !stat(text_get(&name), &what) &&
		        S_ISREG(what.st_mode) && !access(text_get(&name), X_OK);
		path += length + (path[length] == ':');
	}
	text_free(&name);
	return found;
}

/* Starts dot with the read end of a pipe as its input; 0 or an errno. */
static int start(pid_t *child, const int pipe_ends[2], int to)
{
	char name[] = "dot", format[] = "-Tsvg";
	char *const arguments[] = { name, format, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t broken_pipe;
	sigemptyset(&broken_pipe);
	sigaddset(&broken_pipe, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipe_ends[0], 0);
	posix_spawn_file_actions_adddup2(&actions, to, 1);
	posix_spawn_file_actions_addclose(&actions, pipe_ends[1]);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &broken_pipe);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	int error = posix_spawnp(child, name, &actions, &attributes, arguments,
	                         environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* The caller ignores SIGPIPE, so that a dot that dies early is an error. */
static bool feed(int to, const char *bytes, size_t length)
{
	assert(bytes || !length);
	while (length) {
		ssize_t n = write(to, bytes, length);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return false;
		bytes += n;
		length -= (size_t)n;
	}
	return true;
}

static bool finished_well(pid_t child)
{
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR) return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool graphviz_draw(const struct text *source, int to, struct text *problem)
{
	assert(source->length);
	int ends[2];
	pid_t child;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		text_string(problem, strerror(errno));
		return false;
	}
	int error = start(&child, ends, to);
	close(ends[0]);
	if (error) {
		close(ends[1]);
		text_format(problem, "cannot run Graphviz's dot: %s",
		            strerror(error));
		return false;
	}
	bool fed = feed(ends[1], text_get(source), source->length);
	close(ends[1]);
	bool well = finished_well(child);
	if (!fed || !well) text_string(problem, "Graphviz's dot failed");
	return fed && well;
}
