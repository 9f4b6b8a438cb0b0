/* Recorded histories from file to verdict: the classic ones through every
 * format, random ones and the collections of tests/histories against the
 * definitions of the levels, and those that an exploration gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/check.h"
#include "dpor/explorer.h"
#include "formats_support.h"
#include "litmus_rows.h"
#include "random_program.h"
#include "recorded_support.h"
#include "suites.h"
#include "twin_axioms.h"

static bool is_list(enum format f)
{
	return f == FORMAT_LIST_EDN || f == FORMAT_LIST_JSON;
}

/* By the definitions, of the history that the trace is. */
static unsigned defined_levels(const struct trace *t)
{
	struct history *h = trace_history(t, NULL, NULL);
	unsigned levels = twin_levels(h);
	history_free(h);
	return levels;
}

static void same_levels(unsigned found, unsigned expected, const char *what,
                        enum format f)
{
	char a[LEVEL_COUNT + 1], b[LEVEL_COUNT + 1];
	ck_assert_msg(found == expected, "%s in %s: %s, should be %s", what,
	              format_word(f), levels_to_row(found, a),
	              levels_to_row(expected, b));
}

/* ---- the classic histories through every format ---- */

static void expect_refusal(const char *words, char *refused, const char *what,
                           enum format f)
{
	ck_assert_msg(words != NULL, "%s in %s: %s", what, format_word(f),
	              refused);
	ck_assert_msg(strstr(refused, words) != NULL, "%s in %s: %s", what,
	              format_word(f), refused);
	free(refused);
}

/* Without an order there are no lists. */
static void lists_need_an_order(const struct folder *folder, enum format f,
                                const struct trace *t, const char *what)
{
	char *refused = NULL;
	struct trace *back = through_file(folder, f, t, NULL, &refused);
	ck_assert_msg(!back, "%s became %s without an order", what,
	              format_word(f));
	expect_refusal("no commit order is known", refused, what, f);
}

/* No format tells of them. */
static bool has_locks(const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct transaction *w = &h->transactions[t];
		for (uint32_t i = 0; i < w->event_count; i++)
			if (w->events[i].kind == EVENT_READ &&
			    w->events[i].strength != STRENGTH_PLAIN)
				return true;
	}
	return false;
}

START_TEST(classic_through_format)
{
	const struct litmus_row *row = litmus_row(_i);
	struct folder folder = folder_new();
	struct history *h = history_from_notation(row->history);
	struct trace *t = trace_of_history(h, row->name);
	uint32_t *order = order_of_trace(t);
	unsigned expected = levels_from_row(row->levels);
	ck_assert_ptr_nonnull(order);
	same_levels(levels_of_trace(t), expected, row->name, FORMAT_COUNT);
	for (enum format f = 0; f < FORMAT_COUNT && !has_locks(h); f++) {
		const char *words = expected_refusal(h, f);
		char *refused = NULL;
		struct trace *back =
			through_file(&folder, f, t, order, &refused);
		if (is_list(f) && !words)
			lists_need_an_order(&folder, f, t, row->name);
		if (!back) {
			expect_refusal(words, refused, row->name, f);
			continue;
		}
		ck_assert_msg(!words, "%s in %s: written", row->name,
		              format_word(f));
		ck_assert_uint_eq(back->anomaly_count, 0);
		same_levels(levels_of_trace(back), expected, row->name, f);
		same_levels(defined_levels(back), expected, row->name, f);
		trace_free(back);
	}
	free(order);
	trace_free(t);
	history_free(h);
	folder_remove(&folder);
}
END_TEST

/* What is wrong before any level is considered, and the cycle of reads that no
 * order explains. */
static const struct bad {
	const char *name, *plume;
	const char *levels, *anomaly;
	const char *lists;   /* why they cannot show it; NULL: they can */
	const char *aborted; /* why the formats without aborts cannot */
} bad[] = {
	{ "G1a", "w(0,1,0,-1)\nw(1,1,0,0)\nr(0,1,1,1)\n", "A--------", "G1a",
	  "reads that no list explains", "an aborted transaction" },
	{ "G1b", "w(0,1,0,0)\nw(0,2,0,0)\nr(0,1,1,1)\n", "A--------", "G1b",
	  NULL, NULL },
	{ "G1c", "w(0,1,0,0)\nr(1,1,0,0)\nw(1,1,1,1)\nr(0,1,1,1)\n",
	  "---------", "", "no commit order is known", NULL },
	{ "thin air", "w(0,1,0,0)\nr(0,2,1,1)\n", "---------", "thin-air",
	  "reads that no list explains", NULL },
	{ "internal", "w(0,1,0,0)\nw(0,2,1,1)\nr(0,1,1,1)\n", "---------",
	  "internal", "reads that no list explains", NULL },
	{ "future", "r(0,1,0,0)\nw(0,1,0,0)\n", "---------", "future",
	  "reads that no list explains", NULL },
};

