/* How bad is an anomaly that was found, and which read is at the root of it? */
#ifndef ISO_PROVE_CONSEQUENCE_H
#define ISO_PROVE_CONSEQUENCE_H

#include "base/text.h"

/* The worst ones last. */
enum consequence_kind {
	CONSEQUENCE_ANSWER,   /* only what is answered is out of date */
	CONSEQUENCE_WRITE,    /* what is written depends on it */
	CONSEQUENCE_ASSERTION /* an assertion fails */
};

struct consequence {
	enum consequence_kind kind;
	struct text fails; /* the assertion */
	/* The read whose key another transaction has written and committed
	 * before, in words; empty if there is none. */
	struct text cause;
};

const char *consequence_word(enum consequence_kind k);
void consequence_copy(struct consequence *out, const struct consequence *from);
void consequence_free(struct consequence *c);

#endif
