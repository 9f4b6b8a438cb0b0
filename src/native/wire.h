/* What the explorer and its worker process write to each other: bytes in shared
 * memory, in the machine's own byte order.
 *
 * A command is written whole before the worker is woken. A reply grows while
 * user code runs, step by step, so that a crash loses nothing: `length` is
 * moved only when a step is complete.
 */
#ifndef ISO_NATIVE_WIRE_H
#define ISO_NATIVE_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isoscope/client.h"

/* One direction. */
struct wire {
	_Atomic uint64_t length; /* complete bytes */
	uint64_t capacity;
	unsigned char bytes[];
};

/* Commands. A string is a u64 length, that many bytes, and a zero byte. */
enum wire_command {
	COMMAND_SESSION = 1, /* u32 session, u8 fresh, u64 count, `count`
	                      * values. fresh: start the session anew, forget
	                      * where it was; else go on where it waits. The
	                      * values answer its next reads. The reply: all
	                      * steps from there up to the first read that has
	                      * no answer, or the end */
	COMMAND_CALL         /* u32 function, u64 count, `count` values. The
	                      * reply is STEP_RETURN with the result, or
	                      * STEP_ERROR */
};

/* Replies are sequences of: u8 kind, u64 program counter, operands. */
enum wire_step {
	STEP_BEGIN = 1, /* string: name, string: level or "" */
	STEP_GET,       /* value: key, u8 lock */
	STEP_PUT,       /* value: key, value, u8 lock, u8: in the statement of
	                 * the access before it? */
	STEP_STATEMENT, /* the next access begins one, of all that follow */
	STEP_COMMIT,
	STEP_ABORT,
	STEP_ASSERT, /* u8 condition, string */
	STEP_ASSUME, /* a false one: the session has ended */
	STEP_NOTE,   /* string, value */
	STEP_NOTED,  /* string: session, string: name; waits like GET */
	STEP_ERROR,  /* string: API misused, or missing commit: the session
	              * has ended */
	STEP_RETURN, /* value: int 1, what an expectation returned, or what a
	              * function did. The session has ended */
	STEP_MORE,   /* too many steps for one reply: go on with
	              * COMMAND_SESSION, not fresh and without values */
	/* In answer to being started: */
	STEP_SESSION, /* string: name */
	STEP_FINALLY,
	STEP_EXPECT,    /* string */
	STEP_INITIAL,   /* value: key, value */
	STEP_ISOLATION, /* string */
	STEP_READY      /* the last one; or STEP_ERROR */
};

/* A value is a u8 (enum iso_kind), then nothing, an i64, or a string. */

/* Writing. False, and nothing is written, when there is no room; the caller
 * says `wire_commit` when a step is complete, until then the reader does not
 * see it. */
struct wire_writer {
	struct wire *wire;
	uint64_t at, room;
	bool full;
};

/* Forgets what was written; a command begins with it, and a reply. */
void wire_clear(struct wire *w);
/* Begins a step, behind those that are complete. */
struct wire_writer wire_write(struct wire *w);
void wire_put_u8(struct wire_writer *w, uint8_t v);
void wire_put_u32(struct wire_writer *w, uint32_t v);
void wire_put_u64(struct wire_writer *w, uint64_t v);
void wire_put_string(struct wire_writer *w, const char *s, size_t length);
void wire_put_value(struct wire_writer *w, struct iso_value v);
/* Makes what was written visible; false when it did not fit. */
bool wire_commit(struct wire_writer *w);

/* Reading what was complete when reading began. User code may have written over
 * the memory: everything is checked, and `bad` is set for what makes no sense;
 * then zeroes and empty strings are returned. But the memory must not change
 * while it is read. */
struct wire_reader {
	const struct wire *wire;
	uint64_t at, end;
	bool bad;
};

struct wire_reader wire_read(const struct wire *w);
bool wire_more(const struct wire_reader *r);
uint8_t wire_get_u8(struct wire_reader *r);
uint32_t wire_get_u32(struct wire_reader *r);
uint64_t wire_get_u64(struct wire_reader *r);
/* Into the wire itself: valid until it is written again. */
const char *wire_get_string(struct wire_reader *r, size_t *length);
struct iso_value wire_get_value(struct wire_reader *r);

#endif
