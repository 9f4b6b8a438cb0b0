#include "sql/load.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/level_words.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "lang/limits.h"
#include "sql/image.h"
#include "sql/parser.h"
#include "sql/run.h"
#include "vm/bytecode.h"
#include "vm/guest_session.h"
#include "vm/machine.h"

/* A specification being loaded. */
struct loading {
	struct sql_image *image;
	struct program *program;
	struct spec spec;
	bool script; /* a file of SQL, explored with what is given */
	const struct sql_arguments *given;
	struct sql_parser *parser;
	struct sql_draws *sequences; /* of set-up */
	uint32_t set_up;             /* statements of set-up so far */
	uint64_t digest;
	uint32_t transactions; /* that sessions begin */
	own_level common;      /* which all of them ask for; 0: none */
	bool failed;
};

static bool ends_in(const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);
	return n > m && !strcmp(path + n - m, ending);
}

bool sql_is_spec(const char *path)
{
	return ends_in(path, ".spec");
}

bool sql_is_script(const char *path)
{
	return ends_in(path, ".sql");
}

static bool fail(struct loading *l, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool fail(struct loading *l, struct place at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	source_verror(&l->image->all, at, format, args);
	va_end(args);
	l->failed = true;
	return false;
}

/* ---- Statements ---- */

static bool begins_as_query(const char *text)
{
	text += strspn(text, " \t\r\n(");
	return !strncasecmp(text, "select", 6) || !strncasecmp(text, "with", 4);
}

/* PostgreSQL's message, where it points to. */
static void tell_refusal(struct loading *l, const struct spec_block *b,
                         struct sql_refusal *why)
{
	struct place at = b->at;
	at.offset += why->at;
	fail(l, at, "%s", text_get(&why->message));
}

/* The statements of a block, or NULL. */
static json_t *parse_block(struct loading *l, const struct spec_block *b,
                           enum sql_purpose purpose)
{
	struct sql_refusal why = { 0 };
	char *copy = spec_block_text(&l->image->all, b);
	json_t *statements = sql_parse(l->parser, copy, b->length, &why);
	if (!statements && purpose == PURPOSE_ASSERT && !begins_as_query(copy))
		text_string(&why.message,
		            "; an assertion is a query, as SELECT a = b");
	free(copy);
	if (!statements) tell_refusal(l, b, &why);
	text_free(&why.message);
	return statements;
}

/* Does with each statement of the block what `take` does, up to an error. */
static void each_statement(struct loading *l, const struct spec_block *b,
                           enum sql_purpose purpose,
                           void (*take)(struct loading *l, void *data,
                                        const struct sql_statement *s),
                           void *data)
{
	json_t *all = parse_block(l, b, purpose);
	for (size_t i = 0; i < json_array_size(all) && !l->failed; i++) {
		const struct sql_statement *s = sql_resolve(
			&l->image->catalog, b, purpose, json_array_get(all, i));
		if (s)
			take(l, data, s);
		else
			l->failed = true;
	}
	json_decref(all);
}

/* ---- Set-up ---- */

/* Sequences that the statement has made give their first value next. */
static void start_sequences(struct loading *l, uint32_t known)
{
	const struct sql_catalog *c = &l->image->catalog;
	assert(known <= c->sequence_count);
	l->sequences = mem_grow(l->sequences, c->sequence_count + 1,
	                        sizeof *l->sequences);
	for (uint32_t i = known; i < c->sequence_count; i++)
		l->sequences[i] =
			(struct sql_draws){ .next = c->sequences[i].start };
}

static void set_up(struct loading *l, void *data, const struct sql_statement *s)
{
	struct region scratch;
	uint32_t *sequences = data;
	start_sequences(l, *sequences);
	*sequences = l->image->catalog.sequence_count;
	region_init(&scratch);
	struct sql_run x = { .region = &scratch,
		             .inner = sql_inner(),
		             .known = &l->image->known,
		             .serial = true,
		             .direct = true,
		             .session = "setup",
		             .statement = ++l->set_up,
		             .sequences = l->sequences,
		             .sequence_count = *sequences };
	if (!sql_run_statement(&x, s))
		fail(l, s->at, "setup failed: %s (%s)", x.failure.message,
		     x.failure.state);
	region_free(&scratch);
}

static void refuse_command(struct loading *l, struct place at)
{
	fail(l, at,
	     "a command needs a real PostgreSQL: explore it with "
	     "--engine=postgres");
}

static void run_setups(struct loading *l)
{
	struct sql_image *image = l->image;
	uint32_t sequences = 0;
	image->setups =
		region_take0(&image->region,
	                     (l->spec.setup_count + 1) * sizeof *image->setups);
	start_sequences(l, 0);
	for (uint32_t i = 0; i < l->spec.setup_count && !l->failed; i++) {
		struct spec_setup *s = &l->spec.setups[i];
		if (s->command) {
			refuse_command(l, s->at);
			return;
		}
		if (!spec_read_setup(&l->image->all, s,
		                     program_path(l->program), l->given,
		                     &l->digest)) {
			l->failed = true;
			return;
		}
		image->setups[image->setup_count++] = s->sql;
		each_statement(l, &s->sql, PURPOSE_SETUP, set_up, &sequences);
	}
}

/* ---- Sessions ---- */

struct session_part {
	struct sql_session *session;
	uint32_t step, name;
};

static void add_item(struct loading *l, void *data,
                     const struct sql_statement *s)
{
	const struct session_part *part = data;
	struct sql_session *x = part->session;
	l->program->gives_up |= s->kind == STATEMENT_SAVEPOINT;
	VEC_RESERVE(x->items, x->count, x->capacity);
	x->items[x->count++] = (struct sql_item){ .statement = s,
		                                  .step = part->step,
		                                  .name = part->name };
}

/* The last statement that returns something tells what the step returns. */
static void find_result(struct loading *l, const struct sql_session *x,
                        uint32_t from, struct sql_step_result *out)
{
	struct region *r = &l->image->region;
	for (uint32_t i = from; i < x->count; i++) {
		const struct sql_statement *s = x->items[i].statement;
		uint32_t n = sql_result_columns(s);
		const struct sql_target *targets = sql_result_targets(s);
		if (!n) continue;
		struct sql_column *columns =
			region_take0(r, n * sizeof *columns);
		for (uint32_t c = 0; c < n; c++)
			columns[c] = (struct sql_column){
				.name = targets[c].name,
				.type = targets[c].value->type
			};
		out->columns = columns;
		out->column_count = n;
	}
}

static void add_part(struct loading *l, struct sql_session *x,
                     const struct spec_block *b, uint32_t step,
                     const char *name)
{
	struct session_part part = {
		x, step, program_add_transaction(l->program, name, 0)
	};
	uint32_t from = x->count;
	each_statement(l, b, PURPOSE_STEP, add_item, &part);
	for (uint32_t i = from; i < x->count; i++)
		x->items[i].next_step = x->count;
}

static void add_step(struct loading *l, struct sql_session *x,
                     const struct spec_session *session,
                     const struct spec_step *step)
{
	struct sql_catalog *c = &l->image->catalog;
	uint32_t from = x->count, number = c->step_count;
	add_part(l, x, &step->sql, number, step->name);
	VEC_RESERVE(c->steps, c->step_count, c->step_capacity);
	c->steps[c->step_count++] = (struct sql_step_result){
		.name = step->name,
		.at = step->at,
		.session = session->step_count == 1 ? session->name : NULL
	};
	find_result(l, x, from, &c->steps[number]);
}

static void add_session(struct loading *l, uint32_t number)
{
	struct program *p = l->program;
	const struct spec_session *s = &l->spec.sessions[number];
	struct sql_session *x = &l->image->sessions[number];
	struct text setup = { 0 };
	if (s->command) {
		refuse_command(l, s->at);
		return;
	}
	x->name = s->name;
	x->at = s->at;
	x->first_point = p->positions_count;
	if (s->has_setup) {
		text_format(&setup, "%s", "setup");
		add_part(l, x, &s->setup, SQL_NO_STEP, text_get(&setup));
		text_free(&setup);
	}
	for (uint32_t i = 0; i < s->step_count && !l->failed; i++)
		add_step(l, x, s, &s->steps[i]);
	x->point_count = p->positions_count - x->first_point;
	uint32_t i = program_add_session(p, s->name);
	p->sessions[i].entry = i;
}

/* ---- Levels of transactions ---- */

/* Does it begin a transaction, where there is none? */
static bool begins(const struct sql_session *x, uint32_t i)
{
	switch (x->items[i].statement->kind) {
	case STATEMENT_COMMIT:
	case STATEMENT_ROLLBACK:
	case STATEMENT_SAVEPOINT:
	case STATEMENT_ROLLBACK_TO:
	case STATEMENT_RELEASE:
	case STATEMENT_NOTHING: return false;
	case STATEMENT_SET_TRANSACTION: return i + 1 < x->items[i].next_step;
	default: return true;
	}
}

/* What BEGIN or SET TRANSACTION, and SET TRANSACTION right behind it, ask for.
 */
static own_level asked_level(const struct sql_session *x, uint32_t begin)
{
	assert(begin < x->count && begins(x, begin));
	own_level level = x->items[begin].statement->modes.level;
	for (uint32_t i = begin + 1; i < x->count; i++) {
		const struct sql_statement *s = x->items[i].statement;
		if (s->kind != STATEMENT_SET_TRANSACTION &&
		    s->kind != STATEMENT_BEGIN)
			break;
		if (s->modes.level) level = s->modes.level;
	}
	return level;
}

void sql_each_transaction(const struct sql_image *image,
                          void (*take)(void *data, const struct sql_span *t),
                          void *data)
{
	for (uint32_t k = 0; k < image->session_count; k++) {
		const struct sql_session *x = &image->sessions[k];
		struct sql_span t = { .session = x };
		bool inside = false;
		for (uint32_t i = 0; i < x->count; i++) {
			enum sql_statement_kind kind =
				x->items[i].statement->kind;
			if (!inside && !begins(x, i)) continue;
			if (!inside) t.first = i;
			t.block =
				(inside && t.block) || kind == STATEMENT_BEGIN;
			t.end = i + 1;
			inside = kind != STATEMENT_COMMIT &&
			         kind != STATEMENT_ROLLBACK &&
			         (t.block || t.end != x->items[i].next_step);
			if (!inside) take(data, &t);
		}
		if (inside) take(data, &t);
	}
}

/* The level that it asks for. */
static own_level level_of_span(const struct sql_span *t)
{
	enum sql_statement_kind kind =
		t->session->items[t->first].statement->kind;
	bool asks =
		kind == STATEMENT_BEGIN || kind == STATEMENT_SET_TRANSACTION;
	return asks ? asked_level(t->session, t->first) : 0;
}

/* l->common: the level of all, if they have one. */
static void note_level(void *data, const struct sql_span *t)
{
	struct loading *l = data;
	own_level level = level_of_span(t);
	if (!l->transactions++) l->common = level;
	if (l->common != level) l->common = 0;
}

static void give_level(void *data, const struct sql_span *t)
{
	struct loading *l = data;
	struct sql_item *begin = &t->session->items[t->first];
	own_level level = level_of_span(t);
	struct program *p = l->program;
	if (!level || !strcmp(own_level_word(level), p->isolation)) return;
	const char *why = own_level_problem(own_level_word(level));
	if (why) fail(l, begin->statement->at, "%s", why);
	p->own_point = begin->statement->point;
	begin->name = program_add_transaction(
		p, program_transaction_name(p, begin->name), level);
}

/* A level that all ask for is the program's. */
static void find_levels(struct loading *l)
{
	sql_each_transaction(l->image, note_level, l);
	if (l->common) {
		const char *word = own_level_word(l->common);
		l->program->isolation = region_copy_string(&l->program->region,
		                                           word, strlen(word));
	}
	sql_each_transaction(l->image, give_level, l);
}

/* What sequences give is not taken back, and sessions do not wait for each
 * other: each has a range. */
enum { RANGE = 1000 };

static void give_ranges(struct loading *l)
{
	uint32_t n = l->image->catalog.sequence_count;
	for (uint32_t i = 0; i < l->image->session_count; i++) {
		struct sql_draws *own =
			region_take0(&l->image->region, (n + 1) * sizeof *own);
		for (uint32_t k = 0; k < n; k++)
			own[k].next =
				l->sequences[k].next +
				(int64_t)i * RANGE *
					l->image->catalog.sequences[k].step;
		l->image->sessions[i].sequences = own;
	}
}

static void add_sessions(struct loading *l)
{
	struct sql_image *image = l->image;
	if (l->spec.session_count > LIMIT_SESSIONS) {
		fail(l, l->spec.sessions[0].at, "more than %d sessions",
		     LIMIT_SESSIONS);
		return;
	}
	image->sessions =
		region_take0(&image->region, (l->spec.session_count + 1) *
	                                             sizeof *image->sessions);
	image->session_count = l->spec.session_count;
	for (uint32_t i = 0; i < image->session_count && !l->failed; i++) {
		const struct spec_session *x = &l->spec.sessions[i];
		if (x->step_count > LIMIT_STEPS)
			fail(l, x->steps[LIMIT_STEPS].at,
			     "more than %d steps in a session; several "
			     "statements may be one step",
			     LIMIT_STEPS);
		else
			add_session(l, i);
	}
	give_ranges(l);
	uint32_t steps = image->catalog.step_count, n = 0;
	image->step_sessions = region_take0(
		&image->region, (steps + 1) * sizeof *image->step_sessions);
	image->step_places = region_take0(
		&image->region, (steps + 1) * sizeof *image->step_places);
	for (uint32_t i = 0; i < image->session_count; i++)
		for (uint32_t k = 0;
		     k < l->spec.sessions[i].step_count && n < steps; k++) {
			image->step_sessions[n] = image->sessions[i].name;
			image->step_places[n++] = k + 1;
		}
	assert(l->failed || n == steps);
}

/* ---- Assertions ---- */

struct assertion_part {
	struct sql_assertion *assertion;
	const struct spec_assert *spec;
	bool found;
};

static void add_assertion(struct loading *l, void *data,
                          const struct sql_statement *s)
{
	struct assertion_part *part = data;
	const struct spec_block *b = &part->spec->sql;
	const struct sql_query *q = s->query;
	struct text t = { 0 };
	assert(s->kind == STATEMENT_QUERY);
	if (part->found) {
		fail(l, s->at, "an assertion is one query");
		return;
	}
	if (q->target_count != 1 ||
	    q->targets[0].value->type.kind != SQL_BOOL) {
		fail(l, s->at, "an assertion has one column, a boolean");
		return;
	}
	part->found = true;
	part->assertion->query = s;
	sql_find_asked(l->image, part->assertion, q);
	spec_block_line(&l->image->all, b, &t);
	struct assertion a = { .kind = ASSERTION_FINAL,
		               .text = text_get(&t),
		               .message = part->spec->message };
	a.at = program_position(
		l->program,
		program_add_position(
			l->program,
			source_position(&l->image->all, part->spec->at)));
	program_add_assertion(l->program, &a);
	text_free(&t);
}

static void add_assertions(struct loading *l)
{
	struct sql_image *image = l->image;
	uint32_t n = l->spec.assert_count;
	image->assertions = region_take0(&image->region,
	                                 (n + 1) * sizeof *image->assertions);
	image->assertion_count = n;
	for (uint32_t i = 0; i < n && !l->failed; i++) {
		const struct spec_assert *a = &l->spec.asserts[i];
		struct assertion_part part = { &image->assertions[i], a,
			                       false };
		each_statement(l, &a->sql, PURPOSE_ASSERT, add_assertion,
		               &part);
		if (!part.found && !l->failed)
			fail(l, a->at, "this assertion has no query");
	}
	if (!image->asked.count) return;
	uint32_t i = program_add_session(l->program, "finally");
	l->program->sessions[i].entry = i;
	l->program->has_finally = true;
	image->finally_name = program_add_transaction(l->program, "finally", 0);
}

/* ---- The whole ---- */

static void set_initial_rows(struct loading *l)
{
	struct known *k = &l->image->known;
	struct program *p = l->program;
	known_sort(k);
	for (uint32_t g = 0; g < k->global_count; g++)
		for (uint32_t i = 0; i < k->globals[g].count; i++) {
			const struct known_row *row = k->globals[g].items[i];
			assert(row->count == row->initial);
			if (!row->initial) continue;
			if (p->keys_count >= LIMIT_KEYS) {
				fail(l, (struct place){ 0 },
				     "more than %d rows in setup", LIMIT_KEYS);
				return;
			}
			uint32_t key = program_add_key(p, g, row->key.o->items,
			                               row->key.o->length);
			program_set_initial(p, key, row->versions[0]);
		}
}

static void set_isolation(struct loading *l)
{
	const char *level = l->spec.isolation;
	if (level && level_number(level) < 0) {
		struct text t = { 0 };
		level_unknown(&t, level);
		fail(l, l->spec.isolation_at, "%s", text_get(&t));
		text_free(&t);
	}
	l->program->isolation = level ? region_copy_string(&l->program->region,
	                                                   level, strlen(level))
	                              : "prc";
}

static const char *const *take_arguments(struct loading *l,
                                         const char *const *list)
{
	struct region *r = &l->image->region;
	size_t count = 0;
	while (list && list[count]) count++;
	const char **copy = region_take0(r, (count + 1) * sizeof *copy);
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(list[i]);
		l->digest = hash_bytes(l->digest, list[i], n + 1);
		copy[i] = region_copy_string(r, list[i], n);
	}
	return copy;
}

