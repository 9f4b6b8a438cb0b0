/* What a session is seen to do from a step on: its backend goes on if it waits
 * there; else the session is run from its beginning, with the answers that lead
 * there. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "postgres/guest.h"
#include "postgres/wire.h"
#include "vm/bytecode.h"

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
	server_set_fault(r->guest->library, "session '%s': %s",
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
		r->broken = !seat_tell_answers(g, r->seat, known, answers);
		if (r->path_at == r->path_count) r->replays = false;
		return;
	}
	struct server_step_node *s = emit(r, GUEST_GET);
	assert(s);
	server_put_key(&s->tree.step, q->keys[0]);
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
	server_put_key(s, k);
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
	server_put_key(s, k);
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
		if (server_gives_up(r->guest)) return false;
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

struct server_step_node *server_run_session(struct guest *g,
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
	if (server_gives_up(g)) return NULL;
	find_path(&r, from, answer);
	if (waits && r.seat->live &&
	    r.seat->live == from->request->first->tree.serial) {
		r.path_at = r.path_count;
		fine = seat_tell_answers(g, r.seat, from->request,
		                         r.path_answers[r.path_count - 1]);
	} else {
		const char *first;
		fine = seat_begin_anew(g, r.session);
		r.replays = waits;
		first = g->library->sessions[r.session].steps[0].text;
		if (fine) connection_send(&r.seat->c, first);
	}
	r.seat->live = 0;
	fine = fine && go_on(&r);
	free_path(&r);
	if (!fine) {
		seat_leave(r.seat);
		return NULL;
	}
	assert(r.first);
	if (!waits || r.first->tree.kept)
		step_tree_add(&g->tree, &from->tree, &r.first->tree);
	return r.first;
}
