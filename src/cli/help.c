#include "cli/help.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/exit_codes.h"
#include "cli/output.h"
#include "formats/formats.h"
#include "isoscope.h"

enum { HELP_COLUMN = 29, HELP_WIDTH = 79 };

/* Words from the current column on, broken into lines that begin there. */
static void print_wrapped(struct text *t, const char *words, size_t column)
{
	assert(column < HELP_WIDTH);
	size_t at = column;
	while (*words) {
		size_t length = strcspn(words, " ");
		if (at > column && at + 1 + length > HELP_WIDTH) {
			text_char(t, '\n');
			text_pad(t, ' ', column);
			at = column;
		} else if (at > column) {
			text_char(t, ' ');
			at++;
		}
		text_bytes(t, words, length);
		at += length;
		words += length;
		words += strspn(words, " ");
	}
	text_char(t, '\n');
}

/* "-i, --isolation LEVEL" */
static void option_words(struct text *t, const struct option_entry *o)
{
	if (o->letter) text_format(t, "-%c, ", o->letter);
	text_format(t, "--%s", o->word);
	if (!option_alone(o)) text_char(t, ' ');
	if (o->argument) text_string(t, o->argument);
}

static void print_option(struct text *t, const struct option_entry *o)
{
	struct text words = { 0 };
	option_words(&words, o);
	text_string(t, o->letter ? "  " : "      ");
	text_string(t, text_get(&words));
	size_t used = words.length + (o->letter ? 2 : 6);
	assert(words.length && *o->help);
	if (used + 2 > HELP_COLUMN) {
		text_char(t, '\n');
		used = 0;
	}
	text_pad(t, ' ', HELP_COLUMN - used);
	print_wrapped(t, o->help, HELP_COLUMN);
	text_free(&words);
}

static void print_levels(struct text *t)
{
	text_string(t, "\nIsolation levels, weakest first:\n");
	for (int l = 0; l < LEVEL_COUNT; l++)
		text_format(t, "  %-5s %s\n", level_word((enum level)l),
		            level_name((enum level)l));
	text_string(t, "\nNames that databases have for them:\n");
	for (const struct deployment *d = deployments(); d->name; d++)
		text_format(t, "  %-5s %s\n", d->level, d->name);
}

static void print_formats(struct text *t)
{
	text_string(t, "\nFormats of histories:\n");
	for (int f = 0; f < FORMAT_COUNT; f++) {
		text_format(t, "  %-13s  ", format_word((enum format)f));
		print_wrapped(t, format_description((enum format)f), 17);
	}
}

static void print_exit_codes(struct text *t)
{
	static const struct {
		int code;
		const char *meaning;
	} codes[] = {
#define X(id, code, meaning) { code, meaning },
		EXIT_CODE_TABLE(X)
#undef X
	};
	text_string(t, "\nExit codes:\n");
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		text_format(t, "  %2d  ", codes[i].code);
		print_wrapped(t, codes[i].meaning, 6);
	}
}

static int print(struct text *t)
{
	bool fine = output_text(stdout, "-", t);
	text_free(t);
	return fine ? EXIT_HOLDS : EXIT_INTERNAL;
}

/* What stands behind the options of the larger commands. */
static void print_more(struct text *t, enum command c)
{
	static const unsigned histories = IN_CHECK | IN_CONVERT | IN_PREDICT;
	static const unsigned made = IN_GENERATE | IN_RECORD;
	unsigned in = 1u << c;
	if (in & IN_RUNNING)
		text_string(t, "\nPROGRAM is written in isoscope's language "
		               "(cart.tx) or in SQL (cart.spec,\ncart.sql), or "
		               "it is a shared object with sessions in C "
		               "(client.so).\n");
	if (in & histories)
		text_string(t, "\nHISTORY may be '-' for the standard input, "
		               "or a folder (cobra).\n");
	if (in & (IN_DRAWING | IN_SHOWING))
		text_string(t, "\nFILE may be '-' for the standard output; "
		               "the result in words then goes to\n"
		               "the standard error.\n");
	if (in & IN_REPORTING) print_levels(t);
	if (in & (histories | made)) print_formats(t);
	if (in & (IN_REPORTING | IN_CONVERT | IN_RECORD)) print_exit_codes(t);
}

int help_command(enum command c)
{
	assert(c < COMMAND_COUNT);
	const struct command_entry *entry = &command_table[c];
	struct text t = { 0 };
	text_format(&t, "usage: isoscope %s [OPTION...]%s%s\n\n", entry->word,
	            *entry->operands ? " " : "", entry->operands);
	text_format(&t, "isoscope %s: %s.\n\n", entry->word, entry->summary);
	for (int o = 0; o < OPTION_COUNT; o++)
		if (option_table[o].commands >> c & 1)
			print_option(&t, &option_table[o]);
	print_more(&t, c);
	return print(&t);
}

static int help_overview(void)
{
	struct text t = { 0 };
	text_string(&t,
	            "isoscope shows every history of a transactional program "
	            "under an isolation\nlevel, each exactly once, and what "
	            "goes wrong in them; it also says which levels\n"
	            "recorded histories satisfy.\n\n"
	            "usage: isoscope COMMAND [OPTION...] [FILE...]\n\n"
	            "Commands:\n");
	for (int c = 0; c < COMMAND_COUNT; c++)
		text_format(&t, "  %-9s %-12s %s\n", command_table[c].word,
		            command_table[c].operands,
		            command_table[c].summary);
	text_string(&t, "\n'isoscope help COMMAND' lists a command's options. "
	                "For a first look:\n\n"
	                "  isoscope explore programs/examples/last-seat.tx "
	                "--isolation cc\n");
	print_levels(&t);
	return print(&t);
}

int help_main(const struct command_line *c)
{
	struct text t = { 0 };
	const char *shell = c->value[OPTION_COMPLETION];
	if (c->value[OPTION_MAN] || shell) {
		if (c->value[OPTION_MAN])
			generate_man(&t);
		else if (!strcmp(shell, "bash"))
			generate_bash(&t);
		else
			generate_zsh(&t);
		return print(&t);
	}
	if (c->value[OPTION_HELP_JSON]) {
		generate_json(&t);
		return print(&t);
	}
	if (!c->operand_count) return help_overview();
	enum command command = command_from_word(c->operands[0]);
	if (command != COMMAND_COUNT) return help_command(command);
	const char *meant = command_nearest(c->operands[0]);
	if (meant)
		say("there is no command '%s'; did you mean '%s'?",
		    c->operands[0], meant);
	else
		say("there is no command '%s'", c->operands[0]);
	return EXIT_USAGE;
}

int version_main(const struct command_line *c)
{
	struct text t = { 0 };
	if (c->operand_count) {
		say("'version' takes no operand");
		return EXIT_USAGE;
	}
	text_format(&t, "isoscope %s\n", iso_version());
	return print(&t);
}
