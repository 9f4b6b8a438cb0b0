/* A simulated store of numbers that keeps an isolation level, or of each
 * transaction its own.
 *
 * Transactions run one after the other, but a transaction need not see all that
 * was committed before it: how much of it is what the levels differ in. Under a
 * mix, and where reads lock, that order is the commit order; what is locked is
 * read as it is newest. Else commits at different replicas may be in no order
 * of time.
 */
#ifndef ISO_GENERATE_STORE_H
#define ISO_GENERATE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/access.h"
#include "base/rng.h"
#include "generate/workload.h"

/* An operation that a transaction is going to do. */
struct planned_op {
	uint32_t key;
	bool write;
	enum strength strength : 8; /* of a read */
};

struct store;

/* `r` is borrowed. Memory is linear in keys and writes. */
struct store *store_new(const struct workload *w, struct rng *r);
void store_free(struct store *s); /* NULL is fine */

/* Begins a transaction of a session, with a snapshot that does not conflict
 * with others under its level: that of the store, or one of its mix. Its
 * operations follow in the order of the plan. */
void store_begin(struct store *s, enum level level, uint32_t session,
                 const struct planned_op *plan, uint32_t count);
/* Has it written the key? Then a read of it locks nothing more. */
bool store_wrote(const struct store *s, uint32_t key);
/* The value, 0 if it is the initial one. */
uint32_t store_read(struct store *s, uint32_t key, enum strength strength);
void store_write(struct store *s, uint32_t key, uint32_t value);
void store_end(struct store *s, bool commit);
/* The place of the transaction that committed last in a commit order that
 * shows the store's level: sort by it, and what is equal by time. */
uint64_t store_place(const struct store *s);
/* Everybody sees everything, and store_place() is behind all so far. */
void store_meet(struct store *s);

#endif
