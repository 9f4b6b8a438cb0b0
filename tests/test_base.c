/* Regions, bit sets, texts, diagnostics. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/hash_set.h"
#include "base/region.h"
#include "base/rng.h"
#include "base/table.h"
#include "base/text.h"
#include "suites.h"
#include "support.h"

/* ---- region ---- */

START_TEST(region_keeps_what_was_taken_before_a_mark)
{
	struct region r;
	struct rng rng = { process_seed(0, 1) };
	unsigned char *blocks[200];
	size_t sizes[200];
	struct region_mark marks[200];
	int count = 0;
	region_init(&r);
	/* Taking and releasing at random; contents of the rest survive. */
	for (int step = 0; step < 20000; step++) {
		if (count < 200 && rng_below(&rng, 3)) {
			size_t size = rng_below(&rng, 50)
			                      ? rng_below(&rng, 300)
			                      : rng_below(&rng, 200000);
			marks[count] = region_mark(&r);
			blocks[count] = region_take(&r, size);
			sizes[count] = size;
			ck_assert_uint_eq((uintptr_t)blocks[count] % 16, 0);
			memset(blocks[count], count, size);
			count++;
		} else if (count) {
			count = (int)rng_below(&rng, (uint32_t)count);
			region_release(&r, marks[count]);
		}
		for (int i = 0; step % 100 == 0 && i < count; i++)
			for (size_t b = 0; b < sizes[i]; b++)
				ck_assert_uint_eq(blocks[i][b], (unsigned)i);
	}
	region_free(&r);
}
END_TEST

START_TEST(region_gives_memory_back)
{
	struct region r;
	region_init(&r);
	region_take(&r, 10);
	struct region_mark m = region_mark(&r);
	size_t held = 0;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 1000; i++) region_take(&r, 1000);
		if (!round) held = r.held;
		ck_assert_uint_le(r.held, held + held / 2);
		region_release(&r, m);
	}
	region_free(&r);
}
END_TEST

START_TEST(region_zeroes_and_copies)
{
	struct region r;
	region_init(&r);
	struct region_mark m = region_mark(&r);
	memset(region_take(&r, 5000), 0xff, 5000);
	region_release(&r, m);
	const char *zero = region_take0(&r, 5000);
	for (int i = 0; i < 5000; i++) ck_assert_int_eq(zero[i], 0);
	ck_assert_str_eq(region_copy_string(&r, "abcdef", 3), "abc");
	region_free(&r);
}
END_TEST

/* ---- bits ---- */

START_TEST(bits_against_arrays)
{
	enum { WORDS = 3, N = 64 * WORDS };
	struct rng rng = { process_seed(0, 2) };
	word a[WORDS], b[WORDS], c[WORDS];
	bool x[N], y[N];
	for (int round = 0; round < 300; round++) {
		unsigned both = 0, count = 0, step = 1 + rng_below(&rng, 40);
		bits_zero(a, WORDS);
		bits_zero(b, WORDS);
		for (unsigned i = 0; i < N; i++) {
			x[i] = !rng_below(&rng, step);
			y[i] = !rng_below(&rng, step);
			if (x[i]) bits_add(a, i);
			if (y[i]) bits_add(b, i);
			both += x[i] && y[i];
			count += x[i];
		}
		ck_assert_uint_eq(bits_count(a, WORDS), count);
		ck_assert(bits_empty(a, WORDS) == (count == 0));
		ck_assert(bits_meet(a, b, WORDS) == (both > 0));
		bits_copy(c, a, WORDS);
		bits_and(c, b, WORDS);
		ck_assert_uint_eq(bits_count(c, WORDS), both);
		bits_copy(c, a, WORDS);
		bits_or(c, b, WORDS);
		unsigned expected = 0;
		BITS_EACH(i, c, WORDS) {
			while (!x[expected] && !y[expected]) expected++;
			ck_assert_uint_eq(i, expected++);
		}
		for (; expected < N; expected++)
			ck_assert(!x[expected] && !y[expected]);
		BITS_EACH(i, a, WORDS) bits_drop(c, i);
		for (unsigned i = 0; i < N; i++)
			ck_assert(bits_has(c, i) == (y[i] && !x[i]));
	}
}
END_TEST

