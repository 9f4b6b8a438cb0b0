/* A sample of the histories of a program: independent random descents in the
 * tree of its exploration. Each takes one of the alternatives at each choice,
 * all with the same chance, and ends in one end state, which is dealt with like
 * every history of an exploration.
 *
 * Descents that go the same way share the work: where k of them arrive, each
 * draws an alternative, and the place is visited once. It makes no difference
 * to what is drawn.
 */
#ifndef ISO_DPOR_RANDOM_DESCENTS_H
#define ISO_DPOR_RANDOM_DESCENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "dpor/explorer.h"

struct descents;

/* For an explorer that does not run: its program, and its options, with one
 * thread, and without those about the number of histories. Borrowed. Of the
 * observer, which is copied, tick is called, and history: of what is drawn
 * again only the first time. Not for EXPLORE_OUTWARD. */
struct descents *descents_new(struct explorer *explorer,
                              const struct explore_observer *observer,
                              uint64_t seed);
void descents_free(struct descents *d); /* NULL is fine */
/* So many descents, unless something stops them before. What was found becomes
 * what the explorer found, each history once; why it stopped is
 * STOP_DESCENTS, or what stopped it. Call once. */
void descents_run(struct descents *d, uint64_t count);

/* How many came to an end, and how many of these to a history that another one
 * had come to before. */
uint64_t descents_made(const struct descents *d);
uint64_t descents_repeated(const struct descents *d);

#endif
