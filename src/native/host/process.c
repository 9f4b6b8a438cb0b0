#include "native/host/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "base/memory.h"
#include "base/seconds.h"
#include "native/host/crash_report.h"
#include "native/runtime/child.h"
#include "native/runtime/worker.h"
#include "native/host/loaded.h"
#include "native/host/shared_memory.h"
#include "native/host/source_lines.h"

/* Seconds to end in, before it is killed; valgrind searches for leaks then. */
#define GRACE (RUNNING_ON_VALGRIND ? 20 : 0.3)
enum {
	SLICE = 100,            /* milliseconds between looks at the progress */
	WAITS = 10,             /* times longer, for one that only waits */
	PRINTED_MOST = 1 << 20, /* bytes of output kept */
	PRINTED_TOLD = 4096     /* bytes of them read after a crash */
};
#define LOOK 0.1 /* seconds between looks at memory */
#define GROWN_MOST                                                  \
	((uint64_t)512 << 20) /* bytes since its birth, of a worker \
	                       * that is used on */
#define MEMORY_MOST ((uint64_t)4 << 30)

struct process {
	const struct worker_job *job;
	process_body *body;
	double step_timeout;
	bool show_output;
	const atomic_bool *interrupt; /* or NULL */
	double deadline;              /* or 0 */

	uint64_t memory_most;

	struct shared_memory memory;

	pid_t pid; /* 0: none runs */
	int socket;
	int lifeline; /* a pipe's end, closed when the explorer dies */
	int output;   /* file of what it prints, or -1 */
	off_t shown;  /* bytes of it that were passed on */
	struct wakeup_waiter ear;
	char name[16];      /* of the thread that has forked it */
	uint64_t inherited; /* bytes of the explorer at the fork */
	uint64_t at_birth;  /* bytes of its own with its first reply */
	double looked;      /* when its memory was last looked at */
	double cpu;         /* seconds that the dead ones took */
	bool is_new;

	struct crash_report report;
	struct loaded loaded;
	struct source_lines *lines;
	struct text printed; /* last words of the dead one */
	struct text failure; /* why none was started */
};

/* ---- Life ---- */

struct process *process_new_with(const struct worker_job *job,
                                 double step_timeout, bool show_output,
                                 process_body *body)
{
	struct process *p = mem_take0(1, sizeof *p);
	assert(job && body && step_timeout >= 0);
	p->job = job;
	p->body = body;
	p->step_timeout = step_timeout;
	p->show_output = show_output;
	p->socket = p->lifeline = p->output = -1;
	p->memory_most = mem_usual_limit();
	if (p->memory_most > MEMORY_MOST) p->memory_most = MEMORY_MOST;
	shared_memory_init(&p->memory);
	return p;
}

struct process *process_new(const struct worker_job *job, double step_timeout,
                            bool show_output)
{
	return process_new_with(job, step_timeout, show_output, worker_run);
}

void process_set_timeout(struct process *p, double seconds)
{
	p->step_timeout = seconds;
}

void process_set_memory(struct process *p, uint64_t bytes)
{
	p->memory_most = bytes;
}

void process_set_output(struct process *p, bool show_output)
{
	if (show_output != p->show_output) process_end(p);
	p->show_output = show_output;
}

void process_set_limits(struct process *p, const atomic_bool *flag,
                        double deadline)
{
	p->interrupt = flag;
	p->deadline = deadline;
}

static void close_file(int *file)
{
	if (*file >= 0) close(*file);
	*file = -1;
}

static void close_files(struct process *p)
{
	close_file(&p->socket);
	close_file(&p->lifeline);
	close_file(&p->output);
}

/* The worker is the leader of a group: what it has started goes with it. */
static void kill_group(struct process *p)
{
	assert(p->pid > 0);
	kill(-p->pid, SIGKILL);
	kill(p->pid, SIGKILL);
}

/* Has it ended? It stays a zombie. */
static bool is_dead(struct process *p)
{
	siginfo_t info;
	assert(p->pid > 0);
	info.si_pid = 0;
	int r = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT);
	return r ? errno != EINTR : info.si_pid != 0;
}

