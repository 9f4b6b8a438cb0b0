/* The result of proving that transactions are serializable. */
#ifndef ISO_RESULT_PROVED_H
#define ISO_RESULT_PROVED_H

#include "prove/prove.h"
#include "result/result.h"

/* The history that was found is borrowed. */
struct result *result_of_proof(const struct proof *p);

/* Says what it took, at the end. */
void result_prove_costs(struct result *r, const struct application *a,
                        const struct prove_costs *c);

#endif
