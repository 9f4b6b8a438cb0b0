#include "compile/load.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/level_words.h"
#include "base/memory.h"
#include "base/text.h"
#include "lang/ast.h"
#include "lang/static_checks.h"
#include "compile/compile.h"
#include "lang/limits.h"
#include "lang/parser.h"
#include "lang/source.h"
#include "native/host/client.h"
#include "native/host/library.h"
#include "postgres/load.h"
#include "sql/load.h"
#include "vm/program.h"

/* A program being loaded. */
struct loading {
	struct region region;
	struct sources all;
	struct syntax syntax;
	char **files; /* which file each source is, so that none comes twice */
	size_t file_count, file_capacity;
	enum compile_purpose purpose;
	double step_timeout;
	const struct load_edited *edited; /* NULL: nothing is */
	bool failed;
};

/* --- files ------------------------------------------------------------- */

/* Reads a file. NULL when that fails; then `why` says why. */
static char *read_stream(FILE *f, size_t *length, const char **why)
{
	struct text t = { 0 };
	char buffer[1 << 14];
	size_t n;
	while ((n = fread(buffer, 1, sizeof buffer, f)) > 0 &&
	       t.length <= LIMIT_FILE)
		text_bytes(&t, buffer, n);
	*why = ferror(f)               ? strerror(errno)
	       : t.length > LIMIT_FILE ? "the file is larger than 64 MiB"
	                               : NULL;
	if (*why) {
		text_free(&t);
		return NULL;
	}
	*length = t.length;
	return t.data ? t.data : mem_copy_string("");
}

static void close_file(void *f)
{
	fclose(f);
}

static char *read_file(const char *path, size_t *length, const char **why)
{
	struct stat s;
	FILE *f = fopen(path, "rb");
	if (!f) {
		*why = strerror(errno);
		return NULL;
	}
	char *text = NULL;
	mem_hold(f, close_file);
	if (!fstat(fileno(f), &s) && S_ISDIR(s.st_mode))
		*why = "this is a directory";
	else
		text = read_stream(f, length, why);
	mem_let_go(f);
	fclose(f);
	return text;
}

/* One name for a file, whichever way it is reached. */
static char *identity(const char *path)
{
	char *real = realpath(path, NULL), *name;
	if (!real) return mem_copy_string(path);
	mem_hold(real, mem_free);
	name = mem_copy_string(real);
	mem_let_go(real);
	free(real);
	return name;
}

/* Notes that the file is loaded; false if it was already. Takes `file`. */
static bool first_time(struct loading *l, char *file)
{
	assert(file);
	for (size_t i = 0; i < l->file_count; i++) {
		if (strcmp(l->files[i], file)) continue;
		free(file);
		return false;
	}
	VEC_RESERVE(l->files, l->file_count, l->file_capacity);
	l->files[l->file_count++] = file;
	return true;
}

/* The text that stands for the file, if there is one. */
static char *read_or_edited(const struct load_edited *x, const char *path,
                            size_t *length, const char **why)
{
	for (size_t i = 0; x && i < x->count; i++) {
		const struct load_text *t = &x->texts[i];
		if (strcmp(t->path, path)) continue;
		char *copy = mem_take(t->length + 1);
		memcpy(copy, t->text, t->length);
		copy[t->length] = '\0';
		*length = t->length;
		return copy;
	}
	return read_file(path, length, why);
}

/* --- imports ----------------------------------------------------------- */

static void parse_text(struct loading *l, const char *path, const char *text,
                       size_t length)
{
	uint32_t n = sources_add(&l->all, path, text, (uint32_t)length);
	if (!source_check_text(&l->all, n) || !parse(&l->syntax, &l->all, n))
		l->failed = true;
}

/* The path of an imported file, relative to the importing one. */
static char *import_path(const struct loading *l, const struct item *i)
{
	struct text path = { 0 };
	const char *from = l->all.items[i->at.source].path;
	const char *slash = strrchr(from, '/');
	if (i->message[0] != '/' && slash)
		text_bytes(&path, from, (size_t)(slash - from) + 1);
	text_string(&path, i->message);
	return path.data;
}

/* Puts the items of the imported file behind the import. */
static void import(struct loading *l, struct item *i)
{
	const char *why = NULL;
	size_t length = 0;
	char *path = import_path(l, i);
	assert(i->kind == ITEM_IMPORT);
	if (!first_time(l, identity(path))) {
		free(path);
		return;
	}
	char *text = l->all.count < LIMIT_FILES
	                     ? read_or_edited(l->edited, path, &length, &why)
	                     : NULL;
	if (!text) {
		diags_file(l->all.diags, path);
		source_error(&l->all, i->at, "cannot read '%s': %s", path,
		             why ? why : "too many files");
		l->failed = true;
	} else {
		struct item *rest = i->next, **last = l->syntax.last;
		i->next = NULL;
		l->syntax.last = &i->next;
		parse_text(l, path, text, length);
		*l->syntax.last = rest;
		if (rest) l->syntax.last = last;
	}
	free(text);
	free(path);
}

/* --- the whole --------------------------------------------------------- */

