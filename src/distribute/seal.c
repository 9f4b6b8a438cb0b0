#include "distribute/seal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"

static const char line_start[] = ",\n\"seal\":\"";
enum { LINE_START = sizeof line_start - 1, DIGITS = 16 };

void seal_add(struct text *t, size_t start)
{
	assert(start <= t->length);
	uint64_t h =
		hash_bytes(UINT64_C(1), text_get(t) + start, t->length - start);
	text_format(t, "%s%016" PRIx64 "\"}\n", line_start, h);
}

bool seal_holds(const char *text, size_t length)
{
	struct text expected = { 0 };
	size_t end = LINE_START + DIGITS + 3; /* "}\n */
	if (length < end) return false;
	text_bytes(&expected, text, length - end);
	seal_add(&expected, 0);
	bool same = expected.length == length &&
	            !memcmp(expected.data, text, length);
	text_free(&expected);
	return same;
}
