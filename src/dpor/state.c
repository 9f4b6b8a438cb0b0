#include "dpor/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/explorer.h"
#include "vm/program.h"

void state_init(struct state *s, struct world *w, enum level level)
{
	memset(s, 0, sizeof *s);
	closure_init(&s->closure, level, w->n, &w->region);
	s->logs = mem_take0(w->n, sizeof *s->logs);
	s->points = mem_take0(w->sessions, sizeof *s->points);
	s->done = mem_take0(w->sessions, sizeof *s->done);
	memcpy(s->points, w->start, w->sessions * sizeof *s->points);
	s->good_prefix = 1;
	s->bad_prefix = UINT32_MAX;
}

void state_free(struct state *s)
{
	closure_free(&s->closure);
	free(s->logs);
	free(s->notes);
	free(s->points);
	free(s->done);
	free(s->own);
	free(s->own_keys);
}

size_t state_bytes(const struct state *s)
{
	return closure_bytes(&s->closure) + s->closure.n * sizeof *s->logs +
	       s->note_capacity * sizeof *s->notes +
	       s->own_capacity * sizeof *s->own;
}

uint32_t state_next_session(const struct state *s, const struct world *w,
                            uint32_t from)
{
	bool others_ended = true;
	for (uint32_t i = 0; i < w->sessions; i++) {
		if (s->points[i].ended) continue;
		if (i >= from && (!world_is_finally(w, i) || others_ended))
			return i;
		others_ended = false;
	}
	return UINT32_MAX;
}

static void own_clear(struct state *s)
{
	for (uint32_t i = 0; i < s->own_count; i++)
		s->own[s->own_keys[i]] = NULL;
	s->own_count = 0;
}

static void own_set(struct state *s, const struct event_node *write)
{
	uint32_t key = write->event.key;
	if (key >= s->own_capacity) {
		uint32_t old = s->own_capacity;
		uint32_t capacity = old ? old : 32;
		while (capacity <= key) capacity *= 2;
		s->own = mem_grow(s->own, capacity, sizeof *s->own);
		memset(s->own + old, 0, (capacity - old) * sizeof *s->own);
		s->own_capacity = capacity;
	}
	if (!s->own[key]) {
		VEC_RESERVE(s->own_keys, s->own_count, s->own_keys_capacity);
		s->own_keys[s->own_count++] = key;
	}
	s->own[key] = write;
}

static const struct event_node *own_write(const struct state *s, uint32_t key)
{
	return key < s->own_capacity ? s->own[key] : NULL;
}

/* The own writes that a chain of events leaves: the newest of each key. */
static void own_rebuild(struct state *s, const struct event_node *last)
{
	own_clear(s);
	for (const struct event_node *e = last; e; e = e->before)
		if (e->event.kind == EVENT_WRITE && !own_write(s, e->event.key))
			own_set(s, e);
}

struct machine_state *state_copy_live(struct world *w,
                                      const struct machine_state *live)
{
	struct machine_state *copy = region_take(&w->region, w->state_size);
	memcpy(copy, live, w->state_size);
	return copy;
}

/* The number of the last transaction ended in the session, or 0. */
static uint32_t last_of_session(const struct state *s, const struct world *w,
                                uint32_t session)
{
	uint32_t done = s->done[session];
	return done ? w->first_id[session] + done - 1 : HISTORY_INIT;
}

bool state_begin(struct state *s, struct world *w, uint32_t session)
{
	uint32_t index = s->done[session];
	uint32_t id = w->first_id[session] + index;
	if (id >= w->first_id[session + 1]) return false;
	closure_begin(&s->closure, id, last_of_session(s, w, session),
	              world_is_finally(w, session));
	own_clear(s);
	s->pending = (struct pending){
		.active = true,
		.id = id,
		.session = session,
		.index = index,
		.name = s->points[session].name,
		.live = state_copy_live(w, s->points[session].state),
	};
	w->steps++;
	return true;
}

