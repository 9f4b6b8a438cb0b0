/* The socket to isoscope. */
#include "postgres/am/backend.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <miscadmin.h>
#include <storage/latch.h>
#include <utils/wait_event.h>

static int channel = -1;
static StringInfoData pending; /* to be sent */

void channel_open(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct wire_head hello = {
		.kind = WIRE_HELLO,
		.number = (uint32)(iso_serves ? MyProcPid : iso_session)
	};
	if (channel >= 0) return;
	strlcpy(to.sun_path, iso_socket, sizeof to.sun_path);
	channel = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (channel < 0 ||
	    connect(channel, (struct sockaddr *)&to, sizeof to) < 0)
		ereport(FATAL, (errmsg("isoscope does not answer at \"%s\": %m",
		                       iso_socket)));
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	initStringInfo(&pending);
	MemoryContextSwitchTo(old);
	channel_send(&hello, NULL, 0);
}

static void flush_pending(void)
{
	int sent = 0;
	while (sent < pending.len) {
		ssize_t n = send(channel, pending.data + sent,
		                 (size_t)(pending.len - sent), MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) ereport(FATAL, (errmsg("isoscope has gone: %m")));
		sent += (int)n;
	}
	resetStringInfo(&pending);
}

void channel_send(struct wire_head *head, const void *body, uint32 length)
{
	channel_open();
	head->length = length;
	appendBinaryStringInfo(&pending, (const char *)head, sizeof *head);
	if (length) appendBinaryStringInfo(&pending, body, (int)length);
	flush_pending();
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

static void receive(char *to, size_t length)
{
	while (length) {
		ssize_t n = recv(channel, to, length, MSG_DONTWAIT);
		if (n > 0) {
			to += n;
			length -= (size_t)n;
			continue;
		}
		if (n == 0) ereport(FATAL, (errmsg("isoscope has gone")));
		if (errno == EINTR) continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			ereport(FATAL, (errmsg("isoscope has gone: %m")));
		int what = WaitLatchOrSocket(MyLatch,
		                             WL_LATCH_SET | WL_SOCKET_READABLE |
		                                     WL_EXIT_ON_PM_DEATH,
		                             channel, 0, PG_WAIT_EXTENSION);
		if (what & WL_LATCH_SET) ResetLatch(MyLatch);
		if (ProcDiePending) CHECK_FOR_INTERRUPTS();
	}
}

void channel_receive(struct wire_head *head, char **body)
{
	channel_open();
	receive((char *)head, sizeof *head);
	*body = palloc(head->length + 1);
	receive(*body, head->length);
}
