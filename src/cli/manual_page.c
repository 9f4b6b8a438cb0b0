/* The manual page and the completions of the shells, from the tables. */
#include "cli/help.h"

#include <assert.h>
#include <string.h>

#include "cli/exit_codes.h"
#include "formats/formats.h"
#include "isoscope.h"

/* ---- roff ---- */

/* Text as roff: hyphens that are typed, no line taken for a request. */
static void roff(struct text *t, const char *words)
{
	if (*words == '.' || *words == '\'') text_string(t, "\\&");
	for (; *words; words++) {
		if (*words == '-')
			text_string(t, "\\-");
		else if (*words == '\\')
			text_string(t, "\\e");
		else
			text_char(t, *words);
	}
}

static void man_option(struct text *t, const struct option_entry *o)
{
	assert(*o->word && *o->help);
	text_string(t, ".TP\n");
	if (o->letter) text_format(t, "\\fB\\-%c\\fR, ", o->letter);
	text_string(t, "\\fB\\-\\-");
	roff(t, o->word);
	text_string(t, "\\fR");
	if (o->argument) {
		text_format(t, "%s\\fI", option_alone(o) ? "" : " ");
		roff(t, o->argument);
		text_string(t, "\\fR");
	}
	text_char(t, '\n');
	roff(t, o->help);
	text_string(t, ".\n");
}

static void man_command(struct text *t, int c)
{
	assert(c >= 0 && c < COMMAND_COUNT);
	const struct command_entry *entry = &command_table[c];
	assert(entry->summary[0] >= 'a' && entry->summary[0] <= 'z');
	text_format(t, ".SS isoscope %s %s\n", entry->word, entry->operands);
	text_char(t, (char)(entry->summary[0] - 'a' + 'A'));
	roff(t, entry->summary + 1);
	text_string(t, ".\n");
	for (int o = 0; o < OPTION_COUNT; o++)
		if (option_table[o].commands >> c & 1 && o != OPTION_HELP)
			man_option(t, &option_table[o]);
}

static void man_tables(struct text *t)
{
	text_string(t, ".SH ISOLATION LEVELS\n");
	for (int l = 0; l < LEVEL_COUNT; l++)
		text_format(t, ".TP\n.B %s\n%s\n", level_word((enum level)l),
		            level_name((enum level)l));
	text_string(t, ".PP\nNames that databases have for them:\n");
	for (const struct deployment *d = deployments(); d->name; d++) {
		text_string(t, ".TP\n.B ");
		roff(t, d->name);
		text_format(t, "\n%s\n", d->level);
	}
	text_string(t, ".SH FORMATS OF HISTORIES\n");
	for (int f = 0; f < FORMAT_COUNT; f++) {
		text_string(t, ".TP\n.B ");
		roff(t, format_word((enum format)f));
		text_char(t, '\n');
		roff(t, format_description((enum format)f));
		text_char(t, '\n');
	}
	text_string(t, ".SH EXIT STATUS\n");
#define X(id, code, meaning)                  \
	text_format(t, ".TP\n.B %d\n", code); \
	roff(t, meaning);                     \
	text_char(t, '\n');
	EXIT_CODE_TABLE(X)
#undef X
}

