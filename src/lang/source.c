#include "lang/source.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "lang/limits.h"

enum { SOURCE_LINE_SHOWN = 400 }; /* bytes of a line kept for messages */

void sources_init(struct sources *s, struct region *r, struct diags *d)
{
	*s = (struct sources){ .region = r, .diags = d };
}

void sources_free(struct sources *s)
{
	for (size_t i = 0; i < s->count; i++) free(s->items[i].lines);
	free(s->items);
	memset(s, 0, sizeof *s);
}

static void find_lines(struct source *s)
{
	uint32_t capacity = 0;
	assert(!s->lines);
	VEC_RESERVE(s->lines, s->line_count, capacity);
	s->lines[s->line_count++] = 0;
	assert(s->line_count == 1);
	const char *p = s->text, *end = s->text + s->length;
	while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		p++;
		VEC_RESERVE(s->lines, s->line_count, capacity);
		s->lines[s->line_count++] = (uint32_t)(p - s->text);
	}
}

uint32_t sources_add(struct sources *s, const char *path, const char *text,
                     uint32_t length)
{
	VEC_RESERVE(s->items, s->count, s->capacity);
	struct source *new = &s->items[s->count];
	*new = (struct source){
		.path = region_copy_string(s->region, path, strlen(path)),
		.text = region_copy_string(s->region, text, length),
		.length = length,
	};
	find_lines(new);
	diags_file(s->diags, path);
	return (uint32_t)s->count++;
}

/* The number of the line, from 0, that holds this byte. */
static uint32_t line_of(const struct source *s, uint32_t offset)
{
	uint32_t low = 0, high = s->line_count;
	assert(s->line_count > 0 && offset <= s->length);
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (s->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	assert(s->lines[low] <= offset);
	return low;
}

static const char *line_text(const struct sources *all, const struct source *s,
                             uint32_t line)
{
	const char *start = s->text + s->lines[line];
	const char *end = line + 1 < s->line_count
	                          ? s->text + s->lines[line + 1] - 1
	                          : s->text + s->length;
	assert(line < s->line_count);
	if (end > start && end[-1] == '\r') end--;
	assert(end >= start);
	size_t length = (size_t)(end - start);
	if (length > SOURCE_LINE_SHOWN) {
		length = SOURCE_LINE_SHOWN;
		while (length && ((unsigned char)start[length] & 0xc0) == 0x80)
			length--;
	}
	return region_copy_string(all->region, start, length);
}

/* How many characters begin in the bytes from..to. */
static uint32_t characters(const struct source *s, uint32_t from, uint32_t to)
{
	uint32_t n = 0;
	assert(from <= to && to <= s->length);
	for (uint32_t i = from; i < to; i++)
		n += ((unsigned char)s->text[i] & 0xc0) != 0x80;
	return n;
}

struct position source_position(struct sources *all, struct place at)
{
	struct source *s = &all->items[at.source];
	uint32_t line = line_of(s, at.offset);
	assert(at.source < all->count);
	if (!s->last.text || s->last.line != line) {
		s->last.line = line;
		s->last.offset = s->lines[line];
		s->last.column = 1;
		s->last.text = line_text(all, s, line);
	}
	if (at.offset >= s->last.offset)
		s->last.column += characters(s, s->last.offset, at.offset);
	else
		s->last.column -= characters(s, at.offset, s->last.offset);
	assert(s->last.column > 0);
	s->last.offset = at.offset;
	return (struct position){
		.file = s->path,
		.line = line + 1,
		.column = s->last.column,
		.source_line = s->last.text,
	};
}

bool sources_full(const struct sources *s)
{
	return s->errors >= LIMIT_ERRORS;
}

static void report(struct sources *s, enum diag_kind kind, struct place at,
                   const char *format, va_list args)
{
	struct text message = { 0 };
	text_vformat(&message, format, args);
	struct position p = source_position(s, at);
	diags_add(s->diags, kind, p.file, p.line, p.column, p.source_line, "%s",
	          text_get(&message));
	text_free(&message);
}

void source_verror(struct sources *s, struct place at, const char *format,
                   va_list args)
{
	if (sources_full(s)) return;
	assert(s->errors < LIMIT_ERRORS);
	report(s, DIAG_ERROR, at, format, args);
	if (++s->errors == LIMIT_ERRORS)
		diags_add(s->diags, DIAG_NOTE, NULL, 0, 0, NULL,
		          "more errors are not shown");
}

void source_error(struct sources *s, struct place at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	source_verror(s, at, format, args);
	va_end(args);
}

void source_note(struct sources *s, struct place at, const char *format, ...)
{
	if (sources_full(s)) return;
	va_list args;
	va_start(args, format);
	report(s, DIAG_NOTE, at, format, args);
	va_end(args);
}

void source_warning(struct sources *s, struct place at, const char *format, ...)
{
	if (sources_full(s)) return;
	va_list args;
	va_start(args, format);
	report(s, DIAG_WARNING, at, format, args);
	va_end(args);
}

/* An error without the source line, which is not fit to be shown. */
static void binary_error(struct sources *all, struct place at,
                         const char *message)
{
	struct position p = source_position(all, at);
	diags_add(all->diags, DIAG_ERROR, p.file, p.line, p.column, NULL, "%s",
	          message);
	all->errors++;
}

bool source_check_text(struct sources *all, uint32_t source)
{
	const struct source *s = &all->items[source];
	const char *zero = memchr(s->text, 0, s->length);
	assert(source < all->count);
	if (zero) {
		binary_error(
			all,
			(struct place){ source, (uint32_t)(zero - s->text) },
			"this is not a text: it holds a zero byte");
		return false;
	}
	for (uint32_t i = 0; i < s->length;) {
		uint32_t n = (uint32_t)utf8_length(s->text + i, s->length - i);
		if (!n) {
			binary_error(all, (struct place){ source, i },
			             "this is not a text in UTF-8");
			return false;
		}
		i += n;
	}
	return true;
}
