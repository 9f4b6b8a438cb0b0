/* A worker for tests of processes: it does what commands say, also what a
 * worker should not.
 */
#ifndef TESTS_FAKE_WORKER_H
#define TESTS_FAKE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "native/host/process.h"

/* A command is a u8, a u64, and a string. */
enum fake_command {
	FAKE_COUNT,     /* reply: so many u64, counting up */
	FAKE_RAISE,     /* a signal, with its default action */
	FAKE_EXIT,      /* with a status */
	FAKE_EXIT_HALF, /* the same when the reply has three bytes */
	FAKE_LOOP,
	FAKE_LOOP_DEAF,  /* all signals blocked */
	FAKE_STEPS,      /* so many steps, 50 ms each, then a reply */
	FAKE_STEPS_LOOP, /* the same, then a loop */
	FAKE_PAUSE,      /* sleeps so many ms, without a step, then a reply */
	FAKE_PRINT,      /* the string, so many times, then a reply */
	FAKE_PRINT_DIE,  /* the string to stdout, then abort() */
	FAKE_PRINT_LOOP, /* for ever */
	FAKE_RECORD,     /* a record of this kind, frames in the client, dies */
	FAKE_RECORD_WRONG,  /* one that makes no sense */
	FAKE_CLOSE,         /* all files, then lives on */
	FAKE_EXEC,          /* of the program, with the argument 1000 */
	FAKE_FORK_EXIT,     /* leaves a child that keeps the socket */
	FAKE_SPOIL,         /* fills the shared memory with the byte */
	FAKE_STORM,         /* a thread does so from now on, here and there */
	FAKE_ALLOCATE,      /* so many bytes, for ever */
	FAKE_ALLOCATE_LOOP, /* more and more */
	FAKE_CPU_LOOP,      /* has so many seconds of processor time at most */
	FAKE_LOOK,          /* reply: u64s about the process, enum fake_look */
	FAKE_STUBBORN,      /* from now on it does not end by itself */
	FAKE_ADDRESS        /* reply: where the client's function (string) is */
};
enum fake_look {
	LOOK_FILES,   /* how many are open */
	LOOK_INPUT,   /* bytes that reading standard input gives */
	LOOK_GROUP,   /* is it the leader of its process group? */
	LOOK_HANDLED, /* signals that are not handled as usual */
	LOOK_BLOCKED, /* signals that are blocked */
	LOOK_PID,
	LOOKS
};

/* With job->client, loads it first. FAKE_RECORD takes the functions inner() and
 * outer() in it. */
void fake_worker(const struct worker_job *job, struct shared *shared,
                 int socket);
struct process *fake_process(const struct worker_job *job, double timeout);
enum process_answer fake_ask(struct process *p, enum fake_command c,
                             uint64_t number, const char *string);
uint64_t fake_reply(const struct process *p, uint32_t i);
/* process_why(), in a buffer that the next call overwrites. */
const char *fake_why(struct process *p);

#endif
