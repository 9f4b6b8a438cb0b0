/* Versions of rows that clients were told of, or are to be: what is committed
 * and can still be read, and what each client has not heard of that. */
#ifndef ISO_SERVE_ROW_VERSIONS_H
#define ISO_SERVE_ROW_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "history/trace.h"
#include "postgres/library.h"

struct row_versions;

/* A version of a row; or, without an image, that the key's row was deleted. */
struct served_version {
	const struct server_key *key;
	const char *image;
	uint32_t length;
	struct trace_value value; /* in the recording */
};

struct row_versions *row_versions_new(void);
void row_versions_free(struct row_versions *v); /* NULL is fine */
/* Numbers begin at 1; those of what was forgotten are given again. The image is
 * copied; `initial`: it is of set-up. Readers are told in this order. */
uint32_t row_versions_add(struct row_versions *v, struct served_version what,
                          bool initial);
/* The key had a row when clients began to be served. */
bool row_versions_is_initial(const struct row_versions *v,
                             const struct server_key *k);
const struct served_version *row_versions_get(const struct row_versions *v,
                                              uint32_t number);
/* It will not be read any more. Readers that were told of it are told so. */
void row_versions_forget(struct row_versions *v, uint32_t number);

/* Who is told: from 0, and given again when one is dropped. At first it is told
 * of no table. */
uint32_t row_versions_add_reader(struct row_versions *v);
void row_versions_drop_reader(struct row_versions *v, uint32_t reader);
/* Appends what is new for this reader, of the tables that it is told of, as
 * records of postgres/wire.h. Costs as much as that, and as what is forgotten.
 */
void row_versions_put_news(struct row_versions *v, uint32_t reader,
                           struct text *t);
/* The reader, which has heard the news, is told of this table from now on: all
 * that there is of it is appended. Costs as much as there are versions. */
void row_versions_put_table(struct row_versions *v, uint32_t reader,
                            const struct server_relation *table,
                            struct text *t);
bool row_versions_tells(const struct row_versions *v, uint32_t reader,
                        const struct server_relation *table);
/* Appends this version for who is not told of its table. */
void row_versions_put_once(const struct row_versions *v, uint32_t number,
                           struct text *t);

#endif
