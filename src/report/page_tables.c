/* What a result says in numbers and words, as tables. */
#include <assert.h>
#include <string.h>

#include "axioms/level.h"
#include "report/page_parts.h"
#include "result/numbers.h"

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);
	return n >= m && !strcmp(name + n - m, end);
}

/* Of a member whose name says what it measures. */
static void add_measure(struct text *t, const char *name, const json_t *value)
{
	struct text words = { 0 };
	double n = json_number_value(value);
	bool time = n >= 0 && n < 1e12 && ends_in(name, "seconds");
	if (json_is_number(value) && time)
		number_seconds(&words, n);
	else if (json_is_integer(value) && ends_in(name, "memory_peak") &&
	         n > 0)
		number_memory(&words, (uint64_t)n);
	if (words.length)
		text_string(t, text_get(&words));
	else
		page_value(t, value);
	text_free(&words);
}

/* A verdict has its colour, wherever it stands. */
static const char *class_of(const json_t *value)
{
	static const struct {
		const char *word, *class;
	} all[] = { { "holds", "good" },
		    { "violated", "bad" },
		    { "undecided", "open" },
		    { "inconclusive", "open" },
		    { "no violation", "open" } };
	const char *word = json_string_value(value);
	for (size_t i = 0; word && i < sizeof all / sizeof *all; i++)
		if (!strcmp(word, all[i].word)) return all[i].class;
	return json_is_number(value) ? "number" : "";
}

static void open_cell(struct text *t, const json_t *value)
{
	const char *class = class_of(value);
	if (*class)
		text_format(t, "<td class=\"%s\">", class);
	else
		text_string(t, "<td>");
}

/* ---- rows of groups ---- */

static bool is_group_list(const json_t *value)
{
	size_t i;
	const char *name;
	json_t *item;
	if (json_is_array(value)) {
		json_array_foreach(
			value, i, item) if (!json_is_object(item)) return false;
		return json_array_size(value) > 0;
	}
	if (!json_is_object(value)) return false;
	json_object_foreach((json_t *)value, name,
	                    item) if (!json_is_object(item)) return false;
	return json_object_size(value) > 0;
}

/* The names of all members of the rows, in the order in which they come first;
 * to be released. */
static json_t *columns_of(const json_t *rows)
{
	json_t *names = json_object(), *row, *cell;
	const char *name, *member;
	size_t i;
	if (json_is_array(rows)) {
		json_array_foreach(rows, i, row)
			json_object_foreach(row, member, cell)
				json_object_set(names, member, cell);
	} else {
		json_object_foreach((json_t *)rows, name, row)
			json_object_foreach(row, member, cell)
				json_object_set(names, member, cell);
	}
	json_object_del(names, "witness"); /* a number of the document's own */
	return names;
}

static void add_row(struct text *t, const char *label, const json_t *row,
                    json_t *columns)
{
	const char *name;
	json_t *known;
	text_string(t, "<tr>");
	if (label) {
		enum level l = level_from_word(label);
		text_string(t, "<th scope=\"row\">");
		page_label(t, label);
		text_string(t, "</th>");
		if (l < LEVEL_COUNT)
			text_format(t, "<td>%s</td>", level_name(l));
	}
	json_object_foreach(columns, name, known)
	{
		const json_t *value = json_object_get(row, name);
		open_cell(t, value);
		if (value) add_measure(t, name, value);
		text_string(t, "</td>");
	}
	text_string(t, "</tr>\n");
}

static void open_table(struct text *t, const char *name)
{
	text_string(t, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
	               "aria-label=\"");
	page_label(t, name);
	text_string(t, "\">\n<table>\n");
}

static void add_table(struct text *t, const char *title, const json_t *rows)
{
	json_t *columns = columns_of(rows), *row;
	bool named = json_is_object(rows);
	const char *name;
	size_t i;
	text_string(t, "<h3>");
	page_label(t, title);
	text_string(t, "</h3>\n");
	open_table(t, title);
	text_string(t, "<thead><tr>");
	if (named) text_string(t, "<td></td>");
	if (json_object_get(rows, level_word(LEVEL_SERIAL)))
		text_string(t, "<td></td>");
	json_object_foreach(columns, name, row)
	{
		text_string(t, json_is_number(row) ? "<th scope=\"col\" "
		                                     "class=\"number\">"
		                                   : "<th scope=\"col\">");
		page_label(t, name);
		text_string(t, "</th>");
	}
	text_string(t, "</tr></thead>\n<tbody>\n");
	if (named) {
		json_object_foreach((json_t *)rows, name, row)
			add_row(t, name, row, columns);
	} else {
		json_array_foreach(rows, i, row) add_row(t, NULL, row, columns);
	}
	text_string(t, "</tbody></table></div>\n");
	json_decref(columns);
}

/* ---- facts ---- */

static bool is_among(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names)) return true;
	return false;
}

static bool is_fact(const json_t *value)
{
	size_t i;
	json_t *item;
	if (json_is_object(value)) return false;
	if (!json_is_array(value)) return !json_is_null(value);
	json_array_foreach(value, i,
	                   item) if (json_is_object(item)) return false;
	return json_array_size(value) > 0;
}

