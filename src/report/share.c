#include "report/share.h"

#include <math.h>

#include "dpor/estimate.h"
#include "report/counts.h"
#include "report/json.h"
#include "report/json_members.h"
#include "report/names.h"
#include "report/rough.h"
#include "report/style.h"

/* There are no fewer than those that were seen. */
static double at_least(double n, uint64_t seen)
{
	return fmax(n, (double)seen);
}

/* The mean has no bias, so it may be below what groups met. */
static double in_all(uint64_t seen, const struct estimate *all)
{
	return at_least(fmax(all->histories, all->low), seen);
}

double share_of(uint64_t seen, const struct estimate *all)
{
	double n = in_all(seen, all);
	if (n > 0) return (double)seen / n;
	return all->exact ? 1 : NAN;
}

void json_share_member(struct text *t, uint64_t seen,
                       const struct estimate *all)
{
	json_member_number(t, "share", share_of(seen, all));
}

/* Two digits, but never "100 %" for a part. */
static void percent(struct text *t, double share)
{
	double n = 100 * share;
	if (n >= 99)
		text_string(t, share < 1 ? "more than 99 %" : "100 %");
	else if (n >= 0.001)
		text_format(t, "%.2g %%", n);
	else
		text_string(t, "less than 0.001 %");
}

void report_share(struct text *t, uint64_t seen, const struct estimate *all)
{
	struct text number = { 0 };
	if (!all || !all->groups) return;
	if (all->exact)
		style_count(&number, (uint64_t)in_all(seen, all));
	else
		rough_count(&number, in_all(seen, all));
	count_begin_text(t, "in all", &number);
	if (!all->exact) {
		text_string(t, "about, or ");
		rough_range(t, at_least(all->low, seen),
		            at_least(all->high, seen));
		text_string(t, " (95 %); ");
	}
	if (all->bound < UINT64_MAX) {
		name_bound(t, all->bound);
		text_string(t, "; ");
	}
	if (seen || all->exact) {
		percent(t, share_of(seen, all));
		text_string(t, " of them seen\n");
	} else {
		text_string(t, "none seen\n");
	}
	text_free(&number);
}

void json_share(struct text *t, uint64_t seen, const struct estimate *all)
{
	if (!all || !all->groups) return;
	text_char(t, ',');
	json_name(t, "estimate");
	text_format(t,
	            "{\"exact\":%s,\"histories\":%.15g,\"low\":%.15g,"
	            "\"high\":%.15g",
	            all->exact ? "true" : "false", in_all(seen, all),
	            at_least(all->low, seen), at_least(all->high, seen));
	json_share_member(t, seen, all);
	text_char(t, '}');
}
