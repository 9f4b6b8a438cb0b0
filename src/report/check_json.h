/* What was found out about a recorded history, as a JSON object. */
#ifndef ISO_REPORT_CHECK_JSON_H
#define ISO_REPORT_CHECK_JSON_H

#include "report/check_case.h"

/* One line, with a line end. `version` is the program's; `orders`: also the
 * commit orders of the strongest levels that hold. */
void report_check_json(struct text *t, const struct check_case *c, bool orders,
                       const char *version);

#endif