/* `group` is the name of what they are members of: of "seconds" all are. */
static void add_facts(struct text *t, const char *group, const json_t *of,
                      const char *const *but)
{
	bool seconds = ends_in(group, "seconds");
	const char *name;
	json_t *value;
	bool any = false;
	json_object_foreach((json_t *)of, name, value)
	{
		if (is_among(name, but) || !is_fact(value)) continue;
		if (!any) text_string(t, "<table class=\"facts\"><tbody>\n");
		any = true;
		text_string(t, "<tr><th scope=\"row\">");
		page_label(t, name);
		text_string(t, "</th><td>");
		add_measure(t, seconds ? group : name, value);
		text_string(t, "</td></tr>\n");
	}
	if (any) text_string(t, "</tbody></table>\n");
}

static void add_group(struct text *t, const char *name, const json_t *value)
{
	static const char *const none[] = { NULL };
	text_string(t, "<div><h3>");
	page_label(t, name);
	text_string(t, "</h3>\n");
	add_facts(t, name, value, none);
	text_string(t, "</div>\n");
}

void page_members(struct text *t, const json_t *of, const char *const *but)
{
	const char *name;
	json_t *value;
	assert(json_is_object(of));
	struct text facts = { 0 };
	text_string(t, "<div class=\"grid\">\n");
	add_facts(&facts, "", of, but);
	if (facts.length) {
		text_string(t, "<div><h3>asked and found</h3>\n");
		text_string(t, text_get(&facts));
		text_string(t, "</div>\n");
	}
	text_free(&facts);
	json_object_foreach(
		(json_t *)of, name,
		value) if (!is_among(name, but) && json_object_size(value) &&
	                   !is_group_list(value)) add_group(t, name, value);
	text_string(t, "</div>\n");
	json_object_foreach((json_t *)of, name,
	                    value) if (!is_among(name, but) &&
	                               is_group_list(value))
		add_table(t, name, value);
}

/* ---- explore --levels ---- */

static void add_level(struct text *t, const json_t *row, const json_t *asked,
                      size_t assertions)
{
	const json_t *level = json_object_get(row, "level");
	const char *word = json_string_value(level);
	enum level l = word ? level_from_word(word) : LEVEL_COUNT;
	const json_t *violated = json_object_get(row, "violated");
	const json_t *states = json_object_get(row, "states");
	const json_t *verdict = json_object_get(row, "verdict");
	bool is_asked = json_equal(level, asked);
	text_string(t, "<tr><th scope=\"row\">");
	page_name(t, level);
	text_format(t, "</th><td>%s", l < LEVEL_COUNT ? level_name(l) : "");
	if (is_asked) text_string(t, " <span class=\"asked\">asked</span>");
	text_string(t, "</td>");
	open_cell(t, verdict);
	if (verdict) page_value(t, verdict);
	text_string(t, "</td><td class=\"number\">");
	page_value(t, json_object_get(row, states ? "runs" : "histories"));
	if (json_is_false(json_object_get(row, "complete")))
		text_string(t, ", not all");
	text_string(t, "</td>");
	for (size_t i = 0; i < assertions; i++) {
		const json_t *n = json_array_get(states ? states : violated, i);
		const char *state = json_string_value(n);
		bool fails = json_integer_value(n) > 0 ||
		             (state && !strcmp(state, "fails"));
		text_string(t, fails ? "<td class=\"number\"><b class=\"bad\">"
		                     : "<td class=\"number\">");
		if (n) page_value(t, n);
		text_string(t, fails ? "</b></td>" : "</td>");
	}
	text_string(t, "</tr>\n");
}

bool page_has_levels(const json_t *result)
{
	const json_t *levels = json_object_get(result, "levels");
	return json_is_array(levels) &&
	       !json_is_string(json_array_get(levels, 0));
}

void page_levels(struct text *t, const json_t *result)
{
	const json_t *levels = json_object_get(result, "levels");
	const json_t *assertions = json_object_get(result, "assertions");
	const json_t *asked = json_object_get(result, "level");
	size_t i, count = json_array_size(assertions);
	json_t *row = json_array_get(levels, 0);
	bool states = json_object_get(row, "states");
	text_format(t, "<h2>Levels</h2>\n<p class=\"muted\">%s</p>\n",
	            states ? "What is known of each assertion."
	                   : "In how many histories each assertion is "
	                     "violated.");
	open_table(t, "levels");
	text_string(t, "<thead><tr><th scope=\"col\" colspan=\"2\">level</th>"
	               "<th scope=\"col\">verdict</th>"
	               "<th scope=\"col\" class=\"number\">");
	text_string(t, states ? "runs</th>" : "histories</th>");
	for (i = 0; i < count; i++)
		text_format(t, "<th scope=\"col\" class=\"number\">#%zu</th>",
		            i + 1);
	text_string(t, "</tr></thead>\n<tbody>\n");
	json_array_foreach(levels, i, row) add_level(t, row, asked, count);
	text_string(t, "</tbody></table></div>\n<ul class=\"why plain\">\n");
	json_array_foreach(assertions, i, row)
	{
		text_string(t, "<li>#");
		text_format(t, "%zu <code>", i + 1);
		page_name(t, json_object_get(row, "text"));
		text_string(t, "</code> <span class=\"muted\">");
		page_place(t, row);
		text_string(t, "</span></li>\n");
	}
	text_string(t, "</ul>\n");
}
