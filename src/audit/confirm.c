#include "audit/confirm.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "audit/lift.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "compile/load.h"
#include "dpor/explorer.h"
#include "history/history.h"
#include "vm/program.h"

enum { HISTORIES_MOST = 20000, EXPLORE_SECONDS = 20 };

/* ---- values ---- */

/* An instance's literals: each has the value of `same`, which is another's if
 * the cycle says that their rows are the same. */
struct spot {
	uint8_t instance;
	uint32_t literal;
};

struct acting {
	const struct transaction_class *of;
	struct lifted_statement *statements;
	uint32_t *lines;   /* of statements, in the client */
	struct spot *same; /* by literal */
	bool *inserted;    /* by group: a key of a new row */
};

struct scene {
	struct audit *a;
	const struct audit_cycle *cycle;
	struct acting instances[CYCLE_MOST];
	const struct text *tables;
	/* A number is added to what may differ from instance to instance. */
	bool apart;
	/* Rows that are inserted are not there before, and which these are. */
	bool absent;
	struct text inserted;
	uint32_t rows;
};

static struct spot value_of(const struct scene *s, struct spot v)
{
	for (;;) {
		const struct acting *x = &s->instances[v.instance];
		v.literal = x->of->literals[v.literal].group;
		struct spot next = x->same[v.literal];
		if (next.instance == v.instance && next.literal == v.literal)
			return v;
		v = next;
	}
}

static void unite(struct scene *s, struct spot a, struct spot b)
{
	a = value_of(s, a);
	b = value_of(s, b);
	assert(a.instance < s->cycle->count && b.instance < s->cycle->count);
	if (a.instance > b.instance)
		s->instances[a.instance].same[a.literal] = b;
	else
		s->instances[b.instance].same[b.literal] = a;
}

/* The literal of the class that stands for number `which` of a statement. */
static uint32_t literal_of(const struct lifted_statement *s, uint32_t which)
{
	for (uint32_t k = 0; k < s->of->literal_count; k++)
		if (s->form->literals[k].which == which)
			return s->of->first_literal + k;
	return CATALOG_NONE;
}

/* The place, among those of its statement, that a node is at. */
static const struct operation_place *place_of(const struct scene *s,
                                              const struct audit_node *n)
{
	const struct transaction_class *x = &s->a->classes.items[n->of];
	const struct class_statement *t = &x->statements[n->statement];
	assert(n->place >= t->first_place);
	assert(n->place - t->first_place <
	       s->a->classes.templates.shapes[t->shape].place_count);
	return &s->a->classes.templates.items[t->template]
	                .places[n->place - t->first_place];
}

static void unite_rows(struct scene *s, uint32_t edge)
{
	const struct conflicts *g = &s->a->graph;
	const struct audit_edge *e = &g->edges[s->cycle->edges[edge]];
	uint8_t i = (uint8_t)edge, k = (uint8_t)((edge + 1) % s->cycle->count);
	const struct audit_node *p = &g->nodes[e->from_node];
	const struct audit_node *q = &g->nodes[e->to_node];
	const struct operation_place *x = place_of(s, p), *y = place_of(s, q);
	if (x->literal_count != y->literal_count) return;
	for (uint32_t n = 0; n < x->literal_count; n++) {
		uint32_t a =
			literal_of(&s->instances[i].statements[p->statement],
		                   x->literals[n]);
		uint32_t b =
			literal_of(&s->instances[k].statements[q->statement],
		                   y->literals[n]);
		if (a == CATALOG_NONE || b == CATALOG_NONE) continue;
		unite(s, (struct spot){ i, a }, (struct spot){ k, b });
	}
}

/* A number of the instance's own, if it `moves`. */
static void print_moved(struct text *out, const struct scene *s,
                        const char *text, uint32_t column, uint8_t instance,
                        bool moves)
{
	char *end;
	long long n = strtoll(text, &end, 10);
	struct text moved = { 0 };
	if (moves && instance && end != text && !*end && llabs(n) < 1ll << 60)
		text_format(&moved, "%lld", n + 1000 * instance);
	lift_literal(out, s->a, moved.length ? text_get(&moved) : text, column);
	text_free(&moved);
}

