/* Source files as reports show them: their names, and their lines. */
#ifndef ISO_NATIVE_HOST_SOURCE_TEXT_H
#define ISO_NATIVE_HOST_SOURCE_TEXT_H

#include <stdint.h>

struct source_text;
struct source_file;

struct source_text *source_text_new(void);
void source_text_free(struct source_text *t);

/* The file of a path as debugging information has it; read at most once. */
struct source_file *source_text_file(struct source_text *t, const char *path);
/* Relative to the current folder where it lies below. */
const char *source_file_name(const struct source_file *f);
/* From 1. NULL if the file cannot be read, has no such line, or the line is no
 * text. */
const char *source_file_line(struct source_text *t, struct source_file *f,
                             uint32_t line);

#endif
