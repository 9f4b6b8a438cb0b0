/* The words for isolation levels, for those who only pass them on: a program, a
 * history's file. What a level is stands in axioms/level.h; numbers are places
 * in its table, and tests/test_levels.c compares the two.
 */
#ifndef ISO_BASE_LEVEL_WORDS_H
#define ISO_BASE_LEVEL_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* A level that a transaction may have of its own, beside others of other
 * levels: 1 + its number; 0 for one that has none. */
typedef uint8_t own_level;

/* What databases call their levels, and what these are: X(name, word). */
#define DEPLOYMENT_TABLE(X)                           \
	X("postgres-read-committed", "prc")           \
	X("postgres-repeatable-read", "si")           \
	X("postgres-repeatable-read-replicas", "psi") \
	X("postgres-serializable", "ser")             \
	X("oracle-serializable", "si")                \
	X("sqlserver-snapshot", "si")                 \
	X("sqlite", "ser")                            \
	X("spanner", "ser")                           \
	X("cockroachdb", "ser")

/* Those that no level describes, and why: X(name, reason). */
#define NO_LEVEL_TABLE(X)                                                  \
	X("mysql-repeatable-read",                                         \
	  "its plain reads see one snapshot, its locked reads and writes " \
	  "the newest version, which is neither si nor prc")               \
	X("cassandra-lwt",                                                 \
	  "a lightweight transaction is about one partition, and none is " \
	  "about several")                                                 \
	X("mongodb-causal",                                                \
	  "its sessions promise an order of single operations, not of "    \
	  "transactions")                                                  \
	X("cosmosdb-session",                                              \
	  "its sessions promise an order of single operations, not of "    \
	  "transactions")

struct deployment {
	const char *name, *level;
};

/* Ends with a row without a name. */
const struct deployment *deployments(void);
/* The name in the table if the word is one of a deployment, else NULL, as for
 * no word. */
const char *level_deployment(const char *word);
/* Why no level is that of the deployment; NULL for other words. */
const char *level_missing(const char *word);
/* The number of the level, for its word or a deployment's; a negative one if
 * there is none. */
int level_number(const char *word);
/* "si"; NULL for none. */
const char *own_level_word(own_level l);
/* "unknown isolation level 'sj'; did you mean 'si'? there are none, ..." */
void level_unknown(struct text *t, const char *word);

/* Can a transaction have this level of its own? psi is not said of one
 * transaction: what it sees is made of the orders in which all that write a
 * key, whatever their level, follow each other. NULL, or why not. */
const char *own_level_problem(const char *word);

#endif
