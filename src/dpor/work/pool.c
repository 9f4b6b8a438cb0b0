#include "dpor/work/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/algorithm.h"

/* What takes less than so many seconds is done by one thread. */
#define SECONDS_ALONE 0.005

struct worker {
	struct engine engine;
	bool ready; /* the engine was made */
	struct pool *pool;
	pthread_t thread;
	struct explore_stats reported; /* at its last tick */
	uint32_t depth;
};

struct pool {
	struct shared *shared;
	unsigned jobs;
	unsigned running; /* threads that work */
	bool alone;       /* the one that called pool_run does */
	struct worker *workers;
	const struct overseer *overseer; /* of one job */
	pthread_mutex_t lock;     /* of all that follows, and worker.reported */
	pthread_cond_t work;      /* the queue is no longer empty, or over */
	pthread_cond_t quiet;     /* somebody became idle, parked or left */
	pthread_cond_t going;     /* the pause has ended */
	struct branch_list queue; /* those that come first last */
	unsigned waiting;         /* for a branch */
	unsigned parked;          /* during a pause */
	unsigned left;            /* for good */
	bool over;
	/* Memory ran out in some thread: all are to end. */
	bool short_of_memory;
	struct mem_heap *heap; /* of the thread that called pool_run */
};

static bool visit(struct pool *p, struct engine *e);
static void feed(struct pool *p, struct engine *e);

/* By the thread that it is for. */
static void make_engine(struct worker *w)
{
	struct pool *p = w->pool;
	engine_init(&w->engine, p->shared, (uint32_t)(w - p->workers));
	w->engine.pool = p;
	w->engine.visit = visit;
	w->engine.feed = feed;
	mem_lock(&p->lock);
	w->ready = true;
	mem_unlock(&p->lock);
}

struct pool *pool_new(struct shared *shared, unsigned jobs)
{
	assert(jobs);
	struct pool *p = mem_take0(1, sizeof *p);
	p->shared = shared;
	p->jobs = jobs;
	p->workers = mem_take0(jobs, sizeof *p->workers);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->quiet, NULL);
	pthread_cond_init(&p->going, NULL);
	for (unsigned i = 0; i < jobs; i++) p->workers[i].pool = p;
	make_engine(&p->workers[0]);
	return p;
}

void pool_free(struct pool *p)
{
	for (unsigned i = 0; i < p->jobs; i++)
		if (p->workers[i].ready) engine_free(&p->workers[i].engine);
	free(p->workers);
	branch_list_free(&p->queue);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->work);
	pthread_cond_destroy(&p->quiet);
	pthread_cond_destroy(&p->going);
	free(p);
}

unsigned pool_jobs(const struct pool *p)
{
	return p->running;
}

struct engine *pool_engine(struct pool *p, unsigned worker)
{
	assert(worker < p->jobs && p->workers[worker].ready);
	return &p->workers[worker].engine;
}

/* ---- the queue; the lock is held ---- */

static void note_idle(struct pool *p)
{
	unsigned idle = p->waiting;
	assert(idle <= p->running || !p->running);
	if (p->over || p->queue.count >= idle)
		idle = 0;
	else
		idle -= (unsigned)p->queue.count;
	atomic_store(&p->shared->idle, idle);
}

static void put(struct pool *p, struct branch *b)
{
	assert(b);
	branch_list_add(&p->queue, b);
	struct branch **items = p->queue.items;
	for (size_t i = p->queue.count - 1;
	     i && branch_compare(items[i - 1], items[i]) < 0; i--) {
		struct branch *later = items[i - 1];
		items[i - 1] = items[i];
		items[i] = later;
	}
	note_idle(p);
	pthread_cond_signal(&p->work);
}

static void put_all(struct pool *p, struct branch_list *l)
{
	while (l->count) put(p, l->items[--l->count]);
	branch_list_free(l);
}

void pool_add(struct pool *p, struct branch_list *l)
{
	mem_lock(&p->lock);
	put_all(p, l);
	mem_unlock(&p->lock);
}

static void end_all(struct pool *p)
{
	p->over = true;
	pthread_cond_broadcast(&p->work);
}

static bool is_stopped(const struct pool *p)
{
	return atomic_load(&p->shared->stop) != STOP_NONE;
}

