/* What is shown and written while an exploration runs: the line that says how
 * far it is, histories, checkpoints. */
#ifndef ISO_CLI_WATCH_H
#define ISO_CLI_WATCH_H

#include <stdbool.h>

#include "dpor/explorer.h"

struct exploration;
struct watch;

/* `what` is explored, in the line, or NULL. NULL if a file cannot be written,
 * after saying so. */
struct watch *watch_new(struct exploration *x, const char *what);
struct explore_observer watch_observer(struct watch *w);
/* How often the observer wants a snapshot: explore_options.snapshot_every. */
double watch_every(const struct watch *w);
/* After the exploration: takes the line away, and closes files. False, after
 * saying why, if not all was written. Frees the watch. */
bool watch_end(struct watch *w, struct explorer *e);

#endif
