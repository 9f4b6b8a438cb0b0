#include "twin_predict.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "twin_axioms.h"

/* ---- what counts of a history ---- */

/* Reads of the own write have no position; all others have. */
static void take_events(struct twin_trace *t, uint32_t transaction,
                        uint32_t *position)
{
	const struct transaction *w = &t->h->transactions[transaction];
	t->lo[transaction] = *position;
	for (uint32_t i = 0; i < w->event_count; i++) {
		const struct event *e = &w->events[i];
		bool write = e->kind == EVENT_WRITE;
		if (!write && e->from == HISTORY_SELF) continue;
		uint32_t at = (*position)++;
		t->events[t->event_count++] =
			(struct twin_event){ .transaction = transaction,
			                     .place = i,
			                     .key = e->key,
			                     .from = write ? transaction
			                                   : e->from,
			                     .position = at,
			                     .write = write };
	}
	t->hi[transaction] = *position;
	t->first[transaction + 1] = t->event_count;
}

static bool number_reads(struct twin_trace *t)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < t->event_count; i++) {
		struct twin_event *e = &t->events[i];
		uint32_t writers = 0;
		if (e->write) continue;
		for (uint32_t w = 1; w < t->h->transaction_count; w++)
			writers += twin_write_of(t, w, e->key) != NULL;
		e->bit = bits;
		e->contended = writers > 0;
		bits += writers + 1;
		t->reads++;
		t->contended += e->contended;
	}
	return bits <= 64 * TWIN_WORDS;
}

bool twin_trace_init(struct twin_trace *t, const struct history *h)
{
	uint32_t n = h->transaction_count, events = 0;
	for (uint32_t i = 0; i < n; i++)
		events += h->transactions[i].event_count;
	*t = (struct twin_trace){
		.h = h,
		.events = mem_take0((size_t)events + 1, sizeof *t->events),
		.first = mem_take0((size_t)n + 1, sizeof *t->first),
		.lo = mem_take0(n, sizeof *t->lo),
		.hi = mem_take0(n, sizeof *t->hi),
		.positions = mem_take0((size_t)h->session_count + 1,
		                       sizeof *t->positions)
	};
	for (uint32_t i = 1; i < n; i++)
		take_events(t, i, &t->positions[h->transactions[i].session]);
	return number_reads(t);
}

void twin_trace_free(struct twin_trace *t)
{
	free(t->events);
	free(t->first);
	free(t->lo);
	free(t->hi);
	free(t->positions);
}

const struct twin_event *twin_write_of(const struct twin_trace *t,
                                       uint32_t transaction, uint32_t key)
{
	if (t->h->transactions[transaction].aborted) return NULL;
	for (uint32_t i = t->first[transaction]; i < t->first[transaction + 1];
	     i++)
		if (t->events[i].write && t->events[i].key == key)
			return &t->events[i];
	return NULL;
}

/* ---- sets ---- */

void twin_set_put(struct twin_set *s, const struct twin_trace *t,
                  uint32_t event, uint32_t writer, bool in)
{
	const struct twin_event *e = &t->events[event];
	uint32_t bit = e->bit;
	for (uint32_t w = 1; w <= writer; w++)
		bit += twin_write_of(t, w, e->key) != NULL;
	uint64_t mask = (uint64_t)1 << bit % 64;
	if (in)
		s->words[bit / 64] |= mask;
	else
		s->words[bit / 64] &= ~mask;
}

static bool is_subset(const struct twin_set *a, const struct twin_set *b)
{
	for (uint32_t i = 0; i < TWIN_WORDS; i++)
		if (a->words[i] & ~b->words[i]) return false;
	return true;
}

static bool includes_one(const struct twin_sets *s, const struct twin_set *set)
{
	for (size_t i = 0; i < s->count; i++)
		if (is_subset(&s->items[i], set)) return true;
	return false;
}

