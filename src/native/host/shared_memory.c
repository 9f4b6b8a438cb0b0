#include "native/host/shared_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

#define SEAL 0x69736f73636f7065u
#define COPY_LEAST ((uint64_t)16 << 10) /* bytes */
#define WIRE_KEPT ((uint64_t)1 << 20)   /* bytes that are not given back */

/* Wires begin at pages. */
static size_t page_up(size_t bytes)
{
	assert(bytes <= SIZE_MAX - 4095);
	return (bytes + 4095) & ~(size_t)4095;
}

static size_t wire_bytes(void)
{
	return page_up(sizeof(struct wire) + WIRE_BYTES);
}

static size_t all_bytes(void)
{
	return page_up(sizeof(struct shared)) + 2 * wire_bytes();
}

static void make_copy(struct shared_memory *m, uint64_t capacity)
{
	assert(capacity <= 2 * WIRE_BYTES);
	free(m->copy);
	m->copy = mem_take(sizeof *m->copy + capacity);
	m->copy->capacity = capacity;
	atomic_store(&m->copy->length, 0);
}

void shared_memory_init(struct shared_memory *m)
{
	memset(m, 0, sizeof *m);
	make_copy(m, 0);
}

void shared_memory_free(struct shared_memory *m)
{
	if (m->shared) munmap(m->shared, all_bytes());
	free(m->copy);
	memset(m, 0, sizeof *m);
}

bool shared_memory_take(struct shared_memory *m)
{
	if (m->shared) return true;
	char *p = mmap(NULL, all_bytes(), PROT_READ | PROT_WRITE,
	               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) return false;
	m->shared = (struct shared *)(void *)p;
	p += page_up(sizeof(struct shared));
	m->command = (struct wire *)(void *)p;
	m->reply = (struct wire *)(void *)(p + wire_bytes());
	assert((char *)m->reply + wire_bytes() ==
	       (char *)m->shared + all_bytes());
	return true;
}

/* A wire that was once long does not keep its memory for ever. */
static void clear_wire(struct wire *w)
{
	uint64_t length = atomic_load(&w->length);
	if (length > WIRE_BYTES) length = WIRE_BYTES;
	length = page_up(sizeof *w + length);
	if (length > WIRE_KEPT)
		madvise((char *)w + WIRE_KEPT, length - WIRE_KEPT, MADV_REMOVE);
	assert(length >= sizeof *w);
	w->capacity = WIRE_BYTES;
	atomic_store(&w->length, 0);
}

void shared_memory_begin(struct shared_memory *m)
{
	struct shared *s = m->shared;
	assert(s && m->command && m->reply);
	memset(s, 0, sizeof *s);
	s->command = m->command;
	s->reply = m->reply;
	s->first_seal = s->last_seal = SEAL;
	m->command->capacity = WIRE_BYTES;
	if (atomic_load(&m->command->length) > WIRE_BYTES)
		atomic_store(&m->command->length, 0);
	m->command_bytes = atomic_load(&m->command->length);
	m->commands = 0;
	clear_wire(m->reply);
}

struct wire *shared_memory_command(struct shared_memory *m)
{
	if (!shared_memory_take(m)) return m->copy;
	clear_wire(m->command);
	return m->command;
}

void shared_memory_ask(struct shared_memory *m)
{
	assert(m->shared);
	m->command_bytes = atomic_load(&m->command->length);
	m->commands++;
	clear_wire(m->reply);
}

void shared_memory_drop(struct shared_memory *m)
{
	if (m->copy->capacity > WIRE_KEPT) make_copy(m, 0);
	atomic_store(&m->copy->length, 0);
}

void shared_memory_read(struct shared_memory *m)
{
	uint64_t length = atomic_load(&m->reply->length);
	assert(m->shared);
	shared_memory_drop(m);
	if (length > WIRE_BYTES) return;
	if (length > m->copy->capacity)
		make_copy(m, length > COPY_LEAST ? 2 * length : COPY_LEAST);
	assert(length <= m->copy->capacity);
	memcpy(m->copy->bytes, m->reply->bytes, length);
	atomic_store(&m->copy->length, length);
}

static bool is_wire(const struct wire *w)
{
	return w->capacity == WIRE_BYTES &&
	       atomic_load(&w->length) <= WIRE_BYTES;
}

bool shared_memory_is_whole(const struct shared_memory *m)
{
	const struct shared *s = m->shared;
	assert(s);
	return s->first_seal == SEAL && s->last_seal == SEAL &&
	       s->command == m->command && s->reply == m->reply &&
	       atomic_load(&s->asked.sent) == m->commands &&
	       is_wire(m->command) && is_wire(m->reply) &&
	       atomic_load(&m->command->length) == m->command_bytes;
}
