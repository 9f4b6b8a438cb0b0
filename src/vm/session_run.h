/* Sessions that run, and what they were seen to do.
 *
 * Who explores runs the same code again and again, and code that is answered
 * the same does the same. So what sessions in bytecode ask for is kept as a
 * tree, which branches where they read, by the values that they read: where one
 * goes a way that is known, nothing is interpreted, and no state is copied.
 *
 * Kept are the states that begin, wait for a value or have ended, and what is
 * asked for between them, until a budget is used up; from then on what is not
 * known runs in states of its own, as machine_step() runs it. Sessions in C are
 * not kept here: what they did is kept where it is compared with what they do.
 */
#ifndef ISO_VM_SESSION_RUN_H
#define ISO_VM_SESSION_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "base/table.h"
#include "vm/machine.h"

struct session_place;
struct session_way;

/* What the sessions of one machine did. */
struct session_memo {
	struct machine *machine; /* borrowed, with its region */
	struct region region;    /* of what is kept */
	size_t budget;           /* bytes */
	/* The place that some run is on its way to, to be kept, and what it
	 * asked for since the last one. */
	struct session_place *coming;
	struct request *asked;
	uint32_t asked_count, asked_capacity;
	/* One of all equal ones that are written or answered on kept ways: then
	 * a look at their addresses mostly tells that values are equal. */
	struct table by_value;
	struct value *values;
	uint32_t value_count, value_capacity;
};

/* `budget` 0: nothing is kept. */
void session_memo_init(struct session_memo *m, struct machine *machine,
                       size_t budget);
void session_memo_free(struct session_memo *m);
size_t session_memo_bytes(const struct session_memo *m);

/* A session that runs. Plain data: it ends without a word. */
struct session_run {
	struct session_memo *memo;
	/* The kept place where it stands, or which it left by a kept way. */
	struct session_place *at;
	const struct session_way *way;
	uint32_t next; /* of what is asked for on the way */
	/* Else where its own state is, and whence it came, if that is to be
	 * kept, with this answer. */
	struct session_place *own, *from;
	struct value answer;
};

/* Before the first step of the session. */
void session_run_start(struct session_run *r, struct session_memo *m,
                       uint32_t session);
/* Goes on from a state that session_run_state() or session_run_keep() gave. */
void session_run_resume(struct session_run *r, struct session_memo *m,
                        const struct machine_state *s);
/* To the next request; after READ, session_run_answer() comes first. */
void session_run_step(struct session_run *r, struct request *out);
void session_run_answer(struct session_run *r, struct value v);

/* The state, at a request that begins, waits or ends. It is for good if it is
 * kept; else it changes with the next step, and is in the machine's region. */
const struct machine_state *session_run_state(const struct session_run *r);
/* The same, and the run may go on: a copy in the region, if it is not kept. */
const struct machine_state *session_run_keep(const struct session_run *r,
                                             struct region *region);

#endif
