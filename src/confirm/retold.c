#include "confirm/retold.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/known_rows.h"
#include "history/history.h"
#include "history/trace.h"
#include "postgres/library.h"
#include "postgres/load.h"
#include "run/replay.h"
#include "run/runner.h"
#include "vm/bytecode.h"
#include "vm/program.h"

bool retold_is_needed(const struct program *p)
{
	if (!p->server) return false;
	const struct spec *s = &server_of(p->library)->spec;
	for (uint32_t i = 0; i < s->session_count; i++)
		if (s->sessions[i].command) return true;
	return false;
}

/* ---- A specification of it ---- */

struct retelling {
	const struct program *program;
	const struct history *history;
	struct text text, *why;
};

static bool give_up(struct retelling *x, const char *why)
{
	text_string(x->why, why);
	return false;
}

/* Blocks end at the first brace. */
static bool put_block(struct retelling *x, const char *before, const char *sql,
                      const char *behind)
{
	if (strchr(sql, '}'))
		return give_up(x, "there is a brace in its SQL, in which a "
		                  "specification cannot have one");
	text_format(&x->text, "{ %s%s%s }\n", before, sql, behind);
	return true;
}

static bool put_setups(struct retelling *x)
{
	struct server_library *l = server_of(x->program->library);
	for (uint32_t i = 0; i < l->spec.setup_count; i++) {
		const struct spec_setup *s = &l->spec.setups[i];
		if (s->command)
			return give_up(x, "its set-up is a program, whose "
			                  "statements are not recorded");
		char *sql = spec_block_text(&l->all, &s->sql);
		text_string(&x->text, "setup ");
		bool fine = put_block(x, "", sql, "");
		free(sql);
		if (!fine) return false;
	}
	return true;
}

static const char *name_of(own_level own)
{
	if (!own) return NULL;
	enum level l = (enum level)(own - 1);
	if (level_has_statements(l)) return "READ COMMITTED";
	return level_is_serial(l) ? "SERIALIZABLE" : "REPEATABLE READ";
}

/* The event of the next statement behind this one; or how many there are. */
static uint32_t next_statement(const struct retelling *x,
                               const struct transaction *t, uint32_t from)
{
	uint32_t line =
		program_position(x->program, t->events[from].point).line;
	while (++from < t->event_count)
		if (program_position(x->program, t->events[from].point).line !=
		    line)
			break;
	return from;
}

/* BEGIN and COMMIT are not recorded, for they read nothing. */
static bool put_transaction(struct retelling *x, const struct transaction *t,
                            uint32_t *steps)
{
	const char *level = name_of(t->own);
	struct text begin = { 0 };
	bool fine = true;
	if (!t->event_count)
		return give_up(x, "a transaction of it has read and written "
		                  "nothing");
	bool many = next_statement(x, t, 0) < t->event_count;
	bool block = many || level || t->aborted;
	if (block) text_string(&begin, "BEGIN");
	if (level) text_format(&begin, " ISOLATION LEVEL %s", level);
	if (block) text_string(&begin, "; ");
	for (uint32_t i = 0, next; fine && i < t->event_count; i = next) {
		const struct event *e = &t->events[i];
		next = next_statement(x, t, i);
		const char *end = t->aborted ? "\n; ROLLBACK" : "\n; COMMIT";
		text_format(&x->text, "step s%u_%u ", t->session, ++*steps);
		fine = put_block(
			x, text_get(&begin),
			program_position(x->program, e->point).source_line,
			block && next == t->event_count ? end : "");
		text_clear(&begin);
	}
	text_free(&begin);
	return fine;
}

/* Of a session that sends statements as it is. */
static bool put_steps(struct retelling *x, const struct spec_session *s)
{
	struct server_library *l = server_of(x->program->library);
	bool fine = true;
	for (uint32_t i = s->has_setup ? 0 : 1; fine && i <= s->step_count;
	     i++) {
		const struct spec_block *b =
			i ? &s->steps[i - 1].sql : &s->setup;
		char *sql = spec_block_text(&l->all, b);
		if (i)
			text_format(&x->text, "step \"%s\" ",
			            s->steps[i - 1].name);
		else
			text_string(&x->text, "setup ");
		fine = put_block(x, "", sql, "");
		free(sql);
	}
	return fine;
}

