/* The cheapest changes of a program under which nothing is violated.
 *
 * More edits allow fewer histories, so the sets of edits that repair a program
 * are those above some smallest ones, which are looked for by increasing cost.
 * A set dies at once if it allows a history with a violation that was met
 * before. What survives is explored up to its first violation, which joins
 * those; without one the exploration is complete, and the set an answer. Where
 * exploring takes long, somebody else may say so before its end.
 */
#ifndef ISO_REPAIR_REPAIR_H
#define ISO_REPAIR_REPAIR_H

#include "base/verdict.h"
#include "dpor/explorer.h"
#include "repair/edits.h"

struct history;

enum { REPAIR_EDITS = 3, REPAIR_ANSWERS = 8 }; /* at most, by default */

/* Who looks for a verdict beside the exploration of a set of edits. */
struct repair_beside {
	/* NULL: nobody does, of this program. Both are borrowed until end(). */
	void *(*begin)(const struct program *p,
	               const struct explore_options *o);
	/* As explore_observer.tick: false if there is a verdict. */
	bool (*tick)(void *beside, const struct explore_stats *s);
	/* The verdict, INCONCLUSIVE if there is none; and the history in which
	 * something is violated, the caller's, or NULL. */
	enum verdict (*end)(void *beside, struct history **example);
};

struct repair_options {
	const char *path;
	bool level_said; /* by the command line, not by the program */
	const struct sql_arguments *given; /* of a file of SQL */
	bool ssi;                          /* program_is_ssi() */
	struct explore_options explore;    /* the limits are of all together */
	bool oracle; /* what Oracle has, where a lock counts as a write */
	const char *weights_path;    /* NULL: costs are the usual ones */
	struct edit_weights weights; /* repair_weights */
	uint32_t max_edits, max_answers;
	/* Called now and then, with what is tried; may be NULL. */
	bool (*tick)(void *payload, const char *what,
	             const struct explore_stats *s, uint32_t depth);
	void *payload;
	struct repair_beside beside; /* all NULL: nobody */
};

/* A set of edits, and what was found of the program with them. */
struct repair_row {
	uint32_t *items, count;
	unsigned cost;
	enum verdict verdict;
	uint64_t histories, violating; /* as far as it was explored */
	bool complete;
	bool decided; /* the verdict is that of who looked beside it */
};

struct repair_rows {
	struct repair_row *items;
	uint32_t count, capacity;
};

struct repair {
	struct repair_options options;
	struct edits *edits;
	struct repair_row asked;    /* without edits */
	struct repair_rows answers; /* the cheapest first; of the whole program
	                             * at a level, the weakest */
	struct repair_rows failing; /* what one would try first */
	struct repair_row weaker;   /* of a program in which nothing is
	                             * violated: as weak as transactions may be */
	bool asserts_nothing;       /* the program, but that it has no run-time
	                             * errors */
	bool hopeless;              /* even one after the other they fail */
	bool cut;                   /* there may be other answers */
	bool larger;                /* so may there of more than max_edits */
	uint64_t sets, explored;    /* tried; and how many of them explored */
	double seconds;
	enum stop_reason stop;
};

/* Sets the weights: of the file, or of what is usual. False, with diagnostics,
 * if it cannot be read. */
bool repair_weights(struct repair_options *o, const char *path,
                    struct diags *d);
/* False, with diagnostics, if the program cannot be loaded. To be freed with
 * repair_free either way. */
bool repair(struct repair *out, const struct repair_options *o,
            struct diags *d);
void repair_free(struct repair *r);

#endif
