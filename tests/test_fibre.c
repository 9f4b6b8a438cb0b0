/* What workers are made of: what they and the explorer write to each other, and
 * coroutines. */
#include <errno.h>
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "native/runtime/fibre.h"
#include "native/wire.h"
#include "suites.h"
#include "support.h"

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
	case 0: ck_assert_uint_eq(wire_get_u8(r), (uint8_t)item->number); break;
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
	struct rng rng = { process_seed(0, 1) };
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
		wire_put_value(
			&out,
			(struct iso_value){
				.kind = ISO_BYTES,
				.length = 30,
				.bytes = "thirty bytes of text to be put" });
		ck_assert(wire_commit(&out) == (capacity >= 48));
		struct wire_reader in = wire_read(w);
		ck_assert_uint_eq(wire_get_u64(&in), 42);
		ck_assert(wire_more(&in) == (capacity >= 48));
		free(w);
	}
}
END_TEST

/* Reads something else than was written, for as long as there is something. */
static size_t read_anything(struct rng *rng, const struct wire *w)
{
	struct wire_reader in = wire_read(w);
	size_t sum = 0;
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
	return sum;
}

START_TEST(wires_may_be_damaged)
{
	struct rng rng = { process_seed(0, 2) };
	struct item item;
	size_t sum = 0;
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
		sum += read_anything(&rng, w);
		free(w);
	}
	ck_assert_uint_ne(sum, 0);
}
END_TEST

/* ---- fibres ---- */

enum { SMALL = 64 << 10 };

/* A fibre that adds up what it is given. */
struct adder {
	uint64_t given, sum;
};

static void add_up(void *data)
{
	struct adder *a = data;
	uint64_t sum = 0; /* on its own stack */
	while (a->given) {
		sum += a->given;
		a->sum = sum;
		fibre_yield();
	}
}

START_TEST(fibres_switch_often)
{
	struct adder a = { .given = 1 };
	struct fibre *f = fibre_new(add_up, &a, SMALL);
	for (uint64_t i = 1; i <= 50000; i++) {
		a.given = i;
		ck_assert(fibre_resume(f));
		ck_assert_ptr_null(fibre_current());
		ck_assert_uint_eq(a.sum, i * (i + 1) / 2);
	}
	a.given = 0;
	ck_assert(!fibre_resume(f));
	fibre_free(f);
}
END_TEST

enum { MANY = 1000 };

/* Each closure has its own data, and each stack its own contents. */
START_TEST(fibres_are_many)
{
	struct rng rng = { process_seed(0, 3) };
	struct adder *adders = mem_take0(MANY, sizeof *adders);
	uint64_t *sums = mem_take0(MANY, sizeof *sums);
	struct fibre **fibres = mem_take0(MANY, sizeof *fibres);
	for (uint32_t i = 0; i < MANY; i++)
		fibres[i] = fibre_new(add_up, &adders[i], FIBRE_STACK);
	for (int step = 0; step < 10000; step++) {
		uint32_t i = rng_below(&rng, MANY);
		ck_assert_ptr_nonnull(fibres[i]);
		adders[i].given = 1 + rng_below(&rng, 1000);
		ck_assert(fibre_resume(fibres[i]));
		sums[i] += adders[i].given;
		ck_assert_uint_eq(adders[i].sum, sums[i]);
	}
	/* Some have never run, most are in the middle. */
	for (uint32_t i = 0; i < MANY; i++) fibre_free(fibres[i]);
	free(adders);
	free(fibres);
	free(sums);
}
END_TEST

/* The number of mappings of this process. */
static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	int lines = 0, c;
	if (!f) return 0;
	while ((c = getc(f)) != EOF) lines += c == '\n';
	fclose(f);
	return lines;
}

static void yield_once(void *data)
{
	++*(int *)data;
	fibre_yield();
	++*(int *)data;
}

