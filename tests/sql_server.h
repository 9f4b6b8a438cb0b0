/* Statements that are carried out by isoscope and by a private PostgreSQL 15.
 */
#ifndef ISO_TESTS_SQL_SERVER_H
#define ISO_TESTS_SQL_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct script {
	struct text all; /* for the server */
	char **statements;
	uint32_t count, capacity;
};

void script_add(struct script *s, const char *sql);
/* The same of the names and types of its columns, without running it. */
void script_describe(struct script *s, const char *sql);
/* Both do the same with each statement, or the test fails. Frees the script.
 * Nothing is compared where there is no server. */
void script_compare(struct script *s);

#endif
