#include "report/run_json.h"

#include "axioms/level.h"
#include "report/json.h"
#include "report/json_members.h"
#include "run/campaign.h"
#include "vm/program.h"

static void print_first(struct text *t, const struct run_case *c, uint32_t slot)
{
	const struct campaign_slot *s = campaign_slot(c->campaign, slot);
	struct example x = run_example(c, slot);
	struct text command = { 0 };
	json_member_count(t, "first_run", s->first_run);
	json_member_count(t, "first_seed", run_seed(c, s->first_run));
	text_format(t, ",\"mean_runs\":%.6f", run_slot_mean(c, slot));
	name_run_command(&command, c, s->first_run);
	json_member_taken(t, "repeat", &command);
	text_string(t, ",\"example\":");
	report_example_json(t, &x, "");
	text_free(&command);
}

static void print_slots(struct text *t, const struct run_case *c)
{
	bool first = true;
	text_string(t, ",\"assertions\":[");
	for (uint32_t i = 0; i < campaign_slot_count(c->campaign); i++) {
		bool violated = run_slot_violated(c, i);
		struct example x = run_example(c, i);
		if (!violated && !run_slot_checked(c, i)) continue;
		text_string(t, first ? "{" : ",{");
		first = false;
		report_slot_json(t, &x);
		json_member_count(t, "violated",
		                  campaign_slot(c->campaign, i)->violating);
		if (violated) print_first(t, c, i);
		text_char(t, '}');
	}
	text_char(t, ']');
}

static void print_curve(struct text *t, const struct run_case *c)
{
	uint32_t count;
	const struct campaign_point *p = campaign_curve(c->campaign, &count);
	text_string(t, ",\"curve\":[");
	for (uint32_t i = 0; i < count; i++) {
		text_string(t, i ? ",{" : "{");
		json_count(t, "runs", p[i].runs);
		json_member_count(t, "histories", p[i].histories);
		json_member_count(t, "outcomes", p[i].outcomes);
		text_char(t, '}');
	}
	text_char(t, ']');
}

static void print_coverage(struct text *t, const struct run_case *c)
{
	const struct coverage *v = c->coverage;
	if (!c->coverage_wanted) return;
	if (!v) {
		text_string(t, ",\"coverage\":null");
		return;
	}
	text_format(t, ",\"coverage\":{\"complete\":%s",
	            v->complete ? "true" : "false");
	json_member_count(t, "histories", v->histories);
	json_member_count(t, "outcomes", v->outcomes);
	json_member_count(t, "unserializable", v->unserializable);
	json_member_count(t, "seen_histories", v->seen_histories);
	json_member_count(t, "seen_outcomes", v->seen_outcomes);
	text_format(t, ",\"seconds\":%.6f}", v->seconds);
}

static void print_stats(struct text *t, const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	text_string(t, ",\"stats\":{");
	json_count(t, "runs", s->runs);
	json_member_count(t, "pruned", s->pruned);
	json_member_count(t, "violating", s->violating);
	json_member_count(t, "unserializable", s->unserializable);
	json_member_count(t, "histories", s->histories);
	json_member_count(t, "outcomes", s->outcomes);
	json_member_count(t, "reads", s->reads);
	json_member_count(t, "taken_back", s->taken_back);
	text_format(t, ",\"seconds\":%.6f,\"cpu_seconds\":%.6f}", s->seconds,
	            s->cpu_seconds);
}

void report_run_json(struct text *t, const struct run_case *c,
                     const char *version)
{
	const struct campaign_options *o = campaign_options(c->campaign);
	enum stop_reason stop = campaign_stats(c->campaign)->stop;
	struct text words = { 0 };
	text_char(t, '{');
	json_name(t, "isoscope");
	json_text(t, version);
	json_member_text(t, "program",
	                 program_path(campaign_program(c->campaign)));
	json_member_text(t, "level", level_word(o->level));
	name_policy(&words, c);
	json_member_taken(t, "policy", &words);
	json_member_count(t, "seed", o->seed);
	json_member_count(t, "runs", o->runs);
	json_member_text(t, "verdict", verdict_word(run_verdict(c)));
	name_run_reason(&words, c);
	json_member_taken(t, "reason", &words);
	json_member_bool(t, "complete", stop == STOP_NONE);
	json_member_text(t, "stop", stop_word(stop));
	print_slots(t, c);
	print_curve(t, c);
	print_coverage(t, c);
	print_stats(t, c);
	text_string(t, "}\n");
	text_free(&words);
}
