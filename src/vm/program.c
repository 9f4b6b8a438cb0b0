#include "vm/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "vm/bytecode.h"
#include "vm/guest.h"

/* The array `name` of the program p, with its counters, gets one more element
 * of value x; gives its index. */
#define APPEND(p, name, x)                                  \
	(reserve((void **)&(p)->name, (p)->name##_count,    \
	         &(p)->name##_capacity, sizeof *(p)->name), \
	 (p)->name[(p)->name##_count] = (x), (p)->name##_count++)

static void reserve(void **items, uint32_t count, uint32_t *capacity,
                    size_t size)
{
	if (count < *capacity) return;
	*capacity = *capacity ? 2 * *capacity : 8;
	*items = mem_grow(*items, *capacity, size);
}

static const char *keep_string(struct program *p, const char *s)
{
	return s ? region_copy_string(&p->region, s, strlen(s)) : NULL;
}

struct program *program_new(const char *path)
{
	struct program *p = mem_take0(1, sizeof *p);
	region_init(&p->region);
	p->path = keep_string(p, path);
	struct position nowhere = { .file = p->path, .source_line = "" };
	APPEND(p, positions, nowhere);
	table_init(&p->constant_table, 0);
	table_init(&p->key_table, 0);
	table_init(&p->line_table, 0);
	return p;
}

static void free_view(struct program *p)
{
	free(p->sessions);
	free(p->places);
	free(p);
}

static void free_tables(struct program *p)
{
	table_free(&p->constant_table);
	table_free(&p->key_table);
	table_free(&p->line_table);
}

void program_free(struct program *p)
{
	if (!p) return;
	if (p->original) {
		free_view(p);
		return;
	}
	if (p->library) p->library->ops->release(p->library);
	for (uint32_t i = 0; i < p->sessions_count; i++)
		free(p->sessions[i].locals);
	for (uint32_t i = 0; i < p->sites_count; i++) free(p->sites[i].values);
	free(p->code);
	free(p->points);
	free(p->constants);
	free(p->sessions);
	free(p->functions);
	free(p->transactions);
	free(p->externs);
	free(p->globals);
	free(p->keys);
	free(p->assertions);
	free(p->final_entries);
	free(p->final_registers);
	free(p->sites);
	free(p->reach);
	free(p->positions);
	free_tables(p);
	region_free(&p->region);
	free(p);
}

/* ---- Building ---- */

uint32_t program_emit(struct program *p, struct instruction i, uint32_t point)
{
	assert(i.op < OPCODE_COUNT && point < p->positions_count);
	reserve((void **)&p->points, p->code_count, &p->points_capacity,
	        sizeof *p->points);
	p->points[p->code_count] = point;
	p->locks |= i.op == OP_LOCK;
	return APPEND(p, code, i);
}

uint32_t program_here(const struct program *p)
{
	return p->code_count;
}

void program_patch(struct program *p, uint32_t at, uint32_t target)
{
	assert(at < p->code_count);
	assert(strchr(opcode_layout(p->code[at].op), 'j'));
	p->code[at].x = target;
}

void program_truncate(struct program *p, uint32_t length)
{
	assert(length <= p->code_count);
	p->code_count = length;
}

uint32_t program_constant(struct program *p, struct value v)
{
	struct table_probe probe = table_probe(value_hash(v));
	uint32_t i;
	while ((i = table_next(&p->constant_table, &probe)) != TABLE_NONE)
		if (value_equal(p->constants[i], v)) return i;
	table_put(&p->constant_table, probe, p->constants_count);
	return APPEND(p, constants, value_copy(&p->region, v));
}

/* The strings of a position, kept once for each line. */
static struct position keep_position(struct program *p, struct position at)
{
	struct table_probe probe =
		table_probe(hash_bytes(at.line, at.file, strlen(at.file)));
	uint32_t i;
	while ((i = table_next(&p->line_table, &probe)) != TABLE_NONE) {
		const struct position *known = p->positions + i;
		if (known->line != at.line || strcmp(known->file, at.file))
			continue;
		at.file = known->file;
		at.source_line = known->source_line;
		return at;
	}
	table_put(&p->line_table, probe, p->positions_count);
	at.file = keep_string(p, at.file);
	at.source_line = keep_string(p, at.source_line);
	return at;
}

uint32_t program_add_position(struct program *p, struct position at)
{
	const struct position *last = p->positions + p->positions_count - 1;
	if (at.line == last->line && at.column == last->column &&
	    !strcmp(at.file, last->file))
		return p->positions_count - 1;
	return APPEND(p, positions, keep_position(p, at));
}

uint32_t program_add_global(struct program *p, const char *name, uint32_t arity,
                            struct value initial)
{
	struct global g = { .name = keep_string(p, name),
		            .arity = arity,
		            .initial = value_copy(&p->region, initial) };
	return APPEND(p, globals, g);
}

static uint64_t key_hash(uint32_t global, const struct value *index,
                         uint32_t count)
{
	uint64_t hash = hash_mix(global, count);
	for (uint32_t i = 0; i < count; i++)
		hash = hash_mix(hash, value_hash(index[i]));
	return hash;
}

static bool static_key_is(const struct static_key *k, uint32_t global,
                          const struct value *index, uint32_t count)
{
	if (k->global != global || k->count != count) return false;
	for (uint32_t i = 0; i < count; i++)
		if (!value_equal(k->index[i], index[i])) return false;
	return true;
}

static struct static_key static_key_make(struct program *p, uint32_t global,
                                         const struct value *index,
                                         uint32_t count)
{
	struct value *copy =
		region_take(&p->region, (count + 1) * sizeof *copy);
	/* constants are shared, so that comparing is comparing addresses */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t constant = program_constant(p, index[i]);
		copy[i] = p->constants[constant];
	}
	return (struct static_key){ .global = global,
		                    .count = count,
		                    .index = copy };
}

uint32_t program_add_key(struct program *p, uint32_t global,
                         const struct value *index, uint32_t count)
{
	assert(global < p->globals_count && count <= INDEX_MAX);
	struct table_probe probe = table_probe(key_hash(global, index, count));
	uint32_t i;
	while ((i = table_next(&p->key_table, &probe)) != TABLE_NONE)
		if (static_key_is(p->keys + i, global, index, count)) return i;
	table_put(&p->key_table, probe, p->keys_count);
	return APPEND(p, keys, static_key_make(p, global, index, count));
}

void program_set_initial(struct program *p, uint32_t key, struct value v)
{
	assert(key < p->keys_count);
	p->keys[key].initial = value_copy(&p->region, v);
	p->keys[key].has_initial = true;
}

uint32_t program_add_function(struct program *p, const char *name,
                              uint32_t parameters)
{
	struct function f = { .name = keep_string(p, name),
		              .parameters = parameters };
	return APPEND(p, functions, f);
}

uint32_t program_add_extern(struct program *p, const char *name)
{
	return APPEND(p, externs, keep_string(p, name));
}

uint32_t program_add_session(struct program *p, const char *name)
{
	assert(p->sessions_count < SESSIONS_MAX);
	struct session s = { .name = keep_string(p, name) };
	return APPEND(p, sessions, s);
}

uint32_t program_add_local(struct program *p, uint32_t session,
                           const char *name, uint32_t reg)
{
	assert(session < p->sessions_count);
	struct session *s = p->sessions + session;
	VEC_RESERVE(s->locals, s->local_count, s->local_capacity);
	s->locals[s->local_count] =
		(struct session_local){ keep_string(p, name), reg };
	return s->local_count++;
}

void program_add_symmetric(struct program *p, const uint32_t *sessions,
                           uint32_t count)
{
	p->symmetric++;
	for (uint32_t i = 0; i < count; i++)
		p->sessions[sessions[i]].symmetric = p->symmetric;
}

bool program_are_symmetric(const struct program *p, uint32_t a, uint32_t b)
{
	uint32_t declaration = p->sessions[a].symmetric;
	return declaration && declaration == p->sessions[b].symmetric;
}

uint32_t program_add_transaction(struct program *p, const char *name,
                                 own_level level)
{
	for (uint32_t i = 0; i < p->transactions_count; i++)
		if (p->transactions[i].level == level &&
		    !strcmp(p->transactions[i].name, name))
			return i;
	return APPEND(
		p, transactions,
		((struct transaction_name){ keep_string(p, name), level }));
}

uint32_t program_add_assertion(struct program *p, const struct assertion *a)
{
	struct assertion copy = *a;
	copy.text = keep_string(p, a->text);
	copy.message = keep_string(p, a->message);
	reserve((void **)&p->final_entries, p->assertions_count,
	        &p->final_entries_capacity, sizeof *p->final_entries);
	reserve((void **)&p->final_registers, p->assertions_count,
	        &p->final_registers_capacity, sizeof *p->final_registers);
	p->final_entries[p->assertions_count] = 0;
	p->final_registers[p->assertions_count] = 0;
	return APPEND(p, assertions, copy);
}

uint32_t program_add_site(struct program *p, uint32_t assertion)
{
	assert(assertion < p->assertions_count);
	struct assertion_site s = { .assertion = assertion };
	return APPEND(p, sites, s);
}

void program_add_site_value(struct program *p, uint32_t site, const char *name,
                            uint32_t operand)
{
	assert(site < p->sites_count);
	struct assertion_site *s = p->sites + site;
	VEC_RESERVE(s->values, s->value_count, s->value_capacity);
	s->values[s->value_count++] =
		(struct site_value){ keep_string(p, name), (uint16_t)operand };
}

uint32_t program_add_reach(struct program *p, enum reach_kind kind,
                           uint32_t point)
{
	struct reach_point r = { kind, program_position(p, point) };
	return APPEND(p, reach, r);
}

/* ---- How many registers code needs, with all that it calls ---- */

#define STACK_BUSY UINT32_MAX /* being computed */

static uint32_t function_stack(struct program *p, uint32_t f, uint32_t depth);

/* At most REGISTERS_MAX + 1, which stands for anything more. */
static uint32_t code_stack(struct program *p, uint32_t entry, uint32_t length,
                           uint32_t registers, uint32_t depth)
{
	uint32_t most = registers;
	for (uint32_t i = entry; i < entry + length; i++) {
		struct instruction in = p->code[i];
		if (in.op != OP_CALL) continue;
		uint32_t need = in.a + function_stack(p, in.x, depth + 1);
		if (need > most) most = need;
	}
	return most <= REGISTERS_MAX ? most : REGISTERS_MAX + 1;
}

static uint32_t function_stack(struct program *p, uint32_t f, uint32_t depth)
{
	assert(f < p->functions_count);
	struct function *callee = p->functions + f;
	if (callee->stack == STACK_BUSY || depth > REGISTERS_MAX)
		return REGISTERS_MAX + 1;
	if (callee->stack) return callee->stack;
	callee->stack = STACK_BUSY;
	callee->stack =
		code_stack(p, callee->entry, callee->length,
	                   callee->registers + !callee->registers, depth);
	return callee->stack;
}

uint32_t program_code_stack(struct program *p, uint32_t entry, uint32_t length,
                            uint32_t registers)
{
	return code_stack(p, entry, length, registers, 0);
}

static bool finish_sessions(struct program *p, const char **which)
{
	for (uint32_t i = 0; i < p->sessions_count; i++) {
		struct session *s = p->sessions + i;
		s->stack = program_code_stack(p, s->entry, s->length,
		                              s->registers);
		*which = s->name;
		if (s->stack > REGISTERS_MAX) return false;
		if (s->stack > p->stack) p->stack = s->stack;
	}
	return true;
}

static uint32_t length_to_end(const struct program *p, uint32_t entry)
{
	uint32_t i = entry;
	while (p->code[i].op != OP_END) i++;
	return i - entry;
}

static bool finish_assertions(struct program *p, const char **which)
{
	for (uint32_t i = 0; i < p->assertions_count; i++) {
		if (p->assertions[i].kind != ASSERTION_FINAL) continue;
		uint32_t entry = p->final_entries[i];
		p->final_registers[i] =
			program_code_stack(p, entry, length_to_end(p, entry),
		                           p->final_registers[i]);
		*which = p->assertions[i].text;
		if (p->final_registers[i] > REGISTERS_MAX) return false;
	}
	return true;
}

bool program_finish(struct program *p, const char **which)
{
	for (uint32_t i = 0; i < p->functions_count; i++)
		function_stack(p, i, 0);
	free_tables(p);
	/* A guest's sessions and final assertions have no code here. */
	return p->guest ||
	       (finish_sessions(p, which) && finish_assertions(p, which));
}

/* ---- What exploration and reports see ---- */

const char *program_path(const struct program *p)
{
	return p->path;
}

uint64_t program_digest(const struct program *p)
{
	return p->ssi ? hash_mix(p->digest, 1) : p->digest;
}

uint64_t program_digest_otherwise(const struct program *p)
{
	return p->ssi ? p->digest : hash_mix(p->digest, 1);
}

uint32_t program_session_count(const struct program *p)
{
	return p->sessions_count;
}

bool program_has_finally(const struct program *p)
{
	return p->has_finally;
}

const char *program_session_name(const struct program *p, uint32_t session)
{
	assert(session < p->sessions_count);
	return p->sessions[session].name;
}

const char *program_transaction_name(const struct program *p, uint32_t name)
{
	if (p->native) return p->library->ops->transaction(p->library, name);
	assert(name < p->transactions_count);
	return p->transactions[name].name;
}

own_level program_transaction_level(const struct program *p, uint32_t name)
{
	if (p->native) return p->library->ops->level(p->library, name);
	assert(name < p->transactions_count);
	return p->transactions[name].level;
}

bool program_finds_own_level(const struct program *p, uint32_t *name,
                             struct position *at)
{
	for (*name = 0; p->sql && *name < p->transactions_count; ++*name) {
		if (!p->transactions[*name].level) continue;
		*at = program_position(p, p->own_point);
		return true;
	}
	for (uint32_t i = 0; i < p->code_count; i++) {
		*name = p->code[i].x;
		if (p->code[i].op != OP_BEGIN || !p->transactions[*name].level)
			continue;
		*at = program_position(p, p->points[i]);
		return true;
	}
	return false;
}

bool program_mixes(const struct program *p)
{
	if (p->native) return p->library->ops->mixes(p->library);
	for (uint32_t i = 0; i < p->transactions_count; i++)
		if (p->transactions[i].level) return true;
	return false;
}

bool program_owns(const struct program *p, own_level level)
{
	uint32_t i = 0;
	assert(level);
	if (p->native) return program_mixes(p);
	while (i < p->transactions_count && p->transactions[i].level != level)
		i++;
	return i < p->transactions_count;
}

bool program_owns_all(const struct program *p)
{
	uint32_t i = 0;
	if (p->native) return false;
	while (i < p->transactions_count && p->transactions[i].level) i++;
	return i && i == p->transactions_count;
}

bool program_is_ssi(const struct program *p)
{
	return p->ssi;
}

void program_be_ssi(struct program *p)
{
	assert(!p->original);
	p->ssi = true;
}

bool program_may_mix(const struct program *p)
{
	return p->native || program_mixes(p);
}

bool program_locks(const struct program *p)
{
	return p->locks;
}

bool program_gives_up(const struct program *p)
{
	assert(p->locks || !p->gives_up);
	return p->gives_up;
}

bool program_checks(const struct program *p)
{
	assert(p->locks || !p->checks);
	return p->checks;
}

uint32_t program_session_bound(const struct program *p, uint32_t session)
{
	assert(session < p->sessions_count);
	return p->sessions[session].bound;
}

uint32_t program_local_count(const struct program *p, uint32_t session)
{
	assert(session < p->sessions_count);
	return p->sessions[session].local_count;
}

const char *program_local_name(const struct program *p, uint32_t session,
                               uint32_t local)
{
	assert(local < program_local_count(p, session));
	return p->sessions[session].locals[local].name;
}

uint32_t program_assertion_count(const struct program *p)
{
	return p->assertions_count;
}

const struct assertion *program_assertion(const struct program *p, uint32_t i)
{
	bool met;
	assert(i < p->assertions_count);
	if (p->native) return p->library->ops->assertion(p->library, i, &met);
	return p->assertions + i;
}

uint32_t program_final_bound(const struct program *p)
{
	return p->native ? p->expectations : p->assertions_count;
}

bool program_assertion_met(const struct program *p, uint32_t i)
{
	bool met = true;
	assert(i < p->assertions_count);
	if (p->native) p->library->ops->assertion(p->library, i, &met);
	return met;
}

bool program_is_native(const struct program *p)
{
	return p->native;
}

bool program_is_sql(const struct program *p)
{
	return p->sql;
}

const char *program_fault(const struct program *p)
{
	return p->library ? p->library->ops->fault(p->library) : NULL;
}

bool program_fault_position(const struct program *p, struct position *at)
{
	uint32_t point = 0;
	if (!p->library || !p->library->ops->fault_point ||
	    !p->library->ops->fault_point(p->library, &point))
		return false;
	*at = program_position(p, point);
	return true;
}

const char *program_lost(const struct program *p)
{
	if (!p->library || !p->library->ops->lost) return NULL;
	return p->library->ops->lost(p->library);
}

const char *program_bound_met(const struct program *p, struct position *at)
{
	uint32_t point = 0;
	if (!p->library) return NULL;
	const char *what = p->library->ops->bound(p->library, &point);
	if (what) *at = program_position(p, point);
	return what;
}

uint32_t program_reach_count(const struct program *p)
{
	return p->reach_count;
}

struct reach_point program_reach_point(const struct program *p, uint32_t i)
{
	assert(i < p->reach_count);
	return p->reach[i];
}

struct position program_position(const struct program *p, uint32_t point)
{
	assert(p->library || point < p->positions_count);
	if (p->native || point >= p->positions_count)
		return p->library->ops->position(p->library, point);
	return p->positions[point];
}

const char *program_isolation(const struct program *p)
{
	return p->isolation;
}

struct program *program_reordered(const struct program *p,
                                  const uint32_t *permutation)
{
	uint32_t n = p->sessions_count;
	assert(!p->has_finally || permutation[n - 1] == n - 1);
	struct program *view = mem_take(sizeof *view);
	*view = *p;
	view->original = p->original ? p->original : p;
	view->sessions = mem_take0(n, sizeof *view->sessions);
	view->places = mem_take0(n, sizeof *view->places);
	uint32_t *place_in_p = mem_take0(n, sizeof *place_in_p);
	for (uint32_t i = 0; i < n; i++) {
		assert(permutation[i] < n);
		view->sessions[i] = p->sessions[permutation[i]];
		place_in_p[permutation[i]] = i;
	}
	for (uint32_t i = 0; i < n; i++)
		view->places[i] = place_in_p[p->places ? p->places[i] : i];
	free(place_in_p);
	return view;
}
