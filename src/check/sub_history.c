#include "check/sub_history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

enum { NONE = UINT32_MAX };

static bool *all_true(size_t count)
{
	bool *flags = mem_take(count + 1);
	memset(flags, true, count + 1);
	return flags;
}

static uint32_t *all_none(size_t count)
{
	uint32_t *numbers = mem_take((count + 1) * sizeof *numbers);
	memset(numbers, 0xff, (count + 1) * sizeof *numbers);
	return numbers;
}

static void take_pairs(struct sub_histories *p)
{
	const struct facts *f = p->whole;
	p->pairs = mem_take(f->known_count * sizeof *p->pairs);
	p->before = all_none(f->write_first[f->n]);
	for (uint32_t i = 0; i < f->known_count; i++) {
		struct history_known e = f->known[i];
		uint32_t from = facts_write(f, e.from, e.key);
		uint32_t to = facts_write(f, e.to, e.key);
		if (from == NONE || to == NONE) continue;
		p->pairs[p->pair_count++] =
			(struct sub_history_pair){ e, from, to };
	}
}

void sub_history_init(struct sub_histories *p, const struct facts *whole)
{
	*p = (struct sub_histories){ .whole = whole };
	p->reads = all_true(whole->read_first[whole->n]);
	p->writes = all_true(whole->write_first[whole->n]);
	p->number = all_none(whole->n);
	p->key = all_none(whole->key_count);
	p->number[0] = 0;
	if (whole->known_count) take_pairs(p);
}

void sub_history_forget_idle(struct sub_histories *p)
{
	const struct facts *f = p->whole;
	uint32_t i = f->read_first[f->n];
	p->next = mem_take((i + (size_t)1) * sizeof *p->next);
	p->next[i] = i;
	while (i--) {
		uint32_t key = f->reads[i].key;
		bool idle = f->writer_first[key] == f->writer_first[key + 1];
		p->next[i] = idle ? p->next[i + 1] : i;
		if (idle) p->reads[i] = false;
	}
}

static uint32_t next_read(const struct sub_histories *p, uint32_t i)
{
	return p->next ? p->next[i] : i;
}

void sub_history_free(struct sub_histories *p)
{
	free(p->reads);
	free(p->writes);
	free(p->next);
	free(p->pairs);
	free(p->before);
	free(p->number);
	free(p->key);
	*p = (struct sub_histories){ 0 };
}

/* ---- which operations belong to the part that is being made ---- */

/* Does read number i belong to a part that its reader is in? A writer that
 * aborted writes nothing, whatever counts. */
static bool is_read(const struct sub_histories *p, uint32_t i)
{
	struct facts_read r = p->whole->reads[i];
	if (!p->reads[i] || p->number[r.from] == NONE) return false;
	if (r.from == 0) return true;
	uint32_t write = facts_write(p->whole, r.from, r.key);
	return write == NONE || p->writes[write];
}

/* ---- known pairs ---- */

static void set_numbers(struct sub_histories *p, const uint32_t *transactions,
                        uint32_t count, bool set)
{
	for (uint32_t i = 0; i < count; i++)
		p->number[transactions[i]] = set ? i + 1 : NONE;
}

/* Moves a pair to the writers in the part; false if it has none to tell of. */
static bool move_pair(struct sub_histories *p, struct sub_history_pair *e)
{
	struct history_known *k = &e->known;
	if (p->number[k->from] == NONE || !p->writes[e->from])
		k->from = p->before[e->from];
	if (p->number[k->to] == NONE || !p->writes[e->to]) {
		p->before[e->to] = k->from;
		return false;
	}
	if (k->from == NONE || k->from == k->to) return false;
	e->from = facts_write(p->whole, k->from, k->key);
	return true;
}

static void forget_before(struct sub_histories *p)
{
	for (uint32_t i = 0; i < p->pair_count; i++)
		p->before[p->pairs[i].to] = NONE;
}

uint32_t sub_history_known(struct sub_histories *p,
                           const uint32_t *transactions, uint32_t count,
                           struct history_known *out)
{
	uint32_t found = 0;
	set_numbers(p, transactions, count, true);
	for (uint32_t i = 0; i < p->pair_count; i++) {
		struct sub_history_pair e = p->pairs[i];
		if (move_pair(p, &e)) out[found++] = e.known;
	}
	forget_before(p);
	set_numbers(p, transactions, count, false);
	return found;
}

void sub_history_narrow(struct sub_histories *p, const uint32_t *transactions,
                        uint32_t count)
{
	uint32_t found = 0, all = p->pair_count;
	struct sub_history_pair *pairs =
		mem_take((all + (size_t)1) * sizeof *pairs);
	set_numbers(p, transactions, count, true);
	for (uint32_t i = 0; i < all; i++) {
		pairs[found] = p->pairs[i];
		if (move_pair(p, &pairs[found])) found++;
	}
	forget_before(p);
	set_numbers(p, transactions, count, false);
	free(p->pairs);
	p->pairs = pairs;
	p->pair_count = found;
}

