/* Making a trace: parsers add sessions, transactions and operations in the
 * order of their file; finishing sorts them, numbers them, finds who read from
 * whom and what is wrong before any level is considered.
 */
#ifndef ISO_HISTORY_TRACE_BUILD_H
#define ISO_HISTORY_TRACE_BUILD_H

#include "base/diag.h"
#include "history/trace.h"

struct trace_builder;

/* How a format means what it does not say. */
struct trace_rules {
	/* The value that a key has before anything is written, and whether
	 * transactions stand for init, and are left out, that commit, read
	 * nothing, write to each key its initial value, and have none but such
	 * before them in their session (text formats: value 0). A read of such
	 * a value that another transaction wrote too is then an error, unless
	 * the format gives it no meaning but by these transactions
	 * (initial_written): then it is from that other one. A session of
	 * nothing but such transactions is left out as well. */
	struct trace_value initial;
	bool initial_transaction, initial_written;
	bool aborted_reads; /* reads of aborted transactions count (isoscope);
	                     * else they are dropped */
	bool unknown_is_initial; /* a value that nobody wrote is the initial
	                          * one, or has a writer that the log lacks
	                          * (trace_unseen.c) */
	bool sources; /* the format names the sources of reads (isoscope,
	               * Cobra): values written twice are an error only where a
	               * read without a source has such a value. Also true once
	               * a source was given */
	bool lists;
};

/* `file` is copied. */
struct trace_builder *trace_builder_new(const char *file,
                                        const struct trace_rules *rules);
/* The history begins in this line of a file of several: sets trace.line, which
 * errors about the whole history name. */
void trace_builder_line(struct trace_builder *b, uint32_t line);
void trace_builder_free(struct trace_builder *b); /* NULL is fine */

/* Sessions. Their order in the trace is the order of their adding. Looking one
 * up that is not there adds it. */
uint32_t trace_session_number(struct trace_builder *b, int64_t number);
uint32_t trace_session_named(struct trace_builder *b, const char *name,
                             size_t length);
uint32_t trace_session_new(struct trace_builder *b, const char *name,
                           size_t length, bool after_all); /* never looked up*/

/* Appends a transaction to a session; returns a handle (not its number). */
uint32_t trace_transaction_new(struct trace_builder *b, uint32_t session,
                               enum trace_status status, uint32_t line);
void trace_transaction_name(struct trace_builder *b, uint32_t transaction,
                            const char *name, size_t length);
/* The level that it has of its own. */
void trace_transaction_level(struct trace_builder *b, uint32_t transaction,
                             own_level own);
void trace_transaction_number(struct trace_builder *b, uint32_t transaction,
                              int64_t number);

/* Keys and values. Integers that do not fit 64 bits signed are texts. */
uint32_t trace_key_number(struct trace_builder *b, int64_t number);
uint32_t trace_key_named(struct trace_builder *b, const char *name,
                         size_t length);
void trace_key_initial(struct trace_builder *b, uint32_t key,
                       struct trace_value value);
struct trace_value trace_value_number(int64_t number);
struct trace_value trace_value_null(void);
/* The canonical JSON text of a value; equal texts are one value. A text that
 * is a decimal integer of 64 bits gives the number. */
struct trace_value trace_value_text(struct trace_builder *b, const char *json,
                                    size_t length);

/* Appends an operation to a transaction; operations of several transactions
 * may be interleaved. Returns its handle. */
uint32_t trace_op_add(struct trace_builder *b, uint32_t transaction,
                      enum event_kind kind, uint32_t key,
                      struct trace_value value, uint32_t line);
/* The last added operation is a read from init, from its own transaction, or
 * from another one (a handle): sources that the file gives are not looked up by
 * value, but checked against it. */
enum trace_source { TRACE_FROM_INIT, TRACE_FROM_SELF, TRACE_FROM_OTHER };
void trace_op_source(struct trace_builder *b, enum trace_source kind,
                     uint32_t transaction);
/* The last added operation locks so; and it belongs to the statement of the one
 * before it in its transaction. */
void trace_op_access(struct trace_builder *b, enum strength strength,
                     bool joined);
/* Adds TRACE_LIST to the flags of the last added operation. */
void trace_op_list(struct trace_builder *b);

/* Lists: the elements of the key in their order, as the longest list that was
 * read has them. At most once for each key, before finishing. */
void trace_key_versions(struct trace_builder *b, uint32_t key,
                        const struct trace_value *values, uint32_t count);
/* An anomaly that the parser itself found, with handles of operations and
 * transactions; `other_op` may be TRACE_NONE. */
void trace_anomaly_add(struct trace_builder *b, enum trace_anomaly_kind kind,
                       uint32_t op, uint32_t other_op);

/* Takes the builder apart (it is freed) and returns the trace. NULL, with
 * errors added, if a value was written twice to a key (naming both writers and
 * their lines), if a source given by the file did not write the key, or if the
 * history has no session. Reads of a transaction after its own write of the
 * key are TRACE_SELF, or an anomaly. Linear in the operations, but for the
 * expected cost of one hash table. */
struct trace *trace_builder_finish(struct trace_builder *b, struct diags *d);

#endif
