/* The bytecode: a register machine, and the concrete form of a program.
 *
 * Private to the compiler (src/lang/compile.c), which builds programs with the
 * functions at the end, and to the machine, which runs them.
 *
 * An instruction is 64 bits in one of two layouts:
 *
 *      0        8        16               32               48             63
 *     +--------+--------+----------------+----------------+----------------+
 *  ABC|   op   |   n    |       a        |       b        |       c        |
 *     +--------+--------+----------------+----------------+----------------+
 *  AX |   op   |   n    |       a        |                x                |
 *     +--------+--------+----------------+---------------------------------+
 *
 * Notation in the table below:
 *     R[i]   register i of the running frame
 *     K[i]   constant i of the program
 *     V(i)   "register or constant": R[i], or K[i - OPERAND_CONSTANT] when
 *            that bit of i is set (only the first 32,768 constants; the
 *            others need LOAD)
 *     x      of a jump: the absolute number of the target instruction
 *
 * Frames. A session begins with R[0] .. all null. CALL opens a window on the
 * same registers: the callee's R[0] is the caller's R[a], and holds the link
 * back until RETURN replaces it by the result; its parameters are R[1], R[2],
 * ...; its other registers have undefined contents. There is no recursion, so
 * program_finish() knows how many registers a session needs.
 *
 * Transactions. BEGIN .. COMMIT, or ABORT with the place where the session goes
 * on (in a called transaction, a RETURN of null; the code of a transaction is
 * BEGIN ... COMMIT RETURN). Calls of pure functions are CALL too. A run-time
 * error or a false assumption ends the session wherever it is: the machine
 * aborts the open transaction itself.
 *
 * A session and a top-level local: its register is never used for anything
 * else, so that it is null until set and readable when all is over.
 */
#ifndef ISO_VM_BYTECODE_H
#define ISO_VM_BYTECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "base/table.h"
#include "base/text.h"
#include "vm/program.h"
#include "vm/value.h"

/* X(NAME, layout of operands for the dump)
 * Layout letters: n the count; a b c a register; A B C a V() operand; k a
 * constant; j a jump target; q a static key; l a strength; g a global (with n
 * index values beginning at the register named by b); f a function; u a
 * builtin; t a transaction name; x a function in C; s an assertion site; p a
 * reach point; S a session (the register of its local is c); # a plain number
 * in c. */