static void print_value(struct text *out, const struct scene *s,
                        struct spot asked, uint32_t column)
{
	struct spot v = value_of(s, asked);
	const struct transaction_class *x = s->instances[v.instance].of;
	print_moved(out, s, x->texts + x->literals[v.literal].text, column,
	            v.instance,
	            s->instances[v.instance].inserted[v.literal] ||
	                    (s->apart && x->literals[v.literal].varied));
}

/* ---- rows ---- */

/* What a column has that no condition asks for; NULL: what the schema says. */
static const char *filler(const char *type)
{
	if (!type || !strcmp(type, "text")) return "'x'";
	if (strstr(type, "int") || !strcmp(type, "numeric")) return "1";
	if (strstr(type, "bool")) return "true";
	if (strstr(type, "timestamp") || !strcmp(type, "date"))
		return "'2024-01-01'";
	return NULL;
}

/* "stock|5|": the row that the statement names by the table's first key, in its
 * condition, or inserts. Empty: it is not known. */
static void print_name(struct text *out, const struct scene *s,
                       uint8_t instance, const struct lifted_statement *x,
                       uint32_t table, bool inserted)
{
	const struct audit_table *t = &s->a->catalog.tables[table];
	text_clear(out);
	if (!t->key_count) return;
	text_format(out, "%s|", t->name);
	for (uint32_t i = 0, k; i < t->keys[0].count; i++) {
		for (k = 0; k < x->of->literal_count; k++)
			if (x->columns[k] == t->keys[0].columns[i] &&
			    x->equal[k] != inserted)
				break;
		if (k == x->of->literal_count) {
			text_clear(out);
			return;
		}
		print_value(out, s,
		            (struct spot){ instance, x->of->first_literal + k },
		            x->columns[k]);
		text_char(out, '|');
	}
}

/* Is the table one of those that the statement inserts into? */
static bool inserts(const struct shape *s, uint32_t place)
{
	for (uint32_t k = 0; k < s->count; k++)
		if (s->items[k].place == place &&
		    s->items[k].flags & OPERATION_FRESH)
			return true;
	return false;
}

static bool is_in_key(const struct audit_table *t, uint32_t column)
{
	for (uint32_t i = 0; i < t->key_count; i++)
		for (uint32_t k = 0; k < t->keys[i].count; k++)
			if (t->keys[i].columns[k] == column) return true;
	return false;
}

/* The literal that a condition of the statement compares the column with. */
static uint32_t asked_literal(const struct lifted_statement *x, uint32_t column)
{
	for (uint32_t k = 0; k < x->of->literal_count; k++)
		if (x->columns[k] == column && x->equal[k])
			return x->of->first_literal + k;
	return CATALOG_NONE;
}

/* Likewise in any statement of the transaction, if the column is in no key. */
static uint32_t asked_elsewhere(const struct scene *s, uint8_t instance,
                                uint32_t table, uint32_t column)
{
	const struct acting *x = &s->instances[instance];
	uint32_t literal = CATALOG_NONE;
	if (is_in_key(&s->a->catalog.tables[table], column)) return literal;
	for (uint32_t i = 0; i < x->of->count && literal == CATALOG_NONE; i++)
		literal = asked_literal(&x->statements[i], column);
	return literal;
}

/* A row of the table that meets the conditions of the statement, and those of
 * others of its transaction where it leaves that open. */
