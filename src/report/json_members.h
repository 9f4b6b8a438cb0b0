/* Members of JSON objects, each with the comma before it. */
#ifndef ISO_REPORT_JSON_MEMBERS_H
#define ISO_REPORT_JSON_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "vm/program.h"

/* ,"name":"value"; null for NULL */
void json_member_text(struct text *t, const char *name, const char *value);
void json_member_count(struct text *t, const char *name, uint64_t n);
/* Whole numbers are exact up to 2^53; null for NAN, which nobody knows. */
void json_member_number(struct text *t, const char *name, double n);
/* ,"name":true */
void json_member_bool(struct text *t, const char *name, bool value);
/* ,"line":3, or null when unknown */
void json_member_line(struct text *t, uint32_t line);
/* ,"file":"a.tx","line":3,"column":1 */
void json_member_position(struct text *t, struct position at);
/* Sets the member from a text, and empties that. */
void json_member_taken(struct text *t, const char *name, struct text *value);

#endif
