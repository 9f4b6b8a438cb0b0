/* All small histories, against an enumeration that names everything in every
 * way; and what tells levels apart, against the definitions. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "separate/separate.h"
#include "separate/small_histories.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"

/* ---- one of each class ---- */

/* A history as the enumerator below makes it: transactions in any sessions, in
 * their order; events of any keys. */
struct plain {
	uint32_t transactions, events;
	uint32_t session[8]; /* by transaction */
	uint32_t owner[8];   /* by event, not decreasing */
	bool write[8];
	uint32_t key[8], source[8]; /* of a write 0 */
};

/* In words, when the transactions have these numbers. */
static void plain_words(const struct plain *p, const uint32_t *number,
                        struct text *t)
{
	uint32_t keys[8], used = 0;
	memset(keys, 0xff, sizeof keys);
	for (uint32_t n = 1; n <= p->transactions; n++) {
		uint32_t u = 1, before = 0;
		while (number[u] != n) u++;
		for (uint32_t v = 1; v <= p->transactions; v++)
			if (number[v] == n - 1) before = v;
		text_string(t, before && p->session[before] == p->session[u]
		                       ? ";"
		                       : "|");
		for (uint32_t i = 0; i < p->events; i++) {
			if (p->owner[i] != u) continue;
			if (keys[p->key[i]] == UINT32_MAX)
				keys[p->key[i]] = used++;
			text_format(t, "%s%u", p->write[i] ? "w" : "r",
			            keys[p->key[i]]);
			if (!p->write[i])
				text_format(t, "<%u", number[p->source[i]]);
		}
	}
}

/* Do the numbers keep sessions together, and their order? */
static bool keeps_sessions(const struct plain *p, const uint32_t *number)
{
	for (uint32_t a = 1; a <= p->transactions; a++)
		for (uint32_t b = 1; b <= p->transactions; b++) {
			if (a == b || p->session[a] != p->session[b]) continue;
			if ((a < b) != (number[a] < number[b])) return false;
			for (uint32_t c = 1; c <= p->transactions; c++)
				if (p->session[c] != p->session[a] &&
				    (number[a] < number[c]) !=
				            (number[b] < number[c]))
					return false;
		}
	return true;
}

/* The least words over all names. */
static void least_words(const struct plain *p, uint32_t *number, uint32_t t,
                        uint32_t taken, struct text *best)
{
	if (t > p->transactions) {
		struct text words = { 0 };
		if (!keeps_sessions(p, number)) return;
		plain_words(p, number, &words);
		if (!best->length ||
		    strcmp(text_get(&words), text_get(best)) < 0) {
			text_clear(best);
			text_string(best, text_get(&words));
		}
		text_free(&words);
		return;
	}
	for (uint32_t n = 1; n <= p->transactions; n++) {
		if (taken >> n & 1) continue;
		number[t] = n;
		least_words(p, number, t + 1, taken | 1u << n, best);
	}
}

static void add_class(const struct plain *p, struct strings *to)
{
	uint32_t number[8] = { 0 };
	struct text best = { 0 };
	least_words(p, number, 1, 0, &best);
	strings_add(to, text_get(&best));
	text_free(&best);
}

/* Does the transaction write the key before event i? */
static bool wrote(const struct plain *p, uint32_t t, uint32_t key, uint32_t end)
{
	for (uint32_t i = 0; i < end; i++)
		if (p->owner[i] == t && p->write[i] && p->key[i] == key)
			return true;
	return false;
}

