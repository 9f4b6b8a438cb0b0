#include "api/check_inputs.h"

#include <assert.h>

#include "api/check_history.h"
#include "base/seconds.h"

struct checking {
	const struct check_request *request;
	struct inputs in;
	struct check_summary *summary;
	bool violating; /* a violating history was shown */
	bool witnessed; /* a history has a witness */
};

static bool explained(const struct checking *x, const struct check_case *c,
                      bool shown)
{
	enum explain_wanted wanted = x->request->explain;
	if (check_overall(c) != VERDICT_VIOLATED) return false;
	return (x->request->witness && !x->witnessed) ||
	       wanted == EXPLAIN_ALL || (wanted == EXPLAIN_SHOWN && shown) ||
	       (wanted != EXPLAIN_NONE && check_undecided(c));
}

static bool check_input(struct checking *x, const struct input *i)
{
	const struct check_request *r = x->request;
	struct checked c;
	unsigned levels = r->levels;
	assert(i->number && i->trace->transaction_count);
	if (!check_levels_fit(i->trace, &levels, x->in.problem)) return false;
	check_history(&c, i->trace, levels, x->in.clock);
	c.found.format = i->format;
	c.found.as = r->as;
	c.found.number = i->number;
	c.found.read_seconds = i->read_seconds;
	bool violated = check_overall(&c.found) == VERDICT_VIOLATED;
	bool shown = !x->summary->histories || (violated && !x->violating);
	if (r->orders) checked_find_orders(&c);
	if (explained(x, &c.found, shown)) checked_explain(&c);
	bool more = r->checked(r->data, &c.found, shown);
	x->witnessed |= checked_witnessed(&c) < LEVEL_COUNT;
	x->violating |= violated;
	check_summary_add(x->summary, &c.found);
	x->in.done = x->summary->histories;
	checked_free(&c);
	return more;
}

static bool look(void *data, const struct input *i)
{
	struct checking *x = data;
	bool any = x->summary->histories;
	if (any && x->request->single)
		return problem_set(x->in.problem, PROBLEM_REQUEST,
		                   "--commit-order prints the order of one "
		                   "history, and %s holds another one; choose "
		                   "one with --history N, or use --json",
		                   x->in.path);
	return inputs_go_on(&x->in, any) && check_input(x, i);
}

bool check_inputs(const struct check_request *r, struct check_summary *m,
                  struct problem *p)
{
	struct checking x = { .request = r, .summary = m };
	assert(!m->histories && r->checked);
	inputs_begin(&x.in, &r->in, p);
	bool fine = inputs_look(&x.in, look, &x);
	m->stopped = x.in.stopped;
	m->seconds = seconds_now() - x.in.begun;
	inputs_end(&x.in);
	return fine;
}
