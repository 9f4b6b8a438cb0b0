/* Orderly generation (EXPLORE_ORDERLY): each history once, or one of each class
 * of symmetric ones, by extending only what is first in its class.
 *
 * A history is written as a word: for each place of a total order that extends
 * so U wr the session of the transaction there, and the places that its reads
 * have their values from. Of all words of a history, for all orders and all
 * permutations of interchangeable sessions, the first one in lexicographic
 * order stands for the class. A prefix of a first word is the first word of its
 * own class: if there was an earlier one, the rest could be put behind it. So a
 * search that appends transactions, and goes on only from first words, comes to
 * each class once. (R. C. Read, Every one a winner, Annals of Discrete
 * Mathematics 2, 1978.)
 *
 * Is a word the first of its class? Branch and bound over the other words of
 * the same history: at each place stands a transaction whose predecessors were
 * placed before; a session is given the smallest label of its class that is
 * left when its first transaction is placed. Only words that are equal so far
 * are followed, so there is a choice only where the word has a new label.
 *
 * The prefix without the last transaction is known to be the first word of its
 * class. So another word is earlier only because of where the last transaction
 * stands in it, and until it is placed nothing else is looked at.
 *
 * A word that turns out to be equal to the end is a symmetry of the history: it
 * maps what is below the choice where it left the given order onto what is
 * below the given order there, so the rest of that choice needs no look. The
 * number of symmetries is the product of the numbers of choices that lead to
 * one, as for the stabilizers of a permutation group. (B. D. McKay, Practical
 * graph isomorphism, Congressus Numerantium 30, 1981.)
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/staleness.h"
#include "base/memory.h"
#include "dpor/canonical_order.h"
#include "dpor/dfs.h"
#include "history/relation.h"
#include "analyse/symmetry.h"

#define NONE UINT32_MAX

/* Which of more of them comes first would take longer to tell, each time that
 * one begins, than it saves. */
enum { SESSIONS_SORTED = 32 };

enum outcome {
	GREATER, /* no word that begins like this is equal or earlier */
	EQUAL,   /* one is equal to the end */
	EARLIER
};

/* The other word, as far as it goes. */
struct search {
	const struct orderly *orderly;
	const struct ledger *ledger;
	uint32_t sessions;
	uint32_t *place;  /* by transaction; NONE: not placed */
	uint32_t *placed; /* by place: the transaction */
	uint32_t *next;   /* by session: how many were placed */
	uint32_t *label;  /* by session; NONE: not yet */
	uint32_t *holder; /* by label: its session, or NONE */
	uint32_t *fresh;  /* by first session of a class: the next label to
	                   * give, or NONE */
	uint32_t *read;   /* by session: does another one read from it? */
	uint32_t end;     /* places of the word */
	uint32_t last;    /* the word's last transaction */
	bool counting;    /* the word is known to be the first one */
};

/* ---- memory ---- */

static void take_tables(struct orderly *o, uint32_t sessions,
                        const struct symmetry *y)
{
	o->following = mem_take(3 * (size_t)sessions * sizeof *o->following);
	o->before = o->following + sessions;
	o->head = o->before + sessions;
	for (uint32_t s = 0; s < sessions; s++) {
		o->head[s] = y ? y->class_of[s] : s;
		o->following[s] = o->before[s] = NONE;
		for (uint32_t i = s; o->head[s] < s && i-- > o->head[s];) {
			if (o->head[i] != o->head[s]) continue;
			o->following[i] = s;
			o->before[s] = i;
			break;
		}
	}
}

static void reserve(struct orderly *o, uint32_t numbers, uint32_t sessions)
{
	size_t size = 2 * (size_t)numbers + 5 * (size_t)sessions;
	if (size <= o->capacity) return;
	o->memory = mem_grow(o->memory, size, sizeof *o->memory);
	o->capacity = size;
}

static void init(struct engine *e)
{
	struct orderly *o = &e->orderly;
	const struct explore_options *options = &e->options;
	const struct symmetry *y = options->symmetry;
	*o = (struct orderly){ .trivial = !y || y->trivial, .order = 1 };
	e->order.by_footprint =
		o->trivial && e->context.sessions <= SESSIONS_SORTED;
	if (!o->trivial) o->order = symmetry_order(y);
	if (options->max_changes < UINT64_MAX) o->staleness = staleness_new();
	take_tables(o, e->context.sessions, y);
}

static void end(struct engine *e)
{
	struct orderly *o = &e->orderly;
	if (o->staleness) staleness_free(o->staleness);
	canonical_order_free(&e->order);
	free(o->following);
	free(o->memory);
}

