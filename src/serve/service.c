#include "serve/service.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/seconds.h"
#include "history/trace.h"
#include "postgres/command.h"
#include "postgres/guest.h"
#include "postgres/wire.h"
#include "serve/commits.h"
#include "serve/recording.h"
#include "vm/bytecode.h"
#include "vm/program.h"

enum {
	STALE_MOST = 10000, /* are listed */
	WHO = 24,           /* bytes of a transaction's name */
	STUCK = 10, /* seconds: who holds the turn so long without a word, while
	             * others wait, is ended */
	SQLSTATE = 5, /* letters */
	ENDING = 10   /* seconds for backends to end behind their clients */
};

/* A connection. */
struct client {
	struct channel channel;
	char name[16];
	uint32_t session; /* of the commits */
	uint32_t transactions;
	uint32_t told, told_gone; /* of what is known */
	bool waits;               /* for its turn */
	bool refused;             /* it is only to abort */
	uint32_t asked;           /* enum wire_level */
	struct text statement;    /* that it carries out */
	double since;             /* it waits, or has said its last word */
};

struct versions {
	const struct server_version **items;
	uint32_t count, capacity;
};

/* A write that waits for its commit. */
struct pending_write {
	struct server_key *key;
	struct db_access access;
	bool row, born; /* there is one, in `images`; behind another */
	size_t image;
	uint32_t length;
};

struct service {
	const struct service_options *options;
	struct service_run *run;
	struct server_library *library;
	struct commits *commits;
	struct recording *recording;
	struct rng rng;
	struct rng luck; /* of faults: whatever reads get */

	struct client **clients; /* in the order in which they came */
	uint32_t client_count, client_capacity;
	struct client *holder; /* whose turn it is; NULL: nobody's */
	uint32_t keys;         /* of the library that commits know */
	struct versions known; /* to all, once they are told */
	const struct server_key **gone;
	uint32_t gone_count, gone_capacity;
	struct pending_write *writes;
	uint32_t write_count, write_capacity;
	struct text images;
	struct read_counts counts;
	char (*writers)[WHO]; /* by position, from 1 */
	uint32_t writer_count, writer_capacity;
	double looked; /* whether the server runs */
	struct pollfd *polled;
	uint32_t polled_capacity;
};

static bool fail(struct service *s, const char *format, const char *what)
{
	if (!s->run->problem.length)
		text_format(&s->run->problem, format, what);
	return false;
}

/* ---- Keys and versions ---- */

static const struct server_version *initial_of(const struct server_key *k)
{
	const struct server_version *v = k->versions;
	while (v && !v->initial) v = v->older;
	return v;
}

static void name_key(struct text *t, const struct server_key *k)
{
	text_format(t, "%s[", k->relation->name);
	for (uint32_t i = 0; i < k->value.o->length; i++) {
		if (i) text_string(t, ", ");
		value_print_json(t, k->value.o->items[i]);
	}
	text_char(t, ']');
}

/* Those that the library has come to know. */
static void take_keys(struct service *s)
{
	struct server_library *l = s->library;
	struct text name = { 0 };
	for (; s->keys < l->key_count; s->keys++) {
		const struct server_key *k = l->keys[s->keys];
		const struct server_version *v = initial_of(k);
		assert(k->number == s->keys);
		commits_add_key(s->commits, v ? v->number : 0);
		text_clear(&name);
		name_key(&name, k);
		recording_add_key(s->recording, text_get(&name),
		                  v ? v->value : value_null());
	}
	text_free(&name);
}

static void know(struct service *s, const struct server_version *v)
{
	VEC_RESERVE(s->known.items, s->known.count, s->known.capacity);
	s->known.items[s->known.count++] = v;
}

static const struct server_version *version_of(const struct service *s,
                                               uint32_t number)
{
	assert(number <= s->library->version_count);
	return number ? s->library->versions[number - 1] : NULL;
}

