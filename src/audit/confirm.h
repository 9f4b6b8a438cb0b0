/* Does a cycle happen? Its transactions, with the values that they had in the
 * log, are explored: on rows that satisfy their conditions, and with the same
 * values where the cycle says that rows are the same. */
#ifndef ISO_AUDIT_CONFIRM_H
#define ISO_AUDIT_CONFIRM_H

#include "audit/audit.h"

/* Fills in each anomaly's `confirmed`, and counts them. Of an audit with
 * options.lifts. */
void confirm_anomalies(struct audit *a);
void confirmed_free(struct confirmed *x);

#endif
