/* The words of a text of SQL, as far as it takes to change it in places that
 * are known. */
#ifndef ISO_REPAIR_SQL_TEXT_H
#define ISO_REPAIR_SQL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Some bytes of a file. */
struct part {
	const char *text;
	uint32_t from, to;
};

bool goes_on_word(char c);
/* Where the next word of the part begins; its end if there is none. *end:
 * behind it. Of marks and quoted texts each is a word. */
uint32_t part_next_word(const struct part *p, uint32_t at, uint32_t *end);
bool part_word_is(const struct part *p, uint32_t at, uint32_t end,
                  const char *word);
/* Where the word stands outside of parentheses; its end: nowhere. */
uint32_t part_find_word(const struct part *p, const char *word);
/* Between these places, without blanks around. */
struct part between(const struct part *p, uint32_t from, uint32_t to);
/* What stands behind the word, up to the other one if that comes. */
struct part behind(const struct part *p, const char *word, const char *up_to);
bool same_words(const struct part *a, const struct part *b);

#endif
