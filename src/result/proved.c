#include "result/proved.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "axioms/allows.h"
#include "base/bits.h"
#include "base/memory.h"
#include "history/history.h"
#include "prove/words.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"
#include "result/promoted.h"

static void name_question(struct text *t, const struct proof *p)
{
	text_string(t, p->app->stale_count
	                       ? "serializable, but for transactions that are "
	                         "stale ok, under "
	                       : "serializable under ");
	name_level_as(t, p->options.terms.level, p->options.as);
	text_string(t, ", for any number of ");
	text_string(t, p->options.terms.one_each
	                       ? "transactions, one in each session"
	                       : "sessions and transactions");
}

/* "shop.tx:12: a loop over a collection" */
static void name_uncovered(struct text *t, const struct uncovered *u)
{
	text_format(t, "%s:%" PRIu32 ": %s", u->at.file, u->at.line, u->what);
}

/* Why there is neither a proof nor a violation. */
static void name_obstacle(struct text *t, const struct proof *p)
{
	const struct application *a = p->app;
	if (p->stop)
		text_string(t, stop_text(p->stop));
	else if (!a->summary_count && !a->uncovered_count)
		text_string(t, a->stale_count
		                       ? "all transactions are stale ok"
		                       : "the program has no transactions");
	else if (p->open_level)
		text_string(t, "there are no proofs for this level, or mix of "
		               "levels");
	else if (a->uncovered_count) {
		name_uncovered(t, &a->uncovered[0]);
		text_string(t, " is not covered");
		if (a->uncovered_count > 1) {
			text_string(t, ", and ");
			number_plural(t, a->uncovered_count - 1, "other place",
			              "other places");
		}
	} else if (p->clients_out)
		text_string(t, "there may be a cycle, but none of the many "
		               "clients that were explored has it");
	else if (p->undecided)
		text_string(t, "the solver gave up");
	else if (p->unconfirmed)
		text_string(t, "there may be a cycle, but it was not found "
		               "when it was explored");
	else {
		text_string(t, "there is no cycle of up to ");
		number_plural(t, p->length, "transaction", "transactions");
		text_string(t, ", and no proof that there are no longer ones");
	}
}

/* What comes of an anomaly, of the execution that is shown. */
static void name_consequence(struct text *t, const struct consequence *c)
{
	switch (c->kind) {
	case CONSEQUENCE_ANSWER:
		text_string(t, "; only what is answered is out of date");
		return;
	case CONSEQUENCE_WRITE:
		text_string(t, ", and what is written depends on that");
		return;
	case CONSEQUENCE_ASSERTION:
		text_format(t, ", and an assertion fails: %s",
		            text_get(&c->fails));
	}
}

static void add_reason(struct result *r, const struct proof *p)
{
	struct text t = { 0 };
	if (p->verdict == VERDICT_HOLDS) {
		text_string(&t, "proved: every execution ");
		if (p->options.terms.no_errors)
			text_string(&t, "without run-time errors ");
		text_string(&t, "is ");
		name_question(&t, p);
	} else if (p->verdict == VERDICT_VIOLATED) {
		text_string(&t, "an execution is not serializable under ");
		name_level_as(&t, p->options.terms.level, p->options.as);
		name_consequence(&t, &p->consequence);
	} else {
		name_obstacle(&t, p);
		text_string(&t, "; whether every execution is ");
		name_question(&t, p);
		text_string(&t, " is open");
	}
	r->reason = result_words(r, &t);
	text_free(&t);
}

/* ---- what depends on what ---- */

static const struct proved_pair *pair_of(const struct proof *p, uint32_t i,
                                         uint32_t j)
{
	assert(p->pairs && i < p->app->summary_count);
	return &p->pairs[i * p->app->summary_count + j];
}

static void name_kinds(struct text *t, const struct proved_pair *k)
{
	if (k->wr) text_string(t, " wr");
	if (k->ww) text_string(t, " ww");
	if (k->rw) text_string(t, " rw");
}