/* The signal that has stopped it, as opposed to ended it; 0: it runs. */
static int stopped_by(struct process *p)
{
	siginfo_t info;
	assert(p->pid > 0);
	info.si_pid = 0;
	if (waitid(P_PID, (id_t)p->pid, &info, WSTOPPED | WNOHANG | WNOWAIT))
		return 0;
	return info.si_pid ? info.si_status : 0;
}

/* Has it become another program? The kernel then gives it another name. */
static void read_program(struct process *p, char *out)
{
	char path[40];
	assert(p->pid > 0);
	snprintf(path, sizeof path, "/proc/%d/comm", (int)p->pid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0) return;
	ssize_t got = read(file, out, sizeof p->name - 1);
	close(file);
	out[got > 0 ? got : 0] = 0;
	out[strcspn(out, "\n")] = 0;
	if (!strcmp(out, p->name)) *out = 0;
}

/* What is known of it as long as it is not waited for. */
static void read_end(struct process *p)
{
	struct rlimit cpu;
	read_program(p, p->report.program);
	p->report.cpu_limited = !prlimit(p->pid, RLIMIT_CPU, NULL, &cpu) &&
	                        cpu.rlim_cur != RLIM_INFINITY;
}

static double seconds_in(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Waits for its end, by itself for a short while; false if it had to be killed.
 * What a process prints and writes is complete after this. */
static bool reap(struct process *p, int *status)
{
	double until = seconds_now() + GRACE;
	struct timespec nap = { 0, 20000 };
	bool by_itself;
	assert(p->pid > 0);
	while (!(by_itself = is_dead(p)) && seconds_now() < until) {
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 5000000) nap.tv_nsec *= 2;
	}
	kill_group(p);
	read_end(p);
	struct rusage used;
	pid_t got;
	do got = wait4(p->pid, status, 0, &used);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		*status = -1;
	else
		p->cpu += seconds_in(used.ru_utime) + seconds_in(used.ru_stime);
	assert(got < 0 || got == p->pid);
	p->pid = 0;
	return by_itself;
}

void process_end(struct process *p)
{
	int status;
	if (!p->pid) return;
	shutdown(p->socket, SHUT_RDWR);
	reap(p, &status);
	close_files(p);
	assert(!p->pid && p->socket < 0 && p->output < 0);
}

void process_condemn(struct process *p)
{
	process_end(p);
	p->report.kind = CRASH_SPOILT;
}

/* Ends one that does not listen. */
static void process_kill(struct process *p)
{
	kill_group(p);
	process_end(p);
}

void process_free(struct process *p)
{
	if (!p) return;
	process_end(p);
	shared_memory_free(&p->memory);
	loaded_free(&p->loaded);
	source_lines_free(p->lines);
	text_free(&p->printed);
	text_free(&p->failure);
	free(p);
}

/* ---- Birth ---- */

static enum process_answer refuse(struct process *p, const char *what,
                                  const char *way_out)
{
	text_clear(&p->failure);
	text_format(&p->failure,
	            "cannot start a process for the C code: "
	            "%s: %s; %s",
	            what, strerror(errno), way_out);
	return PROCESS_NOT_STARTED;
}

/* What it has in memory of its own; 0 if unknown. */
static uint64_t private_bytes(pid_t pid)
{
	char path[40], line[128];
	unsigned long long resident, shared;
	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0) return 0;
	ssize_t got = read(file, line, sizeof line - 1);
	close(file);
	if (got <= 0) return 0;
	line[got] = 0;
	if (sscanf(line, "%*u %llu %llu", &resident, &shared) != 2) return 0;
	if (shared > resident) return 0;
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

