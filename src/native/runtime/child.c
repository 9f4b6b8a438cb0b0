#include "native/runtime/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILES_TRIED = 65536 };

static void reset_signals(void)
{
	sigset_t none;
	for (int i = 1; i <= SIGRTMAX; i++) signal(i, SIG_DFL);
	signal(SIGTTOU, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_from_to(int from, int to)
{
	if (from > to) return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)from, (unsigned)to, 0)) return;
#endif
	for (int i = from; i <= to && i < FILES_TRIED; i++) close(i);
}

/* Files of the explorer are none of user code's business; and a socket of
 * another worker, kept open here, would hide that one's end. */
static void close_others(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;
	assert(a != b);
	close_from_to(3, low - 1);
	close_from_to(low + 1, high - 1);
	close_from_to(high + 1, 0x7fffffff);
}

/* What the processes that user code forks inherit. */
static int lifeline = -1;

/* Even in an endless loop they do not outlive it. A group has a negative
 * number. */
static void tie(int line, pid_t whom)
{
	struct pollfd at = { .fd = line, .events = POLLIN };
	fcntl(line, F_SETOWN, whom);
	fcntl(line, F_SETSIG, SIGKILL);
	fcntl(line, F_SETFL, O_ASYNC | O_NONBLOCK);
	if (poll(&at, 1, 0) > 0) _exit(0);
}

/* User code may have closed it, and opened something else. */
static bool is_lifeline(int file)
{
	return (fcntl(file, F_GETFL) & O_ASYNC) &&
	       fcntl(file, F_GETSIG) == SIGKILL;
}

/* A file has one owner: so it is opened once more. */
void child_tie_copy(void)
{
	char path[40];
	if (lifeline < 0 || !is_lifeline(lifeline)) return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", lifeline);
	int line = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (line >= 0) tie(line, getpid());
}

/* When memory is short it goes first, and not the explorer. */
static void offer_for_killing(void)
{
	int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (file < 0) return;
	(void)!write(file, "1000", 4);
	close(file);
}

/* What the explorer has not written out yet is not the worker's; and nothing
 * that user code prints is lost in a crash. */
static void redirect(int output)
{
	int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (empty >= 0) dup2(empty, 0);
	if (output >= 0) dup2(output, 2);
	dup2(2, 1);
	__fpurge(stdout);
	__fpurge(stderr);
	setvbuf(stdout, NULL, _IONBF, 0);
}

/* The name that assert() and err() print: the client's. */
static void take_name(const char *client)
{
	if (!client) return;
	const char *slash = strrchr(client, '/');
	program_invocation_short_name = (char *)(slash ? slash + 1 : client);
}

void child_prepare(const struct child *c, const struct worker_job *job)
{
	struct rlimit no_core = { 0, 0 };
	assert(c->socket >= 0 && c->lifeline >= 0);
	setpgid(0, 0);
	redirect(c->output);
	close_others(c->socket, c->lifeline);
	lifeline = c->lifeline;
	tie(lifeline, -getpid());
	offer_for_killing();
	setrlimit(RLIMIT_CORE, &no_core);
	take_name(job ? job->client : NULL);
	reset_signals();
}
