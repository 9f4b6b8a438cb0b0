#include "sql/parser.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pg_query.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/utf8.h"

enum { ANSWER_MOST = 1 << 30 }; /* bytes */

struct sql_parser {
	pid_t child; /* 0: none runs */
	int to;      /* a socket */
};

/* Before every text, both ways. */
struct message_head {
	uint64_t length;
	uint32_t refused; /* of answers: it is PostgreSQL's message, */
	uint32_t at;      /* about this character, from 1 */
};

static bool send_all(int to, const void *bytes, size_t length)
{
	const char *from = bytes;
	while (length) {
		ssize_t n = send(to, from, length, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return false;
		from += n;
		length -= (size_t)n;
	}
	return true;
}

static bool receive_all(int from, void *bytes, size_t length)
{
	char *to = bytes;
	while (length) {
		ssize_t n = recv(from, to, length, 0);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return false;
		to += n;
		length -= (size_t)n;
	}
	return true;
}

/* ---- The child ---- */

static bool answer(int to, const char *text)
{
	PgQueryParseResult r = pg_query_parse(text);
	const char *said = r.error ? r.error->message : r.parse_tree;
	struct message_head head = { .length = strlen(said) };
	if (r.error) {
		head.refused = 1;
		head.at = (uint32_t)r.error->cursorpos;
	}
	bool sent = send_all(to, &head, sizeof head) &&
	            send_all(to, said, head.length);
	pg_query_free_parse_result(r);
	return sent;
}

/* Only what the parser's library does, and nothing of ours. */
_Noreturn static void serve(int to)
{
	struct message_head head;
	int nowhere = open("/dev/null", O_WRONLY);
	if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
	while (receive_all(to, &head, sizeof head)) {
		char *text = mem_take(head.length + 1);
		text[head.length] = 0;
		bool fine =
			receive_all(to, text, head.length) && answer(to, text);
		free(text);
		if (!fine) break;
	}
	_exit(0);
}

/* ---- Ours ---- */

static bool start(struct sql_parser *p)
{
	int ends[2];
	assert(!p->child);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	pid_t child = fork();
	if (!child) {
		mem_forget_work();
		close(ends[0]);
		serve(ends[1]);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return false;
	}
	p->child = child;
	p->to = ends[0];
	return true;
}

/* How it ended, as waitpid() says it. */
static int stop(struct sql_parser *p)
{
	int status = 0;
	close(p->to);
	assert(p->child > 0);
	while (waitpid(p->child, &status, 0) < 0 && errno == EINTR) continue;
	p->child = 0;
	return status;
}

struct sql_parser *sql_parser_new(void)
{
	return mem_take0(1, sizeof(struct sql_parser));
}

void sql_parser_free(struct sql_parser *p)
{
	if (p && p->child) stop(p);
	free(p);
}

/* The byte at which the character stands. */
static uint32_t byte_of(const char *text, size_t length, uint32_t character)
{
	size_t at = 0;
	while (character > 1 && at < length) {
		size_t n = utf8_length(text + at, length - at);
		at += n ? n : 1;
		assert(at <= length);
		character--;
	}
	return (uint32_t)at;
}

static json_t *refused(struct sql_refusal *why, const char *message)
{
	text_string(&why->message, message);
	return NULL;
}

/* The answer, as text; NULL if it is a refusal. */
static char *ask(struct sql_parser *p, const char *text, size_t length,
                 struct sql_refusal *why)
{
	struct message_head head = { .length = length };
	if (!p->child && !start(p)) {
		refused(why, "PostgreSQL's parser cannot be started: ");
		text_string(&why->message, strerror(errno));
		return NULL;
	}
	if (!send_all(p->to, &head, sizeof head) ||
	    !send_all(p->to, text, length) ||
	    !receive_all(p->to, &head, sizeof head) ||
	    head.length > ANSWER_MOST) {
		int status = stop(p);
		if (WIFSIGNALED(status))
			text_format(&why->message,
			            "PostgreSQL's parser crashed on this text "
			            "(%s)",
			            strsignal(WTERMSIG(status)));
		else
			refused(why, "PostgreSQL's parser gave up on this "
			             "text");
		return NULL;
	}
	char *said = mem_take(head.length + 1);
	said[head.length] = 0;
	if (!receive_all(p->to, said, head.length)) {
		stop(p);
		refused(why, "PostgreSQL's parser gave up on this text");
		free(said);
		return NULL;
	}
	if (!head.refused) return said;
	why->at = byte_of(text, length, head.at);
	refused(why, said);
	free(said);
	return NULL;
}

json_t *sql_parse(struct sql_parser *p, const char *text, size_t length,
                  struct sql_refusal *why)
{
	json_error_t error;
	assert(!why->message.length);
	char *said = ask(p, text, length, why);
	if (!said) return NULL;
	json_t *all = json_loads(said, JSON_ALLOW_NUL, &error);
	free(said);
	if (!all) return refused(why, "this is nested too deeply");
	json_t *statements = json_incref(json_object_get(all, "stmts"));
	json_decref(all);
	if (!statements) statements = json_array();
	return statements;
}
