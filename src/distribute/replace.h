/* Files that are there as a whole or not at all. */
#ifndef ISO_DISTRIBUTE_REPLACE_H
#define ISO_DISTRIBUTE_REPLACE_H

#include <stdbool.h>

#include "base/text.h"

/* Writes the text beside the file, waits until it is on the disk, and gives it
 * the file's name: whoever reads it, also after a crash, sees the old contents
 * or the new ones. False, with errno set, if that fails; then the file is as it
 * was. */
bool replace_file(const char *path, const struct text *t);

#endif
