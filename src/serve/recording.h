/* The history of what served clients did, as far as it counts: transactions,
 * what each read, and from whom. */
#ifndef ISO_SERVE_RECORDING_H
#define ISO_SERVE_RECORDING_H

#include "base/access.h"
#include "base/diag.h"
#include "base/level_words.h"
#include "history/trace.h"
#include "vm/value.h"

struct recording;

struct recording *recording_new(void);
void recording_free(struct recording *r); /* NULL is fine */
/* A value of it, or, null, that there is no row: made once, it can be read and
 * written any number of times. */
struct trace_value recording_value(struct recording *r, struct value v);
/* Keys have numbers from 0, each one more than the last. */
void recording_add_key(struct recording *r, const char *name,
                       struct trace_value initial);
/* Sessions have numbers from 0, each one more than the last. */
void recording_add_session(struct recording *r, const char *name);
/* The transaction of the session that is open, at a level of its own unless
 * that is 0. */
void recording_begin(struct recording *r, uint32_t session, own_level own);
/* From the writer at this position in the order of commits, 0 being init. */
void recording_read(struct recording *r, uint32_t session, struct db_access a,
                    uint32_t from, struct trace_value value);
/* Its newest lock of the key that a read has taken ends. */
void recording_give_up(struct recording *r, uint32_t session, uint32_t key);
/* Its newest read of the key that locks has found nothing to lock: it is left
 * out, since its moment is not that of its statement. */
void recording_unlock(struct recording *r, uint32_t session, uint32_t key);
void recording_write(struct recording *r, uint32_t session, struct db_access a,
                     struct trace_value value);
/* Those that commit end in the order of commits. */
void recording_end(struct recording *r, uint32_t session, bool aborted);
/* What there is; NULL, with errors added, if nothing was recorded. The
 * recording can only be freed then. */
struct trace *recording_finish(struct recording *r, struct diags *d);

#endif
