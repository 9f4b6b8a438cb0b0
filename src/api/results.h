/* What stands behind iso_result: what was found, with its two printed forms.
 */
#ifndef ISO_API_RESULTS_H
#define ISO_API_RESULTS_H

#include <jansson.h>

#include "api/objects.h"
#include "api/random_runs.h"
#include "base/verdict.h"

struct checked;
struct comparison;
struct explored_beside;
struct explorer;
struct result;

struct iso_result {
	enum verdict verdict;
	struct text text, json;
	json_t *members; /* of `json`; NULL: nobody has asked for any */
	/* Of the commands that have them; else NULL, or none. */
	struct check_clock *clock;
	struct checked *checked;
	iso_history *witnesses[LEVEL_COUNT];
	struct predicted_history *predictions;
	size_t prediction_count, prediction_capacity;
};

/* Prints the result, which it takes over. */
iso_result *iso_result_of(struct result *found);
iso_result *iso_result_of_exploration(const struct explorer *e,
                                      const struct explored_beside *beside);
void result_members_free(iso_result *r);

#endif
