#include "dpor/known_rows.h"

#include <assert.h>

#include "dpor/explorer.h"
#include "postgres/load.h"
#include "sql/load.h"
#include "vm/bytecode.h"
#include "vm/program.h"

/* Explored so far, at most: some hundredths of a second. */
enum { KNOWING = 5000 };

void explorer_know_rows(struct program *p, const atomic_bool *interrupt,
                        double timeout)
{
	enum level base = level_base(LEVEL_SERIAL);
	struct explore_options o = { .algorithm = EXPLORE_CE,
		                     .level = base,
		                     .base = base,
		                     .max_histories = KNOWING,
		                     .interrupt = interrupt,
		                     .timeout = timeout,
		                     .jobs = 1 };
	if (!program_is_sql(p)) return;
	for (bool again = true; again;) {
		struct explorer *e = explorer_new(p, &o, NULL);
		explorer_run(e);
		explorer_free(e);
		again = p->server ? server_take_growth(p) : sql_take_growth(p);
		/* A PostgreSQL does not look at what may become of a row. What
		 * moments of statements allow, the base may not. */
		if (again || !p->server || program_fault(p) ||
		    level_has_statements(o.level))
			continue;
		while (!level_has_statements(o.level)) o.level++;
		assert(o.level < LEVEL_COUNT);
		o.base = o.level;
		o.algorithm = EXPLORE_ORDERLY;
		again = true;
	}
	assert(p->server || !program_fault(p));
}
