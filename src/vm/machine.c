#include "vm/machine.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/memory.h"
#include "vm/bytecode.h"
#include "vm/guest.h"
#include "vm/guest_session.h"
#include "vm/machine_state.h"
#include "vm/value_ops.h"

/* What two requests may cost: see VM_BUDGET's use in loops and operations. */
enum { VM_BUDGET = 10000000 };

/* Items gathered by a comprehension: a list, newest first, so that a state
 * stays flat and old states stay valid. Its tag is none of the language's. */
struct gathered {
	struct value item;
	const struct gathered *older;
	uint64_t count; /* of this one and the older ones */
};
enum { TAG_GATHERED = 100 };

static struct value gathered_value(const struct gathered *g)
{
	return (struct value){ .tag = (enum value_tag)TAG_GATHERED,
		               .o = (const struct value_object *)g };
}

static const struct gathered *gathered_of(struct value v)
{
	assert((int)v.tag == TAG_GATHERED);
	return (const struct gathered *)v.o;
}

/* One run of the machine, from one request to the next. */
struct run {
	struct machine *machine;
	struct machine_state *state;
	struct ops ops;
	uint64_t *reached; /* bit set of reach points, or NULL */
	const struct machine_state *const *states; /* final assertions only */
};

size_t machine_state_size(const struct program *p)
{
	return sizeof(struct machine_state) +
	       (size_t)p->stack * sizeof(struct value) +
	       BITS_WORDS(p->reach_count) * sizeof(word);
}

/* Behind the registers. */
static word *reached_by(const struct program *p, struct machine_state *s)
{
	return (word *)(s->registers + p->stack);
}

const uint64_t *machine_reached(const struct program *p,
                                const struct machine_state *s)
{
	return (const word *)(s->registers + p->stack);
}

void machine_start(const struct program *p, uint32_t session,
                   struct machine_state *s)
{
	assert(session < p->sessions_count);
	memset(s, 0, machine_state_size(p));
	if (!p->guest) s->pc = p->sessions[session].entry;
	s->session = session & SESSIONS_MAX;
}

const struct finding *machine_findings(const struct machine_state *s)
{
	return s->findings;
}

bool machine_pruned(const struct machine_state *s)
{
	return s->pruned;
}

bool machine_cut_short(const struct machine_state *s)
{
	const struct finding *f = s->pruned ? s->findings : NULL;
	while (f && f->kind != FINDING_ASSUME) f = f->older;
	return f && f->message;
}

struct value machine_local(const struct program *p,
                           const struct machine_state *s, uint32_t local)
{
	const struct session *session = p->sessions + s->session;
	assert(local < session->local_count);
	return s->registers[session->locals[local].reg];
}

void machine_answer(const struct program *p, struct machine_state *s,
                    struct value v)
{
	if (p->guest) {
		guest_session_answer(s, v);
		return;
	}
	struct instruction read = p->code[s->pc - 1];
	assert(read.op == OP_READ || read.op == OP_READ_AT ||
	       read.op == OP_LOCAL);
	s->registers[s->base + read.a] = v;
}

const char *machine_failure(const struct program *p,
                            const struct machine_state *s)
{
	return p->guest ? guest_session_failure(s) : NULL;
}

uint64_t machine_outcome(const struct program *p, const struct machine_state *s,
                         uint64_t hash)
{
	if (p->guest) return guest_session_outcome(s, hash);
	const struct session *session = p->sessions + s->session;
	for (uint32_t i = 0; i < session->local_count; i++)
		hash = hash_mix(hash, value_hash(machine_local(p, s, i)));
	return hash;
}

void machine_tell(const struct program *p, const struct machine_state *s,
                  known_visitor *visit, void *data)
{
	if (p->guest) {
		guest_session_tell(s, visit, data);
		return;
	}
	const struct session *session = p->sessions + s->session;
	for (uint32_t i = 0; i < session->local_count; i++)
		visit(data, session->locals[i].name, machine_local(p, s, i));
}

void machine_take_guest(struct machine *m, const struct machine_limits *limits)
{
	struct guest_library *l = m->program->library;
	/* A guest is the program's, and knows more with each exploration. */
	bool apart = mem_apart(true);
	m->guest = l ? l->ops->take(l, limits) : NULL;
	mem_apart(apart);
}

