/* Isolation levels: one table, three questions.
 *
 * Is this history allowed (level_allows); if not, why (level_witness); and,
 * while a history grows, which writers may this read take (closure.h).
 *
 * Definitions: Biswas and Enea, OOPSLA 2019, in the axiomatic form of
 * Bouajjani, Enea, Roman-Calvo, PLDI 2023, section 2. Where a history tells the
 * order of some writers of a key (history.h), every level but none asks for a
 * commit order that agrees with it; under psi and si it orders these writers.
 */
#ifndef ISO_AXIOMS_LEVEL_H
#define ISO_AXIOMS_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/*     identifier, word on the command line, name, causally extensible */
#define LEVEL_TABLE(X)                                            \
	X(LEVEL_NONE, "none", "No isolation", true)               \
	X(LEVEL_RC, "rc", "Read Committed", true)                 \
	X(LEVEL_RA, "ra", "Read Atomic", true)                    \
	X(LEVEL_CC, "cc", "Causal Consistency", true)             \
	X(LEVEL_PC, "pc", "Prefix Consistency", false)            \
	X(LEVEL_PSI, "psi", "Parallel Snapshot Isolation", false) \
	X(LEVEL_SI, "si", "Snapshot Isolation", false)            \
	X(LEVEL_SER, "ser", "Serializability", false)

enum level {
#define X(id, word, name, extensible) id,
	LEVEL_TABLE(X)
#undef X
		LEVEL_COUNT
};

struct history;
struct relation;

const char *level_word(enum level l); /* "cc" */
const char *level_name(enum level l); /* "Causal Consistency" */
bool level_is_extensible(enum level l);
/* LEVEL_COUNT when no level has this name. */
enum level level_from_word(const char *word);
/* True when every history that satisfies `strong` satisfies `weak`. */
bool level_implies(enum level strong, enum level weak);

/* Reusable memory of level_allows, so that it does not allocate. */
struct level_scratch;
struct level_scratch *level_scratch_new(void);
void level_scratch_free(struct level_scratch *s);
size_t level_scratch_bytes(const struct level_scratch *s); /* held */

/* Does the history satisfy the level? Exact for every level. */
bool level_allows(enum level l, const struct relation *r,
                  struct level_scratch *s);
/* The same, and false for a history with a cycle of so and wr (which no level
 * allows), or with a dirty read (which `none` alone allows). */
bool level_allows_history(enum level l, const struct history *h);

/* Why a history violates a level: a cycle of transactions. */
enum reason_kind {
	REASON_SO,     /* session order */
	REASON_WR,     /* `to` reads `key` from `from` */
	REASON_FORCED, /* `from` also wrote `key`, which `reader` read from `to`
	                * although it was to see `from`: so `from` is earlier */
	REASON_WW,     /* both wrote `key`; this order is known (history.h), the
	                * only one left, or the one tried */
	REASON_RW      /* `from` read `key` as it was before `to` wrote it */
};

struct witness_edge {
	uint32_t from, to; /* transactions; `to` is the next edge's `from` */
	enum reason_kind reason;
	uint32_t key;    /* history key; WR, FORCED, WW, RW */
	uint32_t reader; /* FORCED: the transaction whose read forces it; WW:
	                  * likewise, or `from` */
};

struct witness {
	uint32_t count;
	struct witness_edge *edges; /* malloc'ed */
};

/* Fills `out` with a shortest cycle found; false if the history satisfies the
 * level. A dirty read is a single wr, not a cycle. For pc, psi, si and ser the
 * cycle is one of dependencies so, wr, ww and rw, under every order of the
 * writers that the level leaves open; where several orders were open, it is
 * the cycle of the one tried. A ww that a read forces names its reader; one
 * that is known or has another reason names `from`. */
bool level_witness(enum level l, const struct history *h, struct witness *out);
void witness_free(struct witness *w);
/* "so", "wr", "forced", "ww" or "rw". */
const char *reason_word(enum reason_kind r);

/* The usual name of the anomaly that a history which is not serializable
 * shows, and the weakest level that forbids the history: the first in the
 * table. NULL and LEVEL_COUNT for a history that is serializable. */
const char *anomaly_name(const struct history *h, enum level *forbidden_by);
/* The same for a history that level l forbids: of l and the levels that it
 * implies, the weakest one. NULL and LEVEL_COUNT if l allows the history. */
const char *anomaly_name_under(enum level l, const struct history *h,
                               enum level *forbidden_by);

#endif