/* As the head of small_histories.h has it. */
static bool plain_counts(const struct plain *p)
{
	bool before[8][8] = { { false } };
	for (uint32_t i = 0; i < p->events; i++) {
		uint32_t t = p->owner[i], k = p->key[i];
		bool shared = false, written = false;
		if (wrote(p, t, k, i)) return false;
		for (uint32_t j = 0; j < p->events; j++) {
			if (p->key[j] != k) continue;
			shared |= p->owner[j] != t;
			written |= p->write[j];
		}
		if (!shared || !written) return false;
		if (p->write[i]) continue;
		uint32_t w = p->source[i];
		if (w == t || (w && !wrote(p, w, k, p->events))) return false;
		if (w) before[w][t] = true;
	}
	for (uint32_t a = 1; a <= p->transactions; a++)
		for (uint32_t b = a + 1; b <= p->transactions; b++)
			before[a][b] |= p->session[a] == p->session[b];
	for (uint32_t c = 1; c <= p->transactions; c++)
		for (uint32_t a = 1; a <= p->transactions; a++)
			for (uint32_t b = 1; b <= p->transactions; b++)
				before[a][b] |= before[a][c] && before[c][b];
	for (uint32_t a = 1; a <= p->transactions; a++)
		if (before[a][a]) return false;
	return true;
}

static void plain_events(struct plain *p, uint32_t i, struct strings *out)
{
	bool reads = false, writes = false;
	if (i == p->events) {
		for (uint32_t k = 0; k < p->events; k++) {
			reads |= !p->write[k];
			writes |= p->write[k];
		}
		for (uint32_t t = 1; t <= p->transactions; t++) {
			bool has = false;
			for (uint32_t k = 0; k < p->events; k++)
				has |= p->owner[k] == t;
			if (!has) return;
		}
		if (reads && writes && plain_counts(p)) add_class(p, out);
		return;
	}
	for (uint32_t t = i ? p->owner[i - 1] : 1; t <= p->transactions; t++)
		for (uint32_t k = 0; k < p->events; k++) {
			p->owner[i] = t;
			p->key[i] = k;
			p->write[i] = true;
			p->source[i] = 0;
			plain_events(p, i + 1, out);
			p->write[i] = false;
			for (uint32_t w = 0; w <= p->transactions; w++) {
				p->source[i] = w;
				plain_events(p, i + 1, out);
			}
		}
}

static void plain_sessions(struct plain *p, uint32_t t, struct strings *out)
{
	if (t > p->transactions) {
		plain_events(p, 0, out);
		return;
	}
	/* The same session's stand together. */
	for (uint32_t s = p->session[t - 1]; s <= p->session[t - 1] + 1; s++) {
		p->session[t] = s;
		if (s) plain_sessions(p, t + 1, out);
	}
}

static bool add_small(void *data, const struct small_history *s)
{
	struct plain p = { .transactions = s->transaction_count - 1,
		           .events = s->event_count };
	for (uint32_t i = 0; i < s->session_count; i++)
		for (uint32_t t = s->session_first[i];
		     t < s->session_first[i + 1]; t++)
			p.session[t] = i + 1;
	for (uint32_t t = 1; t < s->transaction_count; t++)
		for (uint32_t i = s->first[t]; i < s->first[t + 1]; i++) {
			p.owner[i] = t;
			p.write[i] = s->events[i].write;
			p.key[i] = s->events[i].key;
			p.source[i] = s->events[i].source;
		}
	add_class(&p, data);
	return true;
}

START_TEST(each_class_once)
{
	static const struct small_scope scopes[] = {
		{ .transactions = 1, .events = 3 },
		{ .transactions = 2, .events = 2 },
		{ .transactions = 2, .events = 3 },
		{ .transactions = 2, .events = 4 },
		{ .transactions = 3, .events = 3 },
		{ .transactions = 3, .events = 4 },
		{ .transactions = 4, .events = 4 },
	};
	struct strings expected = { 0 }, found = { 0 };
	struct plain p = { .transactions = scopes[_i].transactions,
		           .events = scopes[_i].events };
	plain_sessions(&p, 1, &expected);
	strings_sort(&expected);
	strings_unique(&expected);
	ck_assert(small_histories(&scopes[_i], add_small, NULL, &found));
	strings_sort(&found);
	ck_assert_uint_eq(strings_unique(&found), 0);
	ck_assert_uint_eq(found.count, expected.count);
	for (size_t i = 0; i < found.count; i++)
		ck_assert_str_eq(found.items[i], expected.items[i]);
	strings_free(&expected);
	strings_free(&found);
}
END_TEST

