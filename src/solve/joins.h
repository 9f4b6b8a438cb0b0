/* Where runs of a session come together: it goes on alike, whatever it has read
 * before. So what it does from there on is told once, and not once for each way
 * that leads there; what would be a product, over a session's transactions and
 * over what each of them reads, is a sum.
 *
 * Such ways agree in where the session stands, in all that it will still look
 * at (vm/alike_states.h), in what its transaction has read and written of keys
 * that it may read again, and in what it has written of those that it may write
 * again (analyse/footprint.h). What else it has written is *settled*: whatever
 * it does, this is the last value, if it commits. That is told of the nodes
 * that lead there, as are all that was read, and locked by reading; the ways
 * agree in which keys that are. So a run is a path, and each path is that of
 * one run: the session does on it what it would do if its runs were a tree.
 *
 * Inside of a transaction that is so only where reads are repeatable, and what
 * was read before tells nothing of what may be read next but by the order
 * (not under rc), and where statements have no moments.
 */
#ifndef ISO_SOLVE_JOINS_H
#define ISO_SOLVE_JOINS_H

#include "base/table.h"
#include "vm/alike_states.h"

struct footprints;
struct keys;
struct program;
struct region;
struct run_node;

struct joins {
	bool some; /* else runs are trees */
	struct alike_states alike;
	struct footprints *footprints;
	struct table by_state;
	struct run_node **items;
	uint32_t count, capacity;
	uint32_t **of; /* by session: its own, as they were made */
	uint32_t *count_of, *capacity_of;
	uint32_t sessions;
};

/* `same`: by session, the first one that has the same code; NULL: runs are
 * trees. The program is borrowed. */
void joins_init(struct joins *j, const struct program *p, uint32_t sessions,
                const uint32_t *same, const struct keys *keys);
void joins_free(struct joins *j);
/* May runs come together at the read of a node? `inside`: of a transaction that
 * has read before. */
bool joins_may(const struct joins *j, const struct run_node *n, bool inside);
/* The node as it is where runs come together, in the region. What is settled is
 * told of the node. */
struct run_node *joins_form(const struct joins *j, struct run_node *n,
                            struct region *region);
/* One that goes on alike; NULL: none is known. */
struct run_node *joins_find(const struct joins *j, const struct run_node *form);
/* A node where runs come together from now on. */
void joins_add(struct joins *j, struct run_node *n);
/* That of the same place in the session. */
struct run_node *joins_counterpart(const struct joins *j,
                                   const struct run_node *n, uint32_t session);

#endif