static struct event_node *append_event(struct state *s, struct world *w)
{
	struct event_node *e = region_take(&w->region, sizeof *e);
	e->before = s->pending.last;
	e->waiting = NULL;
	s->pending.last = e;
	s->pending.event_count++;
	w->steps++;
	return e;
}

static void append_write(struct state *s, struct world *w,
                         const struct request *r)
{
	struct event_node *e = append_event(s, w);
	e->event = (struct event){ .kind = EVENT_WRITE,
		                   .key = r->key,
		                   .point = r->point,
		                   .value = r->value };
	closure_know_key(&s->closure, r->key);
	own_set(s, e);
}

static void append_own_read(struct state *s, struct world *w,
                            const struct request *r,
                            const struct event_node *write)
{
	struct event_node *e = append_event(s, w);
	e->event = (struct event){ .kind = EVENT_READ,
		                   .key = r->key,
		                   .point = r->point,
		                   .from = HISTORY_SELF,
		                   .value = write->event.value };
	machine_answer(w->program, s->pending.live, e->event.value);
}

/* The keys that the pending transaction wrote, with their last values. */
static void collect_writes(const struct state *s, struct world *w,
                           struct transaction_log *log)
{
	uint32_t count = s->own_count;
	uint32_t *keys = region_take(&w->region, count * sizeof *keys);
	struct value *values = region_take(&w->region, count * sizeof *values);
	for (uint32_t i = 0; i < count; i++) {
		keys[i] = s->own_keys[i];
		values[i] = s->own[keys[i]]->event.value;
	}
	log->written = keys;
	log->values = values;
	log->written_count = count;
}

/* The session's own code up to its next transaction. */
static void run_between(struct world *w, struct machine_state *live,
                        struct session_point *out)
{
	struct request r;
	machine_step(&w->machine, live, &r);
	assert(r.kind == REQUEST_BEGIN || r.kind == REQUEST_DONE);
	*out = (struct session_point){ .state = live,
		                       .ended = r.kind == REQUEST_DONE,
		                       .name = r.name };
	world_look(w, out);
}

static void end_transaction(struct state *s, struct world *w, bool aborted)
{
	const struct pending *p = &s->pending;
	struct transaction_log *log = region_take0(&w->region, sizeof *log);
	log->session = p->session;
	log->index = p->index;
	log->name = p->name;
	log->aborted = aborted;
	log->event_count = p->event_count;
	log->last = p->last;
	if (!aborted) collect_writes(s, w, log);
	run_between(w, p->live, &log->after);
	closure_end(&s->closure, log->written, log->written_count);
	s->logs[p->id] = log;
	s->points[p->session] = log->after;
	s->done[p->session]++;
	s->pending.active = false;
	w->steps++;
}

enum advance state_run(struct state *s, struct world *w, struct request *r)
{
	assert(s->pending.active);
	for (;;) {
		if (s->pending.event_count >= EVENTS_MAX) return ADVANCE_FULL;
		machine_step(&w->machine, s->pending.live, r);
		if (w->machine.stop) return ADVANCE_FULL;
		const struct event_node *own;
		switch (r->kind) {
		case REQUEST_READ:
			own = own_write(s, r->key);
			if (own) {
				append_own_read(s, w, r, own);
				break;
			}
			closure_know_key(&s->closure, r->key);
			return ADVANCE_READ;
		case REQUEST_WRITE: append_write(s, w, r); break;
		default:
			assert(r->kind == REQUEST_COMMIT ||
			       r->kind == REQUEST_ABORT);
			end_transaction(s, w, r->kind == REQUEST_ABORT);
			return ADVANCE_COMMIT;
		}
	}
}

/* The value that transaction `source` wrote last to the key. */
static struct value written_value(const struct state *s, const struct world *w,
                                  uint32_t key, uint32_t source)
{
	if (source == HISTORY_INIT) return keys_initial(w->machine.keys, key);
	const struct transaction_log *log = s->logs[source];
	uint32_t i = 0;
	while (log->written[i] != key) {
		i++;
		assert(i < log->written_count);
	}
	return log->values[i];
}

/* Classifies the read of `key` from `source` that the pending transaction is
 * about to make; see enum latest. */
