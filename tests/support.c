#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertions.h"
#include "axioms/level.h"
#include "base/memory.h"
#include "compile/load.h"
#include "twin_axioms.h"

/* ---- strings ---- */

void strings_add(struct strings *s, const char *text)
{
	VEC_RESERVE(s->items, s->count, s->capacity);
	s->items[s->count++] = mem_copy_string(text);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strings_sort(struct strings *s)
{
	if (s->count)
		qsort(s->items, s->count, sizeof *s->items, compare_strings);
}

size_t strings_unique(struct strings *s)
{
	size_t kept = 0, all = s->count;
	for (size_t i = 0; i < all; i++) {
		if (kept && !strcmp(s->items[kept - 1], s->items[i]))
			free(s->items[i]);
		else
			s->items[kept++] = s->items[i];
	}
	s->count = kept;
	return all - kept;
}

void strings_free(struct strings *s)
{
	for (size_t i = 0; i < s->count; i++) free(s->items[i]);
	free(s->items);
	*s = (struct strings){ 0 };
}

/* ---- programs ---- */

char *diags_to_text(const struct diags *d)
{
	static const char *const kinds[] = { "error", "warning", "note" };
	struct text t = { 0 };
	for (size_t i = 0; i < d->count; i++)
		text_format(&t, "%s:%u:%u: %s\n", kinds[d->items[i].kind],
		            d->items[i].line, d->items[i].column,
		            d->items[i].message);
	char *copy = mem_copy_string(text_get(&t));
	text_free(&t);
	return copy;
}

struct program *program_from_text(const char *text)
{
	struct diags d = { 0 };
	struct program *p =
		load_program_text("test.tx", text, strlen(text), &d);
	if (!p || d.errors) {
		char *all = diags_to_text(&d);
		ck_abort_msg("does not compile:\n%s\n%s", all, text);
	}
	diags_free(&d);
	return p;
}

/* ---- histories by hand ---- */

void history_find_order(struct history *h)
{
	uint32_t n = h->transaction_count, done = 0;
	uint32_t *order = region_take(&h->region, n * sizeof *order);
	bool *placed = mem_take0(n, sizeof *placed);
	for (bool more = true; more;) {
		more = false;
		for (uint32_t t = 0; t < n; t++) {
			bool ready = !placed[t];
			for (uint32_t a = 0; ready && a < n; a++)
				ready = placed[a] ||
				        !(twin_session_order(h, a, t) ||
				          twin_write_read(h, a, t));
			if (!ready) continue;
			placed[t] = more = true;
			order[done++] = t;
		}
	}
	free(placed);
	h->order = done == n ? order : NULL;
}

/* Gives distinct values to writes, and to reads the value they read. */
static void fill_values(struct history *h)
{
	int64_t next = 1;
	for (uint32_t t = 0; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			struct event *e = &h->transactions[t].events[i];
			if (e->kind == EVENT_WRITE)
				e->value = value_int(next++);
		}
	for (uint32_t t = 0; t < h->transaction_count; t++) {
		struct transaction *w = &h->transactions[t];
		for (uint32_t i = 0; i < w->event_count; i++) {
			struct event *e = &w->events[i];
			if (e->kind != EVENT_READ) continue;
			const struct transaction *from = w;
			uint32_t end = i;
			if (e->from != HISTORY_SELF) {
				from = &h->transactions[e->from];
				end = from->event_count;
			}
			e->value = h->keys[e->key].initial;
			for (uint32_t j = 0; j < end; j++)
				if (from->events[j].kind == EVENT_WRITE &&
				    from->events[j].key == e->key)
					e->value = from->events[j].value;
		}
	}
}

struct history *history_new(uint32_t sessions, uint32_t transactions,
                            uint32_t keys)
{
	struct history *h = mem_take0(1, sizeof *h);
	region_init(&h->region);
	h->session_count = sessions;
	h->transaction_count = transactions;
	h->key_count = keys;
	h->sessions =
		region_take0(&h->region, (sessions + 1) * sizeof *h->sessions);
	h->transactions = region_take0(&h->region,
	                               transactions * sizeof *h->transactions);
	h->keys = region_take0(&h->region, (keys + 1) * sizeof *h->keys);
	h->transactions[HISTORY_INIT].name = "init";
	h->transactions[HISTORY_INIT].session = UINT32_MAX;
	return h;
}

static char *name_in(struct history *h, char letter, uint32_t i)
{
	char name[32];
	int length = snprintf(name, sizeof name, "%c%05u", letter, i);
	return region_copy_string(&h->region, name, (size_t)length);
}

/* ---- the notation ---- */

struct notation {
	char *text;
	struct strings words; /* split at blanks */
	struct strings names; /* of transactions, [0] = init */
	struct strings keys;
};

static uint32_t find_string(struct strings *s, const char *word, bool add)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->items[i], word)) return (uint32_t)i;
	if (!add) ck_abort_msg("notation: unknown %s", word);
	strings_add(s, word);
	return (uint32_t)s->count - 1;
}

