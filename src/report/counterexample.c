#include "report/counterexample.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "history/history.h"
#include "result/names.h"
#include "result/result.h"
#include "vm/program.h"

enum {
	ROWS_IN_FULL = 60, /* a longer table leaves out what is not shared */
	EVENTS_MOST = 500, /* of a transaction with more the first and the last
	                    * are shown, so many of each: */
	EVENTS_AT_ENDS = 40,
	GAP = 3, /* between columns: " │ " */
	STATEMENT_WIDTH = 68,
	NARROWEST = 40 /* that lines are wrapped for */
};

/* One row of the table; only one column of it has text. */
struct cell {
	uint32_t column;
	enum style_mark mark;
	bool marked; /* else plain */
	struct text body, tail;
	struct text short_tail; /* instead, when the table is too wide */
};

struct table {
	const struct history *h;
	uint32_t column_count;
	uint32_t *column_of; /* by session; UINT32_MAX: no transactions */
	unsigned *width;     /* by column */
	unsigned *tail_at;   /* by column: where "from ..." begins */
	struct cell *cells;
	size_t count, capacity;
	word *shared; /* keys that one transaction writes and another
	               * reads or writes */
	bool stacked; /* in one column, without its heading */
	bool all;     /* show events of keys that are not shared, too */
	const struct result_changes *marks;
	const struct program *sql; /* whose statements are told; or NULL */
};

bool event_is_marked(const struct result_changes *m, uint32_t transaction,
                     uint32_t event)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (m->items[i].reader == transaction &&
		    m->items[i].event == event)
			return true;
	return false;
}

static struct cell *add_cell(struct table *t, uint32_t column)
{
	assert(column < t->column_count);
	VEC_RESERVE(t->cells, t->count, t->capacity);
	struct cell *c = &t->cells[t->count++];
	*c = (struct cell){ .column = column };
	return c;
}

static struct cell *add_marked(struct table *t, uint32_t column,
                               enum style_mark mark)
{
	struct cell *c = add_cell(t, column);
	c->mark = mark;
	c->marked = true;
	return c;
}

/* A key is shared when some transaction other than init writes it and another
 * one touches it. */
static void find_shared(struct table *t)
{
	const struct history *h = t->h;
	t->shared = mem_take0(BITS_WORDS(h->key_count) + 1, sizeof(word));
	uint32_t *writer = mem_take0(h->key_count + 1, sizeof *writer);
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		const struct transaction *x = &h->transactions[i];
		for (uint32_t e = 0; e < x->event_count; e++)
			if (x->events[e].kind == EVENT_WRITE && !x->aborted)
				writer[x->events[e].key] = i;
	}
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		const struct transaction *x = &h->transactions[i];
		for (uint32_t e = 0; e < x->event_count; e++) {
			uint32_t key = x->events[e].key;
			if (writer[key] && writer[key] != i)
				bits_add(t->shared, key);
		}
	}
	free(writer);
}

/* Whom it reads from. */
static void add_tail(const struct table *t, struct cell *c,
                     const struct event *e)
{
	assert(e->kind == EVENT_READ);
	if (e->from == HISTORY_SELF) {
		text_string(&c->tail, "  its own");
		return;
	}
	text_string(&c->tail, "  from ");
	name_transaction(&c->tail, t->h, e->from);
	text_string(&c->short_tail, "  ← ");
	name_transaction_short(&c->short_tail, t->h, e->from);
}

static void add_event(struct table *t, uint32_t column, const struct event *e,
                      bool marked)
{
	assert(e->key < t->h->key_count);
	struct cell *c =
		marked ? add_marked(t, column, STYLE_RED) : add_cell(t, column);
	text_string(&c->body, marked ? "* " : "  ");
	name_event(&c->body, t->h, e);
	if (e->kind == EVENT_READ && !event_gives_up(e)) add_tail(t, c, e);
}

/* ---- Changes of rows, in SQL ---- */

