/* What all who carry out a statement stand on: rows of results, failing, and
 * keys that are read and written. */
#include "sql/run.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"

void *sql_grow(struct region *r, const void *old, uint32_t count, size_t size)
{
	void *more = region_take(r, (count ? 2 * (size_t)count : 8) * size);
	if (count) memcpy(more, old, count * size);
	return more;
}

void sql_rows_add(struct region *r, struct sql_rows *rows,
                  const struct value *row)
{
	REGION_RESERVE(r, rows->items, rows->count, rows->capacity);
	rows->items[rows->count++] = row;
}

bool sql_run_fails(struct sql_run *x, const char *state, const char *format,
                   ...)
{
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	x->stop = SQL_FAILED;
	sql_fail(x->region, &x->failure, state, "%s", text_get(&t));
	text_free(&t);
	return false;
}

/* ---- What a statement may take ---- */

enum {
	STEPS_MOST = 10000000,
	MEMORY_MOST = 1 << 28, /* bytes */
	/* The statement is begun anew for each read that is not foreseen. */
	ANEW_MOST = 2000,
	STEPS_OF_PATIENCE = 1 << 12
};

bool sql_is_beyond(struct sql_run *x, const char *what, const char *why)
{
	x->beyond = what;
	return sql_run_fails(x, "54000", "%s", why);
}

bool sql_is_endless(struct sql_run *x, const char *what, const char *why)
{
	x->endless = true;
	return sql_is_beyond(x, what, why);
}

bool sql_spend(struct sql_run *x, size_t bytes)
{
	if (++x->spent > STEPS_MOST)
		return sql_is_endless(x, "a statement without end",
		                      "it takes more than 10000000 steps");
	if (bytes > MEMORY_MOST || x->region->held + bytes > MEMORY_MOST)
		return sql_is_endless(x, "a statement too large",
		                      "it takes more than 256 MiB of memory");
	if (x->spent % STEPS_OF_PATIENCE || !x->gives_up ||
	    !x->gives_up(x->gives_up_data))
		return true;
	x->stop = SQL_GIVES_UP;
	return false;
}

/* ---- Keys ---- */

static bool same_key(uint32_t global, struct value key, uint32_t g,
                     struct value k)
{
	return global == g && value_equal(key, k);
}

/* A write, and those of its key before it. */
struct sql_own {
	const struct sql_write *write;
	const struct sql_own *older;
};

static const struct sql_own **own_slot(const struct sql_run *x, uint32_t global,
                                       struct value key)
{
	uint32_t i = (uint32_t)hash_mix(global, value_hash(key));
	for (;; i++) {
		const struct sql_own **slot =
			&x->own_slots[i & (x->own_slot_count - 1)];
		if (!*slot || same_key(global, key, (*slot)->write->global,
		                       (*slot)->write->key))
			return slot;
	}
}

/* Those that are new; all, where there is no more room, or some that were there
 * have been taken back. */
static void index_writes(struct sql_run *x)
{
	const struct sql_write *w = x->writes;
	uint32_t number = w->number, known, count;
	known = x->indexed ? x->indexed->number : 0;
	while (w && w->number > known) w = w->older;
	if (w != x->indexed || 2 * number > x->own_slot_count) {
		if (!x->own_slot_count) x->own_slot_count = 16;
		while (4 * number > x->own_slot_count) x->own_slot_count *= 2;
		x->own_slots = region_take0(
			x->region, x->own_slot_count * sizeof *x->own_slots);
		known = 0;
	}
	count = number - known;
	struct sql_own *all = region_take(x->region, count * sizeof *all);
	w = x->writes;
	for (uint32_t i = count; i-- > 0; w = w->older) all[i].write = w;
	for (uint32_t i = 0; i < count; i++) {
		const struct sql_own **slot =
			own_slot(x, all[i].write->global, all[i].write->key);
		assert(all[i].write->number == known + i + 1);
		all[i].older = *slot;
		*slot = &all[i];
	}
	x->indexed = x->writes;
}

const struct sql_write *sql_own_write(struct sql_run *x,
                                      const struct sql_write *w,
                                      uint32_t global, struct value key)
{
	enum { FEW = 8 };
	if (w && w->number > FEW) {
		const struct sql_own *o;
		assert(w->number <= x->writes->number);
		if (x->indexed != x->writes) index_writes(x);
		o = *own_slot(x, global, key);
		while (o && o->write->number > w->number) o = o->older;
		return o ? o->write : NULL;
	}
	while (w && !same_key(global, key, w->global, w->key)) w = w->older;
	return w;
}

/* The row that set-up left. */
static struct value initial_row(const struct sql_run *x, uint32_t global,
                                struct value key)
{
	const struct known_row *row = known_find(x->known, global, key);
	return row && row->initial ? row->versions[0] : value_null();
}

/* Where the last read of this kind is noted, or will be. */
static uint32_t *find_slot(const struct sql_run *x, uint32_t global,
                           struct value key, enum strength strength)
{
	uint64_t hash =
		hash_mix(global * STRENGTH_COUNT + strength, value_hash(key));
	uint32_t i = (uint32_t)hash;
	for (;; i++) {
		uint32_t *slot = &x->slots[i & (x->slot_count - 1)];
		if (!*slot) return slot;
		const struct sql_read *r = &x->reads[*slot - 1];
		if (r->strength == strength &&
		    same_key(global, key, r->global, r->key))
			return slot;
	}
}

