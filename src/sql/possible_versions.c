/* Before sessions are explored, their transactions are run in some orders, with
 * reads from any version that was committed: so most rows that they can write
 * are known, and conditions need not be looked at again.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/rng.h"
#include "sql/image.h"
#include "vm/bytecode.h"
#include "vm/machine.h"

enum {
	RUNS_QUIET = 256,  /* in which nothing turns up, and it is over; */
	RUNS_ENOUGH = 64,  /* so few, if in these more statements than */
	CARRIED_OUT = 300, /* this are carried out: what is not seen then */
	/* is left to who explores (known_rows.c) */
	RUNS_MOST = 4096,     /* and it is over anyway; */
	CARRIED_MOST = 50000, /* or after so many */
	STEPS_MOST = 100000   /* of one run */
};

/* What was committed to one key in a run, oldest first. */
struct versions {
	uint32_t global;
	uint32_t run;
	struct value key;
	struct value *items;
	uint32_t count, capacity;
};

struct saturation {
	struct sql_image *image;
	struct guest *guest;
	struct region region; /* of one run */
	struct region lasting;
	struct rng rng;
	uint32_t run;
	struct versions *keys; /* of this run and those before it */
	uint32_t key_count, key_capacity;
	struct table table;
	const struct guest_step **at;     /* by session: its last step */
	struct guest_step const **writes; /* of the transaction at hand */
	uint32_t write_count, write_capacity;
	struct table written; /* them */
	bool gave_up;
};

/* In the beginning there is what set-up left. */
static struct versions *versions_now(const struct saturation *s,
                                     struct versions *v)
{
	assert(v->count && v->run <= s->run);
	if (v->run != s->run) v->count = 1;
	v->run = s->run;
	return v;
}

static struct versions *versions_of(struct saturation *s, uint32_t global,
                                    struct value key)
{
	struct table_probe probe =
		table_probe(hash_mix(global, value_hash(key)));
	uint32_t i;
	while ((i = table_next(&s->table, &probe)) != TABLE_NONE)
		if (s->keys[i].global == global &&
		    value_equal(s->keys[i].key, key))
			return versions_now(s, &s->keys[i]);
	const struct known_row *row = known_find(&s->image->known, global, key);
	VEC_RESERVE(s->keys, s->key_count, s->key_capacity);
	struct versions *v = &s->keys[s->key_count];
	*v = (struct versions){ .global = global,
		                .run = s->run,
		                .key = value_copy(&s->lasting, key) };
	VEC_RESERVE(v->items, v->count, v->capacity);
	v->items[v->count++] =
		row && row->initial ? row->versions[0] : value_null();
	table_put(&s->table, probe, s->key_count++);
	return v;
}

/* Half of the runs are serial. */
static struct value choose(struct saturation *s, const struct versions *v,
                           bool newest)
{
	assert(v->count);
	uint32_t i =
		newest ? v->count - 1 : (uint32_t)rng_below(&s->rng, v->count);
	return v->items[i];
}

static void commit(struct saturation *s)
{
	for (uint32_t i = 0; i < s->write_count; i++) {
		const struct guest_step *w = s->writes[i];
		struct versions *v = versions_of(s, w->global, w->key);
		VEC_RESERVE(v->items, v->count, v->capacity);
		v->items[v->count++] = w->value;
	}
	s->write_count = 0;
}

/* The last write of a key is what it becomes. */
static void note_write(struct saturation *s, const struct guest_step *step)
{
	struct table_probe probe =
		table_probe(hash_mix(step->global, value_hash(step->key)));
	uint32_t i;
	while ((i = table_next(&s->written, &probe)) != TABLE_NONE)
		if (s->writes[i]->global == step->global &&
		    value_equal(s->writes[i]->key, step->key))
			break;
	if (i == TABLE_NONE) {
		VEC_RESERVE(s->writes, s->write_count, s->write_capacity);
		i = s->write_count;
		table_put(&s->written, probe, s->write_count++);
	}
	s->writes[i] = step;
}

/* The next transaction of the session; false if there is none, or it was given
 * up. */
static bool run_transaction(struct saturation *s, uint32_t session, bool newest,
                            uint32_t *steps)
{
	const struct guest_ops *ops = s->image->guest.ops;
	const struct guest_step *step = s->at[session];
	assert(step->kind != GUEST_END);
	s->write_count = 0;
	table_clear(&s->written);
	while (++*steps < STEPS_MOST) {
		struct value answer = value_null();
		if (step->kind == GUEST_GET)
			answer = choose(s,
			                versions_of(s, step->global, step->key),
			                newest);
		step = ops->next(s->guest, step, answer, &s->region);
		if (!step) {
			s->gave_up = true;
			return false;
		}
		s->at[session] = step;
		switch (step->kind) {
		case GUEST_PUT: note_write(s, step); break;
		case GUEST_COMMIT: commit(s); return true;
		case GUEST_ABORT: return true;
		case GUEST_END: return false;
		default: break;
		}
	}
	return false;
}

static void run_once(struct saturation *s, uint32_t sessions, bool serial)
{
	uint32_t left = sessions, steps = 0;
	uint32_t *alive = mem_take0(sessions + 1, sizeof *alive);
	for (uint32_t i = 0; i < sessions; i++) {
		alive[i] = i;
		s->at[i] = s->image->guest.ops->start(s->guest, i);
	}
	while (left && steps < STEPS_MOST) {
		uint32_t i = (uint32_t)rng_below(&s->rng, left);
		bool newest = serial || rng_below(&s->rng, 2);
		if (!run_transaction(s, alive[i], newest, &steps))
			alive[i] = alive[--left];
	}
	free(alive);
}

/* Nothing has turned up in so many runs, since the guest was asked so often. */
static bool is_over(const struct saturation *s, uint32_t quiet, uint64_t asked)
{
	uint64_t all = s->image->guest.ops->asked(s->guest);
	if (s->gave_up || s->run >= RUNS_MOST || all >= CARRIED_MOST)
		return true;
	return quiet >= RUNS_QUIET ||
	       (quiet >= RUNS_ENOUGH && all - asked >= CARRIED_OUT);
}

void sql_saturate(struct sql_image *image, const struct machine_limits *limits)
{
	uint32_t sessions = image->session_count;
	struct saturation s = { .image = image };
	assert(!image->settled);
	region_init(&s.region);
	region_init(&s.lasting);
	table_init(&s.table, 0);
	table_init(&s.written, 0);
	s.rng.state = 1;
	s.guest = image->guest.ops->take(&image->guest, limits);
	s.at = mem_take0(sessions + 1, sizeof *s.at);
	uint64_t asked = 0;
	for (uint32_t quiet = 0; !is_over(&s, quiet, asked); s.run++) {
		uint64_t before = image->growth;
		struct region_mark mark = region_mark(&s.region);
		run_once(&s, sessions, s.run % 2 == 0);
		region_release(&s.region, mark);
		quiet = image->growth == before ? quiet + 1 : 0;
		if (quiet) continue;
		sql_guests_forget(image);
		asked = image->guest.ops->asked(s.guest);
	}
	image->carried_out = image->guest.ops->asked(s.guest);
	image->guest.ops->give_back(&image->guest, s.guest);
	known_sort(&image->known);
	image->settled = true;
	free(s.at);
	for (uint32_t i = 0; i < s.key_count; i++) free(s.keys[i].items);
	free(s.keys);
	free(s.writes);
	table_free(&s.table);
	table_free(&s.written);
	region_free(&s.region);
	region_free(&s.lasting);
}
