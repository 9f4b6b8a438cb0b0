#include "run/policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[POLICY_COUNT] = {
#define X(id, word) [id] = word,
	POLICY_TABLE(X)
#undef X
};

const char *policy_word(enum policy_kind k)
{
	assert(k < POLICY_COUNT);
	return words[k];
}

/* The digits of a number that fits. */
static bool number_from_word(const char *word, uint32_t *out)
{
	uint64_t n = 0;
	const char *s = word;
	for (; *s >= '0' && *s <= '9' && n <= UINT32_MAX; s++)
		n = 10 * n + (uint64_t)(*s - '0');
	*out = (uint32_t)n;
	return s > word && !*s && n <= UINT32_MAX;
}

bool policy_from_word(const char *word, struct policy *out)
{
	static const char weak[] = "weak=";
	if (!strncmp(word, weak, strlen(weak))) {
		out->kind = POLICY_WEAK;
		return number_from_word(word + strlen(weak), &out->weak);
	}
	for (int k = 0; k < POLICY_WEAK; k++)
		if (!strcmp(word, words[k])) {
			*out = (struct policy){ .kind = (enum policy_kind)k };
			return true;
		}
	return false;
}

/* ---- Orders of writers ---- */

static void exchange(struct run_writer *w, uint32_t i, uint32_t j)
{
	struct run_writer other = w[i];
	w[i] = w[j];
	w[j] = other;
}

static void shuffle(struct rng *rng, struct run_writer *w, uint32_t count)
{
	for (uint32_t i = 0; i + 1 < count; i++)
		exchange(w, i, i + rng_below(rng, count - i));
}

static void reverse(struct run_writer *w, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) exchange(w, i, count - 1 - i);
}

/* A random number for the session: that many steps further on in the sequence
 * of the generator. */
static uint64_t number_of_session(struct rng salt, uint32_t session)
{
	salt.state += session * 0x9e3779b97f4a7c15u;
	return rng_next(&salt);
}

/* Sessions in random order, and those of one in random order: the shuffled
 * writers, sorted by a random number of their session. */
static void shuffle_by_session(struct rng *rng, struct run_writer *w,
                               uint32_t count)
{
	struct rng salt = { rng_next(rng) };
	shuffle(rng, w, count);
	for (uint32_t i = 1; i < count; i++) {
		struct run_writer x = w[i];
		uint64_t place = number_of_session(salt, x.session);
		uint32_t j = i;
		while (j && number_of_session(salt, w[j - 1].session) > place) {
			w[j] = w[j - 1];
			j--;
		}
		w[j] = x;
	}
}

/* Is this read one of the weak ones? Draws the weak reads from those expected
 * and a place beyond, so that any number of them up to K comes about. */
static bool draw_weak(struct random_chooser *c)
{
	uint32_t met = c->open_reads++, places = 1;
	if (!c->weak_left) return false;
	if (met < c->expected_reads) places += c->expected_reads - met;
	bool weak = c->weak_left >= (places + 1) / 2
	                    ? rng_below(&c->rng, 2) == 0
	                    : rng_below(&c->rng, places) < c->weak_left;
	assert(c->weak_left <= c->policy.weak);
	if (weak) c->weak_left--;
	return weak;
}

static void order_weakly(struct random_chooser *c, struct run_writer *w,
                         uint32_t count)
{
	if (count > 1 && draw_weak(c))
		shuffle(&c->rng, w, count - 1);
	else
		reverse(w, count);
}

/* ---- The callbacks ---- */

static void begin(void *data)
{
	struct random_chooser *c = data;
	c->rng.state = c->seed;
	c->open_reads = 0;
	c->weak_left = c->policy.weak;
}

static uint32_t choose_session(void *data, const uint32_t *ready,
                               uint32_t count)
{
	struct random_chooser *c = data;
	assert(count);
	return ready[rng_below(&c->rng, count)];
}

static void order_writers(void *data, const struct run_read *read,
                          struct run_writer *w, uint32_t count)
{
	struct random_chooser *c = data;
	assert(count); /* a key has its initial value at least */
	(void)read;
	switch (c->policy.kind) {
	case POLICY_UNIFORM: shuffle(&c->rng, w, count); break;
	case POLICY_SESSION_FIRST: shuffle_by_session(&c->rng, w, count); break;
	case POLICY_LATEST: reverse(w, count); break;
	case POLICY_OLDEST: break;
	case POLICY_WEAK: order_weakly(c, w, count); break;
	case POLICY_COUNT: abort();
	}
}

void random_chooser_begin(struct random_chooser *c, struct policy p,
                          uint64_t seed, uint32_t expected_reads)
{
	assert(p.kind < POLICY_COUNT);
	*c = (struct random_chooser){ .policy = p,
		                      .seed = seed,
		                      .expected_reads = expected_reads };
	begin(c);
}

struct run_chooser random_chooser(struct random_chooser *c)
{
	return (struct run_chooser){
		.data = c,
		.begin = begin,
		.session = choose_session,
		.writers = order_writers,
		.likely = c->policy.kind == POLICY_LATEST ||
		          c->policy.kind == POLICY_WEAK,
	};
}
