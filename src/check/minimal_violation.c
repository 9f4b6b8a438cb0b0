/* Small violating parts of a history.
 *
 * A set of items violates the level or not, and sets that contain a violating
 * one violate it too. The items are put in a row; the last item of the
 * shortest violating beginning of the row is essential for that beginning. It
 * goes to the front, what came after it is dropped, and so on until the
 * essential items violate the level by themselves. No item of such a set can
 * be left out. Beginnings are found by doubling and halving, so the cost is
 * two logarithms of checks for each essential item, and they are of parts that
 * are hardly larger than needed: which makes this usable for large histories.
 * (The method is that of QuickXplain and progression, in the literature on
 * minimal unsatisfiable cores.) The result depends on the order in which the
 * items are put; several are tried.
 */
#include "check/minimal_violation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/rng.h"
#include "check/sub_history.h"

enum {
	SMALL = 64,       /* transactions among which to look around */
	TRIES = 48,       /* orders of so few transactions */
	PAIRS_MAX = 2500, /* of transactions, that all are tried */
	TRIPLES_MAX = 5000,
	LOOK_OPERATIONS = 500000, /* that are checked while looking around:
	                           * a few milliseconds */
	STREAK = 3, /* essential items in a row: the next one may be, too */
	CONSIDERED_MAX = 64, /* parts whose operations are looked at */
	STRETCHES = 200,     /* of a history, of SMALL - 1 transactions each */
	STRETCHES_REDUCED = 40,
	/* Transactions of a core: the kernels have to judge it once more. */
	WEAK_CORE_MAX = 1000,
	STRONG_CORE_MAX = 200,
	/* Transactions of the parts that are checked on the way: a check of a
	 * strong level takes memory that grows with their square. */
	WEAK_MAX = 1000000,
	STRONG_MAX = 4000
};

struct shrink {
	struct sub_histories parts;
	enum level level;
	bool needs_order; /* it does, or one that a transaction has of its own
	                   */
	struct check_clock *clock;
	bool unsure; /* a check was undecided, or the time is over */
	int considered;
	uint64_t operations; /* of all parts that were checked */
	/* Operations as items: reads first, by index of the facts, then
	 * writes. NULL while the items are transactions. */
	const uint32_t *transactions;
	uint32_t transaction_count;
};

/* ---- does a set of items violate the level? ---- */

/* `core` receives the result of a check that found it violated. */
static bool transactions_violate(struct shrink *s, const uint32_t *items,
                                 uint32_t count, struct check_result *core)
{
	if (count == 0) return false;
	if (count > (s->needs_order ? STRONG_MAX : WEAK_MAX)) {
		s->unsure = true;
		return false;
	}
	struct facts *f = sub_history_take(&s->parts, items, count);
	*core = (struct check_result){ .verdict = VERDICT_VIOLATED };
	s->operations += f->read_first[f->n] + f->write_first[f->n];
	if (f->order) check_level(f, s->level, s->clock, core);
	facts_free(f);
	if (core->verdict == VERDICT_UNDECIDED) s->unsure = true;
	return core->verdict == VERDICT_VIOLATED;
}

static void count_operations(struct shrink *s, const uint32_t *items,
                             uint32_t count, bool counts)
{
	uint32_t reads = s->parts.whole->read_first[s->parts.whole->n];
	for (uint32_t i = 0; i < count; i++) {
		if (items[i] < reads)
			s->parts.reads[items[i]] = counts;
		else
			s->parts.writes[items[i] - reads] = counts;
	}
}

static bool operations_violate(struct shrink *s, const uint32_t *items,
                               uint32_t count)
{
	struct check_result r = { 0 };
	count_operations(s, items, count, true);
	bool violated = transactions_violate(s, s->transactions,
	                                     s->transaction_count, &r);
	count_operations(s, items, count, false);
	check_result_free(&r);
	return violated;
}

static void sort(uint32_t *items, uint32_t count)
{
	if (count) qsort(items, count, sizeof *items, number_compare);
}