enum { BAD = sizeof bad / sizeof *bad };

static const char *bad_refusal(const struct bad *b, enum format f)
{
	if (f == FORMAT_AWDIT || f == FORMAT_COBRA) return b->aborted;
	if (f == FORMAT_ISOPREDICT && *b->anomaly)
		return b->aborted ? b->aborted : "what only values show";
	return is_list(f) ? b->lists : NULL;
}

START_TEST(bad_through_format)
{
	const struct bad *b = &bad[_i];
	struct folder folder = folder_new();
	char *path = folder_file(&folder, "original");
	file_write(path, b->plume, strlen(b->plume));
	struct trace *t = read_only_history(path, FORMAT_PLUME);
	uint32_t *order = order_of_trace(t);
	unsigned expected = levels_from_row(b->levels);
	check_anomalies(t, b->anomaly);
	same_levels(levels_of_trace(t), expected, b->name, FORMAT_PLUME);
	for (enum format f = 0; f < FORMAT_COUNT; f++) {
		char *refused = NULL;
		const char *words = bad_refusal(b, f);
		struct trace *back =
			through_file(&folder, f, t, order, &refused);
		if (!back) {
			expect_refusal(words, refused, b->name, f);
			continue;
		}
		ck_assert_msg(!words, "%s in %s: written", b->name,
		              format_word(f));
		check_anomalies(back, b->anomaly);
		same_levels(levels_of_trace(back), expected, b->name, f);
		trace_free(back);
	}
	free(order);
	free(path);
	trace_free(t);
	folder_remove(&folder);
}
END_TEST

/* ---- random histories against the definitions ---- */

enum { RUNS = 10, HISTORIES = 2000 }; /* histories per run */

static int histories(void)
{
	int all = (int)programs_or(RUNS * HISTORIES);
	return (all + RUNS - 1) / RUNS;
}

/* The value of the last write of the key by `from`. */
static struct value last_value(const struct history *h, uint32_t from,
                               uint32_t key)
{
	const struct transaction *w = &h->transactions[from];
	for (uint32_t i = w->event_count; i-- > 0;)
		if (w->events[i].kind == EVENT_WRITE && w->events[i].key == key)
			return w->events[i].value;
	return h->keys[key].initial;
}

/* Reads of any writer, so that so U wr may have a cycle. */
static void read_elsewhere(struct rng *r, struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		struct transaction *w = &h->transactions[t];
		uint32_t from = rng_below(r, h->transaction_count);
		if (from == t || !w->event_count) continue;
		struct event *e = &w->events[rng_below(r, w->event_count)];
		if (e->kind != EVENT_READ || e->from == HISTORY_SELF ||
		    !twin_writes(h, from, e->key))
			continue;
		e->from = from;
		e->value = last_value(h, from, e->key);
	}
	history_find_order(h);
}

/* Up to 7 transactions. */
static struct history *random_history(struct rng *r)
{
	struct history_shape shape = {
		.sessions = 1 + rng_below(r, 5),
		.transactions = 2 + rng_below(r, 6),
		.events = 1 + rng_below(r, 5),
		.keys = 1 + rng_below(r, 3),
		.causal = rng_below(r, 3) > 0,
	};
	struct history *h = history_random(r, shape);
	if (rng_below(r, 8) == 0)
		read_elsewhere(r, h);
	else if (rng_below(r, 4) == 0)
		history_tell_orders(r, h, 10);
	return h;
}

/* ---- Schedules ---- */

/* Transactions while a schedule runs. */
struct runs {
	const struct history *h;
	uint32_t begun[64], locked[64]; /* statements, events */
	bool ended[64];
	uint32_t newest[64]; /* by key */
};

