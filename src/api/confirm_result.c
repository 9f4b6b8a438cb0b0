#include "api/confirm_result.h"

#include <assert.h>

#include "confirm/retold.h"
#include "result/confirmed.h"
#include "result/result.h"
#include "vm/program.h"

/* ---- One after the other ---- */

static bool fail(struct problem *p, enum problem_kind kind, const char *option,
                 struct text *why)
{
	problem_set(p, kind, "%s: %s", option, text_get(why));
	text_free(why);
	return false;
}

bool trials_begin(struct trials *x, const struct program *program,
                  struct problem *p)
{
	struct text why = { 0 };
	assert(!x->confirmer && !x->started);
	x->confirmer = confirmer_new(program, &x->stock, &why);
	return x->confirmer || fail(p, PROBLEM_INPUT, "--confirm", &why);
}

static bool start(struct trials *x, struct problem *p)
{
	struct text why = { 0 };
	if (!x->started && !stock_start(&x->stock, x->interrupt, &why))
		return fail(p, PROBLEM_INPUT, "--confirm", &why);
	x->started = true;
	text_free(&why);
	return true;
}

static bool print(const struct trials *x, const struct confirmation *of,
                  const char *title, struct problem *p)
{
	struct text why = { 0 };
	bool fine = (x->as == REPRODUCE_SPEC ? confirm_print_spec
	                                     : confirm_print_script)(
		x->reproduced, x->confirmer, of, title, &why);
	if (!fine) return fail(p, PROBLEM_REQUEST, "--reproduce", &why);
	text_free(&why);
	return true;
}

bool trials_try(struct trials *x, const struct history *h, enum level level,
                const struct schedule *schedule, const char *title,
                struct region *to, struct confirmation *out, struct problem *p)
{
	assert(x->confirmer && h);
	if (!start(x, p)) return false;
	confirm_history(x->confirmer, h, level, schedule, to, out);
	return out->answer != CONFIRM_YES || !x->as || x->reproduced->length ||
	       print(x, out, title, p);
}

void trials_end(struct trials *x)
{
	confirmer_free(x->confirmer);
	stock_stop(&x->stock);
}

/* ---- Counterexamples ---- */

static bool has_example(const struct result *r)
{
	for (uint32_t i = 0; i < r->assertion_count; i++)
		if (r->assertions[i].example.history) return true;
	return false;
}

/* What fails is the title. Without a confirmer it is told `why` nothing is
 * tried. */
static bool try_history(struct trials *x, struct result *r,
                        const struct result_assertion *a,
                        struct result_example *e, const struct history *h,
                        const struct schedule *schedule, const char *why,
                        struct problem *p)
{
	struct confirmation found = { .answer = CONFIRM_NOT_TRIED, .why = why };
	struct text title = { 0 };
	text_string(&title, a->text);
	if (a->message) text_format(&title, "\n%s", a->message);
	bool fine = !x->confirmer ||
	            trials_try(x, h, e->level, schedule, text_get(&title),
	                       &r->region, &found, p);
	if (fine)
		result_confirmed(r, &e->confirmation, &e->confirmation.members,
		                 &(struct tried_history){ x->confirmer, &found,
		                                          h, e->level });
	text_free(&title);
	return fine;
}

/* By the statements of each session, where these are programs. */
static bool try_retold(struct trials *x, struct result *r,
                       const struct result_assertion *a,
                       struct result_example *e, struct problem *p)
{
	struct retold own;
	struct text why = { 0 };
	if (retold_make(&own, r->program, e->history, e->level, x->interrupt,
	                &why))
		x->confirmer = confirmer_new(own.program, &x->stock, &why);
	bool fine = x->confirmer ? try_history(x, r, a, e, own.history,
	                                       &own.schedule, NULL, p)
	                         : try_history(x, r, a, e, e->history, NULL,
	                                       text_get(&why), p);
	confirmer_free(x->confirmer);
	x->confirmer = NULL;
	retold_free(&own);
	text_free(&why);
	return fine;
}

static bool try_example(struct trials *x, struct result *r,
                        const struct result_assertion *a,
                        struct result_example *e, const char *why,
                        struct problem *p)
{
	if (retold_is_needed(r->program)) return try_retold(x, r, a, e, p);
	return try_history(x, r, a, e, e->history, &e->schedule, why, p);
}

bool confirm_result(struct result *r, const atomic_bool *interrupt,
                    enum reproduction as, struct text *out, struct problem *p)
{
	struct trials x = { .interrupt = interrupt,
		            .as = as,
		            .reproduced = out };
	struct text why = { 0 };
	bool fine = true;
	assert(r->program && !out->length);
	if (has_example(r) && !retold_is_needed(r->program))
		x.confirmer = confirmer_new(r->program, &x.stock, &why);
	/* What was found is told, whether it can be tried or not. */
	if (why.length && !program_is_sql(r->program))
		fine = fail(p, PROBLEM_INPUT, "--confirm", &why);
	for (uint32_t i = 0; fine && i < r->assertion_count; i++) {
		struct result_assertion *a = &r->assertions[i];
		if (a->example.history && a->shown_by == i)
			fine = try_example(&x, r, a, &a->example,
			                   text_get(&why), p);
	}
	text_free(&why);
	trials_end(&x);
	if (fine) result_confirmed_in_all(r);
	return fine;
}
