/* The socket to isoscope. */
#include "postgres/am/backend.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <access/xact.h>
#include <miscadmin.h>
#include <storage/latch.h>
#include <utils/wait_event.h>

static int channel = -1;
static StringInfoData pending; /* to be sent */
static StringInfoData arrived; /* what has come, and was not taken */
static int taken;              /* of it */
static bool asked;             /* nothing has come since something was sent */
static WaitEventSet *waiting;

void channel_open(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	/* So long it waits for isoscope alone: a signal ends that, too. */
	const struct timeval alone = { .tv_usec = 200000 };
	struct wire_head hello = {
		.kind = WIRE_HELLO,
		.owner = WIRE_BUILD,
		.number = (uint32)(iso_serves ? MyProcPid : iso_session)
	};
	if (channel >= 0) return;
	strlcpy(to.sun_path, iso_socket, sizeof to.sun_path);
	channel = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (channel < 0 ||
	    setsockopt(channel, SOL_SOCKET, SO_RCVTIMEO, &alone, sizeof alone) <
	            0 ||
	    connect(channel, (struct sockaddr *)&to, sizeof to) < 0)
		ereport(FATAL, (errmsg("isoscope does not answer at \"%s\": %m",
		                       iso_socket)));
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	initStringInfo(&pending);
	initStringInfo(&arrived);
	MemoryContextSwitchTo(old);
	waiting = CreateWaitEventSet(TopMemoryContext, 3);
	AddWaitEventToSet(waiting, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch,
	                  NULL);
	AddWaitEventToSet(waiting, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL,
	                  NULL);
	AddWaitEventToSet(waiting, WL_SOCKET_READABLE, channel, NULL, NULL);
	channel_send(&hello, NULL, 0);
}

static void flush_pending(void)
{
	int sent = 0;
	asked |= pending.len > 0;
	while (sent < pending.len) {
		ssize_t n = send(channel, pending.data + sent,
		                 (size_t)(pending.len - sent), MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR) continue;
		/* A transaction that has ended cannot fail: who waits for an
		 * answer next is told. */
		if (n <= 0 && !IsTransactionState()) break;
		if (n <= 0) ereport(FATAL, (errmsg("isoscope has gone: %m")));
		sent += (int)n;
	}
	resetStringInfo(&pending);
}

/* Is something behind it before the client hears of anything? Then they are
 * sent at once: who is woken costs more than what is said. */
static bool can_wait(uint32 kind)
{
	return kind == WIRE_WRITE ||
	       (iso_serves && (kind == WIRE_BEGIN || kind == WIRE_STATEMENT));
}

void channel_send(struct wire_head *head, const void *body, uint32 length)
{
	channel_open();
	head->length = length;
	appendBinaryStringInfo(&pending, (const char *)head, sizeof *head);
	if (length) appendBinaryStringInfo(&pending, body, (int)length);
	if (!can_wait(head->kind)) flush_pending();
}

void refuse(const char *what)
{
	struct wire_head h = { .kind = WIRE_REFUSE };
	if (!iso_serves) channel_send(&h, what, (uint32)strlen(what));
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
	                errmsg("isoscope does not support %s", what)));
}

void tell_repeats(const char *why)
{
	struct wire_head h = { .kind = WIRE_REPEATS };
	channel_send(&h, NULL, 0);
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
	                errmsg_internal("%s", why)));
}

void fail_refused(const char *body, uint32 length)
{
	enum { STATE = 5 };
	if (length <= STATE) elog(FATAL, "isoscope refuses without a word");
	ereport(ERROR,
	        (errcode(MAKE_SQLSTATE(body[0], body[1], body[2], body[3],
	                               body[4])),
	         errmsg_internal("%.*s", (int)length - STATE, body + STATE)));
}

/* Takes what there is, or waits for it. */
static void receive_more(bool ends)
{
	enum { PIECE = 1 << 16 };
	WaitEvent event;
	/* What was asked is answered soon, so this waits for it, as far as it
	 * may: one call of the system instead of three. */
	int flags = asked ? 0 : MSG_DONTWAIT;
	asked = false;
	if (taken == arrived.len) {
		resetStringInfo(&arrived);
		taken = 0;
	}
	enlargeStringInfo(&arrived, PIECE);
	ssize_t n = recv(channel, arrived.data + arrived.len, PIECE, flags);
	if (n > 0) {
		arrived.len += (int)n;
		return;
	}
	if (n == 0) ereport(FATAL, (errmsg("isoscope has gone")));
	if (errno == EINTR) return;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		ereport(FATAL, (errmsg("isoscope has gone: %m")));
	if (WaitEventSetWait(waiting, -1, &event, 1, PG_WAIT_EXTENSION) &&
	    event.events & WL_LATCH_SET)
		ResetLatch(MyLatch);
	if (ends || ProcDiePending) CHECK_FOR_INTERRUPTS();
}

/* Nothing is taken of a record that has not come as a whole. */
static void wait_for_bytes(size_t length, bool ends)
{
	while ((size_t)(arrived.len - taken) < length) receive_more(ends);
}

void channel_receive(struct wire_head *head, char **body, bool ends)
{
	channel_open();
	flush_pending();
	wait_for_bytes(sizeof *head, ends);
	memcpy(head, arrived.data + taken, sizeof *head);
	wait_for_bytes(sizeof *head + head->length, ends);
	taken += (int)sizeof *head;
	*body = palloc(head->length + 1);
	memcpy(*body, arrived.data + taken, head->length);
	taken += (int)head->length;
}
