#include "solve/joins.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "solve/runs.h"

void joins_init(struct joins *j, const struct program *p, uint32_t sessions,
                const uint32_t *same)
{
	*j = (struct joins){ .sessions = sessions };
	if (!same || !alike_states_known(p)) return;
	j->some = true;
	alike_states_init(&j->alike, p, same);
	table_init(&j->by_state, 0);
	j->of = mem_take0(sessions + 1, sizeof *j->of);
	j->count_of = mem_take0(sessions + 1, sizeof *j->count_of);
	j->capacity_of = mem_take0(sessions + 1, sizeof *j->capacity_of);
}

void joins_free(struct joins *j)
{
	if (!j->some) return;
	for (uint32_t i = 0; i < j->sessions; i++) free(j->of[i]);
	free(j->of);
	free(j->count_of);
	free(j->capacity_of);
	free(j->items);
	table_free(&j->by_state);
	alike_states_free(&j->alike);
}

/* What is locked refers to nodes of the way. */
bool joins_may(const struct joins *j, const struct run_node *n)
{
	return j->some && n->kind == RUN_READS && n->ended_count && !n->holds;
}

static uint64_t hash(const struct joins *j, const struct run_node *n)
{
	uint64_t h = alike_states_hash(&j->alike, n->state);
	for (const struct run_write *w = n->writes; w; w = w->older)
		h = hash_mix(hash_mix(h, w->key), value_hash(w->value));
	return hash_mix(hash_mix(h, n->key), n->index);
}

static bool same_writes(const struct run_write *a, const struct run_write *b)
{
	for (; a && b && a != b; a = a->older, b = b->older)
		if (a->key != b->key || !value_equal(a->value, b->value))
			return false;
	return a == b;
}

static bool same_moments(struct run_moment a, struct run_moment b)
{
	return !run_moment_before(a, b) && !run_moment_before(b, a);
}

static bool same(const struct joins *j, const struct run_node *a,
                 const struct run_node *b)
{
	return a->key == b->key && a->index == b->index && a->name == b->name &&
	       a->locks == b->locks && same_moments(a->now, b->now) &&
	       same_moments(a->moment, b->moment) &&
	       same_writes(a->writes, b->writes) &&
	       alike_states_equal(&j->alike, a->state, b->state);
}

struct run_node *joins_find(const struct joins *j, const struct run_node *n)
{
	struct table_probe at = table_probe(hash(j, n));
	uint32_t i;
	while ((i = table_next(&j->by_state, &at)) != TABLE_NONE)
		if (same(j, j->items[i], n)) return j->items[i];
	return NULL;
}

void joins_add(struct joins *j, struct run_node *n)
{
	struct table_probe at = table_probe(hash(j, n));
	uint32_t s = n->session, *count = &j->count_of[s];
	while (table_next(&j->by_state, &at) != TABLE_NONE) {
	}
	VEC_RESERVE(j->items, j->count, j->capacity);
	VEC_RESERVE(j->of[s], *count, j->capacity_of[s]);
	n->join_number = *count;
	j->of[s][(*count)++] = j->count;
	j->items[j->count] = n;
	table_put(&j->by_state, at, j->count++);
}

struct run_node *joins_counterpart(const struct joins *j,
                                   const struct run_node *n, uint32_t session)
{
	assert(n->join_number < j->count_of[session]);
	return j->items[j->of[session][n->join_number]];
}
