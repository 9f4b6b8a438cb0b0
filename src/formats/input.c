#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "formats/parsers.h"

enum {
	LINE_SHOWN = 400,      /* bytes of a line kept for messages */
	PASSED_STEP = 1 << 20, /* pages are given back in such pieces */
	READ_STEP = 1 << 16
};

static bool cannot_read(const struct input *in, struct diags *d,
                        const char *why)
{
	diags_add(d, DIAG_ERROR, in->file, 0, 0, NULL, "cannot read: %s", why);
	return false;
}

/* What cannot be mapped: pipes and terminals. */
static bool read_all(struct input *in, int fd, struct diags *d)
{
	struct text t = { 0 };
	uint64_t most = mem_usual_limit();
	for (;;) {
		if (t.length > most) {
			text_free(&t);
			return cannot_read(in, d,
			                   "it takes more than half of the "
			                   "memory of this machine; put it in "
			                   "a file, which is read in pieces");
		}
		text_pad(&t, 0, READ_STEP);
		t.length -= READ_STEP;
		ssize_t n = read(fd, t.data + t.length, READ_STEP);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) {
			text_free(&t);
			return cannot_read(in, d, strerror(errno));
		}
		if (n == 0) break;
		assert((size_t)n <= READ_STEP);
		t.length += (size_t)n;
	}
	t.data[t.length] = '\0';
	in->text = t.data;
	in->bytes = t.data;
	in->length = t.length;
	return true;
}

struct input_pages {
	void *at;
	size_t size;
};

static void unmap(void *data)
{
	struct input_pages *p = data;
	munmap(p->at, p->size);
}

/* Maps the file over pages of zeros, one more than it needs: so a zero byte
 * follows even where the file ends with a page. */
static bool map(struct input *in, int fd, size_t length)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (length / page + 2) * page;
	struct input_pages *pages = mem_take(sizeof *pages);
	void *p =
		mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		free(pages);
		return false;
	}
	if (mmap(p, length, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
	    MAP_FAILED) {
		munmap(p, size);
		free(pages);
		return false;
	}
	assert(size > length);
	*pages = (struct input_pages){ p, size };
	mem_hold(pages, unmap);
	in->pages = pages;
	in->bytes = p;
	in->length = length;
	return true;
}

static bool read_file(struct input *in, int fd, struct diags *d)
{
	struct stat s;
	if (fstat(fd, &s)) return cannot_read(in, d, strerror(errno));
	if (S_ISDIR(s.st_mode))
		return cannot_read(in, d, "this is a folder, not a file");
	if (S_ISREG(s.st_mode) && s.st_size > 0 &&
	    lseek(fd, 0, SEEK_CUR) == 0 && map(in, fd, (size_t)s.st_size))
		return true;
	return read_all(in, fd, d);
}

static bool is_blank(const struct input *in)
{
	for (size_t i = 0; i < in->length; i++)
		if (!strchr(" \t\r\n", in->bytes[i]) || !in->bytes[i])
			return false;
	return true;
}

/* The program that unpacks what begins like this, or NULL. */
static const char *unpacker(const struct input *in)
{
	static const struct {
		const char *magic, *program;
	} table[] = {
		{ "\x1f\x8b", "gzip -dc" },
		{ "\x28\xb5\x2f\xfd", "zstd -dc" },
		{ "\xfd"
		  "7zXZ",
		  "xz -dc" },
		{ "BZh", "bzip2 -dc" },
		{ "PK\x03\x04", "unzip -p" },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		size_t n = strlen(table[i].magic);
		if (in->length >= n && !memcmp(in->bytes, table[i].magic, n))
			return table[i].program;
	}
	return NULL;
}

static bool is_history(const struct input *in, struct diags *d)
{
	const char *program = unpacker(in);
	if (program)
		diags_add(d, DIAG_ERROR, in->file, 0, 0, NULL,
		          "the file is compressed; unpack it first, "
		          "as with '%s'",
		          program);
	else if (is_blank(in))
		diags_add(d, DIAG_ERROR, in->file, 0, 0, NULL,
		          "the file is empty: it holds no history");
	else
		return true;
	return false;
}

