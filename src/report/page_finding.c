/* The findings of a result in a page: what fails and how, grouped by what it is
 * called. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/anomaly_words.h"
#include "report/page_parts.h"
#include "report/report.h"

/* One of them, wherever the result has it. All is borrowed but `words`. */
struct finding_view {
	const json_t *result;  /* that it belongs to */
	const json_t *of;      /* with the text, the place, the message */
	const json_t *example; /* with steps, anomaly, failure; or NULL */
	const json_t *cycle;   /* edges */
	struct text words;     /* the heading, as HTML */
	struct text cause;     /* what it is grouped by, as HTML */
	const char *anomaly;   /* its name, or NULL */
	struct text body;      /* what only this kind has, as HTML */
	const json_t *fails;   /* where, with file and line; or NULL */
	const json_t *repeat;
};

struct findings {
	struct finding_view *items;
	size_t count, capacity;
	const json_t *result; /* the one at hand */
	bool several;         /* results */
};

static struct finding_view *add(struct findings *all, const json_t *of)
{
	VEC_RESERVE(all->items, all->count, all->capacity);
	struct finding_view *f = &all->items[all->count++];
	*f = (struct finding_view){ .result = all->result, .of = of };
	return f;
}

static void name_cause(struct finding_view *f, const json_t *of,
                       const char *otherwise)
{
	f->anomaly = document_string(of, "anomaly");
	if (f->anomaly)
		page_name(&f->cause, json_object_get(of, "anomaly"));
	else
		text_string(&f->cause, otherwise);
}

/* ---- assertions ---- */

static void tell_count(struct text *t, const json_t *a)
{
	const json_t *n = json_object_get(a, "violated");
	bool one = json_integer_value(n) == 1;
	if (!json_is_integer(n)) return;
	text_string(t, "<p>Violated in ");
	page_value(t, n);
	if (json_object_get(a, "first_run"))
		text_string(t, one ? " run.</p>\n" : " runs.</p>\n");
	else
		text_string(t, one ? " history.</p>\n" : " histories.</p>\n");
}

static void tell_failure(struct text *t, const json_t *failure)
{
	const json_t *values = json_object_get(failure, "values");
	const json_t *message = json_object_get(failure, "message");
	const char *name;
	json_t *value;
	bool any = false;
	if (json_is_string(message)) {
		text_string(t, "<p class=\"bad\">");
		page_name(t, message);
		text_string(t, "</p>\n");
	}
	json_object_foreach((json_t *)values, name, value)
	{
		text_string(t, any ? ", " : "<p>With ");
		any = true;
		text_string(t, "<code><bdi>");
		page_words(t, name, strlen(name), PAGE_NAME_MOST);
		text_string(t, "</bdi> = <b>");
		page_literal(t, value);
		text_string(t, "</b></code>");
	}
	if (any) text_string(t, "</p>\n");
}

static void tell_anomaly(struct text *t, const json_t *example)
{
	static const struct style plain = { false, 0 };
	const char *by = document_string(example, "forbidden_by");
	struct text words = { 0 };
	if (!by && !json_array_size(json_object_get(example, "cycle")))
		text_string(&words, report_serializable());
	else
		report_anomaly(&words, &plain,
		               document_string(example, "anomaly"),
		               by ? level_from_word(by) : LEVEL_COUNT);
	text_string(t, "<p>");
	page_words(t, text_get(&words), words.length, PAGE_WORDS_MOST);
	text_string(t, "</p>\n");
	text_free(&words);
}

static void tell_confirmation(struct text *t, const json_t *c)
{
	size_t i;
	const json_t *line;
	if (!json_is_object(c)) return;
	text_format(t, "<p%s>",
	            json_is_true(json_object_get(c, "confirmed"))
	                    ? " class=\"bad\""
	                    : "");
	page_name(t, json_object_get(c, "words"));
	text_string(t, "</p>\n");
	if (!json_array_size(json_object_get(c, "transcript"))) return;
	text_string(t, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
	               "aria-label=\"What was sent\"><table><thead><tr>"
	               "<th scope=\"col\">session</th><th scope=\"col\">"
	               "statement</th><th scope=\"col\">PostgreSQL</th></tr>"
	               "</thead><tbody>\n");
	json_array_foreach(json_object_get(c, "transcript"), i, line)
	{
		text_string(t, "<tr><th scope=\"row\">");
		page_name(t, json_object_get(line, "session"));
		text_string(t, "</th><td><code>");
		page_name(t, json_object_get(line, "statement"));
		text_string(t, "</code></td><td>");
		page_name(t, json_object_get(line, "words"));
		text_string(t, "</td></tr>\n");
	}
	text_string(t, "</tbody></table></div>\n");
}

