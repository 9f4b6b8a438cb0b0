#include "postgres/load.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "lang/limits.h"
#include "postgres/command.h"
#include "postgres/guest.h"
#include "postgres/loading.h"
#include "postgres/wire.h"
#include "sql/load.h"
#include "vm/bytecode.h"
#include "vm/guest_session.h"
#include "vm/program.h"

bool load_fail(struct loading *l, struct place at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	source_verror(&l->library->all, at, format, args);
	va_end(args);
	l->failed = true;
	return false;
}

const char *load_keep(struct loading *l, const char *s)
{
	return region_copy_string(&l->library->region, s, strlen(s));
}

uint32_t load_point(struct loading *l, struct place at)
{
	return program_add_position(l->program,
	                            source_position(&l->library->all, at));
}

json_t *load_parse(struct loading *l, const struct spec_block *b)
{
	struct sql_refusal why = { 0 };
	char *text = spec_block_text(&l->library->all, b);
	json_t *all = sql_parse(l->parser, text, b->length, &why);
	struct place at = b->at;
	at.offset += why.at;
	if (!all) load_fail(l, at, "%s", text_get(&why.message));
	free(text);
	text_free(&why.message);
	return all;
}

bool load_query(struct loading *l, const char *format, ...)
{
	struct connection *c = &l->library->setup;
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	bool fine = connection_run(c, text_get(&t));
	text_free(&t);
	if (c->lost) l->diags->of_system = true;
	return fine || load_fail(l, (struct place){ 0 }, "PostgreSQL: %s",
	                         text_get(&c->message));
}

bool load_gives_up(const struct loading *l)
{
	const struct sql_arguments *a = l->given;
	return (a->interrupt && atomic_load(a->interrupt)) ||
	       (l->deadline > 0 && seconds_now() > l->deadline);
}

/* ---- Sessions ---- */

/* "TransactionStmt" and what it holds. */
static json_t *statement_of(json_t *item, const char **kind)
{
	json_t *s = json_object_get(item, "stmt");
	void *i = json_object_iter(s);
	*kind = i ? json_object_iter_key(i) : "";
	return i ? json_object_iter_value(i) : NULL;
}

static const char *level_of(json_t *options)
{
	size_t i;
	json_t *o;
	json_array_foreach(options, i, o)
	{
		json_t *e = json_object_get(o, "DefElem");
		json_t *c =
			json_object_get(json_object_get(e, "arg"), "A_Const");
		const char *name =
			json_string_value(json_object_get(e, "defname"));
		const char *v = json_string_value(
			json_object_get(json_object_get(c, "sval"), "sval"));
		if (!name || !v || strcmp(name, "transaction_isolation"))
			continue;
		return !strcmp(v, "serializable")      ? "ser"
		       : !strcmp(v, "repeatable read") ? "si"
		                                       : "prc";
	}
	return NULL;
}

/* Of the transactions that can begin in the steps of a session. */
struct levels {
	enum { NONE, STEP, BLOCK } inside;
	struct server_step *step;
	bool common, any; /* all ask for one level, which is ... */
	const char *level;
};

static bool is_kind(const char *kind, const char *a, const char *b)
{
	return kind && (!strcmp(kind, a) || !strcmp(kind, b));
}

static void add_transaction(struct loading *l, struct server_step *s,
                            const char *name, const char *level)
{
	own_level own = 0;
	if (level && strcmp(level, l->program->isolation)) {
		own = (own_level)(level_number(level) + 1);
		l->program->own_point = s->point;
	}
	uint32_t *names = region_take0(&l->library->region,
	                               (s->name_count + 1) * sizeof *names);
	if (s->name_count)
		memcpy(names, s->names, s->name_count * sizeof *names);
	names[s->name_count++] = program_add_transaction(l->program, name, own);
	s->names = names;
}

