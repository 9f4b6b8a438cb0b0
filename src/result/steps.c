/* A history step by step: one thing after the other that may have happened so,
 * and what was newest then. */
#include <assert.h>
#include <stdlib.h>

#include "axioms/schedule.h"
#include "base/memory.h"
#include "history/history.h"
#include "result/names.h"
#include "result/parts.h"
#include "result/result.h"

/* A longer history is told as far as this. */
enum { STEPS_MOST = 2000 };

struct steps {
	struct result *r;
	struct result_values *to;
	const struct history *h;
	const struct program *p;        /* or NULL: no places */
	const struct result_example *x; /* or NULL: no moments */
	uint32_t *next;                 /* by transaction: event */
	bool *ended;                    /* by transaction */
	uint32_t *newest, *busy;        /* by key: who has committed last; who
	                                 * has written it and goes on */
	uint32_t count, left_out;
};

static struct result_values *add_step(struct steps *s, uint32_t t,
                                      const char *does)
{
	const struct transaction *x = &s->h->transactions[t];
	struct text words = { 0 };
	struct result_values *step = result_group(s->r, s->to, NULL);
	if (t != HISTORY_INIT) {
		name_session(&words, s->h, x->session);
		result_taken(s->r, step, "session", &words);
	} else {
		result_text(s->r, step, "session", NULL);
	}
	name_transaction_at(&words, s->h, t);
	result_taken(s->r, step, "transaction", &words);
	result_text(s->r, step, "does", does);
	s->count++;
	text_free(&words);
	return step;
}

static void add_place(struct steps *s, struct result_values *step,
                      uint32_t point)
{
	struct position at = program_position(s->p, point);
	if (!at.file || !at.line) return;
	result_text(s->r, step, "file", at.file);
	result_count(s->r, step, "line", at.line);
}

/* What the event has of whom; and of whom it would be if it read the newest. */
static void add_writer(struct steps *s, struct result_values *step,
                       const struct event *e)
{
	struct text words = { 0 };
	if (e->from == HISTORY_SELF)
		text_string(&words, "self");
	else
		name_transaction(&words, s->h, e->from);
	result_taken(s->r, step, "from", &words);
	if (e->from != HISTORY_SELF && e->from != s->newest[e->key]) {
		name_transaction(&words, s->h, s->newest[e->key]);
		result_taken(s->r, step, "newest", &words);
	}
	text_free(&words);
}

static void add_value(struct steps *s, struct result_values *step, uint32_t key,
                      struct value v)
{
	struct text words = { 0 };
	name_key(&words, s->h, key);
	result_taken(s->r, step, "key", &words);
	if (s->h->valueless) {
		result_text(s->r, step, "value", NULL);
	} else {
		value_print(&words, v);
		result_taken(s->r, step, "value", &words);
	}
	text_free(&words);
}

static void add_event(struct steps *s, uint32_t t, const struct event *e)
{
	if (s->count >= STEPS_MOST) {
		s->left_out++;
		return;
	}
	struct result_values *step;
	if (event_gives_up(e)) {
		step = add_step(s, t, "unlocks");
		add_value(s, step, e->key, value_null());
	} else if (e->kind == EVENT_WRITE) {
		step = add_step(s, t, "writes");
		add_value(s, step, e->key, e->value);
	} else {
		step = add_step(s, t, "reads");
		add_value(s, step, e->key, e->value);
		add_writer(s, step, e);
		if (e->strength != STRENGTH_PLAIN)
			result_text(s->r, step, "lock",
			            strength_word(e->strength));
	}
	if (s->p) add_place(s, step, e->point);
}

/* What there is in the beginning. */
static void add_initial(struct steps *s)
{
	for (uint32_t k = 0; k < s->h->key_count && k < STEPS_MOST / 2; k++)
		add_value(s, add_step(s, HISTORY_INIT, "writes"), k,
		          s->h->keys[k].initial);
	s->ended[HISTORY_INIT] = true;
}

/* Does the event wait for a transaction that has not ended yet? */
static bool waits(const struct steps *s, uint32_t t, const struct event *e)
{
	if (e->kind == EVENT_READ)
		return e->from != HISTORY_SELF && e->from != t &&
		       !s->ended[e->from];
	return s->busy[e->key] && s->busy[e->key] != t;
}

static void take_event(struct steps *s, uint32_t t)
{
	const struct event *e = &s->h->transactions[t].events[s->next[t]++];
	assert(e->key < s->h->key_count);
	if (e->kind == EVENT_WRITE) s->busy[e->key] = t;
	add_event(s, t, e);
}

/* What the transaction can do before others end. */
static void go_on(struct steps *s, uint32_t t)
{
	const struct transaction *x = &s->h->transactions[t];
	while (s->next[t] < x->event_count &&
	       !waits(s, t, &x->events[s->next[t]]))
		take_event(s, t);
}

/* The same of one statement, which may wait for nobody. */
static void go_on_statement(struct steps *s, uint32_t t)
{
	const struct transaction *x = &s->h->transactions[t];
	bool first = true;
	while (s->next[t] < x->event_count &&
	       (first || x->events[s->next[t]].joined) &&
	       !waits(s, t, &x->events[s->next[t]])) {
		take_event(s, t);
		first = false;
	}
}

static void end(struct steps *s, uint32_t t, const char *does)
{
	const struct transaction *x = &s->h->transactions[t];
	assert(!s->ended[t]);
	while (s->next[t] < x->event_count) take_event(s, t);
	for (uint32_t i = 0; i < x->event_count; i++) {
		const struct event *e = &x->events[i];
		if (e->kind != EVENT_WRITE) continue;
		if (!x->aborted) s->newest[e->key] = t;
		if (s->busy[e->key] == t) s->busy[e->key] = 0;
	}
	s->ended[t] = true;
	add_step(s, t, does);
}

static void follow_schedule(struct steps *s)
{
	const struct schedule *all = &s->x->schedule;
	for (size_t i = 0; i < all->count; i++) {
		struct schedule_moment m = all->items[i];
		const char *does = result_moment(s->x, m);
		if (m.statement == SCHEDULE_ENDS) {
			end(s, m.transaction, does);
			continue;
		}
		if (m.statement == SCHEDULE_BEGINS) {
			add_step(s, m.transaction, does);
			go_on(s, m.transaction);
		} else {
			go_on_statement(s, m.transaction);
		}
	}
}

static void follow_order(struct steps *s)
{
	const struct history *h = s->h;
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		uint32_t t = h->order ? h->order[i] : i;
		end(s, t, h->transactions[t].aborted ? "aborts" : "commits");
	}
}

void result_steps(struct result *r, struct result_values *to,
                  const struct history *h, const struct program *p,
                  const struct result_example *x)
{
	struct steps s = { .r = r,
		           .to = result_list(r, to, "steps"),
		           .h = h,
		           .p = p,
		           .x = x };
	s.next = mem_take0(h->transaction_count, sizeof *s.next);
	s.ended = mem_take0(h->transaction_count, sizeof *s.ended);
	s.newest = mem_take0(2 * (size_t)h->key_count + 1, sizeof *s.newest);
	s.busy = s.newest + h->key_count;
	add_initial(&s);
	if (x && x->schedule.count)
		follow_schedule(&s);
	else
		follow_order(&s);
	for (uint32_t i = 1; i < h->transaction_count; i++) assert(s.ended[i]);
	if (s.left_out) result_count(r, to, "steps_left_out", s.left_out);
	free(s.next);
	free(s.ended);
	free(s.newest);
}