START_TEST(fibres_are_abandoned_and_begun_again)
{
	int count = 0, before = 0;
	for (int i = 0; i < 3000; i++) {
		struct fibre *f = fibre_new(yield_once, &count, FIBRE_STACK);
		if (i % 7) ck_assert(fibre_resume(f));
		if (i % 2 && i % 7) ck_assert(!fibre_resume(f));
		fibre_free(f);
		if (i == 1000) before = mappings();
	}
	ck_assert_int_eq(count, 2571 + 1286);
	ck_assert_int_le(mappings(), before + 5);
}
END_TEST

static volatile const char *lowest;

__attribute__((noinline)) static int descend(const char *until)
{
	volatile char frame[512];
	frame[0] = 1;
	lowest = frame;
	if ((const char *)frame <= until) {
		fibre_yield();
		return 1;
	}
	return descend(until) + frame[0];
}

/* Down to where some room is left for what the compiler adds. */
static void dive(void *data)
{
	char here = 0;
	const char *until = &here - *(size_t *)data;
	ck_assert_int_gt(descend(until), 1000);
}

static long resident(void)
{
	long size, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f) return 0;
	if (fscanf(f, "%ld %ld", &size, &pages) != 2) pages = 0;
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* It can be left and gone on with at its deepest; and what it took is given
 * back some time. */
START_TEST(fibres_use_all_of_their_stacks)
{
	size_t depth = FIBRE_STACK - (64 << 10);
	struct fibre *f = fibre_new(dive, &depth, FIBRE_STACK);
	ck_assert(fibre_resume(f));
	ck_assert(fibre_holds(f, (const char *)lowest));
	ck_assert(!fibre_guards(f, (const char *)lowest));
	ck_assert(fibre_guards(f, (const char *)lowest - (64 << 10)));
	long deep = resident();
	ck_assert(!fibre_resume(f));
	fibre_free(f);
	for (int i = 0, count = 0; i < 100; i++) {
		f = fibre_new(yield_once, &count, FIBRE_STACK);
		ck_assert(fibre_resume(f));
		fibre_free(f);
	}
	if (deep) ck_assert_int_lt(resident(), deep - FIBRE_STACK / 2);
}
END_TEST

static void look(void *data)
{
	struct fibre **f = data;
	char here;
	ck_assert_ptr_eq(fibre_current(), f[0]);
	ck_assert(fibre_holds(f[0], &here));
	ck_assert(!fibre_holds(f[1], &here));
	fibre_yield();
	ck_assert_ptr_eq(fibre_current(), f[0]);
}

START_TEST(fibres_know_which_of_them_runs)
{
	struct fibre *f[3]; /* the first is the last as well */
	f[0] = f[2] = fibre_new(look, f, SMALL);
	f[1] = fibre_new(look, f + 1, SMALL);
	ck_assert_ptr_null(fibre_current());
	ck_assert(fibre_resume(f[0]));
	ck_assert(fibre_resume(f[1]));
	ck_assert(!fibre_holds(f[0], &f));
	ck_assert(!fibre_resume(f[0]));
	ck_assert(!fibre_resume(f[1]));
	ck_assert_ptr_null(fibre_current());
	fibre_free(f[0]);
	fibre_free(f[1]);
}
END_TEST

static void jump_about(void *data)
{
	jmp_buf here;
	volatile int *jumps = data;
	if (setjmp(here) < 100) {
		fibre_yield();
		longjmp(here, ++*jumps);
	}
}

/* Its jumps, its rounding of numbers, its signal mask are its own. */
START_TEST(fibres_keep_to_themselves)
{
	int jumps = 0, other = 0;
	struct fibre *f = fibre_new(jump_about, &jumps, SMALL);
	struct fibre *g = fibre_new(jump_about, &other, SMALL);
	while (fibre_resume(f)) {
		ck_assert(fibre_resume(g));
		ck_assert_int_eq(jumps, other);
	}
	ck_assert_int_eq(jumps, 100);
	fibre_free(f);
	fibre_free(g);
}
END_TEST

static void change_state(void *unused)
{
	sigset_t mask;
	(void)unused;
	sigfillset(&mask);
	fesetround(FE_UPWARD);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	fibre_yield();
	ck_assert_int_eq(fegetround(), FE_UPWARD);
}

