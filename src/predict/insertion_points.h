/* Where in a serial order copies fit, and what they may read there.
 *
 * A copy that writes has one place, so that the others know it; one that only
 * reads may be anywhere.
 */
#ifndef ISO_PREDICT_INSERTION_POINTS_H
#define ISO_PREDICT_INSERTION_POINTS_H

#include "predict/divergent_copies.h"
#include "predict/serial_order.h"

/* A gap of the order: behind so many transactions of it, init not counted. Of
 * the copies in one gap, those of a lower turn come first; no two that write
 * have the same. */
struct place {
	uint32_t gap, turn;
};

enum {
	TURN_FIRST = 0,  /* for copies that write nothing */
	PLACES_MOST = 48 /* of one copy, that are looked at */
};

/* A copy that writes a key. */
struct copy_write {
	struct place place;
	uint32_t copy;
};

struct insertion_points {
	const struct observed_history *o;
	const struct divergent_copies *c;
	struct serial_order s;
	struct place *forced; /* by copy: the place that it has to have; gap
	                       * NO_GAP: none */
	struct place *places; /* by copy that writes: its one place; gap
	                       * NO_GAP: none is safe */
	bool *writes;         /* by copy */
	/* By key: the copies that write it, by place; those without one come
	 * last. */
	uint32_t *copy_write_first;
	struct copy_write *copy_writes;
	/* Of the copy at hand: which options each place grants, a row each. */
	bool *granted;
	size_t granted_room;
	uint32_t gaps[PLACES_MOST];
};

/* Where the copies that write go, unless they are forced. */
enum places_of_writers {
	PLACES_OWN, /* where their transaction is in the order */
	PLACES_END  /* at the end */
};

/* Both are borrowed. */
void insertion_points_init(struct insertion_points *x,
                           const struct observed_history *o,
                           const struct divergent_copies *c);
void insertion_points_free(struct insertion_points *x);
void insertion_points_force_none(struct insertion_points *x);
/* Once the order is there: gives the copies that write their places. */
void insertion_points_choose(struct insertion_points *x,
                             enum places_of_writers where);
/* After a change of places. */
void insertion_points_sort(struct insertion_points *x);

/* The first gap that a copy may be in; NO_GAP if something that has to be there
 * is not in the order. Then no proposal with the copy is meant. */
uint32_t first_gap(const struct insertion_points *x, const struct copy *y);
/* The first copy, by place, that writes the key between this version and the
 * place p, where copy y is; UINT32_MAX if none does. */
uint32_t hider(const struct insertion_points *x, const struct copy *y,
               uint32_t key, uint32_t version, struct place p);
/* Does the copy fit at the place, but for its free reads? */
bool fits_at(const struct insertion_points *x, const struct copy *y,
             struct place p);
/* May the free read take the option at the place? An exclusive one that took a
 * version has no later writer with it. */
bool is_granted(const struct insertion_points *x, const struct copy *y,
                const struct free_read *r, struct place p, uint32_t option);
/* Rows of all places that the copy has, in x->granted; their number. */
uint32_t fill_rows(struct insertion_points *x, size_t copy, uint32_t low);
/* The places that matter for the only free read of a copy to take w: its own,
 * if it has one, else just behind w and just before the next writer. */
uint32_t insertion_points_of_option(const struct insertion_points *x,
                                    size_t copy, uint32_t low, uint32_t w,
                                    struct place places[3]);
/* The copy's options: the first one, and how many. */
uint32_t first_option(const struct insertion_points *x, const struct copy *y);
uint32_t option_width(const struct insertion_points *x, const struct copy *y);

#endif
