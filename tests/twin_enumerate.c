#include "twin_enumerate.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "twin_axioms.h"
#include "vm/machine.h"

enum { EVENTS = 256, KEYS = TWIN_KEYS, SESSIONS = 16 };

/* A transaction in the order of execution; number 0 is init. */
struct step {
	uint32_t session, index;
	uint32_t name;
	bool aborted;
	uint32_t event_count;
	struct event events[EVENTS]; /* `from` is a number of this order */
};

struct seen {
	char **slots;
	size_t capacity, count;
};

struct search {
	struct machine machine;
	const struct program *program;
	struct twin_options options;
	struct enumeration *out;
	struct region region;
	struct seen seen;
	uint32_t session_count;
	bool overflow;
	/* The execution so far. */
	struct machine_state *states[SESSIONS];
	bool waiting[SESSIONS]; /* for its next transaction to be run */
	bool started_finally;
	uint32_t next_name[SESSIONS];
	uint32_t run_count[SESSIONS];
	struct step steps[TWIN_TRANSACTIONS];
	uint32_t step_count;
};

static void run_next(struct search *s);
static void run_transaction(struct search *s, uint32_t session);

/* ---- the set of prefixes met ---- */

/* True when the text is new. */
static bool seen_add(struct seen *set, const char *text)
{
	if (2 * set->count >= set->capacity) {
		struct seen old = *set;
		set->capacity = old.capacity ? 2 * old.capacity : 1024;
		set->slots = mem_take0(set->capacity, sizeof *set->slots);
		set->count = 0;
		for (size_t i = 0; i < old.capacity; i++)
			if (old.slots[i]) {
				seen_add(set, old.slots[i]);
				free(old.slots[i]);
			}
		free(old.slots);
	}
	size_t i = hash_bytes(1, text, strlen(text)) & (set->capacity - 1);
	for (; set->slots[i]; i = (i + 1) & (set->capacity - 1))
		if (!strcmp(set->slots[i], text)) return false;
	set->slots[i] = mem_copy_string(text);
	set->count++;
	return true;
}

static void seen_free(struct seen *set)
{
	for (size_t i = 0; i < set->capacity; i++) free(set->slots[i]);
	free(set->slots);
}

/* ---- the execution as a history ---- */

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct history_key *)a)->name,
	              ((const struct history_key *)b)->name);
}

/* The keys that were touched, by name; `number` maps the machine's keys. */
static void take_keys(const struct search *s, struct history *h,
                      uint32_t *number)
{
	bool touched[KEYS] = { false };
	for (uint32_t t = 1; t < s->step_count; t++)
		for (uint32_t i = 0; i < s->steps[t].event_count; i++)
			touched[s->steps[t].events[i].key] = true;
	h->keys = region_take(&h->region, KEYS * sizeof *h->keys);
	for (uint32_t k = 0; k < KEYS; k++)
		if (touched[k])
			h->keys[h->key_count++] = (struct history_key){
				keys_name(s->machine.keys, k),
				keys_initial(s->machine.keys, k)
			};
	qsort(h->keys, h->key_count, sizeof *h->keys, compare_keys);
	for (uint32_t k = 0; k < KEYS; k++)
		for (uint32_t i = 0; touched[k] && i < h->key_count; i++)
			if (!strcmp(h->keys[i].name,
			            keys_name(s->machine.keys, k)))
				number[k] = i;
}

static void take_sessions(const struct search *s, struct history *h)
{
	uint32_t first = 1;
	h->session_count = s->session_count;
	h->sessions = region_take0(&h->region,
	                           s->session_count * sizeof *h->sessions);
	for (uint32_t i = 0; i < s->session_count; i++) {
		h->sessions[i].name = program_session_name(s->program, i);
		h->sessions[i].after_all = program_has_finally(s->program) &&
		                           i == s->session_count - 1;
		h->sessions[i].first = first;
		h->sessions[i].count = s->run_count[i];
		first += s->run_count[i];
	}
}

static uint32_t number_of(const struct history *h, const struct step *t)
{
	return h->sessions[t->session].first + t->index;
}

static struct history *take_history(const struct search *s)
{
	struct history *h = mem_take0(1, sizeof *h);
	h->ssi = program_is_ssi(s->program);
	uint32_t key_number[KEYS] = { 0 };
	region_init(&h->region);
	take_keys(s, h, key_number);
	take_sessions(s, h);
	h->transaction_count = s->step_count;
	h->transactions = region_take0(&h->region,
	                               s->step_count * sizeof *h->transactions);
	h->order = region_take0(&h->region, s->step_count * sizeof *h->order);
	h->transactions[HISTORY_INIT].name = "init";
	h->transactions[HISTORY_INIT].session = UINT32_MAX;
	for (uint32_t i = 1; i < s->step_count; i++) {
		const struct step *t = &s->steps[i];
		h->order[i] = number_of(h, t);
		struct transaction *w = &h->transactions[h->order[i]];
		w->name = program_transaction_name(s->program, t->name);
		w->own = program_transaction_level(s->program, t->name);
		w->session = t->session;
		w->index = t->index;
		w->aborted = t->aborted;
		w->event_count = t->event_count;
		w->events = region_take(&h->region, (t->event_count + 1) *
		                                            sizeof *w->events);
		for (uint32_t e = 0; e < t->event_count; e++) {
			w->events[e] = t->events[e];
			w->events[e].key = key_number[t->events[e].key];
			uint32_t from = t->events[e].from;
			if (t->events[e].kind == EVENT_READ && from &&
			    from != HISTORY_SELF)
				w->events[e].from =
					number_of(h, &s->steps[from]);
		}
	}
	return h;
}

