#include "predict/divergent_copies.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* ---- what a copy sees anyway ---- */

static void see(const struct observed_history *o, word *seen, uint32_t u,
                bool deep)
{
	if (deep)
		observed_include(o, seen, u);
	else if (u)
		bits_add(seen, u);
}

/* Session order: direct predecessors for ra, which the past of the one before
 * it contains too. */
static void see_session(const struct observed_history *o, word *seen,
                        uint32_t t)
{
	const struct facts *f = o->facts;
	uint32_t s = f->session_of[t];
	bool last = s == f->after_all;
	uint32_t first = last ? 1 : f->session_first[s];
	uint32_t behind = last ? f->session_first[s + 1] : o->n;
	for (uint32_t u = first; u < t; u++) bits_add(seen, u);
	for (uint32_t u = behind; u < o->n; u++) bits_add(seen, u);
}

/* The transactions whose writes no read of t may be older than, by the level,
 * whatever is chosen. */
static void session_view(const struct observed_history *o, uint32_t t,
                         word *seen)
{
	enum sight sight = observed_sight(o, t);
	bits_zero(seen, o->words);
	if (sight >= SIGHT_PAST)
		for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1];
		     i++)
			see(o, seen, o->needs[i], true);
	else if (sight == SIGHT_DIRECT)
		see_session(o, seen, t);
}

/* Does the writer that the event of t reads from come into sight of other reads
 * of t? Not from beside the snapshot. */
static bool is_in_sight(const struct observed_history *o, uint32_t t,
                        const struct observed_event *e)
{
	return observed_sight(o, t) > SIGHT_NOTHING &&
	       !(strength_is_beside(e->strength) &&
	         level_has_snapshots(facts_level(o->facts, o->level, t)));
}

/* A strict copy that goes on behind this read sees its writer as well. */
static void see_fixed(const struct observed_history *o, uint32_t t,
                      const struct observed_event *e, word *seen)
{
	if (e->kind == EVENT_READ && is_in_sight(o, t, e))
		see(o, seen, e->from, observed_sight(o, t) >= SIGHT_PAST);
}

/* Does the view hold a writer of the key, other than w, that is after w? */
static bool is_stale(const struct observed_history *o, const word *view,
                     uint32_t key, uint32_t w)
{
	const word *writers = observed_row(o, o->writer_rows, key);
	const word *later = w ? observed_row(o, o->later, w) : writers;
	for (uint32_t i = 0; i < o->words; i++)
		if (view[i] & writers[i] & later[i]) return true;
	return false;
}

/* What a copy of t sees once a read takes w. */
static void view_of(const struct observed_history *o, uint32_t t, uint32_t w,
                    word *view)
{
	enum sight sight = observed_sight(o, t);
	bits_zero(view, o->words);
	if (sight > SIGHT_NOTHING) see(o, view, w, sight >= SIGHT_PAST);
}

/* Would a fixed read be stale once this one takes w? Under rc only later reads
 * could be. */
static bool outdates_fixed(const struct divergent_copies *c,
                           const struct copy *x, uint32_t event, uint32_t w,
                           word *view)
{
	const struct observed_history *o = c->o;
	if (w == 0 || c->boundary == BOUNDARY_RELAXED ||
	    observed_sight(o, x->transaction) < SIGHT_DIRECT ||
	    !is_in_sight(o, x->transaction, &o->events[event]))
		return false;
	view_of(o, x->transaction, w, view);
	for (uint32_t i = o->first[x->transaction]; i < event; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind == EVENT_READ && e->from != w &&
		    is_stale(o, view, e->key, e->from))
			return true;
	}
	return false;
}

/* ---- options ---- */

static void add_option(struct divergent_copies *c, uint32_t writer,
                       bool observed)
{
	VEC_RESERVE(c->options, c->option_count, c->option_capacity);
	assert(writer < c->o->n);
	c->options[c->option_count++] = (struct option){ writer, observed };
}

struct range {
	uint32_t first, end; /* of observed.writers */
};

/* The writers of the key that come into question for a read. */
static struct range near_writers(const struct divergent_copies *c,
                                 const struct observed_event *e)
{
	const struct observed_history *o = c->o;
	struct range all = { o->writer_first[e->key],
		             o->writer_first[e->key + 1] };
	assert(all.first <= all.end);
	if (!c->near || all.end - all.first <= 2 * c->near) return all;
	uint32_t low = all.first, high = all.end;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (o->rank[o->writers[middle]] < o->rank[e->from])
			low = middle + 1;
		else
			high = middle;
	}
	return (struct range){
		low - all.first > c->near ? low - c->near : all.first,
		all.end - low > c->near ? low + c->near + 1 : all.end
	};
}

