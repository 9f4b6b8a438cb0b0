/* Goes through the code once, from the first instruction to the last. Where
 * something may be jumped to, only registers count as known that nothing writes
 * (arguments). */
#include "analyse/footprint.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "base/region.h"
#include "vm/bytecode.h"
#include "vm/keys.h"
#include "vm/machine_state.h"

#define NOWHERE UINT32_MAX

/* An instruction that reads or writes. */
struct access {
	uint32_t until; /* the last instruction from which it can be reached
	                 * without leaving the transaction */
	uint32_t global, count;
	const struct value *index;
};

/* In an index, that of which nothing is known: a record, which no key has in
 * its index. */
static const struct value_object no_fields;
static const struct value anything = { .tag = VALUE_RECORD, .o = &no_fields };

struct accesses {
	struct access *items;
	uint32_t count, capacity;
};

struct footprint {
	struct accesses reads, writes;
	uint32_t site;    /* the instruction that calls it, or is its BEGIN */
	uint32_t from;    /* what the session does from there on is behind this
	                   * instruction, in its code: where the outermost loop
	                   * around the site begins, or the site */
	uint32_t session; /* whose code that is */
	/* By key: 1 and the greatest `until` of its reads, or 1 if it has none;
	 * 0: never asked. */
	uint32_t *until;
	uint32_t until_count;
	/* By session: 1 and its last site where something may be written that
	 * is read here, or 0. NULL: never asked. */
	uint32_t *fed;
};

struct footprints {
	const struct program *program;
	const struct keys *keys;
	struct region region; /* index values */
	struct footprint *items;
	uint32_t count, capacity;
	/* By instruction of sessions: the number of the footprint of the
	 * transaction that it calls, or is part of; else NOWHERE. */
	uint32_t *at;
	/* By key: as in footprint.fed. */
	uint32_t **fed;
	uint32_t fed_count;
	word *targets; /* instructions that are jumped to */
	/* While going through a piece of code: the values of registers, NULL
	 * where they are not known; and those that it writes. */
	const struct value **known;
	word *written;
	/* By instruction: the end of the outermost loop of the transaction
	 * around it; itself if there is none. */
	uint32_t *ways;
};

/* ---- instructions ---- */

static uint32_t jump_target(struct instruction i)
{
	assert(i.op < OPCODE_COUNT);
	return strchr(opcode_layout((enum opcode)i.op), 'j') ? i.x : NOWHERE;
}

struct span {
	uint32_t first, end;
};

/* The registers that it writes, of those before `registers`. */
static struct span written_by(struct instruction i, uint32_t registers)
{
	enum { LOOP = 3 }; /* collection or end, place, item */
	struct span none = { 0, 0 };
	if (opcode_layout((enum opcode)i.op)[0] != 'a') return none;
	uint32_t end = i.a + 1u;
	switch ((enum opcode)i.op) {
	case OP_CALL: end = registers; break;
	case OP_EACH:
	case OP_EACH_NEXT:
	case OP_RANGE:
	case OP_RANGE_NEXT: end = i.a + (uint32_t)LOOP; break;
	default: break;
	}
	assert(i.a < end);
	return (struct span){ i.a, end < registers ? end : registers };
}

static void mark_targets(struct footprints *f)
{
	const struct program *p = f->program;
	for (uint32_t i = 0; i < p->code_count; i++) {
		uint32_t target = jump_target(p->code[i]);
		if (target < p->code_count) bits_add(f->targets, target);
	}
}

/* ---- a piece of code ---- */

/* What is gone through: instructions, and the registers of their frame. */
struct piece {
	uint32_t first, end, registers;
};

static void mark_written(struct footprints *f, const struct piece *c)
{
	assert(c->first <= c->end && c->end <= f->program->code_count);
	memset(f->written, 0, BITS_WORDS(c->registers) * sizeof *f->written);
	for (uint32_t i = c->first; i < c->end; i++) {
		struct span s = written_by(f->program->code[i], c->registers);
		for (uint32_t r = s.first; r < s.end; r++)
			bits_add(f->written, r);
	}
}

static const struct value *operand(const struct footprints *f, uint32_t v)
{
	assert(v & OPERAND_CONSTANT || f->known);
	return v & OPERAND_CONSTANT
	               ? &f->program->constants[v - OPERAND_CONSTANT]
	               : f->known[v];
}

