/* SIGINT and SIGTERM ask an exploration to end with a partial result. */
#ifndef ISO_CLI_SIGNALS_H
#define ISO_CLI_SIGNALS_H

#include <stdatomic.h>
#include <stdbool.h>

/* From now on the first such signal sets the flag; a second one kills. */
void signals_catch(void);
const atomic_bool *signals_flag(void);

#endif
