#include "vm/alike_states.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "vm/machine.h"
#include "vm/machine_state.h"

enum { WORDS_MOST = 1 << 24 };

/* ---- code ---- */

static uint64_t words_of(uint32_t registers, uint32_t length)
{
	return (uint64_t)BITS_WORDS(registers) * length;
}

bool alike_states_known(const struct program *p)
{
	uint64_t words = 0;
	if (p->guest) return false;
	for (uint32_t i = 0; i < p->sessions_count; i++)
		words += words_of(p->sessions[i].registers,
		                  p->sessions[i].length);
	for (uint32_t i = 0; i < p->functions_count; i++)
		words += words_of(p->functions[i].registers,
		                  p->functions[i].length);
	return words <= WORDS_MOST;
}

static struct code_piece *add_piece(struct alike_states *a, uint32_t entry,
                                    uint32_t length, uint32_t registers,
                                    const word *always)
{
	VEC_RESERVE(a->pieces, a->count, a->capacity);
	struct code_piece *p = &a->pieces[a->count++];
	liveness_begin(&p->live, a->program, registers);
	liveness_find(&p->live, entry, length, always);
	p->called = false;
	return p;
}

/* The registers of the session that final assertions look at: whatever it may
 * meet, it stops there with what they are. */
static void find_observed(const struct program *p, uint32_t session,
                          const uint32_t *same, word *out)
{
	for (uint32_t pc = 0; pc < p->code_count; pc++) {
		struct instruction i = p->code[pc];
		if (i.op == OP_LOCAL &&
		    same[p->places ? p->places[i.b] : i.b] == same[session])
			bits_add(out, i.c);
	}
}

static void add_session(struct alike_states *a, uint32_t session,
                        const uint32_t *same)
{
	const struct session *s = &a->program->sessions[session];
	word *observed =
		mem_take0(BITS_WORDS(s->registers) + 1, sizeof *observed);
	find_observed(a->program, session, same, observed);
	add_piece(a, s->entry, s->length, s->registers, observed);
	free(observed);
}

static int compare_pieces(const void *x, const void *y)
{
	const struct code_piece *a = x, *b = y;
	return (a->live.first > b->live.first) -
	       (a->live.first < b->live.first);
}

void alike_states_init(struct alike_states *a, const struct program *p,
                       const uint32_t *same)
{
	assert(alike_states_known(p));
	*a = (struct alike_states){ .program = p };
	for (uint32_t i = 0; i < p->sessions_count; i++)
		add_session(a, i, same);
	for (uint32_t i = 0; i < p->functions_count; i++) {
		const struct function *f = &p->functions[i];
		add_piece(a, f->entry, f->length, f->registers, NULL)->called =
			true;
	}
	if (a->count)
		qsort(a->pieces, a->count, sizeof *a->pieces, compare_pieces);
}

void alike_states_free(struct alike_states *a)
{
	for (uint32_t i = 0; i < a->count; i++)
		liveness_free(&a->pieces[i].live);
	free(a->pieces);
}

static const struct code_piece *piece_at(const struct alike_states *a,
                                         uint32_t pc)
{
	uint32_t low = 0, high = a->count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (a->pieces[middle].live.first <= pc)
			low = middle;
		else
			high = middle;
	}
	return &a->pieces[low];
}

/* ---- frames ---- */

/* A frame of a state, from the newest on. */
struct frame {
	uint32_t pc, base;
	uint32_t result; /* register that is written before it goes on */
};

static struct frame newest_frame(const struct alike_states *a,
                                 const struct machine_state *s)
{
	struct instruction i = a->program->code[s->pc - 1];
	assert(i.op == OP_READ || i.op == OP_READ_AT);
	return (struct frame){ s->pc, s->base, i.a };
}

/* False: it was that of the session. */
static bool next_frame(const struct alike_states *a,
                       const struct machine_state *s, struct frame *f)
{
	if (!piece_at(a, f->pc)->called) return false;
	struct value link = s->registers[f->base];
	uint32_t caller = link_base(link);
	*f = (struct frame){ link_pc(link), caller, f->base - caller };
	return true;
}

/* Not of the language: what a comprehension gathers. */
static bool is_inner(struct value v)
{
	return v.tag > VALUE_RECORD;
}

static uint64_t hash_frame(const struct alike_states *a,
                           const struct machine_state *s, struct frame f,
                           uint64_t h)
{
	const struct liveness *l = &piece_at(a, f.pc)->live;
	const word *live = liveness_at(l, f.pc);
	BITS_EACH(i, live, l->words) {
		if (i == f.result) continue;
		struct value v = s->registers[f.base + i];
		h = hash_mix(h, is_inner(v) ? (uint64_t)v.i : value_hash(v));
	}
	return h;
}

static bool same_value(struct value v, struct value w)
{
	if (v.tag != w.tag) return false;
	return is_inner(v) ? v.i == w.i : value_equal(v, w);
}

static bool equal_frames(const struct alike_states *a,
                         const struct machine_state *s,
                         const struct machine_state *t, struct frame f)
{
	const struct liveness *l = &piece_at(a, f.pc)->live;
	const word *live = liveness_at(l, f.pc);
	BITS_EACH(i, live, l->words)
		if (i != f.result && !same_value(s->registers[f.base + i],
		                                 t->registers[f.base + i]))
			return false;
	return true;
}

/* ---- states ---- */

uint64_t alike_states_hash(const struct alike_states *a,
                           const struct machine_state *s)
{
	uint64_t h = hash_mix(s->pc, s->session);
	struct frame f = newest_frame(a, s);
	do h = hash_frame(a, s, f, h);
	while (next_frame(a, s, &f));
	return h;
}

static bool equal_findings(const struct finding *f, const struct finding *g)
{
	for (; f && g && f != g; f = f->older, g = g->older)
		if (f->kind != g->kind || f->assertion != g->assertion ||
		    f->point != g->point)
			return false;
	return f == g;
}

bool alike_states_equal(const struct alike_states *a,
                        const struct machine_state *s,
                        const struct machine_state *t)
{
	if (s->pc != t->pc || s->base != t->base || s->session != t->session ||
	    s->statement != t->statement ||
	    s->in_transaction != t->in_transaction ||
	    !equal_findings(s->findings, t->findings))
		return false;
	struct frame f = newest_frame(a, s), g = newest_frame(a, t);
	do {
		if (f.pc != g.pc || f.base != g.base) return false;
		if (!equal_frames(a, s, t, f)) return false;
	} while (next_frame(a, s, &f) && next_frame(a, t, &g));
	return true;
}