START_TEST(bits_next_at_the_edges)
{
	word a[2] = { 0, 0 };
	ck_assert_uint_eq(bits_next(a, 0, 2), 128);
	bits_add(a, 127);
	ck_assert_uint_eq(bits_next(a, 0, 2), 127);
	ck_assert_uint_eq(bits_next(a, 127, 2), 127);
	ck_assert_uint_eq(bits_next(a, 128, 2), 128);
	ck_assert_uint_eq(BITS_WORDS(64), 1);
	ck_assert_uint_eq(BITS_WORDS(65), 2);
}
END_TEST

/* ---- text ---- */

START_TEST(text_grows)
{
	struct text t = { 0 };
	ck_assert_str_eq(text_get(&t), "");
	for (int i = 0; i < 1000; i++) {
		text_char(&t, 'a');
		text_string(&t, "bc");
		text_int(&t, -7);
		text_pad(&t, '.', 3);
		text_format(&t, "%03d", 5);
	}
	ck_assert_uint_eq(t.length, 11 * 1000);
	ck_assert_uint_eq(strlen(text_get(&t)), 11 * 1000);
	ck_assert(!strncmp(text_get(&t) + 11, "abc-7...005abc", 14));
	text_clear(&t);
	ck_assert_str_eq(text_get(&t), "");
	text_int(&t, INT64_MIN);
	ck_assert_str_eq(text_get(&t), "-9223372036854775808");
	text_free(&t);
}
END_TEST

START_TEST(text_long_format)
{
	struct text t = { 0 };
	char *word = malloc(100001);
	memset(word, 'w', 100000);
	word[100000] = 0;
	text_format(&t, "<%s>", word);
	ck_assert_uint_eq(t.length, 100002);
	ck_assert_int_eq(t.data[100001], '>');
	free(word);
	text_free(&t);
}
END_TEST

START_TEST(text_json_escapes)
{
	struct text t = { 0 };
	text_json_string(&t, "a\"\\\n\t\x01\xc3\xa9", 8);
	ck_assert_str_eq(text_get(&t), "\"a\\\"\\\\\\n\\t\\u0001\xc3\xa9\"");
	text_free(&t);
}
END_TEST

/* ---- diagnostics ---- */

START_TEST(nearest_names)
{
	static const char *const names[] = { "explore", "format", "compile",
		                             "help" };
	ck_assert_str_eq(diag_nearest("exlpore", names, 4), "explore");
	ck_assert_str_eq(diag_nearest("fomat", names, 4), "format");
	ck_assert_str_eq(diag_nearest("helpp", names, 4), "help");
	ck_assert_ptr_null(diag_nearest("zzzzzz", names, 4));
	ck_assert_ptr_null(diag_nearest("explore", names, 0));
}
END_TEST

START_TEST(diagnostics_are_kept)
{
	struct diags d = { 0 };
	char line[] = "let x = 1;";
	diags_add(&d, DIAG_ERROR, "a.tx", 3, 5, line, "bad %s %d", "x", 7);
	diags_add(&d, DIAG_WARNING, NULL, 0, 0, NULL, "careful");
	line[0] = 'L';
	ck_assert_uint_eq(d.count, 2);
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_str_eq(d.items[0].message, "bad x 7");
	ck_assert_str_eq(d.items[0].source_line, "let x = 1;");
	ck_assert_str_eq(d.items[0].file, "a.tx");
	ck_assert_uint_eq(d.items[0].line, 3);
	ck_assert_uint_eq(d.items[0].column, 5);
	ck_assert_ptr_null(d.items[1].file);
	diags_free(&d);
}
END_TEST

