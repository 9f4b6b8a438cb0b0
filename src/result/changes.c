/* What an exploration from an observed history (execution/observed_reads.h) has
 * changed in it, in the program's names. */

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "execution/observed_reads.h"
#include "history/history.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"

static const struct observed_reads *observed_of(const struct explorer *e)
{
	assert(explorer_options(e)->observed);
	return explorer_options(e)->observed;
}

/* Was the observed history met? */
static bool is_reproduced(const struct explorer *e)
{
	const struct history *h = explorer_nearest(e);
	return h && !observed_changes(observed_of(e), h, NULL) &&
	       observed_compare(observed_of(e), h).kind == OBSERVED_SAME;
}

/* ---- writers ---- */

/* The transaction at this place of the program, or UINT32_MAX. */
static uint32_t transaction_at(const struct history *h, uint32_t session,
                               uint32_t index)
{
	if (session >= h->session_count) return UINT32_MAX;
	const struct history_session *s = &h->sessions[session];
	assert(s->first + s->count <= h->transaction_count);
	return index < s->count ? s->first + index : UINT32_MAX;
}

/* The writer of an observed read, as its transaction in the history; UINT32_MAX
 * if it is not there, or not known. */
static uint32_t observed_writer(const struct history *h,
                                const struct observed_read *r)
{
	if (r->session == OBSERVED_INIT) return HISTORY_INIT;
	if (r->session == OBSERVED_NOBODY) return UINT32_MAX;
	return transaction_at(h, r->session, r->index);
}

/* "alice.2 enroll" */
static void name_observed(struct text *t, const struct observed_reads *o,
                          const struct history *h,
                          const struct observed_read *r)
{
	uint32_t writer = observed_writer(h, r);
	if (r->session == OBSERVED_NOBODY) {
		text_string(t, "an unknown writer");
	} else if (writer != UINT32_MAX) {
		name_transaction(t, h, writer);
	} else {
		const char *name =
			observed_transaction(o, r->session, r->index)->name;
		name_plain(t, h->sessions[r->session].name);
		text_format(t, ".%" PRIu32, r->index + 1);
		if (!name || !strcmp(name, "txn")) return;
		text_char(t, ' ');
		name_plain(t, name);
	}
}

/* ---- in words ---- */

static void print_change(struct text *t, const struct explorer *e,
                         const struct history *h,
                         const struct observed_change *c)
{
	const struct event *read =
		&h->transactions[c->transaction].events[c->event];
	assert(read->kind == EVENT_READ);
	name_transaction(t, h, c->transaction);
	text_string(t, " reads ");
	name_key(t, h, read->key);
	text_string(t, " from ");
	name_transaction(t, h, read->from);
	if (!c->observed) {
		text_string(t, ", which was not observed");
		return;
	}
	text_string(t, ", observed from ");
	name_observed(t, observed_of(e), h, c->observed);
}

/* As lines of their own, indented. */
static void print_changes(struct text *t, const struct explorer *e,
                          const struct history *h)
{
	struct observed_change *changes;
	uint32_t count = observed_changes(observed_of(e), h, &changes);
	for (uint32_t i = 0; i < count && i < RESULT_CHANGES_SHOWN; i++) {
		text_string(t, "  ");
		print_change(t, e, h, &changes[i]);
		text_char(t, '\n');
	}
	if (count > RESULT_CHANGES_SHOWN) {
		text_string(t, "  … and ");
		number_plural(t, count - RESULT_CHANGES_SHOWN, "other",
		              "others");
		text_char(t, '\n');
	}
	free(changes);
}

static void print_difference(struct text *t, const struct explorer *e,
                             const struct history *h,
                             struct observed_difference d)
{
	const struct observed_reads *o = observed_of(e);
	uint32_t here = transaction_at(h, d.session, d.index);
	if (d.kind == OBSERVED_COUNT) {
		name_session(t, h, d.session);
		text_format(t, " runs ");
		number_plural(t, h->sessions[d.session].count, "transaction",
		              "transactions");
		text_format(t, ", not %" PRIu32,
		            observed_transaction_count(o, d.session));
		return;
	}
	name_transaction(t, h, here);
	if (d.kind == OBSERVED_NAME)
		text_format(t, " is not called '%s'",
		            observed_transaction(o, d.session, d.index)->name);
	else if (d.kind == OBSERVED_READS)
		text_string(t, " makes fewer reads");
	else
		text_string(t, h->transactions[here].aborted ? " aborts"
		                                             : " commits");
}