/* The table for people, and the same as values. */
static void add_pairs(struct result *r, const struct proof *p,
                      struct text *note)
{
	struct result_values *list = result_list(r, &r->findings, "pairs");
	struct text lines = { 0 };
	bool against = false;
	if (!p->pairs) return;
	for (uint32_t i = 0; i < p->app->summary_count; i++)
		for (uint32_t j = 0; j < p->app->summary_count; j++) {
			const struct proved_pair *k = pair_of(p, i, j);
			const char *from = p->app->summaries[i].name;
			const char *to = p->app->summaries[j].name;
			if (!k->wr && !k->ww && !k->rw) continue;
			struct result_values *one = result_group(r, list, NULL);
			result_text(r, one, "from", from);
			result_text(r, one, "to", to);
			result_flag(r, one, "wr", k->wr);
			result_flag(r, one, "ww", k->ww);
			result_flag(r, one, "rw", k->rw);
			result_flag(r, one, "against", k->against);
			text_format(&lines, "  %s -> %s:", from, to);
			name_kinds(&lines, k);
			if (k->against)
				text_string(&lines,
				            ", rw also when the second has "
				            "committed before the first");
			text_char(&lines, '\n');
			against |= k->against;
		}
	if (lines.length)
		text_format(note, "\nWhat may depend on what, of two:\n%s",
		            text_get(&lines));
	else if (!p->app->uncovered_count)
		text_string(note, "\nNo transaction depends on another.\n");
	if (p->verdict == VERDICT_HOLDS && lines.length) {
		text_string(note, against ? "A cycle would need dependencies "
		                            "that lead to its first commit, "
		                            "on a path of "
		                          : "None of it leads to an earlier "
		                            "commit, so there is no cycle");
		if (against) {
			number_plural(note, p->length, "transaction",
			              "transactions");
			text_string(note, ": there is no such path");
		}
		text_string(note, ".\n");
	}
	text_free(&lines);
}

/* "line 3 writes balance[a], if x > 0" */
static void name_access(struct text *t, const struct proof *p,
                        const struct summary *s, const struct access *a,
                        const char *condition)
{
	text_format(t, "line %" PRIu32 " %s ", a->line,
	            a->write ? "writes" : "reads");
	words_key(t, p->app, s, a);
	if (!strcmp(condition, "sometimes"))
		text_string(t, ", sometimes");
	else if (*condition)
		text_format(t, ", if %s", condition);
}

static void add_access(struct result *r, struct result_values *to,
                       const char *name, const struct proof *p,
                       uint32_t summary, uint32_t access, struct text *words)
{
	const struct summary *s = &p->app->summaries[summary];
	const struct access *a = &s->accesses[access];
	struct result_values *one = result_group(r, to, name);
	struct text key = { 0 }, condition = { 0 };
	words_key(&key, p->app, s, a);
	words_condition(&condition, p->app, s, a);
	name_access(words, p, s, a, text_get(&condition));
	result_count(r, one, "line", a->line);
	result_text(r, one, "key", text_get(&key));
	result_text(r, one, "condition",
	            condition.length ? text_get(&condition) : NULL);
	text_free(&key);
	text_free(&condition);
}

static const char *kind_of(const struct proof *p,
                           const struct proved_conflict *c)
{
	bool w1 = p->app->summaries[c->from].accesses[c->one].write;
	bool w2 = p->app->summaries[c->to].accesses[c->other].write;
	assert(w1 || w2);
	return !w1 ? "rw" : w2 ? "ww" : "wr";
}

static void add_conflicts(struct result *r, const struct proof *p,
                          struct text *note)
{
	struct result_values *list;
	if (!p->options.table) return;
	list = result_list(r, &r->findings, "conflicts");
	if (!p->pairs)
		text_format(note, "\nThere is no table: %s.\n",
		            stop_text(p->stop));
	if (p->conflict_count)
		text_string(note, "\nWhere one depends on the other, if the "
		                  "keys are the same:\n");
	for (uint32_t i = 0; i < p->conflict_count; i++) {
		const struct proved_conflict *c = &p->conflicts[i],
					     *last = c - 1;
		const char *from = p->app->summaries[c->from].name;
		const char *to = p->app->summaries[c->to].name;
		struct result_values *one = result_group(r, list, NULL);
		if (!i || last->from != c->from || last->to != c->to)
			text_format(note, "  %s -> %s\n", from, to);
		text_format(note, "    %s  ", kind_of(p, c));
		result_text(r, one, "from", from);
		result_text(r, one, "to", to);
		result_text(r, one, "kind", kind_of(p, c));
		result_flag(r, one, "against", c->against);
		add_access(r, one, "first", p, c->from, c->one, note);
		text_string(note, "; ");
		add_access(r, one, "second", p, c->to, c->other, note);
		if (c->against)
			text_string(note, "; also when the second has "
			                  "committed before the first");
		text_char(note, '\n');
	}
}

