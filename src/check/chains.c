#include "check/chains.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
	FEW_SESSIONS = 4, /* are not worth a look for fewer chains */
	LOOK = 64         /* transactions before t that are looked at */
};

/* Chains while they are made, in the order of the facts. */
struct cover {
	const struct facts *f;
	struct chains *chains;
	uint32_t longest;
	bool across; /* may a chain leave a session before its end? */
	bool *tail;  /* those that end their chain */
	/* Going back from one transaction: */
	uint32_t *queue, *next; /* next: the one it was met from */
	uint32_t *met;          /* for which one it was met last */
	uint32_t count;
	size_t via_count, via_capacity;
};

/* May something follow u in its chain, if it comes after u? */
static bool may_go_on(const struct cover *c, uint32_t u)
{
	const struct facts *f = c->f;
	bool ends_session = u + 1 == f->session_first[f->session_of[u] + 1];
	return c->tail[u] && (c->across || ends_session) &&
	       c->chains->place_of[u] + 1 < c->longest;
}

static void meet(struct cover *c, uint32_t t, uint32_t u, uint32_t from)
{
	if (!u || c->met[u] == t) return;
	c->met[u] = t;
	c->next[u] = from;
	c->queue[c->count++] = u;
}

/* Meets what comes right before u, to look for what t may follow. */
static void meet_before(struct cover *c, uint32_t t, uint32_t u)
{
	const struct facts *f = c->f;
	if (u > f->session_first[f->session_of[u]]) meet(c, t, u - 1, u);
	for (uint32_t i = f->read_first[u];
	     i < f->read_first[u + 1] && c->count < LOOK; i++)
		meet(c, t, f->reads[i].from, u);
}

/* A transaction that t may follow in a chain, or 0. */
static uint32_t find_tail(struct cover *c, uint32_t t)
{
	const struct facts *f = c->f;
	bool first = t == f->session_first[f->session_of[t]];
	if (!first && c->tail[t - 1] &&
	    c->chains->place_of[t - 1] + 1 < c->longest)
		return t - 1;
	c->count = 0;
	if (first || c->across) meet_before(c, t, t);
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t u = c->queue[i];
		if (may_go_on(c, u)) return u;
		if (c->across && c->count < LOOK) meet_before(c, t, u);
	}
	return 0;
}

static void add_via(struct cover *c, uint32_t t)
{
	struct chains *to = c->chains;
	VEC_RESERVE(to->via, c->via_count, c->via_capacity);
	to->via[c->via_count++] = t;
}

static void follow(struct cover *c, uint32_t t, uint32_t u)
{
	struct chains *to = c->chains;
	assert(c->tail[u] && to->place_of[u] + 1 < c->longest);
	to->chain_of[t] = to->chain_of[u];
	to->place_of[t] = to->place_of[u] + 1;
	c->tail[u] = false;
	if (!c->count || c->next[u] == t) return;
	to->via_first[t] = (uint32_t)c->via_count;
	for (u = c->next[u]; u != t; u = c->next[u]) add_via(c, u);
	add_via(c, 0);
}

static void assign(struct cover *c)
{
	const struct facts *f = c->f;
	for (uint32_t k = 1; k < f->n; k++) {
		uint32_t t = f->order[k];
		c->count = 0;
		uint32_t u = find_tail(c, t);
		if (u)
			follow(c, t, u);
		else
			c->chains->chain_of[t] = c->chains->count++;
		c->tail[t] = true;
	}
}

static struct chains *cover(const struct facts *f, uint32_t longest,
                            bool across)
{
	struct chains *to = mem_take0(1, sizeof *to);
	struct cover c = { .f = f,
		           .chains = to,
		           .longest = longest,
		           .across = across,
		           .tail = mem_take0(f->n, sizeof *c.tail),
		           .queue = mem_take((LOOK + (size_t)1) *
		                             sizeof *c.queue),
		           .next = mem_take0(f->n, sizeof *c.next),
		           .met = mem_take0(f->n, sizeof *c.met) };
	assert(longest > 0 && f->order);
	to->chain_of = mem_take0(f->n, sizeof *to->chain_of);
	to->place_of = mem_take0(f->n, sizeof *to->place_of);
	to->via_first = mem_take0(f->n, sizeof *to->via_first);
	add_via(&c, 0);
	assign(&c);
	free(c.tail);
	free(c.queue);
	free(c.next);
	free(c.met);
	return to;
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

struct chains *chains_new(const struct facts *f, uint32_t longest, bool across)
{
	struct chains *c = cover(f, longest, false);
	if (across && f->session_count > FEW_SESSIONS) {
		struct chains *other = cover(f, longest, true);
		bool fewer = other->count < c->count;
		chains_free(fewer ? c : other);
		if (fewer) c = other;
	}
	size_t writers = f->writer_first[f->key_count];
	c->members = mem_take0(f->n, sizeof *c->members);
	c->writers = mem_take0(writers + 1, sizeof *c->writers);
	c->groups = mem_take0(writers + 1, sizeof *c->groups);
	c->group_first =
		mem_take0((size_t)f->key_count + 1, sizeof *c->group_first);
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
	free(c->via);
	free(c->via_first);
	free(c->writers);
	free(c->groups);
	free(c->group_first);
	free(c);
}
