/* isoscope.h: proofs for any number of transactions. */
#include "api/programs.h"
#include "api/results.h"
#include "prove/invariant.h"
#include "result/invariance.h"
#include "result/proved.h"
#include "vm/program.h"

static bool asserts(const iso_prove_options *o)
{
	return o->assertions || o->invariant;
}

static bool options_fit(const iso_prove_options *o)
{
	bool others = o->table || o->explain || o->subsets || o->allocate;
	return (o->level == ISO_LEVEL_DEFAULT || is_level(o->level)) &&
	       o->timeout >= 0 && o->max_length != 1 &&
	       o->max_length <= INSTANCES_MAX && !(asserts(o) && others);
}

static iso_result *prove_either(struct application *app,
                                const struct prove_options *o, bool assertions)
{
	iso_result *r;
	if (assertions) {
		struct invariance found;
		prove_invariant(&found, app, o);
		r = iso_result_of(result_of_invariance(&found));
		invariance_free(&found);
		return r;
	}
	struct proof found;
	prove(&found, app, o);
	r = iso_result_of(result_of_proof(&found));
	prove_free(&found);
	return r;
}

static int try_prove(iso_result **out, const char *path,
                     const iso_prove_options *options, iso_diags **diags)
{
	iso_prove_options given;
	struct problem problem = { 0 };
	struct application app;
	struct prove_options o = { .max_length = PROVE_LENGTH };
	if (diags) *diags = NULL;
	if (!out || !path || !options_read(&given, sizeof given, options) ||
	    !options_fit(&given))
		return ISO_E_ARGUMENT;
	*out = NULL;
	o.terms.one_each = given.one_each;
	o.terms.no_errors = given.no_errors;
	o.table = given.table;
	o.explain = given.explain;
	o.subsets = given.subsets;
	if (given.max_length) o.max_length = given.max_length;
	o.timeout = given.timeout;
	o.memory = given.memory;
	struct program *p =
		asserts(&given)
			? invariant_load(&app, path, NULL, given.invariant,
	                                 NULL, &problem.diags)
			: prove_load(&app, path, NULL, &problem.diags);
	int status = p ? ISO_OK : ISO_E_PROGRAM;
	struct text why = { 0 };
	if (given.allocate) prove_levels(given.allocate, &o.allocate, &why);
	if (p && (why.length || !prove_mark_stale(&app, given.stale_ok, &why) ||
	          !prove_fits(p, &app, &o, &why))) {
		status = ISO_E_ARGUMENT;
		diags_add(&problem.diags, DIAG_ERROR, path, 0, 0, NULL, "%s",
		          text_get(&why));
	} else if (p && program_level(p,
	                              given.level == ISO_LEVEL_DEFAULT
	                                      ? LEVEL_COUNT
	                                      : internal_level(given.level),
	                              &o.terms.level, &problem)) {
		if (given.level == ISO_LEVEL_DEFAULT)
			o.as = program_deployment(p, NULL);
		*out = prove_either(&app, &o, asserts(&given));
	} else if (p) {
		status = ISO_E_ARGUMENT;
	}
	text_free(&why);
	program_free(p);
	application_free(&app);
	diags_give(diags, &problem.diags);
	problem_free(&problem);
	return status;
}

int iso_program_prove(iso_result **out, const char *path,
                      const iso_prove_options *options, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_prove(out, path, options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}