/* What it is explored with is a part of the program. */
static void take_given(struct loading *l)
{
	struct sql_image *image = l->image;
	if (l->script) {
		image->given.sessions = take_arguments(l, l->given->sessions);
		image->given.asserts = take_arguments(l, l->given->asserts);
	}
	if (!l->given->all_rows) return;
	image->given.all_rows = image->known.all_rows = true;
	l->digest = hash_mix(l->digest, 1);
}

static bool read_spec(struct loading *l, uint32_t source)
{
	struct sql_image *image = l->image;
	if (!source_check_text(&image->all, source)) return false;
	if (l->given) take_given(l);
	if (!l->script)
		return spec_read(&l->spec, &image->all, source, &image->region);
	return spec_of_script(&l->spec, &image->all, source, l->given,
	                      &image->region);
}

static struct program *load(struct loading *l, const char *path,
                            const char *text, size_t length)
{
	struct sql_image *image = l->image;
	uint32_t n = sources_add(&image->all, path, text, (uint32_t)length);
	const char *which;
	l->digest = hash_bytes(0, text, length);
	if (!read_spec(l, n)) return NULL;
	image->isolation = l->spec.isolation;
	image->isolation_at = l->spec.isolation_at;
	set_isolation(l);
	if (!l->failed) run_setups(l);
	if (!l->failed) add_sessions(l);
	if (!l->failed) find_levels(l);
	if (!l->failed) add_assertions(l);
	if (!l->failed) set_initial_rows(l);
	if (l->failed || !program_finish(l->program, &which)) return NULL;
	l->program->stack = GUEST_REGISTERS;
	l->program->digest = l->digest;
	/* Beside other levels SERIALIZABLE is what PostgreSQL makes of it. */
	if (program_mixes(l->program)) program_be_ssi(l->program);
	struct machine_limits limits = { 0 };
	if (l->given) {
		limits.interrupt = l->given->interrupt;
		if (l->given->timeout > 0)
			limits.deadline = seconds_now() + l->given->timeout;
	}
	sql_saturate(image, &limits);
	return l->program;
}