static uint32_t statement_end(const struct transaction *t, uint32_t count)
{
	uint32_t i = 0;
	for (; i < t->event_count; i++)
		if (!t->events[i].joined && count-- == 0) break;
	return i;
}

static bool takes_lock(const struct event *e)
{
	return event_strength(e) != STRENGTH_PLAIN;
}

/* Does a transaction that runs hold a lock that excludes this one? */
static bool is_locked(const struct runs *x, uint32_t t, const struct event *e)
{
	for (uint32_t s = 1; s < x->h->transaction_count; s++)
		for (uint32_t i = 0; s != t && i < x->locked[s]; i++) {
			const struct event *o =
				&x->h->transactions[s].events[i];
			if (!x->ended[s] && takes_lock(o) && o->key == e->key &&
			    strengths_exclude(event_strength(o),
			                      event_strength(e)))
				return true;
		}
	return false;
}

/* What the transaction has begun gets its locks, before it goes on. */
static void take_locks(struct runs *x, uint32_t t)
{
	const struct transaction *w = &x->h->transactions[t];
	uint32_t end = statement_end(w, x->begun[t]);
	for (; x->locked[t] < end; x->locked[t]++) {
		const struct event *e = &w->events[x->locked[t]];
		if (!takes_lock(e)) continue;
		ck_assert(!is_locked(x, t, e));
		if (e->kind == EVENT_READ && e->from != HISTORY_SELF &&
		    e->strength >= STRENGTH_SHARE)
			ck_assert_uint_eq(x->newest[e->key], e->from);
	}
}

static void begin_statement(struct runs *x, struct schedule_moment m)
{
	const struct transaction *w = &x->h->transactions[m.transaction];
	uint32_t first = statement_end(w, m.statement - 1);
	if (w->index) ck_assert(x->ended[m.transaction - 1]);
	ck_assert_uint_eq(++x->begun[m.transaction], m.statement);
	for (uint32_t i = first; i < statement_end(w, m.statement); i++) {
		const struct event *e = &w->events[i];
		if (e->kind == EVENT_READ && e->from != HISTORY_SELF &&
		    e->strength < STRENGTH_SHARE)
			ck_assert_uint_eq(x->newest[e->key], e->from);
	}
}

static void end_transaction(struct runs *x, uint32_t t)
{
	const struct transaction *w = &x->h->transactions[t];
	ck_assert_uint_eq(statement_end(w, x->begun[t]), w->event_count);
	for (uint32_t i = 0; !w->aborted && i < w->event_count; i++)
		if (w->events[i].kind == EVENT_WRITE)
			x->newest[w->events[i].key] = t;
	x->ended[t] = true;
}

/* A schedule gives the history, by the rules of a database. */
static void follow_schedule(const struct history *h, const struct trace *t,
                            const struct facts *f, enum level l,
                            struct check_clock *clock)
{
	struct check_result r = { 0 };
	struct runs x = { .h = h };
	ck_assert(check_schedule(t, f, l, clock, &r));
	for (size_t i = 0; i < r.schedule.count; i++) {
		struct schedule_moment m = r.schedule.items[i];
		take_locks(&x, m.transaction);
		if (m.statement)
			begin_statement(&x, m);
		else
			end_transaction(&x, m.transaction);
	}
	for (uint32_t i = 1; i < h->transaction_count; i++)
		ck_assert(x.ended[i]);
	check_result_free(&r);
}

static void follow_schedules(const struct history *h, unsigned allowed)
{
	struct check_limits no_limits = { 0 };
	struct check_clock *clock = check_clock_new(&no_limits);
	struct trace *t = trace_of_history(h, "random");
	struct facts *f = facts_of_trace(t);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (level_has_statements(l) && allowed >> l & 1)
			follow_schedule(h, t, f, l, clock);
	facts_free(f);
	trace_free(t);
	check_clock_free(clock);
}

/* Bit l is set when level l holds; `unknown`: when it is undecided. */
static unsigned levels_decided(const struct trace *t, unsigned *unknown)
{
	struct check_limits no_limits = { 0 };
	struct check_clock *clock = check_clock_new(&no_limits);
	struct facts *f = facts_of_trace(t);
	struct check_result results[LEVEL_COUNT];
	unsigned levels = 0;
	*unknown = 0;
	check_levels(t, f, (1u << LEVEL_COUNT) - 1, clock, results);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (results[l].verdict == VERDICT_HOLDS) levels |= 1u << l;
		if (results[l].verdict == VERDICT_UNDECIDED)
			*unknown |= 1u << l;
		check_result_free(&results[l]);
	}
	facts_free(f);
	check_clock_free(clock);
	return levels;
}

