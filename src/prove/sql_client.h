/* The parts of a client in SQL. */
#ifndef ISO_PROVE_SQL_CLIENT_H
#define ISO_PROVE_SQL_CLIENT_H

#include "base/text.h"
#include "prove/instances.h"

/* The program, and the rows of the model, or its own. */
void sql_client_setup(struct text *out, const struct instances *x, Z3_model m,
                      bool own_values);
/* The steps of instance i, transaction `number` of the session `name`. */
void sql_client_steps(struct text *out, const struct instances *x, Z3_model m,
                      uint32_t i, const char *name, uint32_t number);
/* enroll(1, 'ann'); of a specification: its name. */
void sql_client_call(struct text *out, const struct instances *x, Z3_model m,
                     uint32_t i);

#endif
