#include "prove/client.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "compile/load.h"
#include "dpor/explorer.h"
#include "dpor/known_rows.h"
#include "history/history.h"
#include "prove/sql_client.h"
#include "sql/load.h"
#include "vm/program.h"

/* ---- values of a model ---- */

bool client_true(const struct instances *x, Z3_model m, Z3_ast a)
{
	Z3_ast v;
	return Z3_model_eval(x->z, m, a, true, &v) &&
	       Z3_get_bool_value(x->z, v) == Z3_L_TRUE;
}

int64_t client_number(const struct instances *x, Z3_model m, Z3_ast a)
{
	Z3_ast v;
	int64_t n = 0;
	if (Z3_model_eval(x->z, m, a, true, &v))
		Z3_get_numeral_int64(x->z, v, &n);
	return n;
}

enum { RECORDS_DEPTH = 4, PARTS_MOST = 32 };

static void print_nested(struct text *out, const struct instances *x,
                         Z3_model m, struct term t, unsigned depth);

/* All nodes of one kind, of all instances: begins with a = 0 and no node. */
struct walk {
	const struct instances *x;
	enum node_op op;
	uint32_t a, next;
	const struct instance *t; /* where it is, */
	const struct node *n;
	uint32_t i;
};

static bool walk_on(struct walk *w)
{
	for (; w->a < w->x->count; w->a++, w->next = 0) {
		w->t = &w->x->items[w->a];
		while (w->next < w->t->s->node_count) {
			w->i = w->next++;
			w->n = &w->t->s->nodes[w->i];
			if (w->n->op == w->op) return true;
		}
	}
	return false;
}

/* Has this node of an instance the number, in the model? */
static bool has_number(const struct walk *w, Z3_model m, uint32_t node,
                       int64_t number)
{
	return client_number(w->x, m, w->t->nodes[node].value.number) == number;
}

/* Is it a field that this record has? */
static bool is_field_of(const struct walk *w, Z3_model m, int64_t record)
{
	const struct summary *s = w->t->s;
	if (!has_number(w, m, w->n->a, record)) return false;
	for (uint32_t i = 0; i < s->node_count; i++) {
		const struct node *k = &s->nodes[i];
		if (k->op == NODE_HAS && k->a == w->n->a && k->b == w->n->b)
			return client_true(w->x, m, w->t->nodes[i].truth);
	}
	return false;
}

/* Is a record made of it, with other fields? */
static bool is_below(const struct instances *x, Z3_model m, int64_t record)
{
	struct walk w = { .x = x, .op = NODE_WITH };
	while (walk_on(&w))
		if (has_number(&w, m, w.n->a, record)) return true;
	return false;
}

/* The record of this number, with all fields that somebody asks for: nothing if
 * it has none, and nothing is made of it. */
static void print_record(struct text *out, const struct instances *x,
                         Z3_model m, int64_t record, unsigned depth)
{
	uint32_t printed[PARTS_MOST], count = 0, known;
	struct walk w = { .x = x, .op = NODE_FIELD };
	while (walk_on(&w)) {
		if (!is_field_of(&w, m, record)) continue;
		for (known = 0; known < count; known++)
			if (printed[known] == w.n->b) break;
		if (known < count || count == PARTS_MOST) continue;
		text_format(out, "%s%s: ", count ? ", " : "{",
		            x->app->constants[w.n->b].o->bytes);
		print_nested(out, x, m, w.t->nodes[w.i].value, depth);
		printed[count++] = w.n->b;
	}
	if (count) text_char(out, '}');
	/* There is no word for a record without fields. */
	if (!count && is_below(x, m, record)) text_string(out, "{other: 1}");
}

static void print_items(struct text *out, const struct instances *x, Z3_model m,
                        const struct instance *t, const struct node *last,
                        unsigned depth)
{
	assert(last->op == NODE_TUPLE);
	if (last->c > 1) {
		print_items(out, x, m, t, &t->s->nodes[last->a], depth);
		text_string(out, ", ");
	}
	print_nested(out, x, m, t->nodes[last->b].value, depth);
}

/* The tuple that has this number: nothing if somebody makes none. There are
 * none of one item. */
static void print_tuple(struct text *out, const struct instances *x, Z3_model m,
                        int64_t number, unsigned depth)
{
	struct walk w = { .x = x, .op = NODE_TUPLE };
	while (walk_on(&w)) {
		if (!has_number(&w, m, w.i, number)) continue;
		if (w.n->c == 1) return;
		text_char(out, '(');
		print_items(out, x, m, w.t, w.n, depth);
		text_char(out, ')');
		return;
	}
}