static void add_set(struct twin_sets *s, const struct twin_set *set)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->count; i++)
		if (!is_subset(set, &s->items[i]))
			s->items[kept++] = s->items[i];
	s->count = kept;
	VEC_RESERVE(s->items, s->count, s->capacity);
	s->items[s->count++] = *set;
}

/* ---- the least commit order ---- */

static bool put(twin_matrix m, uint32_t a, uint32_t b)
{
	bool new = !m[a][b];
	m[a][b] = true;
	return new;
}

/* t reads key from w: what of another writer u of the key? */
static bool decide(twin_matrix pco, uint32_t u, uint32_t t, uint32_t w)
{
	bool more = false;
	if (pco[u][t]) more |= put(pco, u, w);
	if (pco[w][u]) more |= put(pco, t, u);
	return more;
}

static bool decide_all(twin_matrix pco, const struct history *h)
{
	bool more = false;
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			const struct event *e = &h->transactions[t].events[i];
			if (e->kind != EVENT_READ || e->from == HISTORY_SELF)
				continue;
			for (uint32_t u = 0; u < h->transaction_count; u++)
				if (u != t && u != e->from &&
				    twin_writes(h, u, e->key))
					more |= decide(pco, u, t, e->from);
		}
	return more;
}

bool twin_pco_cyclic(const struct history *h)
{
	uint32_t n = h->transaction_count;
	twin_matrix pco = { { false } };
	if (n > TWIN_TRANSACTIONS) abort();
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			pco[a][b] = twin_session_order(h, a, b) ||
			            twin_write_read(h, a, b);
	do twin_closure(pco, n);
	while (decide_all(pco, h));
	for (uint32_t a = 0; a < n; a++)
		if (pco[a][a]) return true;
	return false;
}

/* ---- cuts, divergent transactions, choices ---- */

struct copy {
	uint32_t transaction; /* 0: none */
	uint32_t last;        /* position of the last event that it has */
};

struct search {
	const struct twin_trace *t;
	const struct twin_search *s;
	struct twin_predictions *out;
	uint32_t *kept;      /* transactions, by session */
	struct copy *copies; /* by session */
	uint32_t *choice;    /* writer, by event */
	struct twin_set changed;
	uint32_t changes;    /* how many are in it */
	struct history part; /* what is kept, and the copies */
	uint32_t *number;    /* in `part`, by transaction */
};

static bool is_kept(const struct search *c, uint32_t transaction)
{
	const struct transaction *w = &c->t->h->transactions[transaction];
	return transaction == HISTORY_INIT || w->index < c->kept[w->session];
}

/* Every transaction of all other sessions is kept. */
static bool others_are_whole(const struct search *c, uint32_t session)
{
	for (uint32_t s = 0; s < c->t->h->session_count; s++)
		if (s != session && c->kept[s] < c->t->h->sessions[s].count)
			return false;
	return true;
}

/* Its events up to the one that has this position. */
static void add_to_part(struct search *c, uint32_t transaction, uint32_t last)
{
	const struct transaction *from = &c->t->h->transactions[transaction];
	struct transaction *to = &c->part.transactions[c->number[transaction]];
	struct event *events = to->events;
	uint32_t i = c->t->first[transaction];
	bool more = true;
	*to = *from;
	to->events = events;
	to->event_count = 0;
	for (uint32_t k = 0; more && k < from->event_count; k++) {
		struct event e = from->events[k];
		if (e.kind == EVENT_WRITE || e.from != HISTORY_SELF) {
			if (e.kind == EVENT_READ)
				e.from = c->number[c->choice[i]];
			more = c->t->events[i++].position != last;
		}
		events[to->event_count++] = e;
	}
}

