/* The result of auditing logs. */
#ifndef ISO_RESULT_AUDITED_H
#define ISO_RESULT_AUDITED_H

#include "audit/audit.h"
#include "result/result.h"

/* After audit_run. `explain` is the number of an anomaly, from 1, that is
 * told in full in place of all; 0: none. */
struct result *result_of_audit(const struct audit *a, uint32_t explain);

/* The verdict: violated if there are anomalies. */
enum verdict audit_verdict(const struct audit *a);

#endif