void machine_give_guest(struct machine *m)
{
	struct guest_library *l = m->program->library;
	bool apart = mem_apart(true);
	if (l) l->ops->give_back(l, m->guest);
	mem_apart(apart);
	m->guest = NULL;
}

size_t machine_guest_bytes(const struct machine *m)
{
	return m->guest ? m->program->library->ops->bytes(m->guest) : 0;
}

uint64_t machine_guest_asked(const struct machine *m)
{
	return m->guest ? m->program->library->ops->asked(m->guest) : 0;
}

double machine_guest_cpu(const struct machine *m)
{
	return m->guest ? m->program->library->ops->cpu(m->guest) : 0;
}

void machine_settle(struct machine *m)
{
	if (!m->guest || m->stop) return;
	bool apart = mem_apart(true);
	m->program->library->ops->settle(m->guest);
	mem_apart(apart);
	if (program_fault(m->program)) m->stop = MACHINE_FAULT;
}

/* ---- Findings ---- */

static struct finding *add_finding(struct run *r, enum finding_kind kind,
                                   uint32_t pc, uint32_t values)
{
	struct finding *f =
		region_take(r->machine->region,
	                    sizeof *f + values * sizeof(struct finding_value));
	f->older = r->state->findings;
	f->kind = kind;
	f->assertion = 0;
	f->point = r->machine->program->points[pc];
	f->message = NULL;
	f->endless = false;
	f->value_count = values;
	r->state->findings = f;
	return f;
}

static struct value operand_value(const struct run *r, uint32_t operand)
{
	if (operand & OPERAND_CONSTANT)
		return r->machine->program
		        ->constants[operand - OPERAND_CONSTANT];
	return r->state->registers[r->state->base + operand];
}

static void assertion_failed(struct run *r, uint32_t pc, uint32_t site)
{
	const struct assertion_site *s = r->machine->program->sites + site;
	struct finding *f = add_finding(r, FINDING_ASSERT, pc, s->value_count);
	f->assertion = s->assertion;
	for (uint32_t i = 0; i < s->value_count; i++) {
		f->values[i].name = s->values[i].name;
		f->values[i].value = operand_value(r, s->values[i].operand);
	}
}

static void run_time_error(struct run *r, uint32_t pc)
{
	assert(r->ops.error);
	add_finding(r, FINDING_ERROR, pc, 0)->message = r->ops.error;
}

/* ---- Rare parts of instructions, out of the loop ---- */

static bool not_boolean(struct run *r, const char *what, struct value v)
{
	return ops_fail(&r->ops, "%s must be a boolean, not %s", what,
	                value_type_name(v.tag));
}

static bool negate(struct run *r, struct value v, struct value *out)
{
	if (v.tag != VALUE_INT)
		return ops_fail(&r->ops, "operator '-' does not apply to %s",
		                value_type_name(v.tag));
	if (v.i == INT64_MIN)
		return ops_fail(&r->ops, "integer overflow: -(%" PRId64 ")",
		                v.i);
	*out = value_int(-v.i);
	return true;
}

static bool check_iterable(struct run *r, struct value v)
{
	if (v.tag == VALUE_SET || v.tag == VALUE_LIST || v.tag == VALUE_TUPLE)
		return true;
	return ops_fail(&r->ops, "cannot iterate over %s",
	                value_type_name(v.tag));
}

static struct value gather(struct run *r, struct value before,
                           struct value item)
{
	struct gathered *g = region_take(r->machine->region, sizeof *g);
	const struct gathered *older = gathered_of(before);
	*g = (struct gathered){ item, older, older ? older->count + 1 : 1 };
	return gathered_value(g);
}

static bool gather_end(struct run *r, const struct gathered *newest,
                       enum value_tag iterated, struct value *out)
{
	uint64_t count = newest ? newest->count : 0;
	if (!ops_charge(&r->ops, count)) return false;
	struct value *items =
		region_take(r->machine->region, (count + 1) * sizeof *items);
	uint64_t at = count;
	for (const struct gathered *g = newest; g; g = g->older)
		items[--at] = g->item;
	assert(at == 0);
	return ops_construct(&r->ops,
	                     iterated == VALUE_SET ? VALUE_SET : VALUE_LIST,
	                     items, (uint32_t)count, out);
}

