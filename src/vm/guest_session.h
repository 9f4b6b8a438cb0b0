/* Sessions and final expectations in native code, as the machine runs them:
 * what machine.h says of bytecode, for steps of a guest (guest.h). */
#ifndef ISO_VM_GUEST_SESSION_H
#define ISO_VM_GUEST_SESSION_H

#include <stdint.h>

#include "vm/machine.h"

enum { GUEST_REGISTERS = 2 }; /* of a session's state: step and answer */

void guest_session_step(struct machine *m, struct machine_state *s,
                        struct request *out);
void guest_session_answer(struct machine_state *s, struct value v);
uint64_t guest_session_outcome(const struct machine_state *s, uint64_t hash);
void guest_session_tell(const struct machine_state *s, known_visitor *visit,
                        void *data);
/* The error that has ended the transaction before the next one; or NULL. */
const char *guest_session_failure(const struct machine_state *s);
/* The last value that was noted under this name, or in this place, unless that
 * is 0; null: there is none. */
struct value guest_session_noted(const struct machine_state *s,
                                 const char *name, uint32_t place);
/* machine_final_assertion() of an expectation. */
const struct finding *
guest_expectation(struct machine *m, uint32_t assertion,
                  const struct machine_state *const *states);

#endif