/* ---- why there is no cycle ---- */

enum { ROWS_MOST = 8 }; /* that are told of the same reason */

static bool same_reason(const struct proof *p, const struct proved_exclusion *a,
                        const struct proved_exclusion *b)
{
	return a->pair == b->pair &&
	       !memcmp(a->rules, b->rules,
	               instances_rule_count(p->app) * sizeof *a->rules);
}

static void name_row(struct text *t, const struct proof *p,
                     const struct proved_exclusion *e)
{
	for (uint32_t i = 0; i < e->length; i++)
		text_format(t, "%s%s", i ? " -> " : "",
		            p->app->summaries[e->which[i]].name);
	if (e->back) text_string(t, " -> the first");
}

static void name_reason(struct text *t, const struct proof *p,
                        const struct proved_exclusion *e)
{
	unsigned count = instances_rule_count(p->app), told = 0;
	text_string(t, "  ");
	for (unsigned i = RULE_NONE + 1; i < count; i++) {
		if (!e->rules[i]) continue;
		if (told++) text_string(t, "; ");
		if (i < RULE_UNWRITTEN)
			text_string(t, rule_words((enum rule)i));
		else
			text_format(t, "nobody writes %s",
			            p->app->families[i - RULE_UNWRITTEN].name);
	}
	text_string(t, told ? ":\n" : "what they read and write:\n");
}

/* Those from this one on that have its reason. */
static void name_rows(struct text *t, const struct proof *p, uint32_t first)
{
	uint32_t told = 0, rest = 0;
	for (uint32_t i = first; i < p->exclusion_count; i++) {
		if (!same_reason(p, &p->exclusions[first], &p->exclusions[i]))
			continue;
		if (told == ROWS_MOST) {
			rest++;
			continue;
		}
		text_string(t, "    ");
		name_row(t, p, &p->exclusions[i]);
		text_char(t, '\n');
		told++;
	}
	if (!rest) return;
	text_string(t, "    and ");
	number_plural(t, rest, "other row", "other rows");
	text_char(t, '\n');
}

static const char
	pair_heading[] = "\nWhy of two that have keys of one name the second "
			 "never depends on the first:\n",
	row_heading[] = "\nWhy no transactions depend on each other in a row, "
			"the last one committing first, or in a circle:\n";

static void add_exclusions(struct result *r, const struct proof *p,
                           struct text *note)
{
	unsigned count = instances_rule_count(p->app);
	if (!p->options.explain) return;
	struct result_values *list = result_list(r, &r->findings, "exclusions");
	for (uint32_t i = 0; i < p->exclusion_count; i++) {
		const struct proved_exclusion *e = &p->exclusions[i];
		if (!i || e->pair != e[-1].pair)
			text_string(note, e->pair ? pair_heading : row_heading);
		struct result_values *one = result_group(r, list, NULL);
		struct result_values *of = result_list(r, one, "transactions");
		uint32_t k = 0;
		for (uint32_t t = 0; t < e->length; t++)
			result_text(r, of, NULL,
			            p->app->summaries[e->which[t]].name);
		result_flag(r, one, "pair", e->pair);
		result_flag(r, one, "back", e->back);
		of = result_list(r, one, "rules");
		for (unsigned n = RULE_NONE + 1; n < RULE_UNWRITTEN; n++)
			if (e->rules[n])
				result_text(r, of, NULL,
				            rule_word((enum rule)n));
		of = result_list(r, one, "unwritten");
		for (unsigned n = RULE_UNWRITTEN; n < count; n++)
			if (e->rules[n])
				result_text(r, of, NULL,
				            p->app->families[n - RULE_UNWRITTEN]
				                    .name);
		while (k < i && !same_reason(p, &p->exclusions[k], e)) k++;
		if (k < i) continue; /* told already */
		name_reason(note, p, e);
		name_rows(note, p, i);
	}
}