/* Which transactions begin in it, and at which levels. */
static void find_transactions(struct loading *l, struct server_step *s,
                              json_t *all, bool *block)
{
	const char *name = s->spec ? s->spec->name : "setup";
	const char *kind, *level = NULL;
	bool inside = *block, asked = false;
	size_t i;
	json_t *item;
	json_array_foreach(all, i, item)
	{
		json_t *body = statement_of(item, &kind);
		bool transaction = !strcmp(kind, "TransactionStmt");
		const char *what =
			json_string_value(json_object_get(body, "kind"));
		const char *own = NULL;
		if (transaction)
			own = level_of(json_object_get(body, "options"));
		if (!strcmp(kind, "VariableSetStmt"))
			own = level_of(json_object_get(body, "args"));
		if (transaction &&
		    is_kind(what, "TRANS_STMT_COMMIT", "TRANS_STMT_ROLLBACK")) {
			if (asked) add_transaction(l, s, name, level);
			asked = inside = *block = false;
			level = NULL;
			continue;
		}
		if (!inside) {
			inside = asked = true;
			level = NULL;
		}
		if (own) level = own;
		if (transaction &&
		    is_kind(what, "TRANS_STMT_BEGIN", "TRANS_STMT_START"))
			*block = true;
	}
	if (asked || !s->name_count) add_transaction(l, s, name, level);
}

/* What the last statement that returns something returns. */
static void describe(struct loading *l, struct server_step *s, json_t *all)
{
	struct connection *c = &l->library->setup;
	struct region *r = &l->library->region;
	size_t i;
	json_t *item;
	json_array_foreach(all, i, item)
	{
		json_int_t at = json_integer_value(
			json_object_get(item, "stmt_location"));
		json_int_t n =
			json_integer_value(json_object_get(item, "stmt_len"));
		size_t length = strlen(s->text);
		char *text = mem_copy_string(s->text + at);
		if (n && (size_t)(at + n) <= length) text[n] = 0;
		bool fine = connection_describe(c, text);
		free(text);
		if (!fine || !c->has_result) continue;
		uint32_t count = c->column_count;
		s->columns = region_take0(r, (count + 1) * sizeof *s->columns);
		s->types = region_take0(r, (count + 1) * sizeof *s->types);
		s->type_names =
			region_take0(r, (count + 1) * sizeof *s->type_names);
		s->column_count = count;
		struct text names = { 0 };
		for (uint32_t k = 0; k < count; k++) {
			s->columns[k] = load_keep(l, c->columns[k].name);
			s->types[k] = c->columns[k].type;
			text_format(&names, "%sformat_type(%u, %d)",
			            k ? ", " : "SELECT ", c->columns[k].type,
			            c->columns[k].modifier);
		}
		uint32_t size;
		size_t row_at = 0;
		if (count && connection_run(c, text_get(&names))) {
			const char *row = connection_row(c, &row_at, &size);
			for (uint32_t k = 0; k < count; k++) {
				char *one = image_column(row, size, k);
				s->type_names[k] =
					load_keep(l, one ? one : "text");
				free(one);
			}
		}
		text_free(&names);
	}
}

static void add_step(struct loading *l, struct server_session *x,
                     uint32_t session, const struct spec_step *spec,
                     const struct spec_block *sql, bool *block)
{
	struct server_step *s = &x->steps[x->count];
	char *text = spec_block_text(&l->library->all, sql);
	s->spec = spec;
	s->sql = sql;
	s->session = session;
	s->place = spec ? (uint32_t)(spec -
	                             l->library->spec.sessions[session].steps) +
	                           1
	                : 0;
	s->text = load_keep(l, text);
	free(text);
	s->point = load_point(l, spec_block_begin(&l->library->all, sql));
	json_t *all = load_parse(l, sql);
	if (all) {
		find_transactions(l, s, all, block);
		if (spec) describe(l, s, all);
	}
	json_decref(all);
	x->count++;
}

/* Its one step returns what the command does. */
static void add_command(struct loading *l, uint32_t session)
{
	static const char *const columns[] = { "exit", "output" };
	static const char *const types[] = { "int4", "text" };
	struct server_library *s = l->library;
	const struct spec_session *spec = &s->spec.sessions[session];
	struct server_session *x = &s->sessions[session];
	struct server_step *step = &x->steps[x->count++];
	if (s->door_count > CLUSTER_DOORS_MOST) {
		load_fail(l, spec->at, "more than %d sessions are commands",
		          CLUSTER_DOORS_MOST);
		return;
	}
	step->spec = &spec->steps[0];
	step->sql = &spec->steps[0].sql;
	step->session = session;
	step->place = 1;
	step->point = load_point(l, spec->at);
	step->column_count = 2;
	step->columns = (const char **)columns;
	step->type_names = (const char **)types;
	step->names = region_take(&s->region, 4 * sizeof *step->names);
	for (uint32_t i = 0; i < 4; i++) step->names[i] = UINT32_MAX;
	step->names[0] = program_add_transaction(l->program, x->name, 0);
	step->name_count = 4;
}

