/* A file that an editor has open: its text as it is there, and what was found
 * about it. */
#ifndef ISO_LSP_OPEN_FILE_H
#define ISO_LSP_OPEN_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"

struct open_file {
	char *uri, *path;
	json_int_t version;
	struct text text;
	/* The process that looks at the text, and what it has told of the line
	 * that it is writing; 0: there is none. */
	pid_t worker;
	int from;
	struct text told;
	/* What it found: look.h, trial.h; NULL: nothing yet. */
	json_t *look, *trial, *repair;
	json_t *waiting; /* requests that wait for `look` */
};

struct open_files {
	struct open_file **items;
	size_t count, capacity;
};

/* NULL: it is not open. */
struct open_file *open_file_find(const struct open_files *all, const char *uri);
/* A file that is open already is given this text instead. */
struct open_file *open_file_add(struct open_files *all, const char *uri);
/* The worker is to be ended before. */
void open_file_remove(struct open_files *all, struct open_file *f);
/* Changes the text as `contentChanges` says. False if they are none; then
 * those before the wrong one are done. */
bool open_file_change(struct open_file *f, const json_t *changes);
/* Forgets what was found. */
void open_file_forget(struct open_file *f);
/* The end of the text, for ranges of all of it. */
json_t *open_file_range(const struct open_file *f, size_t from, size_t to);

#endif