#define OPCODES(X)                                                             \
	/* Moves */                                                            \
	X(MOVE, "aB") /* R[a] = V(b) */                                        \
	X(LOAD, "ak") /* R[a] = K[x] */                                        \
	/* Operators: results in R[a]; wrong types are run-time errors */      \
	X(ADD, "aBC")    /* V(b) + V(c): integers, strings, lists, sets */     \
	X(SUB, "aBC")    /* V(b) - V(c): integers, sets */                     \
	X(MUL, "aBC")    /* V(b) * V(c) */                                     \
	X(DIV, "aBC")    /* V(b) / V(c), towards zero */                       \
	X(MOD, "aBC")    /* V(b) % V(c), sign of V(b) */                       \
	X(EQ, "aBC")     /* V(b) == V(c), of any types */                      \
	X(NE, "aBC")     /* V(b) != V(c) */                                    \
	X(LT, "aBC")     /* V(b) < V(c), of the same type */                   \
	X(LE, "aBC")     /* V(b) <= V(c)     four, since operands are */       \
	X(GT, "aBC")     /* V(b) > V(c)      evaluated left to right */        \
	X(GE, "aBC")     /* V(b) >= V(c) */                                    \
	X(IN, "aBC")     /* V(b) in V(c): collection, record's names */        \
	X(INDEX, "aBC")  /* V(b)[V(c)]: list, tuple, record */                 \
	X(FIELD, "aBC")  /* field named V(c) of the record V(b) */             \
	X(SPREAD, "aBC") /* record V(b) overlaid with record V(c) */           \
	X(NEG, "aB")     /* - V(b) */                                          \
	X(NOT, "aB")     /* ! V(b) */                                          \
	X(BOOL, "aB")    /* V(b), which must be a boolean */                   \
	/* Constructors: c items from R[b], R[b + 1], ... */                   \
	X(TUPLE, "ab#")    /* R[a] = (R[b], ...) */                            \
	X(LIST, "ab#")     /* R[a] = [R[b], ...] */                            \
	X(SET, "ab#")      /* R[a] = {R[b], ...} */                            \
	X(RECORD, "ab#")   /* R[a] = {R[b]: R[b + 1], ...}, c fields */        \
	X(BUILTIN, "anbu") /* R[a] = builtin c of n arguments R[b], ... */     \
	X(EXTERN, "anbx")  /* R[a] = C function c of n arguments R[b], ... */  \
	/* Control */                                                          \
	X(JUMP, "j")        /* go to x */                                      \
	X(JUMP_TRUE, "Aj")  /* go to x if V(a); V(a) must be a boolean */      \
	X(JUMP_FALSE, "Aj") /* go to x if not V(a); the same */                \
	X(CALL, "af")       /* call function x with arguments R[a + 1], ...;   \
	                     * result in R[a] */                               \
	X(RETURN, "A")      /* return V(a) to the caller */                    \
	X(END, "")          /* end of a session, or of a final assertion */    \
	/* Loops */                                                            \
	X(EACH, "a")       /* R[a] must be a set, list or tuple; R[a+1] = 0 */ \
	X(EACH_NEXT, "aj") /* if R[a+1] == size(R[a]) go to x, else            \
	                    * R[a+2] = R[a][R[a+1]++] */                       \
	X(RANGE, "a")      /* R[a] and R[a+1] must be integers, not too far    \
	                    * apart */                                         \
	X(RANGE_NEXT, "aj") /* if R[a] >= R[a+1] go to x, else                 \
	                     * R[a+2] = R[a]++ */                              \
	/* Comprehensions (filter, map) gather items as they go */             \
	X(GATHER, "a")      /* R[a] = a gathering of no item */                \
	X(GATHER_ADD, "aB") /* R[a] = R[a] and the item V(b) */                \
	X(GATHER_END, "aB") /* R[a] = the items gathered in R[a], as a set if  \
	                     * V(b) is a set, else as a list */                \
	/* The database */                                                     \
	X(BEGIN, "t")     /* a transaction begins, with name number x */       \
	X(COMMIT, "")     /* it commits */                                     \
	X(ABORT, "j")     /* it aborts, and the session goes on at x */        \
	X(READ, "aq")     /* R[a] = read of static key x */                    \
	X(WRITE, "Aq")    /* write of V(a) to static key x */                  \
	X(READ_AT, "ag")  /* R[a] = read of global c [R[b] .. R[b+n-1]] */     \
	X(WRITE_AT, "Ag") /* write of V(a) to global c [R[b] .. R[b+n-1]] */   \
	X(LOCK, "l")      /* the next instruction reads or writes, and locks   \
	                   * its row with strength n */                        \
	X(STATEMENT, "n") /* n = 1: all reads and writes from here on are one  \
	                   * statement; n = 0: each is one again */            \
	/* Assertions */                                                       \
	X(ASSERT, "As") /* V(a) must be true: assertion site x */              \
	X(ASSUME, "A")  /* V(a) must be true, or the session ends and the      \
	                 * execution is ignored */                             \
	X(REACH, "p")   /* reach point x was reached */                        \
	X(LOCAL, "aSc") /* R[a] = register c of session b at its end (only     \
	                 * in final assertions; sessions by declaration) */

enum opcode {
#define X(name, layout) OP_##name,
	OPCODES(X)
#undef X
		OPCODE_COUNT
};

struct instruction {
	uint8_t op, n;
	uint16_t a;
	union {
		struct {
			uint16_t b, c;
		};
		uint32_t x;
	};
};

enum {
	OPERAND_CONSTANT = 0x8000,  /* the bit that marks a constant in V() */
	REGISTERS_MAX = 0x8000,     /* of one session, all frames together */
	INDEX_MAX = 255,            /* index values of a key */
	INSTRUCTIONS_MAX = 1 << 28, /* of one program */
	SESSIONS_MAX = 8191,        /* static keys: KEYS_MAX (vm/keys.h) */
};

/* X(NAME, name in the language, fewest and most arguments) */
#define BUILTINS(X)                                                         \
	X(SIZE, "size", 1, 1) /* items, fields, bytes of a string */        \
	X(MIN, "min", 1, 255) /* of a collection, or of the arguments */    \
	X(MAX, "max", 1, 255)                                               \
	X(SUM, "sum", 1, 1)       /* of a collection of integers */         \
	X(SORT, "sort", 1, 1)     /* the list of a collection's items */    \
	X(KEYS, "keys", 1, 1)     /* the set of a record's field names */   \
	X(UNION, "union", 2, 255) /* of sets */                             \
	X(INTER, "inter", 2, 255) /* of sets */                             \
	X(REMOVE, "remove", 2, 2) /* a list without the first occurrence */ \
	X(RANGE, "range", 1, 2)   /* [0 .. b-1], or [a .. b-1] */           \
	X(STR, "str", 1, 1)       /* the value in the language's syntax; a  \
	                           * string is itself */

