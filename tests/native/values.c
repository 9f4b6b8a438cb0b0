/* Keys and values of every kind and size. -DCASE=name chooses the session; two
 * run beside each other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <isoscope/client.h>

static void put_and_get(struct iso_value key, struct iso_value value)
{
	iso_put(key, value);
	struct iso_value v = iso_get(key);
	iso_assert(v.kind == value.kind, "the kind is kept");
	if (v.kind == ISO_INT)
		iso_assert(v.integer == value.integer, "integers are kept");
	if (v.kind != ISO_BYTES) return;
	iso_assert(v.length == value.length, "lengths are kept");
	iso_assert(!memcmp(v.bytes, value.bytes, v.length), "bytes are kept");
	iso_assert(!((const char *)v.bytes)[v.length], "a zero follows");
}

static void integers(void)
{
	static const int64_t all[] = { 0, 1, -1, 255, INT32_MIN, INT64_MAX,
		                       INT64_MIN };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		put_and_get(iso_string("integer"), iso_int(all[i]));
}

static void integer_keys(void)
{
	put_and_get(iso_int(0), iso_int(1));
	put_and_get(iso_int(-1), iso_int(2));
	put_and_get(iso_int(INT64_MIN), iso_int(3));
	put_and_get(iso_string("0"), iso_int(4));
	put_and_get(iso_string("-1"), iso_int(5));
	iso_assert(iso_get(iso_int(0)).integer == 1, "0 is not \"0\"");
	iso_assert(iso_get(iso_int(-1)).integer == 2, "-1 is not \"-1\"");
}

static void nulls(void)
{
	put_and_get(iso_string("null"), iso_int(1));
	put_and_get(iso_string("null"), iso_null());
	put_and_get(iso_string("null"), iso_string(NULL));
	put_and_get(iso_string("empty"), iso_string(""));
	put_and_get(iso_string("empty"), iso_bytes(NULL, 0));
	iso_assert(iso_get(iso_string("none")).kind == ISO_NULL,
	           "what was never written is null");
}

/* Each byte alone, all of them, strings that look like what they are not. */
static void bytes(void)
{
	static const char *const odd[] = { "", "null", "0", "{bytes: \"00\"}",
		                           "{\"bytes\":\"00\"}", "\"", "\\",
		                           "\\u0000", "\x1b[31m", "\r\n",
		                           "\xc3\xa9", "\xe2\x82\xac",
		                           "\xf0\x9f\x98\x80", "\xff\xfe" };
	unsigned char all[256];
	for (int i = 0; i < 256; i++) {
		all[i] = (unsigned char)i;
		put_and_get(iso_string("byte"), iso_bytes(&all[i], 1));
	}
	put_and_get(iso_string("bytes"), iso_bytes(all, sizeof all));
	put_and_get(iso_bytes(all, sizeof all), iso_bytes(all, sizeof all));
	put_and_get(iso_string("zeros"), iso_bytes("\0\0\0", 3));
	/* Not UTF-8: cut short, too long, surrogates, beyond the last. */
	put_and_get(iso_string("wrong"), iso_string("\xc3"));
	put_and_get(iso_string("wrong"), iso_string("\xc0\xaf"));
	put_and_get(iso_string("wrong"), iso_string("\xed\xa0\x80"));
	put_and_get(iso_string("wrong"), iso_string("\xf4\x90\x80\x80"));
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		put_and_get(iso_string("odd"), iso_string(odd[i]));
}

static void keys(void)
{
	static const char *const odd[] = {
		"", " ", "a b", "a\"b", "a'b", "a[1]", "a[\"1\"]", "a]", "[",
		"a.b", "a,b", "a=b", "a:b", "a\\b", "a/b", "\n", "\t",
		"\x1b[31m", "\x7f", "\x01", "\xc3\xa9", "\xe2\x82\xac",
		"\xf0\x9f\x98\x80", "\xff", "null", "true", "0", "{x: 1}",
		"{\"x\":1}", "<b>", "&amp;", "%s%n", "$(id)", "`id`", "x -> y",
	};
	int count = (int)(sizeof odd / sizeof *odd);
	for (int i = 0; i < count; i++)
		put_and_get(iso_string(odd[i]), iso_int(i));
	for (int i = 0; i < count; i++)
		iso_assert(iso_get_int(odd[i]) == i, "keys are told apart");
	iso_assert(iso_get(iso_bytes("a\0b", 3)).kind == ISO_NULL,
	           "a key with a zero is another key");
	put_and_get(iso_bytes("a\0b", 3), iso_int(-1));
	iso_assert(iso_get(iso_string("a")).kind == ISO_NULL,
	           "and not what stands before the zero");
}