enum { ITEMS_MOST = 8 };

/* What is asked for of one value. */
struct asked {
	struct term items[ITEMS_MOST];
	uint32_t count;
	int64_t size; /* or below 0 */
};

static struct asked asked_of(const struct instances *x, Z3_model m,
                             int64_t number)
{
	struct asked all = { .size = -1 };
	struct walk w = { .x = x, .op = NODE_APPLY };
	while (walk_on(&w)) {
		struct term v = w.t->nodes[w.i].value;
		if (!has_number(&w, m, w.n->b, number)) continue;
		if (w.n->a == FUNCTION_SIZE)
			all.size = client_number(x, m, v.number);
		if (w.n->a != FUNCTION_ITEM) continue;
		struct term at = w.t->nodes[w.n->c].value;
		int64_t k = client_number(x, m, at.number);
		if (client_number(x, m, at.tag) != VALUE_INT || k < 0 ||
		    k >= ITEMS_MOST)
			continue;
		all.items[k] = v;
		if (k >= all.count) all.count = (uint32_t)k + 1;
	}
	return all;
}

/* A value of which items are asked for, as a list of its size, or where that is
 * not asked for, a tuple of so many: nothing if it is none. */
static void print_asked(struct text *out, const struct instances *x, Z3_model m,
                        int64_t number, unsigned depth)
{
	struct asked all = asked_of(x, m, number);
	bool sized = all.size >= 0 && all.size <= ITEMS_MOST;
	bool list = sized || all.count == 1;
	if (sized) all.count = (uint32_t)all.size;
	if (!list && !all.count) return;
	text_char(out, list ? '[' : '(');
	for (uint32_t i = 0; i < all.count; i++) {
		if (i) text_string(out, ", ");
		if (all.items[i].tag)
			print_nested(out, x, m, all.items[i], depth);
		else
			text_string(out, "null");
	}
	text_char(out, list ? ']' : ')');
}

/* Is it a set, where what is in it is asked for? Else it is a list. */
static bool is_set(const struct instances *x, Z3_model m, int64_t number)
{
	struct walk w = { .x = x, .op = NODE_READ };
	while (walk_on(&w)) {
		uint32_t f = w.t->s->accesses[w.n->a].family;
		if (x->app->families[f].sets && has_number(&w, m, w.i, number))
			return true;
	}
	return false;
}

/* A value of which it is asked what is in it: nothing if it is none. */
static void print_collection(struct text *out, const struct instances *x,
                             Z3_model m, int64_t number, unsigned depth)
{
	int64_t tags[PARTS_MOST], numbers[PARTS_MOST];
	uint32_t count = 0, known;
	bool asked = false, set = is_set(x, m, number);
	struct walk w = { .x = x, .op = NODE_IS };
	while (walk_on(&w)) {
		struct term one = w.t->nodes[w.n->b].value;
		if (w.n->a != FUNCTION_IN || !has_number(&w, m, w.n->c, number))
			continue;
		if (!asked) text_char(out, set ? '{' : '[');
		asked = true;
		if (!client_true(x, m, w.t->nodes[w.i].truth)) continue;
		int64_t tag = client_number(x, m, one.tag);
		int64_t n = client_number(x, m, one.number);
		for (known = 0; known < count; known++)
			if (tags[known] == tag && numbers[known] == n) break;
		if (known < count || count == PARTS_MOST) continue;
		if (count) text_string(out, ", ");
		print_nested(out, x, m, one, depth);
		tags[count] = tag;
		numbers[count++] = n;
	}
	if (asked) text_char(out, set ? '}' : ']');
}

/* Is there a word of the program for it? */
static bool is_written_down(struct value v)
{
	return v.tag >= VALUE_STRING &&
	       (v.tag != VALUE_RECORD || v.o->length > 0);
}

/* A value of another kind is a collection, a tuple or a record, if it has items
 * or fields, or a string, of the program if it is one. */