/* ---- what is not serializable ---- */

/* A cycle that was explored, if there is one, and what comes of it. */
static void add_cycle(struct result *r, struct result_values *to, bool violated,
                      const struct text *cycle, const struct text *client,
                      const struct consequence *c)
{
	result_text(r, to, "cycle", violated ? text_get(cycle) : NULL);
	result_text(r, to, "client", violated ? text_get(client) : NULL);
	result_text(r, to, "consequence",
	            violated ? consequence_word(c->kind) : NULL);
	result_text(r, to, "fails",
	            violated && c->fails.length ? text_get(&c->fails) : NULL);
	result_text(r, to, "cause",
	            violated && c->cause.length ? text_get(&c->cause) : NULL);
}

static bool same_cause(const struct consequence *a, const struct consequence *b)
{
	return a->cause.length &&
	       !strcmp(text_get(&a->cause), text_get(&b->cause));
}

/* ---- sets of transactions ---- */

static void add_set(struct result *r, struct result_values *list,
                    const struct proof *p, const struct proved_set *set)
{
	struct result_values *one = result_group(r, list, NULL);
	struct result_values *names = result_list(r, one, "transactions");
	BITS_EACH(i, &set->members, 1)
		result_text(r, names, NULL, p->app->summaries[i].name);
	result_text(r, one, "verdict", verdict_word(set->verdict));
	add_cycle(r, one, set->verdict == VERDICT_VIOLATED, &set->cycle,
	          &set->client, &set->consequence);
}

static void name_set(struct text *lines, const struct proof *p,
                     const struct proved_set *set)
{
	bool first = true;
	BITS_EACH(i, &set->members, 1) {
		text_format(lines, "%s%s", first ? "" : ", ",
		            p->app->summaries[i].name);
		first = false;
	}
}

/* Told under the first one with the same cause: with its members only. */
static void name_sets_behind(struct text *lines, const struct proof *p,
                             uint32_t first)
{
	const struct proved_set *set = &p->sets[first];
	for (uint32_t i = first + 1; i < p->set_count; i++) {
		if (p->sets[i].verdict != VERDICT_VIOLATED ||
		    !same_cause(&set->consequence, &p->sets[i].consequence))
			continue;
		text_string(lines, "    the same in ");
		name_set(lines, p, &p->sets[i]);
		text_char(lines, '\n');
	}
}

static void name_violated(struct text *lines, const struct proof *p, uint32_t i)
{
	const struct proved_set *set = &p->sets[i];
	for (uint32_t k = 0; k < i; k++)
		if (p->sets[k].verdict == VERDICT_VIOLATED &&
		    same_cause(&set->consequence, &p->sets[k].consequence))
			return;
	text_string(lines, "  ");
	name_set(lines, p, set);
	text_format(lines, ": %s", text_get(&set->cycle));
	name_consequence(lines, &set->consequence);
	text_char(lines, '\n');
	if (set->consequence.cause.length)
		text_format(lines, "    %s\n",
		            text_get(&set->consequence.cause));
	name_sets_behind(lines, p, i);
}

static void add_sets_of(struct result *r, struct result_values *list,
                        const struct proof *p, enum verdict v,
                        const char *heading, struct text *note)
{
	struct text lines = { 0 };
	for (uint32_t i = 0; i < p->set_count; i++)
		if (p->sets[i].verdict == v) {
			add_set(r, list, p, &p->sets[i]);
			if (v == VERDICT_VIOLATED) {
				name_violated(&lines, p, i);
				continue;
			}
			text_string(&lines, "  ");
			name_set(&lines, p, &p->sets[i]);
			text_char(&lines, '\n');
		}
	if (lines.length)
		text_format(note, "\n%s\n%s", heading, text_get(&lines));
	text_free(&lines);
}

