/* Paths of files. */
#ifndef ISO_BASE_PATHS_H
#define ISO_BASE_PATHS_H

#include <stdbool.h>

struct text;

/* Adds the folder of the file: "." if the path names none. */
void path_folder(struct text *t, const char *path);
/* Adds the path without parts that lead nowhere: "." and "folder/..", the
 * latter unless the file is another one then, as behind a link. */
void path_shortest(struct text *t, const char *path);
bool path_exists(const char *path);
/* Could the file be written? If not, errno says why. What is there is not
 * touched; one that is not is made, and removed. */
bool path_is_writable(const char *path);

#endif
