/* What pg_stat_statements has, as CSV with a header or as psql's table: columns
 * `query` and `calls`, in any order and beside others. Statements without
 * transactions: each is one by itself. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log.h"

enum { COLUMNS_MOST = LOG_CSV_FIELDS, ROW_MOST = 16 << 20 };

struct queries {
	struct log_source *source;
	uint64_t rows;
	uint32_t query, calls; /* numbers of the columns */
	/* Of psql's table: where '|' stands, in characters. */
	uint32_t bars[COLUMNS_MOST];
	uint32_t bar_count;
};

static uint64_t times_of(const char *calls)
{
	const uint64_t most = 1000000000000000;
	uint64_t n =
		isdigit((unsigned char)*calls) ? strtoull(calls, NULL, 10) : 1;
	return n < most ? n : most;
}

static void say_row(struct queries *q, const char *text, const char *calls,
                    uint32_t line)
{
	struct log_entry e = { .event = LOG_STATEMENT,
		               .session = ++q->rows,
		               .times = times_of(calls),
		               .text = text,
		               .length = strlen(text),
		               .line = line };
	log_say(q->source, &e);
	e.event = LOG_END;
	log_say(q->source, &e);
}

/* ---- CSV ---- */

/* Which of the fields are the columns; false if one of them is missing. */
static bool header_of(struct queries *q, const char *const *fields,
                      unsigned count)
{
	q->query = q->calls = UINT32_MAX;
	for (unsigned i = 0; i < count; i++) {
		if (!strcmp(fields[i], "query")) q->query = i;
		if (!strcmp(fields[i], "calls")) q->calls = i;
	}
	return q->query != UINT32_MAX && q->calls != UINT32_MAX;
}

static bool csv_header(struct queries *q, const char *line)
{
	const char *fields[LOG_CSV_FIELDS];
	struct text t = { 0 };
	bool is = false;
	if (strstr(line, "query") && strstr(line, "calls")) {
		text_string(&t, line);
		is = header_of(q, fields, log_csv_split(t.data, fields));
	}
	text_free(&t);
	return is;
}

static void csv_row(struct queries *q, struct text *row, uint32_t line,
                    bool cut)
{
	const char *f[LOG_CSV_FIELDS] = { 0 };
	if (!line) return;
	if (cut) {
		log_skip(q->source, SKIP_LONG, line);
	} else if (memchr(row->data, 0, row->length)) {
		log_skip(q->source, SKIP_BINARY, line);
	} else {
		unsigned n = log_csv_split(row->data, f);
		if (n <= q->query || n <= q->calls)
			log_skip(q->source, SKIP_CUT, line);
		else
			say_row(q, f[q->query], f[q->calls], line);
	}
}

static void read_csv(struct queries *q)
{
	struct text row = { 0 };
	struct log_line line;
	uint32_t begun = 0;
	bool open = false, cut = false;
	while (log_next(q->source, &line)) {
		if (!begun && !line.length) continue;
		if (!begun) {
			begun = line.number;
			cut = open = false;
			text_clear(&row);
		} else {
			text_char(&row, '\n');
		}
		cut |= line.cut || row.length + line.length > ROW_MOST;
		if (!cut) text_bytes(&row, line.text, line.length);
		open ^= log_csv_turns(&line);
		if (open) continue;
		csv_row(q, &row, begun, cut);
		begun = 0;
	}
	csv_row(q, &row, begun, cut);
	text_free(&row);
}

/* ---- psql's table ---- */

/* Behind the first character. */
static const char *next_character(const char *s)
{
	for (s++; (*s & 0xc0) == 0x80;) s++;
	return s;
}

/* The cell, without the blank before it and those behind it. */
static void cell_text(struct text *to, const char *from, const char *end)
{
	if (from < end && *from == ' ') from++;
	while (end > from && end[-1] == ' ') end--;
	text_bytes(to, from, (size_t)(end - from));
}

/* Where the cells of the line begin and end: one more than there are bars.
 * False if the bars are elsewhere. */
