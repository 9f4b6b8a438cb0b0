/* The steps in a worker's reply. */
#ifndef ISO_NATIVE_HOST_DECODER_H
#define ISO_NATIVE_HOST_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "native/host/guest.h"

/* How a session comes to its end, step by step. */
enum decoder_end {
	DECODER_GOES_ON,
	DECODER_ABORTS,
	DECODER_ENDS,
	DECODER_ENDED
};

struct decoder {
	struct guest *guest;
	struct region *region; /* where the steps go */
	bool kept;             /* that is the guest's own */
	struct wire_reader wire;
	bool died;                      /* the worker did, after this */
	bool more;                      /* there would have been more steps */
	int64_t answers;                /* given, and not yet used */
	const struct tree_step *last;   /* the newest step */
	const struct finding *findings; /* of the session so far */
	const struct guest_note *notes;
	bool pruned;
	bool statement; /* the next access begins one, of several */
	enum decoder_end end;
	bool given_up; /* by isoscope, after a long time */
	double since;  /* process_cpu() when a reply ended
	                * without a step; < 0: none has */
};

/* Reads the process's reply to a command. Steps come behind `last`, and are
 * made in the region. */
void decoder_begin(struct decoder *x, struct guest *g,
                   const struct tree_step *last, struct region *r, bool kept);
/* Reads what the process answered to a command with so many values for reads
 * that are to come. */
void decoder_read(struct decoder *x, enum process_answer outcome,
                  uint64_t answers);
/* Did the session come to something that belongs to a step after the newest? */
bool decoder_is_pending(const struct decoder *x);
/* Goes on behind another step, which is the same as the newest one. */
void decoder_rebase(struct decoder *x, const struct tree_step *last,
                    struct region *r, bool kept);
/* The next step, not in the tree; NULL: there is none in this reply. */
struct tree_step *decoder_step(struct decoder *x);

#endif
