#include "native/runtime/fibre.h"

#include <assert.h>
#include <callback.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/memory.h"
#include "native/runtime/fibre_tools.h"

enum {
	GUARD = 64 << 20,   /* addresses only: no large frame gets over it */
	KEPT = 64,          /* stacks of fibres that were freed */
	SHALLOW = 64 << 10, /* bytes of a stack that it keeps in memory, */
	USES = 16           /* and how often it is used before it gives back
	                     * the others */
};

struct fibre {
	ucontext_t inside, outside; /* where it waits, and who resumed it */
	void (*function)(void *data);
	void *data;
	callback_t entry; /* run_fibre() of this fibre, or NULL */
	int error;        /* its errno while it does not run */
	char *guard;      /* GUARD bytes, then the stack */
	size_t size;      /* bytes of the stack */
	unsigned uses;
	bool started, over;
	bool dying;         /* resumed only to leave its stack for good */
	struct fibre *next; /* among the free ones */
	struct fibre_tools tools;
};

/* Threads have nothing of each other's fibres. */
static _Thread_local struct fibre *running;
static _Thread_local struct fibre *kept;
static _Thread_local unsigned kept_count;

static char *stack_of(const struct fibre *f)
{
	return f->guard + GUARD;
}

/* ---- Switching ---- */

static void enter(struct fibre *f)
{
	assert(!running && f->started && !f->over);
	running = f;
	int error = errno;
	tools_leave(&f->tools, TOOLS_IN, stack_of(f), f->size);
	errno = f->error;
	swapcontext(&f->outside, &f->inside);
	f->error = errno;
	tools_arrive_outside(&f->tools);
	errno = error;
}

static void leave(struct fibre *f, bool for_ever)
{
	assert(f && running == f);
	running = NULL;
	tools_leave(&f->tools, for_ever ? TOOLS_OUT_FOR_EVER : TOOLS_OUT, NULL,
	            0);
	swapcontext(&f->inside, &f->outside);
	tools_arrive_inside(&f->tools, false);
}

static void leave_for_ever(struct fibre *f)
{
	f->over = true;
	leave(f, true);
	abort();
}

/* What the closure does. It never returns: libffcall's and the C library's
 * frames below are not asked what they would do. */
static void run(struct fibre *f)
{
	assert(running == f);
	tools_arrive_inside(&f->tools, true);
	f->function(f->data);
	leave_for_ever(f);
}

static void run_fibre(void *data, va_alist list)
{
	(void)list;
	run(data);
}

/* Without a closure. */
static void run_running(void)
{
	run(running);
}

bool fibre_resume(struct fibre *f)
{
	assert(!running && !f->over);
	f->started = true;
	enter(f);
	return !f->over;
}

void fibre_yield(void)
{
	struct fibre *f = running;
	assert(f);
	leave(f, false);
	if (f->dying) leave_for_ever(f);
}

struct fibre *fibre_current(void)
{
	return running;
}

/* ---- Code ---- */

static const char *code_folder = "/tmp";
static enum { UNKNOWN, NEVER, ALWAYS } closures; /* whether they are made */

void fibre_make_code_in(const char *folder)
{
	code_folder = folder;
	closures = UNKNOWN;
}

static bool has_page_of_code(int file)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (posix_fallocate(file, 0, (off_t)page)) return false;
	void *p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
	if (p == MAP_FAILED) return false;
	munmap(p, page);
	return true;
}

/* libffcall ends the process when it cannot make its file, or may not run what
 * is in it: on a system whose /tmp is full, read only, or mounted noexec. */
static bool can_make_code(void)
{
	char name[PATH_MAX];
	snprintf(name, sizeof name, "%s/isoscope-code-XXXXXX", code_folder);
	int file = mkostemp(name, O_CLOEXEC);
	if (file < 0) return false;
	unlink(name);
	bool can = has_page_of_code(file);
	close(file);
	return can;
}

