/* A private PostgreSQL: a server of our own in a folder of our own, which
 * listens on a Unix socket there, and is gone when this process is, whatever
 * ends it. */
#ifndef ISO_POSTGRES_CLUSTER_H
#define ISO_POSTGRES_CLUSTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "postgres/address.h"

struct cluster;

enum { CLUSTER_DOORS_MOST = 60 }; /* so many more sockets has a server */

struct cluster_options {
	/* The path of the module that it loads, with settings under which plans
	 * do not change; NULL: as PostgreSQL is by itself. */
	const char *module;
	/* Doors (wire.h), folders with sockets of their own: for the clients of
	 * so many sessions, for set-up, for clients that are served. */
	uint32_t doors;
	bool opens, serves;
	/* Where it listens by TCP, too, for those who know the password; NULL:
	 * nowhere. It stays the caller's, as long as the server runs. */
	const struct address *address;
	/* Once it is set, starting is given up; NULL: never. */
	const atomic_bool *interrupt;
};

/* The module for tables of sessions, in `t`: beside the program where that was
 * built, else where it was installed. */
const char *cluster_module(struct text *t);
/* NULL, and why, if there is no server. */
struct cluster *cluster_start(const struct cluster_options *o,
                              struct text *why);
/* Its folder: the socket is there, and there may be others. */
const char *cluster_folder(const struct cluster *c);
/* NULL: it does not listen by TCP. */
const struct address *cluster_address(const struct cluster *c);
/* A part of the names of its sockets. */
unsigned cluster_port(const struct cluster *c);
/* Why it has ended by itself, as far as that is known; false: it runs. */
bool cluster_has_ended(const struct cluster *c, struct text *why);
/* The same for who has lost a connection, which is heard of before its end is:
 * waits a moment if nobody can connect. */
bool cluster_was_lost(const struct cluster *c, struct text *why);
/* How long the server's log is, in bytes; and how a backend has died, as it
 * says behind there: nothing is appended if none has. */
long cluster_log_end(const struct cluster *c);
void cluster_tell_deaths(const struct cluster *c, long from, struct text *how);
/* This group of processes is killed when this process ends, however it does,
 * unless it is released before. */
void cluster_adopt(const struct cluster *c, int group);
void cluster_release(const struct cluster *c, int group);
/* NULL is fine. */
void cluster_stop(struct cluster *c);

#endif
