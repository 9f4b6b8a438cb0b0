#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/seconds.h"
#include "fake_worker.h"
#include "file_support.h"
#include "native/host/source_lines.h"
#include "suites.h"

/* Lines 3, 4: inlined wherever it is called. */
static const char text[] =
	"/* Sums. */\n"
	"static inline __attribute__((always_inline)) int inlined(int *p)\n"
	"{ return p[0]\n"
	"       * p[1]; }\n"
	"__attribute__((noinline)) static int hidden(int *p)\n"
	"{ return inlined(p) + 1; }\n"
	"int shown(int *p)\n"
	"{\n"
	"	int sum = hidden(p);\n"
	"	return sum * 3;\n"
	"}\n"
	"int (*where_hidden_is)(int *p) = hidden;\n";

/* A loaded object; its addresses are looked up in its file. */
struct probe {
	const char *path;
	void *handle;
	uint64_t bias;
	struct source_lines *lines;
};

static struct probe probe_open(const char *path)
{
	struct probe p = { .path = path, .handle = dlopen(path, RTLD_NOW) };
	struct link_map *map;
	ck_assert_msg(p.handle != NULL, "%s", dlerror());
	dlinfo(p.handle, RTLD_DI_LINKMAP, &map);
	p.bias = map->l_addr;
	p.lines = source_lines_new();
	return p;
}

static void probe_close(struct probe *p)
{
	source_lines_free(p->lines);
	dlclose(p->handle);
}

static bool look_up(struct probe *p, const void *address,
                    struct source_place *out)
{
	return source_lines_find(p->lines, p->path,
	                         (uintptr_t)address - p->bias, out);
}

/* Is one of the function's first bytes code of this function and line? */
static bool has_place(struct probe *p, const char *symbol, bool behind,
                      const char *function, uint32_t line)
{
	struct source_place s;
	const char *at = dlsym(p->handle, symbol);
	ck_assert_ptr_nonnull(at);
	if (behind) at = *(const char *const *)at;
	for (int i = 0; i < 24; i++)
		if (look_up(p, at + i, &s) && s.function && s.line == line &&
		    !strcmp(s.function, function))
			return !strcmp(s.file, "sums.c");
	return false;
}

static const struct build {
	const char *compiler, *options;
} builds[] = { { NULL, "-g -O0" },        { NULL, "-g -O2" },
	       { NULL, "-gdwarf-4 -O1" }, { "gcc", "-g -O0" },
	       { "gcc", "-g -O2" },       { "clang", "-g -O0" },
	       { "clang", "-g -O2" },     { "clang", "-gdwarf-4 -O2" } };

static bool build(const char *compiler, const char *options)
{
	char command[300];
	file_write_text("sums.c", text);
	snprintf(command, sizeof command, "%s -shared -fPIC -o sums.so sums.c",
	         options);
	return compile_c(compiler, command);
}

START_TEST(lines_are_found)
{
	struct source_place s;
	folder_enter();
	if (build(builds[_i].compiler, builds[_i].options)) {
		struct probe p = probe_open("./sums.so");
		ck_assert(has_place(&p, "shown", false, "shown", 8) ||
		          has_place(&p, "shown", false, "shown", 9));
		ck_assert(
			has_place(&p, "where_hidden_is", true, "inlined", 3) ||
			has_place(&p, "where_hidden_is", true, "inlined", 4));
		ck_assert(look_up(&p, dlsym(p.handle, "shown"), &s));
		ck_assert_str_eq(s.function, "shown");
		ck_assert(s.line >= 7 && s.line <= 9);
		ck_assert(!look_up(&p, (char *)p.bias + (1 << 20), &s));
		ck_assert(!s.function && !s.file && !s.line);
		probe_close(&p);
	}
	folder_leave();
}
END_TEST

