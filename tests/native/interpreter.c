/* A client whose sessions interpret a program of the language, read from the
 * file that INTERPRETED names: what tests/random_program.h writes, and a little
 * more. So there are two implementations of the same program, which have to
 * have the same histories.
 *
 * Nothing of isoscope is used but the API. The program is a tree; executing it
 * is recursion, with locals and joined strings in memory of the heap that the
 * session gives back at its end. The key k[1] is the integer 1, the key x is
 * the string "x". What is a run-time error of the language is a mistake in the
 * use of the API, or a crash.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <isoscope/client.h>

/* ---- the tree ---- */

enum node_kind {
	NUMBER, STRING, NOTHING, /* literals */
	NAME,      /* a local or a key: name */
	INDEXED,   /* k[a] */
	NOTED,     /* name.other */
	BINARY,    /* a op b */
	CALL,      /* name(a); no parameter: a is NULL */
	LET,       /* let name = a */
	SET, ADD,  /* a = b, a += b */
	ATOMIC,    /* atomic a += b */
	GROUP,     /* statement a */
	IF,        /* if (a) b else c */
	FOR,       /* for name in a..b { c } */
	BLOCK,     /* a, then what comes next */
	ABORT, SKIP,
	RETURN, ASSERT, ASSUME, /* a, or NULL */
	ANONYMOUS, /* txn a */
	DEFINITION /* txn name(other) a; session name a; finally a */
};

struct node {
	enum node_kind kind;
	int line;
	char op[3];
	char *name, *other, *level;
	int64_t number;
	enum iso_lock lock; /* of a name or index that is read */
	struct node *a, *b, *c;
	struct node *next; /* statement of a block, or definition */
};

struct interpreted {
	struct node *definitions;
	char text[1 << 16]; /* the program; parsed up to `at` */
	const char *at;
	int line;
};

static struct interpreted interpreted;

/* ---- parsing: the text is known to be correct ---- */

static void blank(struct interpreted *p)
{
	for (; isspace((unsigned char)*p->at); p->at++)
		p->line += *p->at == '\n';
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Takes the token if it comes next. */
static bool accept(struct interpreted *p, const char *token)
{
	size_t length = strlen(token);
	blank(p);
	if (strncmp(p->at, token, length)) return false;
	if (is_word(*token) && is_word(p->at[length])) return false;
	p->at += length;
	return true;
}

static void expect(struct interpreted *p, const char *token)
{
	if (accept(p, token)) return;
	fprintf(stderr, "line %d: expected '%s' at '%.20s'\n", p->line, token,
	        p->at);
	abort();
}

static char *word(struct interpreted *p)
{
	blank(p);
	const char *from = p->at;
	while (is_word(*p->at)) p->at++;
	return strndup(from, (size_t)(p->at - from));
}

/* Of a transaction that has one of its own, or NULL. */
static char *level(struct interpreted *p)
{
	return accept(p, "at") ? word(p) : NULL;
}

static struct node *node(struct interpreted *p, enum node_kind kind)
{
	struct node *n = calloc(1, sizeof *n);
	blank(p);
	n->kind = kind;
	n->line = p->line;
	return n;
}

static struct node *expression(struct interpreted *p, int strength);

static struct node *string(struct interpreted *p)
{
	struct node *n = node(p, STRING);
	const char *from = p->at;
	while (*p->at != '"') p->at++;
	n->name = strndup(from, (size_t)(p->at - from));
	p->at++;
	return n;
}

static struct node *named(struct interpreted *p)
{
	struct node *n = node(p, NAME);
	n->lock = accept(p, "locked")   ? ISO_UPDATE
	          : accept(p, "shared") ? ISO_SHARE
	                                : ISO_NO_LOCK;
	blank(p);
	n->name = word(p);
	if (accept(p, "[")) {
		n->kind = INDEXED;
		n->a = expression(p, 1);
		expect(p, "]");
	} else if (accept(p, "(")) {
		n->kind = CALL;
		if (accept(p, ")")) return n;
		n->a = expression(p, 1);
		expect(p, ")");
	} else if (*p->at == '.' && p->at[1] != '.') {
		p->at++;
		n->kind = NOTED;
		n->other = word(p);
	}
	return n;
}

static struct node *primary(struct interpreted *p)
{
	struct node *n;
	if (accept(p, "(")) {
		n = expression(p, 1);
		expect(p, ")");
	} else if (accept(p, "\"")) {
		n = string(p);
	} else if (accept(p, "null")) {
		n = node(p, NOTHING);
	} else if (isdigit((unsigned char)*p->at)) {
		char *end;
		n = node(p, NUMBER);
		n->number = strtoll(p->at, &end, 10);
		p->at = end;
	} else {
		n = named(p);
	}
	return n;
}

/* Longer ones first. */
static const struct { const char *op; int strength; } operators[] = {
	{ "||", 1 }, { "&&", 2 }, { "==", 3 }, { "!=", 3 }, { "<=", 4 },
	{ ">=", 4 }, { "<", 4 },  { ">", 4 },  { "+=", 0 }, { "+", 5 },
	{ "-", 5 },  { "*", 6 },  { "/", 6 },  { "%", 6 }
};

static struct node *expression(struct interpreted *p, int strength)
{
	struct node *left = primary(p);
	blank(p);
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t length = strlen(operators[i].op);
		if (strncmp(p->at, operators[i].op, length)) continue;
		if (operators[i].strength < strength) break;
		struct node *n = node(p, BINARY);
		p->at += length;
		memcpy(n->op, operators[i].op, length);
		n->a = left;
		n->b = expression(p, operators[i].strength + 1);
		left = n;
		blank(p);
		i = (size_t)-1;
	}
	return left;
}

