/* MySQL's SQL in PostgreSQL's words: a rewriter of words, so that what is in
 * strings and comments is left alone. Only what the statement reads and writes
 * has to come out right: strings become 's'. */
#ifndef ISO_AUDIT_MYSQL_H
#define ISO_AUDIT_MYSQL_H

#include "audit/words.h"
#include "base/text.h"

/* Writes the words [from, to), one statement. `places` has, for each word, the
 * byte of `out` at which it was written, or UINT32_MAX. */
void mysql_rewrite(struct text *out, uint32_t *places,
                   const struct sql_words *w, uint32_t from, uint32_t to);

#endif