/* Every read that locks keeps writers away. */
static void keep_writers_away(struct rng *r, struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			struct event *e = &h->transactions[t].events[i];
			if (e->kind == EVENT_READ &&
			    (strength_is_beside(e->strength) ||
			     e->strength == STRENGTH_KEY_SHARE))
				e->strength = STRENGTH_SHARE + rng_below(r, 4);
		}
}

/* By statements as by points, which these tests compare with the twin. */
static void same_by_statements(const struct history *h, unsigned expected)
{
	struct check_limits no_limits = { 0 };
	struct check_clock *clock = check_clock_new(&no_limits);
	struct facts *f = facts_of_history(h);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		struct check_result r;
		if (!level_has_statements(l) || !f->order ||
		    !check_has_known_locks(f))
			continue;
		check_statements(f, l, clock, &r);
		ck_assert_msg(
			r.verdict == (expected >> l & 1 ? VERDICT_HOLDS
		                                        : VERDICT_VIOLATED),
			"%s under %s", history_to_notation(h), level_word(l));
		check_result_free(&r);
	}
	facts_free(f);
	check_clock_free(clock);
}

/* Larger ones whose reads lock, by other ways than small ones: of more than 63
 * transactions psi is decided by its neighbours, or in rows of several words.
 */
START_TEST(random_locks)
{
	struct rng r = { first_seed() * 9300 + (uint64_t)_i };
	int count = histories() / 4;
	for (int i = 0; i < count; i++) {
		struct history *h = random_history(&r);
		h->known_count = 0;
		history_give_locks(&r, h);
		if (i % 2 == 0) keep_writers_away(&r, h);
		if (i % 4 == 3) history_give_up_locks(&r, h);
		unsigned expected = twin_levels(h), unknown;
		if (i % 4 != 3) follow_schedules(h, expected);
		same_by_statements(h, expected);
		struct history *more = history_padded(h, i % 8 ? 20 : 64);
		struct trace *t = trace_of_history(more, "random");
		unsigned found = levels_decided(t, &unknown);
		ck_assert_uint_eq(unknown, 0);
		if (found != expected) {
			char *notation = history_to_notation(h);
			same_levels(found, expected, notation, FORMAT_COUNT);
		}
		trace_free(t);
		history_free(more);
		history_free(h);
	}
}
END_TEST

/* Two pairs of locks, each of one that is shared and one that is not: whichever
 * ends first in the one, both orders of the other are wrong. No lock's place is
 * forced before one is chosen. */
START_TEST(interlocking_locks)
{
	const char *lines[] = { "A: x<0/X c<0 +d<0 Wa", "B: x<0/S c<0 +d<0 Wb",
		                "C: y<0/X a<0 +b<0 Wc",
		                "D: y<0/S a<0 +b<0 Wd" };
	struct rng r = { (uint64_t)_i };
	struct text t = { 0 };
	for (uint32_t left = 4; left > 0; left--) {
		const char **one = &lines[rng_below(&r, left)];
		text_format(&t, "%s%s", left < 4 ? " | " : "", *one);
		*one = lines[left - 1];
	}
	struct history *h = history_from_notation(text_get(&t));
	unsigned expected = twin_levels(h);
	ck_assert(!(expected >> LEVEL_PRC & 1));
	same_by_statements(h, expected);
	history_free(h);
	text_free(&t);
}
END_TEST

/* A statement's first read may be where the statement before is, and its second
 * not; what precedes an aborted transaction in its session precedes what
 * follows. */