enum builtin {
#define X(id, name, fewest, most) BUILTIN_##id,
	BUILTINS(X)
#undef X
		BUILTIN_COUNT
};

/* What a transaction is called, and the level that it has of its own. */
struct transaction_name {
	const char *name;
	own_level level;
};

/* A transaction or a pure function. */
struct function {
	const char *name;
	uint32_t entry;      /* first instruction */
	uint32_t length;     /* instructions, for the dump and for cost */
	uint32_t parameters; /* in R[1] .. */
	uint32_t registers;  /* of its own frame, R[0] included */
	uint32_t stack;      /* with everything it calls: program_finish() */
};

struct session_local {
	const char *name;
	uint32_t reg;
};

struct session {
	const char *name;
	uint32_t entry, length;
	uint32_t registers; /* of its own frame */
	uint32_t stack;     /* with everything it calls: program_finish() */
	uint32_t bound;     /* see program_session_bound() */
	uint32_t symmetric; /* number of the declaration that says with whom it
	                     * can be exchanged, from 1; 0: none */
	struct session_local *locals; /* top-level ones */
	uint32_t local_count, local_capacity;
};

struct global {
	const char *name;
	uint32_t arity;       /* index values; 0 for a scalar */
	struct value initial; /* of keys without an own initial value */
};

/* A key that the program names with constant index values, or whose initial
 * value it gives. Its number in every key table is its place here. */
struct static_key {
	uint32_t global;
	uint32_t count; /* of index values */
	const struct value *index;
	struct value initial;
	bool has_initial; /* else that of the global */
};

/* Where an assertion stands in the code: which names to show if it fails. */
struct site_value {
	const char *name;
	uint16_t operand; /* V(operand) at the time of the ASSERT */
};
struct assertion_site {
	uint32_t assertion;
	struct site_value *values;
	uint32_t value_count, value_capacity;
};

/* Growable arrays: x, x_count, x_capacity. Strings and values are owned by the
 * region. */
struct program {
	struct region region;
	const char *path;
	uint64_t digest;       /* program_digest() */
	const char *isolation; /* level named by the program, or NULL */
	bool has_finally;      /* the last session is `finally` */
	bool ssi;              /* program_be_ssi() */
	uint32_t symmetric;    /* declarations of symmetric sessions */
	uint32_t stack;        /* the most that a session needs */

	struct instruction *code;
	uint32_t *points; /* of each instruction: index into positions */
	uint32_t code_count, code_capacity, points_capacity;

	struct value *constants;
	uint32_t constants_count, constants_capacity;

	struct session *sessions;
	uint32_t sessions_count, sessions_capacity;
	struct function *functions;
	uint32_t functions_count, functions_capacity;
	struct transaction_name *transactions;
	uint32_t transactions_count, transactions_capacity;
	const char **externs; /* names of functions in C, numbered as in
	                       * the library */
	uint32_t externs_count, externs_capacity;
	struct global *globals;
	uint32_t globals_count, globals_capacity;
	struct static_key *keys;
	uint32_t keys_count, keys_capacity;

	struct assertion *assertions;
	uint32_t *final_entries;   /* ASSERTION_FINAL: its code */
	uint32_t *final_registers; /* and its registers, its own frame; after
	                            * program_finish() with all it calls */
	uint32_t assertions_count, assertions_capacity;
	uint32_t final_entries_capacity, final_registers_capacity;
	struct assertion_site *sites;
	uint32_t sites_count, sites_capacity;
	struct reach_point *reach;
	uint32_t reach_count, reach_capacity;
	struct position *positions; /* [0] is "nowhere" */
	uint32_t positions_count, positions_capacity;
	/* While building: of the constants, the keys, and the first position of
	 * each line. */
	struct table constant_table, key_table, line_table;

	/* Code that is not bytecode (vm/guest.h), or NULL; `guest`: all the
	 * sessions are (a session's `entry` is then its number there).
	 * `native`: they are in C, and so are the positions, transaction names
	 * and assertions; the only global has the keys as its index. `sql`:
	 * those are the program's own; a key is a tuple of index values.
	 * `server`: and a PostgreSQL carries them out. */
	struct guest_library *library;
	bool guest, native, sql, server;
	bool locks;    /* some read locks, as far as is known */
	bool gives_up; /* some transaction may give such locks up */
	bool checks;   /* there are foreign keys */
	/* SQL: where some transaction begins at a level of its own. */
	uint32_t own_point;
	uint32_t expectations; /* native: its final assertions come first */

