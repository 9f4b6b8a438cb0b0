#include "formats/format_table.h"

#include <string.h>

static const struct {
	const char *word, *description;
} words[FORMAT_COUNT] = {
#define X(id, word, ending, description) [id] = { word, description },
	FORMAT_TABLE(X)
#undef X
};

const char *format_word(enum format f)
{
	return f < FORMAT_COUNT ? words[f].word : "unknown";
}

const char *format_description(enum format f)
{
	return f < FORMAT_COUNT ? words[f].description : "unknown";
}

enum format format_from_word(const char *word)
{
	enum format f = 0;
	while (f < FORMAT_COUNT && strcmp(word, words[f].word) != 0) f++;
	return f;
}
