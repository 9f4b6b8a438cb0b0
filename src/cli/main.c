/* isoscope: the program. Finds the command and hands over. */
#include <assert.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reports.h"

static int unknown_command(const char *word)
{
	const char *meant = command_nearest(word);
	size_t length = strlen(word);
	if (length > 3 && !strcmp(word + length - 3, ".tx"))
		say("'%s' is not a command; did you mean 'isoscope explore "
		    "%s'?",
		    word, word);
	else if (meant)
		say("there is no command '%s'; did you mean '%s'?", word,
		    meant);
	else
		say("there is no command '%s'", word);
	say("see 'isoscope --help'");
	return EXIT_USAGE;
}

static int run(enum command command, int count, char **arguments)
{
	struct command_line c;
	struct said said = { 0 };
	int code = EXIT_USAGE;
	assert(command < COMMAND_COUNT && count >= 0);
	if (command_line_read(&c, command, count, arguments)) {
		c.said = &said;
		if (c.value[OPTION_HELP] && command != COMMAND_HELP) {
			code = help_command(command);
		} else {
			switch (command) {
#define X(id, word, operands, summary) \
	case COMMAND_##id: code = word##_main(&c); break;
				COMMAND_TABLE(X)
#undef X
			case COMMAND_COUNT: break;
			}
		}
	}
	if (code == EXIT_INPUT) code = command_end(&c, code);
	command_line_free(&c);
	diags_free(&said.errors);
	return code;
}

/* A standard stream that the caller closed must not become the number of a
 * file that is opened later: results would go there. */
static void keep_standard_streams(void)
{
	for (int file = 0; file < 3; file++)
		if (fcntl(file, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			_exit(EXIT_INTERNAL);
}

int main(int count, char **arguments)
{
	keep_standard_streams();
	/* A write to a closed pipe is an error that gets a message. */
	signal(SIGPIPE, SIG_IGN);
	/* How wide characters are is known for UTF-8, which all text is in. */
	if (!setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, "");
	if (count < 2) {
		fputs("usage: isoscope COMMAND [OPTION...] [FILE...]\n"
		      "       isoscope explore PROGRAM -i LEVEL\n"
		      "       isoscope check HISTORY\n"
		      "       isoscope --help\n",
		      stderr);
		return EXIT_USAGE;
	}
	const char *word = arguments[1];
	if (!strcmp(word, "--help") || !strcmp(word, "-h")) word = "help";
	if (!strcmp(word, "--version")) word = "version";
	enum command command = command_from_word(word);
	if (command == COMMAND_COUNT) {
		if (*word != '-') return unknown_command(word);
		say("options come after the command: isoscope COMMAND %s",
		    word);
		say("see 'isoscope --help'");
		return EXIT_USAGE;
	}
	return run(command, count - 2, arguments + 2);
}
