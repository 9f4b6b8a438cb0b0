#include "ids.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include <isoscope/client.h>

struct ids ids_get(const char *key)
{
	const char *text = iso_get_string(key);
	struct ids list = {0};

	while (text != NULL && *text != '\0') {
		char *end;

		ids_add(&list, (int)strtol(text, &end, 10));
		text = *end == ',' ? end + 1 : end;
	}
	return list;
}

void ids_put(const char *key, const struct ids *list)
{
	char text[12 * IDS_MAX + 1] = "";
	int length = 0;

	for (int i = 0; i < list->count; i++)
		length += snprintf(text + length, sizeof text - (size_t)length,
		                   "%s%d", i > 0 ? "," : "", list->id[i]);
	iso_put_string(key, text);
}

static int place(const struct ids *list, int id)
{
	int i = 0;

	while (i < list->count && list->id[i] != id) i++;
	return i;
}

bool ids_have(const struct ids *list, int id)
{
	return place(list, id) < list->count;
}

void ids_add(struct ids *list, int id)
{
	assert(list->count < IDS_MAX);
	list->id[list->count++] = id;
}

void ids_remove(struct ids *list, int id)
{
	int i = place(list, id);

	if (i == list->count) return;
	for (list->count--; i < list->count; i++)
		list->id[i] = list->id[i + 1];
}
