/* What the engines of an exploration share. */
#include "base/memory.h"
#include "dpor/algorithm.h"
#include "vm/program.h"

static const struct algorithm *algorithm_of(enum explorer_algorithm a)
{
	switch (a) {
	case EXPLORE_CE: break;
	case EXPLORE_DFS: return explore_dfs();
	case EXPLORE_OUTWARD: return explore_outward();
	case EXPLORE_ORDERLY: return explore_orderly();
	}
	return explore_ce();
}

static bool asks_serializable(const struct program *p,
                              const struct explore_options *o)
{
	for (uint32_t i = 0; i < program_assertion_count(p); i++)
		if (program_assertion(p, i)->kind == ASSERTION_SERIALIZABLE)
			return true;
	return o->robust || o->classify;
}

void shared_init(struct shared *s, const struct program *p,
                 const struct explore_options *o,
                 const struct explore_observer *observer,
                 const struct explorer *explorer)
{
	*s = (struct shared){ .program = p,
		              .options = *o,
		              .algorithm = algorithm_of(o->algorithm),
		              .explorer = explorer };
	if (s->algorithm->heeds_level) s->options.base = o->level;
	if (observer) s->observer = *observer;
	s->memory_limit = o->memory ? o->memory : mem_usual_limit();
	s->checks_serializable = asks_serializable(p, o);
	s->numbers = s->observer.history || o->max_histories;
	pthread_mutex_init(&s->seen_lock, NULL);
}

void shared_free(struct shared *s)
{
	hash_set_free(&s->seen);
	pthread_mutex_destroy(&s->seen_lock);
}
