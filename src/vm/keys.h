/* The keys of the database, numbered as they come into being.
 *
 * A key is a scalar global, or a family with index values. Numbers are dense
 * and permanent: the table only grows, and owns copies of the index values.
 */
#ifndef ISO_VM_KEYS_H
#define ISO_VM_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "base/text.h"
#include "vm/value.h"

enum { KEYS_MAX = 1 << 20 }; /* distinct keys in one exploration */
#define KEY_NONE UINT32_MAX  /* returned when the table is full */

struct keys;
struct program;

/* Begins with the keys that the program names with an initial value. Each
 * exploration has its own table. */
struct keys *keys_new(const struct program *p);
void keys_free(struct keys *k);

/* The number of the key `global` (index into the program's globals) with these
 * index values (count 0 for a scalar), new if it was never met. */
uint32_t keys_find(struct keys *k, uint32_t global, const struct value *index,
                   uint32_t count);
uint32_t keys_count(const struct keys *k);
/* Its global, and its index values. */
const struct value *keys_index(const struct keys *k, uint32_t key,
                               uint32_t *global, uint32_t *count);
size_t keys_bytes(const struct keys *k); /* held */
/* What `init` wrote to the key. */
struct value keys_initial(const struct keys *k, uint32_t key);
/* The key as the language writes it: seats["db"], qty[3, "milk"], x. */
const char *keys_name(const struct keys *k, uint32_t key);
/* A hash of the key itself, the same in all tables of one program. */
uint64_t keys_hash(const struct keys *k, uint32_t key);

#endif