static void print_nested(struct text *out, const struct instances *x,
                         Z3_model m, struct term t, unsigned depth)
{
	size_t begin = out->length;
	int64_t tag = client_number(x, m, t.tag);
	int64_t n = client_number(x, m, t.number);
	if (tag == VALUE_NULL)
		value_print(out, value_null());
	else if (tag == VALUE_BOOL)
		value_print(out, value_bool(n != 0));
	else if (tag == VALUE_INT)
		value_print(out, value_int(n));
	else if (n >= 0 && n < x->app->constant_count &&
	         is_written_down(x->app->constants[n]))
		value_print(out, x->app->constants[n]);
	else if (depth)
		print_collection(out, x, m, n, depth - 1);
	if (depth && out->length == begin) print_tuple(out, x, m, n, depth - 1);
	if (depth && out->length == begin)
		print_record(out, x, m, n, depth - 1);
	if (depth && out->length == begin) print_asked(out, x, m, n, depth - 1);
	if (out->length == begin)
		text_format(out, "\"v%" PRIu64 "\"",
		            n < 0 ? 2 * -(uint64_t)n + 1 : 2 * (uint64_t)n);
}

void client_value(struct text *out, const struct instances *x, Z3_model m,
                  struct term t)
{
	print_nested(out, x, m, t, RECORDS_DEPTH);
}

void client_call(struct text *out, const struct instances *x, Z3_model m,
                 uint32_t i)
{
	const struct instance *t = &x->items[i];
	if (x->app->image) {
		sql_client_call(out, x, m, i);
		return;
	}
	text_format(out, "%s(", t->s->name);
	for (uint32_t p = 0; p < t->s->param_count; p++) {
		bool used = false;
		if (p) text_string(out, ", ");
		for (uint32_t n = 0; n < t->s->node_count; n++) {
			const struct node *k = &t->s->nodes[n];
			if (k->op != NODE_PARAMETER || k->a != p) continue;
			client_value(out, x, m, t->nodes[n].value);
			used = true;
		}
		assert(used);
	}
	text_char(out, ')');
}

/* ---- the text ---- */

/* What is read from init, one after the other; the first of each key counts. */
static void print_globals(struct text *out, const struct instances *x,
                          Z3_model m, bool own_values)
{
	const struct application *app = x->app;
	struct text all = { 0 }, key = { 0 };
	bool *keyed = mem_take0((size_t)app->family_count + 1, sizeof *keyed);
	for (uint32_t a = 0; a < x->count && own_values; a++) {
		const struct instance *t = &x->items[a];
		for (uint32_t i = 0; i < t->s->access_count; i++) {
			const struct access *r = &t->s->accesses[i];
			if (r->write ||
			    !client_true(x, m, t->nodes[r->happens].truth) ||
			    client_number(x, m, t->source[i]))
				continue;
			text_clear(&key);
			text_format(&key, "global %s",
			            app->families[r->family].name);
			for (uint32_t k = 0; k < r->index_count; k++) {
				text_string(&key, k ? ", " : "[");
				client_value(&key, x, m,
				             t->nodes[r->indexes[k]].value);
			}
			text_string(&key, r->index_count ? "] = " : " = ");
			if (all.length && strstr(all.data, key.data)) continue;
			keyed[r->family] = true;
			text_string(&all, key.data);
			client_value(&all, x, m, t->nodes[r->values[0]].value);
			text_string(&all, ";\n");
		}
	}
	for (uint32_t i = 0; i < app->key_count; i++) {
		const struct declared_key *k = &app->keys[i];
		bool scalar = !app->families[k->family].index_count;
		if (keyed[k->family] && (scalar || !k->star)) continue;
		text_format(out, "%s\n", k->text);
	}
	text_string(out, text_get(&all));
	text_free(&all);
	text_free(&key);
	free(keyed);
}

static bool is_taken(const struct application *app, const char *name)
{
	for (uint32_t i = 0; i < app->name_count; i++)
		if (!strcmp(app->names[i], name)) return true;
	return false;
}

/* Those of one session, in its order; of the first `count` instances. Their
 * transactions' names are put into names, unless that is NULL. */
