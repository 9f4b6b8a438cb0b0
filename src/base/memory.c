#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sanitizers.h"

#undef free

enum { LOCKS = 4 };

struct held {
	void *thing;
	void (*release)(void *thing);
};

struct mem_heap {
	pthread_mutex_t lock; /* of all that follows */
	/* A hash table with linear probing of what was taken, a power of two
	 * in size, at most half full. */
	void **taken;
	size_t count, capacity;
	struct held *held; /* in the order of holding */
	size_t held_count, held_capacity;
	atomic_llong *allowed; /* NULL: no limit */
};

/* Of a thread: whose memory it takes, and where it goes when there is none. */
struct here {
	struct mem_heap *heap;
	bool apart; /* what is taken belongs to none */
	jmp_buf *exit;
	atomic_llong *allowed;
	pthread_mutex_t *locks[LOCKS];
	unsigned lock_count;
};

static _Thread_local struct here here;

/* Where there is no work to be left, nothing can be allocated for a message
 * that travels any other way. The functions of isoscope.h begin some, so that
 * only the program comes here. */
_Noreturn void mem_fail(void)
{
	if (here.exit) longjmp(*here.exit, 1);
	fputs("isoscope: out of memory\n", stderr);
	exit(70);
}

/* ---- The table of a heap; the lock is held ---- */

static size_t slot_of(const struct mem_heap *h, const void *p)
{
	uint64_t hash = (uint64_t)(uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(hash >> 20) & (h->capacity - 1);
}

static void put(struct mem_heap *h, void *p)
{
	size_t i = slot_of(h, p);
	while (h->taken[i]) i = (i + 1) & (h->capacity - 1);
	h->taken[i] = p;
	h->count++;
}

/* Room for one more; false if there is no memory. */
static bool reserve(struct mem_heap *h)
{
	if (2 * (h->count + 1) <= h->capacity) return true;
	size_t old = h->capacity, capacity = old ? 2 * old : 64;
	void **before = h->taken, **after = calloc(capacity, sizeof *after);
	if (!after) return false;
	h->taken = after;
	h->capacity = capacity;
	h->count = 0;
	for (size_t i = 0; i < old; i++)
		if (before[i]) put(h, before[i]);
	free(before);
	return true;
}

/* False if it is not there. Those behind it that could have stood here close
 * the gap. */
static bool take_out(struct mem_heap *h, const void *p)
{
	if (!h->count) return false;
	size_t mask = h->capacity - 1, i = slot_of(h, p);
	while (h->taken[i] != p) {
		if (!h->taken[i]) return false;
		i = (i + 1) & mask;
	}
	for (size_t k = (i + 1) & mask; h->taken[k]; k = (k + 1) & mask) {
		size_t home = slot_of(h, h->taken[k]);
		if (((k - home) & mask) < ((k - i) & mask)) continue;
		h->taken[i] = h->taken[k];
		i = k;
	}
	h->taken[i] = NULL;
	h->count--;
	return true;
}

/* ---- Taking ---- */

static bool is_allowed(const struct mem_heap *h)
{
	return !h->allowed || atomic_fetch_sub(h->allowed, 1) > 0;
}

/* One of malloc, calloc and realloc, for the heap. */
static void *take_in_heap(struct mem_heap *h, void *old, size_t count,
                          size_t size, bool zeroed)
{
	void *p = NULL;
	pthread_mutex_lock(&h->lock);
	if (is_allowed(h) && reserve(h)) {
		bool ours = old && take_out(h, old);
		p = zeroed ? calloc(count, size) : realloc(old, count * size);
		if (ours || !old) {
			if (p || old) put(h, p ? p : old);
		}
	}
	pthread_mutex_unlock(&h->lock);
	if (!p) mem_fail();
	return p;
}

void *mem_take(size_t size)
{
	if (!size) size = 1;
	if (here.heap && !here.apart)
		return take_in_heap(here.heap, NULL, 1, size, false);
	void *p = malloc(size);
	if (!p) mem_fail();
	return p;
}

void *mem_take0(size_t count, size_t size)
{
	if (!count) count = 1;
	if (!size) size = 1;
	if (here.heap && !here.apart)
		return take_in_heap(here.heap, NULL, count, size, true);
	void *p = calloc(count, size);
	if (!p) mem_fail();
	return p;
}

void *mem_grow(void *p, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size) mem_fail();
	if (!count || !size) count = size = 1;
	if (here.heap && (p || !here.apart))
		return take_in_heap(here.heap, p, count, size, false);
	void *q = realloc(p, count * size);
	if (!q) mem_fail();
	return q;
}