static uint32_t *find_read(struct sql_run *x, uint32_t global, struct value key,
                           enum strength strength)
{
	if (2 * x->read_count >= x->slot_count) {
		x->slot_count = x->slot_count ? 4 * x->slot_count : 16;
		x->slots = region_take0(x->region,
		                        x->slot_count * sizeof *x->slots);
		for (uint32_t i = 0; i < x->read_count; i++)
			*find_slot(x, x->reads[i].global, x->reads[i].key,
			           x->reads[i].strength) = i + 1;
	}
	return find_slot(x, global, key, strength);
}

/* Has the statement read it so, since the moments that count? Else *slot is
 * where the read is to be noted. */
static bool was_answered(struct sql_run *x, uint32_t global, struct value key,
                         enum strength strength, uint32_t **slot,
                         struct value *out)
{
	*slot = find_read(x, global, key, strength);
	uint32_t base = x->read_base;
	for (uint32_t i = **slot, first; i > base;) {
		*out = x->values[i - 1];
		first = x->reads[i - 1].before;
		if (first <= base) return true;
		i = first;
	}
	return false;
}

/* What the key holds, if that is known without another read: the transaction
 * has written it, the statement was answered when it first read it, or it is
 * what set-up has left. Else *slot is where a read is to be noted. */
static bool is_answered(struct sql_run *x, uint32_t global, struct value key,
                        enum strength strength, uint32_t **slot,
                        struct value *out)
{
	const struct sql_write *own = sql_own_write(
		x, strength == STRENGTH_PLAIN ? x->written_before : x->writes,
		global, key);
	if (own) {
		*out = own->row;
		return true;
	}
	if (x->serial) {
		*out = initial_row(x, global, key);
		return true;
	}
	return was_answered(x, global, key, strength, slot, out);
}

static bool read_anew(struct sql_run *x, uint32_t global, struct value key,
                      enum strength strength, uint32_t *slot, struct value *out)
{
	assert(x->read_base <= x->read_count);
	assert(x->read_count <= x->answer_count);
	assert(!x->serial);
	if (x->locked && strength < STRENGTH_SHARE) sql_begin_moment(x);
	struct sql_read read = { global,   x->point, key,  strength,
		                 x->begun, *slot,    false };
	x->begun = true;
	x->locked |= strength >= STRENGTH_SHARE;
	if (x->anew++ == ANEW_MOST) {
		if (x->loops) x->point = x->loop_point;
		return sql_is_endless(
			x,
			x->loops ? "an endless loop" : "a statement too large",
			"it reads more than 2000 keys, one after the other");
	}
	if (!sql_spend(x, 0)) return false;
	if (x->read_count == x->answer_count) {
		x->wanted = read;
		x->stop = SQL_WAITS;
		return false;
	}
	if (x->read_count == x->read_capacity) {
		uint32_t n = x->read_count;
		x->reads = sql_grow(x->region, x->reads, n, sizeof *x->reads);
		x->values =
			sql_grow(x->region, x->values, n, sizeof *x->values);
		x->read_capacity = n ? 2 * n : 8;
	}
	*out = x->answers[x->read_count];
	x->reads[x->read_count] = read;
	x->values[x->read_count++] = *out;
	*slot = x->read_count;
	return true;
}

bool sql_read(struct sql_run *x, uint32_t global, struct value key,
              enum strength strength, struct value *out)
{
	uint32_t *slot;
	assert(!x->looks || x->serial || strength == STRENGTH_PLAIN);
	return is_answered(x, global, key, strength, &slot, out) ||
	       read_anew(x, global, key, strength, slot, out);
}

bool sql_lock(struct sql_run *x, uint32_t global, struct value key,
              enum strength strength)
{
	uint32_t *slot;
	struct value there;
	assert(!x->looks && strength != STRENGTH_PLAIN);
	return x->serial ||
	       was_answered(x, global, key, strength, &slot, &there) ||
	       read_anew(x, global, key, strength, slot, &there);
}

bool sql_was_read(struct sql_run *x, uint32_t global, struct value key,
                  enum strength strength)
{
	return !x->serial &&
	       *find_read(x, global, key, strength) > x->read_base;
}

void sql_foresee(struct sql_run *x, uint32_t global, struct value *keys,
                 uint32_t count, enum strength strength)
{
	uint32_t n = 0, *slot;
	struct value row;
	assert(x->stop == SQL_WAITS && x->wanted.global == global);
	for (uint32_t i = 0; i < count; i++)
		if (!is_answered(x, global, keys[i], strength, &slot, &row))
			keys[n++] = keys[i];
	x->foreseen = (struct sql_foreseen){ keys, n };
}

void sql_write(struct sql_run *x, const struct sql_table *t, uint32_t global,
               struct value key, struct value row, enum strength strength)
{
	assert(key.tag == VALUE_TUPLE);
	assert(!x->looks && !x->fixed && !x->read_only);
	if (x->direct) {
		known_set(x->known, global, key, row);
		return;
	}
	struct sql_write *w = region_take(x->region, sizeof *w);
	*w = (struct sql_write){ .older = x->writes,
		                 .number =
		                         x->writes ? x->writes->number + 1 : 1,
		                 .table = t,
		                 .global = global,
		                 .point = x->point,
		                 .key = key,
		                 .row = row,
		                 .strength = strength,
		                 .joined = x->begun,
		                 .after = x->read_count };
	x->begun = x->locked = true;
	x->writes = w;
}

/* ---- Rows of tables ---- */

struct value sql_key(struct sql_run *x, const struct sql_unique *u,
                     const struct value *columns)
{
	struct value *items = region_take(x->region, u->count * sizeof *items);
	for (uint32_t i = 0; i < u->count; i++) {
		items[i] = columns[u->columns[i]];
		if (sql_is_null(items[i])) return value_null();
		items[i] = sql_key_part(x->region, items[i], u->types[i]);
	}
	return value_sequence(x->region, VALUE_TUPLE, items, u->count);
}
