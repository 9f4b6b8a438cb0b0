/* A program's sessions on the server, statement by statement, and what comes of
 * them.
 */
#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "confirm/expected.h"
#include "confirm/inside.h"
#include "sql/image.h"

const char *attempt_words(struct attempt *a, struct text *t)
{
	const char *copy = region_copy_string(a->to, text_get(t), t->length);
	text_free(t);
	return copy;
}

static bool give_up(struct attempt *a, enum confirm_answer answer,
                    struct text *why)
{
	a->out->answer = answer;
	a->out->why = attempt_words(a, why);
	return false;
}

/* ---- Lines ---- */

static struct confirm_line *add_line(struct attempt *a, struct confirm_line l)
{
	struct confirmation *x = a->out;
	if (x->count == a->capacity) {
		uint32_t n = 2 * a->capacity + 16;
		struct confirm_line *more =
			region_take0(a->to, n * sizeof *more);
		if (x->count) memcpy(more, x->lines, x->count * sizeof *more);
		x->lines = more;
		a->capacity = n;
	}
	x->lines[x->count] = l;
	return &x->lines[x->count++];
}

enum { ROWS_SHOWN = 3 };

/* "2 rows: (1, ann), (2, NULL)" */
static void print_rows(struct text *t, const struct connection *c)
{
	uint32_t length, n, count = 0;
	size_t at = 0;
	const char *row, *text;
	text_format(t, "%u row%s", c->row_count, c->row_count == 1 ? "" : "s");
	while (count < ROWS_SHOWN && (row = connection_row(c, &at, &length))) {
		const char *end = row + length;
		text_string(t, count++ ? ", (" : ": (");
		for (uint32_t i = 0;
		     i < c->column_count && image_next(&row, end, &text, &n);
		     i++) {
			if (i) text_string(t, ", ");
			if (text)
				text_bytes(t, text, n);
			else
				text_string(t, "NULL");
		}
		text_char(t, ')');
	}
	if (c->row_count > count) text_string(t, ", …");
}

static const char *result_of(struct attempt *a, const struct connection *c)
{
	struct text t = { 0 };
	if (*c->state)
		text_format(&t, "ERROR: %s: %s", c->state,
		            text_get(&c->message));
	else if (c->has_result)
		print_rows(&t, c);
	else
		text_string(&t, c->tag);
	return attempt_words(a, &t);
}

/* What the statement gave belongs to its step. */
static void take_result(struct attempt *a, uint32_t session,
                        const struct confirm_line *l)
{
	const struct connection *c = &a->confirmer->stock->sessions[session].c;
	if (l->step == SCRIPT_SETUP) return;
	const char **out = &a->found.steps[session][l->step];
	if (a->failed[session] == l->step) return;
	if (*c->state) {
		*out = region_copy_string(a->to, c->state, strlen(c->state));
		a->failed[session] = l->step;
	} else if (c->has_result) {
		*out = outcome_of_rows(c, a->to);
	}
}

static void name_blockers(struct attempt *a, uint32_t session,
                          struct confirm_line *l)
{
	struct text t = { 0 };
	uint64_t set = stock_blockers(a->confirmer->stock, session);
	if (set) l->blocker = (uint32_t)__builtin_ctzll(set);
	for (; set; set &= set - 1)
		text_format(&t, "%s%s", t.length ? ", " : "",
		            confirmer_session(a->confirmer,
		                              (uint32_t)__builtin_ctzll(set)));
	l->waits_for = attempt_words(a, &t);
}

/* Those that waited before this was sent, and do no more. */
static void take_ended(struct attempt *a, uint64_t waited)
{
	struct stock *s = a->confirmer->stock;
	for (uint32_t i = 0; i < s->count; i++) {
		if (!(waited >> i & 1) || s->sessions[i].waits) continue;
		struct confirm_line l = a->out->lines[a->sent[i]];
		l.waits_for = NULL;
		l.again = true;
		l.result = result_of(a, &s->sessions[i].c);
		take_result(a, i, &l);
		add_line(a, l);
	}
}

static uint64_t waiting(const struct stock *s)
{
	uint64_t set = 0;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->sessions[i].waits) set |= 1ull << i;
	return set;
}