	/* Of a view made by program_reordered(): whose code it shares, and the
	 * place of each session of the original; else NULL. */
	const struct program *original;
	uint32_t *places;
};

static inline struct instruction op_abc(enum opcode op, uint32_t n, uint32_t a,
                                        uint32_t b, uint32_t c)
{
	return (struct instruction){ .op = (uint8_t)op,
		                     .n = (uint8_t)n,
		                     .a = (uint16_t)a,
		                     .b = (uint16_t)b,
		                     .c = (uint16_t)c };
}
static inline struct instruction op_ax(enum opcode op, uint32_t a, uint32_t x)
{
	return (struct instruction){ .op = (uint8_t)op,
		                     .a = (uint16_t)a,
		                     .x = x };
}

const char *opcode_name(enum opcode op);
const char *opcode_layout(enum opcode op);
const char *builtin_name(enum builtin b);
/* The builtin of this name with its least and greatest number of arguments, or
 * -1. */
int builtin_find(const char *name, uint32_t *fewest, uint32_t *most);

/* Building. All strings and values given are copied. Limits (instructions,
 * sessions, registers) are the caller's to check while building; registers are
 * checked by program_finish(). */
struct program *program_new(const char *path);
/* Appends an instruction; returns its number. */
uint32_t program_emit(struct program *p, struct instruction i, uint32_t point);
/* Number of the next instruction: a jump target. */
uint32_t program_here(const struct program *p);
/* Sets the target of the jump at instruction `at`. */
void program_patch(struct program *p, uint32_t at, uint32_t target);
/* Forgets the instructions from `length` on (code run by program_evaluate). */
void program_truncate(struct program *p, uint32_t length);

/* The constant with this value, made if there is none. */
uint32_t program_constant(struct program *p, struct value v);
/* A position; equal to the latest one added, it is that one. */
uint32_t program_add_position(struct program *p, struct position at);
uint32_t program_add_global(struct program *p, const char *name, uint32_t arity,
                            struct value initial);
/* The static key with these index values, made if there is none. */
uint32_t program_add_key(struct program *p, uint32_t global,
                         const struct value *index, uint32_t count);
void program_set_initial(struct program *p, uint32_t key, struct value v);
/* The code of functions, sessions and final assertions is emitted apart; fill
 * in entry, length and registers of the struct when done. */
uint32_t program_add_function(struct program *p, const char *name,
                              uint32_t parameters);
/* A function in C; its number is that of the library. */
uint32_t program_add_extern(struct program *p, const char *name);
uint32_t program_add_session(struct program *p, const char *name);
uint32_t program_add_local(struct program *p, uint32_t session,
                           const char *name, uint32_t reg);
/* The sessions are declared to be symmetric, and this was found to hold. */
void program_add_symmetric(struct program *p, const uint32_t *sessions,
                           uint32_t count);
/* Does one declaration name both? */
bool program_are_symmetric(const struct program *p, uint32_t a, uint32_t b);
/* The number of a transaction name with this level, made if there is none. */
uint32_t program_add_transaction(struct program *p, const char *name,
                                 own_level level);
/* The assertion's strings are copied; a->at is taken as it is, its strings
 * must be those of program_position() of a position added before. */
uint32_t program_add_assertion(struct program *p, const struct assertion *a);
uint32_t program_add_site(struct program *p, uint32_t assertion);
void program_add_site_value(struct program *p, uint32_t site, const char *name,
                            uint32_t operand);
uint32_t program_add_reach(struct program *p, enum reach_kind kind,
                           uint32_t point);

/* Runs pure code from instruction `entry` to its RETURN, now, in a frame of
 * `registers` (constants, initial values). The functions that it calls must
 * have their entry, length and registers. On an error false: `message` is in
 * `r`, `point` is where. */
bool program_evaluate(struct program *p, uint32_t entry, uint32_t registers,
                      struct region *r, struct value *out, const char **message,
                      uint32_t *point);
/* How many registers this code needs, with all that it calls; REGISTERS_MAX + 1
 * stands for anything more. */
uint32_t program_code_stack(struct program *p, uint32_t entry, uint32_t length,
                            uint32_t registers);
/* The last step: computes how many registers are needed, drops what only
 * building needs. False when a session needs more than REGISTERS_MAX: its name
 * (or the assertion's text) in `which`. */
bool program_finish(struct program *p, const char **which);
/* The listing; also offered by lang/load.h. */
void dump_program(const struct program *p, struct text *out);

#endif