static void add_sets(struct result *r, const struct proof *p, struct text *note)
{
	bool whole = !p->stop && !p->sets_left;
	if (!p->options.subsets) return;
	struct result_values *list = result_list(r, &r->findings, "sets");
	result_flag(r, &r->findings, "sets_complete", whole);
	add_sets_of(r, list, p, VERDICT_HOLDS,
	            whole ? "Proved to be serializable together, as is all "
	                    "that is within one of these sets; of no larger "
	                    "set it is proved:"
	                  : "Proved to be serializable together, as is all "
	                    "that is within one of these sets:",
	            note);
	add_sets_of(r, list, p, VERDICT_VIOLATED,
	            "Not serializable together, and so no set that one of "
	            "these is within; for example:",
	            note);
	add_sets_of(r, list, p, VERDICT_INCONCLUSIVE,
	            "Neither proved nor violated, as is each set that one of "
	            "these is within, unless it is violated:",
	            note);
	if (!whole)
		text_format(note, "\nNot all sets were decided: %s.\n",
		            p->stop ? stop_text(p->stop) : "they are too many");
}

/* ---- a level for each ---- */

/* "prc, si or ser" */
static void name_levels(struct text *t, unsigned levels)
{
	for (unsigned l = 0; l < LEVEL_COUNT; l++) {
		if (!(levels >> l & 1)) continue;
		text_string(t, level_word((enum level)l));
		levels &= ~(1u << l);
		if (levels)
			text_string(t, levels & (levels - 1) ? ", " : " or ");
	}
}

static void name_weaker(struct text *t, const struct proof *p,
                        const struct proved_weaker *w)
{
	text_format(t, "    %s at %s: ", p->app->summaries[w->transaction].name,
	            level_word(w->level));
	if (w->verdict != VERDICT_VIOLATED) {
		text_string(t, "neither proved nor violated\n");
		return;
	}
	text_format(t, "not serializable, for example %s", text_get(&w->cycle));
	name_consequence(t, &w->consequence);
	text_char(t, '\n');
}

static void add_allocation(struct result *r, struct result_values *list,
                           const struct proof *p,
                           const struct proved_allocation *a, struct text *note)
{
	struct result_values *one = result_group(r, list, NULL);
	struct result_values *levels = result_list(r, one, "levels");
	struct result_values *weaker = result_list(r, one, "weaker");
	for (uint32_t i = 0; i < p->app->summary_count; i++) {
		struct result_values *of = result_group(r, levels, NULL);
		const char *name = p->app->summaries[i].name;
		const char *level = level_word(a->levels[i]);
		result_text(r, of, "transaction", name);
		result_text(r, of, "level", level);
		text_format(note, "%s%s at %s", i ? ", " : "  ", name, level);
	}
	text_char(note, '\n');
	if (a->weaker_count) text_string(note, "  and one of them weaker:\n");
	for (uint32_t i = 0; i < a->weaker_count; i++) {
		const struct proved_weaker *w = &a->weaker[i];
		bool violated = w->verdict == VERDICT_VIOLATED;
		struct result_values *of = result_group(r, weaker, NULL);
		name_weaker(note, p, w);
		result_text(r, of, "transaction",
		            p->app->summaries[w->transaction].name);
		result_text(r, of, "level", level_word(w->level));
		result_text(r, of, "verdict", verdict_word(w->verdict));
		add_cycle(r, of, violated, &w->cycle, &w->client,
		          &w->consequence);
	}
}

static void name_allocations(struct text *note, const struct proof *p,
                             bool whole)
{
	uint32_t count = p->allocation_count;
	text_char(note, '\n');
	if (!count) {
		text_string(note, whole ? "With no levels out of "
		                        : "With no levels that were tried out "
		                          "of ");
		name_levels(note, p->options.allocate);
		text_string(note, " they are proved to be serializable.\n");
		return;
	}
	text_string(note, "Proved to be serializable with levels out of ");
	name_levels(note, p->options.allocate);
	if (whole)
		text_string(note, count == 1 ? "; no other choice that is "
		                               "proved has a weaker level for "
		                               "any of them"
		                             : "; any other choice that is "
		                               "proved is stronger than one of "
		                               "these");
	text_string(note, ":\n");
}

