#include "predict/candidate.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"

void candidate_init(struct candidate *x, const struct observed_history *o,
                    const struct divergent_copies *c)
{
	size_t events = (size_t)o->first[o->n] + 1, n = (size_t)o->n + 1;
	uint32_t sessions = o->facts->session_count;
	*x = (struct candidate){ .o = o, .c = c };
	struct facts *f = &x->facts;
	f->key_count = o->lock_keys;
	f->session_count = sessions;
	f->session_first =
		mem_take0((size_t)sessions + 1, sizeof *f->session_first);
	f->session_of = mem_take0(n, sizeof *f->session_of);
	f->read_first = mem_take0(n, sizeof *f->read_first);
	f->reads = mem_take0(events, sizeof *f->reads);
	f->write_first = mem_take0(n, sizeof *f->write_first);
	f->writes = mem_take0(events, sizeof *f->writes);
	f->lock_first = mem_take0(n, sizeof *f->lock_first);
	f->locks = mem_take0(o->lock_first[o->n] + (size_t)1, sizeof *f->locks);
	f->writer_first =
		mem_take0((size_t)o->lock_keys + 2, sizeof *f->writer_first);
	f->writers = mem_take0(events, sizeof *f->writers);
	f->order = mem_take0(n, sizeof *f->order);
	f->ssi = o->facts->ssi;
	if (o->facts->owns) f->owns = mem_take0(n, sizeof *f->owns);
	f->rank = mem_take0(n, sizeof *f->rank);
	x->numbers = mem_take0(n, sizeof *x->numbers);
	x->copy_of = mem_take0(n, sizeof *x->copy_of);
	x->option_of = mem_take0(events, sizeof *x->option_of);
	x->here = mem_take0(n, sizeof *x->here);
}

void candidate_free(struct candidate *x)
{
	facts_clear(&x->facts);
	free(x->numbers);
	free(x->copy_of);
	free(x->option_of);
	free(x->here);
}

/* ---- transactions ---- */

static void number(struct candidate *x, uint32_t session, uint32_t t,
                   uint32_t copy)
{
	assert(x->facts.n < x->o->n);
	uint32_t i = x->facts.n++;
	x->facts.session_of[i] = session;
	if (x->facts.owns) x->facts.owns[i] = x->o->facts->owns[t];
	x->numbers[i] = t;
	x->copy_of[i] = copy;
	x->here[t] = i;
}

/* Session by session: the kept ones, which are a prefix, then the copy. */
static void number_all(struct candidate *x, const struct choice_of *choice)
{
	struct facts *f = &x->facts;
	const struct facts *whole = x->o->facts;
	uint32_t *copies = x->here; /* copy + 1, by transaction, until then */
	for (uint32_t t = 0; t < x->o->n; t++) copies[t] = 0;
	for (uint32_t i = 0; i < choice->chosen_count; i++) {
		uint32_t c = choice->chosen[i];
		assert(c < x->c->count);
		copies[x->c->copies[c].transaction] = c + 1;
	}
	f->n = 0;
	number(x, UINT32_MAX, 0, UINT32_MAX);
	for (uint32_t s = 0; s < f->session_count; s++) {
		f->session_first[s] = f->n;
		for (uint32_t t = whole->session_first[s];
		     t < whole->session_first[s + 1]; t++) {
			uint32_t copy = copies[t];
			if (!bits_has(choice->kept, t) && !copy) break;
			number(x, s, t, copy ? copy - 1 : UINT32_MAX);
			if (copy) break;
		}
	}
	assert(f->n <= x->o->n);
	f->session_first[f->session_count] = f->n;
	f->after_all = whole->after_all;
}

/* ---- events ---- */

static void add_read(struct candidate *x, uint32_t *count,
                     const struct observed_event *e, uint32_t from,
                     uint32_t option)
{
	uint32_t key = e->key;
	assert(key < x->o->key_count && x->here[from] < x->facts.n);
	x->option_of[*count] = option;
	x->facts.reads[(*count)++] =
		(struct facts_read){ key, x->here[from], e->statement,
		                     e->strength };
}

static void add_taken(struct candidate *x, const struct choice_of *choice,
                      const struct free_read *r, uint32_t *count)
{
	const struct observed_event *e = &x->o->events[r->event];
	for (uint32_t a = r->first; a < r[1].first; a++)
		if (choice->taken[a])
			add_read(x, count, e, x->c->options[a].writer, a);
}

