/* Explorations that are more than one run to the end: under all levels, a part
 * of one and an estimate of the rest, random descents. */
#ifndef ISO_API_EXPLORATIONS_H
#define ISO_API_EXPLORATIONS_H

#include "dpor/explorer.h"
#include "result/explored.h"
#include "result/level_table.h"

/* How many histories there are, after an exploration that ended early; groups
 * == 0 if that is not known. Takes a part of the time that exploring took. */
struct estimate explored_share(const struct explorer *e);

/* ---- all levels ---- */

struct levels_request {
	const struct program *program;
	const struct explore_options *options; /* but for the level */
	/* The usual algorithm of each level in place of EXPLORE_CE: its was not
	 * asked for. */
	bool any_algorithm;
	void *payload;
	/* Before and after each of the explorations; `begin` may change
	 * options that say nothing of what is explored. */
	struct explore_observer (*begin)(void *payload, enum level l,
	                                 struct explore_options *o);
	void (*end)(void *payload, struct explorer *e);
	/* Is there no need for the others? May be NULL. */
	bool (*enough)(void *payload);
};

/* Explores under the causally extensible levels, the strongest first: it has
 * the fewest histories, so that a time limit costs the fewest columns. Their
 * histories are looked at for stronger levels as well; but prc is explored by
 * itself where there are foreign keys. */
struct levels_table *explore_all_levels(const struct levels_request *q);

/* ---- estimates ---- */

struct outlook_request {
	const struct program *program;
	const struct explore_options *options;
	double seconds; /* for all, if there is no shorter time limit */
	uint64_t seed;
	void *payload;
	/* Gives the explorer what to go on with; NULL: it begins anew. False:
	 * it cannot be done. */
	bool (*begin)(void *payload, struct explorer *e);
	/* As in explore_observer; may be NULL. */
	bool (*tick)(void *payload, const struct explore_stats *so_far,
	             uint32_t depth);
};

/* Explores for a part of the time, and estimates the rest. The explorer has
 * what was found; the caller frees it. NULL if `begin` said no. */
struct explorer *explore_ahead(const struct outlook_request *q,
                               struct outlook *out);

/* ---- random descents ---- */

/* So many descents, by one thread, and an estimate of the whole. The caller
 * frees the explorer, which has what they found. */
struct explorer *explore_sample(const struct program *p,
                                const struct explore_options *o,
                                const struct explore_observer *observer,
                                uint64_t descents, uint64_t seed,
                                struct sample_share *out);

#endif
