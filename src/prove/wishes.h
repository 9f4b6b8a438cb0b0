/* What a model should be like, so that it can be run and is easy to read. */
#ifndef ISO_PROVE_WISHES_H
#define ISO_PROVE_WISHES_H

#include "prove/instances.h"

/* No instance ends by an error. */
Z3_ast instances_fine(const struct instances *x);
/* The values of the instance are small, or of the kind that the program has at
 * first. */
Z3_ast instance_plain(const struct instances *x, const struct instance *t);

/* Fills in the wishes: all reads are from these instances or init, no instance
 * ends by an error, arguments are integers, and what is free is plain, each
 * value by itself. */
void wishes_make(struct instances *x);
/* There is no model with all wishes, or it was not found: leaves one out of
 * those that exclude each other, the last one. The first one stays: false if it
 * is that. */
bool wishes_leave_out(struct instances *x, Z3_lbool answer);
/* Other arguments, or other first values, than in this model from now on. */
void wishes_block(struct instances *x, Z3_model m);

#endif
