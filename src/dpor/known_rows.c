#include "dpor/known_rows.h"

#include <assert.h>

#include "dpor/explorer.h"
#include "postgres/load.h"
#include "sql/load.h"
#include "vm/bytecode.h"
#include "vm/program.h"

/* Explored so far, at most: some hundredths of a second. */
enum { KNOWING = 5000 };

/* Does exploring at this level show a row that was not known? */
static bool grows(struct program *p, struct explore_options *o, enum level l)
{
	o->level = o->base = l;
	o->algorithm = level_has_statements(l) ? EXPLORE_ORDERLY : EXPLORE_CE;
	struct explorer *e = explorer_new(p, o, NULL);
	explorer_run(e);
	explorer_free(e);
	return p->server ? server_take_growth(p) : sql_take_growth(p);
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
	struct explore_options o = { .max_histories = KNOWING,
		                     .interrupt = interrupt,
		                     .timeout = timeout,
		                     .jobs = 1 };
	if (!program_is_sql(p)) return;
	while (!level_has_statements(moments)) moments++;
	assert(moments < LEVEL_COUNT);
	while (grows(p, &o, base) ||
	       (wants_moments(p) && grows(p, &o, moments)))
		;
	assert(p->server || !program_fault(p));
}