static void print_row(struct text *out, struct scene *s, uint8_t instance,
                      const struct lifted_statement *x, uint32_t table)
{
	const struct audit_table *t = &s->a->catalog.tables[table];
	struct text names = { 0 }, values = { 0 };
	s->rows++;
	print_name(&names, s, instance, x, table, false);
	bool absent = s->absent && names.length &&
	              strstr(text_get(&s->inserted), text_get(&names));
	text_clear(&names);
	if (absent) {
		text_free(&names);
		return;
	}
	for (uint32_t i = 0; i < t->column_count; i++) {
		uint32_t c = t->columns[i];
		const struct audit_column *column = &s->a->catalog.columns[c];
		const char *type = column->type, *other = filler(type);
		if (!lift_has_column(s->a, c)) continue;
		uint32_t asked = asked_literal(x, c);
		if (asked == CATALOG_NONE)
			asked = asked_elsewhere(s, instance, table, c);
		if (asked == CATALOG_NONE && !other) continue;
		text_format(&names, "%s\"%s\"", names.length ? ", " : "",
		            column->name);
		text_string(&values, values.length ? ", " : "");
		if (asked != CATALOG_NONE)
			print_value(&values, s,
			            (struct spot){ instance, asked }, c);
		else if (is_in_key(t, c) && !strcmp(other, "1"))
			text_format(&values, "%u", 900 + s->rows);
		else
			text_string(&values, other);
	}
	struct text row = { 0 };
	text_format(&row,
	            "INSERT INTO \"%s\" (%s) VALUES (%s) ON CONFLICT DO "
	            "NOTHING;\n",
	            t->name, text_get(&names), text_get(&values));
	if (names.length && !strstr(text_get(out), text_get(&row)))
		text_string(out, text_get(&row));
	text_free(&row);
	text_free(&names);
	text_free(&values);
}

/* Adds the names of the rows that the instance inserts. */
static void print_inserted(struct scene *s, uint8_t instance)
{
	const struct acting *x = &s->instances[instance];
	struct text name = { 0 };
	for (uint32_t i = 0; i < x->of->count; i++) {
		const struct lifted_statement *t = &x->statements[i];
		const struct shape *shape =
			&s->a->classes.templates.shapes[t->of->shape];
		for (uint32_t p = 0; p < shape->place_count; p++) {
			if (!inserts(shape, p)) continue;
			print_name(&name, s, instance, t, shape->tables[p],
			           true);
			text_format(&s->inserted, "%s ", text_get(&name));
		}
	}
	text_free(&name);
}

static void print_rows(struct text *out, struct scene *s, uint8_t instance)
{
	const struct acting *x = &s->instances[instance];
	for (uint32_t i = 0; i < x->of->count; i++) {
		const struct lifted_statement *t = &x->statements[i];
		const struct shape *shape =
			&s->a->classes.templates.shapes[t->of->shape];
		for (uint32_t p = 0; p < shape->place_count; p++)
			if (!inserts(shape, p))
				print_row(out, s, instance, t,
				          shape->tables[p]);
	}
}

/* ---- the client ---- */

/* The statement's text in [from, to): keys of rows that are inserted are the
 * instance's own. */
static void print_between(struct text *out, const struct scene *s,
                          uint8_t instance, const struct lifted_statement *t,
                          uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < t->fixed_count; i++) {
		const struct lifted_fixed *x = &t->fixed[i];
		const struct audit_column *c =
			&s->a->catalog.columns[x->column];
		if (x->at < from || x->at >= to ||
		    !is_in_key(&s->a->catalog.tables[c->table], x->column))
			continue;
		struct text own = { 0 };
		text_bytes(&own, t->form->sql + x->at, x->length);
		text_bytes(out, t->form->sql + from, x->at - from);
		print_moved(out, s, text_get(&own), x->column, instance, true);
		text_free(&own);
		from = x->at + x->length;
	}
	assert(from <= to);
	text_bytes(out, t->form->sql + from, to - from);
}

static void print_session(struct text *out, const struct scene *s,
                          uint8_t instance)
{
	const struct acting *x = &s->instances[instance];
	char name = (char)('a' + instance);
	text_format(out, "session %c\nstep %c1 { BEGIN;\n", name, name);
	uint32_t line = 1, counted = 0;
	for (uint32_t i = 0; i < x->of->count; i++) {
		const struct lifted_statement *t = &x->statements[i];
		for (; counted < out->length; counted++)
			line += out->data[counted] == '\n';
		x->lines[i] = line;
		uint32_t from = 0;
		text_string(out, "  ");
		for (uint32_t k = 0; k < t->of->literal_count; k++) {
			const struct template_literal *at =
				&t->form->literals[k];
			print_between(out, s, instance, t, from, at->at);
			print_value(out, s,
			            (struct spot){ instance,
			                           t->of->first_literal + k },
			            t->columns[k]);
			from = at->at + at->length;
		}
		print_between(out, s, instance, t, from,
		              (uint32_t)strlen(t->form->sql));
		text_string(out, ";\n");
	}
	text_string(out, "  COMMIT; }\n");
}

