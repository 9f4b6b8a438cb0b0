/* Divergent copies of transactions, and the writers that their free reads may
 * take: the options.
 *
 * relaxed: one copy of each transaction, all of whose reads are free. strict:
 * one for each read, which is free; the reads before it keep their writers,
 * and nothing behind it is there. Only reads of contended keys count; but a
 * strict copy may also end, unchanged and without a free read, with a read of
 * another key.
 */
#ifndef ISO_PREDICT_DIVERGENT_COPIES_H
#define ISO_PREDICT_DIVERGENT_COPIES_H

#include "predict/observed_history.h"

/* Which copies may change nothing? */
enum unchanged_copies {
	UNCHANGED_NONE,
	UNCHANGED_CUT, /* strict ones with a write behind their last read */
	UNCHANGED_ALL
};

struct option {
	uint32_t writer;
	bool observed; /* the writer is the observed one */
};

struct free_read {
	uint32_t event; /* index of observed.events */
	uint32_t copy;
	uint32_t first; /* its options: up to the next read's */
	bool updates;   /* the copy writes the key as well */
	/* So it does, and nobody writes the key without reading it, under psi
	 * or si: the option taken excludes all later writers, and all other
	 * copies that write the key. */
	bool exclusive;
};

struct copy {
	uint32_t transaction;
	uint32_t end;     /* its events: those of the transaction before this
	                   * index of observed.events (the free read of a
	                   * strict copy is the last) */
	uint32_t ops_end; /* strict: its operations: those before this op */
	uint32_t first;   /* its free reads: up to the next copy's */
};

/* Which copies and options there are to be. */
struct copies_scope {
	enum predict_boundary boundary;
	enum unchanged_copies unchanged;
	uint32_t only; /* copies of this transaction; 0: of all */
	uint32_t near; /* of the writers of a key, so many on each side of the
	                * observed one, and init; 0: all */
	size_t most;   /* options, roughly; 0: no limit */
};

struct divergent_copies {
	const struct observed_history *o;
	enum predict_boundary boundary;
	enum unchanged_copies unchanged;
	uint32_t near;
	bool too_many;           /* more options than was allowed */
	struct copy *copies;     /* count + 1: the last only ends */
	struct free_read *reads; /* read_count + 1 */
	struct option *options;
	size_t count, read_count, option_count;
	size_t capacity, read_capacity, option_capacity;
	uint32_t *first_copy; /* n + 1: copies of each transaction */
	word *view;           /* a row to work in */
};

/* Options that no allowed history can have are left out, by what every history
 * with the copy contains. False if a limit came first, or there are too many
 * options. To be freed in either case. */
bool copies_init(struct divergent_copies *c, const struct observed_history *o,
                 const struct copies_scope *scope, struct check_clock *clock,
                 const char **reason);
void copies_free(struct divergent_copies *c);

/* Is this read of the copy free? */
static inline bool copy_frees(const struct divergent_copies *c,
                              const struct copy *x, uint32_t event)
{
	return c->boundary == BOUNDARY_RELAXED || event + 1 == x->end;
}

/* A reason why options cannot be chosen together: both are of the same copy,
 * and the level forbids them. Calls `visit` with pairs of options (indices), as
 * far as `budget` tests of pairs reach. */
typedef void option_pair_visitor(void *data, size_t a, size_t b);
void copies_conflicts(const struct divergent_copies *c, uint64_t budget,
                      option_pair_visitor *visit, void *data);
/* psi and si: transactions u such that this option cannot be chosen while u is
 * there: u reads the same version of the key and writes the key, and so does
 * the copy. */
typedef void option_rival_visitor(void *data, size_t option, uint32_t u);
void copies_rivals(const struct divergent_copies *c,
                   option_rival_visitor *visit, void *data);
/* psi and si: sets of options of which at most one can be chosen: their copies
 * read the same version of a key and write the key. */
typedef void option_set_visitor(void *data, const size_t *options,
                                size_t count);
void copies_updates(const struct divergent_copies *c, option_set_visitor *visit,
                    void *data);

#endif
