/* Calls of the application's interface: transactions that belong together, by
 * the connection or by tags in comments (2AD: Warszawski, Bailis, SIGMOD 2017).
 */
#include <assert.h>
#include <string.h>

#include "audit/steps.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
	CALLS_MOST = 4096,      /* that are open, by request */
	CALL_STEPS_MOST = 20000 /* statements of a call, folded */
};

struct call {
	uint64_t key;   /* which call: the session, or the request */
	uint64_t value; /* of the tags: another one is another call */
	uint64_t used;
	struct steps steps;
	bool too_long;
};

struct calls {
	struct call *items;
	uint32_t count, capacity;
	struct table by_key;
	uint64_t clock;
};

void steps_clear(struct steps *s)
{
	s->count = s->row_count = s->literal_count = 0;
	text_clear(&s->texts);
}

void steps_free(struct steps *s)
{
	free(s->steps);
	free(s->rows);
	free(s->literals);
	text_free(&s->texts);
	*s = (struct steps){ 0 };
}

struct calls *calls_new(void)
{
	struct calls *c = mem_take0(1, sizeof *c);
	table_init(&c->by_key, 64);
	return c;
}

void calls_free(struct calls *c)
{
	for (uint32_t i = 0; i < c->count; i++) steps_free(&c->items[i].steps);
	free(c->items);
	table_free(&c->by_key);
	free(c);
}

static void append(const struct classes *c, struct steps *to,
                   const struct steps *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const struct step *s = &from->steps[i];
		const struct template *t = &c->templates.items[s->template];
		uint32_t places = c->templates.shapes[t->shape].place_count;
		assert(!t->literal_count);
		VEC_RESERVE(to->steps, to->count, to->capacity);
		to->steps[to->count] = *s;
		to->steps[to->count++].first_row = to->row_count;
		for (uint32_t p = 0; p < places; p++) {
			VEC_RESERVE(to->rows, to->row_count, to->row_capacity);
			to->rows[to->row_count++] =
				from->rows[s->first_row + p];
		}
	}
}

/* Loops are cut, and what they left behind is given back. */
static void fold(struct classes *c, struct call *x)
{
	struct steps folded = { 0 };
	classes_fold(c, &x->steps);
	append(c, &folded, &x->steps);
	steps_free(&x->steps);
	x->steps = folded;
}

static void end(struct classes *c, struct call *x)
{
	if (x->steps.count) {
		c->calls++;
		if (x->too_long)
			c->too_long++;
		else
			classes_add_instance(c, &x->steps);
	}
	steps_clear(&x->steps);
	x->too_long = false;
}

static int compare_used(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	return (x->used > y->used) - (x->used < y->used);
}

static struct table_probe probe(uint64_t key)
{
	return table_probe(hash_mix(11, key));
}

/* Those that are over are dropped; by request, the older half is over. */
static void make_room(struct classes *c)
{
	struct calls *s = c->open;
	uint32_t kept = 0;
	qsort(s->items, s->count, sizeof *s->items, compare_used);
	table_clear(&s->by_key);
	for (uint32_t i = 0; i < s->count; i++) {
		struct call *x = &s->items[i];
		if (c->grouping.kind == GROUP_REQUEST && i < s->count / 2)
			end(c, x);
		if (!x->steps.count) {
			steps_free(&x->steps);
			continue;
		}
		struct table_probe p = probe(x->key);
		while (table_next(&s->by_key, &p) != TABLE_NONE) continue;
		s->items[kept] = *x;
		table_put(&s->by_key, p, kept++);
	}
	s->count = kept;
}

/* NULL: there is none, and none is made. */
static struct call *find(struct classes *c, uint64_t key, bool make)
{
	struct calls *s = c->open;
	struct table_probe p = probe(key);
	uint32_t i;
	while ((i = table_next(&s->by_key, &p)) != TABLE_NONE)
		if (s->items[i].key == key) return &s->items[i];
	if (!make) return NULL;
	if (s->count >= CALLS_MOST && s->count == s->capacity) {
		make_room(c);
		p = probe(key);
		while (table_next(&s->by_key, &p) != TABLE_NONE) continue;
	}
	VEC_RESERVE(s->items, s->count, s->capacity);
	i = s->count++;
	s->items[i] = (struct call){ .key = key };
	table_put(&s->by_key, p, i);
	return &s->items[i];
}

void calls_add(struct classes *c, uint64_t session, uint64_t tag,
               struct steps *s)
{
	enum grouping_kind kind = c->grouping.kind;
	assert(s->count);
	if (kind == GROUP_NONE) {
		classes_add_instance(c, s);
		return;
	}
	s->steps[s->count - 1].ends = true;
	bool alone = kind != GROUP_CONNECTION && !tag;
	if (alone) {
		if (kind == GROUP_TAG) calls_end_session(c, session);
		c->calls++;
		classes_add_instance(c, s);
		return;
	}
	struct call *x = find(c, kind == GROUP_REQUEST ? tag : session, true);
	uint64_t value = kind == GROUP_CONNECTION ? 1 : tag;
	if (x->value != value) end(c, x);
	x->value = value;
	x->used = ++c->open->clock;
	append(c, &x->steps, s);
	if (x->steps.count > CALL_STEPS_MOST) fold(c, x);
	x->too_long |= x->steps.count > CALL_STEPS_MOST;
	/* Of what is too long nothing is needed any more. */
	if (x->too_long) x->steps.count = 1;
}

void calls_end_session(struct classes *c, uint64_t session)
{
	if (c->grouping.kind != GROUP_CONNECTION &&
	    c->grouping.kind != GROUP_TAG)
		return;
	struct call *x = find(c, session, false);
	if (x) end(c, x);
}

void calls_end(struct classes *c)
{
	struct calls *s = c->open;
	for (uint32_t i = 0; i < s->count; i++) {
		end(c, &s->items[i]);
		steps_free(&s->items[i].steps);
	}
	s->count = 0;
	table_clear(&s->by_key);
}
