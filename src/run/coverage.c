/* How much of what there is the runs of a campaign have seen. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dpor/explorer.h"
#include "base/hash_set.h"
#include "run/campaign.h"

struct count {
	const struct campaign *campaign;
	pthread_mutex_t lock; /* of all below: all threads count */
	struct coverage *out;
	struct hash_set outcomes;
};

static bool count_history(void *payload, const struct explore_execution *e)
{
	struct count *c = payload;
	uint64_t outcome = explore_outcome(e), hash = explore_hash(e);
	mem_lock(&c->lock);
	c->out->seen_histories += campaign_saw_history(c->campaign, hash);
	if (hash_set_add(&c->outcomes, outcome))
		c->out->seen_outcomes +=
			campaign_saw_outcome(c->campaign, outcome);
	mem_unlock(&c->lock);
	return true;
}

void campaign_coverage(const struct campaign *c, const struct budget *limits,
                       unsigned jobs, struct coverage *out)
{
	const struct campaign_options *o = campaign_options(c);
	struct explore_options options = {
		.level = o->level,
		.base = level_base(o->level),
		.budget = *limits,
		.jobs = jobs,
		.robust = true,
	};
	*out = (struct coverage){ 0 };
	struct count count = { .campaign = c, .out = out };
	pthread_mutex_init(&count.lock, NULL);
	struct explore_observer observer = { .payload = &count,
		                             .history = count_history };
	struct explorer *e =
		explorer_new(campaign_program(c), &options, &observer);
	explorer_run(e);
	const struct explore_stats *s = explorer_stats(e);
	assert(out->seen_histories <= s->histories);
	assert(out->seen_outcomes <= count.outcomes.count);
	out->complete = s->stop == STOP_NONE;
	out->histories = s->histories;
	out->outcomes = count.outcomes.count;
	out->unserializable = s->unserializable;
	out->seconds = s->seconds;
	explorer_free(e);
	hash_set_free(&count.outcomes);
	pthread_mutex_destroy(&count.lock);
}
