#include "native/wakeup.h"

#include <assert.h>
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

void wakeup_waiter_init(struct wakeup_waiter *w)
{
	cpu_set_t set;
	memset(w, 0, sizeof *w);
	CPU_ZERO(&set);
	w->alone =
		!sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) == 1;
}

void wakeup_send(struct wakeup *u, int socket)
{
	static const char byte = 1;
	assert(socket >= 0);
	atomic_fetch_add(&u->sent, 1);
	if (!atomic_load(&u->sleeps)) return;
	atomic_store(&u->sleeps, 0);
	(void)!send(socket, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool has_come(struct wakeup *u, struct wakeup_waiter *w)
{
	uint32_t sent = atomic_load(&u->sent);
	if (sent == w->received) return false;
	w->received = sent;
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
static bool spin(struct wakeup *u, struct wakeup_waiter *w)
{
	if (w->alone) return false;
	if (w->misses >= MISSES && w->misses % TRIED_AGAIN) return false;
	for (int i = 0; i < SPINS; i++) {
		if (has_come(u, w)) return true;
		pause_briefly();
	}
	return false;
}

static enum wakeup_result sleep_for(struct wakeup *u, struct wakeup_waiter *w,
                                    int socket, int milliseconds)
{
	struct pollfd at = { .fd = socket, .events = POLLIN };
	char bytes[16];
	atomic_store(&u->sleeps, 1);
	if (has_come(u, w)) {
		atomic_store(&u->sleeps, 0);
		return WAKEUP_CAME;
	}
	if (poll(&at, 1, milliseconds) <= 0)
		return has_come(u, w) ? WAKEUP_CAME : WAKEUP_NONE;
	ssize_t got = recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
	if (has_come(u, w)) return WAKEUP_CAME;
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return WAKEUP_NONE;
	return WAKEUP_GONE;
}

enum wakeup_result wakeup_wait(struct wakeup *u, struct wakeup_waiter *w,
                               int socket, int milliseconds)
{
	assert(socket >= 0 && milliseconds >= -1);
	if (has_come(u, w)) return WAKEUP_CAME;
	if (spin(u, w)) {
		w->misses = 0;
		return WAKEUP_CAME;
	}
	w->misses++;
	return sleep_for(u, w, socket, milliseconds);
}