/* ---- complete executions ---- */

static void mark_findings(const struct search *s, bool *violated)
{
	for (uint32_t i = 0; i < s->session_count; i++)
		for (const struct finding *f = machine_findings(s->states[i]);
		     f; f = f->older) {
			if (f->kind == FINDING_ASSERT)
				violated[f->assertion] = true;
			if (f->kind == FINDING_ERROR)
				violated[s->out->slots - 1] = true;
		}
}

static void mark_final_assertions(struct search *s, bool *violated)
{
	for (uint32_t a = 0; a + 1 < s->out->slots; a++) {
		if (program_assertion(s->program, a)->kind != ASSERTION_FINAL)
			continue;
		const struct finding *f = machine_final_assertion(
			&s->machine, a,
			(const struct machine_state *const *)s->states);
		if (!f) continue;
		violated[f->kind == FINDING_ERROR ? s->out->slots - 1 : a] =
			true;
	}
}

static void output(struct search *s, const struct history *h, const char *text)
{
	struct enumeration *out = s->out;
	VEC_RESERVE(out->items, out->count, out->capacity);
	struct twin_history *t = &out->items[out->count++];
	t->text = mem_copy_string(text);
	t->levels = twin_levels(h);
	t->violated = mem_take0(out->slots, sizeof *t->violated);
	mark_findings(s, t->violated);
	mark_final_assertions(s, t->violated);
}

static bool any_pruned(const struct search *s)
{
	for (uint32_t i = 0; i < s->session_count; i++)
		if (machine_pruned(s->states[i])) return true;
	return false;
}

/* ---- running ---- */

/* Lets the session run to its next transaction, or to its end. */
static void advance(struct search *s, uint32_t session)
{
	struct request r;
	machine_step(&s->machine, s->states[session], &r);
	s->waiting[session] = r.kind == REQUEST_BEGIN;
	s->next_name[session] = r.name;
}

static bool is_finally(const struct search *s, uint32_t session)
{
	return program_has_finally(s->program) &&
	       session == s->session_count - 1;
}

static const struct event *own_write(const struct step *t, uint32_t key)
{
	for (uint32_t i = t->event_count; i-- > 0;)
		if (t->events[i].kind == EVENT_WRITE && t->events[i].key == key)
			return &t->events[i];
	return NULL;
}

static struct machine_state *copy_state(const struct search *s,
                                        uint32_t session)
{
	size_t size = machine_state_size(s->program);
	struct machine_state *copy = aligned_alloc(16, (size + 15) / 16 * 16);
	if (!copy) abort();
	memcpy(copy, s->states[session], size);
	return copy;
}

static void read_from(struct search *s, uint32_t session, struct event e,
                      uint32_t from, struct value v)
{
	struct step *t = &s->steps[s->step_count - 1];
	e.from = from;
	e.value = v;
	t->events[t->event_count++] = e;
	machine_answer(s->program, s->states[session], v);
	run_transaction(s, session);
}

/* Every committed transaction so far that wrote the key, and init. */
static void read_everything(struct search *s, uint32_t session, struct event e)
{
	uint32_t steps = s->step_count;
	struct step *t = &s->steps[steps - 1];
	const struct event *own = own_write(t, e.key);
	if (own) {
		read_from(s, session, e, HISTORY_SELF, own->value);
		return;
	}
	struct machine_state *before = copy_state(s, session);
	uint32_t events = t->event_count;
	for (uint32_t from = 0; from + 1 < steps; from++) {
		const struct event *w = own_write(&s->steps[from], e.key);
		if (from && (s->steps[from].aborted || !w)) continue;
		read_from(s, session, e, from,
		          from ? w->value
		               : keys_initial(s->machine.keys, e.key));
		memcpy(s->states[session], before,
		       machine_state_size(s->program));
		t->event_count = events;
		s->step_count = steps;
	}
	free(before);
}

static void end_transaction(struct search *s, uint32_t session, bool aborted)
{
	uint32_t steps = s->step_count;
	bool was_waiting = s->waiting[session];
	uint32_t name = s->next_name[session];
	s->steps[steps - 1].aborted = aborted;
	s->run_count[session]++;
	advance(s, session);
	run_next(s);
	s->run_count[session]--;
	s->step_count = steps;
	s->waiting[session] = was_waiting;
	s->next_name[session] = name;
}

/* From where the session stands inside its transaction. The caller restores
 * the session's state and the transaction's events. */
