/* Reads that did not get the newest version that they might have had, though
 * nothing forced them: by what they are known in another run of the same
 * command, and in words. */
#ifndef ISO_SERVE_STALE_READS_H
#define ISO_SERVE_STALE_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "base/text.h"

/* The n-th read of a key by statements of one text. */
struct read_place {
	const char *statement;
	uint32_t key;
	uint32_t occurrence; /* from 1 */
};

struct stale_read {
	struct read_place place; /* its statement is the list's */
	uint32_t age; /* so many versions that are newer could be had */
	/* The list's: "c2.1", account[1], and the two versions with their
	 * writers. */
	char *reader, *key, *value, *writer, *newest, *newest_writer;
};

struct stale_reads {
	struct stale_read *items;
	uint32_t count, capacity;
};

/* A copy; the words are taken over. */
void stale_reads_add(struct stale_reads *s, struct stale_read read);
const struct stale_read *stale_reads_find(const struct stale_reads *s,
                                          struct read_place at);
/* Those of `of` that are not the `count` from `first` on. */
void stale_reads_without(struct stale_reads *out, const struct stale_reads *of,
                         uint32_t first, uint32_t count);
void stale_reads_free(struct stale_reads *s);

/* How often each statement has read each key, in one run. */
struct read_counts {
	struct table table;
	struct read_place *items; /* with their statements */
	uint32_t count, capacity;
};

/* One more of them: how many there are with it. */
uint32_t read_counts_add(struct read_counts *c, const char *statement,
                         uint32_t key);
void read_counts_free(struct read_counts *c);

#endif
