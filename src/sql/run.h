/* Carrying out a statement on rows that come from elsewhere: from set-up, from
 * the answers to reads, from what was noted for an assertion.
 */
#ifndef ISO_SQL_RUN_H
#define ISO_SQL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/access.h"
#include "base/region.h"
#include "sql/convert.h"
#include "sql/ir.h"
#include "sql/known.h"

/* What a transaction has written so far, newest first. */
struct sql_write {
	const struct sql_write *older;
	uint32_t number;               /* so many, with those before it */
	const struct sql_table *table; /* NULL: an entry of a constraint */
	uint32_t global, point;
	struct value key, row;
	enum strength strength;
	bool joined;
	uint32_t after; /* reads of the statement that came before it */
};

/* What a session has drawn of a sequence. */
struct sql_draws {
	int64_t next, last;
	uint32_t drawn; /* 0: nothing; it draws the later, the greater */
};

enum sql_stop {
	SQL_GOES_ON,
	SQL_FAILED,  /* `failure` */
	SQL_WAITS,   /* for the answer to the read `wanted` */
	SQL_REPEATS, /* it has read what makes no difference to another way to
	              * read */
	SQL_GIVES_UP /* it was asked to */
};

struct sql_read {
	uint32_t global, point;
	struct value key;
	enum strength strength;
	bool joined;
	uint32_t before; /* of this key and strength: its number + 1, or 0 */
	bool given_up;   /* and so was its lock */
};

/* A block with handlers has given up the lock of a read of the statement, when
 * it had made so many. */
struct sql_given_up {
	uint32_t read, after;
};

/* Keys that are read next, as and at the moment of the read before them,
 * whatever they and that one are answered. */
struct sql_foreseen {
	const struct value *keys; /* of known rows */
	uint32_t count;
};

/* A row that was changed and may refer to others, or be referred to. */
struct sql_referral {
	struct sql_referral *next;
	const struct sql_foreign *foreign;
	const struct sql_table *table;     /* that the trigger is of */
	const struct sql_trigger *trigger; /* NULL: it is about `foreign` */
	const struct value *old, *new;     /* columns; NULL: there is none */
	enum sql_event event;              /* of a trigger of statements */
	bool checks; /* that of `new` refers to a row; else what refers to `old`
	              */
};

/* Rows of a result. */
struct sql_rows {
	const struct value **items;
	uint32_t count, capacity;
};

struct sql_run;
struct sql_frame;

/* What an expression can hold that is more than an expression: queries and
 * calls, which hold expressions in turn. Expressions reach them through this;
 * everything else is called from above: statements, routines, changes and
 * queries, scans, expressions, reads and writes. */
struct sql_inner {
	bool (*query)(struct sql_run *x, const struct sql_query *q,
	              const struct sql_frame *outer, struct sql_rows *out);
	/* Of a routine with its arguments: the rows that it returns. */
	bool (*call)(struct sql_run *x, const struct sql_routine *routine,
	             const struct value *args, struct sql_rows *out);
};

