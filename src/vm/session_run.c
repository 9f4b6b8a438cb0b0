#include "vm/session_run.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vm/bytecode.h"
#include "vm/machine_state.h"

/* More ways from one place are not kept: to find one takes as long as to go it.
 */
enum { WAYS_MOST = 64 };

/* A state, which stands behind it, at a request that begins, waits or ends. */
struct session_place {
	alignas(16) bool kept; /* if not, there is nothing but the state */
	uint32_t way_count;
	struct session_way *ways; /* newest first */
	struct request request;
};

/* From place to place. */
struct session_way {
	struct session_way *older;
	struct value
		answer; /* to the request at its beginning, if that reads */
	struct session_place *to;
	uint32_t count;
	struct request asked[]; /* writes, and how transactions end */
};

void session_memo_init(struct session_memo *m, struct machine *machine,
                       size_t budget)
{
	const struct program *p = machine->program;
	bool guest = p->guest && !p->sql;
	*m = (struct session_memo){ .machine = machine,
		                    .budget = guest ? 0 : budget };
	region_init(&m->region);
}

void session_memo_free(struct session_memo *m)
{
	region_free(&m->region);
	free(m->asked);
	table_free(&m->by_value);
	free(m->values);
}

size_t session_memo_bytes(const struct session_memo *m)
{
	return m->region.held + m->asked_capacity * sizeof *m->asked +
	       table_bytes(&m->by_value) +
	       m->value_capacity * sizeof *m->values;
}

/* ---- Places ---- */

static struct machine_state *state_of(struct session_place *p)
{
	return (struct machine_state *)(p + 1);
}

static struct session_place *place_of(const struct machine_state *s)
{
	return (struct session_place *)(uintptr_t)s - 1;
}

static size_t size_of_state(const struct session_memo *m)
{
	return machine_state_size(m->machine->program);
}

static struct session_place *new_place(const struct session_memo *m,
                                       struct region *region)
{
	struct session_place *p =
		region_take(region, sizeof *p + size_of_state(m));
	p->kept = false;
	return p;
}

/* Is there room for more? What is there stays for good, so this is asked where
 * a way begins, and one way may take more than is left. */
static bool has_room(const struct session_memo *m)
{
	return m->region.held < m->budget;
}

/* A place whose state is not yet one that can be kept. */
static struct session_place *place_to_keep(struct session_memo *m)
{
	m->asked_count = 0;
	m->coming = new_place(m, &m->region);
	return m->coming;
}

static bool is_at_place(const struct session_run *r)
{
	return r->at && !r->way;
}

/* ---- Values ---- */

/* Is it the very same? Then they are equal. */
static bool is_at_once_same(struct value a, struct value b)
{
	return a.tag == b.tag && a.i == b.i;
}

static bool is_same(struct value a, struct value b)
{
	return is_at_once_same(a, b) ||
	       (a.tag == b.tag && a.tag >= VALUE_STRING && value_equal(a, b));
}

/* The value, or another one that is equal to it, for good. `lasts`: it is there
 * as long as what is kept. */
static struct value keep_value(struct session_memo *m, struct value v,
                               bool lasts)
{
	uint32_t i;
	if (v.tag < VALUE_STRING) return v;
	struct table_probe at = table_probe(value_hash(v));
	if (!m->by_value.slots) table_init(&m->by_value, 0);
	while ((i = table_next(&m->by_value, &at)) != TABLE_NONE)
		if (is_same(m->values[i], v)) return m->values[i];
	if (!lasts) v = value_copy(&m->region, v);
	VEC_RESERVE(m->values, m->value_count, m->value_capacity);
	table_put(&m->by_value, at, m->value_count);
	m->values[m->value_count++] = v;
	return v;
}

static bool is_initial(const struct session_memo *m, uint32_t key,
                       struct value v)
{
	return is_at_once_same(v, keys_initial(m->machine->keys, key));
}

/* ---- Ways ---- */

/* The way on with this answer; NULL: nobody has gone it. Values that are equal
 * are mostly one (keep_value), so all are looked at before any is gone through.
 */
static struct session_way *way_of(const struct session_place *p, struct value v)
{
	struct session_way *w = p->ways;
	while (w && !is_at_once_same(w->answer, v)) w = w->older;
	if (w || v.tag < VALUE_STRING) return w;
	for (w = p->ways; w && !is_same(w->answer, v);) w = w->older;
	return w;
}

/* The run leaves its place on a way that nobody has gone, or that was not kept.
 */