void *mem_grow0(void *p, size_t before, size_t count, size_t size)
{
	assert(before <= count && size);
	char *grown = mem_grow(p, count, size);
	memset(grown + before * size, 0, (count - before) * size);
	return grown;
}

char *mem_copy_string(const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(mem_take(n), s, n);
}

void mem_free(void *p)
{
	struct mem_heap *h = here.heap;
	if (h && p) {
		pthread_mutex_lock(&h->lock);
		take_out(h, p);
		pthread_mutex_unlock(&h->lock);
	}
	free(p);
}

uint64_t mem_usual_limit(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	if (pages <= 0 || size <= 0) return UINT64_MAX;
	return (uint64_t)pages * (uint64_t)size / 2;
}

/* ---- Heaps ---- */

static void heap_init(struct mem_heap *h)
{
	memset(h, 0, sizeof *h);
	pthread_mutex_init(&h->lock, NULL);
}

static void heap_fini(struct mem_heap *h)
{
	free(h->taken);
	free(h->held);
	pthread_mutex_destroy(&h->lock);
}

/* What was held last is released first; all while the memory is there. */
static void heap_empty(struct mem_heap *h)
{
	while (h->held_count) {
		struct held last = h->held[--h->held_count];
		last.release(last.thing);
	}
	for (size_t i = 0; i < h->capacity; i++) {
		free(h->taken[i]);
		h->taken[i] = NULL;
	}
	h->count = 0;
}

struct mem_heap *mem_heap_new(void)
{
	struct mem_heap *h = malloc(sizeof *h);
	if (h) heap_init(h);
	return h;
}

void mem_heap_forget(struct mem_heap *h)
{
	if (!h) return;
	heap_fini(h);
	free(h);
}

void mem_heap_free(struct mem_heap *h)
{
	if (!h) return;
	heap_empty(h);
	mem_heap_forget(h);
}

struct mem_heap *mem_heap_here(void)
{
	return here.heap;
}

bool mem_apart(bool apart)
{
	bool before = here.apart;
	here.apart = apart;
	return before;
}

/* ---- Work ---- */

/* The locks that were taken since. */
static void unlock_down_to(unsigned count)
{
	while (here.lock_count > count)
		pthread_mutex_unlock(here.locks[--here.lock_count]);
}

static void enter(struct mem_work *w, struct mem_heap *h)
{
	w->heap = h;
	w->heap_before = here.heap;
	w->exit_before = here.exit;
	w->locks = here.lock_count;
	w->apart_before = here.apart;
	here.heap = h;
	here.apart = false;
	here.exit = &w->exit;
}

static void leave(struct mem_work *w, bool left)
{
	assert(left || here.lock_count == w->locks);
	unlock_down_to(w->locks);
	here.heap = w->heap_before;
	here.apart = w->apart_before;
	here.exit = w->exit_before;
}

bool mem_begin(struct mem_work *w, struct mem_heap *h)
{
	w->own = !h;
	if (!h) h = mem_heap_new();
	if (!h) return false;
	h->allowed = here.allowed;
	enter(w, h);
	return true;
}

void mem_end(struct mem_work *w, bool left)
{
	leave(w, left);
	if (left) heap_empty(w->heap);
	if (w->own) mem_heap_forget(w->heap);
}

bool mem_run_part(struct mem_heap *h, void (*work)(void *), void *data)
{
	struct mem_work w;
	if (!h) {
		work(data);
		return true;
	}
	enter(&w, h);
	if (setjmp(w.exit)) {
		leave(&w, true);
		return false;
	}
	work(data);
	leave(&w, false);
	return true;
}