struct sql_run {
	struct region *region;
	const struct sql_inner *inner; /* sql_inner() */
	struct known *known;
	bool serial; /* rows are as known: as set-up has left them so far */
	bool direct; /* changes are made there at once */
	/* In assertions: results of steps, SQLSTATE of failed ones (or NULL),
	 * by step; and rows of tables, by number. */
	const struct sql_rows *steps, *tables;
	const struct value *step_errors;
	/* In sessions: */
	const struct sql_write *writes, *written_before; /* the statement */
	/* If they are many, the newest of each key, by hash: of all up to
	 * `indexed`. */
	const struct sql_own **own_slots;
	uint32_t own_slot_count;
	const struct sql_write *indexed;
	const struct value *answers; /* to the statement's reads so far */
	uint32_t answer_count;
	const char *session; /* its name, and the number of the statement in
	                      * it: rows without a key are born there */
	uint32_t statement;
	uint32_t births;
	bool guarded; /* an error does not end the transaction */
	bool read_only;
	/* Inside of a STABLE routine: its statements see what its caller's
	 * does. */
	bool fixed;
	/* The statement is looked ahead of: what it reads is read, nothing is
	 * locked, written or called. What is not known for that is NULL, and
	 * holds. */
	bool looks;
	/* How deep in blocks with handlers; what was written before the
	 * outermost, and is not taken back by one. */
	uint32_t handled;
	const struct sql_write *settled;
	/* The next access belongs to the same moment as the last; something was
	 * locked there: what is read without a lock was to come before. */
	bool begun, locked;
	struct sql_referral *referrals, **last_referral;
	struct sql_draws *sequences;
	uint32_t sequence_count;
	uint32_t point;
	/* The routine that is being run: its variables; how deep in others; how
	 * often loops went round, since the statement began. */
	const struct sql_frame *outer;
	uint32_t depth, rounds;
	/* How much was done for the statement; what it is if that is more than
	 * one may take: this is an error in the program, not the database's. */
	uint64_t spent;
	const char *beyond;
	bool endless; /* that is since it went on and on */
	/* The loop of a routine that goes round, and where that is. */
	bool loops;
	uint32_t loop_point;
	bool (*gives_up)(void *data); /* asked now and then; or NULL */
	void *gives_up_data;
	uint32_t anew;      /* reads that were not foreseen */
	uint32_t read_base; /* reads before it are of other statements */
	uint64_t affected;  /* rows */
	/* What the UPDATE at hand sets; NULL: any column. */
	const struct sql_set *sets;
	uint32_t set_count;
	/* What comes of it. */
	enum sql_stop stop;
	struct sql_failure failure;
	struct sql_read wanted;
	struct sql_foreseen foreseen; /* behind it */
	struct sql_rows result;
	/* Keys read by the statement: each is read once at one moment. */
	struct sql_read *reads;
	struct value *values;
	uint32_t read_count, read_capacity;
	struct sql_given_up *given_up;
	uint32_t given_count, given_capacity;
	/* The last of each key and strength: its number + 1, by hash. */
	uint32_t *slots, slot_count;
};

/* Rows of the query's relations, and of the queries around it. */
struct sql_frame {
	const struct sql_frame *outer;
	const struct value **rows; /* by relation; NULL: a row of NULLs */
	const struct value *aggregates, *sets;
};

const struct sql_inner *sql_inner(void);

/* Carries out a query or a change; false: run->stop says why not. */
bool sql_run_statement(struct sql_run *x, const struct sql_statement *s);

/* ---- Between its files ---- */

/* A step is done, and so many bytes will be needed: false if that is too much.
 */
bool sql_spend(struct sql_run *x, size_t bytes);
/* The statement is beyond what one may take. */
bool sql_is_beyond(struct sql_run *x, const char *what, const char *why);
/* The same of one that would go on and on. */
bool sql_is_endless(struct sql_run *x, const char *what, const char *why);
bool sql_run_fails(struct sql_run *x, const char *state, const char *format,
                   ...) __attribute__((format(printf, 3, 4)));
bool sql_eval(struct sql_run *x, const struct sql_frame *f,
              const struct sql_expr *e, struct value *out);
/* Is it true, neither false nor NULL? */
bool sql_eval_condition(struct sql_run *x, const struct sql_frame *f,
                        const struct sql_expr *e, bool *out);
/* Calls a routine with its arguments: the rows that it returns. */
bool sql_call(struct sql_run *x, const struct sql_routine *routine,
              const struct value *args, struct sql_rows *out);
/* A change of rows or of the schema. */
bool sql_change(struct sql_run *x, const struct sql_statement *s);
/* While it is looked ahead of: what is done with joined rows. */
typedef bool sql_look(struct sql_run *x, const void *what,
                      const struct value **rows);
/* Does that with rows that the query has found, and with all that those of them
 * that it locks can be by then, if the conditions hold. */
bool sql_look_at_versions(struct sql_run *x, const struct sql_query *q,
                          const struct sql_frame *outer,
                          const struct value **rows, sql_look *look,
                          const void *what);
/* Reads what the change will read, but for what it locks. False: it is waited
 * for. */
bool sql_look_at_change(struct sql_run *x, const struct sql_statement *s);
/* While a statement is looked ahead of: what has failed will fail when it is
 * carried out. */
