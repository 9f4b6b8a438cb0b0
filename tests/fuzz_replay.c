/* Runs the fuzz target over the files named on the command line, and over each
 * of them cut short and with bytes turned (with ISOSCOPE_QUICK fewer times), so
 * that the corpus is a test where libFuzzer is not at hand. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "fuzz_parser.h"

enum { LONGEST = 1 << 20, VARIANTS = 64, FEWER = 12 };

/* An exact copy on the heap, so that a read beyond its end is noticed. */
static void try_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = mem_take(size ? size : 1);
	for (size_t i = 0; i < size; i++) copy[i] = data[i];
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void try_variants(uint8_t *data, size_t size, struct rng *rng)
{
	int variants = getenv("ISOSCOPE_QUICK") ? FEWER : VARIANTS;
	for (int i = 0; i < variants && size > 0; i++) {
		try_copy(data, rng_below(rng, (uint32_t)size));
		size_t at = rng_below(rng, (uint32_t)size);
		uint8_t kept = data[at];
		data[at] = data[rng_below(rng, (uint32_t)size)];
		try_copy(data, size);
		data[at] = kept;
	}
}

static int replay(const char *path, uint8_t *buffer)
{
	FILE *file = fopen(path, "rb");
	if (!file) {
		perror(path);
		return 1;
	}
	size_t size = fread(buffer, 1, LONGEST, file);
	fclose(file);
	struct rng rng = { size };
	try_copy(buffer, size);
	try_variants(buffer, size, &rng);
	return 0;
}

int main(int argc, char **argv)
{
	uint8_t *buffer = mem_take(LONGEST);
	int failed = 0;
	for (int i = 1; i < argc; i++) failed += replay(argv[i], buffer);
	free(buffer);
	printf("%d passed, %d failed\n", argc - 1 - failed, failed);
	return failed || argc == 1;
}
