#include "base/hash.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;
	uint64_t h = hash_mix(seed, length);
	assert(bytes || !length);
	while (length >= 8) {
		uint64_t x;
		memcpy(&x, p, 8);
		h = hash_mix(h, x);
		p += 8;
		length -= 8;
	}
	uint64_t rest = 0;
	assert(length < 8);
	if (length) memcpy(&rest, p, length);
	return hash_mix(h, rest);
}

uint64_t hash_file(uint64_t seed, const char *path)
{
	unsigned char bytes[1 << 14];
	FILE *f = fopen(path, "rbe");
	size_t n;
	if (!f) return seed;
	while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
		seed = hash_bytes(seed, bytes, n);
	fclose(f);
	return seed;
}