static void add_sessions(struct loading *l)
{
	struct server_library *s = l->library;
	struct region *r = &s->region;
	uint32_t n = s->spec.session_count, door = 0;
	if (n > LIMIT_SESSIONS) {
		load_fail(l, s->spec.sessions[0].at, "more than %d sessions",
		          LIMIT_SESSIONS);
		return;
	}
	s->sessions = region_take0(r, (n + 1) * sizeof *s->sessions);
	for (uint32_t i = 0; i < n && !l->failed; i++) {
		const struct spec_session *spec = &s->spec.sessions[i];
		struct server_session *x = &s->sessions[i];
		bool block = false;
		x->name = spec->name;
		x->steps = region_take0(r, (spec->step_count + (size_t)2) *
		                                   sizeof *x->steps);
		s->session_count = i + 1;
		x->command = spec->command;
		x->here = spec->here;
		if (x->command) {
			x->door = door++;
			add_command(l, i);
		}
		if (spec->has_setup)
			add_step(l, x, i, NULL, &spec->setup, &block);
		for (uint32_t k = 0;
		     k < spec->step_count && !x->command && !l->failed; k++)
			add_step(l, x, i, &spec->steps[k], &spec->steps[k].sql,
			         &block);
		uint32_t number = program_add_session(l->program, x->name);
		l->program->sessions[number].entry = number;
	}
}

/* ---- The whole ---- */

static void set_isolation(struct loading *l)
{
	struct spec *s = &l->library->spec;
	if (s->isolation && level_number(s->isolation) < 0) {
		struct text t = { 0 };
		level_unknown(&t, s->isolation);
		load_fail(l, s->isolation_at, "%s", text_get(&t));
		text_free(&t);
	}
	l->program->isolation =
		s->isolation
			? region_copy_string(&l->program->region, s->isolation,
	                                     strlen(s->isolation))
			: "prc";
}

/* Where the specification is: NULL is here. */
static void find_folder(struct server_library *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash) return;
	s->folder = slash == path ? "/"
	                          : region_copy_string(&s->region, path,
	                                               (size_t)(slash - path));
}

/* In its place, if it has one. */
static void tell_fault(struct loading *l)
{
	struct server_library *s = l->library;
	struct position at = source_position(&s->all, (struct place){ 0 });
	if (s->fault_has_point)
		at = program_position(l->program, s->fault_point);
	diags_add(l->diags, DIAG_ERROR, at.file, at.line, at.column,
	          at.source_line, "%s", s->fault);
	l->failed = true;
}

/* What each command does when no other session has run: at which levels, and is
 * it the same twice? */
static void try_commands(struct loading *l)
{
	struct server_library *s = l->library;
	struct machine_limits limits = { .interrupt = l->given->interrupt,
		                         .deadline = l->deadline };
	struct guest *g = server_guest_ops.take(&s->guest, &limits);
	struct region scratch;
	region_init(&scratch);
	s->trial = true;
	for (uint32_t i = 0; i < s->session_count && !s->fault; i++) {
		if (!s->sessions[i].command) continue;
		const struct guest_step *step = server_guest_ops.start(g, i);
		while (step && step->kind != GUEST_END)
			step = server_guest_ops.next(
				g, step, server_initial(s, step), &scratch);
		if (step) server_run_again(g, step);
	}
	s->trial = false;
	server_guest_ops.give_back(&s->guest, g);
	if (!s->fault) server_take_growth(l->program);
	region_free(&scratch);
	if (s->fault) tell_fault(l);
}

/* What it is set up by. */
static bool set_up(struct loading *l)
{
	struct server_library *s = l->library;
	if (!load_start_server(l)) return false;
	for (uint32_t i = 0; i < s->spec.setup_count && !l->failed; i++)
		load_setup(l, &s->spec.setups[i]);
	if (!l->failed && !load_sealable(l)) return false;
	return !l->failed && load_seal(l);
}