static void add_allocations(struct result *r, const struct proof *p,
                            struct text *note)
{
	bool whole = !p->stop && !p->allocations_left;
	if (!p->options.allocate) return;
	struct result_values *list =
		result_list(r, &r->findings, "allocations");
	result_flag(r, &r->findings, "allocations_complete", whole);
	if (p->app->summary_count) name_allocations(note, p, whole);
	for (uint32_t i = 0; i < p->allocation_count; i++)
		add_allocation(r, list, p, &p->allocations[i], note);
	if (!whole)
		text_format(note, "\nNot all levels were tried: %s.\n",
		            p->stop ? stop_text(p->stop) : "they are too many");
}

/* ---- what was found ---- */

static void add_violation(struct result *r, const struct proof *p)
{
	struct result_values *one =
		result_group(r, &r->findings, "counterexample");
	struct result_part *part = result_part(r);
	struct text words = { 0 };
	enum level by;
	text_format(&words, "These transactions, for example: %s",
	            text_get(&p->cycle));
	part->heading = result_words(r, &words);
	part->title = part->heading;
	part->history = p->history;
	part->anomaly = anomaly_name_under(LEVEL_SERIAL, p->history, &by);
	part->cycle_leads = "a serial order would need";
	part->cycle = result_cycle_of(r, LEVEL_SERIAL, p->history);
	if (p->consequence.cause.length) {
		text_format(&words, "At the root: %s",
		            text_get(&p->consequence.cause));
		part->closing = result_words(r, &words);
	}
	add_cycle(r, one, true, &p->cycle, &p->client, &p->consequence);
	result_text(r, one, "anomaly", part->anomaly);
	history_print_canonical(&words, p->history);
	result_json(r, one, "history", &words);
	result_cycle(r, result_list(r, one, "edges"), p->history, &part->cycle);
	result_steps(r, one, p->history, p->program, NULL);
	text_free(&words);
}

/* ---- what may be stale ---- */

static const char *stale_name(const struct proof *p,
                              const struct proved_stale *s)
{
	return s->transaction == UINT32_MAX
	               ? "all of them together"
	               : p->app->summaries[s->transaction].name;
}

static void name_stale(struct text *t, const struct proof *p,
                       const struct proved_stale *s)
{
	text_format(t, "  %s: ", stale_name(p, s));
	switch (s->verdict) {
	case VERDICT_VIOLATED:
		text_format(t, "a stale answer, for example %s",
		            text_get(&s->cycle));
		break;
	case VERDICT_HOLDS:
		text_string(t, "never stale, which is proved");
		break;
	default: text_string(t, "may be stale, but no case was found"); break;
	}
	text_char(t, '\n');
	if (s->consequence.cause.length)
		text_format(t, "    %s\n", text_get(&s->consequence.cause));
}

/* Which ones, and of those that were looked at what was found. */
static void add_stale(struct result *r, const struct proof *p,
                      struct text *note)
{
	const struct application *a = p->app;
	struct result_values *names = result_list(r, &r->findings, "stale_ok");
	struct result_values *list =
		result_list(r, &r->findings, "stale_answers");
	if (!a->stale_count) return;
	text_string(note, "\nStale ok, and left out:");
	for (uint32_t i = 0; i < a->stale_count; i++) {
		const char *name = a->summaries[a->summary_count + i].name;
		result_text(r, names, NULL, name);
		text_format(note, "%s %s", i ? "," : "", name);
	}
	text_string(note, p->verdict == VERDICT_HOLDS
	                          ? "\nBeside the others, which are proved:\n"
	                          : "\nWhat they answer was not looked at, as "
	                            "the others are not proved.\n");
	for (uint32_t i = 0; i < p->stale_count; i++) {
		const struct proved_stale *s = &p->stale[i];
		struct result_values *one = result_group(r, list, NULL);
		result_text(r, one, "transaction",
		            s->transaction == UINT32_MAX ? NULL
		                                         : stale_name(p, s));
		result_text(r, one, "verdict", verdict_word(s->verdict));
		add_cycle(r, one, s->verdict == VERDICT_VIOLATED, &s->cycle,
		          &s->client, &s->consequence);
		name_stale(note, p, s);
	}
	if (p->verdict == VERDICT_HOLDS && p->stop)
		text_format(note, "  and not all were looked at: %s\n",
		            stop_text(p->stop));
}

