#include "native/host/step_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

/* Finds the step that follows by the answer; its number, or TABLE_NONE. */
static uint32_t find(const struct step_tree *m, const struct tree_step *from,
                     struct value answer, struct table_probe *at)
{
	uint32_t i;
	assert(step_waits(from));
	*at = table_probe(hash_mix(from->serial, value_hash(answer)));
	while ((i = table_next(&m->by_answer, at)) != TABLE_NONE)
		if (m->steps[i]->before == from &&
		    value_equal(m->steps[i]->answer, answer))
			break;
	return i;
}

struct tree_step *step_tree_find(const struct step_tree *m,
                                 const struct tree_step *from,
                                 struct value answer)
{
	struct table_probe at;
	if (!step_waits(from)) return from->next;
	uint32_t i = find(m, from, answer, &at);
	assert(i == TABLE_NONE || m->steps[i]->before == from);
	return i == TABLE_NONE ? NULL : m->steps[i];
}

void step_tree_add(struct step_tree *m, struct tree_step *from,
                   struct tree_step *to)
{
	struct table_probe at;
	assert(to->before == from);
	if (!step_waits(from)) {
		assert(!from->next);
		from->next = to;
		return;
	}
	assert(from->kept && to->kept);
	uint32_t i = find(m, from, to->answer, &at);
	assert(i == TABLE_NONE);
	VEC_RESERVE(m->steps, m->count, m->capacity);
	table_put(&m->by_answer, at, m->count);
	m->steps[m->count++] = to;
	assert(m->count == m->by_answer.count);
}

size_t step_tree_bytes(const struct step_tree *m)
{
	return table_bytes(&m->by_answer) + m->capacity * sizeof *m->steps;
}

void step_tree_free(struct step_tree *m)
{
	table_free(&m->by_answer);
	free(m->steps);
}
