/* The explorer's side of a worker process: starting it, asking it, and finding
 * out what became of it.
 */
#ifndef ISO_NATIVE_HOST_PROCESS_H
#define ISO_NATIVE_HOST_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "native/job.h"
#include "native/shared.h"

struct process;

enum process_answer {
	PROCESS_REPLIED,     /* the reply is complete */
	PROCESS_DIED,        /* the reply is what was done until then */
	PROCESS_INTERRUPTED, /* somebody wanted it to stop; it was ended */
	PROCESS_NOT_STARTED  /* fork() or memory failed: see process_why() */
};

/* What the child runs; worker_run but in tests. */
typedef void process_body(const struct worker_job *job, struct shared *shared,
                          int socket);

/* Nothing is started yet; the first process_ask() or process_start() does. The
 * job is borrowed. Seconds of work without a step of user code after which it
 * is killed, or ten times as many in which it waits; 0: never. Unless
 * `show_output`, what user code prints is only kept for process_why(). */
struct process *process_new(const struct worker_job *job, double step_timeout,
                            bool show_output);
struct process *process_new_with(const struct worker_job *job,
                                 double step_timeout, bool show_output,
                                 process_body *body);
void process_free(struct process *p); /* ends the worker; NULL is fine */
void process_set_timeout(struct process *p, double seconds);
/* Bytes that it may take before it is killed: half of the machine's memory, and
 * 4 GiB at most, unless this says otherwise. */
void process_set_memory(struct process *p, uint64_t bytes);
/* A worker whose output goes elsewhere is ended. */
void process_set_output(struct process *p, bool show_output);
/* Answers are waited for until the flag is true; may be NULL. And until this
 * time, as seconds_now() counts, if it is not 0. */
void process_set_limits(struct process *p, const atomic_bool *flag,
                        double deadline);

/* Starts a worker if none runs, and waits for its first reply (what it
 * declares), which is then in process_reply(). One whose memory has grown much
 * is replaced. */
enum process_answer process_start(struct process *p);
/* Has a worker been started since the last call? Its sessions begin anew. */
bool process_is_new(struct process *p);

/* The command to be written, for process_ask(); empty. */
struct wire *process_command(struct process *p);
enum process_answer process_ask(struct process *p);
/* A copy, which nobody changes until the next answer. */
const struct wire *process_reply(const struct process *p);
/* Ends the worker; the next one begins anew (its memory has grown). */
void process_end(struct process *p);
/* Ends a worker that sent what no worker sends: user code wrote over it. */
void process_condemn(struct process *p);
/* Seconds of the processor that all its workers took. */
double process_cpu(const struct process *p);
/* Resident bytes of the worker but for what it shares and what it inherited
 * from the explorer; 0 if unknown. */
uint64_t process_memory(const struct process *p);

/* After PROCESS_DIED: in words, such as "crashed: SIGSEGV at address 0x0 in
 * buy() at client.c:12", followed by what it last printed, if anything; one
 * line. After PROCESS_NOT_STARTED: why. */
void process_why(struct process *p, struct text *out);
enum crash_kind process_crash(const struct process *p);
/* Was it ended for what it did, so that it need not be tried again? */
bool process_gave_up(const struct process *p);
/* The program counter of the crash in a library of the user's, or of the call
 * there that led to it, or else of the last call of the API before it; 0 if
 * none. */
uint64_t process_crash_place(const struct process *p);

/* Which library an address of the worker lies in, and where in its file; NULL
 * if in none. Valid until the next worker is started. */
const char *process_object(struct process *p, uint64_t address,
                           uint64_t *in_file);

#endif