static void print_client(struct text *out, struct scene *s)
{
	text_clear(out);
	text_clear(&s->inserted);
	s->rows = 0;
	for (uint8_t i = 0; i < s->cycle->count; i++) print_inserted(s, i);
	text_format(out, "setup {\n%s", text_get(s->tables));
	for (uint8_t i = 0; i < s->cycle->count; i++) print_rows(out, s, i);
	text_string(out, "}\n");
	for (uint8_t i = 0; i < s->cycle->count; i++) print_session(out, s, i);
	text_format(out, "isolation %s\n", level_word(s->a->options.level));
}

/* Two transactions do not insert one key. */
static void find_inserted(struct scene *s, uint8_t instance)
{
	struct acting *x = &s->instances[instance];
	for (uint32_t i = 0; i < x->of->count; i++) {
		const struct lifted_statement *t = &x->statements[i];
		const struct shape *shape =
			&s->a->classes.templates.shapes[t->of->shape];
		for (uint32_t k = 0; k < t->of->literal_count; k++) {
			uint32_t c = t->columns[k];
			if (c == CATALOG_NONE || t->equal[k]) continue;
			const struct audit_column *column =
				&s->a->catalog.columns[c];
			bool fresh = false;
			for (uint32_t p = 0; p < shape->place_count; p++)
				fresh |= shape->tables[p] == column->table &&
				         inserts(shape, p);
			uint32_t l = t->of->first_literal + k;
			if (fresh &&
			    is_in_key(&s->a->catalog.tables[column->table], c))
				x->inserted[x->of->literals[l].group] = true;
		}
	}
}

static void scene_init(struct scene *s, struct audit *a,
                       const struct audit_cycle *c, const struct text *tables)
{
	*s = (struct scene){ .a = a, .cycle = c, .tables = tables };
	for (uint8_t i = 0; i < c->count; i++) {
		struct acting *x = &s->instances[i];
		x->of = &a->classes.items[a->graph.edges[c->edges[i]].from];
		x->statements = mem_take(x->of->count * sizeof *x->statements);
		x->lines = mem_take0(x->of->count, sizeof *x->lines);
		x->same = mem_take(x->of->literal_count * sizeof *x->same + 1);
		x->inserted = mem_take0(x->of->literal_count + 1,
		                        sizeof *x->inserted);
		for (uint32_t k = 0; k < x->of->literal_count; k++)
			x->same[k] = (struct spot){ i, k };
		for (uint32_t k = 0; k < x->of->count; k++)
			x->statements[k] =
				lift_statement(a, &x->of->statements[k]);
	}
	assert(c->count >= 2 && c->count <= CYCLE_MOST);
	for (uint32_t i = 0; i < c->count; i++) unite_rows(s, i);
	for (uint8_t i = 0; i < c->count; i++) find_inserted(s, i);
}

static void scene_free(struct scene *s)
{
	for (uint32_t i = 0; i < s->cycle->count; i++) {
		struct acting *x = &s->instances[i];
		for (uint32_t k = 0; k < x->of->count; k++)
			lift_statement_free(&x->statements[k]);
		free(x->statements);
		free(x->lines);
		free(x->same);
		free(x->inserted);
	}
}

/* ---- is it the cycle? ---- */

struct watched {
	const struct scene *scene;
	const struct program *program;
	struct confirmed *to;
	bool any;
	char *failed; /* why a transaction of the first history did; or NULL */
};

