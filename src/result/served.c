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
	const struct service_options *o = c->options;
	struct text command = { 0 };
	for (const char *const *w = o->command; w && *w; w++)
		text_format(&command, "%s%s", w == o->command ? "" : " ", *w);
	result_text(r, &r->settings, "client",
	            o->command ? text_get(&command) : NULL);
	result_text(r, &r->settings, "level", level_word(o->level));
	if (c->as) result_text(r, &r->settings, "deployment", c->as);
	result_text(r, &r->settings, "policy", policy_word(o->policy));
	result_count(r, &r->settings, "seed", o->seed);
	text_free(&command);
}

static void add_reason(struct result *r, const struct served_case *c)
{
	const struct service_run *x = c->run;
	struct text t = { 0 };
	if (x->interrupted)
		text_string(&t, "it was interrupted, ");
	else
		text_format(&t, "the command ended with exit code %d, ",
		            x->code);
	text_string(&t, "served at ");
	name_level(&t, c->options->level);
	r->reason = result_words(r, &t);
	text_free(&t);
}

static void add_lines(struct result *r, const struct served_case *c)
{
	const struct service_counts *n = &c->run->counts;
	struct text t = { 0 };
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
	if (n->stuck) {
		text_string(&t, "since they were in a transaction, silent, "
		                "while others waited");
		result_line(r, "ended", n->stuck, &t);
	}
	text_free(&t);
}

static void add_measures(struct result *r, const struct served_case *c)
{
	const struct service_counts *n = &c->run->counts;
	result_count(r, &r->measures, "connections", n->sessions);
	result_count(r, &r->measures, "transactions", n->transactions);
	result_count(r, &r->measures, "committed", n->committed);
	result_count(r, &r->measures, "aborted", n->aborted);
	result_count(r, &r->measures, "reads", n->reads);
	result_count(r, &r->measures, "stale", n->stale);
	result_count(r, &r->measures, "refused", n->refused);
	result_count(r, &r->measures, "ended", n->stuck);
	result_seconds(r, &r->measures, "seconds", c->run->seconds);
}

struct result *result_of_service(const struct served_case *c)
{
	struct result *r = result_new(NULL, c->options->level);
	const struct service_run *x = c->run;
	bool ended = c->options->command && !x->interrupted;
	r->verdict = !ended    ? VERDICT_INCONCLUSIVE
	             : x->code ? VERDICT_VIOLATED
	                       : VERDICT_NO_VIOLATION;
	add_reason(r, c);
	add_settings(r, c);
	result_count_if(r, &r->findings, "exit", ended,
	                ended ? (uint64_t)x->code : 0);
	result_flag(r, &r->findings, "complete", ended);
	add_measures(r, c);
	add_lines(r, c);
	if (x->counts.stuck)
		r->note = "One transaction runs at a time: a client that has "
			  "two open ones, and waits for the second, waits "
			  "for ever.\n";
	else if (r->verdict == VERDICT_NO_VIOLATION)
		r->note = "What reads got was drawn at random: another run, "
			  "and another --seed, may end otherwise.\n";
	return r;
}
