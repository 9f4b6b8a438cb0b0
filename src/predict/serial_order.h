/* A serial order of transactions of the observed execution, and who reads and
 * writes each key in it.
 */
#ifndef ISO_PREDICT_SERIAL_ORDER_H
#define ISO_PREDICT_SERIAL_ORDER_H

#include "predict/observed_history.h"

enum { NO_GAP = UINT32_MAX };

/* An access to a key, by place in the order. */
struct access {
	uint32_t at; /* 0 is the first transaction behind init */
	uint32_t transaction;
};

/* The accesses of each key, in the order; there is room for all that were
 * observed. */
struct accesses {
	uint32_t *first, *end; /* by key: range of items */
	struct access *items;
};

/* A gap is a number of transactions: the one behind so many of the order. */
struct serial_order {
	const struct observed_history *o;
	uint32_t *order; /* without init */
	uint32_t count;
	uint32_t *at; /* by transaction: its place, or NO_GAP */
	struct accesses writers, readers;
};

/* The observed execution is borrowed. */
void serial_order_init(struct serial_order *s,
                       const struct observed_history *o);
void serial_order_free(struct serial_order *s);
/* Begins with no transaction. */
void serial_order_begin(struct serial_order *s);
void serial_order_append(struct serial_order *s, uint32_t t);
/* Does t, put at the end, see what it saw, and is all there that it needs? */
bool serial_order_fits_at_end(const struct serial_order *s, uint32_t t);
/* The first access to the key at this place of the order or later: an index of
 * a->items, a->end[key] if none. */
uint32_t access_from(const struct accesses *a, uint32_t key, uint32_t at);

/* Where a copy of t is, neither t is kept nor what happened after t. */
static inline bool is_gone(const struct observed_history *o, uint32_t t,
                           uint32_t u)
{
	return u == t || bits_has(observed_row(o, o->later, t), u);
}
/* The version of the key in a gap, for a copy of t: init is 0. */
uint32_t version_at(const struct serial_order *s, uint32_t t, uint32_t key,
                    uint32_t gap);
/* May a copy of t write the key in this gap? Not if somebody reads, behind it,
 * a version from before it. */
bool write_is_safe(const struct serial_order *s, uint32_t t, uint32_t key,
                   uint32_t gap);

#endif