START_TEST(columns_and_text_are_found)
{
	struct source_place s;
	folder_enter();
	if (build(NULL, "-g -O0")) {
		struct probe p = probe_open("./sums.so");
		const char *at = dlsym(p.handle, "shown");
		int i = 0;
		while (i < 60 && !(look_up(&p, at + i, &s) && s.line == 9)) i++;
		ck_assert_uint_eq(s.line, 9);
		ck_assert(s.column == 12 || s.column == 19);
		ck_assert_str_eq(s.source_line, "\tint sum = hidden(p);");
		probe_close(&p);
	}
	folder_leave();
}
END_TEST

static void check_names(const char *options, bool knows_static)
{
	struct source_place s;
	if (!build(NULL, options)) return;
	struct probe p = probe_open("./sums.so");
	ck_assert(look_up(&p, (char *)dlsym(p.handle, "shown") + 3, &s));
	ck_assert_str_eq(s.function, "shown");
	ck_assert_ptr_null(s.file);
	ck_assert_ptr_null(s.source_line);
	ck_assert_uint_eq(s.line, 0);
	void **hidden = dlsym(p.handle, "where_hidden_is");
	ck_assert(look_up(&p, (char *)*hidden + 3, &s) == knows_static);
	if (knows_static) ck_assert_str_eq(s.function, "hidden");
	probe_close(&p);
}

START_TEST(symbols_stand_in)
{
	folder_enter();
	check_names("-g0 -O0", true);
	unlink("sums.so");
	check_names("-g -s -O0", false);
	folder_leave();
}
END_TEST

#define FILE_TEXT "int shown(int *p) { return *p; }"

/* Compiled in the folder `from`, shown in the current one. */
static void check_file(const char *from, const char *options, const char *file,
                       bool has_text)
{
	struct source_place s;
	char all[1000], here[300];
	ck_assert_ptr_nonnull(getcwd(here, sizeof here));
	snprintf(all, sizeof all, "-g -shared -fPIC -o '%s/f.so' %s", here,
	         options);
	ck_assert_int_eq(chdir(from), 0);
	bool compiled = compile_c(NULL, all);
	ck_assert_int_eq(chdir(here), 0);
	if (!compiled) return;
	struct probe p = probe_open("./f.so");
	ck_assert(look_up(&p, dlsym(p.handle, "shown"), &s));
	ck_assert_str_eq(s.file, file);
	ck_assert(has_text == (s.source_line != NULL));
	if (has_text) ck_assert_str_eq(s.source_line, FILE_TEXT);
	probe_close(&p);
	ck_assert_int_eq(unlink("f.so"), 0);
}

START_TEST(files_have_short_names)
{
	char folder[300], options[900], path[400];
	folder_enter();
	ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
	mkdir("a", 0700);
	mkdir("b", 0700);
	file_write_text("a/f.c", FILE_TEXT "\n");
	ck_assert_int_eq(symlink("../a", "b/link"), 0);
	check_file(".", "a/f.c", "a/f.c", true);
	check_file(".", "./a/.//f.c", "a/f.c", true);
	check_file(".", "b/../a/f.c", "a/f.c", true);
	check_file(".", "b/link/f.c", "b/link/f.c", true);
	check_file(".", "b/link/../a/f.c", "a/f.c", true);
	check_file("b", "../a/f.c", "a/f.c", true);
	check_file("b", "link/f.c", "b/link/f.c", true);
	check_file("a", "f.c", "a/f.c", true);
	snprintf(options, sizeof options, "%s/a/f.c", folder);
	check_file(".", options, "a/f.c", true);
	snprintf(options, sizeof options, "-ffile-prefix-map=%s=. a/f.c",
	         folder);
	check_file(".", options, "a/f.c", true);
	snprintf(options, sizeof options, "-ffile-prefix-map=%s=/nowhere a/f.c",
	         folder);
	check_file(".", options, "/nowhere/a/f.c", false);
	ck_assert_int_eq(chdir("b"), 0);
	snprintf(path, sizeof path, "%s/a/f.c", folder);
	check_file(".", "../a/f.c", path, true);
	ck_assert_int_eq(chdir(".."), 0);
	folder_leave();
}
END_TEST

