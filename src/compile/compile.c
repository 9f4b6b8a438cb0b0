#include "compile/compile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "compile/code.h"
#include "lang/format.h"
#include "lang/limits.h"
#include "analyse/declared_symmetry.h"
#include "native/host/library.h"

/* A frame of its own. */
static void new_frame(struct code *c, uint32_t registers)
{
	c->next = c->most = registers;
	c->pinned = 0;
	c->in_session = false;
	c->anonymous = false;
	c->too_many_registers = false;
	c->bound = 0;
}

static void too_many(struct code *c, struct place at)
{
	if (c->too_many_registers && !c->failed)
		code_error(c, at, "the expression is too large");
}

static struct value constant(struct code *c, struct expr *e)
{
	new_frame(c, 0);
	struct value v = code_evaluate(c, e);
	too_many(c, expr_place(e));
	return v;
}

/* --- functions in C ----------------------------------------------------- */

/* The library beside the file that names it. A name without a slash that is
 * not there is looked for where the system keeps libraries. */
static const char *library_path(struct code *c, const struct item *i)
{
	struct text path = { 0 };
	const char *from = c->all->items[i->at.source].path;
	const char *slash = strrchr(from, '/');
	if (i->message[0] != '/' && slash)
		text_bytes(&path, from, (size_t)(slash - from) + 1);
	else if (i->message[0] != '/')
		text_string(&path, "./");
	text_string(&path, i->message);
	const char *beside =
		region_copy_string(c->region, text_get(&path), path.length);
	text_free(&path);
	diags_file(c->all->diags, beside);
	return strchr(i->message, '/') || !access(beside, F_OK) ? beside
	                                                        : i->message;
}

static uint32_t add_extern(struct code *c, struct library *l,
                           const struct item *i)
{
	struct foreign_function f = {
		.name = i->name->text,
		.library = library_path(c, i),
		.parameter_count = i->param_count,
		.parameters = i->param_types,
		.result = i->result_type,
	};
	assert(i->kind == ITEM_EXTERN);
	return library_add_function(l, &f);
}

/* Reports the item if it alone cannot be loaded. */
static void try_extern(struct code *c, const struct item *i,
                       double step_timeout)
{
	struct text why = { 0 };
	struct library *alone = library_new(NULL, step_timeout);
	add_extern(c, alone, i);
	if (!library_try(alone, &why))
		code_error(c, i->at, "%s", text_get(&why));
	struct guest_library *g = library_guest(alone);
	g->ops->release(g);
	text_free(&why);
}

/* All of them together; which one is to blame is found out only if need be. */
static void load_externs(struct code *c, struct syntax *syntax,
                         double step_timeout)
{
	struct text why = { 0 };
	const struct item *first = NULL;
	struct library *l = library_new(NULL, step_timeout);
	c->p->library = library_guest(l);
	for (struct item *i = syntax->first; i; i = i->next) {
		if (i->kind != ITEM_EXTERN) continue;
		if (!first) first = i;
		uint32_t number = add_extern(c, l, i);
		assert(number == i->number);
		(void)number;
	}
	assert(first);
	if (!library_try(l, &why)) {
		for (struct item *i = syntax->first; i; i = i->next)
			if (i->kind == ITEM_EXTERN && !sources_full(c->all))
				try_extern(c, i, step_timeout);
		if (!c->failed) code_error(c, first->at, "%s", text_get(&why));
	}
	text_free(&why);
}

static void compile_externs(struct code *c, struct syntax *syntax,
                            enum compile_purpose purpose, double step_timeout)
{
	uint32_t count = 0;
	for (struct item *i = syntax->first; i; i = i->next) {
		if (i->kind != ITEM_EXTERN) continue;
		i->number = program_add_extern(c->p, i->name->text);
		if (++count > LIMIT_EXTERNS) {
			code_error(c, i->at, "more than %d functions in C",
			           LIMIT_EXTERNS);
			return;
		}
	}
	if (count && purpose != COMPILE_TO_SHOW && purpose != COMPILE_TO_EDIT)
		load_externs(c, syntax, step_timeout);
}

/* --- functions and constants ---------------------------------------------- */

static uint32_t bind_params(struct item *i)
{
	for (uint32_t n = 0; n < i->param_count; n++) i->params[n]->reg = n + 1;
	assert(!i->param_count ||
	       i->params[i->param_count - 1]->reg == i->param_count);
	return 1 + i->param_count;
}

static void finish_function(struct code *c, struct item *i, uint32_t entry)
{
	struct function *f = &c->p->functions[i->number];
	assert(entry <= program_here(c->p));
	f->entry = entry;
	f->length = program_here(c->p) - entry;
	f->registers = c->most;
}