static void add_copy_reads(struct candidate *x, const struct choice_of *choice,
                           const struct copy *y, uint32_t *count)
{
	const struct observed_history *o = x->o;
	uint32_t r = y->first;
	for (uint32_t i = o->first[y->transaction]; i < y->end; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind != EVENT_READ) continue;
		if (r < y[1].first && x->c->reads[r].event == i)
			add_taken(x, choice, &x->c->reads[r++], count);
		else
			add_read(x, count, e, e->from, UINT32_MAX);
	}
}

/* What a transaction, or its part, locks. */
static void add_locks(struct candidate *x, uint32_t i, uint32_t *count)
{
	const struct observed_history *o = x->o;
	uint32_t t = x->numbers[i], copy = x->copy_of[i];
	bool whole = copy == UINT32_MAX || x->c->boundary == BOUNDARY_RELAXED;
	x->facts.lock_first[i] = *count;
	for (uint32_t k = o->lock_first[t]; k < o->lock_first[t + 1]; k++) {
		const struct observed_lock *l = &o->locks[k];
		if (!whole && l->op >= x->c->copies[copy].ops_end) break;
		x->facts.locks[(*count)++] = l->lock;
	}
}

static void add_events(struct candidate *x, const struct choice_of *choice)
{
	const struct observed_history *o = x->o;
	struct facts *f = &x->facts;
	uint32_t reads = 0, writes = 0, locks = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t t = x->numbers[i], copy = x->copy_of[i];
		bool whole = copy == UINT32_MAX;
		assert(whole || x->c->copies[copy].transaction == t);
		uint32_t end = whole ? o->first[t + 1] : x->c->copies[copy].end;
		f->read_first[i] = reads;
		f->write_first[i] = writes;
		add_locks(x, i, &locks);
		if (!whole)
			add_copy_reads(x, choice, &x->c->copies[copy], &reads);
		for (uint32_t k = o->first[t]; k < end; k++) {
			const struct observed_event *e = &o->events[k];
			if (e->kind == EVENT_WRITE)
				f->writes[writes++] = e->key;
			else if (whole)
				add_read(x, &reads, e, e->from, UINT32_MAX);
		}
		qsort(f->writes + f->write_first[i], writes - f->write_first[i],
		      sizeof *f->writes, number_compare);
	}
	assert(reads + writes <= o->first[o->n]);
	f->read_first[f->n] = reads;
	f->write_first[f->n] = writes;
	f->lock_first[f->n] = locks;
}

/* The lists of writers of each key, from the lists of keys of each writer. */
static void list_writers(struct candidate *x)
{
	struct facts *f = &x->facts;
	uint32_t total = f->write_first[f->n];
	uint32_t *first = f->writer_first;
	for (uint32_t k = 0; k <= f->key_count + 1; k++) first[k] = 0;
	for (uint32_t i = 0; i < total; i++) first[f->writes[i] + 2]++;
	for (uint32_t k = 0; k < f->key_count; k++)
		first[k + 2] += first[k + 1];
	for (uint32_t t = 0; t < f->n; t++)
		for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1];
		     i++)
			f->writers[first[f->writes[i] + 1]++] = t;
}

/* Kept ones in the observed order, then the copies, which nobody reads. */
static void find_order(struct candidate *x, const struct choice_of *choice)
{
	struct facts *f = &x->facts;
	uint32_t count = 0;
	f->order[count++] = 0;
	for (uint32_t k = 1; k < x->o->n; k++) {
		uint32_t t = x->o->order[k];
		if (bits_has(choice->kept, t)) f->order[count++] = x->here[t];
	}
	for (uint32_t i = 0; i < choice->chosen_count; i++) {
		uint32_t c = choice->chosen[i];
		f->order[count++] = x->here[x->c->copies[c].transaction];
	}
	assert(count == f->n);
	for (uint32_t i = 0; i < f->n; i++) f->rank[f->order[i]] = i;
}

void candidate_make(struct candidate *x, const struct choice_of *choice)
{
	number_all(x, choice);
	add_events(x, choice);
	list_writers(x);
	find_order(x, choice);
}
