#include "dpor/swap.h"

#include <assert.h>

#include "dpor/explorer.h"

/* Is some member of L valid in h', the history in which readLatest looks?
 * Validity when the read was appended does not decide it, because h' keeps
 * transactions after the read that precede t causally. */
static bool later_writer_valid(struct state *reduced, uint32_t key,
                               uint32_t source)
{
	struct ledger *l = state_ledger(reduced);
	struct closure *c = &l->closure;
	const word *past = closure_row(c, c->past, l->pending.id);
	const word *writers = c->writers + (size_t)key * c->words;
	BITS_EACH(t, past, c->words)
		if (bits_has(writers, t) &&
		    c->position[t] > c->position[source] &&
		    closure_may_read(c, key, t))
			return true;
	return false;
}

/* readLatest(h, <, r', t) for t the last transaction of `s`. */
static bool reads_latest(struct state *s, struct state *scratch, uint32_t read)
{
	struct region *region = &s->execution.context->region;
	enum latest latest = s->notes[read].latest;
	if (latest != LATEST_MAYBE) return latest == LATEST_YES;
	if (level_sight(state_closure(s)->level) == SIGHT_NOTHING) return false;
	struct region_mark mark = region_mark(region);
	struct relation_read r = state_closure(s)->reads[read];
	state_reduce(scratch, s, read);
	bool later = later_writer_valid(scratch, r.key, r.source);
	region_release(region, mark);
	return !later;
}

/* How many reads up to and including number `read` could be swapped with t if
 * all deleted reads read the latest: those refused together. */
static uint64_t count_refused(const struct state *s, uint32_t t, uint32_t read)
{
	const struct closure *c = state_closure(s);
	const word *past = c->past + (size_t)t * c->words;
	uint64_t count = 0;
	for (uint32_t i = 0; i <= read; i++)
		count += closure_writes(c, c->reads[i].key, t) &&
		         !bits_has(past, c->reads[i].reader);
	return count;
}

struct swap_list swap_candidates(struct state *s, struct state *scratch,
                                 struct explore_stats *stats)
{
	const struct closure *c = state_closure(s);
	uint32_t t = c->order[c->count - 1], count = 0, *reads = NULL;
	const word *past = c->past + (size_t)t * c->words;
	uint32_t end = c->blocks[c->count - 1].first_read;
	if (!c->blocks[c->count - 1].written_count)
		return (struct swap_list){ 0 };
	for (uint32_t i = end; i-- > 0;) {
		if (bits_has(past, c->reads[i].reader)) continue;
		if (!reads_latest(s, scratch, i)) {
			uint64_t refused = count_refused(s, t, i);
			stats->swaps_not_latest += refused;
			stats->swaps_considered += refused;
			break;
		}
		if (!closure_writes(c, c->reads[i].key, t)) continue;
		if (!reads)
			reads = region_take(&s->execution.context->region,
			                    (i + 1) * sizeof *reads);
		reads[count++] = i;
	}
	stats->swaps_considered += count;
	return (struct swap_list){ count, reads };
}

bool swap_apply(struct state *to, const struct state *from, uint32_t read)
{
	const struct closure *c = state_closure(from);
	const struct relation_read r = c->reads[read];
	uint32_t t = c->order[c->count - 1];
	const struct read_note *note = &from->notes[read];
	state_reduce(to, from, read);
	if (!closure_may_read(&state_ledger(to)->closure, r.key, t))
		return false;
	struct request again = { .kind = REQUEST_READ,
		                 .key = r.key,
		                 .point = note->node->event.point };
	state_read(to, &again, note->node->waiting, t, NULL);
	assert(to->notes[state_closure(to)->read_count - 1].latest ==
	       LATEST_NO);
	return true;
}
