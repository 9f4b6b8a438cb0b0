/* The worker's signal handlers: what they can still tell goes to the shared
 * memory, then the process ends.
 */
#ifndef ISO_NATIVE_RUNTIME_CRASH_H
#define ISO_NATIVE_RUNTIME_CRASH_H

#include <stdbool.h>
#include <stdint.h>

struct shared;

/* Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP on a stack
 * of its own, and SIGALRM as the request to say where the code is and to end.
 * exit() is noted as well, and ends the process before the explorer's own exit
 * handlers are run. */
void crash_watch(struct shared *shared);
/* Ends the worker: the API was used where it may not be. `what` goes to
 * standard error. */
_Noreturn void crash_misuse(const char *what);
/* Ends it: user code has closed the socket. */
_Noreturn void crash_cut_off(void);
/* Ends it: what it shares with the explorer makes no sense. */
_Noreturn void crash_spoilt(void);
/* Ends the process if user code has forked it from the worker: it goes on in
 * the same code, but may not take part when it comes back to isoscope's. `what`
 * it came to is told on standard error. */
void crash_end_copy(const char *what);
/* Is the address in isoscope's own code? */
bool crash_is_own(uint64_t address);
/* Notes the loaded libraries, for crashes and places of calls. Cheap when none
 * was loaded since. */
void crash_note_objects(struct shared *shared);

#endif
