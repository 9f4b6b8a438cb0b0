/* Recorded histories as files: written, read back, and checked. */
#ifndef TESTS_RECORDED_SUPPORT_H
#define TESTS_RECORDED_SUPPORT_H

#include "axioms/level.h"
#include "file_support.h"
#include "formats/formats.h"
#include "support.h"

/* Through a file in this format, whose content has to tell the format. NULL if
 * the format cannot express the history: then *refused are the messages, which
 * the caller frees. */
struct trace *through_file(const struct folder *folder, enum format f,
                           const struct trace *t, const uint32_t *order,
                           char **refused);
/* The only history of a file; stops the test if there is an error. */
struct trace *read_only_history(const char *path, enum format expected);

/* Bit l: check_levels says that level l holds. All have to be decided. */
unsigned levels_of_trace(const struct trace *t);
/* "AAA-----" as bits. */
unsigned levels_from_row(const char *row);
/* And back, into `row`, which is returned. */
const char *levels_to_row(unsigned levels, char row[LEVEL_COUNT + 1]);
/* The transactions in a commit order for the last level of the table that
 * holds; NULL if none does. The caller frees it. */
uint32_t *order_of_trace(const struct trace *t);

/* NULL if the format can express this history, apart from the order that lists
 * need; else the words of the refusal. */
const char *expected_refusal(const struct history *h, enum format f);

#endif
