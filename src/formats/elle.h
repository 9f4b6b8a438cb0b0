/* Histories of Jepsen and Elle: what both syntaxes and both workloads share.
 *
 * A file is a sequence of maps, or of collections of maps. Each map is an
 * event of a process: it invoked a transaction, or one completed. Completions
 * count: `ok` committed, `fail` did not happen (its writes are those of an
 * aborted transaction, its reads are dropped), `info` may have happened (the
 * same, but whoever reads from it shows that it did). An invocation that never
 * completes is as `info`. If a `fail` or `info` has no value, the invocation's
 * is taken; an `ok` must have one.
 *
 * A process is a session. Where a map has no process, it is a session of its
 * own, and invocations are passed over. Processes that are no integers
 * (nemesis) are passed over, and so is what is no transaction by its `f`, as
 * long as its value is no collection. Real time is not heeded.
 *
 * Keys and values are integers, strings, keywords or booleans; a keyword is
 * the same as the string with its name. nil, or the empty list, is the initial
 * value, and is not written.
 *
 * Lists: a read is of the version of its last element. The order of a key's
 * versions is the longest list of it that a committed transaction read, of
 * which all others must be prefixes. Behind own appends a read ends with these,
 * in their order.
 */
#ifndef ISO_FORMATS_ELLE_H
#define ISO_FORMATS_ELLE_H

#include "formats/forms.h"
#include "history/trace_build.h"

struct trace *elle_parse(struct input *in, const struct reader_options *o,
                         struct diags *d, enum form_syntax syntax, bool lists);

/* ---- Lists, read and appended in the order of the file (elle_lists.c) ---- */

struct elle_lists;

struct elle_lists *elle_lists_new(struct trace_builder *b);
void elle_lists_free(struct elle_lists *l); /* NULL is fine */
/* The next operations are of another transaction. */
void elle_lists_begin(struct elle_lists *l, uint32_t transaction);
/* The operation, with this handle, appended the value. */
void elle_lists_append(struct elle_lists *l, uint32_t key,
                       struct trace_value value, uint32_t op);
/* A committed transaction's operation read this list: anomalies that its last
 * element does not show are added. Linear in the count. */
void elle_lists_read(struct elle_lists *l, uint32_t key,
                     const struct trace_value *values, uint32_t count,
                     uint32_t op);
/* Tells the builder the versions of all keys. */
void elle_lists_finish(struct elle_lists *l);

#endif