/* Is there a key that two transactions lock and nobody writes? */
static bool look_for_unwritten(void *data, const struct small_history *s)
{
	bool *found = data;
	for (uint32_t k = 0; k < s->key_count; k++) {
		uint32_t locks = 0;
		bool plain = false;
		for (uint32_t i = 0; i < s->event_count; i++) {
			const struct small_event *a = &s->events[i];
			if (a->key != k) continue;
			plain |= a->write || a->strength == STRENGTH_PLAIN;
			locks++;
		}
		*found |= locks == 2 && !plain;
	}
	return !*found;
}

START_TEST(locked_and_never_written)
{
	struct small_scope scope = { .transactions = 2,
		                     .events = 4,
		                     .locks = true };
	bool found = false;
	ck_assert(!small_histories(&scope, look_for_unwritten, NULL, &found));
	ck_assert(found);
	scope.locks = false;
	found = false;
	ck_assert(small_histories(&scope, look_for_unwritten, NULL, &found));
	ck_assert(!found);
}
END_TEST

/* ---- the kernels on them, and the readable form ---- */

struct judging {
	struct level_scratch *scratch;
	uint64_t seen, every;
	unsigned open; /* pairs that nothing has separated */
	bool separated[LEVEL_COUNT][LEVEL_COUNT];
};

/* The twin knows nothing of dirty reads. */
static bool defined(enum level l, const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			const struct event *e = &h->transactions[t].events[i];
			if (e->kind == EVENT_READ &&
			    h->transactions[e->from].aborted)
				return l == LEVEL_NONE;
		}
	return twin_allows(l, h);
}

static bool judge(void *data, const struct small_history *s)
{
	struct judging *j = data;
	unsigned levels = 0;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (!s->dirty && level_allows(l, &s->relation, j->scratch))
			levels |= 1u << l;
	if (s->dirty) levels = 1u << LEVEL_NONE;
	for (enum level a = 0; a < LEVEL_COUNT; a++)
		for (enum level b = 0; b < LEVEL_COUNT; b++)
			if (levels >> a & 1 && !(levels >> b & 1))
				j->separated[a][b] = true;
	if (j->seen++ % j->every) return true;
	struct history *h = small_history_readable(s, NULL);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (defined(l, h) != (levels >> l & 1))
			ck_abort_msg("%s: %s", history_to_notation(h),
			             level_word(l));
	/* A write behind all that its statement reads may as well begin one: no
	 * read is at the moment of that, which can be just before it. */
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		struct transaction *x = &h->transactions[t];
		uint32_t i = x->event_count;
		while (i && x->events[i - 1].kind == EVENT_WRITE)
			x->events[--i].joined = false;
	}
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		ck_assert(s->dirty ||
		          level_allows_history(l, h) == (levels >> l & 1));
	history_free(h);
	return true;
}

static void judge_all(struct judging *j, struct small_scope scope,
                      uint32_t transactions, uint32_t events)
{
	for (uint32_t n = 1; n <= transactions; n++)
		for (uint32_t k = n; k <= events; k++) {
			scope.transactions = n;
			scope.events = k;
			ck_assert(small_histories(&scope, judge, NULL, j));
		}
}

/* The lattice of levels: of each two, one implies the other, or a small history
 * separates them. */
