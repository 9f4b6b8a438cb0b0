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
	for (;;) {
		struct explorer *e = explorer_new(p, &o, NULL);
		explorer_run(e);
		explorer_free(e);
		if (p->server ? server_take_growth(p) : sql_take_growth(p))
			continue;
		/* A PostgreSQL looks at no rows but those that it is given;
		 * what becomes of others, prc says where the base does not. */
		if (!p->server || o.level == LEVEL_PRC || program_fault(p))
			break;
		o.level = LEVEL_PRC;
		o.base = LEVEL_PRC;
		o.algorithm = EXPLORE_ORDERLY;
	}
	assert(p->server || !program_fault(p));
}
