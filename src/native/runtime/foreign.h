/* C functions that programs call, in the worker: finding and calling them
 * (avcall of libffcall).
 */
#ifndef ISO_NATIVE_RUNTIME_FOREIGN_H
#define ISO_NATIVE_RUNTIME_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "isoscope/client.h"
#include "vm/guest.h"

/* The function's address, or NULL with the reason in *why, which stays valid
 * until the next call. */
void *foreign_find(const struct foreign_function *f, const char **why);
/* Calls it. The arguments have the declared types. What a returned string
 * points to is the function's own. */
struct iso_value foreign_call(const struct foreign_function *f, void *address,
                              const struct iso_value *arguments);

#endif
