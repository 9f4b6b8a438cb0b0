/* What iso_client() declares must be the same in every worker process. */
#ifndef ISO_NATIVE_HOST_DECLARATIONS_H
#define ISO_NATIVE_HOST_DECLARATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/text.h"
#include "native/wire.h"

/* What was seen when the client was loaded. */
struct declarations {
	uint64_t hash;    /* of all that was declared */
	struct stat file; /* of the shared object */
};

/* Notes the file, before it is loaded, and the reply of the first worker. */
void declarations_note_file(struct declarations *d, const char *client);
void declarations_note(struct declarations *d, const struct wire *reply);
/* Is it the same client, and does it declare the same? If not, why is added to
 * the text. */
bool declarations_hold(const struct declarations *d, const char *client,
                       const struct wire *reply, struct text *why);

#endif
