/* A cover of so U wr by paths: what vector clocks count along. The sessions
 * are one; where they are many and short, reads join them to fewer.
 */
#ifndef ISO_CHECK_PATH_COVER_H
#define ISO_CHECK_PATH_COVER_H

#include "history/facts.h"

enum { PATH_COVER_NONE = UINT32_MAX };

struct path_cover_place {
	uint32_t path;     /* PATH_COVER_NONE: on none */
	uint32_t position; /* from 1 */
};

/* Each transaction that some other follows in so U wr, but init, is on one
 * path; on a path, each precedes the next in so U wr. */
struct path_cover {
	uint32_t count;
	uint32_t *first;   /* count + 1: where a path's members begin */
	uint32_t *members; /* transactions, path by path */
	struct path_cover_place *place; /* by transaction */
};

/* The sessions, or, if there are more of them than `enough` and it is fewer,
 * paths that are found greedily along f->order, in the order of their
 * beginning. Linear. */
void path_cover_init(struct path_cover *c, const struct facts *f,
                     uint32_t enough);
void path_cover_free(struct path_cover *c);

/* The member at a position, from 1. */
static inline uint32_t path_cover_at(const struct path_cover *c, uint32_t path,
                                     uint32_t position)
{
	return c->members[c->first[path] + position - 1];
}

static inline uint32_t path_cover_length(const struct path_cover *c,
                                         uint32_t path)
{
	return c->first[path + 1] - c->first[path];
}

#endif
