/* A command, served with one seed after the other until it fails; and then
 * with fewer stale reads each time, until each that is left is needed. */
#ifndef ISO_SERVE_ATTEMPTS_H
#define ISO_SERVE_ATTEMPTS_H

#include "serve/service.h"

struct attempts_options {
	struct service_options service; /* its seed is that of the first run */
	uint64_t runs;                  /* at most; those to minimize apart */
	/* A run begins: its number from 1; 0: it is one to minimize. NULL:
	 * nobody wants to hear of it. */
	void (*tick)(void *payload, uint64_t run);
	void *payload;
};

/* What is known of stale reads that are enough for the command to fail. */
enum attempts_cause {
	CAUSE_OPEN,   /* it has not failed, or it was not looked for */
	CAUSE_NONE,   /* it fails when all reads get the newest version */
	CAUSE_FAULTS, /* it does, but not without faults */
	CAUSE_UNSURE, /* it does not fail again with the same stale reads: they
	               * are those of its one failure */
	CAUSE_CHANCE, /* it does not do the same each time: reads, if there are
	               * any, are those with which it has failed last */
	CAUSE_PART,   /* it does, but there were too many of them, or no time,
	               * to leave out more */
	CAUSE_FOUND   /* it does not without any one of them */
};

struct attempts_share {
	uint32_t failed, runs;
};

struct attempts {
	struct service_run last; /* the one that failed, or the last one */
	uint64_t runs, tries;    /* and how many to minimize */
	uint64_t seed;           /* of `last` */
	enum attempts_cause cause;
	struct stale_reads reads;
	/* Of runs to minimize: with `reads` and no other stale ones, or under
	 * CAUSE_FAULTS with faults; and without these. */
	struct attempts_share with, without;
	double seconds;
};

/* As service_run(), whose problem is that of `last`. */
bool attempts_run(struct attempts *out, const struct attempts_options *o);
void attempts_free(struct attempts *a);

#endif
