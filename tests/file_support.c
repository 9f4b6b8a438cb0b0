#include "file_support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assertions.h"
#include "base/text.h"

/* ---- folders ---- */

#define FOLDER "/tmp/isoscope-test-"

struct folder folder_new(void)
{
	struct folder f = { FOLDER "XXXXXX" };
	ck_assert_ptr_nonnull(mkdtemp(f.path));
	return f;
}

void folder_remove(const struct folder *f)
{
	struct text t = { 0 };
	text_format(&t, "rm -rf '%s'", f->path);
	ck_assert_int_eq(system(text_get(&t)), 0);
	text_free(&t);
}

void folder_enter(void)
{
	struct folder f = folder_new();
	source_top(); /* relative to where the test was started */
	ck_assert_int_eq(chdir(f.path), 0);
}

void folder_leave(void)
{
	struct folder f;
	ck_assert_ptr_nonnull(getcwd(f.path, sizeof f.path));
	ck_assert_int_eq(strncmp(f.path, FOLDER, strlen(FOLDER)), 0);
	ck_assert_int_eq(chdir("/"), 0);
	folder_remove(&f);
}

/* ---- files ---- */

char *folder_file(const struct folder *f, const char *name)
{
	struct text t = { 0 };
	text_format(&t, "%s/%s", f->path, name);
	return t.data;
}

void file_write(const char *path, const char *bytes, size_t length)
{
	FILE *f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, length, f), length);
	ck_assert_int_eq(fclose(f), 0);
}

void file_write_text(const char *path, const char *text)
{
	file_write(path, text, strlen(text));
}

/* ---- compilers ---- */

const char *source_top(void)
{
	static char path[PATH_MAX];
	const char *top = getenv("ISOSCOPE_SOURCE");
	if (!*path) ck_assert_ptr_nonnull(realpath(top ? top : "..", path));
	return path;
}

static bool is_there(const char *compiler)
{
	struct text t = { 0 };
	text_format(&t, "%s --version >/dev/null 2>&1", compiler);
	bool there = !system(text_get(&t));
	text_free(&t);
	if (!there)
		fprintf(stderr, "skipped: there is no compiler '%s'; set CC\n",
		        compiler);
	return there;
}

bool compile_c(const char *compiler, const char *options)
{
	struct text t = { 0 };
	if (!compiler) compiler = getenv("CC");
	if (!compiler || !*compiler) compiler = "cc";
	if (!is_there(compiler)) return false;
	text_format(&t, "%s %s", compiler, options);
	ck_assert_msg(!system(text_get(&t)), "%s", text_get(&t));
	text_free(&t);
	return true;
}

bool compile_client(const char *source, const char *options, const char *output)
{
	struct text t = { 0 };
	text_format(&t, "-g -shared -fPIC -I'%s/include' %s -o '%s' '%s'",
	            source_top(), options, output, source);
	bool compiled = compile_c(NULL, text_get(&t));
	text_free(&t);
	return compiled;
}
