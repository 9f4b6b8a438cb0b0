#include "repair/weights.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/level_words.h"
#include "base/memory.h"
#include "base/text.h"

enum { FILE_MOST = 1 << 16 };

static const char *const words[] = {
#define X(id, word, cost) [id] = (word),
	EDIT_TABLE(X)
#undef X
};

const char *edit_kind_word(enum edit_kind k)
{
	assert(k < EDIT_KIND_COUNT);
	return words[k];
}

void weights_usual(struct edit_weights *w)
{
	static const unsigned costs[] = {
#define X(id, word, cost) [id] = (cost),
		EDIT_TABLE(X)
#undef X
	};
	*w = (struct edit_weights){ .atomic = costs[EDIT_ATOMIC] };
	for (enum strength s = 0; s < STRENGTH_COUNT; s++)
		w->lock[s] = costs[EDIT_LOCK];
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		/* Reads too can be the reason to abort a transaction. */
		unsigned more = level_is_serial(l);
		w->transaction[l] = costs[EDIT_TRANSACTION] + more;
		w->program[l] = costs[EDIT_PROGRAM] + more;
	}
}

void weights_of_oracle(struct edit_weights *w)
{
	w->lock[STRENGTH_SHARE] = WEIGHT_NEVER;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (!level_has_snapshots(l) || !level_excludes_rivals(l))
			w->transaction[l] = w->program[l] = WEIGHT_NEVER;
}

/* ---- the file ---- */

struct weights_line {
	const char *path, *text; /* without its end */
	uint32_t number;
	const char *at; /* up to where it was read */
	struct diags *diags;
};

/* The next word, which may be empty; its column, from 1. */
static size_t next_word(struct weights_line *x, struct text *word)
{
	x->at += strspn(x->at, " \t\r");
	size_t length = strcspn(x->at, " \t\r"), column;
	column = (size_t)(x->at - x->text) + 1;
	text_clear(word);
	text_bytes(word, x->at, length);
	x->at += length;
	return column;
}

static bool wrong(const struct weights_line *x, size_t column, const char *what)
{
	diags_add(x->diags, DIAG_ERROR, x->path, x->number, (uint32_t)column,
	          x->text, "%s", what);
	return false;
}

static bool wrong_word(const struct weights_line *x, size_t column,
                       const char *what, const char *word,
                       const char *const *known, size_t count)
{
	struct text t = { 0 };
	const char *near = diag_nearest(word, known, count);
	text_format(&t, "unknown %s '%s'", what, word);
	if (near)
		text_format(&t, "; did you mean '%s'?", near);
	else
		for (size_t i = 0; i < count; i++)
			text_format(&t, "%s%s", i ? ", " : "; there are ",
			            known[i]);
	wrong(x, column, text_get(&t));
	text_free(&t);
	return false;
}

static bool is_cost(const char *word)
{
	return !strcmp(word, "never") || strspn(word, "0123456789") > 0;
}

static bool read_cost(const struct weights_line *x, size_t column,
                      const char *word, unsigned *out)
{
	char *end;
	*out = WEIGHT_NEVER;
	if (!strcmp(word, "never")) return true;
	unsigned long cost = strtoul(word, &end, 10);
	if (!is_cost(word) || *end || !cost || cost > WEIGHT_MOST)
		return wrong(x, column,
		             "the cost must be a whole number from 1 to "
		             "1000000, or 'never'");
	*out = (unsigned)cost;
	return true;
}

/* Of the kind, all that are meant get the cost. */
struct meant {
	unsigned *costs;
	uint32_t from, to;
};

static bool read_lock(const struct weights_line *x, size_t column,
                      const char *word, struct meant *out)
{
	const char *const known[] = { strength_word(STRENGTH_SHARE),
		                      strength_word(STRENGTH_UPDATE) };
	bool shared = !strcmp(word, known[0]);
	if (!shared && strcmp(word, known[1]))
		return wrong_word(x, column, "lock", word, known, 2);
	out->from = shared ? STRENGTH_SHARE : STRENGTH_UPDATE;
	out->to = out->from + 1;
	return true;
}

