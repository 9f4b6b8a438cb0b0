/* What the front end accepts. Generous, documented in the manual, and an error
 * when exceeded: nothing is ever cut off silently. */
#ifndef ISO_LANG_LIMITS_H
#define ISO_LANG_LIMITS_H

enum {
	LIMIT_FILE = 64 << 20,      /* bytes of one source file */
	LIMIT_FILES = 1000,         /* files of one program, imports included */
	LIMIT_NESTING = 200,        /* brackets, blocks, operators within each
	                             * other; fn, const and import chains */
	LIMIT_CHAIN = 1000,         /* operators in a row: a + b + c ... */
	LIMIT_NAME = 255,           /* bytes of a name */
	LIMIT_LOCALS = 30000,       /* locals and intermediate values alive at
	                             * once in one session or transaction */
	LIMIT_ITEMS = 10000,        /* items written in one list, set, ... */
	LIMIT_PARAMS = 255,         /* parameters of a txn or fn */
	LIMIT_EXTERNS = 10000,      /* functions in C */
	LIMIT_EXTERN_PARAMS = 32,   /* parameters of one */
	LIMIT_INDEXES = 255,        /* index values of a key */
	LIMIT_GLOBALS = 65535,      /* names of scalars and families */
	LIMIT_KEYS = 1 << 20,       /* keys named by the program */
	LIMIT_SESSIONS = 4096,      /* sessions of one program */
	LIMIT_STEPS = 4096,         /* steps of a session in SQL */
	LIMIT_ITERATIONS = 1000000, /* of a range whose ends are constant */
	LIMIT_CODE = 1 << 24,       /* instructions */
	LIMIT_ERRORS = 20           /* errors reported in one run */
};

#endif
