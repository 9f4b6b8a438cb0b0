/* How two processes wake each other: one sends, the other waits.
 *
 * What is sent is counted in shared memory; only a waiter that sleeps is woken
 * by a byte through the socket. So a short question costs no system call while
 * both run. Bytes are no more than hints, and a wrong one does no harm: user
 * code can write over the memory.
 */
#ifndef ISO_NATIVE_WAKEUP_H
#define ISO_NATIVE_WAKEUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In the shared memory; zeroed before the processes part. */
struct wakeup {
	_Atomic uint32_t sent;
	_Atomic uint32_t sleeps; /* does the waiter want a byte? */
};

/* The waiter's own; zeroed. */
struct wakeup_waiter {
	uint32_t received; /* of those that were sent */
	uint32_t misses;   /* waits in a row for which it slept */
	bool alone;        /* there is one processor: never spin */
};

enum wakeup_result {
	WAKEUP_CAME,
	WAKEUP_NONE, /* nothing yet: time is over, or a signal came */
	WAKEUP_GONE  /* the other process has closed its end of the socket */
};

void wakeup_waiter_init(struct wakeup_waiter *w);
/* What was written before is seen by who receives it. */
void wakeup_send(struct wakeup *u, int socket);
/* Waits for one that was not received yet. -1 milliseconds: without end. */
enum wakeup_result wakeup_wait(struct wakeup *u, struct wakeup_waiter *w,
                               int socket, int milliseconds);

#endif
