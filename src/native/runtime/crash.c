#include "native/runtime/crash.h"

#include <assert.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "native/runtime/child.h"
#include "native/runtime/fibre.h"
#include "native/shared.h"

enum {
	HANDLER_STACK = 256 << 10, /* unwinding takes some */
	FRAMES = 64
};

/* A signal handler has no other way to know. */
static struct shared *watched;
static bool copied; /* forked by user code: the worker lives on elsewhere */

/* ---- Where ---- */

static uint64_t program_counter(const ucontext_t *c)
{
#if defined(__x86_64__)
	return (uint64_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return c->uc_mcontext.pc;
#else
	(void)c;
	return 0;
#endif
}

/* Who made the call that led to an address without code, where nothing can be
 * unwound: 0 if unknown. */
static uint64_t caller(const ucontext_t *c)
{
#if defined(__x86_64__)
	const uint64_t *top = (const uint64_t *)c->uc_mcontext.gregs[REG_RSP];
	struct fibre *f = fibre_current();
	return f && fibre_holds(f, top) ? *top : 0;
#elif defined(__aarch64__)
	return c->uc_mcontext.regs[30];
#else
	(void)c;
	return 0;
#endif
}

static void add_frame(struct crash_record *c, uint64_t address)
{
	if (c->frame_count < SHARED_FRAMES)
		c->frames[c->frame_count++] = address;
}

/* From the place of the fault on; from here if that is unknown. */
static void note_frames(struct crash_record *c, const ucontext_t *at)
{
	void *found[FRAMES];
	uint64_t pc = at ? program_counter(at) : 0;
	c->frame_count = 0;
	if (at) add_frame(c, pc);
	int count = backtrace(found, FRAMES), first = 0;
	while (at && first < count && (uint64_t)(uintptr_t)found[first] != pc)
		first++;
	if (at) first++;
	assert(first >= 0);
	for (int i = first; i < count; i++)
		add_frame(c, (uint64_t)(uintptr_t)found[i]);
	if (at && c->frame_count == 1) add_frame(c, caller(at));
}

/* ---- Signals ---- */

/* The explorer's request, and not an alarm of the user's. */
static bool is_timeout(const siginfo_t *info)
{
	return info->si_signo == SIGALRM && info->si_code == SI_USER &&
	       info->si_pid == getppid();
}

static enum crash_kind kind_of(const siginfo_t *info)
{
	struct fibre *f = fibre_current();
	if (is_timeout(info)) return CRASH_TIMEOUT;
	return info->si_signo == SIGSEGV && info->si_code > 0 && f &&
	                       fibre_guards(f, info->si_addr)
	               ? CRASH_OVERFLOW
	               : CRASH_SIGNAL;
}

static _Noreturn void die_of(int number)
{
	sigset_t set;
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	_exit(128 + number);
}

/* The frames come last: finding them can fail, then the signal's default action
 * ends the process and what was noted remains. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	struct crash_record *c = &watched->crash;
	if (copied) die_of(number);
	c->frame_count = 0;
	c->signal = info->si_signo;
	c->code = info->si_code;
	c->address = (uint64_t)(uintptr_t)info->si_addr;
	atomic_store(&c->kind, (uint32_t)kind_of(info));
	note_frames(c, context);
	crash_note_objects(watched); /* those whose constructors run */
	die_of(number);
}

static void note_end(enum crash_kind kind, int code)
{
	struct crash_record *c = &watched->crash;
	assert(watched && kind != CRASH_NONE);
	c->frame_count = 0;
	c->signal = 0;
	c->code = code;
	atomic_store(&c->kind, (uint32_t)kind);
	note_frames(c, NULL);
	crash_note_objects(watched);
}

static void say(const char *what)
{
	fflush(stdout);
	(void)!write(STDERR_FILENO, what, strlen(what));
	(void)!write(STDERR_FILENO, "\n", 1);
}

_Noreturn void crash_misuse(const char *what)
{
	crash_end_copy("an end");
	say(what);
	note_end(CRASH_THREAD, 0);
	_exit(1);
}

_Noreturn void crash_cut_off(void)
{
	note_end(CRASH_FILES, 0);
	_exit(1);
}

_Noreturn void crash_spoilt(void)
{
	note_end(CRASH_SPOILT, 0);
	_exit(1);
}

/* ---- Copies ---- */

