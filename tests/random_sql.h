#ifndef ISO_TESTS_RANDOM_SQL_H
#define ISO_TESTS_RANDOM_SQL_H

#include "base/rng.h"
#include "base/text.h"

static inline const char *one_of(struct rng *r, const char *const *words,
                                 uint32_t count)
{
	return words[rng_below(r, count)];
}
#define ONE_OF(r, words) one_of((r), (words), sizeof(words) / sizeof *(words))

/* A SELECT over the tables of test_sql.c, of one row or ordered. */
void random_query(struct text *t, struct rng *r);

#endif
