/* A cycle of dependencies, drawn: transactions one below the other, each edge
 * to the next one straight down, with its label at the right; edges that lead
 * back, or further, go along the left. */
#include <assert.h>
#include <string.h>

#include "report/page_parts.h"
#include "report/style.h"

enum {
	WIDTH = 400,
	BOX_X = 128,
	BOX_WIDTH = 168,
	BOX_HEIGHT = 34,
	STEP = 92, /* from box to box */
	TOP = 8,
	MIDDLE = BOX_X + BOX_WIDTH / 2,
	LANE = 14, /* between edges at the left */
	NAME_COLUMNS = 20,
	LABEL_COLUMNS = 23,
	SIDE_COLUMNS = 13,
	LABEL_LINES = 3, /* what is longer ends in dots */
	LABEL_LINE = 15
};

static void add_fit(struct text *t, const char *words, size_t columns)
{
	struct text seen = { 0 }, fit = { 0 };
	page_visible(&seen, words);
	style_fit(&fit, text_get(&seen), columns);
	text_free(&seen);
	page_words(t, text_get(&fit), fit.length, PAGE_NAME_MOST);
	text_free(&fit);
}

static void add_box(struct text *t, const struct page_cycle *c, unsigned i)
{
	unsigned y = TOP + i * STEP;
	text_string(t, "<g><title>");
	page_plain(t, c->nodes[i]);
	text_format(t,
	            "</title><rect x=\"%d\" y=\"%u\" width=\"%d\" "
	            "height=\"%d\" rx=\"5\"/><text x=\"%d\" y=\"%u\" "
	            "text-anchor=\"middle\">",
	            BOX_X, y, BOX_WIDTH, BOX_HEIGHT, MIDDLE, y + 22);
	add_fit(t, json_string_value(c->nodes[i]), NAME_COLUMNS);
	text_string(t, "</text></g>\n");
}

/* The kind of an edge, and what stands behind it: "rw", "x". */
static size_t kind_of(const struct page_edge *e, const char **kind,
                      const char **rest)
{
	*kind = e->label ? json_string_value(e->label) : e->kind;
	size_t n = strcspn(*kind, " ");
	*rest = e->label ? *kind + n + ((*kind)[n] == ' ')
	                 : json_string_value(e->key);
	if (!*rest) *rest = "";
	return n;
}

/* What stands behind the kind, below it, in lines at x. */
static void add_lines(struct text *t, const char *words, int x, size_t columns)
{
	struct text seen = { 0 };
	page_visible(&seen, words);
	const char *at = text_get(&seen);
	for (int line = 1; *at && line <= LABEL_LINES; line++) {
		struct text part = { 0 };
		const char *next = style_part(at, columns);
		if (line == LABEL_LINES)
			style_fit(&part, at, columns);
		else
			text_bytes(&part, at, (size_t)(next - at));
		text_format(t, "<tspan x=\"%d\" dy=\"%d\">", x, LABEL_LINE);
		page_words(t, text_get(&part), part.length, PAGE_NAME_MOST);
		text_string(t, "</tspan>");
		text_free(&part);
		at = next;
	}
	text_free(&seen);
}

static void open_edge(struct text *t, const struct page_cycle *c, unsigned i)
{
	static const char *const drawn[] = { "so", "wr", "ww", "rw" };
	const struct page_edge *e = &c->edges[i];
	const char *kind, *rest, *class = "so";
	size_t n = kind_of(e, &kind, &rest);
	for (size_t k = 0; k < sizeof drawn / sizeof *drawn; k++)
		if (n == strlen(drawn[k]) && !strncmp(kind, drawn[k], n))
			class = drawn[k];
	text_format(t,
	            "<g class=\"edge %s\" tabindex=\"0\" role=\"img\" "
	            "data-why=\"w%u-%u\" aria-labelledby=\"w%u-%u\">\n",
	            class, c->number, i, c->number, i);
	text_string(t, "<title>");
	page_words(t, kind, n, PAGE_NAME_MOST);
	text_char(t, ' ');
	page_words(t, rest, strlen(rest), PAGE_NAME_MOST);
	text_string(t, "</title>\n");
}

static void add_down(struct text *t, const struct page_cycle *c, unsigned i)
{
	const struct page_edge *e = &c->edges[i];
	const char *kind, *rest;
	size_t n = kind_of(e, &kind, &rest);
	unsigned y = TOP + e->from * STEP + BOX_HEIGHT;
	unsigned end = TOP + e->to * STEP;
	open_edge(t, c, i);
	text_format(
		t,
		"<path d=\"M%d %uV%u\"/><path class=\"head\" "
		"d=\"M%d %ul-5 -10h10z\"/><text x=\"%d\" y=\"%u\">",
		MIDDLE, y, end - 9, MIDDLE, end, MIDDLE + 12,
		y + (style_columns(rest) > LABEL_COLUMNS - 1 - n ? 14 : 33));
	page_words(t, kind, n, PAGE_NAME_MOST);
	text_char(t, ' ');
	if (style_columns(rest) > LABEL_COLUMNS - 1 - n)
		add_lines(t, rest, MIDDLE + 12, LABEL_COLUMNS);
	else
		add_fit(t, rest, LABEL_COLUMNS - 1 - n);
	text_string(t, "</text></g>\n");
}

static void add_side(struct text *t, const struct page_cycle *c, unsigned i,
                     unsigned lane)
{
	const struct page_edge *e = &c->edges[i];
	const char *kind, *rest;
	size_t n = kind_of(e, &kind, &rest);
	unsigned from = TOP + e->from * STEP + BOX_HEIGHT / 2 + 5;
	unsigned to = TOP + e->to * STEP + BOX_HEIGHT / 2 - 5;
	int x = BOX_X - 22 - (int)(lane % 6) * LANE;
	unsigned middle = (from + to) / 2 + lane % 2 * 30;
	open_edge(t, c, i);
	text_format(t,
	            "<path d=\"M%d %uH%dQ%d %u %d %uV%uQ%d %u %d %uH%d\"/>"
	            "<path class=\"head\" d=\"M%d %ul-10 -5v10z\"/>"
	            "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">",
	            BOX_X, from, x + 8, x, from, x,
	            to < from ? from - 8 : from + 8,
	            to < from ? to + 8 : to - 8, x, to, x + 8, to, BOX_X - 9,
	            BOX_X, to, x - 7, middle);
	page_words(t, kind, n, PAGE_NAME_MOST);
	add_lines(t, rest, x - 7, SIDE_COLUMNS - lane % 6 * 2);
	text_string(t, "</text></g>\n");
}

void page_draw(struct text *t, const struct page_cycle *c)
{
	unsigned height = 2 * TOP + (c->node_count - 1) * STEP + BOX_HEIGHT;
	unsigned lane = 0;
	assert(c->node_count);
	text_format(t,
	            "<svg class=\"cycle\" viewBox=\"0 0 %d %u\" role=\"group\" "
	            "aria-label=\"The cycle\">\n",
	            WIDTH, height);
	for (unsigned i = 0; i < c->node_count; i++) add_box(t, c, i);
	for (unsigned i = 0; i < c->edge_count; i++) {
		assert(c->edges[i].from < c->node_count &&
		       c->edges[i].to < c->node_count);
		if (c->edges[i].to == c->edges[i].from + 1)
			add_down(t, c, i);
		else
			add_side(t, c, i, lane++);
	}
	text_string(t, "</svg>\n");
}
