/* Transactions of a log, or calls of several, and their classes: those that
 * read and write the same columns in the same order. Only classes are kept. */
#ifndef ISO_AUDIT_CLASSES_H
#define ISO_AUDIT_CLASSES_H

#include "audit/log.h"
#include "audit/tags.h"
#include "audit/templates.h"

struct class_statement {
	uint32_t shape;
	uint32_t template; /* of the first instance */
	uint32_t file, line;
	bool ends;            /* of a call: the last one of a transaction */
	bool varied;          /* not of that template in every instance */
	uint32_t first_place; /* of it, among the class's */
	uint32_t first_literal, literal_count; /* likewise, if they are kept */
};

/* A literal of a class, in the order of its statements. */
struct class_literal {
	uint64_t first; /* its value in the first instance */
	uint32_t text;  /* where that is in the class's texts */
	/* Those with the same number are the same in every instance. */
	uint32_t group;
	bool varied; /* not always the same */
};

/* A mention of a table in a statement of a class. */
struct class_place {
	/* Places with the same number are of the same row in every instance.
	 */
	uint32_t row;
	uint32_t table;
	bool named;     /* it is one row in every instance */
	bool varied;    /* and not always the same one */
	uint64_t first; /* its value in the first instance */
};

struct transaction_class {
	struct class_statement *statements;
	struct class_place *places;
	uint32_t count, place_count, rows;
	struct class_literal *literals; /* if they are kept */
	uint32_t literal_count;
	char *texts;
	uint64_t instances;
	/* Reads and writes of columns; and of the first instance, before its
	 * loops were cut to two rounds. */
	uint32_t operations, unfolded;
	uint32_t file, line; /* of the first instance */
	bool reads_only;
	/* By hints. */
	bool ignored, tolerates;
};

struct classes {
	struct templates templates;
	struct transaction_class *items;
	uint32_t count, capacity;
	struct table by_hash;
	uint64_t transactions, rolled_back, unfinished, too_long, loops;
	uint64_t data_statements;
	/* Instances are calls, which may be several transactions. */
	struct grouping grouping;
	uint64_t calls;
	struct calls *open;
	struct log_skipped broken; /* strings or comments without an end */
	struct sessions *sessions;
	struct sql_words words;
	bool mysql;
	uint32_t file;
	uint64_t times; /* what is added stands for so many */
};

void classes_init(struct classes *c, struct catalog *catalog,
                  struct sql_parser *p);
void classes_free(struct classes *c);
/* The entries of one more log. */
void classes_begin_log(struct classes *c, uint32_t file, bool mysql);
void classes_add(void *classes, const struct log_entry *e);
void classes_end_log(struct classes *c);
/* After the last log. */
void classes_settle(struct classes *c);

const struct shape *class_shape(const struct classes *c, uint32_t of,
                                uint32_t statement);
/* The number of operations of all classes. */
uint64_t classes_operations(const struct classes *c);

#endif
