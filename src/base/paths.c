#include "base/paths.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

void path_folder(struct text *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		text_char(t, '.');
	else if (slash == path)
		text_char(t, '/');
	else
		text_bytes(t, path, (size_t)(slash - path));
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* Adds a part of a path; `begin` is where the path begins. */
static void add_part(struct text *t, size_t begin, const char *part,
                     size_t length)
{
	const char *last = text_get(t) + begin, *slash = strrchr(last, '/');
	if (slash) last = slash + 1;
	if (!length || (length == 1 && *part == '.')) return;
	if (length == 2 && !memcmp(part, "..", 2) && *last &&
	    strcmp(last, "..")) {
		t->length = (size_t)(last - t->data);
		if (slash && slash > t->data + begin) t->length--;
		t->data[t->length] = '\0';
		return;
	}
	if (*last) text_char(t, '/');
	text_bytes(t, part, length);
}

void path_shortest(struct text *t, const char *path)
{
	size_t begin = t->length;
	if (*path == '/') text_char(t, '/');
	for (const char *at = path; *at;) {
		size_t length = strcspn(at, "/");
		add_part(t, begin, at, length);
		at += length + (at[length] == '/');
	}
	if (is_same_file(text_get(t) + begin, path)) return;
	t->length = begin;
	text_string(t, path);
}

bool path_exists(const char *path)
{
	return !access(path, F_OK);
}

/* What permissions say is not all: a file system may hold no such files. */
static bool can_be_made(const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0) return false;
	close(file);
	return !unlink(path);
}

bool path_is_writable(const char *path)
{
	struct stat what;
	assert(path);
	if (stat(path, &what))
		return errno == ENOENT && *path && can_be_made(path);
	if (!S_ISDIR(what.st_mode)) return !access(path, W_OK);
	errno = EISDIR;
	return false;
}
