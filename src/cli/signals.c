#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>

/* The one variable of the program that lives outside of any function: a
 * handler has no argument through which it could reach another. */
static atomic_bool interrupted;

static void on_signal(int number)
{
	(void)number;
	atomic_store(&interrupted, true);
}

void signals_catch(void)
{
	struct sigaction action = { .sa_handler = on_signal,
		                    .sa_flags = (int)SA_RESETHAND };
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

const atomic_bool *signals_flag(void)
{
	return &interrupted;
}
