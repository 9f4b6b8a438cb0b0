#include "api/confirm_result.h"

#include <assert.h>

#include "postgres/stock.h"
#include "result/confirmed.h"
#include "result/result.h"

static bool has_example(const struct result *r)
{
	for (uint32_t i = 0; i < r->assertion_count; i++)
		if (r->assertions[i].example.history) return true;
	return false;
}

/* What fails is the title. */
static bool print(const struct result_assertion *a, const struct confirmer *c,
                  const struct confirmation *x, enum reproduction as,
                  struct text *out, struct problem *p)
{
	struct text why = { 0 }, title = { 0 };
	text_string(&title, a->text);
	if (a->message) text_format(&title, "\n%s", a->message);
	bool fine = (as == REPRODUCE_SPEC ? confirm_print_spec
	                                  : confirm_print_script)(
		out, c, x, text_get(&title), &why);
	if (!fine)
		problem_set(p, PROBLEM_REQUEST, "--reproduce: %s",
		            text_get(&why));
	text_free(&why);
	text_free(&title);
	return fine;
}

bool confirm_result(struct result *r, const atomic_bool *interrupt,
                    enum reproduction as, struct text *out, struct problem *p)
{
	struct text why = { 0 };
	bool fine = true;
	assert(r->program && !out->length);
	if (has_example(r)) {
		struct stock stock = { 0 };
		struct confirmer *c = confirmer_new(r->program, &stock, &why);
		if (!c || !stock_start(&stock, interrupt, &why))
			fine = problem_set(p, PROBLEM_INPUT, "--confirm: %s",
			                   text_get(&why));
		for (uint32_t i = 0; fine && i < r->assertion_count; i++) {
			struct result_assertion *a = &r->assertions[i];
			struct result_example *x = &a->example;
			struct confirmation found;
			if (!x->history || a->shown_by != i) continue;
			confirm_history(c, x->history, x->level, &x->schedule,
			                &r->region, &found);
			result_confirmed(r, x, c, &found);
			if (as && !out->length && x->confirmation.confirmed)
				fine = print(a, c, &found, as, out, p);
		}
		confirmer_free(c);
		stock_stop(&stock);
	}
	text_free(&why);
	if (fine) result_confirmed_in_all(r);
	return fine;
}