static bool within_limit(const struct explorer *e)
{
	return explorer_stats(e)->stop == STOP_CHANGES;
}

/* "with at most 2 changed reads" */
static void print_bound(struct text *t, uint64_t n)
{
	text_string(t, n ? "with at most " : "with ");
	name_changed_reads(t, n);
}

static void print_nearest(struct text *t, const struct explorer *e,
                          uint32_t changes)
{
	assert(changes);
	const struct explore_options *o = explorer_options(e);
	text_format(t,
	            "\nthe observed history, of %s, is none of the program "
	            "under %s: the nearest one has ",
	            o->observed->file, level_word(o->level));
	name_changed_reads(t, changes);
	text_char(t, '\n');
	print_changes(t, e, explorer_nearest(e));
}

void changes_note(struct text *t, const struct explorer *e)
{
	const struct observed_reads *o = observed_of(e);
	const struct history *nearest = explorer_nearest(e);
	if (!nearest) {
		if (explorer_stats(e)->stop == STOP_NONE ||
		    !(explorer_stats(e)->changes || within_limit(e)))
			return;
		text_format(t,
		            "\nthe observed history, of %s, is none of the "
		            "program under %s: there is none ",
		            o->file, level_word(explorer_options(e)->level));
		print_bound(t, explorer_stats(e)->changes - !within_limit(e));
		text_char(t, '\n');
		return;
	}
	uint32_t changes = observed_changes(o, nearest, NULL);
	struct observed_difference d = observed_compare(o, nearest);
	if (changes) {
		print_nearest(t, e, changes);
	} else if (d.kind != OBSERVED_SAME) {
		text_format(t,
		            "\nwith no changed read the program does not "
		            "run as observed in %s: ",
		            o->file);
		print_difference(t, e, nearest, d);
		text_char(t, '\n');
	}
}

/* ---- the verdict ---- */

/* Is the slot an assertion of the program, other than `serializable`? */
static bool is_other(const struct explorer *e, uint32_t slot)
{
	return explorer_slot_checked(e, slot) &&
	       !explorer_slot_serializable(e, slot);
}

static uint32_t others(const struct explorer *e, bool violated)
{
	uint32_t count = 0;
	for (uint32_t s = 0; s < explorer_slot_count(e); s++)
		count += is_other(e, s) &&
		         (!violated || explorer_slot_violated(e, s));
	return count;
}

/* Assertions and run-time errors; false if there is nothing to say. */
static bool print_others(struct text *t, const struct explorer *e,
                         const char *before)
{
	uint32_t all = others(e, false), fail = others(e, true);
	uint32_t places = explorer_slot_count(e) - explorer_slot_places(e);
	if (!fail && !places) return false;
	text_string(t, before);
	if (fail && all == 1)
		text_string(t, "the assertion fails");
	else if (fail)
		name_failing(t, fail, all);
	if (fail && places) text_string(t, ", and ");
	if (places) name_errors(t, places);
	return true;
}

/* The fewest changes of a history that violates something. */
static uint32_t fewest_changes(const struct explorer *e)
{
	uint32_t fewest = UINT32_MAX;
	for (uint32_t s = 0; s < explorer_slot_count(e); s++) {
		if (!explorer_slot_violated(e, s)) continue;
		const struct history *h = explorer_violation(e, s)->example;
		uint32_t n = observed_changes(observed_of(e), h, NULL);
		if (n < fewest) fewest = n;
	}
	return fewest;
}

static void violated_reason(struct text *t, const struct explorer *e)
{
	const struct explore_violation *v =
		explorer_violation(e, explorer_slot_robust(e));
	if (v->histories) {
		uint32_t n = observed_changes(observed_of(e), v->example, NULL);
		bool observed = !n && is_reproduced(e);
		text_string(t, observed ? "the observed history"
		                        : "a history with ");
		if (!observed) name_changed_reads(t, n);
		text_string(t, " is not serializable");
		print_others(t, e, ", and ");
		return;
	}
	print_others(t, e, "");
	text_string(t, others(e, true) > 1 ? ", the first in a history with "
	                                   : " in a history with ");
	name_changed_reads(t, fewest_changes(e));
}

