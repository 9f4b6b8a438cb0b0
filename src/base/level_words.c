#include "base/level_words.h"

#include <assert.h>
#include <string.h>

#include "base/diag.h"

static const char *const words[] = { "none", "rc",  "ra", "cc", "prc",
	                             "pc",   "psi", "si", "ser" };
#define ONE(...) +1
enum {
	WORDS = sizeof words / sizeof *words,
	MOST_WORDS = WORDS DEPLOYMENT_TABLE(ONE)
};
#undef ONE

const struct deployment *deployments(void)
{
	static const struct deployment table[] = {
#define X(name, word) { name, word },
		DEPLOYMENT_TABLE(X)
#undef X
			{ NULL, NULL },
	};
	return table;
}

static const struct deployment *deployment_of(const char *word)
{
	const struct deployment *d = deployments();
	while (d->name && strcmp(d->name, word)) d++;
	return d->name ? d : NULL;
}

const char *level_deployment(const char *word)
{
	const struct deployment *d = word ? deployment_of(word) : NULL;
	return d ? d->name : NULL;
}

const char *level_missing(const char *word)
{
	static const struct {
		const char *name, *reason;
	} all[] = {
#define X(name, reason) { name, reason },
		NO_LEVEL_TABLE(X)
#undef X
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(word, all[i].name)) {
			assert(!deployment_of(word));
			return all[i].reason;
		}
	return NULL;
}

int level_number(const char *word)
{
	const struct deployment *d = deployment_of(word);
	if (d) word = d->level;
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
	const char *all[MOST_WORDS];
	const char *missing = level_missing(word);
	size_t n = 0;
	if (missing) {
		text_format(t, "no isolation level is that of '%s': %s", word,
		            missing);
		return;
	}
	for (int i = 0; i < WORDS; i++) all[n++] = words[i];
	for (const struct deployment *d = deployments(); d->name; d++)
		all[n++] = d->name;
	assert(n == MOST_WORDS);
	const char *near = diag_nearest(word, all, n);
	text_format(t, "unknown isolation level '%s'%s%s%s there are ", word,
	            near ? "; did you mean '" : ";", near ? near : "",
	            near ? "'?" : "");
	for (size_t i = 0; i < n; i++)
		text_format(t, "%s%s", i ? ", " : "", all[i]);
}

const char *own_level_problem(const char *word)
{
	word = own_level_word((own_level)(level_number(word) + 1));
	if (!word) return NULL; /* there is no such level */
	return strcmp(word, "psi")
	               ? NULL
	               : "psi is a level of all transactions together: no "
	                 "transaction can have it of its own";
}
