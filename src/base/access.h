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
 * Two more are for foreign keys. Who deletes a row looks for those that refer
 * to it, as they are now, whatever the snapshot: that is a CHECK. It locks
 * nothing, and is a plain read where statements have moments; where a
 * transaction has one snapshot, nobody has made the row refer anew, deleted or
 * inserted it since. A write that makes a row refer anew is a REFERENCE; else
 * it is as NO KEY UPDATE. */
/*     identifier, letter in files, what is said of such a read */
#define STRENGTH_TABLE(X)                          \
	X(STRENGTH_PLAIN, "", "")                  \
	X(STRENGTH_CHECK, "C", "checked")          \
	X(STRENGTH_KEY_SHARE, "K", "key-shared")   \
	X(STRENGTH_SHARE, "S", "shared")           \
	X(STRENGTH_NO_KEY_UPDATE, "N", "updating") \
	X(STRENGTH_REFERENCE, "R", "updating")     \
	X(STRENGTH_UPDATE, "X", "locked")

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
__attribute__((const)) bool strengths_exclude(enum strength a, enum strength b);
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