START_TEST(implied_or_separated)
{
	struct judging j = {
		.scratch = level_scratch_new(),
		.every = 1 + rng_below(&(struct rng){ first_seed() }, 200)
	};
	judge_all(&j, (struct small_scope){ .aborts = true }, 3, 5);
	judge_all(&j, (struct small_scope){ 0 }, 4, 5);
	for (enum level a = 0; a < LEVEL_COUNT; a++)
		for (enum level b = 0; b < LEVEL_COUNT; b++) {
			bool implied = level_implies(a, b);
			/* Snapshots imply statements but for locks. */
			bool locks = level_has_snapshots(a) &&
			             level_excludes_rivals(a) &&
			             level_has_statements(b);
			ck_assert_msg(j.separated[a][b] == (!implied && !locks),
			              "%s and %s", level_word(a),
			              level_word(b));
		}
	judge_all(&j, (struct small_scope){ .locks = true }, 3, 4);
	judge_all(&j, (struct small_scope){ .statements = true }, 3, 4);
	for (enum level a = 0; a < LEVEL_COUNT; a++)
		for (enum level b = 0; b < LEVEL_COUNT; b++)
			ck_assert_msg(j.separated[a][b] == !level_implies(a, b),
			              "%s and %s", level_word(a),
			              level_word(b));
	level_scratch_free(j.scratch);
}
END_TEST

/* ---- all of two keys ---- */

enum { SHARES = 20 };

struct share {
	struct level_scratch *scratch;
	uint64_t seen, every, at; /* judged are those at `at` of `every` */
};

/* The definitions, the kernels, and what levels are said to imply: do they say
 * the same? */
static bool judge_by_definition(void *data, const struct small_history *s)
{
	struct share *x = data;
	unsigned levels = 0;
	if (x->seen++ % x->every != x->at) return true;
	struct history *h = small_history_readable(s, NULL);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (defined(l, h)) levels |= 1u << l;
	for (enum level a = 0; a < LEVEL_COUNT; a++) {
		bool allowed =
			s->dirty ? level_sight(a) == SIGHT_NOTHING
				 : level_allows(a, &s->relation, x->scratch);
		if (allowed != (levels >> a & 1))
			ck_abort_msg("%s: %s", history_to_notation(h),
			             level_word(a));
		for (enum level b = 0; b < LEVEL_COUNT; b++)
			if (levels >> a & 1 && !(levels >> b & 1) &&
			    level_implies(a, b))
				ck_abort_msg("%s: %s, not %s",
				             history_to_notation(h),
				             level_word(a), level_word(b));
	}
	history_free(h);
	return true;
}

/* All histories of one to so many transactions, and at least so many events,
 * but fewer than `end`. */
static void judge_scope(struct share *x, struct small_scope scope,
                        uint32_t transactions, uint32_t first, uint32_t end)
{
	scope.keys = 2;
	for (uint32_t n = 1; n <= transactions; n++)
		for (uint32_t k = first > n ? first : n; k < end; k++) {
			scope.transactions = n;
			scope.events = k;
			ck_assert(small_histories(&scope, judge_by_definition,
			                          NULL, x));
		}
}

/* Of histories of so many events each is judged; a short run has fewer. Of
 * those of `sampled` events, if that is more, one of SHARES. */
static const struct volume {
	struct small_scope scope;
	uint32_t transactions, quick, events, sampled;
} volumes[] = {
	{ { 0 }, 4, 5, 7, 7 },
	{ { .aborts = true }, 3, 5, 7, 7 },
	{ { .locks = true }, 4, 4, 5, 6 },
	{ { .statements = true }, 4, 5, 6, 7 },
	{ { .locks = true, .statements = true }, 3, 4, 5, 6 },
};

enum { VOLUMES = sizeof volumes / sizeof *volumes };

/* Every history of up to four transactions and two keys, as far as its events
 * go: the lattice of levels, by the definitions. That is four million, and two
 * million of the larger ones, at some 20 us each. */
