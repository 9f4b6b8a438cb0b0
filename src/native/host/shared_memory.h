/* The explorer's side of the memory that it shares with its workers. User code
 * can write over all of it, at any time: nothing is read there that is trusted,
 * and it is found out when what should not change has changed.
 */
#ifndef ISO_NATIVE_HOST_SHARED_MEMORY_H
#define ISO_NATIVE_HOST_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native/shared.h"

struct shared_memory {
	struct shared *shared;        /* NULL: there is no memory */
	struct wire *command, *reply; /* in it */
	struct wire *copy;            /* of the reply; never NULL */
	uint64_t command_bytes;       /* of the command that was asked */
	uint32_t commands;            /* asked of this worker */
};

void shared_memory_init(struct shared_memory *m);
void shared_memory_free(struct shared_memory *m);
/* Is there memory now? */
bool shared_memory_take(struct shared_memory *m);
/* Before a worker is forked. */
void shared_memory_begin(struct shared_memory *m);
/* The command to be written, empty; with no room if there is no memory. */
struct wire *shared_memory_command(struct shared_memory *m);
/* Before the worker is woken: it is written, and there is no reply. */
void shared_memory_ask(struct shared_memory *m);
/* Copies the reply: what is read does not change. */
void shared_memory_read(struct shared_memory *m);
/* There is none: it was spoilt. */
void shared_memory_drop(struct shared_memory *m);
/* Is all there as the explorer has left it? Not between shared_memory_command()
 * and shared_memory_ask(). */
bool shared_memory_is_whole(const struct shared_memory *m);

#endif
