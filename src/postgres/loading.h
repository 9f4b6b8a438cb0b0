/* A specification being loaded: shared by load.c, set_up.c and assertions.c. */
#ifndef ISO_POSTGRES_LOADING_H
#define ISO_POSTGRES_LOADING_H

#include <jansson.h>

#include "postgres/library.h"
#include "sql/arguments.h"
#include "sql/parser.h"

struct loading {
	struct server_library *library;
	struct program *program;
	const struct sql_arguments *given;
	struct sql_parser *parser;
	struct diags *diags;
	uint64_t digest;
	double deadline;               /* 0: none */
	bool serves;                   /* clients, instead of sessions */
	const struct address *address; /* where it listens, too; or NULL */
	bool failed;
};

/* ---- load.c ---- */
/* Notes the error; false. */
bool load_fail(struct loading *l, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
const char *load_keep(struct loading *l, const char *s);
uint32_t load_point(struct loading *l, struct place at);
/* The statements of a block; NULL after an error. */
json_t *load_parse(struct loading *l, const struct spec_block *b);
/* Asks the server, in the connection of set-up. */
bool load_query(struct loading *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Was it interrupted, or is its time over? */
/* Who connects by TCP is served from now on, and no part of set-up. */
bool load_open_service(struct loading *l);
bool load_gives_up(const struct loading *l);

/* ---- set_up.c: false after an error ---- */
bool load_start_server(struct loading *l);
bool load_setup(struct loading *l, struct spec_setup *s);
/* Refuses what set-up has made and sessions cannot have; and settings of its
 * own, which they do not have, end. */
bool load_sealable(struct loading *l);
/* The rows are what set-up has left; from here on they are isoscope's. */
bool load_seal(struct loading *l);

/* ---- assertions.c ---- */
void load_assertions(struct loading *l);

#endif
