/* What a worker is asked to be. */
#ifndef ISO_NATIVE_JOB_H
#define ISO_NATIVE_JOB_H

#include <stdint.h>

#include "vm/guest.h"

/* What a worker is to load. */
struct worker_job {
	const char *client; /* shared object with iso_client(), or NULL */
	const struct foreign_function *functions;
	uint32_t function_count;
};

#endif
