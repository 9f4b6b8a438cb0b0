/* The result of serving clients. */
#ifndef ISO_RESULT_SERVED_H
#define ISO_RESULT_SERVED_H

#include "result/result.h"
#include "serve/service.h"

struct served_case {
	const struct service_options *options;
	const struct service_run *run;
	const char
		*as; /* the deployment as which the level was said, or NULL */
};

struct result *result_of_service(const struct served_case *c);

#endif
