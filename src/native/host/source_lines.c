#include "native/host/source_lines.h"

#include <assert.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"

/* ==== source files as reports show them: their names, and their lines ==== */

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

static struct source_text *source_text_new(void)
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

static void source_text_free(struct source_text *t)
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

/* The file of a path as debugging information has it; read at most once. */
static struct source_file *source_text_file(struct source_text *t,
                                            const char *path)
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
	assert(*length <= t->left);
	t->left -= *length;
	return bytes;
}

/* A line that is not UTF-8, or holds a zero, is no text. */
static char *end_line(char *line, size_t length)
{
	assert(line);
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
		assert(stop >= at && stop <= end);
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

/* From 1. NULL if the file cannot be read, has no such line, or the line is no
 * text. */
static const char *source_file_line(struct source_text *t,
                                    struct source_file *f, uint32_t line)
{
	if (!f->tried) load(t, f);
	return line && line <= f->count ? f->lines[line - 1] : NULL;
}

/* ==== places of addresses ==== */

enum { STACK_LEAST = 512 << 10 /* bytes */ };

/* An object's file, and the module that libdwfl makes of it. */
struct object {
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: it cannot be read */
};

struct source_lines {
	struct object *objects;
	uint32_t count, capacity;
	struct source_text *text;
};

struct source_lines *source_lines_new(void)
{
	struct source_lines *s = mem_take0(1, sizeof *s);
	s->text = source_text_new();
	return s;
}

void source_lines_free(struct source_lines *s)
{
	if (!s) return;
	for (uint32_t i = 0; i < s->count; i++) {
		if (s->objects[i].dwfl) dwfl_end(s->objects[i].dwfl);
		free(s->objects[i].path);
	}
	free(s->objects);
	source_text_free(s->text);
	free(s);
}

/* ---- Objects ---- */

/* Only what is in the object itself: the library's own search could ask servers
 * on the network. */
static int no_debuginfo(Dwfl_Module *module, void **data, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word crc, char **out)
{
	(void)module, (void)data, (void)name, (void)base;
	(void)file, (void)link, (void)crc, (void)out;
	return -1;
}

/* A copy in memory: the file may be compiled anew meanwhile, and what libelf
 * has mapped would change under it. -1 on failure. */
static int copy_of(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0) return -1;
	int copy = memfd_create("isoscope-object", MFD_CLOEXEC);
	ssize_t sent = 1;
	while (copy >= 0 && sent > 0)
		sent = sendfile(copy, file, NULL, 1 << 30);
	close(file);
	if (copy >= 0 && !sent) return copy;
	if (copy >= 0) close(copy);
	return -1;
}

static void open_object(struct object *o)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = no_debuginfo,
		.section_address = dwfl_offline_section_address
	};
	o->dwfl = dwfl_begin(&callbacks);
	if (!o->dwfl) return;
	int copy = copy_of(o->path);
	if (copy >= 0)
		o->module = dwfl_report_offline(o->dwfl, "", o->path, copy);
	if (copy >= 0 && !o->module) close(copy);
	if (dwfl_report_end(o->dwfl, NULL, NULL)) o->module = NULL;
}

static struct object *object_of(struct source_lines *s, const char *path)
{
	assert(path);
	for (uint32_t i = 0; i < s->count; i++)
		if (!strcmp(s->objects[i].path, path)) return &s->objects[i];
	VEC_RESERVE(s->objects, s->count, s->capacity);
	struct object *o = &s->objects[s->count++];
	memset(o, 0, sizeof *o);
	o->path = mem_copy_string(path);
	open_object(o);
	return o;
}

/* ---- Debugging information ---- */

/* The compilation unit of an address. Not every compiler writes the table of
 * addresses that makes this quick. */
