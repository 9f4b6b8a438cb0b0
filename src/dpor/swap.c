#include "dpor/swap.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

/* ---- Reads, noted ---- */

/* Classifies the read of `key` from `source` that the pending transaction is
 * about to make; see enum latest. */
static void classify(struct ledger *l, uint32_t key, enum strength strength,
                     uint32_t source, const word *valid, struct read_note *note)
{
	struct closure *c = &l->closure;
	assert(l->pending.active && key < c->key_count);
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
			          : closure_may_read(c, key, strength, t)) {
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

void swap_read(struct state *s, const struct request *r,
               const struct machine_state *waiting, uint32_t source,
               const word *valid)
{
	struct ledger *l = state_ledger(s);
	struct read_note *note = next_note(s);
	classify(l, r->key, r->strength, source, valid, note);
	execution_read(&s->execution, r, source, waiting);
	note->node = l->pending.last;
}

/* ---- Swap ---- */

/* Reads again what read number `i` of `from` does. A transaction that is kept
 * keeps its causal past, for all of that is in t's. So a source that was not in
 * it is not now, and where no writer stood behind the source none does: only
 * whether such a writer is valid has to be asked anew, since D is gone. */
static inline void copy_read(struct state *to, const struct state *from,
                             uint32_t i, bool anew)
{
	struct ledger *l = state_ledger(to);
	struct relation_read r = state_closure(from)->reads[i];
	struct read_note *note = next_note(to);
	*note = from->notes[i];
	if (anew || (note->latest != LATEST_NO && !note->lonely))
		classify(l, r.key, r.strength, r.source, NULL, note);
	closure_read_locking(&l->closure, r.key, r.source, r.strength);
}

/* Appends an ended transaction of `from` to `to`, with the same reads. */
static void append_kept(struct state *to, const struct state *from, uint32_t at)
{
	const struct ledger *l = &from->execution.ledger;
	const struct closure *c = &l->closure;
	assert(at && at < c->count);
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
	assert(at && l->closure.blocks[at].first_read <= read);
	ledger_copy_begin(state_ledger(to), l, at);
	for (uint32_t i = l->closure.blocks[at].first_read; i < read; i++)
		copy_read(to, from, i, true);
	ledger_copy_pending(state_ledger(to), from->notes[read].node->before);
	session_run_resume(&to->execution.live, &to->execution.context->memo,
	                   from->notes[read].node->waiting);
}

static void copy_notes(struct state *to, const struct state *from,
                       uint32_t count)
{
	assert(to != from);
	if (to->note_capacity < count) {
		to->note_capacity = from->note_capacity;
		to->notes = mem_grow(to->notes, to->note_capacity,
		                     sizeof *to->notes);
	}
	if (count) memcpy(to->notes, from->notes, count * sizeof *to->notes);
}

/* `to` becomes h without D of Swap(h, <, r, t), without r itself: r is read
 * number `read` of `from`, t is the last transaction of `from`. The reader of r
 * is pending in `to`, all its events after and including r gone. */
static void reduce(struct state *to, const struct state *from, uint32_t read)
{
	const struct closure *c = state_closure(from);
	uint32_t last = c->count - 1, t = c->order[last];
	uint32_t reader = c->reads[read].reader, at = c->position[reader];
	const word *past = c->past + (size_t)t * c->words;
	assert(read < c->read_count && at < last && !bits_has(past, reader));
	to->good_prefix = from->good_prefix;
	to->bad_prefix = from->bad_prefix;
	state_forget_verdicts(to, at);
	copy_notes(to, from, c->blocks[at].first_read);
	ledger_copy(state_ledger(to), &from->execution.ledger, at);
	for (uint32_t i = at + 1; i <= last; i++)
		if (i == last || bits_has(past, c->order[i]))
			append_kept(to, from, i);
	execution_place_sessions(&to->execution);
	append_interrupted(to, from, at, read);
}

bool swap_apply(struct state *to, const struct state *from, uint32_t read)
{
	const struct closure *c = state_closure(from);
	const struct relation_read r = c->reads[read];
	uint32_t t = c->order[c->count - 1];
	const struct read_note *note = &from->notes[read];
	reduce(to, from, read);
	if (!closure_may_read(&state_ledger(to)->closure, r.key, r.strength, t))
		return false;
	const struct event *e = &note->node->event;
	struct request again = { .kind = REQUEST_READ,
		                 .key = r.key,
		                 .point = e->point,
		                 .strength = e->strength,
		                 .joined = e->joined };
	swap_read(to, &again, note->node->waiting, t, NULL);
	assert(to->notes[state_closure(to)->read_count - 1].latest ==
	       LATEST_NO);
	return true;
}

/* ---- readLatest ---- */

/* Is some member of L valid in h', the history in which readLatest looks?
 * Validity when the read was appended does not decide it, because h' keeps
 * transactions after the read that precede t causally. */
static bool later_writer_valid(struct state *reduced, uint32_t key,
                               enum strength strength, uint32_t source)
{
	struct ledger *l = state_ledger(reduced);
	struct closure *c = &l->closure;
	assert(l->pending.active && key < c->key_count);
	const word *past = closure_row(c, c->past, l->pending.id);
	const word *writers = c->writers + (size_t)key * c->words;
	BITS_EACH(t, past, c->words)
		if (bits_has(writers, t) &&
		    c->position[t] > c->position[source] &&
		    closure_may_read(c, key, strength, t))
			return true;
	return false;
}

/* Where the note of the read leaves it open. */
bool swap_reads_latest_after_all(struct state *s, struct state *scratch,
                                 uint32_t read)
{
	struct region *region = &s->execution.context->region;
	if (state_closure(s)->levelless) return false;
	struct region_mark mark = region_mark(region);
	struct relation_read r = state_closure(s)->reads[read];
	reduce(scratch, s, read);
	bool later = later_writer_valid(scratch, r.key, r.strength, r.source);
	region_release(region, mark);
	return !later;
}
