/* Histories in JSON, EDN and the lines of IsoPredict, from and to texts in
 * memory. */
#ifndef TESTS_FORMATS_SUPPORT_H
#define TESTS_FORMATS_SUPPORT_H

#include "base/diag.h"
#include "base/text.h"
#include "formats/parsers.h"

/* From an exact copy on the heap: what looks behind the zero byte is
 * noticed. */
struct trace *parse_bytes(enum format f, const char *bytes, size_t length,
                          struct diags *d);
/* Stop the test if there is an error. */
struct trace *parse_good(enum format f, const char *bytes);
struct text print_good(enum format f, const struct trace *t,
                       const uint32_t *order);
/* The words of the anomalies, in their order, with blanks between them. */
void check_anomalies(const struct trace *t, const char *expected);

#endif