static bool must_wait(const struct pool *p)
{
	if (atomic_load(&p->shared->pause) && !p->alone) return true;
	return !p->over && !p->queue.count;
}

/* Waits for a branch; NULL when there will be none. */
static struct branch *next_branch(struct pool *p, struct engine *e)
{
	struct branch *b = NULL;
	engine_measure(e);
	mem_lock(&p->lock);
	p->workers[e->worker].reported = e->tally.stats;
	p->waiting++;
	if (is_stopped(p) || (p->waiting == p->running && !p->queue.count))
		end_all(p);
	note_idle(p);
	pthread_cond_signal(&p->quiet);
	while (must_wait(p)) pthread_cond_wait(&p->work, &p->lock);
	assert(p->waiting && (p->over || p->queue.count));
	if (!p->over) b = p->queue.items[--p->queue.count];
	p->waiting--;
	note_idle(p);
	mem_unlock(&p->lock);
	return b;
}

/* ---- a thread ---- */

static void leave(struct pool *p)
{
	mem_lock(&p->lock);
	p->left++;
	assert(p->left <= p->running);
	pthread_cond_signal(&p->quiet);
	mem_unlock(&p->lock);
}

/* Puts down what is left of the branch: it goes on in other threads. */
static void put_down(struct pool *p, struct engine *e)
{
	struct branch_list rest = { 0 };
	if (!engine_can_capture(e)) {
		engine_stop(e, STOP_MEMORY);
		return;
	}
	engine_capture(e, &rest);
	free(e->branch);
	e->branch = NULL;
	pool_add(p, &rest);
}

static struct branch *next_round(struct pool *p, struct engine *e)
{
	if (!e->algorithm->next_round || is_stopped(p) ||
	    !e->algorithm->next_round(e))
		return NULL;
	p->over = false;
	return branch_root();
}

static struct branch *more_work(struct pool *p, struct engine *e)
{
	struct branch *b = next_branch(p, e);
	return b ? b : next_round(p, e);
}

/* Until there is no more, or it is time to yield. */
static void work(struct pool *p, struct engine *e)
{
	struct branch *b;
	engine_start_clock(e);
	while (!e->yields && (b = more_work(p, e))) {
		engine_explore(e, b);
		if (e->yields) put_down(p, e);
	}
	if (e->yields && !is_stopped(p))
		engine_measure(e);
	else
		engine_finish(e);
}

/* There is no memory to go on with, for nobody: what this worker holds is not
 * to be looked at any more. */
static void give_up(struct pool *p, struct worker *w)
{
	engine_stop(&p->workers[0].engine, STOP_MEMORY);
	mem_lock(&p->lock);
	if (w) w->ready = false;
	p->short_of_memory = true;
	end_all(p);
	mem_unlock(&p->lock);
}

static void work_here(void *data)
{
	struct worker *w = data;
	if (!w->ready) make_engine(w);
	work(w->pool, &w->engine);
}

static void *thread_main(void *data)
{
	struct worker *w = data;
	if (!mem_run_part(w->pool->heap, work_here, w)) give_up(w->pool, w);
	leave(w->pool);
	return NULL;
}

/* ---- the overseer's view ---- */

void pool_stats(struct pool *p, struct explore_stats *sum, uint32_t *depth)
{
	mem_lock(&p->lock);
	for (unsigned i = 0; i < p->jobs; i++) {
		tally_add_stats(sum, &p->workers[i].reported);
		if (p->workers[i].depth > *depth) *depth = p->workers[i].depth;
	}
	mem_unlock(&p->lock);
}

static unsigned moving(const struct pool *p)
{
	return p->alone ? 0 : p->running - p->waiting - p->parked - p->left;
}

void pool_pause(struct pool *p)
{
	mem_lock(&p->lock);
	atomic_store(&p->shared->pause, true);
	while (moving(p)) pthread_cond_wait(&p->quiet, &p->lock);
	mem_unlock(&p->lock);
}

void pool_go_on(struct pool *p)
{
	mem_lock(&p->lock);
	atomic_store(&p->shared->pause, false);
	pthread_cond_broadcast(&p->going);
	pthread_cond_broadcast(&p->work);
	mem_unlock(&p->lock);
}

