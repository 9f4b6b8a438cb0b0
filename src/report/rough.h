/* Numbers that are only known roughly, as people say them. */
#ifndef ISO_REPORT_ROUGH_H
#define ISO_REPORT_ROUGH_H

#include "base/text.h"

/* Three digits: 412, 12,300, 1.31 million, 5.2 billion, 1.7e+15 */
void rough_count(struct text *t, double n);
/* Both ends, with the unit once: "1.1 to 1.6 million" */
void rough_range(struct text *t, double low, double high);
/* "less than 0.1 s", 2.3 s, 4 min, 2.5 hours, 12 days, 3 years */
void rough_seconds(struct text *t, double seconds);

#endif