static void add_assertion(struct findings *all, const json_t *a)
{
	const json_t *example = json_object_get(a, "example");
	const json_t *message = json_object_get(a, "message");
	if (!json_is_object(example)) return;
	struct finding_view *f = add(all, a);
	f->example = example;
	f->cycle = json_object_get(example, "cycle");
	f->repeat = json_object_get(a, "repeat");
	f->fails = a;
	text_string(&f->words, "<code>");
	page_name(&f->words, json_object_get(a, "text"));
	text_string(&f->words, "</code>");
	if (json_is_string(message)) {
		text_string(&f->body, "<p class=\"bad\">");
		page_name(&f->body, message);
		text_string(&f->body, "</p>\n");
	}
	tell_count(&f->body, a);
	tell_failure(&f->body, json_object_get(example, "failure"));
	tell_anomaly(&f->body, example);
	tell_confirmation(&f->body, json_object_get(example, "confirmation"));
	name_cause(f, example,
	           json_array_size(f->cycle) ? "not serializable"
	                                     : "in a serial execution");
}

/* ---- recorded and predicted histories ---- */

static void add_witness(struct findings *all, const json_t *w)
{
	struct finding_view *f = add(all, w);
	const json_t *levels = json_object_get(w, "levels");
	f->example = w;
	f->cycle = json_object_get(w, "cycle");
	if (json_is_array(levels)) {
		text_string(&f->words, "violates ");
		page_value(&f->words, levels);
	} else {
		text_string(&f->words, "not serializable");
	}
	if (json_is_false(json_object_get(w, "minimal")))
		text_string(&f->body, "<p>Fewer transactions may do.</p>\n");
	name_cause(f, w, "not allowed");
}

static void tell_answer(struct text *t, const json_t *answer)
{
	const json_t *value = json_object_get(answer, "value");
	text_string(t, "<td><code>");
	if (value) page_literal(t, value);
	text_string(t, "</code> from ");
	page_name(t, json_object_get(answer, "from"));
	text_string(t, "</td>");
}

static void tell_changes(struct text *t, const json_t *changed)
{
	size_t i;
	const json_t *one;
	if (!json_array_size(changed)) return;
	text_string(t, "<h5>Reads that are otherwise than observed</h5>\n"
	               "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
	               "aria-label=\"Changed reads\"><table><thead><tr>"
	               "<th scope=\"col\">read</th><th scope=\"col\">observed"
	               "</th><th scope=\"col\">predicted</th></tr></thead>"
	               "<tbody>\n");
	json_array_foreach(changed, i, one)
	{
		text_string(t, "<tr><th scope=\"row\">");
		page_name(t, json_object_get(one, "transaction"));
		text_string(t, " reads <code>");
		page_name(t, json_object_get(one, "key"));
		text_string(t, "</code></th>");
		tell_answer(t, json_object_get(one, "observed"));
		tell_answer(t, json_object_get(one, "predicted"));
		text_string(t, "</tr>\n");
	}
	text_string(t, "</tbody></table></div>\n");
}

static void add_prediction(struct findings *all, const json_t *p)
{
	const json_t *w = json_object_get(p, "witness");
	struct finding_view *f = add(all, p);
	f->example = json_is_object(w) ? w : NULL;
	f->cycle = json_object_get(w, "cycle");
	text_string(&f->words, "prediction ");
	if (json_object_get(p, "number"))
		page_value(&f->words, json_object_get(p, "number"));
	tell_changes(&f->body, json_object_get(p, "changed"));
	tell_confirmation(&f->body, json_object_get(p, "confirmation"));
	name_cause(f, w, "not serializable");
}

static void add_wrong_read(struct findings *all, const json_t *a)
{
	struct finding_view *f = add(all, a);
	page_name(&f->words, json_object_get(a, "words"));
	page_name(&f->cause, json_object_get(a, "name"));
}

/* A history that one side allows and the other forbids. */
static void add_separation(struct findings *all, const json_t *s)
{
	if (!json_is_array(json_object_get(s, "steps"))) return;
	struct finding_view *f = add(all, s);
	f->example = s;
	f->cycle = json_object_get(s, "cycle");
	page_name(&f->words, json_object_get(s, "allows"));
	text_string(&f->words, " allows, ");
	page_name(&f->words, json_object_get(s, "forbids"));
	text_string(&f->words, " forbids");
	name_cause(f, s, "not allowed");
}

/* ---- proofs ---- */

