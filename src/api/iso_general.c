/* isoscope.h: errors, levels, diagnostics, sizes of structures. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/objects.h"
#include "base/memory.h"

#define X(id, ...) \
	_Static_assert(ISO_##id == id + 1, "iso_level follows LEVEL_TABLE");
LEVEL_TABLE(X)
#undef X
_Static_assert((int)ISO_FORMAT_ISOSCOPE == FORMAT_ISOSCOPE + 1 &&
                       (int)ISO_FORMAT_COBRA == FORMAT_COBRA + 1 &&
                       (int)ISO_FORMAT_ISOPREDICT == FORMAT_ISOPREDICT + 1 &&
                       FORMAT_ISOPREDICT + 1 == FORMAT_COUNT,
               "iso_format follows FORMAT_TABLE");

const char *iso_version(void)
{
	return ISO_VERSION;
}

const char *iso_strerror(int error)
{
	switch (error) {
#define ISO_X(id, number, text, when) \
	case id: return text;
		ISO_ERRORS(ISO_X)
#undef ISO_X
	case ISO_OK: return "no error";
	}
	return "unknown error";
}

const char *iso_level_word(iso_level level)
{
	return is_level(level) ? level_word(internal_level(level)) : NULL;
}

const char *iso_level_name(iso_level level)
{
	return is_level(level) ? level_name(internal_level(level)) : NULL;
}

iso_level iso_level_from_word(const char *word)
{
	if (!word) return ISO_LEVEL_DEFAULT;
	enum level l = level_from_word(word);
	return l == LEVEL_COUNT ? ISO_LEVEL_DEFAULT : (iso_level)(l + 1);
}

const char *iso_format_word(iso_format format)
{
	enum format f =
		is_format(format) ? internal_format(format) : FORMAT_COUNT;
	return f < FORMAT_COUNT ? format_word(f) : NULL;
}

const char *iso_format_description(iso_format format)
{
	enum format f =
		is_format(format) ? internal_format(format) : FORMAT_COUNT;
	return f < FORMAT_COUNT ? format_description(f) : NULL;
}

iso_format iso_format_from_word(const char *word)
{
	enum format f = word ? format_from_word(word) : FORMAT_COUNT;
	return f == FORMAT_COUNT ? ISO_FORMAT_DETECT : (iso_format)(f + 1);
}

void iso_free(void *printed)
{
	free(printed);
}

/* ---- structures ---- */

bool options_read(void *to, size_t size, const void *from)
{
	size_t given = size;
	assert(size >= sizeof given);
	memset(to, 0, size);
	if (!from) return true;
	memcpy(&given, from, sizeof given);
	if (!given) given = size;
	if (given > size || given < sizeof given) return false;
	memcpy(to, from, given);
	return true;
}

bool structure_write(void *to, const void *from, size_t size)
{
	size_t given;
	memcpy(&given, to, sizeof given);
	if (given > size || given < sizeof given) return false;
	memcpy(to, from, given);
	memcpy(to, &given, sizeof given);
	return true;
}

/* ---- diagnostics ---- */

void diags_give(iso_diags **to, struct diags *list)
{
	if (to) {
		*to = mem_take0(1, sizeof **to);
		(*to)->list = *list;
	} else {
		diags_free(list);
	}
	*list = (struct diags){ 0 };
}

int problem_error(const struct problem *p, int input)
{
	assert(input < ISO_OK);
	switch (p->kind) {
	case PROBLEM_NONE: break;
	case PROBLEM_REQUEST: return ISO_E_ARGUMENT;
	case PROBLEM_INPUT: return input;
	case PROBLEM_LIMIT: return ISO_E_LIMIT;
	case PROBLEM_SYSTEM: return ISO_E_FILE;
	case PROBLEM_FAULT: return ISO_E_CLIENT;
	}
	return ISO_OK;
}

int problem_give(struct problem *p, iso_diags **to)
{
	int error = problem_error(p, ISO_E_HISTORY);
	if (p->words.length)
		diags_add(&p->diags, DIAG_ERROR, NULL, 0, 0, NULL, "%s",
		          text_get(&p->words));
	diags_give(to, &p->diags);
	problem_free(p);
	return error;
}

size_t iso_diags_count(const iso_diags *diags)
{
	return diags ? diags->list.count : 0;
}

int iso_diags_get(const iso_diags *diags, size_t i, iso_diag *out)
{
	if (!diags || !out) return ISO_E_ARGUMENT;
	if (i >= diags->list.count) return ISO_E_RANGE;
	const struct diag *d = &diags->list.items[i];
	*out = (iso_diag){
		.severity = d->kind == DIAG_ERROR     ? ISO_ERROR
		            : d->kind == DIAG_WARNING ? ISO_WARNING
		                                      : ISO_NOTE,
		.file = d->file,
		.line = d->line,
		.column = d->column,
		.message = d->message,
		.source_line = d->source_line,
	};
	return ISO_OK;
}

void iso_diags_free(iso_diags *diags)
{
	if (!diags) return;
	diags_free(&diags->list);
	free(diags);
}
