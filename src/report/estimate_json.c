#include "report/estimate_json.h"

#include <string.h>

#include "dpor/explorer.h"
#include "report/json.h"
#include "report/json_members.h"
#include "report/share.h"

/* Up to its closing brace, which the caller adds. */
static void print_open(struct text *t, const struct explorer *e,
                       const char *version)
{
	struct text all = { 0 };
	report_json(&all, e, version);
	text_bytes(t, all.data, all.length - strlen("}\n"));
	text_free(&all);
}

static void print_estimate(struct text *t, const struct estimate *e,
                           uint64_t seen)
{
	text_string(t, ",\"estimate\":");
	if (!e->groups) {
		text_string(t, "null");
		return;
	}
	text_char(t, '{');
	json_name(t, "exact");
	text_string(t, e->exact ? "true" : "false");
	json_member_number(t, "histories", e->histories);
	json_member_number(t, "low", e->low);
	json_member_number(t, "high", e->high);
	json_share_member(t, seen, e);
	json_member_count(t, "groups", e->groups);
	text_char(t, '}');
}

void report_outlook_json(struct text *t, const struct explorer *e,
                         const char *version, const struct outlook *o)
{
	print_open(t, e, version);
	print_estimate(t, &o->whole, explorer_stats(e)->histories);
	text_string(t, ",\"outlook\":{");
	json_count(t, "jobs", o->jobs);
	json_member_number(t, "seconds", o->left.seconds / o->jobs);
	json_member_number(t, "seconds_low", o->left.low / o->jobs);
	json_member_number(t, "seconds_high", o->left.high / o->jobs);
	if (o->classes > 0) json_member_number(t, "classes", o->classes);
	text_string(t, "}}\n");
}

void report_share_json(struct text *t, const struct explorer *e,
                       const char *version, const struct sample_share *s)
{
	print_open(t, e, version);
	print_estimate(t, &s->whole, s->distinct);
	text_string(t, ",\"sample\":{");
	json_count(t, "descents", s->descents);
	json_member_count(t, "distinct", s->distinct);
	text_string(t, "}}\n");
}
