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
#include "postgres/run.h"
#include "vm/bytecode.h"

/* ---- Steps that a backend is seen to do ---- */

/* "reads (1) of table seat" */
static void describe(struct text *t, const struct server_library *l,
                     enum guest_request kind, const struct guest_step *s)
{
	static const char *const words[] = { [GUEST_BEGIN] =
		                                     "begins a transaction",
		                             [GUEST_GET] = "reads ",
		                             [GUEST_PUT] = "writes ",
		                             [GUEST_GIVE_UP] =
		                                     "gives up the lock of ",
		                             [GUEST_COMMIT] = "commits",
		                             [GUEST_ABORT] = "rolls back",
		                             [GUEST_END] = "ends" };
	assert(kind < sizeof words / sizeof *words && words[kind]);
	text_string(t, words[kind]);
	if (kind != GUEST_GET && kind != GUEST_PUT && kind != GUEST_GIVE_UP)
		return;
	if (kind == GUEST_PUT) {
		value_print(t, s->value);
		text_string(t, " to ");
	}
	text_string(t, l->program->globals[s->global].name);
	text_char(t, '[');
	for (uint32_t i = 0; i < s->key.o->length; i++) {
		if (i) text_string(t, ", ");
		value_print(t, s->key.o->items[i]);
	}
	text_char(t, ']');
}

/* It does the same as ever for the same answers. */
static void compare(struct run *r, enum guest_request kind,
                    const struct guest_step *now)
{
	const struct server_library *l = r->guest->library;
	assert(r->replays && r->known_at < r->known_count);
	const struct guest_step *was = &r->known[r->known_at++]->tree.step;
	bool access =
		kind == GUEST_GET || kind == GUEST_PUT || kind == GUEST_GIVE_UP;
	if (was->kind == kind &&
	    (kind != GUEST_BEGIN || was->name == now->name) &&
	    (!access ||
	     (was->global == now->global && value_equal(was->key, now->key))) &&
	    (kind != GUEST_PUT || value_equal(was->value, now->value)))
		return;
	struct text t = { 0 };
	text_string(&t, "it does not do the same for the same answers: it ");
	describe(&t, l, was->kind, was);
	text_string(&t, ", and when it is run again it ");
	describe(&t, l, kind, now);
	text_string(&t, ". It depends on something that is not in the "
	                "database: on the clock, on chance, on a file");
	run_fail(r, text_get(&t));
	text_free(&t);
}

