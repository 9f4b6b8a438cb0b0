#include "prove/build.h"

#include <assert.h>

#include "base/memory.h"

enum { ALIASES = 64 /* own writes that a read may or may not read */ };

uint32_t build_unknown(struct builder *b)
{
	return node_add(b->s, NODE_UNKNOWN, 0, 0, 0);
}

uint32_t build_guess(struct builder *b)
{
	return node_add(b->s, NODE_GUESS, 0, 0, 0);
}

uint32_t build_constant(struct builder *b, struct value v)
{
	return node_add(b->s, NODE_CONSTANT, application_constant(b->app, v), 0,
	                0);
}

void build_require(struct builder *b, uint32_t condition)
{
	struct summary *s = b->s;
	uint32_t fails = node_and(s, b->live, node_not(s, condition));
	s->errs = node_or(s, s->errs, fails);
	b->live = node_and(s, b->live, condition);
}

static uint32_t same_key(struct builder *b, const struct access *a,
                         const struct build_key *k)
{
	uint32_t same = a->family == k->family ? TRUE_NODE : FALSE_NODE;
	for (uint32_t i = 0; i < k->count && same != FALSE_NODE; i++)
		same = node_and(b->s, same,
		                node_equal(b->s, a->indexes[i], k->indexes[i]));
	return same;
}

static struct access *add_access(struct builder *b, const struct build_key *k,
                                 enum strength strength, uint32_t line)
{
	struct summary *s = b->s;
	const struct family *f = &b->app->families[k->family];
	assert(k->family < b->app->family_count);
	assert(k->count == f->index_count);
	VEC_RESERVE(s->accesses, s->access_count, s->access_capacity);
	struct access *a = &s->accesses[s->access_count++];
	*a = (struct access){ .strength = strength,
		              .family = k->family,
		              .indexes = k->indexes,
		              .index_count = k->count,
		              .happens = b->live,
		              .values = region_take0(&b->app->region,
		                                     f->value_count *
		                                             sizeof *a->values),
		              .many = b->rounds > 0,
		              .statement = b->statement,
		              .line = line };
	return a;
}

static void note_round(struct builder *b, uint32_t read, uint32_t guess)
{
	struct round_guess *g = region_take(&b->app->region, sizeof *g);
	*g = (struct round_guess){ read, guess, b->guesses };
	b->guesses = g;
}

/* Writes that are not here are like some write that is, in a loop. */
static bool is_written_in_rounds(const struct summary *s, uint32_t family)
{
	for (uint32_t i = 0; i < s->access_count; i++)
		if (s->accesses[i].write && s->accesses[i].many &&
		    s->accesses[i].family == family)
			return true;
	return false;
}

void build_finish(struct builder *b)
{
	struct summary *s = b->s;
	for (const struct round_guess *g = b->guesses; g; g = g->next) {
		assert(s->nodes[g->guess].op == NODE_GUESS);
		if (!is_written_in_rounds(s, s->accesses[g->read].family))
			s->nodes[g->guess] = (struct node){ .op = NODE_FALSE };
	}
	b->guesses = NULL;
}

const uint32_t *build_read(struct builder *b, const struct build_key *k,
                           enum strength strength, uint32_t line)
{
	struct summary *s = b->s;
	uint32_t number = s->access_count;
	uint32_t n = b->app->families[k->family].value_count;
	uint32_t outside = b->live;
	bool open = b->maybe > 0, round = b->rounds > 0;
	uint32_t *values = region_take(&b->app->region, n * sizeof *values);
	struct access *r = add_access(b, k, strength, line);
	for (uint32_t v = 0; v < n; v++)
		r->values[v] = values[v] = node_add(s, NODE_READ, number, v, 0);
	for (uint32_t i = 0; i < number; i++) {
		const struct access *w = &s->accesses[i];
		if (!w->write || w->family != k->family) continue;
		open |= w->many;
		uint32_t same = same_key(b, w, k);
		if (same != FALSE_NODE && same != TRUE_NODE)
			b->full |= ++b->aliases > ALIASES;
		uint32_t own = node_and(s, w->happens, same);
		outside = node_and(s, outside, node_not(s, own));
		for (uint32_t v = 0; v < n; v++)
			values[v] =
				node_choose(s, own, w->values[v], values[v]);
	}
	if (open || round) { /* a write that is not here may be its own */
		uint32_t other = build_guess(b);
		if (!open) note_round(b, number, other);
		outside = node_and(s, outside, node_not(s, other));
		for (uint32_t v = 0; v < n; v++)
			values[v] = node_choose(s, other, build_unknown(b),
			                        values[v]);
	}
	s->accesses[number].happens = outside;
	return values;
}

void build_write(struct builder *b, const struct build_key *k,
                 enum strength strength, const uint32_t *values, uint32_t line)
{
	struct access *a = add_access(b, k, strength, line);
	struct family *f = &b->app->families[k->family];
	a->write = true;
	for (uint32_t v = 0; v < f->value_count; v++) a->values[v] = values[v];
	f->written = true;
}

bool build_is_full(struct builder *b)
{
	b->full |= b->s->access_count > BUILD_ACCESSES ||
	           b->s->node_count > BUILD_NODES;
	return b->full;
}

void build_empty(struct builder *b)
{
	struct summary *s = b->s;
	s->access_count = s->total_count = 0;
	b->guesses = NULL;
	s->node_count = TRUE_NODE + 1 + s->param_count;
	s->commits = s->assumed = TRUE_NODE;
	s->errs = s->untold = FALSE_NODE;
}
