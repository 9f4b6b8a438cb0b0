/* Checking all the recorded histories of some files. */
#ifndef ISO_API_CHECK_INPUTS_H
#define ISO_API_CHECK_INPUTS_H

#include "api/inputs.h"
#include "result/checked.h"

enum explain_wanted {
	EXPLAIN_NONE,
	EXPLAIN_OPEN,  /* histories with a level that is open: a witness may
	                * decide it */
	EXPLAIN_SHOWN, /* those, and those that are shown in full */
	EXPLAIN_ALL
};

struct check_request {
	struct inputs_options in;
	unsigned levels; /* bit l: level l */
	const char *as;  /* of a single one: what the database calls it */
	enum explain_wanted explain;
	bool witness; /* explain until some history has a witness, too */
	bool orders;  /* find commit orders */
	bool single;  /* a second history is a problem */
	void *data;
	/* A history was checked. `shown`: it is the first one, or the first
	 * that is violating, which stand for all in a summary. False to
	 * stop. */
	bool (*checked)(void *data, const struct check_case *c, bool shown);
};

/* The summary is of what was checked, also if there was a problem: then
 * false. */
bool check_inputs(const struct check_request *r, struct check_summary *m,
                  struct problem *p);

#endif