struct server_step_node *run_emit_step(struct run *r, struct guest_step like)
{
	struct guest *g = r->guest;
	enum guest_request kind = like.kind;
	if (r->replays) {
		compare(r, kind, &like);
		return NULL;
	}
	struct server_step_node *s = region_take0(r->to, sizeof *s);
	s->tree.step = like;
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

struct server_step_node *run_emit(struct run *r, enum guest_request kind)
{
	return run_emit_step(r, (struct guest_step){ .kind = kind });
}

static const struct server_step *step_at(const struct run *r)
{
	const struct server_session *x =
		&r->guest->library->sessions[r->session];
	assert(r->seat->at < x->count);
	return &x->steps[r->seat->at];
}

static uint32_t point_of(const struct run *r)
{
	return r->seat->point ? r->seat->point : step_at(r)->point;
}

void run_fail(struct run *r, const char *why)
{
	server_set_fault_at(r->guest->library, point_of(r), "session '%s': %s",
	                    r->guest->library->sessions[r->session].name, why);
	r->broken = true;
}

void run_lose(struct run *r)
{
	r->broken = r->lost = true;
}

bool run_tries_again(struct run *r, uint32_t *tries)
{
	struct text who = { 0 };
	text_format(&who, "session '%s'",
	            r->guest->library->sessions[r->session].name);
	bool again = server_tries_again(r->guest, text_get(&who), tries);
	text_free(&who);
	return again;
}

/* It has been asked before. */
static void answer_again(struct run *r, const struct asked_keys *q,
                         struct guest_step like)
{
	const struct asked_keys *known =
		r->path_at < r->path_count ? r->path[r->path_at] : NULL;
	for (uint32_t i = 0; i < q->count && !r->broken; i++) {
		server_put_key(&like, q->keys[i]);
		compare(r, GUEST_GET, &like);
	}
	if (r->broken) return;
	if (!known || known->count != q->count) {
		run_fail(r, "it does not do the same for the same answers: it "
		            "reads other rows at once. It depends on something "
		            "that is not in the database");
		return;
	}
	if (!seat_tell_answers(r->guest, r->seat, known,
	                       r->path_answers[r->path_at++]))
		run_lose(r);
	if (r->path_at == r->path_count) r->replays = r->again;
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
		q->keys[i] = server_key_told(r->guest->library, &body, end);
	mem_unlock(&g->library->lock);
	r->seat->waits = true;
	for (uint32_t i = 0; i < q->count; i++)
		if (!q->keys[i]) {
			run_fail(r, "it reads a table that was not there when "
			            "it was set up");
			return;
		}
	struct guest_step like = { .kind = GUEST_GET,
		                   .point = point_of(r),
		                   .strength = (enum strength)h->strength,
		                   .joined = h->joined };
	server_put_key(&like, q->keys[0]);
	if (r->replays) {
		answer_again(r, q, like);
		return;
	}
	struct server_step_node *s = run_emit_step(r, like);
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
	if (l->fault || l->trial) return;
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
	mem_lock(&l->lock);
	struct server_key *k = server_key_told(r->guest->library, &body, end);
	if (k && h->number)
		v = server_version(l, k, body, (uint32_t)(end - body));
	if (k && !r->replays) note_growth(l, k, v, h->number != 1);
	mem_unlock(&l->lock);
	if (!k) {
		run_fail(r, "it writes to a table that was not there when it "
		            "was set up");
		return;
	}
	struct guest_step s = { .kind = GUEST_PUT,
		                .value = v ? v->value : value_null(),
		                .point = point_of(r),
		                .strength = (enum strength)h->strength,
		                .joined = h->joined };
	server_put_key(&s, k);
	run_emit_step(r, s);
}

static void take_given_up(struct run *r, const struct wire_head *h,
                          const char *body)
{
	const char *end = body + h->length;
	struct server_library *l = r->guest->library;
	mem_lock(&l->lock);
	struct server_key *k = server_key_told(r->guest->library, &body, end);
	mem_unlock(&l->lock);
	assert(k); /* it was read */
	struct guest_step s = { .kind = GUEST_GIVE_UP, .point = point_of(r) };
	server_put_key(&s, k);
	run_emit_step(r, s);
}

void run_take_record(struct run *r, const struct wire_head *h, const char *body)
{
	const struct server_step *step = step_at(r);
	switch (h->kind) {
	case WIRE_BEGIN: {
		uint32_t n = r->seat->begun++;
		if (n >= step->name_count) n = step->name_count - 1;
		if (!r->replays) r->failure = NULL;
		run_emit_step(r, (struct guest_step){ .kind = GUEST_BEGIN,
		                                      .name = step->names[n] });
		break;
	}
	case WIRE_READ: take_read(r, h, body); break;
	case WIRE_WRITE: take_write(r, h, body); break;
	case WIRE_GIVE_UP: take_given_up(r, h, body); break;
	case WIRE_COMMIT: run_emit(r, GUEST_COMMIT); break;
	case WIRE_ABORT: run_emit(r, GUEST_ABORT); break;
	case WIRE_REPEATS: r->repeats = true; break;
	case WIRE_REFUSE: {
		struct text t = { 0 };
		text_format(&t,
		            "step '%s': --engine=postgres does not "
		            "support %.*s",
		            step->spec ? step->spec->name : "setup",
		            (int)h->length, body);
		run_fail(r, text_get(&t));
		text_free(&t);
		break;
	}
	default: run_fail(r, "its backend says something unknown"); break;
	}
}

static void take_records(struct run *r, struct channel *c)
{
	while (!r->broken && !r->frontier) {
		struct wire_head h;
		size_t there = c->in.length - c->taken;
		if (there < sizeof h) break;
		memcpy(&h, c->in.data + c->taken, sizeof h);
		if (there < sizeof h + h.length) break;
		const char *body = c->in.data + c->taken + sizeof h;
		c->taken += sizeof h + h.length;
		run_take_record(r, &h, body);
	}
	if (c->taken < c->in.length) return;
	text_clear(&c->in);
	c->taken = 0;
}

static void receive_records(struct run *r)
{
	channel_take(r->seat->channel);
	take_records(r, r->seat->channel);
}

/* ---- The ends of steps ---- */

void run_note(struct run *r, struct value v)
{
	const struct server_step *step = step_at(r);
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

void run_close_steps(struct run *r)
{
	for (struct tree_step *s = r->open ? &r->open->tree : NULL; s;
	     s = s->next) {
		s->step.notes = r->notes;
		s->step.findings = r->findings;
		if (s->step.kind == GUEST_ABORT) s->step.failure = r->failure;
	}
	r->open = NULL;
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
			run_note(r, value_record(r->to, pair, 1));
		else
			r->findings = wrong(r, step);
	} else if (step->spec && c->has_result) {
		run_note(r, rows_value(r->to, c));
	}
	run_close_steps(r);
}

/* Waits for PostgreSQL to be done, or to ask for what is not known. False: it
 * was given up. */
static bool wait_for_backend(struct run *r)
{
	struct seat *s = r->seat;
	struct patience patience = patience_with(&s->c);
	while (s->c.busy && !r->frontier && !r->broken) {
		struct pollfd p[2] = { { .fd = s->channel->fd,
			                 .events = POLLIN },
			               { .fd = s->c.fd, .events = POLLIN } };
		int n = poll(p, 2, 100);
		if (server_gives_up(r->guest)) return false;
		const char *why = patience_end(&patience, &s->c);
		if (why) {
			struct text t = { 0 };
			const struct spec_step *spec = step_at(r)->spec;
			text_format(&t,
			            "step '%s': it %s without reading a table",
			            spec ? spec->name : "setup", why);
			run_fail(r, text_get(&t));
			text_free(&t);
			break;
		}
		if (n <= 0) continue;
		if (p[0].revents) patience = patience_with(&s->c);
		if (p[0].revents) receive_records(r);
		if (r->frontier || r->broken) break;
		if (p[1].revents) connection_take(&s->c, 0);
	}
	if (!r->frontier && !r->broken) receive_records(r);
	if (s->c.lost) run_lose(r);
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
	struct server_step_node *end = run_emit(r, GUEST_END);
	if (end) end->tree.step.value = value_bool(true);
	r->done = true;
	return true;
}

/* ---- From a step on ---- */

/* The steps on the way to where it starts, and the requests among them, with
 * their answers. */
void run_find_path(struct run *r, struct value answer)
{
	const struct server_step_node *from = r->from;
	uint32_t count = 0, steps = 0;
	for (const struct tree_step *s = &from->tree; s; s = s->before) {
		count += step_waits(s) &&
		         ((const struct server_step_node *)s)->place == 0;
		steps += s->step.kind != GUEST_START;
	}
	r->known = mem_take((steps + (size_t)1) * sizeof *r->known);
	r->known_count = steps;
	for (const struct tree_step *s = &from->tree; steps; s = s->before)
		r->known[--steps] = (const struct server_step_node *)s;
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

void run_free_path(struct run *r)
{
	free(r->known);
	for (uint32_t i = 0; i < r->path_count; i++) free(r->path_answers[i]);
	free(r->path);
	free(r->path_answers);
}

bool run_begin(struct run *r, struct guest *g, struct server_step_node *from,
               struct value answer, struct region *to)
{
	*r = (struct run){ .guest = g,
		           .seat = &g->seats[from->tree.session],
		           .session = from->tree.session,
		           .to = to,
		           .answer = answer,
		           .from = from,
		           .notes = from->tree.step.notes,
		           .findings = from->tree.step.findings,
		           .failure = from->tree.step.failure };
	g->asked++;
	if (server_gives_up(g)) return false;
	run_find_path(r, answer);
	return true;
}

bool run_answer(struct run *r, bool *fine)
{
	const struct server_step_node *from = r->from;
	bool waits = step_waits(&from->tree);
	bool there = waits && r->seat->live &&
	             r->seat->live == from->request->first->tree.serial;
	r->seat->live = 0;
	r->replays = waits && !there;
	if (!there) return false;
	r->path_at = r->path_count;
	*fine = seat_tell_answers(r->guest, r->seat, from->request,
	                          r->path_answers[r->path_count - 1]);
	if (!*fine) run_lose(r);
	return true;
}

struct server_step_node *run_done(struct run *r, bool fine)
{
	struct server_step_node *from = r->from;
	run_free_path(r);
	if (!fine) {
		seat_leave(r->seat);
		return NULL;
	}
	assert(r->first);
	if (!step_waits(&from->tree) || r->first->tree.kept)
		step_tree_add(&r->guest->tree, &from->tree, &r->first->tree);
	return r->first;
}

static struct server_step_node *run_once(struct run *r)
{
	const struct server_session *x =
		&r->guest->library->sessions[r->session];
	bool fine = true;
	if (!run_answer(r, &fine)) {
		fine = seat_begin_anew(r->guest, r->session, &r->lost);
		if (fine) connection_send(&r->seat->c, x->steps[0].text);
	}
	fine = fine && go_on(r);
	return run_done(r, fine);
}

struct server_step_node *server_run_session(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to)
{
	struct run r;
	struct server_step_node *s = NULL;
	uint32_t tries = 0;
	do {
		if (!run_begin(&r, g, from, answer, to)) return NULL;
		s = run_once(&r);
	} while (!s && r.lost && run_tries_again(&r, &tries));
	return s;
}
