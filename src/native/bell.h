/* A bell between two processes: one rings it, the other waits for it.
 *
 * A ring is a counter in shared memory; only a waiter that sleeps is woken by a
 * byte through the socket. So a short question costs no system call while both
 * run. Bytes are no more than hints, and a wrong one does no harm: user code
 * can write over the memory.
 */
#ifndef ISO_NATIVE_BELL_H
#define ISO_NATIVE_BELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In the shared memory; zeroed before the processes part. */
struct bell {
	_Atomic uint32_t rings;
	_Atomic uint32_t sleeps; /* does the waiter want a byte? */
};

/* The waiter's own; zeroed. */
struct bell_ear {
	uint32_t heard;  /* rings */
	uint32_t misses; /* waits in a row for which it slept */
	bool alone;      /* there is one processor: never spin */
};

enum bell_result {
	BELL_RUNG,
	BELL_SILENT, /* nothing yet: time is over, or a signal came */
	BELL_GONE    /* the other process has closed its end of the socket */
};

void bell_ear_init(struct bell_ear *e);
/* What was written before is seen by who hears it. */
void bell_ring(struct bell *b, int socket);
/* Waits for a ring that was not heard yet. -1 milliseconds: without end. */
enum bell_result bell_wait(struct bell *b, struct bell_ear *e, int socket,
                           int milliseconds);

#endif
