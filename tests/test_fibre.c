/* The worker: what it and the explorer write to each other, coroutines, and
 * clients run in it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "native/wire.h"
#include "suites.h"

/* ---- wire ---- */

/* The memory behind the wire's is the allocator's: sanitizers and valgrind see
 * every step out of bounds. */
static struct wire *wire_of(uint64_t capacity)
{
	struct wire *w = mem_take0(1, sizeof *w + capacity);
	w->capacity = capacity;
	return w;
}

enum { ITEMS = 40 };

/* What was written, to be compared. */
struct item {
	int kind; /* 0 u8, 1 u32, 2 u64, 3 string, else value */
	uint64_t number;
	struct iso_value value;
	char bytes[30];
};

static void item_choose(struct rng *rng, struct item *item)
{
	size_t length = rng_below(rng, sizeof item->bytes);
	item->kind = (int)rng_below(rng, 7);
	item->number = rng_next(rng);
	for (size_t i = 0; i < length; i++)
		item->bytes[i] = (char)rng_next(rng);
	item->value = (struct iso_value){ .kind = ISO_NULL };
	item->value.kind = (enum iso_kind)rng_below(rng, 3);
	if (item->kind == 3) item->value.kind = ISO_BYTES;
	if (item->value.kind == ISO_INT)
		item->value.integer = (int64_t)rng_next(rng);
	if (item->value.kind != ISO_BYTES) return;
	item->value.bytes = item->bytes;
	item->value.length = length;
}

static void item_write(struct wire_writer *w, const struct item *item)
{
	switch (item->kind) {
	case 0: wire_put_u8(w, (uint8_t)item->number); break;
	case 1: wire_put_u32(w, (uint32_t)item->number); break;
	case 2: wire_put_u64(w, item->number); break;
	case 3:
		wire_put_string(w, item->value.bytes, item->value.length);
		break;
	default: wire_put_value(w, item->value);
	}
}

static void value_check(struct iso_value a, struct iso_value b)
{
	ck_assert_int_eq(a.kind, b.kind);
	ck_assert_int_eq(a.integer, b.integer);
	ck_assert_uint_eq(a.length, b.length);
	if (a.length) ck_assert_mem_eq(a.bytes, b.bytes, a.length);
	if (a.kind == ISO_BYTES)
		ck_assert_int_eq(((const char *)a.bytes)[a.length], 0);
}

static void item_check(struct wire_reader *r, const struct item *item)
{
	struct iso_value v = { .kind = ISO_BYTES };
	switch (item->kind) {
	case 0:
		ck_assert_uint_eq(wire_get_u8(r), (uint8_t)item->number);
		break;
	case 1:
		ck_assert_uint_eq(wire_get_u32(r), (uint32_t)item->number);
		break;
	case 2: ck_assert_uint_eq(wire_get_u64(r), item->number); break;
	case 3:
		v.bytes = wire_get_string(r, &v.length);
		value_check(v, item->value);
		break;
	default: value_check(wire_get_value(r), item->value);
	}
}

START_TEST(wires_give_back_what_was_written)
{
	struct rng rng = { 1 };
	struct item *items = mem_take0(ITEMS, sizeof *items);
	struct wire *w = wire_of(ITEMS * 64);
	for (int round = 0; round < 500; round++) {
		uint32_t count = rng_below(&rng, ITEMS);
		wire_clear(w);
		for (uint32_t i = 0; i < count; i++) {
			item_choose(&rng, &items[i]);
			struct wire_writer out = wire_write(w);
			item_write(&out, &items[i]);
			ck_assert(wire_commit(&out));
		}
		struct wire_reader in = wire_read(w);
		for (uint32_t i = 0; i < count; i++) {
			ck_assert(wire_more(&in));
			item_check(&in, &items[i]);
		}
		ck_assert(!wire_more(&in));
		ck_assert(!in.bad);
	}
	free(items);
	free(w);
}
END_TEST

START_TEST(wires_hide_steps_that_are_not_complete)
{
	struct wire *w = wire_of(64);
	struct wire_writer out = wire_write(w);
	wire_put_u32(&out, 7);
	struct wire_reader in = wire_read(w);
	ck_assert(!wire_more(&in));
	ck_assert(wire_commit(&out));
	in = wire_read(w);
	ck_assert_uint_eq(wire_get_u32(&in), 7);
	wire_get_u8(&in);
	ck_assert(in.bad);
	free(w);
}
END_TEST

/* A step that has no room leaves those before it as they are. */
START_TEST(wires_take_no_step_that_has_no_room)
{
	for (uint64_t capacity = 8; capacity < 60; capacity++) {
		struct wire *w = wire_of(capacity);
		struct wire_writer out = wire_write(w);
		wire_put_u64(&out, 42);
		ck_assert(wire_commit(&out));
		out = wire_write(w);
		wire_put_value(&out, (struct iso_value){
			.kind = ISO_BYTES, .bytes = "thirty bytes of text to be put",
			.length = 30 });
		ck_assert(wire_commit(&out) == (capacity >= 48));
		struct wire_reader in = wire_read(w);
		ck_assert_uint_eq(wire_get_u64(&in), 42);
		ck_assert(wire_more(&in) == (capacity >= 48));
		free(w);
	}
}
END_TEST

/* Reads something else than was written, for as long as there is something. */
static void read_anything(struct rng *rng, const struct wire *w)
{
	struct wire_reader in = wire_read(w);
	volatile size_t sum = 0;
	while (wire_more(&in)) {
		const char *s = "";
		struct iso_value v = { .kind = ISO_NULL };
		size_t length = 0;
		switch (rng_below(rng, 5)) {
		case 0: sum += wire_get_u8(&in); break;
		case 1: sum += wire_get_u32(&in); break;
		case 2: sum += wire_get_u64(&in); break;
		case 3: s = wire_get_string(&in, &length); break;
		default: v = wire_get_value(&in);
		}
		if (v.kind == ISO_BYTES) s = v.bytes, length = v.length;
		for (size_t i = 0; i < length; i++) sum += (uint8_t)s[i];
		ck_assert_int_eq(s[length], 0);
	}
}

START_TEST(wires_may_be_damaged)
{
	struct rng rng = { 2 };
	struct item item;
	for (int round = 0; round < 5000; round++) {
		uint64_t capacity = rng_below(&rng, 100);
		struct wire *w = wire_of(capacity);
		for (int i = 0; i < 5; i++) {
			struct wire_writer out = wire_write(w);
			item_choose(&rng, &item);
			item_write(&out, &item);
			wire_commit(&out);
		}
		for (uint32_t i = rng_below(&rng, 5); capacity && i; i--)
			w->bytes[rng_below(&rng, (uint32_t)capacity)] =
			    (unsigned char)(rng_below(&rng, 2)
			                        ? rng_below(&rng, 20)
			                        : rng_next(&rng));
		if (!rng_below(&rng, 4)) w->length = rng_next(&rng);
		if (!rng_below(&rng, 4)) w->length = capacity;
		read_anything(&rng, w);
		free(w);
	}
}
END_TEST

void add_fibre_tests(TCase *tests)
{
	tcase_add_test(tests, wires_give_back_what_was_written);
	tcase_add_test(tests, wires_hide_steps_that_are_not_complete);
	tcase_add_test(tests, wires_take_no_step_that_has_no_room);
	tcase_add_test(tests, wires_may_be_damaged);
}
