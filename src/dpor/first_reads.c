#include "dpor/first_reads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/engine.h"
#include "vm/program.h"

/* What takes longer is given up: it would cost more than the beginnings that it
 * refuses. */
enum {
	WAYS = 256,
	VALUES = 16,
	OWN_WRITES = 64,
	KEYS = 256,
	READS = 4096, /* on all ways */
	LISTS = 1 << 18
};

/* A run ahead. */
struct run {
	struct engine *engine;
	struct key_list *found;
	uint32_t place; /* writers stand before it */
	uint32_t ways;  /* gone so far */
	uint32_t reads; /* on them */
	bool one_way;
	/* The transaction's own writes, newest last. */
	uint32_t own_count, own_keys[OWN_WRITES];
	struct value own_values[OWN_WRITES];
};

void first_reads_free(struct first_reads *f, uint32_t sessions)
{
	for (size_t i = 0; i < (size_t)f->places * sessions; i++)
		free(f->lists[i].items);
	free(f->lists);
	free(f->changed);
}

size_t first_reads_bytes(const struct first_reads *f, uint32_t sessions)
{
	return (size_t)f->places *
	               (sizeof *f->changed + sessions * sizeof *f->lists) +
	       f->keys * sizeof *f->lists->items;
}

static void reserve(struct engine *e, uint32_t place)
{
	struct first_reads *f = &e->first_reads;
	if (place < f->places) return;
	uint32_t places = 2 * place + 2;
	size_t sessions = e->context.sessions, old = f->places * sessions;
	f->lists = mem_grow(f->lists, places * sessions, sizeof *f->lists);
	memset(f->lists + old, 0, (places * sessions - old) * sizeof *f->lists);
	f->changed = mem_grow(f->changed, places, sizeof *f->changed);
	memset(f->changed + f->places, 0,
	       (places - f->places) * sizeof *f->changed);
	f->places = places;
}

/* A branch begins with transactions that nobody notes. */
static void look_at_branch(struct engine *e)
{
	struct first_reads *f = &e->first_reads;
	if (f->branch == e->branches) return;
	f->branch = e->branches;
	f->now++;
	for (uint32_t i = 0; i < f->places; i++) f->changed[i] = f->now;
}

void first_reads_note_end(struct engine *e)
{
	uint32_t place = engine_closure(e)->count;
	assert(place > 1 && !engine_ledger(e)->pending.active);
	if (((size_t)place + 1) * e->context.sessions > LISTS / 2) return;
	look_at_branch(e);
	reserve(e, place);
	e->first_reads.changed[place] = ++e->first_reads.now;
}

/* ---- running ahead ---- */

static const struct value *own_write(const struct run *r, uint32_t key)
{
	for (uint32_t i = r->own_count; i-- > 0;)
		if (r->own_keys[i] == key) return &r->own_values[i];
	return NULL;
}

static bool has_key(const struct key_list *l, uint32_t key)
{
	for (uint32_t i = 0; i < l->count; i++)
		if (l->items[i] == key) return true;
	return false;
}

/* False if there are too many. */
static bool add_key(struct first_reads *f, struct key_list *l, uint32_t key)
{
	if (has_key(l, key)) return true;
	if (l->count == KEYS) return false;
	f->keys -= l->capacity;
	VEC_RESERVE(l->items, l->count, l->capacity);
	f->keys += l->capacity;
	l->items[l->count++] = key;
	return true;
}

static bool has_value(const struct value *values, uint32_t count,
                      struct value v)
{
	for (uint32_t i = 0; i < count; i++)
		if (value_equal(values[i], v)) return true;
	return false;
}

/* The different values of the key that were written before the place; 0 if
 * there are too many. */
static uint32_t values_of(const struct run *r, uint32_t key,
                          struct value *values)
{
	const struct ledger *l = engine_ledger(r->engine);
	const struct closure *c = &l->closure;
	uint32_t count = 1;
	values[0] = keys_initial(r->engine->context.machine.keys, key);
	if (key >= c->key_count) return count;
	BITS_EACH(t, c->writers + (size_t)key * c->words, c->words) {
		if (t == HISTORY_INIT || c->position[t] >= r->place) continue;
		struct value v = ledger_value(l, key, t);
		if (has_value(values, count, v)) continue;
		if (count == VALUES) return 0;
		values[count++] = v;
	}
	return count;
}

static bool run_ahead(struct run *r, struct session_run *live);

/* The same from a read on, for each of its values. */
static bool run_with_each(struct run *r, const struct machine_state *waiting,
                          const struct value *values, uint32_t count)
{
	struct context *c = &r->engine->context;
	uint32_t own_count = r->own_count;
	assert(count > 1 && count <= VALUES);
	for (uint32_t i = 0; i < count; i++) {
		struct session_run live;
		session_run_resume(&live, &c->memo, waiting);
		r->own_count = own_count;
		session_run_answer(&live, values[i]);
		if (++r->ways > WAYS || !run_ahead(r, &live)) return false;
	}
	return true;
}

