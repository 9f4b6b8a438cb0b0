#include "confirm/confirm.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "confirm/expected.h"
#include "confirm/inside.h"
#include "history/history.h"
#include "sql/image.h"
#include "vm/bytecode.h"
#include "vm/program.h"

struct confirmer *confirmer_new(const struct program *p, struct stock *stock,
                                struct text *why)
{
	struct confirmer *c = mem_take0(1, sizeof *c);
	c->stock = stock;
	c->orders = CONFIRM_ORDERS;
	if (!program_is_sql(p)) {
		text_string(why, "it is for programs in SQL, which PostgreSQL "
		                 "can run");
	} else if (script_read(&c->script, p, why)) {
		if (c->script.spec.session_count <= STOCK_SESSIONS) return c;
		text_format(why, "it has more than %d sessions",
		            STOCK_SESSIONS);
		script_free(&c->script);
	}
	free(c);
	return NULL;
}

void confirmer_free(struct confirmer *c)
{
	if (!c) return;
	script_free(&c->script);
	free(c);
}

const char *confirmer_session(const struct confirmer *c, uint32_t session)
{
	assert(session < c->script.spec.session_count);
	return c->script.spec.sessions[session].name;
}

/* ---- A history ---- */

/* PostgreSQL's level that is this one; NULL: it has none. */
static const char *setting_of(enum level l)
{
	if (level_has_statements(l)) return "read committed";
	if (level_is_serial(l)) return "serializable";
	return level_excludes_rivals(l) && level_sight(l) == SIGHT_PREFIX
	               ? "repeatable read"
	               : NULL;
}

static void set_level(enum level l, struct region *to, struct confirmation *out)
{
	out->setting = setting_of(l);
	assert(out->setting);
	char *name = region_copy_string(to, out->setting, strlen(out->setting));
	for (char *c = name; *c; c++) *c = (char)toupper((unsigned char)*c);
	out->level = name;
}

static void follow(struct attempt *a, const struct plan *p)
{
	if (!attempt_begin(a)) return;
	for (uint32_t i = 0; i < p->count; i++)
		if (!attempt_send(a, &p->items[i])) return;
	attempt_end(a);
}

static void add_why(struct attempt *a, const char *what)
{
	struct text t = { 0 };
	text_format(&t, "%s; %s", a->out->why, what);
	a->out->why = attempt_words(a, &t);
}

static bool has_sequences(const struct confirmer *c)
{
	const struct program *p = c->script.program;
	return !p->server &&
	       sql_image_of(p->library)->catalog.sequence_count > 0;
}

/* Another order may do; what is told is the schedule's. */
static void try_orders(struct attempt *a)
{
	struct confirmation own = *a->out;
	struct text t = { 0 };
	uint32_t count;
	bool all;
	a->capacity = 0;
	a->out->lines = NULL;
	if (orders_try(a, &count, &all)) return;
	if (a->out->answer == CONFIRM_NOT_TRIED) return;
	*a->out = own;
	if (all)
		text_string(&t, "and no order of its statements brings it "
		                "about: a statement would have to wait before "
		                "its locks, or a function between its "
		                "statements, and nothing makes it wait there");
	else
		text_format(&t,
		            "nor do the first %u orders of its statements "
		            "bring it about",
		            count);
	add_why(a, text_get(&t));
	text_free(&t);
}

void confirm_outcome(struct confirmer *c, const struct history *h,
                     const struct schedule *schedule, enum level level,
                     const struct outcome *expected, struct region *to,
                     struct confirmation *out)
{
	struct attempt a = { .confirmer = c,
		             .to = to,
		             .out = out,
		             .expected = *expected,
		             .drops_levels = !h->others };
	struct script_map map;
	struct plan plan;
	*out = (struct confirmation){ 0 };
	set_level(level, to, out);
	script_map(&c->script, h, to, &map);
	plan_make(&c->script, &map, h, schedule, &plan);
	follow(&a, &plan);
	if (out->answer != CONFIRM_YES && out->answer != CONFIRM_NOT_TRIED) {
		if (has_sequences(c))
			add_why(&a, "sequences give each session numbers of "
			            "its own where it is explored, and one "
			            "after the other there");
		else if (plan.added)
			add_why(&a, "BEGIN and COMMIT were added around "
			            "statements of one step, for others to "
			            "come in between");
		else
			try_orders(&a);
	}
	plan_free(&plan);
}

/* At the weakest of PostgreSQL's levels that has one. */
static bool find_schedule(const struct history *h, enum level *level,
                          struct schedule *out)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		*level = l;
		if (!setting_of(l) ||
		    !schedule_of_history(l, h->others, h, out))
			continue;
		if (out->count) return true;
		schedule_free(out);
	}
	return false;
}

void confirm_history(struct confirmer *c, const struct history *h,
                     enum level level, const struct schedule *schedule,
                     struct region *to, struct confirmation *out)
{
	struct schedule own = { 0 };
	struct outcome expected;
	enum level at = level;
	*out = (struct confirmation){ .answer = CONFIRM_NO_LINE };
	if (!schedule->count || !setting_of(level)) {
		if (!h->order || !find_schedule(h, &at, &own)) return;
		schedule = &own;
	}
	if (outcome_of_history(&c->script, h, schedule, level,
	                       c->stock->interrupt, to, &expected)) {
		confirm_outcome(c, h, schedule, at, &expected, to, out);
	} else {
		out->answer = CONFIRM_NOT_TRIED;
		out->why = "the program does not run along it";
	}
	schedule_free(&own);
}
