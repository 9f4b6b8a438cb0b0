/* Locks under levels with statements: what is forced by them, and what they
 * leave open. As of the writers in saturate.c, only the first lock of a chain
 * that an edge may lead to is looked at: a later one begins behind its end. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check/strong.h"

/* ---- lists ---- */

static void sum_up(uint32_t *first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) first[i + 1] += first[i];
}

static void list_by_point(struct strong *s)
{
	const struct strong_locks *l = s->locks;
	size_t n = s->points + (size_t)2;
	uint32_t *end = mem_take(n * sizeof *end);
	s->until_first = mem_take0(n, sizeof *s->until_first);
	s->commit_first = mem_take0(n, sizeof *s->commit_first);
	s->until_locks = mem_take(l->count * sizeof *s->until_locks);
	for (uint32_t i = 0; i < l->count; i++) {
		assert(!i || l->items[i - 1].commit <= l->items[i].commit);
		s->until_first[l->items[i].until + 1]++;
		s->commit_first[l->items[i].commit + 1]++;
	}
	sum_up(s->until_first, s->points);
	sum_up(s->commit_first, s->points);
	for (uint32_t p = 0; p < s->points; p++) end[p] = s->until_first[p];
	for (uint32_t i = 0; i < l->count; i++)
		s->until_locks[end[l->items[i].until]++] = i;
	free(end);
}

static uint32_t chain_of_lock(const struct strong *s, uint32_t lock)
{
	return point_chain(s, s->locks->items[lock].commit);
}

static void list_groups(struct strong *s, const uint32_t *key_first)
{
	uint32_t count = 0;
	for (uint32_t x = 0; x < 2 * s->f->key_count; x++) {
		s->lock_group_first[x] = count;
		for (uint32_t i = key_first[x], k; i < key_first[x + 1];
		     i = k) {
			uint32_t chain = chain_of_lock(s, s->lock_order[i]);
			for (k = i; k < key_first[x + 1]; k++)
				if (chain_of_lock(s, s->lock_order[k]) != chain)
					break;
			s->lock_groups[count++] =
				(struct lock_group){ chain, i, k };
		}
	}
	s->lock_group_first[2 * s->f->key_count] = count;
}

/* Where it stands in lock_group_first. */
static uint32_t list_of(const struct strong_lock *l)
{
	return 2 * l->key + l->shared;
}

/* Behind the last list of locks that this one excludes. */
static uint32_t lists_end(const struct strong_lock *l)
{
	return 2 * l->key + (l->shared ? 1 : 2);
}

void locks_list(struct strong *s)
{
	const struct strong_locks *l = s->locks;
	size_t keys = 2 * (size_t)s->f->key_count + 1;
	uint32_t *first = mem_take0(keys, sizeof *first);
	uint32_t *end = mem_take(keys * sizeof *end);
	list_by_point(s);
	s->lock_order = mem_take(l->count * sizeof *s->lock_order);
	s->lock_groups = mem_take(l->count * sizeof *s->lock_groups);
	s->lock_group_first = mem_take(keys * sizeof *s->lock_group_first);
	for (uint32_t i = 0; i < l->count; i++)
		first[list_of(&l->items[i]) + 1]++;
	sum_up(first, 2 * s->f->key_count);
	for (uint32_t x = 0; x < keys; x++) end[x] = first[x];
	for (uint32_t k = 0; k + 1 < s->f->n; k++) {
		uint32_t p = s->chains->members[k];
		for (uint32_t i = s->commit_first[p];
		     i < s->commit_first[p + 1]; i++)
			s->lock_order[end[list_of(&l->items[i])]++] = i;
	}
	list_groups(s, first);
	free(first);
	free(end);
}

void locks_free(struct strong *s)
{
	free(s->lock_order);
	free(s->lock_groups);
	free(s->lock_group_first);
	free(s->until_first);
	free(s->until_locks);
	free(s->commit_first);
}

uint32_t lock_commit(const struct strong *s, uint32_t until, uint32_t key)
{
	uint32_t i = s->until_first[until];
	while (s->locks->items[s->until_locks[i]].key != key) {
		i++;
		assert(i < s->until_first[until + 1]);
	}
	return s->locks->items[s->until_locks[i]].commit;
}

/* ---- rules ---- */

static const struct strong_lock *lock_at(const struct strong *s, uint32_t place)
{
	return &s->locks->items[s->lock_order[place]];
}

