#include "distribute/unit_files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "distribute/unit.h"

/* ---- names ---- */

enum { DIGITS = 3 };

void unit_file_name(struct text *t, const char *folder, const char *kind,
                    const char *id)
{
	size_t digits = strcspn(id, ".");
	assert(kind && *kind);
	if (folder) text_format(t, "%s/", folder);
	text_string(t, kind);
	if (digits) {
		text_char(t, '-');
		if (digits < DIGITS) text_pad(t, '0', DIGITS - digits);
		text_string(t, id);
	}
	text_string(t, ".json");
}

void unit_file_beside(struct text *t, const char *path, const char *kind,
                      const char *id)
{
	struct text folder = { 0 };
	path_folder(&folder, path);
	unit_file_name(t, text_get(&folder), kind, id);
	text_free(&folder);
}

const char *unit_file_kind(const char *name)
{
	static const char *const kinds[] = { "split", "unit", "result" };
	size_t length = strlen(name);
	if (length < 5 || strcmp(name + length - 5, ".json")) return NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = strlen(kinds[i]);
		if (!strncmp(name, kinds[i], n) &&
		    (name[n] == '-' || name[n] == '.'))
			return kinds[i];
	}
	return NULL;
}

/* ---- files that are there as a whole or not at all ---- */

static bool write_all(int file, const struct text *t)
{
	const char *p = text_get(t), *end = p + t->length;
	while (p < end) {
		ssize_t n = write(file, p, (size_t)(end - p));
		if (n < 0 && errno != EINTR) return false;
		if (n > 0) p += n;
	}
	return true;
}

/* mkstemp() lets nobody else read the file. */
static bool as_other_files(int file)
{
	mode_t mask = umask(0);
	umask(mask);
	return !fchmod(file, 0666 & ~mask);
}

static bool fill(int file, const struct text *t)
{
	bool fine = write_all(file, t) && as_other_files(file) && !fsync(file);
	int reason = errno;
	if (close(file) && fine) return false;
	errno = reason;
	return fine;
}

/* So that the new name is on the disk. Some file systems cannot do that for a
 * folder; they have no need to. */
static void sync_folder(const char *path)
{
	struct text folder = { 0 };
	path_folder(&folder, path);
	int file = open(text_get(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file >= 0) {
		(void)fsync(file);
		close(file);
	}
	text_free(&folder);
}

/* Writes the text beside the file, waits until it is on the disk, and gives it
 * the file's name: whoever reads it, also after a crash, sees the old contents
 * or the new ones. False, with errno set, if that fails; then the file is as it
 * was. */
static bool replace_file(const char *path, const struct text *t)
{
	struct text beside = { 0 };
	assert(t->length);
	text_format(&beside, "%s.XXXXXX", path);
	int file = mkostemp(beside.data, O_CLOEXEC);
	bool made = file >= 0;
	bool fine = made && fill(file, t) && !rename(beside.data, path);
	int reason = errno;
	if (fine)
		sync_folder(path);
	else if (made)
		unlink(beside.data);
	text_free(&beside);
	errno = reason;
	return fine;
}

bool unit_save(const char *path, const struct unit *u)
{
	struct text t = { 0 };
	unit_write(&t, u);
	bool fine = replace_file(path, &t);
	text_free(&t);
	return fine;
}

bool unit_is_file(const char *path)
{
	static const char beginning[] = "{\"isoscope_unit\"";
	char bytes[sizeof beginning - 1];
	struct stat what;
	if (stat(path, &what) || !S_ISREG(what.st_mode)) return false;
	FILE *f = fopen(path, "rbe");
	size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	if (f) fclose(f);
	return n == sizeof bytes && !memcmp(bytes, beginning, n);
}