/* The statement of the instance at the point; its count: none. */
static uint32_t statement_at(const struct watched *w, uint8_t instance,
                             uint32_t point)
{
	const struct acting *x = &w->scene->instances[instance];
	uint32_t line = program_position(w->program, point).line;
	uint32_t i = x->of->count;
	if (!point) return i;
	while (i && x->lines[i - 1] > line) i--;
	return i ? i - 1 : x->of->count;
}

/* "stock[5]" is of stock. */
static bool is_key_of(const char *key, const char *table)
{
	size_t n = strlen(table);
	const char *dot = strchr(key, '.');
	if (dot && strncmp(key, table, n)) key = dot + 1;
	if (*key == '"') key++;
	return !strncmp(key, table, n) && !isalnum((unsigned char)key[n]) &&
	       key[n] != '_';
}

/* Is there, of the instances' transactions, such a dependency between what the
 * statements at these nodes do? */
static bool has_dependency(const struct watched *w, const struct history *h,
                           uint32_t edge)
{
	const struct audit *a = w->scene->a;
	const struct conflicts *g = &a->graph;
	const struct audit_cycle *c = w->scene->cycle;
	const struct audit_edge *e = &g->edges[c->edges[edge]];
	const struct audit_node *p = &g->nodes[e->from_node];
	const struct audit_node *q = &g->nodes[e->to_node];
	const char *table = a->catalog.tables[p->table].name;
	uint32_t i = edge, k = (edge + 1) % c->count;
	uint32_t one = h->sessions[i].first, other = h->sessions[k].first;
	const struct transaction *x = &h->transactions[one];
	const struct transaction *y = &h->transactions[other];
	enum event_kind from =
		e->kind == CONFLICT_RW ? EVENT_READ : EVENT_WRITE;
	enum event_kind to = e->kind == CONFLICT_WR ? EVENT_READ : EVENT_WRITE;
	for (uint32_t m = 0; m < x->event_count; m++) {
		const struct event *u = &x->events[m];
		if (u->kind != from ||
		    statement_at(w, (uint8_t)i, u->point) != p->statement ||
		    !is_key_of(h->keys[u->key].name, table) ||
		    (from == EVENT_READ &&
		     (u->from == other || u->from == HISTORY_SELF)))
			continue;
		for (uint32_t n = 0; n < y->event_count; n++) {
			const struct event *v = &y->events[n];
			if (v->kind == to && v->key == u->key &&
			    (to == EVENT_WRITE || v->from == one) &&
			    statement_at(w, (uint8_t)k, v->point) ==
			            q->statement)
				return true;
		}
	}
	return false;
}

/* Are the dependencies of the audited cycle those of the history? Its reads and
 * writes are of rows; those of these statements are over the cycle's columns.
 */
static bool is_cycle(const struct watched *w, const struct history *h)
{
	for (uint32_t i = 0; i < w->scene->cycle->count; i++)
		if (!has_dependency(w, h, i)) return false;
	return true;
}

/* ---- exploring it ---- */

static char *failure(const struct history *h)
{
	for (uint32_t i = 0; i < h->transaction_count; i++) {
		const struct transaction *t = &h->transactions[i];
		if (t->aborted)
			return mem_copy_string(
				t->failure ? t->failure : "it is rolled back");
	}
	return NULL;
}

static bool on_history(void *payload, const struct explore_execution *e)
{
	struct watched *w = payload;
	bool serial = explore_satisfies(e, LEVEL_SERIAL);
	if (serial && w->any) return true;
	struct history *h = explore_history(e);
	if (!w->any) w->failed = failure(h);
	w->any = true;
	bool is = !serial && is_cycle(w, h);
	if (is || (!serial && !w->to->history)) {
		history_free(w->to->history);
		w->to->history = h;
		w->to->answer = is ? CONFIRM_FOUND : CONFIRM_OTHER;
	} else {
		history_free(h);
	}
	return !is;
}

