/* What may be changed in a program so that fewer histories are allowed, and the
 * text that it then has.
 *
 * Only how accesses lock and at which level transactions run: whatever an
 * execution of the changed program does, the program does as well. So a history
 * of one is a history of the other, if the other's locks and levels allow it
 * (edits_allow).
 */
#ifndef ISO_REPAIR_EDITS_H
#define ISO_REPAIR_EDITS_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/access.h"
#include "base/diag.h"
#include "base/text.h"

struct accesses;
struct history;
struct program;

/*     identifier, word, cost unless weights say otherwise */
#define EDIT_TABLE(X)                                                         \
	/* a read locks its row to the end: shared, or to write where the     \
	 * transaction writes the key as well */                              \
	X(EDIT_LOCK, "lock", 1)                                               \
	/* a read, and the write of what is computed from it */               \
	X(EDIT_ATOMIC, "atomic", 2)                                           \
	/* of a transaction, which may then be aborted and has to be tried    \
	 * again; once more for a level without rivals that run side by side, \
	 * at which reads can be the reason */                                \
	X(EDIT_TRANSACTION, "transaction", 3)                                 \
	/* of the whole program, for each of its transactions */              \
	X(EDIT_PROGRAM, "program", 3)

enum edit_kind {
#define X(id, word, cost) id,
	EDIT_TABLE(X)
#undef X
		EDIT_KIND_COUNT
};

struct edit {
	enum edit_kind kind;
	unsigned cost;
	uint32_t transaction; /* which, as below; not of PROGRAM */
	enum level level;     /* TRANSACTION, PROGRAM */
	/* Accesses. LOCK: a read; ATOMIC: a read, and a write. */
	uint32_t read, write;
	enum strength strength; /* LOCK */
	/* In file `source`, so many bytes make room for the text. */
	uint32_t source, offset, removed;
	const char *text;
};

/* A transaction as it stands in the program, not as it runs. */
struct edit_transaction {
	const char *name; /* NULL: it has none */
	uint32_t source, line;
	own_level own;
	bool fixed; /* it is not run; or `finally`, which reads the end */
};

struct edits;

/* Those of a program that is explored at a level; `level_said`: by the command
 * line, so that the text has no say. NULL, with the reason, if it cannot be
 * loaded. */
struct edits *edits_new(const char *path, enum level level, bool level_said,
                        struct diags *d);
void edits_free(struct edits *e);

uint32_t edits_count(const struct edits *e);
const struct edit *edits_get(const struct edits *e, uint32_t i);
uint32_t edits_transaction_count(const struct edits *e);
const struct edit_transaction *edits_transaction(const struct edits *e,
                                                 uint32_t i);
const char *edits_file(const struct edits *e, uint32_t source);
/* Where the edit begins. */
uint32_t edits_line(const struct edits *e, uint32_t i);

/* Some of the edits, by their numbers. */
struct edit_set {
	const uint32_t *items;
	uint32_t count;
};

/* Does it allow less? The others allow more, or neither. */
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
	struct accesses *accesses;
};
/* To be freed with edited_free. No program, if it does not compile. */
struct edited edits_make(const struct edits *e, struct edit_set s);
void edited_free(struct edited *x);
/* Marks the events of a history of that program with what they are an access of
 * (event.point), so that other sets of edits can be asked about it. */
void edits_mark(const struct edits *e, const struct edited *x,
                struct history *h);
/* Does the program with these edits allow a history that was marked, of the
 * program with the edits `of`? Changes its levels and locks. False also where
 * that does not say it: locks change which accesses are one statement. */
bool edits_allow(const struct edits *e, struct edit_set s, struct edit_set of,
                 struct history *h);
/* The lines that change, as a diff: "file:12" and the lines, each behind so
 * many blanks, with - and +. */
void edits_diff(struct text *t, const struct edits *e, struct edit_set s,
                unsigned indent);

#endif
