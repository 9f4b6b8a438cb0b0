/* An execution of a program, none of whose transactions is pending, seen from
 * outside: as a history, as a hash, by what it violates.
 */
#ifndef ISO_EXECUTION_COMPLETE_H
#define ISO_EXECUTION_COMPLETE_H

#include <stdbool.h>
#include <stdint.h>

#include "execution/execution.h"

struct finding;
struct history;

/* The history in readable form; the caller frees it. */
struct history *execution_history(const struct execution *x);
/* Equal for equal histories of one program, whatever context it ran in. */
uint64_t execution_hash(const struct execution *x);
/* Equal when all sessions' locals are equal: what the clients know in the
 * end. */
uint64_t execution_outcome(const struct execution *x);
/* Did it meet a false assumption, so that it does not count? */
bool execution_pruned(const struct execution *x);
/* Adds the branches and assertions that its sessions executed, as
 * machine_reached() has them. */
void execution_reached(const struct execution *x, uint64_t *reached);
/* Of one that is pruned: did it meet a bound on native code only? */
bool execution_cut_short(const struct execution *x);

/* Calls `visit` for every failed assertion and run-time error, top-level
 * assertions included (`serializable` is not among them). A slot is the
 * assertion's number; run-time errors have the slot after the last assertion.
 * A slot may be visited several times. Findings are valid during the call. */
typedef void finding_visitor(void *data, uint32_t slot,
                             const struct finding *f);
void execution_findings(const struct execution *x, finding_visitor *visit,
                        void *data);
/* A copy that outlives the execution, without the older ones. */
const struct finding *finding_copy(struct region *r, const struct finding *f);

#endif
