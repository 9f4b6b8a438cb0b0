#include "cli/options.h"

#include <assert.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "base/level_words.h"
#include "base/memory.h"
#include "cli/output.h"

const struct option_entry option_table[OPTION_COUNT] = {
#define X(id, in, word, letter, argument, choices, help) \
	{ in, word, letter, argument, choices, help },
	OPTION_TABLE(X)
#undef X
};

const struct command_entry command_table[COMMAND_COUNT] = {
#define X(id, word, operands, summary) { #word, operands, summary },
	COMMAND_TABLE(X)
#undef X
};

bool option_alone(const struct option_entry *o)
{
	return !o->argument || o->argument[0] == '[';
}

enum command command_from_word(const char *word)
{
	int c = 0;
	while (c < COMMAND_COUNT && strcmp(command_table[c].word, word)) c++;
	return (enum command)c;
}

const char *command_nearest(const char *word)
{
	const char *words[COMMAND_COUNT];
	for (int c = 0; c < COMMAND_COUNT; c++)
		words[c] = command_table[c].word;
	return diag_nearest(word, words, COMMAND_COUNT);
}

static bool belongs(int option, enum command c)
{
	assert(option >= 0 && option < OPTION_COUNT && c < COMMAND_COUNT);
	return option_table[option].commands >> c & 1;
}

static void say_where_help_is(enum command c)
{
	if (c == COMMAND_SERVE)
		say("options of the command that is served stand behind '--': "
		    "isoscope serve -- COMMAND");
	say("see 'isoscope %s --help'", command_table[c].word);
}

static void unknown_option(enum command c, const char *word)
{
	const char *words[OPTION_COUNT];
	size_t n = 0;
	for (int o = 0; o < OPTION_COUNT; o++)
		if (belongs(o, c)) words[n++] = option_table[o].word;
	const char *meant = diag_nearest(word, words, n);
	if (meant)
		say("'%s' has no option '--%s'; did you mean '--%s'?",
		    command_table[c].word, word, meant);
	else
		say("'%s' has no option '--%s'", command_table[c].word, word);
	say_where_help_is(c);
}

static bool chooses(const char *word, const char *choice)
{
	size_t length = strlen(choice);
	assert(length > 0);
	if (choice[length - 1] == '=') return !strncmp(word, choice, length);
	return !strcmp(word, choice);
}

/* The word is one of the choices, or the nearest one is suggested. */
static bool is_choice(const char *option, const char *word, const char *choices)
{
	enum { MOST = 32 };
	char copy[512];
	const char *words[MOST];
	size_t n = 0;
	assert(strlen(choices) < sizeof copy);
	strcpy(copy, choices);
	char *rest = copy, *next;
	while ((next = strtok_r(rest, " ", &rest)) && n < MOST) {
		if (chooses(word, next)) return true;
		words[n++] = next;
		assert(n <= MOST);
	}
	const char *missing = level_missing(word);
	if (missing) {
		say("%s: no isolation level is that of '%s': %s", option, word,
		    missing);
		return false;
	}
	const char *meant = diag_nearest(word, words, n);
	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(words[i], word)) meant = words[i];
	struct text list = { 0 };
	for (size_t i = 0; i < n; i++) {
		if (i) text_string(&list, i + 1 < n ? ", " : " or ");
		text_string(&list, words[i]);
	}
	if (meant)
		say("%s takes %s, not '%s'; did you mean '%s'?", option,
		    text_get(&list), word, meant);
	else
		say("%s takes %s, not '%s'", option, text_get(&list), word);
	text_free(&list);
	return false;
}

static void note_spelling(struct command_line *c, int option, char letter)
{
	char *to = c->spelling[option];
	int n = letter ? snprintf(to, OPTION_SPELLING, "-%c", letter)
	               : snprintf(to, OPTION_SPELLING, "--%s",
	                          option_table[option].word);
	assert(n > 0 && n < OPTION_SPELLING);
}

static void add_value(const char ***list, const char *value)
{
	size_t n = 0;
	while (*list && (*list)[n]) n++;
	*list = mem_grow(*list, n + 2, sizeof **list);
	(*list)[n] = value;
	(*list)[n + 1] = NULL;
}

/* Sets an option. `joined` is what stands behind '=' or the letter, or NULL;
 * `next` the following argument, or NULL. *used tells if that was taken. */
static bool set_option(struct command_line *c, int option, const char *joined,
                       const char *next, bool *used)
{
	const struct option_entry *o = &option_table[option];
	const char *spelling = c->spelling[option];
	*used = false;
	assert(belongs(option, c->command));
	if (!o->argument && joined) {
		say("%s takes no argument", spelling);
		return false;
	}
	if (!joined && option_alone(o)) {
		joined = "";
	} else if (!joined) {
		if (!next) {
			say("%s needs an argument: %s %s", spelling, spelling,
			    o->argument);
			return false;
		}
		joined = next;
		*used = true;
	}
	bool mix = option == OPTION_LEVEL && strchr(joined, '+');
	if (o->choices && !mix && !is_choice(spelling, joined, o->choices))
		return false;
	if (o->argument && !strcmp(o->argument, "FILE") && !*joined) {
		say("%s needs the name of a file", spelling);
		return false;
	}
	c->value[option] = joined;
	if (option == OPTION_SESSION) add_value(&c->sessions, joined);
	if (option == OPTION_ASSERT) add_value(&c->asserts, joined);
	return true;
}

