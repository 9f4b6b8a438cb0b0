#include "postgres/command.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "postgres/wire.h"

enum {
	CPU_MOST = 60,         /* seconds of the processor for one process */
	OUTPUT_MOST = 1 << 20, /* bytes */
	NOT_STARTED = 126
};

extern char **environ;

/* ---- Its environment ---- */

/* What would lead a client elsewhere. */
static bool is_foreign(const char *variable)
{
	return !strncmp(variable, "PG", 2) ||
	       !strncmp(variable, "DATABASE_URL=", 13) ||
	       !strncmp(variable, "PYTHONHASHSEED=", 15);
}

struct environment {
	char *own[COMMAND_VARIABLES];
	char **all;
};

static size_t add_variable(char **out, size_t n, const char *name,
                           const char *value)
{
	struct text t = { 0 };
	text_format(&t, "%s=%s", name, value);
	out[n] = t.data;
	return n + 1;
}

static bool has_tcp(const struct cluster *c, const char *door)
{
	return cluster_address(c) && (!strcmp(door, WIRE_DOOR_OF_SERVICE) ||
	                              !strcmp(door, WIRE_DOOR_OF_SETUP));
}

size_t command_variables(char **out, const struct cluster *cluster,
                         const char *door)
{
	const struct address *a =
		has_tcp(cluster, door) ? cluster_address(cluster) : NULL;
	struct text host = { 0 }, url = { 0 };
	char port[16];
	snprintf(port, sizeof port, "%u", cluster_port(cluster));
	text_format(&host, "%s%s%s", cluster_folder(cluster), *door ? "/" : "",
	            door);
	if (a)
		address_put_url(&url, a);
	else
		text_format(&url,
		            "postgresql:///postgres?host=%s&port=%s"
		            "&user=isoscope",
		            text_get(&host), port);
	size_t n = 0;
	n = add_variable(out, n, "PGHOST",
	                 a ? address_to_connect(a) : text_get(&host));
	n = add_variable(out, n, "PGPORT", port);
	n = add_variable(out, n, "PGUSER", "isoscope");
	if (a) n = add_variable(out, n, "PGPASSWORD", a->password);
	n = add_variable(out, n, "PGDATABASE", "postgres");
	n = add_variable(out, n, "DATABASE_URL", text_get(&url));
	assert(n < COMMAND_VARIABLES);
	text_free(&host);
	text_free(&url);
	return n;
}

static void make_environment(struct environment *e,
                             const struct cluster *cluster, const char *door)
{
	size_t count = 0, n = 0, own;
	while (environ[count]) count++;
	e->all = mem_take((count + COMMAND_VARIABLES + 1) * sizeof *e->all);
	for (size_t i = 0; i < count; i++)
		if (!is_foreign(environ[i])) e->all[n++] = environ[i];
	memset(e->own, 0, sizeof e->own);
	own = command_variables(e->own, cluster, door);
	/* Sets are in one order. */
	own = add_variable(e->own, own, "PYTHONHASHSEED", "0");
	for (size_t i = 0; i < own; i++) e->all[n++] = e->own[i];
	e->all[n] = NULL;
}

static void free_environment(struct environment *e)
{
	for (size_t i = 0; i < COMMAND_VARIABLES; i++) free(e->own[i]);
	free(e->all);
}

/* ---- The process ---- */

/* What becomes of a child. */
struct child {
	const char *const *words;
	const char *folder; /* NULL: this one */
	char **environment;
	int out, err;
	int told;   /* takes why it does not run; closed when it does */
	bool apart; /* it may take its time */
};

enum { TOLD = 3 }; /* the number of that in the child */

static bool direct(const struct child *x)
{
	int null = open("/dev/null", O_RDONLY);
	return null >= 0 && dup2(null, 0) >= 0 && dup2(x->out, 1) >= 0 &&
	       dup2(x->err, 2) >= 0 &&
	       (x->told == TOLD || dup3(x->told, TOLD, O_CLOEXEC) >= 0);
}

static void tell_error(int told)
{
	int error = errno;
	while (write(told, &error, sizeof error) < 0 && errno == EINTR)
		continue;
	_exit(NOT_STARTED);
}

/* Why it does not run; 0: it does. */
static int hear_error(int from)
{
	int error;
	ssize_t n;
	while ((n = read(from, &error, sizeof error)) < 0 && errno == EINTR)
		continue;
	return n == sizeof error ? error : 0;
}

/* In the child: nothing but calls that a fork of threads may make. */
static void become(const struct child *x)
{
	struct rlimit cpu = { CPU_MOST, CPU_MOST + 1 }, core = { 0, 0 };
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
	if (!x->apart) setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
	if (!direct(x) || (x->folder && chdir(x->folder))) tell_error(x->told);
	close_range(TOLD + 1, ~0U, 0);
	execvpe(x->words[0], (char *const *)x->words, x->environment);
	tell_error(TOLD);
}

