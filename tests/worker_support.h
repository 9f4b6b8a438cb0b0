/* Workers with real clients, compiled in the current folder: what they are
 * asked and what they say, as text. */
#ifndef TESTS_WORKER_SUPPORT_H
#define TESTS_WORKER_SUPPORT_H

#include <string.h>

#include "assertions.h"
#include "native/host/process.h"

/* client.so of this text, behind some #include lines and a macro SESSION;
 * `options` are the compiler's. */
void worker_compile(const char *source, const char *options);
/* Compiles and starts it. */
struct process *worker_start(const char *source);
struct process *worker_start_with(const char *source, const char *options);

enum { GO_ON, AFRESH };

enum process_answer worker_ask(struct process *p, uint32_t session, int fresh,
                               uint64_t count, const struct iso_value *values);
/* The steps of the reply: static, until the next call. */
const char *worker_said(const struct process *p);
/* Both. */
const char *worker_steps(struct process *p, uint32_t session, int fresh,
                         uint64_t count, const struct iso_value *values);
/* One step, added to the text; its place is returned. */
uint64_t worker_show_step(struct wire_reader *r, struct text *out);
/* No explorer says this. */
void check_senseless(struct process *p, uint32_t session, int fresh);

static inline struct iso_value client_int(int64_t n)
{
	return (struct iso_value){ .kind = ISO_INT, .integer = n };
}

static inline struct iso_value client_string(const char *s)
{
	return (struct iso_value){ .kind = ISO_BYTES,
		                   .bytes = s,
		                   .length = strlen(s) };
}

static inline struct iso_value client_null(void)
{
	return (struct iso_value){ .kind = ISO_NULL };
}

#define VALUES(...)                                                           \
	sizeof(struct iso_value[]){ __VA_ARGS__ } / sizeof(struct iso_value), \
		(struct iso_value[])                                          \
	{                                                                     \
		__VA_ARGS__                                                   \
	}
#define NO_VALUES 0, NULL

#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

#endif
