#include "distribute/seal.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"

static const char line_start[] = ",\n\"seal\":\"";
enum { LINE_START = sizeof line_start - 1, DIGITS = 16 };

void seal_add(struct text *t, size_t start)
{
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

static const char *const kinds[] = {
	[BRANCH_BETWEEN] = "between", [BRANCH_PENDING] = "pending",
	[BRANCH_FRESH] = "fresh",     [BRANCH_SWAP] = "swap",
	[BRANCH_END] = "end",
};
_Static_assert(sizeof kinds / sizeof *kinds == BRANCH_END + 1,
               "each enum branch_kind has a word");

const char *seal_kind_word(enum branch_kind k)
{
	return kinds[k];
}

bool seal_kind_from_word(const char *word, enum branch_kind *out)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(word, kinds[i])) continue;
		*out = (enum branch_kind)i;
		return true;
	}
	return false;
}
