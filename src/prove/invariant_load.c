/* A program with an assertion that it does not have. */
#include <string.h>

#include "base/memory.h"
#include "compile/load.h"
#include "lang/lexer.h"
#include "lang/limits.h"
#include "lang/source.h"
#include "prove/finals.h"
#include "prove/invariant.h"
#include "sql/arguments.h"
#include "sql/load.h"

/* Where the body of the program's own last transaction begins; 0: it has none.
 */
static size_t finally_body(const char *path, const struct text *program)
{
	struct region region;
	struct sources all;
	struct diags unheard = { 0 };
	struct tokens t = { 0 };
	size_t i = 0, at = 0;
	if (program->length > LIMIT_FILE) return 0;
	region_init(&region);
	sources_init(&all, &region, &unheard);
	sources_add(&all, path, text_get(program), (uint32_t)program->length);
	lex(&all, 0, false, &t);
	while (i < t.count && t.items[i].kind != TOKEN_FINALLY) i++;
	while (i < t.count && t.items[i].kind != TOKEN_OPEN_BRACE) i++;
	if (i < t.count) at = t.items[i].offset + t.items[i].length;
	free(t.items);
	sources_free(&all);
	region_free(&region);
	diags_free(&unheard);
	return at;
}

/* The file, or the text in its place, with one more assertion in its last
 * transaction. */
static bool add_finally(struct text *out, const char *path,
                        const struct load_text *text, const char *invariant)
{
	struct text all = { 0 };
	if (text) {
		text_bytes(&all, text->text, text->length);
	} else {
		FILE *from = fopen(path, "rb");
		char part[4096];
		size_t n;
		if (!from) return false;
		while ((n = fread(part, 1, sizeof part, from)) > 0)
			text_bytes(&all, part, n);
		fclose(from);
	}
	size_t at = finally_body(path, &all);
	text_bytes(out, text_get(&all), at ? at : all.length);
	text_format(out, at ? " assert %s; " : "\nfinally { assert %s; }\n",
	            invariant);
	if (at) text_bytes(out, text_get(&all) + at, all.length - at);
	text_free(&all);
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
