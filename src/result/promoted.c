#include "result/promoted.h"

#include <inttypes.h>

#include "result/parts.h"

static void name_reads(struct text *t, const struct promoted_reads *set)
{
	for (uint32_t i = 0; i < set->count; i++) {
		const struct promoted_read *read = &set->items[i];
		text_format(t, "%s%s of %s (line %" PRIu32 ", %s)",
		            i ? ", " : "    ", text_get(&read->key),
		            text_get(&read->transaction), read->line,
		            read->lock);
	}
	text_char(t, '\n');
}

static void add_reads(struct result *r, struct result_values *list,
                      const struct promoted_reads *set)
{
	struct result_values *one = result_group(r, list, NULL);
	struct result_values *reads = result_list(r, one, "reads");
	for (uint32_t i = 0; i < set->count; i++) {
		const struct promoted_read *read = &set->items[i];
		struct result_values *of = result_group(r, reads, NULL);
		result_text(r, of, "transaction", text_get(&read->transaction));
		result_text(r, of, "key", text_get(&read->key));
		result_count(r, of, "line", read->line);
		result_text(r, of, "lock", read->lock);
	}
	result_text(r, one, "diff", text_get(&set->diff));
}

static void name_promotion(struct text *t, const struct proved_promotion *p)
{
	text_format(t, "  all at %s: ", level_word(p->level));
	if (!p->set_count)
		text_string(t, p->complete
		                       ? "not proved with up to three reads "
		                         "locked"
		                       : "not proved with any of those that "
		                         "were tried");
	else if (!p->sets[0].count)
		text_string(t, "proved as it is");
	else
		text_string(t, p->complete
		                       ? "proved if these reads are locked"
		                       : "proved if these reads are locked, "
		                         "among others that were not tried");
	text_char(t, '\n');
	for (uint32_t i = 0; i < p->set_count; i++) {
		if (!p->sets[i].count) continue;
		if (i) text_string(t, "   or\n");
		name_reads(t, &p->sets[i]);
	}
}

void result_promotions(struct result *r, const struct proof *p,
                       struct text *note)
{
	if (!p->options.allocate) return;
	struct result_values *list = result_list(r, &r->findings, "promotions");
	if (p->promotion_count)
		text_string(note, "\nIn place of stronger levels, with reads "
		                  "that lock:\n");
	for (uint32_t i = 0; i < p->promotion_count; i++) {
		const struct proved_promotion *at = &p->promotions[i];
		struct result_values *one = result_group(r, list, NULL);
		result_text(r, one, "level", level_word(at->level));
		result_flag(r, one, "complete", at->complete);
		struct result_values *sets = result_list(r, one, "sets");
		for (uint32_t k = 0; k < at->set_count; k++)
			add_reads(r, sets, &at->sets[k]);
		name_promotion(note, at);
	}
}