static inline bool sql_looks_on(struct sql_run *x, bool fine)
{
	if (fine || x->stop != SQL_FAILED || x->beyond) return fine;
	x->stop = SQL_GOES_ON;
	return true;
}
/* A statement, inside of a routine as well. */
bool sql_carry_out(struct sql_run *x, const struct sql_statement *s);
/* Does it change or lock rows? */
static inline bool sql_changes(const struct sql_statement *s)
{
	return s->kind == STATEMENT_QUERY ? s->query->locks
	                                  : s->kind <= STATEMENT_DELETE;
}
/* One inside of a routine: what is around it stays as it is. */
bool sql_run_inner(struct sql_run *x, const struct sql_statement *s,
                   struct sql_rows *out);
/* The rows of a call that returns a set, or of any routine's. */
bool sql_set_rows(struct sql_run *x, const struct sql_frame *f,
                  const struct sql_expr *call, struct sql_rows *out);
bool sql_run_query(struct sql_run *x, const struct sql_query *q,
                   const struct sql_frame *outer, struct sql_rows *out);
/* The joined rows of a query that satisfy WHERE: each item has a row for each
 * relation. */
struct sql_matches {
	const struct value ***items;
	uint32_t count, capacity;
};
bool sql_match(struct sql_run *x, const struct sql_query *q,
               const struct sql_frame *outer, struct sql_matches *out);
/* Can a version of the row that is known be one that the relation is about, by
 * the conditions on it alone? */
bool sql_may_match(struct sql_run *x, const struct sql_relation *relation,
                   const struct known_row *row);
/* The value of a key: NULL if there is none; false: it is waited for. A plain
 * read does not see what the statement itself has written. */
bool sql_read(struct sql_run *x, uint32_t global, struct value key,
              enum strength strength, struct value *out);
/* Locks the key's row, whatever the transaction has written of it; false: it is
 * waited for. */
bool sql_lock(struct sql_run *x, uint32_t global, struct value key,
              enum strength strength);
/* Has the statement read the key so already? */
bool sql_was_read(struct sql_run *x, uint32_t global, struct value key,
                  enum strength strength);
/* Behind a read that waits, these keys are read, in this order, whatever comes
 * of it and of them: as far as they are not known already. */
void sql_foresee(struct sql_run *x, uint32_t global, struct value *keys,
                 uint32_t count, enum strength strength);
void sql_write(struct sql_run *x, const struct sql_table *t, uint32_t global,
               struct value key, struct value row, enum strength strength);
/* The last one of the key, up to `newest`; NULL: there is none. */
const struct sql_write *sql_own_write(struct sql_run *x,
                                      const struct sql_write *newest,
                                      uint32_t global, struct value key);
/* What comes next is of a moment of its own. */
static inline void sql_begin_moment(struct sql_run *x)
{
	x->begun = x->locked = false;
}
/* Of joined rows that a query finds, those of relations that it locks are
 * locked, and become the newest versions; not kept: these do not satisfy its
 * conditions any more, or are gone. */
bool sql_lock_rows(struct sql_run *x, const struct sql_query *q,
                   const struct sql_frame *outer, const struct value **rows,
                   bool *kept);
/* change.c, for foreign_keys.c: a row is removed, or replaced by one with these
 * columns, and what refers to it or it refers to is looked at later. */
bool sql_remove(struct sql_run *x, const struct sql_table *t,
                const struct value *old);
bool sql_replace(struct sql_run *x, const struct sql_table *t,
                 const struct value *old, struct value *columns);
/* foreign_keys.c: the row was changed; and, at the end of the statement, what
 * that means for others. */
void sql_refer(struct sql_run *x, const struct sql_table *t,
               const struct value *old, const struct value *new);
bool sql_run_referrals(struct sql_run *x);
/* Is there what the row refers to? */
bool sql_check_foreigns(struct sql_run *x, const struct sql_table *t,
                        const struct value *columns);
/* trigger.c: the triggers of the table that come before the row is changed from
 * `old`, if there is one, to *new, unless that is NULL; they may change it.
 * *kept: something is to be done with the row. */