static bool send_one(struct attempt *a, uint32_t session, uint32_t step,
                     const char *sql)
{
	struct stock *s = a->confirmer->stock;
	uint64_t waited = waiting(s);
	struct text why = { 0 };
	if (s->sessions[session].waits) {
		const struct confirm_line *l = &a->out->lines[a->sent[session]];
		text_format(
			&why,
			"session %s waits for a lock of %s when it is to go "
			"on",
			confirmer_session(a->confirmer, session), l->waits_for);
		return give_up(a, CONFIRM_BLOCKED, &why);
	}
	if (!stock_send(s, session, sql)) {
		text_string(&why, text_get(&s->problem));
		return give_up(a, CONFIRM_NOT_TRIED, &why);
	}
	a->sent[session] = a->out->count;
	struct confirm_line *l = add_line(
		a, (struct confirm_line){
			   .session = session, .step = step, .sql = sql });
	if (s->sessions[session].waits) {
		name_blockers(a, session, l);
	} else {
		l->result = result_of(a, &s->sessions[session].c);
		take_result(a, session, l);
	}
	take_ended(a, waited);
	return true;
}

/* All of them with semicolons between. */
static const char *join_units(struct attempt *a, const struct plan_item *i)
{
	const struct script_session *s =
		&a->confirmer->script.sessions[i->session];
	struct text t = { 0 };
	for (uint32_t u = i->unit; u <= i->last; u++)
		text_format(&t, "%s%s", u > i->unit ? ";\n" : "",
		            s->units[u].text);
	return attempt_words(a, &t);
}

/* Without the level that it asks for; "" if that is all. */
static const char *without_level(struct attempt *a, const struct script_unit *u)
{
	static const char phrase[] = "isolation";
	struct text t = { 0 };
	const char *at = u->text;
	while (*at && strncasecmp(at, phrase, sizeof phrase - 1)) at++;
	if (!*at) return u->text;
	text_bytes(&t, u->text, (size_t)(at - u->text));
	/* ISOLATION LEVEL and one word, or two. */
	for (int word = 0; word < 4; word++) {
		const char *from = at;
		while (isalpha((unsigned char)*at)) at++;
		bool only = word == 2 && (*from == 's' || *from == 'S');
		while (isspace((unsigned char)*at)) at++;
		if (only) break;
	}
	if (*at == ',') at++;
	if (u->kind == SCRIPT_LEVEL && !*at && u->text[t.length] &&
	    !memchr(t.data, ',', t.length)) {
		text_free(&t);
		return "";
	}
	while (t.length && !*at && strchr(", \t\n", t.data[t.length - 1]))
		t.data[--t.length] = 0;
	text_string(&t, at);
	return attempt_words(a, &t);
}

bool attempt_send(struct attempt *a, const struct plan_item *i)
{
	static const char *const besides[] = { [PLAN_BEGIN] = "BEGIN",
		                               [PLAN_SNAPSHOT] = "SELECT 1",
		                               [PLAN_COMMIT] = "COMMIT",
		                               [PLAN_ROLLBACK] = "ROLLBACK" };
	const struct script_unit *u =
		&a->confirmer->script.sessions[i->session].units[i->unit];
	const char *text = u->text;
	if (i->kind == PLAN_WHOLE)
		return send_one(a, i->session, u->step, join_units(a, i));
	if (i->kind != PLAN_UNIT)
		return send_one(a, i->session, SCRIPT_SETUP, besides[i->kind]);
	if (u->added) return send_one(a, i->session, SCRIPT_SETUP, u->text);
	/* After an error the rest of a step is left out. */
	if (u->step != SCRIPT_SETUP && a->failed[i->session] == u->step)
		return true;
	if (a->drops_levels && u->kind != SCRIPT_PLAIN)
		text = without_level(a, u);
	return !*text || send_one(a, i->session, u->step, text);
}

/* ---- What came of it ---- */

static const char *rows_now(struct attempt *a, uint32_t table)
{
	struct connection *c = &a->confirmer->stock->control;
	struct text t = { 0 };
	text_string(&t, "SELECT * FROM \"");
	for (const char *n = a->expected.table_names[table]; *n; n++) {
		if (*n == '"') text_char(&t, '"');
		text_char(&t, *n);
	}
	text_char(&t, '"');
	bool fine = connection_run(c, text_get(&t));
	text_free(&t);
	return fine ? outcome_of_rows(c, a->to) : "?";
}

/* "2 rows", or the only one, or an error; and the first that the other does not
 * have there. */
static void print_outcome(struct text *t, const char *rows, const char *other)
{
	const char *first = rows;
	size_t count = 0, n = strlen(rows);
	for (size_t i = 0; i < n; i++) count += rows[i] == '\n';
	if (n && !count)
		text_format(t, "error %s", rows);
	else if (count == 1)
		text_format(t, "(%.*s)", (int)(n - 1), rows);
	else
		text_format(t, "%zu rows", count);
	if (count < 2) return;
	for (const char *at = rows; *at && *at == *other; at++, other++)
		if (*at == '\n') first = at + 1;
	if (*first)
		text_format(t, " with (%.*s)", (int)strcspn(first, "\n"),
		            first);
}

