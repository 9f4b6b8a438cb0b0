#include "result/result.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/witness.h"
#include "base/memory.h"
#include "history/history.h"
#include "result/numbers.h"

/* Of lines, where nobody says otherwise. */
enum { LABEL_WIDTH = 15, NUMBER_WIDTH = 12, COSTS_LABEL_WIDTH = 10 };

struct result *result_new(const struct program *p, enum level l)
{
	struct result *r = mem_take0(1, sizeof *r);
	assert(l <= LEVEL_COUNT); /* LEVEL_COUNT: of no single one */
	region_init(&r->region);
	r->program = p;
	r->level = l;
	r->label_width = LABEL_WIDTH;
	r->number_width = NUMBER_WIDTH;
	return r;
}

void result_free(struct result *r)
{
	if (!r) return;
	for (uint32_t i = 0; i < r->assertion_count; i++) {
		struct result_example *x = &r->assertions[i].example;
		if (x->cycle.count) witness_free(&x->cycle);
		schedule_free(&x->schedule);
	}
	for (uint32_t i = 0; i < r->history_count; i++)
		history_free(r->histories[i]);
	free(r->histories);
	free(r->assertions);
	free(r->parts);
	free(r->lines);
	diags_free(&r->warnings);
	region_free(&r->region);
	free(r);
}

/* ---- named values ---- */

static struct result_value *add(struct result *r, struct result_values *to,
                                const char *name, enum result_kind kind)
{
	struct result_value *v = region_take0(&r->region, sizeof *v);
	assert(!to->first == !to->last);
	/* A list has no names, everything else has. */
	assert(!to->first || !to->first->name == !name);
	v->name = name;
	v->kind = kind;
	if (to->last)
		to->last->next = v;
	else
		to->first = v;
	to->last = v;
	return v;
}

static const char *copy(struct result *r, const char *s)
{
	return s ? region_copy_string(&r->region, s, strlen(s)) : NULL;
}

void result_text(struct result *r, struct result_values *to, const char *name,
                 const char *value)
{
	add(r, to, name, RESULT_TEXT)->text = copy(r, value);
}

void result_count(struct result *r, struct result_values *to, const char *name,
                  uint64_t n)
{
	add(r, to, name, RESULT_COUNT)->count = n;
}

void result_count_if(struct result *r, struct result_values *to,
                     const char *name, bool known, uint64_t n)
{
	if (known)
		result_count(r, to, name, n);
	else
		result_text(r, to, name, NULL);
}

void result_number(struct result *r, struct result_values *to, const char *name,
                   double n)
{
	add(r, to, name, RESULT_NUMBER)->number = n;
}

void result_seconds(struct result *r, struct result_values *to,
                    const char *name, double seconds)
{
	add(r, to, name, RESULT_SECONDS)->number = seconds;
}

void result_flag(struct result *r, struct result_values *to, const char *name,
                 bool value)
{
	add(r, to, name, RESULT_FLAG)->flag = value;
}

struct result_values *result_group(struct result *r, struct result_values *to,
                                   const char *name)
{
	return &add(r, to, name, RESULT_GROUP)->values;
}

struct result_values *result_list(struct result *r, struct result_values *to,
                                  const char *name)
{
	return &add(r, to, name, RESULT_LIST)->values;
}

const struct result_value *result_find(const struct result_values *in,
                                       const char *name)
{
	const struct result_value *v = in->first;
	while (v && strcmp(v->name, name)) v = v->next;
	return v;
}

/* ---- words ---- */

const char *result_words(struct result *r, struct text *words)
{
	const char *s = copy(r, text_get(words));
	text_clear(words);
	return s;
}

const char *result_format(struct result *r, const char *format, ...)
{
	struct text words = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&words, format, args);
	va_end(args);
	const char *s = result_words(r, &words);
	text_free(&words);
	return s;
}

void result_taken(struct result *r, struct result_values *to, const char *name,
                  struct text *words)
{
	add(r, to, name, RESULT_TEXT)->text = result_words(r, words);
}

void result_json(struct result *r, struct result_values *to, const char *name,
                 struct text *printed)
{
	assert(printed->length);
	add(r, to, name, RESULT_JSON)->text = result_words(r, printed);
}