/* An edit that is never made has no cost. */
static bool is_made(enum edit_kind k, enum level l)
{
	return level_row(l)->rivals != RIVALS_FREE &&
	       (k == EDIT_PROGRAM || level_mixes(l));
}

static bool read_level(const struct weights_line *x, size_t column,
                       enum edit_kind k, const char *word, struct meant *out)
{
	struct text why = { 0 };
	enum level l = level_from_word(word);
	if (l == LEVEL_COUNT) {
		level_unknown(&why, word);
		wrong(x, column, text_get(&why));
		text_free(&why);
		return false;
	}
	if (!is_made(k, l)) {
		text_format(&why, "no edit makes %s run at '%s'",
		            k == EDIT_PROGRAM ? "the program" : "a transaction",
		            level_word(l));
		wrong(x, column, text_get(&why));
		text_free(&why);
		return false;
	}
	out->from = l;
	out->to = l + 1;
	return true;
}

static bool read_meant(struct weights_line *x, struct edit_weights *w,
                       struct text *word, struct meant *out)
{
	enum edit_kind k = 0;
	size_t column = next_word(x, word);
	while (k < EDIT_KIND_COUNT && strcmp(text_get(word), words[k])) k++;
	switch (k) {
	case EDIT_LOCK:
		*out = (struct meant){ w->lock, 0, STRENGTH_COUNT };
		break;
	case EDIT_ATOMIC: *out = (struct meant){ &w->atomic, 0, 1 }; break;
	case EDIT_TRANSACTION:
		*out = (struct meant){ w->transaction, 0, LEVEL_COUNT };
		break;
	case EDIT_PROGRAM:
		*out = (struct meant){ w->program, 0, LEVEL_COUNT };
		break;
	case EDIT_KIND_COUNT:
		return wrong_word(x, column, "kind of edit", text_get(word),
		                  words, EDIT_KIND_COUNT);
	}
	column = next_word(x, word);
	if (is_cost(text_get(word)) || !word->length || k == EDIT_ATOMIC)
		x->at = x->text + column - 1; /* it is the cost's turn */
	else if (k == EDIT_LOCK)
		return read_lock(x, column, text_get(word), out);
	else
		return read_level(x, column, k, text_get(word), out);
	return true;
}

static bool read_line(struct weights_line *x, struct edit_weights *w)
{
	struct text word = { 0 };
	struct meant meant = { 0 };
	unsigned cost;
	bool fine = read_meant(x, w, &word, &meant);
	if (fine) {
		size_t column = next_word(x, &word);
		fine = read_cost(x, column, text_get(&word), &cost);
	}
	if (fine) {
		size_t column = next_word(x, &word);
		if (word.length)
			fine = wrong(x, column, "nothing follows the cost");
	}
	assert(!fine || meant.from < meant.to);
	for (uint32_t i = meant.from; fine && i < meant.to; i++)
		meant.costs[i] = cost;
	text_free(&word);
	return fine;
}

static bool read_text(struct edit_weights *w, const char *path, char *text,
                      struct diags *d)
{
	bool fine = true, said = false;
	struct weights_line x = { .path = path, .diags = d };
	for (char *at = text, *next; *at; at = next) {
		size_t length = strcspn(at, "\n");
		next = at + length + (at[length] == '\n');
		at[length] = '\0';
		x.number++;
		x.text = x.at = at;
		at[strcspn(at, "#")] = '\0';
		if (!at[strspn(at, " \t\r")]) continue;
		said = true;
		fine &= read_line(&x, w);
	}
	if (!said)
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
		          "no line of it says what an edit costs");
	return fine && said;
}

bool weights_read(struct edit_weights *w, const char *path, struct diags *d)
{
	char text[FILE_MOST + 1];
	const char *why = NULL;
	FILE *f = fopen(path, "rb");
	size_t length = f ? fread(text, 1, sizeof text, f) : 0;
	if (!f || ferror(f))
		why = strerror(errno);
	else if (length > FILE_MOST || memchr(text, '\0', length))
		why = "this is not a file of weights";
	if (f) fclose(f);
	if (why) {
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL, "cannot read: %s",
		          why);
		return false;
	}
	text[length] = '\0';
	return read_text(w, path, text, d);
}
