/* A private PostgreSQL: a server of our own in a folder of our own, which
 * listens on a Unix socket there, and is gone when this process is, whatever
 * ends it. */
#ifndef ISO_POSTGRES_CLUSTER_H
#define ISO_POSTGRES_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct cluster;

/* The module for tables of sessions, in `t`: beside the program where that was
 * built, else where it was installed. */
const char *cluster_module(struct text *t);
/* With the module of this path, which it loads, and settings under which plans
 * do not change; NULL: as PostgreSQL is by itself. NULL, and why, if there is
 * no server. */
struct cluster *cluster_start(const char *module, struct text *why);
/* With doors for the clients of so many sessions and of set-up, too (wire.h):
 * folders with sockets of their own. */
struct cluster *cluster_start_with_doors(const char *module, uint32_t doors,
                                         struct text *why);
/* The same, with the door of clients that are served (wire.h) beside that of
 * set-up. */
struct cluster *cluster_start_to_serve(const char *module, struct text *why);
enum { CLUSTER_DOORS_MOST = 60 }; /* so many more sockets has a server */
/* Its folder: the socket is there, and there may be others. */
const char *cluster_folder(const struct cluster *c);
/* This group of processes is killed when this process ends, however it does,
 * unless it is released before. */
void cluster_adopt(struct cluster *c, int group);
void cluster_release(struct cluster *c, int group);
/* NULL is fine. */
void cluster_stop(struct cluster *c);

#endif
