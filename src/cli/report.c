/* report: a saved result in another form. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/reports.h"

enum { RESULT_MOST = 256 << 20 }; /* bytes */

/* The whole file; false, after saying why, if it cannot be had. */
static bool read_result(const char *path, struct text *out)
{
	char part[1 << 16];
	size_t n;
	FILE *f = is_standard(path) ? stdin : fopen(path, "rbe");
	errno = f ? 0 : errno;
	while (f && out->length <= RESULT_MOST &&
	       (n = fread(part, 1, sizeof part, f)) > 0)
		text_bytes(out, part, n);
	bool fine = f && !ferror(f);
	assert(f || errno);
	if (!fine)
		say("cannot read %s: %s", path, strerror(errno));
	else if (out->length > RESULT_MOST)
		say("%s is larger than 256 MiB", path);
	if (f && f != stdin) fclose(f);
	return fine && out->length <= RESULT_MOST;
}

int report_main(const struct command_line *c)
{
	struct text json = { 0 };
	if (c->operand_count != 1) {
		say("report needs one saved result: isoscope report "
		    "RESULT.json --html FILE");
		return EXIT_USAGE;
	}
	if (!reports_wanted(c)) {
		say("say in which form: --html FILE, --sarif FILE, "
		    "--junit FILE, --tap or --github");
		return EXIT_USAGE;
	}
	if (!outputs_fit(c, "result")) return EXIT_USAGE;
	bool fine = read_result(c->operands[0], &json) &&
	            reports_convert(c, c->operands[0], &json);
	text_free(&json);
	return fine ? EXIT_HOLDS : EXIT_INPUT;
}