/* ---- What is said to a client ---- */

static void put(struct text *t, struct wire_head h, const char *body)
{
	text_bytes(t, (const char *)&h, sizeof h);
	if (h.length) text_bytes(t, body, h.length);
}

/* It ends by itself if its backend has gone. */
static void send_text(struct client *c, const struct text *t)
{
	(void)channel_send(&c->channel, text_get(t), t->length);
}

static void refuse(struct client *c, const char *why)
{
	assert(strlen(why) > SQLSTATE);
	struct text words = { 0 }, t = { 0 };
	text_string(&words, why);
	put(&t,
	    (struct wire_head){ .kind = WIRE_REFUSED,
	                        .length = (uint32_t)words.length },
	    text_get(&words));
	send_text(c, &t);
	text_free(&t);
	text_free(&words);
	c->refused = true;
}

/* What has been committed since it was told last. */
static void put_news(struct service *s, struct client *c, struct text *t)
{
	for (; c->told < s->known.count; c->told++)
		channel_put_version(t, &c->channel, s->known.items[c->told]);
	for (; c->told_gone < s->gone_count; c->told_gone++)
		channel_put_gone(t, s->gone[c->told_gone]);
}

/* ---- Turns ---- */

static enum level level_asked(const struct service *s, uint32_t asked)
{
	static const char *const words[] = { NULL, "prc", "si", "ser" };
	assert(asked < sizeof words / sizeof *words);
	if (!asked) return s->options->level;
	return (enum level)level_number(words[asked]);
}

static void begin(struct service *s, struct client *c)
{
	enum level level = level_asked(s, c->asked);
	bool own = level != s->options->level;
	struct text t = { 0 };
	s->holder = c;
	c->waits = c->refused = false;
	c->since = seconds_now();
	c->transactions++;
	s->run->counts.transactions++;
	s->write_count = 0;
	text_clear(&s->images);
	commits_begin(s->commits, c->session, level);
	recording_begin(s->recording, c->name,
	                own ? (own_level)(level + 1) : 0);
	put_news(s, c, &t);
	put(&t,
	    (struct wire_head){ .kind = WIRE_READY,
	                        .number = c->transactions,
	                        .length = (uint32_t)strlen(c->name) },
	    c->name);
	send_text(c, &t);
	text_free(&t);
}

/* Of those that wait, the one that has waited longest. */
static void pass_turn(struct service *s)
{
	struct client *next = NULL;
	for (uint32_t i = 0; i < s->client_count; i++) {
		struct client *c = s->clients[i];
		if (c->waits && (!next || c->since < next->since)) next = c;
	}
	if (next && !s->holder) begin(s, next);
}

static void end(struct service *s, bool aborted)
{
	assert(s->holder);
	recording_end(s->recording, aborted);
	if (aborted)
		s->run->counts.aborted++;
	else
		s->run->counts.committed++;
	s->holder->refused = false;
	s->holder = NULL;
	pass_turn(s);
}

static void abort_transaction(struct service *s)
{
	commits_abort(s->commits);
	end(s, true);
}

/* ---- Accesses ---- */

static struct server_key *read_key(struct service *s, const char **at,
                                   const char *end)
{
	struct wire_key k;
	if (end - *at < (ptrdiff_t)sizeof k) return NULL;
	memcpy(&k, *at, sizeof k);
	struct server_relation *r = server_relation(s->library, k.relation);
	if (!r || (size_t)(end - *at) < sizeof k + k.length) return NULL;
	const char *image = *at + sizeof k;
	*at += sizeof k + k.length;
	return server_key(s->library, r, image, k.length);
}

static bool happens(struct rng *r, double share)
{
	if (share <= 0) return false;
	return (double)(rng_next(r) >> 11) / 9007199254740992.0 < share;
}

