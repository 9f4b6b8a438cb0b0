#include "distribute/names.h"

#include <string.h>

enum { DIGITS = 3 };

void unit_file_name(struct text *t, const char *folder, const char *kind,
                    const char *id)
{
	size_t digits = strcspn(id, ".");
	if (folder) text_format(t, "%s/", folder);
	text_string(t, kind);
	if (digits) {
		text_char(t, '-');
		if (digits < DIGITS) text_pad(t, '0', DIGITS - digits);
		text_string(t, id);
	}
	text_string(t, ".json");
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
