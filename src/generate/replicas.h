/* Replicas that receive each other's commits late, but never an effect without
 * its cause: what a replica has seen is closed under "had seen".
 *
 * The commits of a site are numbered from 1. What a site has seen is a vector:
 * of each site, the commits up to a number. Each commit remembers the vector
 * that it began with, so that it can be fetched with its causes.
 */
#ifndef ISO_GENERATE_REPLICAS_H
#define ISO_GENERATE_REPLICAS_H

#include <stdint.h>

#include "base/rng.h"

enum { REPLICAS_MOST = 5 };

struct replicas;

/* `lag`: how many commits of all sites a site may miss. `r` is borrowed. */
struct replicas *replicas_new(uint32_t sites, uint32_t lag, struct rng *r);
void replicas_free(struct replicas *p); /* NULL is fine */

/* Something is about to happen at this site: it receives what it must. */
void replicas_receive(struct replicas *p, uint32_t site);
/* The site receives a commit of another, or its own, and its causes. */
void replicas_fetch(struct replicas *p, uint32_t site, uint32_t origin,
                    uint32_t number);
/* How many commits of `origin` the site has seen. */
uint32_t replicas_seen(const struct replicas *p, uint32_t site,
                       uint32_t origin);
/* A commit at this site; returns its number there. Its rank (Lamport's clock)
 * is higher than that of all it has seen. */
uint32_t replicas_commit(struct replicas *p, uint32_t site, uint32_t *rank);
/* Every site receives everything. Returns the highest rank so far. */
uint32_t replicas_meet(struct replicas *p);

#endif
