/* Emitting code for expressions and statements: the inside of the compiler.
 *
 * Registers are a stack. Locals lie below the intermediate values of the
 * statement being compiled; both are given back when their block or expression
 * ends. A local's register is used as an operand directly: nothing within an
 * expression can assign to a local. */
#ifndef ISO_COMPILE_CODE_H
#define ISO_COMPILE_CODE_H

#include "base/access.h"
#include "lang/ast.h"
#include "lang/source.h"
#include "vm/bytecode.h"

/* Places in the code that are to jump to a place not known yet. */
struct patches {
	uint32_t *items;
	uint32_t count, capacity;
};

/* A name mentioned by an assertion whose value is shown when it fails. */
struct watched {
	const void *of; /* the expression that reads, or the local */
	const char *name;
	uint32_t reg;
	bool is_read; /* from the database: set only if that is reached */
};

struct code {
	struct program *p;
	struct sources *all;
	struct region *region;
	bool failed;
	bool evaluating;     /* code to be run now: fold nothing */
	uint32_t next, most; /* registers: first free, and all ever used */
	uint32_t pinned;     /* top-level locals of the session: registers
	                      * 0 .. pinned - 1 hold nothing else */
	bool in_session;     /* or in `finally` */
	bool too_many_registers;
	uint64_t bound; /* transactions run at most; UINT64_MAX: unknown */
	struct patches aborts;   /* ABORT instructions of the transaction */
	struct patches returns;  /* anonymous transaction: jumps to its end */
	bool anonymous;          /* `return` is a jump, not a RETURN */
	bool in_statement;       /* of several reads and writes */
	bool sessionless;        /* COMPILE_TRANSACTIONS */
	bool locks_write;        /* COMPILE_LOCKS_AS_WRITES */
	bool wants_result;       /* the anonymous transaction gives a value */
	uint32_t result;         /* in this register */
	struct watched *watched; /* of the assertion being compiled */
	uint32_t watched_count, watched_capacity;
};

void code_error(struct code *c, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
uint32_t code_point(struct code *c, struct place at);
uint32_t code_emit(struct code *c, struct instruction i, struct place at);
/* `count` registers in a row. */
uint32_t code_registers(struct code *c, uint32_t count);
void code_patch(struct code *c, struct patches *p, uint32_t target);
void code_patches_add(struct patches *p, uint32_t at);

/* The value of an expression that is known now. Rewrites it to that value. */
bool code_constant(struct code *c, struct expr *e, struct value *out);
/* Evaluates an expression that must be constant; null after an error. */
struct value code_evaluate(struct code *c, struct expr *e);

/* The register or constant that holds the expression's value; may take a
 * register for it. */
uint32_t code_operand(struct code *c, struct expr *e);
/* Computes the expression into a register. The register is set last, except
 * for &&, ||, comprehensions and anonymous transactions. */
void code_into(struct code *c, struct expr *e, uint32_t reg);
/* The same, never using the register for anything but the result. */
void code_assign(struct code *c, struct expr *e, uint32_t reg);
/* Jumps when the condition is `when`; goes on otherwise. */
void code_condition(struct code *c, struct expr *e, bool when,
                    struct patches *jumps);
void code_load(struct code *c, uint32_t reg, struct value v, struct place at);
/* A key of the database: static, or a global with index registers. */
struct key {
	bool is_static;
	uint32_t key, global, base, count;
};
struct key code_key(struct code *c, struct expr *e);
void code_read(struct code *c, const struct key *k, enum strength strength,
               uint32_t reg, struct place at);
void code_write(struct code *c, const struct key *k, enum strength strength,
                uint32_t operand, struct place at);

void code_block(struct code *c, struct block *b);
void code_statement(struct code *c, struct stmt *s);
/* The level of the transaction with this body. */
own_level code_own_level(const struct block *b);
/* BEGIN ... COMMIT of an anonymous transaction. */
void code_anonymous(struct code *c, struct block *b, struct place at,
                    bool wants_result, uint32_t result);
/* The same for `finally`, whose transaction is a whole session. */
void code_finally(struct code *c, struct block *b, struct place at);

/* Finds the names that an assertion mentions; takes registers for those that
 * are read, and emits the code that must precede. */
void code_watch(struct code *c, struct expr *e);
/* Adds the values of those names to an assertion site. */
void code_watch_site(struct code *c, uint32_t site);
const struct watched *code_watched(const struct code *c, const void *of);

#endif
