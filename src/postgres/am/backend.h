/* A backend of isoscope's private PostgreSQL. Tables of the access method
 * `isoscope` are heap tables while they are set up. In a backend of a session
 * (the setting isoscope.session) they are what isoscope says: every read of a
 * key is asked, every write is told.
 */
#ifndef ISO_POSTGRES_BACKEND_H
#define ISO_POSTGRES_BACKEND_H

#include <postgres.h>

#include <access/htup.h>
#include <funcapi.h>
#include <nodes/execnodes.h>
#include <nodes/parsenodes.h>
#include <utils/rel.h>

#include "base/access.h"
#include "postgres/wire.h"

/* What a statement reads from. */
struct row;

struct moment {
	uint64 number;
	bool begun, locked; /* it has read something; it has locked something */
	bool goes_on;       /* whatever row it finds in its way */
	bool checks;        /* which rows refer to one that goes */
	bool refers;        /* is the row there that one refers to? */
	bool found;         /* rows were looked for among those that were told,
	                     * before it began */
	bool split;         /* its last lock is of a later moment */
	bool changes;       /* its statement may change rows */
	bool cursor;        /* others may come before it goes on */
	bool empties;       /* a table, of what it has then */
	uint64 accesses;    /* of the transaction, after its last one */
	struct row
		*alone; /* all that it reads, once, by the key alone; or NULL */
};

/* A version that was told; or, `number` 0, one that the transaction has made.
 */
struct version {
	struct version *older;
	struct row *row;
	uint32 number;
	bool known;
	uint32 serial;   /* not known: of those with this number */
	bool passing;    /* it goes with the transaction */
	HeapTuple tuple; /* of tables; NULL: the row is deleted */
	/* Where the row was inserted, if rows of its key are deleted: behind
	 * its columns in an image; else NULL. */
	char *origin;
	uint32 origin_length;
	char *image; /* of entries of unique indexes: the row's key */
	uint32 image_length;
	CommandId command;
	SubTransactionId inside;
	uint8 strength;
	ItemPointerData tid; /* valid: it was given one in this transaction */
	uint64 tid_of;       /* that transaction */
	struct version *next_over; /* it is not read any more */
};

/* An answer to a read, at one moment. */
struct answer {
	struct answer *older;
	uint64 moment;
	uint8 strength;
	struct version *version; /* NULL: absent */
};

/* A row of a table, or an entry of a unique index, by its key. */
struct row {
	struct row *next; /* in the bucket */
	uint32 hash;
	Oid relation;
	char *key;
	uint32 key_length;
	uint32 number; /* of the key, at isoscope's; 0: it is not known */
	struct version *versions; /* told */
	bool known, initial, gone;
	bool passing;       /* that is, for this transaction */
	uint64 transaction; /* that what follows is of */
	struct version *own;
	bool written; /* it is listed: `own` may be taken back */
	struct answer *answers;
};

/* A table, as far as isoscope cares. */
struct table {
	Oid oid;
	TupleDesc desc;
	AttInMetadata *in;
	FmgrInfo *out; /* by attribute */
	int key_count; /* 0: rows are known by their birth */
	AttrNumber key[INDEX_MAX_KEYS];
	struct row **rows; /* known, in the order of their keys */
	int count, capacity;
	bool sorted;
	bool has_bare; /* some of them have no versions any more */
	bool told;     /* where clients are served: all that there is of it */
	bool index;    /* it is none: a unique index of one */
};

extern int iso_session;  /* -1: this backend is of no session */
extern char *iso_socket; /* where isoscope listens */
extern bool iso_client;  /* the session is a program, and this its client */
extern bool iso_serves;  /* and its transactions have others beside them, once:
                          * nothing is run again */

static inline bool iso_is_session(void)
{
	return iso_session >= 0;
}

bool iso_is_ours(Relation rel);

/* ---- channel.c ---- */
void channel_open(void);
void channel_send(struct wire_head *head, const void *body, uint32 length);
/* Waits; the body is of the current memory context. `ends`: a time limit, or
 * who cancels the statement, ends that with an error; then it is still to come.
 */
void channel_receive(struct wire_head *head, char **body, bool ends);
/* What the transaction does is what another does that is explored: it ends. */
void tell_repeats(const char *why) pg_attribute_noreturn();
/* The transaction is refused, in the words of isoscope. */
void fail_refused(const char *body, uint32 length) pg_attribute_noreturn();

/* The session does what is not supported: the exploration ends with it. */
void refuse(const char *what) pg_attribute_noreturn();

/* ---- images.c ---- */
void image_of_columns(StringInfo s, struct table *t, Datum *values, bool *nulls,
                      const AttrNumber *columns, int count);
HeapTuple tuple_of_image(struct table *t, const char *image, uint32 length,
                         const char **rest);
/* Any version of it: they have one key. NULL: it has none. */
HeapTuple row_some_tuple(const struct row *r);
/* The known ones are put in the order of keys; and any rows. */
void rows_sort(struct table *t, Relation rel);
void rows_order(struct table *t, struct row **rows, int count);

