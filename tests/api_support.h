/* What the parts of api_program share: counting what is as expected, and what
 * the program isoscope says. C and C++ at once, as all of it. */
#ifndef TESTS_API_SUPPORT_H
#define TESTS_API_SUPPORT_H

#include <stddef.h>

#include <isoscope.h>

/* The path of isoscope. */
void api_begin(const char *program);
/* Says how much was as expected; the exit code. */
int api_end(void);
void expect(int fine, const char *what, const char *of);

struct said {
	char *out;
	size_t length;
	int code;
};
void said_add(struct said *s, const char *bytes, size_t count);
struct said ask_shell(const char *command);
/* What `isoscope WORDS FILE` prints. */
struct said ask(const char *words, const char *file);
/* Does the program say this? Frees what was wanted. */
void compare(const char *what, const char *file, struct said *wanted,
             const char *found);
/* Of isoscope, for a verdict. */
int exit_code(int verdict);

/* By what is used: histories from files or generated, programs, explorations in
 * parts, code in C; too little memory, and what is no use. */
void use_history(const char *file);
void use_generated(void);
void use_program(const char *file);
void use_parts(const char *file);
void use_client(const char *file);
void use_too_little(void);
void use_wrongly(const char *file, const char *program);

#endif
