/* The result of serving clients. */
#ifndef ISO_RESULT_SERVED_H
#define ISO_RESULT_SERVED_H

#include "result/result.h"
#include "serve/attempts.h"

struct served_case {
	const struct attempts_options *options;
	const struct attempts *attempts;
	const char
		*as; /* the deployment as which the level was said, or NULL */
};

struct result *result_of_service(const struct served_case *c);

#endif