static void go_alone(struct session_run *r)
{
	struct session_memo *m = r->memo;
	struct session_place *from = r->at;
	bool keeps = has_room(m) && from->way_count < WAYS_MOST;
	assert(is_at_place(r) && from->kept);
	r->own = keeps ? place_to_keep(m) : new_place(m, m->machine->region);
	memcpy(state_of(r->own), state_of(from), size_of_state(m));
	r->from = keeps ? from : NULL;
	r->at = NULL;
}

/* The way that the run has just gone alone is kept. */
static void keep_way(struct session_run *r, const struct request *waits)
{
	struct session_memo *m = r->memo;
	struct session_place *to = r->own;
	size_t size = m->asked_count * sizeof *m->asked;
	to->kept = true;
	to->way_count = 0;
	to->ways = NULL;
	to->request = *waits;
	if (r->from) {
		struct session_way *w =
			region_take(&m->region, sizeof *w + size);
		w->older = r->from->ways;
		w->answer = r->answer;
		w->to = to;
		w->count = m->asked_count;
		if (size) memcpy(w->asked, m->asked, size);
		r->from->ways = w;
		r->from->way_count++;
	}
	m->coming = NULL;
	r->at = to;
	r->own = r->from = NULL;
}

/* The machine's next step, and what is to be kept of it. */
static void step_alone(struct session_run *r, struct request *out)
{
	struct session_memo *m = r->memo;
	struct machine *machine = m->machine;
	struct region *region = machine->region;
	if (m->coming != r->own) {
		machine_step(machine, state_of(r->own), out);
		return;
	}
	machine->region = &m->region;
	machine_step(machine, state_of(r->own), out);
	machine->region = region;
	if (machine->stop) {
		m->coming = NULL;
	} else if (out->kind == REQUEST_BEGIN || out->kind == REQUEST_READ ||
	           out->kind == REQUEST_DONE) {
		keep_way(r, out);
	} else {
		if (out->kind == REQUEST_WRITE)
			out->value = keep_value(m, out->value, true);
		VEC_RESERVE(m->asked, m->asked_count, m->asked_capacity);
		m->asked[m->asked_count++] = *out;
	}
}

/* ---- Runs ---- */

void session_run_start(struct session_run *r, struct session_memo *m,
                       uint32_t session)
{
	const struct machine *machine = m->machine;
	*r = (struct session_run){ .memo = m };
	r->own = has_room(m) ? place_to_keep(m) : new_place(m, machine->region);
	machine_start(machine->program, session, state_of(r->own));
}

void session_run_resume(struct session_run *r, struct session_memo *m,
                        const struct machine_state *s)
{
	struct session_place *p = place_of(s);
	*r = (struct session_run){ .memo = m };
	if (p->kept) {
		r->at = p;
		return;
	}
	r->own = new_place(m, m->machine->region);
	memcpy(state_of(r->own), s, size_of_state(m));
}

void session_run_step(struct session_run *r, struct request *out)
{
	if (is_at_place(r)) {
		/* An answer would have chosen a way. */
		assert(r->at->request.kind != REQUEST_READ);
		r->way = r->at->ways;
		r->next = 0;
		if (!r->way) go_alone(r);
	}
	if (!r->way) {
		step_alone(r, out);
	} else if (r->next < r->way->count) {
		*out = r->way->asked[r->next++];
	} else {
		r->at = r->way->to;
		r->way = NULL;
		*out = r->at->request;
	}
}

void session_run_answer(struct session_run *r, struct value v)
{
	if (is_at_place(r)) {
		assert(r->at->request.kind == REQUEST_READ);
		r->way = way_of(r->at, v);
		r->next = 0;
		if (r->way) return;
		go_alone(r);
		if (r->from) {
			bool lasts =
				is_initial(r->memo, r->from->request.key, v);
			v = r->answer = keep_value(r->memo, v, lasts);
		}
	}
	machine_answer(r->memo->machine->program, state_of(r->own), v);
}

const struct machine_state *session_run_state(const struct session_run *r)
{
	assert(!r->way);
	return state_of(r->at ? r->at : r->own);
}

const struct machine_state *session_run_keep(const struct session_run *r,
                                             struct region *region)
{
	const struct session_memo *m = r->memo;
	const struct machine_state *s = session_run_state(r);
	if (r->at) return s;
	struct session_place *p = new_place(m, region);
	return memcpy(state_of(p), s, size_of_state(m));
}