static void tell_text(struct text *t, const char *title, const json_t *text)
{
	if (!json_is_string(text)) return;
	text_format(t, "<h5>%s</h5>\n<pre class=\"command\" tabindex=\"0\">",
	            title);
	page_plain(t, text);
	text_string(t, "</pre>\n");
}

static void add_counterexample(struct findings *all, const json_t *c)
{
	struct finding_view *f = add(all, c);
	f->example = c;
	f->cycle = json_object_get(c, "edges");
	page_name(&f->words, json_object_get(c, "cycle"));
	tell_text(&f->body, "A client that shows it",
	          json_object_get(c, "client"));
	name_cause(f, c, "not serializable");
}

/* ---- audits ---- */

static void tell_operation(struct text *t, const json_t *o)
{
	text_string(t, "<p><b>");
	page_name(t, json_object_get(o, "class"));
	text_string(t, "</b> <span class=\"muted\">");
	page_place(t, o);
	text_string(t, "</span><br><code>");
	page_plain(t, json_object_get(o, "statement"));
	text_string(t, "</code></p>\n");
}

/* The classes of its transactions, in a ring: each edge leads to the next. */
static void draw_ring(struct text *t, const json_t *edges, unsigned number)
{
	size_t i, count = json_array_size(edges);
	const json_t *edge;
	struct page_cycle c = { .number = number };
	c.nodes = mem_take0(count + 1, sizeof *c.nodes);
	c.edges = mem_take0(count + 1, sizeof *c.edges);
	json_array_foreach(edges, i, edge)
	{
		const json_t *from = json_object_get(edge, "from");
		const char *kind = document_string(edge, "kind");
		if (!kind || !document_string(from, "class")) continue;
		c.nodes[c.node_count] = json_object_get(from, "class");
		c.edges[c.edge_count].kind = kind;
		c.edges[c.edge_count].key = json_object_get(edge, "column");
		c.edges[c.edge_count++].from = c.node_count++;
	}
	for (i = 0; i < c.edge_count; i++)
		c.edges[i].to = (unsigned)(i + 1) % c.node_count;
	if (c.node_count) page_draw(t, &c);
	free(c.nodes);
	free(c.edges);
}

static void tell_edges(struct text *t, const json_t *edges, unsigned number)
{
	size_t i;
	const json_t *edge;
	text_string(t, "<div class=\"parts two\">\n<div><h5>What comes before "
	               "what</h5>\n<ol class=\"edges\">\n");
	json_array_foreach(edges, i, edge)
	{
		text_format(t, "<li id=\"w%u-%zu\">", number, i);
		tell_operation(t, json_object_get(edge, "from"));
		text_string(t, "<p><span class=\"muted\">before, by ");
		page_name(t, json_object_get(edge, "kind"));
		text_string(t, " on </span><code>");
		page_name(t, json_object_get(edge, "column"));
		text_string(t, "</code></p>\n");
		tell_operation(t, json_object_get(edge, "to"));
		text_string(t, "</li>\n");
	}
	text_string(t, "</ol></div>\n<div><h5>The cycle</h5>\n");
	draw_ring(t, edges, number);
	text_string(t, "</div>\n</div>\n");
}

static void add_anomaly(struct findings *all, const json_t *c)
{
	const json_t *edges = json_object_get(c, "edges");
	const json_t *protect = json_object_get(c, "protect");
	struct finding_view *f = add(all, c);
	const json_t *first = json_array_get(edges, 0);
	page_name(&f->words, json_object_get(first, "column"));
	text_string(&f->words, " <span class=\"muted\">");
	page_place(&f->words, json_object_get(first, "from"));
	text_string(&f->words, "</span>");
	if (json_is_string(protect)) {
		text_string(&f->body, "<p>Protect <code>");
		page_name(&f->body, protect);
		text_string(&f->body, "</code>: ");
		page_name(&f->body, json_object_get(c, "change"));
		text_string(&f->body, "</p>\n");
	}
	tell_edges(&f->body, edges, (unsigned)all->count);
	name_cause(f, c, "cycle");
	if (json_is_string(protect)) {
		text_string(&f->cause, " on ");
		page_name(&f->cause, protect);
	}
}

/* ---- all of a result ---- */

static void gather(struct findings *all, const json_t *r)
{
	const json_t *one;
	size_t i;
	all->result = r;
	json_array_foreach(json_object_get(r, "assertions"), i, one)
		add_assertion(all, one);
	json_array_foreach(json_object_get(r, "anomalies"), i, one)
		add_wrong_read(all, one);
	json_array_foreach(json_object_get(r, "witnesses"), i, one)
		add_witness(all, one);
	json_array_foreach(json_object_get(r, "predictions"), i, one)
		add_prediction(all, one);
	json_array_foreach(json_object_get(r, "separations"), i, one)
		add_separation(all, one);
	one = json_object_get(r, "counterexample");
	if (json_is_object(one)) add_counterexample(all, one);
	json_array_foreach(json_object_get(r, "cycles"), i, one)
		add_anomaly(all, one);
}