static bool open_pipe(int *ends)
{
	if (pipe2(ends, O_CLOEXEC)) return false;
	return !fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

/* Returns what is wrong, as in errno; 0: it runs. */
static int start_child(struct command *c, struct child *x)
{
	int told[2], error;
	if (pipe2(told, O_CLOEXEC)) return errno;
	x->told = told[1];
	c->pid = fork();
	if (!c->pid) become(x);
	error = c->pid < 0 ? errno : 0;
	close(told[1]);
	if (!error) {
		setpgid(c->pid, c->pid); /* whoever comes first */
		cluster_adopt(c->cluster, c->pid);
		c->ended = pidfd_open(c->pid, 0);
		error = c->ended < 0 ? errno : hear_error(told[0]);
	}
	close(told[0]);
	return error;
}

static bool start(struct command *c, struct child *x, const char *door,
                  struct text *why)
{
	struct environment e;
	make_environment(&e, c->cluster, door);
	x->environment = e.all;
	int error = start_child(c, x);
	free_environment(&e);
	if (!error) return true;
	text_format(why, "cannot run '%s': %s", x->words[0], strerror(error));
	command_kill(c);
	return false;
}

bool command_start(struct command *c, const struct cluster *cluster,
                   const char *text, const char *folder, const char *door,
                   struct text *why)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 };
	const char *words[] = { "/bin/sh", "-c", text, NULL };
	struct child x = { .words = words, .folder = folder };
	*c = (struct command){
		.cluster = cluster, .ended = -1, .out = -1, .err = -1
	};
	bool fine = open_pipe(out) && open_pipe(err);
	c->out = out[0];
	c->err = err[0];
	c->out_open = c->err_open = true;
	if (!fine) {
		text_format(why, "cannot run '%s': %s", text, strerror(errno));
		command_kill(c);
	}
	x.out = out[1];
	x.err = err[1];
	fine = fine && start(c, &x, door, why);
	if (out[1] >= 0) close(out[1]);
	if (err[1] >= 0) close(err[1]);
	return fine;
}

bool command_start_apart(struct command *c, const struct cluster *cluster,
                         const char *const *words, const char *door, int output,
                         struct text *why)
{
	struct child x = {
		.words = words, .out = output, .err = output, .apart = true
	};
	assert(words && *words);
	*c = (struct command){
		.cluster = cluster, .ended = -1, .out = -1, .err = -1
	};
	return start(c, &x, door, why);
}

/* False: nothing comes any more. */
static bool take_from(int fd, struct text *to)
{
	char buffer[1 << 12];
	while (to->length <= OUTPUT_MOST) {
		ssize_t n = read(fd, buffer, sizeof buffer);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return n < 0;
		text_bytes(to, buffer, (size_t)n);
	}
	return true;
}

/* What it has left behind in its group ends with it. */
static void reap(struct command *c, int flags)
{
	int status;
	pid_t done = waitpid(c->pid, &status, flags);
	while (done < 0 && errno == EINTR)
		done = waitpid(c->pid, &status, flags);
	if (!done) return;
	c->over = true;
	c->code = done < 0              ? NOT_STARTED
	          : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
	                                : WEXITSTATUS(status);
	kill(-c->pid, SIGKILL);
	cluster_release(c->cluster, c->pid);
}

bool command_take(struct command *c)
{
	assert(c->pid > 0);
	if (!c->over) reap(c, WNOHANG);
	if (c->out_open) c->out_open = take_from(c->out, &c->output);
	if (c->err_open) c->err_open = take_from(c->err, &c->errors);
	return c->output.length <= OUTPUT_MOST &&
	       c->errors.length <= OUTPUT_MOST;
}

const char *command_last_words(const struct command *c, size_t *length)
{
	const char *s = text_get(&c->errors);
	size_t end = c->errors.length, begin;
	while (end && strchr(" \t\r\n", s[end - 1])) end--;
	for (begin = end; begin && s[begin - 1] != '\n';) begin--;
	*length = end - begin;
	return end > begin ? s + begin : NULL;
}

void command_kill(struct command *c)
{
	if (c->pid > 0 && !c->over) {
		kill(-c->pid, SIGKILL);
		reap(c, 0);
	}
	if (c->pid > 0) {
		if (c->ended >= 0) close(c->ended);
	}
	if (c->cluster && c->out >= 0) close(c->out);
	if (c->cluster && c->err >= 0) close(c->err);
	text_free(&c->output);
	text_free(&c->errors);
	*c = (struct command){ 0 };
}
