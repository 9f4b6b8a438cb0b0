#include "api_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static const char *isoscope;

void api_begin(const char *program)
{
	isoscope = program;
}

int api_end(void)
{
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}

void expect(int fine, const char *what, const char *of)
{
	if (fine) {
		passed++;
		return;
	}
	failed++;
	printf("FAIL %s: %s\n", what, of);
}

/* ---- what the program says ---- */

void said_add(struct said *s, const char *bytes, size_t count)
{
	s->out = (char *)realloc(s->out, s->length + count + 1);
	if (!s->out) abort();
	memcpy(s->out + s->length, bytes, count);
	s->length += count;
	s->out[s->length] = 0;
}

struct said ask_shell(const char *command)
{
	struct said s = { NULL, 0, 0 };
	char chunk[4096];
	size_t n;
	FILE *f = popen(command, "r");
	if (!f) abort();
	said_add(&s, "", 0);
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		said_add(&s, chunk, n);
	s.code = pclose(f);
	s.code = s.code & 0x7f ? -1 : s.code >> 8;
	return s;
}

struct said ask(const char *words, const char *file)
{
	char command[4096];
	snprintf(command, sizeof command, "'%s' %s '%s' 2>/dev/null", isoscope,
	         words, file);
	return ask_shell(command);
}

/* Where a member goes on after its string, which begins at s. */
static const char *after_string(const char *s)
{
	while (*s && *s != '"') s += *s == '\\' && s[1] ? 2 : 1;
	return *s ? s + 1 : s;
}

/* Times and memory are not the same twice, and only the program was called with
 * a command line. */
static void blur(char *json)
{
	struct said plain = { NULL, 0, 0 };
	char *to = json;
	const char line[] = ",\"command\":\"";
	said_add(&plain, json, strlen(json));
	for (const char *s = plain.out; *s;) {
		if (!strncmp(s, line, sizeof line - 1)) {
			s = after_string(s + sizeof line - 1);
			continue;
		}
		size_t digits = strspn(s, "0123456789"), at = s - plain.out;
		int memory = digits && at > 14 &&
		             (!strncmp(s - 9, "\"memory\":", 9) ||
		              !strncmp(s - 14, "\"memory_peak\":", 14));
		if (memory) {
			*to++ = '#';
			s += digits;
		} else if (digits && s[digits] == '.') {
			*to++ = '#';
			s += digits + 1;
			s += strspn(s, "0123456789e+-");
		} else {
			size_t step = digits ? digits : 1;
			memcpy(to, s, step);
			to += step;
			s += step;
		}
	}
	*to = 0;
	free(plain.out);
}

void compare(const char *what, const char *file, struct said *wanted,
             const char *found)
{
	struct said mine = { NULL, 0, 0 };
	said_add(&mine, found, strlen(found));
	blur(wanted->out);
	blur(mine.out);
	if (strcmp(wanted->out, mine.out) != 0)
		printf("isoscope: %.2000s\nlibrary:  %.2000s\n", wanted->out,
		       mine.out);
	expect(!strcmp(wanted->out, mine.out), what, file);
	free(mine.out);
	free(wanted->out);
}

int exit_code(int verdict)
{
	return verdict == ISO_NO_VIOLATION   ? 0
	       : verdict == ISO_INCONCLUSIVE ? 4
	                                     : verdict;
}
