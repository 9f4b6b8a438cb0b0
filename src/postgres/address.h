/* Where a private PostgreSQL listens besides its Unix sockets, by TCP. */
#ifndef ISO_POSTGRES_ADDRESS_H
#define ISO_POSTGRES_ADDRESS_H

#include <stdbool.h>

#include "base/text.h"

enum { ADDRESS_HOST = 256, ADDRESS_PASSWORD = 128 };

struct address {
	char host[ADDRESS_HOST]; /* a name or a number */
	unsigned port;
	char password[ADDRESS_PASSWORD]; /* of the user isoscope */
};

/* "HOST:PORT", "[::1]:PORT" or "PORT", that of localhost; port 0 becomes one
 * that is free. `password` NULL or "": one is made. False, and why: this is
 * none, or nobody can listen there. */
bool address_take(struct address *a, const char *text, const char *password,
                  struct text *why);
/* Where clients on this machine find it: an address for all is none to connect
 * to. */
const char *address_to_connect(const struct address *a);
/* As URLs have it. */
void address_put_url(struct text *t, const struct address *a);

#endif