static struct program *new_program(struct sql_image *image, const char *path)
{
	struct program *p = program_new(path);
	p->guest = p->sql = p->locks = p->checks = true;
	p->library = &image->guest;
	p->stack = GUEST_REGISTERS;
	image->program = p;
	image->guest.ops = &sql_guest_ops;
	return p;
}

struct program *sql_load(const char *path, const char *text, size_t length,
                         const struct sql_arguments *given, struct diags *d)
{
	struct loading l = { .script = sql_is_script(path), .given = given };
	struct sql_image *image = mem_take0(1, sizeof *image);
	assert(l.script || sql_is_spec(path));
	l.image = image;
	l.parser = sql_parser_new();
	region_init(&image->region);
	sources_init(&image->all, &image->region, d);
	known_init(&image->known);
	known_init(&image->grown);
	pthread_mutex_init(&image->lock, NULL);
	guest_pool_init(&image->pool);
	l.program = new_program(image, path);
	image->catalog =
		(struct sql_catalog){ .region = &image->region,
		                      .all = &image->all,
		                      .program = l.program,
		                      .parser = l.parser,
		                      .notes_names = given && given->names,
		                      .explored =
		                              !given || !given->transactions };
	struct program *p = load(&l, path, text, length);
	sql_parser_free(l.parser);
	image->catalog.parser = NULL;
	spec_free(&l.spec);
	free(l.sequences);
	if (!p) program_free(l.program);
	return p;
}

