#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/predict.h"
#include "cli/settings.h"
#include "vm/program.h"

/* ---- the level ---- */

/* Any level but ser; `stated_by` is the program that states it, or NULL. */
static bool level_possible(enum level l, const char *stated_by)
{
	if (l != LEVEL_SER) return true;
	if (stated_by)
		say("%s states ser, and a prediction is never serializable: "
		    "name a weaker level with -i",
		    stated_by);
	else
		say("a prediction is never serializable: name a weaker level "
		    "than ser");
	return false;
}

bool predict_level(struct predicting *x, const struct trace *observed)
{
	enum level stated = LEVEL_COUNT;
	if (x->level_given) return true;
	if (observed->level) stated = level_from_word(observed->level);
	if (stated < LEVEL_SER) {
		x->options.level = stated;
		x->stated_by = "as the history says";
		return true;
	}
	x->options.level = LEVEL_CC;
	x->stated_by = "as nothing else is stated";
	if (!x->program || !program_isolation(x->program)) return true;
	if (!setting_level(x->line, OPTION_PREDICT_LEVEL, x->program,
	                   &x->options.level))
		return false;
	x->stated_by = "as the program states";
	return level_possible(x->options.level, x->program_path);
}

/* ---- options that go together ---- */

static bool given(const struct command_line *c, enum option_id o)
{
	return c->value[o];
}

static bool need_program(const struct command_line *c)
{
	static const enum option_id options[] = { OPTION_RUNS,
		                                  OPTION_RUN_SEED };
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (!given(c, options[i])) continue;
		say("--%s goes with --program, which records traces",
		    option_table[options[i]].word);
		return false;
	}
	return true;
}

static bool program_alone(const struct command_line *c)
{
	static const enum option_id options[] = { OPTION_VALIDATE,
		                                  OPTION_FORMAT, OPTION_HISTORY,
		                                  OPTION_UNKNOWN };
	if (c->operand_count) {
		say("--program records its histories itself, and '%s' is "
		    "another one; --validate runs a program along predictions "
		    "from given histories",
		    c->operands[0]);
		return false;
	}
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (!given(c, options[i])) continue;
		if (options[i] == OPTION_VALIDATE)
			say("--program validates with that program: "
			    "--validate goes with given histories");
		else
			say("--%s goes with given histories, not with "
			    "--program",
			    option_table[options[i]].word);
		return false;
	}
	return true;
}

static bool options_fit(const struct predicting *x)
{
	const struct command_line *c = x->line;
	if (x->recording ? !program_alone(c) : !need_program(c)) return false;
	if (!x->recording && !c->operand_count) {
		say("predict needs an observed history: isoscope predict "
		    "HISTORY..., or a program to record it from: --program "
		    "PROGRAM");
		return false;
	}
	return outputs_fit(c, "history") && pictures_possible(c);
}

/* ---- all options ---- */

static void read_words(struct predicting *x)
{
	const struct command_line *c = x->line;
	const char *level = c->value[OPTION_PREDICT_LEVEL];
	x->level_given = level;
	if (level) x->options.level = level_from_word(level);
	setting_encoding(c, &x->options);
	x->options.enumerate = c->value[OPTION_ALL];
	x->recording = c->value[OPTION_FROM_PROGRAM];
	x->program_path =
		c->value[x->recording ? OPTION_FROM_PROGRAM : OPTION_VALIDATE];
	x->json = c->value[OPTION_JSON];
	x->quiet = c->value[OPTION_QUIET];
}

bool predict_settings(struct predicting *x)
{
	const struct command_line *c = x->line;
	double seconds;
	read_words(x);
	x->runs = 1;
	x->seed = 1;
	x->style = output_style(c, outputs_result_stream(c));
	if (x->recording) x->summary.recorded = x->program_path;
	return setting_count(c, OPTION_ALL, &x->wanted) &&
	       histories_settings(&x->in, c) &&
	       setting_count(c, OPTION_RUNS, &x->runs) &&
	       setting_seed(c, OPTION_RUN_SEED, &x->seed) &&
	       setting_step_timeout(c, &seconds) &&
	       (!x->level_given || level_possible(x->options.level, NULL)) &&
	       options_fit(x);
}