static bool load(struct loading *l, const char *path, const char *text,
                 size_t length)
{
	struct server_library *s = l->library;
	const char *which;
	uint32_t n = sources_add(&s->all, path, text, (uint32_t)length);
	l->digest = hash_bytes(1, text, length);
	if (!source_check_text(&s->all, n)) return false;
	bool fine = sql_is_script(path)
	                    ? spec_of_script(&s->spec, &s->all, n, l->given,
	                                     &s->region)
	                    : spec_read(&s->spec, &s->all, n, &s->region);
	if (!fine) return false;
	set_isolation(l);
	find_folder(s, path);
	for (uint32_t i = 0; i < s->spec.session_count; i++)
		s->door_count += s->spec.sessions[i].command != NULL;
	if (l->failed || !set_up(l)) return false;
	add_sessions(l);
	if (!l->failed) load_assertions(l);
	if (l->failed || !program_finish(l->program, &which)) return false;
	l->program->stack = GUEST_REGISTERS;
	l->program->digest = l->digest;
	try_commands(l);
	return !l->failed;
}

static void add_setup(struct spec *s, struct spec_setup setup)
{
	VEC_RESERVE(s->setups, s->setup_count, s->setup_capacity);
	s->setups[s->setup_count++] = setup;
}

static struct server_library *library_new(struct loading *l, const char *path)
{
	struct server_library *s = mem_take0(1, sizeof *s);
	region_init(&s->region);
	sources_init(&s->all, &s->region, l->diags);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->turn, NULL);
	guest_pool_init(&s->pool);
	s->guest.ops = &server_guest_ops;
	struct program *p = program_new(path);
	p->guest = p->sql = p->server = p->locks = p->gives_up = true;
	p->checks = true;
	p->library = &s->guest;
	p->stack = GUEST_REGISTERS;
	s->program = l->program = p;
	l->library = s;
	l->parser = sql_parser_new();
	return s;
}

struct program *server_load(const char *path, const char *text, size_t length,
                            const struct sql_arguments *given, struct diags *d)
{
	struct loading l = { .given = given, .diags = d };
	struct server_library *s = library_new(&l, path);
	if (given->timeout > 0) l.deadline = seconds_now() + given->timeout;
	bool fine = load(&l, path, text, length);
	s->setup.interrupt = NULL;
	sql_parser_free(l.parser);
	s->interrupt = given->interrupt;
	/* First it is found out which rows there are, then explored. */
	if (given->timeout > 0)
		s->deadline = seconds_now() + 2 * given->timeout;
	if (fine) return l.program;
	program_free(l.program);
	return NULL;
}

/* An argument of the command line. */
static struct place given_at(struct loading *l, const char *option,
                             const char *text)
{
	return (struct place){
		sources_add(&l->library->all, option, text, strlen(text)), 0
	};
}

struct program *server_load_to_serve(const char *schema, const char *command,
                                     const struct address *address,
                                     const struct sql_arguments *given,
                                     struct diags *d)
{
	struct loading l = {
		.given = given, .diags = d, .serves = true, .address = address
	};
	struct server_library *s = library_new(&l, "serve");
	s->spec.region = &s->region;
	/* Errors have a place. */
	if (schema)
		add_setup(&s->spec,
		          (struct spec_setup){
				  .file = schema,
				  .at = given_at(&l, "--schema", schema) });
	if (command)
		add_setup(&s->spec,
		          (struct spec_setup){
				  .command = command,
				  .at = given_at(&l, "--setup", command) });
	if (!schema && !command) given_at(&l, "serve", "");
	bool fine = set_up(&l) && load_open_service(&l);
	s->setup.interrupt = NULL;
	sql_parser_free(l.parser);
	if (fine) return l.program;
	program_free(l.program);
	return NULL;
}

size_t server_variables(char **out, const struct program *p)
{
	assert((int)SERVER_VARIABLES >= (int)COMMAND_VARIABLES);
	return command_variables(out, server_of(p->library)->cluster,
	                         WIRE_DOOR_OF_SERVICE);
}

enum { GROWTHS_MOST = 100 };

bool server_take_growth(struct program *p)
{
	struct server_library *l = server_of(p->library);
	bool grew = l->grew;
	assert(p->server);
	l->grew = false;
	if (!grew) return false;
	if (l->door_count && ++l->growths > GROWTHS_MOST) {
		server_set_fault(l, "sessions that are commands write ever new "
		                    "rows: what they do depends on something "
		                    "that is not in the database");
		return false;
	}
	for (uint32_t i = 0; i < l->version_count; i++) {
		l->versions[i]->known = true;
		l->versions[i]->key->known = true;
	}
	for (uint32_t i = 0; i < l->key_count; i++)
		l->keys[i]->known |= l->keys[i]->gone;
	free(l->fault);
	l->fault = NULL;
	l->fault_has_point = false;
	server_guests_forget(l);
	return true;
}
