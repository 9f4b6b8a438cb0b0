/* The worker: the process in which user code runs. It is a fork of the
 * explorer, loads the shared objects, and carries out commands until its socket
 * is closed. All of user code's crashes, loops and exits are the worker's.
 */
#ifndef ISO_NATIVE_RUNTIME_WORKER_H
#define ISO_NATIVE_RUNTIME_WORKER_H

#include "native/job.h"

struct shared;

/* The life of the worker, after fork(). Waits for `shared->asked` (wakeup_wait)
 * before each command, rings `shared->answered` when the reply is complete; the
 * first reply comes without command. Ends when the socket is closed.
 * Never returns. */
_Noreturn void worker_run(const struct worker_job *job, struct shared *shared,
                          int socket);

#endif
