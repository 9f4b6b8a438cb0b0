#include "check/chains.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* Is t the last of its session, so that nobody else wants to continue it? */
static bool ends_session(const struct facts *f, uint32_t t)
{
	return t + 1 == f->session_first[f->session_of[t] + 1];
}

/* A transaction that t may follow in a chain, or 0. `tail` is true for those
 * that end their chain. */
static uint32_t find_tail(const struct facts *f, const bool *tail, uint32_t t)
{
	if (t > f->session_first[f->session_of[t]]) return t - 1;
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++) {
		uint32_t u = f->reads[i].from;
		if (u && tail[u] && ends_session(f, u)) return u;
	}
	return 0;
}

static void assign(struct chains *c, const struct facts *f)
{
	bool *tail = mem_take0(f->n, sizeof *tail);
	for (uint32_t k = 1; k < f->n; k++) {
		uint32_t t = f->order[k], u = find_tail(f, tail, t);
		assert(t > 0 && t < f->n && (!u || tail[u]));
		if (u) {
			c->chain_of[t] = c->chain_of[u];
			c->place_of[t] = c->place_of[u] + 1;
			tail[u] = false;
		} else {
			c->chain_of[t] = c->count++;
		}
		tail[t] = true;
	}
	free(tail);
}

static void list_members(struct chains *c, const struct facts *f)
{
	c->first = mem_take0((size_t)c->count + 2, sizeof *c->first);
	for (uint32_t t = 1; t < f->n; t++) c->first[c->chain_of[t] + 1]++;
	for (uint32_t i = 0; i < c->count; i++) c->first[i + 1] += c->first[i];
	for (uint32_t t = 1; t < f->n; t++)
		c->members[c->first[c->chain_of[t]] + c->place_of[t]] = t;
	assert(c->first[c->count] == f->n - 1);
}

/* Chain by chain, each transaction goes to the lists of its keys. */
static void list_writers(struct chains *c, const struct facts *f)
{
	uint32_t *end = mem_take(((size_t)f->key_count + 1) * sizeof *end);
	for (uint32_t x = 0; x < f->key_count; x++) end[x] = f->writer_first[x];
	for (uint32_t k = 0; k + 1 < f->n; k++) {
		uint32_t t = c->members[k];
		for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1];
		     i++)
			c->writers[end[f->writes[i]]++] = t;
	}
	free(end);
}

static void list_groups(struct chains *c, const struct facts *f)
{
	uint32_t count = 0;
	for (uint32_t x = 0; x < f->key_count; x++) {
		c->group_first[x] = count;
		uint32_t end = f->writer_first[x + 1];
		for (uint32_t i = f->writer_first[x]; i < end; count++) {
			uint32_t chain = c->chain_of[c->writers[i]], k = i;
			while (k < end && c->chain_of[c->writers[k]] == chain)
				k++;
			c->groups[count] =
				(struct chain_writers){ chain, i, k };
			i = k;
		}
	}
	assert(count <= f->writer_first[f->key_count]);
	c->group_first[f->key_count] = count;
}

struct chains *chains_new(const struct facts *f)
{
	struct chains *c = mem_take0(1, sizeof *c);
	size_t writers = f->writer_first[f->key_count];
	c->chain_of = mem_take0(f->n, sizeof *c->chain_of);
	c->place_of = mem_take0(f->n, sizeof *c->place_of);
	c->members = mem_take0(f->n, sizeof *c->members);
	c->writers = mem_take0(writers + 1, sizeof *c->writers);
	c->groups = mem_take0(writers + 1, sizeof *c->groups);
	c->group_first =
		mem_take0((size_t)f->key_count + 1, sizeof *c->group_first);
	assign(c, f);
	list_members(c, f);
	list_writers(c, f);
	list_groups(c, f);
	return c;
}

void chains_free(struct chains *c)
{
	if (!c) return;
	free(c->chain_of);
	free(c->place_of);
	free(c->first);
	free(c->members);
	free(c->writers);
	free(c->groups);
	free(c->group_first);
	free(c);
}