/* How many newer versions are there that the read could have had? */
static uint32_t draw_age(struct service *s, uint32_t count)
{
	const struct service_options *o = s->options;
	assert(count);
	switch (o->policy) {
	case ANSWER_LATEST: return 0;
	case ANSWER_OLDEST: return count - 1;
	default: break;
	}
	if (o->stale < 0) return rng_below(&s->rng, count);
	return count > 1 && happens(&s->rng, o->stale)
	               ? 1 + rng_below(&s->rng, count - 1)
	               : 0;
}

static char *words_of(const struct service *s, struct committed v)
{
	const struct server_version *x = version_of(s, v.number);
	struct text t = { 0 };
	if (!x) return mem_copy_string("no row");
	value_print(&t, x->value);
	return t.data;
}

static char *writer_of(const struct service *s, struct committed v)
{
	assert(v.position <= s->writer_count);
	return mem_copy_string(v.position ? s->writers[v.position - 1]
	                                  : "set-up");
}

static void note_stale(struct service *s, struct read_place at,
                       const struct committed *of, uint32_t count, uint32_t age)
{
	const struct client *c = s->holder;
	struct text key = { 0 }, reader = { 0 };
	if (s->run->stale.count == STALE_MOST) return;
	name_key(&key, s->library->keys[at.key]);
	text_format(&reader, "%s.%u", c->name, c->transactions);
	stale_reads_add(&s->run->stale,
	                (struct stale_read){
				.place = at,
				.age = age,
				.reader = reader.data,
				.key = key.data,
				.value = words_of(s, of[count - 1 - age]),
				.writer = writer_of(s, of[count - 1 - age]),
				.newest = words_of(s, of[count - 1]),
				.newest_writer = writer_of(s, of[count - 1]) });
}

static struct committed choose(struct service *s, uint32_t key,
                               const struct committed *of, uint32_t count)
{
	const struct service_options *o = s->options;
	struct read_place at = { text_get(&s->holder->statement), key, 0 };
	uint32_t age = 0;
	if (o->notes_stale)
		at.occurrence = read_counts_add(&s->counts, at.statement, key);
	if (o->only) {
		const struct stale_read *r = stale_reads_find(o->only, at);
		if (r) age = r->age < count ? r->age : count - 1;
	} else {
		age = draw_age(s, count);
	}
	if (age && o->notes_stale) note_stale(s, at, of, count, age);
	return of[count - 1 - age];
}

/* False: no version of the key may be read. */
static bool answer(struct service *s, struct db_access a, struct committed *out)
{
	uint32_t count;
	const struct committed *of = commits_readable(s->commits, a, &count);
	if (!count) return false;
	*out = choose(s, a.key, of, count);
	commits_read(s->commits, a, *out);
	const struct server_version *v = version_of(s, out->number);
	recording_read(s->recording, a, out->position,
	               v ? v->value : value_null());
	s->run->counts.reads++;
	s->run->counts.stale +=
		out->position != commits_newest(s->commits, a.key).position;
	return true;
}

static void refuse_read(struct service *s, const struct server_key *k)
{
	struct text t = { 0 };
	text_string(&t, "40001could not serialize access: ");
	name_key(&t, k);
	text_string(&t, " was changed by a transaction that this one does not "
	                "see");
	refuse(s->holder, text_get(&t));
	s->run->counts.refused++;
	text_free(&t);
}

/* For no reason: as any client has to expect. */
static bool injects(struct service *s, const char *words)
{
	if (!happens(&s->luck, s->options->faults)) return false;
	refuse(s->holder, words);
	s->run->counts.faults++;
	return true;
}