/* ---- the facts of a part ---- */

struct making {
	struct sub_histories *p;
	struct facts *f;
	uint32_t *chosen; /* increasing; [0] is init */
	uint32_t *keys;   /* of the whole, for each of the part */
	uint32_t key_capacity;
};

static void choose(struct making *m, const uint32_t *transactions,
                   uint32_t count)
{
	m->f->n = count + 1;
	m->chosen = mem_take0((size_t)count + 1, sizeof *m->chosen);
	if (count)
		memcpy(m->chosen + 1, transactions, count * sizeof *m->chosen);
	qsort(m->chosen, (size_t)count + 1, sizeof *m->chosen, number_compare);
	for (uint32_t t = 0; t <= count; t++) {
		assert(t == 0 || m->chosen[t] > m->chosen[t - 1]);
		m->p->number[m->chosen[t]] = t;
	}
}

static uint32_t key_number(struct making *m, uint32_t key)
{
	uint32_t *number = &m->p->key[key];
	if (*number != NONE) return *number;
	VEC_RESERVE(m->keys, m->f->key_count, m->key_capacity);
	m->keys[m->f->key_count] = key;
	return *number = m->f->key_count++;
}

static void take_sessions(struct making *m)
{
	const struct facts *whole = m->p->whole;
	struct facts *f = m->f;
	uint32_t last = NONE;
	f->session_of = mem_take(f->n * sizeof *f->session_of);
	f->session_first =
		mem_take0((size_t)f->n + 1, sizeof *f->session_first);
	f->session_of[0] = UINT32_MAX;
	f->after_all = UINT32_MAX;
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t s = whole->session_of[m->chosen[t]];
		if (s != last) f->session_first[f->session_count++] = t;
		if (s == whole->after_all) f->after_all = f->session_count - 1;
		f->session_of[t] = f->session_count - 1;
		last = s;
	}
	f->session_first[f->session_count] = f->n;
}

static void take_reads(struct making *m)
{
	const struct facts *whole = m->p->whole;
	struct facts *f = m->f;
	size_t most = 1, count = 0;
	for (uint32_t t = 1; t < f->n; t++)
		most += whole->read_first[m->chosen[t] + 1] -
		        whole->read_first[m->chosen[t]];
	f->reads = mem_take(most * sizeof *f->reads);
	f->read_first = mem_take0((size_t)f->n + 1, sizeof *f->read_first);
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t end = whole->read_first[m->chosen[t] + 1];
		uint32_t i = next_read(m->p, whole->read_first[m->chosen[t]]);
		for (; i < end; i = next_read(m->p, i + 1)) {
			struct facts_read r = whole->reads[i];
			if (!is_read(m->p, i)) continue;
			f->reads[count++] =
				(struct facts_read){ key_number(m, r.key),
				                     m->p->number[r.from],
				                     r.statement, r.strength };
		}
		f->read_first[t + 1] = (uint32_t)count;
	}
}

static void take_writes(struct making *m)
{
	const struct facts *whole = m->p->whole;
	struct facts *f = m->f;
	size_t most = 1, count = 0;
	for (uint32_t t = 1; t < f->n; t++)
		most += whole->write_first[m->chosen[t] + 1] -
		        whole->write_first[m->chosen[t]];
	f->writes = mem_take(most * sizeof *f->writes);
	f->write_first = mem_take0((size_t)f->n + 1, sizeof *f->write_first);
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t end = whole->write_first[m->chosen[t] + 1];
		for (uint32_t i = whole->write_first[m->chosen[t]]; i < end;
		     i++)
			if (m->p->writes[i])
				f->writes[count++] =
					key_number(m, whole->writes[i]);
		f->write_first[t + 1] = (uint32_t)count;
	}
}

/* Of the writes that are there, and of those of aborted transactions. */
static void take_locks(struct making *m)
{
	const struct facts *whole = m->p->whole;
	struct facts *f = m->f;
	size_t most = 1, count = 0;
	for (uint32_t t = 1; t < f->n; t++)
		most += whole->lock_first[m->chosen[t] + 1] -
		        whole->lock_first[m->chosen[t]];
	f->locks = mem_take(most * sizeof *f->locks);
	f->lock_first = mem_take0((size_t)f->n + 1, sizeof *f->lock_first);
	for (uint32_t t = 1; t < f->n; t++) {
		uint32_t u = m->chosen[t], end = whole->lock_first[u + 1];
		for (uint32_t i = whole->lock_first[u]; i < end; i++) {
			struct facts_lock l = whole->locks[i];
			uint32_t write = facts_write(whole, u, l.key);
			if (write != NONE && !m->p->writes[write]) continue;
			l.key = key_number(m, l.key);
			f->locks[count++] = l;
		}
		f->lock_first[t + 1] = (uint32_t)count;
	}
}

