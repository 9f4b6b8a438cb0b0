/* Where runs of a session come together: a transaction begins, and the session
 * goes on alike, whatever it has read before. So what it does in one
 * transaction is told once, and not once for each way that leads there; what
 * would be a product over a session's transactions is a sum.
 *
 * Such ways agree in where the session stands, in all that it will still look
 * at (vm/alike_states.h), and in what its transaction has written before it
 * first reads. What they have read, written and locked before is told of the
 * nodes that lead there; so a run is a path, and each path is that of one run:
 * the session does on it what it would do if its runs were a tree.
 */
#ifndef ISO_SOLVE_JOINS_H
#define ISO_SOLVE_JOINS_H

#include "base/table.h"
#include "vm/alike_states.h"

struct program;
struct run_node;

struct joins {
	bool some; /* else runs are trees */
	struct alike_states alike;
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
                const uint32_t *same);
void joins_free(struct joins *j);
/* May runs come together at the read of a node, whose way has ended a
 * transaction? */
bool joins_may(const struct joins *j, const struct run_node *n);
/* Where they do; NULL: at none that is known. */
struct run_node *joins_find(const struct joins *j, const struct run_node *n);
/* A node where they do from now on. */
void joins_add(struct joins *j, struct run_node *n);
/* That of the same place in the session. */
struct run_node *joins_counterpart(const struct joins *j,
                                   const struct run_node *n, uint32_t session);

#endif