static void close_descriptor(void *fd)
{
	close((int)(intptr_t)fd);
}

bool input_open_any(struct input *in, const char *path, struct diags *d)
{
	bool standard = !strcmp(path, "-");
	*in = (struct input){ .file = standard ? "<stdin>" : path };
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) return cannot_read(in, d, strerror(errno));
	/* A file descriptor as a thing to be held. */
	void *held = (void *)(intptr_t)fd;
	if (!standard) mem_hold(held, close_descriptor);
	bool good = read_file(in, fd, d);
	if (!standard) {
		mem_let_go(held);
		close(fd);
	}
	return good;
}

bool input_open(struct input *in, const char *path, struct diags *d)
{
	if (!input_open_any(in, path, d)) return false;
	if (is_history(in, d)) return true;
	input_close(in);
	return false;
}

void input_close(struct input *in)
{
	if (in->pages) {
		mem_let_go(in->pages);
		unmap(in->pages);
	}
	free(in->pages);
	free(in->text);
	in->pages = NULL;
	in->text = NULL;
}

void input_passed(struct input *in, const char *at)
{
	size_t offset = (size_t)(at - in->bytes);
	assert(offset <= in->length);
	if (!in->pages || offset - in->passed < PASSED_STEP) return;
	size_t end = offset & ~(size_t)(PASSED_STEP - 1);
	char *start = in->pages->at;
	madvise(start + in->passed, end - in->passed, MADV_DONTNEED);
	assert(end > in->passed && end <= in->pages->size);
	in->passed = end;
}

/* ---- errors ---- */

unsigned input_utf8_length(const char *at, size_t left)
{
	return *at ? (unsigned)utf8_length(at, left) : 0;
}

/* The line that begins here, or NULL if it is not fit to be shown: not UTF-8.
 * The caller frees it. */
static char *line_copy(const char *start, size_t left)
{
	const char *end = memchr(start, '\n', left);
	size_t length = end ? (size_t)(end - start) : left;
	if (length && start[length - 1] == '\r') length--;
	size_t shown = 0;
	while (shown < length && shown < LINE_SHOWN) {
		unsigned n = input_utf8_length(start + shown, length - shown);
		if (!n) return NULL;
		shown += n;
	}
	char *copy = mem_take(shown + 1);
	assert(shown <= length && length <= left);
	memcpy(copy, start, shown);
	copy[shown] = '\0';
	return copy;
}

static uint32_t characters(const char *from, const char *to)
{
	uint32_t n = 0;
	assert(from <= to);
	for (; from < to; from++) n += ((unsigned char)*from & 0xc0) != 0x80;
	return n;
}

void input_error(const struct input *in, struct diags *d, const char *at,
                 const char *format, ...)
{
	const char *end = in->bytes + in->length, *start = in->bytes, *next;
	if (at > end) at = end;
	if (at < start) at = start;
	uint32_t line = 1;
	while ((next = memchr(start, '\n', (size_t)(at - start))) != NULL) {
		start = next + 1;
		line++;
	}
	struct text message = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&message, format, args);
	va_end(args);
	assert(start <= at && at <= end);
	char *shown = line_copy(start, (size_t)(end - start));
	diags_add(d, DIAG_ERROR, in->file, line, 1 + characters(start, at),
	          shown, "%s", text_get(&message));
	free(shown);
	text_free(&message);
}

void input_error_byte(const struct input *in, struct diags *d, const char *at,
                      const char *format, ...)
{
	struct text message = { 0 };
	va_list args;
	assert(at >= in->bytes && at <= in->bytes + in->length);
	va_start(args, format);
	text_vformat(&message, format, args);
	va_end(args);
	diags_add(d, DIAG_ERROR, in->file, 0, 0, NULL, "byte %zu: %s",
	          (size_t)(at - in->bytes), text_get(&message));
	text_free(&message);
}