void generate_man(struct text *t)
{
	text_format(t,
	            ".TH ISOSCOPE 1 \"\" \"isoscope %s\" "
	            "\"User Commands\"\n",
	            ISO_VERSION);
	text_string(t,
	            ".SH NAME\n"
	            "isoscope \\- every history of a transactional program "
	            "under an isolation level\n"
	            ".SH SYNOPSIS\n"
	            ".B isoscope\n"
	            ".I COMMAND\n"
	            "[\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n"
	            ".SH DESCRIPTION\n"
	            "isoscope reads a small program: shared state, the "
	            "transactions on it, the sessions that run them, and what "
	            "must hold. It is written in isoscope's language "
	            "(cart.tx), in SQL (cart.spec, cart.sql), or in C with "
	            "<isoscope/client.h>, compiled as a shared object "
	            "(client.so). isoscope enumerates every history that a "
	            "database "
	            "with the given isolation level may produce, each exactly "
	            "once, and reports those in which an assertion fails.\n"
	            ".PP\n"
	            "It also reads recorded histories, its own or those of "
	            "database tests, says which isolation levels they satisfy, "
	            "and shows for the others a small part of the history that "
	            "violates them.\n"
	            ".PP\n"
	            "A \\fIFILE\\fR to be written may be \\fB\\-\\fR for the "
	            "standard output; the result in words then goes to the "
	            "standard error. The first SIGINT or SIGTERM ends the work "
	            "with a partial result, a second one ends the program.\n"
	            ".SH COMMANDS\n");
	for (int c = 0; c < COMMAND_COUNT; c++) man_command(t, c);
	man_tables(t);
	text_string(t,
	            ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\n"
	            "when set and not empty, no colours are used unless asked "
	            "for by \\-\\-color=always\n"
	            ".SH EXAMPLES\n.nf\n"
	            "isoscope explore programs/examples/last\\-seat.tx "
	            "\\-i cc\n"
	            "isoscope explore cart.tx \\-\\-levels\n"
	            "isoscope explore large.tx \\-\\-estimate\n"
	            "isoscope explore large.tx \\-\\-checkpoint "
	            "large.json\n"
	            "isoscope explore \\-\\-resume large.json\n"
	            "cc \\-g \\-shared \\-fPIC \\-o client.so client.c\n"
	            "isoscope explore client.so \\-i si\n"
	            "isoscope explore cart.tx \\-i si \\-\\-robust "
	            "\\-\\-svg cart.svg\n"
	            "isoscope check history.edn\n"
	            "isoscope check \\-i si history.edn\n"
	            "isoscope convert history.edn \\-\\-to plume "
	            "\\-o history.txt\n"
	            ".fi\n");
}

/* ---- bash ---- */

/* Operands are files of any name, not programs. */
static bool takes_histories(int c)
{
	return 1u << c & (IN_CHECK | IN_CONVERT | IN_PREDICT);
}

static void bash_command(struct text *t, int c)
{
	assert(c >= 0 && c < COMMAND_COUNT);
	text_format(t, "\t%s) options='", command_table[c].word);
	bool first = true;
	for (int o = 0; o < OPTION_COUNT; o++) {
		if (!(option_table[o].commands >> c & 1)) continue;
		text_format(t, "%s--%s", first ? "" : " ",
		            option_table[o].word);
		first = false;
	}
	text_format(t, "'%s ;;\n", takes_histories(c) ? " endings=" : "");
}

/* What may follow an option that takes an argument. */
static void bash_arguments(struct text *t)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option_entry *o = &option_table[i];
		if (option_alone(o)) continue;
		text_string(t, "\t");
		if (o->letter) text_format(t, "-%c|", o->letter);
		text_format(t, "--%s) ", o->word);
		if (o->choices)
			text_format(t,
			            "COMPREPLY=($(compgen -W '%s' -- "
			            "\"$word\")); return ;;\n",
			            o->choices);
		else if (!strcmp(o->argument, "FILE"))
			text_string(t, "COMPREPLY=($(compgen -f -- "
			               "\"$word\")); return ;;\n");
		else
			text_string(t, "return ;;\n");
	}
}

void generate_bash(struct text *t)
{
	text_string(t,
	            "# bash completion of isoscope\n"
	            "_isoscope()\n{\n"
	            "\tlocal word=\"${COMP_WORDS[COMP_CWORD]}\"\n"
	            "\tlocal before=\"${COMP_WORDS[COMP_CWORD-1]}\" options\n"
	            "\tlocal endings='.tx .spec .sql .so' ending\n"
	            "\tif ((COMP_CWORD == 1)); then\n"
	            "\t\tCOMPREPLY=($(compgen -W '");
	for (int c = 0; c < COMMAND_COUNT; c++)
		text_format(t, "%s ", command_table[c].word);
	text_string(t, "--help --version' -- \"$word\"))\n"
	               "\t\treturn\n\tfi\n"
	               "\tif [[ $word == = ]]; then word=; fi\n"
	               "\tif [[ $before == = ]]; then\n"
	               "\t\tbefore=\"${COMP_WORDS[COMP_CWORD-2]}\"\n\tfi\n"
	               "\tcase $before in\n");
	bash_arguments(t);
	text_string(t, "\tesac\n\tcase ${COMP_WORDS[1]} in\n");
	for (int c = 0; c < COMMAND_COUNT; c++) bash_command(t, c);
	text_string(t,
	            "\tesac\n"
	            "\tif [[ $word == -* ]]; then\n"
	            "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
	            "\telse\n"
	            "\t\tCOMPREPLY=($(for ending in ${endings:-''}; do\n"
	            "\t\t\tcompgen -f -X \"!*$ending\" -- \"$word\"; done\n"
	            "\t\t\tcompgen -d -S / -- \"$word\"))\n"
	            "\t\t[[ ${COMPREPLY[0]} == */ ]] && compopt -o nospace\n"
	            "\tfi\n}\n"
	            "complete -o filenames -F _isoscope isoscope\n");
}

