/* Isolation levels: one table, three questions.
 *
 * Is this history allowed (allows.h); if not, why (witness.h); and, while a
 * history grows, which writers may this read take (closure.h).
 *
 * A row of the table says what a level is. Who needs to know asks for a
 * property of the row: a level is named in the axioms only, so that a new one
 * is a new row (tests/level_names.sh).
 *
 * Definitions: Biswas and Enea, OOPSLA 2019, in the axiomatic form of
 * Bouajjani, Enea, Roman-Calvo, PLDI 2023, section 2. Where a history tells the
 * order of some writers of a key (history.h), every level but none asks for a
 * commit order that agrees with it; under psi and si it orders these writers.
 */
#ifndef ISO_AXIOMS_LEVEL_H
#define ISO_AXIOMS_LEVEL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "history/relation.h"

/* The writers that a read has in sight: it must not take a version of its key
 * that is older than one of theirs. Each sees all that the one before sees. */
enum sight {
	SIGHT_NOTHING,   /* nor do dirty reads matter */
	SIGHT_SOURCES,   /* those that its transaction has read from so far */
	SIGHT_STATEMENT, /* the same, and all that committed before a moment of
	                  * each statement */
	SIGHT_DIRECT,    /* one step of so U wr, whenever it is taken */
	SIGHT_PAST,  /* any number of steps; and those between two writers of
	              * one key, if these exclude each other */
	SIGHT_PREFIX /* all that committed before a moment */
};

/* When that is. The later ones leave less room for what others do. */
enum moment {
	MOMENT_READ,  /* at each read anew */
	MOMENT_BEGIN, /* at the beginning of the transaction */
	MOMENT_COMMIT /* when it commits: it happens at one point */
};

/* What two transactions that write one key may do. */
enum rivals {
	RIVALS_FREE,     /* run side by side */
	RIVALS_EXCLUDED, /* one is in sight of the other */
	RIVALS_LOCKED    /* one commits before the other locks the key, be it to
	                  * read or to write */
};

/*     identifier, word on the command line, name, causally extensible,
 *     sight, moment, rivals
 * No level implies one that stands behind it; those that need no commit order
 * (level_needs_order) come first. */
#define LEVEL_TABLE(X)                                                        \
	X(LEVEL_NONE, "none", "No isolation", true, SIGHT_NOTHING,            \
	  MOMENT_READ, RIVALS_FREE)                                           \
	X(LEVEL_RC, "rc", "Read Committed", true, SIGHT_SOURCES, MOMENT_READ, \
	  RIVALS_FREE)                                                        \
	X(LEVEL_RA, "ra", "Read Atomic", true, SIGHT_DIRECT, MOMENT_BEGIN,    \
	  RIVALS_FREE)                                                        \
	X(LEVEL_CC, "cc", "Causal Consistency", true, SIGHT_PAST,             \
	  MOMENT_BEGIN, RIVALS_FREE)                                          \
	X(LEVEL_PRC, "prc", "PostgreSQL's Read Committed", false,             \
	  SIGHT_STATEMENT, MOMENT_READ, RIVALS_LOCKED)                        \
	X(LEVEL_PC, "pc", "Prefix Consistency", false, SIGHT_PREFIX,          \
	  MOMENT_BEGIN, RIVALS_FREE)                                          \
	X(LEVEL_PSI, "psi", "Parallel Snapshot Isolation", false, SIGHT_PAST, \
	  MOMENT_BEGIN, RIVALS_EXCLUDED)                                      \
	X(LEVEL_SI, "si", "Snapshot Isolation", false, SIGHT_PREFIX,          \
	  MOMENT_BEGIN, RIVALS_EXCLUDED)                                      \
	X(LEVEL_SER, "ser", "Serializability", false, SIGHT_PREFIX,           \
	  MOMENT_COMMIT, RIVALS_LOCKED)

enum level {
#define X(id, ...) id,
	LEVEL_TABLE(X)
#undef X
		LEVEL_COUNT,
	LEVEL_SERIAL = LEVEL_SER, /* what all others are measured by */
	LEVEL_DEFAULT = LEVEL_CC  /* where nobody states one */
};

struct level_row {
	const char *word; /* "cc" */
	const char *name; /* "Causal Consistency" */
	/* Every execution of a part of a program goes on to a history of the
	 * whole (PLDI 2023, section 3): it can be explored. */
	bool extensible;
	enum sight sight;
	enum moment moment;
	enum rivals rivals;
};

