#include "axioms/level.h"

#include <assert.h>
#include <string.h>

#include "axioms/kernels.h"
#include "axioms/read_consistency.h"
#include "history/history.h"
#include "history/relation.h"

struct level_row {
	const char *word, *name;
	bool extensible;
};

static const struct level_row *level_row(enum level l)
{
	static const struct level_row rows[LEVEL_COUNT] = {
#define X(id, word, name, extensible) { word, name, extensible },
		LEVEL_TABLE(X)
#undef X
	};
	assert(l < LEVEL_COUNT);
	return &rows[l];
}

const char *level_word(enum level l)
{
	return level_row(l)->word;
}

const char *level_name(enum level l)
{
	return level_row(l)->name;
}

bool level_is_extensible(enum level l)
{
	return level_row(l)->extensible;
}

enum level level_from_word(const char *word)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (!strcmp(word, level_word(l))) return l;
	return LEVEL_COUNT;
}

bool level_implies(enum level strong, enum level weak)
{
	/* The levels are in the table's order, but for one pair. */
	if (strong == LEVEL_PSI && weak == LEVEL_PC) return false;
	return weak <= strong;
}

bool level_allows(enum level l, const struct relation *r,
                  struct level_scratch *s)
{
	switch (l) {
	case LEVEL_NONE: return true;
	case LEVEL_RC: return read_committed_allows(s, r);
	case LEVEL_RA: return read_atomic_allows(s, r);
	case LEVEL_CC: return causal_allows(s, r);
	case LEVEL_PC: return prefix_allows(s, r);
	case LEVEL_PSI: return parallel_snapshot_allows(s, r);
	case LEVEL_SI: return snapshot_allows(s, r);
	case LEVEL_SER: return serializable_allows(s, r);
	case LEVEL_COUNT: break;
	}
	assert(!"not a level");
	return false;
}

bool level_allows_history(enum level l, const struct history *h)
{
	struct dirty_read dirty;
	if (!h->order) return false;
	if (l == LEVEL_NONE) return true;
	if (dirty_read_find(h, &dirty)) return false;
	struct relation *r = relation_of_history(h);
	struct level_scratch *s = level_scratch_new();
	bool allowed = level_allows(l, r, s);
	level_scratch_free(s);
	relation_free(r);
	return allowed;
}