static void print_sessions(struct text *out, const struct instances *x,
                           Z3_model m, uint32_t count, struct text *names)
{
	uint32_t order[INSTANCES_MAX], number = 0;
	bool done[INSTANCES_MAX] = { false }, sql = x->app->image != NULL;
	struct text name = { 0 };
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = i;
		int64_t c = client_number(x, m, x->items[i].commit);
		for (; k &&
		       client_number(x, m, x->items[order[k - 1]].commit) > c;
		     k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (uint32_t k = 0; k < count; k++) {
		uint32_t first = order[k];
		if (done[first]) continue;
		do {
			text_clear(&name);
			text_format(&name, "client%" PRIu32, ++number);
		} while (is_taken(x->app, text_get(&name)));
		text_format(out, sql ? "\nsession %s\n" : "\nsession %s {\n",
		            text_get(&name));
		uint32_t steps = 0;
		for (uint32_t j = k; j < count; j++) {
			uint32_t i = order[j];
			if (i != first &&
			    !client_true(x, m, x->between[first][i].session))
				continue;
			assert(!done[i]);
			done[i] = true;
			if (sql) {
				sql_client_steps(out, x, m, i, text_get(&name),
				                 ++steps);
				if (names)
					text_format(&names[i], "%s_%" PRIu32,
					            text_get(&name), steps);
				continue;
			}
			if (names) text_string(&names[i], x->items[i].s->name);
			text_string(out, "    ");
			client_call(out, x, m, i);
			text_string(out, ";\n");
		}
		if (!sql) text_string(out, "}\n");
	}
	text_free(&name);
}

static void print_transactions(struct text *out, const struct application *app)
{
	for (uint32_t i = 0; i < app->transaction_count; i++) {
		const struct kept_transaction *t = &app->transactions[i];
		text_string(out, t->head);
		for (uint32_t s = 0; s < app->summary_count + app->stale_count;
		     s++) {
			own_level own = app->summaries[s].own;
			if (own && !strcmp(app->summaries[s].name, t->name))
				text_format(out, " at %s",
				            level_word((enum level)(own - 1)));
		}
		text_format(out, " %s\n", t->body);
	}
}

void client_write(struct text *out, const struct instances *x, Z3_model m,
                  enum level others, bool own_values)
{
	if (x->app->image) {
		text_string(out, "# isoscope explore --robust\n");
		sql_client_setup(out, x, m, own_values);
		print_sessions(out, x, m, x->count, NULL);
		text_format(out, "isolation %s\n", level_word(others));
		return;
	}
	text_format(out, "isolation %s;\n\n", level_word(others));
	text_string(out, text_get(&x->app->declarations));
	print_transactions(out, x->app);
	print_globals(out, x, m, own_values);
	print_sessions(out, x, m, x->count, NULL);
	text_string(out, "\nassert serializable;\n");
}

void client_names(const struct instances *x, Z3_model m, struct text *names)
{
	struct text sessions = { 0 };
	print_sessions(&sessions, x, m, x->count, names);
	text_free(&sessions);
}

/* A session that does nothing, so that there is one. */
static void print_idle(struct text *out, const struct instances *x)
{
	uint32_t number = 0;
	struct text name = { 0 };
	do {
		text_clear(&name);
		text_format(&name, "client%" PRIu32, ++number);
	} while (is_taken(x->app, text_get(&name)));
	text_format(out,
	            x->app->image ? "\nsession %s\nstep %s_1 { SELECT 1; }\n"
	                          : "\nsession %s { skip; }\n",
	            text_get(&name), text_get(&name));
	text_free(&name);
}

uint32_t client_write_finals(struct text *out, const struct instances *x,
                             Z3_model m, enum level others, bool own_values,
                             uint32_t sessions)
{
	const struct application *app = x->app;
	uint32_t line = 1;
	if (app->image) {
		sql_client_setup(out, x, m, own_values);
	} else {
		text_format(out, "isolation %s;\n\n", level_word(others));
		text_string(out, text_get(&app->declarations));
		print_transactions(out, app);
		print_globals(out, x, m, own_values);
	}
	if (sessions)
		print_sessions(out, x, m, sessions, NULL);
	else
		print_idle(out, x);
	if (app->image) text_format(out, "isolation %s\n", level_word(others));
	text_char(out, '\n');
	for (const char *s = text_get(out); *s; s++) line += *s == '\n';
	text_string(out, text_get(&app->asserted));
	return line;
}

/* ---- exploring it ---- */

struct exploring {
	struct client_found *found;
	struct program *program;
	uint32_t line;
	bool no_errors;
	/* Of all that is explored, the first 64 assertions: those that fail in
	 * a history that is serializable, and in another one. */
	struct text *fails;
	uint64_t serial, others;
};

static bool on_history(void *payload, const struct explore_execution *e)
{
	struct exploring *x = payload;
	if (explore_satisfies(e, LEVEL_SERIAL)) return true;
	assert(!x->found->history);
	x->found->history = explore_history(e);
	return false;
}

/* Does an assertion about the final state fail? */
static bool on_final(void *payload, const struct explore_execution *e)
{
	struct exploring *x = payload;
	uint32_t count = program_assertion_count(x->program);
	x->found->errs |= explore_error(e) != NULL;
	if (x->no_errors && explore_error(e)) return true;
	for (uint64_t i = 0; i < e->violated_count; i++) {
		if (e->violated[i] >= count) continue;
		const struct assertion *a =
			program_assertion(x->program, e->violated[i]);
		if (a->kind == ASSERTION_SERIALIZABLE ||
		    (a->kind == ASSERTION_INLINE && a->at.line < x->line))
			continue;
		x->found->history = explore_history(e);
		x->found->assertion = a;
		return false;
	}
	return true;
}

/* Goes on to the last one. */
static bool on_any(void *payload, const struct explore_execution *e)
{
	struct exploring *x = payload;
	bool serial = explore_satisfies(e, LEVEL_SERIAL);
	for (uint64_t i = 0; i < e->violated_count; i++) {
		uint32_t k = e->violated[i];
		if (k >= program_assertion_count(x->program) || k >= 64 ||
		    program_assertion(x->program, k)->kind ==
		            ASSERTION_SERIALIZABLE)
			continue;
		*(serial ? &x->serial : &x->others) |= (uint64_t)1 << k;
	}
	return true;
}

/* The assertion that fails, if all was explored. */
static void name_failing(const struct exploring *x)
{
	uint64_t only = x->others & ~x->serial;
	if (!x->found->complete || !only) return;
	BITS_EACH(k, &only, 1) {
		text_string(x->fails, program_assertion(x->program, k)->text);
		return;
	}
}

/* Of one client. The time is the processor's, so that what is found does not
 * depend on what else the machine does. */
enum { HISTORIES_MOST = 20000 };
static const double CPU_MOST = 5; /* seconds */

static struct client_found run(const char *path, const struct text *client,
                               enum level others, const struct budget *budget,
                               struct exploring exploring)
{
	struct client_found found = { .history = NULL };
	struct diags d = { 0 };
	struct text name = { 0 };
	text_format(&name, "%s (client).%s", path,
	            sql_is_script(path) || sql_is_spec(path) ? "spec" : "tx");
	struct program *p = load_program_text(text_get(&name), text_get(client),
	                                      client->length, &d);
	diags_free(&d);
	text_free(&name);
	if (!p) return found;
	/* What all transactions of a specification ask for is its level. */
	if (program_is_sql(p)) others = level_from_word(program_isolation(p));
	explorer_know_rows(p, budget->interrupt, budget->timeout);
	struct explore_options o = {
		.algorithm = explorer_usual_algorithm(p, others),
		.level = others,
		.budget = *budget,
		.max_cpu = CPU_MOST,
		.robust = !exploring.line && !exploring.fails,
		.jobs = 1,
		.max_changes = UINT64_MAX,
	};
	exploring.found = &found;
	exploring.program = p;
	o.max_histories = HISTORIES_MOST;
	o.base = o.algorithm == EXPLORE_CE ? level_base(others) : others;
	struct explore_observer observer = { .payload = &exploring,
		                             .history = exploring.fails ? on_any
		                                        : exploring.line
		                                                ? on_final
		                                                : on_history };
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	found.histories = explorer_stats(e)->histories;
	found.complete =
		explorer_stats(e)->stop == STOP_NONE && !program_fault(p);
	explorer_free(e);
	if (exploring.fails) name_failing(&exploring);
	if (found.history)
		found.program = p;
	else
		program_free(p);
	return found;
}

struct client_found client_explore(const char *path, const struct text *client,
                                   enum level others,
                                   const struct budget *budget)
{
	return run(path, client, others, budget,
	           (struct exploring){ .line = 0 });
}

bool client_explore_failing(const char *path, const struct text *client,
                            enum level others, const struct budget *budget,
                            struct text *fails, uint64_t *histories)
{
	struct client_found found = run(path, client, others, budget,
	                                (struct exploring){ .fails = fails });
	*histories += found.histories;
	return fails->length > 0;
}

struct client_found client_explore_finals(const char *path,
                                          const struct text *client,
                                          uint32_t line, enum level others,
                                          bool no_errors,
                                          const struct budget *budget)
{
	assert(line);
	return run(path, client, others, budget,
	           (struct exploring){ .line = line, .no_errors = no_errors });
}
