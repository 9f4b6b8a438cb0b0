/* From the stack of open choices to branches. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dpor/engine.h"

struct words {
	uint32_t *items;
	uint32_t count, capacity;
};

static void add_word(struct words *w, uint32_t item)
{
	VEC_RESERVE(w->items, w->count, w->capacity);
	w->items[w->count++] = item;
}

static void add_source(struct words *w, const struct ledger *l, uint32_t source)
{
	const struct ledger_transaction *t = l->transactions[source];
	add_word(w, source == HISTORY_INIT ? 0 : t->session + 1);
	add_word(w, source == HISTORY_INIT ? 0 : t->index);
}

/* The transaction at place `at` of <, with its reads before number `end`. */
static void add_transaction(struct words *w, const struct ledger *l,
                            uint32_t session, uint32_t at, uint32_t end)
{
	const struct closure *c = &l->closure;
	uint32_t first = c->blocks[at].first_read;
	assert(at && at < c->count && first <= end);
	add_word(w, session);
	add_word(w, end - first);
	for (uint32_t r = first; r < end; r++)
		add_source(w, l, c->reads[r].source);
}

static void add_ended(struct words *w, const struct ledger *l, uint32_t at)
{
	const struct closure *c = &l->closure;
	uint32_t end = at + 1 < c->count ? c->blocks[at + 1].first_read
	                                 : c->read_count;
	add_transaction(w, l, l->transactions[c->order[at]]->session, at, end);
}

/* The transactions from place `from` to before place `to`, all ended. */
static void add_all_ended(struct words *w, const struct ledger *l,
                          uint32_t from, uint32_t to)
{
	assert(to <= l->closure.count);
	for (uint32_t at = from; at < to; at++) add_ended(w, l, at);
}

/* Its last word is to become that of one more read. */
static void add_last_read(struct words *w, uint32_t head,
                          const struct ledger *l, uint32_t source)
{
	assert(head + 1 < w->count);
	w->items[head + 1]++;
	add_source(w, l, source);
}

/* ---- paths ---- */

static void add_choices(struct words *path, const struct engine *e,
                        size_t frames)
{
	assert(frames <= e->frame_count);
	for (uint32_t i = 0; i < e->branch->path_length; i++)
		add_word(path, e->branch->path[i]);
	for (size_t i = 0; i < frames; i++) add_word(path, e->frames[i].choice);
}

static struct branch *finish(enum branch_kind kind, struct words *path,
                             struct words *script)
{
	struct branch *b = branch_new(kind, path->items, path->count,
	                              script->items, script->count);
	free(path->items);
	free(script->items);
	return b;
}

/* ---- the present place ---- */

struct branch *engine_here(const struct engine *e, enum branch_kind kind)
{
	const struct ledger *l = engine_ledger(e);
	struct words path = { 0 }, script = { 0 };
	bool is_open = l->pending.active || e->ends_again;
	uint32_t ended = l->closure.count - is_open;
	add_choices(&path, e, e->frame_count);
	add_all_ended(&script, l, 1, ended);
	if (is_open)
		add_transaction(&script, l, l->pending.session, ended,
		                l->closure.read_count);
	return finish(kind, &path, &script);
}

static void capture_here(const struct engine *e, struct branch_list *out)
{
	enum branch_kind kind = BRANCH_BETWEEN;
	if (e->at_end) return;
	if (engine_ledger(e)->pending.active || e->ends_again)
		kind = BRANCH_PENDING;
	branch_list_add(out, engine_here(e, kind));
}

/* ---- alternatives ---- */

static const struct ledger *ledger_of(const struct engine *e,
                                      const struct frame *f)
{
	return &e->states[f->state]->execution.ledger;
}