static size_t bytes(const struct engine *e)
{
	const struct orderly *o = &e->orderly;
	return o->capacity * sizeof *o->memory +
	       (o->staleness ? staleness_bytes(o->staleness) : 0);
}

/* Nothing is placed but init. */
static void start(struct search *s, struct orderly *o, const struct engine *e)
{
	uint32_t numbers = e->context.ledgers.numbers.count;
	uint32_t sessions = e->context.sessions;
	const struct ledger *l = engine_ledger(e);
	const struct closure *c = &l->closure;
	reserve(o, numbers, sessions);
	*s = (struct search){ .orderly = o, .ledger = l, .sessions = sessions };
	s->end = c->count;
	s->last = c->order[c->count - 1];
	s->place = o->memory;
	s->placed = s->place + numbers;
	s->next = s->placed + numbers;
	s->label = s->next + sessions;
	s->holder = s->label + sessions;
	s->fresh = s->holder + sessions;
	s->read = s->fresh + sessions;
	s->place[HISTORY_INIT] = 0;
	for (uint32_t i = 1; i < c->count; i++) s->place[c->order[i]] = NONE;
	memset(s->next, 0, sessions * sizeof *s->next);
	memset(s->label, 0xff, 2 * (size_t)sessions * sizeof *s->label);
	for (uint32_t i = 0; i < sessions; i++) s->fresh[i] = o->head[i];
	memset(s->read, 0, sessions * sizeof *s->read);
	for (uint32_t i = 0; i < c->read_count; i++)
		if (c->reads[i].source != HISTORY_INIT)
			s->read[l->transactions[c->reads[i].source]->session] =
				1;
}

/* ---- letters ---- */

/* The session's next transaction; NONE if there is none. */
static uint32_t candidate(const struct search *s, uint32_t session)
{
	const struct ledger *l = s->ledger;
	if (s->next[session] == l->done[session]) return NONE;
	return ledger_number(l->shared, session, s->next[session]);
}

static uint32_t label_of(const struct search *s, uint32_t session)
{
	uint32_t label = s->label[session];
	return label != NONE ? label : s->fresh[s->orderly->head[session]];
}

static uint32_t label_at(const struct search *s, uint32_t place)
{
	const struct ledger *l = s->ledger;
	assert(place && place < s->end);
	return l->transactions[l->closure.order[place]]->session;
}

struct reads {
	const struct relation_read *first;
	uint32_t count;
};

static struct reads reads_at(const struct search *s, uint32_t place)
{
	const struct closure *c = &s->ledger->closure;
	uint32_t first = c->blocks[place].first_read;
	uint32_t end = place + 1 < c->count ? c->blocks[place + 1].first_read
	                                    : c->read_count;
	return (struct reads){ c->reads + first, end - first };
}

static struct reads reads_of(const struct search *s, uint32_t transaction)
{
	return reads_at(s, s->ledger->closure.position[transaction]);
}

/* Were all its predecessors placed, so that it can stand here? */
static bool is_ready(const struct search *s, uint32_t transaction,
                     uint32_t place)
{
	const struct closure *c = &s->ledger->closure;
	if (c->blocks[c->position[transaction]].after_all)
		return place + 1 == s->end;
	struct reads r = reads_of(s, transaction);
	for (uint32_t i = 0; i < r.count; i++)
		if (s->place[r.first[i].source] == NONE) return false;
	return true;
}

/* The reads of a candidate that is ready against those of the word's
 * transaction, which has the same label. */
static enum outcome compare_reads(const struct search *s, uint32_t transaction,
                                  uint32_t place)
{
	const uint32_t *position = s->ledger->closure.position;
	struct reads a = reads_of(s, transaction), b = reads_at(s, place);
	for (uint32_t i = 0; i < a.count && i < b.count; i++) {
		uint32_t x = s->place[a.first[i].source];
		uint32_t y = position[b.first[i].source];
		if (x != y) return x < y ? EARLIER : GREATER;
	}
	return EQUAL;
}

/* ---- placing ---- */

static void put(struct search *s, uint32_t session, uint32_t transaction,
                uint32_t place)
{
	assert(place < s->end && s->place[transaction] == NONE);
	if (s->label[session] == NONE) {
		uint32_t *fresh = &s->fresh[s->orderly->head[session]];
		s->label[session] = *fresh;
		s->holder[*fresh] = session;
		*fresh = s->orderly->following[*fresh];
	}
	s->next[session]++;
	s->placed[place] = transaction;
	s->place[transaction] = place;
}

