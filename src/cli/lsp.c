#include "lsp/server.h"

#include <unistd.h>

#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/settings.h"
#include "cli/signals.h"

/* Seconds: of an exploration, and as many for its edits. */
static const double SECONDS = 5;

/* The protocol wants 1 where the client does not end it properly. */
int lsp_main(const struct command_line *c)
{
	struct server_options o = { .from = STDIN_FILENO,
		                    .to = STDOUT_FILENO,
		                    .level = c->value[OPTION_ISOLATION],
		                    .seconds = SECONDS,
		                    .interrupt = signals_flag() };
	if (c->operand_count) {
		say("lsp takes no files: an editor starts it, and speaks with "
		    "it on the standard input");
		return EXIT_USAGE;
	}
	if (!setting_seconds(c, OPTION_TIMEOUT, &o.seconds)) return EXIT_USAGE;
	if (isatty(STDIN_FILENO))
		say("lsp is started by an editor, and speaks the Language "
		    "Server Protocol; docs/manual.md says how");
	signals_catch();
	return server_run(&o) ? EXIT_HOLDS : EXIT_VIOLATED;
}
