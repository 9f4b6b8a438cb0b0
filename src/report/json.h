/* The result of an exploration as one JSON object. */
#ifndef ISO_REPORT_JSON_H
#define ISO_REPORT_JSON_H

#include "base/text.h"

struct estimate;
struct explorer;

/* `version` is the program's. One line, with a line end. */
void report_json(struct text *t, const struct explorer *e, const char *version);
/* The same, with an estimate of how many histories there are. */
void report_partial_json(struct text *t, const struct explorer *e,
                         const char *version, const struct estimate *all);

/* What is printed in place of a result if there is none (program_fault()). */
void report_fault_json(struct text *t, const char *program, const char *fault,
                       const char *version);

/* Pieces for other writers of JSON. */
void json_name(struct text *t, const char *name);  /* "name": */
void json_text(struct text *t, const char *value); /* a string, or null */
void json_count(struct text *t, const char *name, uint64_t n); /* "name":n */

#endif
