/* A runner of guest code: a worker process and what it was seen to do. Shared
 * by the files of this folder that run things.
 */
#ifndef ISO_NATIVE_GUEST_H
#define ISO_NATIVE_GUEST_H

#include "base/region.h"
#include "native/library.h"
#include "native/process.h"
#include "vm/guest.h"

struct call_memo; /* foreign.c */

struct guest {
	struct library *library;
	struct guest *next_idle;      /* in the library's list */
	struct process *process;
	struct region region;         /* what is kept: steps, values */
	size_t extra_bytes;           /* held outside the region */
	struct session_memo *sessions;/* memo.h; and expectations */
	uint32_t session_count;
	struct call_memo *calls;
};

/* The worker's answer as a value in `r`, and a value as an answer. Bytes that
 * are not UTF-8 or hold a zero are {bytes: "hexadecimal"}. */
struct value value_of_wire(struct region *r, struct iso_value v);
struct iso_value wire_of_value(struct region *r, struct value v);

/* foreign_call.c: guest_ops.call. Functions are pure: results are kept, and the
 * first call with given arguments is made twice, to see that it is. */
bool guest_call(struct guest *g, uint32_t function,
                const struct value *arguments, uint32_t count,
                struct region *r, struct value *out, const char **error);
void call_memo_free(struct call_memo *m); /* NULL is fine */

#endif
