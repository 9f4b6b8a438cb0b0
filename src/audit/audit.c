#include "audit/audit.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/confirm.h"
#include "base/bits.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "history/history.h"

/* ---- input ---- */

static bool cannot_read(struct diags *d, const char *path, const char *why)
{
	diags_add(d, DIAG_ERROR, path, 0, 0, NULL, "%s", why);
	return false;
}

static bool read_whole(const char *path, struct text *out, struct diags *d)
{
	char buffer[1 << 14];
	size_t n;
	FILE *f = fopen(path, "rb");
	if (!f) return cannot_read(d, path, strerror(errno));
	while ((n = fread(buffer, 1, sizeof buffer, f)))
		text_bytes(out, buffer, n);
	int wrong = ferror(f) ? errno : 0;
	fclose(f);
	if (wrong) return cannot_read(d, path, strerror(wrong));
	if (memchr(text_get(out), 0, out->length))
		return cannot_read(d, path, "this is no text");
	return true;
}

static bool read_schema(struct audit *a, struct diags *d)
{
	const char *path = a->options.schema;
	struct text t = { 0 };
	bool fine = !path || (read_whole(path, &t, d) &&
	                      catalog_read(&a->catalog, a->parser, path,
	                                   text_get(&t), t.length, d));
	text_free(&t);
	return fine;
}

static bool read_hints(struct audit *a, struct diags *d)
{
	const char *path = a->options.hints;
	struct text t = { 0 };
	bool fine = !path ||
	            (read_whole(path, &t, d) &&
	             hints_read(&a->hints, &a->catalog, path, text_get(&t), d));
	text_free(&t);
	return fine;
}

/* ---- progress ---- */

enum { ENTRIES_A_TICK = 4096, EDGES_A_TICK = 64 };

static void tick(const struct audit *a, struct audit_progress p)
{
	if (!a->options.tick) return;
	p.seconds = seconds_now() - a->begun;
	p.classes = a->classes.count;
	a->options.tick(a->options.payload, &p);
}

static void tick_log(const struct audit *a, uint32_t file)
{
	struct audit_progress p = { .log = a->options.logs[file],
		                    .done = a->bytes_read + a->logs[file].bytes,
		                    .total = a->bytes };
	for (uint32_t i = 0; i <= file; i++)
		p.statements += a->logs[i].statements;
	tick(a, p);
}

/* 0, if one of them is no file. */
static uint64_t size_of_logs(const struct audit_options *o)
{
	uint64_t all = 0;
	struct stat s;
	for (uint32_t i = 0; i < o->log_count; i++) {
		if (stat(o->logs[i], &s) || !S_ISREG(s.st_mode)) return 0;
		all += (uint64_t)s.st_size;
	}
	return all;
}

/* ---- logs ---- */

struct listener {
	struct audit *audit;
	uint32_t file;
	bool begun;
};

/* The format is known at the first entry. */
static void hear(void *data, const struct log_entry *e)
{
	struct listener *l = data;
	struct audit *a = l->audit;
	if (!l->begun)
		classes_begin_log(&a->classes, l->file,
		                  a->logs[l->file].format == LOG_MYSQL);
	l->begun = true;
	if (++a->entries % ENTRIES_A_TICK == 0) tick_log(a, l->file);
	classes_add(&a->classes, e);
}

static bool read_log(struct audit *a, uint32_t i, struct diags *d)
{
	const char *path = a->options.logs[i];
	bool standard = !strcmp(path, "-");
	struct text why = { 0 };
	struct listener l = { a, i, false };
	FILE *f = standard ? stdin : fopen(path, "rb");
	if (!f) return cannot_read(d, path, strerror(errno));
	a->logs[i].path = path;
	bool fine = log_read(&a->logs[i], f, &a->limit, hear, &l, &why);
	if (!standard) fclose(f);
	if (l.begun) classes_end_log(&a->classes);
	for (uint64_t k = 0; k < a->classes.broken.count; k++)
		log_skipped_add(
			&a->logs[i].skipped[SKIP_CUT],
			a->classes.broken.lines[k < LOG_PLACES ? k : 0]);
	a->classes.broken = (struct log_skipped){ 0 };
	a->bytes_read += a->logs[i].bytes;
	if (!fine) cannot_read(d, path, text_get(&why));
	if (a->logs[i].stopped) a->stop = a->limit.stop;
	text_free(&why);
	return fine;
}

/* What hints say of classes, which are known by now. */
static bool apply_hints(struct audit *a, struct diags *d)
{
	for (uint32_t i = 0; i < a->hints.class_count; i++) {
		const struct class_hint *h = &a->hints.classes[i];
		for (int k = 0; k < (h->kind == HINT_EXCLUSIVE ? 2 : 1); k++)
			if (h->classes[k] >= a->classes.count) {
				diags_add(d, DIAG_ERROR, a->options.hints,
				          h->line, 0, NULL,
				          "there is no class T%u: the logs "
				          "have %u",
				          h->classes[k] + 1, a->classes.count);
				return false;
			}
		struct transaction_class *x = &a->classes.items[h->classes[0]];
		if (h->kind == HINT_IGNORE) x->ignored = true;
		if (h->kind != HINT_TOLERATES) continue;
		x->tolerates = true;
		if (x->reads_only) continue;
		diags_add(d, DIAG_ERROR, a->options.hints, h->line, 0, NULL,
		          "T%u writes: what it reads matters to others",
		          h->classes[0] + 1);
		return false;
	}
	return true;
}

