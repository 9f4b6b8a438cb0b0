/* The guest code of a program: its shared object with sessions, or the C
 * functions that it calls, and the runners that execute them. Implements
 * vm/guest.h; `program->library` is one.
 */
#ifndef ISO_NATIVE_LIBRARY_H
#define ISO_NATIVE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "native/worker.h"
#include "vm/guest.h"

struct library;

#define STEP_TIMEOUT 10.0 /* seconds, unless the user says otherwise */

/* `client` may be NULL; it is copied. Nothing is started. */
struct library *library_new(const char *client);
struct guest_library *library_guest(struct library *l);
/* Before anything is run. The function is copied; returns its number, for OP
 * EXTERN and guest_ops.call. */
uint32_t library_add_function(struct library *l,
                              const struct foreign_function *f);
const struct foreign_function *library_function(const struct library *l,
                                                uint32_t i);
/* Starts a runner, to see that everything can be loaded. False, with the reason
 * in `why`, if not. */
bool library_try(struct library *l, struct text *why);

/* Of a program that may have a library; for runners taken from now on. */
void library_configure(const struct program *p, double step_timeout,
                       bool show_output);
/* Does the program have guest code at all? */
bool library_is_used(const struct program *p);

#endif
