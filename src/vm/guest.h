/* Code that isoscope does not interpret: sessions written in C, and C functions
 * that programs call. This is all that the machine and reports know of it;
 * src/native fills it in.
 *
 * A session of a guest is a tree of steps: what it does next depends on the
 * values that it has read, and on nothing else. A step is immutable and has one
 * address for one path from the root.
 */
#ifndef ISO_VM_GUEST_H
#define ISO_VM_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/access.h"
#include "base/region.h"
#include "vm/program.h"
#include "vm/value.h"

struct finding;
struct machine_limits;
struct guest; /* one runner of guest code, for one machine at a time */

enum guest_request {
	GUEST_START,   /* nothing was done yet */
	GUEST_BEGIN,   /* `name` */
	GUEST_GET,     /* `key`; waits for a value */
	GUEST_PUT,     /* `key`, `value` */
	GUEST_GIVE_UP, /* `key`: the newest lock of it by a GET ends */
	GUEST_COMMIT,
	GUEST_ABORT, /* by itself, or since the session came to an error or a
	              * false assumption */
	GUEST_NOTED, /* only in final expectations: `key` is (session, name)
	              * and waits for the value of that note */
	GUEST_END    /* the last step. `value`: what an expectation returned;
	              * true of sessions */
};

/* A value that the user wants to see. */
struct guest_note {
	const struct guest_note *older;
	uint32_t count; /* with the older ones */
	const char *name;
	struct value value;
	/* Which of the steps of its session it is of, from 1, if sessions that
	 * can be exchanged have other names for the same; else 0. */
	uint32_t place;
};

struct guest_step {
	enum guest_request kind;
	bool pruned;            /* after a false assumption */
	uint32_t name;          /* for program_transaction_name() */
	uint32_t point;         /* for program_position() */
	uint32_t global;        /* of the key: in C there is but one */
	enum strength strength; /* GET, PUT: as in struct db_access */
	bool joined;
	struct value key, value;
	uint32_t place; /* NOTED: of the note, if it has one: not its name */
	const struct finding *findings; /* all of the session up to here */
	const struct guest_note *notes; /* the same, newest first */
	/* Behind a transaction that an error has ended: in words; else NULL. */
	const char *failure;
};

/* A C function that a program calls (`extern fn`). */
enum foreign_type { FOREIGN_INT, FOREIGN_STRING };
struct foreign_function {
	const char *name;
	const char *library; /* path, as dlopen() takes it */
	uint32_t parameter_count;
	const uint8_t *parameters; /* enum foreign_type of each */
	uint8_t result;
};

/* What a program has that runs guest code: the first member of the structure
 * that is behind it. It is shared by all machines of the program, and may be
 * used by several threads. */
struct guest_library {
	const struct guest_ops *ops;
};

struct guest_ops {
	/* A runner for a machine, and back. Runners keep what they learnt. */
	struct guest *(*take)(struct guest_library *l,
	                      const struct machine_limits *limits);
	void (*give_back)(struct guest_library *l, struct guest *g);
	size_t (*bytes)(const struct guest *g); /* held */
	/* How often user code was really run: that may take its time. */
	uint64_t (*asked)(const struct guest *g);
	/* Seconds of the processor that it took. */
	double (*cpu)(const struct guest *g);
	/* Runs what was met once more, elsewhere and in another order: what it
	 * does must not depend on what was run before. */
	void (*settle)(struct guest *g);
	/* The root of a session; numbers from session_count on are the final
	 * expectations. */
	const struct guest_step *(*start)(struct guest *g, uint32_t session);
	/* What follows a step; `answer` is the value that GET and NOTED wait
	 * for, else ignored. What the runner does not keep lives in `r`. NULL
	 * when the code cannot be trusted: fault() says why; or when it was
	 * interrupted. */
	const struct guest_step *(*next)(struct guest *g,
	                                 const struct guest_step *from,
	                                 struct value answer, struct region *r);
	/* Calls a function. False, with a message in `r`, for a run-time
	 * error; without a message when it was interrupted. */
	bool (*call)(struct guest *g, uint32_t function,
	             const struct value *arguments, uint32_t count,
	             struct region *r, struct value *out, const char **error);
	/* Why the exploration is worth nothing, or NULL. */
	const char *(*fault)(struct guest_library *l);
	/* Where that was found; false: it is of no place. NULL: of none ever.
	 */
	bool (*fault_point)(struct guest_library *l, uint32_t *point);
	/* Why it cannot go on, though what was found holds; or NULL. The member
	 * is NULL where that does not happen. */
	const char *(*lost)(struct guest_library *l);

	/* A session that was cut short since it did more than it may, and
	 * where: what happened, or NULL. */
	const char *(*bound)(struct guest_library *l, uint32_t *point);

	/* What sessions in C are found to do, by number. Copies and pointers
	 * that stay valid. */
	struct position (*position)(struct guest_library *l, uint32_t point);
	const char *(*transaction)(struct guest_library *l, uint32_t name);
	own_level (*level)(struct guest_library *l, uint32_t name);
	bool (*mixes)(struct guest_library *l); /* one has a level */
	/* One of program_assertion_count(); `met` when some session came to
	 * it (expectations always are). */
	const struct assertion *(*assertion)(struct guest_library *l,
	                                     uint32_t i, bool *met);
	void (*release)(struct guest_library *l);
};

#endif