static bool differs(struct attempt *a, const char *what, const char *expected,
                    const char *found)
{
	struct text t = { 0 };
	bool refused = !strcmp(found, "40001") || !strcmp(found, "40P01");
	if (!strcmp(expected, found)) return false;
	if (refused) {
		text_format(&t, "PostgreSQL ended %s with %s (%s), instead of ",
		            what, found,
		            strcmp(found, "40001") ? "a deadlock"
		                                   : "serialization failure");
	} else {
		text_format(&t, "%s gave ", what);
		print_outcome(&t, found, expected);
		text_string(&t, ", not ");
	}
	print_outcome(&t, expected, found);
	give_up(a, refused ? CONFIRM_REFUSED : CONFIRM_DIFFERS, &t);
	return true;
}

static bool compare(struct attempt *a)
{
	const struct spec *s = &a->confirmer->script.spec;
	struct text what = { 0 };
	bool same = true;
	for (uint32_t i = 0; i < s->session_count && same; i++)
		for (uint32_t k = 0; k < s->sessions[i].step_count && same;
		     k++) {
			text_clear(&what);
			text_format(&what, "step %s of %s",
			            s->sessions[i].steps[k].name,
			            s->sessions[i].name);
			same = !differs(a, text_get(&what),
			                a->expected.steps[i][k],
			                a->found.steps[i][k]);
		}
	for (uint32_t t = 0; t < a->expected.table_count && same; t++) {
		text_clear(&what);
		text_format(&what, "table %s in the end",
		            a->expected.table_names[t]);
		same = !differs(
			a, text_get(&what),
			outcome_rows(&a->expected, t, a->first[t], a->to),
			rows_now(a, t));
	}
	text_free(&what);
	return same;
}

static bool nobody_waits(struct attempt *a)
{
	const struct stock *s = a->confirmer->stock;
	for (uint32_t i = 0; i < s->count; i++) {
		struct text t = { 0 };
		if (!s->sessions[i].waits) continue;
		text_format(&t, "session %s waits for a lock of %s for ever",
		            confirmer_session(a->confirmer, i),
		            a->out->lines[a->sent[i]].waits_for);
		return give_up(a, CONFIRM_BLOCKED, &t);
	}
	return true;
}

static void begin_outcome(struct attempt *a)
{
	const struct spec *s = &a->confirmer->script.spec;
	size_t n = s->session_count + (size_t)1;
	a->found.steps = region_take0(a->to, n * sizeof *a->found.steps);
	a->failed = region_take(a->to, n * sizeof *a->failed);
	a->sent = region_take0(a->to, n * sizeof *a->sent);
	a->first = region_take0(a->to, (a->expected.table_count + (size_t)1) *
	                                       sizeof *a->first);
	for (uint32_t i = 0; i < s->session_count; i++) {
		uint32_t count = s->sessions[i].step_count;
		const char **steps = region_take0(a->to, (count + (size_t)1) *
		                                                 sizeof *steps);
		for (uint32_t k = 0; k < count; k++) steps[k] = "";
		a->found.steps[i] = steps;
		a->failed[i] = SCRIPT_SETUP;
	}
	for (uint32_t t = 0; t < a->expected.table_count; t++)
		a->first[t] = rows_now(a, t);
}

static const char *session_options(const struct attempt *a, struct text *t)
{
	text_string(t, "-c default_transaction_isolation=");
	for (const char *c = a->out->setting; *c; c++) {
		if (*c == ' ') text_char(t, '\\');
		text_char(t, *c);
	}
	return text_get(t);
}

bool attempt_begin(struct attempt *a)
{
	const struct script *s = &a->confirmer->script;
	struct stock *stock = a->confirmer->stock;
	struct text t = { 0 };
	bool fine = stock_begin(stock, s->setup, s->spec.session_count,
	                        session_options(a, &t));
	text_clear(&t);
	a->out->answer = CONFIRM_YES;
	a->out->why = NULL;
	a->out->count = 0;
	if (!fine) {
		text_string(&t, text_get(&stock->problem));
		return give_up(a, CONFIRM_NOT_TRIED, &t);
	}
	text_free(&t);
	begin_outcome(a);
	return true;
}

void attempt_end(struct attempt *a)
{
	if (nobody_waits(a)) compare(a);
}
