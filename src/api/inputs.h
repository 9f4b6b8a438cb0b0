/* The recorded histories of several files, one after the other: each one of a
 * file, or number N of each.
 */
#ifndef ISO_API_INPUTS_H
#define ISO_API_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/problem.h"
#include "check/check.h"
#include "formats/formats.h"

struct trace;

/* One history, while it is looked at. */
struct input {
	const struct trace *trace;
	enum format format;
	uint64_t number; /* in its file, from 1 */
	double read_seconds;
};

struct inputs_options {
	const char *const *paths; /* "-": the standard input */
	size_t count;
	const struct input *given; /* this one first; NULL: none */
	struct reader_options reader;
	bool ssi;       /* serial transactions are as trace.ssi says */
	uint64_t only;  /* number of the one history of each file; 0: all */
	double seconds; /* limits of all together; 0: none */
	uint64_t memory;
	/* Asked now and then, and told how many histories are done; true to
	 * stop. May be NULL. */
	bool (*tick)(void *data, const char *path, uint64_t done);
	void *tick_data;
};

struct inputs {
	struct inputs_options options;
	struct check_clock *clock; /* of the limits */
	double begun;              /* as seconds_now counts */
	const char *path;          /* of the file at hand */
	uint64_t done;             /* histories; whoever looks counts them */
	const char *stopped;       /* why not all were looked at, or NULL */
	struct problem *problem;
};

/* Starts the clock. Options and problem are borrowed. */
void inputs_begin(struct inputs *in, const struct inputs_options *o,
                  struct problem *p);
void inputs_end(struct inputs *in);
/* Gives each history to `look`, which returns false for no more. False if there
 * was a problem. */
bool inputs_look(struct inputs *in,
                 bool (*look)(void *data, const struct input *i), void *data);
/* Is there any use in looking at one more history? `any`: one was looked at; a
 * first one is whatever the limits. Else `stopped` says why not. */
bool inputs_go_on(struct inputs *in, bool any);

/* Is the file a shared object, and so no history? If it is, that is the
 * problem; `wanted` is as in "check takes histories". */
bool input_is_client(const char *path, const char *wanted, struct problem *p);
/* The problem that the file has only `count` histories. */
bool input_too_short(const char *path, uint64_t count, uint64_t wanted,
                     struct problem *p);

#endif
