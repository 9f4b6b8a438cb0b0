/* malloc for code that cannot go on without what it asks for. Sizes are checked
 * for overflow. Everything taken here is given back with free(), which is
 * mem_free() wherever this header is included: it takes what the C library
 * gave as well.
 *
 * When memory runs out, the work that wanted it is left: mem_run() returns
 * false, and all that the work took and had not given back is given back. No
 * function between there and here has to do anything about it, except that
 * what is not memory of ours (a file, a lock, a solver) is told of by
 * mem_hold() and mem_lock(). Without a mem_run() the program ends with a
 * message and exit code 70.
 */
#ifndef ISO_BASE_MEMORY_H
#define ISO_BASE_MEMORY_H

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *mem_take(size_t size);                /* contents undefined */
void *mem_take0(size_t count, size_t size); /* zeroed array */
void *mem_grow(void *p, size_t count, size_t size);
/* Grows an array of `before` to one of `count`; what is new is zeroed. */
void *mem_grow0(void *p, size_t before, size_t count, size_t size);
char *mem_copy_string(const char *s);
void mem_free(void *p); /* NULL is fine */
#define free(p) mem_free(p)

/* Half of the memory of the machine, in bytes: what one thing may take when
 * nobody said how much. */
uint64_t mem_usual_limit(void);

/* ---- When it runs out ---- */

/* What a piece of work has taken and not given back: for each mem_take its
 * place, some 16 bytes, and some 50 ns. */
struct mem_heap;

/* NULL if there is no memory for it. */
struct mem_heap *mem_heap_new(void);
/* Gives back all that belongs to it, and what was held. NULL is fine. */
void mem_heap_free(struct mem_heap *h);
/* Frees only the heap; what belongs to it stands by itself from now on. */
void mem_heap_forget(struct mem_heap *h);

/* Does the work; what it takes belongs to the heap, which may have done work
 * before. False if memory ran out: then the heap is empty, and the objects in
 * it are gone. Without a heap, the work has one of its own, and what it leaves
 * when it succeeds stands by itself. Work may run other work. What is taken in
 * one heap must not be given back under another. */
bool mem_run(struct mem_heap *h, void (*work)(void *data), void *data);

/* The same for work that is a call in the middle of a function: after
 * mem_begin(), which is false if there is no memory even for that,
 * setjmp(w.exit) is 0, and not again when the work is left; either way
 * mem_end() comes last. */
struct mem_work {
	jmp_buf exit;
	struct mem_heap *heap, *heap_before;
	jmp_buf *exit_before;
	unsigned locks;
	bool own, apart_before;
};
bool mem_begin(struct mem_work *w, struct mem_heap *h);
void mem_end(struct mem_work *w, bool left);

/* The heap of this thread's work, or NULL. */
struct mem_heap *mem_heap_here(void);
/* Part of some work, in another thread or so that it can clean up: takes from
 * its heap (mem_heap_here() there). False if memory ran out: nothing was given
 * back yet; who called has to see that all parts end, and to call mem_fail().
 * Without a heap it is just a call. */
bool mem_run_part(struct mem_heap *h, void (*work)(void *data), void *data);
/* Leaves the work, as if memory had just run out. */
_Noreturn void mem_fail(void);

/* In the child of a fork(): the work is the parent's. */
void mem_forget_work(void);

/* From now on, does what this thread takes belong to no heap, since it outlives
 * the work? Returns what held before. */
bool mem_apart(bool apart);

/* If the work is left, `release` is called with the thing, before memory is
 * given back. Who releases it himself says so first. */
void mem_hold(void *thing, void (*release)(void *thing));
/* The same for the SAT solver, whose memory is the heap's where it can be. */
void mem_hold_solver(void *solver, void (*release)(void *solver));
void mem_let_go(void *thing);
/* A mutex that is unlocked if the work is left. A work holds at most four. */
void mem_lock(pthread_mutex_t *m);
void mem_unlock(pthread_mutex_t *m);

/* For tests: work that this thread begins from now on can take memory so many
 * times more, in all its threads. NULL: as often as there is some. Borrowed. */
void mem_allow(atomic_llong *times);

/* Makes room for one more element in a growable array:
 *     VEC_RESERVE(v->items, v->count, v->capacity);
 *     v->items[v->count++] = x; */
#define VEC_RESERVE(items, count, capacity)                                    \
	do {                                                                   \
		if ((count) == (capacity)) {                                   \
			(items) = mem_grow((items),                            \
			                   (capacity) ? 2 * (size_t)(capacity) \
			                              : 8,                     \
			                   sizeof *(items));                   \
			(capacity) = (capacity) ? 2 * (capacity) : 8;          \
		}                                                              \
	} while (0)

#endif
