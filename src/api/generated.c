#include "api/generated.h"

#include <assert.h>

/* These reads are not written as lists, see elle_print.c. */
static bool is_for_registers(enum planted p)
{
	return p == PLANTED_THIN_AIR || p == PLANTED_G1A ||
	       p == PLANTED_INTERNAL;
}

struct trace *generate_history(const struct workload *w, enum format to,
                               uint32_t **order, struct problem *p)
{
	struct workload settings = *w;
	uint32_t count = 0;
	assert(to < FORMAT_COUNT);
	*order = NULL;
	if ((to == FORMAT_LIST_EDN || to == FORMAT_LIST_JSON) &&
	    is_for_registers(w->planted)) {
		problem_set(
			p, PROBLEM_REQUEST,
			"--format %s cannot be used with --anomaly %s: a list "
			"cannot express such a read; --format rw-edn can",
			format_word(to), planted_word(w->planted));
		return NULL;
	}
	settings.writes_only = to != FORMAT_ISOSCOPE;
	struct trace *t =
		workload_run_ordered(&settings, order, &count, &p->diags);
	if (!t) problem_diagnosed(p, PROBLEM_REQUEST);
	assert(!t || *order);
	return t;
}
