/* A history in a page: its schedule, the cycle in it, and the lines that it ran
 * through. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/page_parts.h"

enum { INITIAL_SHOWN = 8 }; /* more are behind a line to open */

/* Of the steps. */
struct scene {
	const json_t *steps, *cycle, *sources;
	json_t *sessions; /* an object: name to number; owned */
	size_t initial;   /* steps of what there is in the beginning */
};

static const json_t *member(const json_t *of, const char *name)
{
	return json_object_get(of, name);
}

static void begin(struct scene *s, const json_t *steps, const json_t *cycle,
                  const json_t *sources)
{
	size_t i;
	json_t *step;
	*s = (struct scene){ steps, cycle, sources, json_object(), 0 };
	json_array_foreach(steps, i, step)
	{
		const char *name = document_string(step, "session");
		if (!name)
			s->initial++;
		else if (!json_object_get(s->sessions, name))
			json_object_set_new(
				s->sessions, name,
				json_integer((json_int_t)json_object_size(
					s->sessions)));
	}
}

/* Has an edge of the cycle this key? Its reason is "rw x". */
static bool matters(const struct scene *s, const json_t *key)
{
	size_t i;
	const json_t *edge;
	const char *name = json_string_value(key);
	json_array_foreach(s->cycle, i, edge)
	{
		const char *reason = document_string(edge, "reason");
		const char *rest = reason ? strchr(reason, ' ') : NULL;
		if (name && rest && !strcmp(rest + 1, name)) return true;
	}
	return false;
}

/* ---- the schedule ---- */

static void add_quoted(struct text *t, const char *name, const json_t *string)
{
	if (!json_is_string(string)) return;
	text_format(t, " %s=\"", name);
	page_words(t, json_string_value(string), json_string_length(string),
	           PAGE_NAME_MOST);
	text_char(t, '"');
}

/* "x = 1", as in the table of a state: values that are not known have none. */
static void add_value(struct text *t, const json_t *step, bool bold)
{
	const json_t *value = member(step, "value");
	text_string(t, "<code>");
	page_name(t, member(step, "key"));
	text_string(t, "</code>");
	if (!json_is_string(value)) return;
	text_format(t, " = <%s class=\"mono\">", bold ? "b" : "span");
	page_name(t, value);
	text_string(t, bold ? "</b>" : "</span>");
}

static void add_initial(struct text *t, const struct scene *s)
{
	bool many = s->initial > INITIAL_SHOWN, any = false;
	size_t i;
	const json_t *step;
	if (!s->initial) return;
	text_format(t,
	            many ? "<details class=\"initial\"><summary>%zu initial "
	                   "values</summary>\n<p>"
	                 : "<p class=\"initial\">initially ",
	            s->initial);
	json_array_foreach(s->steps, i, step)
	{
		if (document_string(step, "session")) continue;
		if (any) text_string(t, ", ");
		any = true;
		text_string(t, "<span");
		add_quoted(t, "data-key", member(step, "key"));
		add_quoted(t, "data-initial", member(step, "value"));
		text_char(t, '>');
		add_value(t, step, false);
		text_string(t, "</span>");
	}
	text_string(t, many ? "</p></details>\n" : "</p>\n");
}

/* What is done, in words, for who listens to the slider. */
static void add_said(struct text *t, const json_t *step)
{
	page_plain(t, member(step, "transaction"));
	text_char(t, ' ');
	page_plain(t, member(step, "does"));
	if (!member(step, "key")) return;
	text_char(t, ' ');
	page_words(t, document_string(step, "key"),
	           json_string_length(member(step, "key")), PAGE_NAME_MOST);
	if (!document_string(step, "value")) return;
	text_string(t, " = ");
	page_words(t, document_string(step, "value"),
	           json_string_length(member(step, "value")), PAGE_NAME_MOST);
}

static void open_row(struct text *t, const struct scene *s, const json_t *step,
                     size_t number)
{
	const json_t *column =
		json_object_get(s->sessions, document_string(step, "session"));
	text_format(t, "<tr data-session=\"%" JSON_INTEGER_FORMAT "\"",
	            json_integer_value(column));
	add_quoted(t, "data-does", member(step, "does"));
	add_quoted(t, "data-who", member(step, "transaction"));
	add_quoted(t, "data-key", member(step, "key"));
	add_quoted(t, "data-value", member(step, "value"));
	text_string(t, " data-words=\"");
	add_said(t, step);
	text_format(t, "\"><th scope=\"row\">%zu</th>", number);
}

static void add_writer(struct text *t, const json_t *step)
{
	const json_t *newest = member(step, "newest");
	if (page_is(step, "from", "self")) {
		text_string(t, " <span class=\"from\">its own</span>");
	} else if (document_string(step, "from")) {
		text_string(t, " <span class=\"from\">from ");
		page_name(t, member(step, "from"));
		text_string(t, "</span>");
	}
	if (!json_is_string(newest)) return;
	text_string(t, "<span class=\"note\">not the newest, which is from ");
	page_name(t, newest);
	text_string(t, "</span>");
}