static void add_open(struct result *r, const struct proof *p, struct text *note)
{
	struct result_values *list = result_list(r, &r->findings, "uncovered");
	for (uint32_t i = 0; i < p->app->uncovered_count; i++) {
		const struct uncovered *u = &p->app->uncovered[i];
		struct result_values *one = result_group(r, list, NULL);
		result_text(r, one, "file", u->at.file);
		result_count(r, one, "line", u->at.line);
		result_text(r, one, "what", u->what);
	}
	result_text(r, &r->findings, "candidate",
	            p->candidate.length ? text_get(&p->candidate) : NULL);
	if (p->verdict != VERDICT_INCONCLUSIVE) return;
	if (p->app->uncovered_count) {
		text_string(note, "\nNot covered:\n");
		for (uint32_t i = 0; i < p->app->uncovered_count; i++) {
			text_string(note, "  ");
			name_uncovered(note, &p->app->uncovered[i]);
			text_char(note, '\n');
		}
	}
	if (p->stop && p->length) {
		text_string(note, "\nUp to then: rows of ");
		number_plural(note, p->length, "transaction", "transactions");
		text_string(note, " were looked at");
		if (p->length > 2 && !p->unconfirmed)
			text_string(note,
			            ", and there is no cycle of fewer than "
			            "that");
		text_string(note, ".\n");
	}
	if (p->candidate.length)
		text_format(note,
		            "\nA cycle that was not found when it was "
		            "explored:\n  %s\n",
		            text_get(&p->candidate));
}

void result_prove_costs(struct result *r, const struct application *a,
                        const struct prove_costs *c)
{
	struct result_values *stats = result_group(r, &r->measures, "stats");
	struct text words = { 0 };
	result_count(r, stats, "questions", c->questions);
	result_count(r, stats, "clients", c->clients);
	result_count(r, stats, "histories", c->histories);
	result_seconds(r, stats, "seconds", c->seconds);
	text_char(&words, '\n');
	number_plural(&words, a->summary_count, "transaction", "transactions");
	text_string(&words, ", ");
	number_plural(&words, c->questions, "question", "questions");
	if (c->clients) {
		text_string(&words, ", ");
		number_plural(&words, c->clients, "client", "clients");
		text_string(&words, " explored");
	}
	text_string(&words, ", ");
	number_seconds(&words, c->seconds);
	text_char(&words, '\n');
	r->closing = result_words(r, &words);
	text_free(&words);
}

struct result *result_of_proof(const struct proof *p)
{
	struct result *r = result_new(NULL, p->options.terms.level);
	struct result_values *f = &r->findings;
	assert(p->verdict != VERDICT_VIOLATED || p->history);
	result_text(r, &r->settings, "program", p->app->path);
	result_level(r, p->options.terms.level, p->options.as);
	result_flag(r, &r->settings, "one_each", p->options.terms.one_each);
	result_flag(r, &r->settings, "no_errors", p->options.terms.no_errors);
	result_count(r, &r->settings, "max_length", p->options.max_length);
	r->proof = p;
	r->verdict = p->verdict;
	add_reason(r, p);
	result_text(r, f, "stop", stop_word(p->stop));
	result_count(r, f, "length", p->length);
	struct result_values *names = result_list(r, f, "transactions");
	for (uint32_t i = 0; i < p->app->summary_count; i++)
		result_text(r, names, NULL, p->app->summaries[i].name);
	struct text note = { 0 };
	add_open(r, p, &note);
	if (p->verdict == VERDICT_VIOLATED) add_violation(r, p);
	if (p->verdict != VERDICT_VIOLATED || p->options.table)
		add_pairs(r, p, &note);
	add_conflicts(r, p, &note);
	add_exclusions(r, p, &note);
	add_sets(r, p, &note);
	add_allocations(r, p, &note);
	result_promotions(r, p, &note);
	add_stale(r, p, &note);
	if (note.length) r->note = result_words(r, &note);
	text_free(&note);
	result_prove_costs(r, p->app, &p->costs);
	return r;
}
