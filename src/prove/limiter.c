#include "prove/limiter.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

#include "base/memory.h"
#include "base/seconds.h"

enum { TICK = 20000000 }; /* nanoseconds */

struct limiter {
	const struct budget *limits;
	double begun;
	uint64_t memory;
	atomic_int stop; /* enum stop_reason */
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t ends;
	bool over;
	Z3_context asked; /* at the moment; or NULL */
};

enum stop_reason limiter_look(struct limiter *w)
{
	const struct budget *l = w->limits;
	enum stop_reason stop = (enum stop_reason)atomic_load(&w->stop);
	if (stop) return stop;
	if (l->interrupt && atomic_load(l->interrupt))
		stop = STOP_INTERRUPTED;
	else if (l->timeout > 0 && seconds_now() - w->begun >= l->timeout)
		stop = STOP_TIME;
	else if (Z3_get_estimated_alloc_size() > w->memory)
		stop = STOP_MEMORY;
	if (stop) atomic_store(&w->stop, stop);
	return stop;
}

struct budget limiter_left(const struct limiter *w)
{
	struct budget left = *w->limits;
	if (left.timeout > 0)
		left.timeout =
			fmax(left.timeout - (seconds_now() - w->begun), 0.001);
	return left;
}

/* An interruption is lost if the solver has not begun or has ended by then: it
 * is repeated as long as it is asked. */
static void *look_on(void *data)
{
	struct limiter *w = data;
	pthread_mutex_lock(&w->lock);
	while (!w->over) {
		struct timespec t;
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += TICK;
		if (t.tv_nsec >= 1000000000) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		pthread_cond_timedwait(&w->ends, &w->lock, &t);
		if (w->asked && limiter_look(w)) Z3_interrupt(w->asked);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void end(void *data)
{
	struct limiter *w = data;
	if (w->runs) {
		pthread_mutex_lock(&w->lock);
		w->over = true;
		pthread_cond_signal(&w->ends);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	pthread_cond_destroy(&w->ends);
	pthread_mutex_destroy(&w->lock);
}

struct limiter *limiter_new(const struct budget *limits, double begun)
{
	struct limiter *w = mem_take0(1, sizeof *w);
	w->limits = limits;
	w->begun = begun;
	w->memory = limits->memory ? limits->memory : mem_usual_limit();
	atomic_init(&w->stop, STOP_NONE);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->ends, NULL);
	w->runs = !pthread_create(&w->thread, NULL, look_on, w);
	mem_hold(w, end);
	return w;
}

void limiter_free(struct limiter *w)
{
	if (!w) return;
	mem_let_go(w);
	end(w);
	free(w);
}

static void set_asked(struct limiter *w, Z3_context z)
{
	pthread_mutex_lock(&w->lock);
	w->asked = z;
	pthread_mutex_unlock(&w->lock);
}

Z3_lbool limiter_ask(struct limiter *w, Z3_context z, Z3_solver solver,
                     const Z3_ast *assumed, unsigned count)
{
	if (limiter_look(w)) return Z3_L_UNDEF;
	set_asked(w, z);
	Z3_lbool answer =
		Z3_solver_check_assumptions(z, solver, count, assumed);
	set_asked(w, NULL);
	return answer;
}
