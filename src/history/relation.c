#include "history/relation.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "history/history.h"

static word *row(word *rows, const struct relation *r, uint32_t i)
{
	return rows + (size_t)i * r->words;
}

void relation_add_read(struct relation *r, struct relation_read read)
{
	assert(read.source < r->n && read.source != read.reader);
	r->reads[r->read_count++] = read;
	r->locks_reads |= read.strength != STRENGTH_PLAIN;
	r->reads_beside |= strength_is_beside(read.strength);
	bits_add(row(r->direct, r, read.reader), read.source);
}

void relation_give_up(struct relation *r, uint32_t t, uint32_t key,
                      uint32_t statement)
{
	for (uint32_t i = r->read_count; i-- > 0;) {
		struct relation_read *a = &r->reads[i];
		if (a->reader != t || a->key != key || a->given_up ||
		    a->strength == STRENGTH_PLAIN || a->statement >= statement)
			continue;
		a->given_up = true;
		return;
	}
}

void relation_add_write(struct relation *r, struct relation_write write,
                        bool visible)
{
	assert(write.key < r->key_count);
	r->writes[r->write_count++] = write;
	if (write.strength == STRENGTH_GIVEN_UP) {
		r->given_up++;
		relation_give_up(r, write.writer, write.key, write.statement);
	}
	if (visible) bits_add(row(r->writers, r, write.key), write.writer);
}

/* External reads only, and the writers of each key. */
static void take_events(struct relation *r, const struct history *h, uint32_t t)
{
	const struct transaction *transaction = &h->transactions[t];
	uint32_t statement = 0;
	for (uint32_t i = 0; i < transaction->event_count; i++) {
		const struct event *e = &transaction->events[i];
		bool writes = e->kind == EVENT_WRITE;
		assert(e->key < h->key_count);
		statement += !e->joined;
		if (!writes && e->from != HISTORY_SELF)
			relation_add_read(r,
			                  (struct relation_read){
						  t, e->key, e->from, statement,
						  e->strength, false });
		else if (event_strength(e) != STRENGTH_PLAIN)
			relation_add_write(r,
			                   (struct relation_write){
						   t, e->key, statement,
						   event_strength(e), !writes },
			                   writes && !transaction->aborted);
	}
}

/* The row of a transaction is its predecessor's and the predecessor itself. */
static void fill_so(struct relation *r, const struct history *h)
{
	for (uint32_t i = 0; i < h->session_count; i++) {
		const struct history_session *s = &h->sessions[i];
		for (uint32_t k = 0; k < s->count; k++) {
			uint32_t t = s->first + k;
			word *so = row(r->so, r, t);
			bits_add(so, HISTORY_INIT);
			if (k == 0) continue;
			bits_or(so, row(r->so, r, t - 1), r->words);
			bits_add(so, t - 1);
		}
	}
}

static void put_before(struct relation *r, const struct history *h,
                       const struct history_session *last)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct history_session *s =
			&h->sessions[h->transactions[t].session];
		if (s->after_all) continue;
		for (uint32_t k = 0; k < last->count; k++)
			bits_add(row(r->so, r, last->first + k), t);
	}
}

void relation_close(struct relation *r)
{
	for (uint32_t t = 0; t < r->n; t++)
		bits_or(row(r->direct, r, t), row(r->so, r, t), r->words);
	for (uint32_t k = 0; k < r->order_count; k++) {
		uint32_t t = r->order[k];
		word *past = row(r->past, r, t), *direct = row(r->direct, r, t);
		bits_copy(past, direct, r->words);
		BITS_EACH(u, direct, r->words)
			bits_or(past, row(r->past, r, u), r->words);
	}
}

/* Pairs of transactions that both write the key, as this history has them. */
static void take_known(struct relation *r, const struct history *h)
{
	if (!h->known_count) return;
	struct history_known *known = mem_take(h->known_count * sizeof *known);
	for (uint32_t i = 0; i < h->known_count; i++) {
		struct history_known e = h->known[i];
		const word *writers = row(r->writers, r, e.key);
		if (e.from == e.to || e.from == HISTORY_INIT ||
		    e.to == HISTORY_INIT || !bits_has(writers, e.from) ||
		    !bits_has(writers, e.to))
			continue;
		known[r->known_count++] = e;
	}
	r->known = known;
}

static uint32_t *copy_order(const struct history *h)
{
	if (!h->order) return NULL;
	assert(h->order[0] == HISTORY_INIT);
	uint32_t *order = mem_take(h->transaction_count * sizeof *order);
	memcpy(order, h->order, h->transaction_count * sizeof *order);
	return order;
}

struct relation *relation_of_history(const struct history *h)
{
	assert(h->transaction_count >= 1);
	struct relation *r = mem_take0(1, sizeof *r);
	size_t events = 0;
	r->n = h->transaction_count;
	r->order_count = h->order ? r->n : 0;
	r->words = BITS_WORDS(r->n);
	r->key_count = h->key_count;
	r->order = copy_order(h);
	r->so = mem_take0((size_t)r->n * r->words, sizeof(word));
	r->direct = mem_take0((size_t)r->n * r->words, sizeof(word));
	r->past = mem_take0((size_t)r->n * r->words, sizeof(word));
	r->writers = mem_take0((size_t)r->key_count * r->words, sizeof(word));
	for (uint32_t t = 0; t < r->n; t++)
		events += h->transactions[t].event_count;
	r->reads = mem_take0(events, sizeof *r->reads);
	r->writes = mem_take0(events, sizeof *r->writes);
	for (uint32_t x = 0; x < r->key_count; x++)
		bits_add(row(r->writers, r, x), HISTORY_INIT);
	fill_so(r, h);
	for (uint32_t i = 0; i < h->session_count; i++)
		if (h->sessions[i].after_all) put_before(r, h, &h->sessions[i]);
	for (uint32_t t = 1; t < r->n; t++) take_events(r, h, t);
	relation_close(r);
	take_known(r, h);
	return r;
}

void relation_take_owns(struct relation *r, const struct history *h)
{
	assert(!r->owns && r->n == h->transaction_count);
	own_level *owns = mem_take0(r->n, sizeof *owns);
	for (uint32_t t = 1; t < r->n; t++) owns[t] = h->transactions[t].own;
	r->owns = owns;
	r->ssi = h->ssi;
}

void relation_renew(struct relation *r, const struct history *h)
{
	assert(r->n == h->transaction_count);
	free((void *)r->owns);
	r->owns = NULL;
	r->read_count = r->write_count = r->given_up = 0;
	r->locks_reads = r->reads_beside = false;
	for (uint32_t t = 1; t < r->n; t++) take_events(r, h, t);
	relation_take_owns(r, h);
}

void relation_free(struct relation *r)
{
	if (!r) return;
	free((void *)r->owns);
	free((void *)r->order);
	free(r->so);
	free(r->direct);
	free(r->past);
	free(r->writers);
	free(r->reads);
	free(r->writes);
	free((void *)r->known);
	free(r);
}
