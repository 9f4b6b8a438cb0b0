/* Dates, timestamps and intervals: held as the text that PostgreSQL writes in
 * ISO style with the time zone UTC, of the years 1 to 9999, so that the order
 * of dates and timestamps is that of their texts. */
#ifndef ISO_SQL_MOMENT_H
#define ISO_SQL_MOMENT_H

#include "sql/failure.h"
#include "sql/procs.h"
#include "vm/value.h"

/* The moment at which all happens: now() gives it. */
#define SQL_NOW "2024-01-01 00:00:00+00"

static inline bool sql_is_moment(enum sql_kind k)
{
	return k == SQL_DATE || k == SQL_TIMESTAMP || k == SQL_TIMESTAMPTZ;
}

bool sql_moment_of_text(struct region *r, struct value text, enum sql_kind to,
                        struct value *out, struct sql_failure *why);
/* From one of dates and timestamps to another. */
struct value sql_moment_convert(struct region *r, struct value v,
                                enum sql_kind from, enum sql_kind to);
/* Operators of + - *, and -interval (b is not used). */
bool sql_moment_compute(struct region *r, const struct sql_proc *p,
                        struct value a, struct value b, struct value *out,
                        struct sql_failure *why);
/* extract() and date_trunc() */
bool sql_moment_part(struct region *r, const struct sql_proc *p,
                     struct value unit, struct value v, struct value *out,
                     struct sql_failure *why);
int sql_interval_compare(struct value a, struct value b);
/* Equal intervals have one such text. */
struct value sql_interval_normal(struct region *r, struct value v);

#endif
