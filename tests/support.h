/* What several suites need: histories from a short notation, random
 * histories, programs from text, sets of strings. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/rng.h"
#include "base/sanitizers.h"
#include "history/history.h"
#include "vm/program.h"

/* A history in a line: sessions separated by `|`, transactions of a session by
 * `;`, each `NAME: EVENTS`. Events: `Wx` writes x, `x<T1` reads x from T1,
 * `x<0` from init, `x<self` the own write. `NAME!:` is an aborted
 * transaction, `NAME@si:` one with a level of its own; a session that begins
 * with `*` follows all the others.
 *     T1: Wx ; T2: y<0 | T3: x<T1
 * `x<0/S` locks with this strength, `Wx/N` too; `+y<0` belongs to the statement
 * of the event before it.
 * The order is NULL where so U wr has a cycle. Stops the test if malformed. */
struct history *history_from_notation(const char *notation);
/* The inverse, for messages; the caller frees it. */
char *history_to_notation(const struct history *h);

/* Fills h->order, or leaves NULL; for histories made by hand. */
void history_find_order(struct history *h);

struct history_shape {
	uint32_t sessions;     /* at most */
	uint32_t transactions; /* at most, init not counted */
	uint32_t events;       /* at most, per transaction */
	uint32_t keys;         /* at most */
	bool causal;           /* mostly satisfies cc, but not much more */
};
/* A random history whose so U wr is acyclic. */
struct history *history_random(struct rng *r, struct history_shape shape);
/* Levels of their own for some transactions, or for all: any that mix. */
void history_give_levels(struct rng *r, struct history *h);
/* Of those whom nobody reads from, one in three aborts. */
void history_abort_some(struct rng *r, struct history *h);
/* Many are serializable, among each other only. */
void history_be_ssi(struct rng *r, struct history *h);
/* Reads and writes that lock in every way, and statements of several accesses.
 */
void history_give_locks(struct rng *r, struct history *h);
/* After that: some end before their transactions do. */
void history_give_up_locks(struct rng *r, struct history *h);
/* Tells the order of some writers of a key, mostly as they come in h->order:
 * one in `turned` pairs is turned around. */
void history_tell_orders(struct rng *r, struct history *h, uint32_t turned);
/* Of so many, init among the transactions, all but which are to be filled in.
 */
struct history *history_new(uint32_t sessions, uint32_t transactions,
                            uint32_t keys);
/* The same history with `extra` sessions added before, between and after the
 * others, of one transaction each, on keys of their own: the same levels hold.
 * Numbers of the old transactions change. */
struct history *history_padded(const struct history *h, uint32_t extra);

/* Compiles the text; stops the test with the diagnostics when that fails. */
struct program *program_from_text(const char *text);
/* All diagnostics, a line each: kind:line:column: message. Caller frees. */
char *diags_to_text(const struct diags *d);

/* Where all random inputs begin: ISOSCOPE_SEED, or 1. Every random test makes
 * its seeds of it, so that the number repeats what a run has tried. */
uint64_t first_seed(void);
/* How many random inputs a suite tries: ISOSCOPE_PROGRAMS, or all. */
uint64_t programs_or(uint64_t all);
/* A short run, by ISOSCOPE_QUICK: the same kinds of tests, fewer of each. */
bool is_quick(void);
/* A tenth in a short run, else all. */
int fewer(int all);
/* A suite tries `all` random programs, unless ISOSCOPE_PROGRAMS says otherwise,
 * in so many processes: how many does one of them try in a test that tries
 * `of_all` of them? */
uint64_t programs_each(uint64_t all, uint64_t of_all, uint64_t processes);
/* Where the seeds of a process begin (from ISOSCOPE_SEED, or 1); apart for each
 * test of a suite. */
uint64_t process_seed(int process, uint64_t test);

struct strings {
	char **items;
	size_t count, capacity;
};
void strings_add(struct strings *s, const char *text); /* copies */
void strings_sort(struct strings *s);
/* Removes repetitions from a sorted list; returns how many there were. */
size_t strings_unique(struct strings *s);
void strings_free(struct strings *s);

/* The allocators of the address and the thread sanitizer may be locked for ever
 * in a process that was forked while another thread allocated. */
enum { FORKS_AMONG_THREADS = !ADDRESS_SANITIZER && !THREAD_SANITIZER };

#endif