static bool is_mark(const char *word)
{
	return !strcmp(word, "|") || !strcmp(word, ";") || !strcmp(word, "*");
}

static bool is_name(const char *word)
{
	return word[strlen(word) - 1] == ':';
}

static void scan_notation(struct notation *n, const char *text)
{
	n->text = mem_copy_string(text);
	for (char *w = strtok(n->text, " \n\t"); w; w = strtok(NULL, " \n\t"))
		strings_add(&n->words, w);
	strings_add(&n->names, "0");
	for (size_t i = 0; i < n->words.count; i++) {
		char *w = n->words.items[i];
		if (is_mark(w)) continue;
		if (is_name(w)) {
			char *bare = mem_copy_string(w);
			bare[strcspn(bare, "@!:")] = 0;
			strings_add(&n->names, bare);
			free(bare);
		} else {
			w += *w == '+';
			char *key = mem_copy_string(w + (*w == 'W'));
			key[strcspn(key, "</")] = 0;
			find_string(&n->keys, key, true);
			free(key);
		}
	}
	strings_sort(&n->keys);
}

static void parse_event(struct notation *n, struct event *e, const char *w)
{
	const char *letter = strchr(w, '/');
	if (*w == '+') {
		e->joined = true;
		w++;
	}
	char *key = mem_copy_string(w + (*w == 'W'));
	if (letter) {
		e->strength = strength_from_letter(letter + 1);
		ck_assert_int_ne(e->strength, STRENGTH_COUNT);
		key[strcspn(key, "/")] = 0;
	}
	if (*w == 'W') {
		e->kind = EVENT_WRITE;
		e->key = find_string(&n->keys, key, false);
		free(key);
		return;
	}
	char *from = strchr(key, '<');
	ck_assert_msg(from != NULL, "notation: bad event %s", w);
	*from++ = 0;
	e->kind = EVENT_READ;
	e->key = find_string(&n->keys, key, false);
	e->from = strcmp(from, "self") ? find_string(&n->names, from, false)
	                               : HISTORY_SELF;
	free(key);
}

static void begin_session(struct history *h, uint32_t *session, uint32_t next)
{
	struct history_session *s = &h->sessions[++*session];
	s->first = next;
	s->name = name_in(h, 's', *session);
}

/* "T1@si:" */
static own_level own_in(const char *word)
{
	const char *at = strchr(word, '@');
	char level[16] = { 0 };
	if (!at) return 0;
	strncpy(level, at + 1, sizeof level - 1);
	level[strcspn(level, "!:")] = 0;
	ck_assert_msg(level_number(level) >= 0, "notation: bad level %s", word);
	return (own_level)(level_number(level) + 1);
}

static void parse_words(struct notation *n, struct history *h)
{
	uint32_t session = UINT32_MAX, t = 0;
	begin_session(h, &session, 1);
	for (size_t i = 0; i < n->words.count; i++) {
		const char *w = n->words.items[i];
		struct transaction *tr = &h->transactions[t];
		if (!strcmp(w, "|")) {
			begin_session(h, &session, t + 1);
		} else if (!strcmp(w, "*")) {
			h->sessions[session].after_all = true;
		} else if (is_name(w)) {
			tr = &h->transactions[++t];
			const char *name = n->names.items[t];
			tr->name = region_copy_string(&h->region, name,
			                              strlen(name));
			tr->session = session;
			tr->index = h->sessions[session].count++;
			tr->aborted = strchr(w, '!') != NULL;
			tr->own = own_in(w);
			tr->events = region_take0(&h->region,
			                          n->words.count *
			                                  sizeof *tr->events);
		} else if (strcmp(w, ";")) {
			parse_event(n, &tr->events[tr->event_count++], w);
		}
	}
}

struct history *history_from_notation(const char *notation)
{
	struct notation n = { 0 };
	uint32_t sessions = 1;
	scan_notation(&n, notation);
	for (size_t i = 0; i < n.words.count; i++)
		sessions += !strcmp(n.words.items[i], "|");
	struct history *h = history_new(sessions, (uint32_t)n.names.count,
	                                (uint32_t)n.keys.count);
	for (uint32_t k = 0; k < h->key_count; k++) {
		h->keys[k].name = region_copy_string(
			&h->region, n.keys.items[k], strlen(n.keys.items[k]));
		h->keys[k].initial = value_int(0);
	}
	parse_words(&n, h);
	fill_values(h);
	history_find_order(h);
	free(n.text);
	strings_free(&n.words);
	strings_free(&n.names);
	strings_free(&n.keys);
	return h;
}