static bool cells(const struct queries *q, const char *line,
                  const char *from[COLUMNS_MOST + 1],
                  const char *to[COLUMNS_MOST + 1])
{
	uint32_t n = 0, at = 0;
	const char *s = line;
	from[0] = s;
	for (; *s; s = next_character(s), at++) {
		if (n == q->bar_count || at != q->bars[n]) continue;
		if (*s != '|') return false;
		to[n++] = s;
		from[n] = s + 1;
	}
	to[n] = s;
	return n == q->bar_count;
}

static bool table_header(struct queries *q, const char *line)
{
	const char *from[COLUMNS_MOST + 1], *to[COLUMNS_MOST + 1];
	const char *names[COLUMNS_MOST + 1];
	struct text all[COLUMNS_MOST + 1] = { { 0 } };
	uint32_t at = 0;
	q->bar_count = 0;
	if (!strchr(line, '|')) return false;
	for (const char *s = line; *s; s = next_character(s), at++) {
		if (*s != '|') continue;
		if (q->bar_count == COLUMNS_MOST) return false;
		q->bars[q->bar_count++] = at;
	}
	bool fits = cells(q, line, from, to);
	assert(fits);
	for (uint32_t i = 0; fits && i <= q->bar_count; i++) {
		const char *name = from[i];
		while (*name == ' ') name++;
		cell_text(&all[i], name, to[i]);
		names[i] = text_get(&all[i]);
	}
	bool is = fits && header_of(q, names, q->bar_count + 1);
	for (uint32_t i = 0; i <= q->bar_count; i++) text_free(&all[i]);
	return is;
}

/* "----+----", "(3 rows)" */
static bool is_rule(const char *line)
{
	size_t n = strspn(line, "-+");
	return (n && !line[n]) ||
	       (*line == '(' && isdigit((unsigned char)line[1]) &&
	        strstr(line, " row"));
}

/* A cell that goes on in the next line ends with '+'. */
static bool goes_on(const char *from, const char **to)
{
	if (*to == from || (*to)[-1] != '+') return false;
	(*to)--;
	return true;
}

static void read_table(struct queries *q)
{
	const char *from[COLUMNS_MOST + 1], *to[COLUMNS_MOST + 1];
	struct text text = { 0 }, calls = { 0 };
	struct log_line line;
	uint32_t begun = 0;
	while (log_next(q->source, &line)) {
		if (!line.length || (!begun && is_rule(line.text))) continue;
		if (line.cut || text.length > ROW_MOST) {
			log_skip(q->source, SKIP_LONG, line.number);
			begun = 0;
			continue;
		}
		if (strlen(line.text) != line.length) {
			log_skip(q->source, SKIP_BINARY, line.number);
			continue;
		}
		if (!cells(q, line.text, from, to)) {
			log_skip(q->source, begun ? SKIP_CUT : SKIP_STRAY,
			         line.number);
			begun = 0;
			continue;
		}
		if (!begun) {
			text_clear(&text);
			text_clear(&calls);
			const char *number = from[q->calls];
			while (*number == ' ') number++;
			cell_text(&calls, number, to[q->calls]);
		} else {
			text_char(&text, '\n');
		}
		if (!begun) begun = line.number;
		bool more = goes_on(from[q->query], &to[q->query]);
		cell_text(&text, from[q->query], to[q->query]);
		if (more) continue;
		say_row(q, text_get(&text), text_get(&calls), begun);
		begun = 0;
	}
	if (begun) log_skip(q->source, SKIP_CUT, begun);
	text_free(&text);
	text_free(&calls);
}

/* ---- both ---- */

bool log_queries_fits(const char *line)
{
	struct queries q;
	return csv_header(&q, line) || table_header(&q, line);
}

void log_queries_read(struct log_source *s)
{
	struct queries q = { .source = s };
	struct log_line line;
	while (log_next(s, &line)) {
		if (csv_header(&q, line.text)) {
			read_csv(&q);
		} else if (table_header(&q, line.text)) {
			read_table(&q);
		} else if (line.length && !is_rule(line.text)) {
			log_skip(s, SKIP_STRAY, line.number);
		}
	}
}