/* An example that is the same history as one before is not told again. */
static size_t told_before(const struct findings *all, size_t i)
{
	const json_t *mine = json_object_get(all->items[i].example, "steps");
	if (!mine) return i;
	for (size_t k = 0; k < i; k++)
		if (json_equal(mine,
		               json_object_get(all->items[k].example, "steps")))
			return k;
	return i;
}

/* What a schedule was too long for. */
static void tell_left_out(struct text *t, const json_t *example)
{
	const json_t *n = json_object_get(example, "steps_left_out");
	if (!json_is_integer(n)) return;
	text_string(t, "<p>The history is longer: ");
	page_value(t, n);
	text_string(t, json_integer_value(n) == 1
	                       ? " more read or write is not shown.</p>\n"
	                       : " more reads and writes are not shown.</p>\n");
}

static void print_finding(struct text *t, const struct findings *all, size_t i,
                          bool open)
{
	const struct finding_view *f = &all->items[i];
	const json_t *steps = json_object_get(f->example, "steps");
	size_t same = told_before(all, i);
	text_format(t, "<details class=\"finding\" id=\"f%zu\"%s><summary><h4>",
	            i + 1, open ? " open" : "");
	text_string(t, text_get(&f->words));
	text_string(t, "</h4> <span class=\"muted\">");
	page_place(t, f->of);
	if (all->several) {
		text_string(t, " in ");
		page_subject(t, f->result);
	}
	text_string(t, "</span></summary>\n<div class=\"body\">\n");
	text_string(t, text_get(&f->body));
	if (same < i)
		text_format(t,
		            "<p>The history is the one shown for <a "
		            "href=\"#f%zu\">%s</a>.</p>\n",
		            same + 1, text_get(&all->items[same].words));
	else if (json_is_array(steps))
		page_history(t, steps, f->cycle,
		             json_object_get(f->result, "sources"), f->fails,
		             (unsigned)i + 1);
	if (same == i) tell_left_out(t, f->example);
	if (json_is_string(f->repeat)) {
		text_string(t, "<h5>To repeat this run</h5>\n"
		               "<code class=\"command\">");
		page_plain(t, f->repeat);
		text_string(t, "</code>\n");
	}
	text_string(t, "</div></details>\n");
}

static bool same_cause(const struct findings *all, size_t a, size_t b)
{
	return !strcmp(text_get(&all->items[a].cause),
	               text_get(&all->items[b].cause));
}

static bool is_first(const struct findings *all, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_cause(all, k, i)) return false;
	return true;
}

static void print_group(struct text *t, const struct findings *all, size_t i)
{
	size_t count = 0;
	for (size_t k = i; k < all->count; k++) count += same_cause(all, i, k);
	text_format(t,
	            "<section class=\"group\">\n<h3>%s <span class=\"muted\">",
	            text_get(&all->items[i].cause));
	text_format(t, count == 1 ? "(1 finding)" : "(%zu findings)", count);
	text_string(t, "</span></h3>\n");
	if (all->items[i].anomaly)
		text_format(t, "<p>%s</p>\n",
		            anomaly_meaning(all->items[i].anomaly));
	for (size_t k = i; k < all->count; k++)
		if (same_cause(all, i, k)) print_finding(t, all, k, k == i);
	text_string(t, "</section>\n");
}

static void print_filter(struct text *t)
{
	text_string(t, "<div class=\"filter\" hidden><label>Filter "
	               "<input type=\"search\"></label>"
	               "<button type=\"button\">Open all</button>"
	               "<output class=\"muted\"></output></div>\n");
}

void page_findings(struct text *t, const json_t *results)
{
	struct findings all = { .several = json_array_size(results) > 1 };
	const json_t *r;
	size_t n;
	json_array_foreach(results, n, r) gather(&all, r);
	if (!all.count) return;
	text_string(t, "<section>\n<h2>Findings</h2>\n");
	if (all.count > 1) print_filter(t);
	for (size_t i = 0; i < all.count; i++)
		if (is_first(&all, i)) print_group(t, &all, i);
	text_string(t, "</section>\n");
	for (size_t i = 0; i < all.count; i++) {
		text_free(&all.items[i].words);
		text_free(&all.items[i].cause);
		text_free(&all.items[i].body);
	}
	free(all.items);
}