static void run_transaction(struct search *s, uint32_t session)
{
	struct step *t = &s->steps[s->step_count - 1];
	for (;;) {
		struct request r;
		machine_step(&s->machine, s->states[session], &r);
		if (r.kind == REQUEST_COMMIT || r.kind == REQUEST_ABORT) {
			end_transaction(s, session, r.kind == REQUEST_ABORT);
			return;
		}
		if (t->event_count == EVENTS || r.key >= KEYS) abort();
		struct event e = { .kind = EVENT_READ,
			           .key = r.key,
			           .point = r.point,
			           .strength = r.strength,
			           .joined = r.joined };
		if (r.kind == REQUEST_READ) {
			read_everything(s, session, e);
			return;
		}
		e.kind = EVENT_WRITE;
		e.value = r.value;
		t->events[t->event_count++] = e;
	}
}

static void begin_transaction(struct search *s, uint32_t session)
{
	struct machine_state *before = copy_state(s, session);
	if (s->step_count == TWIN_TRANSACTIONS) abort();
	struct step *t = &s->steps[s->step_count++];
	t->session = session;
	t->index = s->run_count[session];
	t->name = s->next_name[session];
	t->event_count = 0;
	run_transaction(s, session);
	s->step_count--;
	memcpy(s->states[session], before, machine_state_size(s->program));
	free(before);
}

/* `finally` begins when everybody else is done. */
static void finish(struct search *s, const struct history *h, const char *text)
{
	uint32_t last = s->session_count - 1;
	if (!program_has_finally(s->program) || s->started_finally) {
		output(s, h, text);
		return;
	}
	struct machine_state *before = copy_state(s, last);
	s->started_finally = true;
	advance(s, last);
	if (s->waiting[last])
		begin_transaction(s, last);
	else
		output(s, h, text);
	s->waiting[last] = s->started_finally = false;
	memcpy(s->states[last], before, machine_state_size(s->program));
	free(before);
}

/* Is this prefix one to go on from? */
static bool enter(struct search *s, const struct history *h, const char *text)
{
	if (!seen_add(&s->seen, text) && !s->options.revisit) return false;
	if (s->options.limit && s->seen.count > s->options.limit) {
		s->overflow = true;
		return false;
	}
	if (any_pruned(s)) {
		s->out->pruned++;
		return false;
	}
	return twin_allows(s->options.level, h);
}

static void run_next(struct search *s)
{
	if (s->overflow) return;
	struct history *h = take_history(s);
	struct text t = { 0 };
	bool more = false;
	history_print_canonical(&t, h);
	if (enter(s, h, text_get(&t))) {
		for (uint32_t i = 0; i < s->session_count; i++) {
			if (!s->waiting[i]) continue;
			more = true;
			begin_transaction(s, i);
		}
		if (!more) finish(s, h, text_get(&t));
	}
	text_free(&t);
	history_free(h);
}

/* ---- beginning and end ---- */

static int compare_histories(const void *a, const void *b)
{
	return strcmp(((const struct twin_history *)a)->text,
	              ((const struct twin_history *)b)->text);
}

static void sort_and_unite(struct enumeration *e)
{
	size_t kept = 0;
	if (e->count)
		qsort(e->items, e->count, sizeof *e->items, compare_histories);
	for (size_t i = 0; i < e->count; i++) {
		if (kept &&
		    !compare_histories(&e->items[kept - 1], &e->items[i])) {
			free(e->items[i].text);
			free(e->items[i].violated);
		} else {
			e->items[kept++] = e->items[i];
		}
	}
	e->count = kept;
}

static void start_sessions(struct search *s)
{
	for (uint32_t i = 0; i < s->session_count; i++) {
		size_t size = machine_state_size(s->program);
		s->states[i] = aligned_alloc(16, (size + 15) / 16 * 16);
		if (!s->states[i]) abort();
		machine_start(s->program, i, s->states[i]);
		if (!is_finally(s, i)) advance(s, i);
	}
}

bool twin_enumerate(const struct program *p, struct twin_options o,
                    struct enumeration *out)
{
	struct search *s = mem_take0(1, sizeof *s);
	memset(out, 0, sizeof *out);
	region_init(&s->region);
	s->program = p;
	s->options = o;
	s->out = out;
	s->session_count = program_session_count(p);
	if (s->session_count > SESSIONS) abort();
	out->slots = program_assertion_count(p) + 1;
	s->machine = (struct machine){ .program = p,
		                       .keys = keys_new(p),
		                       .region = &s->region };
	s->step_count = 1;
	start_sessions(s);
	run_next(s);
	sort_and_unite(out);
	bool complete = !s->overflow;
	for (uint32_t i = 0; i < s->session_count; i++) free(s->states[i]);
	keys_free(s->machine.keys);
	region_free(&s->region);
	seen_free(&s->seen);
	free(s);
	return complete;
}

void enumeration_free(struct enumeration *e)
{
	for (size_t i = 0; i < e->count; i++) {
		free(e->items[i].text);
		free(e->items[i].violated);
	}
	free(e->items);
	*e = (struct enumeration){ 0 };
}

size_t enumeration_count(const struct enumeration *e, enum level l)
{
	size_t n = 0;
	for (size_t i = 0; i < e->count; i++) n += e->items[i].levels >> l & 1;
	return n;
}