double process_cpu(const struct process *p)
{
	clockid_t clock;
	struct timespec t;
	if (!p->pid || clock_getcpuclockid(p->pid, &clock) ||
	    clock_gettime(clock, &t))
		return p->cpu;
	return p->cpu + (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t process_memory(const struct process *p)
{
	uint64_t bytes = p->pid ? private_bytes(p->pid) : 0;
	return bytes > p->inherited ? bytes - p->inherited : 0;
}

static bool open_files(struct process *p, struct child *c)
{
	int sockets[2], pipes[2];
	assert(p->socket < 0 && p->lifeline < 0 && p->output < 0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return false;
	p->socket = sockets[0];
	c->socket = sockets[1];
	if (pipe2(pipes, O_CLOEXEC)) return false;
	c->lifeline = pipes[0];
	p->lifeline = pipes[1];
	p->shown = 0;
	p->output = memfd_create("isoscope-output", MFD_CLOEXEC);
	c->output = p->output;
	return p->output >= 0 && !fcntl(p->output, F_SETFL, O_APPEND);
}

/* No handler of the explorer's may run in the child. */
static pid_t fork_quietly(void)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	int error = errno;
	if (pid) pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return pid;
}

/* What another thread has locked while this one forks stays locked in the
 * worker for ever; loaded_begin() locks the dynamic linker, which the worker
 * needs. */
static pthread_mutex_t births = PTHREAD_MUTEX_INITIALIZER;

static enum process_answer give_birth(struct process *p, struct child *c)
{
	assert(!p->pid);
	if (!open_files(p, c))
		return refuse(p, "no files", "allow more of them (ulimit -n)");
	shared_memory_begin(&p->memory);
	prctl(PR_GET_NAME, p->name);
	mem_lock(&births);
	loaded_begin(&p->loaded);
	p->inherited = private_bytes(getpid());
	pid_t pid = fork_quietly();
	if (!pid) {
		mem_forget_work();
		child_prepare(c, p->job);
		p->body(p->job, p->memory.shared, c->socket);
		_exit(0);
	}
	mem_unlock(&births);
	if (pid < 0)
		return refuse(p, "fork",
		              "allow more processes (ulimit -u) or "
		              "more memory");
	setpgid(pid, pid);
	p->pid = pid;
	wakeup_waiter_init(&p->ear);
	memset(&p->report, 0, sizeof p->report);
	p->is_new = true;
	return PROCESS_REPLIED;
}

static enum process_answer fork_worker(struct process *p)
{
	struct child c = { .socket = -1, .lifeline = -1, .output = -1 };
	text_clear(&p->printed);
	text_clear(&p->failure);
	if (!shared_memory_take(&p->memory))
		return refuse(p, "no room for shared memory",
		              "allow more of it (ulimit -v)");
	enum process_answer a = give_birth(p, &c);
	close_file(&c.socket);
	close_file(&c.lifeline);
	if (a != PROCESS_REPLIED) close_files(p);
	return a;
}

bool process_is_new(struct process *p)
{
	bool is_new = p->is_new;
	p->is_new = false;
	return is_new;
}

/* ---- Output ---- */

static bool write_all(const char *bytes, size_t count)
{
	while (count) {
		ssize_t n = write(STDERR_FILENO, bytes, count);
		if (n < 0 && errno != EINTR) return false;
		if (n > 0) bytes += n, count -= (size_t)n;
	}
	return true;
}

/* User code never meets the one who reads our standard error, who may be slow,
 * or gone. */
static void show_output(struct process *p)
{
	char bytes[1 << 14];
	ssize_t n;
	if (p->output < 0 || !p->show_output) return;
	while ((n = pread(p->output, bytes, sizeof bytes, p->shown)) > 0) {
		p->shown += n;
		if (!write_all(bytes, (size_t)n)) return;
	}
}

/* ---- Death ---- */

static void read_last_words(struct process *p)
{
	char bytes[PRINTED_TOLD];
	struct stat s;
	if (p->output < 0 || p->show_output || fstat(p->output, &s)) return;
	off_t from = s.st_size > (off_t)sizeof bytes
	                     ? s.st_size - (off_t)sizeof bytes
	                     : 0;
	ssize_t got = pread(p->output, bytes, sizeof bytes, from);
	if (got > 0) crash_report_last_words(bytes, (size_t)got, &p->printed);
}

/* User code may have written over the record as well. */
static void read_record(struct crash_report *d, struct crash_record *c)
{
	uint32_t kind = atomic_load(&c->kind);
	if (kind > CRASH_SPOILT) kind = CRASH_NONE;
	if (d->kind == CRASH_NONE) d->kind = (enum crash_kind)kind;
	if (kind == CRASH_NONE || d->kind == CRASH_SPOILT) return;
	d->signal = c->signal;
	d->code = c->code;
	d->address = c->address;
	d->frame_count = c->frame_count;
	if (d->frame_count > SHARED_FRAMES) d->frame_count = SHARED_FRAMES;
	memcpy(d->frames, c->frames, sizeof d->frames);
}

/* Its socket is closed, or it was told to end. */
static enum process_answer bury(struct process *p)
{
	struct crash_report *d = &p->report;
	struct shared *s = p->memory.shared;
	bool told = d->kind == CRASH_TIMEOUT;
	bool by_itself = reap(p, &d->status);
	assert(s);
	read_record(d, &s->crash);
	if (d->kind == CRASH_NONE) d->kind = CRASH_EXIT;
	if (d->kind == CRASH_EXIT && !shared_memory_is_whole(&p->memory))
		d->kind = CRASH_SPOILT;
	/* The alarm was its own. */
	if (d->kind == CRASH_TIMEOUT && !told) {
		d->kind = CRASH_SIGNAL;
		d->signal = SIGALRM;
	}
	d->cut_off = d->kind == CRASH_EXIT && !by_itself;
	d->timeout = p->step_timeout;
	if (d->waited) d->timeout *= WAITS;
	d->memory = p->memory_most;
	d->called = atomic_load(&s->called);
	if (d->kind == CRASH_SPOILT)
		shared_memory_drop(&p->memory);
	else
		shared_memory_read(&p->memory);
	loaded_read(&p->loaded, s);
	show_output(p);
	read_last_words(p);
	close_files(p);
	return PROCESS_DIED;
}

/* ---- Questions ---- */

/* While the code is at work. */
static void trim_output(struct process *p)
{
	struct stat s;
	show_output(p);
	if (p->output < 0 || fstat(p->output, &s)) return;
	if (p->show_output && p->shown)
		fallocate(p->output, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		          0, p->shown);
	else if (!p->show_output && s.st_size > PRINTED_MOST)
		(void)!ftruncate(p->output, 0);
}

/* While it waits. */
static void forget_output(struct process *p)
{
	show_output(p);
	p->shown = 0;
	if (p->output >= 0) (void)!ftruncate(p->output, 0);
}

/* Since the session made its last step: how long it has worked, and how long it
 * has waited for something else than the processor. */
struct progress {
	uint64_t steps;
	double since, looked; /* at it last */
	double cpu;           /* when it was looked at first; < 0: not yet */
	double waited;
};

static struct progress progress_at(uint64_t steps)
{
	double now = seconds_now();
	return (struct progress){ steps, now, now, -1, 0 };
}

/* Does it run, or would it if there were a processor for it? */
static bool is_runnable(const struct process *p)
{
	char path[40], line[256];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)p->pid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0) return true;
	ssize_t got = read(file, line, sizeof line - 1);
	close(file);
	line[got > 0 ? got : 0] = 0;
	const char *name = strrchr(line, ')');
	return !name || strlen(name) < 3 || name[2] == 'R';
}

