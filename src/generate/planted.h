/* Adds the transactions of an anomaly to a history that is being made. */
#ifndef ISO_GENERATE_PLANTED_H
#define ISO_GENERATE_PLANTED_H

#include <stdint.h>

#include "generate/workload.h"
#include "history/trace_build.h"

struct planting {
	struct trace_builder *builder;
	const uint32_t *sessions; /* handles; planted_sessions() are used */
	uint32_t transaction;     /* number of the first transaction */
	uint32_t value;           /* the first value; at most 10 are used */
	uint32_t key;             /* the first key; two are used */
};

/* Returns how many transactions were added. */
uint32_t planted_add(enum planted kind, const struct planting *p);

#endif