/* What the file holds now is shown; what is no text is not. */
START_TEST(files_that_changed_are_shown)
{
	static const struct {
		const char *now, *line;
	} files[] = { { "one\ntwo\n", NULL },
		      { "1\n2\n3\n4\n5\n6\nseven\r\n", "seven" },
		      { "1\n2\n3\n4\n5\n6\nseven", "seven" },
		      { "1\n2\n3\n4\n5\n6\n", NULL },
		      { "\n\n\n\n\n\n\n", "" },
		      { "1\n2\n3\n4\n5\n6\n\xff\n", NULL },
		      { "1\n2\n3\n4\n5\n6\n\xc3\xa4\n", "\xc3\xa4" },
		      { "", NULL } };
	struct source_place s;
	folder_enter();
	if (!build(NULL, "-g -O0")) {
		folder_leave();
		return;
	}
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct probe p = probe_open("./sums.so");
		file_write_text("sums.c", files[i].now);
		look_up(&p, dlsym(p.handle, "shown"), &s);
		ck_assert_str_eq(s.file, "sums.c");
		ck_assert(!s.source_line == !files[i].line || s.line != 7);
		if (s.line == 7 && files[i].line)
			ck_assert_str_eq(s.source_line, files[i].line);
		probe_close(&p);
	}
	folder_leave();
}
END_TEST

/* Also when the object is overwritten while it is read. */
START_TEST(objects_are_copied)
{
	struct source_place s;
	folder_enter();
	if (build(NULL, "-g -O0")) {
		struct probe p = probe_open("./sums.so");
		void *shown = dlsym(p.handle, "shown");
		ck_assert(look_up(&p, shown, &s));
		memset(&s, 0, sizeof s);
		ck_assert_int_eq(unlink("sums.so"), 0);
		file_write_text("sums.so", "");
		ck_assert(look_up(&p, shown, &s));
		ck_assert_str_eq(s.function, "shown");
		probe_close(&p);
	}
	folder_leave();
}
END_TEST

START_TEST(nothing_is_known_of_other_files)
{
	static const char *const paths[] = { "text", "empty",     "none",
		                             ".",    "/dev/null", "" };
	struct source_place s;
	struct source_lines *lines = source_lines_new();
	folder_enter();
	file_write_text("text", "int main(void) { return 0; }\n");
	file_write_text("empty", "");
	for (int i = 0; i < 2 * 6; i++) {
		memset(&s, 1, sizeof s);
		ck_assert(!source_lines_find(lines, paths[i % 6], 16, &s));
		ck_assert(!s.function && !s.file && !s.line && !s.column &&
		          !s.source_line);
	}
	source_lines_free(lines);
	source_lines_free(NULL);
	folder_leave();
}
END_TEST

/* Shortened at every length, it is no danger. */
START_TEST(broken_objects_do_no_harm)
{
	static char bytes[1 << 16];
	struct source_place s;
	folder_enter();
	if (build(NULL, "-g -O0")) {
		struct probe p = probe_open("./sums.so");
		uint64_t at = (uintptr_t)dlsym(p.handle, "shown") - p.bias;
		FILE *f = fopen("sums.so", "r");
		size_t length = fread(bytes, 1, sizeof bytes, f);
		fclose(f);
		for (size_t n = 0; n < length; n += 97) {
			f = fopen("short.so", "w");
			fwrite(bytes, 1, n, f);
			fclose(f);
			struct source_lines *lines = source_lines_new();
			source_lines_find(lines, "short.so", at, &s);
			source_lines_find(lines, "short.so", at + 9, &s);
			source_lines_free(lines);
		}
		probe_close(&p);
	}
	folder_leave();
}
END_TEST

void add_source_lines_tests(TCase *tests)
{
	tcase_add_loop_test(tests, lines_are_found, 0,
	                    sizeof builds / sizeof *builds);
	tcase_add_test(tests, columns_and_text_are_found);
	tcase_add_test(tests, symbols_stand_in);
	tcase_add_test(tests, files_have_short_names);
	tcase_add_test(tests, files_that_changed_are_shown);
	tcase_add_test(tests, objects_are_copied);
	tcase_add_test(tests, nothing_is_known_of_other_files);
	tcase_add_test(tests, broken_objects_do_no_harm);
}
