/* The parser, the checks, the compiler and the formatter against any text.
 *
 * One entry for libFuzzer (scripts/fuzz) and for tests/fuzz_replay.c, which
 * runs it over the corpus. Libraries that a text names are not loaded. Beyond
 * not crashing: a text that loads can be formatted, and formatting twice
 * changes nothing.
 */
#include "fuzz_parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "compile/load.h"
#include "lang/format.h"
#include "vm/program.h"

static void broken(const char *what, const struct text *t)
{
	fprintf(stderr, "%s:\n%s\n", what, text_get(t));
	abort();
}

/* Formats what is already canonical: the result has to be the same. */
static void format_again(const struct text *once)
{
	struct diags d = { 0 };
	struct text twice = { 0 };
	if (!format_program_text("fuzz.tx", text_get(once), once->length,
	                         &twice, &d))
		broken("the formatted text is no program", once);
	if (strcmp(text_get(once), text_get(&twice)) != 0)
		broken("formatting twice gives another text", &twice);
	text_free(&twice);
	diags_free(&d);
}

static void dump(const struct program *p)
{
	struct text t = { 0 };
	dump_program(p, &t);
	text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diags d = { 0 };
	struct text once = { 0 };
	struct program *p =
		load_untrusted_text("fuzz.tx", (const char *)data, size, &d);
	bool good = format_program_text("fuzz.tx", (const char *)data, size,
	                                &once, &d);
	if (p && !good) broken("a program that loads is not formatted", &once);
	if (good) format_again(&once);
	if (p) dump(p);
	program_free(p);
	text_free(&once);
	diags_free(&d);
	return 0;
}
