/* Open-addressing set of 64-bit hashes. */
#ifndef ISO_DPOR_HASH_SET_H
#define ISO_DPOR_HASH_SET_H

#include <stdbool.h>
#include <stdint.h>

/* Begins zeroed; the owner frees `slots`. */
struct hash_set {
	uint64_t *slots; /* 0 is free */
	uint64_t count, capacity;
};

/* True when the hash is new. */
bool hash_set_add(struct hash_set *s, uint64_t hash);
bool hash_set_has(const struct hash_set *s, uint64_t hash);

#endif
