/* Pieces of the isoscope format. */
#ifndef ISO_FORMATS_ISOSCOPE_JSON_H
#define ISO_FORMATS_ISOSCOPE_JSON_H

#include <stddef.h>

#include "base/region.h"
#include "base/text.h"

/* The canonical text of a compound value, {"tuple":[..]}, {"list":[..]},
 * {"set":[..]} or {"record":{..}}: as value_print_json prints it, with sets
 * sorted and without repetitions, records by name. `region` is for scratch.
 * NULL, or what is wrong (a text in the region), and *offset tells where. */
const char *isoscope_value(struct text *out, struct region *region,
                           const char *at, size_t length, size_t *offset);

#endif
