/* Programs whose sessions are C functions in a shared object. */
#ifndef ISO_NATIVE_HOST_CLIENT_H
#define ISO_NATIVE_HOST_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

struct program;

/* Does a file that begins like this hold a shared object (ELF)? */
bool is_shared_object(const char *bytes, size_t length);
/* Loads it and lets it declare its sessions; iso_client() may take so many
 * seconds from one declaration to the next. NULL, with errors added, when there
 * is anything wrong. */
struct program *client_load(const char *path, double step_timeout,
                            struct diags *d);

#endif
