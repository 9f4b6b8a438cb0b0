#include "result/result.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/witness.h"
#include "base/memory.h"
#include "history/history.h"
#include "result/numbers.h"

/* Of lines, where nobody says otherwise. */
enum { LABEL_WIDTH = 15, NUMBER_WIDTH = 12 };

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
	for (uint32_t i = 0; i < r->part_count; i++) {
		struct result_part *p = &r->parts[i];
		if (p->cycle.count) witness_free(&p->cycle);
		history_free(p->history);
	}
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

/* ---- words ---- */

const char *result_words(struct result *r, struct text *words)
{
	const char *s = copy(r, text_get(words));
	text_clear(words);
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

/* ---- tables ---- */

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