/* What counts is how long it has worked: where the machine is busy, it is not
 * to blame for the rest. One that waits for something, and so never works, is
 * given much more time; one that was stopped is not. */
static bool is_over(struct process *p, struct progress *g)
{
	double now = seconds_now();
	if (p->step_timeout <= 0) return false;
	if (g->cpu < 0) g->cpu = process_cpu(p);
	if (!is_runnable(p)) g->waited += now - g->looked;
	g->looked = now;
	if (now - g->since < p->step_timeout) return false;
	if (process_cpu(p) - g->cpu >= p->step_timeout || stopped_by(p))
		return true;
	p->report.waited = g->waited >= WAITS * p->step_timeout;
	return p->report.waited;
}

/* Milliseconds until one has to look at it again. */
static int slice(const struct process *p, const struct progress *g)
{
	if (p->step_timeout <= 0) return SLICE;
	double left = 1000 * (g->since + p->step_timeout - seconds_now());
	assert(p->step_timeout > 0);
	return left > 0 && left < SLICE ? (int)left + 1 : SLICE;
}

/* The worker notes where it is, if it still can. */
static enum process_answer give_up(struct process *p, enum crash_kind kind)
{
	assert(p->pid > 0 && kind != CRASH_NONE);
	p->report.kind = kind;
	p->report.stopped = stopped_by(p);
	kill(p->pid, SIGALRM);
	if (p->report.stopped) kill(p->pid, SIGCONT);
	return bury(p);
}

static bool is_unwanted(const struct process *p)
{
	return (p->interrupt && atomic_load(p->interrupt)) ||
	       (p->deadline > 0 && seconds_now() > p->deadline);
}

