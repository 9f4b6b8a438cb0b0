#include "result/audited_words.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "result/names.h"

const char *audited_file(const struct audit *a, uint32_t file)
{
	assert(file < a->options.log_count);
	return a->options.logs[file];
}

void name_audited_place(struct text *t, const struct audit *a, uint32_t file,
                        uint32_t line)
{
	name_plain(t, audited_file(a, file));
	text_format(t, ":%u", line);
}

const struct class_statement *audited_statement(const struct audit *a,
                                                const struct audit_node *n)
{
	return &a->classes.items[n->of].statements[n->statement];
}

const char *audited_text(const struct audit *a, const struct audit_node *n)
{
	return a->classes.templates.items[audited_statement(a, n)->template]
	        .text;
}

/* As much of it as fits in a line. */
void name_audited_statement(struct text *t, const char *words, size_t most)
{
	struct text plain = { 0 };
	name_plain(&plain, words);
	size_t n = plain.length;
	bool cut = n > most;
	if (cut)
		for (n = most - 3; n && (plain.data[n] & 0xc0) == 0x80;) n--;
	text_bytes(t, text_get(&plain), n);
	if (cut) text_string(t, "...");
	text_free(&plain);
}

const struct audit_edge *audited_edge(const struct audit *a,
                                      const struct audit_anomaly *x, uint32_t i)
{
	assert(i < x->cycle.count);
	return &a->graph.edges[x->cycle.edges[i]];
}

const struct audit_node *audited_node(const struct audit *a, uint32_t n)
{
	assert(n < a->graph.node_count);
	return &a->graph.nodes[n];
}

static bool has_column(const struct audit *a, const struct audit_edge *e,
                       uint32_t column)
{
	for (uint32_t i = 0; i < e->column_count; i++)
		if (a->graph.columns[e->first_column + i] == column)
			return true;
	return false;
}

/* The column that the edge is told by: the one that is to be protected, if it
 * is one of it. */
uint32_t audited_column(const struct audit *a, const struct audit_anomaly *x,
                        const struct audit_edge *e)
{
	if (x->column != CATALOG_NONE && has_column(a, e, x->column))
		return x->column;
	return a->graph.columns[e->first_column];
}

/* What such a cycle is usually called, or NULL. */
const char *audited_name(const struct audit *a, const struct audit_anomaly *x)
{
	const struct audit_edge *out = audited_edge(a, x, 0);
	const struct audit_edge *in = audited_edge(a, x, x->cycle.count - 1);
	const struct audit_node *read = audited_node(a, out->from_node);
	const struct audit_node *back = audited_node(a, in->to_node);
	/* What is between the transactions of a call. */
	if (out->kind != CONFLICT_RW)
		return x->cycle.count > 2         ? NULL
		       : out->kind == CONFLICT_WR ? "intermediate read"
		                                  : "interleaved writes";
	if (audited_node(a, out->to_node)->flags & OPERATION_FRESH)
		return "phantom";
	if (x->cycle.count > 2) return NULL;
	bool same = read->table == back->table &&
	            has_column(a, in, audited_column(a, x, out));
	switch (in->kind) {
	case CONFLICT_WW: return same ? "lost update" : NULL;
	case CONFLICT_RW:
		/* Of two writers of one row one ends there: they are others. */
		return same && !level_excludes_rivals(a->graph.level)
		               ? "lost update"
		               : "write skew";
	case CONFLICT_WR:
		return same && read->place != back->place ? "nonrepeatable read"
		                                          : "read skew";
	}
	return NULL;
}

/* What to change where the column is read, in one transaction. */
static const char *change_inside(const struct audit *a,
                                 const struct audit_anomaly *x)
{
	const struct audit_edge *out = audited_edge(a, x, 0);
	const struct audit_node *read = audited_node(a, out->from_node);
	bool select = !strncasecmp(audited_text(a, read), "select", 6);
	bool rows =
		read->row == CATALOG_NONE && read->flags & OPERATION_CONDITION;
	const char *name = audited_name(a, x);
	if (audited_node(a, out->to_node)->flags & OPERATION_FRESH)
		return "a unique constraint, or level ser: there is no row yet "
		       "that could be locked";
	if (level_has_snapshots(a->graph.level))
		return "write the row as well (SET column = column), or run it "
		       "at ser";
	if (name && !strcmp(name, "lost update") && select)
		return "add FOR UPDATE, or let one UPDATE read and write it";
	if (rows)
		return "run it at ser, or lock by a key: rows that it does not "
		       "find are not locked";
	return select ? "add FOR UPDATE" : "run it at ser";
}

void name_audited_change(struct text *t, const struct audit *a,
                         const struct audit_anomaly *x)
{
	bool spans = audit_spans_call(a, x);
	if (spans) text_string(t, "put both in one transaction");
	if (spans && (level_is_serial(a->graph.level) ||
	              audited_edge(a, x, 0)->kind != CONFLICT_RW))
		return;
	text_format(t, "%s%s", spans ? ", and " : "", change_inside(a, x));
}

/* "lost update", or "cycle of 3" */
void name_audited_kind(struct text *t, const struct audit *a,
                       const struct audit_anomaly *x)
{
	const char *name = audited_name(a, x);
	if (name)
		text_string(t, name);
	else
		text_format(t, "cycle of %u", x->cycle.count);
}
