/* The libraries in a worker's memory, as the worker noted them: the explorer's
 * own copy.
 */
#ifndef ISO_NATIVE_HOST_LOADED_H
#define ISO_NATIVE_HOST_LOADED_H

#include <stdbool.h>
#include <stdint.h>

struct shared;

struct loaded_object {
	uint64_t start, end, bias;
	char *path;
	bool own; /* the explorer has it too: not user code */
};

struct loaded {
	struct loaded_object *objects;
	uint32_t count;
	uint32_t noted; /* shared->object_count when they were read */
	struct loaded_span {
		uint64_t start, end;
	} * own;
	/* where the explorer's own libraries lie; at the
	 * same addresses in a worker that it forks */
	uint32_t own_count, own_capacity;
};

void loaded_free(struct loaded *l);
/* Before a worker is forked: what is loaded now is no user code. Forgets the
 * objects. */
void loaded_begin(struct loaded *l);
/* Reads what the worker has noted since. Paths read before stay valid. */
void loaded_read(struct loaded *l, struct shared *shared);
/* The object that an address lies in, or NULL. */
const struct loaded_object *loaded_find(const struct loaded *l,
                                        uint64_t address);

#endif
