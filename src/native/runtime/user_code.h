/* User code while it runs in the worker: each piece of it that can be asked for
 * on its own is a coroutine. What it does is written to the reply.
 */
#ifndef ISO_NATIVE_RUNTIME_USER_CODE_H
#define ISO_NATIVE_RUNTIME_USER_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "isoscope/client.h"
#include "native/wire.h"

struct fibre;
struct shared;

enum task_kind {
	TASK_LOADING,   /* the client is loaded, its constructors run */
	TASK_DECLARING, /* iso_client() runs */
	TASK_PLAIN,     /* a session, or the final one */
	TASK_EXPECT,
	TASK_FOREIGN /* a function that a program calls */
};

struct task {
	enum task_kind kind;
	const char *name; /* for messages */
	/* Does all of it; what it returns is the end of the reply. */
	struct iso_value (*body)(struct task *s);
	union {
		void (*run)(void *data);
		bool (*holds)(void *data);
		uint32_t function;
	};
	void *data;

	struct fibre *fibre;     /* NULL when it does not run */
	struct region memory;    /* what lives as long as the fibre */
	const char *transaction; /* the open one, or NULL */
	uint64_t begun;          /* where: program counter */
	bool grouped;            /* iso_statement() was called in it */
	bool locked;             /* and something was locked or written since */
	uint64_t entry;          /* the address of its function, or 0 */
	uint64_t called;         /* from where it last called the API */
	bool over;               /* abandoned by itself */
};

/* Before all else. The process is asked and answers through the socket. */
void tasks_begin(struct shared *shared, int socket);
/* Runs it until it needs an answer that is not there, or ends. `fresh`: from
 * its beginning. The `count` values behind the reader answer what it asks. */
void task_run(struct task *s, bool fresh, struct wire_reader answers,
              uint64_t count);
/* Forgets where it was. */
void task_abandon(struct task *s);
/* The one that runs, or NULL. */
struct task *task_current(void);

/* For code that runs in a session: */

/* A step is begun, its operands are written, and it is complete. If there are
 * too many at once, the session waits until it is asked for more. */
struct wire_writer step_begin(enum wire_step kind, uint64_t pc);
void step_end(struct wire_writer *w);
/* The same for a step that waits for an answer: the answer. Its bytes live as
 * long as the fibre. */
struct iso_value step_ask(struct wire_writer *w);
/* The next answer, without a question: what a function is called with. */
struct iso_value task_argument(void);
/* The same as step_end() for the last step: the session has ended. */
_Noreturn void step_last(struct wire_writer *w);
/* The same, the last step being STEP_ERROR. */
_Noreturn void task_fail(uint64_t pc, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The session calls the API from there: for who waits that something is done,
 * and who wants to know where. */
void task_called(struct task *s, uint64_t pc);

/* An error that is not met by running code. */
void reply_error(const char *message);

#endif
