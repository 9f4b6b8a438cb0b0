/* A private PostgreSQL: a server of our own in a folder of our own, which
 * listens on a Unix socket there, and is gone when this process is, whatever
 * ends it. */
#ifndef ISO_POSTGRES_CLUSTER_H
#define ISO_POSTGRES_CLUSTER_H

#include <stdbool.h>

#include "base/text.h"

struct cluster;

/* The module for tables of sessions, in `t`: beside the program where that was
 * built, else where it was installed. */
const char *cluster_module(struct text *t);
/* With the module of this path, which it loads; NULL: none. NULL, and why, if
 * there is no server. */
struct cluster *cluster_start(const char *module, struct text *why);
/* Its folder: the socket is there, and there may be others. */
const char *cluster_folder(const struct cluster *c);
/* NULL is fine. */
void cluster_stop(struct cluster *c);

#endif
