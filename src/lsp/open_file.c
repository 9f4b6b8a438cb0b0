#include "lsp/open_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lsp/positions.h"

struct open_file *open_file_find(const struct open_files *all, const char *uri)
{
	for (size_t i = 0; uri && i < all->count; i++)
		if (!strcmp(all->items[i]->uri, uri)) return all->items[i];
	return NULL;
}

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

/* file://host/a%20b.tx: the path. Of what is no file, all of it. */
static char *path_of(const char *uri)
{
	struct text path = { 0 };
	const char *at = uri;
	if (!strncmp(uri, "file://", 7)) at = uri + 7 + strcspn(uri + 7, "/");
	for (; *at; at++) {
		int high = *at == '%' ? digit(at[1]) : -1;
		int low = high >= 0 ? digit(at[2]) : -1;
		if (low >= 0 && (high || low)) {
			text_char(&path, (char)(high * 16 + low));
			at += 2;
		} else {
			text_char(&path, *at);
		}
	}
	char *copy = mem_copy_string(text_get(&path));
	text_free(&path);
	return copy;
}

struct open_file *open_file_add(struct open_files *all, const char *uri)
{
	struct open_file *f = open_file_find(all, uri);
	if (f) return f;
	VEC_RESERVE(all->items, all->count, all->capacity);
	f = mem_take0(1, sizeof *f);
	f->uri = mem_copy_string(uri);
	f->path = path_of(uri);
	f->from = -1;
	all->items[all->count++] = f;
	return f;
}

void open_file_forget(struct open_file *f)
{
	json_decref(f->look);
	json_decref(f->trial);
	json_decref(f->repair);
	f->look = f->trial = f->repair = NULL;
	text_clear(&f->told);
}

void open_file_remove(struct open_files *all, struct open_file *f)
{
	size_t i = 0;
	assert(!f->worker);
	while (all->items[i] != f) i++;
	all->items[i] = all->items[--all->count];
	open_file_forget(f);
	json_decref(f->waiting);
	text_free(&f->text);
	text_free(&f->told);
	free(f->uri);
	free(f->path);
	free(f);
}

/* Of {"line":..,"character":..}; false if it is none. */
static bool byte_of(const struct open_file *f, const json_t *position,
                    size_t *out)
{
	const json_t *line = json_object_get(position, "line");
	const json_t *units = json_object_get(position, "character");
	json_int_t l = json_integer_value(line), u = json_integer_value(units);
	if (!json_is_integer(line) || !json_is_integer(units) || l < 0 || u < 0)
		return false;
	*out = position_to_byte(text_get(&f->text), f->text.length, (size_t)l,
	                        (size_t)u);
	return true;
}

static bool change(struct open_file *f, const json_t *one)
{
	const json_t *range = json_object_get(one, "range");
	const json_t *with = json_object_get(one, "text");
	struct text after = { 0 };
	size_t from = 0, to = f->text.length;
	if (!json_is_string(with)) return false;
	if (range &&
	    (!byte_of(f, json_object_get(range, "start"), &from) ||
	     !byte_of(f, json_object_get(range, "end"), &to) || from > to))
		return false;
	assert(to <= f->text.length);
	text_bytes(&after, text_get(&f->text), from);
	text_bytes(&after, json_string_value(with), json_string_length(with));
	text_bytes(&after, text_get(&f->text) + to, f->text.length - to);
	text_free(&f->text);
	f->text = after;
	return true;
}

bool open_file_change(struct open_file *f, const json_t *changes)
{
	size_t i;
	const json_t *one;
	if (!json_is_array(changes)) return false;
	json_array_foreach(changes, i, one) if (!change(f, one)) return false;
	return true;
}

json_t *open_file_range(const struct open_file *f, size_t from, size_t to)
{
	const char *text = text_get(&f->text);
	return json_pack("{soso}", "start",
	                 position_of_byte(text, f->text.length, from), "end",
	                 position_of_byte(text, f->text.length, to));
}
