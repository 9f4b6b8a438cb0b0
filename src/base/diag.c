#include "base/diag.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

void diags_free(struct diags *d)
{
	for (size_t i = 0; i < d->count; i++) {
		free(d->items[i].file);
		free(d->items[i].message);
		free(d->items[i].source_line);
	}
	free(d->items);
	for (size_t i = 0; i < d->file_count; i++) free(d->files[i]);
	free(d->files);
	memset(d, 0, sizeof *d);
}

void diags_add(struct diags *d, enum diag_kind kind, const char *file,
               uint32_t line, uint32_t column, const char *source_line,
               const char *format, ...)
{
	struct text message = { 0 };
	va_list args;
	assert(kind <= DIAG_NOTE && d->errors <= d->count);
	va_start(args, format);
	text_vformat(&message, format, args);
	va_end(args);
	VEC_RESERVE(d->items, d->count, d->capacity);
	d->items[d->count++] = (struct diag){
		.kind = kind,
		.file = file ? mem_copy_string(file) : NULL,
		.line = line,
		.column = column,
		.message = mem_copy_string(text_get(&message)),
		.source_line =
			source_line ? mem_copy_string(source_line) : NULL,
	};
	d->errors += kind == DIAG_ERROR;
	text_free(&message);
}

void diags_file(struct diags *d, const char *path)
{
	assert(path);
	VEC_RESERVE(d->files, d->file_count, d->file_capacity);
	d->files[d->file_count++] = mem_copy_string(path);
}

enum { NEAREST_LONGEST = 64 };

/* Optimal string alignment distance (swaps of neighbours count one). */
static unsigned distance(const char *a, const char *b)
{
	size_t m = strlen(a), n = strlen(b);
	unsigned row[3][NEAREST_LONGEST + 1];
	assert(m <= NEAREST_LONGEST && n <= NEAREST_LONGEST);
	for (size_t j = 0; j <= n; j++) row[1][j] = (unsigned)j;
	for (size_t i = 1; i <= m; i++) {
		unsigned *now = row[(i + 1) % 3], *last = row[i % 3];
		unsigned *before = row[(i + 2) % 3];
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);
			if (last[j] + 1 < best) best = last[j] + 1;
			if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
	}
	return row[(m + 1) % 3][n];
}

const char *diag_nearest(const char *word, const char *const *names,
                         size_t count)
{
	size_t length = strlen(word);
	if (length > NEAREST_LONGEST) return NULL;
	unsigned limit = length <= 2 ? 1 : length <= 5 ? 2 : 3;
	const char *nearest = NULL;
	for (size_t i = 0; i < count; i++) {
		if (strlen(names[i]) > NEAREST_LONGEST) continue;
		unsigned d = distance(word, names[i]);
		if (d <= limit && d < length) {
			limit = d ? d - 1 : 0;
			nearest = names[i];
			if (!d) break;
		}
	}
	return nearest;
}