static void print_event(struct text *t, const struct history *h,
                        const struct event *e)
{
	const char *key = h->keys[e->key].name;
	text_string(t, e->joined ? " +" : " ");
	if (e->kind == EVENT_WRITE)
		text_format(t, "W%s", key);
	else if (e->from == HISTORY_SELF)
		text_format(t, "%s<self", key);
	else
		text_format(t, "%s<%s", key,
		            e->from ? h->transactions[e->from].name : "0");
	if (event_gives_up(e))
		text_string(t, "/-");
	else if (e->strength != STRENGTH_PLAIN)
		text_format(t, "/%s", strength_letter(e->strength));
}

char *history_to_notation(const struct history *h)
{
	struct text t = { 0 };
	for (uint32_t s = 0; s < h->session_count; s++) {
		if (s) text_string(&t, " | ");
		if (h->sessions[s].after_all) text_string(&t, "* ");
		for (uint32_t i = 0; i < h->sessions[s].count; i++) {
			const struct transaction *w =
				&h->transactions[h->sessions[s].first + i];
			const char *own = own_level_word(w->own);
			text_format(&t, "%s%s%s%s%s:", i ? " ; " : "", w->name,
			            own ? "@" : "", own ? own : "",
			            w->aborted ? "!" : "");
			for (uint32_t e = 0; e < w->event_count; e++)
				print_event(&t, h, &w->events[e]);
		}
	}
	char *copy = mem_copy_string(text_get(&t));
	text_free(&t);
	return copy;
}

/* ---- random histories ---- */

/* One of the committed writers in order[0 .. place - 1]. */
static uint32_t random_writer(struct rng *r, const struct history *h,
                              uint32_t key, const uint32_t *order,
                              uint32_t place)
{
	for (;;) {
		uint32_t t = order[rng_below(r, place)];
		if (twin_writes(h, t, key)) return t;
	}
}

/* One event of transaction number t, whose predecessors in the order of
 * execution are order[0 .. place - 1]. */
static void random_event(struct rng *r, struct history *h, uint32_t t,
                         const uint32_t *order, uint32_t place, bool causal)
{
	struct transaction *w = &h->transactions[t];
	uint32_t key = rng_below(r, h->key_count);
	struct event *e = &w->events[w->event_count];
	bool own = false;
	for (uint32_t i = 0; i < w->event_count; i++)
		own |= w->events[i].kind == EVENT_WRITE &&
		       w->events[i].key == key;
	w->event_count++;
	e->key = key;
	e->kind = rng_below(r, 5) < 2 ? EVENT_WRITE : EVENT_READ;
	if (e->kind == EVENT_WRITE) return;
	if (own) {
		e->from = HISTORY_SELF;
		return;
	}
	for (int attempt = 0; attempt < 8; attempt++) {
		e->from = random_writer(r, h, key, order, place);
		if (!causal || twin_allows(LEVEL_CC, h)) return;
	}
}

/* Sizes of sessions, names and numbers. */
static struct history *random_frame(struct rng *r, struct history_shape shape)
{
	uint32_t sessions = 1 + rng_below(r, shape.sessions);
	uint32_t half = shape.transactions / 2;
	uint32_t transactions = shape.transactions - rng_below(r, half + 1);
	struct history *h = history_new(sessions, transactions + 1,
	                                1 + rng_below(r, shape.keys));
	for (uint32_t k = 0; k < h->key_count; k++) {
		h->keys[k].name = name_in(h, 'k', k);
		h->keys[k].initial = value_int(0);
	}
	for (uint32_t t = 0; t < transactions; t++)
		h->sessions[rng_below(r, sessions)].count++;
	uint32_t t = 1;
	for (uint32_t s = 0; s < sessions; s++) {
		h->sessions[s].name = name_in(h, 's', s);
		h->sessions[s].first = t;
		for (uint32_t i = 0; i < h->sessions[s].count; i++, t++) {
			h->transactions[t].name = name_in(h, 'T', t);
			h->transactions[t].session = s;
			h->transactions[t].index = i;
			h->transactions[t].aborted = !rng_below(r, 10);
			h->transactions[t].events = region_take0(
				&h->region,
				shape.events * sizeof(struct event));
		}
	}
	h->sessions[sessions - 1].after_all = sessions > 1 && !rng_below(r, 10);
	return h;
}

