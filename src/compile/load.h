/* From the text of a program to bytecode. */
#ifndef ISO_COMPILE_LOAD_H
#define ISO_COMPILE_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"

struct program;
struct load_text;
struct sources;
struct sql_arguments;
struct syntax;

/* Reads, parses, checks and compiles the file and its imports. Returns NULL
 * when there is any error; all errors and warnings are added to `d`. A file
 * that cannot be read, is binary, or is larger than 64 MiB is such an error. */
struct program *load_program(const char *path, struct diags *d);
/* The same for one whose code in C may run so many seconds from one call of
 * isoscope's functions to the next, while it is loaded as well. */
struct program *load_program_within(const char *path, double step_timeout,
                                    struct diags *d);
/* The same for a file of SQL, if it is one, with sessions and assertions. */
struct program *load_program_with(const char *path, double step_timeout,
                                  const struct sql_arguments *given,
                                  struct diags *d);
/* The same for a text in memory; imports are relative to `path`. */
struct program *load_program_text(const char *path, const char *source,
                                  size_t length, struct diags *d);
/* The same with some of its files, the program's own included, as they would
 * be: these texts in place of what is read. What was parsed and checked is
 * shown to `look` before it is compiled. */
struct load_edited {
	const struct load_text *texts;
	size_t count;
	/* Of a program in SQL, for which there is nothing to look at before it
	 * is loaded. */
	const struct sql_arguments *given;
	/* In .tx: only transactions are asked about, so there need not be
	 * sessions. */
	bool transactions;
	/* In .tx: nothing of it is run, there need not be sessions, and the
	 * libraries of `extern fn` are not loaded. */
	bool shown;
	/* In .tx: a read that is `locked` writes back what it read. */
	bool locks_write;
	void (*look)(void *data, const struct syntax *tree,
	             struct sources *all);
	void *data;
};
struct program *load_program_edited(const char *path,
                                    const struct load_edited *edited,
                                    struct diags *d);
/* The same for a text that nobody vouches for: the libraries of `extern fn` are
 * not loaded, and nothing of them is run, so constants that need one are
 * errors. The program is to be looked at, not to be run. */
struct program *load_untrusted_text(const char *path, const char *source,
                                    size_t length, struct diags *d);
/* The bytecode, one instruction a line, with constants, keys and sessions. */
void dump_program(const struct program *p, struct text *out);

#endif
