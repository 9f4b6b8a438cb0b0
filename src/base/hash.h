/* Hashing of words and bytes (not for untrusted keys: tables chain). */
#ifndef ISO_BASE_HASH_H
#define ISO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_mix(uint64_t h, uint64_t x)
{
	h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	h ^= h >> 29;
	return h;
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t length);
/* Of the contents; of the seed alone if the file cannot be read. */
uint64_t hash_file(uint64_t seed, const char *path);

#endif