static bool put_program(struct retelling *x, uint32_t session)
{
	const struct history *h = x->history;
	const struct history_session *s = &h->sessions[session];
	uint32_t steps = 0;
	for (uint32_t t = s->first; t < s->first + s->count; t++)
		if (!put_transaction(x, &h->transactions[t], &steps))
			return false;
	/* One that does nothing is one all the same. */
	if (!steps) text_format(&x->text, "step s%u_1 { SELECT 1 }\n", session);
	return true;
}

static bool gives_up_locks(const struct history *h)
{
	for (uint32_t t = 0; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++)
			if (event_gives_up(&h->transactions[t].events[i]))
				return true;
	return false;
}

static bool put_sessions(struct retelling *x)
{
	const struct history *h = x->history;
	if (gives_up_locks(h))
		return give_up(x, "it rolls back to savepoints, which are not "
		                  "recorded");
	const struct spec *spec = &server_of(x->program->library)->spec;
	bool any = false, fine = true;
	for (uint32_t i = 0; i < h->session_count && fine; i++) {
		const struct history_session *s = &h->sessions[i];
		if (s->after_all) continue;
		assert(i < spec->session_count);
		any |= s->count > 0;
		text_format(&x->text, "session \"%s\"\n", s->name);
		fine = spec->sessions[i].command
		               ? put_program(x, i)
		               : put_steps(x, &spec->sessions[i]);
	}
	if (fine && !any) return give_up(x, "its sessions have used no table");
	return fine;
}

static struct program *load(struct retelling *x, const atomic_bool *interrupt)
{
	const struct sql_arguments given = { .interrupt = interrupt };
	struct diags d = { 0 };
	struct program *p = server_load("recorded", text_get(&x->text),
	                                x->text.length, &given, &d);
	if (p)
		explorer_know_rows(p, interrupt, 0);
	else
		text_format(x->why, "its statements cannot be sent: %s",
		            d.count ? d.items[0].message : "");
	diags_free(&d);
	return p;
}

/* ---- The same history ---- */

/* Without what is read when all sessions have ended. The arrays are borrowed
 * but for the order, which is the caller's. */
static struct history without_end(const struct history *h)
{
	struct history cut = *h;
	uint32_t n = 0;
	while (cut.session_count &&
	       cut.sessions[cut.session_count - 1].after_all)
		cut.transaction_count -=
			cut.sessions[--cut.session_count].count;
	cut.order = mem_take(h->transaction_count * sizeof *cut.order);
	for (uint32_t i = 0; i < h->transaction_count; i++)
		if (h->order[i] < cut.transaction_count)
			cut.order[n++] = h->order[i];
	assert(n == cut.transaction_count);
	return cut;
}

static bool replay(struct retold *out, const struct history *h,
                   enum level level, const atomic_bool *interrupt)
{
	struct history cut = without_end(h);
	struct trace *t = trace_of_history(&cut, "");
	struct runner *r = runner_new(out->program, level, interrupt);
	struct replay_result result = { 0 };
	struct replay_parts parts = { 0 };
	replay_history(r, t, cut.order, parts, &result);
	bool fine = result.end == RUN_COMPLETE && !result.diverged &&
	            !result.changed && !result.values;
	if (fine) out->history = runner_history(r);
	runner_free(r);
	trace_free(t);
	free(cut.order);
	return fine;
}

bool retold_make(struct retold *out, const struct program *p,
                 const struct history *h, enum level level,
                 const atomic_bool *interrupt, struct text *why)
{
	struct retelling x = { .program = p, .history = h, .why = why };
	*out = (struct retold){ 0 };
	if (h->order && put_setups(&x) && put_sessions(&x))
		out->program = load(&x, interrupt);
	text_free(&x.text);
	if (!out->program) return false;
	if (!replay(out, h, level, interrupt)) {
		text_string(why, "its statements, sent one by one, do not "
		                 "follow the same history");
		return false;
	}
	h = out->history;
	if (h->others || level_has_moments(level))
		schedule_of_history(level, h->others, h, &out->schedule);
	return true;
}

void retold_free(struct retold *r)
{
	schedule_free(&r->schedule);
	history_free(r->history);
	program_free(r->program);
	*r = (struct retold){ 0 };
}
