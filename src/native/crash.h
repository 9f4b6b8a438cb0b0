/* The worker's signal handlers: what they can still tell goes to the shared
 * memory, then the process ends.
 */
#ifndef ISO_NATIVE_CRASH_H
#define ISO_NATIVE_CRASH_H

struct shared;

/* Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP on a stack
 * of its own, and SIGALRM as the request to say where the code is and to end.
 * exit() is noted as well, and ends the process before the explorer's own exit
 * handlers are run. */
void crash_watch(struct shared *shared);
/* Ends the worker: the API was used where it may not be. `what` goes to
 * standard error. */
_Noreturn void crash_misuse(const char *what);
/* Notes the loaded libraries, for crashes and places of calls. Cheap when none
 * was loaded since. */
void crash_note_objects(struct shared *shared);

#endif