/* ---- hash ---- */

START_TEST(hashes_differ)
{
	/* All texts of up to two bytes of eight letters, and two seeds. */
	uint64_t seen[200];
	size_t count = 0;
	for (int seed = 0; seed < 2; seed++)
		for (int i = 0; i < 72; i++) {
			char s[2] = { (char)('a' + i % 8),
				      (char)('a' + i / 8 - 1) };
			uint64_t h =
				hash_bytes((uint64_t)seed, s, i < 8 ? 1 : 2);
			for (size_t j = 0; j < count; j++)
				ck_assert(seen[j] != h);
			seen[count++] = h;
		}
}
END_TEST

/* ---- table ---- */

/* Numbers by a hash that often collides, against a plain array. */
START_TEST(table_against_an_array)
{
	struct table t;
	struct rng rng = { 1 };
	static uint32_t keys[3000], numbers[3000];
	for (int round = 0; round < 20; round++) {
		uint32_t count = 0, spread = 1u << rng_below(&rng, 24);
		table_init(&t, rng_below(&rng, 100));
		for (int step = 0; step < 6000 && count < 3000; step++) {
			uint32_t key = rng_below(&rng, 4000), i, j;
			struct table_probe p =
				table_probe((uint64_t)(key % spread) << 32);
			while ((i = table_next(&t, &p)) != TABLE_NONE)
				if (keys[i] == key) break;
			for (j = 0; j < count && keys[j] != key; j++) continue;
			ck_assert_uint_eq(i == TABLE_NONE, j == count);
			if (i != TABLE_NONE) {
				ck_assert_uint_eq(i, numbers[j]);
				table_replace(&t, p, i);
				continue;
			}
			keys[count] = key;
			numbers[count] = count;
			table_put(&t, p, count++);
			ck_assert_uint_eq(t.count, count);
			ck_assert_uint_le((uint64_t)count * 3,
			                  2 * ((uint64_t)t.mask + 1));
		}
		table_clear(&t);
		struct table_probe p = table_probe(0);
		ck_assert_uint_eq(table_next(&t, &p), TABLE_NONE);
		table_free(&t);
		ck_assert_uint_eq(table_bytes(&t), 0);
	}
}
END_TEST

START_TEST(hash_set_against_an_array)
{
	struct hash_set s = { 0 };
	struct rng rng = { 2 };
	bool in[2000] = { false };
	uint32_t count = 0;
	ck_assert(!hash_set_has(&s, 0));
	for (int step = 0; step < 20000; step++) {
		uint32_t i = rng_below(&rng, 2000);
		/* some alike in the upper half, all in the lower bits */
		uint64_t hash = (uint64_t)(i / 3) << 32 | i % 3 << 20;
		ck_assert(hash_set_has(&s, hash) == in[i]);
		if (rng_below(&rng, 8)) continue;
		ck_assert(hash_set_add(&s, hash) == !in[i]);
		count += !in[i];
		in[i] = true;
		ck_assert_uint_eq(s.count, count);
	}
	hash_set_free(&s);
}
END_TEST

void add_base_tests(TCase *tests)
{
	tcase_add_test(tests, region_keeps_what_was_taken_before_a_mark);
	tcase_add_test(tests, region_gives_memory_back);
	tcase_add_test(tests, region_zeroes_and_copies);
	tcase_add_test(tests, bits_against_arrays);
	tcase_add_test(tests, bits_next_at_the_edges);
	tcase_add_test(tests, text_grows);
	tcase_add_test(tests, text_long_format);
	tcase_add_test(tests, text_json_escapes);
	tcase_add_test(tests, nearest_names);
	tcase_add_test(tests, diagnostics_are_kept);
	tcase_add_test(tests, hashes_differ);
	tcase_add_test(tests, table_against_an_array);
	tcase_add_test(tests, hash_set_against_an_array);
}