/* The writers that a free read may take; returns whether one is new. */
static bool add_read(struct divergent_copies *c, const struct copy *x,
                     uint32_t event, const word *view, bool with_observed)
{
	const struct observed_history *o = c->o;
	const struct observed_event *e = &o->events[event];
	uint32_t t = x->transaction;
	assert(e->kind == EVENT_READ && event < x->end);
	size_t before = c->option_count;
	bool changes = false;
	VEC_RESERVE(c->reads, c->read_count, c->read_capacity);
	c->reads[c->read_count++] =
		(struct free_read){ .event = event,
		                    .copy = (uint32_t)c->count,
		                    .first = (uint32_t)before };
	struct range near = near_writers(c, e);
	/* init comes last. */
	for (uint32_t i = near.first; i <= near.end; i++) {
		uint32_t w = i == near.end ? 0 : o->writers[i];
		bool same = w == e->from;
		if (w == t || (w && observed_before(o, t, w))) continue;
		if ((same && !with_observed) || is_stale(o, view, e->key, w) ||
		    outdates_fixed(c, x, event, w, c->view))
			continue;
		add_option(c, w, same);
		changes |= !same;
	}
	return changes;
}

static void drop_copy(struct divergent_copies *c, size_t reads, size_t options)
{
	assert(reads <= c->read_count && options <= c->option_count);
	c->read_count = reads;
	c->option_count = options;
}

/* May the copy that ends here change nothing? */
static bool may_keep(const struct divergent_copies *c, uint32_t t, uint32_t end)
{
	const struct observed_history *o = c->o;
	if (c->unchanged == UNCHANGED_ALL) return true;
	return c->unchanged == UNCHANGED_CUT && end < o->first[t + 1] &&
	       o->events[end].kind == EVENT_WRITE;
}

/* Keeps the copy if one of its reads may change, or none has to. Its free reads
 * are among the events from `first`. */
static void add_copy(struct divergent_copies *c, uint32_t t, uint32_t first,
                     uint32_t end, const word *view)
{
	size_t reads = c->read_count, options = c->option_count;
	uint32_t ops_end =
		end > c->o->first[t] ? c->o->events[end - 1].op + 1 : 0;
	struct copy x = { t, end, ops_end, (uint32_t)reads };
	assert(first <= end && end <= c->o->first[t + 1]);
	bool changes = false, unchanged = may_keep(c, t, end);
	bool observed = unchanged || c->boundary == BOUNDARY_RELAXED;
	for (uint32_t i = first; i < end; i++)
		if (c->o->events[i].kind == EVENT_READ)
			changes |= add_read(c, &x, i, view, observed);
	if (c->read_count == reads || (!changes && !unchanged)) {
		drop_copy(c, reads, options);
		return;
	}
	VEC_RESERVE(c->copies, c->count, c->capacity);
	c->copies[c->count++] = x;
}

/* The copy that ends with a read of no contended key before event i, where no
 * copy with a free read has the same events. */
static void add_idle_copy(struct divergent_copies *c, uint32_t t, uint32_t i)
{
	const struct observed_event *e = &c->o->events[i];
	if (i == c->o->first[t] || !e->idle || e[-1].kind == EVENT_READ ||
	    !may_keep(c, t, i))
		return;
	VEC_RESERVE(c->copies, c->count, c->capacity);
	c->copies[c->count++] =
		(struct copy){ t, i, e->idle, (uint32_t)c->read_count };
}

static void add_copies(struct divergent_copies *c, uint32_t t, word *view)
{
	const struct observed_history *o = c->o;
	uint32_t first = o->first[t], end = o->first[t + 1];
	session_view(o, t, view);
	if (c->boundary == BOUNDARY_RELAXED) {
		add_copy(c, t, first, end, view);
		return;
	}
	for (uint32_t i = first; i < end; i++) {
		add_idle_copy(c, t, i);
		add_copy(c, t, i, i + 1, view);
		see_fixed(o, t, &o->events[i], view);
	}
}

/* The entries behind the last ones, which end the lists. */
static void close_lists(struct divergent_copies *c)
{
	VEC_RESERVE(c->copies, c->count, c->capacity);
	VEC_RESERVE(c->reads, c->read_count, c->read_capacity);
	c->copies[c->count] = (struct copy){ .first = (uint32_t)c->read_count };
	c->reads[c->read_count] =
		(struct free_read){ .first = (uint32_t)c->option_count };
}

static bool copy_writes(const struct observed_history *o, const struct copy *x,
                        uint32_t key)
{
	for (uint32_t i = o->first[x->transaction]; i < x->end; i++)
		if (o->events[i].kind == EVENT_WRITE && o->events[i].key == key)
			return true;
	return false;
}