/* For what reports make of them. */
static void shown(void)
{
	iso_put_string("a \"key\" [1]\x1b[31m", "\x1b[31m\a\n\xc3\xa9\x7f");
	iso_put(iso_bytes("\xff\0", 2), iso_bytes("\xfe\x1b", 2));
	iso_put(iso_int(-7), iso_int(-8));
	iso_put_string("\xe2\x82\xac", "\xf0\x9f\x98\x80 \xc2\x9b");
	iso_assert(false, "shown");
}

static void megabytes(void)
{
	size_t length = 1 << 20;
	char *text = malloc(length + 1);
	memset(text, 'm', length);
	text[length] = 0;
	put_and_get(iso_string("text"), iso_string(text));
	for (size_t i = 0; i < length; i++) text[i] = (char)(i * 7);
	put_and_get(iso_string("bytes"), iso_bytes(text, length));
	free(text);
}

static void long_keys(void)
{
	char *key = malloc(100001);
	memset(key, 'k', 100000);
	key[100000] = 0;
	put_and_get(iso_string(key), iso_int(1));
	key[99999] = 'K';
	iso_assert(iso_get(iso_string(key)).kind == ISO_NULL,
	           "keys differ in their last letter");
	put_and_get(iso_string(key), iso_int(2));
	free(key);
}

static void many_keys(void)
{
	char key[32];
	for (int i = 0; i < 3000; i++) {
		snprintf(key, sizeof key, "key %d", i);
		iso_put_int(key, i);
	}
	iso_assert(iso_get_int("key 2999") == 2999, "the last one");
}

/* 100 MiB in one transaction: more than is sent at once. */
static void too_much(void)
{
	size_t length = 10 << 20;
	char *text = malloc(length);
	for (int i = 0; i < 10; i++) {
		memset(text, 'a' + i, length);
		iso_put(iso_int(i), iso_bytes(text, length));
	}
	free(text);
}

/* One value that is more than can be sent at all. */
static void giant(void)
{
	size_t length = (size_t)200 << 20;
	char *text = calloc(1, length);
	if (text) iso_put(iso_int(0), iso_bytes(text, length));
	free(text);
}

/* The same for what is read: each time 10 MiB. */
static void reads_much(void)
{
	size_t length = 10 << 20;
	char *text = malloc(length);
	memset(text, 'a', length);
	iso_put(iso_int(0), iso_bytes(text, length));
	free(text);
	for (int i = 0; i < 10; i++)
		iso_assert(iso_get(iso_int(0)).length == length, "all of it");
}

/* What was read stays where it is until the session returns. */
static void answers_stay(void)
{
	const char *first, *second;
	iso_put_string("s", "first");
	first = iso_get_string("s");
	iso_put_string("s", "second");
	second = iso_get_string("s");
	for (int i = 0; i < 1000; i++) iso_get_string("s");
	iso_assert(!strcmp(first, "first"), "the first is as it was");
	iso_assert(!strcmp(second, "second"), "and so is the second");
}

/* What is given is copied at once. */
static void arguments_are_copied(void)
{
	char text[] = "before";
	iso_put_string("s", text);
	memcpy(text, "behind", 6);
	iso_assert(!strcmp(iso_get_string("s"), "before"), "a copy is kept");
	memcpy(text, "before", 6);
}

static void session(void *unused)
{
	(void)unused;
	iso_begin("values");
	CASE();
	iso_commit();
}

static void observe(void *unused)
{
	(void)unused;
	iso_begin("odd \"name\" [1]");
	iso_note("a", iso_get(iso_string("a\"b")));
	iso_note("b", iso_get(iso_bytes("\xff\0", 2)));
	iso_commit();
}

void iso_client(void)
{
	iso_initial(iso_bytes("\xff\0", 2), iso_bytes("\xfe\0\x01", 3));
	iso_initial(iso_int(77), iso_null());
	iso_initial_string("a\"b", "[\xc3\xa9] \"\\\" \x1b");
	iso_session("one \"of\" [two]", session, NULL);
	iso_session("\xc3\xa9\x1b[31m", observe, NULL);
}
