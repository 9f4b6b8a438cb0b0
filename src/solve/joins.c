#include "solve/joins.h"

#include <assert.h>
#include <stdlib.h>

#include "analyse/footprint.h"
#include "base/hash.h"
#include "base/memory.h"
#include "solve/runs.h"

void joins_init(struct joins *j, const struct program *p, uint32_t sessions,
                const uint32_t *same, const struct keys *keys)
{
	*j = (struct joins){ .sessions = sessions };
	if (!same || !alike_states_known(p)) return;
	j->some = true;
	alike_states_init(&j->alike, p, same);
	j->footprints = footprints_new(p, keys);
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
	footprints_free(j->footprints);
}

/* What is locked, where statements have moments, refers to nodes of the way. */
bool joins_may(const struct joins *j, const struct run_node *n, bool inside)
{
	return j->some && n->kind == RUN_READS && !n->holds &&
	       (n->ended_count || inside);
}

/* ---- what the transaction has done ---- */

static uint32_t key_of(const struct run_known *k)
{
	return k->read->parent->key;
}

static void know(const struct joins *j, struct run_node *form,
                 const struct run_node *read, struct region *region)
{
	if (!footprints_may_read(j->footprints, form->state, read->parent->key))
		return;
	struct run_known *k = region_take(region, sizeof *k);
	*k = (struct run_known){ form->known, read };
	form->known = k;
}

/* What it has read, from the node back to its beginning. */
static void find_known(const struct joins *j, struct run_node *form,
                       const struct run_node *n, struct region *region)
{
	form->known = NULL;
	for (; n->parent && n->parent->index == form->index; n = n->parent)
		know(j, form, n, region);
	const struct run_known *k =
		n->joined && n->index == form->index ? n->known : NULL;
	for (; k; k = k->older) know(j, form, k->read, region);
}

static bool is_settled(const struct joins *j, const struct run_node *n,
                       uint32_t key)
{
	return !footprints_may_read(j->footprints, n->state, key) &&
	       !footprints_may_write_on(j->footprints, n->state, key);
}

/* Copies the write to the front of the list. */
static void put(const struct run_write **list, const struct run_write *w,
                struct region *region)
{
	struct run_write *copy = region_take(region, sizeof *copy);
	*copy = (struct run_write){ *list, w->key, w->value };
	*list = copy;
}

static void settle(const struct joins *j, struct run_node *form,
                   struct run_node *n, struct region *region)
{
	form->writes = NULL;
	for (const struct run_write *w = n->writes; w; w = w->older) {
		if (!is_settled(j, n, w->key)) {
			put(&form->writes, w, region);
			continue;
		}
		put(&n->settled, w, region);
		struct run_key *k = region_take(region, sizeof *k);
		*k = (struct run_key){ form->settled_keys, w->key };
		form->settled_keys = k;
	}
}

struct run_node *joins_form(const struct joins *j, struct run_node *n,
                            struct region *region)
{
	struct run_node *form = region_take(region, sizeof *form);
	*form = *n;
	form->parent = NULL;
	form->joined = true;
	form->ended_count = 0;
	form->locked = NULL;
	if (n->ended_count) return form;
	find_known(j, form, n, region);
	settle(j, form, n, region);
	return form;
}

/* ---- which are alike ---- */

static uint64_t hash(const struct joins *j, const struct run_node *n)
{
	uint64_t h = alike_states_hash(&j->alike, n->state), sum = 0;
	for (const struct run_write *w = n->writes; w; w = w->older)
		sum += hash_mix(w->key, value_hash(w->value));
	for (const struct run_known *k = n->known; k; k = k->older)
		sum += hash_mix(key_of(k), value_hash(k->read->answer));
	for (const struct run_key *k = n->settled_keys; k; k = k->older)
		sum += hash_mix(1, k->key);
	return hash_mix(hash_mix(hash_mix(h, n->key), n->index), sum);
}

/* Keys are in such lists once. */
static bool same_writes(const struct run_write *a, const struct run_write *b)
{
	uint32_t more = 0;
	for (const struct run_write *x = b; x; x = x->older) more++;
	for (; a; a = a->older, more--) {
		const struct run_write *x = b;
		while (x && x->key != a->key) x = x->older;
		if (!x || !value_equal(x->value, a->value)) return false;
	}
	return !more;
}

static bool same_known(const struct run_known *a, const struct run_known *b)
{
	uint32_t more = 0;
	for (const struct run_known *x = b; x; x = x->older) more++;
	for (; a; a = a->older, more--) {
		const struct run_known *x = b;
		while (x && key_of(x) != key_of(a)) x = x->older;
		if (!x || !value_equal(x->read->answer, a->read->answer))
			return false;
	}
	return !more;
}

static bool same_keys(const struct run_key *a, const struct run_key *b)
{
	uint32_t more = 0;
	for (const struct run_key *x = b; x; x = x->older) more++;
	for (; a; a = a->older, more--) {
		const struct run_key *x = b;
		while (x && x->key != a->key) x = x->older;
		if (!x) return false;
	}
	return !more;
}

static bool same(const struct joins *j, const struct run_node *a,
                 const struct run_node *b)
{
	return a->key == b->key && a->index == b->index && a->name == b->name &&
	       a->locks == b->locks && a->occurrence == b->occurrence &&
	       same_writes(a->writes, b->writes) &&
	       same_known(a->known, b->known) &&
	       same_keys(a->settled_keys, b->settled_keys) &&
	       alike_states_equal(&j->alike, a->state, b->state);
}

struct run_node *joins_find(const struct joins *j, const struct run_node *form)
{
	struct table_probe at = table_probe(hash(j, form));
	uint32_t i;
	while ((i = table_next(&j->by_state, &at)) != TABLE_NONE)
		if (same(j, j->items[i], form)) return j->items[i];
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