START_TEST(all_of_two_keys)
{
	struct share x = { .scratch = level_scratch_new(),
		           .every = SHARES * (is_quick() ? 4 : 1),
		           .at = (uint64_t)_i };
	for (int i = 0; i < VOLUMES; i++) {
		const struct volume *v = &volumes[i];
		judge_scope(&x, v->scope, v->transactions, 1,
		            1 + (is_quick() ? v->quick : v->events));
	}
	level_scratch_free(x.scratch);
}
END_TEST

START_TEST(some_of_two_keys)
{
	const struct volume *v = &volumes[_i];
	struct share x = { .scratch = level_scratch_new(), .every = SHARES };
	x.at = rng_below(&(struct rng){ first_seed() }, SHARES);
	if (!is_quick())
		judge_scope(&x, v->scope, v->transactions, v->events + 1,
		            v->sampled + 1);
	level_scratch_free(x.scratch);
}
END_TEST

/* ---- separations ---- */

static struct separated ask(const char *a, const char *b, bool locks)
{
	struct separate_options o = { .max_transactions = SEPARATE_TRANSACTIONS,
		                      .max_events = SEPARATE_EVENTS,
		                      .locks = locks };
	struct separated out;
	struct text why = { 0 };
	ck_assert_msg(levels_read(a, &o.sides[0], &why), "%s", a);
	ck_assert_msg(levels_read(b, &o.sides[1], &why), "%s", b);
	separate(&out, &o);
	ck_assert_int_eq(out.stop, STOP_NONE);
	return out;
}

START_TEST(every_pair)
{
	for (enum level a = 0; a < LEVEL_COUNT; a++)
		for (enum level b = 0; b < a; b++) {
			struct separated s =
				ask(level_word(a), level_word(b), false);
			for (int i = 0; i < 2; i++) {
				const struct separation *w = &s.ways[i];
				enum level yes = i ? b : a, no = i ? a : b;
				ck_assert_int_eq(w->implied,
				                 level_implies(yes, no));
				ck_assert(!w->implied || !w->history);
				if (!w->history) continue;
				ck_assert(defined(yes, w->history));
				ck_assert(!defined(no, w->history));
			}
			separated_free(&s);
		}
}
END_TEST

struct known_size {
	const char *yes, *no;
	bool locks;
	uint32_t transactions, events; /* 0: nothing separates them */
};

