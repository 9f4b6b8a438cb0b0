/* What the names of anomalies mean. */
#ifndef ISO_REPORT_ANOMALY_WORDS_H
#define ISO_REPORT_ANOMALY_WORDS_H

/* A sentence about what is called so by axioms/anomaly.c, by history/trace.h
 * or by an audit; of another name, one that fits all. Static. */
const char *anomaly_meaning(const char *name);

#endif
