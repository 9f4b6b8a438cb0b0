#include "vm/liveness.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void use(const struct liveness *l, word *row, uint32_t operand)
{
	if (operand & OPERAND_CONSTANT) return;
	assert(operand < l->registers);
	bits_add(row, operand);
}

static void use_all(const struct liveness *l, word *row, uint32_t first,
                    uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) use(l, row, first + i);
}

/* What is only written sometimes is left as it is; the values that a failed
 * assertion shows are not looked at. */
void liveness_step_back(const struct liveness *l, struct instruction i,
                        word *row)
{
	switch ((enum opcode)i.op) {
	case OP_MOVE:
	case OP_NEG:
	case OP_NOT:
	case OP_BOOL:
		bits_drop(row, i.a);
		use(l, row, i.b);
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
		use(l, row, i.b);
		use(l, row, i.c);
		break;
	case OP_TUPLE:
	case OP_LIST:
	case OP_SET:
		bits_drop(row, i.a);
		use_all(l, row, i.b, i.c);
		break;
	case OP_RECORD:
		bits_drop(row, i.a);
		use_all(l, row, i.b, 2u * i.c);
		break;
	case OP_BUILTIN:
	case OP_EXTERN:
		bits_drop(row, i.a);
		use_all(l, row, i.b, i.n);
		break;
	case OP_CALL:
		bits_drop(row, i.a);
		use_all(l, row, i.a + 1u,
		        l->program->functions[i.x].parameters);
		break;
	case OP_EACH: use(l, row, i.a); break;
	case OP_EACH_NEXT:
	case OP_RANGE:
	case OP_RANGE_NEXT: use_all(l, row, i.a, 2); break;
	case OP_GATHER_ADD:
	case OP_GATHER_END:
		use(l, row, i.a);
		use(l, row, i.b);
		break;
	case OP_READ: bits_drop(row, i.a); break;
	case OP_READ_AT:
		bits_drop(row, i.a);
		use_all(l, row, i.b, i.n);
		break;
	case OP_WRITE_AT:
		use(l, row, i.a);
		use_all(l, row, i.b, i.n);
		break;
	case OP_RETURN: /* by the link */
		use(l, row, 0);
		use(l, row, i.a);
		break;
	case OP_JUMP_TRUE:
	case OP_JUMP_FALSE:
	case OP_WRITE:
	case OP_ASSUME:
	case OP_ASSERT: use(l, row, i.a); break;
	default: break;
	}
}

bool code_jumps(struct instruction i)
{
	return i.op == OP_JUMP || i.op == OP_JUMP_TRUE ||
	       i.op == OP_JUMP_FALSE || i.op == OP_EACH_NEXT ||
	       i.op == OP_RANGE_NEXT || i.op == OP_ABORT;
}

bool code_ends(struct instruction i)
{
	return i.op == OP_END || i.op == OP_RETURN;
}

void liveness_begin(struct liveness *l, const struct program *p,
                    uint32_t registers)
{
	*l = (struct liveness){ .program = p,
		                .registers = registers,
		                .words = BITS_WORDS(registers) };
}

static word *row_of(struct liveness *l, uint32_t pc)
{
	return l->live + (size_t)(pc - l->first) * l->words;
}

/* At the next instruction, perhaps. */
static bool goes_on(struct instruction i)
{
	return !code_ends(i) && i.op != OP_JUMP && i.op != OP_ABORT;
}

/* The row before the instruction; false if it is as it was. */
static bool find_row(struct liveness *l, uint32_t pc, word *row)
{
	struct instruction i = l->program->code[pc];
	word *old = row_of(l, pc);
	bits_zero(row, l->words);
	if (goes_on(i)) bits_or(row, liveness_at(l, pc + 1), l->words);
	if (code_jumps(i)) bits_or(row, liveness_at(l, i.x), l->words);
	liveness_step_back(l, i, row);
	bits_or(row, old, l->words);
	if (!memcmp(row, old, l->words * sizeof *row)) return false;
	bits_copy(old, row, l->words);
	return true;
}

void liveness_find(struct liveness *l, uint32_t first, uint32_t count,
                   const word *always)
{
	word *row = mem_take0(l->words, sizeof *row);
	l->first = first;
	l->count = count;
	l->live = mem_take0((size_t)count * l->words, sizeof *l->live);
	for (uint32_t pc = first; always && pc < first + count; pc++)
		bits_copy(row_of(l, pc), always, l->words);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t pc = first + count; pc-- > first;)
			changed |= find_row(l, pc, row);
	}
	free(row);
}

void liveness_free(struct liveness *l)
{
	free(l->live);
}
