/* help --json: all commands and options, for programs. */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "formats/formats.h"
#include "isoscope.h"

/* Words with blanks between, as a list. */
static void add_choices(struct json *j, const char *choices)
{
	struct text word = { 0 };
	json_open(j, "choices", '[');
	while (*choices) {
		size_t n = strcspn(choices, " ");
		text_bytes(&word, choices, n);
		if (n) json_taken(j, NULL, &word);
		choices += n + (choices[n] == ' ');
	}
	json_close(j);
	text_free(&word);
}

static void add_option(struct json *j, const struct option_entry *o)
{
	char letter[2] = { o->letter, '\0' };
	assert(o->word && o->help);
	json_open(j, NULL, '{');
	json_text(j, "option", o->word);
	json_text(j, "letter", o->letter ? letter : NULL);
	json_text(j, "argument", o->argument);
	if (o->choices) add_choices(j, o->choices);
	json_text(j, "help", o->help);
	json_close(j);
}

static void add_command(struct json *j, int c)
{
	json_open(j, NULL, '{');
	json_text(j, "command", command_table[c].word);
	json_text(j, "operands", command_table[c].operands);
	json_text(j, "summary", command_table[c].summary);
	json_open(j, "options", '[');
	for (int o = 0; o < OPTION_COUNT; o++)
		if (option_table[o].commands >> c & 1)
			add_option(j, &option_table[o]);
	json_close(j);
	json_close(j);
}

static void add_levels(struct json *j)
{
	json_open(j, "levels", '[');
	for (int l = 0; l < LEVEL_COUNT; l++) {
		json_open(j, NULL, '{');
		json_text(j, "level", level_word((enum level)l));
		json_text(j, "name", level_name((enum level)l));
		json_close(j);
	}
	json_close(j);
}

static void add_exit_codes(struct json *j)
{
	json_open(j, "exit_codes", '[');
#define X(id, number, meaning)            \
	json_open(j, NULL, '{');          \
	json_count(j, "code", number);    \
	json_text(j, "meaning", meaning); \
	json_close(j);
	EXIT_CODE_TABLE(X)
#undef X
	json_close(j);
}

void generate_json(struct text *t)
{
	struct json j = json_to(t);
	json_open(&j, NULL, '{');
	json_text(&j, "isoscope", iso_version());
	json_open(&j, "commands", '[');
	for (int c = 0; c < COMMAND_COUNT; c++) add_command(&j, c);
	json_close(&j);
	add_levels(&j);
	json_open(&j, "formats", '[');
	for (int f = 0; f < FORMAT_COUNT; f++)
		json_text(&j, NULL, format_word((enum format)f));
	json_close(&j);
	add_exit_codes(&j);
	json_close(&j);
	text_char(t, '\n');
}
