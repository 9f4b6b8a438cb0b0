/* A growable string. `data` is always terminated by a zero byte once anything
 * was written; an untouched text has data == NULL and length 0. */
#ifndef ISO_BASE_TEXT_H
#define ISO_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data;
	size_t length, capacity;
};

void text_free(struct text *t);
void text_clear(struct text *t);
void text_char(struct text *t, char c);
void text_string(struct text *t, const char *s);
void text_bytes(struct text *t, const char *s, size_t length);
void text_int(struct text *t, int64_t i);
void text_pad(struct text *t, char c, size_t count);
void text_format(struct text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void text_vformat(struct text *t, const char *format, va_list args);
/* A word as a shell reads it: in quotes where it needs them. */
void text_shell_word(struct text *t, const char *word);
/* A JSON string literal: quotes, escapes; bytes above 127 pass unchanged. */
void text_json_string(struct text *t, const char *s, size_t length);
/* The contents ("" when empty), still owned by the text. */
const char *text_get(const struct text *t);

#endif
