/* Source lines of code addresses, from the debugging information of shared
 * objects (libdw).
 */
#ifndef ISO_NATIVE_HOST_SOURCE_LINES_H
#define ISO_NATIVE_HOST_SOURCE_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct source_lines;

struct source_place {
	const char *function;    /* NULL if unknown; as in the source */
	const char *file;        /* NULL without debugging information; relative
	                          * to the current folder where it lies below */
	uint32_t line, column;   /* from 1; 0 if unknown */
	const char *source_line; /* the text, no line end, or NULL */
};

struct source_lines *source_lines_new(void);
void source_lines_free(struct source_lines *s); /* NULL is fine */
/* The place of an address in an object's file. False if nothing is known. What
 * is returned belongs to `s`. Objects are opened once; answers are not kept. */
bool source_lines_find(struct source_lines *s, const char *object,
                       uint64_t address, struct source_place *out);

#endif
