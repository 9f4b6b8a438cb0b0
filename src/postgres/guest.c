/* Sessions that PostgreSQL carries out, as the machine runs them (vm/guest.h):
 * what a session does is kept as a tree of steps. Where it is not known what
 * follows, its backend goes on if it waits there; else the session is run from
 * its beginning, with the answers that lead there.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "native/host/step_tree.h"
#include "postgres/library.h"
#include "postgres/wire.h"
#include "vm/bytecode.h"
#include "vm/machine.h"

enum {
	BUDGET = 1 << 28, /* bytes that a runner keeps of what it saw */
	PATIENCE = 60,    /* seconds: a statement that reads nothing so long
	                   * will not end */
	RESETTING = 2     /* seconds: a backend that is not free then is left */
};

/* Keys that a backend asks for at once. */
struct asked_keys {
	struct server_key **keys;
	uint32_t count;
	const struct server_step_node
		*first; /* the step of the first of them */
};

struct server_step_node {
	struct tree_step tree; /* first */
	const struct asked_keys *request;
	uint32_t place; /* in it */
	uint32_t phase; /* of an assertion, or the last transaction */
};

/* The backend of a session. */
struct seat {
	struct connection c;
	int channel; /* 0: none */
	struct text in;
	size_t taken;
	uint64_t live; /* serial of the step at whose request it waits; 0: none
	                */
	bool waits;    /* for an answer to some request */
	bool *sent;    /* versions that it knows, by number */
	uint32_t sent_count;
	uint32_t at;    /* the step of the session that is carried out */
	uint32_t begun; /* transactions in it */
};

struct guest {
	struct server_library *library;
	struct guest *next, *next_idle;
	struct region region;
	struct step_tree tree;
	struct server_step_node *roots;
	struct seat *seats;
	struct connection judge;
	uint64_t serial, asked;
	size_t budget;
	struct machine_limits limits;
};

/* ---- Making ---- */

static void make_roots(struct guest *g)
{
	struct server_library *l = g->library;
	uint32_t count = l->program->sessions_count + l->assertion_count;
	table_init(&g->tree.by_answer, 0);
	g->roots = region_take0(&g->region, (count + 1) * sizeof *g->roots);
	for (uint32_t i = 0; i < count; i++) {
		g->roots[i].tree.step.kind = GUEST_START;
		g->roots[i].tree.serial = ++g->serial;
		g->roots[i].tree.session = i;
		g->roots[i].tree.kept = true;
	}
}

static void forget(struct guest *g)
{
	step_tree_free(&g->tree);
	g->tree = (struct step_tree){ 0 };
	region_free(&g->region);
	region_init(&g->region);
	make_roots(g);
	for (uint32_t i = 0; i < g->library->session_count; i++)
		g->seats[i].live = 0;
}

void server_guests_forget(struct server_library *l)
{
	for (struct guest *g = l->guests; g; g = g->next) forget(g);
}

static struct guest *guest_new(struct server_library *l)
{
	struct guest *g = mem_take0(1, sizeof *g);
	g->library = l;
	g->seats = mem_take0(l->session_count + 1, sizeof *g->seats);
	region_init(&g->region);
	make_roots(g);
	return g;
}

static struct guest *take(struct guest_library *library,
                          const struct machine_limits *limits)
{
	struct server_library *l = server_of(library);
	mem_lock(&l->lock);
	struct guest *g = l->idle;
	if (g) l->idle = g->next_idle;
	mem_unlock(&l->lock);
	if (!g) {
		g = guest_new(l);
		mem_lock(&l->lock);
		g->next = l->guests;
		l->guests = g;
		mem_unlock(&l->lock);
	}
	g->limits = *limits;
	g->budget = limits->memory && limits->memory < BUDGET
	                    ? (size_t)limits->memory
	                    : BUDGET;
	return g;
}

static void give_back(struct guest_library *library, struct guest *g)
{
	struct server_library *l = server_of(library);
	mem_lock(&l->lock);
	g->next_idle = l->idle;
	l->idle = g;
	mem_unlock(&l->lock);
}

static size_t bytes(const struct guest *g)
{
	return g->region.held + step_tree_bytes(&g->tree);
}

static uint64_t asked(const struct guest *g)
{
	return g->asked;
}

static double cpu(const struct guest *g)
{
	(void)g;
	return 0;
}

static void settle(struct guest *g)
{
	(void)g;
}

static const struct guest_step *start(struct guest *g, uint32_t session)
{
	return &g->roots[session].tree.step;
}

