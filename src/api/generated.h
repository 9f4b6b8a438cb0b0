/* Histories made by a simulated store, for a format.
 */
#ifndef ISO_API_GENERATED_H
#define ISO_API_GENERATED_H

#include "api/problem.h"
#include "formats/formats.h"
#include "generate/workload.h"

/* A history that can be written in the format, and a commit order of it: all
 * transactions, init first, malloc'ed. The caller frees both. NULL, with a
 * problem, for settings that are out of range, or a planted anomaly that the
 * format cannot show. */
struct trace *generate_history(const struct workload *w, enum format to,
                               uint32_t **order, struct problem *p);

#endif
