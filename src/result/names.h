/* What things are called in reports: the program's own names. */
#ifndef ISO_RESULT_NAMES_H
#define ISO_RESULT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "axioms/schedule.h"
#include "base/budget.h"
#include "base/text.h"
#include "vm/program.h"

struct result;

struct history;
struct finding;
struct finding_value;

/* "alice.1 enroll", "init", "bob.2" (anonymous), "finally". */
void name_transaction(struct text *t, const struct history *h, uint32_t i);
/* The same with its level, where levels may differ: "alice.1 enroll at si". */
void name_transaction_at(struct text *t, const struct history *h, uint32_t i);
/* The word of that level; NULL where they do not, and for init. */
const char *transaction_level(const struct history *h, uint32_t i);
/* The same without the transaction's own name: "alice.1". */
void name_transaction_short(struct text *t, const struct history *h,
                            uint32_t i);
/* What a transaction of the level does at a moment of a schedule: "starts",
 * "commits", "aborts"; of a serial one, which has one moment, "runs", but with
 * serializable snapshot isolation. */
const char *name_moment(struct schedule_moment m, enum level l, bool ssi,
                        bool aborted);
/* `seats["db"]`; "key 7" for one whose name is a number. */
void name_key(struct text *t, const struct history *h, uint32_t key);
/* "read locked x = 1", without the value where none was observed. */
void name_event(struct text *t, const struct history *h, const struct event *e);
/* "alice"; "session 7" likewise. */
void name_session(struct text *t, const struct history *h, uint32_t session);
/* The same for any name and word. */
void name_or_number(struct text *t, const char *word, const char *name);
/* A name from outside: control characters, which would garble a terminal, and
 * bytes that are not UTF-8 are shown as question marks. */
void name_plain(struct text *t, const char *name);
/* "Snapshot Isolation (si)" */
void name_level(struct text *t, enum level l);
/* "Snapshot Isolation (si), as oracle-serializable"; NULL: as above. */
void name_level_as(struct text *t, enum level l, const char *as);
/* ", ser as in PostgreSQL", if it is, where transactions have levels of their
 * own. */
void name_ssi(struct text *t, bool ssi);
/* The same where some transactions of the program may have levels of their own:
 * then the level is that of the others. */
void name_program_level(struct text *t, const struct program *p, enum level l,
                        const char *as);
/* The settings "level" and, if there is one, "deployment". */
void result_level(struct result *r, enum level l, const char *as);
/* "last-seat.tx:21:1"; nothing for an unknown place. */
void name_position(struct text *t, struct position at);
/* "assert !(alice.ok == true)", "run-time error". Slots are numbered as in
 * dpor/explorer.h: the assertions, then run-time errors, then robustness. */
void name_program_slot(struct text *t, const struct program *p, uint32_t slot);
/* Where the slot's assertion stands in the source, or where the error of its
 * example happened, `f` being the finding of that, or NULL; no file when there
 * is no such place. */
struct position name_program_slot_position(const struct program *p,
                                           uint32_t slot,
                                           const struct finding *f);
/* Which kind of slot it is, in a word: "inline", "final", "serializable",
 * "error" or "robust". */
const char *name_slot_kind(const struct program *p, uint32_t slot);
/* What a finding knows of itself: "alice.ok = true". */
void name_finding_value(struct text *t, const struct finding_value *v);
/* "1 of 3 assertions fails" */
void name_failing(struct text *t, uint32_t count, uint32_t of);
/* "a run-time error happens", at so many places */
void name_errors(struct text *t, uint32_t places);
/* "both assertions are true in ", of so many that are checked. */
void name_nothing_fails(struct text *t, uint32_t checked);
/* Why it stopped: stop_text(), but where a session in C was cut short, which
 * one, and where. */
void name_stop(struct text *t, const struct program *p, enum stop_reason why);
/* "1 changed read", "2 changed reads" */
void name_changed_reads(struct text *t, uint64_t n);
/* "with at most 2 stale reads", "without stale reads" */
void name_bound(struct text *t, uint64_t stale_reads);

#endif
