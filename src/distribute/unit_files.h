/* Names of the files of a split, by the number of the unit: unit-003.json,
 * result-003.1.json, and split.json or split-003.json for what remains of a
 * whole that was split. */
#ifndef ISO_DISTRIBUTE_UNIT_FILES_H
#define ISO_DISTRIBUTE_UNIT_FILES_H

#include <stdbool.h>

#include "base/text.h"

struct unit;

/* Adds FOLDER/KIND-003.1.json, without the folder if that is NULL. */
void unit_file_name(struct text *t, const char *folder, const char *kind,
                    const char *id);
/* The same in the folder of another file. */
void unit_file_beside(struct text *t, const char *path, const char *kind,
                      const char *id);
/* The kind, "split", "unit" or "result", of a name without folder; NULL: it is
 * none of these. */
const char *unit_file_kind(const char *name);
/* Does the file begin like one? Pipes are not looked into. */
bool unit_is_file(const char *path);
/* Replaces the file at once or not at all, and waits until it is on the disk.
 * False, with errno set, if that fails. */
bool unit_save(const char *path, const struct unit *u);

#endif
