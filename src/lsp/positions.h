/* Positions in a text as editors have them: a line, and UTF-16 code units in
 * it, both from 0. */
#ifndef ISO_LSP_POSITIONS_H
#define ISO_LSP_POSITIONS_H

#include <jansson.h>
#include <stddef.h>

/* The byte of the text at the position; past the end of a line or of the text
 * it is that end. Linear in the text. */
size_t position_to_byte(const char *text, size_t length, size_t line,
                        size_t units);
/* {"line":..,"character":..} of the byte; a new reference. */
json_t *position_of_byte(const char *text, size_t length, size_t byte);
/* The byte of a place as isoscope has it: line and column from 1, in
 * characters; column 0 is the first. */
size_t position_of_place(const char *text, size_t length, size_t line,
                         size_t column);
/* The end of the word, or of the run of other characters, that begins there. */
size_t position_word_end(const char *text, size_t length, size_t byte);

#endif
