/* A model as a program that can be explored: what is there at first, and a
 * session for each instance, or for several that follow each other. */
#ifndef ISO_PROVE_CLIENT_H
#define ISO_PROVE_CLIENT_H

#include "base/budget.h"
#include "base/text.h"
#include "prove/instances.h"

struct assertion;
struct history;

/* Of the model. */
bool client_true(const struct instances *x, Z3_model m, Z3_ast a);
int64_t client_number(const struct instances *x, Z3_model m, Z3_ast a);
/* Of the model, a program in .tx; with its first values, or with those that the
 * program declares. */
void client_write(struct text *out, const struct instances *x, Z3_model model,
                  enum level others, bool own_values);
/* Under which names the client has the instances' transactions: as many as
 * there are. */
void client_names(const struct instances *x, Z3_model m, struct text *names);
/* The call of an instance: withdraw("a", 1) */
void client_call(struct text *out, const struct instances *x, Z3_model model,
                 uint32_t i);

void client_value(struct text *out, const struct instances *x, Z3_model model,
                  struct term value);
/* With assertions about the final state instead; the first `sessions` instances
 * run, the others only say what is there at first. The line that the assertions
 * begin at. */
uint32_t client_write_finals(struct text *out, const struct instances *x,
                             Z3_model model, enum level others, bool own_values,
                             uint32_t sessions);

struct client_found {
	struct history *history; /* unserializable; NULL: there is none */
	struct program *program; /* whose places it has; NULL if it has */
	uint64_t histories;      /* that were looked at */
	bool complete;
	bool errs; /* some history has a run-time error */
	/* An assertion about the final state that fails; the program's. */
	const struct assertion *assertion;
};

/* Explores the program up to the first history that is not serializable; one in
 * SQL at the level that it has. */
struct client_found client_explore(const char *path, const struct text *client,
                                   enum level others,
                                   const struct budget *budget);
/* Explores all of it: is there an assertion (but that of serializability) that
 * fails in a history that is not serializable, and in none that is? It is put
 * into `fails`; the histories are counted. False also where there are too many.
 */
bool client_explore_failing(const char *path, const struct text *client,
                            enum level others, const struct budget *budget,
                            struct text *fails, uint64_t *histories);
/* Explores it up to the first history in which an assertion about the final
 * state fails, which are from this line on; without those with run-time errors.
 */
struct client_found client_explore_finals(const char *path,
                                          const struct text *client,
                                          uint32_t line, enum level others,
                                          bool no_errors,
                                          const struct budget *budget);

#endif
