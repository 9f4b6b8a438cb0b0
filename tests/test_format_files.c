/* Recorded histories in files, folders and standard input: reading and writing
 * them, and what is wrong with them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "file_support.h"
#include "formats_support.h"
#include "random_trace.h"
#include "suites.h"
#include "support.h"

static char *write_file(const struct folder *f, const char *name,
                        const char *bytes, size_t length)
{
	char *path = folder_file(f, name);
	file_write(path, bytes, length);
	return path;
}

static struct trace *read_path(const char *path, enum format f,
                               enum format *found, struct diags *d)
{
	struct reader_options o = { .format = f };
	struct history_reader *r = history_reader_open(path, &o, d);
	struct trace *t = NULL;
	if (r) {
		*found = history_reader_format(r);
		t = history_reader_next(r, d);
		ck_assert_ptr_null(history_reader_next(r, d));
	}
	history_reader_close(r);
	return t;
}

static void check_path_error(const char *path, enum format f,
                             const char *message)
{
	struct diags d = { 0 };
	enum format found;
	ck_assert_ptr_null(read_path(path, f, &found, &d));
	char *all = diags_to_text(&d);
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_msg(strstr(all, message), "%s", all);
	free(all);
	diags_free(&d);
}

static void check_content_error(const char *bytes, size_t length, enum format f,
                                const char *message)
{
	struct folder folder = folder_new();
	char *path = write_file(&folder, "file", bytes, length);
	check_path_error(path, f, message);
	free(path);
	folder_remove(&folder);
}

START_TEST(what_cannot_be_opened_is_told)
{
	struct folder folder = folder_new();
	check_path_error("no/such/file", FORMAT_COUNT, "cannot read: No such");
	check_path_error(folder.path, FORMAT_COUNT, "T<n>.log");
	check_path_error(folder.path, FORMAT_COBRA, "T<n>.log, one for each");
	check_path_error(folder.path, FORMAT_PLUME,
	                 "a folder without a history");
	folder_remove(&folder);
	check_content_error("", 0, FORMAT_COUNT, "the file is empty");
	check_content_error(" \r\n\n", 4, FORMAT_PLUME, "the file is empty");
	check_content_error("\x1f\x8b\b\0", 4, FORMAT_COUNT, "gzip -dc");
	check_content_error("\0\1\2\3", 4, FORMAT_COUNT, "--format");
	check_content_error("hello", 5, FORMAT_COUNT,
	                    "isoscope, plume, awdit, dbcop-bincode");
	check_content_error("w(1,1,1,1)", 10, FORMAT_COBRA, "their folder");
	check_content_error("w(1,1,\0,1)", 10, FORMAT_PLUME,
	                    "1:7: this is not a text");
}
END_TEST

static void check_read(const char *path, enum format f, const char *shape)
{
	struct diags d = { 0 };
	enum format found = FORMAT_COUNT;
	struct trace *t = read_path(path, FORMAT_COUNT, &found, &d);
	char *all = diags_to_text(&d);
	ck_assert_msg(t != NULL, "%s", all);
	char *s = shape_of(t, 0);
	ck_assert_str_eq(s, shape);
	ck_assert_int_eq(found, f);
	free(s);
	free(all);
	trace_free(t);
	diags_free(&d);
}

START_TEST(files_are_read)
{
	struct folder folder = folder_new();
	const char text[] = "\xef\xbb\xbfw(1,1,0,1)\n";
	char *path = write_file(&folder, "a.json", text, strlen(text));
	check_read(path, FORMAT_PLUME, "0.1: w1\n");
	free(path);
	path = write_file(&folder, "history.txt", "w 1 2\n", 6);
	check_read(path, FORMAT_AWDIT, "0.1: w1\n");
	check_read(folder.path, FORMAT_AWDIT, "0.1: w1\n");
	free(path);
	folder_remove(&folder);
}
END_TEST

/* Where a file fills its last page, no zero byte follows by itself. */
START_TEST(files_of_whole_pages_are_read)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct folder folder = folder_new();
	char *bytes = mem_take(page);
	memset(bytes, '\n', page);
	memcpy(bytes + page - 10, "w(1,1,0,1)", 10);
	char *path = write_file(&folder, "file", bytes, page);
	check_read(path, FORMAT_PLUME, "0.1: w1\n");
	free(path);
	free(bytes);
	folder_remove(&folder);
}
END_TEST

/* The pages that were given back are read again for the message. */
START_TEST(errors_in_long_files_have_their_place)
{
	struct text t = { 0 };
	for (int i = 1; i <= 300000; i++)
		text_format(&t, "w(1,%d,0,%d)\n", i, i);
	text_string(&t, "w(1,5,0)\n");
	check_content_error(t.data, t.length, FORMAT_COUNT,
	                    "error:300001:8: expected ','");
	text_free(&t);
}
END_TEST