const struct sql_arguments *sql_given(const struct program *p)
{
	assert(p->sql);
	return &sql_image_of(p->library)->given;
}

void sql_drop_levels(const struct program *p)
{
	assert(p->sql);
	for (uint32_t i = 0; i < p->transactions_count; i++)
		p->transactions[i].level = 0;
}

static void take_row(struct known *k, const struct sql_table *t,
                     const struct known_row *row)
{
	if (row->deleted) known_add(k, t, row->key, value_null());
	for (uint32_t i = 0; i < row->count; i++)
		known_add(k, t, row->key, row->versions[i]);
}

bool sql_has_grown(const struct program *p)
{
	struct sql_image *image = sql_image_of(p->library);
	assert(p->sql);
	mem_lock(&image->lock);
	bool any = image->grown.global_count > 0;
	mem_unlock(&image->lock);
	return any;
}

void sql_learn(struct program *p, bool on)
{
	struct sql_image *image = sql_image_of(p->library);
	assert(p->sql && image->learning != on);
	image->learning = on;
}

bool sql_take_growth(struct program *p)
{
	struct sql_image *image = sql_image_of(p->library);
	const struct sql_catalog *c = &image->catalog;
	bool any = sql_has_grown(p);
	assert(p->sql && (any || !image->fault));
	for (uint32_t i = 0; any && i < c->table_count; i++) {
		const struct sql_table *t = c->tables[i];
		const struct known_rows *rows =
			known_of(&image->grown, t->global);
		for (uint32_t k = 0; k < rows->count; k++)
			take_row(&image->known, t, rows->items[k]);
	}
	free(image->fault);
	image->fault = NULL;
	known_free(&image->grown);
	known_init(&image->grown);
	known_sort(&image->known);
	if (any) sql_guests_forget(image);
	return any;
}

