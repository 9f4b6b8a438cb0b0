#include "audit/classes.h"

#include <assert.h>
#include <string.h>

#include "audit/steps.h"
#include "base/hash.h"
#include "base/memory.h"

enum { PERIOD_MOST = 128 }; /* statements in the body of a loop */

/* ---- classes ---- */

void classes_init(struct classes *c, struct catalog *catalog,
                  struct sql_parser *p)
{
	*c = (struct classes){ 0 };
	templates_init(&c->templates, catalog, p);
	table_init(&c->by_hash, 64);
	c->sessions = sessions_new();
	c->open = calls_new();
}

void classes_free(struct classes *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		free(c->items[i].statements);
		free(c->items[i].places);
		free(c->items[i].literals);
		free(c->items[i].texts);
	}
	free(c->items);
	table_free(&c->by_hash);
	templates_free(&c->templates);
	words_free(&c->words);
	sessions_free(c->sessions);
	calls_free(c->open);
}

const struct shape *class_shape(const struct classes *c, uint32_t of,
                                uint32_t statement)
{
	assert(of < c->count && statement < c->items[of].count);
	return &c->templates.shapes[c->items[of].statements[statement].shape];
}

uint64_t classes_operations(const struct classes *c)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < c->count; i++) n += c->items[i].operations;
	return n;
}

static uint32_t shape_number(const struct classes *c, const struct step *s)
{
	return c->templates.items[s->template].shape;
}

static const struct shape *step_shape(const struct classes *c,
                                      const struct step *s)
{
	return &c->templates.shapes[shape_number(c, s)];
}

/* Of a call, the ends of its transactions are part of what it does. */
static bool same_step(const struct classes *c, const struct step *a,
                      const struct step *b)
{
	return shape_number(c, a) == shape_number(c, b) && a->ends == b->ends;
}

/* ---- loops ---- */

/* The value of a place in the second round of a loop stands for all later
 * ones: one that is known only if it is the same in each. */
static uint64_t merged(uint64_t so_far, uint64_t next, bool *same)
{
	if (!so_far || !next) return 0;
	if (*same && so_far == next) return so_far;
	*same = false;
	uint64_t h = hash_mix(so_far, next);
	return h ? h : 1;
}

/* Rounds 3, 4, .. of the body of `period` steps at `at` go into the second. */
static void merge_rounds(struct classes *c, struct steps *s, uint32_t at,
                         uint32_t period, uint32_t rounds)
{
	for (uint32_t k = 0; k < period; k++) {
		struct step *second = &s->steps[at + period + k];
		uint32_t n = step_shape(c, second)->place_count;
		for (uint32_t p = 0; p < n; p++) {
			uint64_t *v = &s->rows[second->first_row + p];
			bool same = true;
			for (uint32_t r = 2; r < rounds; r++) {
				const struct step *x =
					&s->steps[at + r * period + k];
				*v = merged(*v, s->rows[x->first_row + p],
				            &same);
			}
		}
	}
}

/* Loops of this period become two rounds. */
static bool fold_period(struct classes *c, struct steps *s, uint32_t period)
{
	uint32_t to = 0, from = 0;
	bool any = false;
	while (from < s->count) {
		uint32_t run = 0;
		while (from + run + period < s->count &&
		       same_step(c, &s->steps[from + run],
		                 &s->steps[from + run + period]))
			run++;
		uint32_t rounds = run / period + 1;
		if (rounds < 3) {
			s->steps[to++] = s->steps[from++];
			continue;
		}
		merge_rounds(c, s, from, period, rounds);
		for (uint32_t k = 0; k < 2 * period; k++)
			s->steps[to++] = s->steps[from + k];
		from += rounds * period;
		any = true;
	}
	assert(to <= s->count);
	s->count = to;
	return any;
}

void classes_fold(struct classes *c, struct steps *s)
{
	bool any;
	do {
		any = false;
		for (uint32_t p = 1; p <= PERIOD_MOST && 3 * p <= s->count; p++)
			if (fold_period(c, s, p)) {
				any = true;
				c->loops++;
			}
	} while (any);
}