/* Finds all that the transaction may read; false: that is too much. */
static bool run_ahead(struct run *r, struct session_run *live)
{
	struct context *c = &r->engine->context;
	for (;;) {
		struct request q;
		struct value values[VALUES];
		const struct value *own;
		uint32_t count;
		session_run_step(live, &q);
		if (c->machine.stop) return false;
		switch (q.kind) {
		case REQUEST_WRITE:
			if (r->own_count == OWN_WRITES) return false;
			r->own_keys[r->own_count] = q.key;
			r->own_values[r->own_count++] = q.value;
			break;
		case REQUEST_GIVE_UP: break;
		case REQUEST_READ:
			if (++r->reads > READS) return false;
			own = own_write(r, q.key);
			if (own) {
				session_run_answer(live, *own);
				break;
			}
			if (!add_key(&r->engine->first_reads, r->found, q.key))
				return false;
			count = values_of(r, q.key, values);
			if (!count) return false;
			if (count > 1 && !r->one_way)
				return run_with_each(r, session_run_state(live),
				                     values, count);
			session_run_answer(live, values[count - 1]);
			break;
		default: return true;
		}
	}
}

static bool find(struct engine *e, uint32_t session, uint32_t place,
                 bool one_way, struct key_list *found)
{
	struct context *c = &e->context;
	const struct machine_state *s =
		engine_state(e)->execution.points[session].state;
	struct run r = {
		.engine = e, .found = found, .place = place, .one_way = one_way
	};
	struct session_run live;
	struct region_mark mark = region_mark(&c->region);
	if (c->machine.guest || program_is_sql(c->program) ||
	    keys_count(c->machine.keys) > KEYS_MAX / 2)
		return false;
	session_run_resume(&live, &c->memo, s);
	bool all = run_ahead(&r, &live);
	region_release(&c->region, mark);
	return all;
}

/* ---- keeping answers ---- */

static struct key_list *list_at(struct engine *e, uint32_t session,
                                uint32_t place)
{
	struct first_reads *f = &e->first_reads;
	assert(session < e->context.sessions && place < f->places);
	return &f->lists[(size_t)place * e->context.sessions + session];
}

/* Was one of the keys written at `from` or behind it, before `to`? */
static bool some_between(const struct closure *c, const struct key_list *l,
                         uint32_t from, uint32_t to)
{
	for (uint32_t p = from; p < to; p++)
		for (uint32_t i = 0; i < c->blocks[p].written_count; i++)
			if (has_key(l, c->blocks[p].written[i])) return true;
	return false;
}

/* Where nothing that the transaction reads is written, it does the same. With
 * more to read, there are as many ways or more. */
static bool is_as_before(struct engine *e, uint32_t session, uint32_t place,
                         bool all, struct key_list *l)
{
	struct first_reads *f = &e->first_reads;
	const struct ledger *ledger = engine_ledger(e);
	const struct closure *c = &ledger->closure;
	uint32_t last = c->position[ledger_last(ledger, session)];
	for (uint32_t p = place; --p > last;) {
		const struct key_list *k = list_at(e, session, p);
		if (k->known_at <= f->changed[p]) continue;
		if (all && k->extent == KEYS_TOO_MANY) {
			l->extent = KEYS_TOO_MANY;
			return true;
		}
		if (k->extent == KEYS_TOO_MANY ||
		    (all && k->extent == KEYS_SOME))
			continue;
		if (some_between(c, k, p, place)) return false;
		l->count = 0;
		for (uint32_t i = 0; i < k->count; i++)
			add_key(f, l, k->items[i]);
		l->extent = k->extent;
		return true;
	}
	return false;
}

static void find_list(struct engine *e, uint32_t session, uint32_t place,
                      bool all, struct key_list *l)
{
	if (is_as_before(e, session, place, all, l)) return;
	if (!find(e, session, place, !all, l))
		l->extent = KEYS_TOO_MANY;
	else
		l->extent = all ? KEYS_ALL : KEYS_SOME;
}

const struct key_list *first_reads(struct engine *e, uint32_t session,
                                   uint32_t place, bool all)
{
	struct first_reads *f = &e->first_reads;
	if (((size_t)place + 1) * e->context.sessions > LISTS / 2) return NULL;
	look_at_branch(e);
	reserve(e, place);
	struct key_list *l = list_at(e, session, place);
	if (l->known_at <= f->changed[place]) {
		l->count = 0;
		find_list(e, session, place, false, l);
		l->known_at = ++f->now;
	}
	if (all && l->extent == KEYS_SOME)
		find_list(e, session, place, true, l);
	return l->extent == KEYS_TOO_MANY ? NULL : l;
}
