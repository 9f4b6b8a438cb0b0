/* How a transaction accesses a key: what it locks by that, and which accesses
 * are one statement of the database.
 */
#ifndef ISO_BASE_ACCESS_H
#define ISO_BASE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

/* How an access locks its row until its transaction ends, as in PostgreSQL:
 * FOR KEY SHARE, FOR SHARE, FOR NO KEY UPDATE (the write of an UPDATE), FOR
 * UPDATE (the write of a DELETE).
 *
 * Four more are for constraints, which are about rows as they are now, whatever
 * the snapshot. Who deletes a row looks for those that refer to it: each such
 * read is a CHECK, which locks nothing; one that is found to refer is a HELD
 * one, locked as by KEY SHARE. A write that makes a row refer anew is a
 * REFERENCE; else it is as NO KEY UPDATE. Who inserts a row looks for one with
 * its key: that is an INSERT. If there is none, it writes it, and has it locked
 * as by UPDATE.
 *
 * Where a transaction has one snapshot, these reads are beside it
 * (strength_is_beside), and what locks the row is the write. Where each
 * statement has one, CHECK and HELD read from that. Elsewhere a CHECK asks that
 * nobody makes the row refer anew, deletes or inserts it before its transaction
 * commits, and an INSERT locks. */
/*     identifier, letter in files, what is said of such a read */
#define STRENGTH_TABLE(X)                          \
	X(STRENGTH_PLAIN, "", "")                  \
	X(STRENGTH_CHECK, "C", "checked")          \
	X(STRENGTH_HELD, "H", "key-shared")        \
	X(STRENGTH_KEY_SHARE, "K", "key-shared")   \
	X(STRENGTH_SHARE, "S", "shared")           \
	X(STRENGTH_NO_KEY_UPDATE, "N", "updating") \
	X(STRENGTH_REFERENCE, "R", "updating")     \
	X(STRENGTH_UPDATE, "X", "locked")          \
	X(STRENGTH_INSERT, "I", "inserting")

enum strength {
#define X(id, ...) id,
	STRENGTH_TABLE(X)
#undef X
		STRENGTH_COUNT,
	/* No lock, but the end of one: of the key's newest lock that a read
	 * of the transaction has taken and that has not ended. So it is when a
	 * transaction rolls back to a savepoint. (Histories have it as a read
	 * of the own write, of no value.) */
	STRENGTH_GIVEN_UP
};

/* Do such accesses of two transactions to one row exclude each other? A plain
 * one, which is a read, excludes nothing, nor does one that ends a lock. */
static inline bool strengths_exclude(enum strength a, enum strength b)
{
	enum {
		KEY_SHARED = 1u << STRENGTH_KEY_SHARE | 1u << STRENGTH_HELD,
		SHARED = 1u << STRENGTH_SHARE,
		CHANGED =
			1u << STRENGTH_NO_KEY_UPDATE | 1u << STRENGTH_REFERENCE,
		FOR_UPDATE = 1u << STRENGTH_UPDATE | 1u << STRENGTH_INSERT
	};
	static const uint16_t excluded[STRENGTH_GIVEN_UP + 1] = {
		[STRENGTH_KEY_SHARE] = FOR_UPDATE,
		[STRENGTH_HELD] = FOR_UPDATE,
		[STRENGTH_SHARE] = CHANGED | FOR_UPDATE,
		[STRENGTH_NO_KEY_UPDATE] = SHARED | CHANGED | FOR_UPDATE,
		[STRENGTH_REFERENCE] = SHARED | CHANGED | FOR_UPDATE,
		[STRENGTH_UPDATE] = KEY_SHARED | SHARED | CHANGED | FOR_UPDATE,
		[STRENGTH_INSERT] = KEY_SHARED | SHARED | CHANGED | FOR_UPDATE
	};
	return excluded[a] >> b & 1;
}
/* Of a transaction with one snapshot: is it a read beside it, which takes what
 * is the newest version at a moment of its own? */
static inline bool strength_is_beside(enum strength read)
{
	return read == STRENGTH_CHECK || read == STRENGTH_HELD ||
	       read == STRENGTH_INSERT;
}
/* Is what is read so, under a level without statements, to be as the last such
 * write before the reader's commit has left it? So it is for each lock that the
 * write's excludes, and for a check. */
__attribute__((const)) bool strength_meets(enum strength read,
                                           enum strength write);
/* "K"; "" for a plain access. */
const char *strength_letter(enum strength s);
/* "shared"; "" for a plain access. */
const char *strength_word(enum strength s);
/* STRENGTH_COUNT when there is none of this letter. */
enum strength strength_from_letter(const char *letter);

/* A read or write that is asked for. */
struct db_access {
	uint32_t key;
	uint32_t point; /* place in the program's source, 0 when none */
	enum strength strength : 8;
	bool joined; /* it belongs to the statement of the access before it in
	              * its transaction; else it begins one */
};

/* A plain one, by itself. */
static inline struct db_access db_access_plain(uint32_t key, uint32_t point)
{
	return (struct db_access){ .key = key, .point = point };
}

#endif