/* The next transaction to run: of a random session that has one left. */
static uint32_t random_next(struct rng *r, const struct history *h,
                            const uint32_t *done, bool others_done)
{
	for (;;) {
		uint32_t s = rng_below(r, h->session_count);
		if (done[s] == h->sessions[s].count) continue;
		if (h->sessions[s].after_all && !others_done) continue;
		return h->sessions[s].first + done[s];
	}
}

struct history *history_random(struct rng *r, struct history_shape shape)
{
	struct history *h = random_frame(r, shape);
	uint32_t *done = mem_take0(h->session_count, sizeof *done);
	uint32_t *order = mem_take0(h->transaction_count, sizeof *order);
	const struct history_session *last = &h->sessions[h->session_count - 1];
	uint32_t after = last->after_all ? last->count : 0;
	for (uint32_t place = 1; place < h->transaction_count; place++) {
		uint32_t t = random_next(r, h, done,
		                         place >= h->transaction_count - after);
		uint32_t events =
			shape.events - rng_below(r, shape.events / 2 + 1);
		for (uint32_t i = 0; i < events; i++)
			random_event(r, h, t, order, place, shape.causal);
		done[h->transactions[t].session]++;
		order[place] = t;
	}
	free(done);
	free(order);
	fill_values(h);
	history_find_order(h);
	ck_assert_ptr_nonnull(h->order);
	return h;
}

void history_give_levels(struct rng *r, struct history *h)
{
	uint32_t none = rng_below(r, 5);
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		enum level l = (enum level)rng_below(r, LEVEL_COUNT);
		if (rng_below(r, 8) >= none && level_mixes(l))
			h->transactions[t].own = (own_level)(l + 1);
	}
}

void history_be_ssi(struct rng *r, struct history *h)
{
	h->ssi = true;
	for (uint32_t t = 1; t < h->transaction_count; t++)
		if (rng_below(r, 4))
			h->transactions[t].own = (own_level)(LEVEL_SER + 1);
}

/* What a statement does not lock it reads before. */
static void join_some(struct rng *r, struct transaction *t)
{
	bool locked = false;
	for (uint32_t i = 0; i < t->event_count; i++) {
		struct event *e = &t->events[i];
		bool locks =
			e->kind == EVENT_WRITE || e->strength >= STRENGTH_SHARE;
		e->joined = i && !rng_below(r, 3) && (locks || !locked);
		locked = locks || (e->joined && locked);
	}
}

void history_give_locks(struct rng *r, struct history *h)
{
	uint32_t odds = 1 + rng_below(r, 4);
	bool statements = rng_below(r, 2);
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			struct event *e = &h->transactions[t].events[i];
			if (rng_below(r, odds)) continue;
			e->strength = e->kind == EVENT_WRITE
			                      ? STRENGTH_NO_KEY_UPDATE +
			                                rng_below(r, 3)
			                      : rng_below(r, STRENGTH_COUNT);
		}
		if (statements) join_some(r, &h->transactions[t]);
	}
}

/* Some of the locks of reads end behind statements that come later. */
static void give_up_some(struct rng *r, struct history *h,
                         struct transaction *t)
{
	uint32_t n = t->event_count, count = 0;
	uint32_t *left = mem_take0(h->key_count + (size_t)1, sizeof *left);
	struct event *all =
		region_take(&h->region, (2 * (size_t)n + 1) * sizeof *all);
	for (uint32_t i = 0; i < n; i++) {
		const struct event *e = &t->events[i];
		bool last = i + 1 == n || !t->events[i + 1].joined;
		all[count++] = *e;
		left[e->key] += e->kind == EVENT_READ &&
		                e->from != HISTORY_SELF &&
		                e->strength != STRENGTH_PLAIN;
		for (uint32_t k = 0; last && k < h->key_count; k++) {
			if (!left[k] || rng_below(r, 2)) continue;
			left[k]--;
			all[count++] =
				(struct event){ .kind = EVENT_READ,
				                .strength = STRENGTH_GIVEN_UP,
				                .key = k,
				                .from = HISTORY_SELF,
				                .value = value_null() };
		}
	}
	t->events = all;
	t->event_count = count;
	free(left);
}

void history_give_up_locks(struct rng *r, struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		give_up_some(r, h, &h->transactions[t]);
}

void history_abort_some(struct rng *r, struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		bool is_read = false;
		for (uint32_t u = 1; u < h->transaction_count; u++)
			is_read |= twin_write_read(h, t, u);
		h->transactions[t].aborted |= !is_read && !rng_below(r, 3);
	}
}