static struct program *load_text(struct loading *l, const char *path,
                                 const char *source, size_t length)
{
	if (length > LIMIT_FILE) {
		diags_add(l->all.diags, DIAG_ERROR, path, 0, 0, NULL,
		          "the file is larger than %d MiB", LIMIT_FILE >> 20);
		return NULL;
	}
	first_time(l, identity(path));
	parse_text(l, path, source, length);
	for (struct item *i = l->syntax.first; i; i = i->next)
		if (i->kind == ITEM_IMPORT) import(l, i);
	if (l->failed || !check(&l->syntax, &l->all)) return NULL;
	if (l->edited) l->edited->look(l->edited->data, &l->syntax, &l->all);
	return compile(&l->syntax, &l->all, l->purpose, l->step_timeout);
}

static struct program *load(const char *path, const char *source, size_t length,
                            enum compile_purpose purpose, double step_timeout,
                            const struct sql_arguments *given,
                            const struct load_edited *edited, struct diags *d)
{
	if (given && given->server) {
		if (sql_is_spec(path) || sql_is_script(path))
			return server_load(path, source, length, given, d);
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
		          "--engine=postgres is for programs in SQL");
		return NULL;
	}
	if (sql_is_spec(path) || sql_is_script(path))
		return sql_load(path, source, length, given, d);
	struct loading l = { .purpose = purpose,
		             .step_timeout = step_timeout,
		             .edited = edited };
	region_init(&l.region);
	sources_init(&l.all, &l.region, d);
	syntax_init(&l.syntax, &l.region);
	struct program *p = load_text(&l, path, source, length);
	for (size_t i = 0; i < l.file_count; i++) free(l.files[i]);
	free(l.files);
	syntax_free(&l.syntax);
	sources_free(&l.all);
	region_free(&l.region);
	return p;
}

struct program *load_program_text(const char *path, const char *source,
                                  size_t length, struct diags *d)
{
	return load(path, source, length, COMPILE_TO_RUN, STEP_TIMEOUT, NULL,
	            NULL, d);
}

struct program *load_program_edited(const char *path,
                                    const struct load_edited *edited,
                                    struct diags *d)
{
	const char *why = NULL;
	size_t length = 0;
	char *text = read_or_edited(edited, path, &length, &why);
	if (!text) {
		diags_file(d, path);
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL, "cannot read: %s",
		          why);
		return NULL;
	}
	struct sql_arguments given = { 0 };
	if (edited->given) given = *edited->given;
	given.texts = edited->texts;
	given.text_count = edited->count;
	enum compile_purpose purpose =
		edited->shown          ? COMPILE_TO_EDIT
		: edited->locks_write  ? COMPILE_LOCKS_AS_WRITES
		: edited->transactions ? COMPILE_TRANSACTIONS
				       : COMPILE_TO_RUN;
	struct program *p = load(path, text, length, purpose, STEP_TIMEOUT,
	                         &given, edited, d);
	free(text);
	return p;
}

struct program *load_untrusted_text(const char *path, const char *source,
                                    size_t length, struct diags *d)
{
	return load(path, source, length, COMPILE_TO_SHOW, STEP_TIMEOUT, NULL,
	            NULL, d);
}

/* --- native clients ---------------------------------------------------- */

/* Reads the first bytes of the file. */
static bool begins_as_shared_object(const char *path)
{
	char head[4];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(head, 1, sizeof head, f) : 0;
	if (f) fclose(f);
	return is_shared_object(head, n);
}

static bool is_named_as_shared_object(const char *path)
{
	size_t length = strlen(path);
	return length > 3 && !strcmp(path + length - 3, ".so");
}

static struct program *load_client(const char *path, double step_timeout,
                                   struct diags *d)
{
	struct program *p = client_load(path, step_timeout, d);
	const char *level = p ? program_isolation(p) : NULL;
	if (!level || level_number(level) >= 0) return p;
	struct text why = { 0 };
	level_unknown(&why, level);
	diags_add(d, DIAG_ERROR, path, 0, 0, NULL, "iso_isolation(): %s",
	          text_get(&why));
	text_free(&why);
	program_free(p);
	return NULL;
}

struct program *load_program(const char *path, struct diags *d)
{
	return load_program_within(path, STEP_TIMEOUT, d);
}

struct program *load_program_within(const char *path, double step_timeout,
                                    struct diags *d)
{
	return load_program_with(path, step_timeout, NULL, d);
}

struct program *load_program_with(const char *path, double step_timeout,
                                  const struct sql_arguments *given,
                                  struct diags *d)
{
	const char *why = NULL;
	size_t length = 0;
	if (given && (given->sessions || given->asserts) &&
	    !sql_is_script(path)) {
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
		          "--session and --assert are for files of SQL, which "
		          "end in .sql");
		return NULL;
	}
	if (begins_as_shared_object(path)) {
		diags_file(d, path);
		return load_client(path, step_timeout, d);
	}
	char *text = read_file(path, &length, &why);
	if (text && is_named_as_shared_object(path)) {
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
		          "this is not a shared object (ELF), although it is "
		          "named like one; make it with cc -g -shared -fPIC");
		free(text);
		return NULL;
	}
	if (!text) {
		diags_file(d, path);
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL, "cannot read: %s",
		          why);
		return NULL;
	}
	struct program *p = load(path, text, length, COMPILE_TO_RUN,
	                         step_timeout, given, NULL, d);
	free(text);
	return p;
}
