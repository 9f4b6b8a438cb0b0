/* What a trace says, in words, without the names and values in it: traces that
 * went through a format and back have the same shape. */
#ifndef TESTS_TRACE_SHAPE_H
#define TESTS_TRACE_SHAPE_H

#include "base/text.h"
#include "formats/formats.h"
#include "history/trace.h"

/* What a format does not keep. */
enum shape_without {
	SHAPE_NO_EMPTY = 1,   /* transactions and sessions without operations */
	SHAPE_NO_ABORTED = 2, /* what did not commit */
	SHAPE_MERGED = 4,     /* aborted transactions side by side are one */
	SHAPE_NO_LAST = 8,    /* a session after all others: is left out */
	SHAPE_NO_VOID = 16    /* sessions without transactions */
};
/* What this format does not keep. */
unsigned shape_of_format(enum format f);

/* A line for each session, transactions by their places, operations with their
 * keys (numbered as they come) and the transactions they read from; then the
 * anomalies. */
void trace_shape(struct text *t, const struct trace *r, unsigned without);

#endif
