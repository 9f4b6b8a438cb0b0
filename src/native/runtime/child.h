/* The first steps of a worker, right after fork(). */
#ifndef ISO_NATIVE_RUNTIME_CHILD_H
#define ISO_NATIVE_RUNTIME_CHILD_H

#include "native/job.h"

struct child {
	int socket, lifeline;
	int output; /* of what user code prints; -1: our standard error */
};

/* Makes the process one that user code can live in: its own process group, no
 * files but those given, standard input empty, signals as in a new program. It
 * is killed when the other end of the lifeline is closed. The explorer may have
 * had threads: only what is safe after fork() is done here. */
void child_prepare(const struct child *c, const struct worker_job *job);
/* In a process that user code has forked from it: it, too, is killed with the
 * lifeline, whatever group it joins. */
void child_tie_copy(void);

#endif
