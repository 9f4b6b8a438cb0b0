#include "check/path_cover.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

/* Those that something follows in so U wr. */
static bool *find_followed(const struct facts *f)
{
	bool *followed = mem_take0(f->n, sizeof *followed);
	bool all = f->after_all != PATH_COVER_NONE &&
	           f->session_first[f->after_all] <
	                   f->session_first[f->after_all + 1];
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t s = f->session_of[t];
		followed[t] = t + 1 < f->session_first[s + 1] ||
		              (all && s != f->after_all);
	}
	for (uint32_t i = 0; i < f->read_first[f->n]; i++)
		followed[f->reads[i].from] = true;
	return followed;
}

static void along_sessions(struct path_cover *c, const struct facts *f,
                           const bool *followed)
{
	c->count = f->session_count;
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t s = f->session_of[t];
		c->place[t] = (struct path_cover_place){
			followed[t] ? s : PATH_COVER_NONE,
			t - f->session_first[s] + 1
		};
	}
}

/* A direct predecessor of t that is still the end of its path; 0 if there is
 * none. */
static uint32_t open_end(const struct facts *f, const bool *extended,
                         uint32_t t)
{
	if (t != f->session_first[f->session_of[t]] && !extended[t - 1])
		return t - 1;
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++) {
		uint32_t from = f->reads[i].from;
		if (from && !extended[from]) return from;
	}
	return 0;
}

static void along_reads(struct path_cover *c, const struct facts *f,
                        const bool *followed)
{
	bool *extended = mem_take0(f->n, sizeof *extended);
	c->count = 0;
	for (uint32_t i = 1; i < f->n; i++) {
		uint32_t t = f->order[i];
		c->place[t].path = PATH_COVER_NONE;
		if (!followed[t]) continue;
		uint32_t end = open_end(f, extended, t);
		assert(!end || c->place[end].path != PATH_COVER_NONE);
		extended[end] = true;
		c->place[t] = (struct path_cover_place){ c->count, 1 };
		if (!end) {
			c->count++;
			continue;
		}
		c->place[t].path = c->place[end].path;
		c->place[t].position = c->place[end].position + 1;
	}
	free(extended);
}

static void list_members(struct path_cover *c, const struct facts *f)
{
	c->first = mem_take0(c->count + (size_t)1, sizeof *c->first);
	c->members = mem_take(f->n * sizeof *c->members);
	for (uint32_t t = 1; t < f->n; t++)
		if (c->place[t].path != PATH_COVER_NONE)
			c->first[c->place[t].path + 1]++;
	for (uint32_t p = 0; p < c->count; p++) c->first[p + 1] += c->first[p];
	for (uint32_t t = 1; t < f->n; t++)
		if (c->place[t].path != PATH_COVER_NONE)
			c->members[c->first[c->place[t].path] +
			           c->place[t].position - 1] = t;
	assert(c->first[c->count] < f->n);
}

void path_cover_init(struct path_cover *c, const struct facts *f,
                     uint32_t enough)
{
	assert(f->order);
	c->place = mem_take0(f->n, sizeof *c->place);
	bool *followed = find_followed(f);
	c->count = f->session_count;
	if (f->session_count > enough) along_reads(c, f, followed);
	if (f->session_count <= c->count) along_sessions(c, f, followed);
	list_members(c, f);
	free(followed);
}

void path_cover_free(struct path_cover *c)
{
	free(c->first);
	free(c->members);
	free(c->place);
}
