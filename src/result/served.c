#include "result/served.h"

#include <assert.h>

#include "base/memory.h"
#include "result/names.h"
#include "result/numbers.h"

static const char *policy_word(enum answer_policy p)
{
	static const char *const words[] = {
#define X(id, word) [id] = (word),
		ANSWER_TABLE(X)
#undef X
	};
	assert(p < ANSWER_COUNT);
	return words[p];
}

static void add_settings(struct result *r, const struct served_case *c)
{
	const struct service_options *o = &c->options->service;
	struct text command = { 0 };
	for (const char *const *w = o->command; w && *w; w++) {
		if (w != o->command) text_char(&command, ' ');
		text_shell_word(&command, *w);
	}
	result_text(r, &r->settings, "client",
	            o->command ? text_get(&command) : NULL);
	result_text(r, &r->settings, "level", level_word(o->level));
	if (c->as) result_text(r, &r->settings, "deployment", c->as);
	result_text(r, &r->settings, "policy", policy_word(o->policy));
	if (o->stale >= 0)
		result_number(r, &r->settings, "staleShare", o->stale);
	result_count(r, &r->settings, "staleWithin", o->within);
	result_number(r, &r->settings, "faultShare", o->faults);
	result_flag(r, &r->settings, "realTime", o->real_time);
	result_count(r, &r->settings, "seed", o->seed);
	result_count(r, &r->settings, "runsWanted", c->options->runs);
	text_free(&command);
}

static bool is_repeated(const struct served_case *c)
{
	return c->options->service.notes_stale;
}

/* Of the last run. */
static bool has_ended(const struct served_case *c)
{
	return c->options->service.command && !c->attempts->last.interrupted;
}

/* Who serves whoever comes is to be interrupted. */
static bool is_fine(const struct served_case *c)
{
	return has_ended(c) ||
	       (!c->options->service.command && !c->attempts->last.lost.length);
}

/* On one line. */
static void put_lost(struct text *t, const char *words)
{
	for (; *words; words++)
		if (*words == '\n')
			text_string(t, "; ");
		else
			text_char(t, *words);
	text_string(t, ", ");
}

static void add_reason(struct result *r, const struct served_case *c)
{
	const struct attempts *a = c->attempts;
	struct text t = { 0 };
	if (a->last.code)
		text_format(&t, "the command ended with exit code %d, ",
		            a->last.code);
	else if (a->last.lost.length)
		put_lost(&t, text_get(&a->last.lost));
	else if (!c->options->service.command)
		text_string(&t, "it served whoever came until it was "
		                "interrupted, ");
	else if (a->last.interrupted)
		text_string(&t, "it was interrupted, ");
	else if (is_repeated(c))
		text_format(&t, "the command ended with exit code 0 in %s, ",
		            a->runs == 1 ? "one run" : "each run");
	else
		text_string(&t, "the command ended with exit code 0, ");
	if (a->last.code && is_repeated(c))
		text_format(&t, "in run %llu, with seed %llu, ",
		            (unsigned long long)a->runs,
		            (unsigned long long)a->seed);
	text_string(&t, c->options->service.command ? "served at " : "at ");
	name_level(&t, c->options->service.level);
	r->reason = result_words(r, &t);
	text_free(&t);
}

static void add_lines(struct result *r, const struct served_case *c)
{
	const struct service_counts *n = &c->attempts->last.counts;
	struct text t = { 0 };
	if (is_repeated(c)) {
		if (c->attempts->tries)
			text_format(&t, "and %llu with fewer stale reads",
			            (unsigned long long)c->attempts->tries);
		result_line(r, "runs", c->attempts->runs, &t);
	}
	result_line(r, "connections", n->sessions, &t);
	if (n->aborted) text_format(&t, "%u of them rolled back", n->aborted);
	result_line(r, "transactions", n->transactions, &t);
	number_count(&t, n->stale);
	text_string(&t, n->stale == 1 ? " of them does" : " of them do");
	text_string(&t, " not see the newest version");
	result_line(r, "rows read", n->reads, &t);
	if (n->refused) {
		text_string(&t, "with 40001");
		result_line(r, "refused", n->refused, &t);
	}
	if (n->faults) {
		text_string(&t, "with 40001 or 40P01, for no reason");
		result_line(r, "faults", n->faults, &t);
	}
	if (n->circles) {
		text_string(&t, "of who waits for its turn and who waits for a "
		                "lock of that one, which was refused with "
		                "40P01");
		result_line(r, "deadlocks", n->circles, &t);
	}
	if (n->stuck) {
		text_string(&t, "since they were in a transaction, silent, "
		                "while others waited");
		result_line(r, "ended", n->stuck, &t);
	}
	if (n->held) {
		text_string(&t, "since they waited for a lock while others "
		                "waited for their turn");
		result_line(r, "ended", n->held, &t);
	}
	text_free(&t);
}

