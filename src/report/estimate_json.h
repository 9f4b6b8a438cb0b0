/* The same as estimate_text.h, as JSON. */
#ifndef ISO_REPORT_ESTIMATE_JSON_H
#define ISO_REPORT_ESTIMATE_JSON_H

#include "report/estimate_text.h"

/* As report_json, with two more members: "estimate":{"histories":1310000, ...},
 * or null when nothing is known, and "outlook":{"seconds":2.4, ...}. */
void report_outlook_json(struct text *t, const struct explorer *e,
                         const char *version, const struct outlook *o);
/* The same with "sample":{"descents":1000, ...}. */
void report_share_json(struct text *t, const struct explorer *e,
                       const char *version, const struct sample_share *s);

#endif
