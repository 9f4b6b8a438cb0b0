/* What has to be told to address sanitizer, thread sanitizer and valgrind when
 * a thread changes its stack. Nothing where none of them is there.
 */
#ifndef ISO_NATIVE_RUNTIME_FIBRE_TOOLS_H
#define ISO_NATIVE_RUNTIME_FIBRE_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sanitizers.h"

#if ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#endif

/* Address sanitizer keeps memory for each stack that is left and not left for
 * good: a fibre that is abandoned is to leave once more. */
#if ADDRESS_SANITIZER
#define TOOLS_WANT_GOODBYE 1
#else
#define TOOLS_WANT_GOODBYE 0
#endif

struct fibre_tools {
	unsigned valgrind_stack;
	void *fake_inside, *fake_outside; /* address sanitizer's frames */
	const void *outside;              /* the stack of who resumed */
	size_t outside_size;
	void *thread_inside, *thread_outside; /* thread sanitizer's */
};

enum tools_way { TOOLS_IN, TOOLS_OUT, TOOLS_OUT_FOR_EVER };

/* Just before a switch; the stack is needed on the way in. */
static inline void tools_leave(struct fibre_tools *t, enum tools_way way,
                               const void *stack, size_t size)
{
	(void)t, (void)way, (void)stack, (void)size;
#if ADDRESS_SANITIZER
	if (way == TOOLS_IN)
		__sanitizer_start_switch_fiber(&t->fake_outside, stack, size);
	else
		__sanitizer_start_switch_fiber(
			way == TOOLS_OUT ? &t->fake_inside : NULL, t->outside,
			t->outside_size);
#endif
#if THREAD_SANITIZER
	if (way == TOOLS_IN) t->thread_outside = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(
		way == TOOLS_IN ? t->thread_inside : t->thread_outside, 0);
#endif
}

/* Just after it. */
static inline void tools_arrive_outside(struct fibre_tools *t)
{
	(void)t;
#if ADDRESS_SANITIZER
	__sanitizer_finish_switch_fiber(t->fake_outside, NULL, NULL);
#endif
}

static inline void tools_arrive_inside(struct fibre_tools *t, bool first)
{
	(void)t, (void)first;
#if ADDRESS_SANITIZER
	__sanitizer_finish_switch_fiber(first ? NULL : t->fake_inside,
	                                &t->outside, &t->outside_size);
#endif
}

/* A fibre begins on its stack, or is not run any more. */
static inline void tools_start(struct fibre_tools *t)
{
	(void)t;
#if THREAD_SANITIZER
	t->thread_inside = __tsan_create_fiber(0);
#endif
}

static inline void tools_end(struct fibre_tools *t, void *stack, size_t size)
{
	(void)t, (void)stack, (void)size;
#if THREAD_SANITIZER
	__tsan_destroy_fiber(t->thread_inside);
#endif
#if ADDRESS_SANITIZER
	__asan_unpoison_memory_region(stack, size);
#endif
}

static inline void tools_add_stack(struct fibre_tools *t, char *stack,
                                   size_t size)
{
	(void)t, (void)stack, (void)size;
#ifdef HAVE_VALGRIND_VALGRIND_H
	t->valgrind_stack = VALGRIND_STACK_REGISTER(stack, stack + size);
#endif
}

static inline void tools_remove_stack(struct fibre_tools *t)
{
	(void)t;
#ifdef HAVE_VALGRIND_VALGRIND_H
	VALGRIND_STACK_DEREGISTER(t->valgrind_stack);
#endif
}

#endif
