#include "postgres/address.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static bool read_port(unsigned *out, const char *text)
{
	enum { PORTS = 65535, DIGITS = 5 };
	size_t n = strspn(text, "0123456789");
	if (!n || n > DIGITS || text[n]) return false;
	*out = (unsigned)strtoul(text, NULL, 10);
	return *out <= PORTS;
}

static bool read_host(struct address *a, const char *from, size_t length)
{
	if (length > 1 && *from == '[' && from[length - 1] == ']') {
		from++;
		length -= 2;
	}
	/* It stands in quotes among the settings of the server. */
	if (!length || length >= sizeof a->host ||
	    strcspn(from, "'\\\n,") < length)
		return false;
	memcpy(a->host, from, length);
	a->host[length] = 0;
	return true;
}

static bool read_address(struct address *a, const char *text)
{
	const char *colon = strrchr(text, ':');
	if (!colon)
		return read_host(a, "localhost", strlen("localhost")) &&
		       read_port(&a->port, text);
	return read_host(a, text, (size_t)(colon - text)) &&
	       read_port(&a->port, colon + 1);
}

/* ---- Is it free? ---- */

static unsigned port_of(int fd)
{
	struct sockaddr_storage s;
	socklen_t size = sizeof s;
	if (getsockname(fd, (struct sockaddr *)&s, &size)) return 0;
	return ntohs(s.ss_family == AF_INET
	                     ? ((struct sockaddr_in *)&s)->sin_port
	                     : ((struct sockaddr_in6 *)&s)->sin6_port);
}

/* As the server is going to; 0 or an error. */
static int try_to_listen(struct address *a, const struct addrinfo *at)
{
	int yes = 1;
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) return errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (at->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
	int error = 0;
	if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, 1))
		error = errno;
	else if (!a->port)
		a->port = port_of(fd);
	close(fd);
	return error;
}

static bool is_free(struct address *a, struct text *why)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM,
		                 .ai_flags = AI_PASSIVE };
	struct addrinfo *all = NULL;
	char port[16];
	snprintf(port, sizeof port, "%u", a->port);
	const char *host = strcmp(a->host, "*") ? a->host : NULL;
	int wrong = getaddrinfo(host, port, &want, &all);
	if (wrong) {
		text_format(why, "cannot listen at %s: %s", a->host,
		            gai_strerror(wrong));
		return false;
	}
	/* The server is content with one of several addresses; not with one
	 * where somebody else is. */
	int error = 0;
	bool any = false;
	for (const struct addrinfo *i = all; i && error != EADDRINUSE;
	     i = i->ai_next) {
		error = try_to_listen(a, i);
		any |= !error;
	}
	freeaddrinfo(all);
	if (any && error != EADDRINUSE) return true;
	text_format(why, "cannot listen at %s, port %u: %s%s", a->host, a->port,
	            strerror(error),
	            error == EADDRINUSE
	                    ? "; with port 0 one is taken that is free"
	                    : "");
	return false;
}

/* ---- The password ---- */

static bool make_password(struct address *a)
{
	enum { LETTERS = 24, BITS = 63 };
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz"
				      "0123456789-_";
	unsigned char drawn[LETTERS];
	if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn) return false;
	for (int i = 0; i < LETTERS; i++)
		a->password[i] = letters[drawn[i] & BITS];
	a->password[LETTERS] = 0;
	return true;
}

bool address_take(struct address *a, const char *text, const char *password,
                  struct text *why)
{
	*a = (struct address){ 0 };
	if (!read_address(a, text)) {
		text_format(why, "'%s' is no HOST:PORT", text);
		return false;
	}
	bool given = password && *password;
	if (given && strlen(password) >= sizeof a->password)
		text_format(why, "the password is longer than %d bytes",
		            ADDRESS_PASSWORD - 1);
	else if (!given && !make_password(a))
		text_format(why, "cannot make a password: %s", strerror(errno));
	else if (given)
		strcpy(a->password, password);
	return !why->length && is_free(a, why);
}

const char *address_to_connect(const struct address *a)
{
	if (!strcmp(a->host, "*") || !strcmp(a->host, "0.0.0.0"))
		return "127.0.0.1";
	return strcmp(a->host, "::") ? a->host : "::1";
}

void address_put_url(struct text *t, const struct address *a)
{
	const char *host = address_to_connect(a);
	text_string(t, "postgresql://isoscope:");
	for (const char *s = a->password; *s; s++)
		if (isalnum((unsigned char)*s) || strchr("-_", *s))
			text_char(t, *s);
		else
			text_format(t, "%%%02X", (unsigned)(unsigned char)*s);
	bool number = strchr(host, ':') != NULL;
	text_format(t, "@%s%s%s:%u/postgres", number ? "[" : "", host,
	            number ? "]" : "", a->port);
}
