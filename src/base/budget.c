#include "base/budget.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *json, *file, *text;
} words[] = {
#define X(id, json, file, text) [id] = { json, file, text },
	STOP_TABLE(X)
#undef X
};

const char *stop_word(enum stop_reason s)
{
	assert(s < STOP_COUNT);
	return words[s].json;
}

const char *stop_text(enum stop_reason s)
{
	assert(s < STOP_COUNT);
	return words[s].text;
}

const char *stop_file_word(enum stop_reason s)
{
	assert(s < STOP_COUNT);
	return words[s].file;
}

bool stop_from_file_word(const char *word, enum stop_reason *out)
{
	/* An exploration always says which limit it was. */
	for (enum stop_reason s = STOP_NONE; s < STOP_TOO_LARGE; s++) {
		if (strcmp(word, words[s].file)) continue;
		*out = s;
		return true;
	}
	return false;
}

enum stop_reason stop_broadly(enum stop_reason s)
{
	switch (s) {
	case STOP_TRANSACTIONS:
	case STOP_KEYS:
	case STOP_EVENTS:
	case STOP_GUEST: return STOP_TOO_LARGE;
	default: return s;
	}
}
