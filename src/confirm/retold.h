/* A history of sessions that are programs, as one of sessions that send, one by
 * one, the statements that were recorded of them: these can be sent to another
 * server.
 */
#ifndef ISO_CONFIRM_RETOLD_H
#define ISO_CONFIRM_RETOLD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "axioms/level.h"
#include "axioms/schedule.h"
#include "base/text.h"

struct history;
struct program;

struct retold {
	struct program *program; /* each statement is a step */
	struct history *history; /* of that */
	struct schedule schedule;
};

/* Are its sessions, or some of them, programs? */
bool retold_is_needed(const struct program *p);
/* Of a history of the program under the level; `interrupt` may be NULL. False,
 * and why: it cannot be told by statements, or these follow another one. To be
 * freed in either case. */
bool retold_make(struct retold *out, const struct program *p,
                 const struct history *h, enum level level,
                 const atomic_bool *interrupt, struct text *why);
void retold_free(struct retold *r);

#endif
