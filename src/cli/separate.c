#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "result/separated.h"

static bool read_side(const char *words, unsigned *out)
{
	struct text why = { 0 };
	bool fine = levels_read(words, out, &why);
	if (!fine) say("%s: %s", words, text_get(&why));
	text_free(&why);
	return fine;
}

static bool read_size(const struct command_line *c, enum option_id option,
                      uint32_t *out)
{
	uint64_t n = *out;
	if (!setting_count(c, option, &n)) return false;
	*out = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	return true;
}

static bool is_possible(const struct separate_options *o)
{
	struct text why = { 0 };
	bool possible = separate_possible(o, &why);
	if (!possible) say("%s", text_get(&why));
	text_free(&why);
	return possible;
}

static bool settings(const struct command_line *c, struct separate_options *o)
{
	if (c->operand_count != 2) {
		say("separate takes two levels, not %zu: isoscope separate si "
		    "ser",
		    c->operand_count);
		return false;
	}
	for (int i = 0; i < 2; i++)
		if (!read_side(c->operands[i], &o->sides[i])) return false;
	o->max_transactions = SEPARATE_TRANSACTIONS;
	o->max_events = SEPARATE_EVENTS;
	o->locks = c->value[OPTION_LOCKS];
	o->statements = c->value[OPTION_STATEMENTS];
	return read_size(c, OPTION_SMALL_TRANSACTIONS, &o->max_transactions) &&
	       read_size(c, OPTION_SMALL_EVENTS, &o->max_events) &&
	       setting_seconds(c, OPTION_TIMEOUT, &o->timeout) &&
	       is_possible(o) && outputs_fit(c, "level") &&
	       pictures_possible(c);
}

int separate_main(const struct command_line *c)
{
	struct separate_options o = { 0 };
	struct separated found;
	if (!settings(c, &o)) return EXIT_USAGE;
	signals_catch();
	o.interrupt = signals_flag();
	separate(&found, &o);
	struct result *r = result_of_separation(&found);
	bool fine = outputs_result(c, r,
	                           "no history tells them apart, so nothing "
	                           "was drawn");
	int code = fine ? exit_code_of(r->verdict) : EXIT_INTERNAL;
	result_free(r);
	separated_free(&found);
	return code;
}