/* Numbers of keys that increase in the part as in the whole. */
static void sort_keys(struct making *m)
{
	struct facts *f = m->f;
	uint32_t *old = mem_take((f->key_count + (size_t)1) * sizeof *old);
	uint32_t *new = mem_take((f->key_count + (size_t)1) * sizeof *new);
	for (uint32_t k = 0; k < f->key_count; k++) old[k] = m->keys[k];
	if (f->key_count)
		qsort(m->keys, f->key_count, sizeof *m->keys, number_compare);
	for (uint32_t k = 0; k < f->key_count; k++) m->p->key[m->keys[k]] = k;
	for (uint32_t k = 0; k < f->key_count; k++) new[k] = m->p->key[old[k]];
	for (uint32_t i = 0; i < f->read_first[f->n]; i++)
		f->reads[i].key = new[f->reads[i].key];
	for (uint32_t i = 0; i < f->write_first[f->n]; i++)
		f->writes[i] = new[f->writes[i]];
	for (uint32_t i = 0; i < f->lock_first[f->n]; i++)
		f->locks[i].key = new[f->locks[i].key];
	free(old);
	free(new);
}

static void take_known(struct making *m, const uint32_t *transactions,
                       uint32_t count)
{
	struct sub_histories *p = m->p;
	struct facts *f = m->f;
	f->known = mem_take0((size_t)p->pair_count + 1, sizeof *f->known);
	if (!p->pair_count) return;
	f->known_count = sub_history_known(p, transactions, count, f->known);
	for (uint32_t t = 1; t < f->n; t++) p->number[m->chosen[t]] = t;
	for (uint32_t i = 0; i < f->known_count; i++) {
		struct history_known *e = &f->known[i];
		*e = (struct history_known){ p->number[e->from],
			                     p->number[e->to], p->key[e->key] };
	}
}

/* ---- the order of a part ---- */

static void place(struct facts *f, uint32_t t, uint32_t *placed)
{
	f->order[*placed] = t;
	f->rank[t] = (*placed)++;
}

/* The order of the whole, without what is left out. */
static void filter_order(struct making *m)
{
	struct facts *f = m->f;
	uint32_t placed = 0;
	uint32_t *sorted = mem_take(f->n * sizeof *sorted);
	for (uint32_t t = 0; t < f->n; t++)
		sorted[t] = m->p->whole->rank[m->chosen[t]];
	qsort(sorted, f->n, sizeof *sorted, number_compare);
	for (uint32_t k = 0; k < f->n; k++) {
		uint32_t t = m->p->whole->order[sorted[k]];
		place(f, m->p->number[t], &placed);
	}
	free(sorted);
}

static bool is_ready(const struct facts *f, uint32_t t)
{
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++)
		if (f->rank[f->reads[i].from] == NONE) return false;
	return true;
}

/* Lets each session go as far as it can, as often as one of them moves. */
static void find_order(struct facts *f)
{
	uint32_t placed = 0, before;
	uint32_t *next =
		mem_take((f->session_count + (size_t)1) * sizeof *next);
	memset(f->rank, 0xff, f->n * sizeof *f->rank);
	memcpy(next, f->session_first, f->session_count * sizeof *next);
	place(f, 0, &placed);
	do {
		before = placed;
		for (uint32_t s = 0; s < f->session_count; s++) {
			uint32_t end = f->session_first[s + 1];
			uint32_t others = f->n - (end - f->session_first[s]);
			if (s == f->after_all && next[s] < end &&
			    placed < others)
				continue;
			while (next[s] < end && is_ready(f, next[s]))
				place(f, next[s]++, &placed);
		}
	} while (placed > before && placed < f->n);
	free(next);
	if (placed == f->n) return;
	free(f->order);
	free(f->rank);
	f->order = f->rank = NULL;
}

static void take_order(struct making *m)
{
	struct facts *f = m->f;
	f->order = mem_take(f->n * sizeof *f->order);
	f->rank = mem_take(f->n * sizeof *f->rank);
	if (m->p->whole->order)
		filter_order(m);
	else
		find_order(f);
}

static void take_owns(struct making *m)
{
	const own_level *owns = m->p->whole->owns;
	if (!owns) return;
	m->f->owns = mem_take(m->f->n * sizeof *owns);
	for (uint32_t t = 0; t < m->f->n; t++)
		m->f->owns[t] = owns[m->chosen[t]];
}

static void forget(struct making *m)
{
	for (uint32_t t = 1; t < m->f->n; t++)
		m->p->number[m->chosen[t]] = NONE;
	for (uint32_t k = 0; k < m->f->key_count; k++)
		m->p->key[m->keys[k]] = NONE;
	free(m->chosen);
	free(m->keys);
}

struct facts *sub_history_take(struct sub_histories *p,
                               const uint32_t *transactions, uint32_t count)
{
	struct making m = { .p = p, .f = mem_take0(1, sizeof *m.f) };
	choose(&m, transactions, count);
	take_sessions(&m);
	take_reads(&m);
	take_writes(&m);
	take_locks(&m);
	sort_keys(&m);
	facts_list_writers(m.f);
	take_known(&m, transactions, count);
	take_order(&m);
	take_owns(&m);
	m.f->ssi = p->whole->ssi;
	forget(&m);
	return m.f;
}
