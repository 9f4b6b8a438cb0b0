/* What cluster.c, keeper.c and cluster_files.c share. */
#ifndef ISO_POSTGRES_CLUSTER_PARTS_H
#define ISO_POSTGRES_CLUSTER_PARTS_H

#include <sys/types.h>

#include "postgres/cluster.h"

struct cluster {
	char folder[64];
	struct cluster_options options;
	pid_t keeper;
	int alive; /* the keeper's end of it sees when it is closed; -1: none */
	uid_t user;
	gid_t group;
	bool other; /* the server is run by another user: root must not */
};

/* ---- cluster_files.c ---- */
/* In a child: becomes the user that runs the server. */
void cluster_become_user(const struct cluster *c);
/* In a child: what it prints goes to the log. */
void cluster_direct_output(const struct cluster *c);
/* One in its folder, which the server's user may open; "": that itself. */
bool cluster_make_folder(const struct cluster *c, const char *name);
/* The files of a server without tables, its module and its settings. */
bool cluster_make_files(const struct cluster *c);
/* With all that is in it, however often others make more there meanwhile, up to
 * two seconds; one that is not there is fine. */
void cluster_remove_folder(const char *path);

/* ---- keeper.c ---- */
/* Once the files are there: cluster_start_server(). */
bool cluster_start_keeper(struct cluster *c);
void cluster_start_server(struct cluster *c);

#endif
