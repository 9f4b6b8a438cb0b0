/* The transactions of a program in SQL: routines that no other one calls, or
 * what the sessions of a specification run, each as a routine without
 * parameters. */
#include <assert.h>

#include "axioms/level.h"
#include "base/memory.h"
#include "prove/lower.h"
#include "prove/sql_lower.h"
#include "vm/bytecode.h"

/* ---- sessions ---- */

struct spans {
	struct application *a;
	const struct sql_image *image;
	struct sql_facts *facts;
	const struct sql_routine **routines; /* one for each */
	const struct sql_span **items;
	uint32_t count, capacity;
};

/* Does it only begin, end or describe the transaction? */
static bool is_frame(enum sql_statement_kind k)
{
	return k == STATEMENT_BEGIN || k == STATEMENT_SET_TRANSACTION ||
	       k == STATEMENT_COMMIT || k == STATEMENT_ROLLBACK ||
	       k == STATEMENT_NOTHING;
}

static const struct sql_statement *first_of(const struct sql_span *t)
{
	assert(t->first < t->end);
	return t->session->items[t->first].statement;
}

/* That of its session, if it has no other one, or of the step that it begins
 * in. */
static const char *name_of(const struct spans *x, const struct sql_span *t)
{
	const struct program *p = x->image->program;
	const struct sql_item *item = &t->session->items[t->first];
	bool only = item->step == SQL_NO_STEP, other = false;
	for (uint32_t i = 0; i < x->count; i++)
		other |= x->items[i] != t && x->items[i]->session == t->session;
	return only || !other ? t->session->name
	                      : program_transaction_name(p, item->name);
}

/* Its statements, but for its frame. */
static void take_span(void *data, const struct sql_span *t)
{
	struct spans *x = data;
	struct region *r = &x->a->region;
	struct sql_routine *made = region_take0(r, sizeof *made);
	struct sql_span *copy = region_take0(r, sizeof *copy);
	*copy = *t;
	made->at = first_of(t)->at;
	made->sql = true;
	made->result = sql_type(SQL_VOID);
	made->statements =
		region_take0(r, (t->end - t->first) * sizeof *made->statements);
	for (uint32_t i = t->first; i < t->end; i++) {
		const struct sql_statement *s = t->session->items[i].statement;
		if (!is_frame(s->kind))
			made->statements[made->statement_count++] = s;
	}
	uint32_t capacity = x->capacity;
	VEC_RESERVE(x->items, x->count, x->capacity);
	if (capacity != x->capacity)
		x->routines =
			mem_grow(x->routines, x->capacity, sizeof *x->routines);
	x->routines[x->count] = made;
	x->items[x->count++] = copy;
	prove_note_routine(x->facts, made);
}

/* Does it end by a COMMIT, or with its step? Else it is rolled back. */
static bool is_committed(const struct sql_span *t)
{
	enum sql_statement_kind last =
		t->session->items[t->end - 1].statement->kind;
	return last == STATEMENT_COMMIT ||
	       (!t->block && last != STATEMENT_ROLLBACK);
}

static bool is_read_only(const struct sql_span *t)
{
	bool only = false;
	for (uint32_t i = t->first; i < t->end; i++)
		only |= t->session->items[i].statement->modes.read_only;
	return only;
}

/* Is a level asked for when the transaction is under way? */
static bool asks_late(const struct sql_span *t)
{
	bool began = false;
	for (uint32_t i = t->first; i < t->end; i++) {
		const struct sql_statement *s = t->session->items[i].statement;
		if (began && s->modes.level) return true;
		began |= !is_frame(s->kind);
	}
	return false;
}

/* Does it only read, without a lock? */
static bool only_reads(const struct summary *s)
{
	for (uint32_t i = 0; i < s->access_count; i++)
		if (s->accesses[i].write ||
		    s->accesses[i].strength != STRENGTH_PLAIN)
			return false;
	return true;
}

static void lower_span(struct spans *x, uint32_t i)
{
	const struct sql_span *t = x->items[i];
	struct sources *all = (struct sources *)(uintptr_t)&x->image->all;
	struct summary *s =
		prove_lower_routine(x->a, x->image, x->facts, x->routines[i]);
	const char *why = NULL;
	s->name = name_of(x, t);
	s->span = t;
	if (!is_committed(t)) s->commits = FALSE_NODE;
	if (is_read_only(t) && !only_reads(s))
		why = "a READ ONLY transaction that writes or locks";
	if (asks_late(t)) why = "a level that is set too late";
	if (why)
		application_leave_out(
			x->a, source_position(all, first_of(t)->at), why);
}

static void lower_sessions(struct application *a, const struct sql_image *image,
                           struct sql_facts *facts)
{
	struct spans x = { .a = a, .image = image, .facts = facts };
	sql_each_transaction(image, take_span, &x);
	for (uint32_t i = 0; i < x.count; i++) lower_span(&x, i);
	free(x.routines);
	free(x.items);
}

/* ---- all ---- */

void lower_sql(struct application *a, const struct program *p)
{
	const struct sql_image *image = sql_image_of(p->library);
	const struct sql_catalog *c = &image->catalog;
	assert(p->sql);
	struct sql_facts *facts =
		mem_take0(c->table_count + (size_t)1, sizeof *facts);
	a->image = image;
	for (uint32_t i = 0; i < c->routine_count; i++)
		prove_note_routine(facts, c->routines[i]);
	if (sql_is_spec(a->path)) lower_sessions(a, image, facts);
	for (uint32_t i = 0; i < c->routine_count; i++) {
		const struct sql_routine *r = c->routines[i];
		if (!r->trigger && !r->called && !sql_is_spec(a->path))
			prove_lower_routine(a, image, facts, r);
	}
	free(facts);
}

void lower_sql_levels(struct application *a)
{
	const struct program *p = a->image->program;
	uint32_t count = a->summary_count + a->stale_count;
	for (uint32_t i = 0; i < count; i++) {
		struct summary *s = &a->summaries[i];
		if (!s->span) continue;
		uint32_t name = s->span->session->items[s->span->first].name;
		s->own = program_transaction_level(p, name);
	}
	a->ssi = true; /* so PostgreSQL has it */
}
