/* What is said about a file of SQL on the command line. */
#ifndef ISO_SQL_ARGUMENTS_H
#define ISO_SQL_ARGUMENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct load_text;

/* What a file of SQL is explored with: "name: SQL", and queries that must be
 * true. Lists that end in NULL, or NULL. And texts in place of files that
 * set-up names. */
struct sql_arguments {
	const char *const *sessions, *const *asserts;
	const struct load_text *texts;
	size_t text_count;
	/* Conditions read all rows, as those do that can make no difference. */
	bool all_rows;
	/* Only routines are asked about: there need not be sessions. */
	bool transactions;
	/* The places where tables and columns are named are kept: names.h. */
	bool names;
	/* A private PostgreSQL carries statements out. */
	bool server;
	/* Which rows there can be is looked for until it is interrupted (NULL:
	 * never), or so many seconds are over (0: never). */
	const atomic_bool *interrupt;
	double timeout;
};

#endif