static struct read_note note_of_read(struct state *s, uint32_t key,
                                     uint32_t source, const word *valid)
{
	struct closure *c = &s->closure;
	const word *past = closure_row(c, c->past, s->pending.id);
	const word *writers = c->writers + (size_t)key * c->words;
	struct read_note note = { .latest = LATEST_NO };
	if (!bits_has(past, source)) return note;
	uint32_t position = c->position[source];
	note.lonely = true;
	note.latest = LATEST_YES;
	for (unsigned w = 0; w < c->words; w++) {
		word both = past[w] & writers[w];
		for (; both; both &= both - 1) {
			uint32_t t = 64 * w + (uint32_t)__builtin_ctzll(both);
			if (c->position[t] <= position) continue;
			note.lonely = false;
			if (note.latest == LATEST_MAYBE) continue;
			if (valid ? bits_has(valid, t)
			          : closure_may_read(c, key, t))
				note.latest = LATEST_MAYBE;
		}
	}
	return note;
}

static void keep_note(struct state *s, struct read_note note)
{
	uint32_t i = s->closure.read_count;
	if (i >= s->note_capacity) {
		s->note_capacity = s->note_capacity ? 2 * s->note_capacity : 32;
		s->notes =
			mem_grow(s->notes, s->note_capacity, sizeof *s->notes);
	}
	s->notes[i] = note;
}

static struct event_node *append_read(struct state *s, struct world *w,
                                      const struct request *r, uint32_t source)
{
	struct event_node *e = append_event(s, w);
	e->event =
		(struct event){ .kind = EVENT_READ,
		                .key = r->key,
		                .point = r->point,
		                .from = source,
		                .value = written_value(s, w, r->key, source) };
	return e;
}

static void answer(struct state *s, struct world *w, const struct event *e)
{
	closure_read(&s->closure, e->key, e->from);
	machine_answer(w->program, s->pending.live, e->value);
}

void state_read(struct state *s, struct world *w, const struct request *r,
                const struct machine_state *waiting, uint32_t source,
                const word *valid)
{
	struct read_note note = note_of_read(s, r->key, source, valid);
	struct event_node *e = append_read(s, w, r, source);
	e->waiting = waiting;
	note.node = e;
	keep_note(s, note);
	answer(s, w, &e->event);
}

void state_read_once(struct state *s, struct world *w, const struct request *r,
                     uint32_t source)
{
	answer(s, w, &append_read(s, w, r, source)->event);
}

static void forget_log(struct state *s, const struct world *w, uint32_t id)
{
	const struct transaction_log *log = s->logs[id];
	if (!log) return;
	uint32_t session = log->session;
	s->logs[id] = NULL;
	s->done[session]--;
	uint32_t last = last_of_session(s, w, session);
	s->points[session] = last ? s->logs[last]->after : w->start[session];
}

static void forget_logs(struct state *s, const struct world *w, uint32_t count)
{
	for (uint32_t i = s->closure.count; i-- > count;)
		forget_log(s, w, s->closure.order[i]);
}

/* Only the first `count` transactions are as they were. */
static void forget_verdicts(struct state *s, uint32_t count)
{
	if (s->good_prefix > count) s->good_prefix = count;
	if (s->bad_prefix > count) s->bad_prefix = UINT32_MAX;
}

void state_rewind(struct state *s, const struct world *w, uint32_t count)
{
	forget_verdicts(s, count);
	forget_logs(s, w, count);
	uint32_t reads = count < s->closure.count
	                         ? s->closure.blocks[count].first_read
	                         : s->closure.read_count;
	closure_rewind(&s->closure, count, reads, false);
	s->pending.active = false;
}

void state_rewind_pending(struct state *s, const struct world *w,
                          uint32_t count, uint32_t reads,
                          const struct pending *pending)
{
	forget_verdicts(s, count - 1);
	forget_logs(s, w, count - 1);
	closure_rewind(&s->closure, count, reads, true);
	s->pending = *pending;
	own_rebuild(s, pending->last);
}