static Dwarf_Die *unit_of(Dwfl_Module *m, Dwarf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(m, address, bias);
	if (unit) return unit;
	while ((unit = dwfl_module_nextcu(m, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) > 0) return unit;
	return NULL;
}

/* The innermost function, be it inlined. */
static const char *function_in(Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Die *scopes = NULL;
	const char *name = NULL;
	int count = dwarf_getscopes(unit, address, &scopes);
	for (int i = 0; i < count && !name; i++) {
		int tag = dwarf_tag(&scopes[i]);
		if (tag == DW_TAG_subprogram ||
		    tag == DW_TAG_inlined_subroutine)
			name = dwarf_diename(&scopes[i]);
	}
	free(scopes);
	return name;
}

static size_t index_of(Dwarf_Lines *lines, size_t count, const Dwarf_Line *line)
{
	size_t i = 0;
	while (i < count && dwarf_onesrcline(lines, i) != line) i++;
	assert(i <= count);
	return i;
}

/* Code that the compiler made up has line 0: it belongs to what stands
 * before. */
static Dwarf_Line *line_of(Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Lines *lines;
	size_t count;
	int number = 0;
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	if (!line || dwarf_lineno(line, &number) || number) return line;
	if (dwarf_getsrclines(unit, &lines, &count)) return line;
	bool ends = false;
	size_t i = index_of(lines, count, line);
	while (i-- && !number && !ends) {
		line = dwarf_onesrcline(lines, i);
		if (dwarf_lineno(line, &number)) return NULL;
		dwarf_lineendsequence(line, &ends);
	}
	return number && !ends ? line : NULL;
}

/* A path that is not absolute starts where the compiler was. */
static struct source_file *file_of(struct source_lines *s, Dwarf_Die *unit,
                                   const char *path)
{
	Dwarf_Attribute a;
	const char *folder = dwarf_formstring(
		dwarf_attr_integrate(unit, DW_AT_comp_dir, &a));
	if (*path == '/' || !folder) return source_text_file(s->text, path);
	struct text whole = { 0 };
	text_format(&whole, "%s/%s", folder, path);
	struct source_file *f = source_text_file(s->text, text_get(&whole));
	text_free(&whole);
	return f;
}

static void fill_line(struct source_lines *s, Dwarf_Die *unit, Dwarf_Line *line,
                      struct source_place *out)
{
	int number = 0, column = 0;
	const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!path || dwarf_lineno(line, &number) || number <= 0) return;
	dwarf_linecol(line, &column);
	struct source_file *f = file_of(s, unit, path);
	out->file = f->name;
	out->line = (uint32_t)number;
	out->column = column > 0 ? (uint32_t)column : 0;
	out->source_line = source_file_line(s->text, f, out->line);
}

/* libdw reads the lines of a unit onto the stack, without a look at its limit:
 * some 100 KiB. */
static bool has_stack(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_STACK, &limit) ||
	       limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= STACK_LEAST;
}

static void fill_from_unit(struct source_lines *s, Dwfl_Module *m,
                           Dwarf_Addr address, struct source_place *out)
{
	Dwarf_Addr bias;
	if (!has_stack()) return;
	Dwarf_Die *unit = unit_of(m, address, &bias);
	if (!unit) return;
	out->function = function_in(unit, address - bias);
	fill_line(s, unit, line_of(unit, address - bias), out);
}

/* ---- Symbols ---- */

static const char *symbol_at(Dwfl_Module *m, Dwarf_Addr address)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(m, address, &offset, &symbol,
	                                        NULL, NULL, NULL);
	if (!name || !*name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
		return NULL;
	return !symbol.st_size || offset < symbol.st_size ? name : NULL;
}

bool source_lines_find(struct source_lines *s, const char *object,
                       uint64_t address, struct source_place *out)
{
	struct object *o = object_of(s, object);
	GElf_Addr bias;
	memset(out, 0, sizeof *out);
	if (!o->module || !dwfl_module_getelf(o->module, &bias)) return false;
	fill_from_unit(s, o->module, address + bias, out);
	if (!out->function)
		out->function = symbol_at(o->module, address + bias);
	return out->function || out->file;
}
