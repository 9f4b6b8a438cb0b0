/* What src/serve/row_versions.c tells each reader makes up what there is,
 * whenever it asks, and whatever is forgotten in between. */
#include "serve/row_versions.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "postgres/wire.h"
#include "suites.h"
#include "support.h"

enum { KEYS = 4, TABLES = 2, READERS = 4, MOST = 64, STEPS = 4000 };

/* By number: what is told of it; 0: nothing. */
struct view {
	bool used;
	uint32_t reader;
	bool tables[TABLES]; /* that it is told of */
	uint32_t value[MOST], key[MOST];
	bool gone[KEYS];
};

struct trial {
	struct rng rng;
	struct row_versions *versions;
	struct server_relation tables[TABLES];
	struct server_key keys[KEYS];
	struct view truth, views[READERS];
	uint32_t deleted[KEYS]; /* the number of that */
	uint32_t values;
};

static void add(struct trial *t, uint32_t key)
{
	char image[16];
	uint32_t value = ++t->values;
	snprintf(image, sizeof image, "%u", value);
	uint32_t n = row_versions_add(
		t->versions,
		(struct served_version){ .key = &t->keys[key],
	                                 .image = image,
	                                 .length = (uint32_t)strlen(image) },
		false);
	ck_assert_uint_lt(n, MOST);
	ck_assert_uint_eq(t->truth.value[n], 0);
	t->truth.value[n] = value;
	t->truth.key[n] = key;
}

static void turn_deletion(struct trial *t, uint32_t key)
{
	if (t->deleted[key]) row_versions_forget(t->versions, t->deleted[key]);
	t->deleted[key] =
		t->deleted[key]
			? 0
			: row_versions_add(t->versions,
	                                   (struct served_version){
						   .key = &t->keys[key] },
	                                   false);
	t->truth.gone[key] = t->deleted[key];
}

static void forget_one(struct trial *t)
{
	uint32_t n = rng_below(&t->rng, MOST);
	while (n < MOST && !t->truth.value[n]) n++;
	if (n == MOST) return;
	row_versions_forget(t->versions, n);
	t->truth.value[n] = 0;
}

static void take(struct view *v, const char *at)
{
	struct wire_head h;
	struct wire_key k;
	memcpy(&h, at, sizeof h);
	memcpy(&k, at + sizeof h, sizeof k);
	uint32_t key = (uint32_t)(at[sizeof h + sizeof k] - '0');
	ck_assert_uint_lt(key, KEYS);
	ck_assert_uint_lt(h.number, MOST);
	if (h.kind == WIRE_GONE) {
		v->gone[key] = true;
	} else if (h.kind == WIRE_OVER && !h.number) {
		v->gone[key] = false;
	} else if (h.kind == WIRE_OVER) {
		ck_assert_uint_ne(v->value[h.number], 0);
		ck_assert_uint_eq(v->key[h.number], key);
		v->value[h.number] = 0;
	} else {
		ck_assert_uint_eq(h.kind, WIRE_VERSION);
		ck_assert_uint_eq(v->value[h.number], 0);
		const char *digits = at + sizeof h + sizeof k + k.length;
		uint32_t n = h.length - (uint32_t)sizeof k - k.length, x = 0;
		for (uint32_t i = 0; i < n; i++)
			x = 10 * x + (uint32_t)(digits[i] - '0');
		v->value[h.number] = x;
		v->key[h.number] = key;
	}
}

static void hear(struct trial *t, struct view *v)
{
	struct text said = { 0 };
	struct wire_head h;
	uint32_t table = rng_below(&t->rng, TABLES);
	row_versions_put_news(t->versions, v->reader, &said);
	ck_assert(row_versions_tells(t->versions, v->reader,
	                             &t->tables[table]) == v->tables[table]);
	if (!v->tables[table])
		row_versions_put_table(t->versions, v->reader,
		                       &t->tables[table], &said);
	v->tables[table] = true;
	for (size_t i = 0; i < said.length; i += sizeof h + h.length) {
		memcpy(&h, said.data + i, sizeof h);
		take(v, said.data + i);
	}
	text_free(&said);
	for (uint32_t n = 0; n < MOST; n++) {
		bool told = v->tables[t->truth.key[n] % TABLES];
		ck_assert_uint_eq(v->value[n], told ? t->truth.value[n] : 0);
	}
	for (uint32_t k = 0; k < KEYS; k++)
		ck_assert(v->gone[k] ==
		          (v->tables[k % TABLES] && t->truth.gone[k]));
}

static void come_or_go(struct trial *t, struct view *v)
{
	if (v->used) row_versions_drop_reader(t->versions, v->reader);
	bool comes = !v->used;
	*v = (struct view){ .used = comes };
	if (comes) v->reader = row_versions_add_reader(t->versions);
}

static void step(struct trial *t)
{
	struct view *v = &t->views[rng_below(&t->rng, READERS)];
	uint32_t key = rng_below(&t->rng, KEYS);
	uint32_t live = 0;
	for (uint32_t n = 0; n < MOST; n++) live += t->truth.value[n] != 0;
	switch (rng_below(&t->rng, 16)) {
	case 0: come_or_go(t, v); break;
	case 1:
		if (v->used) hear(t, v);
		break;
	case 2: turn_deletion(t, key); break;
	default:
		if (live < MOST / 2 && rng_below(&t->rng, 2))
			add(t, key);
		else
			forget_one(t);
	}
}

START_TEST(readers_know_what_there_is)
{
	static const char *const images[] = { "0", "1", "2", "3" };
	struct trial t = { .rng = { first_seed() + (uint64_t)_i },
		           .versions = row_versions_new() };
	for (uint32_t n = 0; n < TABLES; n++) t.tables[n].global = n;
	for (uint32_t k = 0; k < KEYS; k++)
		t.keys[k] =
			(struct server_key){ .relation = &t.tables[k % TABLES],
			                     .number = k,
			                     .image = images[k],
			                     .length = 1 };
	for (int i = 0; i < STEPS; i++) step(&t);
	for (int i = 0; i < READERS; i++)
		if (t.views[i].used) hear(&t, &t.views[i]);
	row_versions_free(t.versions);
}
END_TEST

void add_row_versions_tests(TCase *tests)
{
	tcase_add_loop_test(tests, readers_know_what_there_is, 0, 20);
}