static void compile_fn(struct code *c, struct item *i)
{
	assert(i->kind == ITEM_FN);
	i->number = program_add_function(c->p, i->name->text, i->param_count);
	new_frame(c, bind_params(i));
	uint32_t entry = program_here(c->p);
	assert(c->next == 1 + i->param_count);
	uint32_t operand = code_operand(c, i->value);
	code_emit(c, op_ax(OP_RETURN, operand, 0), expr_place(i->value));
	finish_function(c, i, entry);
	too_many(c, i->at);
}

static void compile_pure(struct code *c, struct syntax *syntax)
{
	for (struct item *i = syntax->first_pure; i; i = i->next_pure) {
		if (i->kind == ITEM_FN)
			compile_fn(c, i);
		else
			i->constant = constant(c, i->value);
	}
}

/* --- shared state ------------------------------------------------------ */

static void declare_family(struct code *c, struct item *family)
{
	uint32_t arity =
		family->keyed && !family->index_count ? 1 : family->index_count;
	family->number =
		program_add_global(c->p, family->name->text,
	                           family->keyed ? arity : 0, value_null());
}

static void initial_key(struct code *c, struct item *i)
{
	struct value index[LIMIT_INDEXES];
	uint32_t count = i->keyed ? i->index_count : 0;
	assert(count <= LIMIT_INDEXES);
	for (uint32_t n = 0; n < count; n++) {
		index[n] = constant(c, i->indexes[n]);
		if (index[n].tag > VALUE_TUPLE)
			code_error(c, expr_place(i->indexes[n]),
			           "a %s cannot be an index of a key",
			           value_type_name(index[n].tag));
	}
	uint32_t key = program_add_key(c->p, i->family->number, index, count);
	if (c->p->keys[key].has_initial)
		code_error(c, i->at, "this key has an initial value already");
	program_set_initial(c->p, key, constant(c, i->value));
}

static void initial_others(struct code *c, struct item *i)
{
	struct item *family = i->family;
	assert(i->star && family->kind == ITEM_GLOBAL);
	if (family->others)
		code_error(c, i->at,
		           "the other keys of '%s' have an initial "
		           "value already",
		           i->name->text);
	family->others = true;
	c->p->globals[family->number].initial =
		value_copy(&c->p->region, constant(c, i->value));
}

static void compile_globals(struct code *c, struct syntax *syntax)
{
	for (struct item *i = syntax->first; i; i = i->next) {
		if (i->kind != ITEM_GLOBAL || i->family != i) continue;
		if (c->p->globals_count == LIMIT_GLOBALS) {
			code_error(c, i->at, "more than %d globals",
			           LIMIT_GLOBALS);
			return;
		}
		declare_family(c, i);
	}
	for (struct item *i = syntax->first; i; i = i->next) {
		if (i->kind != ITEM_GLOBAL) continue;
		if (i->star)
			initial_others(c, i);
		else
			initial_key(c, i);
	}
}

/* --- transactions and sessions ---------------------------------------- */

static void compile_txn(struct code *c, struct item *i)
{
	struct program *p = c->p;
	new_frame(c, bind_params(i));
	uint32_t entry = code_emit(
		c,
		op_ax(OP_BEGIN, 0,
	              program_add_transaction(p, i->name->text,
	                                      code_own_level(i->body))),
		i->at);
	code_block(c, i->body);
	code_emit(c, op_ax(OP_COMMIT, 0, 0), i->at);
	code_patch(c, &c->aborts, program_here(p));
	code_emit(c,
	          op_ax(OP_RETURN,
	                program_constant(p, value_null()) | OPERAND_CONSTANT,
	                0),
	          i->at);
	finish_function(c, i, entry);
}

static void compile_transactions(struct code *c, struct syntax *syntax)
{
	/* The null that RETURN gives must be among the first constants. */
	program_constant(c->p, value_null());
	for (struct item *i = syntax->first; i; i = i->next)
		if (i->kind == ITEM_TXN)
			i->number = program_add_function(c->p, i->name->text,
			                                 i->param_count);
	for (struct item *i = syntax->first; i; i = i->next)
		if (i->kind == ITEM_TXN) compile_txn(c, i);
}

static void finish_session(struct code *c, struct item *i, uint32_t entry)
{
	code_emit(c, op_ax(OP_END, 0, 0), i->at);
	struct session *s = &c->p->sessions[i->number];
	assert(s->length == 0);
	s->entry = entry;
	s->length = program_here(c->p) - entry;
	s->registers = c->most;
	s->bound = c->bound > UINT32_MAX ? 0 : (uint32_t)c->bound;
}

static void compile_session(struct code *c, struct item *i)
{
	i->number = program_add_session(c->p, i->name->text);
	uint32_t count = 0;
	for (struct local *l = i->locals; l && count < LIMIT_LOCALS;
	     l = l->next) {
		l->reg = count++;
		program_add_local(c->p, i->number, l->name->text, l->reg);
	}
	new_frame(c, count);
	c->too_many_registers = count == LIMIT_LOCALS;
	c->pinned = count;
	c->in_session = true;
	uint32_t entry = program_here(c->p);
	if (i->kind == ITEM_FINALLY)
		code_finally(c, i->body, i->at);
	else
		code_block(c, i->body);
	assert(c->next >= count);
	finish_session(c, i, entry);
	c->in_session = false;
}

