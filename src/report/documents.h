/* Results in their JSON form, read back: what page.h and the other forms for
 * machines are made from. */
#ifndef ISO_REPORT_DOCUMENTS_H
#define ISO_REPORT_DOCUMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct documents {
	json_t *list; /* of objects, at least one */
};

/* Reads results one after the other, as --json writes them. False, with the
 * reason, if they are none. */
bool documents_read(struct documents *d, const char *json, size_t length,
                    struct text *problem);
void documents_free(struct documents *d);

/* The member's string, or NULL. */
const char *document_string(const json_t *of, const char *name);

#endif
