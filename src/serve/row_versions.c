#include "serve/row_versions.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "postgres/guest.h"
#include "postgres/wire.h"

struct kept {
	struct served_version what;
	char *image;
	uint64_t told; /* the serial of the news of it; 0: it was forgotten */
};

/* That there is a version; or, `told` not 0, that the one whose news had that
 * serial is over. */
struct item {
	uint64_t serial, told;
	const struct server_key *key;
	uint32_t number; /* 0: over is that the row was deleted */
};

struct reader {
	bool used;
	uint64_t heard; /* all up to this serial */
	bool *tables;   /* that it is told of, by the number of their global */
	uint32_t table_count;
};

struct row_versions {
	struct kept *items;
	uint32_t count, capacity;
	uint32_t *free; /* numbers */
	uint32_t free_count, free_capacity;
	bool *initial; /* by number of the key */
	uint32_t initial_count;
	struct item *news; /* by serial */
	size_t news_count, news_capacity;
	size_t enough;   /* of them, until they are looked through */
	uint64_t serial; /* of the last one, or 1 */
	struct reader *readers;
	uint32_t reader_count, reader_capacity;
};

enum { NEWS_LEAST = 1024 };

struct row_versions *row_versions_new(void)
{
	struct row_versions *v = mem_take0(1, sizeof *v);
	v->enough = NEWS_LEAST;
	v->serial = 1;
	return v;
}

void row_versions_free(struct row_versions *v)
{
	if (!v) return;
	for (uint32_t i = 0; i < v->count; i++) free(v->items[i].image);
	free(v->items);
	free(v->free);
	free(v->initial);
	free(v->news);
	for (uint32_t i = 0; i < v->reader_count; i++)
		free(v->readers[i].tables);
	free(v->readers);
	free(v);
}

const struct served_version *row_versions_get(const struct row_versions *v,
                                              uint32_t number)
{
	assert(number && number <= v->count && v->items[number - 1].told);
	return &v->items[number - 1].what;
}

bool row_versions_is_initial(const struct row_versions *v,
                             const struct server_key *k)
{
	return k->number < v->initial_count && v->initial[k->number];
}

static void note_initial(struct row_versions *v, const struct server_key *k)
{
	if (k->number >= v->initial_count) {
		uint32_t n = 2 * k->number + 64;
		v->initial = mem_grow0(v->initial, v->initial_count, n,
		                       sizeof *v->initial);
		v->initial_count = n;
	}
	v->initial[k->number] = true;
}

/* ---- News ---- */

static bool is_news(const struct row_versions *v, const struct item *x)
{
	return v->items[x->number - 1].told == x->serial;
}

bool row_versions_tells(const struct row_versions *v, uint32_t reader,
                        const struct server_relation *table)
{
	const struct reader *r = &v->readers[reader];
	assert(reader < v->reader_count && r->used);
	return table->global < r->table_count && r->tables[table->global];
}

/* Is the reader to be told of it? */
static bool wants(const struct row_versions *v, uint32_t reader,
                  const struct item *x)
{
	uint64_t heard = v->readers[reader].heard;
	return heard < x->serial && heard >= x->told &&
	       row_versions_tells(v, reader, x->key->relation);
}

static bool has_reader(const struct row_versions *v, const struct item *x)
{
	for (uint32_t i = 0; i < v->reader_count; i++)
		if (v->readers[i].used && wants(v, i, x)) return true;
	return false;
}

/* What is over before somebody has heard of it goes, and what all have. */
static void tidy(struct row_versions *v)
{
	size_t kept = 0;
	for (size_t i = 0; i < v->news_count; i++) {
		const struct item *x = &v->news[i];
		if ((x->told || is_news(v, x)) && has_reader(v, x))
			v->news[kept++] = *x;
	}
	v->news_count = kept;
	v->enough = 2 * kept + NEWS_LEAST;
}

static void add_news(struct row_versions *v, struct item x)
{
	if (v->news_count >= v->enough) tidy(v);
	VEC_RESERVE(v->news, v->news_count, v->news_capacity);
	v->news[v->news_count++] = x;
}