static inline const struct level_row *level_row(enum level l)
{
	static const struct level_row rows[LEVEL_COUNT] = {
#define X(id, ...) { __VA_ARGS__ },
		LEVEL_TABLE(X)
#undef X
	};
	assert(l < LEVEL_COUNT);
	return &rows[l];
}
static inline const char *level_word(enum level l)
{
	return level_row(l)->word;
}
static inline const char *level_name(enum level l)
{
	return level_row(l)->name;
}
static inline bool level_is_extensible(enum level l)
{
	return level_row(l)->extensible;
}
static inline enum sight level_sight(enum level l)
{
	return level_row(l)->sight;
}
/* Has each statement of a transaction a snapshot of its own, and do locks count
 * from their statement on? */
static inline bool level_has_statements(enum level l)
{
	return level_row(l)->sight == SIGHT_STATEMENT;
}
/* Is it decided by the points of axioms/points.h? Under psi, transactions see
 * what is no beginning of a line. */
static inline bool level_has_points(enum level l)
{
	return level_row(l)->sight != SIGHT_PAST ||
	       level_row(l)->rivals == RIVALS_FREE;
}
/* Can a transaction have it beside others with other levels? What it must see
 * is then a condition on its reads, its points and one commit order; what one
 * that excludes rivals without seeing a prefix must see is not. */
static inline bool level_mixes(enum level l)
{
	return level_has_points(l);
}
/* Of two writers of one key, is one in sight of the other? */
static inline bool level_excludes_rivals(enum level l)
{
	return level_row(l)->rivals != RIVALS_FREE && !level_has_statements(l);
}
/* Does every history of the level come from transactions that ran one after
 * the other? */
static inline bool level_is_serial(enum level l)
{
	return level_row(l)->sight == SIGHT_PREFIX &&
	       level_row(l)->moment == MOMENT_COMMIT;
}
/* Has a transaction two points in the commit order: where it begins, with a
 * snapshot of what is before, and where it commits? */
static inline bool level_has_snapshots(enum level l)
{
	return level_row(l)->sight == SIGHT_PREFIX &&
	       level_row(l)->moment == MOMENT_BEGIN;
}
/* Does what a read must see depend on the commit order? If not, so, wr and the
 * edges that reads force decide; else there are choices. */
static inline bool level_needs_order(enum level l)
{
	return level_row(l)->sight == SIGHT_PREFIX ||
	       level_row(l)->rivals != RIVALS_FREE;
}

/* Do transactions see what is there at some moment: one of each statement,
 * their beginning, or their end? */
static inline bool level_has_moments(enum level l)
{
	return level_has_statements(l) || level_row(l)->sight == SIGHT_PREFIX;
}

/* Once the order of the writers of each key is decided, is all of it? */
static inline bool level_orders_rivals(enum level l)
{
	return level_excludes_rivals(l) && !level_is_serial(l);
}

/* Of a level or a deployment; LEVEL_COUNT when none has this name. */
enum level level_from_word(const char *word);
/* A level in words, "si", or a mix, "si+ser": bit l for level l. False, with
 * the reason, if there is no such level, or if one of them cannot stand beside
 * others. */
bool levels_read(const char *words, unsigned *out, struct text *why);
/* True when every history that satisfies `strong` satisfies `weak`. */
bool level_implies(enum level strong, enum level weak);
/* The same where reads may be for constraints (strength_is_beside): where
 * transactions have snapshots they are not bound by them, and where statements
 * have them some are plain, so that other levels forbid what such a level
 * allows. */
bool level_implies_checks(enum level strong, enum level weak);
/* What the level is where reads may be for constraints: in a mix whose serial
 * transactions are PostgreSQL's (relation.ssi) these have snapshots, and such
 * reads beside them. */
enum level level_behind(enum level l, bool ssi);
/* The strongest extensible level that it implies: explored in its place. */
enum level level_base(enum level l);

/* A mix. A transaction may have a level of its own (relation.owns); the others
 * have the one that is asked about. A history satisfies its levels if there is
 * one commit order such that what each reader must see, by its own level, is no
 * newer than what it read (Bouajjani, Enea, Roman-Calvo, CAV 2025). A stronger
 * level for some transactions allows no more. */
static inline enum level level_of(enum level others, const struct relation *r,
                                  uint32_t t)
{
	return r->owns && r->owns[t] ? (enum level)(r->owns[t] - 1) : others;
}
/* Has some transaction statements, or reads beside its snapshot, or is it one
 * of serializable snapshot isolation in a mix? Then it is a question for points
 * (axioms/points.h). */
bool level_asks_points(enum level others, const struct relation *r);
/* Do reads that lock make it a mix of one commit order? They must see all that
 * commits before their transaction does, as under ser each read does. */
static inline bool level_mixes_locks(enum level l, const struct relation *r)
{
	return r->locks_reads && level_sight(l) != SIGHT_NOTHING &&
	       !level_is_serial(l) && level_mixes(l);
}
/* The level of all transactions, if there is one; LEVEL_COUNT: a mix, of levels
 * that level_mixes(). */
enum level level_of_all(enum level others, const struct relation *r);

#endif
