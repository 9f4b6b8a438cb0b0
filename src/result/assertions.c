/* Assertions of a result, and the histories that violate them. */
#include <assert.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/witness.h"
#include "base/memory.h"
#include "history/history.h"
#include "result/names.h"
#include "result/parts.h"
#include "result/result.h"
#include "vm/machine.h"

/* Where the example fails. The code of a final assertion in C is no place in a
 * session: then where that is declared. */
static struct position failing_place(const struct result *r,
                                     const struct result_assertion *a,
                                     const struct finding *f)
{
	const struct program *p = r->program;
	if (a->slot < program_assertion_count(p) && program_is_native(p) &&
	    program_assertion(p, a->slot)->kind == ASSERTION_FINAL)
		return a->at;
	return program_position(p, f->point);
}

/* The place is told by the heading, except that the source is worth a line if
 * it says more than that. Assertions in C go by their message: what they check
 * is in the source. Where a final one is declared, there is no more than its
 * message. */
static bool source_tells(const struct program *p, uint32_t slot)
{
	if (slot == program_assertion_count(p)) return true;
	return program_is_native(p) &&
	       program_assertion(p, slot)->kind == ASSERTION_INLINE;
}

/* Of native code the text of an assertion is its message. */
static const char *message_of(struct result *r, uint32_t slot)
{
	const struct assertion *a = program_assertion(r->program, slot);
	struct text words = { 0 };
	assert(slot < program_assertion_count(r->program));
	if (!program_is_native(r->program)) return a->message;
	name_plain(&words, a->text);
	const char *message = result_words(r, &words);
	text_free(&words);
	return message;
}

struct result_assertion *result_assertion(struct result *r, uint32_t slot,
                                          const struct finding *f)
{
	const struct program *p = r->program;
	struct text words = { 0 };
	assert(p);
	r->has_assertions = true;
	r->assertions = mem_grow(r->assertions, r->assertion_count + 1,
	                         sizeof *r->assertions);
	struct result_assertion *a = &r->assertions[r->assertion_count];
	name_program_slot(&words, p, slot);
	*a = (struct result_assertion){
		.slot = slot,
		.text = result_words(r, &words),
		.kind = name_slot_kind(p, slot),
		.at = name_program_slot_position(p, slot, f),
		.shown_by = r->assertion_count++,
	};
	if (slot < program_assertion_count(p)) a->message = message_of(r, slot);
	text_free(&words);
	return a;
}

static bool same_history(const struct history *a, const struct history *b)
{
	struct text one = { 0 }, other = { 0 };
	history_print_canonical(&one, a);
	history_print_canonical(&other, b);
	bool same = !strcmp(text_get(&one), text_get(&other));
	text_free(&one);
	text_free(&other);
	return same;
}

/* A serializable history is scheduled as a serial one. */
static void find_schedule(struct result_example *x, enum level l)
{
	const struct history *h = x->history;
	if (!h->others && !level_has_moments(l)) return;
	if (x->serializable)
		schedule_of_history(LEVEL_SERIAL, false, h, &x->schedule);
	else
		schedule_of_history(l, h->others, h, &x->schedule);
}

const char *result_moment(const struct result_example *x,
                          struct schedule_moment m)
{
	const struct history *h = x->history;
	const struct transaction *t = &h->transactions[m.transaction];
	enum level l = x->level;
	if (h->others && t->own) l = (enum level)(t->own - 1);
	if (x->serializable) l = LEVEL_SERIAL;
	return name_moment(m, l, h->ssi && !x->serializable, t->aborted);
}

void result_example(struct result *r, struct result_assertion *a,
                    const struct history *h, const struct finding *f)
{
	struct result_example *x = &a->example;
	const struct program *p = r->program;
	assert(h && !x->history);
	x->history = h;
	x->level = r->level;
	x->finding = f;
	x->forbidden_by = LEVEL_COUNT;
	x->serializable = level_allows_history(LEVEL_SERIAL, h);
	find_schedule(x, r->level);
	if (f) {
		x->failed_at = failing_place(r, a, f);
		if (source_tells(p, a->slot))
			x->source_line =
				program_position(p, f->point).source_line;
	}
	if (!x->serializable) {
		x->anomaly = anomaly_name(h, &x->forbidden_by);
		level_witness(LEVEL_SERIAL, h, &x->cycle);
		result_cycle(r, &x->edges, h, &x->cycle);
	}
	result_steps(r, &x->steps, h, p, x);
	for (uint32_t i = 0; &r->assertions[i] != a; i++) {
		const struct history *other = r->assertions[i].example.history;
		if (!other || !same_history(other, h)) continue;
		a->shown_by = i;
		return;
	}
}
