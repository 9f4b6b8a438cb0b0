#include "vm/bytecode.h"

#include <assert.h>
#include <string.h>

#include "base/access.h"
#include "base/text.h"

const char *opcode_name(enum opcode op)
{
	static const char *const names[] = {
#define X(name, layout) #name,
		OPCODES(X)
#undef X
	};
	assert(op < OPCODE_COUNT);
	return names[op];
}

const char *opcode_layout(enum opcode op)
{
	static const char *const layouts[] = {
#define X(name, layout) layout,
		OPCODES(X)
#undef X
	};
	assert(op < OPCODE_COUNT);
	return layouts[op];
}

const char *builtin_name(enum builtin b)
{
	static const char *const names[] = {
#define X(id, name, fewest, most) name,
		BUILTINS(X)
#undef X
	};
	assert(b < BUILTIN_COUNT);
	return names[b];
}

int builtin_find(const char *name, uint32_t *fewest, uint32_t *most)
{
	static const uint8_t arity[][2] = {
#define X(id, name, fewest, most) { fewest, most },
		BUILTINS(X)
#undef X
	};
	for (int b = 0; b < BUILTIN_COUNT; b++) {
		if (strcmp(name, builtin_name(b))) continue;
		*fewest = arity[b][0];
		*most = arity[b][1];
		return b;
	}
	return -1;
}

static void dump_constant(struct text *t, const struct program *p, uint32_t k)
{
	text_format(t, "k%u=", k);
	value_print(t, p->constants[k]);
}

static void dump_operand(struct text *t, const struct program *p, uint32_t v)
{
	if (v & OPERAND_CONSTANT)
		dump_constant(t, p, v - OPERAND_CONSTANT);
	else
		text_format(t, "r%u", v);
}

static void dump_static_key(struct text *t, const struct program *p,
                            uint32_t key)
{
	const struct static_key *k = p->keys + key;
	text_string(t, p->globals[k->global].name);
	if (!k->count) return;
	for (uint32_t i = 0; i < k->count; i++) {
		text_string(t, i ? ", " : "[");
		value_print(t, k->index[i]);
	}
	text_char(t, ']');
}

static void dump_family_key(struct text *t, const struct program *p,
                            struct instruction i)
{
	text_string(t, p->globals[i.c].name);
	for (uint32_t k = 0; k < i.n; k++)
		text_format(t, "%sr%u", k ? ", " : "[", i.b + k);
	if (i.n) text_char(t, ']');
}

static void dump_site(struct text *t, const struct program *p, uint32_t site)
{
	const struct assertion_site *s = p->sites + site;
	text_format(t, "assertion %u", s->assertion);
	for (uint32_t i = 0; i < s->value_count; i++) {
		text_format(t, "%s%s=", i ? ", " : " (", s->values[i].name);
		dump_operand(t, p, s->values[i].operand);
	}
	if (s->value_count) text_char(t, ')');
}

static void dump_transaction(struct text *t, const struct transaction_name *n)
{
	text_string(t, n->name);
	if (n->level) text_format(t, " at %s", own_level_word(n->level));
}

/* One operand, by its letter in the layout (see OPCODES). */
static void dump_part(struct text *t, const struct program *p,
                      struct instruction i, char letter)
{
	switch (letter) {
	case 'n': text_format(t, "%u", i.n); break;
	case 'a': text_format(t, "r%u", i.a); break;
	case 'b': text_format(t, "r%u", i.b); break;
	case 'c': text_format(t, "r%u", i.c); break;
	case 'A': dump_operand(t, p, i.a); break;
	case 'B': dump_operand(t, p, i.b); break;
	case 'C': dump_operand(t, p, i.c); break;
	case '#': text_format(t, "%u", i.c); break;
	case 'k': dump_constant(t, p, i.x); break;
	case 'j': text_format(t, "-> %u", i.x); break;
	case 'q': dump_static_key(t, p, i.x); break;
	case 'l': text_string(t, strength_letter(i.n)); break;
	case 'g': dump_family_key(t, p, i); break;
	case 'f': text_string(t, p->functions[i.x].name); break;
	case 'u': text_string(t, builtin_name(i.c)); break;
	case 't': dump_transaction(t, &p->transactions[i.x]); break;
	case 'x': text_string(t, p->externs[i.c]); break;
	case 's': dump_site(t, p, i.x); break;
	case 'p': text_format(t, "%u", i.x); break;
	case 'S': text_string(t, p->sessions[i.b].name); break;
	default: assert(!"layout letter");
	}
}

