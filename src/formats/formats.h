/* Formats of recorded histories: our own, and those of other tools. */
#ifndef ISO_FORMATS_FORMATS_H
#define ISO_FORMATS_FORMATS_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"
#include "formats/format_table.h"
#include "history/trace.h"

struct json;

struct reader_options {
	enum format format;      /* FORMAT_COUNT: detect */
	bool unknown_is_initial; /* values that nobody wrote are initial */
	const char *option;      /* of the command, that chooses the format, as
	                          * "--format"; NULL: none does */
};

/* Reads histories one after the other; only isoscope files have several. */
struct history_reader;

/* Opens a file, a folder, or "-" for standard input. NULL, with an error
 * added, if there is no such file, or if its content is of no known format
 * (the error says what was looked for). */
struct history_reader *history_reader_open(const char *path,
                                           const struct reader_options *o,
                                           struct diags *d);
/* The next history, which the caller frees; NULL at the end, and after an
 * error, which is added with file, line and column. */
struct trace *history_reader_next(struct history_reader *r, struct diags *d);
enum format history_reader_format(const struct history_reader *r);
void history_reader_close(struct history_reader *r); /* NULL is fine */

/* Writes a trace in a format. False, with an error added, where the format
 * cannot express the history (the error says what and in which format it can
 * be written). `order`, if not NULL, lists all transactions, init first, in
 * a commit order: the list formats need one to write a history of registers.
 * A folder format is written by format_write_folder only. */
bool format_print(struct text *t, enum format f, const struct trace *r,
                  const uint32_t *order, struct diags *d);
/* Our own format, for writers of fuller lines: opens an object with the members
 * of the history, and leaves it to be gone on with and closed. False, with
 * nothing printed, as above. */
bool format_open_isoscope(struct json *j, const struct trace *r,
                          struct diags *d);
bool format_is_folder(enum format f);
/* Can this folder format express the history? If not, adds an error as
 * format_print does. */
bool format_can_be_folder(enum format f, const struct trace *r,
                          struct diags *d);
/* Makes the folder (an error if it exists and is not empty). */
bool format_write_folder(const char *path, enum format f, const struct trace *r,
                         struct diags *d);

#endif