/* items[kept] .. items[*count - 1] that are in the core of a part that consists
 * of the first *count items; the order stays. */
static void keep_core(const struct check_result *r, uint32_t *items,
                      uint32_t kept, uint32_t *count)
{
	if (!r->core || r->core_count >= *count) return;
	uint32_t *sorted = mem_take(*count * sizeof *sorted);
	uint32_t left = kept;
	memcpy(sorted, items, *count * sizeof *sorted);
	sort(sorted, *count);
	/* From here on, the members of the core in the items' numbers. */
	for (uint32_t i = 0; i < r->core_count; i++)
		sorted[i] = sorted[r->core[i] - 1];
	for (uint32_t i = kept; i < *count; i++)
		if (bsearch(&items[i], sorted, r->core_count, sizeof *sorted,
		            number_compare))
			items[left++] = items[i];
	free(sorted);
	*count = left;
}

/* Do the first *count items violate the level? If a smaller part of them is
 * found to, only that is kept. */
static bool violates(struct shrink *s, uint32_t *items, uint32_t kept,
                     uint32_t *count)
{
	if (s->transactions) return operations_violate(s, items, *count);
	struct check_result r = { 0 };
	bool violated = transactions_violate(s, items, *count, &r);
	if (violated) keep_core(&r, items, kept, count);
	check_result_free(&r);
	return violated;
}

/* ---- minimal sets of items ---- */

static bool is_over(struct shrink *s)
{
	if (!check_clock_over(s->clock)) return false;
	s->unsure = true;
	return true;
}

static void reverse(uint32_t *items, uint32_t count)
{
	for (uint32_t i = 0, j = count; i + 1 < j; i++) {
		uint32_t item = items[i];
		items[i] = items[--j];
		items[j] = item;
	}
}

/* The first *count items violate the level. Sets *count to the length of the
 * shortest beginning of them that does, at least `kept`. */
static void find_beginning(struct shrink *s, uint32_t *items, uint32_t kept,
                           uint32_t *count)
{
	uint32_t low = kept ? kept : 1, step = 1;
	for (uint32_t at = low; at < *count && !is_over(s);
	     at = at + step < *count ? at + step : *count, step *= 2) {
		uint32_t length = at;
		if (violates(s, items, kept, &length)) {
			bool less = length < at;
			*count = length;
			if (less) low = kept ? kept : 1;
			break;
		}
		low = at + 1;
	}
	while (low < *count && !is_over(s)) {
		uint32_t middle = low + (*count - low) / 2, length = middle;
		if (!violates(s, items, kept, &length)) {
			low = middle + 1;
			continue;
		}
		if (length < middle) low = kept ? kept : 1;
		*count = length;
	}
}

/* Is the last one essential? Else it is dropped. */
static bool needs_last(struct shrink *s, uint32_t *items, uint32_t kept,
                       uint32_t *count)
{
	uint32_t length = *count - 1;
	if (*count == kept || is_over(s)) return false;
	if (!violates(s, items, kept, &length)) return true;
	*count = length;
	return false;
}

/* Reduces items that violate the level to some of them that still do, and that
 * are minimal unless the time is over. */
static void reduce(struct shrink *s, uint32_t *items, uint32_t *count)
{
	uint32_t kept = 0, streak = 0;
	while (!is_over(s)) {
		uint32_t before = *count;
		if (streak < STREAK || !needs_last(s, items, kept, count))
			find_beginning(s, items, kept, count);
		assert(*count >= kept);
		if (*count == kept || is_over(s)) break;
		streak = *count == before ? streak + 1 : 0;
		uint32_t last = items[*count - 1];
		memmove(items + kept + 1, items + kept,
		        (*count - 1 - kept) * sizeof *items);
		items[kept++] = last;
		/* The nearest ones to it next. */
		reverse(items + kept, *count - kept);
	}
}

/* ---- operations ---- */