/* Is there such an event, and of the statement of the one before it? */
static bool goes_on(const struct transaction *x, uint32_t e)
{
	return e < x->event_count &&
	       x->events[e].point == x->events[e - 1].point;
}

/* A row that was found is locked by the same statement, as it was found: then
 * this is told where it is locked. */
static bool is_locked_later(const struct transaction *x, uint32_t e)
{
	const struct event *found = &x->events[e];
	if (found->kind != EVENT_READ || found->strength != STRENGTH_PLAIN)
		return false;
	for (uint32_t i = e + 1; goes_on(x, i); i++) {
		const struct event *later = &x->events[i];
		if (later->key != found->key) continue;
		if (later->kind != EVENT_READ || later->from != found->from ||
		    !value_equal(later->value, found->value))
			return false;
		if (later->strength != STRENGTH_PLAIN) return true;
	}
	return false;
}

/* A row is locked, and then changed by the same statement. */
static bool is_change(const struct transaction *x, uint32_t e)
{
	const struct event *lock = &x->events[e], *write = lock + 1;
	return goes_on(x, e + 1) && lock->kind == EVENT_READ &&
	       lock->strength != STRENGTH_PLAIN && !event_gives_up(lock) &&
	       write->kind == EVENT_WRITE && write->key == lock->key;
}

/* "balance: 0 → 20": what differs of two rows with the same columns; false:
 * they have others. */
static bool name_difference(struct text *t, struct value old, struct value new)
{
	const char *before = " ";
	if (old.tag != VALUE_RECORD || new.tag != VALUE_RECORD ||
	    old.o->length != new.o->length)
		return false;
	for (uint32_t i = 0; i < old.o->length; i += 2) {
		const struct value *a = old.o->items + i;
		const struct value *b = new.o->items + i;
		if (!value_equal(a[0], b[0])) return false;
		if (value_equal(a[1], b[1])) continue;
		text_format(t, "%s%s: ", before, a[0].o->bytes);
		value_print(t, a[1]);
		text_string(t, " → ");
		value_print(t, b[1]);
		before = ", ";
	}
	return *before == ',';
}

/* "update savings[1] balance: 0 → 20": the row that is locked, and what becomes
 * of it. */
static void add_change(struct table *t, uint32_t column,
                       const struct event *lock, const struct event *write)
{
	bool there = lock->value.tag == VALUE_RECORD;
	bool stays = write->value.tag == VALUE_RECORD;
	struct cell *c = add_cell(t, column);
	struct text difference = { 0 };
	assert(lock->key == write->key);
	text_string(&c->body, !there   ? "  insert "
	                      : !stays ? "  delete "
	                               : "  update ");
	name_key(&c->body, t->h, lock->key);
	if (there && stays &&
	    name_difference(&difference, lock->value, write->value)) {
		text_string(&c->body, text_get(&difference));
	} else {
		text_string(&c->body, " = ");
		if (there) value_print(&c->body, lock->value);
		if (there && stays) text_string(&c->body, " → ");
		if (stays) value_print(&c->body, write->value);
	}
	text_free(&difference);
	/* That there is nothing, as in the beginning, goes without saying. */
	if (there || lock->from != HISTORY_INIT) add_tail(t, c, lock);
}

/* "12: UPDATE seat SET ..." */
static void add_statement(struct table *t, uint32_t column, uint32_t point)
{
	struct position at = program_position(t->sql, point);
	struct cell *c = add_marked(t, column, STYLE_DIM);
	const char *words = at.source_line;
	/* Characters, not bytes. */
	for (uint32_t i = 1; i < at.column && *words; i++) do
			words++;
		while ((*words & 0xc0) == 0x80);
	struct text line = { 0 };
	text_string(&line, words);
	/* What ends the step. */
	while (line.length && strchr("; \t}", line.data[line.length - 1]))
		line.data[--line.length] = '\0';
	text_format(&c->body, "  %" PRIu32 ": ", at.line);
	style_fit(&c->body, text_get(&line), STATEMENT_WIDTH);
	text_free(&line);
}