/* Takes back what stands from `place` to before `end`. */
static void take_back(struct search *s, uint32_t place, uint32_t end)
{
	while (end-- > place) {
		uint32_t transaction = s->placed[end];
		assert(s->place[transaction] == end);
		uint32_t session =
			s->ledger->transactions[transaction]->session;
		s->place[transaction] = NONE;
		if (--s->next[session]) continue;
		uint32_t label = s->label[session];
		s->fresh[s->orderly->head[session]] = label;
		s->holder[label] = NONE;
		s->label[session] = NONE;
	}
}

/* ---- the other words ---- */

static bool session_is_earlier(const struct search *s, uint32_t session,
                               uint32_t label, uint32_t place)
{
	uint32_t t = candidate(s, session);
	return t != NONE && label_of(s, session) < label &&
	       is_ready(s, t, place);
}

/* Can something with a smaller label than the word's stand here? */
static bool some_is_earlier(const struct search *s, uint32_t label,
                            uint32_t place)
{
	if (s->counting) return false;
	if (s->place[s->last] == NONE) {
		uint32_t session = s->ledger->transactions[s->last]->session;
		return candidate(s, session) == s->last &&
		       session_is_earlier(s, session, label, place);
	}
	for (uint32_t i = 0; i < s->sessions; i++)
		if (session_is_earlier(s, i, label, place)) return true;
	return false;
}

/* Places the session's next transaction if it is equal to the word's. */
static enum outcome put_equal(struct search *s, uint32_t session,
                              uint32_t place)
{
	uint32_t t = candidate(s, session);
	if (t == NONE || !is_ready(s, t, place)) return GREATER;
	enum outcome o = compare_reads(s, t, place);
	if (o == EQUAL) put(s, session, t, place);
	return o;
}

static bool same_sources(struct reads a, struct reads b)
{
	if (a.count != b.count) return false;
	for (uint32_t i = 0; i < a.count; i++)
		if (a.first[i].source != b.first[i].source) return false;
	return true;
}

/* Sessions that read the same, and nobody reads from: exchanging the two is a
 * symmetry, so what begins with one of them is like what begins with the
 * other. */
static bool are_twins(const struct search *s, uint32_t a, uint32_t b)
{
	const struct ledger *l = s->ledger;
	const uint32_t *done = l->done;
	if (done[a] != done[b] || s->read[a] || s->read[b]) return false;
	for (uint32_t i = 0; i < done[a]; i++)
		if (!same_sources(reads_of(s, ledger_number(l->shared, a, i)),
		                  reads_of(s, ledger_number(l->shared, b, i))))
			return false;
	return true;
}

static enum outcome follow(struct search *s, uint32_t place);

/* The same, and all words that begin so. */
static enum outcome try_session(struct search *s, uint32_t session,
                                uint32_t place)
{
	enum outcome o = put_equal(s, session, place);
	if (o != EQUAL) return o;
	o = follow(s, place + 1);
	take_back(s, place, place + 1);
	return o;
}

/* The word's label is new: every session of its class that has none may take
 * it. */
static enum outcome try_class(struct search *s, uint32_t label, uint32_t place)
{
	const struct orderly *o = s->orderly;
	uint32_t tried = NONE;
	for (uint32_t i = o->head[label]; i != NONE; i = o->following[i]) {
		if (s->label[i] != NONE) continue;
		if (tried != NONE && are_twins(s, tried, i)) continue;
		if (!s->read[i]) tried = i;
		enum outcome outcome = try_session(s, i, place);
		if (outcome != GREATER) return outcome;
	}
	return GREATER;
}

/* The words that begin with what was placed before `place`. */
static enum outcome follow(struct search *s, uint32_t place)
{
	enum outcome o = EQUAL;
	uint32_t at = place;
	for (; o == EQUAL && at < s->end; at += o == EQUAL) {
		uint32_t label = label_at(s, at), holder = s->holder[label];
		if (some_is_earlier(s, label, at))
			o = EARLIER;
		else if (holder != NONE)
			o = put_equal(s, holder, at);
		else
			break;
	}
	if (o == EQUAL && at < s->end) o = try_class(s, label_at(s, at), at);
	take_back(s, place, at);
	return o;
}

/* The word has a new label, its own session's. Of the other sessions that could
 * take it, as many as lead to an equal word are added; false if there is an
 * earlier one. */
static bool leave_at(struct search *s, uint32_t label, uint32_t place,
                     uint32_t *equal)
{
	const uint32_t *following = s->orderly->following;
	for (uint32_t i = following[label]; i != NONE; i = following[i]) {
		enum outcome o = are_twins(s, label, i)
		                         ? EQUAL
		                         : try_session(s, i, place);
		if (o == EARLIER) return false;
		*equal += o == EQUAL;
	}
	return true;
}

