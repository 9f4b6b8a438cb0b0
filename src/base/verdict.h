/* What any command answers in the end: one enum, and one table of its words. */
#ifndef ISO_BASE_VERDICT_H
#define ISO_BASE_VERDICT_H

#include <assert.h>

/*     identifier, word, when */
#define VERDICT_TABLE(X)                                                 \
	/* proved: of all that there is, nothing violates it */          \
	X(VERDICT_HOLDS, "holds")                                        \
	/* a violation was seen, whatever limit came afterwards */       \
	X(VERDICT_VIOLATED, "violated")                                  \
	/* of a recorded history: no engine came to an answer in time */ \
	X(VERDICT_UNDECIDED, "undecided")                                \
	/* a limit came first, or nothing that was seen counts */        \
	X(VERDICT_INCONCLUSIVE, "inconclusive")                          \
	/* random runs, which never prove that there is none */          \
	X(VERDICT_NO_VIOLATION, "no violation")

enum verdict {
#define X(id, word) id,
	VERDICT_TABLE(X)
#undef X
		VERDICT_COUNT
};

static inline const char *verdict_word(enum verdict v)
{
	static const char *const words[] = {
#define X(id, word) [id] = (word),
		VERDICT_TABLE(X)
#undef X
	};
	assert(v < VERDICT_COUNT);
	return words[v];
}

#endif