/* Those that count. */
static uint32_t *items_of(struct shrink *s, uint32_t *count)
{
	const struct facts *f = s->parts.whole;
	uint32_t reads = f->read_first[f->n], most = 0;
	for (uint32_t k = 0; k < s->transaction_count; k++) {
		uint32_t t = s->transactions[k];
		most += f->read_first[t + 1] - f->read_first[t] +
		        f->write_first[t + 1] - f->write_first[t];
	}
	uint32_t *items = mem_take((most + (size_t)1) * sizeof *items);
	*count = 0;
	for (uint32_t k = 0; k < s->transaction_count; k++) {
		uint32_t t = s->transactions[k];
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++)
			if (s->parts.reads[i]) items[(*count)++] = i;
		for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1];
		     i++)
			items[(*count)++] = reads + i;
	}
	return items;
}

static uint32_t *copy_of(const uint32_t *from, uint32_t count)
{
	uint32_t *to = mem_take((count + (size_t)1) * sizeof *to);
	if (count) memcpy(to, from, count * sizeof *to);
	return to;
}

/* The operations that matter, as items; tried forwards and backwards. */
static uint32_t *reduce_operations(struct shrink *s, uint32_t *count)
{
	uint32_t *first = items_of(s, count);
	uint32_t *second = copy_of(first, *count), second_count = *count;
	count_operations(s, first, *count, false);
	reverse(second, second_count);
	reduce(s, first, count);
	reduce(s, second, &second_count);
	if (second_count < *count) {
		uint32_t *worse = first;
		first = second;
		second = worse;
		*count = second_count;
	}
	free(second);
	sort(first, *count);
	return first;
}

void minimal_violation_free(struct minimal_violation *c)
{
	free(c->transactions);
	free(c->reads);
	free(c->writes);
	free(c->known);
	*c = (struct minimal_violation){ 0 };
}

static void take_items(struct shrink *s, const uint32_t *items, uint32_t count,
                       struct minimal_violation *out)
{
	uint32_t reads = s->parts.whole->read_first[s->parts.whole->n];
	out->reads = mem_take((count + (size_t)1) * sizeof *out->reads);
	out->writes = mem_take((count + (size_t)1) * sizeof *out->writes);
	for (uint32_t i = 0; i < count; i++) {
		if (items[i] < reads)
			out->reads[out->read_count++] = items[i];
		else
			out->writes[out->write_count++] = items[i] - reads;
	}
}

/* The core of these transactions, which violate the level. */
static void finish(struct shrink *s, const uint32_t *transactions,
                   uint32_t count, struct minimal_violation *out)
{
	uint32_t all, left;
	s->transactions = transactions;
	s->transaction_count = count;
	uint32_t *every = items_of(s, &all);
	*out = (struct minimal_violation){ .count = count };
	out->transactions = copy_of(transactions, count);
	sort(out->transactions, count);
	uint32_t *items = reduce_operations(s, &left);
	take_items(s, items, left, out);
	out->known =
		mem_take0((size_t)s->parts.pair_count + 1, sizeof *out->known);
	count_operations(s, items, left, true);
	out->known_count =
		sub_history_known(&s->parts, transactions, count, out->known);
	count_operations(s, every, all, true);
	out->minimal = !s->unsure;
	s->transactions = NULL;
	free(every);
	free(items);
}

/* ---- which transactions ---- */

/* Is a better than b: fewer transactions, then operations, then earlier? */
static bool is_better(const struct minimal_violation *a,
                      const struct minimal_violation *b)
{
	uint32_t of_a = a->read_count + a->write_count;
	uint32_t of_b = b->read_count + b->write_count;
	if (a->count != b->count) return a->count < b->count;
	if (of_a != of_b) return of_a < of_b;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->transactions[i] != b->transactions[i])
			return a->transactions[i] < b->transactions[i];
	return false;
}

/* Takes these transactions, which violate the level, if they are better than
 * the best so far. */