static void as_input(int fd)
{
	ck_assert_int_ge(dup2(fd, STDIN_FILENO), 0);
	close(fd);
}

START_TEST(standard_input_is_read)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "w(1,1,0,1)\n", 11), 11);
	close(ends[1]);
	as_input(ends[0]);
	check_read("-", FORMAT_PLUME, "0.1: w1\n");
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[1]);
	as_input(ends[0]);
	check_path_error("-", FORMAT_COUNT, "the file is empty");
}
END_TEST

START_TEST(logs_of_cobra_go_there_and_back)
{
	struct rng r = { first_seed() * 1000 + 3 * 10 };
	int count = (int)programs_or(2000) / 10 + 10, written = 0;
	struct folder folder = folder_new();
	for (int i = 0; i < count; i++) {
		struct trace *t = trace_random(&r);
		struct diags d = { 0 };
		struct text path = { 0 };
		enum format found;
		text_format(&path, "%s/%d", folder.path, i);
		bool good = format_write_folder(path.data, FORMAT_COBRA, t, &d);
		ck_assert_int_eq(good, !format_may_refuse(FORMAT_COBRA, t));
		if (good) {
			struct trace *back =
				read_path(path.data, FORMAT_COUNT, &found, &d);
			ck_assert_ptr_nonnull(back);
			ck_assert_int_eq(found, FORMAT_COBRA);
			check_same_shape(FORMAT_COBRA, t, back, "");
			trace_free(back);
		}
		written += good;
		text_free(&path);
		diags_free(&d);
		trace_free(t);
	}
	ck_assert_int_gt(written, count / 6);
	folder_remove(&folder);
}
END_TEST

START_TEST(folders_that_hold_something_are_kept)
{
	struct folder folder = folder_new();
	char *path = write_file(&folder, "T1.log", "", 0);
	struct trace *t = parse_good(FORMAT_PLUME, "w(1,1,0,1)");
	struct diags d = { 0 };
	ck_assert(!format_write_folder(folder.path, FORMAT_COBRA, t, &d));
	ck_assert(!format_write_folder(path, FORMAT_COBRA, t, &d));
	ck_assert(!format_write_folder("no/such", FORMAT_COBRA, t, &d));
	ck_assert(!format_write_folder("new", FORMAT_PLUME, t, &d));
	struct text text = { 0 };
	ck_assert(!format_print(&text, FORMAT_COBRA, t, NULL, &d));
	char *all = diags_to_text(&d);
	ck_assert_str_eq(
		all,
		"error:0:0: cannot write: it exists and is not an empty "
		"folder; name another one\n"
		"error:0:0: cannot write: it exists and is not an empty "
		"folder; name another one\n"
		"error:0:0: cannot write: No such file or directory\n"
		"error:0:0: histories in the format plume are files, not "
		"folders\n"
		"error:0:0: histories in the format cobra are folders: name "
		"one to write to\n");
	free(all);
	diags_free(&d);
	trace_free(t);
	free(path);
	folder_remove(&folder);
}
END_TEST

/* Sessions are told by the numbers of the files, not by their order. */
START_TEST(logs_are_read_by_number)
{
	struct folder folder = folder_new();
	struct text one = bytes_of(".S 1 .W 5 1 0 .C 1", false);
	struct text two = bytes_of(".S 2 .R 1 5 1 0 .C 2", false);
	free(write_file(&folder, "T10.log", two.data, two.length));
	free(write_file(&folder, "T9.log", one.data, one.length));
	free(write_file(&folder, "T3.log", "", 0));
	free(write_file(&folder, "T3.log.debug", "x", 1));
	free(write_file(&folder, "T03.log", "x", 1));
	free(write_file(&folder, "Tx.log", "x", 1));
	check_read(folder.path, FORMAT_COBRA, "1.1: w1\n2.1: r1<1.1\n");
	free(write_file(&folder, "T11.log", "X", 1));
	check_path_error(folder.path, FORMAT_COUNT,
	                 "no record begins with 0x58");
	text_free(&one);
	text_free(&two);
	folder_remove(&folder);
}
END_TEST

void add_format_files_tests(TCase *tests)
{
	tcase_add_test(tests, what_cannot_be_opened_is_told);
	tcase_add_test(tests, files_are_read);
	tcase_add_test(tests, files_of_whole_pages_are_read);
	tcase_add_test(tests, errors_in_long_files_have_their_place);
	tcase_add_test(tests, standard_input_is_read);
	tcase_add_test(tests, logs_of_cobra_go_there_and_back);
	tcase_add_test(tests, folders_that_hold_something_are_kept);
	tcase_add_test(tests, logs_are_read_by_number);
}
