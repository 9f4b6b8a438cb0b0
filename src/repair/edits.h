/* What may be changed in a program so that fewer histories are allowed, and the
 * text that it then has.
 *
 * Only how accesses lock and at which level transactions run: whatever an
 * execution of the changed program does, the program does as well. So a history
 * of one is a history of the other, if the other's locks and levels allow it
 * (edits_allow). Not so where an edit moves what a transaction does: a history
 * of that tells nothing of programs without it, nor the other way round.
 */
#ifndef ISO_REPAIR_EDITS_H
#define ISO_REPAIR_EDITS_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/access.h"
#include "base/diag.h"
#include "base/text.h"
#include "repair/weights.h"

struct accesses;
struct history;
struct level_scratch;
struct program;
struct relation;
struct sql_arguments;

struct edit {
	enum edit_kind kind;
	unsigned cost;        /* WEIGHT_NEVER: it is not to be offered */
	uint32_t transaction; /* which, as below; not of PROGRAM */
	enum level level;     /* TRANSACTION, PROGRAM */
	/* Accesses. LOCK: a read; ATOMIC: a read, and a write. */
	uint32_t read, write;
	enum strength strength; /* LOCK */
	const char *key; /* LOCK, ATOMIC: what is read, as it is written */
	/* LOCK in SQL: of a row that nobody writes, to keep others out that
	 * lock it: 1 + its table; else 0. */
	uint32_t mutex;
	bool moves; /* ATOMIC: what it adds is read before, or may be an error
	             */
	/* In file `source`, so many bytes make room for the text. */
	uint32_t source, offset, removed;
	const char *text;
};

/* A transaction as it stands in the program, not as it runs. */
struct edit_transaction {
	const char *name; /* NULL: it has none */
	uint32_t source, line;
	own_level own;
	/* It is not run; or `finally`, which reads the end; or there is no
	 * place for a level of its own, as in a routine in SQL. */
	bool fixed;
};

struct edits;

/* What there is to choose from. */
struct edit_terms {
	enum level level; /* of the program */
	bool level_said;  /* by the command line, so that the text has no say */
	const struct sql_arguments *given; /* of a file of SQL; borrowed */
	/* A read that locks to write counts as a write, as in Oracle: it is
	 * explored as one that writes back what it read. */
	bool locks_write;
	bool ssi; /* program_is_ssi(); of SQL it always is */
	/* Transactions and routines that nobody calls count, too, and there
	 * need not be sessions. */
	bool uncalled;
	struct edit_weights weights;
};

/* NULL, with the reason, if the program cannot be loaded. */
struct edits *edits_new(const char *path, const struct edit_terms *terms,
                        struct diags *d);
void edits_free(struct edits *e);

/* Does the command line say the level of the program? It has to where no text
 * can. */
bool edits_say_level(const struct edits *e);
uint32_t edits_count(const struct edits *e);
const struct edit *edits_get(const struct edits *e, uint32_t i);
uint32_t edits_transaction_count(const struct edits *e);
const struct edit_transaction *edits_transaction(const struct edits *e,
                                                 uint32_t i);
const char *edits_file(const struct edits *e, uint32_t source);
/* Where the edit begins. */
uint32_t edits_line(const struct edits *e, uint32_t i);
uint32_t edits_column(const struct edits *e, uint32_t i);
/* Are serial transactions so among each other only (program_is_ssi())? */
bool edits_are_ssi(const struct edits *e);

/* Some of the edits, by their numbers. */
struct edit_set {
	const uint32_t *items;
	uint32_t count;
};

/* Does it allow less? The others allow more, or neither. Here and below, what
 * si allows and prc does not, as to the versions that locks find, is left
 * aside.
 */
bool edits_strengthen(const struct edits *e, uint32_t i);
/* Does it allow more? */
bool edits_weaken(const struct edits *e, uint32_t i);
/* Can these two be made together, and does that say more than one of them? */
bool edits_join(const struct edits *e, uint32_t a, uint32_t b);
/* Does a program with edit a allow no more than one with edit b? */
bool edits_imply(const struct edits *e, uint32_t a, uint32_t b);
/* The level of the program's transactions that have none of their own. */
enum level edits_level(const struct edits *e, struct edit_set s);
/* An edited program, and where its accesses are. */
struct edited {
	struct program *program;
	enum level level; /* of transactions that have none of their own */
	struct accesses *accesses;
};
/* The files of the program with these edits: edits_file_count() texts, each to
 * be freed. */
uint32_t edits_file_count(const struct edits *e);
void edits_texts(const struct edits *e, struct edit_set s, struct text *texts);
/* To be freed with edited_free. No program, if it does not compile. */
struct edited edits_make(const struct edits *e, struct edit_set s);
void edited_free(struct edited *x);
/* Marks the events of a history of that program with what they are an access of
 * (event.point), so that other sets of edits can be asked about it. */
void edits_mark(const struct edits *e, const struct edited *x,
                struct history *h);
/* Does the program with these edits allow a history that was marked, of the
 * program with the edits `of`? Changes its levels and locks. False also where
 * that does not say it: locks change which accesses are one statement. Many
 * questions are quicker with its relation, if it has no dirty reads; or NULL.
 */
bool edits_allow(const struct edits *e, struct edit_set s, struct edit_set of,
                 struct history *h, struct relation *r,
                 struct level_scratch *scratch);
/* Do diffs name the files from the root, since one of them is not below the
 * folder where isoscope was started? */
bool edits_are_rooted(const struct edits *e);
/* The lines that change, as a unified diff without context that `patch -p1`
 * applies there, or in the root, each behind so many blanks; nothing if the
 * text stays. */
void edits_diff(struct text *t, const struct edits *e, struct edit_set s,
                unsigned indent);

#endif