/* A copy of `count` registers from `first` on. */
static const struct value *known_row(struct footprints *f, uint32_t first,
                                     uint32_t count)
{
	struct value *row = region_take(&f->region, (count + 1) * sizeof *row);
	for (uint32_t i = 0; i < count; i++) {
		const struct value *known = f->known[first + i];
		row[i] = known ? *known : anything;
	}
	return row;
}

/* The value that the instruction puts into R[a], if that is known. */
static const struct value *result_of(struct footprints *f, struct instruction i)
{
	const struct value *items;
	struct value *tuple;
	switch ((enum opcode)i.op) {
	case OP_MOVE: return operand(f, i.b);
	case OP_LOAD: return &f->program->constants[i.x];
	case OP_TUPLE:
		items = known_row(f, i.b, i.c);
		tuple = region_take(&f->region, sizeof *tuple);
		*tuple = value_sequence(&f->region, VALUE_TUPLE, items, i.c);
		return tuple;
	default: return NULL;
	}
}

static void go_past(struct footprints *f, const struct piece *c,
                    struct instruction i)
{
	struct span s = written_by(i, c->registers);
	const struct value *result = result_of(f, i);
	assert(s.end <= c->registers);
	for (uint32_t r = s.first; r < s.end; r++) f->known[r] = NULL;
	if (s.first < s.end) f->known[i.a] = result;
}

static void forget_written(struct footprints *f, const struct piece *c)
{
	BITS_EACH(r, f->written, BITS_WORDS(c->registers)) f->known[r] = NULL;
}

/* ---- a transaction ---- */

/* Backwards, so that the end of an outer loop comes before those of the loops
 * in it. Where the transaction began, no way leads back into it. */
static void mark_ways(struct footprints *f, const struct piece *c)
{
	uint32_t end = NOWHERE, head = NOWHERE; /* of the outermost loop */
	for (uint32_t i = c->end; i-- > c->first;) {
		uint32_t target = jump_target(f->program->code[i]);
		bool inside = head != NOWHERE && i >= head;
		if (target > c->first && target <= i) {
			if (!inside) end = i;
			if (!inside || target < head) head = target;
			inside = true;
		}
		f->ways[i] = inside ? end : i;
		assert(f->ways[i] >= i && f->ways[i] < c->end);
	}
}

static void add_access(struct accesses *to, struct access a)
{
	VEC_RESERVE(to->items, to->count, to->capacity);
	to->items[to->count++] = a;
}

static const struct value no_index; /* of scalars */

static void note_access(struct footprints *f, struct footprint *t, uint32_t at)
{
	const struct program *p = f->program;
	struct instruction i = p->code[at];
	bool reads = i.op == OP_READ || i.op == OP_READ_AT;
	if (!reads && i.op != OP_WRITE && i.op != OP_WRITE_AT) return;
	struct access a = { .until = f->ways[at] };
	if (i.op == OP_READ || i.op == OP_WRITE) {
		const struct static_key *key = &p->keys[i.x];
		a.global = key->global;
		a.count = key->count;
		a.index = key->count ? key->index : &no_index;
	} else {
		a.global = i.c;
		a.count = i.n;
		a.index = known_row(f, i.b, i.n);
	}
	assert(a.global < p->globals_count);
	add_access(reads ? &t->reads : &t->writes, a);
}

/* Of a piece that begins with BEGIN, with the values of its registers from 1
 * on, NULL where they are not known. Returns its number. */
static uint32_t add_footprint(struct footprints *f, const struct piece *c,
                              uint32_t site,
                              const struct value *const *arguments,
                              uint32_t count)
{
	struct footprint t = { .site = site, .from = site };
	const struct value **outer = f->known;
	assert(count < c->registers || !count);
	f->known = mem_take0(c->registers + 1, sizeof(struct value *));
	for (uint32_t i = 0; i < count; i++) f->known[i + 1] = arguments[i];
	mark_written(f, c);
	mark_ways(f, c);
	for (uint32_t i = c->first; i < c->end; i++) {
		if (bits_has(f->targets, i)) forget_written(f, c);
		note_access(f, &t, i);
		go_past(f, c, f->program->code[i]);
	}
	free(f->known);
	assert(f->count <= f->capacity);
	f->known = outer;
	VEC_RESERVE(f->items, f->count, f->capacity);
	f->items[f->count] = t;
	return f->count++;
}

/* ---- a session ---- */

static bool is_transaction(const struct program *p, struct instruction i)
{
	return i.op == OP_CALL &&
	       p->code[p->functions[i.x].entry].op == OP_BEGIN;
}