static void consider(struct shrink *s, const uint32_t *items, uint32_t count,
                     struct minimal_violation *best)
{
	struct minimal_violation core;
	bool same = count == best->count;
	if (s->unsure || count > best->count) return;
	if (same && s->considered++ >= CONSIDERED_MAX) return;
	finish(s, items, count, &core);
	if (core.minimal && is_better(&core, best)) {
		minimal_violation_free(best);
		*best = core;
	} else {
		minimal_violation_free(&core);
	}
}

static void shuffle(struct rng *r, uint32_t *items, uint32_t count)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = rng_below(r, i), item = items[j];
		items[j] = items[i - 1];
		items[i - 1] = item;
	}
}

static bool looks_on(const struct shrink *s)
{
	return !s->unsure && s->operations < LOOK_OPERATIONS;
}

static void try_orders(struct shrink *s, const uint32_t *transactions,
                       uint32_t count, struct minimal_violation *best)
{
	struct rng r = { count };
	for (int i = 0; i < TRIES && best->count > 2 && looks_on(s); i++) {
		uint32_t *items = copy_of(transactions, count), left = count;
		if (i == 0)
			reverse(items, count);
		else
			shuffle(&r, items, count);
		reduce(s, items, &left);
		consider(s, items, left, best);
		free(items);
	}
}

static void try_set(struct shrink *s, const uint32_t *items, uint32_t count,
                    struct minimal_violation *best)
{
	struct check_result r = { 0 };
	if (is_over(s) || !looks_on(s)) return;
	if (transactions_violate(s, items, count, &r))
		consider(s, items, count, best);
	check_result_free(&r);
}

/* All pairs, and all sets of three if there are no pairs. */
static void try_small_sets(struct shrink *s, const uint32_t *t, uint32_t count,
                           struct minimal_violation *best)
{
	uint64_t pairs = (uint64_t)count * (count - 1) / 2;
	if (best->count < 2 || pairs > PAIRS_MAX) return;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++)
			try_set(s, (uint32_t[]){ t[i], t[j] }, 2, best);
	if (best->count < 4 || pairs * (count - 2) / 3 > TRIPLES_MAX) return;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++)
			for (uint32_t k = j + 1; k < count; k++)
				try_set(s, (uint32_t[]){ t[i], t[j], t[k] }, 3,
				        best);
}

static void look_around(struct shrink *s, const uint32_t *transactions,
                        uint32_t count, struct minimal_violation *best)
{
	if (count > SMALL || !best->minimal || best->count == count) return;
	s->operations = 0;
	try_orders(s, transactions, count, best);
	try_small_sets(s, transactions, count, best);
}

/* Transactions in the order of the facts, so that a beginning is a history that
 * could have been recorded. */
static uint32_t *in_order(const struct facts *f, const uint32_t *transactions,
                          uint32_t count)
{
	uint32_t *items = copy_of(transactions, count);
	if (!f->order) return items;
	for (uint32_t i = 0; i < count; i++) items[i] = f->rank[items[i]];
	sort(items, count);
	for (uint32_t i = 0; i < count; i++) items[i] = f->order[items[i]];
	return items;
}

/* Not all of a large part of a strong level matters; but which of it cannot be
 * told in time, the kernels cannot tell either. */
static bool is_too_large(const struct shrink *s, uint32_t count)
{
	if (!s->needs_order) return count > WEAK_CORE_MAX;
	return count > (s->unsure ? SMALL : STRONG_CORE_MAX);
}

static bool some_need_order(const struct facts *f, enum level others)
{
	unsigned levels = facts_levels(f, others);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (levels >> l & 1 && level_needs_order(l)) return true;
	return false;
}

/* Some minimal core; then better ones, if they are looked for. */
static bool find(const struct facts *f, enum level l,
                 const uint32_t *transactions, uint32_t count, bool look,
                 struct check_clock *c, struct minimal_violation *out)
{
	struct shrink s = { .level = l,
		            .needs_order = some_need_order(f, l),
		            .clock = c };
	uint32_t *items = in_order(f, transactions, count), left = count;
	*out = (struct minimal_violation){ 0 };
	sub_history_init(&s.parts, f);
	sub_history_narrow(&s.parts, transactions, count);
	sub_history_forget_idle(&s.parts);
	reduce(&s, items, &left);
	if (s.unsure && left <= WEAK_CORE_MAX) {
		/* What could not be decided among many may be among few. */
		s.unsure = false;
		reduce(&s, items, &left);
	}
	bool found = !is_too_large(&s, left);
	if (found) finish(&s, items, left, out);
	if (found && look) {
		uint32_t *rest = in_order(f, transactions, count);
		look_around(&s, rest, count, out);
		free(rest);
	}
	free(items);
	sub_history_free(&s.parts);
	return found;
}

