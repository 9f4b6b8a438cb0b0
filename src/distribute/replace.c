#include "distribute/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	const char *slash = strrchr(path, '/');
	if (slash)
		text_bytes(&folder, path, (size_t)(slash - path) + 1);
	else
		text_char(&folder, '.');
	int file = open(text_get(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file >= 0) {
		(void)fsync(file);
		close(file);
	}
	text_free(&folder);
}

bool replace_file(const char *path, const struct text *t)
{
	struct text beside = { 0 };
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
