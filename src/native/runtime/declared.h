/* What a client declares: its sessions, by number. */
#ifndef ISO_NATIVE_RUNTIME_DECLARED_H
#define ISO_NATIVE_RUNTIME_DECLARED_H

#include <stdint.h>

#include "native/runtime/user_code.h"

/* After iso_client(), still in its session: numbers the sessions. In order of
 * declaration, then the final one, then the expectations. */
void declared_finish(uint64_t client);
/* NULL if there are not so many. */
struct task *declared_session(uint32_t number);
/* The one that an address lies on the stack of, or NULL. */
const struct task *declared_owner(const void *address);

#endif