/* "read locked x = 1 from init" */
static void add_action(struct text *t, const struct scene *s,
                       const json_t *step)
{
	const json_t *key = member(step, "key");
	if (!key) {
		text_string(t, "<span class=\"moment\">");
		page_name(t, member(step, "does"));
		text_string(t, "</span>");
		return;
	}
	page_name(t, member(step, "does"));
	text_char(t, ' ');
	if (document_string(step, "lock")) {
		page_name(t, member(step, "lock"));
		text_char(t, ' ');
	}
	add_value(t, step, matters(s, key) || member(step, "newest"));
	if (page_is(step, "does", "reads")) add_writer(t, step);
}

/* The line that a step is from, or NULL. */
static const json_t *line_of(const struct scene *s, const json_t *step)
{
	size_t i;
	const json_t *one;
	json_array_foreach(s->sources, i, one)
	{
		json_int_t at = json_integer_value(member(step, "line")) -
		                json_integer_value(member(one, "first"));
		if (at >= 0 &&
		    json_equal(member(one, "file"), member(step, "file")))
			return json_array_get(member(one, "lines"), (size_t)at);
	}
	return NULL;
}

/* "14: INSERT INTO enrolled VALUES ('ann', 1);", where it is another one than
 * that of the step before. */
static void add_line(struct text *t, const struct scene *s, const json_t *step,
                     const json_t *before)
{
	const json_t *line = line_of(s, step);
	if (!line || (before &&
	              json_equal(member(step, "line"), member(before, "line"))))
		return;
	text_format(t, "<div class=\"line mono\">%" JSON_INTEGER_FORMAT ": ",
	            json_integer_value(member(step, "line")));
	page_plain(t, line);
	text_string(t, "</div>");
}

static void add_row(struct text *t, const struct scene *s, const json_t *step,
                    const json_t *before, size_t number)
{
	size_t columns = json_object_size(s->sessions);
	size_t column = (size_t)json_integer_value(
		json_object_get(s->sessions, document_string(step, "session")));
	open_row(t, s, step, number);
	for (size_t i = 0; i < columns; i++) {
		if (i != column) {
			text_string(t, "<td></td>");
			continue;
		}
		text_format(t, "<td class=\"c%zu\">", i + 1);
		if (!before || !json_equal(member(step, "transaction"),
		                           member(before, "transaction"))) {
			text_string(t, "<div class=\"txn\">");
			page_name(t, member(step, "transaction"));
			text_string(t, "</div>");
			before = NULL;
		}
		add_line(t, s, step, before);
		add_action(t, s, step);
		text_string(t, "</td>");
	}
	text_string(t, "</tr>\n");
}

static void add_schedule(struct text *t, const struct scene *s)
{
	const char *name;
	json_t *value;
	const json_t *step, *before = NULL;
	size_t i, number = 0;
	text_string(t, "<div class=\"schedule\">\n"
	               "<h5>What happens, step by step</h5>\n");
	add_initial(t, s);
	text_string(t, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
	               "aria-label=\"The schedule\">\n<table class=\"time\">"
	               "<thead><tr><th scope=\"col\"><span class=\"sr\">step"
	               "</span></th>");
	json_object_foreach(s->sessions, name, value)
	{
		text_string(t, "<th scope=\"col\"><bdi>");
		page_words(t, name, strlen(name), PAGE_NAME_MOST);
		text_string(t, "</bdi></th>");
	}
	text_string(t, "</tr></thead>\n<tbody>\n");
	json_array_foreach(s->steps, i, step)
	{
		if (!document_string(step, "session")) continue;
		add_row(t, s, step, before, ++number);
		before = step;
	}
	text_string(t, "</tbody></table></div>\n</div>\n");
}

/* ---- the cycle ---- */

static unsigned node_of(struct page_cycle *c, const json_t *name)
{
	for (unsigned i = 0; i < c->node_count; i++)
		if (json_equal(c->nodes[i], name)) return i;
	c->nodes[c->node_count] = name;
	return c->node_count++;
}

static bool is_edge(const json_t *edge)
{
	return document_string(edge, "from") && document_string(edge, "to") &&
	       document_string(edge, "reason");
}

static void add_reasons(struct text *t, const json_t *cycle, unsigned number)
{
	size_t i;
	unsigned n = 0;
	const json_t *edge;
	text_string(t, "<ol class=\"why\">\n");
	json_array_foreach(cycle, i, edge)
	{
		if (!is_edge(edge)) continue;
		text_format(t, "<li id=\"w%u-%u\">", number, n++);
		text_string(t, "<b>");
		page_name(t, member(edge, "from"));
		text_string(t, "</b> before <b>");
		page_name(t, member(edge, "to"));
		text_string(t, "</b>: ");
		page_name(t, member(edge, "words"));
		text_string(t, "</li>\n");
	}
	text_string(t, "</ol>\n<p class=\"legend\">so: the order of a session; "
	               "wr: is read from; ww: is overwritten by; rw: reads "
	               "what is overwritten by.</p>\n");
}