/* ---- search ---- */

static bool out_of_time(struct audit *a)
{
	if (limit_reached(&a->limit)) a->stop = a->limit.stop;
	return a->stop != STOP_NONE;
}

static bool is_pivot_edge(const struct audit_edge *e)
{
	return e->order.leave != INSTANT_END;
}

static bool same_read(const struct conflicts *g, const struct audit_edge *a,
                      const struct audit_edge *b)
{
	const struct audit_node *x = &g->nodes[a->from_node];
	const struct audit_node *y = &g->nodes[b->from_node];
	const struct audit_node *u = &g->nodes[a->to_node];
	const struct audit_node *v = &g->nodes[b->to_node];
	return a->from == b->from && a->to == b->to &&
	       x->statement == y->statement && u->statement == v->statement;
}

/* Edges between the same two statements are one anomaly. */
static void note(struct audit *a, uint32_t edge, const struct audit_cycle *c)
{
	const struct conflicts *g = &a->graph;
	for (uint32_t i = a->anomaly_count; i > 0; i--) {
		const struct audit_edge *e =
			&g->edges[a->anomalies[i - 1].edge];
		if (e->from != g->edges[edge].from) break;
		if (same_read(g, e, &g->edges[edge])) return;
	}
	assert(c->edges[0] == edge && is_pivot_edge(&g->edges[edge]));
	VEC_RESERVE(a->anomalies, a->anomaly_count, a->anomaly_capacity);
	a->anomalies[a->anomaly_count++] = (struct audit_anomaly){
		.cycle = *c, .edge = edge, .column = CATALOG_NONE
	};
}

static void find_anomalies(struct audit *a)
{
	struct cycle_search s;
	struct audit_cycle c;
	if (out_of_time(a) || !a->graph.dangerous) return;
	cycles_init(&s, &a->graph, &a->limit);
	for (uint32_t i = 0; i < a->graph.edge_count; i++) {
		if (i % EDGES_A_TICK == 0)
			tick(a,
			     (struct audit_progress){
				     .done = i, .total = a->graph.edge_count });
		if (!is_pivot_edge(&a->graph.edges[i])) continue;
		if (out_of_time(a)) break;
		switch (cycle_find(&s, i, &c)) {
		case CYCLE_FOUND:
			a->edges_found++;
			note(a, i, &c);
			break;
		case CYCLE_NONE: a->edges_timing++; break;
		case CYCLE_LOCKED: a->edges_rows++; break;
		case CYCLE_OPEN: a->edges_open++; break;
		}
	}
	cycles_free(&s);
}

/* ---- the columns ---- */

/* A column that is not protected for each edge, as few as may be; how many. 0:
 * none of them can be protected. */
static uint32_t columns_of(const struct audit *a, const struct audit_cycle *c,
                           uint32_t out[CYCLE_MOST])
{
	const struct conflicts *g = &a->graph;
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		const struct audit_edge *e = &g->edges[c->edges[i]];
		uint32_t chosen = CATALOG_NONE;
		bool had = false;
		for (uint32_t k = 0; k < e->column_count && !had; k++) {
			uint32_t x = g->columns[e->first_column + k];
			if (bits_has(a->protected, x)) continue;
			for (uint32_t q = 0; q < n; q++) had |= out[q] == x;
			/* One that cannot be protected breaks nothing. */
			if (chosen == CATALOG_NONE ||
			    a->catalog.columns[x].fixed)
				chosen = x;
		}
		assert(chosen != CATALOG_NONE || had);
		if (!had && !a->catalog.columns[chosen].fixed)
			out[n++] = chosen;
	}
	return n;
}

static void protect(struct audit *a, struct cycle_search *s)
{
	conflicts_protect(&a->graph, a->protected);
	cycles_prepare(s);
}

/* Adds a set for each cycle that is left, protecting as it goes, until none is.
 * False if none was from the beginning. */
static bool add_cycles(struct audit *a, struct cycle_search *s, bool *skip)
{
	struct audit_cycle c;
	uint32_t columns[CYCLE_MOST];
	bool any = false;
	for (uint32_t i = 0; i < a->graph.edge_count; i++) {
		const struct audit_edge *e = &a->graph.edges[i];
		if (!is_pivot_edge(e) || skip[i]) continue;
		while (e->alive && !out_of_time(a) &&
		       cycle_find(s, i, &c) == CYCLE_FOUND) {
			uint32_t n = columns_of(a, &c, columns);
			if (!n) {
				a->unprotectable++;
				skip[i] = true;
				break;
			}
			cover_add(&a->cover, columns, n);
			for (uint32_t k = 0; k < n; k++)
				bits_add(a->protected, columns[k]);
			protect(a, s);
			any = true;
		}
	}
	return any;
}

