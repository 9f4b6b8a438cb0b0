#include "dpor/dfs.h"

#include <assert.h>

#include "dpor/canonical_order.h"

/* ---- Sessions ---- */

/* The sessions that can go on, in the region; more than one, or NULL.
 *
 * A transaction without external reads does the same wherever it stands, and
 * nothing but its place in its session keeps it from standing where it could
 * first: no order in which later sessions pass it is the canonical one. (Who
 * wants all orders does not look ahead, and knows of none.) */
static const uint32_t *list_sessions(struct engine *e, uint32_t *first,
                                     uint32_t *count)
{
	const struct execution *x = &engine_state(e)->execution;
	struct region *r = &e->context.region;
	struct region_mark mark = region_mark(r);
	uint32_t *items = region_take(r, e->context.sessions * sizeof *items);
	*count = 0;
	for (uint32_t i = *first; i != UINT32_MAX;
	     i = execution_next_session(x, i + 1))
		items[(*count)++] = i;
	if (e->algorithm->looks_ahead) canonical_order_sort(e, items, *count);
	for (uint32_t i = 0; i < *count; i++)
		if (x->points[items[i]].readless) *count = i + 1;
	*first = items[0];
	if (*count > 1) return items;
	region_release(r, mark);
	return NULL;
}

/* The first of the sessions that can go on, and the others after it. */
static uint32_t branch_on_session(struct engine *e, uint32_t first)
{
	uint32_t count;
	const uint32_t *items = list_sessions(e, &first, &count);
	if (!items) return first;
	struct frame *f = search_open(e, FRAME_SESSIONS, items, count);
	f->cursor = 1;
	f->mark = region_mark(&e->context.region);
	return first;
}

enum go dfs_next(struct engine *e)
{
	uint32_t session =
		execution_next_session(&engine_state(e)->execution, 0);
	size_t frames = e->frame_count;
	assert(!engine_ledger(e)->pending.active);
	if (session == UINT32_MAX) return search_complete(e);
	session = branch_on_session(e, session);
	enum go go = search_begin(e, session);
	if (go != GO_STOP || e->frame_count == frames) return go;
	/* It could not begin: what is left begins with it. */
	e->frames[frames].cursor = 0;
	e->at_end = true;
	return go;
}

/* ---- Reads ---- */

/* The writers of the key as far as they matter: all, or the one there is. */
static void list_writers(struct ledger *l, struct db_access a, bool is_free,
                         word *out)
{
	if (!is_free) {
		ledger_writers(l, a, out);
		return;
	}
	bits_zero(out, l->closure.words);
	bits_add(out, HISTORY_INIT);
}

enum go dfs_read(struct engine *e, const struct request *r, dfs_filter *filter)
{
	struct ledger *l = engine_ledger(e);
	assert(l->pending.active && r->kind == REQUEST_READ);
	uint32_t words = l->closure.words;
	word *valid = region_take(&e->context.region, words * sizeof *valid);
	bool is_free = ledger_is_free(l, r->key);
	list_writers(l, request_db_access(r), is_free, valid);
	bool beyond = filter && filter(e, r->key, valid);
	if (is_free && !beyond) {
		e->algorithm->choose(e, r, NULL, HISTORY_INIT, valid);
		return GO_DEEPER;
	}
	ledger_restrict(l, request_db_access(r), valid);
	enum go go = search_writers(e, r, valid);
	e->tally.stats.blocked += go == GO_BACK && !beyond;
	return go;
}

void dfs_choose(struct engine *e, const struct request *r,
                const struct machine_state *waiting, uint32_t source,
                const word *valid)
{
	(void)waiting;
	(void)valid;
	execution_read(&engine_state(e)->execution, r, source, NULL);
}

/* ---- All orders ---- */

static enum go read_any(struct engine *e, const struct request *r)
{
	return dfs_read(e, r, NULL);
}

const struct algorithm *explore_dfs(void)
{
	static const struct algorithm dfs = { .next = dfs_next,
		                              .read = read_any,
		                              .choose = dfs_choose,
		                              .heeds_level = true };
	return &dfs;
}
