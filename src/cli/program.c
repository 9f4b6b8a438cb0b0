#include "cli/program.h"

#include "base/diag.h"
#include "cli/options.h"
#include "cli/output.h"
#include "lang/load.h"

bool one_program(const struct command_line *c)
{
	const char *word = command_table[c->command].word;
	if (c->operand_count == 1) return true;
	if (c->operand_count)
		say("%s takes one program, not %zu", word, c->operand_count);
	else
		say("%s needs a program: isoscope %s PROGRAM.tx", word, word);
	return false;
}

struct program *read_program(const struct command_line *c, const char *path)
{
	struct diags d = { 0 };
	struct program *p = load_program(path, &d);
	say_diagnostics(c, &d);
	diags_free(&d);
	return p;
}
