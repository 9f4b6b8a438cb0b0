/* The steps in a worker's reply. */
#ifndef ISO_NATIVE_REPLY_H
#define ISO_NATIVE_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "native/guest.h"

/* How a session comes to its end, step by step. */
enum reply_end { REPLY_GOES_ON, REPLY_ABORTS, REPLY_ENDS, REPLY_ENDED };

struct reply {
	struct guest *guest;
	struct region *region; /* where the steps go */
	bool kept;             /* that is the guest's own */
	struct wire_reader wire;
	bool died;                      /* the worker did, after this */
	bool more;                      /* there would have been more steps */
	int64_t answers;                /* given, and not yet used */
	const struct memo_step *last;   /* the newest step */
	const struct finding *findings; /* of the session so far */
	const struct guest_note *notes;
	bool pruned;
	enum reply_end end;
	bool given_up; /* by isoscope, after a long time */
	double since;  /* seconds_now() when a reply ended
	                * without a step; 0: none has */
};

/* Reads the process's reply to a command. Steps come behind `last`, and are
 * made in the region. */
void reply_begin(struct reply *x, struct guest *g, const struct memo_step *last,
                 struct region *r, bool kept);
/* Reads what the process answered to a command with so many values for reads
 * that are to come. */
void reply_read(struct reply *x, enum process_answer outcome, uint64_t answers);
/* Did the session come to something that belongs to a step after the newest? */
bool reply_is_pending(const struct reply *x);
/* Goes on behind another step, which is the same as the newest one. */
void reply_rebase(struct reply *x, const struct memo_step *last,
                  struct region *r, bool kept);
/* The next step, not in the memo; NULL: there is none in this reply. */
struct memo_step *reply_step(struct reply *x);

#endif