static void explore_client(struct audit *a, const struct scene *s,
                           struct confirmed *to)
{
	struct diags d = { 0 };
	struct watched w = { .scene = s, .to = to };
	struct explore_observer observer = { .payload = &w,
		                             .history = on_history };
	struct program *p = load_program_text(
		"cycle.spec", text_get(&to->client), to->client.length, &d);
	to->answer = CONFIRM_OPEN;
	w.program = p;
	if (!p) {
		to->why = mem_copy_string(d.count ? d.items[0].message
		                                  : "it cannot be loaded");
		diags_free(&d);
		return;
	}
	diags_free(&d);
	enum level l = a->options.level;
	struct explore_options o = {
		.algorithm = explorer_usual_algorithm(p, l),
		.level = l,
		.timeout = EXPLORE_SECONDS,
		.max_histories = HISTORIES_MOST,
		.interrupt = a->options.interrupt,
		.robust = true,
		.jobs = 1,
		.max_changes = UINT64_MAX,
	};
	o.base = o.algorithm == EXPLORE_CE ? level_base(l) : l;
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	bool complete = explorer_stats(e)->stop == STOP_NONE;
	to->histories += explorer_stats(e)->histories;
	explorer_free(e);
	program_free(p);
	if (to->history)
		assert(to->answer != CONFIRM_OPEN);
	else if (!complete)
		to->why = mem_copy_string("there are too many histories");
	else if (!w.any || w.failed)
		to->why = mem_copy_string(w.failed ? w.failed
		                                   : "there is no history");
	else
		to->answer = CONFIRM_REFUTED;
	free(w.failed);
	assert((to->answer == CONFIRM_FOUND || to->answer == CONFIRM_OTHER) ==
	       (to->history != NULL));
	assert((to->answer == CONFIRM_OPEN) == (to->why != NULL));
}

void confirmed_free(struct confirmed *x)
{
	free(x->why);
	text_free(&x->client);
	history_free(x->history);
	*x = (struct confirmed){ .answer = CONFIRM_UNASKED };
}

/* The answer that says more stays. */
static void keep_better(struct confirmed *best, struct confirmed *now)
{
	static const int worth[CONFIRMATIONS] = { [CONFIRM_OPEN] = 1,
		                                  [CONFIRM_REFUTED] = 2,
		                                  [CONFIRM_OTHER] = 3,
		                                  [CONFIRM_FOUND] = 4 };
	uint64_t histories = best->histories + now->histories;
	if (worth[now->answer] > worth[best->answer]) {
		confirmed_free(best);
		*best = *now;
	} else {
		confirmed_free(now);
	}
	best->histories = histories;
}

static void confirm(struct audit *a, struct audit_anomaly *x,
                    const struct text *tables)
{
	struct scene s;
	scene_init(&s, a, &x->cycle, tables);
	/* First with what was logged, then with values of each instance's own
	 * where no row has to be the same; rows that are inserted first are
	 * not there, and then are. */
	x->confirmed = (struct confirmed){ .answer = CONFIRM_UNASKED };
	for (int k = 0; k < 4 && x->confirmed.answer != CONFIRM_FOUND; k++) {
		struct confirmed now = { .answer = CONFIRM_UNASKED };
		s.apart = k & 1;
		s.absent = k < 2;
		print_client(&now.client, &s);
		explore_client(a, &s, &now);
		keep_better(&x->confirmed, &now);
		if (k == 1 && !s.inserted.length) break;
	}
	text_free(&s.inserted);
	scene_free(&s);
}

void confirm_anomalies(struct audit *a)
{
	struct text tables = { 0 };
	bool known = level_has_statements(a->options.level) ||
	             level_has_snapshots(a->options.level);
	assert(a->options.confirms);
	lift_types(a);
	lift_tables(&tables, a);
	for (uint32_t i = 0; i < a->anomaly_count; i++) {
		struct confirmed *x = &a->anomalies[i].confirmed;
		x->answer = CONFIRM_OPEN;
		if (!known)
			x->why = mem_copy_string("programs in SQL are explored "
			                         "under prc and si");
		else if (limit_reached(&a->limit))
			x->why = mem_copy_string("the time is up");
		else
			confirm(a, &a->anomalies[i], &tables);
		a->confirmations[x->answer]++;
	}
	text_free(&tables);
}
