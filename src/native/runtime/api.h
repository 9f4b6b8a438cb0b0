/* What all functions of isoscope/client.h check before they do anything. */
#ifndef ISO_NATIVE_RUNTIME_API_H
#define ISO_NATIVE_RUNTIME_API_H

#include <stdint.h>

#include "isoscope/client.h"
#include "native/runtime/user_code.h"

/* A call by user code: its function, its place, and the key or name that it is
 * about, null if none. */
struct call {
	const char *function;
	uint64_t pc;
	struct iso_value about;
};

/* In the function that user code calls: within the call, so that the place is
 * its line. */
#define API_PLACE                                                     \
	api_place((uint64_t)(uintptr_t)__builtin_extract_return_addr( \
			  __builtin_return_address(0)) -              \
	          1)
#define API_CALL(about)                      \
	{                                    \
		__func__, API_PLACE, (about) \
	}

/* The place itself. A call at the end of a function may have become a jump, so
 * that it would return to isoscope: then it is the function of the session. */
uint64_t api_place(uint64_t pc);
/* The session that calls, when it is of the kind that may; else the session, or
 * the process, ends here. */
struct task *api_enter(const struct call *c, enum task_kind wanted);
/* STEP_ERROR: the call, as it stands in the source, and what is said of it. */
_Noreturn void api_fail(const struct call *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* `what` is its part in the call: "key", "value". */
void api_check_key(const struct call *c, struct iso_value key);
void api_check_value(const struct call *c, struct iso_value v,
                     const char *what);

#endif