/* Is the word the first one? *symmetries is multiplied by the number of
 * permutations, of sessions that have a transaction, that leave it as it is. */
static bool walk(struct search *s, uint64_t *symmetries)
{
	const uint32_t *order = s->ledger->closure.order;
	for (uint32_t place = 1; place < s->end; place++) {
		uint32_t label = label_at(s, place), equal = 1;
		if (some_is_earlier(s, label, place)) return false;
		if (s->holder[label] == NONE &&
		    !leave_at(s, label, place, &equal))
			return false;
		*symmetries *= equal;
		put(s, label, order[place], place);
	}
	return true;
}

static bool is_first(struct engine *e)
{
	struct search s;
	uint64_t symmetries = 1;
	if (!canonical_order_keeps(e)) return false;
	if (e->orderly.trivial) return true;
	start(&s, &e->orderly, e);
	return walk(&s, &symmetries);
}

/* ---- what it stands for ---- */

/* The permutations of the sessions without a transaction. */
static uint64_t idle_permutations(const struct orderly *o,
                                  const struct ledger *l, uint32_t sessions)
{
	uint64_t product = 1;
	for (uint32_t head = 0; head < sessions; head++) {
		uint64_t idle = 0;
		if (o->head[head] != head) continue;
		for (uint32_t i = head; i != NONE; i = o->following[i])
			if (!l->done[i]) product *= ++idle;
	}
	return product;
}

/* Permutations of sessions that leave the current, complete history as it is.
 */
static uint64_t symmetries_of(struct engine *e)
{
	struct search s;
	uint64_t symmetries = 1;
	if (e->orderly.trivial) return 1;
	start(&s, &e->orderly, e);
	s.counting = true;
	walk(&s, &symmetries);
	return symmetries *
	       idle_permutations(&e->orderly, s.ledger, s.sessions);
}

static uint64_t weight(struct engine *e)
{
	return e->orderly.order / symmetries_of(e);
}

/* ---- the search ---- */

/* Does the order of all, of which the last has just ended, stand for its class,
 * and are its reads not too stale? */
static bool keeps(struct engine *e)
{
	struct staleness *stale = e->orderly.staleness;
	struct relation r;
	if (!is_first(e) || !canonical_order_can_end(e)) return false;
	if (!stale) return true;
	closure_relation(engine_closure(e), &r);
	if (staleness_within(stale, &r, e->options.max_changes)) return true;
	e->tally.stats.cut++;
	return false;
}

/* How many ends are refused? Under pc none (axioms/strong_closure.h).
 *
 * Lemma. Under psi, si and ser at most as many as there are pairs of a part of
 * one execution and a transaction of another.
 *
 * Let t be refused behind P: P is allowed, and so are the reads of t, but not
 * its end. P is part of an execution, since what is left can run serially, each
 * read taking the last version. So is the past of t, together with t: in a
 * commit order of P and the reads of t, all of that past stands before t; of
 * these alone t is the last, and its writes are in nobody's way. P is a first
 * order, so its history tells it; and t is told by its past and its reads.
 *
 * The square is met (refused_ends_by_histories in tests/test_explore.c): where
 * two transactions of which one has to be late both have many ways to read, if
 * they are the first, each way of the one is tried with each of the other. */
static enum go ended(struct engine *e)
{
	struct ledger *l = engine_ledger(e);
	if (!keeps(e)) return GO_BACK;
	if (ledger_is_extensible(l) || ledger_allows(l)) return GO_DEEPER;
	e->tally.stats.blocked++;
	return GO_BACK;
}

/* What was begun before could begin; a renamed script need not be in the
 * canonical order of its history. */
static bool may_begin(struct engine *e, uint32_t session, bool again)
{
	if (!canonical_order_may_begin(e, session, again)) return false;
	if (again) return true;
	const uint32_t *done = engine_ledger(e)->done;
	uint32_t before = e->orderly.before[session];
	return done[session] || before == NONE || done[before];
}

static bool filter(struct engine *e, uint32_t key, word *valid)
{
	(void)key;
	return canonical_order_restrict(e, valid);
}

static enum go read_in_order(struct engine *e, const struct request *r)
{
	return dfs_read(e, r, filter);
}

const struct algorithm *explore_orderly(void)
{
	static const struct algorithm orderly = { .next = dfs_next,
		                                  .read = read_in_order,
		                                  .choose = dfs_choose,
		                                  .ended = ended,
		                                  .may_begin = may_begin,
		                                  .weight = weight,
		                                  .init = init,
		                                  .end = end,
		                                  .bytes = bytes,
		                                  .heeds_level = true,
		                                  .looks_ahead = true };
	return &orderly;
}
