/* Functions of the system that a client uses although what they give is not the
 * same each time.
 */
#ifndef ISO_NATIVE_HOST_IMPORTS_H
#define ISO_NATIVE_HOST_IMPORTS_H

#include "base/diag.h"

/* Adds a warning that names those which the shared object imports. Nothing if
 * the file cannot be read, or is of another machine. */
void imports_warn(const char *path, struct diags *d);

#endif