/* Does every writer of the key read it first? */
static bool is_chained(const struct observed_history *o, uint32_t key)
{
	for (uint32_t k = o->writer_first[key]; k < o->writer_first[key + 1];
	     k++) {
		uint32_t u = o->writers[k], i = o->first[u];
		while (o->events[i].key != key) i++;
		assert(i < o->first[u + 1]);
		if (o->events[i].kind != EVENT_READ) return false;
	}
	return true;
}

static void find_updates(struct divergent_copies *c)
{
	for (size_t i = 0; i < c->read_count; i++) {
		struct free_read *r = &c->reads[i];
		r->updates = copy_writes(c->o, &c->copies[r->copy],
		                         c->o->events[r->event].key);
	}
}

static void find_exclusive(struct divergent_copies *c)
{
	const struct observed_history *o = c->o;
	if (!o->serializable) return;
	bool *chained = mem_take0((size_t)o->key_count + 1, sizeof *chained);
	for (uint32_t k = 0; k < o->key_count; k++)
		chained[k] = is_chained(o, k);
	for (size_t i = 0; i < c->read_count; i++) {
		struct free_read *r = &c->reads[i];
		r->exclusive = r->updates && chained[o->events[r->event].key];
	}
	free(chained);
}

/* What an option costs the solver, with its clauses, as measured. */
enum { OPTION_BYTES = 850 };

static bool limits_reached(const struct divergent_copies *c,
                           struct check_clock *clock, const char **reason)
{
	uint64_t bytes = OPTION_BYTES * (uint64_t)c->option_count;
	*reason = check_clock_reason(clock);
	if (check_clock_over(clock)) return true;
	*reason = CHECK_MEMORY;
	return c->option_count > INT32_MAX / 8 ||
	       check_clock_too_large(clock, bytes);
}

bool copies_init(struct divergent_copies *c, const struct observed_history *o,
                 const struct copies_scope *scope, struct check_clock *clock,
                 const char **reason)
{
	uint32_t only = scope->only;
	*c = (struct divergent_copies){ .o = o,
		                        .boundary = scope->boundary,
		                        .unchanged = scope->unchanged,
		                        .near = scope->near };
	c->first_copy = mem_take0((size_t)o->n + 1, sizeof *c->first_copy);
	word *view = mem_take0(o->words + 1, sizeof *view);
	c->view = mem_take0(o->words + 1, sizeof *view);
	bool fine = true;
	for (uint32_t t = 1; t < o->n && fine; t++) {
		c->first_copy[t] = (uint32_t)c->count;
		if (!only || t == only) add_copies(c, t, view);
		c->too_many = scope->most && c->option_count > scope->most;
		fine = !c->too_many && !limits_reached(c, clock, reason);
	}
	c->first_copy[o->n] = (uint32_t)c->count;
	close_lists(c);
	assert(!fine || c->first_copy[o->n] == c->count);
	if (fine && o->exclusive) {
		find_updates(c);
		find_exclusive(c);
	}
	free(view);
	return fine;
}

void copies_free(struct divergent_copies *c)
{
	free(c->copies);
	free(c->reads);
	free(c->options);
	free(c->first_copy);
	free(c->view);
}

/* ---- options that exclude each other ---- */

/* Option a of read r makes options of the other reads of the copy stale; under
 * rc only those of later reads. */
static void conflicts_of(const struct divergent_copies *c,
                         const struct free_read *r, size_t a, const word *view,
                         uint64_t *budget, option_pair_visitor *visit,
                         void *data)
{
	const struct copy *x = &c->copies[r->copy];
	uint32_t end = x[1].first;
	assert(r >= c->reads + x->first && r < c->reads + end);
	bool in_turn = observed_sight(c->o, x->transaction) < SIGHT_DIRECT;
	uint32_t from = in_turn ? (uint32_t)(r - c->reads) + 1 : x->first;
	for (uint32_t i = from; i < end; i++) {
		const struct free_read *q = &c->reads[i];
		uint32_t key = c->o->events[q->event].key;
		if (q == r) continue;
		for (uint32_t b = q->first; b < q[1].first && *budget; b++) {
			--*budget;
			if (is_stale(c->o, view, key, c->options[b].writer))
				visit(data, a, b);
		}
	}
}