/* ---- known.c ---- */
struct table *table_of(Relation rel);
struct row *row_find(Oid relation, const char *key, uint32 length);
/* Takes a record that isoscope tells: VERSION, GONE, OVER. */
void known_take(const struct wire_head *h, const char *body);
/* Nothing is known any more. */
void known_restart(void);
/* Rows of the table that have no versions are not among its rows any more. */
void known_leave_bare(struct table *t);
/* What was told to be over goes: no transaction is at hand. */
void known_forget(void);

/* ---- rows.c ---- */
/* The key of a tuple; of one without a primary key, a new one. */
struct row *row_of_slot(Relation rel, TupleTableSlot *slot, bool *fresh);
/* Those of the relation that the transaction has written. */
int rows_own(Oid relation, struct row ***out);
/* Asks what they are; as many at once as are not known at this moment. Waits
 * for locks that others have. */
void rows_read(struct moment *m, struct row **rows, int count, int strength);
/* False: it is locked by others. */
bool row_try_read(struct moment *m, struct row *r, int strength);
/* Rows of the table are looked for among those that are known: what others have
 * committed has to be, since the statement began. */
void rows_learn(struct moment *m, struct table *t);
/* One row, locked by this strength if it is sure to be there, else without a
 * lock: which of the two is returned. It is the first that the statement reads,
 * where clients are served. */
int rows_read_surely(struct moment *m, struct row *r, int strength);
bool rows_may_read_surely(const struct moment *m);
/* Is known what was committed before the transaction began? */
bool rows_are_told(void);
void rows_forget_news(void);
bool row_is_read(struct moment *m, struct row *r, int strength);
/* Where clients are served: it was locked by this, and is not there, or is
 * another one: so nothing is. */
void row_give_up(struct row *r, int strength);
/* It is known. */
void row_take_answer(struct moment *m, struct row *r, int strength,
                     struct version *v);
/* The answer that was given. */
struct version *row_answer(struct moment *m, struct row *r, int strength);
/* The newest one of the transaction itself, as of a command; NULL: none. */
struct version *row_own(struct row *r, CommandId before);
/* The strongest lock that a write of its own has taken. */
uint8 row_own_strength(const struct row *r);
struct version *row_write(struct row *r, HeapTuple tuple, const char *image,
                          uint32 length, CommandId command, int strength);
/* A new row, not a version of the one before it. */
void version_born(struct version *v);
/* Are they versions of one row? */
bool version_is_of(const struct version *v, const struct version *w);
ItemPointer version_tid(struct version *v);
struct version *version_of_tid(ItemPointer tid);
void version_store(struct version *v, Relation rel, TupleTableSlot *slot);
/* Takes what isoscope tells; the session begins anew. */
void rows_restart(void);
void transaction_begin(void);
/* And where clients are served, it has its turn. */
void transaction_take_turn(void);
void transactions_init(void);

/* ---- definitions.c ---- */
/* False: it is none. One that cannot be is an error. */
bool definition_fits(Node *n);
/* A column is dropped; 0: all of the object is. */
void definition_dropped(Oid class, Oid object, int column);

/* ---- doors.c ---- */
void doors_init(void);

/* ---- moments.c ---- */
/* Is some statement carried out? */
bool moments_run(void);
/* What the transaction asks for. */
enum wire_level moments_level(void);
/* Does it say so for all that follow? Then PostgreSQL is not to hear of it. */
bool moments_take_setting(VariableSetStmt *s);
void moments_init(void);
struct moment *moment_of(Snapshot snapshot);
struct moment *moment_now(void);
/* One of its own. */
struct moment *moment_fresh(void);
/* The transaction, and the statement, have begun at one moment in all runs. */
void moments_fix_clock(void);
/* Statements of transactions at this level or deeper are over. */
void moments_forget(int level);

/* ---- parameters.c ---- */
/* Appends the statement, with their values for $1 and so on. */
void parameters_put(StringInfo s, const char *text, int length,
                    ParamListInfo given);

/* ---- named_rows.c ---- */
/* `column = value` of the primary key. */
struct named {
	ExprState *value;
	Oid type; /* of the value */
};

/* Is it that, of the table that is scanned? The column's place in the key, or
 * -1. */
int named_column(struct table *t, Node *n, Index scanned, PlanState *plan,
                 struct named *out);

/* ---- refusals.c ---- */
void refusals_init(void);
void refuse_query(Query *q);
/* False: the command is to have no effect. */
bool refuse_command(Node *n, bool outermost);

/* ---- scan.c ---- */
void scans_init(void);

/* ---- sequences.c ---- */
void sequences_restart(void);
/* So many were drawn, by other backends of the session too. */
void sequences_take(Oid sequence, uint32 drawn);
/* Calls of functions of sequences are ours. */
Query *sequences_replace(Query *q);

/* ---- truncate.c ---- */
/* False: no table of isoscope's is among them. */
bool truncate_tables(TruncateStmt *s);
/* Is what is started what it empties a table by? */
bool truncate_is_on(void);

/* ---- unique.c ---- */
/* Nothing is in the way of the new tuple, or it is an error. */
void unique_enter(Relation rel, TupleTableSlot *slot, struct row *r,
                  struct version *before);
void unique_leave(Relation rel, struct version *before);
void unique_take_indexes(Relation rel);

#endif
