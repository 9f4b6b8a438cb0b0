/* The guest code of a program: its shared object with sessions, or the C
 * functions that it calls, and the runners that execute them. Implements
 * vm/guest.h; `program->library` is one.
 */
#ifndef ISO_NATIVE_HOST_LIBRARY_H
#define ISO_NATIVE_HOST_LIBRARY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "vm/guest.h"

struct library;
struct process;
struct program;
struct wire;

enum { LIBRARY_ASSERTIONS = 256 }; /* places of iso_assert(), at most */

#define STEP_TIMEOUT 10.0 /* seconds, unless the user says otherwise */

/* How much a session may do before it is cut short. */
struct library_bounds {
	uint64_t transactions; /* that it begins */
	uint64_t accesses;     /* in one of them */
};
/* A session without an end takes some seconds and 150 MB until it is cut short:
 * time grows with the cube of the transactions, memory with the square. */
#define LIBRARY_BOUNDS ((struct library_bounds){ 3000, 60000 })

/* `client` may be NULL; it is copied. Nothing is started. */
struct library *library_new(const char *client, double step_timeout);
struct guest_library *library_guest(struct library *l);
/* The client's sessions and expectations, in order; the strings are copied. */
void library_add_session(struct library *l, const char *name);
void library_add_expectation(struct library *l, const char *text,
                             const char *object, uint64_t address);
/* What the first worker declared; and is what another one declares the same? If
 * not, why is added to the text. */
void library_note_declarations(struct library *l, const struct wire *reply);
bool library_declares(const struct library *l, const struct wire *reply,
                      struct text *why);
uint32_t library_session_count(const struct library *l);
uint32_t library_expectation_count(const struct library *l);
/* A worker of which nothing is known but what it declares in the beginning. */
struct process *library_process(struct library *l);

/* Before anything is run. The function is copied; returns its number, for OP
 * EXTERN and guest_ops.call. */
uint32_t library_add_function(struct library *l,
                              const struct foreign_function *f);
const struct foreign_function *library_function(const struct library *l,
                                                uint32_t i);
/* Starts a runner, to see that everything can be loaded. False, with the reason
 * in `why`, if not. */
bool library_try(struct library *l, struct text *why);

/* May no transaction have a level of its own? Then one that asks for it makes
 * an error. Before anything is run. */
void library_set_uniform(const struct program *p, bool uniform);
bool library_is_uniform(const struct library *l);
/* How many bytes each runner keeps of what sessions were seen to do; what is
 * beyond is run again each time. */
void library_set_budget(const struct program *p, size_t bytes);
size_t library_budget(const struct library *l);
double library_step_timeout(const struct library *l);
bool library_shows_output(const struct library *l);

/* What sessions are met to do; numbers are given once. Any thread. */
uint32_t library_point(struct library *l, const char *object, uint64_t address);
uint32_t library_transaction_number(struct library *l, const char *name,
                                    own_level level);
/* When there are too many, that is the library's fault. */
uint32_t library_assertion_number(struct library *l, const char *message,
                                  uint32_t point);
struct position library_position(struct library *l, uint32_t point);
const char *library_transaction(struct library *l, uint32_t name);
own_level library_transaction_level(struct library *l, uint32_t name);
/* Has one that is known a level of its own? */
bool library_mixes(struct library *l);
const char *library_assertion_text(struct library *l, uint32_t assertion);
const char *library_session_name(struct library *l, uint32_t session);
/* Assertions as another process can know them, where they have other numbers or
 * are not met yet. */
struct library_assertion {
	const char *message;
	const char *object; /* where it stands, a path; NULL: unknown */
	uint64_t address;   /* in the object */
};
/* Of a native program. False if there is no such assertion so far. */
bool library_assertion_met(const struct program *p, uint32_t i,
                           struct library_assertion *out);
/* The number that it has here, which it gets if it is new; `there` is the one
 * that it had: expectations have the same everywhere. */
uint32_t library_meet_assertion(const struct program *p, uint32_t there,
                                struct library_assertion a);
/* Takes the text, whatever it is; only the first fault is kept. */
void library_set_fault(struct library *l, struct text *fault);
/* The session went beyond a bound at this point: only the first is kept. */
void library_meet_bound(struct library *l, uint32_t session, uint32_t point,
                        uint64_t bound, const char *what);
struct library_bounds library_bounds(const struct library *l);

/* Of a program that may have a library; for runners taken from now on. */
void library_configure(const struct program *p, double step_timeout,
                       struct library_bounds bounds, bool show_output);
/* Those of its sessions in C; zeros if the program has no library. */
struct library_bounds library_session_bounds(const struct program *p);
/* Changes these alone, of a program that may have a library. */
void library_bound_sessions(const struct program *p,
                            struct library_bounds bounds);
/* User code is given up when the flag is true: borrowed, or NULL; and from this
 * time on, as seconds_now() counts, if it is not 0. */
void library_set_limits(const struct program *p, const atomic_bool *flag,
                        double deadline);
/* Lets all runners settle (guest.h); none may be at work. */
void library_settle(const struct program *p);

#endif