void copies_conflicts(const struct divergent_copies *c, uint64_t budget,
                      option_pair_visitor *visit, void *data)
{
	if (c->boundary == BOUNDARY_STRICT) return;
	for (size_t i = 0; i < c->read_count; i++) {
		const struct free_read *r = &c->reads[i];
		uint32_t t = c->copies[r->copy].transaction;
		if (!is_in_sight(c->o, t, &c->o->events[r->event])) continue;
		for (size_t a = r->first; a < r[1].first && budget; a++) {
			uint32_t w = c->options[a].writer;
			if (w == 0) continue;
			view_of(c->o, t, w, c->view);
			conflicts_of(c, r, a, c->view, &budget, visit, data);
		}
	}
}

/* A transaction that reads a version of a key, and writes the key. */
struct rival {
	uint32_t key, from, transaction;
};

static int compare_rivals(const void *a, const void *b)
{
	const struct rival *x = a, *y = b;
	if (x->key != y->key) return x->key < y->key ? -1 : 1;
	if (x->from != y->from) return x->from < y->from ? -1 : 1;
	if (x->transaction != y->transaction)
		return x->transaction < y->transaction ? -1 : 1;
	return 0;
}

static size_t list_rivals(const struct observed_history *o, struct rival *list)
{
	size_t count = 0;
	for (uint32_t t = 1; t < o->n; t++)
		for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
			const struct observed_event *e = &o->events[i];
			if (e->kind == EVENT_READ &&
			    observed_writes(o, t, e->key))
				list[count++] =
					(struct rival){ e->key, e->from, t };
		}
	if (count) qsort(list, count, sizeof *list, compare_rivals);
	return count;
}

/* The first one that reads this version, or where it would be. */
static size_t find_rivals(const struct rival *list, size_t count, uint32_t key,
                          uint32_t from)
{
	struct rival wanted = { key, from, 0 };
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_rivals(&list[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void copies_rivals(const struct divergent_copies *c,
                   option_rival_visitor *visit, void *data)
{
	const struct observed_history *o = c->o;
	if (!o->exclusive) return;
	struct rival *list =
		mem_take0((size_t)o->first[o->n] + 1, sizeof *list);
	size_t count = list_rivals(o, list);
	for (size_t i = 0; i < c->read_count; i++) {
		const struct free_read *r = &c->reads[i];
		uint32_t key = o->events[r->event].key;
		uint32_t t = c->copies[r->copy].transaction;
		if (!r->updates) continue;
		for (size_t a = r->first; a < r[1].first; a++) {
			uint32_t w = c->options[a].writer;
			size_t k = find_rivals(list, count, key, w);
			for (; k < count && list[k].key == key &&
			       list[k].from == w;
			     k++)
				if (list[k].transaction != t &&
				    !observed_before(o, t, list[k].transaction))
					visit(data, a, list[k].transaction);
		}
	}
	free(list);
}

/* An option of a read whose copy writes the key. */
struct update {
	uint32_t key, writer;
	size_t option;
};

static int compare_updates(const void *a, const void *b)
{
	const struct update *x = a, *y = b;
	if (x->key != y->key) return x->key < y->key ? -1 : 1;
	if (x->writer != y->writer) return x->writer < y->writer ? -1 : 1;
	return x->option < y->option ? -1 : x->option > y->option;
}

/* Does an earlier read of the copy read the same key? */
static bool reads_again(const struct divergent_copies *c, size_t read)
{
	const struct free_read *r = &c->reads[read];
	uint32_t key = c->o->events[r->event].key;
	for (size_t i = c->copies[r->copy].first; i < read; i++)
		if (c->o->events[c->reads[i].event].key == key) return true;
	return false;
}

static size_t list_updates(const struct divergent_copies *c,
                           struct update *list)
{
	size_t count = 0;
	for (size_t i = 0; i < c->read_count; i++) {
		const struct free_read *r = &c->reads[i];
		uint32_t key = c->o->events[r->event].key;
		if (!r->updates || reads_again(c, i)) continue;
		for (size_t a = r->first; a < r[1].first; a++)
			list[count++] =
				(struct update){ key, c->options[a].writer, a };
	}
	if (count) qsort(list, count, sizeof *list, compare_updates);
	return count;
}

void copies_updates(const struct divergent_copies *c, option_set_visitor *visit,
                    void *data)
{
	if (!c->o->exclusive) return;
	struct update *list = mem_take0(c->option_count + 1, sizeof *list);
	size_t *same = mem_take0(c->option_count + 1, sizeof *same);
	size_t total = list_updates(c, list);
	for (size_t i = 0; i < total;) {
		const struct update *first = &list[i];
		size_t count = 0;
		while (i < total && list[i].key == first->key &&
		       list[i].writer == first->writer)
			same[count++] = list[i++].option;
		visit(data, same, count);
	}
	free(list);
	free(same);
}