/* Is it one of those in the middle of a long transaction? */
static bool is_amid(const struct transaction *x, uint32_t e)
{
	return x->event_count > EVENTS_MOST && e >= EVENTS_AT_ENDS &&
	       e < x->event_count - EVENTS_AT_ENDS;
}

static void add_gap(struct table *t, uint32_t column,
                    const struct transaction *x)
{
	struct cell *c = add_marked(t, column, STYLE_DIM);
	text_format(&c->body, "  … %" PRIu32 " more reads and writes …",
	            x->event_count - 2 * EVENTS_AT_ENDS);
}

static void add_transaction(struct table *t, uint32_t i)
{
	assert(i && i < t->h->transaction_count);
	const struct transaction *x = &t->h->transactions[i];
	uint32_t column = t->column_of[x->session];
	struct cell *heading = add_marked(t, column, STYLE_BOLD);
	name_transaction_at(&heading->body, t->h, i);
	/* What assertions ask at the end is no statement of a session. */
	bool last = t->sql && program_has_finally(t->sql) &&
	            x->session + 1 == program_session_count(t->sql);
	uint32_t left_out = 0, told = 0;
	for (uint32_t e = 0; e < x->event_count; e++) {
		bool marked = event_is_marked(t->marks, i, e);
		if (!marked && is_amid(x, e)) {
			if (e == EVENTS_AT_ENDS) add_gap(t, column, x);
			continue;
		}
		if (!marked && !t->all &&
		    !bits_has(t->shared, x->events[e].key)) {
			left_out++;
			continue;
		}
		if (t->sql && !last && told != x->events[e].point + 1)
			add_statement(t, column, x->events[e].point);
		told = x->events[e].point + 1;
		bool change = t->sql && !marked && is_change(x, e) &&
		              !event_is_marked(t->marks, i, e + 1);
		if (t->sql && !marked && is_locked_later(x, e)) continue;
		if (change)
			add_change(t, column, &x->events[e], &x->events[e + 1]);
		else
			add_event(t, column, &x->events[e], marked);
		e += change;
	}
	if (left_out) {
		struct cell *c = add_marked(t, column, STYLE_DIM);
		text_format(&c->body, "  … %" PRIu32 " on keys not shared",
		            left_out);
	}
	if (!x->aborted) return;
	struct cell *c = add_marked(t, column, STYLE_YELLOW);
	text_string(&c->body, "  abort");
	if (x->failure) {
		text_string(&c->body, ": ");
		name_plain(&c->body, x->failure);
	}
}

/* Of what stands before the tail. */
static unsigned body_width(const struct cell *c)
{
	return (unsigned)style_columns(text_get(&c->body));
}

/* With the tail at its place. */
static unsigned cell_width(const struct table *t, const struct cell *c)
{
	assert(c->column < t->column_count);
	if (!c->tail.length) return body_width(c);
	return t->tail_at[c->column] +
	       (unsigned)style_columns(text_get(&c->tail));
}

static void measure(struct table *t)
{
	const struct history *h = t->h;
	memset(t->width, 0, h->session_count * sizeof *t->width);
	memset(t->tail_at, 0, h->session_count * sizeof *t->tail_at);
	struct text name = { 0 };
	for (uint32_t s = 0; s < h->session_count; s++) {
		if (t->column_of[s] == UINT32_MAX) continue;
		text_clear(&name);
		name_session(&name, h, s);
		t->width[t->column_of[s]] =
			(unsigned)style_columns(text_get(&name));
	}
	text_free(&name);
	for (size_t i = 0; i < t->count; i++) {
		const struct cell *c = &t->cells[i];
		unsigned *at = &t->tail_at[c->column];
		if (c->tail.length && body_width(c) > *at) *at = body_width(c);
	}
	for (size_t i = 0; i < t->count; i++) {
		unsigned w = cell_width(t, &t->cells[i]);
		unsigned *width = &t->width[t->cells[i].column];
		if (w > *width) *width = w;
	}
}

