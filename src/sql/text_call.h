/* Functions of texts. Characters are those of UTF-8, letters those of the
 * collation C. */
#ifndef ISO_SQL_TEXT_CALL_H
#define ISO_SQL_TEXT_CALL_H

#include "sql/failure.h"
#include "sql/procs.h"
#include "vm/value.h"

/* One of DO_SUBSTRING ... DO_QUOTE_IDENT; no argument is NULL. */
bool sql_text_call(struct region *r, const struct sql_proc *p,
                   const struct value *args, uint32_t count, struct value *out,
                   struct sql_failure *why);
/* concat(), concat_ws(), format() of values of these types. */
bool sql_text_join(struct region *r, const struct sql_proc *p,
                   const struct value *args, const struct sql_type *types,
                   uint32_t count, struct value *out, struct sql_failure *why);
size_t sql_characters(struct value text);
/* Letters of ASCII in capitals, or small. */
struct value sql_change_case(struct region *r, struct value v, bool upper);

#endif
