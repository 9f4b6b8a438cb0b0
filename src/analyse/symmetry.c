#include "analyse/symmetry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/diag.h"
#include "base/memory.h"
#include "sql/alike.h"
#include "vm/bytecode.h"

/* ---- the same code ---- */

/* How far the code of two sessions may differ. */
enum likeness {
	SAME_VALUES, /* in places of the source, and numbers of assertions */
	ANY_VALUES   /* in constants as well */
};

static uint16_t any_constant(uint16_t operand)
{
	return operand & OPERAND_CONSTANT ? OPERAND_CONSTANT : operand;
}

/* An instruction without that in which it may differ. */
static struct instruction essence(const struct program *p, struct instruction i,
                                  uint32_t entry, enum likeness likeness)
{
	for (const char *letter = opcode_layout(i.op); *letter; letter++) {
		if (*letter == 'j') i.x -= entry;
		if (strchr("sp", *letter)) i.x = 0;
		if (likeness == SAME_VALUES) continue;
		switch (*letter) {
		case 'A': i.a = any_constant(i.a); break;
		case 'B': i.b = any_constant(i.b); break;
		case 'C': i.c = any_constant(i.c); break;
		case 'k': i.x = 0; break;
		case 'q': i.x = p->keys[i.x].global; break;
		default: break;
		}
	}
	return i;
}

static bool same_instruction(struct instruction a, struct instruction b)
{
	return a.op == b.op && a.n == b.n && a.a == b.a && a.x == b.x;
}

static bool same_locals(const struct session *a, const struct session *b)
{
	if (a->local_count != b->local_count) return false;
	for (uint32_t i = 0; i < a->local_count; i++)
		if (a->locals[i].reg != b->locals[i].reg) return false;
	return true;
}

static bool same_code(const struct program *p, uint32_t i, uint32_t j,
                      enum likeness likeness)
{
	const struct session *a = &p->sessions[i], *b = &p->sessions[j];
	assert(i < p->sessions_count && j < p->sessions_count);
	if (a->length != b->length || !same_locals(a, b)) return false;
	for (uint32_t at = 0; at < a->length; at++)
		if (!same_instruction(essence(p, p->code[a->entry + at],
		                              a->entry, likeness),
		                      essence(p, p->code[b->entry + at],
		                              b->entry, likeness)))
			return false;
	return true;
}

/* ---- classes ---- */

static bool is_finally(const struct program *p, uint32_t session)
{
	return p->has_finally && session + 1 == p->sessions_count;
}

uint32_t symmetry_first_same(const struct program *p, uint32_t session)
{
	uint32_t i = 0;
	if (p->guest || p->sql || is_finally(p, session)) return session;
	while (i < session && !same_code(p, i, session, SAME_VALUES)) i++;
	return i;
}

/* The first session of the class, among those before this one. */
static uint32_t find_class(const struct symmetry *s, const struct program *p,
                           uint32_t session)
{
	assert(session < p->sessions_count);
	if (p->sql && !p->server) return sql_first_alike(p, session);
	if (p->guest || is_finally(p, session)) return session;
	for (uint32_t i = 0; i < session; i++) {
		if (s->class_of[i] != i) continue;
		bool declared = program_are_symmetric(p, i, session);
		if (same_code(p, i, session,
		              declared ? ANY_VALUES : SAME_VALUES))
			return i;
	}
	return session;
}

/* Of sessions in SQL: why none can be exchanged, if so. */
static void doubt_classes(struct symmetry *s, const struct program *p)
{
	if (s->trivial)
		s->why = "no two have the same statements";
	else
		s->why = sql_tells_apart(p);
	s->trivial = s->why;
	for (uint32_t i = 0; s->trivial && i < s->session_count; i++)
		s->class_of[i] = i;
}

static void find_classes(struct symmetry *s, const struct program *p)
{
	s->trivial = true;
	s->class_of =
		region_take(&s->region, s->session_count * sizeof *s->class_of);
	for (uint32_t i = 0; i < s->session_count; i++) {
		s->class_of[i] = find_class(s, p, i);
		assert(s->class_of[i] <= i &&
		       s->class_of[s->class_of[i]] == s->class_of[i]);
		s->trivial &= s->class_of[i] == i;
	}
	if (p->sql && !p->server) doubt_classes(s, p);
}

uint32_t symmetry_class_size(const struct symmetry *s, uint32_t session)
{
	uint32_t size = 0;
	assert(session < s->session_count);
	for (uint32_t i = 0; i < s->session_count; i++)
		size += s->class_of[i] == s->class_of[session];
	assert(size > 0);
	return size;
}

uint64_t symmetry_order(const struct symmetry *s)
{
	uint64_t order = 1;
	for (uint32_t i = 0; i < s->session_count; i++) {
		uint32_t before = 0;
		for (uint32_t j = 0; j < i; j++)
			before += s->class_of[j] == s->class_of[i];
		if (__builtin_mul_overflow(order, before + 1, &order))
			return UINT64_MAX;
	}
	assert(order > 0);
	return order;
}

/* ---- what stands in the sessions' own code ---- */

static uint32_t *identity(struct symmetry *s, uint32_t count)
{
	uint32_t *twins = region_take(&s->region, (count + 1) * sizeof *twins);
	for (uint32_t i = 0; i < count; i++) twins[i] = i;
	return twins;
}

