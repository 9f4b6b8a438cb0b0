/* PostgreSQL's own parser, in a process of its own: libpg_query ends the
 * process on some inputs, which must not be ours. */
#ifndef ISO_SQL_PARSER_H
#define ISO_SQL_PARSER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct sql_parser;

struct sql_parser *sql_parser_new(void);
void sql_parser_free(struct sql_parser *p);

/* What PostgreSQL says of a text that it does not take. */
struct sql_refusal {
	struct text message;
	uint32_t at; /* byte of the text; its length at the end */
};

/* The array of statements of the text, in PostgreSQL's raw form: the caller's,
 * for json_decref(). NULL: refused. */
json_t *sql_parse(struct sql_parser *p, const char *text, size_t length,
                  struct sql_refusal *why);

#endif