static void add_measures(struct result *r, const struct served_case *c)
{
	const struct service_counts *n = &c->attempts->last.counts;
	result_count(r, &r->measures, "runs", c->attempts->runs);
	result_count(r, &r->measures, "tries", c->attempts->tries);
	result_count(r, &r->measures, "connections", n->sessions);
	result_count(r, &r->measures, "transactions", n->transactions);
	result_count(r, &r->measures, "committed", n->committed);
	result_count(r, &r->measures, "aborted", n->aborted);
	result_count(r, &r->measures, "reads", n->reads);
	result_count(r, &r->measures, "stale", n->stale);
	result_count(r, &r->measures, "refused", n->refused);
	result_count(r, &r->measures, "faults", n->faults);
	result_count(r, &r->measures, "deadlocks", n->circles);
	result_count(r, &r->measures, "ended", n->stuck + n->held);
	result_seconds(r, &r->measures, "seconds", c->attempts->seconds);
}

/* ---- Stale reads that are enough ---- */

static const char *cause_word(enum attempts_cause c)
{
	static const char *const words[] = {
		[CAUSE_OPEN] = NULL,       [CAUSE_NONE] = "none",
		[CAUSE_FAULTS] = "faults", [CAUSE_UNSURE] = "unsure",
		[CAUSE_CHANCE] = "chance", [CAUSE_PART] = "enough",
		[CAUSE_FOUND] = "minimal"
	};
	assert(c < sizeof words / sizeof *words);
	return words[c];
}

static void name_stale(struct text *t, const struct stale_read *x)
{
	text_format(t, "\n  %s  %s\n", x->reader, x->place.statement);
	text_format(t, "    read %s = %s, from %s\n", x->key, x->value,
	            x->writer);
	text_format(t, "    and not %s, from %s\n", x->newest,
	            x->newest_writer);
}

static void put_share(struct text *t, struct attempts_share s)
{
	text_format(t, "%u of %u %s", s.failed, s.runs,
	            s.runs == 1 ? "run" : "runs");
}

/* A command that does something else each time. */
static void name_chance(struct text *t, const struct attempts *a)
{
	uint32_t n = a->reads.count;
	text_string(t, "The command does not do the same each time: when each "
	               "read gets the newest version that it may have, it "
	               "fails in ");
	put_share(t, a->without);
	if (a->with.runs) {
		text_string(t, ", and with ");
		if (n)
			text_string(t, n == 1 ? "this one" : "these");
		else
			text_string(t, "faults");
		text_string(t, " in ");
		put_share(t, a->with);
	}
	text_string(t, n ? ":\n" : ".\n");
}

static void name_reads(struct text *t, const struct attempts *a)
{
	uint32_t n = a->reads.count;
	number_plural(t, n, "read that is", "reads that are");
	text_string(t, " not of the newest version ");
	if (a->cause == CAUSE_UNSURE)
		text_string(t, n == 1 ? "was" : "were");
	else
		text_string(t, n == 1 ? "is enough" : "are enough");
	if (a->cause == CAUSE_UNSURE)
		text_string(t,
		            " there, but with the same ones it did not fail "
		            "again: chance, or who comes first, matters, too");
	else if (a->cause == CAUSE_PART)
		text_string(t, "; perhaps fewer are, too");
	else if (n > 1)
		text_string(t,
		            ", and without any one of them it does not fail");
	text_string(t, ":\n");
}

static void name_cause(struct text *t, const struct attempts *a)
{
	if (a->cause == CAUSE_CHANCE)
		name_chance(t, a);
	else if (a->cause == CAUSE_NONE || a->cause == CAUSE_FAULTS)
		text_format(t,
		            "It fails as well when each read gets the newest "
		            "version that it may have%s.\n",
		            a->cause == CAUSE_FAULTS ? ", but not without "
		                                       "faults"
		                                     : "");
	else
		name_reads(t, a);
}

enum { STALE_SHOWN = 20 };

