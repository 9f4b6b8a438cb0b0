#include "api/programs.h"

#include <assert.h>

#include "base/seconds.h"
#include "compile/load.h"
#include "dpor/known_rows.h"
#include "history/trace.h"
#include "sql/load.h"
#include "vm/program.h"

/* Seconds: whoever counts the time begins a little later. */
static const double LATER = 0.1;

struct program *program_load_as(const char *path, const struct code_in_c *c,
                                struct diags *d)
{
	assert(c->step_timeout > 0);
	struct sql_arguments sql = c->sql;
	sql.interrupt = c->interrupt;
	if (c->timeout > 0) sql.timeout = c->timeout;
	struct program *p = load_program_with(path, c->step_timeout, &sql, d);
	if (!p) return NULL;
	if (c->ssi) program_be_ssi(p);
	explorer_know_rows(p, sql.interrupt, sql.timeout);
	library_configure(p, c->step_timeout, c->bounds, c->shows_output);
	if (c->memory) library_set_budget(p, c->memory / 2);
	library_set_limits(p, c->interrupt,
	                   c->timeout > 0 ? seconds_now() + c->timeout + LATER
	                                  : 0);
	return p;
}

/* "file:3:5: transaction 'enroll' has level si of its own" */
static void own_level_words(struct text *t, const struct program *p,
                            uint32_t name, struct position at)
{
	text_format(t, "%s:%u:%u: transaction '%s' has level %s of its own",
	            at.file, at.line, at.column,
	            program_transaction_name(p, name),
	            own_level_word(program_transaction_level(p, name)));
}

static bool own_levels_problem(const struct program *p, const char *why,
                               struct problem *problem)
{
	uint32_t name;
	struct position at;
	struct text words = { 0 };
	if (!program_finds_own_level(p, &name, &at)) return true;
	own_level_words(&words, p, name, at);
	problem_set(problem, PROBLEM_REQUEST, "%s%s", text_get(&words), why);
	text_free(&words);
	return false;
}

/* What follows the transaction that has a level of its own. */
static void others_cannot(struct text *why, enum level l)
{
	text_format(why,
	            ", beside which the others cannot have %s: choose another "
	            "level with -i",
	            level_word(l));
}

bool trace_takes_level(const struct trace *t, enum level others,
                       struct problem *problem)
{
	struct text why = { 0 };
	if (level_mixes(others)) return true;
	others_cannot(&why, others);
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		const struct trace_transaction *w = &t->transactions[i];
		if (!w->own) continue;
		bool named = w->name && *w->name;
		problem_set(problem, PROBLEM_REQUEST,
		            "%s:%u: %s%s%s has level %s of its own%s", t->file,
		            w->line ? w->line : t->line,
		            named ? "transaction '" : "a transaction",
		            named ? w->name : "", named ? "'" : "",
		            own_level_word(w->own), text_get(&why));
		text_free(&why);
		return false;
	}
	text_free(&why);
	return true;
}

const char *program_deployment(const struct program *p, const char *given)
{
	return level_deployment(given ? given : program_isolation(p));
}

bool program_level(const struct program *p, enum level given, enum level *out,
                   struct problem *problem)
{
	const char *word = program_isolation(p);
	enum level l = given != LEVEL_COUNT ? given
	               : word               ? level_from_word(word)
	                                    : LEVEL_DEFAULT;
	if (program_is_sql(p) && given != LEVEL_COUNT) sql_drop_levels(p);
	if (l == LEVEL_COUNT)
		return problem_set(problem, PROBLEM_REQUEST,
		                   "%s: there is no isolation level '%s'",
		                   program_path(p), word);
	*out = l;
	library_set_uniform(p, !level_mixes(l));
	if (level_mixes(l)) return true;
	struct text why = { 0 };
	others_cannot(&why, l);
	bool sound = own_levels_problem(p, text_get(&why), problem);
	text_free(&why);
	return sound;
}

bool program_sound(const struct program *p, struct problem *problem)
{
	library_settle(p);
	if (!program_fault(p)) return true;
	/* Whatever else went wrong before may be for that reason. */
	problem->kind = PROBLEM_FAULT;
	return false;
}
