/* Values of programs in our own format of histories. */
#ifndef ISO_FORMATS_JSON_VALUES_H
#define ISO_FORMATS_JSON_VALUES_H

#include <stddef.h>

#include "base/region.h"
#include "base/text.h"

/* The canonical text of a compound value, {"tuple":[..]}, {"list":[..]},
 * {"set":[..]} or {"record":{..}}: as value_print_json prints it, with sets
 * sorted and without repetitions, records by name. `region` is for scratch.
 * NULL, or what is wrong (a text in the region), and *offset tells where. */
const char *json_canonical_value(struct text *out, struct region *region,
                                 const char *at, size_t length, size_t *offset);

#endif
