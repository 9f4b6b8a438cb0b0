#include "native/host/divergence.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vm/machine.h"

enum {
	SHOWN_COMMON = 8, /* steps before the difference */
	SHOWN_OWN = 6,    /* steps of each from there on */
	SHOWN_NOTES = 4   /* the newest, of each step */
};

/* ---- Comparing ---- */

static bool findings_agree(const struct tree_step *a, const struct tree_step *b)
{
	const struct finding *f = a->step.findings, *g = b->step.findings;
	const struct finding *f_end = a->before->step.findings,
			     *g_end = b->before->step.findings;
	assert(a->before && b->before);
	for (; f != f_end && g != g_end; f = f->older, g = g->older)
		if (f->kind != g->kind || f->assertion != g->assertion)
			return false;
	return f == f_end && g == g_end;
}

static bool notes_agree(const struct tree_step *a, const struct tree_step *b)
{
	const struct guest_note *m = a->step.notes, *n = b->step.notes;
	const struct guest_note *m_end = a->before->step.notes,
				*n_end = b->before->step.notes;
	assert(a->before && b->before);
	for (; m != m_end && n != n_end; m = m->older, n = n->older)
		if (strcmp(m->name, n->name) ||
		    !value_equal(m->value, n->value))
			return false;
	return m == m_end && n == n_end;
}

bool steps_agree(const struct tree_step *a, const struct tree_step *b)
{
	const struct guest_step *s = &a->step, *t = &b->step;
	return s->kind == t->kind && s->name == t->name &&
	       s->pruned == t->pruned && s->strength == t->strength &&
	       s->joined == t->joined && value_equal(s->key, t->key) &&
	       value_equal(s->value, t->value) && findings_agree(a, b) &&
	       notes_agree(a, b);
}

/* ---- Telling ---- */

static void print_findings(struct text *t, struct library *l,
                           const struct tree_step *s)
{
	const struct finding *f = s->step.findings;
	for (; f != s->before->step.findings; f = f->older) {
		text_string(t, "    ");
		if (f->kind == FINDING_ERROR)
			text_string(t, f->message);
		else if (f->kind == FINDING_ASSUME)
			text_string(t, "assume (false)");
		else
			text_format(t, "assert \"%s\" (false)",
			            library_assertion_text(l, f->assertion));
		text_char(t, '\n');
	}
}

static void print_notes(struct text *t, const struct tree_step *s)
{
	const struct guest_note *n = s->step.notes;
	for (int i = 0; i < SHOWN_NOTES && n != s->before->step.notes;
	     i++, n = n->older) {
		text_format(t, "    note %s = ", n->name);
		value_print(t, n->value);
		text_char(t, '\n');
	}
}

static void print_key(struct text *t, struct value key)
{
	if (key.tag == VALUE_STRING)
		text_bytes(t, key.o->bytes, key.o->length);
	else
		value_print(t, key);
}

static void print_strength(struct text *t, const struct guest_step *s)
{
	if (s->joined) text_string(t, "in the same statement ");
	if (s->kind == GUEST_GET && s->strength != STRENGTH_PLAIN)
		text_format(t, "%s ", strength_word(s->strength));
}

/* Expectations return something. */
static void print_return(struct text *t, struct library *l,
                         const struct tree_step *s)
{
	text_string(t, "return");
	if (s->session < library_session_count(l)) return;
	text_string(t, s->step.value.i ? " true" : " false");
}

/* `next` is what follows a read, with the value read, or NULL. */
static void print_request(struct text *t, struct library *l,
                          const struct tree_step *s,
                          const struct tree_step *next)
{
	switch (s->step.kind) {
	case GUEST_BEGIN:
		text_format(t, "begin %s",
		            library_transaction(l, s->step.name));
		if (library_transaction_level(l, s->step.name))
			text_format(t, " at %s",
			            own_level_word(library_transaction_level(
					    l, s->step.name)));
		break;
	case GUEST_GET:
	case GUEST_NOTED:
		text_string(t, s->step.kind == GUEST_GET ? "get " : "noted ");
		print_strength(t, &s->step);
		print_key(t, s->step.key);
		if (!next) break;
		text_string(t, " = ");
		value_print(t, next->answer);
		break;
	case GUEST_PUT:
		text_string(t, "put ");
		print_strength(t, &s->step);
		print_key(t, s->step.key);
		text_string(t, " = ");
		value_print(t, s->step.value);
		break;
	case GUEST_GIVE_UP:
		text_string(t, "give up ");
		print_key(t, s->step.key);
		break;
	case GUEST_COMMIT: text_string(t, "commit"); break;
	case GUEST_ABORT: text_string(t, "abort"); break;
	case GUEST_END: print_return(t, l, s); break;
	case GUEST_START: break;
	}
}

static void print_place(struct text *t, struct library *l, uint32_t point)
{
	struct position at = library_position(l, point);
	if (point && at.line) text_format(t, "   (%s:%u)", at.file, at.line);
}

static void print_step(struct text *t, struct library *l,
                       const struct tree_step *s, const struct tree_step *next)
{
	print_notes(t, s);
	print_findings(t, l, s);
	text_string(t, "    ");
	print_request(t, l, s, next);
	print_place(t, l, s->step.point);
	text_char(t, '\n');
}

/* The steps behind the root, in order; the caller frees. */
static const struct tree_step **steps_of(const struct tree_step *last,
                                         uint64_t *count)
{
	uint64_t n = 0;
	for (const struct tree_step *s = last; s->before; s = s->before) n++;
	const struct tree_step **steps = mem_take0(n + 1, sizeof *steps);
	*count = n;
	for (const struct tree_step *s = last; s->before; s = s->before)
		steps[--n] = s;
	assert(!n);
	return steps;
}

/* What reads gave is known up to `known`. */
static void print_steps(struct text *t, struct library *l, const char *title,
                        const struct tree_step **steps, uint64_t from,
                        uint64_t to, uint64_t known)
{
	assert(from <= to);
	text_format(t, "  %s\n", title);
	for (uint64_t i = from; i < to; i++)
		print_step(t, l, steps[i], i < known ? steps[i + 1] : NULL);
	if (from == to) text_string(t, "    nothing more\n");
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

void print_divergence(struct text *t, struct library *l,
                      const struct tree_step *first,
                      const struct tree_step *again, uint64_t same)
{
	uint64_t m, n;
	const struct tree_step **a = steps_of(first, &m);
	const struct tree_step **b = steps_of(again, &n);
	uint64_t begin = same > SHOWN_COMMON ? same - SHOWN_COMMON : 0;
	assert(same <= m && same <= n);
	if (same) {
		print_steps(t, l,
		            begin ? "both times, before the difference:"
		                  : "both times:",
		            a, begin, same, same);
	}
	print_steps(t, l, "then, the first time:", a, same,
	            at_most(m, same + SHOWN_OWN), m);
	print_steps(t, l, "and when it was run again:", b, same,
	            at_most(n, same + SHOWN_OWN), same);
	free(a);
	free(b);
}