static void set_fault(struct server_library *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void set_fault(struct server_library *l, const char *format, ...)
{
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	mem_lock(&l->lock);
	if (!l->fault) {
		l->fault = t.data;
		t = (struct text){ 0 };
	}
	mem_unlock(&l->lock);
	text_free(&t);
}

static bool is_over(const atomic_bool *interrupt, double deadline)
{
	return (interrupt && atomic_load(interrupt)) ||
	       (deadline > 0 && seconds_now() > deadline);
}

static bool gives_up(const struct guest *g)
{
	return is_over(g->limits.interrupt, g->limits.deadline) ||
	       is_over(g->library->interrupt, g->library->deadline);
}

/* Waits so many seconds for PostgreSQL to be done. */
static bool is_done(const struct guest *g, struct connection *c,
                    double patience)
{
	double until = seconds_now() + patience;
	while (c->busy && !gives_up(g) && seconds_now() < until)
		connection_take(c, 100);
	return !c->busy && !c->lost;
}

/* ---- What is said to a backend ---- */

static bool send_bytes(struct seat *s, const void *from, size_t length)
{
	const char *at = from;
	while (length) {
		ssize_t n = send(s->channel, at, length, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return false;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

static void put_record(struct text *t, struct wire_head h,
                       const struct server_key *k, const char *image,
                       uint32_t length)
{
	struct wire_key key = { k->relation->oid, k->length };
	h.length = (uint32_t)sizeof key + k->length + length;
	text_bytes(t, (const char *)&h, sizeof h);
	text_bytes(t, (const char *)&key, sizeof key);
	text_bytes(t, k->image, k->length);
	text_bytes(t, image, length);
}

/* Under the lock. */
static void tell_version(struct text *t, struct seat *s,
                         const struct server_version *v)
{
	if (v->number >= s->sent_count) {
		uint32_t n = 2 * v->number + 16;
		s->sent = mem_grow0(s->sent, s->sent_count, n, sizeof *s->sent);
		s->sent_count = n;
	}
	if (s->sent[v->number]) return;
	s->sent[v->number] = true;
	put_record(t,
	           (struct wire_head){ .kind = WIRE_VERSION,
	                               .number = v->number,
	                               .known = v->known,
	                               .initial = v->initial },
	           v->key, v->image, v->length);
}

/* All that conditions look at. */
static bool tell_known(struct guest *g, struct seat *s)
{
	struct server_library *l = g->library;
	struct text t = { 0 };
	struct wire_head ready = { .kind = WIRE_READY };
	if (s->sent) memset(s->sent, 0, s->sent_count * sizeof *s->sent);
	mem_lock(&l->lock);
	for (uint32_t i = 0; i < l->version_count; i++)
		if (l->versions[i]->known) tell_version(&t, s, l->versions[i]);
	for (uint32_t i = 0; i < l->key_count; i++)
		if (l->keys[i]->gone && l->keys[i]->known)
			put_record(&t, (struct wire_head){ .kind = WIRE_GONE },
			           l->keys[i], "", 0);
	mem_unlock(&l->lock);
	text_bytes(&t, (const char *)&ready, sizeof ready);
	bool fine = send_bytes(s, t.data, t.length);
	text_free(&t);
	return fine;
}

static struct server_version *version_of(struct server_key *k, struct value v)
{
	struct server_version *x = k->versions;
	while (x && !value_equal(x->value, v)) x = x->older;
	return x;
}

static bool tell_answers(struct guest *g, struct seat *s,
                         const struct asked_keys *r,
                         const struct value *answers)
{
	struct text t = { 0 }, numbers = { 0 };
	struct wire_head h = { .kind = WIRE_ANSWER };
	mem_lock(&g->library->lock);
	for (uint32_t i = 0; i < r->count; i++) {
		uint32_t number = 0;
		if (answers[i].tag != VALUE_NULL) {
			struct server_version *v =
				version_of(r->keys[i], answers[i]);
			assert(v);
			tell_version(&t, s, v);
			number = v->number;
		}
		text_bytes(&numbers, (const char *)&number, sizeof number);
	}
	mem_unlock(&g->library->lock);
	h.length = (uint32_t)numbers.length;
	h.number = r->count;
	text_bytes(&t, (const char *)&h, sizeof h);
	text_bytes(&t, numbers.data, numbers.length);
	s->waits = false;
	bool fine = send_bytes(s, t.data, t.length);
	text_free(&t);
	text_free(&numbers);
	return fine;
}

/* ---- Backends ---- */

static void leave_seat(struct seat *s)
{
	connection_close(&s->c);
	if (s->channel > 0) close(s->channel);
	text_free(&s->in);
	free(s->sent);
	*s = (struct seat){ 0 };
}

static bool receive_all(int fd, void *to, size_t length)
{
	char *at = to;
	while (length) {
		ssize_t n = recv(fd, at, length, 0);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return false;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

/* The backend of this session comes next: others wait for the lock. */
static bool take_channel(struct server_library *l, struct seat *s)
{
	struct wire_head hello;
	struct pollfd p = { .fd = l->listener, .events = POLLIN };
	if (poll(&p, 1, 10000) <= 0) return false;
	s->channel = accept(l->listener, NULL, NULL);
	return s->channel > 0 &&
	       receive_all(s->channel, &hello, sizeof hello) &&
	       hello.kind == WIRE_HELLO;
}

/* What it has said of what is over is of no interest. */
static void drain(struct seat *s)
{
	char buffer[1 << 12];
	assert(!s->c.busy);
	while (recv(s->channel, buffer, sizeof buffer, MSG_DONTWAIT) > 0)
		continue;
	text_clear(&s->in);
	s->taken = 0;
}

static bool take_seat(struct guest *g, uint32_t session)
{
	struct server_library *l = g->library;
	struct seat *s = &g->seats[session];
	struct text options = { 0 }, why = { 0 };
	if (connection_is_open(&s->c)) return true;
	leave_seat(s);
	text_format(&options,
	            "-c default_table_access_method=isoscope "
	            "-c isoscope.session=%u -c isoscope.socket=%s/isoscope "
	            "-c isoscope.name=",
	            session, cluster_folder(l->cluster));
	for (const char *at = l->sessions[session].name; *at; at++) {
		if (*at == ' ' || *at == '\\') text_char(&options, '\\');
		text_char(&options, *at);
	}
	bool fine = connection_open(&s->c, cluster_folder(l->cluster),
	                            text_get(&options), &why);
	if (fine) {
		mem_lock(&l->lock);
		connection_send(&s->c, "SELECT isoscope_engine.restart()");
		fine = take_channel(l, s);
		mem_unlock(&l->lock);
		if (!fine) text_string(&why, "a backend does not answer");
	}
	fine = fine && tell_known(g, s);
	if (fine && !is_done(g, &s->c, PATIENCE)) {
		fine = false;
		text_string(&why, "it does not answer");
	}
	if (fine && *s->c.state) {
		fine = false;
		text_string(&why, text_get(&s->c.message));
	}
	if (fine) drain(s);
	if (!fine && !gives_up(g)) {
		set_fault(l, "PostgreSQL does not serve session '%s': %s",
		          l->sessions[session].name, text_get(&why));
	}
	if (!fine) leave_seat(s);
	text_free(&options);
	text_free(&why);
	return fine;
}

/* ---- Steps that a backend is seen to do ---- */

struct run {
	struct guest *guest;
	struct seat *seat;
	uint32_t session;
	struct region *to;
	struct server_step_node *first, *last;
	const struct guest_note *notes;
	const struct finding *findings;
	const char *failure;
	struct value answer; /* that leads to the first one */
	struct server_step_node *from;
	bool replays;  /* what is done was seen before */
	bool frontier; /* it waits for what is not known */
	bool done;
	/* Steps since the last request, before their notes are known. */
	struct server_step_node *open;
	const struct asked_keys **path;
	struct value **path_answers;
	uint32_t path_count, path_at;
	bool broken;
	bool repeats; /* something else that is explored */
};

static struct server_step_node *emit(struct run *r, enum guest_request kind)
{
	struct guest *g = r->guest;
	if (r->replays) return NULL;
	struct server_step_node *s = region_take0(r->to, sizeof *s);
	s->tree.step.kind = kind;
	s->tree.kept = r->to == &g->region;
	s->tree.step.notes = r->notes;
	s->tree.step.findings = r->findings;
	s->tree.step.failure = r->failure;
	s->tree.step.pruned = r->repeats;
	struct server_step_node *last = r->last ? r->last : r->from;
	if (!r->first && step_waits(&r->from->tree))
		s->tree.answer = value_copy(r->to, r->answer);
	s->tree.before = &last->tree;
	s->tree.session = last->tree.session;
	s->tree.serial = ++g->serial;
	/* The first is found from where it starts when all are there. */
	if (r->first)
		step_tree_add(&g->tree, &last->tree, &s->tree);
	else
		r->first = s;
	r->last = s;
	if (!r->open) r->open = s;
	return s;
}

static const struct server_step *step_at(const struct run *r)
{
	const struct server_session *x =
		&r->guest->library->sessions[r->session];
	assert(r->seat->at < x->count);
	return &x->steps[r->seat->at];
}

static void put_key(struct guest_step *s, const struct server_key *k)
{
	s->global = k->relation->global;
	s->key = k->value;
}

static struct server_key *read_key(struct run *r, const char **at,
                                   const char *end)
{
	struct wire_key k;
	assert(end - *at >= (ptrdiff_t)sizeof k);
	memcpy(&k, *at, sizeof k);
	struct server_relation *x =
		server_relation(r->guest->library, k.relation);
	if (!x || (uint32_t)(end - *at) < sizeof k + k.length) return NULL;
	const char *image = *at + sizeof k;
	*at += sizeof k + k.length;
	return server_key(r->guest->library, x, image, k.length);
}

static void fail_run(struct run *r, const char *why)
{
	set_fault(r->guest->library, "session '%s': %s",
	          r->guest->library->sessions[r->session].name, why);
	r->broken = true;
}

static void take_read(struct run *r, const struct wire_head *h,
                      const char *body)
{
	struct guest *g = r->guest;
	const char *end = body + h->length;
	struct asked_keys *q = region_take0(r->to, sizeof *q);
	q->count = h->number;
	q->keys = region_take0(r->to, (q->count + (size_t)1) * sizeof *q->keys);
	mem_lock(&g->library->lock);
	for (uint32_t i = 0; i < q->count; i++)
		q->keys[i] = read_key(r, &body, end);
	mem_unlock(&g->library->lock);
	r->seat->waits = true;
	for (uint32_t i = 0; i < q->count; i++)
		if (!q->keys[i]) {
			fail_run(r, "it reads a table that was not there when "
			            "it was set up");
			return;
		}
	if (r->path_at < r->path_count) {
		const struct asked_keys *known = r->path[r->path_at];
		bool same = known->count == q->count &&
		            !memcmp(known->keys, q->keys,
		                    q->count * sizeof *q->keys);
		if (!same) {
			fail_run(r, "it does not do the same for the same "
			            "answers: it depends on something that is "
			            "not in the database");
			return;
		}
		struct value *answers = r->path_answers[r->path_at++];
		r->broken = !tell_answers(g, r->seat, known, answers);
		if (r->path_at == r->path_count) r->replays = false;
		return;
	}
	struct server_step_node *s = emit(r, GUEST_GET);
	assert(s);
	put_key(&s->tree.step, q->keys[0]);
	s->tree.step.point = step_at(r)->point;
	s->tree.step.strength = (enum strength)h->strength;
	s->tree.step.joined = h->joined;
	s->request = q;
	q->first = s;
	r->seat->live = s->tree.serial;
	r->frontier = true;
}

/* Rows that conditions have to look at turn up. */
static void note_growth(struct server_library *l, struct server_key *k,
                        struct server_version *v, bool goes)
{
	if (k->relation->index) return;
	if (k->gone >= goes && (v ? v->known : k->known)) return;
	k->gone |= goes;
	l->grew = true;
	if (l->fault) return;
	struct text t = { 0 };
	text_format(
		&t,
		"the exploration is too large to know beforehand which rows "
		"conditions can find: a session has written a row of table "
		"\"%s\" that was not known",
		k->relation->name);
	l->fault = t.data;
}

static void take_write(struct run *r, const struct wire_head *h,
                       const char *body)
{
	struct server_library *l = r->guest->library;
	const char *end = body + h->length;
	struct server_version *v = NULL;
	if (r->replays) return;
	mem_lock(&l->lock);
	struct server_key *k = read_key(r, &body, end);
	if (k && h->number)
		v = server_version(l, k, body, (uint32_t)(end - body));
	if (k) note_growth(l, k, v, h->number != 1);
	mem_unlock(&l->lock);
	if (!k) {
		fail_run(r, "it writes to a table that was not there when it "
		            "was set up");
		return;
	}
	struct guest_step *s = &emit(r, GUEST_PUT)->tree.step;
	put_key(s, k);
	s->value = v ? v->value : value_null();
	s->point = step_at(r)->point;
	s->strength = (enum strength)h->strength;
	s->joined = h->joined;
}

static void take_given_up(struct run *r, const struct wire_head *h,
                          const char *body)
{
	const char *end = body + h->length;
	struct server_library *l = r->guest->library;
	if (r->replays) return;
	mem_lock(&l->lock);
	struct server_key *k = read_key(r, &body, end);
	mem_unlock(&l->lock);
	assert(k); /* it was read */
	struct guest_step *s = &emit(r, GUEST_GIVE_UP)->tree.step;
	put_key(s, k);
	s->point = step_at(r)->point;
}

static void take_record(struct run *r, const struct wire_head *h,
                        const char *body)
{
	const struct server_step *step = step_at(r);
	struct server_step_node *s;
	switch (h->kind) {
	case WIRE_BEGIN: {
		uint32_t n = r->seat->begun++;
		if (n >= step->name_count) n = step->name_count - 1;
		if (!r->replays) r->failure = NULL;
		s = emit(r, GUEST_BEGIN);
		if (s) s->tree.step.name = step->names[n];
		break;
	}
	case WIRE_READ: take_read(r, h, body); break;
	case WIRE_WRITE: take_write(r, h, body); break;
	case WIRE_GIVE_UP: take_given_up(r, h, body); break;
	case WIRE_COMMIT: emit(r, GUEST_COMMIT); break;
	case WIRE_ABORT: emit(r, GUEST_ABORT); break;
	case WIRE_REPEATS: r->repeats = true; break;
	case WIRE_REFUSE: {
		struct text t = { 0 };
		text_format(&t,
		            "step '%s': --engine=postgres does not "
		            "support %.*s",
		            step->spec ? step->spec->name : "setup",
		            (int)h->length, body);
		fail_run(r, text_get(&t));
		text_free(&t);
		break;
	}
	default: fail_run(r, "its backend says something unknown"); break;
	}
}

/* Whole records that have come. */
static void take_records(struct run *r)
{
	struct seat *s = r->seat;
	while (!r->broken && !r->frontier) {
		struct wire_head h;
		size_t there = s->in.length - s->taken;
		if (there < sizeof h) break;
		memcpy(&h, s->in.data + s->taken, sizeof h);
		if (there < sizeof h + h.length) break;
		const char *body = s->in.data + s->taken + sizeof h;
		s->taken += sizeof h + h.length;
		take_record(r, &h, body);
	}
	if (s->taken < s->in.length) return;
	text_clear(&s->in);
	s->taken = 0;
}

static void receive_records(struct run *r)
{
	char buffer[1 << 13];
	for (;;) {
		ssize_t n = recv(r->seat->channel, buffer, sizeof buffer,
		                 MSG_DONTWAIT);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) break;
		text_bytes(&r->seat->in, buffer, (size_t)n);
		if (n < (ssize_t)sizeof buffer) break;
	}
	take_records(r);
}

/* ---- The ends of steps ---- */

static void add_note(struct run *r, const struct server_step *step,
                     struct value v)
{
	struct guest_note *n = region_take0(r->to, sizeof *n);
	n->older = r->notes;
	n->count = n->older ? n->older->count + 1 : 1;
	n->name = step->spec->name;
	n->value = value_copy(r->to, v);
	n->place = step->place;
	r->notes = n;
}

static struct value rows_value(struct region *r, const struct connection *c)
{
	struct value *rows =
		mem_take((c->row_count + (size_t)1) * sizeof *rows);
	struct value *items =
		mem_take((c->column_count + (size_t)1) * sizeof *items);
	uint32_t length, n, count = 0;
	const char *row, *text;
	size_t at = 0;
	while ((row = connection_row(c, &at, &length))) {
		const char *end = row + length;
		uint32_t i = 0;
		while (i < c->column_count &&
		       image_next(&row, end, &text, &n)) {
			items[i] = server_value(r, c->columns[i].type, text, n);
			i++;
		}
		rows[count++] = value_sequence(r, VALUE_TUPLE, items, i);
	}
	struct value v = value_sequence(r, VALUE_LIST, rows, count);
	free(rows);
	free(items);
	return v;
}

static const struct finding *wrong(struct run *r,
                                   const struct server_step *step)
{
	const struct connection *c = &r->seat->c;
	struct finding *f = region_take0(r->to, sizeof *f);
	struct text t = { 0 };
	text_format(&t, "the session's setup failed: %s (%s)",
	            text_get(&c->message), c->state);
	f->kind = FINDING_ERROR;
	f->point = step->point;
	f->message = region_copy_string(r->to, text_get(&t), t.length);
	text_free(&t);
	return f;
}

/* PostgreSQL is done with a step. What was emitted since the last read gets its
 * result. */
static void end_step(struct run *r)
{
	const struct server_step *step = step_at(r);
	const struct connection *c = &r->seat->c;
	if (r->replays) return; /* it is known */
	if (*c->state) {
		struct value pair[] = { value_string(r->to, "error", 5),
			                value_string(r->to, c->state,
			                             strlen(c->state)) };
		struct text t = { 0 };
		text_format(&t, "%s: %s", c->state, text_get(&c->message));
		r->failure = region_copy_string(r->to, text_get(&t), t.length);
		text_free(&t);
		if (step->spec)
			add_note(r, step, value_record(r->to, pair, 1));
		else
			r->findings = wrong(r, step);
	} else if (step->spec && c->has_result) {
		add_note(r, step, rows_value(r->to, c));
	}
	for (struct tree_step *s = r->open ? &r->open->tree : NULL; s;
	     s = s->next) {
		s->step.notes = r->notes;
		s->step.findings = r->findings;
		if (s->step.kind == GUEST_ABORT) s->step.failure = r->failure;
	}
	r->open = NULL;
}

/* Waits for PostgreSQL to be done, or to ask for what is not known. False: it
 * was given up. */
static bool wait_for_backend(struct run *r)
{
	struct seat *s = r->seat;
	double until = seconds_now() + PATIENCE;
	while (s->c.busy && !r->frontier && !r->broken) {
		struct pollfd p[2] = { { .fd = s->channel, .events = POLLIN },
			               { .fd = s->c.fd, .events = POLLIN } };
		int n = poll(p, 2, 100);
		if (gives_up(r->guest)) return false;
		if (seconds_now() > until) {
			struct text t = { 0 };
			const struct spec_step *spec = step_at(r)->spec;
			text_format(&t,
			            "step '%s': it has run for %d s "
			            "without reading a table",
			            spec ? spec->name : "setup", PATIENCE);
			fail_run(r, text_get(&t));
			text_free(&t);
			break;
		}
		if (n <= 0) continue;
		if (p[0].revents) until = seconds_now() + PATIENCE;
		if (p[0].revents) receive_records(r);
		if (r->frontier || r->broken) break;
		if (p[1].revents) connection_take(&s->c, 0);
	}
	if (!r->frontier && !r->broken) receive_records(r);
	if (s->c.lost) fail_run(r, text_get(&s->c.message));
	return !r->broken;
}

/* From where the backend is up to the next read that is not known, or to the
 * end. */
static bool go_on(struct run *r)
{
	struct seat *s = r->seat;
	const struct server_session *x =
		&r->guest->library->sessions[r->session];
	for (;;) {
		if (!wait_for_backend(r)) return false;
		if (r->frontier) return true;
		end_step(r);
		if (s->at + 1 >= x->count || r->findings || r->repeats) break;
		s->at++;
		s->begun = 0;
		connection_send(&s->c, step_at(r)->text);
	}
	if (s->c.status != 'I') {
		connection_send(&s->c, "ROLLBACK");
		if (!wait_for_backend(r)) return false;
	}
	struct server_step_node *end = emit(r, GUEST_END);
	if (end) end->tree.step.value = value_bool(true);
	r->done = true;
	return true;
}

/* ---- From a step on ---- */

/* The backend of the seat at the beginning of its session, if it can be brought
 * there. */
static bool reset_seat(struct guest *g, struct seat *s)
{
	struct wire_head stop = { .kind = WIRE_STOP };
	if (!connection_is_open(&s->c) ||
	    (s->waits && !send_bytes(s, &stop, sizeof stop)) ||
	    !is_done(g, &s->c, RESETTING))
		return false;
	if (s->c.status != 'I') {
		connection_send(&s->c, "ROLLBACK");
		if (!is_done(g, &s->c, RESETTING)) return false;
	}
	drain(s);
	connection_send(&s->c, "DISCARD ALL");
	if (!is_done(g, &s->c, RESETTING)) return false;
	connection_send(&s->c, "SELECT isoscope_engine.restart()");
	if (!tell_known(g, s) || !is_done(g, &s->c, PATIENCE)) return false;
	drain(s);
	return !*s->c.state;
}

/* A seat at the beginning of its session. */
static bool begin_anew(struct guest *g, uint32_t session)
{
	struct seat *s = &g->seats[session];
	if (!reset_seat(g, s)) {
		leave_seat(s);
		if (!take_seat(g, session)) return false;
	}
	assert(!s->c.busy && s->c.status == 'I');
	s->waits = false;
	s->live = 0;
	s->at = s->begun = 0;
	return true;
}

/* The requests on the way to the step, with their answers. */
static void find_path(struct run *r, struct server_step_node *from,
                      struct value answer)
{
	uint32_t count = 0;
	for (const struct tree_step *s = &from->tree; s; s = s->before)
		count += step_waits(s) &&
		         ((const struct server_step_node *)s)->place == 0;
	r->path = mem_take((count + (size_t)1) * sizeof *r->path);
	r->path_answers =
		mem_take((count + (size_t)1) * sizeof *r->path_answers);
	r->path_count = count;
	for (const struct tree_step *s = &from->tree; s; s = s->before) {
		const struct server_step_node *n =
			(const struct server_step_node *)s;
		struct value was = answer;
		answer = s->answer;
		if (!step_waits(s)) continue;
		if (n->place + 1 == n->request->count) {
			count--;
			r->path[count] = n->request;
			r->path_answers[count] = mem_take(n->request->count *
			                                  sizeof(struct value));
		}
		r->path_answers[count][n->place] = was;
	}
	assert(!count);
}

static void free_path(struct run *r)
{
	for (uint32_t i = 0; i < r->path_count; i++) free(r->path_answers[i]);
	free(r->path);
	free(r->path_answers);
}

static struct server_step_node *run_session(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to)
{
	struct run r = { .guest = g,
		         .seat = &g->seats[from->tree.session],
		         .session = from->tree.session,
		         .to = to,
		         .answer = answer,
		         .from = from,
		         .notes = from->tree.step.notes,
		         .findings = from->tree.step.findings,
		         .failure = from->tree.step.failure };
	bool waits = step_waits(&from->tree), fine = true;
	g->asked++;
	if (gives_up(g)) return NULL;
	find_path(&r, from, answer);
	if (waits && r.seat->live &&
	    r.seat->live == from->request->first->tree.serial) {
		r.path_at = r.path_count;
		fine = tell_answers(g, r.seat, from->request,
		                    r.path_answers[r.path_count - 1]);
	} else {
		const char *first;
		fine = begin_anew(g, r.session);
		r.replays = waits;
		first = g->library->sessions[r.session].steps[0].text;
		if (fine) connection_send(&r.seat->c, first);
	}
	r.seat->live = 0;
	fine = fine && go_on(&r);
	free_path(&r);
	if (!fine) {
		leave_seat(r.seat);
		return NULL;
	}
	assert(r.first);
	if (!waits || r.first->tree.kept)
		step_tree_add(&g->tree, &from->tree, &r.first->tree);
	return r.first;
}

/* ---- The last transaction ---- */

static struct server_step_node *child(struct guest *g,
                                      struct server_step_node *from,
                                      struct value answer, struct region *to,
                                      enum guest_request kind)
{
	struct server_step_node *s = region_take0(to, sizeof *s);
	bool waits = step_waits(&from->tree);
	s->tree.step.kind = kind;
	s->tree.step.notes = from->tree.step.notes;
	s->tree.kept = to == &g->region;
	if (waits) s->tree.answer = value_copy(to, answer);
	s->tree.before = &from->tree;
	s->tree.session = from->tree.session;
	s->tree.serial = ++g->serial;
	s->phase = from->phase + 1;
	if (!waits || s->tree.kept)
		step_tree_add(&g->tree, &from->tree, &s->tree);
	return s;
}

/* The next key of a request. */
static struct server_step_node *next_key(struct guest *g,
                                         struct server_step_node *from,
                                         struct value answer, struct region *to)
{
	struct server_step_node *s = child(g, from, answer, to, GUEST_GET);
	s->tree.step = from->tree.step;
	s->tree.step.joined = true;
	s->request = from->request;
	s->place = from->place + 1;
	put_key(&s->tree.step, s->request->keys[s->place]);
	return s;
}

/* All rows of the tables that assertions ask for. */
static struct asked_keys *final_request(struct guest *g, struct region *to)
{
	struct server_library *l = g->library;
	struct asked_keys *q = region_take0(to, sizeof *q);
	mem_lock(&l->lock);
	q->keys =
		region_take0(to, (l->key_count + (size_t)1) * sizeof *q->keys);
	for (uint32_t t = 0; t < l->relation_count; t++)
		for (uint32_t i = 0; i < l->key_count; i++)
			if (l->relations[t]->asked && l->keys[i]->known &&
			    l->keys[i]->relation == l->relations[t])
				q->keys[q->count++] = l->keys[i];
	mem_unlock(&l->lock);
	return q;
}

static const struct guest_note *final_notes(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to)
{
	struct server_library *l = g->library;
	const struct asked_keys *q = from->request;
	const struct guest_note *notes = NULL;
	if (!q) return NULL;
	struct value *answers =
		mem_take((q->count + (size_t)1) * sizeof *answers);
	struct value *rows = mem_take((q->count + (size_t)1) * sizeof *rows);
	for (const struct tree_step *s = &from->tree; step_waits(s);
	     s = s->before) {
		answers[((const struct server_step_node *)s)->place] = answer;
		answer = s->answer;
	}
	for (uint32_t t = 0; t < l->relation_count; t++) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < q->count; i++) {
			struct value pair[2] = { q->keys[i]->value,
				                 answers[i] };
			if (q->keys[i]->relation == l->relations[t] &&
			    answers[i].tag != VALUE_NULL)
				rows[count++] = value_sequence(to, VALUE_TUPLE,
				                               pair, 2);
		}
		if (!count) continue;
		struct guest_note *n = region_take0(to, sizeof *n);
		n->older = notes;
		n->count = notes ? notes->count + 1 : 1;
		n->name = l->relations[t]->name;
		n->value = value_sequence(to, VALUE_LIST, rows, count);
		notes = n;
	}
	free(answers);
	free(rows);
	return notes;
}

static struct server_step_node *run_finally(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to)
{
	struct server_step_node *s;
	struct asked_keys *q = NULL;
	switch (from->tree.step.kind) {
	case GUEST_START:
		s = child(g, from, answer, to, GUEST_BEGIN);
		s->tree.step.name = g->library->finally_name;
		return s;
	case GUEST_BEGIN: q = final_request(g, to); break;
	case GUEST_COMMIT:
		s = child(g, from, answer, to, GUEST_END);
		s->tree.step.value = value_bool(true);
		return s;
	default: break;
	}
	if (q && q->count) {
		s = child(g, from, answer, to, GUEST_GET);
		s->tree.step.point = g->library->finally_point;
		s->request = q;
		q->first = s;
		put_key(&s->tree.step, q->keys[0]);
		return s;
	}
	s = child(g, from, answer, to, GUEST_COMMIT);
	s->tree.step.notes = final_notes(g, from, answer, to);
	return s;
}

/* ---- Assertions ---- */

static void put_literal(struct text *t, struct value v, const char *type)
{
	struct text own = { 0 };
	switch (v.tag) {
	case VALUE_NULL: break;
	case VALUE_BOOL: text_string(&own, v.i ? "t" : "f"); break;
	case VALUE_INT: text_int(&own, v.i); break;
	default: text_bytes(&own, v.o->bytes, v.o->length); break;
	}
	if (v.tag == VALUE_NULL) {
		text_format(t, "NULL::%s", type);
		return;
	}
	text_string(t, "E'");
	for (size_t i = 0; i < own.length; i++) {
		if (strchr("'\\", own.data[i])) text_char(t, '\\');
		text_char(t, own.data[i]);
	}
	text_format(t, "'::%s", type);
	text_free(&own);
}

static void put_name(struct text *t, const char *name)
{
	text_char(t, '"');
	for (; *name; name++) {
		if (*name == '"') text_char(t, '"');
		text_char(t, *name);
	}
	text_char(t, '"');
}

/* Of a record, by column. */
static struct value field(struct value row, const char *name)
{
	for (uint32_t i = 0; i < row.o->length; i += 2)
		if (!strcmp(row.o->items[i].o->bytes, name))
			return row.o->items[i + 1];
	return value_null();
}

/* `name`(columns) AS (rows): rows are tuples, or (key, record). */
static void put_relation(struct text *t, const char *name,
                         const char *const *columns, const char *const *types,
                         uint32_t count, struct value rows, bool table)
{
	uint32_t n = rows.tag == VALUE_LIST ? rows.o->length : 0;
	text_string(t, t->length ? ", " : "WITH ");
	put_name(t, name);
	for (uint32_t c = 0; c < count; c++) {
		text_string(t, c ? ", " : "(");
		put_name(t, columns[c]);
	}
	text_string(t, count ? ") AS (" : " AS (");
	for (uint32_t i = 0; i < n || !i; i++) {
		text_string(t, i ? " UNION ALL SELECT " : "SELECT ");
		for (uint32_t c = 0; c < count; c++) {
			struct value row = n ? rows.o->items[i] : value_null();
			struct value v = value_null();
			if (n && table)
				v = field(row.o->items[1], columns[c]);
			else if (n && c < row.o->length)
				v = row.o->items[c];
			if (c) text_string(t, ", ");
			put_literal(t, v, types[c]);
		}
		if (!n) {
			text_string(t, " WHERE false");
			break;
		}
	}
	text_char(t, ')');
}

static const struct server_session *session_of(const struct server_library *l,
                                               const struct server_step *s)
{
	return &l->sessions[s->session];
}

static void put_step(struct text *t, const struct server_library *l,
                     const struct server_step *s, struct value rows)
{
	const struct server_session *x = session_of(l, s);
	uint32_t own = 0;
	for (uint32_t i = 0; i < x->count; i++) own += x->steps[i].spec != NULL;
	put_relation(t, s->spec->name, s->columns, s->type_names,
	             s->column_count, rows, false);
	if (own == 1 && strcmp(x->name, s->spec->name))
		put_relation(t, x->name, s->columns, s->type_names,
		             s->column_count, rows, false);
}

/* The query, where step.error stands for what it was. */
static void put_query(struct text *t, const struct server_assertion *a,
                      const struct value *notes)
{
	uint32_t at = 0;
	text_string(t, t->length ? " SELECT * FROM (" : "SELECT * FROM (");
	for (uint32_t i = 0; i < a->error_count; i++) {
		struct value v = notes[a->error_steps[i]];
		text_bytes(t, a->text + at, a->errors[i] - at);
		text_char(t, '(');
		put_literal(
			t, v.tag == VALUE_RECORD ? v.o->items[1] : value_null(),
			"text");
		text_char(t, ')');
		at = a->errors[i] + a->error_lengths[i];
	}
	text_string(t, a->text + at);
	text_string(t, "\n) AS assertion");
}

static struct finding *undecided(struct region *to,
                                 const struct server_assertion *a,
                                 const char *why, const char *state)
{
	struct finding *f = region_take0(to, sizeof *f);
	struct text t = { 0 };
	text_format(&t, "the assertion cannot be decided: %s%s%s%s", why,
	            *state ? " (" : "", state, *state ? ")" : "");
	f->kind = FINDING_ERROR;
	f->point = a->point;
	f->message = region_copy_string(to, text_get(&t), t.length);
	text_free(&t);
	return f;
}

static bool open_judge(struct guest *g)
{
	struct text why = { 0 };
	if (connection_is_open(&g->judge)) return true;
	connection_close(&g->judge);
	bool fine = connection_open(
		&g->judge, cluster_folder(g->library->cluster), "", &why);
	if (!fine) set_fault(g->library, "%s", text_get(&why));
	text_free(&why);
	return fine;
}

static bool judge(struct guest *g, const struct server_assertion *a,
                  const struct value *notes, struct guest_step *end,
                  struct region *to)
{
	struct server_library *l = g->library;
	struct connection *c = &g->judge;
	struct text t = { 0 };
	uint32_t n = a->step_count;
	if (!open_judge(g)) return false;
	for (uint32_t i = 0; i < a->step_count; i++)
		put_step(&t, l, a->steps[i], notes[i]);
	for (uint32_t i = 0; i < l->relation_count; i++) {
		const struct server_relation *r = l->relations[i];
		if (!r->asked) continue;
		put_relation(&t, r->name, r->columns, r->type_names,
		             r->column_count, notes[n++], true);
	}
	put_query(&t, a, notes);
	end->point = a->point;
	end->value = value_bool(false);
	connection_send(c, text_get(&t));
	text_free(&t);
	if (!is_done(g, c, PATIENCE)) {
		if (!gives_up(g))
			set_fault(l, "an assertion: %s",
			          c->lost ? text_get(&c->message)
			                  : "PostgreSQL does not answer");
		connection_close(c);
		return false;
	}
	bool fine = !*c->state;
	size_t at = 0;
	uint32_t length;
	const char *row = connection_row(c, &at, &length);
	if (!fine) {
		end->findings =
			undecided(to, a, text_get(&c->message), c->state);
	} else if (c->row_count != 1) {
		end->findings =
			undecided(to, a,
		                  c->row_count ? "it has more than one row"
		                               : "it has no row",
		                  "");
	} else {
		char *text = image_column(row, length, 0);
		if (!text)
			end->findings = undecided(to, a, "it is NULL", "");
		else
			end->value = value_bool(*text == 't');
		free(text);
	}
	return true;
}

static struct server_step_node *run_assertion(struct guest *g,
                                              struct server_step_node *from,
                                              struct value answer,
                                              struct region *to)
{
	struct server_library *l = g->library;
	const struct server_assertion *a =
		&l->assertions[from->tree.session - l->program->sessions_count];
	uint32_t n = from->phase, tables = 0, most = a->step_count;
	const char *name = NULL, *session = "finally";
	for (uint32_t i = 0; i < l->relation_count; i++) {
		if (!l->relations[i]->asked) continue;
		if (n == a->step_count + tables++) name = l->relations[i]->name;
	}
	most += tables;
	if (n < a->step_count) {
		name = a->steps[n]->spec->name;
		session = session_of(l, a->steps[n])->name;
	}
	if (n < most) {
		struct server_step_node *s =
			child(g, from, answer, to, GUEST_NOTED);
		struct value pair[] = { value_string(to, session,
			                             strlen(session)),
			                value_string(to, name, strlen(name)) };
		s->tree.step.key = value_sequence(to, VALUE_TUPLE, pair, 2);
		s->tree.step.point = a->point;
		if (n < a->step_count) s->tree.step.place = a->steps[n]->place;
		return s;
	}
	struct value *notes = mem_take((most + (size_t)1) * sizeof *notes);
	struct value last = answer;
	for (const struct tree_step *s = &from->tree; n; s = s->before) {
		notes[--n] = last;
		last = s->answer;
	}
	g->asked++;
	struct guest_step end = { 0 };
	bool fine = judge(g, a, notes, &end, to);
	free(notes);
	if (!fine) return NULL;
	struct server_step_node *s = child(g, from, answer, to, GUEST_END);
	s->tree.step.value = end.value;
	s->tree.step.point = end.point;
	s->tree.step.findings = end.findings;
	return s;
}

static const struct guest_step *next(struct guest *g,
                                     const struct guest_step *from,
                                     struct value answer, struct region *r)
{
	struct server_library *l = g->library;
	struct server_step_node *at = (struct server_step_node *)from;
	struct tree_step *known = step_tree_find(&g->tree, &at->tree, answer);
	if (known) return &known->step;
	bool keep = at->tree.kept &&
	            (!step_waits(&at->tree) || bytes(g) < g->budget);
	struct region *to = keep ? &g->region : r;
	struct server_step_node *s;
	uint32_t session = at->tree.session;
	if (at->request && at->place + 1 < at->request->count)
		s = next_key(g, at, answer, to);
	else if (session < l->session_count)
		s = run_session(g, at, answer, to);
	else if (session < l->program->sessions_count)
		s = run_finally(g, at, answer, to);
	else
		s = run_assertion(g, at, answer, to);
	return s ? &s->tree.step : NULL;
}

/* ---- The library ---- */

static bool call(struct guest *g, uint32_t function,
                 const struct value *arguments, uint32_t count,
                 struct region *r, struct value *out, const char **error)
{
	(void)g, (void)function, (void)arguments, (void)count, (void)r;
	(void)out;
	*error = "a program in SQL has no functions in C";
	return false;
}

static const char *fault(struct guest_library *library)
{
	struct server_library *l = server_of(library);
	mem_lock(&l->lock);
	const char *why = l->fault;
	mem_unlock(&l->lock);
	return why;
}

static const char *bound(struct guest_library *l, uint32_t *point)
{
	(void)l;
	*point = 0;
	return NULL;
}

void server_guests_free(struct server_library *l)
{
	while (l->guests) {
		struct guest *g = l->guests;
		l->guests = g->next;
		for (uint32_t i = 0; i < l->session_count; i++)
			leave_seat(&g->seats[i]);
		free(g->seats);
		connection_close(&g->judge);
		step_tree_free(&g->tree);
		region_free(&g->region);
		free(g);
	}
}

static void release(struct guest_library *library)
{
	server_library_free(server_of(library));
}

/* Places, names and assertions are the program's own. */
const struct guest_ops server_guest_ops = {
	.take = take,
	.give_back = give_back,
	.bytes = bytes,
	.asked = asked,
	.cpu = cpu,
	.settle = settle,
	.start = start,
	.next = next,
	.call = call,
	.fault = fault,
	.bound = bound,
	.release = release,
};