/* ---- which rows are the same ---- */

/* Those of one group stay together as long as their values agree; 0 agrees with
 * none. */
static void split_groups(uint32_t *group, const uint64_t *values, uint32_t n)
{
	struct table seen;
	table_init(&seen, n);
	uint32_t *before = mem_take(n * sizeof *before + 1);
	if (n) memcpy(before, group, n * sizeof *before);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t other;
		group[i] = i;
		assert(before[i] <= i);
		if (!values[i]) continue;
		uint64_t h = hash_mix(before[i], values[i]);
		struct table_probe at = table_probe(hash_mix(h, 7));
		while ((other = table_next(&seen, &at)) != TABLE_NONE)
			if (before[other] == before[i] &&
			    values[other] == values[i])
				break;
		if (other == TABLE_NONE)
			table_put(&seen, at, i);
		else
			group[i] = other;
	}
	free(before);
	table_free(&seen);
}

/* Places of one row stay together as long as their values agree. */
static void refine(struct transaction_class *x, uint64_t *values)
{
	uint32_t *group = mem_take(x->place_count * sizeof *group + 1);
	for (uint32_t i = 0; i < x->place_count; i++) {
		struct class_place *p = &x->places[i];
		group[i] = p->row;
		p->named &= values[i] != 0;
		p->varied |= values[i] != p->first;
		if (!p->named) values[i] = 0;
	}
	split_groups(group, values, x->place_count);
	for (uint32_t i = 0; i < x->place_count; i++)
		x->places[i].row = group[i];
	free(group);
}

/* Likewise literals. A statement may have another form than the first instance
 * has, which reads and writes the same: WHERE id = $1 for WHERE id = 5. */
static void refine_literals(const struct classes *c,
                            struct transaction_class *x, const struct steps *s)
{
	uint32_t n = x->literal_count;
	uint32_t *group = mem_take(n * sizeof *group + 1);
	uint64_t *values = mem_take0(n + 1, sizeof *values);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct class_statement *t = &x->statements[i];
		const struct step *step = &s->steps[i];
		if (c->templates.items[step->template].literal_count !=
		    t->literal_count)
			continue;
		assert(step->first_literal + t->literal_count <=
		       s->literal_count);
		for (uint32_t k = 0; k < t->literal_count; k++)
			values[t->first_literal + k] =
				s->literals[step->first_literal + k].value;
	}
	for (uint32_t i = 0; i < n; i++) {
		group[i] = x->literals[i].group;
		x->literals[i].varied |= values[i] != x->literals[i].first;
	}
	split_groups(group, values, n);
	for (uint32_t i = 0; i < n; i++) x->literals[i].group = group[i];
	free(group);
	free(values);
}

static bool same_class(const struct classes *c,
                       const struct transaction_class *x, const struct steps *s)
{
	if (x->count != s->count) return false;
	for (uint32_t i = 0; i < s->count; i++)
		if (x->statements[i].shape != shape_number(c, &s->steps[i]) ||
		    x->statements[i].ends != s->steps[i].ends)
			return false;
	return true;
}

static void class_fill(struct classes *c, struct transaction_class *x,
                       const struct steps *s)
{
	*x = (struct transaction_class){ .count = s->count,
		                         .file = c->file,
		                         .line = s->steps[0].line,
		                         .reads_only = true };
	x->statements = mem_take(s->count * sizeof *x->statements);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct shape *shape = step_shape(c, &s->steps[i]);
		x->statements[i] = (struct class_statement){
			.shape = shape_number(c, &s->steps[i]),
			.template = s->steps[i].template,
			.file = c->file,
			.line = s->steps[i].line,
			.ends = s->steps[i].ends,
			.first_place = x->place_count
		};
		x->statements[i].first_literal = x->literal_count;
		x->statements[i].literal_count =
			c->templates.items[s->steps[i].template].literal_count;
		x->literal_count += x->statements[i].literal_count;
		x->place_count += shape->place_count;
		x->operations += shape->counted;
		for (uint32_t k = 0; k < shape->count; k++)
			x->reads_only &=
				!(shape->items[k].flags & OPERATION_WRITE);
	}
	x->places = mem_take0(x->place_count + 1, sizeof *x->places);
}