static bool take_read(struct service *s, const struct wire_head *h,
                      const char *body)
{
	const char *stop = body + h->length;
	struct text numbers = { 0 }, t = { 0 };
	bool fine = true;
	if (h->strength >= STRENGTH_SHARE &&
	    injects(s, "40P01deadlock detected, by isoscope serve --faults"))
		return true;
	for (uint32_t i = 0; i < h->number && fine; i++) {
		struct server_key *k = read_key(s, &body, stop);
		struct committed version;
		if (!k) {
			text_free(&numbers);
			return fail(s,
			            "a client reads a table that was not "
			            "there when it was set up%s",
			            "");
		}
		take_keys(s);
		struct db_access a = { .key = k->number,
			               .strength = (enum strength)h->strength,
			               .joined = h->joined || i };
		fine = answer(s, a, &version);
		if (!fine)
			refuse_read(s, k);
		else
			text_bytes(&numbers, (const char *)&version.number,
			           sizeof version.number);
	}
	if (fine) {
		put(&t,
		    (struct wire_head){ .kind = WIRE_ANSWER,
		                        .number = h->number,
		                        .length = (uint32_t)numbers.length },
		    text_get(&numbers));
		send_text(s->holder, &t);
	}
	text_free(&numbers);
	text_free(&t);
	return true;
}

static bool take_write(struct service *s, const struct wire_head *h,
                       const char *body)
{
	const char *stop = body + h->length;
	struct server_key *k = read_key(s, &body, stop);
	if (!k)
		return fail(s,
		            "a client writes to a table that was not there "
		            "when it was set up%s",
		            "");
	take_keys(s);
	VEC_RESERVE(s->writes, s->write_count, s->write_capacity);
	s->writes[s->write_count++] = (struct pending_write){
		.key = k,
		.access = { .key = k->number,
		            .strength = (enum strength)h->strength,
		            .joined = h->joined },
		.row = h->number != 0,
		.image = s->images.length,
		.length = (uint32_t)(stop - body)
	};
	text_bytes(&s->images, body, (size_t)(stop - body));
	return true;
}

/* ---- Commits ---- */

static void write_all(struct service *s)
{
	for (uint32_t i = 0; i < s->write_count; i++) {
		const struct pending_write *w = &s->writes[i];
		struct server_version *v = NULL;
		if (w->row)
			v = server_version(s->library, w->key,
			                   text_get(&s->images) + w->image,
			                   w->length);
		if (v) v->known = true;
		commits_write(s->commits, w->access, v ? v->number : 0);
		recording_write(s->recording, w->access,
		                v ? v->value : value_null());
	}
}

/* Conditions look at what was written from now on. */
static void publish(struct service *s)
{
	for (uint32_t i = 0; i < s->write_count; i++) {
		const struct server_key *k = s->writes[i].key;
		struct committed last = commits_newest(s->commits, k->number);
		const struct server_version *v = version_of(s, last.number);
		if (v) {
			know(s, v);
			continue;
		}
		VEC_RESERVE(s->gone, s->gone_count, s->gone_capacity);
		s->gone[s->gone_count++] = k;
	}
}

static void take_commit(struct service *s)
{
	struct client *c = s->holder;
	uint32_t key;
	struct text t = { 0 };
	if (injects(s, "40001could not serialize access, by isoscope serve "
	               "--faults"))
		return;
	write_all(s);
	if (!commits_commit(s->commits, &key)) {
		refuse_read(s, s->library->keys[key]);
		return;
	}
	publish(s);
	VEC_RESERVE(s->writers, s->writer_count, s->writer_capacity);
	snprintf(s->writers[s->writer_count++], WHO, "%s.%u", c->name,
	         c->transactions);
	put(&t, (struct wire_head){ .kind = WIRE_READY }, "");
	send_text(c, &t);
	text_free(&t);
	end(s, false);
}

/* ---- Clients ---- */

