/* Who has locked which rows. Who does not get a lock waits elsewhere: in
 * PostgreSQL, for the transaction that has it. */
#ifndef ISO_SERVE_ROW_LOCKS_H
#define ISO_SERVE_ROW_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/access.h"

struct row_locks;

struct row_locks *row_locks_new(void);
void row_locks_free(struct row_locks *l); /* NULL is fine */
/* How who reads so locks the key. (A check may exclude nobody.) */
enum strength row_locks_asked(enum level l, enum strength read);
/* Owners and keys have small numbers. True: `owner` has locked the key once
 * more, to change it or not, to be known by `tag`. False: some other owner has
 * it in a way that excludes that; `tag` is how that lock is known. */
bool row_locks_take(struct row_locks *l, uint32_t owner, uint32_t key,
                    enum strength strength, bool changes, uint32_t *tag);
/* Has another one locked it to change it? */
bool row_locks_changed(const struct row_locks *l, uint32_t owner, uint32_t key);
/* Those of its locks that are known by the tag are over; or the newest one of
 * them on the key, if there is one. */
void row_locks_give_up(struct row_locks *l, uint32_t owner, uint32_t tag);
void row_locks_give_up_one(struct row_locks *l, uint32_t owner, uint32_t tag,
                           uint32_t key);
/* All that it has are over. */
void row_locks_release(struct row_locks *l, uint32_t owner);

#endif
