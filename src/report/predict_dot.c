#include "report/predict_text.h"

#include "report/dot.h"
#include "result/names.h"
#include "report/predict_part.h"

void report_predicted_dot(struct text *t, const struct predict_case *c,
                          const struct predicted *p)
{
	struct predict_part part;
	struct text title = { 0 };
	predict_part_find(&part, c, p);
	text_string(&title,
	            p->prediction->observed ? "observed: " : "predicted from ");
	name_predict_place(&title, c);
	text_string(&title, ", under ");
	if (trace_has_owns(c->observed))
		text_string(&title, "the levels of its transactions");
	else
		name_level(&title, c->options->level);
	if (p->witness && p->witness->anomaly)
		text_format(&title, ": %s", p->witness->anomaly);
	report_dot_predicted(t, part.history, text_get(&title), &part.cycle,
	                     part.changes, part.change_count);
	text_free(&title);
	predict_part_free(&part);
}