bool minimal_violation_find(const struct facts *f, enum level l,
                            const uint32_t *transactions, uint32_t count,
                            struct check_clock *c,
                            struct minimal_violation *out)
{
	return find(f, l, transactions, count, true, c, out);
}

bool minimal_violation_find_any(const struct facts *f, enum level l,
                                const uint32_t *transactions, uint32_t count,
                                struct check_clock *c,
                                struct minimal_violation *out)
{
	return find(f, l, transactions, count, false, c, out);
}

/* ---- elsewhere in the history ---- */

/* Two committed transactions that read a key from the same writer and write it.
 * `first` has the first one, by write (and by key, for init). */
static bool find_lost_update(const struct facts *f, uint32_t *first,
                             uint32_t *pair)
{
	for (uint32_t t = 1; t < f->n; t++)
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++) {
			struct facts_read r = f->reads[i];
			if (!facts_writes(f, t, r.key)) continue;
			uint32_t write = f->write_first[f->n] + r.key;
			if (r.from) write = facts_write(f, r.from, r.key);
			if (write == UINT32_MAX) continue;
			if (first[write] && first[write] != t) {
				pair[0] = first[write];
				pair[1] = t;
				return true;
			}
			first[write] = t;
		}
	return false;
}

static void try_lost_update(struct shrink *s, struct minimal_violation *best)
{
	const struct facts *f = s->parts.whole;
	uint32_t pair[2];
	if (!level_excludes_rivals(s->level)) return;
	uint32_t *first = mem_take0(
		f->write_first[f->n] + f->key_count + (size_t)1, sizeof *first);
	if (find_lost_update(f, first, pair)) try_set(s, pair, 2, best);
	free(first);
}

/* A stretch of the order of the facts. */
static bool try_stretch(struct shrink *s, const uint32_t *stretch,
                        uint32_t count, struct minimal_violation *best)
{
	uint32_t left = count, before = best->count;
	uint32_t *items = copy_of(stretch, count);
	bool violated = violates(s, items, 0, &left);
	if (violated) {
		reduce(s, items, &left);
		if (left < best->count) consider(s, items, left, best);
	}
	if (best->count < before) look_around(s, stretch, count, best);
	free(items);
	return violated;
}

/* They overlap by half, or are spread evenly where these would be too many. */
static void try_stretches(struct shrink *s, struct minimal_violation *best)
{
	const struct facts *f = s->parts.whole;
	const uint32_t length = SMALL - 1;
	uint32_t reduced = 0, last = f->n - length;
	uint32_t steps = last / (length / 2);
	if (steps > STRETCHES) steps = STRETCHES;
	for (uint32_t i = 0; i <= steps && best->count > 2 &&
	                     reduced < STRETCHES_REDUCED && !is_over(s);
	     i++) {
		uint64_t at = steps ? 1 + (uint64_t)i * (last - 1) / steps : 1;
		reduced += try_stretch(s, f->order + at, length, best);
	}
}

void minimal_violation_improve(const struct facts *f, enum level l,
                               struct check_clock *c,
                               struct minimal_violation *best)
{
	struct shrink s = { .level = l,
		            .needs_order = some_need_order(f, l),
		            .clock = c };
	if (!f->order || f->n <= SMALL || best->count <= 2) return;
	sub_history_init(&s.parts, f);
	sub_history_forget_idle(&s.parts);
	try_lost_update(&s, best);
	try_stretches(&s, best);
	sub_history_free(&s.parts);
}
