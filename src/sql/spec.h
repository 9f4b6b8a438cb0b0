/* Test specifications of PostgreSQL's isolation tester (specparse.y), with two
 * blocks more: `assert "what" { query }` and `isolation LEVEL`. */
#ifndef ISO_SQL_SPEC_H
#define ISO_SQL_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "base/text.h"
#include "lang/source.h"
#include "sql/arguments.h"

/* SQL text, as it stands in a source. */
struct spec_block {
	struct place at; /* its first byte */
	uint32_t length;
};

struct spec_step {
	const char *name;
	struct place at;
	struct spec_block sql;
};

struct spec_session {
	const char *name;
	struct place at;
	/* Run by the shell instead of steps, in the current folder, if `here`,
	 * else in that of the specification; NULL: none. */
	const char *command;
	bool here;
	bool has_setup;
	struct spec_block setup;
	struct spec_step *steps;
	uint32_t step_count, step_capacity;
};

struct spec_setup {
	const char *file;    /* NULL: the block itself, */
	const char *command; /* or, if it is none, what the shell runs */
	struct place at;
	struct spec_block sql;
};

struct spec_assert {
	const char *message; /* NULL: none */
	struct place at;
	struct spec_block sql;
};

struct spec {
	struct region *region;
	struct spec_setup *setups;
	struct spec_session *sessions;
	struct spec_assert *asserts;
	uint32_t setup_count, setup_capacity;
	uint32_t session_count, session_capacity;
	uint32_t assert_count, assert_capacity;
	const char *isolation; /* NULL: none */
	struct place isolation_at;
};

/* Reads the source of this number; false after reporting errors. */
bool spec_read(struct spec *s, struct sources *all, uint32_t source,
               struct region *r);
/* The same of a file of SQL, all of which is set-up, with sessions "name: SQL",
 * each of one step of the same name, and assertions, which stand elsewhere. */
bool spec_of_script(struct spec *s, struct sources *all, uint32_t source,
                    const struct sql_arguments *given, struct region *r);
/* All of a source, without a mark of the byte order. */
struct spec_block spec_whole(const struct sources *all, uint32_t source);
/* Reads a file that set-up names, relative to that of the specification,
 * `from`: all of it is its block. False after adding an error. */
bool spec_read_setup(struct sources *all, struct spec_setup *s,
                     const char *from, const struct sql_arguments *given,
                     uint64_t *digest);
/* A block's text, with a zero behind it: the caller's to free. */
char *spec_block_text(const struct sources *all, const struct spec_block *b);
/* Where that begins, behind blanks. */
struct place spec_block_begin(const struct sources *all,
                              const struct spec_block *b);
/* The same on one line, as it is shown. */
void spec_block_line(const struct sources *all, const struct spec_block *b,
                     struct text *t);
void spec_free(struct spec *s);

#endif
