/* Is every execution of a log's transactions serializable, for any number of
 * them, with any values but those that were always the same? Then none of the
 * cycles that were found happens: they are of columns, and a proof reads the
 * statements. */
#ifndef ISO_AUDIT_ALL_CLASSES_H
#define ISO_AUDIT_ALL_CLASSES_H

#include "audit/audit.h"

/* Of an audit with options.proves that found anomalies: proves it of the
 * functions of lift(), within what is left of the limit. If it is so, the
 * anomalies are cleared, a->edges_proof counts their edges, and
 * a->proof.assumed says what of values was taken for granted; else
 * a->proof.why says what stands against it. */
void prove_all_classes(struct audit *a);

#endif
