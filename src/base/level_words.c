#include "base/level_words.h"

#include <string.h>

#include "base/diag.h"

static const char *const words[] = { "none", "rc",  "ra", "cc", "prc",
	                             "pc",   "psi", "si", "ser" };
enum { WORDS = sizeof words / sizeof *words };

int level_number(const char *word)
{
	for (int i = 0; i < WORDS; i++)
		if (!strcmp(word, words[i])) return i;
	return -1;
}

const char *own_level_word(own_level l)
{
	return l ? words[l - 1] : NULL;
}

void level_unknown(struct text *t, const char *word)
{
	const char *near = diag_nearest(word, words, WORDS);
	text_format(t, "unknown isolation level '%s'%s%s%s there are ", word,
	            near ? "; did you mean '" : ";", near ? near : "",
	            near ? "'?" : "");
	for (int i = 0; i < WORDS; i++)
		text_format(t, "%s%s", i ? ", " : "", words[i]);
}

const char *own_level_problem(const char *word)
{
	if (!strcmp(word, "prc"))
		return "prc is as yet a level of all transactions together";
	return strcmp(word, "psi")
	               ? NULL
	               : "psi is a level of all transactions together: beside "
	                 "others it has no meaning";
}
