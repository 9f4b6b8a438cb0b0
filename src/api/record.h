/* Recording a serial run of a program, as a history.
 */
#ifndef ISO_API_RECORD_H
#define ISO_API_RECORD_H

#include <stdatomic.h>
#include <stdint.h>

#include "api/problem.h"

struct history;
struct program;
struct trace;

struct recorded {
	uint64_t seed;        /* of the run: the one asked for, or the next
	                       * whose run meets no false assumption */
	struct trace *trace;  /* NULL: none was recorded */
	uint32_t *order;      /* in which its transactions ran */
	uint32_t order_count; /* all of them */
	struct history *history;
};

/* The problem's diagnostics warn of assertions that fail in the run, and of
 * run-time errors. False if none was recorded. */
bool record_run(struct recorded *out, const struct program *p, uint64_t seed,
                const atomic_bool *interrupt, struct problem *problem);
void recorded_free(struct recorded *r);

#endif