START_TEST(known_locks)
{
	static const struct {
		const char *history, *levels;
	} rows[] = {
		{ "T1: Wy/N x<0 Wy x<0 x<0 | T2: x<0 x<0 +y<T3 +y<T3 | "
		  "T3: x<0 Wy/N x<0/S x<0 | T4!: Wx y<T3 Wy",
		  "AAAAAAAAA" },
		{ "T1: Wx ; T2!: Wx ; T3: x<T5 Wx/N | "
		  "T4: x<0/K ; T5: x<0/N Wx",
		  "AA-------" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct history *h = history_from_notation(rows[i].history);
		unsigned expected = levels_from_row(rows[i].levels);
		follow_schedules(h, expected);
		struct history *more = history_padded(h, 64);
		struct trace *t = trace_of_history(more, "known");
		same_levels(twin_levels(h), expected, rows[i].history,
		            FORMAT_COUNT);
		same_levels(levels_of_trace(t), expected, rows[i].history,
		            FORMAT_COUNT);
		trace_free(t);
		history_free(more);
		history_free(h);
	}
}
END_TEST

/* What check_level would ask for larger histories. */
static void check_directly(const struct history *h, const struct trace *t,
                           unsigned expected, struct check_clock *clock)
{
	struct facts *f = facts_of_trace(t);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		struct check_result r = { 0 };
		bool allowed = expected >> l & 1;
		if (level_has_statements(l) && f->order) {
			check_statements(f, l, clock, &r);
			struct check_result points;
			check_by_points(f, l, clock, &points);
			ck_assert_int_eq(points.verdict, r.verdict);
			check_result_free(&points);
		} else if (!level_needs_order(l) || !f->order)
			check_weak(f, l, clock, &r);
		else
			check_strong(f, l, clock, &r);
		if (r.verdict != (allowed ? VERDICT_HOLDS : VERDICT_VIOLATED))
			ck_abort_msg("%s: %s should be %s",
			             history_to_notation(h), level_word(l),
			             allowed ? "allowed" : "forbidden");
		check_result_free(&r);
	}
	facts_free(f);
}

/* Those that random ones seldom are: somebody who writes and does nothing else
 * commits while another one has the key locked. */
START_TEST(hard_histories)
{
	static const char *const hard[] = {
		"a1: Wx y<0 z<b3 | b1: Wy ; b2: Wx ; b3: Wz",
		"b1: Wy ; b2: Wx ; b3: Wz | a1: Wx y<0 z<b3",
		"a1: y<0 Wx z<b3 | b1: Wy ; b2: Wx ; b3: Wz",
		"a1: Wx y<0 z<b3 | b1: Wy ; b2: Wx y<b1 ; b3: Wz",
	};
	struct check_limits no_limits = { 0 };
	struct check_clock *clock = check_clock_new(&no_limits);
	struct history *h = history_from_notation(hard[_i]);
	struct trace *t = trace_of_history(h, "hard");
	check_directly(h, t, twin_levels(h), clock);
	trace_free(t);
	history_free(h);
	check_clock_free(clock);
}
END_TEST

/* Every order looked at to its end, for small ones. */
static void check_plainly(const struct history *h, unsigned expected)
{
	if (h->transaction_count > 6) return;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		ck_assert_msg(twin_allows_plain(l, h) == (expected >> l & 1),
		              "%s under %s", history_to_notation(h),
		              level_word(l));
}

START_TEST(random_histories)
{
	struct rng r = { first_seed() * 9000 + (uint64_t)_i };
	struct check_limits no_limits = { 0 };
	struct check_clock *clock = check_clock_new(&no_limits);
	int holding[LEVEL_COUNT] = { 0 }, count = histories();
	for (int i = 0; i < count; i++) {
		struct history *h = random_history(&r);
		struct trace *t = trace_of_history(h, "random");
		unsigned expected = twin_levels(h);
		follow_schedules(h, expected);
		if (levels_of_trace(t) != expected) {
			char *notation = history_to_notation(h);
			same_levels(levels_of_trace(t), expected, notation,
			            FORMAT_COUNT);
		}
		check_directly(h, t, expected, clock);
		if (i % 16 == 0) check_plainly(h, expected);
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			holding[l] += expected >> l & 1;
		trace_free(t);
		history_free(h);
	}
	/* Each level has to hold often and to fail often. */
	for (enum level l = LEVEL_RC; count >= 1000 && l < LEVEL_COUNT; l++) {
		ck_assert_int_gt(holding[l], count / 20);
		ck_assert_int_lt(holding[l], count - count / 20);
	}
	check_clock_free(clock);
}
END_TEST

