/* What random runs showed, as one JSON object. */
#ifndef ISO_REPORT_RUN_JSON_H
#define ISO_REPORT_RUN_JSON_H

#include "base/text.h"
#include "report/run_case.h"

/* `version` is the program's. One line, with a line end. */
void report_run_json(struct text *t, const struct run_case *c,
                     const char *version);

#endif
