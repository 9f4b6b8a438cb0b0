#include "vm/final_code.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "vm/bytecode.h"
#include "vm/machine.h"
#include "vm/machine_state.h"

/* ---- the code ---- */

/* Code of an assertion is in one piece, and ends with its only end. */
static uint32_t length_from(const struct program *p, uint32_t entry)
{
	uint32_t last = entry;
	for (uint32_t pc = entry; pc <= last || !code_ends(p->code[pc]); pc++) {
		struct instruction i = p->code[pc];
		if (code_jumps(i) && i.x > last) last = i.x;
	}
	while (!code_ends(p->code[last])) last++;
	return last + 1 - entry;
}

/* ---- locals where they are looked at ---- */

static void emit(struct final_code *f, struct instruction i, uint32_t point)
{
	struct program *v = f->view;
	VEC_RESERVE(v->code, v->code_count, v->code_capacity);
	v->points = mem_grow(v->points, v->code_capacity, sizeof *v->points);
	v->points[v->code_count] = point;
	v->code[v->code_count++] = i;
}

/* The locals that the instruction looks at are read before it. */
static void read_locals(struct final_code *f, struct instruction i,
                        const struct instruction *local, word *row,
                        uint32_t point)
{
	bits_zero(row, f->live.words);
	liveness_step_back(&f->live, i, row);
	BITS_EACH(reg, row, f->live.words)
		if (reg < f->registers && local[reg].op == OP_LOCAL)
			emit(f, local[reg], point);
}

/* The same code, behind that of the program: there all locals are read first,
 * to be shown if it fails. */
static void move_locals(struct final_code *f, uint32_t entry, uint32_t count)
{
	struct program *v = f->view;
	struct instruction *local = mem_take0(f->registers, sizeof *local);
	uint32_t *moved = mem_take0(count + 1, sizeof *moved);
	word *row = mem_take0(f->live.words, sizeof *row);
	for (uint32_t n = 0; n < count; n++) {
		struct instruction i = v->code[entry + n];
		if (i.op == OP_LOCAL) local[i.a] = i;
	}
	f->first = v->code_count;
	for (uint32_t n = 0; n < count; n++) {
		struct instruction i = v->code[entry + n];
		uint32_t point = v->points[entry + n];
		moved[n] = v->code_count;
		if (i.op == OP_LOCAL) continue;
		read_locals(f, i, local, row, point);
		emit(f, i, point);
	}
	f->count = v->code_count - f->first;
	for (uint32_t pc = f->first; pc < v->code_count; pc++)
		if (code_jumps(v->code[pc])) {
			assert(v->code[pc].x >= entry &&
			       v->code[pc].x - entry < count);
			v->code[pc].x = moved[v->code[pc].x - entry];
		}
	free(local);
	free(moved);
	free(row);
}

void final_code_init(struct final_code *f, const struct program *p,
                     uint32_t assertion)
{
	uint32_t entry = p->final_entries[assertion];
	struct program *v = mem_take(sizeof *v);
	*v = *p;
	*f = (struct final_code){ .view = v,
		                  .registers =
		                          p->final_registers[assertion] + 1 };
	liveness_begin(&f->live, v, f->registers);
	v->code_capacity = v->code_count;
	v->code = mem_take((v->code_count + 1) * sizeof *v->code);
	v->points = mem_take((v->code_count + 1) * sizeof *v->points);
	memcpy(v->code, p->code, v->code_count * sizeof *v->code);
	memcpy(v->points, p->points, v->code_count * sizeof *v->points);
	move_locals(f, entry, length_from(p, entry));
	liveness_find(&f->live, f->first, f->count, NULL);
}

void final_code_free(struct final_code *f)
{
	if (!f->view) return;
	free(f->view->code);
	free(f->view->points);
	free(f->view);
	liveness_free(&f->live);
}

struct machine_state *final_code_begin(const struct final_code *f,
                                       struct machine *m)
{
	assert(m->program == f->view);
	return machine_outside_state(m->region, f->first, f->registers);
}

/* ---- states ---- */

/* Behind the LOCAL that it waits at, which writes one register more. */
static const word *live_of(const struct final_code *f,
                           const struct machine_state *s)
{
	assert(f->view->code[s->pc - 1].op == OP_LOCAL && s->base == 0);
	return liveness_at(&f->live, s->pc - 1);
}

/* Not of the language: what a comprehension gathers. */
static bool is_inner(struct value v)
{
	return v.tag > VALUE_RECORD;
}

uint64_t final_code_hash(const struct final_code *f,
                         const struct machine_state *s)
{
	const word *live = live_of(f, s);
	uint64_t h = hash_mix(s->pc, (uint64_t)(uintptr_t)s->findings);
	BITS_EACH(i, live, f->live.words) {
		struct value v = s->registers[i];
		h = hash_mix(h, is_inner(v) ? (uint64_t)v.i : value_hash(v));
	}
	return h;
}

bool final_code_equal(const struct final_code *f, const struct machine_state *a,
                      const struct machine_state *b)
{
	const word *live = live_of(f, a);
	if (a->pc != b->pc || a->findings != b->findings) return false;
	BITS_EACH(i, live, f->live.words) {
		struct value v = a->registers[i], w = b->registers[i];
		if (v.tag != w.tag) return false;
		if (is_inner(v) ? v.i != w.i : !value_equal(v, w)) return false;
	}
	return true;
}

size_t final_code_size(const struct final_code *f)
{
	return sizeof(struct machine_state) +
	       f->registers * sizeof(struct value);
}