static struct node *statement(struct interpreted *p);

static struct node *block(struct interpreted *p)
{
	struct node *n = node(p, BLOCK), **last = &n->a;
	expect(p, "{");
	while (!accept(p, "}")) {
		*last = statement(p);
		last = &(*last)->next;
	}
	return n;
}

static struct node *body(struct interpreted *p)
{
	blank(p);
	return *p->at == '{' ? block(p) : statement(p);
}

static struct node *branch(struct interpreted *p)
{
	struct node *n = node(p, IF);
	expect(p, "(");
	n->a = expression(p, 1);
	expect(p, ")");
	n->b = body(p);
	if (accept(p, "else")) n->c = body(p);
	return n;
}

static struct node *loop(struct interpreted *p)
{
	struct node *n = node(p, FOR);
	n->name = word(p);
	expect(p, "in");
	n->a = expression(p, 1);
	expect(p, "..");
	n->b = expression(p, 1);
	n->c = block(p);
	return n;
}

/* A keyword, an expression or none, and a semicolon. */
static struct node *simple(struct interpreted *p, enum node_kind kind)
{
	struct node *n = node(p, kind);
	if (accept(p, ";")) return n;
	n->a = expression(p, 1);
	expect(p, ";");
	return n;
}

static struct node *assignment(struct interpreted *p)
{
	bool atomic = accept(p, "atomic");
	struct node *n = primary(p);
	if (n->kind != CALL) {
		struct node *target = n;
		n = node(p, SET);
		if (accept(p, "+=")) n->kind = atomic ? ATOMIC : ADD;
		else expect(p, "=");
		n->a = target;
		n->b = expression(p, 1);
	}
	expect(p, ";");
	return n;
}

static struct node *statement(struct interpreted *p)
{
	struct node *n;
	if (accept(p, "if")) return branch(p);
	if (accept(p, "for")) return loop(p);
	if (accept(p, "abort")) return simple(p, ABORT);
	if (accept(p, "skip")) return simple(p, SKIP);
	if (accept(p, "return")) return simple(p, RETURN);
	if (accept(p, "assert")) return simple(p, ASSERT);
	if (accept(p, "assume")) return simple(p, ASSUME);
	if (accept(p, "txn")) {
		n = node(p, ANONYMOUS);
		n->level = level(p);
		n->a = block(p);
		return n;
	}
	if (accept(p, "statement")) {
		n = node(p, GROUP);
		n->a = block(p);
		return n;
	}
	if (!accept(p, "let")) return assignment(p);
	n = node(p, LET);
	n->name = word(p);
	expect(p, "=");
	n->a = expression(p, 1);
	expect(p, ";");
	return n;
}

