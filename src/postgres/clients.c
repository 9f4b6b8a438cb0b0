/* Sessions that are commands: a process, which is run anew for each path that
 * was not yet seen, and the backends of its connections. It has one transaction
 * at a time; each begins with a word to isoscope. */
#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "postgres/command.h"
#include "postgres/run.h"
#include "vm/bytecode.h"

enum {
	CONNECTIONS_MOST = 100, /* of one process */
	ENDING = 10 /* seconds for backends to end behind their client */
};

struct drawn {
	uint32_t sequence, count;
};

struct clients {
	struct command command;
	double began;
	struct channel *all[CONNECTIONS_MOST]; /* open ones */
	uint32_t count;
	bool open; /* in a transaction */
	uint32_t transactions, statements;
	struct drawn *drawn;
	uint32_t drawn_count, drawn_capacity;
};

static void forget_process(struct clients *c)
{
	command_kill(&c->command);
	for (uint32_t i = 0; i < c->count; i++) {
		channel_close(c->all[i]);
		free(c->all[i]);
	}
	c->count = 0;
}

void clients_free(struct clients *c)
{
	if (!c) return;
	forget_process(c);
	free(c->drawn);
	free(c);
}

static struct server_session *session_of(const struct run *r)
{
	return &r->guest->library->sessions[r->session];
}

/* ---- What backends say ---- */

/* What the session has done elsewhere, and, the first time, what is known. */
static bool tell_readiness(struct run *r, struct channel *ch)
{
	struct clients *c = r->seat->clients;
	struct text t = { 0 };
	const char *name = session_of(r)->name;
	if (!ch->sent) channel_put_known(r->guest, ch, &t);
	for (uint32_t i = 0; i < c->drawn_count; i++) {
		struct wire_head h = { .kind = WIRE_DRAWN,
			               .number = c->drawn[i].count,
			               .length = sizeof(struct wire_key) };
		struct wire_key k = { .relation = c->drawn[i].sequence };
		text_bytes(&t, (const char *)&h, sizeof h);
		text_bytes(&t, (const char *)&k, sizeof k);
	}
	struct wire_head ready = { .kind = WIRE_READY,
		                   .number = ++c->transactions,
		                   .length = (uint32_t)strlen(name) };
	text_bytes(&t, (const char *)&ready, sizeof ready);
	text_string(&t, name);
	bool fine = channel_send(ch, t.data, t.length);
	text_free(&t);
	return fine;
}

/* The name of its transactions at the level that it asks for. */
static bool find_name(struct run *r, uint32_t asked, uint32_t *name)
{
	static const char *const words[] = { NULL, "prc", "si", "ser" };
	struct server_library *l = r->guest->library;
	struct server_step *s = &session_of(r)->steps[0];
	assert(asked < s->name_count);
	if (asked && !strcmp(words[asked], l->program->isolation)) asked = 0;
	if (s->names[asked] == UINT32_MAX && l->trial) {
		l->program->own_point = s->point;
		s->names[asked] = program_add_transaction(
			l->program, session_of(r)->name,
			(own_level)(level_number(words[asked]) + 1));
	}
	*name = s->names[asked];
	if (*name != UINT32_MAX) return true;
	run_fail(r, "its transactions ask for a level that none of them asks "
	            "for when no other session has run");
	return false;
}

static void begin(struct run *r, struct channel *ch, const struct wire_head *h)
{
	struct guest_step s = { .kind = GUEST_BEGIN };
	if (!find_name(r, h->number, &s.name)) return;
	r->seat->clients->open = true;
	r->seat->channel = ch;
	if (!r->replays) r->failure = NULL;
	run_emit_step(r, s);
	if (!r->broken && !tell_readiness(r, ch)) run_lose(r);
}

static void take_statement(struct run *r, const struct wire_head *h,
                           const char *body)
{
	struct server_library *l = r->guest->library;
	uint32_t n = ++r->seat->clients->statements;
	mem_lock(&l->lock);
	r->seat->point = server_statement(l, r->session, n, body, h->length);
	mem_unlock(&l->lock);
}

static void take_drawn(struct clients *c, const struct wire_head *h,
                       const char *body)
{
	struct wire_key k;
	assert(h->length == sizeof k);
	memcpy(&k, body, sizeof k);
	uint32_t i = 0;
	while (i < c->drawn_count && c->drawn[i].sequence != k.relation) i++;
	if (i == c->drawn_count) {
		VEC_RESERVE(c->drawn, c->drawn_count, c->drawn_capacity);
		c->drawn_count++;
	}
	c->drawn[i] = (struct drawn){ k.relation, h->number };
}

static void take_record(struct run *r, struct channel *ch,
                        const struct wire_head *h, const char *body)
{
	struct clients *c = r->seat->clients;
	switch (h->kind) {
	case WIRE_STATEMENT: take_statement(r, h, body); return;
	case WIRE_DRAWN: take_drawn(c, h, body); return;
	case WIRE_BEGIN: begin(r, ch, h); return;
	case WIRE_COMMIT:
	case WIRE_ABORT: c->open = false; break;
	default: break;
	}
	run_take_record(r, h, body);
	if (h->kind == WIRE_COMMIT || h->kind == WIRE_ABORT) run_close_steps(r);
}

