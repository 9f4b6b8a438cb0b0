#include "native/host/source_text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/utf8.h"

#define MOST_BYTES ((uint64_t)64 << 20) /* of all files together */

struct source_file {
	char *path, *name;
	bool tried;  /* to read it */
	char *bytes; /* line ends are zeroes */
	char **lines;
	uint32_t count, capacity;
};

struct source_text {
	struct source_file **files;
	uint32_t count, capacity;
	char *folder; /* the current one, a slash at the end; NULL if unknown */
	uint64_t left;
};

struct source_text *source_text_new(void)
{
	struct source_text *t = mem_take0(1, sizeof *t);
	char *folder = realpath(".", NULL);
	t->left = MOST_BYTES;
	if (!folder) return t;
	size_t length = strlen(folder);
	t->folder = mem_take(length + 2);
	memcpy(t->folder, folder, length);
	memcpy(t->folder + length, "/", 2);
	free(folder);
	return t;
}

void source_text_free(struct source_text *t)
{
	if (!t) return;
	for (uint32_t i = 0; i < t->count; i++) {
		struct source_file *f = t->files[i];
		free(f->path);
		free(f->name);
		free(f->bytes);
		free(f->lines);
		free(f);
	}
	free(t->files);
	free(t->folder);
	free(t);
}

/* ---- Names ---- */

/* What follows the current folder in a path, or NULL. */
static const char *below(const struct source_text *t, const char *path)
{
	size_t length = t->folder ? strlen(t->folder) : 0;
	if (!length || strncmp(path, t->folder, length)) return NULL;
	return path + length;
}

/* Without "./" and double slashes. A ".." may lead through a symbolic link:
 * only the system knows where to. */
static char *simplified(const char *path)
{
	char *out = mem_take(strlen(path) + 1), *to = out;
	for (const char *p = path; *p;) {
		bool begins = to == out || to[-1] == '/';
		if (begins && p[0] == '.' && p[1] == '/')
			p += 2;
		else if (to > out && to[-1] == '/' && *p == '/')
			p++;
		else
			*to++ = *p++;
	}
	*to = 0;
	return out;
}

static bool climbs(const char *path)
{
	return strstr(path, "/../") || !strncmp(path, "../", 3);
}

static char *name_of(const struct source_text *t, const char *path)
{
	char *name = simplified(path), *real = realpath(path, NULL);
	const char *chosen = name;
	if (*name != '/' && !climbs(name))
		chosen = name;
	else if (below(t, name) && !climbs(name))
		chosen = below(t, name);
	else if (real && below(t, real))
		chosen = below(t, real);
	else if (real && climbs(name))
		chosen = real;
	char *copy = mem_copy_string(chosen);
	free(name);
	free(real);
	return copy;
}

struct source_file *source_text_file(struct source_text *t, const char *path)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (!strcmp(t->files[i]->path, path)) return t->files[i];
	struct source_file *f = mem_take0(1, sizeof *f);
	f->path = mem_copy_string(path);
	f->name = name_of(t, path);
	VEC_RESERVE(t->files, t->count, t->capacity);
	t->files[t->count++] = f;
	return f;
}

const char *source_file_name(const struct source_file *f)
{
	return f->name;
}

/* ---- Lines ---- */

static bool read_all(int file, char *to, size_t count)
{
	while (count) {
		ssize_t got = read(file, to, count);
		if (got <= 0) return false;
		to += got;
		count -= (size_t)got;
	}
	return true;
}

static char *read_file(struct source_text *t, int file, size_t *length)
{
	struct stat s;
	if (fstat(file, &s) || !S_ISREG(s.st_mode)) return NULL;
	if ((uint64_t)s.st_size > t->left) return NULL;
	*length = (size_t)s.st_size;
	char *bytes = mem_take(*length + 1);
	if (!read_all(file, bytes, *length)) {
		free(bytes);
		return NULL;
	}
	bytes[*length] = 0;
	t->left -= *length;
	return bytes;
}

/* A line that is not UTF-8, or holds a zero, is no text. */
static char *end_line(char *line, size_t length)
{
	if (length && line[length - 1] == '\r') length--;
	line[length] = 0;
	bool is_text = !memchr(line, 0, length) && utf8_is_valid(line, length);
	return is_text ? line : NULL;
}

static void split(struct source_file *f, size_t length)
{
	char *at = f->bytes, *end = f->bytes + length;
	while (at < end) {
		char *stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop) stop = end;
		VEC_RESERVE(f->lines, f->count, f->capacity);
		f->lines[f->count++] = end_line(at, (size_t)(stop - at));
		at = stop + 1;
	}
}

static void load(struct source_text *t, struct source_file *f)
{
	size_t length;
	f->tried = true;
	int file = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file < 0) return;
	f->bytes = read_file(t, file, &length);
	close(file);
	if (f->bytes) split(f, length);
}

const char *source_file_line(struct source_text *t, struct source_file *f,
                             uint32_t line)
{
	if (!f->tried) load(t, f);
	return line && line <= f->count ? f->lines[line - 1] : NULL;
}
