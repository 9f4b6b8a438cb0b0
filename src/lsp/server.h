/* The server of the Language Server Protocol for programs in .tx and .spec. */
#ifndef ISO_LSP_SERVER_H
#define ISO_LSP_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>

struct server_options {
	int from, to;      /* descriptors */
	const char *level; /* a level's word, or NULL: what programs state */
	double seconds;    /* for an exploration, and as many for its edits */
	const atomic_bool *interrupt;
};

/* Serves until the client says exit, or closes the stream. Texts are looked at
 * by a process for each, a fork, which a change of the text ends: nothing that
 * takes long, or that fails, delays an answer. True if the client asked for the
 * end first, as the protocol wants it. */
bool server_run(const struct server_options *o);

#endif
