/* A compiled program: immutable, shareable between threads.
 *
 * This header is what exploration and reports see; the bytecode is in
 * vm/bytecode.h.
 */
#ifndef ISO_VM_PROGRAM_H
#define ISO_VM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/level_words.h"
#include "vm/value.h"

struct program;

struct position {
	const char *file; /* as the user gave it, or as an import resolved */
	uint32_t line, column;
	const char *source_line; /* the text of that line, no line end */
};

enum assertion_kind {
	ASSERTION_INLINE,      /* inside a transaction or session */
	ASSERTION_FINAL,       /* top level, over the sessions' locals */
	ASSERTION_SERIALIZABLE /* assert serializable; */
};

struct assertion {
	enum assertion_kind kind;
	const char *text;    /* the condition, canonical layout, one line */
	const char *message; /* given by the user, or NULL */
	struct position at;
};

/* A place whose being reached matters: an assertion, or a branch. */
enum reach_kind { REACH_ASSERTION, REACH_THEN, REACH_ELSE };
struct reach_point {
	enum reach_kind kind;
	struct position at;
};

const char *program_path(const struct program *p);
/* A hash of all the bytes that it was read from: of its file, of those that are
 * imported, of shared objects with its code in C. */
uint64_t program_digest(const struct program *p);
/* What that would be if program_is_ssi() were not what it is. */
uint64_t program_digest_otherwise(const struct program *p);
/* Sessions in order of declaration; `finally`, if any, is the last. */
uint32_t program_session_count(const struct program *p);
bool program_has_finally(const struct program *p);
const char *program_session_name(const struct program *p, uint32_t session);
/* Name of a transaction ("txn" for an anonymous one) by request.name. */
const char *program_transaction_name(const struct program *p, uint32_t name);
/* The level that transactions of this name have of their own; 0: the program's.
 */
own_level program_transaction_level(const struct program *p, uint32_t name);
/* May transactions have levels of their own? Of native programs that is not
 * known before they run. */
bool program_may_mix(const struct program *p);
/* A transaction that has one, and where; false if none is known of. */
bool program_finds_own_level(const struct program *p, uint32_t *name,
                             struct position *at);
/* Is one known of? */
bool program_mixes(const struct program *p);
/* Is this level known to be that of some transaction? Of native programs: is
 * one known of? */
bool program_owns(const struct program *p, own_level level);
/* Is it known that all transactions have one? */
bool program_owns_all(const struct program *p);
/* Are transactions at a serial level so among each other only, as PostgreSQL
 * has it (axioms/points.h)? They are from here on. */
bool program_is_ssi(const struct program *p);
void program_be_ssi(struct program *p);
/* Do reads lock? Of native programs that is not known before they run: false.
 */
bool program_locks(const struct program *p);
/* May some transaction give a lock up before it ends? */
bool program_gives_up(const struct program *p);
/* May a read check what a foreign key asks (STRENGTH_CHECK)? Then what prc
 * allows, rc may forbid. */
bool program_checks(const struct program *p);
/* An upper bound on the transactions that the session can run, or 0 when no
 * static bound is known (a session loop over a computed collection). */
uint32_t program_session_bound(const struct program *p, uint32_t session);
/* Top-level locals of a session, for reports: count and names. */
uint32_t program_local_count(const struct program *p, uint32_t session);
const char *program_local_name(const struct program *p, uint32_t session,
                               uint32_t local);
uint32_t program_assertion_count(const struct program *p);
const struct assertion *program_assertion(const struct program *p, uint32_t i);
/* No final assertion has this number or a greater one. */
uint32_t program_final_bound(const struct program *p);
/* Assertions of native programs are known only when some session has come to
 * them: there is room for some, of which only those met count. Always true for
 * other programs. */
bool program_assertion_met(const struct program *p, uint32_t i);
/* Are its sessions functions of a shared object? */
bool program_is_native(const struct program *p);
/* Are they statements of SQL? */
bool program_is_sql(const struct program *p);
/* Why nothing that was found about the program is worth anything (native code
 * that does not do the same each time), in lines of text, or NULL. */
const char *program_fault(const struct program *p);
/* Where that is; false: it is of no place. */
bool program_fault_position(const struct program *p, struct position *at);
/* "session 'a' begins more than 1000 transactions", and where, if a session was
 * cut short there: executions in which it goes on are not complete, and so left
 * out. Else NULL. */
/* Why its sessions cannot be run any more, though what was found of them holds;
 * or NULL. */
const char *program_lost(const struct program *p);
const char *program_bound_met(const struct program *p, struct position *at);
uint32_t program_reach_count(const struct program *p);
struct reach_point program_reach_point(const struct program *p, uint32_t i);
struct position program_position(const struct program *p, uint32_t point);
/* The level named by `isolation LEVEL;` ("cc", ...), or NULL. */
const char *program_isolation(const struct program *p);
/* Explores the sessions in another order of declaration: a permutation of
 * 0 .. session_count - 1 (finally stays last). Used to test that results do
 * not depend on the order. Returns a view sharing p's code; p outlives it. */
struct program *program_reordered(const struct program *p,
                                  const uint32_t *permutation);
void program_free(struct program *p);

#endif
