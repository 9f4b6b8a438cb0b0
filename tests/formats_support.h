/* Histories in all formats, from and to texts in memory. */
#ifndef TESTS_FORMATS_SUPPORT_H
#define TESTS_FORMATS_SUPPORT_H

#include "base/diag.h"
#include "base/rng.h"
#include "base/text.h"
#include "formats/parsers.h"

/* From an exact copy on the heap: what looks behind the zero byte is
 * noticed. */
struct trace *parse_bytes(enum format f, const char *bytes, size_t length,
                          struct diags *d);
/* Stop the test if there is an error. */
struct trace *parse_good(enum format f, const char *bytes);
struct trace *parse_good_bytes(enum format f, const char *bytes, size_t length);
struct text print_good(enum format f, const struct trace *t,
                       const uint32_t *order);
enum format detect_bytes(const char *bytes, size_t length);
/* Changes one to three bytes of a text in JSON or EDN. */
void damage_json(char *bytes, size_t length, struct rng *r);
/* Numbers separated by blanks: `12` has 8 bytes, `b1` one, `"ab"` a length
 * and bytes, `.ab` just bytes. */
struct text bytes_of(const char *notation, bool low_first);

/* trace_shape.h; the caller frees it. */
char *shape_of(const struct trace *t, unsigned without);
/* Is it what the format cannot express? */
bool format_may_refuse(enum format f, const struct trace *t);
/* Of these two, one of which was written as the text, what the format keeps. */
void check_same_shape(enum format f, const struct trace *a,
                      const struct trace *b, const char *text);

/* The words of the anomalies, in their order, with blanks between them. */
void check_anomalies(const struct trace *t, const char *expected);

/* Whatever it is, it is a history or an error, and a history can be written
 * where no error says that it cannot. */
void check_survives(enum format f, const char *bytes, size_t length);

#endif
