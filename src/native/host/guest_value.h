/* Values between user code and the machine. */
#ifndef ISO_NATIVE_HOST_GUEST_VALUE_H
#define ISO_NATIVE_HOST_GUEST_VALUE_H

#include "base/region.h"
#include "isoscope/client.h"
#include "vm/value.h"

/* A name or message of user code, in the region: what is no UTF-8 becomes the
 * replacement character, so that all that is written can be read again. */
const char *text_of_guest(struct region *r, const char *s);
/* The worker's answer as a value in `r`, and a value as an answer, which may
 * use `r`. Bytes that are not UTF-8 or hold a zero are {bytes: "hexadecimal"}.
 */
struct value value_of_wire(struct region *r, struct iso_value v);
struct iso_value wire_of_value(struct region *r, struct value v);

#endif
