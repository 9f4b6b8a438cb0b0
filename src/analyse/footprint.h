/* What a transaction may read and write, as its code tells: found once, before
 * anything runs.
 *
 * A footprint belongs to a place in the code of a session where it calls a
 * transaction, or where one of its own begins; arguments that are constants
 * there are known in the transaction, so that row[(w, d)] is one key and not
 * all of row. Nothing that is read is known, so a footprint holds whatever the
 * transaction is answered.
 */
#ifndef ISO_ANALYSE_FOOTPRINT_H
#define ISO_ANALYSE_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct footprints;
struct keys;
struct machine_state;
struct program;

/* Both are borrowed. Linear in the code of the sessions and, for each call, of
 * the transaction called. Native code shows nothing: everything may be read. */
struct footprints *footprints_new(const struct program *p,
                                  const struct keys *keys);
void footprints_free(struct footprints *f);          /* NULL is fine */
size_t footprints_bytes(const struct footprints *f); /* NULL: 0 */

/* The transaction that the session is in, just after its beginning or where a
 * read waits for its value: may it still read the key, from there on? `key` is
 * a number of the key table. Answers are kept, by transaction and key. */
bool footprints_may_read(struct footprints *f, const struct machine_state *s,
                         uint32_t key);
/* The same for writes; linear in those of the transaction. */
bool footprints_may_write_on(const struct footprints *f,
                             const struct machine_state *s, uint32_t key);
/* Two sessions just after the beginning of a transaction: may one write, in
 * this transaction or in a later one, something that the other may read in
 * its? Answers are kept, by transaction. */
bool footprints_may_feed(struct footprints *f, const struct machine_state *from,
                         const struct machine_state *to);
/* A session just after the beginning of a transaction: may this one write? */
bool footprints_may_write_some(const struct footprints *f,
                               const struct machine_state *s);
/* The same as footprints_may_feed() for one key. */
bool footprints_may_write(struct footprints *f,
                          const struct machine_state *from, uint32_t key);

#endif