static void in_copy(void)
{
	copied = true;
	child_tie_copy();
}

static _Noreturn void end_copy(const char *what)
{
	char line[300];
	snprintf(line, sizeof line,
	         "a process that a session has forked came "
	         "to %s and is ended: only the session itself continues; call "
	         "_exit() in the other, or exec()",
	         what);
	say(line);
	_exit(0);
}

void crash_end_copy(const char *what)
{
	if (copied) end_copy(what);
}

/* After the user's handlers, and before all those that the explorer has
 * registered: they are not for this process. A session's pthread_exit() comes
 * here too, on the stack of the thread that it has ended. */
static void on_exit_called(int status, void *unused)
{
	struct fibre *f = fibre_current();
	(void)unused;
	if (copied) _exit(status);
	if (f && !fibre_holds(f, __builtin_frame_address(0)))
		crash_misuse("the session has left its stack and ended the "
		             "thread that runs sessions: pthread_exit() is "
		             "not for sessions, let the function return");
	fflush(stdout);
	note_end(CRASH_EXIT, status);
	_exit(status);
}

static uint64_t own_start, own_end;

static void find_span(const struct dl_phdr_info *info, struct shared_object *o)
{
	uint64_t low = UINT64_MAX, high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_phdr[i].p_vaddr;
		uint64_t end = start + info->dlpi_phdr[i].p_memsz;
		if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
		if (start < low) low = start;
		if (end > high) high = end;
	}
	o->bias = info->dlpi_addr;
	o->start = o->bias + low;
	o->end = o->bias + high;
}

static int find_own(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct shared_object o;
	uint64_t here = (uint64_t)(uintptr_t)find_own;
	(void)size;
	(void)unused;
	find_span(info, &o);
	if (here < o.start || here >= o.end) return 0;
	own_start = o.start;
	own_end = o.end;
	return 1;
}

bool crash_is_own(uint64_t address)
{
	return address >= own_start && address < own_end;
}

static void use_own_stack(void)
{
	stack_t s = { .ss_size = HANDLER_STACK };
	s.ss_sp = mmap(NULL, s.ss_size, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (s.ss_sp != MAP_FAILED) sigaltstack(&s, NULL);
}

void crash_watch(struct shared *shared)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
		                       SIGABRT, SIGSYS, SIGTRAP, SIGALRM };
	struct sigaction a = { .sa_sigaction = on_signal,
		               .sa_flags = SA_SIGINFO | SA_ONSTACK };
	void *here;
	assert(shared && !watched);
	watched = shared;
	dl_iterate_phdr(find_own, NULL);
	backtrace(&here, 1); /* loads what it needs */
	use_own_stack();
	/* A fault in the handler, on a broken stack, ends the process: what was
	 * noted of the first one remains. */
	sigfillset(&a.sa_mask);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &a, NULL);
	on_exit(on_exit_called, NULL);
	pthread_atfork(NULL, NULL, in_copy);
}

/* ---- Libraries ---- */

static bool find_path(const struct dl_phdr_info *info, char *out)
{
	const char *name =
		*info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	char path[PATH_MAX];
	if (!strchr(name, '/') || !realpath(name, path)) return false;
	if (strlen(path) >= SHARED_PATH) return false;
	assert(strlen(path) < SHARED_PATH);
	strcpy(out, path);
	return true;
}

static bool is_noted(const struct shared *s, uint32_t count,
                     const struct shared_object *o)
{
	for (uint32_t i = 0; i < count; i++)
		if (s->objects[i].start == o->start &&
		    s->objects[i].end == o->end)
			return true;
	return false;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct shared *s = data;
	struct shared_object o;
	uint32_t count = atomic_load(&s->object_count);
	(void)size;
	if (count >= SHARED_OBJECTS) return 1;
	find_span(info, &o);
	if (o.start >= o.end || is_noted(s, count, &o)) return 0;
	if (!find_path(info, o.path)) return 0;
	s->objects[count] = o;
	atomic_store(&s->object_count, count + 1);
	return 0;
}

static int read_loads(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(unsigned long long *)data = info->dlpi_adds;
	return 1;
}

void crash_note_objects(struct shared *shared)
{
	static unsigned long long noted;
	unsigned long long loads = 0;
	dl_iterate_phdr(read_loads, &loads);
	if (loads == noted) return;
	noted = loads;
	dl_iterate_phdr(note_object, shared);
}
