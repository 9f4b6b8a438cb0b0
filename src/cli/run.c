#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"

int run_main(const struct command_line *c)
{
	(void)c;
	say("run is not there yet");
	return EXIT_INTERNAL;
}