/* The cheapest columns without which no cycle is left: as long as one is, its
 * columns are one more set that the answer has to meet. */
static void choose_columns(struct audit *a)
{
	uint32_t n = a->catalog.column_count;
	struct cycle_search s;
	a->weights = mem_take((n + 1) * sizeof *a->weights);
	for (uint32_t i = 0; i < n; i++)
		a->weights[i] = a->catalog.columns[i].weight;
	a->protected = mem_take0(BITS_WORDS(n + 1), sizeof *a->protected);
	cover_init(&a->cover, a->weights, n);
	a->cover_exact = true;
	a->cover_complete = !a->stop;
	if (!a->edges_found) return;
	bool *skip = mem_take0(a->graph.edge_count + 1, sizeof *skip);
	cycles_init(&s, &a->graph, &a->limit);
	while (add_cycles(a, &s, skip) && !a->stop) {
		cover_solve(&a->cover);
		bits_zero(a->protected, BITS_WORDS(n + 1));
		for (uint32_t i = 0; i < n; i++)
			if (a->cover.best[i]) bits_add(a->protected, i);
		protect(a, &s);
	}
	a->cover_complete = !a->limit.stop;
	a->cover_exact = a->cover.exact;
	a->protected_count = bits_count(a->protected, BITS_WORDS(n + 1));
	cycles_free(&s);
	free(skip);
}

/* By which column each anomaly goes away. */
static void attribute(struct audit *a)
{
	const struct conflicts *g = &a->graph;
	for (uint32_t i = 0; i < a->anomaly_count; i++) {
		struct audit_anomaly *x = &a->anomalies[i];
		for (uint32_t k = 0;
		     k < x->cycle.count && x->column == CATALOG_NONE; k++) {
			const struct audit_edge *e =
				&g->edges[x->cycle.edges[k]];
			for (uint32_t q = 0; q < e->column_count; q++) {
				uint32_t c = g->columns[e->first_column + q];
				if (!bits_has(a->protected, c)) continue;
				x->column = c;
				break;
			}
		}
	}
}

static const struct class_statement *statements_of(const struct audit *a,
                                                   const struct audit_edge *e)
{
	return a->classes.items[e->from].statements;
}

bool audit_spans_call(const struct audit *a, const struct audit_anomaly *x)
{
	const struct conflicts *g = &a->graph;
	const struct audit_edge *out = &g->edges[x->cycle.edges[0]];
	const struct audit_edge *in =
		&g->edges[x->cycle.edges[x->cycle.count - 1]];
	uint32_t left = g->nodes[out->from_node].statement;
	uint32_t entered = g->nodes[in->to_node].statement;
	assert(in->to == out->from);
	for (uint32_t i = left; i < entered; i++)
		if (statements_of(a, out)[i].ends) return true;
	return false;
}

bool audit_run(struct audit *a, const struct audit_options *o, struct diags *d)
{
	double begun = seconds_now();
	*a = (struct audit){ .options = *o,
		             .begun = begun,
		             .bytes = size_of_logs(o) };
	assert(o->log_count && conflicts_level(o->level));
	a->limit.interrupt = o->interrupt;
	if (o->timeout > 0) a->limit.end = begun + o->timeout;
	catalog_init(&a->catalog);
	a->parser = sql_parser_new();
	classes_init(&a->classes, &a->catalog, a->parser);
	a->classes.templates.keeps_sql = o->lifts || o->confirms || o->proves;
	assert(!o->group_by || !a->classes.templates.keeps_sql);
	bool known = grouping_read(&a->classes.grouping, o->group_by);
	assert(known);
	(void)known;
	a->logs = mem_take0(o->log_count, sizeof *a->logs);
	if (!read_schema(a, d) || !read_hints(a, d)) return false;
	for (uint32_t i = 0; i < o->log_count && !a->stop; i++)
		if (!read_log(a, i, d)) return false;
	classes_settle(&a->classes);
	if (!apply_hints(a, d)) return false;
	a->read_seconds = seconds_now() - begun;
	if (level_is_serial(o->level) && !o->group_by) return true;
	conflicts_init(&a->graph, &a->classes, &a->catalog, &a->hints, o->level,
	               &a->limit);
	find_anomalies(a);
	/* What was cut off is no answer. */
	a->stop = a->limit.stop;
	choose_columns(a);
	a->stop = a->limit.stop;
	attribute(a);
	a->search_seconds = seconds_now() - begun - a->read_seconds;
	return true;
}

void audit_free(struct audit *a)
{
	for (uint32_t i = 0; i < a->anomaly_count; i++)
		confirmed_free(&a->anomalies[i].confirmed);
	cover_free(&a->cover);
	conflicts_free(&a->graph);
	classes_free(&a->classes);
	catalog_free(&a->catalog);
	hints_free(&a->hints);
	sql_parser_free(a->parser);
	free(a->anomalies);
	free(a->proof.why);
	for (uint32_t i = 0; i < a->proof.assumed_count; i++)
		free(a->proof.assumed[i]);
	free(a->proof.assumed);
	free(a->weights);
	free(a->protected);
	free(a->logs);
}
