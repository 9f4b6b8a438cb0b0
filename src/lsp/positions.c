#include "lsp/positions.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/utf8.h"

/* Bytes of the character; what is none counts as one, as U+FFFD does. */
static size_t character(const char *text, size_t length, size_t at)
{
	size_t n = utf8_length(text + at, length - at);
	return n ? n : 1;
}

/* Beyond the plane of 16 bits a character takes two units. */
static size_t units_of(size_t bytes)
{
	return bytes == 4 ? 2 : 1;
}

/* Lines end with \n, \r\n or \r. */
static bool ends_line(const char *text, size_t at)
{
	return text[at] == '\n' || text[at] == '\r';
}

static size_t line_start(const char *text, size_t length, size_t line)
{
	size_t at = 0;
	while (line && at < length) {
		if (!ends_line(text, at++)) continue;
		if (text[at - 1] == '\r' && at < length && text[at] == '\n')
			at++;
		line--;
	}
	assert(at <= length);
	return line ? length : at;
}

size_t position_to_byte(const char *text, size_t length, size_t line,
                        size_t units)
{
	size_t at = line_start(text, length, line);
	while (units && at < length && !ends_line(text, at)) {
		size_t n = character(text, length, at);
		if (units < units_of(n)) break; /* in the middle of a pair */
		units -= units_of(n);
		at += n;
	}
	return at;
}

json_t *position_of_byte(const char *text, size_t length, size_t byte)
{
	size_t line = 0, units = 0;
	if (byte > length) byte = length;
	for (size_t at = 0; at < byte;) {
		size_t n = character(text, length, at);
		if (ends_line(text, at)) {
			if (text[at] == '\r' && at + 1 < byte &&
			    text[at + 1] == '\n')
				at++;
			line++;
			units = 0;
			at++;
		} else {
			units += units_of(n);
			at += n;
		}
	}
	return json_pack("{sIsI}", "line", (json_int_t)line, "character",
	                 (json_int_t)units);
}

/* isoscope's lines end with \n only. */
size_t position_of_place(const char *text, size_t length, size_t line,
                         size_t column)
{
	size_t at = 0;
	while (line > 1 && at < length) line -= text[at++] == '\n';
	while (column > 1 && at < length && text[at] != '\n') {
		at += character(text, length, at);
		column--;
	}
	assert(at <= length);
	return at;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

size_t position_word_end(const char *text, size_t length, size_t byte)
{
	size_t at = byte;
	while (at < length && is_word(text[at])) at++;
	if (at == byte && at < length && !ends_line(text, at))
		at += character(text, length, at);
	return at;
}
