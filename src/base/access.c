#include "base/access.h"

#include <assert.h>
#include <string.h>

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
