/* Diagnostics: what is wrong with an input, and where. Collected by the
 * library, printed by src/report only. */
#ifndef ISO_BASE_DIAG_H
#define ISO_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum diag_kind { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag {
	enum diag_kind kind;
	char *file;        /* owned; NULL when no file is concerned */
	uint32_t line;     /* from 1; 0 when unknown */
	uint32_t column;   /* from 1, in characters; 0 when unknown */
	char *message;     /* owned */
	char *source_line; /* owned; NULL when unknown; no line end */
};

struct diags {
	struct diag *items;
	size_t count, capacity;
	size_t errors; /* how many are errors */
	/* One is not the input's: something failed that it does not ask for. */
	bool of_system;
	/* The files that the input consists of, those included that could not
	 * be read; owned. */
	char **files;
	size_t file_count, file_capacity;
};

void diags_free(struct diags *d);
/* Adds one; `file` and `source_line` may be NULL and are copied. */
void diags_add(struct diags *d, enum diag_kind kind, const char *file,
               uint32_t line, uint32_t column, const char *source_line,
               const char *format, ...) __attribute__((format(printf, 7, 8)));
/* Notes that the file is a part of the input; copied. */
void diags_file(struct diags *d, const char *path);
/* The name among `names` nearest to `word` by edit distance, or NULL when
 * none is near enough to be what was meant. */
const char *diag_nearest(const char *word, const char *const *names,
                         size_t count);

#endif