void history_tell_orders(struct rng *r, struct history *h, uint32_t turned)
{
	uint32_t n = h->transaction_count;
	h->known = region_take(&h->region, ((size_t)n * n * h->key_count + 1) *
	                                           sizeof *h->known);
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			for (uint32_t x = 0; x < h->key_count; x++) {
				uint32_t a = h->order[i], b = h->order[j];
				if (!twin_writes(h, a, x) ||
				    !twin_writes(h, b, x) || rng_below(r, 3))
					continue;
				bool turn = rng_below(r, turned) == 0;
				h->known[h->known_count++] =
					(struct history_known){ turn ? b : a,
					                        turn ? a : b,
					                        x };
			}
}

static void copy_session(struct history *to, const struct history *from,
                         uint32_t s, const uint32_t *number)
{
	const struct history_session *old = &from->sessions[s];
	for (uint32_t i = 0; i < old->count; i++) {
		uint32_t t = old->first + i;
		const struct transaction *w = &from->transactions[t];
		struct transaction *c = &to->transactions[number[t]];
		c->name = region_copy_string(&to->region, w->name,
		                             strlen(w->name));
		c->aborted = w->aborted;
		c->own = w->own;
		c->event_count = w->event_count;
		c->events = region_take0(
			&to->region, (w->event_count + 1) * sizeof *c->events);
		for (uint32_t j = 0; j < w->event_count; j++) {
			c->events[j] = w->events[j];
			if (w->events[j].kind == EVENT_READ &&
			    w->events[j].from != HISTORY_SELF)
				c->events[j].from = number[w->events[j].from];
		}
	}
}

/* A session whose one transaction reads and writes a key of its own. */
static void pad_session(struct history *h, uint32_t t, uint32_t key)
{
	struct transaction *w = &h->transactions[t];
	w->name = name_in(h, 'P', key);
	w->event_count = 2;
	w->events = region_take0(&h->region, 2 * sizeof *w->events);
	w->events[0] = (struct event){ .kind = EVENT_READ, .key = key };
	w->events[1] = (struct event){ .kind = EVENT_WRITE, .key = key };
	h->keys[key].name = name_in(h, 'p', key);
	h->keys[key].initial = value_int(0);
}

struct history *history_padded(const struct history *h, uint32_t extra)
{
	uint32_t sessions = h->session_count;
	struct history *p =
		history_new(sessions + extra, h->transaction_count + extra,
	                    h->key_count + extra);
	uint32_t *number = mem_take0(h->transaction_count, sizeof *number);
	uint32_t t = 1, added = 0;
	p->ssi = h->ssi;
	for (uint32_t k = 0; k < h->key_count; k++) {
		p->keys[k].name = region_copy_string(
			&p->region, h->keys[k].name, strlen(h->keys[k].name));
		p->keys[k].initial = value_int(0);
	}
	for (uint32_t s = 0; s < sessions + extra; s++) {
		/* The old sessions are spread evenly, `finally` stays last. */
		bool old = (uint64_t)(s + 1) * sessions / (sessions + extra) >
		           s - added;
		uint32_t from = s - added;
		struct history_session *to = &p->sessions[s];
		to->name = name_in(p, 's', s);
		to->first = t;
		to->count = old ? h->sessions[from].count : 1;
		to->after_all = old && h->sessions[from].after_all;
		for (uint32_t i = 0; i < to->count; i++, t++) {
			p->transactions[t].session = s;
			p->transactions[t].index = i;
			if (old) number[h->sessions[from].first + i] = t;
		}
		if (old) continue;
		pad_session(p, to->first, h->key_count + added);
		added++;
	}
	for (uint32_t s = 0; s < sessions; s++) copy_session(p, h, s, number);
	free(number);
	fill_values(p);
	history_find_order(p);
	return p;
}

/* ---- random tests ---- */

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);
	return text ? strtoull(text, NULL, 10) : otherwise;
}

uint64_t first_seed(void)
{
	return number_from("ISOSCOPE_SEED", 1);
}

uint64_t programs_or(uint64_t all)
{
	return number_from("ISOSCOPE_PROGRAMS", all);
}

bool is_quick(void)
{
	return getenv("ISOSCOPE_QUICK") != NULL;
}

int fewer(int all)
{
	return is_quick() ? all / 10 : all;
}

uint64_t programs_each(uint64_t all, uint64_t of_all, uint64_t processes)
{
	uint64_t programs = programs_or(all);
	return (programs * of_all / all + processes - 1) / processes;
}

uint64_t process_seed(int process, uint64_t test)
{
	return first_seed() + (uint64_t)process * 1000000 + test * 10000000;
}
