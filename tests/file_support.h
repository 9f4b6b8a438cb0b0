/* Files that tests make: in folders of their own, text or shared objects, which
 * are compiled there.
 */
#ifndef TESTS_FILE_SUPPORT_H
#define TESTS_FILE_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>

/* A folder of its own for each test; removed with all that is in it. */
struct folder {
	char path[32]; /* absolute */
};
struct folder folder_new(void);
void folder_remove(const struct folder *f);
/* A new one as the current folder, and its end. */
void folder_enter(void);
void folder_leave(void);

/* The path of a file in the folder; the caller frees it. */
char *folder_file(const struct folder *f, const char *name);
void file_write(const char *path, const char *bytes, size_t length);
void file_write_text(const char *path, const char *text);

/* The top of isoscope's sources, absolute. */
const char *source_top(void);

/* Runs `COMPILER OPTIONS`, NULL being $CC, or else cc; stops the test if that
 * fails. False, and it is said, when there is no such compiler. */
bool compile_c(const char *compiler, const char *options);
/* A shared object of this source, with what clients include. */
bool compile_client(const char *source, const char *options,
                    const char *output);

#endif