/* ---- zsh ---- */

/* Text inside '...[...]': quotes, brackets and colons mean something. */
static void zsh_words(struct text *t, const char *words)
{
	for (; *words; words++) {
		if (*words == '\'') {
			text_string(t, "'\\''");
			continue;
		}
		if (strchr("[]:\\", *words)) text_char(t, '\\');
		text_char(t, *words);
	}
}

static void zsh_spec(struct text *t, const struct option_entry *o)
{
	text_char(t, '[');
	zsh_words(t, o->help);
	text_char(t, ']');
	if (o->argument) {
		text_string(t, option_alone(o) ? "::" : ":");
		zsh_words(t, o->argument);
		text_char(t, ':');
		if (o->choices) {
			size_t length = strlen(o->choices);
			assert(length);
			while (length && o->choices[length - 1] == ' ')
				length--;
			text_char(t, '(');
			text_bytes(t, o->choices, length);
			text_char(t, ')');
		} else if (!strcmp(o->argument, "FILE")) {
			text_string(t, "_files");
		}
	}
	text_string(t, "' \\\n");
}

static void zsh_option(struct text *t, const struct option_entry *o)
{
	if (o->letter) {
		text_format(t, "\t\t\t'-%c", o->letter);
		zsh_spec(t, o);
	}
	text_format(t, "\t\t\t'--%s%s", o->word,
	            !o->argument      ? ""
	            : option_alone(o) ? "=-"
	                              : "=");
	zsh_spec(t, o);
}

static void zsh_commands(struct text *t)
{
	text_string(t, "\t\t\t'1:command:(");
	for (int c = 0; c < COMMAND_COUNT; c++)
		text_format(t, "%s%s", c ? " " : "", command_table[c].word);
	text_string(t, ")'");
}

static void zsh_command(struct text *t, int c)
{
	assert(c >= 0 && c < COMMAND_COUNT);
	text_format(t, "\t%s)\n\t\t_arguments \\\n", command_table[c].word);
	for (int o = 0; o < OPTION_COUNT; o++)
		if (option_table[o].commands >> c & 1)
			zsh_option(t, &option_table[o]);
	if (c == COMMAND_HELP)
		zsh_commands(t);
	else if (!*command_table[c].operands)
		text_string(t, "\t\t\t'1: :'");
	else if (takes_histories(c))
		text_string(t, "\t\t\t'*:history:_files'");
	else
		text_string(t, "\t\t\t'*:program:_files -g "
		               "\"*.(tx|spec|sql|so)\"'");
	text_string(t, " ;;\n");
}

void generate_zsh(struct text *t)
{
	text_string(t, "#compdef isoscope\n"
	               "# zsh completion of isoscope\n"
	               "_isoscope() {\n"
	               "\tif ((CURRENT == 2)); then\n"
	               "\t\tlocal -a commands=(\n");
	for (int c = 0; c < COMMAND_COUNT; c++) {
		text_format(t, "\t\t\t'%s:", command_table[c].word);
		zsh_words(t, command_table[c].summary);
		text_string(t, "'\n");
	}
	text_string(t, "\t\t)\n"
	               "\t\t_describe command commands\n"
	               "\t\treturn\n\tfi\n"
	               "\tlocal command=$words[2]\n"
	               "\tshift words\n"
	               "\t((CURRENT--))\n"
	               "\tcase $command in\n");
	for (int c = 0; c < COMMAND_COUNT; c++) zsh_command(t, c);
	text_string(t, "\tesac\n}\n_isoscope \"$@\"\n");
}