/* Appends an ended transaction of `from` to `to`, with the same reads. */
static void append_kept(struct state *to, const struct state *from, uint32_t at)
{
	const struct closure *c = &from->closure;
	uint32_t id = c->order[at];
	const struct transaction_log *log = from->logs[id];
	const struct closure_block *b = &c->blocks[at];
	uint32_t end = at + 1 < c->count ? c->blocks[at + 1].first_read
	                                 : c->read_count;
	closure_begin(&to->closure, id, b->previous, b->after_all);
	to->pending.id = id;
	for (uint32_t i = b->first_read; i < end; i++) {
		struct relation_read r = c->reads[i];
		struct read_note note = from->notes[i];
		if (note.latest != LATEST_NO && !note.lonely) {
			note = note_of_read(to, r.key, r.source, NULL);
			note.node = from->notes[i].node;
		}
		keep_note(to, note);
		closure_read(&to->closure, r.key, r.source);
	}
	closure_end(&to->closure, log->written, log->written_count);
	to->logs[id] = log;
}

/* Sessions' places, from the logs that `s` holds. */
static void place_sessions(struct state *s, const struct world *w)
{
	memcpy(s->points, w->start, w->sessions * sizeof *s->points);
	memset(s->done, 0, w->sessions * sizeof *s->done);
	for (uint32_t i = 1; i < s->closure.count; i++) {
		const struct transaction_log *log =
			s->logs[s->closure.order[i]];
		s->points[log->session] = log->after;
		s->done[log->session] = log->index + 1;
	}
}

/* The reader of read number `read`, pending again just before that read. */
static void append_interrupted(struct state *to, const struct state *from,
                               struct world *w, uint32_t at, uint32_t read)
{
	const struct closure *c = &from->closure;
	uint32_t id = c->order[at];
	const struct transaction_log *log = from->logs[id];
	const struct event_node *node = from->notes[read].node;
	closure_begin(&to->closure, id, c->blocks[at].previous,
	              c->blocks[at].after_all);
	to->pending = (struct pending){ .active = true,
		                        .id = id,
		                        .session = log->session,
		                        .index = log->index,
		                        .name = log->name,
		                        .last = node->before };
	for (const struct event_node *e = node->before; e; e = e->before)
		to->pending.event_count++;
	for (uint32_t i = c->blocks[at].first_read; i < read; i++) {
		struct relation_read r = c->reads[i];
		struct read_note note = note_of_read(to, r.key, r.source, NULL);
		note.node = from->notes[i].node;
		keep_note(to, note);
		closure_read(&to->closure, r.key, r.source);
	}
	own_rebuild(to, node->before);
	to->pending.live = state_copy_live(w, node->waiting);
}

static void copy_notes(struct state *to, const struct state *from,
                       uint32_t count)
{
	if (to->note_capacity < count) {
		to->note_capacity = from->note_capacity;
		to->notes = mem_grow(to->notes, to->note_capacity,
		                     sizeof *to->notes);
	}
	if (count) memcpy(to->notes, from->notes, count * sizeof *to->notes);
}

void state_reduce(struct state *to, const struct state *from, struct world *w,
                  uint32_t read)
{
	const struct closure *c = &from->closure;
	uint32_t last = c->count - 1, t = c->order[last];
	uint32_t reader = c->reads[read].reader, at = c->position[reader];
	const word *past = c->past + (size_t)t * c->words;
	assert(read < c->read_count && at < last && !bits_has(past, reader));
	to->good_prefix = from->good_prefix;
	to->bad_prefix = from->bad_prefix;
	forget_verdicts(to, at);
	copy_notes(to, from, c->blocks[at].first_read);
	closure_copy_prefix(&to->closure, c, at);
	memset(to->logs, 0, c->n * sizeof *to->logs);
	for (uint32_t i = 1; i < at; i++)
		to->logs[c->order[i]] = from->logs[c->order[i]];
	for (uint32_t i = at + 1; i <= last; i++)
		if (i == last || bits_has(past, c->order[i]))
			append_kept(to, from, i);
	place_sessions(to, w);
	append_interrupted(to, from, w, at, read);
}