bool sql_is_small(const struct program *p)
{
	enum { SMALL = 500 };
	const struct sql_image *image = sql_image_of(p->library);
	assert(p->sql && image->settled);
	return image->carried_out < SMALL;
}

uint32_t sql_step_count(const struct program *p)
{
	assert(p->sql && !p->server);
	return sql_image_of(p->library)->catalog.step_count;
}

void sql_image_free(struct sql_image *image)
{
	struct sql_catalog *c = &image->catalog;
	for (uint32_t i = 0; i < c->table_count; i++) {
		free(c->tables[i]->columns);
		free(c->tables[i]->uniques);
		free(c->tables[i]->checks);
	}
	free(c->tables);
	free(c->sequences);
	free(c->views);
	free(c->enums);
	free(c->routines);
	free(c->trigger_bodies);
	free(c->mentions);
	free(c->steps);
	for (uint32_t i = 0; i < image->session_count; i++)
		free(image->sessions[i].items);
	for (uint32_t i = 0; i < image->assertion_count; i++)
		free(image->assertions[i].steps);
	free(image->asked.relations);
	free(image->fault);
	known_free(&image->known);
	known_free(&image->grown);
	sources_free(&image->all);
	pthread_mutex_destroy(&image->lock);
	region_free(&image->region);
	free(image);
}