/* The arguments are constants of the session, or unknown. */
static uint32_t add_called(struct footprints *f, uint32_t site)
{
	struct instruction call = f->program->code[site];
	const struct function *callee = &f->program->functions[call.x];
	struct piece c = { callee->entry, callee->entry + callee->length,
		           callee->registers };
	return add_footprint(f, &c, site, f->known + call.a + 1,
	                     callee->parameters);
}

/* A transaction of the session itself: up to where the next one may begin.
 * Sessions read nothing outside of transactions. */
static void add_own(struct footprints *f, const struct piece *session,
                    uint32_t begin)
{
	const struct program *p = f->program;
	struct piece c = { begin, begin + 1, session->registers };
	assert(p->code[begin].op == OP_BEGIN);
	while (c.end < session->end && p->code[c.end].op != OP_BEGIN) c.end++;
	uint32_t number = add_footprint(f, &c, begin, NULL, 0);
	for (uint32_t i = begin; i < c.end; i++) f->at[i] = number;
}

/* The session's footprints are those from this one on. */
static void mark_loops(struct footprints *f, const struct piece *session,
                       uint32_t first)
{
	for (uint32_t i = session->first; i < session->end; i++) {
		uint32_t target = jump_target(f->program->code[i]);
		if (target > i) continue;
		for (uint32_t n = first; n < f->count; n++) {
			struct footprint *t = &f->items[n];
			if (target <= t->site && t->site <= i &&
			    target < t->from)
				t->from = target;
		}
	}
}

static void add_session(struct footprints *f, uint32_t session)
{
	const struct program *p = f->program;
	const struct session *s = &p->sessions[session];
	struct piece c = { s->entry, s->entry + s->length, s->registers };
	uint32_t first = f->count;
	f->known = mem_take0(c.registers + 1, sizeof(struct value *));
	for (uint32_t i = c.first; i < c.end; i++)
		if (p->code[i].op == OP_BEGIN) add_own(f, &c, i);
	for (uint32_t i = c.first; i < c.end; i++) {
		if (bits_has(f->targets, i))
			memset(f->known, 0,
			       c.registers * sizeof(struct value *));
		if (is_transaction(p, p->code[i])) f->at[i] = add_called(f, i);
		go_past(f, &c, p->code[i]);
	}
	free(f->known);
	f->known = NULL;
	for (uint32_t n = first; n < f->count; n++)
		f->items[n].session = session;
	mark_loops(f, &c, first);
}

struct footprints *footprints_new(const struct program *p,
                                  const struct keys *keys)
{
	struct footprints *f = mem_take0(1, sizeof *f);
	f->program = p;
	f->keys = keys;
	region_init(&f->region);
	if (p->guest) return f;
	f->at = mem_take(p->code_count * sizeof *f->at);
	memset(f->at, 0xff, p->code_count * sizeof *f->at);
	f->targets = mem_take0(BITS_WORDS(p->code_count), sizeof(word));
	f->written = mem_take0(BITS_WORDS(REGISTERS_MAX), sizeof(word));
	f->ways = mem_take(p->code_count * sizeof *f->ways);
	mark_targets(f);
	for (uint32_t i = 0; i < p->sessions_count; i++) add_session(f, i);
	free(f->ways);
	f->ways = NULL;
	return f;
}

void footprints_free(struct footprints *f)
{
	if (!f) return;
	for (uint32_t i = 0; i < f->count; i++) {
		free(f->items[i].reads.items);
		free(f->items[i].writes.items);
		free(f->items[i].until);
		free(f->items[i].fed);
	}
	for (uint32_t i = 0; i < f->fed_count; i++) free(f->fed[i]);
	free(f->fed);
	free(f->items);
	free(f->at);
	free(f->targets);
	free(f->written);
	region_free(&f->region);
	free(f);
}

size_t footprints_bytes(const struct footprints *f)
{
	if (!f) return 0;
	size_t bytes = f->region.held + f->capacity * sizeof *f->items;
	if (f->at) bytes += f->program->code_count * sizeof *f->at;
	for (uint32_t i = 0; i < f->count; i++)
		bytes += (f->items[i].reads.capacity +
		          f->items[i].writes.capacity) *
		                 sizeof(struct access) +
		         f->items[i].until_count * sizeof(uint32_t) +
		         (f->items[i].fed ? f->program->sessions_count : 0) *
		                 sizeof(uint32_t);
	return bytes;
}

/* ---- questions ---- */

/* The footprint of the transaction that the session is in. */
static struct footprint *of_session(const struct footprints *f,
                                    const struct machine_state *s)
{
	uint32_t number = f->at[s->pc - 1];
	if (number == NOWHERE)
		number = f->at[link_pc(s->registers[s->base]) - 1];
	assert(number != NOWHERE);
	assert(number < f->count);
	return &f->items[number];
}

