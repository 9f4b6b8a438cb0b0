#include "prove_support.h"

#include "prove/search.h"
#include "suites.h"

void check_exclusion(struct proof *p, const struct proved_exclusion *e)
{
	struct instances_terms terms = p->options.terms;
	Z3_context z = instances_context();
	Z3_ast assumed[RULE_UNWRITTEN + 16];
	unsigned count = instances_rule_count(p->app), n = 0;
	terms.named = true;
	struct instances *in =
		instances_new(z, p->app, e->which, e->length, terms);
	const struct between *k = &in->between[0][1];
	Z3_ast any[] = { k->wr, k->ww, k->rw };
	if (e->pair)
		instances_assert(in, Z3_mk_or(z, 3, any));
	else
		search_assert_path(in, e->length);
	if (e->back)
		instances_assert(in, in->between[e->length - 1][0].depends);
	ck_assert(count <= sizeof assumed / sizeof *assumed);
	for (unsigned r = 0; r < count; r++)
		if (e->rules[r]) assumed[n++] = in->names[r];
	ck_assert_int_eq(Z3_solver_check_assumptions(z, in->solver, n, assumed),
	                 Z3_L_FALSE);
	for (unsigned i = 0; i < n; i++) {
		Z3_ast left = assumed[i];
		assumed[i] = assumed[n - 1];
		ck_assert_int_ne(Z3_solver_check_assumptions(z, in->solver,
		                                             n - 1, assumed),
		                 Z3_L_FALSE);
		assumed[i] = left;
	}
	instances_free(in);
	instances_context_free(z);
}