/* ---- execution ---- */

struct local {
	struct local *older;
	const char *name;
	struct iso_value value;
};

/* A string that was made. */
struct chunk {
	struct chunk *older;
	char bytes[];
};

/* One run of a session. */
struct run {
	struct local *locals;
	struct chunk *chunks;
	bool in_transaction, is_finally;
	/* The transaction has had statements of several accesses, and is in
	 * one: else each access begins one. */
	bool grouped, in_group;
	int depth; /* of blocks */
};

enum flow { GOES_ON, RETURNS, ABORTS };

static struct iso_value evaluate(struct run *r, const struct node *n);
static enum flow execute(struct run *r, const struct node *n,
                         struct iso_value *result);

/* A run-time error of the language. */
static struct iso_value wrong(struct run *r, const struct node *n)
{
	if (n->line % 8 == 1) abort();
	if (n->line % 8 == 2) *(volatile int *)8 = n->line;
	if (r->in_transaction) iso_begin("in a transaction");
	else iso_commit();
	iso_assert(false, "goes on after a mistake");
	abort();
}

static void declare(struct run *r, const char *name, struct iso_value value)
{
	struct local *l = malloc(sizeof *l);
	*l = (struct local){ r->locals, name, value };
	r->locals = l;
}

static void forget(struct run *r, struct local *up_to)
{
	while (r->locals != up_to) {
		struct local *l = r->locals;
		r->locals = l->older;
		free(l);
	}
}

static struct local *find(const struct run *r, const char *name)
{
	struct local *l = r->locals;
	while (l && strcmp(l->name, name)) l = l->older;
	return l;
}

static struct iso_value joined(struct run *r, struct iso_value a,
                               struct iso_value b)
{
	struct chunk *c = calloc(1, sizeof *c + a.length + b.length + 1);
	c->older = r->chunks;
	r->chunks = c;
	memcpy(c->bytes, a.bytes, a.length);
	memcpy(c->bytes + a.length, b.bytes, b.length);
	return iso_bytes(c->bytes, a.length + b.length);
}

static int compare_bytes(struct iso_value a, struct iso_value b)
{
	size_t shorter = a.length < b.length ? a.length : b.length;
	int order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;
	return order ? order : (a.length > b.length) - (a.length < b.length);
}

static bool equal(struct iso_value a, struct iso_value b)
{
	if (a.kind != b.kind) return false;
	if (a.kind == ISO_BYTES) return !compare_bytes(a, b);
	return a.kind == ISO_NULL || a.integer == b.integer;
}

static bool compare(struct run *r, const struct node *n)
{
	struct iso_value a = evaluate(r, n->a), b = evaluate(r, n->b);
	if (!strcmp(n->op, "==")) return equal(a, b);
	if (!strcmp(n->op, "!=")) return !equal(a, b);
	if (a.kind != b.kind || a.kind == ISO_NULL) wrong(r, n);
	int order = a.kind == ISO_BYTES
	                ? compare_bytes(a, b)
	                : (a.integer > b.integer) - (a.integer < b.integer);
	if (!strcmp(n->op, "<")) return order < 0;
	if (!strcmp(n->op, "<=")) return order <= 0;
	return strcmp(n->op, ">") ? order >= 0 : order > 0;
}

static bool holds(struct run *r, const struct node *n)
{
	if (!strcmp(n->op, "||")) return holds(r, n->a) || holds(r, n->b);
	if (!strcmp(n->op, "&&")) return holds(r, n->a) && holds(r, n->b);
	return compare(r, n);
}

static int64_t divided(int64_t a, int64_t b, bool remainder)
{
	volatile int64_t divisor = b; /* 0: SIGFPE */
	return remainder ? a % divisor : a / divisor;
}

static void begin_access(struct run *r)
{
	if (r->grouped && !r->in_group) iso_statement();
}