static unsigned total_width(const struct table *t)
{
	unsigned total = 0;
	for (uint32_t c = 0; c < t->column_count; c++)
		total += t->width[c] + (c ? GAP : 0);
	return total;
}

static void shorten_tails(struct table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct cell *c = &t->cells[i];
		if (!c->short_tail.length) continue;
		struct text long_tail = c->tail;
		c->tail = c->short_tail;
		c->short_tail = long_tail;
	}
}

/* One column, in which nothing has to be in line: transactions come one below
 * the other, and their names tell the sessions. */
static void stack(struct table *t)
{
	t->stacked = true;
	t->column_count = 1;
	t->tail_at[0] = 0;
	for (size_t i = 0; i < t->count; i++) t->cells[i].column = 0;
}

/* Makes the table fit, if that can be, by saying all tails shortly. Keys and
 * values are never cut: where columns have no room, there are none. */
static void narrow(struct table *t, unsigned available)
{
	if (total_width(t) <= available) return;
	shorten_tails(t);
	measure(t);
	if (total_width(t) <= available) return;
	shorten_tails(t);
	stack(t);
}

static void print_cell(struct text *t, const struct style *s,
                       const struct table *b, const struct cell *c)
{
	if (c->marked) style_begin(t, s, c->mark);
	text_string(t, text_get(&c->body));
	if (c->marked) style_end(t, s);
	if (!c->tail.length) return;
	unsigned width = body_width(c), at = b->tail_at[c->column];
	if (at > width) text_pad(t, ' ', at - width);
	style_words(t, s, STYLE_CYAN, text_get(&c->tail));
}

/* The last byte of a line that fits, at a blank if there is one. */
static const char *end_of_line(const char *words, size_t columns)
{
	const char *end = style_part(words, columns), *blank = end;
	if (!*end) return end;
	while (blank > words && *blank != ' ') blank--;
	if (blank > words) return blank;
	blank = strchr(end, ' ');
	return blank ? blank : words + strlen(words);
}

/* In lines that fit, as far as there are blanks; the tail is not parted. */
static void print_wrapped(struct text *t, const struct style *s,
                          const struct cell *c, unsigned indent)
{
	enum { HANG = 4 }; /* further in, from the second line on */
	const char *words = text_get(&c->body);
	size_t room = s->width - indent, used;
	assert(s->width > indent + HANG);
	while (*words == ' ') {
		text_char(t, ' ');
		words++;
		room--;
	}
	unsigned from = s->width - (unsigned)room + HANG;
	if (c->marked) style_begin(t, s, c->mark);
	for (;;) {
		const char *end = end_of_line(words, room);
		text_bytes(t, words, (size_t)(end - words));
		used = style_columns(words) - style_columns(end);
		if (!*end) break;
		words = end + 1;
		room = s->width - from;
		text_char(t, '\n');
		text_pad(t, ' ', from);
	}
	if (c->marked) style_end(t, s);
	const struct text *tail = &c->tail;
	if (!tail->length) return;
	if (used + style_columns(text_get(tail)) > room && c->short_tail.length)
		tail = &c->short_tail;
	if (used + style_columns(text_get(tail)) > room) {
		text_char(t, '\n');
		text_pad(t, ' ', from - 2); /* it begins with blanks */
		tail = &c->tail;
	}
	style_words(t, s, STYLE_CYAN, text_get(tail));
}

static void print_bar(struct text *t, const struct style *s)
{
	text_char(t, ' ');
	style_words(t, s, STYLE_DIM, "│");
	text_char(t, ' ');
}