/* The next whole record of it; false: there is none. */
static bool take_next(struct run *r, struct channel *ch)
{
	struct wire_head h;
	size_t there = ch->in.length - ch->taken;
	if (r->broken || r->frontier || there < sizeof h) return false;
	memcpy(&h, ch->in.data + ch->taken, sizeof h);
	if (there < sizeof h + h.length) return false;
	const char *body = ch->in.data + ch->taken + sizeof h;
	/* What the transaction before it has said last came before. */
	if (h.kind == WIRE_BEGIN && r->seat->clients->open &&
	    ch != r->seat->channel) {
		channel_take(r->seat->channel);
		while (take_next(r, r->seat->channel)) continue;
		if (r->broken || r->frontier) return false;
		if (r->seat->clients->open) {
			run_fail(r, "it begins a transaction in one connection "
			            "while it is within one in another: "
			            "isoscope supports one at a time");
			return false;
		}
	}
	ch->taken += sizeof h + h.length;
	take_record(r, ch, &h, body);
	if (ch->taken == ch->in.length) {
		text_clear(&ch->in);
		ch->taken = 0;
	}
	return true;
}

static void drop_channel(struct clients *c, uint32_t i)
{
	channel_close(c->all[i]);
	free(c->all[i]);
	c->all[i] = c->all[--c->count];
}

/* What a backend has said; and when it has ended. */
static void take_channel(struct run *r, uint32_t i)
{
	struct clients *c = r->seat->clients;
	struct channel *ch = c->all[i];
	bool open = channel_take(ch);
	while (take_next(r, ch)) continue;
	if (open || r->broken || r->frontier) return;
	if (c->open && r->seat->channel == ch) {
		run_lose(r);
		return;
	}
	drop_channel(c, i);
}

static void add_channel(struct run *r)
{
	struct clients *c = r->seat->clients;
	struct channel *ch = mem_take0(1, sizeof *ch);
	if (c->count < CONNECTIONS_MOST &&
	    channel_accept(ch, r->guest->library->clients)) {
		c->all[c->count++] = ch;
		return;
	}
	channel_close(ch);
	free(ch);
	if (c->count == CONNECTIONS_MOST)
		run_fail(r, "it has more than 100 connections at once");
}

/* ---- The process ---- */

/* Backends are done with it, or ask for what is not known. */
static void finish_backends(struct run *r)
{
	struct clients *c = r->seat->clients;
	double until = seconds_now() + ENDING;
	while (c->count && !r->broken && !r->frontier) {
		struct pollfd p = { .fd = c->all[0]->fd, .events = POLLIN };
		if (seconds_now() > until || server_gives_up(r->guest)) {
			run_fail(r, "a backend of it does not end");
			return;
		}
		if (poll(&p, 1, 100) > 0) take_channel(r, 0);
	}
}

static struct finding *failed(struct run *r, const struct command *c)
{
	struct finding *f = region_take0(r->to, sizeof *f);
	struct text t = { 0 };
	size_t length;
	const char *words = command_last_words(c, &length);
	text_format(&t, "the command of session '%s' ends with exit code %d",
	            session_of(r)->name, c->code);
	if (words) text_format(&t, ": %.*s", (int)length, words);
	f->kind = FINDING_ERROR;
	f->point = session_of(r)->steps[0].point;
	f->message = region_copy_string(r->to, text_get(&t), t.length);
	text_free(&t);
	return f;
}

/* Its exit code, and what it has printed but for the last line's end. */
static struct value result(struct run *r)
{
	const struct command *x = &r->seat->clients->command;
	size_t n = x->output.length;
	const char *s = text_get(&x->output);
	while (n && strchr("\r\n", s[n - 1])) n--;
	struct value row[] = { value_int(x->code), value_string(r->to, s, n) };
	struct value tuple = value_sequence(r->to, VALUE_TUPLE, row, 2);
	return value_sequence(r->to, VALUE_LIST, &tuple, 1);
}

/* It has ended before, with this result. */
static void compare_result(struct run *r, struct value now)
{
	struct value was = r->from->tree.step.notes->value;
	struct text t = { 0 };
	if (value_equal(was, now)) return;
	text_string(&t,
	            "it does not do the same for the same answers: its exit "
	            "code and output are ");
	value_print(&t, was.o->items[0]);
	text_string(&t, ", and when it is run again ");
	value_print(&t, now.o->items[0]);
	run_fail(r, text_get(&t));
	text_free(&t);
}

