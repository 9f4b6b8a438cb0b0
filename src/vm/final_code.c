#include "vm/final_code.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "vm/bytecode.h"
#include "vm/machine.h"
#include "vm/machine_state.h"

/* ---- which registers are looked at ---- */

static void use(const struct final_code *f, word *row, uint32_t operand)
{
	if (operand & OPERAND_CONSTANT) return;
	assert(operand < f->registers);
	bits_add(row, operand);
}

static void use_all(const struct final_code *f, word *row, uint32_t first,
                    uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) use(f, row, first + i);
}

/* Takes the row from behind the instruction to before it. What is only written
 * sometimes is left as it is: too many registers do no harm. */
static void step_back(const struct final_code *f, struct instruction i,
                      word *row)
{
	switch ((enum opcode)i.op) {
	case OP_MOVE:
	case OP_NEG:
	case OP_NOT:
	case OP_BOOL:
		bits_drop(row, i.a);
		use(f, row, i.b);
		break;
	case OP_LOAD:
	case OP_GATHER:
	case OP_LOCAL: bits_drop(row, i.a); break;
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_MOD:
	case OP_EQ:
	case OP_NE:
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE:
	case OP_IN:
	case OP_INDEX:
	case OP_FIELD:
	case OP_SPREAD:
		bits_drop(row, i.a);
		use(f, row, i.b);
		use(f, row, i.c);
		break;
	case OP_TUPLE:
	case OP_LIST:
	case OP_SET:
		bits_drop(row, i.a);
		use_all(f, row, i.b, i.c);
		break;
	case OP_RECORD:
		bits_drop(row, i.a);
		use_all(f, row, i.b, 2u * i.c);
		break;
	case OP_BUILTIN:
	case OP_EXTERN:
		bits_drop(row, i.a);
		use_all(f, row, i.b, i.n);
		break;
	case OP_CALL:
		bits_drop(row, i.a);
		use_all(f, row, i.a + 1u, f->view->functions[i.x].parameters);
		break;
	case OP_EACH: use(f, row, i.a); break;
	case OP_EACH_NEXT:
	case OP_RANGE:
	case OP_RANGE_NEXT: use_all(f, row, i.a, 2); break;
	case OP_GATHER_ADD:
	case OP_GATHER_END:
		use(f, row, i.a);
		use(f, row, i.b);
		break;
	case OP_JUMP_TRUE:
	case OP_JUMP_FALSE:
	case OP_RETURN:
	case OP_ASSUME:
	case OP_ASSERT: use(f, row, i.a); break;
	default: break;
	}
}

static bool may_jump(struct instruction i)
{
	return i.op == OP_JUMP || i.op == OP_JUMP_TRUE ||
	       i.op == OP_JUMP_FALSE || i.op == OP_EACH_NEXT ||
	       i.op == OP_RANGE_NEXT;
}

static bool ends(struct instruction i)
{
	return i.op == OP_END || i.op == OP_RETURN;
}

static word *row_at(const struct final_code *f, uint32_t pc)
{
	assert(pc >= f->first && pc - f->first < f->count);
	return f->live + (size_t)(pc - f->first) * f->words;
}

/* Code of an assertion is in one piece, and ends with its only end. */
static uint32_t length_from(const struct program *p, uint32_t entry)
{
	uint32_t last = entry;
	for (uint32_t pc = entry; pc <= last || !ends(p->code[pc]); pc++) {
		struct instruction i = p->code[pc];
		if (may_jump(i) && i.x > last) last = i.x;
	}
	while (!ends(p->code[last])) last++;
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
	bits_zero(row, f->words);
	step_back(f, i, row);
	BITS_EACH(reg, row, f->words)
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
	word *row = mem_take0(f->words, sizeof *row);
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
		if (may_jump(v->code[pc])) {
			assert(v->code[pc].x >= entry &&
			       v->code[pc].x - entry < count);
			v->code[pc].x = moved[v->code[pc].x - entry];
		}
	free(local);
	free(moved);
	free(row);
}

static void find_live(struct final_code *f)
{
	const struct program *p = f->view;
	word *row = mem_take0(f->words, sizeof *row);
	f->live = mem_take0((size_t)f->count * f->words, sizeof *f->live);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t pc = f->first + f->count; pc-- > f->first;) {
			struct instruction i = p->code[pc];
			bits_zero(row, f->words);
			if (!ends(i) && i.op != OP_JUMP)
				bits_or(row, row_at(f, pc + 1), f->words);
			if (may_jump(i)) bits_or(row, row_at(f, i.x), f->words);
			step_back(f, i, row);
			if (!memcmp(row, row_at(f, pc), f->words * sizeof *row))
				continue;
			memcpy(row_at(f, pc), row, f->words * sizeof *row);
			changed = true;
		}
	}
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
	f->words = BITS_WORDS(f->registers);
	v->code_capacity = v->code_count;
	v->code = mem_take((v->code_count + 1) * sizeof *v->code);
	v->points = mem_take((v->code_count + 1) * sizeof *v->points);
	memcpy(v->code, p->code, v->code_count * sizeof *v->code);
	memcpy(v->points, p->points, v->code_count * sizeof *v->points);
	move_locals(f, entry, length_from(p, entry));
	find_live(f);
}

void final_code_free(struct final_code *f)
{
	if (!f->view) return;
	free(f->view->code);
	free(f->view->points);
	free(f->view);
	free(f->live);
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
	return row_at(f, s->pc - 1);
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
	BITS_EACH(i, live, f->words) {
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
	BITS_EACH(i, live, f->words) {
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
