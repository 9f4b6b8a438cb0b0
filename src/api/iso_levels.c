/* isoscope.h: what tells levels apart. */
#include "api/results.h"
#include "result/separated.h"

static bool read_request(struct separate_options *o, const char *const *sides,
                         const iso_separate_options *given,
                         struct problem *problem)
{
	*o = (struct separate_options){
		.max_transactions = given->max_transactions
		                            ? given->max_transactions
		                            : SEPARATE_TRANSACTIONS,
		.max_events =
			given->max_events ? given->max_events : SEPARATE_EVENTS,
		.locks = given->locks,
		.statements = given->statements,
		.timeout = given->timeout,
	};
	for (int i = 0; i < 2; i++) {
		struct text why = { 0 };
		if (!levels_read(sides[i], &o->sides[i], &why))
			problem_set(problem, PROBLEM_REQUEST, "%s: %s",
			            sides[i], text_get(&why));
		text_free(&why);
	}
	struct text why = { 0 };
	if (!problem->kind && !separate_possible(o, &why))
		problem_set(problem, PROBLEM_REQUEST, "%s", text_get(&why));
	text_free(&why);
	return !problem->kind;
}

static int try_separate(iso_result **out, const char *const *sides,
                        const iso_separate_options *options, iso_diags **diags)
{
	iso_separate_options given;
	struct problem problem = { 0 };
	struct separate_options o;
	struct separated found;
	if (diags) *diags = NULL;
	if (!out || !sides[0] || !sides[1] ||
	    !options_read(&given, sizeof given, options) ||
	    !(given.timeout >= 0))
		return ISO_E_ARGUMENT;
	*out = NULL;
	if (read_request(&o, sides, &given, &problem)) {
		separate(&found, &o);
		*out = iso_result_of(result_of_separation(&found));
		separated_free(&found);
	}
	return problem_give(&problem, diags);
}

int iso_levels_separate(iso_result **out, const char *one, const char *other,
                        const iso_separate_options *options, iso_diags **diags)
{
	const char *const sides[] = { one, other };
	int status;
	CALL_IN(NULL, status, try_separate(out, sides, options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}
