/* The classes of a log as a program in SQL, a function for each: what is not
 * always the same in its statements is a parameter, and one for all that are
 * equal in every instance. */
#ifndef ISO_AUDIT_LIFT_H
#define ISO_AUDIT_LIFT_H

#include "audit/audit.h"

struct lifted {
	struct text program; /* tables and functions */
	char **refused; /* of each class: why it has no function; or NULL */
	uint32_t count, functions;
	/* With options.proves: what the functions take for granted of values,
	 * as it was so in every instance; a line each. */
	char **assumed;
	uint32_t assumed_count, assumed_capacity;
};

/* A statement of a class, as it was parsed; of each of its literals which
 * column it is about, or CATALOG_NONE, and whether a condition says that the
 * column is equal to it. To be freed with lift_statement_free(). */
struct lifted_statement {
	const struct class_statement *of;
	const struct template *form;
	uint32_t *columns;
	bool *equal;
	/* Literals of rows of VALUES behind the first, which stay as they are
	 * in the first such statement. */
	struct lifted_fixed {
		uint32_t at, length, column;
	} * fixed;
	uint32_t fixed_count, fixed_capacity;
	/* It has literals of which only those of the first such statement are
	 * known: of a list or of rows of any number. */
	bool open;
};

struct lifted_statement lift_statement(const struct audit *a,
                                       const struct class_statement *t);
void lift_statement_free(struct lifted_statement *s);
/* Columns without a type get that of what they are compared with. */
void lift_types(struct audit *a);
void lift_tables(struct text *out, const struct audit *a);
/* A literal that is compared with this column. */
void lift_literal(struct text *out, const struct audit *a, const char *literal,
                  uint32_t column);
/* One that a log speaks of, not one that stands for several. */
bool lift_has_column(const struct audit *a, uint32_t column);

/* Of an audit with options.lifts or .proves. With .proves the functions do
 * whatever instances do, if what is assumed is so: a class of which that cannot
 * be said has none; and what was seen once is a parameter, too. */
void lift(struct lifted *out, struct audit *a);
void lift_free(struct lifted *l);

#endif