static void class_first(struct classes *c, struct transaction_class *x,
                        const uint64_t *values)
{
	for (uint32_t i = 0; i < x->count; i++) {
		const struct class_statement *t = &x->statements[i];
		const struct shape *s = &c->templates.shapes[t->shape];
		for (uint32_t p = 0; p < s->place_count; p++)
			x->places[t->first_place + p] = (struct class_place){
				.table = s->tables[p],
				.named = true,
				.first = values[t->first_place + p]
			};
	}
}

static void class_literals(struct transaction_class *x, const struct steps *s)
{
	x->literals = mem_take(x->literal_count * sizeof *x->literals + 1);
	x->texts = mem_take(s->texts.length + 1);
	memcpy(x->texts, text_get(&s->texts), s->texts.length + 1);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct class_statement *t = &x->statements[i];
		for (uint32_t k = 0; k < t->literal_count; k++) {
			const struct step_literal *l =
				&s->literals[s->steps[i].first_literal + k];
			x->literals[t->first_literal + k] =
				(struct class_literal){ .first = l->value,
				                        .text = l->text };
		}
	}
}

void classes_add_instance(struct classes *c, struct steps *s)
{
	uint64_t h = 1;
	uint32_t i, unfolded = 0;
	for (i = 0; i < s->count; i++)
		unfolded += step_shape(c, &s->steps[i])->counted;
	classes_fold(c, s);
	for (i = 0; i < s->count; i++)
		h = hash_mix(h, 2 * (uint64_t)shape_number(c, &s->steps[i]) +
		                        s->steps[i].ends);
	struct table_probe p = table_probe(hash_mix(h, 5));
	while ((i = table_next(&c->by_hash, &p)) != TABLE_NONE)
		if (same_class(c, &c->items[i], s)) break;
	bool new = i == TABLE_NONE;
	if (new) {
		VEC_RESERVE(c->items, c->count, c->capacity);
		i = c->count++;
		class_fill(c, &c->items[i], s);
		c->items[i].unfolded = unfolded;
		table_put(&c->by_hash, p, i);
	}
	struct transaction_class *x = &c->items[i];
	for (uint32_t k = 0; k < s->count; k++)
		x->statements[k].varied |=
			x->statements[k].template != s->steps[k].template;
	uint64_t *values = mem_take(x->place_count * sizeof *values + 1);
	for (uint32_t k = 0, n = 0; k < s->count; k++) {
		uint32_t places = step_shape(c, &s->steps[k])->place_count;
		for (uint32_t q = 0; q < places; q++)
			values[n++] = s->rows[s->steps[k].first_row + q];
	}
	assert(!new || !x->instances);
	if (new) class_first(c, x, values);
	refine(x, values);
	if (new && x->literal_count) class_literals(x, s);
	if (x->literal_count) refine_literals(c, x, s);
	free(values);
	x->instances += c->times;
	assert(x->count && x->count == s->count);
}

/* Equal values name the same row of two tables only if they were seen to vary
 * together: small numbers are equal by chance. Rows are then numbered. */
void classes_settle(struct classes *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		struct transaction_class *x = &c->items[i];
		uint32_t *row = mem_take(x->place_count * sizeof *row + 1);
		x->rows = 0;
		for (uint32_t p = 0; p < x->place_count; p++) {
			const struct class_place *a = &x->places[p];
			row[p] = CATALOG_NONE;
			for (uint32_t q = 0; q < p && row[p] == CATALOG_NONE;
			     q++) {
				const struct class_place *b = &x->places[q];
				if (a->named && a->row == b->row &&
				    (a->varied || a->table == b->table))
					row[p] = row[q];
			}
			if (row[p] == CATALOG_NONE) row[p] = x->rows++;
		}
		for (uint32_t p = 0; p < x->place_count; p++)
			x->places[p].row = row[p];
		assert(x->rows <= x->place_count);
		free(row);
	}
}