START_TEST(known_sizes)
{
	static const struct known_size rows[] = {
		{ "none", "rc", false, 2, 2 }, /* a dirty read */
		{ "rc", "ra", false, 2, 2 },   /* the session's own write */
		{ "ra", "cc", false, 3, 3 },
		{ "cc", "pc", false, 4, 4 },  /* store buffering */
		{ "cc", "psi", false, 2, 4 }, /* lost update */
		{ "psi", "si", false, 4, 4 },
		{ "psi", "pc", false, 4, 4 },
		{ "pc", "si", false, 2, 4 },
		{ "si", "ser", false, 2, 4 }, /* write skew */
		{ "prc", "ra", false, 2, 3 }, /* a repeated read */
		{ "rc", "prc", false, 2, 2 },
		{ "si", "prc", false, 0, 0 },
		{ "si", "prc", true, 2, 4 }, /* a late lock */
		{ "si", "si+ser", false, 3, 4 },
		{ "si+ser", "ser", false, 2, 4 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct separated s =
			ask(rows[i].yes, rows[i].no, rows[i].locks);
		ck_assert_msg(s.ways[0].transactions == rows[i].transactions &&
		                      s.ways[0].events == rows[i].events,
		              "%s, not %s: %u transactions, %u events",
		              rows[i].yes, rows[i].no, s.ways[0].transactions,
		              s.ways[0].events);
		separated_free(&s);
	}
}
END_TEST

/* A mix against a level, by brute force: of each size all histories, with all
 * choices of levels in which both of the mix occur. */
struct mixing {
	enum level mix[2], level;
	bool done[2]; /* the mix allows it, the level does not; and back */
};

static bool look_at_mixes(void *data, const struct small_history *s)
{
	struct mixing *m = data;
	uint32_t n = s->transaction_count - 1;
	own_level owns[SMALL_TRANSACTIONS + 1] = { 0 };
	struct history *h = small_history_readable(s, NULL);
	bool level = twin_allows(m->level, h);
	for (uint32_t some = 1; some + 1 < 1u << n; some++) {
		for (uint32_t t = 1; t <= n; t++) {
			owns[t] = (own_level)(m->mix[some >> (t - 1) & 1] + 1);
			h->transactions[t].own = owns[t];
		}
		bool mixed = twin_allows(LEVEL_SERIAL, h);
		m->done[0] |= mixed && !level;
		m->done[1] |= level && !mixed;
	}
	history_free(h);
	return true;
}

static void find_sizes(struct mixing *m, const struct separate_options *o,
                       uint32_t sizes[2][2])
{
	memset(sizes, 0, 4 * sizeof **sizes);
	for (uint32_t n = 2; n <= o->max_transactions; n++)
		for (uint32_t k = n; k <= o->max_events; k++) {
			struct small_scope scope = { .transactions = n,
				                     .events = k,
				                     .locks = o->locks };
			m->done[0] = m->done[1] = false;
			small_histories(&scope, look_at_mixes, NULL, m);
			for (int way = 0; way < 2; way++) {
				if (!m->done[way] || sizes[way][0]) continue;
				sizes[way][0] = n;
				sizes[way][1] = k;
			}
		}
}

START_TEST(mixes)
{
	struct rng r = { process_seed(_i, 0) };
	struct mixing m;
	struct separated found;
	bool locks = rng_below(&r, 2);
	struct separate_options o = { .max_transactions = locks ? 2 : 3,
		                      .max_events = 4,
		                      .locks = locks };
	uint32_t sizes[2][2];
	do {
		m.mix[0] = 1 + rng_below(&r, LEVEL_COUNT - 1);
		m.mix[1] = 1 + rng_below(&r, LEVEL_COUNT - 1);
	} while (m.mix[0] == m.mix[1] || !level_mixes(m.mix[0]) ||
	         !level_mixes(m.mix[1]));
	m.level = 1 + rng_below(&r, LEVEL_COUNT - 1);
	o.sides[0] = 1u << m.mix[0] | 1u << m.mix[1];
	o.sides[1] = 1u << m.level;
	find_sizes(&m, &o, sizes);
	separate(&found, &o);
	for (int way = 0; way < 2; way++) {
		const struct separation *w = &found.ways[way];
		ck_assert_msg(w->transactions == sizes[way][0] &&
		                      w->events == sizes[way][1],
		              "%s and %s, %s: %u transactions and %u events, "
		              "not %u and %u",
		              level_word(m.mix[0]), level_word(m.mix[1]),
		              level_word(m.level), sizes[way][0], sizes[way][1],
		              w->transactions, w->events);
	}
	separated_free(&found);
}
END_TEST

START_TEST(wrong_sides)
{
	unsigned side;
	static const char *const words[] = { "sj", "", "si+", "si+psi", "+" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct text why = { 0 };
		ck_assert(!levels_read(words[i], &side, &why));
		ck_assert_uint_gt(why.length, 0);
		text_free(&why);
	}
}
END_TEST

void add_separate_tests(TCase *tests)
{
	tcase_add_loop_test(tests, each_class_once, 0, 7);
	tcase_add_test(tests, locked_and_never_written);
	tcase_add_test(tests, implied_or_separated);
	tcase_add_loop_test(tests, all_of_two_keys, 0, SHARES);
	tcase_add_loop_test(tests, some_of_two_keys, 0, VOLUMES);
	tcase_add_test(tests, every_pair);
	tcase_add_test(tests, known_sizes);
	tcase_add_loop_test(tests, mixes, 0, 6);
	tcase_add_test(tests, wrong_sides);
}
