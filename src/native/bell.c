#include "native/bell.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

enum {
	SPINS = 400,     /* looks before sleeping: some 10 microseconds */
	MISSES = 2,      /* in a row, after which spinning is given up, */
	TRIED_AGAIN = 64 /* but for one wait in so many */
};

void bell_ear_init(struct bell_ear *e)
{
	cpu_set_t set;
	memset(e, 0, sizeof *e);
	CPU_ZERO(&set);
	e->alone =
		!sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) == 1;
}

void bell_ring(struct bell *b, int socket)
{
	static const char byte = 1;
	atomic_fetch_add(&b->rings, 1);
	if (!atomic_load(&b->sleeps)) return;
	atomic_store(&b->sleeps, 0);
	(void)!send(socket, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool is_rung(struct bell *b, struct bell_ear *e)
{
	uint32_t rings = atomic_load(&b->rings);
	if (rings == e->heard) return false;
	e->heard = rings;
	return true;
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Spinning is of use when the other runs at the same time and soon answers;
 * else it only takes the processor from who could. */
static bool spin(struct bell *b, struct bell_ear *e)
{
	if (e->alone) return false;
	if (e->misses >= MISSES && e->misses % TRIED_AGAIN) return false;
	for (int i = 0; i < SPINS; i++) {
		if (is_rung(b, e)) return true;
		pause_briefly();
	}
	return false;
}

static enum bell_result sleep_for(struct bell *b, struct bell_ear *e,
                                  int socket, int milliseconds)
{
	struct pollfd at = { .fd = socket, .events = POLLIN };
	char bytes[16];
	atomic_store(&b->sleeps, 1);
	if (is_rung(b, e)) {
		atomic_store(&b->sleeps, 0);
		return BELL_RUNG;
	}
	if (poll(&at, 1, milliseconds) <= 0)
		return is_rung(b, e) ? BELL_RUNG : BELL_SILENT;
	ssize_t got = recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
	if (is_rung(b, e)) return BELL_RUNG;
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return BELL_SILENT;
	return BELL_GONE;
}

enum bell_result bell_wait(struct bell *b, struct bell_ear *e, int socket,
                           int milliseconds)
{
	if (is_rung(b, e)) return BELL_RUNG;
	if (spin(b, e)) {
		e->misses = 0;
		return BELL_RUNG;
	}
	e->misses++;
	return sleep_for(b, e, socket, milliseconds);
}