static bool is_index_value(struct value v)
{
	if (v.tag <= VALUE_STRING) return true;
	if (v.tag != VALUE_TUPLE) return false;
	for (uint32_t i = 0; i < v.o->length; i++)
		if (!is_index_value(v.o->items[i])) return false;
	return true;
}

/* The key of READ_AT and WRITE_AT; false on an error. */
static bool find_key(struct run *r, struct instruction i,
                     const struct value *index, uint32_t *key)
{
	for (uint32_t k = 0; k < i.n; k++)
		if (index[k].tag > VALUE_STRING && !is_index_value(index[k]))
			return ops_fail(&r->ops,
			                "the index of '%s' holds a %s: only "
			                "null, booleans, integers, strings and "
			                "tuples of these may be indices",
			                r->machine->program->globals[i.c].name,
			                value_type_name(index[k].tag));
	*key = keys_find(r->machine->keys, i.c, index, i.n);
	return true;
}

/* EXTERN: of a program that may not be run, there is no library. */
static bool call_extern(struct run *r, struct instruction i,
                        const struct value *arguments, struct value *out)
{
	struct machine *m = r->machine;
	if (!m->guest)
		return ops_fail(&r->ops,
		                "'%s' is in a library that is not "
		                "loaded here",
		                m->program->externs[i.c]);
	bool apart = mem_apart(true);
	bool fine = m->program->library->ops->call(
		m->guest, i.c, arguments, i.n, m->region, out, &r->ops.error);
	mem_apart(apart);
	return fine;
}

/* Does the access that comes now belong to the statement of the one before? */
static bool begin_or_join(struct machine_state *s)
{
	bool joined = s->statement == STATEMENT_MORE;
	if (s->statement == STATEMENT_FIRST) s->statement = STATEMENT_MORE;
	return joined;
}

/* The end of a session that is stopped: its transaction aborts first. */
static void request_end(struct machine_state *s, struct request *out)
{
	s->stopped = 1;
	out->kind = s->in_transaction ? REQUEST_ABORT : REQUEST_DONE;
	s->in_transaction = 0;
}

/* ---- The loop ---- */

/* Results of operators pass through here: they may not be written to the
 * register that an operand still occupies before the operation succeeds. */
#define OPERATION(call)                   \
	do {                              \
		struct value result;      \
		if (!(call)) goto failed; \
		R[i.a] = result;          \
	} while (0)
#define V(operand) (bases[(operand) >> 15][(operand) & (OPERAND_CONSTANT - 1)])
#define BOTH_INT(x, y) ((x).tag == VALUE_INT && (y).tag == VALUE_INT)
#define ARITHMETIC(builtin, slow)                                \
	do {                                                     \
		struct value x = V(i.b), y = V(i.c), z;          \
		if (BOTH_INT(x, y) && !builtin(x.i, y.i, &z.i))  \
			R[i.a] = value_int(z.i);                 \
		else                                             \
			OPERATION(slow(&r->ops, x, y, &result)); \
	} while (0)