static void make_part(struct search *c)
{
	const struct history *h = c->t->h;
	uint32_t next = 1;
	for (uint32_t t = 1; t < h->transaction_count; t++)
		if (is_kept(c, t) ||
		    t == c->copies[h->transactions[t].session].transaction)
			c->number[t] = next++;
	c->part.transaction_count = next;
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		struct copy d = c->copies[h->transactions[t].session];
		if (is_kept(c, t))
			add_to_part(c, t, UINT32_MAX);
		else if (d.transaction == t)
			add_to_part(c, t, d.last);
	}
}

/* Is a prediction of this kind with these changed reads worth knowing? */
static bool is_open(const struct search *c, enum level l, unsigned encoding)
{
	return c->s->levels >> l & 1 && c->s->encodings >> encoding & 1 &&
	       !includes_one(&c->out->sets[l][encoding], &c->changed);
}

static bool any_is_open(const struct search *c)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		for (unsigned e = 0; e < TWIN_ENCODINGS; e++)
			if (is_open(c, l, e)) return true;
	return false;
}

/* `part` is not serializable: a prediction of which kinds? Returns whether it
 * may become one of a further kind with more transactions. */
static bool record(struct search *c)
{
	bool cyclic = twin_pco_cyclic(&c->part), more = false;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		bool exact = is_open(c, l, ENCODING_EXACT);
		bool approx = is_open(c, l, ENCODING_APPROX);
		if ((!exact && !approx) || !twin_allows(l, &c->part)) continue;
		struct twin_sets *sets = c->out->sets[l];
		if (exact) add_set(&sets[ENCODING_EXACT], &c->changed);
		if (approx && cyclic)
			add_set(&sets[ENCODING_APPROX], &c->changed);
		more |= approx && !cyclic;
	}
	return more;
}

/* Returns whether to go on with more copies. What is not serializable stays
 * so, and what a level forbids it goes on to forbid. */
static bool judge(struct search *c)
{
	if (!any_is_open(c) || c->out->gave_up) return false;
	if (c->out->judged == c->s->most) {
		c->out->gave_up = true;
		return false;
	}
	c->out->judged++;
	make_part(c);
	return twin_serializable(&c->part) || record(c);
}

static void extend(struct search *c, uint32_t session);

/* The copy of this session is complete. */
static void offer(struct search *c, uint32_t session)
{
	if (judge(c)) extend(c, session + 1);
}

static void set_choice(struct search *c, uint32_t event, uint32_t writer)
{
	uint32_t from = c->t->events[event].from, before = c->choice[event];
	if (before != from) {
		twin_set_put(&c->changed, c->t, event, before, false);
		c->changes--;
	}
	if (writer != from) {
		twin_set_put(&c->changed, c->t, event, writer, true);
		c->changes++;
	}
	c->choice[event] = writer;
}

static bool can_choose(const struct search *c, uint32_t event, uint32_t writer)
{
	return writer == HISTORY_INIT ||
	       (is_kept(c, writer) &&
	        twin_write_of(c->t, writer, c->t->events[event].key));
}

/* The copy of a whole transaction; its reads from number `event` on take every
 * writer there is. */
static void offer_relaxed(struct search *c, uint32_t session, uint32_t event,
                          uint32_t before)
{
	uint32_t t = c->copies[session].transaction;
	while (event < c->t->first[t + 1] && c->t->events[event].write) event++;
	if (event == c->t->first[t + 1]) {
		if (c->changes > before) offer(c, session);
		return;
	}
	for (uint32_t w = 0; w < c->t->h->transaction_count; w++) {
		if (!can_choose(c, event, w)) continue;
		set_choice(c, event, w);
		offer_relaxed(c, session, event + 1, before);
	}
	set_choice(c, event, c->t->events[event].from);
}

/* The copies that end with this read. */
static void offer_read(struct search *c, uint32_t session, uint32_t event)
{
	const struct twin_event *e = &c->t->events[event];
	c->copies[session].last = e->position;
	for (uint32_t w = 0; w < c->t->h->transaction_count; w++) {
		if (!can_choose(c, event, w)) continue;
		set_choice(c, event, w);
		offer(c, session);
	}
	set_choice(c, event, e->from);
}

