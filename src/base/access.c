#include "base/access.h"

#include <assert.h>
#include <string.h>

/* Of rows' own locks, that which it is. */
static enum strength locked_as(enum strength s)
{
	switch (s) {
	case STRENGTH_HELD: return STRENGTH_KEY_SHARE;
	case STRENGTH_REFERENCE: return STRENGTH_NO_KEY_UPDATE;
	case STRENGTH_INSERT: return STRENGTH_UPDATE;
	default: return s;
	}
}

bool strengths_exclude(enum strength a, enum strength b)
{
	static const bool table[STRENGTH_COUNT][STRENGTH_COUNT] = {
		[STRENGTH_KEY_SHARE] = { [STRENGTH_UPDATE] = true },
		[STRENGTH_SHARE] = { [STRENGTH_NO_KEY_UPDATE] = true,
		                     [STRENGTH_UPDATE] = true },
		[STRENGTH_NO_KEY_UPDATE] = { [STRENGTH_SHARE] = true,
		                             [STRENGTH_NO_KEY_UPDATE] = true,
		                             [STRENGTH_UPDATE] = true },
		[STRENGTH_UPDATE] = { [STRENGTH_KEY_SHARE] = true,
		                      [STRENGTH_SHARE] = true,
		                      [STRENGTH_NO_KEY_UPDATE] = true,
		                      [STRENGTH_UPDATE] = true }
	};
	if (a == STRENGTH_GIVEN_UP || b == STRENGTH_GIVEN_UP) return false;
	a = locked_as(a);
	b = locked_as(b);
	assert(table[a][b] == table[b][a]);
	return table[a][b];
}

bool strength_meets(enum strength read, enum strength write)
{
	assert(write >= STRENGTH_NO_KEY_UPDATE);
	return read == STRENGTH_CHECK
	               ? write == STRENGTH_REFERENCE || write == STRENGTH_UPDATE
	               : strengths_exclude(read, write);
}

static const struct {
	const char *letter, *word;
} strengths[STRENGTH_COUNT] = {
#define X(id, letter, word) { letter, word },
	STRENGTH_TABLE(X)
#undef X
};

const char *strength_letter(enum strength s)
{
	assert(s < STRENGTH_COUNT);
	return strengths[s].letter;
}

const char *strength_word(enum strength s)
{
	return strengths[s].word;
}

enum strength strength_from_letter(const char *letter)
{
	enum strength s = STRENGTH_PLAIN + 1;
	while (s < STRENGTH_COUNT && strcmp(strengths[s].letter, letter)) s++;
	return s;
}