static void dump_instruction(struct text *t, const struct program *p,
                             uint32_t at)
{
	struct instruction i = p->code[at];
	const char *layout = opcode_layout(i.op);
	size_t start = t->length;
	text_format(t, *layout ? "%6u  %-10s" : "%6u  %s", at,
	            opcode_name(i.op));
	for (const char *letter = layout; *letter; letter++) {
		text_char(t, ' ');
		dump_part(t, p, i, *letter);
	}
	struct position where = program_position(p, p->points[at]);
	if (where.line) {
		size_t width = t->length - start;
		text_pad(t, ' ', width < 46 ? 46 - width : 1);
		text_format(t, "; %u:%u", where.line, where.column);
	}
	text_char(t, '\n');
}

static void dump_code(struct text *t, const struct program *p, uint32_t entry,
                      uint32_t length)
{
	for (uint32_t i = entry; i < entry + length; i++)
		dump_instruction(t, p, i);
}

static void dump_constants(struct text *t, const struct program *p)
{
	if (p->constants_count) text_string(t, "\nconstants\n");
	for (uint32_t i = 0; i < p->constants_count; i++) {
		text_format(t, "%6u  ", i);
		value_print(t, p->constants[i]);
		text_char(t, '\n');
	}
}

static void dump_keys(struct text *t, const struct program *p)
{
	if (p->globals_count) text_string(t, "\nglobals\n");
	for (uint32_t i = 0; i < p->globals_count; i++) {
		const struct global *g = p->globals + i;
		text_format(t, "%6u  %s", i, g->name);
		if (g->arity) text_format(t, "[%u]", g->arity);
		text_string(t, " = ");
		value_print(t, g->initial);
		text_char(t, '\n');
	}
	if (p->keys_count) text_string(t, "\nkeys\n");
	for (uint32_t i = 0; i < p->keys_count; i++) {
		text_format(t, "%6u  ", i);
		dump_static_key(t, p, i);
		if (p->keys[i].has_initial) {
			text_string(t, " = ");
			value_print(t, p->keys[i].initial);
		}
		text_char(t, '\n');
	}
}

static void dump_functions(struct text *t, const struct program *p)
{
	for (uint32_t i = 0; i < p->functions_count; i++) {
		const struct function *f = p->functions + i;
		text_format(t, "\nfunction %s (%u parameters, %u registers)\n",
		            f->name, f->parameters, f->registers);
		dump_code(t, p, f->entry, f->length);
	}
}

static void dump_session(struct text *t, const struct program *p,
                         const struct session *s)
{
	text_format(t, "\nsession %s (%u registers, stack %u", s->name,
	            s->registers, s->stack);
	if (s->bound) text_format(t, ", at most %u transactions", s->bound);
	text_string(t, ")\n");
	for (uint32_t k = 0; k < s->local_count; k++)
		text_format(t, "        local %s = r%u\n", s->locals[k].name,
		            s->locals[k].reg);
	dump_code(t, p, s->entry, s->length);
}

static void dump_assertions(struct text *t, const struct program *p)
{
	for (uint32_t i = 0; i < p->assertions_count; i++) {
		const struct assertion *a = p->assertions + i;
		text_format(t, "\nassertion %u: %s\n", i, a->text);
		if (a->kind != ASSERTION_FINAL) continue;
		uint32_t at = p->final_entries[i];
		do {
			dump_instruction(t, p, at);
		} while (p->code[at++].op != OP_END);
	}
}

void dump_program(const struct program *p, struct text *out)
{
	/* instructions name sessions as the original numbers them */
	if (p->original) p = p->original;
	text_format(out, "program %s", p->path);
	if (p->isolation) text_format(out, " isolation %s", p->isolation);
	text_format(out, ": %u instructions, %u registers\n", p->code_count,
	            p->stack);
	dump_constants(out, p);
	dump_keys(out, p);
	dump_functions(out, p);
	for (uint32_t i = 0; i < p->sessions_count; i++)
		dump_session(out, p, p->sessions + i);
	dump_assertions(out, p);
}