static bool take_record(struct service *s, struct client *c,
                        const struct wire_head *h, const char *body)
{
	bool turn = s->holder == c && !c->refused;
	c->since = seconds_now();
	switch (h->kind) {
	case WIRE_BEGIN:
		c->asked = h->number;
		if (s->options->real_time)
			commits_see(s->commits, c->session,
			            commits_count(s->commits));
		c->waits = true;
		pass_turn(s);
		return true;
	case WIRE_STATEMENT:
		text_clear(&c->statement);
		text_bytes(&c->statement, body, h->length);
		return true;
	case WIRE_READ: return !turn || take_read(s, h, body);
	case WIRE_WRITE: return !turn || take_write(s, h, body);
	case WIRE_COMMIT:
		if (turn) take_commit(s);
		return true;
	case WIRE_ABORT:
		c->waits = false;
		if (s->holder == c) abort_transaction(s);
		return true;
	default: return true; /* what only explorations ask for */
	}
}

static bool take_records(struct service *s, struct client *c)
{
	struct channel *ch = &c->channel;
	struct wire_head h;
	while (ch->in.length - ch->taken >= sizeof h) {
		memcpy(&h, ch->in.data + ch->taken, sizeof h);
		if (ch->in.length - ch->taken < sizeof h + h.length)
			return true;
		const char *body = ch->in.data + ch->taken + sizeof h;
		ch->taken += sizeof h + h.length;
		if (!take_record(s, c, &h, body)) return false;
	}
	if (ch->taken == ch->in.length) {
		text_clear(&ch->in);
		ch->taken = 0;
	}
	return true;
}

static void drop_client(struct service *s, uint32_t i)
{
	struct client *c = s->clients[i];
	if (s->holder == c) abort_transaction(s);
	s->client_count--;
	memmove(s->clients + i, s->clients + i + 1,
	        (s->client_count - i) * sizeof *s->clients);
	channel_close(&c->channel);
	text_free(&c->statement);
	free(c);
}

static void add_client(struct service *s)
{
	struct client *c = mem_take0(1, sizeof *c);
	if (!channel_accept(&c->channel, s->library->clients)) {
		channel_close(&c->channel);
		free(c);
		return;
	}
	c->session = commits_add_session(s->commits);
	snprintf(c->name, sizeof c->name, "c%u", ++s->run->counts.sessions);
	VEC_RESERVE(s->clients, s->client_count, s->client_capacity);
	s->clients[s->client_count++] = c;
}

static bool take_client(struct service *s, uint32_t i)
{
	struct client *c = s->clients[i];
	bool open = channel_take(&c->channel);
	bool fine = take_records(s, c);
	if (!open) drop_client(s, i);
	return fine;
}

/* Two transactions of one client that waits for both would wait for ever. */
static void end_stuck(struct service *s)
{
	double now = seconds_now(), longest = 0;
	char sql[64];
	struct client *c = s->holder;
	if (!c || now - c->since < STUCK) return;
	for (uint32_t i = 0; i < s->client_count; i++)
		if (s->clients[i]->waits &&
		    now - s->clients[i]->since > longest)
			longest = now - s->clients[i]->since;
	if (longest < STUCK) return;
	snprintf(sql, sizeof sql, "SELECT pg_terminate_backend(%u)",
	         c->channel.peer);
	c->since = now;
	s->run->counts.stuck++;
	(void)server_was_reset(s->library);
	if (!connection_run(&s->library->setup, sql))
		fail(s, "PostgreSQL: %s", text_get(&s->library->setup.message));
}

/* ---- The loop ---- */

static void poll_all(struct service *s, const struct command *command)
{
	uint32_t n = s->client_count + 2;
	if (n > s->polled_capacity) {
		s->polled_capacity = 2 * n;
		s->polled = mem_grow(s->polled, s->polled_capacity,
		                     sizeof *s->polled);
	}
	for (uint32_t i = 0; i < s->client_count; i++)
		s->polled[i] = (struct pollfd){ .fd = s->clients[i]->channel.fd,
			                        .events = POLLIN };
	s->polled[n - 2] =
		(struct pollfd){ .fd = s->library->clients, .events = POLLIN };
	s->polled[n - 1] = (struct pollfd){ .fd = command ? command->ended : -1,
		                            .events = POLLIN };
	for (uint32_t i = 0; i < n; i++) s->polled[i].revents = 0;
	poll(s->polled, n, 100);
}

