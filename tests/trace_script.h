/* Traces in a short notation: what a parser would add, and what comes out of
 * it.
 *
 * Operations in the order of a file, separated by spaces: SESSION NUMBER
 * [!|?] : OP. `A1:wx=5` session A, transaction 1 writes 5 to x; `B2?:rx=5` a
 * read; `rx=5<1` names the source, `<0` init, `<s` itself; `rx<1` leaves out
 * the value; values are integers, `nil`, or "text". `lx=5` is a read of a list,
 * `ax=5` an append. `!` aborted, `?` of unknown outcome. */
#ifndef TESTS_TRACE_SCRIPT_H
#define TESTS_TRACE_SCRIPT_H

#include "history/trace_builder.h"
#include "support.h"

/* By the seed of this run. */
struct rng trace_rng(uint64_t base);

/* Initial values are 0; those of lists are empty. */
struct trace_rules plain_rules(void);
struct trace_rules list_rules(void);

/* The caller finishes it. */
struct trace_builder *script_run(const char *text, struct trace_rules rules);
/* What is read so, which has no errors. */
struct trace *script_trace(const char *text, struct trace_rules rules);
void add_versions(struct trace_builder *b, const char *key,
                  const char *elements);

/* A [1 wx=5 ry=0<0] [2! ..] | B .. ; anomalies ; known order */
char *trace_dump(const struct trace *r);

/* What comes of it, as trace_dump() has it. The builder is freed. */
void expect_finished(struct trace_builder *b, const char *expected);
void expect_under(const char *script, struct trace_rules rules,
                  const char *expected);
/* Under plain_rules(). */
void expect_trace(const char *script, const char *expected);
/* The errors that it ends with, as text. */
void expect_error_of(struct trace_builder *b, const char *expected);
void expect_error(const char *script, struct trace_rules rules,
                  const char *expected);

#endif
