#include "report/json_members.h"

#include <math.h>

#include "report/json.h"

void json_member_text(struct text *t, const char *name, const char *value)
{
	text_char(t, ',');
	json_name(t, name);
	json_text(t, value);
}

void json_member_count(struct text *t, const char *name, uint64_t n)
{
	text_char(t, ',');
	json_count(t, name, n);
}

void json_member_number(struct text *t, const char *name, double n)
{
	text_char(t, ',');
	json_name(t, name);
	if (isnan(n))
		text_string(t, "null");
	else
		text_format(t, "%.15g", n);
}

void json_member_bool(struct text *t, const char *name, bool value)
{
	text_char(t, ',');
	json_name(t, name);
	text_string(t, value ? "true" : "false");
}

void json_member_line(struct text *t, uint32_t line)
{
	if (line)
		json_member_count(t, "line", line);
	else
		json_member_text(t, "line", NULL);
}

void json_member_position(struct text *t, struct position at)
{
	json_member_text(t, "file", at.file);
	json_member_count(t, "line", at.line);
	json_member_count(t, "column", at.column);
}

void json_member_taken(struct text *t, const char *name, struct text *value)
{
	json_member_text(t, name, text_get(value));
	text_clear(value);
}
