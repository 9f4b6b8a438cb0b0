/* How far a history is from serial: the least number of stale reads that an
 * order of its transactions needs.
 *
 * In a total order of the transactions that extends so U wr, a read is stale if
 * some other transaction that writes its key stands between the one it reads
 * from and the reader. A history is serializable just if some order has no
 * stale read. Leaving out transactions that nobody needs makes no read stale,
 * so the number never grows when a history gets shorter.
 */
#ifndef ISO_AXIOMS_STALENESS_H
#define ISO_AXIOMS_STALENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relation;
struct staleness; /* memory for the search, reused from call to call */

struct staleness *staleness_new(void);
void staleness_free(struct staleness *s);
size_t staleness_bytes(const struct staleness *s);
/* Is there an order with at most `bound` stale reads? Where the history tells
 * the order of some writers of a key (relation.h), it has to agree. False if
 * so U wr has a cycle. */
bool staleness_within(struct staleness *s, const struct relation *r,
                      uint64_t bound);

#endif