/* True if it was not in one already. */
static bool begin_group(struct run *r)
{
	if (r->in_group) return false;
	iso_statement();
	return r->grouped = r->in_group = true;
}

/* The left side of an operator. */
static struct iso_value operand(struct run *r, const struct node *n)
{
	if (n->a->kind == NAME && n->b->kind == NUMBER &&
	    !find(r, n->a->name)) {
		begin_access(r);
		switch (n->a->lock) {
		case ISO_UPDATE:
			return iso_int(iso_get_locked_int(n->a->name));
		case ISO_SHARE:
			return iso_int(iso_get_shared_int(n->a->name));
		default: return iso_int(iso_get_int(n->a->name));
		}
	}
	return evaluate(r, n->a);
}

static struct iso_value get(struct run *r, struct iso_value key,
                            const struct node *n)
{
	begin_access(r);
	if (n->lock == ISO_NO_LOCK) return iso_get(key);
	if (n->line % 2) return iso_get_for(key, n->lock);
	return n->lock == ISO_SHARE ? iso_get_shared(key) : iso_get_locked(key);
}

static struct iso_value operation(struct run *r, const struct node *n)
{
	struct iso_value a = operand(r, n), b = evaluate(r, n->b);
	int64_t sum = 0;
	bool overflow = false;
	if (*n->op == '+' && a.kind == ISO_BYTES && b.kind == ISO_BYTES)
		return joined(r, a, b);
	if (a.kind != ISO_INT || b.kind != ISO_INT) return wrong(r, n);
	switch (*n->op) {
	case '+':
		overflow = __builtin_add_overflow(a.integer, b.integer, &sum);
		break;
	case '-':
		overflow = __builtin_sub_overflow(a.integer, b.integer, &sum);
		break;
	case '*':
		overflow = __builtin_mul_overflow(a.integer, b.integer, &sum);
		break;
	default: sum = divided(a.integer, b.integer, *n->op == '%'); break;
	}
	return overflow ? wrong(r, n) : iso_int(sum);
}

/* The transaction's body, between begin and commit. */
static struct iso_value transact(struct run *r, const char *name,
                                 const struct node *of)
{
	const struct node *n = of->a;
	struct iso_value result = iso_null();
	struct local *outer = r->locals;
	if (of->level)
		iso_begin_at(name, of->level);
	else
		iso_begin(name);
	r->grouped = r->in_group = false;
	r->in_transaction = true;
	if (execute(r, n, &result) == ABORTS) {
		iso_abort();
		result = iso_null();
	} else {
		iso_commit();
	}
	r->in_transaction = false;
	forget(r, outer);
	return result;
}

static struct iso_value call(struct run *r, const struct node *n)
{
	const struct node *d = interpreted.definitions;
	while (!d->other || strcmp(d->name, n->name)) d = d->next;
	struct local *outer = r->locals;
	struct iso_value argument = iso_null();
	if (n->a) argument = evaluate(r, n->a);
	r->locals = NULL;
	declare(r, d->other, argument);
	struct iso_value result = transact(r, d->name, d);
	forget(r, NULL);
	r->locals = outer;
	return result;
}

static struct iso_value evaluate(struct run *r, const struct node *n)
{
	struct local *l;
	switch (n->kind) {
	case NUMBER: return iso_int(n->number);
	case STRING: return iso_string(n->name);
	case NAME:
		l = find(r, n->name);
		return l ? l->value : get(r, iso_string(n->name), n);
	case INDEXED: return get(r, evaluate(r, n->a), n);
	case NOTED: return iso_noted(n->name, n->other);
	case BINARY: return operation(r, n);
	case CALL: return call(r, n);
	default: return iso_null();
	}
}

/* ---- statements ---- */

static void put(struct run *r, struct iso_value key, struct iso_value value)
{
	begin_access(r);
	if (key.kind == ISO_BYTES && value.kind == ISO_INT)
		iso_put_int(key.bytes, value.integer);
	else if (key.kind == ISO_BYTES && value.kind == ISO_BYTES)
		iso_put_string(key.bytes, value.bytes);
	else
		iso_put(key, value);
}