static void add_share(struct result *r, const char *name,
                      struct attempts_share s)
{
	if (!s.runs) return;
	struct result_values *v = result_group(r, &r->findings, name);
	result_count(r, v, "failed", s.failed);
	result_count(r, v, "runs", s.runs);
}

static void add_cause(struct result *r, const struct served_case *c)
{
	const struct attempts *a = c->attempts;
	struct text t = { 0 };
	if (a->cause == CAUSE_OPEN) return;
	result_text(r, &r->findings, "cause", cause_word(a->cause));
	struct result_values *list = result_list(r, &r->findings, "staleReads");
	name_cause(&t, a);
	uint32_t shown = a->reads.count;
	for (uint32_t i = 0; i < shown; i++) {
		const struct stale_read *x = &a->reads.items[i];
		struct result_values *v = result_group(r, list, NULL);
		result_text(r, v, "transaction", x->reader);
		result_text(r, v, "statement", x->place.statement);
		result_text(r, v, "key", x->key);
		result_text(r, v, "value", x->value);
		result_text(r, v, "from", x->writer);
		result_text(r, v, "newest", x->newest);
		result_text(r, v, "newestFrom", x->newest_writer);
		if (i < STALE_SHOWN) name_stale(&t, x);
	}
	if (shown > STALE_SHOWN)
		text_format(&t, "\n  and %u more, which --json tells\n",
		            shown - STALE_SHOWN);
	add_share(r, "failedWith", a->with);
	add_share(r, "failedWithout", a->without);
	r->note = result_words(r, &t);
	text_free(&t);
}

/* What else the command may have failed for. */
static void add_disturbances(struct result *r, const struct served_case *c)
{
	const struct service_run *last = &c->attempts->last;
	const struct injected_fault *f = &last->fault;
	struct text t = { 0 };
	if (r->note) text_string(&t, r->note);
	if (last->died.length)
		text_format(&t,
		            "Meanwhile a backend of PostgreSQL %s, which ends "
		            "all connections.\n",
		            text_get(&last->died));
	if (last->code && f->transaction.length)
		text_format(&t,
		            "The last fault before it failed was %s, in answer "
		            "to:\n\n  %s  %s\n",
		            f->state, text_get(&f->transaction),
		            text_get(&f->statement));
	if (last->code && last->lost.length &&
	    c->attempts->cause == CAUSE_OPEN && is_repeated(c))
		text_format(&t,
		            "Which stale reads it needs was not found out: "
		            "%s.\n",
		            text_get(&last->lost));
	if (t.length) r->note = result_words(r, &t);
	text_free(&t);
	if (last->died.length)
		result_text(r, &r->findings, "died", text_get(&last->died));
	if (!last->code || !f->transaction.length) return;
	struct result_values *v = result_group(r, &r->findings, "lastFault");
	result_text(r, v, "transaction", text_get(&f->transaction));
	result_text(r, v, "statement", text_get(&f->statement));
	result_text(r, v, "state", f->state);
}

static void add_note(struct result *r, const struct served_case *c)
{
	const struct service_counts *n = &c->attempts->last.counts;
	if (!n->sessions && has_ended(c))
		r->note = "The command did not connect: the database is where "
			  "PGHOST, PGPORT, PGUSER, PGDATABASE and DATABASE_URL "
			  "say.\n";
	if (r->note) return;
	if (n->stuck)
		r->note = "One transaction runs at a time, and all others "
			  "wait for one that stays open without a word: so "
			  "does a client that has two open ones, and waits for "
			  "the second.\n";
	else if (n->drawn && has_ended(c) && r->verdict == VERDICT_NO_VIOLATION)
		r->note = "What reads got was drawn at random: another run, "
			  "and another --seed, may end otherwise.\n";
}

struct result *result_of_service(const struct served_case *c)
{
	struct result *r = result_new(NULL, c->options->service.level);
	int code = c->attempts->last.code;
	bool ended = has_ended(c);
	r->verdict = code          ? VERDICT_VIOLATED
	             : !is_fine(c) ? VERDICT_INCONCLUSIVE
	                           : VERDICT_NO_VIOLATION;
	add_reason(r, c);
	add_settings(r, c);
	result_count_if(r, &r->findings, "exit", ended || code,
	                code > 0 ? (uint64_t)code : 0);
	result_flag(r, &r->findings, "complete", is_fine(c));
	add_cause(r, c);
	add_note(r, c);
	add_disturbances(r, c);
	add_measures(r, c);
	add_lines(r, c);
	return r;
}
