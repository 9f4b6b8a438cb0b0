/* A program with an assertion that it does not have. */
#include <string.h>

#include "base/memory.h"
#include "compile/load.h"
#include "lang/source.h"
#include "prove/finals.h"
#include "prove/invariant.h"
#include "sql/arguments.h"
#include "sql/load.h"

/* The file, or the text in its place, and a last transaction. */
static bool add_finally(struct text *out, const char *path,
                        const struct load_text *text, const char *invariant)
{
	if (text) {
		text_bytes(out, text->text, text->length);
	} else {
		FILE *from = fopen(path, "rb");
		char part[4096];
		size_t n;
		if (!from) return false;
		while ((n = fread(part, 1, sizeof part, from)) > 0)
			text_bytes(out, part, n);
		fclose(from);
	}
	text_format(out, "\nfinally { assert %s; }\n", invariant);
	return true;
}

static uint32_t count_given(const char *const *list)
{
	uint32_t count = 0;
	while (list && list[count]) count++;
	return count;
}

struct program *invariant_load(struct application *out, const char *path,
                               const struct load_text *text,
                               const char *invariant,
                               const struct sql_arguments *given,
                               struct diags *d)
{
	bool sql = sql_is_script(path) || sql_is_spec(path);
	if (!invariant)
		return prove_load_given(out, path, text, given, true, d);
	if (!sql) {
		struct text all = { 0 };
		bool read = add_finally(&all, path, text, invariant);
		struct load_text edited = { path, text_get(&all), all.length };
		/* What cannot be read is said by who reads it. */
		struct program *p = prove_load_given(
			out, path, read ? &edited : text, given, true, d);
		text_free(&all);
		return p;
	}
	struct sql_arguments more = { .asserts = NULL };
	if (given) more = *given;
	uint32_t count = count_given(more.asserts);
	const char **asserts = mem_take0((size_t)count + 2, sizeof *asserts);
	for (uint32_t i = 0; i < count; i++) asserts[i] = more.asserts[i];
	asserts[count] = invariant;
	more.asserts = asserts;
	struct program *p = prove_load_given(out, path, text, &more, true, d);
	free(asserts);
	return p;
}