static void add_cycle(struct text *t, const struct scene *s, unsigned number)
{
	size_t i, most = json_array_size(s->cycle);
	const json_t *edge;
	struct page_cycle c = { .number = number };
	c.nodes = mem_take0(2 * most + 1, sizeof *c.nodes);
	c.edges = mem_take0(most + 1, sizeof *c.edges);
	json_array_foreach(s->cycle, i, edge)
	{
		if (!is_edge(edge)) continue;
		struct page_edge *e = &c.edges[c.edge_count++];
		e->from = node_of(&c, member(edge, "from"));
		e->to = node_of(&c, member(edge, "to"));
		e->label = member(edge, "reason");
	}
	if (c.node_count) {
		text_string(t, "<div>\n<h5>A serial order would need</h5>\n");
		page_draw(t, &c);
		add_reasons(t, s->cycle, number);
		text_string(t, "</div>\n");
	}
	free(c.nodes);
	free(c.edges);
}

/* ---- the source ---- */

/* Which steps ran through the line: what they do, for the margin. */
static void add_margin(struct text *t, const struct scene *s,
                       const json_t *file, json_int_t line)
{
	const char *name;
	json_t *value;
	bool any = false;
	json_object_foreach(s->sessions, name, value)
	{
		size_t i;
		const json_t *step;
		json_array_foreach(
			s->steps, i,
			step) if (page_is(step, "session", name) &&
		                  json_equal(member(step, "file"), file) &&
		                  json_integer_value(member(step, "line")) ==
		                          line) break;
		if (i == json_array_size(s->steps)) continue;
		if (any) text_string(t, ", ");
		any = true;
		text_string(t, "<bdi>");
		page_words(t, name, strlen(name), PAGE_NAME_MOST);
		text_string(t, "</bdi>");
	}
}

static bool runs_through(const struct scene *s, const json_t *file,
                         json_int_t first, json_int_t last)
{
	size_t i;
	const json_t *step;
	json_array_foreach(s->steps, i, step)
	{
		json_int_t line = json_integer_value(member(step, "line"));
		if (json_equal(member(step, "file"), file) && line >= first &&
		    line <= last)
			return true;
	}
	return false;
}

static bool fails_at(const json_t *fails, const json_t *file, json_int_t line)
{
	return fails && json_equal(member(fails, "file"), file) &&
	       json_integer_value(member(fails, "line")) == line;
}

static void add_lines(struct text *t, const struct scene *s,
                      const json_t *source, const json_t *fails)
{
	const json_t *file = member(source, "file");
	const json_t *lines = member(source, "lines"), *words;
	json_int_t first = json_integer_value(member(source, "first"));
	size_t i;
	text_string(t, "<table class=\"source\"><caption>");
	page_name(t, file);
	text_string(t, "</caption><tbody>\n");
	json_array_foreach(lines, i, words)
	{
		json_int_t line = first + (json_int_t)i;
		bool here = fails_at(fails, file, line);
		const char *class = here ? " class=\"fails\""
		                    : runs_through(s, file, line, line)
		                            ? " class=\"run\""
		                            : "";
		text_format(t,
		            "<tr%s><th scope=\"row\">%" JSON_INTEGER_FORMAT
		            "</th><td class=\"mono\">",
		            class, line);
		page_plain(t, words);
		text_string(t, "</td><td>");
		if (*class) add_margin(t, s, file, line);
		if (here) text_string(t, "fails");
		text_string(t, "</td></tr>\n");
	}
	text_string(t, "</tbody></table>\n");
}

static void add_sources(struct text *t, const struct scene *s,
                        const json_t *fails)
{
	bool any = false;
	size_t i;
	const json_t *one;
	json_array_foreach(s->sources, i, one)
	{
		const json_t *lines = member(one, "lines");
		json_int_t first = json_integer_value(member(one, "first"));
		json_int_t count = (json_int_t)json_array_size(lines);
		if (!count || first < 1 || !document_string(one, "file") ||
		    !runs_through(s, member(one, "file"), first,
		                  first + count - 1))
			continue;
		if (!any)
			text_string(t, "<h5>The lines that it runs through"
			               "</h5>\n");
		any = true;
		add_lines(t, s, one, fails);
	}
}

/* ---- all ---- */

void page_history(struct text *t, const json_t *steps, const json_t *cycle,
                  const json_t *sources, const json_t *fails, unsigned number)
{
	struct scene s;
	begin(&s, steps, cycle, sources);
	assert(s.initial <= json_array_size(steps));
	text_string(t, json_array_size(cycle) ? "<div class=\"parts two\">\n"
	                                      : "<div class=\"parts\">\n");
	if (json_object_size(s.sessions)) add_schedule(t, &s);
	add_cycle(t, &s, number);
	text_string(t, "</div>\n");
	add_sources(t, &s, fails);
	json_decref(s.sessions);
}
