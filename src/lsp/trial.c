#include "lsp/trial.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/explore_plan.h"
#include "api/problem.h"
#include "compile/load.h"
#include "dpor/explorer.h"
#include "dpor/known_rows.h"
#include "isoscope.h"
#include "repair/repair.h"
#include "report/report.h"
#include "result/explored.h"
#include "result/repaired.h"
#include "result/result.h"
#include "sql/load.h"
#include "vm/program.h"

enum { MEMORY_MOST = 1 << 29 }; /* bytes */

/* A program with the text in place of its file, and what to do with it. */
struct trial {
	struct load_text text;
	struct sql_arguments given;
	struct program *program; /* NULL: it cannot be explored */
	struct explore_plan plan;
};

static void on_tree(void *data, const struct syntax *tree, struct sources *all)
{
	(void)data, (void)tree, (void)all;
}

static void begin(struct trial *x, const struct load_text *text,
                  const char *level, double seconds)
{
	struct problem problem = { 0 };
	*x = (struct trial){ .text = *text, .given = { .timeout = seconds } };
	struct load_edited edited = { .texts = &x->text,
		                      .count = 1,
		                      .given = &x->given,
		                      .look = on_tree };
	struct explore_wish wish = { .level = level ? level_from_word(level)
		                                    : LEVEL_COUNT,
		                     .word = level,
		                     .base = LEVEL_COUNT,
		                     .any_algorithm = true };
	x->program = load_program_edited(text->path, &edited, &problem.diags);
	if (x->program) explorer_know_rows(x->program, NULL, seconds);
	x->plan.options = (struct explore_options){ .timeout = seconds,
		                                    .memory = MEMORY_MOST,
		                                    .max_changes = UINT64_MAX,
		                                    .jobs = 1 };
	if (x->program &&
	    explore_plan_make(&x->plan, x->program, &wish, &problem)) {
		problem_free(&problem);
		return;
	}
	explore_plan_free(&x->plan);
	x->plan = (struct explore_plan){ 0 };
	program_free(x->program);
	x->program = NULL;
	problem_free(&problem);
}

static void end(struct trial *x)
{
	explore_plan_free(&x->plan);
	program_free(x->program);
}

static void put(struct text *out, struct result *r)
{
	report_json(out, r, iso_version());
	assert(out->length && out->data[out->length - 1] == '\n');
	out->data[--out->length] = '\0';
	result_free(r);
}

bool trial_explore(struct text *out, const struct load_text *text,
                   const char *level, double seconds)
{
	struct trial x;
	bool violated = false;
	begin(&x, text, level, seconds);
	if (x.program) {
		struct explorer *e =
			explorer_new(x.plan.program, &x.plan.options, NULL);
		explorer_run(e);
		struct result *r = result_of_exploration(e, NULL, RESULT_WHOLE);
		violated = r->verdict == VERDICT_VIOLATED;
		put(out, r);
		explorer_free(e);
	}
	end(&x);
	return violated;
}

/* Edits are of files: what the editor has not saved yet has none. */
static bool is_saved(const struct load_text *text)
{
	FILE *f = fopen(text->path, "rbe");
	bool same = f != NULL;
	size_t at = 0, n;
	char part[1 << 14];
	while (same && (n = fread(part, 1, sizeof part, f)) > 0) {
		same = n <= text->length - at &&
		       !memcmp(part, text->text + at, n);
		at += n;
	}
	if (f) fclose(f);
	return same && at == text->length;
}

void trial_repair(struct text *out, const struct load_text *text,
                  const char *level, double seconds)
{
	struct trial x;
	struct repair found = { 0 };
	struct diags d = { 0 };
	if (!is_saved(text)) return;
	begin(&x, text, level, seconds);
	if (x.program) {
		struct repair_options o = {
			.path = text->path,
			.level_said = level != NULL,
			.given = program_is_sql(x.program)
			                 ? sql_given(x.program)
			                 : NULL,
			.ssi = program_is_ssi(x.program),
			.explore = x.plan.options,
			.max_edits = REPAIR_EDITS,
			.max_answers = REPAIR_ANSWERS,
		};
		if (repair_weights(&o, NULL, &d) && repair(&found, &o, &d))
			put(out, result_of_repair(&found));
		repair_free(&found);
	}
	diags_free(&d);
	end(&x);
}