/* Known pairs are told by lists: those along the order of execution. */
START_TEST(random_histories_through_format)
{
	struct rng r = { first_seed() * 9100 + (uint64_t)_i };
	struct folder folder = folder_new();
	int count = histories() / 4, written = 0;
	for (int i = 0; i < count; i++) {
		struct history *h = random_history(&r);
		h->known_count = 0;
		struct trace *t = trace_of_history(h, "random");
		enum format f = rng_below(&r, FORMAT_COUNT);
		const char *words = expected_refusal(h, f);
		char *refused = NULL;
		char *notation = history_to_notation(h);
		if (is_list(f) && !h->order && !words)
			words = "no commit order";
		struct trace *back =
			through_file(&folder, f, t, h->order, &refused);
		if (back) {
			ck_assert_msg(!words, "%s", notation);
			unsigned found = levels_of_trace(back);
			same_levels(found, defined_levels(back), notation, f);
			if (!is_list(f))
				same_levels(found, twin_levels(h), notation, f);
			written++;
		} else {
			expect_refusal(words, refused, notation, f);
		}
		free(notation);
		trace_free(back);
		trace_free(t);
		history_free(h);
	}
	ck_assert_int_ge(written, count / 4);
	folder_remove(&folder);
}
END_TEST

/* ---- what explorations give ---- */

/* A program for so many random histories, since it has many of its own. */
enum { EXPLORATIONS = 5, HISTORIES_PER_PROGRAM = 64, END_STATES = 1500 };

static bool collect(void *payload, const struct explore_execution *e)
{
	struct history *h = explore_history(e);
	struct text t = { 0 };
	history_print_canonical(&t, h);
	strings_add(payload, text_get(&t));
	text_free(&t);
	history_free(h);
	return true;
}

/* The histories of the program under the level, sorted. False if there are too
 * many. */
static bool explore(const struct program *p, enum level l, struct strings *out)
{
	struct explore_options o = { .level = l,
		                     .base = level_base(l),
		                     .max_histories = END_STATES };
	struct explore_observer observer = { .payload = out,
		                             .history = collect };
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	bool all = explorer_stats(e)->stop == STOP_NONE;
	explorer_free(e);
	strings_sort(out);
	return all;
}

static void write_lines(const char *path, const struct strings *lines)
{
	struct text t = { 0 };
	for (size_t i = 0; i < lines->count; i++)
		text_format(&t, "%s\n", lines->items[i]);
	file_write(path, text_get(&t), t.length);
	text_free(&t);
}

/* The levels that check finds for each line of the file; malloc'ed. */
static unsigned *levels_of_lines(const char *path, const struct strings *lines)
{
	struct reader_options o = { .format = FORMAT_COUNT };
	struct diags d = { 0 };
	unsigned *levels = mem_take(lines->count * sizeof *levels + 1);
	struct history_reader *r = history_reader_open(path, &o, &d);
	ck_assert_ptr_nonnull(r);
	for (size_t i = 0; i < lines->count; i++) {
		struct trace *t = history_reader_next(r, &d);
		ck_assert_ptr_nonnull(t);
		struct text again = print_good(FORMAT_ISOSCOPE, t, NULL);
		ck_assert_uint_eq(again.data[again.length - 1], '\n');
		again.data[again.length - 1] = '\0';
		ck_assert_str_eq(again.data, lines->items[i]);
		levels[i] = levels_of_trace(t);
		text_free(&again);
		trace_free(t);
	}
	ck_assert_ptr_null(history_reader_next(r, &d));
	ck_assert_uint_eq(d.errors, 0);
	history_reader_close(r);
	return levels;
}

/* Of all end states the exploration under a level outputs those that check
 * says satisfy it, and no others. */
static void compare_with_check(const struct program *p, const char *source,
                               const struct strings *all,
                               const unsigned *levels)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		struct strings found = { 0 };
		size_t next = 0;
		ck_assert(explore(p, l, &found));
		for (size_t i = 0; i < all->count; i++) {
			bool is_output =
				next < found.count &&
				!strcmp(found.items[next], all->items[i]);
			next += is_output;
			if (is_output != (levels[i] >> l & 1))
				ck_abort_msg("%s is %s output under %s:\n%s",
				             all->items[i],
				             is_output ? "wrongly" : "not",
				             level_word(l), source);
		}
		ck_assert_uint_eq(next, found.count);
		strings_free(&found);
	}
}

