#include "formats/formats.h"

#include <string.h>

#include "formats/parsers.h"

static const struct {
	const char *word, *description;
} table[FORMAT_COUNT] = {
#define X(id, word, ending, description) [id] = { word, description },
	FORMAT_TABLE(X)
#undef X
};

static format_printer *const printers[FORMAT_COUNT] = {
	[FORMAT_ISOSCOPE] = isoscope_print,
	[FORMAT_PLUME] = plume_print,
	[FORMAT_AWDIT] = awdit_text_print,
	[FORMAT_DBCOP_BINCODE] = dbcop_bincode_print,
	[FORMAT_DBCOP_JSON] = dbcop_json_print,
	[FORMAT_DBCOP_TEXT] = dbcop_text_print,
	[FORMAT_REGISTER_EDN] = register_edn_print,
	[FORMAT_REGISTER_JSON] = register_json_print,
	[FORMAT_LIST_EDN] = list_edn_print,
	[FORMAT_LIST_JSON] = list_json_print,
	[FORMAT_ISOPREDICT] = isopredict_print,
};

const char *format_word(enum format f)
{
	return f < FORMAT_COUNT ? table[f].word : "unknown";
}

const char *format_description(enum format f)
{
	return f < FORMAT_COUNT ? table[f].description : "unknown";
}

enum format format_from_word(const char *word)
{
	enum format f = 0;
	while (f < FORMAT_COUNT && strcmp(word, table[f].word) != 0) f++;
	return f;
}

bool format_is_folder(enum format f)
{
	return f == FORMAT_COBRA;
}

bool format_print(struct text *t, enum format f, const struct trace *r,
                  const uint32_t *order, struct diags *d)
{
	if (f < FORMAT_COUNT && printers[f]) return printers[f](t, r, order, d);
	diags_add(d, DIAG_ERROR, NULL, 0, 0, NULL,
	          "histories in the format %s are folders: name one to write "
	          "to",
	          format_word(f));
	return false;
}

static bool no_folder(const char *path, enum format f, struct diags *d)
{
	diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
	          "histories in the format %s are files, not folders",
	          format_word(f));
	return false;
}

bool format_can_be_folder(enum format f, const struct trace *r, struct diags *d)
{
	return f == FORMAT_COBRA ? cobra_can_write(r, d)
	                         : no_folder(r->file, f, d);
}

bool format_write_folder(const char *path, enum format f, const struct trace *r,
                         struct diags *d)
{
	return f == FORMAT_COBRA ? cobra_write_folder(path, r, d)
	                         : no_folder(path, f, d);
}