static void pair_code(struct symmetry *s, const struct program *p,
                      uint32_t session)
{
	const struct session *own = &p->sessions[session];
	const struct session *first = &p->sessions[s->class_of[session]];
	assert(own->length == first->length);
	for (uint32_t at = 0; at < own->length; at++) {
		struct instruction i = p->code[own->entry + at];
		struct instruction twin = p->code[first->entry + at];
		assert(i.op == twin.op);
		uint32_t point = p->points[own->entry + at];
		s->point_session[point] = session;
		s->point_twin[point] = p->points[first->entry + at];
		if (i.op == OP_REACH) s->reach_twin[i.x] = twin.x;
		if (i.op != OP_ASSERT) continue;
		uint32_t assertion = p->sites[i.x].assertion;
		s->assertion_session[assertion] = session;
		s->assertion_twin[assertion] = p->sites[twin.x].assertion;
	}
}

/* Statements have places of their own, and no assertions. */
static void pair_points(struct symmetry *s, const struct program *p,
                        uint32_t session)
{
	uint32_t own, own_count, first, count;
	sql_own_points(p, session, &own, &own_count);
	sql_own_points(p, s->class_of[session], &first, &count);
	assert(own_count == count && own + count <= s->point_count);
	for (uint32_t i = 0; i < count; i++) {
		s->point_session[own + i] = session;
		s->point_twin[own + i] = first + i;
	}
}

static uint32_t *no_session(struct symmetry *s, uint32_t count)
{
	size_t size = (count + 1) * sizeof(uint32_t);
	return memset(region_take(&s->region, size), 0xff, size);
}

static void pair_all(struct symmetry *s, const struct program *p)
{
	uint32_t count = p->assertions_count;
	s->assertion_count = count;
	s->assertion_session = no_session(s, count);
	s->assertion_twin = identity(s, count);
	s->point_count = p->positions_count;
	s->point_session = no_session(s, s->point_count);
	s->point_twin = identity(s, s->point_count);
	s->reach_count = p->reach_count;
	s->reach_twin = identity(s, p->reach_count);
	for (uint32_t i = 0; i < s->session_count && !s->trivial; i++)
		if (symmetry_class_size(s, i) > 1) {
			if (p->sql)
				pair_points(s, p, i);
			else
				pair_code(s, p, i);
		}
}

void symmetry_spread_reached(const struct symmetry *s, uint64_t *reached)
{
	for (uint32_t i = 0; i < s->reach_count; i++)
		if (bits_has(reached, i)) bits_add(reached, s->reach_twin[i]);
	for (uint32_t i = 0; i < s->reach_count; i++)
		if (bits_has(reached, s->reach_twin[i])) bits_add(reached, i);
}

/* ---- final assertions ---- */

/* Marks the sessions that can be exchanged and that the assertion names. */
static uint32_t mark_named(const struct symmetry *s, const struct program *p,
                           uint32_t assertion, bool *named)
{
	uint32_t count = 0;
	memset(named, 0, s->session_count * sizeof *named);
	if (p->sql) {
		sql_mark_asked(p, assertion, named);
		for (uint32_t i = 0; i < s->session_count; i++) {
			named[i] &= symmetry_class_size(s, i) > 1;
			count += named[i];
		}
		return count;
	}
	for (uint32_t at = p->final_entries[assertion];
	     p->code[at].op != OP_END; at++) {
		struct instruction i = p->code[at];
		if (i.op != OP_LOCAL) continue;
		uint32_t session = p->places ? p->places[i.b] : i.b;
		assert(session < s->session_count);
		if (named[session] || symmetry_class_size(s, session) == 1)
			continue;
		named[session] = true;
		count++;
	}
	return count;
}

static void add_named(struct symmetry *s, uint32_t assertion, const bool *named,
                      uint32_t count)
{
	uint32_t *sessions = region_take(&s->region, count * sizeof *sessions);
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->session_count; i++)
		if (named[i]) sessions[n++] = i;
	assert(n == count);
	s->named[s->named_count++] =
		(struct symmetry_named){ assertion, count, sessions };
}

static void find_named(struct symmetry *s, const struct program *p)
{
	bool *named = mem_take0(s->session_count, sizeof *named);
	s->named = region_take(&s->region,
	                       (p->assertions_count + 1) * sizeof *s->named);
	for (uint32_t i = 0; i < p->assertions_count && !s->trivial; i++) {
		if (p->assertions[i].kind != ASSERTION_FINAL) continue;
		uint32_t count = mark_named(s, p, i, named);
		if (count) add_named(s, i, named, count);
	}
	free(named);
}

struct symmetry *symmetry_new(const struct program *p, struct diags *d)
{
	struct symmetry *s = mem_take0(1, sizeof *s);
	region_init(&s->region);
	s->session_count = p->sessions_count;
	find_classes(s, p);
	if (symmetry_order(s) == UINT64_MAX) {
		diags_add(d, DIAG_ERROR, p->path, 0, 0, NULL,
		          "so many sessions are interchangeable that their "
		          "permutations cannot be counted in 64 bits: at most "
		          "20 can be the same");
		symmetry_free(s);
		return NULL;
	}
	pair_all(s, p);
	find_named(s, p);
	return s;
}

void symmetry_free(struct symmetry *s)
{
	if (!s) return;
	region_free(&s->region);
	free(s);
}