/* libffcall takes a random number, which is not to be missing in those of user
 * code. */
static callback_t make_entry(struct fibre *f)
{
	char state[128];
	if (closures == UNKNOWN) closures = can_make_code() ? ALWAYS : NEVER;
	if (closures == NEVER) return NULL;
	char *before = initstate(1, state, sizeof state);
	callback_t entry = alloc_callback(run_fibre, f);
	setstate(before);
	return entry;
}

/* ---- Stacks ---- */

static bool map_stack(struct fibre *f)
{
	char *p = mmap(NULL, GUARD + f->size, PROT_NONE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
	               -1, 0);
	assert(f->size > 0 && !f->guard);
	if (p == MAP_FAILED) return false;
	if (mprotect(p + GUARD, f->size, PROT_READ | PROT_WRITE)) {
		munmap(p, GUARD + f->size);
		return false;
	}
#ifdef MADV_NOHUGEPAGE
	madvise(p + GUARD, f->size, MADV_NOHUGEPAGE);
#endif
	f->guard = p;
	return true;
}

static struct fibre *fibre_make(size_t size)
{
	struct fibre *f = mem_take0(1, sizeof *f);
	f->size = size;
	if (!map_stack(f)) {
		free(f);
		return NULL;
	}
	f->entry = make_entry(f);
	tools_add_stack(&f->tools, stack_of(f), size);
	return f;
}

static void unmake(struct fibre *f)
{
	assert(f != running && f->guard);
	tools_remove_stack(&f->tools);
	if (f->entry) free_callback(f->entry);
	munmap(f->guard, GUARD + f->size);
	free(f);
}

/* One with a stack of that size that was kept, or NULL. Others go. */
static struct fibre *take_kept(size_t size)
{
	while (kept) {
		struct fibre *f = kept;
		kept = f->next;
		assert(kept_count > 0);
		kept_count--;
		assert(f->guard);
		if (f->size == size) return f;
		unmake(f);
	}
	return NULL;
}

/* What one deep run took is not held for ever. Asking each time would be the
 * better part of what a fibre costs. */
static void keep(struct fibre *f)
{
	if (++f->uses % USES == 0 && f->size > SHALLOW)
		madvise(stack_of(f), f->size - SHALLOW, MADV_DONTNEED);
	f->next = kept;
	kept = f;
	kept_count++;
	assert(kept_count <= KEPT);
}

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	assert(bytes > 0 && page > 0);
	return (bytes + page - 1) / page * page;
}

struct fibre *fibre_new(void (*function)(void *data), void *data,
                        size_t stack_bytes)
{
	size_t size = whole_pages(stack_bytes);
	struct fibre *f = take_kept(size);
	assert(function);
	if (!f) f = fibre_make(size);
	if (!f) return NULL;
	f->function = function;
	f->data = data;
	f->started = f->over = f->dying = false;
	f->error = 0;
	getcontext(&f->inside);
	f->inside.uc_stack.ss_sp = stack_of(f);
	f->inside.uc_stack.ss_size = size;
	f->inside.uc_link = NULL;
	makecontext(&f->inside,
	            f->entry ? (void (*)(void))f->entry : run_running, 0);
	tools_start(&f->tools);
	return f;
}

void fibre_free(struct fibre *f)
{
	if (!f) return;
	assert(f != running);
	if (TOOLS_WANT_GOODBYE && f->started && !f->over) {
		f->dying = true;
		enter(f);
	}
	tools_end(&f->tools, stack_of(f), f->size);
	if (kept_count < KEPT)
		keep(f);
	else
		unmake(f);
}

/* ---- Addresses ---- */

bool fibre_holds(const struct fibre *f, const void *address)
{
	return (uintptr_t)address - (uintptr_t)stack_of(f) < f->size;
}

bool fibre_guards(const struct fibre *f, const void *address)
{
	uintptr_t below = (uintptr_t)stack_of(f) - (uintptr_t)address - 1;
	return below < GUARD;
}
