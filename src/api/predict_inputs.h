/* Predicting from the recorded histories of some files, or from serial runs of
 * a program, and running the program along what is predicted.
 */
#ifndef ISO_API_PREDICT_INPUTS_H
#define ISO_API_PREDICT_INPUTS_H

#include <stdatomic.h>

#include "api/check_inputs.h"
#include "api/confirm_result.h"
#include "result/predicted.h"

struct program;

struct predict_request {
	/* Its limits count for runs, too. No paths with `runs`. */
	struct inputs_options in;
	struct predict_options options;
	bool level_given; /* else it is the one that the history states, or the
	                   * program, or cc */
	uint64_t wanted;  /* predictions of each history; 0: one */
	/* NULL: predictions are not validated. */
	const struct program *program;
	const char *program_path;
	bool confirm;            /* try what is validated on PostgreSQL; the
	                          * program is in SQL */
	enum reproduction as;    /* print what happens there first .. */
	struct text *reproduced; /* .. to this; NULL: not asked for */
	uint64_t runs, seed; /* predict from so many serial runs of the program;
	                      * run number i has the seed `seed + i - 1` */
	const atomic_bool *interrupt; /* of runs; may be NULL */
	enum explain_wanted explain;  /* say why predictions are not
	                               * serializable; SHOWN: as long as no
	                               * history shows a violation */
	bool explain_first;           /* explain the very first one anyway */
	void *data;
	/* Each may be NULL, and returns false to stop. */
	bool (*predicted)(void *data, const struct predict_case *c,
	                  const struct predicted *p, bool shown);
	/* Takes over what was predicted, after `predicted`; NULL: it is
	 * freed. */
	void (*keep)(void *data, struct prediction *p);
	/* After the last prediction of a history. `shown`: it shows more than
	 * all before it. */
	bool (*searched)(void *data, const struct predict_case *c, bool shown);
	/* The run of this seed met a false assumption: it is no history. */
	bool (*left_out)(void *data, uint64_t seed);
};

/* Any level but ser, under which nothing is unserializable. */
bool predict_level_possible(enum level l, bool mixed, struct problem *p);
/* The summary is of what was looked at, also if there was a problem: then
 * false. */
bool predict_inputs(const struct predict_request *r, struct predict_summary *m,
                    struct problem *p);

#endif
