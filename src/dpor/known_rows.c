#include "dpor/known_rows.h"

#include <assert.h>

#include "base/seconds.h"
#include "dpor/explorer.h"
#include "postgres/load.h"
#include "sql/load.h"
#include "vm/bytecode.h"
#include "vm/program.h"

/* Explored so far, at most: histories, some hundredths of a second of them; and
 * steps of exploring times those of the program, which is as long in what is
 * long or blocks often.
 */
enum { KNOWING = 5000, KNOWING_TOIL = 1 << 24 };

/* What is explored to know them, and until when. */
struct learning {
	struct program *program;
	struct explore_options options;
	double deadline; /* 0: none */
};

static struct learning learning_new(struct program *p, double timeout)
{
	return (struct learning){
		p,
		{ .timeout = timeout, .max_changes = UINT64_MAX, .jobs = 1 },
		timeout > 0 ? seconds_now() + timeout : 0
	};
}

/* Is there time for another round? */
static bool goes_on(struct learning *x)
{
	const atomic_bool *interrupt = x->options.interrupt;
	if (interrupt && atomic_load(interrupt)) return false;
	if (!x->deadline) return true;
	x->options.timeout = x->deadline - seconds_now();
	return x->options.timeout > 0;
}

/* Does exploring show a row that was not known? All those that it can show are
 * taken at once (a PostgreSQL has a fault at the first). */
static bool grows(struct learning *x)
{
	struct program *p = x->program;
	if (!goes_on(x)) return false;
	if (!p->server) sql_learn(p, true);
	struct explorer *e = explorer_new(p, &x->options, NULL);
	explorer_run(e);
	explorer_free(e);
	if (!p->server) sql_learn(p, false);
	return p->server ? server_take_growth(p) : sql_take_growth(p);
}

static bool grows_at(struct learning *x, enum level l)
{
	struct explore_options *o = &x->options;
	o->level = o->base = l;
	o->algorithm = EXPLORE_ORDERLY;
	return grows(x);
}

/* What moments of statements allow, the base may not: it is looked for as well,
 * where that is quick. (A PostgreSQL does not look at what may become of a row:
 * then always.) */
static bool wants_moments(const struct program *p)
{
	return p->server ? !program_fault(p) : sql_is_small(p);
}

void explorer_know_rows(struct program *p, const atomic_bool *interrupt,
                        double timeout)
{
	enum level base = level_base(LEVEL_SERIAL), moments = base;
	struct learning x = learning_new(p, timeout);
	if (!program_is_sql(p)) return;
	x.options.max_histories = KNOWING;
	if (!p->server)
		x.options.max_steps = KNOWING_TOIL / (1 + sql_step_count(p));
	x.options.interrupt = interrupt;
	while (!level_has_statements(moments)) moments++;
	assert(moments < LEVEL_COUNT);
	while (grows_at(&x, base) ||
	       (wants_moments(p) && grows_at(&x, moments)))
		;
	assert(p->server || !program_fault(p));
}

bool explorer_can_learn(const struct program *p)
{
	if (!program_is_sql(p) || !program_fault(p)) return false;
	return !p->server && sql_has_grown(p);
}

void explorer_learn_rows(struct program *p, const struct explore_options *o)
{
	struct learning x = learning_new(p, o->timeout);
	x.options.level = o->level;
	x.options.base = o->base;
	x.options.algorithm = o->algorithm == EXPLORE_CE
	                              ? EXPLORE_CE
	                              : explorer_usual_algorithm(p, o->level);
	x.options.max_histories = o->max_histories;
	x.options.interrupt = o->interrupt;
	assert(explorer_can_learn(p));
	for (bool any = sql_take_growth(p); any;) any = grows(&x);
	assert(!program_fault(p));
}
