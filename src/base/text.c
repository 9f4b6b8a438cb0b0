#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void text_free(struct text *t)
{
	free(t->data);
	memset(t, 0, sizeof *t);
}

void text_clear(struct text *t)
{
	assert(!t->data || t->length < t->capacity);
	t->length = 0;
	if (t->data) t->data[0] = '\0';
}

static void reserve(struct text *t, size_t more)
{
	size_t need = t->length + more + 1;
	assert(!t->capacity == !t->data && t->length < t->capacity + !t->data);
	assert(more < SIZE_MAX / 2 - t->length);
	if (need <= t->capacity) return;
	size_t capacity = t->capacity ? t->capacity : 64;
	while (capacity < need) capacity *= 2;
	t->data = mem_grow(t->data, capacity, 1);
	t->capacity = capacity;
}

void text_bytes(struct text *t, const char *s, size_t length)
{
	assert(s || !length);
	reserve(t, length);
	if (length) memcpy(t->data + t->length, s, length);
	t->length += length;
	assert(t->length < t->capacity);
	t->data[t->length] = '\0';
}

void text_char(struct text *t, char c)
{
	text_bytes(t, &c, 1);
}

void text_string(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}

void text_int(struct text *t, int64_t i)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRId64, i);
	assert(n > 0 && (size_t)n < sizeof digits);
	text_bytes(t, digits, (size_t)n);
}

void text_pad(struct text *t, char c, size_t count)
{
	reserve(t, count);
	memset(t->data + t->length, c, count);
	t->length += count;
	t->data[t->length] = '\0';
}

void text_vformat(struct text *t, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	assert(n >= 0);
	if (n > 0) {
		reserve(t, (size_t)n);
		vsnprintf(t->data + t->length, (size_t)n + 1, format, again);
		t->length += (size_t)n;
	}
	va_end(again);
}

void text_format(struct text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	text_vformat(t, format, args);
	va_end(args);
}

static void json_escape(struct text *t, unsigned char c)
{
	switch (c) {
	case '"': text_string(t, "\\\""); break;
	case '\\': text_string(t, "\\\\"); break;
	case '\n': text_string(t, "\\n"); break;
	case '\t': text_string(t, "\\t"); break;
	case '\r': text_string(t, "\\r"); break;
	default: text_format(t, "\\u%04x", c);
	}
}

void text_json_string(struct text *t, const char *s, size_t length)
{
	assert(s || !length);
	text_char(t, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c < 32 || c == '"' || c == '\\' || c == 127)
			json_escape(t, c);
		else
			text_char(t, (char)c);
	}
	text_char(t, '"');
}

const char *text_get(const struct text *t)
{
	assert(!t->data || !t->data[t->length]);
	return t->data ? t->data : "";
}

void text_shell_word(struct text *t, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_-./:=,+@%";
	if (*word && !word[strspn(word, plain)]) {
		text_string(t, word);
		return;
	}
	text_char(t, '\'');
	for (; *word; word++)
		if (*word == '\'')
			text_string(t, "'\\''");
		else
			text_char(t, *word);
	text_char(t, '\'');
}
