/* From PostgreSQL's raw statements to the IR: names are looked up, types and
 * operators chosen as PostgreSQL does; what is outside the subset is refused
 * where it stands. */
#ifndef ISO_SQL_RESOLVE_H
#define ISO_SQL_RESOLVE_H

#include <jansson.h>

#include "base/region.h"
#include "lang/source.h"
#include "sql/ir.h"
#include "sql/parser.h"
#include "sql/spec.h"

/* What a step of a session returns, for assertions. */
struct sql_step_result {
	const char *name, *session; /* the session's, if it has no other step */
	struct place at;            /* of its name */
	const struct sql_column *columns;
	uint32_t column_count;
};

#define SQL_NO_COLUMN UINT32_MAX

/* All that names can mean. */
struct sql_catalog {
	struct region *region;
	struct sources *all;
	struct program *program; /* gets the globals and places */
	struct sql_table **tables;
	uint32_t table_count, table_capacity;
	struct sql_sequence *sequences;
	uint32_t sequence_count, sequence_capacity;
	bool draws; /* sessions, or routines, ask one for a number */
	struct sql_step_result *steps;
	uint32_t step_count, step_capacity;
	struct sql_view {
		const char *name;
		const struct sql_query *query;
	} * views;
	uint32_t view_count, view_capacity;
	struct sql_trigger_body {
		const char *name;
		struct place at; /* what stands between the dollars */
		uint32_t length;
	} * trigger_bodies; /* functions that return a trigger */
	uint32_t trigger_body_count, trigger_body_capacity;
	struct sql_routine **routines;
	uint32_t routine_count, routine_capacity;
	struct sql_parser *parser; /* borrowed, while it is being filled */
	const struct sql_enum **enums;
	uint32_t enum_count, enum_capacity;
	/* Where tables and their columns are named; unless `notes_names`,
	 * none. */
	struct sql_mention {
		struct place at;
		const struct sql_table *table;
		uint32_t column; /* SQL_NO_COLUMN: the table itself */
	} * mentions;
	uint32_t mention_count, mention_capacity;
	bool notes_names;
	/* Sessions are explored, which a real PostgreSQL could carry out. */
	bool explored;
};

enum sql_purpose {
	PURPOSE_SETUP,
	PURPOSE_STEP,
	PURPOSE_ASSERT,
	PURPOSE_ROUTINE /* inside of one */
};

/* A raw statement (what "stmts" lists) of this block. NULL after reporting an
 * error. */
struct sql_statement *sql_resolve(struct sql_catalog *c,
                                  const struct spec_block *block,
                                  enum sql_purpose purpose, json_t *statement);

/* As ISOLATION LEVEL has it; NULL: PostgreSQL has no such level. */
const char *sql_level_words(const char *level);

#endif