static bool read_long(struct command_line *c, const char *word,
                      const char *next, bool *used)
{
	size_t length = strcspn(word, "=");
	const char *joined = word[length] ? word + length + 1 : NULL;
	for (int o = 0; o < OPTION_COUNT; o++)
		if (belongs(o, c->command) &&
		    strlen(option_table[o].word) == length &&
		    !memcmp(option_table[o].word, word, length)) {
			note_spelling(c, o, '\0');
			return set_option(c, o, joined, next, used);
		}
	char *name = mem_copy_string(word);
	name[length] = '\0';
	unknown_option(c->command, name);
	free(name);
	return false;
}

/* Letters may be joined: -qi cc, -icc. */
static bool read_letters(struct command_line *c, const char *letters,
                         const char *next, bool *used)
{
	for (; *letters; letters++) {
		int o = 0;
		while (o < OPTION_COUNT &&
		       !(belongs(o, c->command) &&
		         option_table[o].letter == *letters))
			o++;
		if (o == OPTION_COUNT) {
			say("'%s' has no option '-%c'",
			    command_table[c->command].word, *letters);
			say_where_help_is(c->command);
			return false;
		}
		note_spelling(c, o, *letters);
		bool takes = !option_alone(&option_table[o]);
		const char *joined = takes && letters[1] ? letters + 1 : NULL;
		if (!set_option(c, o, joined, next, used)) return false;
		if (takes) return true;
	}
	return true;
}

bool command_line_read(struct command_line *c, enum command command, int count,
                       char **arguments)
{
	*c = (struct command_line){ .command = command };
	c->operands = mem_take0((size_t)count + 1, sizeof *c->operands);
	bool only_operands = false;
	for (int i = 0; i < count; i++) {
		const char *a = arguments[i];
		const char *next = i + 1 < count ? arguments[i + 1] : NULL;
		bool used = false, fine = true;
		assert(c->operand_count <= (size_t)i);
		if (only_operands || a[0] != '-' || !a[1])
			c->operands[c->operand_count++] = a;
		else if (!strcmp(a, "--"))
			only_operands = true;
		else if (a[1] == '-')
			fine = read_long(c, a + 2, next, &used);
		else
			fine = read_letters(c, a + 1, next, &used);
		if (!fine) return false;
		i += used;
	}
	return true;
}

/* ---- and back to words ---- */

static void add_argument(struct text *t, const char *word)
{
	text_char(t, ' ');
	text_shell_word(t, word);
}

static void add_option(struct text *t, const struct command_line *c, int option,
                       const char *value)
{
	const struct option_entry *o = &option_table[option];
	struct text both = { 0 };
	text_string(&both, c->spelling[option]);
	if (o->argument && o->argument[0] == '[' && *value)
		text_format(&both, "=%s", value);
	add_argument(t, text_get(&both));
	text_free(&both);
	if (!option_alone(o)) add_argument(t, value);
}

/* Does it only say where the result goes, how it looks, and how fast? */
static bool says_nothing(int option)
{
	static const enum option_id all[] = {
		OPTION_JSON,   OPTION_DOT,   OPTION_SVG,      OPTION_HTML,
		OPTION_SARIF,  OPTION_JUNIT, OPTION_TAP,      OPTION_GITHUB,
		OPTION_QUIET,  OPTION_COLOR, OPTION_NO_COLOR, OPTION_HISTORIES,
		OPTION_SORTED, OPTION_JOBS,  OPTION_CLIENT,   OPTION_WATCH,
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] == (enum option_id)option) return true;
	return false;
}

static void add_operands(struct text *t, const struct command_line *c)
{
	for (size_t i = 0; i < c->operand_count; i++)
		add_argument(t, c->operands[i]);
}

/* Are they a command with options of its own, or look like options? */
static bool operands_stand_behind(const struct command_line *c)
{
	bool behind = c->command == COMMAND_SERVE;
	for (size_t i = 0; i < c->operand_count && !behind; i++)
		behind = c->operands[i][0] == '-' && c->operands[i][1];
	return behind && c->operand_count;
}

void command_line_say(const struct command_line *c, struct text *t)
{
	bool behind = operands_stand_behind(c);
	text_format(t, "isoscope %s", command_table[c->command].word);
	if (!behind) add_operands(t, c);
	for (int o = 0; o < OPTION_COUNT; o++) {
		const char **all = o == OPTION_SESSION  ? c->sessions
		                   : o == OPTION_ASSERT ? c->asserts
		                                        : NULL;
		if (!c->value[o] || says_nothing(o)) continue;
		if (!all) add_option(t, c, o, c->value[o]);
		for (; all && *all; all++) add_option(t, c, o, *all);
	}
	if (!behind) return;
	text_string(t, " --");
	add_operands(t, c);
}

void command_line_free(struct command_line *c)
{
	free(c->operands);
	free(c->sessions);
	free(c->asserts);
}
