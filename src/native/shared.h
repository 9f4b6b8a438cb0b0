/* The memory that the explorer shares with its worker process. */
#ifndef ISO_NATIVE_SHARED_H
#define ISO_NATIVE_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

#include "native/wakeup.h"
#include "native/wire.h"

enum {
	SHARED_FRAMES = 24,  /* return addresses kept of a crash */
	SHARED_OBJECTS = 64, /* loaded libraries whose code can be named */
	SHARED_PATH = 512    /* bytes of a library's path, zero included */
};
#define WIRE_BYTES                                                 \
	((uint64_t)64 << 20) /* of each direction; reserved, taken \
	                      * when used */

/* A library in the worker's memory. */
struct shared_object {
	uint64_t start, end; /* addresses */
	uint64_t bias;       /* address - bias = address in the file */
	char path[SHARED_PATH];
};

enum crash_kind {
	CRASH_NONE,
	CRASH_SIGNAL,   /* SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, ... */
	CRASH_OVERFLOW, /* the stack of the session is full */
	CRASH_TIMEOUT,  /* no step for too long */
	CRASH_EXIT,     /* exit(), _exit(), or killed by another signal */
	CRASH_THREAD,   /* the API was used by a thread that is no session's,
	                 * or the session left its coroutine in another way
	                 * than by returning */
	CRASH_FILES,    /* the socket was closed by user code */
	CRASH_MEMORY,   /* it took too much of it */
	CRASH_SPOILT    /* what is shared was written over */
};

/* What the worker's signal handler writes before the process ends. */
struct crash_record {
	_Atomic uint32_t kind;
	int32_t signal, code;           /* si_signo, si_code */
	uint64_t address;               /* si_addr */
	uint64_t frames[SHARED_FRAMES]; /* program counter, return addresses */
	uint32_t frame_count;
};

struct shared {
	uint64_t first_seal; /* of the explorer's, to find out damage */
	struct wakeup asked, answered; /* commands and replies are complete */
	_Atomic uint64_t progress;     /* grows with every step of user code */
	_Atomic uint64_t called;       /* from where the session that runs last
	                                * called the API, or 0 */
	struct crash_record crash;
	_Atomic uint32_t object_count;
	struct shared_object objects[SHARED_OBJECTS];
	struct wire *command, *reply; /* the same addresses in both processes */
	uint64_t last_seal;
};

#endif
