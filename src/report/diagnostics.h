/* Diagnostics, printed: file:line:column: error: message, line, caret. */
#ifndef ISO_REPORT_DIAGNOSTICS_H
#define ISO_REPORT_DIAGNOSTICS_H

#include "base/diag.h"
#include "base/text.h"
#include "report/style.h"

void report_diagnostics(struct text *t, const struct style *s,
                        const struct diags *d);

#endif
