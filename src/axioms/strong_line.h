/* The witness of strong_closure.h: a line of points, or under psi of
 * transactions and what each sees. What strong_closure.c and strong_line.c
 * share. */
#ifndef ISO_AXIOMS_STRONG_LINE_H
#define ISO_AXIOMS_STRONG_LINE_H

#include "axioms/allows.h"
#include "axioms/order.h"
#include "axioms/strong_closure.h"

#define NOWHERE UINT32_MAX

/* How much of the history the closure has: so many transactions and reads; the
 * last one has ended. */
struct fed {
	uint32_t count, reads;
	bool ended;
};

/* Before something was fed. */
struct mark {
	struct fed fed;
	size_t changes;
};

/* Where in the line the pending transaction, with some of its reads, can
 * begin: before place `from`, ..., before place `to`. */
struct window {
	uint32_t from, to;
	uint32_t turn;  /* of the transaction; NOWHERE: not known */
	uint32_t reads; /* up to this one */
};

/* A line in which the pending transaction, the one at this turn, fits if it
 * takes this read from there; NOWHERE: from those that need no other line. */
struct kept_line {
	uint32_t turn, read, source;
	size_t end; /* of its points, in kept_points */
};

/* What rows and points look like. Where it is constant, as it is where rows
 * have one word, what is done to a row becomes a plain operation on words: done
 * by functions that are made three times, see BY_SHAPE. */
struct shape {
	unsigned words, width; /* of rows of transactions, and of points */
	unsigned half;         /* commit(t) = half + t */
	unsigned at;           /* word of a row of points where commits begin */
};

BITS_INLINE struct shape shape_of(unsigned words, unsigned points)
{
	return (struct shape){ .words = words,
		               .width = points * words,
		               .half = points == 2 ? 64 * words : 0,
		               .at = points == 2 ? words : 0 };
}

struct strong_closure {
	enum level level;
	bool snapshots;            /* two points for each transaction: pc, si */
	bool exclusive;            /* rivals are heeded: psi, si */
	bool visible;              /* psi: the witness tells what is seen */
	struct shape h;            /* words is 0: no memory yet */
	struct level_scratch rows; /* its memory holds all up to `last` */
	word *writing;             /* one row: those fed that write something */
	word *readers, *sources, *overlapped; /* saturating: what changed */
	struct fed fed;
	struct mark *marks; /* one for each thing fed */
	size_t mark_count, mark_capacity;
	/* A read that is tried. */
	bool trying;
	struct relation_read trial;
	/* The witness: points in their order, init's commit first. */
	uint32_t *line, line_count;
	uint32_t *place; /* by point: where in the line, or NOWHERE */
	uint32_t *turn;  /* by transaction in it: its place in the closure */
	uint32_t lined;  /* so many transactions of the closure stand in it */
	word *seen;      /* psi: rows of what each sees */
	word *earlier;   /* psi: rows of those before each in the line */
	word *view;      /* psi: two rows */
	word *fits;      /* one row: writers that need no look */
	struct window window;
	struct kept_line *kept;
	uint32_t *kept_points;
	uint32_t kept_count, kept_capacity;
	size_t kept_room;
	uint32_t *last; /* by key: its last writer, while a line is tried */
	uint32_t last_capacity;
	struct relation_read *reads; /* psi: with the one that is tried */
	uint32_t read_capacity;
};

BITS_INLINE const word *writers_of(const struct closure *c, uint32_t key,
                                   unsigned words)
{
	return c->writers + (size_t)key * words;
}

/* Puts the ended transaction at this turn, the next one, into the line; false
 * if the others would have to make room. */
bool strong_line_add(struct strong_closure *s, const struct closure *c,
                     uint32_t turn);
/* The order tried becomes the line, without the pending transaction. */
void strong_line_adopt(struct strong_closure *s, const struct closure *c,
                       uint32_t count);
/* Keeps these points, without the pending transaction's, as a line in which the
 * next read may be from there. Not under psi. */
void strong_line_keep(struct strong_closure *s, const struct closure *c,
                      uint32_t source, const uint32_t *points, uint32_t count);
/* No line is kept for this read of the transaction at this turn, and those
 * behind it. */
void strong_line_forget(struct strong_closure *s, uint32_t turn, uint32_t read);
/* Takes the line that was kept for the reads of the last transaction, which is
 * not in it; false if there is none. */
bool strong_line_recall(struct strong_closure *s, const struct closure *c);
/* The writers that need no look at the closure; false if the pending
 * transaction does not fit into the line. */
bool strong_line_writers(struct strong_closure *s, const struct closure *c,
                         uint32_t key, const word *asked, word *out);
/* The line holds the transactions before this turn. */
void strong_line_shorten(struct strong_closure *s, uint32_t end);

#endif
