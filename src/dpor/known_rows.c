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
	do {
		struct explorer *e = explorer_new(p, &o, NULL);
		explorer_run(e);
		explorer_free(e);
	} while (p->server ? server_take_growth(p) : sql_take_growth(p));
	assert(p->server || !program_fault(p));
}
