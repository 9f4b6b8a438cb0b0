/* A program in SQL as statements that clients send, one by one, and which of
 * them does what a history has.
 */
#ifndef ISO_CONFIRM_SCRIPT_H
#define ISO_CONFIRM_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "base/text.h"
#include "lang/source.h"
#include "sql/spec.h"

struct history;
struct program;

enum script_kind {
	SCRIPT_PLAIN,
	SCRIPT_BEGIN,
	SCRIPT_END,  /* COMMIT or ROLLBACK */
	SCRIPT_LEVEL /* SET TRANSACTION ISOLATION LEVEL and the like */
};

/* A statement of a session, without a semicolon. */
struct script_unit {
	const char *text;
	enum script_kind kind;
	uint32_t session;
	uint32_t step;        /* of its session; SCRIPT_SETUP */
	uint32_t transaction; /* of its session, from 0 */
	struct position from, to;
	/* Statements of one step outside BEGIN and COMMIT are one transaction:
	 * then they stand between these two, which the step does not have. */
	bool added;
	bool alone; /* it is all of its transaction */
};

#define SCRIPT_SETUP UINT32_MAX
#define SCRIPT_NONE UINT32_MAX

struct script_session {
	struct script_unit *units;
	uint32_t count, capacity, transactions;
	const char **names; /* by transaction: of the step where it begins */
	uint32_t name_capacity;
};

struct script {
	const struct program *program; /* borrowed */
	struct region region;
	struct diags diags;
	struct sources sources;
	struct spec spec;
	bool borrowed; /* it and the sources are the program's */
	struct script_session *sessions; /* by session of `spec` */
	const char *setup; /* all of it, each block with a semicolon */
};

/* Of a program in SQL. False, and why: its texts cannot be read again. */
bool script_read(struct script *s, const struct program *p, struct text *why);
void script_free(struct script *s);

/* Which statements of its program a history's are: for transaction t and its
 * statement j, counted from 1, units[t][j - 1], a place in its session's units;
 * and transactions[t]. Where code of functions is, it is who calls them. */
struct script_map {
	uint32_t
		*transactions; /* SCRIPT_NONE: none of the program's sessions */
	uint32_t *counts;      /* statements */
	uint32_t **units;
};
void script_map(const struct script *s, const struct history *h,
                struct region *to, struct script_map *out);

/* On one line. */
void script_one_line(struct text *t, const char *sql);

#endif