/* Can the two be parts of the index of one key? */
static bool may_equal(struct value a, struct value b)
{
	if (a.tag == VALUE_RECORD || b.tag == VALUE_RECORD) return true;
	if (a.tag != VALUE_TUPLE || b.tag != VALUE_TUPLE)
		return value_equal(a, b);
	if (a.o->length != b.o->length) return false;
	for (uint32_t i = 0; i < a.o->length; i++)
		if (!may_equal(a.o->items[i], b.o->items[i])) return false;
	return true;
}

static bool may_meet(const struct access *a, const struct access *b)
{
	if (a->global != b->global || a->count != b->count) return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!may_equal(a->index[i], b->index[i])) return false;
	return true;
}

static struct access access_of_key(const struct footprints *f, uint32_t key)
{
	struct access a = { 0 };
	a.index = keys_index(f->keys, key, &a.global, &a.count);
	return a;
}

static uint32_t find_until(const struct footprints *f,
                           const struct footprint *t, uint32_t key)
{
	uint32_t until = 0;
	struct access asked = access_of_key(f, key);
	for (uint32_t i = 0; i < t->reads.count; i++) {
		const struct access *a = &t->reads.items[i];
		if (a->until > until && may_meet(a, &asked)) until = a->until;
	}
	return until;
}

static uint32_t until(struct footprints *f, struct footprint *t, uint32_t key)
{
	if (key >= t->until_count) {
		uint32_t count = keys_count(f->keys);
		t->until = mem_grow0(t->until, t->until_count, count,
		                     sizeof *t->until);
		t->until_count = count;
	}
	if (!t->until[key]) t->until[key] = 1 + find_until(f, t, key);
	assert(key < t->until_count);
	return t->until[key] - 1;
}

bool footprints_may_read(struct footprints *f, const struct machine_state *s,
                         uint32_t key)
{
	return !f->at || until(f, of_session(f, s), key) >= s->pc;
}

bool footprints_may_write_on(const struct footprints *f,
                             const struct machine_state *s, uint32_t key)
{
	if (!f->at) return true;
	const struct accesses *all = &of_session(f, s)->writes;
	struct access asked = access_of_key(f, key);
	for (uint32_t i = 0; i < all->count; i++)
		if (all->items[i].until >= s->pc &&
		    may_meet(&all->items[i], &asked))
			return true;
	return false;
}

static bool meets_some(const struct access *a, const struct accesses *others)
{
	for (uint32_t i = 0; i < others->count; i++)
		if (may_meet(a, &others->items[i])) return true;
	return false;
}

/* By session: 1 and its last site where something may be written that one of
 * these reads, or 0. */
static uint32_t *find_fed(const struct footprints *f,
                          const struct accesses *reads)
{
	uint32_t *fed = mem_take0(f->program->sessions_count, sizeof *fed);
	for (uint32_t n = 0; n < f->count; n++) {
		const struct footprint *t = &f->items[n];
		uint32_t *last = &fed[t->session];
		for (uint32_t i = 0; i < t->writes.count && *last <= t->site;
		     i++)
			if (meets_some(&t->writes.items[i], reads))
				*last = t->site + 1;
	}
	return fed;
}

bool footprints_may_feed(struct footprints *f, const struct machine_state *from,
                         const struct machine_state *to)
{
	if (!f->at) return true;
	const struct footprint *writer = of_session(f, from);
	struct footprint *reader = of_session(f, to);
	if (!reader->fed) reader->fed = find_fed(f, &reader->reads);
	return reader->fed[writer->session] > writer->from;
}

bool footprints_may_write_some(const struct footprints *f,
                               const struct machine_state *s)
{
	return !f->at || of_session(f, s)->writes.count;
}

bool footprints_may_write(struct footprints *f,
                          const struct machine_state *from, uint32_t key)
{
	if (!f->at) return true;
	const struct footprint *writer = of_session(f, from);
	if (key >= f->fed_count) {
		uint32_t count = keys_count(f->keys);
		f->fed = mem_grow0(f->fed, f->fed_count, count, sizeof *f->fed);
		f->fed_count = count;
	}
	if (!f->fed[key]) {
		struct access asked = access_of_key(f, key);
		struct accesses one = { .items = &asked, .count = 1 };
		f->fed[key] = find_fed(f, &one);
	}
	return f->fed[key][writer->session] > writer->from;
}