bool pool_capture(struct pool *p, struct branch_list *out)
{
	if (p->short_of_memory) return false;
	for (unsigned i = 0; i < p->jobs; i++)
		if (p->workers[i].ready &&
		    !engine_can_capture(&p->workers[i].engine))
			return false;
	for (unsigned i = 0; i < p->jobs; i++)
		if (p->workers[i].ready)
			engine_capture(&p->workers[i].engine, out);
	branch_list_copy(out, &p->queue);
	branch_list_sort(out);
	return true;
}

bool pool_snapshot(struct pool *p, struct tally *found,
                   struct branch_list *open)
{
	mem_lock(&p->lock);
	for (unsigned i = 0; i < p->jobs; i++)
		if (p->workers[i].ready)
			tally_add_places(found, &p->workers[i].engine.tally);
	bool all = pool_capture(p, open);
	mem_unlock(&p->lock);
	return all;
}

/* A tenth of a second, or until all have left. */
static void wait_a_moment(struct pool *p)
{
	struct timespec t;
	int late = 0;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 100000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	while (!late && p->left < p->running)
		late = pthread_cond_timedwait(&p->quiet, &p->lock, &t);
}

static void oversee(void *data)
{
	struct pool *p = data;
	const struct overseer *o = p->overseer;
	mem_lock(&p->lock);
	while (p->left < p->running) {
		wait_a_moment(p);
		if (is_stopped(p)) end_all(p);
		if (p->over || p->left == p->running) continue;
		mem_unlock(&p->lock);
		if (!o->poll(o->payload))
			engine_stop(&p->workers[0].engine, STOP_INTERRUPTED);
		mem_lock(&p->lock);
	}
	mem_unlock(&p->lock);
}

/* As many as there can be; all wait for the lock until it is known how many
 * there are. */
static void begin_threads(struct pool *p)
{
	unsigned begun = 0;
	mem_lock(&p->lock);
	while (begun < p->jobs &&
	       !pthread_create(&p->workers[begun].thread, NULL, thread_main,
	                       &p->workers[begun]))
		begun++;
	p->running = begun;
	mem_unlock(&p->lock);
}

/* In this thread, for the given time; true if more is left then. */
static bool work_alone(struct pool *p, double seconds)
{
	struct engine *e = &p->workers[0].engine;
	p->running = 1;
	p->alone = true;
	e->yield_at = seconds > 0 ? seconds_now() + seconds : 0;
	work(p, e);
	bool more = e->yields;
	e->yield_at = 0;
	e->yields = p->alone = false;
	return more && !is_stopped(p);
}

void pool_run(struct pool *p, const struct overseer *o)
{
	p->overseer = o;
	p->heap = mem_heap_here();
	if (!work_alone(p, p->jobs > 1 ? SECONDS_ALONE : 0)) return;
	begin_threads(p);
	if (!p->running) {
		work_alone(p, 0);
		return;
	}
	if (!mem_run_part(p->heap, oversee, p)) {
		give_up(p, NULL);
		pool_go_on(p);
	}
	for (unsigned i = 0; i < p->running; i++)
		pthread_join(p->workers[i].thread, NULL);
	if (p->short_of_memory) mem_fail();
}

/* ---- the engines' view ---- */

static void park(struct pool *p)
{
	p->parked++;
	pthread_cond_signal(&p->quiet);
	while (atomic_load(&p->shared->pause))
		pthread_cond_wait(&p->going, &p->lock);
	assert(p->parked);
	p->parked--;
}

/* At its ticks; false if all are to stop. */
static bool visit(struct pool *p, struct engine *e)
{
	assert(e->worker < p->jobs);
	struct worker *w = &p->workers[e->worker];
	mem_lock(&p->lock);
	w->reported = e->tally.stats;
	w->depth = (uint32_t)e->frame_count;
	if (atomic_load(&p->shared->pause)) park(p);
	mem_unlock(&p->lock);
	if (p->alone && !p->overseer->poll(p->overseer->payload))
		return engine_stop(e, STOP_INTERRUPTED);
	return !is_stopped(p);
}

/* Gives a branch to an idle thread, if there is one to give. */
static void feed(struct pool *p, struct engine *e)
{
	struct branch *b = engine_give(e);
	if (!b) return;
	mem_lock(&p->lock);
	put(p, b);
	mem_unlock(&p->lock);
}