static void holds_reason(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	uint32_t all = others(e, false);
	assert(s->histories);
	text_string(t, "every history ");
	if (within_limit(e)) {
		print_bound(t, s->changes);
		text_char(t, ' ');
	}
	text_string(t, "is serializable");
	if (all == 1)
		text_string(t, ", and the assertion is true in it,");
	else if (all == 2)
		text_string(t, ", and both assertions are true in it,");
	else if (all)
		text_format(t,
		            ", and all %" PRIu32 " assertions are true in "
		            "it,",
		            all);
}

static void inconclusive_reason(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	if (s->stop == STOP_NONE) {
		text_string(t, s->pruned ? "each execution makes an "
		                           "assumption false"
		                         : "no history exists");
		return;
	}
	if (within_limit(e)) {
		text_string(t, "no history ");
		print_bound(t, s->changes);
		text_string(t, " exists");
		return;
	}
	text_format(t, "%s, with no violation in the ", stop_text(s->stop));
	number_plural(t, s->histories, "history seen", "histories seen");
	if (s->changes) {
		text_string(t, ", all with fewer than ");
		name_changed_reads(t, s->changes);
		text_string(t, " among them,");
	}
}

void changes_reason(struct text *t, const struct explorer *e)
{
	switch (explorer_verdict(e)) {
	case VERDICT_VIOLATED: violated_reason(t, e); break;
	case VERDICT_HOLDS: holds_reason(t, e); break;
	default: inconclusive_reason(t, e); break;
	}
	text_string(t, " under ");
	name_program_level(t, explorer_program(e), explorer_options(e)->level,
	                   explorer_options(e)->as);
	if (explorer_verdict(e) != VERDICT_VIOLATED && within_limit(e))
		text_string(t, "; any with more were not explored");
}

/* ---- the result ---- */

void changes_settings(struct result *r, const struct explorer *e)
{
	const struct explore_options *o = explorer_options(e);
	const struct history *nearest = explorer_nearest(e);
	struct result_values *from = result_group(r, &r->settings, "from");
	result_text(r, from, "trace", o->observed->file);
	result_flag(r, from, "reproduced", is_reproduced(e));
	result_count_if(r, from, "nearest", nearest,
	                nearest ? observed_changes(o->observed, nearest, NULL)
	                        : 0);
	result_count_if(r, &r->settings, "max_changes",
	                o->max_changes < UINT64_MAX, o->max_changes);
}

static void add_members(struct result *r, struct result_values *to,
                        const struct explorer *e, const struct history *h,
                        const struct observed_change *c)
{
	assert(c->transaction && c->transaction < h->transaction_count);
	const struct transaction *reader = &h->transactions[c->transaction];
	const struct event *read = &reader->events[c->event];
	struct text words = { 0 };
	name_transaction(&words, h, c->transaction);
	result_taken(r, to, "transaction", &words);
	result_text(r, to, "session", h->sessions[reader->session].name);
	result_count(r, to, "index", reader->index);
	result_count(r, to, "event", c->event);
	result_text(r, to, "key", h->keys[read->key].name);
	if (c->observed && c->observed->session != OBSERVED_NOBODY) {
		name_observed(&words, observed_of(e), h, c->observed);
		result_taken(r, to, "observed", &words);
	} else {
		result_text(r, to, "observed", NULL);
	}
	name_transaction(&words, h, read->from);
	result_taken(r, to, "found", &words);
	text_free(&words);
}

void changes_of_example(struct result *r, struct result_example *x,
                        const struct explorer *e)
{
	struct observed_change *changes;
	struct text words = { 0 };
	const struct history *h = x->history;
	assert(h && !x->compared);
	uint32_t count = observed_changes(observed_of(e), h, &changes);
	x->compared = true;
	x->changes.count = count;
	x->changes.items = region_take0(&r->region,
	                                (count + 1) * sizeof *x->changes.items);
	for (uint32_t i = 0; i < count; i++) {
		const struct observed_change *c = &changes[i];
		struct result_change *to = &x->changes.items[i];
		to->reader = c->transaction;
		to->event = c->event;
		to->observed = c->observed ? observed_writer(h, c->observed)
		                           : UINT32_MAX;
		print_change(&words, e, h, c);
		to->words = result_words(r, &words);
		add_members(r, &to->members, e, h, c);
	}
	text_free(&words);
	free(changes);
}
