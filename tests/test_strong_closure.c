/* The incremental form of pc, psi, si and ser: random histories grow read by
 * read and are taken back, and each answer is held against level_allows, the
 * check from scratch. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/strong_closure.h"
#include "suites.h"
#include "support.h"

enum { WRITES = 3, MOST = 200 };

struct walk {
	struct rng *rng;
	enum level level;
	struct closure closure;
	struct region region;
	struct strong_closure *strong;
	struct level_scratch *scratch;
	uint32_t sessions, keys, transactions, most_reads;
	uint32_t shift; /* of all numbers but init's, so that rows are longer */
	uint32_t session[MOST]; /* by place in the order */
	uint32_t written[MOST][WRITES];
	bool pending;
	uint64_t valid, invalid, refused; /* answers */
};

static bool allowed(struct walk *w)
{
	struct relation r;
	closure_relation(&w->closure, &r);
	return level_allows(w->level, &r, w->scratch);
}

static void compare_writers(struct walk *w, uint32_t key, word *valid)
{
	struct closure *c = &w->closure;
	uint32_t count = c->count, reads = c->read_count;
	const word *writers = c->writers + (size_t)key * c->words;
	bits_copy(valid, writers, c->words);
	for (uint32_t i = 0; i < c->words; i++)
		if (rng_below(w->rng, 4) == 0)
			valid[i] &= rng_below(w->rng, 1u << 30) | 1;
	word *asked = malloc(c->words * sizeof *asked);
	bits_copy(asked, valid, c->words);
	strong_closure_restrict(w->strong, c, key, valid);
	BITS_EACH(t, writers, c->words) {
		if (!bits_has(asked, t)) {
			ck_assert(!bits_has(valid, t));
			continue;
		}
		closure_read(c, key, t);
		bool expected = allowed(w);
		closure_rewind(c, count, reads, true);
		if (bits_has(valid, t) != expected)
			ck_abort_msg("%s: reading %u from %u should be %s",
			             level_word(w->level), key, t,
			             expected ? "valid" : "invalid");
		w->valid += expected;
		w->invalid += !expected;
	}
	free(asked);
}

static void go_back(struct walk *w, uint32_t count, uint32_t reads,
                    bool pending)
{
	strong_closure_rewind(w->strong, count, reads, pending);
	closure_rewind(&w->closure, count, reads, pending);
	w->pending = pending;
}

/* Anywhere, most often not far. */
static void go_back_somewhere(struct walk *w)
{
	struct closure *c = &w->closure;
	uint32_t far = rng_below(w->rng, 3) ? 3 : c->count;
	uint32_t count =
		c->count - rng_below(w->rng, far < c->count ? far : c->count);
	bool pending = count > 1 && rng_below(w->rng, 2);
	if (!pending && w->pending && count == c->count) pending = true;
	if (count == 1) pending = false;
	uint32_t end =
		count < c->count ? c->blocks[count].first_read : c->read_count;
	uint32_t reads = end;
	if (pending) {
		uint32_t first = c->blocks[count - 1].first_read;
		reads = first + rng_below(w->rng, end - first + 1);
	}
	go_back(w, count, reads, pending);
}

static void begin(struct walk *w)
{
	struct closure *c = &w->closure;
	uint32_t place = c->count, session = rng_below(w->rng, w->sessions);
	uint32_t previous = 0;
	bool after_all = place + 1 == w->transactions && rng_below(w->rng, 2);
	w->session[place] = session;
	for (uint32_t i = 1; i < place; i++)
		if (w->session[i] == session) previous = c->order[i];
	closure_begin(c, place + w->shift, previous, after_all);
	w->pending = true;
}

static void read(struct walk *w)
{
	struct closure *c = &w->closure;
	uint32_t key = rng_below(w->rng, w->keys);
	word *valid = malloc(c->words * sizeof *valid);
	compare_writers(w, key, valid);
	uint32_t count = bits_count(valid, c->words);
	if (!count) {
		free(valid);
		go_back_somewhere(w);
		return;
	}
	/* The older ones make it hard. */
	uint32_t n = rng_below(w->rng, count), source = 0;
	BITS_EACH(t, valid, c->words)
		if (!n--) {
			source = t;
			break;
		}
	closure_read(c, key, source);
	free(valid);
}

static void end(struct walk *w)
{
	struct closure *c = &w->closure;
	uint32_t place = c->count - 1, reads = c->read_count, count = 0;
	uint32_t most = rng_below(w->rng, WRITES + 1);
	for (uint32_t k = 0; k < most; k++) {
		uint32_t key = rng_below(w->rng, w->keys);
		bool twice = false;
		for (uint32_t i = 0; i < count; i++)
			twice |= w->written[place][i] == key;
		if (!twice) w->written[place][count++] = key;
	}
	closure_end(c, count ? w->written[place] : NULL, count);
	w->pending = false;
	if (rng_below(w->rng, 12) == 0) return; /* nobody asks */
	bool expected = allowed(w);
	if (strong_closure_allows(w->strong, c) != expected)
		ck_abort_msg("%s: this end should be %s", level_word(w->level),
		             expected ? "allowed" : "refused");
	if (expected) return;
	w->refused++;
	if (rng_below(w->rng, 2))
		go_back(w, c->count, reads, true);
	else
		go_back_somewhere(w);
}

static void step(struct walk *w)
{
	if (rng_below(w->rng, 8) == 0) {
		go_back_somewhere(w);
	} else if (!w->pending) {
		if (w->closure.count < w->transactions)
			begin(w);
		else
			go_back_somewhere(w);
	} else if (rng_below(w->rng, w->most_reads + 1)) {
		read(w);
	} else {
		end(w);
	}
}

static void walk(struct rng *r, enum level level, uint32_t steps)
{
	struct walk *w = calloc(1, sizeof *w);
	w->rng = r;
	w->level = level;
	w->sessions = 1 + rng_below(r, 6);
	w->keys = 1 + rng_below(r, 5);
	w->transactions = 3 + rng_below(r, 10);
	if (rng_below(r, 30) == 0) w->transactions = 80;
	w->most_reads = rng_below(r, 4);
	w->shift = rng_below(r, 4) ? 0 : rng_below(r, 150);
	region_init(&w->region);
	closure_init(&w->closure, LEVEL_NONE,
	             rng_below(r, 2) ? 0 : w->transactions, &w->region);
	for (uint32_t k = 0; k < w->keys; k++) closure_know_key(&w->closure, k);
	w->strong = strong_closure_new(level);
	w->scratch = level_scratch_new();
	for (uint32_t i = 0; i < steps; i++) step(w);
	level_scratch_free(w->scratch);
	strong_closure_free(w->strong);
	closure_free(&w->closure);
	region_free(&w->region);
	free(w);
}

START_TEST(grows_and_goes_back)
{
	struct rng r = { first_seed() * 7000 + (uint64_t)_i };
	uint64_t walks = programs_or(2000);
	for (uint64_t i = 0; i < walks; i++)
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			if (level_needs_order(l) && !level_has_statements(l))
				walk(&r, l, 60);
}
END_TEST

void add_strong_closure_tests(TCase *tests)
{
	tcase_add_loop_test(tests, grows_and_goes_back, 0, 4);
}
