/* The formats of histories against any bytes.
 *
 * One entry for libFuzzer (scripts/fuzz) and for tests/fuzz_replay.c, which
 * runs it over the corpus. A first byte below 32 chooses the format, otherwise
 * it is detected. Beyond not crashing: what is no history has an error, and a
 * history that a format can write is the same when it is read again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/parsers.h"
#include "fuzz_parser.h"
#include "history/facts.h"
#include "trace_shape.h"

enum { UNKNOWN_IS_INITIAL = 16 }; /* flag of the first byte */

static void broken(const char *what, enum format f, const char *text)
{
	fprintf(stderr, "%s: %s\n%s\n", format_word(f), what, text);
	abort();
}

/* An exact copy, followed by a zero byte; the caller frees in->text. */
static void copy_input(struct input *in, const char *bytes, size_t length)
{
	char *copy = mem_take(length + 1);
	memcpy(copy, bytes, length);
	copy[length] = '\0';
	*in = (struct input){
		.file = "fuzz",
		.bytes = copy,
		.length = length,
		.text = copy,
	};
}

/* FORMAT_COUNT: what is detected, if anything. */
static struct trace *parse(const char *bytes, size_t length,
                           const struct reader_options *o)
{
	struct input in;
	struct diags d = { 0 };
	struct trace *t = NULL;
	copy_input(&in, bytes, length);
	enum format f = o->format, detected = format_detect(&in);
	if (f == FORMAT_COUNT) f = detected;
	if (f < FORMAT_COUNT) {
		t = format_parse(&in, f, o, &d);
		bool blank = f == FORMAT_ISOSCOPE && !d.count;
		if (!t != (d.errors > 0) && !blank)
			broken("an error is missing, or too many", f, bytes);
	}
	free(in.text);
	diags_free(&d);
	return t;
}

static bool print(struct text *t, enum format f, const struct trace *r)
{
	struct diags d = { 0 };
	bool good = format_print(t, f, r, NULL, &d);
	if (good != !d.errors)
		broken("an error is missing, or too many", f, text_get(t));
	diags_free(&d);
	return good;
}

static void compare(enum format f, const struct trace *a, const struct trace *b,
                    const char *text)
{
	struct text before = { 0 }, after = { 0 };
	trace_shape(&before, a, shape_of_format(f));
	trace_shape(&after, b, shape_of_format(f));
	if (strcmp(text_get(&before), text_get(&after)) != 0) {
		fprintf(stderr, "%sand then\n%s", text_get(&before),
		        text_get(&after));
		broken("the history is another one when read again", f, text);
	}
	text_free(&before);
	text_free(&after);
}

static void there_and_back(enum format f, const struct trace *t,
                           struct reader_options o)
{
	struct text once = { 0 };
	o.format = f;
	if (print(&once, f, t)) {
		struct trace *back = parse(text_get(&once), once.length, &o);
		if (!back)
			broken("what was written is no history", f,
			       text_get(&once));
		compare(f, t, back, text_get(&once));
		trace_free(back);
	}
	text_free(&once);
}

static void use(const struct trace *t)
{
	struct facts *f = facts_of_trace(t);
	struct history *h = trace_history(t, NULL, NULL);
	facts_free(f);
	history_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader_options o = { .format = FORMAT_COUNT };
	if (size && data[0] < 32) {
		o.unknown_is_initial = data[0] & UNKNOWN_IS_INITIAL;
		o.format = data[0] & (UNKNOWN_IS_INITIAL - 1);
		if (o.format > FORMAT_COUNT) o.format = FORMAT_COUNT;
		data++;
		size--;
	}
	struct trace *t = parse((const char *)data, size, &o);
	if (!t) return 0;
	use(t);
	for (enum format f = 0; f < FORMAT_COUNT; f++)
		if (!format_is_folder(f)) there_and_back(f, t, o);
	trace_free(t);
	return 0;
}
