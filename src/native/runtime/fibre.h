/* Coroutines: functions that run on their own stack and can be left in the
 * middle. Only one thread uses them.
 */
#ifndef ISO_NATIVE_RUNTIME_FIBRE_H
#define ISO_NATIVE_RUNTIME_FIBRE_H

#include <stdbool.h>
#include <stddef.h>

struct fibre;

enum { FIBRE_STACK = 8 << 20 }; /* bytes; taken when used */

/* A fibre that will run function(data). Its entry point is a closure
 * (alloc_callback of libffcall), where the system lets code be made. The memory
 * below the stack is guarded. NULL when there is no memory. */
struct fibre *fibre_new(void (*function)(void *data), void *data,
                        size_t stack_bytes);
/* Also in the middle: nothing of it is run any more. */
void fibre_free(struct fibre *f);

/* Runs it until it yields or returns; not from inside a fibre. False when it
 * has returned: it may not be resumed again. */
bool fibre_resume(struct fibre *f);
/* From inside a fibre: back to who resumed it. */
void fibre_yield(void);
/* Is the address on its stack? */
bool fibre_holds(const struct fibre *f, const void *address);
/* The running fibre of this thread, or NULL. */
struct fibre *fibre_current(void);
/* Closures are made of a file here; "/tmp" unless this says otherwise, as
 * libffcall wants it. For tests; before the first fibre. */
void fibre_make_code_in(const char *folder);
/* Is the address in the guarded memory below the fibre's stack? */
bool fibre_guards(const struct fibre *f, const void *address);

#endif