bool mem_run(struct mem_heap *h, void (*work)(void *), void *data)
{
	struct mem_work w;
	if (!mem_begin(&w, h)) return false;
	if (setjmp(w.exit)) {
		mem_end(&w, true);
		return false;
	}
	work(data);
	mem_end(&w, false);
	return true;
}

void mem_forget_work(void)
{
	here = (struct here){ 0 };
}

void mem_allow(atomic_llong *times)
{
	here.allowed = times;
}

void mem_hold(void *thing, void (*release)(void *))
{
	struct mem_heap *h = here.heap;
	if (!h) return;
	pthread_mutex_lock(&h->lock);
	bool fits = h->held_count < h->held_capacity;
	if (!fits && is_allowed(h)) {
		size_t more = h->held_capacity ? 2 * h->held_capacity : 8;
		struct held *held = realloc(h->held, more * sizeof *held);
		fits = held;
		if (held) {
			h->held = held;
			h->held_capacity = more;
		}
	}
	if (fits) h->held[h->held_count++] = (struct held){ thing, release };
	pthread_mutex_unlock(&h->lock);
	if (fits) return;
	release(thing);
	mem_fail();
}

void mem_let_go(void *thing)
{
	struct mem_heap *h = here.heap;
	if (!h) return;
	pthread_mutex_lock(&h->lock);
	size_t i = h->held_count;
	while (i && h->held[i - 1].thing != thing) i--;
	if (i) {
		h->held_count--;
		memmove(h->held + i - 1, h->held + i,
		        (h->held_count - (i - 1)) * sizeof *h->held);
	}
	pthread_mutex_unlock(&h->lock);
}

void mem_lock(pthread_mutex_t *m)
{
	assert(here.lock_count < LOCKS);
	pthread_mutex_lock(m);
	here.locks[here.lock_count++] = m;
}

void mem_unlock(pthread_mutex_t *m)
{
	assert(here.lock_count && here.locks[here.lock_count - 1] == m);
	here.lock_count--;
	pthread_mutex_unlock(m);
}

/* ---- The solver's memory ---- */

/* The SAT solver is C++. Its operators new are these, which nobody else sees:
 * without memory they leave the work as mem_take() does, instead of throwing
 * what no function in C can catch. It may then be between two states, which its
 * destructor would not stand: so what it has taken is lost then. It cannot be
 * the heap's: the C++ library may give back some of it (strings) by an
 * operator delete of its own, and the heap would give that back again. (The
 * address sanitizer wants operators of its own, and never throws.) */
#if !ADDRESS_SANITIZER
#define SOLVER(symbol) __asm__(symbol) __attribute__((visibility("hidden")))

void *solver_new(size_t size) SOLVER("_Znwm");
void *solver_new_array(size_t size) SOLVER("_Znam");
void *solver_try_new(size_t size, const void *tag)
	SOLVER("_ZnwmRKSt9nothrow_t");
void solver_delete(void *p) SOLVER("_ZdlPv");
void solver_delete_sized(void *p, size_t size) SOLVER("_ZdlPvm");
void solver_delete_array(void *p) SOLVER("_ZdaPv");

static void *solver_take(size_t size)
{
	bool before = mem_apart(true);
	void *p = mem_take(size);
	mem_apart(before);
	return p;
}

void *solver_new(size_t size)
{
	return solver_take(size);
}

void *solver_new_array(size_t size)
{
	return solver_take(size);
}

void *solver_try_new(size_t size, const void *tag)
{
	(void)tag;
	return solver_take(size);
}

void solver_delete(void *p)
{
	mem_free(p);
}

void solver_delete_sized(void *p, size_t size)
{
	(void)size;
	mem_free(p);
}

void solver_delete_array(void *p)
{
	mem_free(p);
}

void mem_hold_solver(void *solver, void (*release)(void *))
{
	(void)solver;
	(void)release;
}

#else

void mem_hold_solver(void *solver, void (*release)(void *))
{
	mem_hold(solver, release);
}

#endif
