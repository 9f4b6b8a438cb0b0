/* Running one session of a compiled program until its next database request.
 *
 * The state of a session is a flat block of machine_state_size() bytes: it is
 * copied with memcpy, kept as a snapshot, and resumed any number of times.
 * Values it refers to live in the region given to machine_step(); the caller
 * keeps that region alive (or releases it to a mark taken before the step, and
 * forgets the states made since).
 *
 * The machine never sees where a value that it reads came from. It knows
 * nothing of histories.
 */
#ifndef ISO_VM_MACHINE_H
#define ISO_VM_MACHINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/access.h"
#include "base/region.h"
#include "vm/keys.h"
#include "vm/value.h"

struct guest;
struct program;
struct machine_state; /* flat, aligned to 16 bytes */

enum machine_stop {
	MACHINE_GOES_ON,
	MACHINE_KEYS_FULL,   /* KEYS_MAX keys are not enough */
	MACHINE_INTERRUPTED, /* while native code ran */
	MACHINE_FAULT        /* native code did not do the same again:
	                      * program_fault() */
};

/* How long native code may run, and how much may be remembered of it. Zeroes:
 * as the program's own settings say. */
struct machine_limits {
	const atomic_bool *interrupt; /* given up when it is true */
	double deadline;              /* and at this time (seconds_now()) */
	uint64_t memory;              /* bytes */
};

/* What a step may touch beside the state. */
struct machine {
	const struct program *program;
	struct keys *keys;
	struct region *region;  /* where new values go */
	uint64_t *reached;      /* by final assertions, as machine_reached(); or
	                         * NULL */
	enum machine_stop stop; /* set when it makes no sense to go on; every
	                         * session then ends */
	struct guest *guest;    /* runs what is not bytecode, or NULL: from
	                         * machine_take_guest() */
};

enum request_kind {
	REQUEST_BEGIN,   /* a transaction begins; `name` */
	REQUEST_READ,    /* `key`; give the value with machine_answer() */
	REQUEST_WRITE,   /* `key`, `value` */
	REQUEST_GIVE_UP, /* `key`: the newest lock of it by a read ends */
	REQUEST_COMMIT,  /* the transaction commits */
	REQUEST_ABORT,   /* the transaction aborts (abort, failed assume, or a
	                  * run-time error: see machine_findings) */
	REQUEST_DONE     /* the session has ended; every further step says so */
};

struct request {
	enum request_kind kind;
	uint32_t key;
	uint32_t name;  /* BEGIN: index for program_transaction_name() */
	uint32_t point; /* place in the source of READ and WRITE, for reports:
	                 * index for program_position() */
	/* Of READ and WRITE, as in struct db_access. */
	enum strength strength : 8;
	bool joined;
	struct value value;
};

static inline struct db_access request_db_access(const struct request *r)
{
	return (struct db_access){ .key = r->key,
		                   .point = r->point,
		                   .strength = r->strength,
		                   .joined = r->joined };
}

/* Something that a session met: a failed assertion, a run-time error, or a
 * false assumption. A list, newest first, hanging from the session's state, in
 * the region: shared by the states that have it in common. */
enum finding_kind { FINDING_ASSERT, FINDING_ERROR, FINDING_ASSUME };

struct finding_value {
	const char *name; /* source text: a local's name, `session.local` */
	struct value value;
};

struct finding {
	const struct finding *older;
	enum finding_kind kind;
	uint32_t assertion;  /* index for program_assertion(); ASSERT only */
	uint32_t point;      /* where in the source */
	const char *message; /* ERROR: what happened, in the region. ASSUME:
	                      * NULL, unless the session was cut short */
	bool endless; /* ERROR: it would have gone on and on, and so may others
	               */
	uint32_t value_count; /* of the names that an assertion mentions */
	struct finding_value values[];
};

/* Before the first step, and after the last one: a runner for the program's
 * native code, if it has any. Runners are kept by the program, which learns
 * from one machine to the next. */
void machine_take_guest(struct machine *m, const struct machine_limits *l);
void machine_give_guest(struct machine *m);
/* Bytes that the runner holds. */
size_t machine_guest_bytes(const struct machine *m);
/* How often native code was really run, not only remembered. */
uint64_t machine_guest_asked(const struct machine *m);
/* Seconds of the processor that running it took, in another process. */
double machine_guest_cpu(const struct machine *m);
/* When all is done: runs native code once more, in another order. If it does
 * something else, the machine stops (MACHINE_FAULT). */
void machine_settle(struct machine *m);

size_t machine_state_size(const struct program *p);
/* The state before the first step of a session. `finally` is the last session,
 * if the program has one (program_has_finally()). */
void machine_start(const struct program *p, uint32_t session,
                   struct machine_state *s);
/* Runs to the next request. After READ, machine_answer() comes first. */
void machine_step(struct machine *m, struct machine_state *s,
                  struct request *out);
/* The value of the pending read. */
void machine_answer(const struct program *p, struct machine_state *s,
                    struct value v);
const struct finding *machine_findings(const struct machine_state *s);
/* True when the session met a false assumption: the execution is to be
 * ignored (it is still run to its end: the transaction aborts, the session
 * stops). After a run-time error it stops likewise, but counts. */
bool machine_pruned(const struct machine_state *s);
/* The same, but there was a bound on what native code may do, and no false
 * assumption. */
bool machine_cut_short(const struct machine_state *s);
/* Branches and assertions that the session has executed: a bit set over
 * program->reach points. */
const uint64_t *machine_reached(const struct program *p,
                                const struct machine_state *s);
/* A top-level local of the session: its value, null if never set. */
struct value machine_local(const struct program *p,
                           const struct machine_state *s, uint32_t local);

/* The database's error that has ended the session's last transaction, in words;
 * NULL: there was none. */
const char *machine_failure(const struct program *p,
                            const struct machine_state *s);

/* Continues the hash with what the session knows: its top-level locals, or the
 * notes of native code. */
uint64_t machine_outcome(const struct program *p, const struct machine_state *s,
                         uint64_t hash);

/* The same, one by one: locals as they are declared, the newest notes first. */
typedef void known_visitor(void *data, const char *name, struct value v);
void machine_tell(const struct program *p, const struct machine_state *s,
                  known_visitor *visit, void *data);

/* Evaluates the top-level assertion number `assertion` (not `serializable`) on
 * the final states, `states[i]` being session i's. Returns NULL when it
 * holds, else a finding (ASSERT, or ERROR) in the region. */
const struct finding *
machine_final_assertion(struct machine *m, uint32_t assertion,
                        const struct machine_state *const *states);

/* The same of bytecode for who wants to know which locals it looks at, one
 * after the other (final_code.h). */
struct machine_final_local {
	uint32_t session, reg;
};
/* Runs on to the next local, which machine_answer() is to give, or to the end
 * (false), where machine_findings() has what failed. */
bool machine_final_step(struct machine *m, struct machine_state *s,
                        struct machine_final_local *out);
/* Of a session at its end. */
struct value machine_register(const struct machine_state *s, uint32_t reg);

#endif
