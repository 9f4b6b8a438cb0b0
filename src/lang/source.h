/* The texts of a program, places in them, and errors at those places. */
#ifndef ISO_LANG_SOURCE_H
#define ISO_LANG_SOURCE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/region.h"
#include "vm/program.h"

/* One file. */
struct source {
	const char *path;
	const char *text; /* followed by a zero byte */
	uint32_t length;
	uint32_t *lines; /* offset of the first byte of each line */
	uint32_t line_count;
	/* The place asked for last: places are asked for nearly in order, and
	 * a line may be very long. */
	struct {
		uint32_t line, offset, column;
		const char *text;
	} last;
};

/* What a file would hold. */
struct load_text {
	const char *path; /* as diagnostics have it */
	const char *text;
	size_t length;
};

/* All files of a program, in order of loading: the first is the program. */
struct sources {
	struct source *items;
	size_t count, capacity;
	struct region *region; /* owns paths and texts */
	struct diags *diags;
	size_t errors; /* reported here */
};

/* A place is a byte of a source. */
struct place {
	uint32_t source, offset;
};

void sources_init(struct sources *s, struct region *r, struct diags *d);
void sources_free(struct sources *s);
/* Adds a text (copied) under a path. Returns its number. */
uint32_t sources_add(struct sources *s, const char *path, const char *text,
                     uint32_t length);
/* Line and column, in characters, and the line's text (in the region). */
struct position source_position(struct sources *s, struct place at);
/* True when so many errors were reported that further ones are noise. */
bool sources_full(const struct sources *s);
void source_error(struct sources *s, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void source_verror(struct sources *s, struct place at, const char *format,
                   va_list args);
void source_note(struct sources *s, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void source_warning(struct sources *s, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Is the text free of zero bytes and valid UTF-8? Reports if not. */
bool source_check_text(struct sources *s, uint32_t source);

#endif