static void compile_sessions(struct code *c, struct syntax *syntax)
{
	struct item *finally = NULL;
	uint32_t count = 0;
	for (struct item *i = syntax->first; i; i = i->next) {
		if (i->kind == ITEM_FINALLY) finally = i;
		if (i->kind != ITEM_SESSION) continue;
		if (++count > LIMIT_SESSIONS) {
			code_error(c, i->at, "more than %d sessions",
			           LIMIT_SESSIONS);
			return;
		}
		compile_session(c, i);
	}
	if (!count && !c->sessionless)
		code_error(c, (struct place){ 0, 0 },
		           "the program has no session: nothing would run");
	if (!finally) return;
	c->p->has_finally = true;
	compile_session(c, finally);
}

/* --- top-level assertions ------------------------------------------------ */

static void compile_serializable(struct code *c, struct item *i)
{
	uint32_t point = code_point(c, i->at);
	struct assertion a = { .kind = ASSERTION_SERIALIZABLE,
		               .text = "serializable",
		               .at = program_position(c->p, point) };
	program_add_assertion(c->p, &a);
}

static void compile_assertion(struct code *c, struct item *i)
{
	struct text text = { 0 };
	uint32_t point = code_point(c, i->at);
	format_expression(c->all, i->value, &text);
	struct assertion a = { .kind = ASSERTION_FINAL,
		               .text = text_get(&text),
		               .message = i->message,
		               .at = program_position(c->p, point) };
	uint32_t number = program_add_assertion(c->p, &a);
	uint32_t site = program_add_site(c->p, number);
	text_free(&text);
	new_frame(c, 0);
	uint32_t entry = program_here(c->p);
	code_watch(c, i->value);
	uint32_t operand = code_operand(c, i->value);
	code_watch_site(c, site);
	code_emit(c, op_ax(OP_ASSERT, operand, site), i->at);
	code_emit(c, op_ax(OP_END, 0, 0), i->at);
	assert(entry < program_here(c->p));
	c->p->final_entries[number] = entry;
	c->p->final_registers[number] = c->most;
	too_many(c, i->at);
}

static void compile_assertions(struct code *c, struct syntax *syntax)
{
	for (struct item *i = syntax->first; i; i = i->next) {
		if (i->kind == ITEM_ISOLATION)
			c->p->isolation = region_copy_string(
				&c->p->region, i->name->text, i->name->length);
		if (i->kind != ITEM_ASSERT) continue;
		if (i->value)
			compile_assertion(c, i);
		else
			compile_serializable(c, i);
	}
}

static void finish(struct code *c)
{
	const char *which = NULL;
	struct place start = { 0, 0 };
	assert(!c->failed);
	if (program_here(c->p) > LIMIT_CODE)
		code_error(c, start,
		           "the program is too large: more than %d "
		           "instructions",
		           LIMIT_CODE);
	else if (c->p->keys_count > LIMIT_KEYS)
		code_error(c, start, "the program names more than %d keys",
		           LIMIT_KEYS);
	else if (!program_finish(c->p, &which))
		code_error(c, start, "'%s' needs too many locals", which);
}

static void compile_rest(struct code *c, struct syntax *syntax)
{
	compile_pure(c, syntax);
	compile_globals(c, syntax);
	compile_transactions(c, syntax);
	compile_sessions(c, syntax);
	compile_assertions(c, syntax);
}

static void digest(struct code *c, const struct syntax *syntax)
{
	uint64_t h = 0;
	for (size_t i = 0; i < c->all->count; i++)
		h = hash_bytes(h, c->all->items[i].text,
		               c->all->items[i].length);
	for (const struct item *i = syntax->first; i; i = i->next)
		if (i->kind == ITEM_EXTERN)
			h = hash_file(h, library_path(c, i));
	c->p->digest = h;
}

struct program *compile(struct syntax *syntax, struct sources *all,
                        enum compile_purpose purpose, double step_timeout)
{
	struct code c = { .all = all,
		          .region = syntax->region,
		          .sessionless = purpose == COMPILE_TRANSACTIONS ||
		                         purpose == COMPILE_TO_EDIT,
		          .locks_write = purpose == COMPILE_LOCKS_AS_WRITES };
	c.p = program_new(all->items[0].path);
	compile_externs(&c, syntax, purpose, step_timeout);
	/* Without its libraries nothing can be evaluated. */
	if (!c.failed) compile_rest(&c, syntax);
	if (!c.failed) finish(&c);
	if (!c.failed) c.failed = !declared_symmetry_check(syntax, all, c.p);
	digest(&c, syntax);
	assert(!c.evaluating);
	free(c.watched);
	free(c.aborts.items);
	free(c.returns.items);
	if (!c.failed) return c.p;
	program_free(c.p);
	return NULL;
}