/* What has come. A connection that is made now is behind what commits now. */
static bool take_all(struct service *s)
{
	uint32_t count = s->client_count;
	if (s->polled[count].revents) add_client(s);
	for (uint32_t i = count; i-- > 0;)
		if (s->polled[i].revents && !take_client(s, i)) return false;
	end_stuck(s);
	return !s->run->problem.length;
}

static bool is_interrupted(const struct service *s)
{
	const atomic_bool *flag = s->options->interrupt;
	return flag && atomic_load(flag);
}

/* Backends end behind their clients. */
static bool finish_clients(struct service *s)
{
	double until = seconds_now() + ENDING;
	while (s->client_count && seconds_now() < until && !is_interrupted(s)) {
		poll_all(s, NULL);
		if (!take_all(s)) return false;
	}
	return true;
}

/* Looks now and then. */
static bool server_ended(struct service *s)
{
	double now = seconds_now();
	if (now - s->looked < 0.5) return false;
	s->looked = now;
	return cluster_has_ended(s->library->cluster, &s->run->lost);
}

static bool serve(struct service *s, struct command *command)
{
	while (!is_interrupted(s) && !server_ended(s)) {
		poll_all(s, command);
		if (!take_all(s)) return false;
		if (!command) continue;
		(void)command_take(command);
		if (!command->over) continue;
		s->run->code = command->code;
		return finish_clients(s);
	}
	s->run->interrupted = true;
	return true;
}

static bool run_command(struct service *s)
{
	const struct service_options *o = s->options;
	struct command c = { 0 };
	if (!o->command) return serve(s, NULL);
	bool fine = command_start_apart(&c, s->library->cluster, o->command,
	                                WIRE_DOOR_OF_SERVICE,
	                                o->output ? o->output - 1 : 2,
	                                &s->run->problem) &&
	            serve(s, &c);
	command_kill(&c);
	return fine;
}

static bool make_trace(struct service *s)
{
	struct diags d = { 0 };
	while (s->client_count) drop_client(s, s->client_count - 1);
	if (s->run->counts.transactions)
		s->run->trace = recording_finish(s->recording, &d);
	bool fine = s->run->trace || !s->run->counts.transactions;
	if (!fine)
		fail(s, "the history is none: %s",
		     d.count ? d.items[0].message : "it is too long");
	if (s->run->trace) s->run->trace->level = level_word(s->options->level);
	diags_free(&d);
	return fine;
}

static void free_service(struct service *s)
{
	while (s->client_count) drop_client(s, s->client_count - 1);
	commits_free(s->commits);
	recording_free(s->recording);
	free(s->clients);
	free(s->known.items);
	free(s->gone);
	free(s->writes);
	free(s->polled);
	free(s->writers);
	read_counts_free(&s->counts);
	text_free(&s->images);
}

bool service_run(struct service_run *out, const struct service_options *o)
{
	struct server_library *l = server_of(o->program->library);
	double began = seconds_now();
	*out = (struct service_run){ 0 };
	struct service s = { .options = o,
		             .run = out,
		             .library = l,
		             .rng = { o->seed },
		             .luck = { ~o->seed },
		             .commits = commits_new(level_sight(o->level) ==
		                                    SIGHT_PAST),
		             .recording = recording_new() };
	take_keys(&s);
	for (uint32_t i = 0; i < l->version_count; i++)
		if (l->versions[i]->initial) know(&s, l->versions[i]);
	if (o->ready) o->ready(o->payload);
	bool fine = run_command(&s) && make_trace(&s);
	free_service(&s);
	out->seconds = seconds_now() - began;
	return fine;
}

void service_run_free(struct service_run *r)
{
	trace_free(r->trace);
	stale_reads_free(&r->stale);
	text_free(&r->problem);
	text_free(&r->lost);
	*r = (struct service_run){ 0 };
}