static void check_state(void *unused)
{
	sigset_t mask;
	(void)unused;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	ck_assert_int_eq(fegetround(), FE_TONEAREST);
	ck_assert(!sigismember(&mask, SIGUSR1));
}

START_TEST(fibres_begin_alike)
{
	struct fibre *f = fibre_new(change_state, NULL, SMALL);
	ck_assert(fibre_resume(f));
	check_state(NULL);
	struct fibre *g = fibre_new(check_state, NULL, SMALL);
	ck_assert(!fibre_resume(g));
	ck_assert(!fibre_resume(f));
	fibre_free(f);
	f = fibre_new(check_state, NULL, SMALL);
	ck_assert(!fibre_resume(f));
	fibre_free(f);
	fibre_free(g);
}
END_TEST

static void count_errors(void *data)
{
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(errno, i ? *(int *)data + i : 0);
		errno = *(int *)data + i + 1;
		fibre_yield();
	}
}

START_TEST(fibres_have_errors_of_their_own)
{
	int numbers[2] = { 1000, 2000 };
	struct fibre *f = fibre_new(count_errors, &numbers[0], SMALL);
	struct fibre *g = fibre_new(count_errors, &numbers[1], SMALL);
	errno = 7;
	while (fibre_resume(f)) {
		ck_assert(fibre_resume(g));
		ck_assert_int_eq(errno, 7);
	}
	fibre_free(f);
	fibre_free(g);
}
END_TEST

static void count_on(void *data)
{
	int *sum = data;
	for (int i = 0; i < 10; i++) {
		++*sum;
		fibre_yield();
	}
}

/* Where the system allows no code to be made, they run all the same. */
START_TEST(fibres_need_no_closures)
{
	static const char *const folders[] = { "/no/such/folder", "/tmp" };
	enum { MANY = 100, SIZE = 3 * SMALL };
	int sum = 0;
	struct fibre *f[MANY];
	for (int i = 0; i < MANY; i++) {
		fibre_make_code_in(folders[i % 2]);
		f[i] = fibre_new(count_on, &sum, SIZE);
	}
	for (int round = 0; round < 11; round++)
		for (int i = 0; i < MANY; i++)
			ck_assert_int_eq(fibre_resume(f[i]), round < 10);
	ck_assert_int_eq(sum, 10 * MANY);
	for (int i = 0; i < MANY; i++) fibre_free(f[i]);
	for (int i = 0; i < MANY; i++) {
		f[i] = fibre_new(count_on, &sum, SIZE);
		ck_assert(fibre_resume(f[i]));
	}
	for (int i = 0; i < MANY; i++) fibre_free(f[i]);
}
END_TEST

/* Those of user code are the same as without fibres. */
START_TEST(fibres_take_no_random_numbers)
{
	int sum = 0, first;
	fibre_make_code_in("/tmp");
	srand(5);
	first = rand();
	srand(5);
	fibre_free(fibre_new(count_on, &sum, 5 * SMALL));
	ck_assert_int_eq(rand(), first);
}
END_TEST

void add_fibre_tests(TCase *tests)
{
	tcase_add_test(tests, wires_give_back_what_was_written);
	tcase_add_test(tests, wires_hide_steps_that_are_not_complete);
	tcase_add_test(tests, wires_take_no_step_that_has_no_room);
	tcase_add_test(tests, wires_may_be_damaged);
	tcase_add_test(tests, fibres_switch_often);
	tcase_add_test(tests, fibres_are_many);
	tcase_add_test(tests, fibres_are_abandoned_and_begun_again);
	tcase_add_test(tests, fibres_use_all_of_their_stacks);
	tcase_add_test(tests, fibres_know_which_of_them_runs);
	tcase_add_test(tests, fibres_keep_to_themselves);
	tcase_add_test(tests, fibres_begin_alike);
	tcase_add_test(tests, fibres_have_errors_of_their_own);
	tcase_add_test(tests, fibres_need_no_closures);
	tcase_add_test(tests, fibres_take_no_random_numbers);
}