/* The key that is assigned to. */
static struct iso_value target(struct run *r, const struct node *n)
{
	return n->kind == NAME ? iso_string(n->name) : evaluate(r, n->a);
}

static void assign(struct run *r, const struct node *n)
{
	struct local *l = n->a->kind == NAME ? find(r, n->a->name) : NULL;
	if (l) {
		l->value = evaluate(r, n->b);
		return;
	}
	struct iso_value key = target(r, n->a);
	put(r, key, evaluate(r, n->b));
}

/* Does it read a key so? */
static bool reads(struct run *r, const struct node *n, bool lock)
{
	if (!n) return false;
	bool key = n->kind == INDEXED ||
	           (n->kind == NAME && !find(r, n->name));
	return (key && lock == (n->lock != ISO_NO_LOCK)) ||
	       reads(r, n->a, lock) || reads(r, n->b, lock);
}

static struct iso_value sum_of(struct run *r, const struct node *n,
                               struct iso_value a, struct iso_value b)
{
	int64_t integer = 0;
	if (a.kind == ISO_BYTES && b.kind == ISO_BYTES)
		return joined(r, a, b);
	if (a.kind != ISO_INT || b.kind != ISO_INT ||
	    __builtin_add_overflow(a.integer, b.integer, &integer))
		return wrong(r, n);
	return iso_int(integer);
}

/* A statement, if it reads several keys without locks. */
static void increase(struct run *r, const struct node *n)
{
	bool group = reads(r, n->b, false) && !reads(r, n->b, true);
	bool begun = group && begin_group(r);
	struct iso_value key = target(r, n->a);
	struct iso_value a = get(r, key, n->a), b = evaluate(r, n->b);
	put(r, key, sum_of(r, n, a, b));
	if (begun) r->in_group = false;
}

static void increase_at_once(struct run *r, const struct node *n)
{
	bool begun = begin_group(r);
	struct iso_value key = target(r, n->a), b = evaluate(r, n->b);
	if (key.kind == ISO_BYTES && n->b->kind == NUMBER && n->line % 2) {
		iso_atomic_add(key.bytes, b.integer);
	} else {
		struct iso_value a = iso_get_for(key, ISO_NO_KEY_UPDATE);
		iso_put_for(key, sum_of(r, n, a, b), ISO_NO_KEY_UPDATE);
	}
	if (begun) r->in_group = false;
}

static enum flow execute_group(struct run *r, const struct node *n,
                               struct iso_value *result)
{
	begin_group(r);
	enum flow flow = execute(r, n->a, result);
	r->in_group = false;
	return flow;
}

static enum flow repeat(struct run *r, const struct node *n,
                        struct iso_value *result)
{
	struct iso_value from = evaluate(r, n->a), to = evaluate(r, n->b);
	enum flow flow = GOES_ON;
	if (from.kind != ISO_INT || to.kind != ISO_INT) wrong(r, n);
	for (int64_t i = from.integer; i < to.integer && !flow; i++) {
		struct local *outer = r->locals;
		declare(r, n->name, iso_int(i));
		flow = execute(r, n->c, result);
		forget(r, outer);
	}
	return flow;
}

static enum flow execute_block(struct run *r, const struct node *n,
                               struct iso_value *result)
{
	struct local *outer = r->locals;
	enum flow flow = GOES_ON;
	r->depth++;
	for (n = n->a; n && !flow; n = n->next) flow = execute(r, n, result);
	r->depth--;
	if (r->depth) forget(r, outer);
	return flow;
}

/* What is declared in the session's own block can be looked at in the end. */
static void let(struct run *r, const struct node *n)
{
	struct iso_value value = evaluate(r, n->a);
	bool noted = r->depth == 1 && (!r->in_transaction || r->is_finally);
	declare(r, n->name, value);
	if (noted && value.kind != ISO_NULL) iso_note(n->name, value);
}

static void check(struct run *r, const struct node *n)
{
	char line[16];
	snprintf(line, sizeof line, "%d", n->line);
	iso_assert(holds(r, n->a), line);
}