static void add_line(struct result *r, const char *label, const char *number,
                     const char *words)
{
	assert(label && words);
	r->lines = mem_grow(r->lines, r->line_count + 1, sizeof *r->lines);
	r->lines[r->line_count++] =
		(struct result_line){ copy(r, label), number, words };
}

void result_line_text(struct result *r, const char *label, struct text *number,
                      struct text *words)
{
	assert(number != words);
	const char *n = result_words(r, number);
	add_line(r, label, n, result_words(r, words));
}

void result_line_words(struct result *r, const char *label, struct text *words)
{
	add_line(r, label, NULL, result_words(r, words));
}

void result_line(struct result *r, const char *label, uint64_t n,
                 struct text *words)
{
	struct text number = { 0 };
	number_count(&number, n);
	result_line_text(r, label, &number, words);
	text_free(&number);
}

/* Seconds below which a rate is noise. */
static const double RATE_LEAST = 0.01;

void result_line_time(struct result *r, double seconds, double cpu_seconds,
                      unsigned threads, uint64_t n, const char *one,
                      const char *many)
{
	struct text number = { 0 }, words = { 0 };
	assert(seconds >= 0 && cpu_seconds >= 0);
	number_seconds(&number, seconds);
	number_seconds(&words, cpu_seconds);
	text_string(&words, " of CPU");
	if (threads > 1) text_format(&words, " in %u threads", threads);
	if (cpu_seconds > RATE_LEAST) {
		text_string(&words, ", ");
		number_plural(&words, (uint64_t)((double)n / cpu_seconds), one,
		              many);
		text_string(&words, " per second");
	}
	result_line_text(r, "time", &number, &words);
	text_free(&number);
	text_free(&words);
}

/* Seconds that are not worth telling. */
static const double RARE_LEAST = 1e-6;

void result_line_costs(struct result *r, const struct result_time *times,
                       unsigned count)
{
	struct text t = { 0 };
	assert(count);
	for (unsigned i = 0; i < count; i++) {
		const struct result_time *x = &times[i];
		if (x->rare && x->seconds < RARE_LEAST) continue;
		if (t.length) text_string(&t, ", ");
		number_seconds(&t, x->seconds);
		if (x->doing) text_format(&t, " %s", x->doing);
	}
	r->label_width = COSTS_LABEL_WIDTH;
	result_line_words(r, "time", &t);
	number_resident(&t);
	result_line_words(r, "memory", &t);
	text_free(&t);
}

/* ---- tables and parts ---- */

struct result_table *result_table(struct result *r, unsigned columns,
                                  unsigned column_least, unsigned label_least)
{
	assert(columns && !r->table);
	r->table = region_take0(&r->region, sizeof *r->table);
	r->table->columns = columns;
	r->table->column_least = column_least;
	r->table->label_least = label_least;
	return r->table;
}

struct result_row *result_row(struct result *r, const char *label)
{
	struct result_table *t = r->table;
	struct result_row *row = region_take0(
		&r->region, sizeof *row + t->columns * sizeof *row->cells);
	assert(label && !t->first == !t->last);
	row->label = copy(r, label);
	if (t->last)
		t->last->next = row;
	else
		t->first = row;
	return t->last = row;
}

enum result_mark result_mark_of(enum verdict v)
{
	assert(v < VERDICT_COUNT);
	return v == VERDICT_VIOLATED                             ? MARK_BAD
	       : v == VERDICT_HOLDS || v == VERDICT_NO_VIOLATION ? MARK_GOOD
	                                                         : MARK_OPEN;
}

const struct history *result_keep(struct result *r, struct history *h)
{
	assert(h);
	r->histories = mem_grow(r->histories, r->history_count + 1,
	                        sizeof(struct history *));
	return r->histories[r->history_count++] = h;
}

struct result_part *result_part(struct result *r)
{
	r->parts = mem_grow(r->parts, r->part_count + 1, sizeof *r->parts);
	r->parts[r->part_count] = (struct result_part){ 0 };
	return &r->parts[r->part_count++];
}