bool sql_fire_before(struct sql_run *x, const struct sql_table *t,
                     const struct value *old, struct value **new, bool *kept);
/* The row was changed by a trigger before: an error. */
bool sql_changed_before(struct sql_run *x, bool update);
/* One that comes behind. */
bool sql_fire_after(struct sql_run *x, const struct sql_referral *r);
/* Those FOR EACH STATEMENT that come before it; those behind it are noted. */
bool sql_fire_statement(struct sql_run *x, const struct sql_table *t,
                        enum sql_event event);
void sql_note_statement(struct sql_run *x, const struct sql_table *t,
                        enum sql_event event);
static inline enum sql_event sql_event_of(const struct value *old,
                                          const struct value *new)
{
	return !old ? EVENT_INSERT : new ? EVENT_UPDATE : EVENT_DELETE;
}
/* Is the trigger one of this change, before or after it, of a row or of the
 * statement? */
bool sql_is_fired(const struct sql_run *x, const struct sql_trigger *trigger,
                  bool before, bool statement, enum sql_event event);
/* ---- row.c ---- */

/* Of the values of a row in memory: its columns, and behind them its key, and
 * which row of that key it is. */
static inline size_t sql_row_size(const struct sql_table *t)
{
	return (t->column_count + (size_t)3) * sizeof(struct value);
}
/* The value of a key that has no row: null, or a list of those that left. */
static inline bool sql_is_gone(struct value row)
{
	return sql_is_null(row) || row.tag == VALUE_LIST;
}
/* A row that was read, and back. */
const struct value *sql_columns(struct sql_run *x, const struct sql_table *t,
                                struct value key, struct value row);
struct value sql_row(struct sql_run *x, const struct sql_table *t,
                     const struct value *columns);
/* What is left where the row is deleted. */
struct value sql_deleted(const struct sql_table *t,
                         const struct value *columns);
/* The row `old` gets another key, that of `columns`, where `there` was left
 * before; what is left at the old one. */
struct value sql_moved(struct sql_run *x, const struct sql_table *t,
                       const struct value *old, struct value *columns,
                       struct value there);
/* Where and when a row is inserted: the key of one that has no other. */
struct value sql_birth(struct sql_run *x);
/* A new row, where `there` was left before. */
void sql_born(struct sql_run *x, const struct sql_table *t,
              struct value *columns, struct value there);
/* The newest version of a row that was found, wherever it is by now; NULL: it
 * is gone. Where rows are deleted, it is looked for by such a read before it is
 * locked. */
bool sql_read_again(struct sql_run *x, const struct sql_table *t,
                    enum strength strength, enum strength look,
                    const struct value *found, const struct value **out);
/* After that: is it another version, or deleted, just as a statement would find
 * it that came later? It has not got another key, where it would still be
 * locked. */
bool sql_comes_later(const struct sql_run *x, const struct sql_table *t,
                     const struct value *found, const struct value *now);
/* All that it can be, as far as is known: the one that was found first. */
void sql_versions(struct sql_run *x, const struct sql_table *t,
                  const struct value *found, struct sql_rows *out);

/* Its key, from its columns; NULL if one of them is. */
struct value sql_key(struct sql_run *x, const struct sql_unique *u,
                     const struct value *columns);
void sql_rows_add(struct region *r, struct sql_rows *rows,
                  const struct value *row);

/* The rows of a table that a relation of the query is about: as far as the
 * first so many of its conditions tell. */
bool sql_scan(struct sql_run *x, const struct sql_query *q, uint32_t number,
              const struct sql_frame *f, uint32_t conditions,
              struct sql_rows *out);
/* An array in a region: the old one stays there. */
void *sql_grow(struct region *r, const void *old, uint32_t count, size_t size);
#define REGION_RESERVE(r, items, count, capacity)                     \
	do {                                                          \
		if ((count) == (capacity)) {                          \
			(items) = sql_grow((r), (items), (count),     \
			                   sizeof *(items));          \
			(capacity) = (capacity) ? 2 * (capacity) : 8; \
		}                                                     \
	} while (0)

#endif