#define COMPARISON(relation)                                      \
	do {                                                      \
		struct value x = V(i.b), y = V(i.c);              \
		int order = (x.i > y.i) - (x.i < y.i);            \
		if (!BOTH_INT(x, y) &&                            \
		    !ops_order(&r->ops, #relation, x, y, &order)) \
			goto failed;                              \
		R[i.a] = value_bool(order relation 0);            \
	} while (0)
/* Gives the request to the caller; the session goes on at ip. */
#define REQUEST(k)                                      \
	do {                                            \
		out->kind = (k);                        \
		s->pc = (uint32_t)(ip - code);          \
		s->base = (uint16_t)(R - s->registers); \
		return;                                 \
	} while (0)

/* The same for a read or write. */
#define ACCESS(k)                                      \
	do {                                           \
		out->point = p->points[ip - code - 1]; \
		out->strength = strength;              \
		out->joined = begin_or_join(s);        \
		REQUEST(k);                            \
	} while (0)

/* Runs to the next request. The only long function here: one case for each
 * opcode, whose meanings stand in bytecode.h.
 *
 * Straight code is bounded by the size of the program; what may repeat, jumps
 * backwards and calls, is charged to the budget with its length. */
static void run(struct run *r, struct request *out)
{
	struct machine_state *s = r->state;
	const struct program *p = r->machine->program;
	const struct instruction *code = p->code, *ip = code + s->pc;
	struct value *R = s->registers + s->base;
	const struct value *bases[2] = { R, p->constants };
	struct instruction i;
	enum strength strength = STRENGTH_PLAIN;

	for (;;) {
		i = *ip++;
		switch ((enum opcode)i.op) {
		case OP_MOVE: R[i.a] = V(i.b); break;
		case OP_LOAD: R[i.a] = p->constants[i.x]; break;

		case OP_ADD: ARITHMETIC(__builtin_add_overflow, ops_add); break;
		case OP_SUB: ARITHMETIC(__builtin_sub_overflow, ops_sub); break;
		case OP_MUL: ARITHMETIC(__builtin_mul_overflow, ops_mul); break;
		case OP_DIV:
			OPERATION(ops_div(&r->ops, V(i.b), V(i.c), &result));
			break;
		case OP_MOD:
			OPERATION(ops_mod(&r->ops, V(i.b), V(i.c), &result));
			break;
		case OP_EQ:
		case OP_NE: {
			struct value x = V(i.b), y = V(i.c);
			bool equal = x.tag == y.tag && x.i == y.i;
			if (!equal && x.tag >= VALUE_STRING &&
			    !ops_equal(&r->ops, x, y, &equal))
				goto failed;
			R[i.a] = value_bool(equal == (i.op == OP_EQ));
			break;
		}
		case OP_LT: COMPARISON(<); break;
		case OP_LE: COMPARISON(<=); break;
		case OP_GT: COMPARISON(>); break;
		case OP_GE: COMPARISON(>=); break;
		case OP_IN:
			OPERATION(ops_in(&r->ops, V(i.b), V(i.c), &result));
			break;
		case OP_INDEX: {
			struct value x = V(i.b), at = V(i.c);
			if ((x.tag == VALUE_LIST || x.tag == VALUE_TUPLE) &&
			    at.tag == VALUE_INT && at.i >= 0 &&
			    at.i < x.o->length)
				R[i.a] = x.o->items[at.i];
			else
				OPERATION(ops_index(&r->ops, x, at, &result));
			break;
		}
		case OP_FIELD:
			OPERATION(ops_field(&r->ops, V(i.b), V(i.c), &result));
			break;
		case OP_SPREAD:
			OPERATION(ops_spread(&r->ops, V(i.b), V(i.c), &result));
			break;
		case OP_NEG: OPERATION(negate(r, V(i.b), &result)); break;
		case OP_NOT: {
			struct value v = V(i.b);
			if (v.tag != VALUE_BOOL &&
			    !not_boolean(r, "the operand of '!'", v))
				goto failed;
			R[i.a] = value_bool(!v.i);
			break;
		}
		case OP_BOOL: {
			struct value v = V(i.b);
			if (v.tag != VALUE_BOOL &&
			    !not_boolean(r, "the operand of '&&' and '||'", v))
				goto failed;
			R[i.a] = v;
			break;
		}

		case OP_TUPLE:
			OPERATION(ops_construct(&r->ops, VALUE_TUPLE, R + i.b,
			                        i.c, &result));
			break;
		case OP_LIST:
			OPERATION(ops_construct(&r->ops, VALUE_LIST, R + i.b,
			                        i.c, &result));
			break;
		case OP_SET:
			OPERATION(ops_construct(&r->ops, VALUE_SET, R + i.b,
			                        i.c, &result));
			break;
		case OP_RECORD:
			OPERATION(ops_construct(&r->ops, VALUE_RECORD, R + i.b,
			                        2u * i.c, &result));
			break;
		case OP_BUILTIN:
			OPERATION(ops_builtin(&r->ops, i.c, R + i.b, i.n,
			                      &result));
			break;
		case OP_EXTERN:
			OPERATION(call_extern(r, i, R + i.b, &result));
			break;

		case OP_JUMP:
		jump : {
			const struct instruction *target = code + i.x;
			if (target < ip &&
			    !ops_charge(&r->ops, (uint64_t)(ip - target)))
				goto failed;
			ip = target;
			break;
		}
		case OP_JUMP_TRUE:
		case OP_JUMP_FALSE: {
			struct value v = V(i.a);
			if (v.tag != VALUE_BOOL &&
			    !not_boolean(r, "a condition", v))
				goto failed;
			if (v.i == (i.op == OP_JUMP_TRUE)) goto jump;
			break;
		}
		case OP_CALL: {
			const struct function *f = p->functions + i.x;
			if (!ops_charge(&r->ops, 1 + (uint64_t)f->length))
				goto failed;
			struct value *window = R + i.a;
			*window = link_value((uint32_t)(ip - code),
			                     (uint32_t)(R - s->registers));
			bases[0] = R = window;
			ip = code + f->entry;
			break;
		}
		case OP_RETURN: {
			struct value v = V(i.a);
			struct value link = R[0];
			R[0] = v;
			if (link_pc(link) == LINK_OUTSIDE)
				REQUEST(REQUEST_DONE);
			bases[0] = R = s->registers + link_base(link);
			ip = code + link_pc(link);
			break;
		}
		case OP_END:
			s->pc = (uint32_t)(ip - code);
			request_end(s, out);
			return;

		case OP_EACH:
			if (!check_iterable(r, R[i.a])) goto failed;
			R[i.a + 1] = value_int(0);
			break;
		case OP_EACH_NEXT: {
			const struct value_object *o = R[i.a].o;
			int64_t at = R[i.a + 1].i;
			if (at == o->length) goto jump;
			R[i.a + 2] = o->items[at];
			R[i.a + 1].i = at + 1;
			break;
		}
		case OP_RANGE:
			if (!ops_range_ends(&r->ops, R[i.a], R[i.a + 1]))
				goto failed;
			break;
		case OP_RANGE_NEXT:
			if (R[i.a].i >= R[i.a + 1].i) goto jump;
			R[i.a + 2] = R[i.a];
			R[i.a].i++;
			break;

		case OP_GATHER: R[i.a] = gathered_value(NULL); break;
		case OP_GATHER_ADD: R[i.a] = gather(r, R[i.a], V(i.b)); break;
		case OP_GATHER_END:
			OPERATION(gather_end(r, gathered_of(R[i.a]), V(i.b).tag,
			                     &result));
			break;

		case OP_BEGIN:
			assert(!s->in_transaction);
			s->in_transaction = 1;
			s->statement = STATEMENT_OWN;
			out->name = i.x;
			REQUEST(REQUEST_BEGIN);
		case OP_COMMIT:
			assert(s->in_transaction);
			s->in_transaction = 0;
			REQUEST(REQUEST_COMMIT);
		case OP_ABORT:
			assert(s->in_transaction);
			s->in_transaction = 0;
			ip = code + i.x;
			REQUEST(REQUEST_ABORT);
		case OP_READ: out->key = i.x; ACCESS(REQUEST_READ);
		case OP_WRITE:
			out->key = i.x;
			out->value = V(i.a);
			ACCESS(REQUEST_WRITE);
		case OP_READ_AT:
			if (!find_key(r, i, R + i.b, &out->key)) goto failed;
			if (out->key == KEY_NONE) goto full;
			ACCESS(REQUEST_READ);
		case OP_WRITE_AT:
			if (!find_key(r, i, R + i.b, &out->key)) goto failed;
			if (out->key == KEY_NONE) goto full;
			out->value = V(i.a);
			ACCESS(REQUEST_WRITE);
		case OP_LOCK: strength = (enum strength)i.n; break;
		case OP_STATEMENT:
			s->statement = i.n ? STATEMENT_FIRST : STATEMENT_OWN;
			break;

		case OP_ASSERT: {
			struct value v = V(i.a);
			if (v.tag != VALUE_BOOL &&
			    !not_boolean(r, "an assertion", v))
				goto failed;
			s->base = (uint16_t)(R - s->registers);
			if (!v.i)
				assertion_failed(r, (uint32_t)(ip - code - 1),
				                 i.x);
			break;
		}
		case OP_ASSUME: {
			struct value v = V(i.a);
			if (v.tag != VALUE_BOOL &&
			    !not_boolean(r, "an assumption", v))
				goto failed;
			if (v.i) break;
			add_finding(r, FINDING_ASSUME,
			            (uint32_t)(ip - code - 1), 0);
			s->pruned = 1;
			request_end(s, out);
			return;
		}
		case OP_REACH:
			assert(i.x < p->reach_count);
			if (r->reached) bits_add(r->reached, i.x);
			break;
		case OP_LOCAL: {
			uint32_t place = p->places ? p->places[i.b] : i.b;
			if (!r->states) {
				out->key = place;
				out->point = i.c;
				REQUEST(REQUEST_READ);
			}
			R[i.a] = r->states[place]->registers[i.c];
			break;
		}
		case OPCODE_COUNT: assert(!"opcode"); return;
		}
	}
failed:
	if (r->ops.error)
		run_time_error(r, (uint32_t)(ip - code - 1));
	else
		r->machine->stop = MACHINE_INTERRUPTED;
	request_end(s, out);
	return;
full:
	r->machine->stop = MACHINE_KEYS_FULL;
	request_end(s, out);
}

void machine_step(struct machine *m, struct machine_state *s,
                  struct request *out)
{
	if (s->stopped) {
		request_end(s, out);
		return;
	}
	if (m->program->guest) {
		guest_session_step(m, s, out);
		return;
	}
	struct run r = { .machine = m,
		         .state = s,
		         .ops = { m->region, VM_BUDGET, NULL },
		         .reached = reached_by(m->program, s) };
	run(&r, out);
}

/* A frame for code outside the sessions, at the end of the region. */
struct machine_state *machine_outside_state(struct region *region,
                                            uint32_t entry, uint32_t registers)
{
	struct machine_state *s = region_take(
		region, sizeof *s + (registers + 1) * sizeof(struct value));
	memset(s, 0, sizeof *s);
	s->pc = entry;
	s->registers[0] = link_value(LINK_OUTSIDE, 0);
	return s;
}

const struct finding *
machine_final_assertion(struct machine *m, uint32_t assertion,
                        const struct machine_state *const *states)
{
	const struct program *p = m->program;
	assert(assertion < p->assertions_count &&
	       program_assertion(p, assertion)->kind == ASSERTION_FINAL);
	if (p->guest) return guest_expectation(m, assertion, states);
	struct run r = {
		.machine = m,
		.state = machine_outside_state(m->region,
		                               p->final_entries[assertion],
		                               p->final_registers[assertion]),
		.ops = { m->region, VM_BUDGET, NULL },
		.reached = m->reached,
		.states = states,
	};
	struct request end;
	run(&r, &end);
	assert(end.kind == REQUEST_DONE);
	return r.state->findings;
}

bool machine_final_step(struct machine *m, struct machine_state *s,
                        struct machine_final_local *out)
{
	struct run r = { .machine = m,
		         .state = s,
		         .ops = { m->region, VM_BUDGET, NULL } };
	struct request asked;
	run(&r, &asked);
	assert(asked.kind == REQUEST_READ || asked.kind == REQUEST_DONE);
	if (asked.kind == REQUEST_DONE) return false;
	*out = (struct machine_final_local){ asked.key, asked.point };
	return true;
}

struct value machine_register(const struct machine_state *s, uint32_t reg)
{
	return s->registers[reg];
}

bool program_evaluate(struct program *p, uint32_t entry, uint32_t registers,
                      struct region *region, struct value *out,
                      const char **message, uint32_t *point)
{
	uint32_t stack =
		program_code_stack(p, entry, p->code_count - entry, registers);
	*message = "too many registers needed";
	*point = p->points[entry];
	if (stack > REGISTERS_MAX) return false;
	struct machine m = { .program = p, .region = region };
	struct run r = { .machine = &m,
		         .state = machine_outside_state(region, entry, stack),
		         .ops = { region, VM_BUDGET, NULL } };
	struct request end;
	machine_take_guest(&m, &(struct machine_limits){ 0 });
	run(&r, &end);
	machine_give_guest(&m);
	assert(end.kind == REQUEST_DONE);
	*message = "interrupted";
	if (m.stop) return false;
	if (!r.state->findings) {
		*out = r.state->registers[0];
		return true;
	}
	*message = r.state->findings->message;
	*point = r.state->findings->point;
	return false;
}