/* The first of the group that ends at or after this place of its chain. */
static uint32_t lock_from(const struct strong *s, const struct lock_group *g,
                          int32_t place)
{
	uint32_t low = g->first, high = g->end;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (point_place(s, lock_at(s, middle)->commit) < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void saturate_lock(struct strong *s, uint32_t lock, lock_forcer *force)
{
	const struct strong_lock *a = &s->locks->items[lock];
	const lanes *suc = point_row(s, s->suc, a->until);
	for (uint32_t i = s->lock_group_first[2 * a->key];
	     i < s->lock_group_first[lists_end(a)] && !s->conflicting; i++) {
		const struct lock_group *g = &s->lock_groups[i];
		uint32_t at = lock_from(s, g, row_suc(s, suc, g->chain));
		if (at < g->end && lock_at(s, at)->commit == a->commit) at++;
		if (at < g->end)
			force(s, a->commit, lock_at(s, at)->until, lock);
	}
}

void locks_saturate(struct strong *s, uint32_t p, lock_forcer *force)
{
	for (uint32_t i = s->until_first[p];
	     i < s->until_first[p + 1] && !s->conflicting; i++)
		saturate_lock(s, s->until_locks[i], force);
}

/* Do both begin where they end? Then any order will do. */
static bool are_moments(const struct strong_lock *a,
                        const struct strong_lock *b)
{
	return a->until == a->commit && b->until == b->commit;
}

static bool visit_lock(struct strong *s, const struct strong_lock *a,
                       choice_visitor *visit, void *data)
{
	const lanes *pre = point_row(s, s->pre, a->until);
	for (uint32_t i = s->lock_group_first[2 * a->key];
	     i < s->lock_group_first[lists_end(a)]; i++) {
		const struct lock_group *g = &s->lock_groups[i];
		uint32_t at = lock_from(s, g, row_pre(s, pre, g->chain));
		for (; at < g->end; at++) {
			const struct strong_lock *b = lock_at(s, at);
			if (b->commit <= a->commit || are_moments(a, b))
				continue;
			if (point_before(s, a->commit, b->until)) break;
			struct open_choice choice = {
				.first = { .from = b->commit, .to = a->until },
				.second = { .from = a->commit, .to = b->until }
			};
			if (!visit(data, &choice)) return false;
		}
	}
	return true;
}

bool lock_choices_of(struct strong *s, uint32_t t, choice_visitor *visit,
                     void *data)
{
	for (uint32_t i = s->commit_first[t]; i < s->commit_first[t + 1]; i++)
		if (!visit_lock(s, &s->locks->items[i], visit, data))
			return false;
	return true;
}

/* ---- an order ---- */

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Does no lock that ends there begin before the end of one that it excludes?
 * Takes their ends. */
static bool agree_at(const struct strong *s, uint32_t commit, uint32_t *ends)
{
	const struct strong_lock *items = s->locks->items;
	uint32_t first = s->commit_first[commit];
	uint32_t end = s->commit_first[commit + 1];
	for (uint32_t i = first; i < end; i++) {
		uint32_t begin = s->topo_rank[items[i].until];
		for (uint32_t k = 2 * items[i].key; k < lists_end(&items[i]);
		     k++)
			if (ends[k] > begin) return false;
	}
	for (uint32_t i = first; i < end; i++)
		ends[list_of(&items[i])] = s->topo_rank[commit] + 1;
	return true;
}

bool locks_agree(const struct strong *s)
{
	const struct strong_locks *l = s->locks;
	size_t keys = 2 * (size_t)s->f->key_count + 1;
	uint32_t *ends = mem_take0(keys, sizeof *ends);
	uint32_t *commits = mem_take((l->count + (size_t)1) * sizeof *commits);
	uint32_t count = 0;
	bool agree = true;
	for (uint32_t i = 0; i < l->count; i++)
		if (!i || l->items[i].commit != l->items[i - 1].commit)
			commits[count++] = s->topo_rank[l->items[i].commit];
	if (count) qsort(commits, count, sizeof *commits, compare_numbers);
	/* By their ends; the last one's is the latest so far. */
	for (uint32_t k = 0; k < count && agree; k++)
		agree = agree_at(s, s->topo[commits[k]], ends);
	free(ends);
	free(commits);
	return agree;
}