/* User code wrote where it should not have: nothing there can be relied on. */
static enum process_answer give_up_spoilt(struct process *p)
{
	p->report.kind = CRASH_SPOILT;
	kill_group(p);
	return bury(p);
}

/* It rings once for each command, and once before. */
static enum process_answer take_reply(struct process *p)
{
	assert(p->pid > 0);
	if (!shared_memory_is_whole(&p->memory) ||
	    p->ear.received != p->memory.commands + 1)
		return give_up_spoilt(p);
	shared_memory_read(&p->memory);
	show_output(p);
	return PROCESS_REPLIED;
}

static enum process_answer await(struct process *p)
{
	struct shared *s = p->memory.shared;
	struct progress g = progress_at(atomic_load(&s->progress));
	assert(s && p->pid > 0 && p->socket >= 0);
	for (;;) {
		enum wakeup_result r = wakeup_wait(&s->answered, &p->ear,
		                                   p->socket, slice(p, &g));
		if (r == WAKEUP_CAME) return take_reply(p);
		if (r == WAKEUP_GONE || is_dead(p)) return bury(p);
		if (is_unwanted(p)) {
			process_kill(p);
			return PROCESS_INTERRUPTED;
		}
		trim_output(p);
		if (!shared_memory_is_whole(&p->memory))
			return give_up_spoilt(p);
		if (process_memory(p) > p->memory_most)
			return give_up(p, CRASH_MEMORY);
		uint64_t now = atomic_load(&s->progress);
		if (now != g.steps) g = progress_at(now);
		if (is_over(p, &g)) return give_up(p, CRASH_TIMEOUT);
	}
}

static enum process_answer have_worker(struct process *p)
{
	if (p->pid) return PROCESS_REPLIED;
	enum process_answer a = fork_worker(p);
	if (a == PROCESS_REPLIED) a = await(p);
	if (a == PROCESS_REPLIED) p->at_birth = process_memory(p);
	p->looked = seconds_now();
	return a;
}

/* Sessions that are run again and again may leave something each time. */
static bool has_grown(struct process *p)
{
	double now = seconds_now();
	if (now - p->looked < LOOK) return false;
	p->looked = now;
	return process_memory(p) > p->at_birth + GROWN_MOST;
}

enum process_answer process_start(struct process *p)
{
	if (p->pid && has_grown(p)) process_end(p);
	assert(!p->pid || p->memory.shared);
	return have_worker(p);
}

struct wire *process_command(struct process *p)
{
	return shared_memory_command(&p->memory);
}

enum process_answer process_ask(struct process *p)
{
	enum process_answer a = have_worker(p);
	if (a != PROCESS_REPLIED) return a;
	assert(p->pid > 0 && p->memory.shared);
	shared_memory_ask(&p->memory);
	forget_output(p);
	wakeup_send(&p->memory.shared->asked, p->socket);
	return await(p);
}

const struct wire *process_reply(const struct process *p)
{
	assert(p->memory.copy);
	return p->memory.copy;
}

/* ---- What became of it ---- */

void process_why(struct process *p, struct text *out)
{
	if (p->failure.length) {
		text_string(out, text_get(&p->failure));
		return;
	}
	if (!p->lines) p->lines = source_lines_new();
	crash_report_describe(&p->report, &p->loaded, p->lines, out);
	if (!p->printed.length) return;
	text_string(out, "; ");
	text_string(out, text_get(&p->printed));
}

enum crash_kind process_crash(const struct process *p)
{
	return p->report.kind;
}

bool process_gave_up(const struct process *p)
{
	enum crash_kind kind = p->report.kind;
	return kind == CRASH_TIMEOUT || kind == CRASH_MEMORY ||
	       kind == CRASH_SPOILT;
}

uint64_t process_crash_place(const struct process *p)
{
	return crash_report_near(&p->report, &p->loaded);
}

const char *process_object(struct process *p, uint64_t address,
                           uint64_t *in_file)
{
	if (p->pid) loaded_read(&p->loaded, p->memory.shared);
	const struct loaded_object *o = loaded_find(&p->loaded, address);
	if (!o) return NULL;
	*in_file = address - o->bias;
	assert(address >= o->start && address < o->end);
	return o->path;
}
