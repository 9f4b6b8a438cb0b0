/* One prediction with all that was found out about it. */
#ifndef ISO_REPORT_PREDICT_CASE_H
#define ISO_REPORT_PREDICT_CASE_H

#include "check/core.h"
#include "formats/formats.h"
#include "predict/predict.h"
#include "run/replay.h"

/* Everything is borrowed. */
struct predict_case {
	const struct trace *observed;
	const struct predict_options *options;
	const struct predict_stats *stats;
	enum predict_answer answer;
	const char *reason;            /* UNKNOWN: why */
	const char *stated_level;      /* nothing: the level came from -i */
	uint64_t number;               /* of the prediction, from 1 */
	const struct prediction *prediction; /* FOUND; else NULL */
	const struct check_witness *witness; /* why the predicted history is not
	                                * serializable; NULL: not made */
	const struct replay_result *replay;  /* NULL: not validated */
	const char *program;           /* that it was validated with */
};

#endif
