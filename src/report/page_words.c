/* Words of results in HTML. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/page_parts.h"
#include "result/numbers.h"

/* Does the character only change how others are shown, or separate lines where
 * none is expected? */
static bool is_invisible(uint32_t c)
{
	return (c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) ||
	       c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	       c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || c == 0xfffe ||
	       c == 0xffff;
}

static uint32_t character(const char *words, size_t length)
{
	const unsigned char *w = (const unsigned char *)words;
	switch (length) {
	case 1: return w[0];
	case 2: return (w[0] & 0x1fu) << 6 | (w[1] & 0x3fu);
	case 3:
		return (w[0] & 0xfu) << 12 | (w[1] & 0x3fu) << 6 |
		       (w[2] & 0x3fu);
	default: return 0x10000;
	}
}

static void add_character(struct text *t, const char *at, size_t n)
{
	uint32_t c = character(at, n);
	if (is_invisible(c)) {
		text_format(t, "\\u%04" PRIx32, c);
		return;
	}
	switch (c) {
	case '<': text_string(t, "&lt;"); break;
	case '>': text_string(t, "&gt;"); break;
	case '&': text_string(t, "&amp;"); break;
	case '"': text_string(t, "&quot;"); break;
	case '\'': text_string(t, "&#39;"); break;
	default: text_bytes(t, at, n);
	}
}

void page_visible(struct text *t, const char *words)
{
	for (size_t left = strlen(words), n; left; words += n, left -= n) {
		n = utf8_length(words, left);
		uint32_t c = n ? character(words, n) : 0;
		if (is_invisible(c))
			text_format(t, "\\u%04" PRIx32, c);
		else
			text_bytes(t, words, n);
		if (!n) n = 1;
	}
}

void page_words(struct text *t, const char *words, size_t length, size_t most)
{
	size_t i = 0, n;
	assert(words || !length);
	for (; i < length && i < most; i += n) {
		n = utf8_length(words + i, length - i);
		if (n) {
			add_character(t, words + i, n);
			continue;
		}
		text_string(t, "\xef\xbf\xbd");
		n = 1;
	}
	if (i < length) text_format(t, "… (%zu more bytes)", length - i);
}

void page_plain(struct text *t, const json_t *string)
{
	if (!json_is_string(string)) return;
	page_words(t, json_string_value(string), json_string_length(string),
	           PAGE_WORDS_MOST);
}

void page_name(struct text *t, const json_t *string)
{
	if (!json_is_string(string)) return;
	text_string(t, "<bdi>");
	page_words(t, json_string_value(string), json_string_length(string),
	           PAGE_NAME_MOST);
	text_string(t, "</bdi>");
}

bool page_is(const json_t *of, const char *name, const char *word)
{
	const char *value = document_string(of, name);
	return value && !strcmp(value, word);
}

void page_label(struct text *t, const char *name)
{
	struct text words = { 0 };
	text_string(&words, name);
	for (size_t i = 0; i < words.length; i++)
		if (words.data[i] == '_') words.data[i] = ' ';
	page_words(t, text_get(&words), words.length, PAGE_NAME_MOST);
	text_free(&words);
}

void page_place(struct text *t, const json_t *of)
{
	const json_t *file = json_object_get(of, "file");
	const json_t *line = json_object_get(of, "line");
	const json_t *column = json_object_get(of, "column");
	if (!json_is_string(file)) return;
	page_name(t, file);
	if (json_integer_value(line) > 0)
		text_format(t, ":%" JSON_INTEGER_FORMAT,
		            json_integer_value(line));
	if (json_integer_value(column) > 0)
		text_format(t, ":%" JSON_INTEGER_FORMAT,
		            json_integer_value(column));
}

static void add_items(struct text *t, const json_t *list, const char *brackets)
{
	size_t i;
	const json_t *item;
	text_char(t, brackets[0]);
	json_array_foreach(list, i, item)
	{
		if (i) text_string(t, ", ");
		page_literal(t, item);
	}
	text_char(t, brackets[1]);
}

