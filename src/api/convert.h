/* Recorded histories in another format.
 */
#ifndef ISO_API_CONVERT_H
#define ISO_API_CONVERT_H

#include <stdatomic.h>

#include "api/problem.h"
#include "formats/formats.h"

struct trace;

struct convert_request {
	const char *input;
	struct reader_options reader;
	uint64_t only; /* number of the one history; 0: the file has only
	                * one, or the format holds all */
	enum format to;
	const char *folder;           /* for a format that is one */
	const atomic_bool *interrupt; /* may be NULL */
	void *data;
	/* One history as text, for the other formats. False if it cannot be
	 * written. */
	bool (*write)(void *data, const struct text *t);
};

/* False if there was a problem; histories before it are written. */
bool convert_input(const struct convert_request *r, struct problem *p);

/* Prints one history in a format that is no folder. `order`, if not NULL, lists
 * all transactions, init first, in a commit order; without it one is looked
 * for if the format needs it. What the format cannot tell must not change the
 * verdicts: that is a problem. */
bool print_history(struct text *out, const struct trace *t, enum format to,
                   const uint32_t *order, const atomic_bool *interrupt,
                   struct problem *p);
/* The same in a format that is a folder. */
bool write_history_folder(const char *path, const struct trace *t,
                          enum format to, const atomic_bool *interrupt,
                          struct problem *p);

#endif