static void print_row(struct text *t, const struct style *s,
                      const struct table *b, const struct cell *cell,
                      unsigned indent)
{
	text_pad(t, ' ', indent);
	assert(cell->column < b->column_count);
	if (b->stacked && b->sql && s->width >= NARROWEST) {
		print_wrapped(t, s, cell, indent);
		text_char(t, '\n');
		return;
	}
	for (uint32_t c = 0; c < b->column_count; c++) {
		unsigned used = 0;
		if (c) print_bar(t, s);
		if (c == cell->column) {
			print_cell(t, s, b, cell);
			used = cell_width(b, cell);
		}
		if (c + 1 < b->column_count)
			text_pad(t, ' ', b->width[c] - used);
	}
	while (t->length && t->data[t->length - 1] == ' ') t->length--;
	t->data[t->length] = '\0';
	text_char(t, '\n');
}

static void print_header(struct text *t, const struct style *s,
                         const struct table *b, unsigned indent)
{
	const struct history *h = b->h;
	struct text name = { 0 };
	text_pad(t, ' ', indent);
	for (uint32_t i = 0, c = 0; i < h->session_count; i++) {
		if (b->column_of[i] == UINT32_MAX) continue;
		if (c) print_bar(t, s);
		text_clear(&name);
		name_session(&name, h, i);
		size_t used = style_columns(text_get(&name));
		assert(used <= b->width[c]);
		style_words(t, s, STYLE_BLUE, text_get(&name));
		if (c + 1 < b->column_count)
			text_pad(t, ' ', b->width[c] - used);
		c++;
	}
	text_char(t, '\n');
	text_pad(t, ' ', indent);
	style_begin(t, s, STYLE_DIM);
	for (uint32_t c = 0; c < b->column_count; c++) {
		if (c) text_string(t, "─┼─");
		for (unsigned i = 0; i < b->width[c]; i++) text_string(t, "─");
	}
	style_end(t, s);
	text_char(t, '\n');
	text_free(&name);
}

static void lay_out(struct table *t)
{
	const struct history *h = t->h;
	size_t rows = 0;
	for (uint32_t i = 1; i < h->transaction_count; i++)
		rows += 1 + h->transactions[i].event_count;
	t->all = rows <= ROWS_IN_FULL;
	t->column_of = mem_take0(h->session_count + 1, sizeof(uint32_t));
	t->width = mem_take0(h->session_count + 1, sizeof(unsigned));
	t->tail_at = mem_take0(h->session_count + 1, sizeof(unsigned));
	for (uint32_t s = 0; s < h->session_count; s++)
		t->column_of[s] =
			h->sessions[s].count ? t->column_count++ : UINT32_MAX;
	find_shared(t);
	for (uint32_t i = 1; i < h->transaction_count; i++)
		add_transaction(t, h->order ? h->order[i] : i);
	measure(t);
}

static void print_table(struct text *t, const struct style *s, struct table *b,
                        unsigned indent)
{
	lay_out(b);
	narrow(b, s->width > indent ? s->width - indent : 1);
	if (b->column_count && !b->stacked) print_header(t, s, b, indent);
	for (size_t i = 0; i < b->count; i++) {
		print_row(t, s, b, &b->cells[i], indent);
		text_free(&b->cells[i].body);
		text_free(&b->cells[i].tail);
		text_free(&b->cells[i].short_tail);
	}
	free(b->cells);
	free(b->column_of);
	free(b->width);
	free(b->tail_at);
	free(b->shared);
}

void report_marked(struct text *t, const struct style *s,
                   const struct history *h, const struct result_changes *marks,
                   unsigned indent)
{
	print_table(t, s, &(struct table){ .h = h, .marks = marks }, indent);
}

void report_counterexample(struct text *t, const struct style *s,
                           const struct program *p, const struct history *h,
                           unsigned indent)
{
	struct result_changes none = { 0 };
	struct table b = { .h = h, .marks = &none };
	if (p && program_is_sql(p)) b.sql = p;
	print_table(t, s, &b, indent);
}
