#include <assert.h>

#include "base/memory.h"
#include "base/rng.h"
#include "history/trace_build.h"
#include "serve/serving.h"

enum { STALE_MOST = 10000 }; /* are listed */

bool serving_happens(struct rng *r, double share)
{
	if (share <= 0) return false;
	return (double)(rng_next(r) >> 11) / 9007199254740992.0 < share;
}

/* How many newer versions are there that the read could have had? */
static uint32_t draw_age(struct service *s, uint32_t count)
{
	const struct service_options *o = s->options;
	assert(count);
	switch (o->policy) {
	case ANSWER_LATEST: return 0;
	case ANSWER_OLDEST: return count - 1;
	default: break;
	}
	s->run->counts.drawn += count > 1 && o->stale != 0;
	if (o->stale < 0) return rng_below(&s->rng, count);
	return count > 1 && serving_happens(&s->rng, o->stale)
	               ? 1 + rng_below(&s->rng, count - 1)
	               : 0;
}

static char *words_of(struct service *s, struct committed v)
{
	struct text t = { 0 };
	if (!v.number) return mem_copy_string("no row");
	serving_print(s, row_versions_get(s->versions, v.number), &t);
	return t.data;
}

static char *writer_of(const struct service *s, struct committed v)
{
	struct text t = { 0 };
	assert(v.position <= s->writer_count);
	if (!v.position) return mem_copy_string("set-up");
	const struct served_writer *w = &s->writers[v.position - 1];
	text_format(&t, "c%u.%u", w->session + 1, w->number);
	return t.data;
}

static void note_stale(struct service *s, const struct client *c,
                       struct read_place at, const struct committed *of,
                       uint32_t count, uint32_t age)
{
	struct text key = { 0 }, reader = { 0 };
	if (s->run->stale.count == STALE_MOST) return;
	serving_name_key(&key, s->library->keys[at.key]);
	text_format(&reader, "%s.%u", c->name, c->transactions);
	stale_reads_add(&s->run->stale,
	                (struct stale_read){
				.place = at,
				.age = age,
				.reader = reader.data,
				.key = key.data,
				.value = words_of(s, of[count - 1 - age]),
				.writer = writer_of(s, of[count - 1 - age]),
				.newest = words_of(s, of[count - 1]),
				.newest_writer = writer_of(s, of[count - 1]) });
}

static struct committed choose(struct service *s, const struct client *c,
                               uint32_t key, const struct committed *of,
                               uint32_t count)
{
	const struct service_options *o = s->options;
	struct read_place at = { text_get(&c->statement), key, 0 };
	uint32_t age = 0;
	if (o->notes_stale)
		at.occurrence = read_counts_add(&s->counts, at.statement, key);
	if (o->only) {
		const struct stale_read *r = stale_reads_find(o->only, at);
		if (r) age = r->age < count ? r->age : count - 1;
	} else {
		age = draw_age(s, count);
	}
	if (age && o->notes_stale) note_stale(s, c, at, of, count, age);
	return of[count - 1 - age];
}

bool serving_is_late(struct service *s, const struct client *c,
                     struct db_access a)
{
	uint32_t count;
	enum level level = commits_level(s->commits, c->session);
	if (!level_excludes_rivals(level)) return false;
	commits_readable(s->commits, c->session, a, &count);
	return !count;
}

static void note_read(struct service *s, struct client *c, struct db_access a,
                      struct committed version)
{
	struct trace_value value = trace_value_null();
	if (version.number)
		value = row_versions_get(s->versions, version.number)->value;
	commits_read(s->commits, c->session, a, version);
	recording_read(s->recording, c->session, a, version.position, value);
	if (a.strength != STRENGTH_PLAIN) {
		VEC_RESERVE(c->locks, c->lock_count, c->lock_capacity);
		c->locks[c->lock_count++] = (struct client_lock){ a, c->tag };
	}
	s->run->counts.reads++;
	s->run->counts.stale +=
		version.position != commits_newest(s->commits, a.key).position;
}

bool serving_finds(struct service *s, struct client *c, struct db_access a,
                   bool row, struct committed *out)
{
	struct committed newest = commits_newest(s->commits, a.key);
	uint32_t count;
	if (row != (newest.number != 0)) return false;
	const struct committed *of =
		commits_readable(s->commits, c->session, a, &count);
	if (!count || of[count - 1].position != newest.position) return false;
	note_read(s, c, a, newest);
	*out = newest;
	return true;
}

bool serving_answer(struct service *s, struct client *c, struct db_access a,
                    struct committed *out)
{
	uint32_t count;
	const struct committed *of =
		commits_readable(s->commits, c->session, a, &count);
	if (!count) return false;
	*out = choose(s, c, a.key, of, count);
	note_read(s, c, a, *out);
	return true;
}