static void add_fields(struct text *t, const json_t *record)
{
	const char *name;
	json_t *field;
	bool first = true;
	text_char(t, '{');
	json_object_foreach((json_t *)record, name, field)
	{
		if (!first) text_string(t, ", ");
		first = false;
		page_words(t, name, strlen(name), PAGE_NAME_MOST);
		text_string(t, ": ");
		page_literal(t, field);
	}
	text_char(t, '}');
}

void page_literal(struct text *t, const json_t *value)
{
	static const char *const kinds[][2] = { { "set", "{}" },
		                                { "list", "[]" },
		                                { "tuple", "()" } };
	if (json_is_string(value)) {
		text_string(t, "&quot;");
		page_name(t, value);
		text_string(t, "&quot;");
	} else if (json_is_boolean(value)) {
		text_string(t, json_is_true(value) ? "true" : "false");
	} else if (json_is_null(value)) {
		text_string(t, "null");
	} else if (json_is_integer(value)) {
		text_format(t, "%" JSON_INTEGER_FORMAT,
		            json_integer_value(value));
	} else if (json_is_object(value)) {
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
			const json_t *list =
				json_object_get(value, kinds[i][0]);
			if (!json_is_array(list)) continue;
			add_items(t, list, kinds[i][1]);
			return;
		}
		add_fields(t, json_object_get(value, "record"));
	}
}

static void add_number(struct text *t, const json_t *number)
{
	json_int_t n = json_integer_value(number);
	if (json_is_real(number))
		text_format(t, "%.6g", json_real_value(number));
	else if (n < 0)
		text_format(t, "%" JSON_INTEGER_FORMAT, n);
	else
		number_count(t, (uint64_t)n);
}

void page_value(struct text *t, const json_t *value)
{
	size_t i;
	const json_t *item;
	if (!value) return;
	switch (json_typeof(value)) {
	case JSON_STRING: page_name(t, value); break;
	case JSON_INTEGER:
	case JSON_REAL: add_number(t, value); break;
	case JSON_TRUE: text_string(t, "yes"); break;
	case JSON_FALSE: text_string(t, "no"); break;
	case JSON_NULL: text_string(t, "–"); break;
	case JSON_ARRAY:
		json_array_foreach(value, i, item)
		{
			if (i) text_string(t, ", ");
			page_value(t, item);
		}
		if (!json_array_size(value)) text_string(t, "–");
		break;
	case JSON_OBJECT: {
		const char *name;
		bool first = true;
		json_object_foreach((json_t *)value, name, item)
		{
			if (!first) text_string(t, ", ");
			first = false;
			page_label(t, name);
			text_char(t, ' ');
			page_value(t, item);
		}
		break;
	}
	}
}

static const json_t *subject_of(const json_t *result)
{
	const json_t *logs = json_object_get(result, "logs");
	const json_t *subject = json_object_get(result, "program");
	if (!json_is_string(subject)) subject = json_object_get(result, "file");
	if (!json_is_string(subject))
		subject = json_object_get(json_array_get(logs, 0), "path");
	return subject;
}

bool page_has_subject(const json_t *result)
{
	return json_is_string(subject_of(result));
}

void page_title(struct text *t, const json_t *result)
{
	const json_t *subject = subject_of(result);
	if (json_is_string(subject))
		page_words(t, json_string_value(subject),
		           json_string_length(subject), PAGE_NAME_MOST);
	else
		text_string(t, "result");
}

void page_subject(struct text *t, const json_t *result)
{
	const json_t *line = json_object_get(result, "line");
	text_string(t, "<bdi>");
	page_title(t, result);
	text_string(t, "</bdi>");
	if (json_is_integer(line))
		text_format(t, ":%" JSON_INTEGER_FORMAT,
		            json_integer_value(line));
}
