/* Which statements are one call of the application's interface: those of a
 * connection, or whose comments have the same tags, as sqlcommenter
 * (name='value') and marginalia (name:value) write them. */
#ifndef ISO_AUDIT_TAGS_H
#define ISO_AUDIT_TAGS_H

#include "audit/words.h"

enum grouping_kind {
	GROUP_NONE,
	GROUP_CONNECTION,
	GROUP_TAG,    /* one after the other, on one connection */
	GROUP_REQUEST /* on any connection: the value is of one call */
};

enum { GROUP_NAMES_MOST = 8 };

struct grouping {
	enum grouping_kind kind;
	struct tag_name {
		const char *text; /* borrowed */
		size_t length;
	} names[GROUP_NAMES_MOST];
	uint32_t count;
};

/* "connection", "tag:NAME,..", "request:NAME,..". The words are borrowed. False
 * if they are none of these; NULL is no grouping. */
bool grouping_read(struct grouping *g, const char *words);

/* The hash of what the comments of these words have for the tags, never 0; 0
 * if one of the tags is in none. */
uint64_t grouping_value(const struct grouping *g, const struct sql_words *w);

#endif