static enum flow execute(struct run *r, const struct node *n,
                         struct iso_value *result)
{
	switch (n->kind) {
	case BLOCK: return execute_block(r, n, result);
	case IF:
		if (holds(r, n->a)) return execute(r, n->b, result);
		return n->c ? execute(r, n->c, result) : GOES_ON;
	case FOR: return repeat(r, n, result);
	case ABORT: return ABORTS;
	case RETURN:
		if (n->a) *result = evaluate(r, n->a);
		return RETURNS;
	case LET: let(r, n); break;
	case SET: assign(r, n); break;
	case ADD: increase(r, n); break;
	case ATOMIC: increase_at_once(r, n); break;
	case GROUP: return execute_group(r, n, result);
	case ASSERT: check(r, n); break;
	case ASSUME: iso_assume(holds(r, n->a)); break;
	case ANONYMOUS: transact(r, "txn", n); break;
	case CALL: call(r, n); break;
	default: break;
	}
	return GOES_ON;
}

/* ---- the client ---- */

static void run_end(struct run *r)
{
	forget(r, NULL);
	while (r->chunks) {
		struct chunk *c = r->chunks;
		r->chunks = c->older;
		free(c);
	}
	free(r);
}

static void session(void *data)
{
	struct run *r = calloc(1, sizeof *r);
	struct iso_value none;
	execute(r, ((struct node *)data)->a, &none);
	run_end(r);
}

static void finally(void *data)
{
	struct run *r = calloc(1, sizeof *r);
	r->is_finally = true;
	transact(r, "finally", data);
	run_end(r);
}

static bool expectation(void *data)
{
	struct run r = { 0 };
	return holds(&r, data);
}

/* global x = 0;  global k[1] = 0;  global k[*] = 0; */
static void global(struct interpreted *p, bool *known)
{
	char *name = word(p);
	struct iso_value key = iso_string(name);
	bool others = false;
	struct run none = { 0 };
	if (accept(p, "[")) {
		others = accept(p, "*");
		if (!others) key = evaluate(&none, expression(p, 1));
		expect(p, "]");
	}
	expect(p, "=");
	struct iso_value value = evaluate(&none, expression(p, 1));
	expect(p, ";");
	if (!others) iso_initial(key, value);
	if (key.kind == ISO_INT) known[key.integer] = true;
	for (int i = 0; others && i < 10; i++)
		if (!known[i]) iso_initial(iso_int(i), value);
	free(name);
}

static struct node *definition(struct interpreted *p)
{
	struct node *n = node(p, DEFINITION);
	n->name = word(p);
	if (accept(p, "(")) {
		n->other = word(p);
		expect(p, ")");
	}
	n->level = level(p);
	n->a = block(p);
	n->next = p->definitions;
	p->definitions = n;
	return n;
}

static void expected(struct interpreted *p)
{
	char line[16];
	snprintf(line, sizeof line, "%d", p->line);
	iso_expect(line, expectation, expression(p, 1));
	expect(p, ";");
}

static void item(struct interpreted *p, bool *known)
{
	struct node *n;
	if (accept(p, "global")) {
		global(p, known);
	} else if (accept(p, "txn")) {
		definition(p);
	} else if (accept(p, "session")) {
		n = definition(p);
		iso_session(n->name, session, n);
	} else if (accept(p, "finally")) {
		n = node(p, DEFINITION);
		n->level = level(p);
		n->a = block(p);
		iso_finally(finally, n);
	} else {
		expect(p, "assert");
		expected(p);
	}
}

void iso_client(void)
{
	struct interpreted *p = &interpreted;
	bool known[10] = { false };
	const char *path = getenv("INTERPRETED");
	FILE *file = path ? fopen(path, "r") : NULL;
	if (!file) {
		fprintf(stderr, "INTERPRETED does not name a program\n");
		abort();
	}
	p->text[fread(p->text, 1, sizeof p->text - 1, file)] = '\0';
	fclose(file);
	p->at = p->text;
	p->line = 1;
	for (blank(p); *p->at; blank(p)) item(p, known);
}
