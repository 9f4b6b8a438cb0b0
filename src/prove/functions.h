/* Values that are no integers, as numbers: what is known of them is what they
 * are made of, and that the same operation on the same values gives the same.
 *
 * A number stands for one value in all of a question, so each operation of the
 * language is a function of numbers; what it gives is left open, but for:
 *
 *	field(with(r, f, v), f) = v,  field(with(r, f, v), g) = field(r, g)
 *	item((v0, .., vn), i) = vi: tuples of different items differ
 *
 * which hold of the values themselves, so that every run is a model.
 */
#ifndef ISO_PROVE_FUNCTIONS_H
#define ISO_PROVE_FUNCTIONS_H

#include "prove/instances.h"

/* Is it a record with this field, by its number? */
Z3_ast function_has(const struct instances *x, struct term record,
                    uint32_t field);
/* Constants that are no records do not have the field. */
void function_know_field(struct instances *x, uint32_t field);
struct term function_field(struct instances *x, struct term record,
                           uint32_t field);
/* The record, with this value in the field, which it need not have. */
struct term function_with(struct instances *x, struct term record,
                          uint32_t field, struct term value);
/* A tuple of so many items: those in front, which are NULL for one, and the
 * last. */
struct term function_tuple(struct instances *x, const struct term *front,
                           struct term last, uint32_t length);
/* Function number f of two values. */
struct term function_value(struct instances *x, uint32_t f, struct term a,
                           struct term b);
Z3_ast function_truth(struct instances *x, uint32_t f, struct term a,
                      struct term b);

#endif
