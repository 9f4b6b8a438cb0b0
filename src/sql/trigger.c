/* Triggers, row by row: before a row is changed, and at the end of the
 * statement that has changed it. And those of statements: before the rows are
 * looked for, and behind all of the rows. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/run.h"

/* Does UPDATE set one of the trigger's columns? */
static bool sets_column(const struct sql_run *x, const struct sql_trigger *g)
{
	bool found = !g->column_count || !x->sets;
	for (uint32_t i = 0; x->sets && i < x->set_count && !found; i++)
		for (uint32_t k = 0; k < g->column_count; k++)
			found |= x->sets[i].column == g->columns[k];
	return found;
}

bool sql_is_fired(const struct sql_run *x, const struct sql_trigger *g,
                  bool before, bool statement, enum sql_event event)
{
	return g->before == before && g->statement == statement &&
	       (g->events & event) &&
	       (event != EVENT_UPDATE || sets_column(x, g));
}

static struct value word_of(struct sql_run *x, enum sql_event event)
{
	const char *s = event == EVENT_INSERT   ? "INSERT"
	                : event == EVENT_UPDATE ? "UPDATE"
	                                        : "DELETE";
	return value_string(x->region, s, strlen(s));
}

/* Calls it, if its condition holds: *fired. */
static bool fire(struct sql_run *x, const struct sql_table *t,
                 const struct sql_trigger *g, enum sql_event event,
                 const struct value *old, const struct value *new, bool *fired,
                 struct sql_rows *out)
{
	const struct value *rows[] = { old, new };
	struct sql_frame f = { .rows = rows };
	uint32_t n = t->column_count;
	*fired = true;
	if (g->condition && !sql_eval_condition(x, &f, g->condition, fired))
		return false;
	if (!*fired) return true;
	assert(g->routine->parameter_count == 2 * n + 1);
	assert(!g->statement == (old || new));
	struct value *args =
		region_take0(x->region, (2 * (size_t)n + 1) * sizeof *args);
	if (new) memcpy(args, new, n * sizeof *args);
	if (old) memcpy(args + n, old, n * sizeof *args);
	args[2 * n] = word_of(x, event);
	return x->inner->call(x, g->routine, args, out);
}

bool sql_fire_statement(struct sql_run *x, const struct sql_table *t,
                        enum sql_event event)
{
	for (const struct sql_trigger *g = t->triggers; g; g = g->next) {
		struct sql_rows rows = { 0 };
		bool fired;
		if (sql_is_fired(x, g, true, true, event) &&
		    !fire(x, t, g, event, NULL, NULL, &fired, &rows))
			return false;
	}
	return true;
}

bool sql_changed_before(struct sql_run *x, bool update)
{
	return sql_run_fails(x, "27000",
	                     "tuple to be %s was already modified by an "
	                     "operation triggered by the current command",
	                     update ? "updated" : "deleted");
}

bool sql_fire_before(struct sql_run *x, const struct sql_table *t,
                     const struct value *old, struct value **new, bool *kept)
{
	uint32_t n = t->column_count;
	*kept = true;
	for (const struct sql_trigger *g = t->triggers; g && *kept;
	     g = g->next) {
		struct sql_rows rows = { 0 };
		const struct sql_write *own =
			old ? sql_own_write(x, x->writes, t->global, old[n])
			    : NULL;
		enum sql_event event = sql_event_of(old, *new);
		bool fired;
		if (!sql_is_fired(x, g, true, false, event)) continue;
		if (!fire(x, t, g, event, old, *new, &fired, &rows))
			return false;
		if (!fired) continue;
		if (old &&
		    own != sql_own_write(x, x->writes, t->global, old[n]))
			return sql_changed_before(x, *new);
		*kept = rows.count > 0;
		if (!*kept || !*new) continue;
		struct value *row = region_take(x->region, sql_row_size(t));
		memcpy(row, *new, sql_row_size(t));
		memcpy(row, rows.items[0], n * sizeof *row);
		*new = row;
	}
	return true;
}

bool sql_fire_after(struct sql_run *x, const struct sql_referral *r)
{
	struct sql_rows rows = { 0 };
	bool fired;
	return fire(x, r->table, r->trigger,
	            r->trigger->statement ? r->event
	                                  : sql_event_of(r->old, r->new),
	            r->old, r->new, &fired, &rows);
}