uint32_t row_versions_add(struct row_versions *v, struct served_version what,
                          bool initial)
{
	uint32_t number;
	char *image = NULL;
	if (v->free_count) {
		number = v->free[--v->free_count];
	} else {
		VEC_RESERVE(v->items, v->count, v->capacity);
		number = ++v->count;
	}
	if (initial) note_initial(v, what.key);
	if (what.image) {
		image = mem_take(what.length + (size_t)1);
		memcpy(image, what.image, what.length);
		what.image = image;
	}
	v->items[number - 1] = (struct kept){ what, image, ++v->serial };
	add_news(v, (struct item){ .serial = v->serial,
	                           .key = what.key,
	                           .number = number });
	return number;
}

void row_versions_forget(struct row_versions *v, uint32_t number)
{
	struct kept *k = &v->items[number - 1];
	struct item over = { .told = k->told,
		             .key = k->what.key,
		             .number = k->what.image ? number : 0 };
	assert(number && number <= v->count && k->told);
	/* Its row was deleted: one of this key that comes is another one. */
	if (!k->what.image && k->what.key->number < v->initial_count)
		v->initial[k->what.key->number] = false;
	free(k->image);
	*k = (struct kept){ 0 };
	VEC_RESERVE(v->free, v->free_count, v->free_capacity);
	v->free[v->free_count++] = number;
	over.serial = ++v->serial;
	add_news(v, over);
}

/* ---- Readers ---- */

uint32_t row_versions_add_reader(struct row_versions *v)
{
	uint32_t i = 0;
	while (i < v->reader_count && v->readers[i].used) i++;
	if (i == v->reader_count) {
		VEC_RESERVE(v->readers, v->reader_count, v->reader_capacity);
		v->reader_count++;
	}
	v->readers[i] = (struct reader){ .used = true, .heard = v->serial };
	return i;
}

void row_versions_drop_reader(struct row_versions *v, uint32_t reader)
{
	assert(reader < v->reader_count && v->readers[reader].used);
	free(v->readers[reader].tables);
	v->readers[reader] = (struct reader){ 0 };
}

static void put_version(const struct row_versions *v, uint32_t number,
                        bool known, struct text *t)
{
	const struct served_version *x = row_versions_get(v, number);
	struct wire_head h = { .kind = x->image ? WIRE_VERSION : WIRE_GONE,
		               .number = number,
		               .known = known,
		               .initial = row_versions_is_initial(v, x->key),
		               .owner = (uint32_t)v->items[number - 1].told };
	channel_put_record(t, h, x->key, x->image ? x->image : "", x->length);
}

void row_versions_put_once(const struct row_versions *v, uint32_t number,
                           struct text *t)
{
	put_version(v, number, false, t);
}

static void put_item(const struct row_versions *v, const struct item *x,
                     struct text *t)
{
	struct wire_head over = { .kind = WIRE_OVER, .number = x->number };
	if (x->told)
		channel_put_record(t, over, x->key, "", 0);
	else if (is_news(v, x))
		put_version(v, x->number, true, t);
}

/* The first one behind this serial. */
static size_t first_behind(const struct row_versions *v, uint64_t serial)
{
	size_t low = 0, high = v->news_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (v->news[middle].serial <= serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void row_versions_put_news(struct row_versions *v, uint32_t reader,
                           struct text *t)
{
	assert(reader < v->reader_count && v->readers[reader].used);
	struct reader *r = &v->readers[reader];
	for (size_t i = first_behind(v, r->heard); i < v->news_count; i++)
		if (wants(v, reader, &v->news[i])) put_item(v, &v->news[i], t);
	r->heard = v->serial;
}

void row_versions_put_table(struct row_versions *v, uint32_t reader,
                            const struct server_relation *table, struct text *t)
{
	struct reader *r = &v->readers[reader];
	assert(!row_versions_tells(v, reader, table) && r->heard == v->serial);
	if (table->global >= r->table_count) {
		uint32_t n = table->global + 1;
		r->tables = mem_grow0(r->tables, r->table_count, n,
		                      sizeof *r->tables);
		r->table_count = n;
	}
	r->tables[table->global] = true;
	for (uint32_t n = 1; n <= v->count; n++) {
		const struct kept *k = &v->items[n - 1];
		if (k->told && k->what.key->relation == table)
			put_version(v, n, true, t);
	}
}