START_TEST(explored_histories)
{
	struct folder folder = folder_new();
	char *path = folder_file(&folder, "histories");
	uint64_t seed = first_seed() * 9200;
	int all_histories = (int)programs_or(RUNS * HISTORIES), tried = 0;
	int count = (all_histories + HISTORIES_PER_PROGRAM - 1) /
	            HISTORIES_PER_PROGRAM;
	for (int i = _i; i < count; i += EXPLORATIONS) {
		struct text source = { 0 };
		struct strings all = { 0 };
		if (i % 3)
			random_program(&source, seed + (uint64_t)i);
		else
			random_locking_program(&source, seed + (uint64_t)i);
		struct program *p = program_from_text(text_get(&source));
		if (explore(p, LEVEL_NONE, &all) && all.count) {
			write_lines(path, &all);
			unsigned *levels = levels_of_lines(path, &all);
			compare_with_check(p, source.data, &all, levels);
			free(levels);
			tried++;
		}
		strings_free(&all);
		program_free(p);
		text_free(&source);
	}
	if (count >= EXPLORATIONS * 20)
		ck_assert_int_gt(tried, count / EXPLORATIONS / 2);
	free(path);
	folder_remove(&folder);
}
END_TEST

/* ---- the collections of tests/histories ---- */

/* The twin looks at every order. */
enum { COLLECTED_MAX = 12 };

/* What anomalies leave over: those that no level but none allows, and those
 * that none does not allow either. */
static unsigned levels_with_anomalies(const struct trace *t)
{
	unsigned left = defined_levels(t);
	for (enum trace_anomaly_kind k = 0; k < ANOMALY_COUNT; k++) {
		bool dirty = k == ANOMALY_ABORTED || k == ANOMALY_INTERMEDIATE;
		if (t->anomalies_found[k]) left &= dirty ? 1u : 0u;
	}
	return left;
}

static void check_collected(const char *path, const char *row)
{
	struct trace *t = read_only_history(path, FORMAT_COUNT);
	unsigned expected = levels_from_row(row);
	same_levels(levels_of_trace(t), expected, path, FORMAT_COUNT);
	ck_assert_uint_le(t->transaction_count, COLLECTED_MAX + 1);
	same_levels(levels_with_anomalies(t), expected, path, FORMAT_COUNT);
	if (!t->anomaly_count) {
		struct history *h = trace_history(t, NULL, NULL);
		check_plainly(h, expected);
		history_free(h);
	}
	trace_free(t);
}

static void check_refused(const char *path)
{
	struct reader_options o = { .format = FORMAT_COUNT };
	struct diags d = { 0 };
	struct history_reader *r = history_reader_open(path, &o, &d);
	if (r) ck_assert_ptr_null(history_reader_next(r, &d));
	ck_assert_uint_gt(d.errors, 0);
	history_reader_close(r);
	diags_free(&d);
}

START_TEST(collections)
{
	const char *source = getenv("ISOSCOPE_SOURCE");
	struct text path = { 0 };
	char line[256], name[128], row[16];
	int count = 0;
	text_format(&path, "%s/tests/histories/", source ? source : ".");
	size_t folder = path.length;
	text_string(&path, "expected");
	FILE *expected = fopen(path.data, "r");
	/* Without make, and not in the source folder, nobody says where. */
	ck_assert(expected || !source);
	while (expected && fgets(line, sizeof line, expected)) {
		if (*line == '#' || sscanf(line, "%127s %15s", name, row) != 2)
			continue;
		path.length = folder;
		text_string(&path, name);
		if (!strcmp(row, "error"))
			check_refused(text_get(&path));
		else
			check_collected(text_get(&path), row);
		count++;
	}
	ck_assert(!expected || count > 100);
	if (expected) fclose(expected);
	text_free(&path);
}
END_TEST

void add_recorded_tests(TCase *tests)
{
	tcase_add_loop_test(tests, classic_through_format, 0, LITMUS_ROWS);
	tcase_add_loop_test(tests, bad_through_format, 0, BAD);
	tcase_add_loop_test(tests, random_histories, 0, RUNS);
	tcase_add_loop_test(tests, random_locks, 0, RUNS);
	tcase_add_test(tests, known_locks);
	tcase_add_loop_test(tests, interlocking_locks, 0, 24);
	tcase_add_loop_test(tests, random_histories_through_format, 0, RUNS);
	tcase_add_loop_test(tests, explored_histories, 0, EXPLORATIONS);
	tcase_add_test(tests, collections);
	tcase_add_loop_test(tests, hard_histories, 0, 4);
}
