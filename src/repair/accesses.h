/* The transactions of a program as they stand in its text, and where they read
 * and write globals, in the order of the tree. */
#ifndef ISO_REPAIR_ACCESSES_H
#define ISO_REPAIR_ACCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/access.h"
#include "lang/ast.h"

struct access {
	const struct expr *key; /* while the tree lives */
	uint32_t transaction;
	bool write;
	/* A read that cannot lock: of an assertion, which only looks; or a part
	 * of an update. */
	bool fixed;
	bool in_statement; /* of several accesses, as `statement { }` says */
	/* Of `x += e`: numbered from 1; 0: it is no part of one. One statement,
	 * if e reads something and locks nothing. */
	uint32_t sum;
	bool of_value; /* it is read by e */
	enum strength strength;
	uint32_t source, offset, line, column;
};

/* A read and the write of what is computed from it that can become one update:
 * `x += e`, `x = x + e`, `x = x - e`, or `let n = x; x = n + e` where n has no
 * other use. It stands from `begin` to the second term of the sum, where e
 * begins. */
struct access_update {
	uint32_t read, write; /* accesses */
	uint32_t begin, second;
	const struct expr *target;
	bool minus; /* the second term is taken away */
	/* As one update it may do something else: e is read, or is an error,
	 * before what it is added to is read; or -e is an error where the
	 * difference is none. */
	bool moves;
};

struct access_transaction {
	const struct symbol *name; /* NULL: it has none */
	const struct block *body;
	struct place at;
	const struct item *item; /* NULL: it stands in a session */
	bool last;               /* `finally` */
	bool runs;               /* some session calls it */
};

struct accesses {
	struct access *items;
	uint32_t count, capacity;
	struct access_transaction *transactions; /* while the tree lives */
	uint32_t transaction_count, transaction_capacity;
	const struct item **called;
	uint32_t called_count, called_capacity;
	struct access_update *updates;
	uint32_t update_count, update_capacity;
	uint32_t sums; /* so many statements `x += e` */
};

/* Adds all of the program. */
void accesses_find(struct accesses *a, const struct syntax *tree,
                   struct sources *all);
void accesses_free(struct accesses *a);

#endif
