/* What a session in SQL does follows from its text, and from what it reads,
 * with two exceptions. It draws numbers from sequences that no other session
 * draws. And a row without a primary key is known by who inserted it, when:
 * rows are found in that order. (Where a row with a primary key was inserted is
 * noted as well, but there it is only asked whether two rows are the same.)
 */
#include "sql/alike.h"

#include <assert.h>
#include <string.h>

#include "sql/image.h"
#include "vm/bytecode.h"

static const struct sql_session *session_of(const struct program *p,
                                            uint32_t session)
{
	const struct sql_image *image = sql_image_of(p->library);
	uint32_t number = p->sessions[session].entry;
	assert(p->sql && session < p->sessions_count);
	return number < image->session_count ? &image->sessions[number] : NULL;
}

static bool same_text(const struct sql_image *image,
                      const struct sql_statement *a,
                      const struct sql_statement *b)
{
	const struct source *all = image->all.items;
	uint32_t length = a->end - a->at.offset;
	assert(a->at.offset <= a->end && b->at.offset <= b->end);
	return length == b->end - b->at.offset &&
	       !memcmp(all[a->at.source].text + a->at.offset,
	               all[b->at.source].text + b->at.offset, length);
}

static bool are_alike(const struct sql_image *image,
                      const struct sql_session *a, const struct sql_session *b)
{
	if (a->count != b->count || a->point_count != b->point_count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct sql_item *x = &a->items[i], *y = &b->items[i];
		bool setup = x->step == SQL_NO_STEP;
		if (x->next_step != y->next_step ||
		    setup != (y->step == SQL_NO_STEP) ||
		    !same_text(image, x->statement, y->statement))
			return false;
	}
	return true;
}

static bool draws(const struct sql_expr *e)
{
	bool found = e && e->kind == EXPR_NEXTVAL;
	for (uint32_t i = 0; e && i < e->count && !found; i++)
		found = draws(e->args[i]);
	return found;
}

const char *sql_tells_apart(const struct program *p)
{
	const struct sql_catalog *c = &sql_image_of(p->library)->catalog;
	bool draw = c->draws;
	for (uint32_t i = 0; i < c->table_count; i++) {
		const struct sql_table *t = c->tables[i];
		if (t->inserted && !t->primary)
			return "rows without a primary key are known by the "
			       "session that inserts them";
		for (uint32_t k = 0; k < t->column_count; k++)
			draw |= t->inserted && draws(t->columns[k].initial);
	}
	return draw ? "each draws numbers of its own from a sequence" : NULL;
}

uint32_t sql_first_alike(const struct program *p, uint32_t session)
{
	const struct sql_session *s = session_of(p, session);
	if (!s) return session;
	for (uint32_t i = 0; i < session; i++) {
		const struct sql_session *other = session_of(p, i);
		if (other && are_alike(sql_image_of(p->library), other, s))
			return i;
	}
	return session;
}

void sql_mark_asked(const struct program *p, uint32_t assertion, bool *asked)
{
	const struct sql_image *image = sql_image_of(p->library);
	const struct sql_assertion *a = &image->assertions[assertion];
	assert(p->sql && assertion < image->assertion_count);
	for (uint32_t i = 0; i < a->step_count; i++) {
		const char *name = image->step_sessions[a->steps[i]];
		for (uint32_t s = 0; s < p->sessions_count; s++)
			asked[s] |= !strcmp(p->sessions[s].name, name);
	}
}

void sql_own_points(const struct program *p, uint32_t session, uint32_t *first,
                    uint32_t *count)
{
	const struct sql_session *s = session_of(p, session);
	*first = s ? s->first_point : 0;
	*count = s ? s->point_count : 0;
}