static struct branch *read_alternative(const struct engine *e, size_t at,
                                       uint32_t rank)
{
	const struct frame *f = &e->frames[at];
	const struct ledger *l = ledger_of(e, f);
	struct words path = { 0 }, script = { 0 };
	assert(f->at.count > 1 && f->at.pending.active);
	uint32_t last = f->at.count - 1;
	add_choices(&path, e, at);
	add_word(&path, rank);
	add_all_ended(&script, l, 1, last);
	uint32_t head = script.count;
	add_transaction(&script, l, f->at.pending.session, last, f->at.reads);
	add_last_read(&script, head, l, f->items[rank]);
	return finish(BRANCH_FRESH, &path, &script);
}

/* h without D, as state_reduce() makes it; then the read from t. */
static void add_swapped(struct words *script, const struct ledger *l,
                        uint32_t count, uint32_t read)
{
	const struct closure *c = &l->closure;
	uint32_t t = c->order[count - 1], reader = c->reads[read].reader;
	uint32_t at = c->position[reader];
	assert(at && at < count - 1 && read < c->read_count);
	const word *past = c->past + (size_t)t * c->words;
	add_all_ended(script, l, 1, at);
	for (uint32_t i = at + 1; i < count; i++)
		if (i == count - 1 || bits_has(past, c->order[i]))
			add_ended(script, l, i);
	uint32_t head = script->count;
	add_transaction(script, l, l->transactions[reader]->session, at, read);
	add_last_read(script, head, l, t);
}

static struct branch *swap_alternative(const struct engine *e, size_t at,
                                       uint32_t swap)
{
	const struct frame *f = &e->frames[at];
	struct words path = { 0 }, script = { 0 };
	add_choices(&path, e, at);
	add_word(&path, swap + 1);
	add_swapped(&script, ledger_of(e, f), f->at.count, f->items[swap]);
	return finish(BRANCH_SWAP, &path, &script);
}

static struct branch *session_alternative(const struct engine *e, size_t at,
                                          uint32_t i)
{
	const struct frame *f = &e->frames[at];
	uint32_t session = f->items[i];
	assert(session < e->context.sessions && f->at.count);
	struct words path = { 0 }, script = { 0 };
	add_choices(&path, e, at);
	add_word(&path, i);
	add_all_ended(&script, ledger_of(e, f), 1, f->at.count);
	add_word(&script, session);
	add_word(&script, 0);
	return finish(BRANCH_FRESH, &path, &script);
}

static struct branch *alternative(const struct engine *e, size_t at, uint32_t i)
{
	switch (e->frames[at].kind) {
	case FRAME_READ: return read_alternative(e, at, i);
	case FRAME_SWAPS: return swap_alternative(e, at, i);
	case FRAME_SESSIONS: break;
	}
	return session_alternative(e, at, i);
}

struct branch *engine_give(struct engine *e)
{
	for (size_t at = 0; at < e->frame_count; at++) {
		struct frame *f = &e->frames[at];
		if (f->end > f->cursor) return alternative(e, at, --f->end);
	}
	return NULL;
}

bool engine_can_capture(const struct engine *e)
{
	uint64_t bytes = 0;
	if (!e->branch || e->unopened) return true;
	for (size_t at = 0; at < e->frame_count; at++) {
		const struct frame *f = &e->frames[at];
		bytes += (uint64_t)(f->end - f->cursor) *
		         branch_bytes(e->branch->path_length + at,
		                      2 * ((size_t)f->at.count + f->at.reads));
	}
	return bytes <= CAPTURE_MOST;
}

void engine_capture(const struct engine *e, struct branch_list *out)
{
	if (!e->branch) return;
	if (e->unopened) {
		branch_list_add(out, branch_copy(e->branch));
		return;
	}
	capture_here(e, out);
	for (size_t at = e->frame_count; at-- > 0;) {
		const struct frame *f = &e->frames[at];
		assert(f->cursor <= f->end);
		for (uint32_t i = f->cursor; i < f->end; i++)
			branch_list_add(out, alternative(e, at, i));
	}
}
