/* The small part of a recorded history that violates a level, in JSON. */
#ifndef ISO_REPORT_WITNESS_JSON_H
#define ISO_REPORT_WITNESS_JSON_H

#include "base/text.h"
#include "check/minimal_violation.h"

/* The members "transactions" and "cycle" of an object, a comma between. */
void json_witness(struct text *t, const struct trace *r,
                  const struct check_witness *w);

#endif