/* A read before the last one keeps its writer, which has to be there. */
static void offer_strict(struct search *c, uint32_t session)
{
	uint32_t t = c->copies[session].transaction;
	for (uint32_t i = c->t->first[t]; i < c->t->first[t + 1]; i++) {
		if (c->t->events[i].write) continue;
		offer_read(c, session, i);
		if (!is_kept(c, c->t->events[i].from)) break;
	}
}

static void extend(struct search *c, uint32_t session)
{
	const struct history *h = c->t->h;
	for (uint32_t s = session; s < h->session_count; s++) {
		if (c->kept[s] == h->sessions[s].count) continue;
		if (h->sessions[s].after_all && !others_are_whole(c, s))
			continue;
		uint32_t t = h->sessions[s].first + c->kept[s];
		c->copies[s] = (struct copy){ t, UINT32_MAX };
		if (c->s->boundary == BOUNDARY_STRICT)
			offer_strict(c, s);
		else
			offer_relaxed(c, s, c->t->first[t], c->changes);
		c->copies[s].transaction = 0;
	}
}

static bool cut_is_consistent(const struct search *c)
{
	const struct history *h = c->t->h;
	for (uint32_t i = 0; i < c->t->event_count; i++) {
		const struct twin_event *e = &c->t->events[i];
		if (is_kept(c, e->transaction) && !is_kept(c, e->from))
			return false;
	}
	for (uint32_t s = 0; s < h->session_count; s++)
		if (h->sessions[s].after_all && c->kept[s] &&
		    !others_are_whole(c, s))
			return false;
	return true;
}

static void enumerate_cuts(struct search *c, uint32_t session)
{
	const struct history *h = c->t->h;
	if (session == h->session_count) {
		if (cut_is_consistent(c) && judge(c)) extend(c, 0);
		return;
	}
	for (uint32_t kept = 0; kept <= h->sessions[session].count; kept++) {
		c->kept[session] = kept;
		enumerate_cuts(c, session + 1);
	}
}

/* Room for as much as the whole history. */
static void part_init(struct history *part, const struct history *h)
{
	*part = *h;
	part->transactions =
		mem_take0(h->transaction_count, sizeof *part->transactions);
	part->transactions[HISTORY_INIT] = h->transactions[HISTORY_INIT];
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		uint32_t most = 0;
		for (uint32_t u = 1; u < h->transaction_count; u++)
			if (most < h->transactions[u].event_count)
				most = h->transactions[u].event_count;
		part->transactions[t].events =
			mem_take0((size_t)most + 1, sizeof(struct event));
	}
}

static void part_clear(struct history *part, uint32_t transactions)
{
	for (uint32_t t = 1; t < transactions; t++)
		free(part->transactions[t].events);
	free(part->transactions);
}

void twin_predict(const struct twin_trace *t, const struct twin_search *s,
                  struct twin_predictions *out)
{
	uint32_t sessions = t->h->session_count;
	struct search c = {
		.t = t,
		.s = s,
		.out = out,
		.kept = mem_take0((size_t)sessions + 1, sizeof *c.kept),
		.copies = mem_take0((size_t)sessions + 1, sizeof *c.copies),
		.choice =
			mem_take0((size_t)t->event_count + 1, sizeof *c.choice),
		.number = mem_take0(t->h->transaction_count, sizeof *c.number)
	};
	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < t->event_count; i++)
		c.choice[i] = t->events[i].from;
	part_init(&c.part, t->h);
	enumerate_cuts(&c, 0);
	part_clear(&c.part, t->h->transaction_count);
	free(c.kept);
	free(c.copies);
	free(c.choice);
	free(c.number);
}

void twin_predictions_free(struct twin_predictions *p)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		for (unsigned e = 0; e < TWIN_ENCODINGS; e++)
			free(p->sets[l][e].items);
}