static void end(struct run *r)
{
	struct clients *c = r->seat->clients;
	struct server_library *l = r->guest->library;
	struct value v = result(r);
	if (r->replays) {
		run_emit(r, GUEST_END);
		if (!r->broken) compare_result(r, v);
		return;
	}
	run_note(r, v);
	if (c->command.code) r->findings = failed(r, &c->command);
	run_close_steps(r);
	struct server_step_node *last = run_emit(r, GUEST_END);
	last->tree.step.value = value_bool(true);
	r->done = true;
	mem_lock(&l->lock);
	l->command_count++;
	l->command_seconds += seconds_now() - c->began;
	mem_unlock(&l->lock);
}

static bool poll_all(struct run *r)
{
	struct clients *c = r->seat->clients;
	struct pollfd p[CONNECTIONS_MOST + 4];
	nfds_t n = 0;
	for (; n < c->count; n++)
		p[n] = (struct pollfd){ .fd = c->all[n]->fd, .events = POLLIN };
	const int others[] = { r->guest->library->clients, c->command.ended,
		               c->command.out_open ? c->command.out : -1,
		               c->command.err_open ? c->command.err : -1 };
	for (size_t i = 0; i < 4; i++)
		p[n++] = (struct pollfd){ .fd = others[i], .events = POLLIN };
	if (poll(p, n, 100) <= 0) return false;
	uint32_t count = c->count;
	for (uint32_t i = count; i-- > 0 && !r->broken && !r->frontier;)
		if (p[i].revents) take_channel(r, i);
	if (p[count].revents) add_channel(r);
	return true;
}

/* Up to the next read that is not known, or to the end. */
static bool go_on(struct run *r)
{
	struct clients *c = r->seat->clients;
	double until = seconds_now() + PATIENCE;
	while (!r->broken && !r->frontier) {
		if (poll_all(r)) until = seconds_now() + PATIENCE;
		if (server_gives_up(r->guest)) return false;
		if (r->broken || r->frontier) break;
		if (!command_take(&c->command)) {
			run_fail(r, "it has printed more than 1 MiB");
		} else if (c->command.over) {
			finish_backends(r);
			if (!r->broken && !r->frontier) end(r);
			break;
		} else if (seconds_now() > until) {
			struct text t = { 0 };
			text_format(&t,
			            "its command has run for %d s without a "
			            "word to the database",
			            PATIENCE);
			run_fail(r, text_get(&t));
			text_free(&t);
		}
	}
	return !r->broken;
}

static bool start_process(struct run *r)
{
	struct server_library *l = r->guest->library;
	const struct server_session *x = session_of(r);
	struct text why = { 0 };
	char door[16];
	clients_free(r->seat->clients);
	*r->seat = (struct seat){ 0 };
	struct clients *c = r->seat->clients = mem_take0(1, sizeof *c);
	snprintf(door, sizeof door, WIRE_DOOR, x->door);
	c->began = seconds_now();
	bool fine = command_start(&c->command, l->cluster, x->command,
	                          x->here ? NULL : l->folder, door, &why);
	if (!fine) run_fail(r, text_get(&why));
	text_free(&why);
	return fine;
}

bool server_run_again(struct guest *g, const struct guest_step *last)
{
	struct server_step_node *from = (struct server_step_node *)last;
	struct region scratch;
	region_init(&scratch);
	struct run r = { .guest = g,
		         .seat = &g->seats[from->tree.session],
		         .session = from->tree.session,
		         .to = &scratch,
		         .from = from,
		         .replays = true,
		         .again = true };
	assert(last->kind == GUEST_END && last->notes);
	run_find_path(&r, value_null());
	mem_lock(&g->library->turn);
	bool fine = start_process(&r) && go_on(&r);
	seat_leave(r.seat);
	mem_unlock(&g->library->turn);
	run_free_path(&r);
	if (r.lost) run_fail(&r, "a backend of it has died");
	region_free(&scratch);
	return fine;
}

/* Was it the server that the program has failed for? */
static bool is_disturbed(struct run *r, bool fine)
{
	enum { HEARSAY = 20000 }; /* microseconds until all know of it */
	const struct clients *c = r->seat->clients;
	if (fine && !(r->done && c->command.code)) return false;
	if (server_gives_up(r->guest)) return false;
	usleep(HEARSAY);
	return server_was_reset(r->guest->library);
}

static struct server_step_node *run_once(struct run *r)
{
	bool fine = true;
	if (!run_answer(r, &fine)) fine = start_process(r);
	fine = fine && go_on(r);
	if (is_disturbed(r, fine)) {
		server_forget_fault(r->guest->library);
		run_lose(r);
		fine = false;
	}
	if (fine && r->done) seat_leave(r->seat);
	return run_done(r, fine);
}

struct server_step_node *server_run_command(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to)
{
	struct run r;
	struct server_step_node *s;
	uint32_t tries = 0;
	do {
		if (!run_begin(&r, g, from, answer, to)) return NULL;
		mem_lock(&g->library->turn);
		s = run_once(&r);
		mem_unlock(&g->library->turn);
	} while (!s && r.lost && run_tries_again(&r, &tries));
	return s;
}
