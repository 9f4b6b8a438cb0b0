/* Uses each part of isoscope.h as a program of somebody else would, and
 * compares what it finds with what isoscope prints for the same input.
 *
 *     api_program ISOSCOPE histories FILE...
 *     api_program ISOSCOPE programs FILE...
 *     api_program ISOSCOPE parts FILE...
 *     api_program ISOSCOPE clients FILE...
 *     api_program ISOSCOPE generated
 *     api_program ISOSCOPE memory
 *     api_program ISOSCOPE mistakes FILE PROGRAM
 *
 * It is C and C++ at once.
 */
#include <string.h>

#include "api_support.h"

int main(int count, char **arguments)
{
	if (count < 3) return 99;
	api_begin(arguments[1]);
	const char *what = arguments[2];
	expect(!strcmp(iso_version(), ISO_VERSION), "the version", ISO_VERSION);
	if (!strcmp(what, "generated")) use_generated();
	if (!strcmp(what, "memory")) use_too_little();
	if (!strcmp(what, "mistakes") && count == 5)
		use_wrongly(arguments[3], arguments[4]);
	for (int i = 3; i < count; i++) {
		if (!strcmp(what, "histories")) use_history(arguments[i]);
		if (!strcmp(what, "programs")) use_program(arguments[i]);
		if (!strcmp(what, "parts")) use_parts(arguments[i]);
		if (!strcmp(what, "clients")) use_client(arguments[i]);
	}
	return api_end();
}
