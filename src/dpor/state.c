#include "dpor/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void state_init(struct state *s, struct context *c, enum level level)
{
	*s = (struct state){ .good_prefix = 1, .bad_prefix = UINT32_MAX };
	execution_init(&s->execution, c, level);
}

void state_free(struct state *s)
{
	execution_free(&s->execution);
	free(s->notes);
}

size_t state_bytes(const struct state *s)
{
	return execution_bytes(&s->execution) +
	       s->note_capacity * sizeof *s->notes;
}

/* ---- Notes ---- */

/* Classifies the read of `key` from `source` that the pending transaction is
 * about to make; see enum latest. */
static void classify(struct ledger *l, uint32_t key, uint32_t source,
                     const word *valid, struct read_note *note)
{
	struct closure *c = &l->closure;
	const word *past = closure_row(c, c->past, l->pending.id);
	const word *writers = c->writers + (size_t)key * c->words;
	note->latest = LATEST_NO;
	note->lonely = false;
	if (!bits_has(past, source)) return;
	uint32_t position = c->position[source];
	note->lonely = true;
	note->latest = LATEST_YES;
	for (unsigned w = 0; w < c->words; w++) {
		word both = past[w] & writers[w];
		for (; both; both &= both - 1) {
			uint32_t t = 64 * w + (uint32_t)__builtin_ctzll(both);
			if (c->position[t] <= position) continue;
			note->lonely = false;
			if (valid ? bits_has(valid, t)
			          : closure_may_read(c, key, t)) {
				note->latest = LATEST_MAYBE;
				return;
			}
		}
	}
}

/* The note of the next read. */
static inline struct read_note *next_note(struct state *s)
{
	uint32_t i = state_closure(s)->read_count;
	if (i >= s->note_capacity) {
		s->note_capacity = s->note_capacity ? 2 * s->note_capacity : 32;
		s->notes =
			mem_grow(s->notes, s->note_capacity, sizeof *s->notes);
	}
	return &s->notes[i];
}

void state_read(struct state *s, const struct request *r,
                const struct machine_state *waiting, uint32_t source,
                const word *valid)
{
	struct ledger *l = state_ledger(s);
	struct read_note *note = next_note(s);
	classify(l, r->key, source, valid, note);
	execution_read(&s->execution, r, source, waiting);
	note->node = l->pending.last;
}

/* ---- Taking back ---- */

/* Only the first `count` transactions are as they were. */
static void forget_verdicts(struct state *s, uint32_t count)
{
	if (s->good_prefix > count) s->good_prefix = count;
	if (s->bad_prefix > count) s->bad_prefix = UINT32_MAX;
}

void state_keep(struct state *s, uint32_t count)
{
	forget_verdicts(s, count);
	execution_keep(&s->execution, count);
}

void state_rewind(struct state *s, const struct ledger_mark *m)
{
	forget_verdicts(s, m->count - m->pending.active);
	execution_rewind(&s->execution, m);
}

/* ---- Reducing ---- */

/* Reads again what read number `i` of `from` does. */
static inline void copy_read(struct state *to, const struct state *from,
                             uint32_t i, bool anew)
{
	struct ledger *l = state_ledger(to);
	struct relation_read r = state_closure(from)->reads[i];
	struct read_note *note = next_note(to);
	*note = from->notes[i];
	if (anew || (note->latest != LATEST_NO && !note->lonely))
		classify(l, r.key, r.source, NULL, note);
	closure_read(&l->closure, r.key, r.source);
}

/* Appends an ended transaction of `from` to `to`, with the same reads. */
static void append_kept(struct state *to, const struct state *from, uint32_t at)
{
	const struct ledger *l = &from->execution.ledger;
	const struct closure *c = &l->closure;
	uint32_t end = at + 1 < c->count ? c->blocks[at + 1].first_read
	                                 : c->read_count;
	ledger_copy_begin(state_ledger(to), l, at);
	for (uint32_t i = c->blocks[at].first_read; i < end; i++)
		copy_read(to, from, i, false);
	ledger_copy_end(state_ledger(to), l);
}

/* The reader of read number `read`, pending again just before that read. */
static void append_interrupted(struct state *to, const struct state *from,
                               uint32_t at, uint32_t read)
{
	const struct ledger *l = &from->execution.ledger;
	ledger_copy_begin(state_ledger(to), l, at);
	for (uint32_t i = l->closure.blocks[at].first_read; i < read; i++)
		copy_read(to, from, i, true);
	ledger_copy_pending(state_ledger(to), from->notes[read].node->before);
	to->execution.live = context_copy_state(
		to->execution.context, from->notes[read].node->waiting);
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

void state_reduce(struct state *to, const struct state *from, uint32_t read)
{
	const struct closure *c = state_closure(from);
	uint32_t last = c->count - 1, t = c->order[last];
	uint32_t reader = c->reads[read].reader, at = c->position[reader];
	const word *past = c->past + (size_t)t * c->words;
	assert(read < c->read_count && at < last && !bits_has(past, reader));
	to->good_prefix = from->good_prefix;
	to->bad_prefix = from->bad_prefix;
	forget_verdicts(to, at);
	copy_notes(to, from, c->blocks[at].first_read);
	ledger_copy(state_ledger(to), &from->execution.ledger, at);
	for (uint32_t i = at + 1; i <= last; i++)
		if (i == last || bits_has(past, c->order[i]))
			append_kept(to, from, i);
	execution_place_sessions(&to->execution);
	append_interrupted(to, from, at, read);
}
