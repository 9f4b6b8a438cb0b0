/* Client programs in C, for isoscope to check.
 *
 *     #include <isoscope/client.h>
 *
 *     static void buy(void *seat)
 *     {
 *             iso_begin("buy");
 *             if (iso_get_int(seat) == 0) iso_put_int(seat, 1);
 *             iso_commit();
 *     }
 *
 *     void iso_client(void)
 *     {
 *             iso_initial_int("seat 12", 0);
 *             iso_session("alice", buy, "seat 12");
 *             iso_session("bob", buy, "seat 12");
 *     }
 *
 *     cc -g -shared -fPIC -o client.so client.c
 *     isoscope explore client.so
 *
 * A session is a C function that runs transactions, one after another. It is
 * run again and again, with every value that its reads can return; so what it
 * does may depend on these values only: not on the clock, on random numbers, or
 * on variables that keep their value from one run to the next.
 *
 * Keys are integers or strings of bytes, values also null. A key that was never
 * written holds null. Pointers given are copied from before the call returns;
 * strings and bytes returned stay valid until the session's function returns.
 *
 * A mistake in the use of these functions (a read outside of a transaction, an
 * integer where a string is expected) is reported as a violation, with the
 * place of the call, and ends the session.
 */
#ifndef ISOSCOPE_CLIENT_H
#define ISOSCOPE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ISO_CLIENT_API __attribute__((visibility("default")))
#else
#define ISO_CLIENT_API
#endif

/* ---- Values ---- */

enum iso_kind { ISO_NULL, ISO_INT, ISO_BYTES };

struct iso_value {
	enum iso_kind kind;
	int64_t integer;   /* ISO_INT */
	const void *bytes; /* ISO_BYTES; a zero byte follows what is read */
	size_t length;     /* ISO_BYTES */
};

ISO_CLIENT_API struct iso_value iso_null(void);
ISO_CLIENT_API struct iso_value iso_int(int64_t integer);
/* The bytes before the terminating zero; null for a null pointer. */
ISO_CLIENT_API struct iso_value iso_string(const char *string);
ISO_CLIENT_API struct iso_value iso_bytes(const void *bytes, size_t length);

/* ---- Declarations: from iso_client() only ---- */

/* You define this function. It is called before everything else. */
ISO_CLIENT_API void iso_client(void);

/* What a key holds in the beginning. */
ISO_CLIENT_API void iso_initial(struct iso_value key, struct iso_value value);
ISO_CLIENT_API void iso_initial_int(const char *key, int64_t value);
ISO_CLIENT_API void iso_initial_string(const char *key, const char *value);

/* A session; all of them run concurrently. `data` is given to the function:
 * with it one function can serve many sessions. */
ISO_CLIENT_API void iso_session(const char *name, void (*function)(void *data),
                                void *data);
/* A session that begins when all others have ended, to look at what they left.
 * One at most. */
ISO_CLIENT_API void iso_finally(void (*function)(void *data), void *data);
/* What must be true in the end, of the notes that sessions made: the function
 * may use iso_noted() only. */
ISO_CLIENT_API void iso_expect(const char *text, bool (*holds)(void *data),
                               void *data);
/* The isolation level to check under, unless --isolation says otherwise:
 * "none", "rc", "ra", "cc", "prc", "pc", "psi", "si" or "ser", or a database's
 * name for one. */
ISO_CLIENT_API void iso_isolation(const char *level);

/* ---- Transactions: from sessions ---- */

/* Begins a transaction; the name is for reports ("txn" if null). */
ISO_CLIENT_API void iso_begin(const char *name);
/* The same at a level of its own, whatever the others have: "none", "rc", "ra",
 * "cc", "prc", "pc", "si" or "ser", or a database's name for one. */
ISO_CLIENT_API void iso_begin_at(const char *name, const char *level);
ISO_CLIENT_API void iso_commit(void);
/* Undoes what the transaction wrote. Your code goes on after the call. */
ISO_CLIENT_API void iso_abort(void);

/* In a transaction. iso_get_int() and iso_get_string() expect a value of that
 * kind; iso_get_string() returns a null pointer for null. */
ISO_CLIENT_API struct iso_value iso_get(struct iso_value key);
ISO_CLIENT_API int64_t iso_get_int(const char *key);
ISO_CLIENT_API const char *iso_get_string(const char *key);
ISO_CLIENT_API void iso_put(struct iso_value key, struct iso_value value);
ISO_CLIENT_API void iso_put_int(const char *key, int64_t value);
ISO_CLIENT_API void iso_put_string(const char *key, const char *value);

/* Locks, which last until the transaction ends, as PostgreSQL has them: FOR KEY
 * SHARE, FOR SHARE, FOR NO KEY UPDATE and FOR UPDATE. What an UPDATE writes is
 * locked with ISO_NO_KEY_UPDATE, what a DELETE does, and iso_put(), with
 * ISO_UPDATE. */
enum iso_lock {
	ISO_NO_LOCK,
	ISO_KEY_SHARE,
	ISO_SHARE,
	ISO_NO_KEY_UPDATE,
	ISO_UPDATE
};

/* Reads the key and locks it so. */
ISO_CLIENT_API struct iso_value iso_get_for(struct iso_value key,
                                            enum iso_lock lock);
/* Writes, and locks so: ISO_NO_KEY_UPDATE or ISO_UPDATE. */
ISO_CLIENT_API void iso_put_for(struct iso_value key, struct iso_value value,
                                enum iso_lock lock);
/* Reads with ISO_UPDATE, and with ISO_SHARE. */
ISO_CLIENT_API struct iso_value iso_get_locked(struct iso_value key);
ISO_CLIENT_API int64_t iso_get_locked_int(const char *key);
ISO_CLIENT_API const char *iso_get_locked_string(const char *key);
ISO_CLIENT_API struct iso_value iso_get_shared(struct iso_value key);
ISO_CLIENT_API int64_t iso_get_shared_int(const char *key);
ISO_CLIENT_API const char *iso_get_shared_string(const char *key);
/* One statement, as UPDATE .. SET value = value + by: reads the integer and
 * writes the sum, both with ISO_NO_KEY_UPDATE. Returns the sum. */
ISO_CLIENT_API int64_t iso_atomic_add(const char *key, int64_t by);
/* All reads and writes from here to the next iso_statement() or the end of the
 * transaction are one statement of the database, which reads what it does not
 * lock, from one moment, before it locks or writes anything. Without it each is
 * one. */
ISO_CLIENT_API void iso_statement(void);

/* ---- What should be true: from sessions ---- */

/* When the condition is false the assertion fails; the session goes on. The
 * message names the assertion in reports. */
ISO_CLIENT_API void iso_assert(bool condition, const char *message);
/* When the condition is false the execution is of no interest: the transaction
 * aborts, the session ends, and the execution is not counted. */
ISO_CLIENT_API void iso_assume(bool condition);

/* A value to show when an assertion of the session fails, and for iso_expect().
 * A later one of the same name replaces it. */
ISO_CLIENT_API void iso_note(const char *name, struct iso_value value);
ISO_CLIENT_API void iso_note_int(const char *name, int64_t value);
ISO_CLIENT_API void iso_note_string(const char *name, const char *value);

/* From functions of iso_expect(): the last value that the session noted under
 * this name, or null. */
ISO_CLIENT_API struct iso_value iso_noted(const char *session,
                                          const char *name);
/* The same for an integer: `otherwise` if it is none. */
ISO_CLIENT_API int64_t iso_noted_int(const char *session, const char *name,
                                     int64_t otherwise);

#ifdef __cplusplus
}
#endif

#endif
