#include "serve/service.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "history/trace_build.h"
#include "postgres/command.h"
#include "postgres/wire.h"
#include "serve/serving.h"
#include "vm/bytecode.h"
#include "vm/program.h"

enum {
	KEPT = 256, /* overwritten versions at least that are kept */
	ENDING = 10 /* seconds for backends to end behind their clients */
};

bool serving_fail(struct service *s, const char *format, const char *what)
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

void serving_name_key(struct text *t, const struct server_key *k)
{
	text_format(t, "%s[", k->relation->name);
	for (uint32_t i = 0; i < k->value.o->length; i++) {
		if (i) text_string(t, ", ");
		value_print_json(t, k->value.o->items[i]);
	}
	text_char(t, ']');
}

static struct value value_of(struct service *s, const struct server_key *k,
                             const char *image, uint32_t length)
{
	region_release(&s->scratch, (struct region_mark){ 0 });
	return server_image_value(&s->scratch, k, image, length);
}

void serving_print(struct service *s, const struct served_version *v,
                   struct text *t)
{
	value_print(t, value_of(s, v->key, v->image, v->length));
}

static struct trace_value recorded_value(struct service *s,
                                         const struct server_key *k,
                                         const char *image, uint32_t length)
{
	return recording_value(s->recording, value_of(s, k, image, length));
}

static void take_key(struct service *s, const struct server_key *k)
{
	const struct server_version *v = initial_of(k);
	struct served_version x = { .key = k, .value = trace_value_null() };
	struct text name = { 0 };
	if (v) {
		x.image = v->image;
		x.length = v->length;
		x.value = recorded_value(s, k, v->image, v->length);
	}
	assert(k->number == s->keys);
	commits_add_key(s->commits,
	                v ? row_versions_add(s->versions, x, true) : 0);
	serving_name_key(&name, k);
	recording_add_key(s->recording, text_get(&name), x.value);
	text_free(&name);
}

/* Those that the library has come to know. */
static void take_keys(struct service *s)
{
	for (; s->keys < s->library->key_count; s->keys++)
		take_key(s, s->library->keys[s->keys]);
}

/* ---- What nobody can read any more ---- */

static void forget_version(void *payload, uint32_t key, uint32_t number)
{
	struct service *s = payload;
	(void)key;
	if (number) row_versions_forget(s->versions, number);
}

static void forget_deletion(void *payload, uint32_t key)
{
	struct service *s = payload;
	if (key >= s->deleted_count || !s->deleted[key]) return;
	row_versions_forget(s->versions, s->deleted[key]);
	s->deleted[key] = 0;
}

/* Now and then, so that it costs little for each transaction. */
static void forget(struct service *s)
{
	const struct commits_forgotten to = { forget_version, forget_deletion,
		                              s };
	if (commits_overwritten(s->commits) < s->enough) return;
	commits_forget(s->commits, &to);
	s->enough = 2 * commits_overwritten(s->commits) + KEPT;
}

/* ---- What is said to a client ---- */

static void put(struct text *t, struct wire_head h, const char *body)
{
	text_bytes(t, (const char *)&h, sizeof h);
	if (h.length) text_bytes(t, body, h.length);
}

/* What has been committed since it was told last. */
static void put_news(struct service *s, struct client *c)
{
	row_versions_put_news(s->versions, c->reader, &c->out);
	c->told_at = commits_count(s->commits);
}

static enum level level_asked(const struct service *s, uint32_t asked)
{
	static const char *const words[] = { NULL, "prc", "si", "ser" };
	assert(asked < sizeof words / sizeof *words);
	if (!asked) return s->options->level;
	return (enum level)level_number(words[asked]);
}

static void put_ready(struct service *s, struct client *c)
{
	bool sure = !level_excludes_rivals(level_asked(s, c->asked));
	put(&c->out,
	    (struct wire_head){ .kind = WIRE_READY,
	                        .number = c->transactions,
	                        .joined = s->options->faults > 0,
	                        .known = sure && s->options->faults <= 0,
	                        .length = (uint32_t)strlen(c->name) },
	    c->name);
}

/* ---- Turns ---- */

static void begin(struct service *s, struct client *c)
{
	enum level level = level_asked(s, c->asked);
	bool own = level != s->options->level;
	c->waits = false;
	c->open = true;
	c->alone = level_is_serial(level);
	c->since = seconds_now();
	c->transactions++;
	c->write_count = c->lock_count = 0;
	text_clear(&c->images);
	s->open_count++;
	s->more = true;
	s->run->counts.transactions++;
	commits_begin(s->commits, c->session, level);
	recording_begin(s->recording, c->session,
	                own ? (own_level)(level + 1) : 0);
	put_news(s, c);
	put_ready(s, c);
}

static bool is_alone(const struct service *s)
{
	for (uint32_t i = 0; i < s->client_count; i++)
		if (s->clients[i]->open) return s->clients[i]->alone;
	return false;
}

/* Those that wait, the longest first, as far as they can be beside those that
 * are open. */
static void pass_turn(struct service *s)
{
	for (;;) {
		struct client *next = NULL;
		for (uint32_t i = 0; i < s->client_count; i++) {
			struct client *c = s->clients[i];
			if (c->waits && (!next || c->since < next->since))
				next = c;
		}
		if (!next || is_alone(s)) return;
		if (s->open_count &&
		    level_is_serial(level_asked(s, next->asked)))
			return;
		begin(s, next);
	}
}

static void end(struct service *s, struct client *c, bool aborted)
{
	assert(c->open);
	recording_end(s->recording, c->session, aborted);
	row_locks_release(s->locks, c->session);
	if (aborted)
		s->run->counts.aborted++;
	else
		s->run->counts.committed++;
	c->open = c->alone = c->blocked = false;
	s->open_count--;
	forget(s);
	pass_turn(s);
}

void serving_abort(struct service *s, struct client *c)
{
	commits_abort(s->commits, c->session);
	end(s, c, true);
}

/* ---- Accesses ---- */

static bool no_table(struct service *s)
{
	return serving_fail(s,
	                    "a client uses a table that was not there when it "
	                    "was set up%s",
	                    "");
}

/* The answers to a request, as far as they go. */
struct reply {
	struct text numbers, told; /* that the client was not told of */
	enum strength strength;
	uint32_t count;
	uint32_t owner; /* of the lock in the way; 0: none is */
	bool split;     /* some are not of the moment that was asked for */
};

static void free_reply(struct reply *r)
{
	text_free(&r->numbers);
	text_free(&r->told);
}

static void put_number(struct reply *r, uint32_t number)
{
	text_bytes(&r->numbers, (const char *)&number, sizeof number);
	r->count++;
}

static uint32_t deletion_of(const struct service *s, uint32_t key)
{
	return key < s->deleted_count ? s->deleted[key] : 0;
}

/* What is known of a row of a table of which the client is not told. */
static void put_once(struct service *s, const struct client *c,
                     const struct server_key *k, uint32_t number,
                     struct reply *r)
{
	uint32_t gone = deletion_of(s, k->number);
	if (row_versions_tells(s->versions, c->reader, k->relation)) return;
	if (gone) row_versions_put_once(s->versions, gone, &r->told);
	if (number) row_versions_put_once(s->versions, number, &r->told);
}

static bool read_one(struct service *s, struct client *c, struct db_access a,
                     struct reply *out)
{
	enum level level = commits_level(s->commits, c->session);
	struct committed version;
	bool fine = serving_answer(s, c, a, &version);
	/* Its row was changed, or deleted, behind the statement's moment: who
	 * waits for it looks at it anew. */
	if (!fine && a.joined && level_has_statements(level)) {
		a.joined = false;
		out->split = true;
		fine = serving_answer(s, c, a, &version);
	}
	if (!fine) {
		serving_refuse_read(s, c, s->library->keys[a.key]);
		return false;
	}
	put_number(out, version.number);
	put_once(s, c, s->library->keys[a.key], version.number, out);
	return true;
}

static void send_reply(struct service *s, struct client *c,
                       const struct reply *r)
{
	put_news(s, c);
	text_bytes(&c->out, text_get(&r->told), r->told.length);
	put(&c->out,
	    (struct wire_head){ .kind = WIRE_ANSWER,
	                        .number = r->count,
	                        .owner = r->owner,
	                        .joined = !r->split,
	                        .strength = (uint8_t)r->strength,
	                        .length = (uint32_t)r->numbers.length },
	    text_get(&r->numbers));
}

/* Is there a row of the key, whatever version is looked at? */
static bool is_sure(const struct service *s, const struct server_key *k)
{
	return row_versions_is_initial(s->versions, k) &&
	       !deletion_of(s, k->number);
}

static bool finds_nothing(struct service *s, struct client *c,
                          struct db_access a)
{
	struct committed version;
	a.strength = STRENGTH_PLAIN;
	return serving_finds(s, c, a, false, &version);
}

/* Who inserts a row does not wait for who has merely locked one of its key. */
static bool finds_row_in_way(struct service *s, struct client *c,
                             struct db_access a, struct reply *r)
{
	enum level level = commits_level(s->commits, c->session);
	struct committed version;
	if (a.strength != STRENGTH_INSERT ||
	    row_locks_asked(level, STRENGTH_CHECK) != STRENGTH_CHECK ||
	    row_locks_changed(s->locks, c->session, a.key))
		return false;
	a.strength = STRENGTH_CHECK;
	if (!serving_finds(s, c, a, true, &version)) return false;
	put_number(r, version.number);
	put_once(s, c, s->library->keys[a.key], version.number, r);
	return true;
}

/* An answer to it is put there, or what stands against it. False: the
 * transaction is refused. */
static bool read_key_of(struct service *s, struct client *c,
                        const struct wire_head *h, struct db_access a,
                        struct reply *r)
{
	const struct server_key *k = s->library->keys[a.key];
	enum strength lock = row_locks_asked(
		commits_level(s->commits, c->session), a.strength);
	uint32_t owner = h->owner;
	bool locked = !lock || row_locks_take(s->locks, c->session, a.key, lock,
	                                      h->changes, &owner);
	if (locked) return read_one(s, c, a, r);
	/* Who refers to a row that is not there yet is told so. */
	if (a.strength == STRENGTH_KEY_SHARE && finds_nothing(s, c, a)) {
		put_number(r, 0);
		put_once(s, c, k, 0, r);
	} else if (finds_row_in_way(s, c, a, r)) {
		/* It is told of that. */
	} else if (serving_is_late(s, c, a)) {
		serving_refuse_read(s, c, k);
		return false;
	} else {
		r->owner = owner;
	}
	return true;
}

/* Those that are read. False: a table is not known. */
static bool take_asked(struct service *s, struct client *c, uint32_t count,
                       const char *body, const char *stop)
{
	c->asked_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct server_key *k = server_key_told(s->library, &body, stop);
		if (!k) return no_table(s);
		VEC_RESERVE(c->asked_keys, c->asked_count, c->asked_capacity);
		c->asked_keys[c->asked_count++] = k;
	}
	take_keys(s);
	return true;
}

/* What is known of keys lies all over the memory: it is fetched some keys
 * ahead, first the key, then its versions. */
static inline __attribute__((always_inline)) void
fetch_keys(const struct service *s, const struct client *c, uint32_t i)
{
	enum { KEY = 16, VERSIONS = 8 };
	if (i + KEY < c->asked_count)
		__builtin_prefetch(c->asked_keys[i + KEY]);
	if (i + VERSIONS < c->asked_count)
		commits_fetch(s->commits, c->asked_keys[i + VERSIONS]->number);
}

static bool take_read(struct service *s, struct client *c,
                      const struct wire_head *h, const char *body)
{
	struct reply r = { .strength = (enum strength)h->strength };
	bool fine = true;
	c->tag = h->owner;
	if (h->strength >= STRENGTH_SHARE &&
	    serving_injects(
		    s, c, "40P01deadlock detected, by isoscope serve --faults"))
		return true;
	if (!take_asked(s, c, h->number, body, body + h->length)) return false;
	if (h->known) commits_look_back(s->commits, c->session, c->told_at);
	for (uint32_t i = 0; i < c->asked_count && fine && !r.owner; i++) {
		const struct server_key *k = c->asked_keys[i];
		fetch_keys(s, c, i);
		if (h->initial && !is_sure(s, k)) r.strength = STRENGTH_PLAIN;
		struct db_access a = { .key = k->number,
			               .strength = r.strength,
			               .joined = h->joined || i };
		fine = read_key_of(s, c, h, a, &r);
	}
	c->blocked = r.owner;
	if (fine) send_reply(s, c, &r);
	free_reply(&r);
	return true;
}

static void end_lock(struct service *s, struct client *c, struct client_lock l)
{
	commits_give_up(s->commits, c->session, l.access);
	recording_give_up(s->recording, c->session, l.access.key);
}

/* A savepoint is rolled back: what was locked behind it is free; that it was
 * read stays. */
static void give_up_all(struct service *s, struct client *c, uint32_t tag)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < c->lock_count; i++)
		if (c->locks[i].tag == tag)
			end_lock(s, c, c->locks[i]);
		else
			c->locks[kept++] = c->locks[i];
	c->lock_count = kept;
	row_locks_give_up(s->locks, c->session, tag);
}

/* There is no row, so nothing is locked. */
static void give_up_one(struct service *s, struct client *c, uint32_t tag,
                        uint32_t key)
{
	uint32_t i = c->lock_count;
	while (i && (c->locks[i - 1].tag != tag ||
	             c->locks[i - 1].access.key != key))
		i--;
	if (!i) return;
	commits_give_up(s->commits, c->session, c->locks[i - 1].access);
	recording_unlock(s->recording, c->session, key);
	c->lock_count--;
	memmove(c->locks + i - 1, c->locks + i,
	        (c->lock_count - (i - 1)) * sizeof *c->locks);
	row_locks_give_up_one(s->locks, c->session, tag, key);
}

static bool take_given_up(struct service *s, struct client *c,
                          const struct wire_head *h, const char *body)
{
	if (!h->length) {
		give_up_all(s, c, h->owner);
		return true;
	}
	const struct server_key *k =
		server_key_told(s->library, &body, body + h->length);
	if (!k) return no_table(s);
	give_up_one(s, c, h->owner, k->number);
	return true;
}

static void take_news(struct service *s, struct client *c,
                      const struct wire_head *h, const char *body)
{
	struct wire_key k;
	put_news(s, c);
	if (h->length == sizeof k) {
		memcpy(&k, body, sizeof k);
		const struct server_relation *r =
			server_relation(s->library, k.relation);
		if (r && !row_versions_tells(s->versions, c->reader, r))
			row_versions_put_table(s->versions, c->reader, r,
			                       &c->out);
	}
	put_ready(s, c);
}

static bool take_write(struct service *s, struct client *c,
                       const struct wire_head *h, const char *body)
{
	const char *stop = body + h->length;
	struct server_key *k = server_key_told(s->library, &body, stop);
	if (!k) return no_table(s);
	take_keys(s);
	VEC_RESERVE(c->writes, c->write_count, c->write_capacity);
	c->writes[c->write_count++] = (struct pending_write){
		.key = k,
		.access = { .key = k->number,
		            .strength = (enum strength)h->strength,
		            .joined = h->joined },
		.row = h->number != 0,
		.image = c->images.length,
		.length = (uint32_t)(stop - body)
	};
	text_bytes(&c->images, body, (size_t)(stop - body));
	return true;
}

/* ---- Commits ---- */

static void write_all(struct service *s, struct client *c)
{
	for (uint32_t i = 0; i < c->write_count; i++) {
		struct pending_write *w = &c->writes[i];
		const char *image = text_get(&c->images) + w->image;
		struct served_version v = { .key = w->key,
			                    .value = trace_value_null() };
		if (w->row) {
			v.image = image;
			v.length = w->length;
			v.value = recorded_value(s, w->key, image, w->length);
		}
		w->number =
			w->row ? row_versions_add(s->versions, v, false) : 0;
		commits_write(s->commits, c->session, w->access, w->number);
		recording_write(s->recording, c->session, w->access, v.value);
	}
}

/* Nobody has heard of them. */
static void take_back(struct service *s, const struct client *c)
{
	for (uint32_t i = 0; i < c->write_count; i++)
		if (c->writes[i].number)
			row_versions_forget(s->versions, c->writes[i].number);
}

/* Conditions look at what was written from now on, since it was told. */
static void note_deleted(struct service *s, const struct client *c)
{
	for (uint32_t i = 0; i < c->write_count; i++) {
		const struct server_key *k = c->writes[i].key;
		if (c->writes[i].row) continue;
		if (k->number >= s->deleted_count) {
			uint32_t n = 2 * k->number + 64;
			s->deleted = mem_grow0(s->deleted, s->deleted_count, n,
			                       sizeof *s->deleted);
			s->deleted_count = n;
		}
		if (s->deleted[k->number]) continue;
		s->deleted[k->number] = row_versions_add(
			s->versions, (struct served_version){ .key = k },
			false);
	}
}

static void take_commit(struct service *s, struct client *c, bool waits)
{
	uint32_t key;
	if (serving_injects(
		    s, c,
		    "40001could not serialize access, by isoscope serve "
		    "--faults"))
		return;
	write_all(s, c);
	if (!commits_commit(s->commits, c->session, &key)) {
		take_back(s, c);
		serving_refuse_read(s, c, s->library->keys[key]);
		return;
	}
	note_deleted(s, c);
	VEC_RESERVE(s->writers, s->writer_count, s->writer_capacity);
	s->writers[s->writer_count++] =
		(struct served_writer){ c->session, c->transactions };
	if (waits) put(&c->out, (struct wire_head){ .kind = WIRE_READY }, "");
	end(s, c, false);
}

/* ---- Records ---- */

bool serving_take_record(struct service *s, struct client *c,
                         const struct wire_head *h, const char *body)
{
	c->since = seconds_now();
	c->blocked = false;
	switch (h->kind) {
	case WIRE_BEGIN:
		c->asked = h->number;
		c->asking = h->owner;
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
	case WIRE_READ:
		if (c->open) return take_read(s, c, h, body);
		serving_refuse_rest(c);
		return true;
	case WIRE_NEWS: take_news(s, c, h, body); return true;
	case WIRE_WRITE: return !c->open || take_write(s, c, h, body);
	case WIRE_GIVE_UP: return !c->open || take_given_up(s, c, h, body);
	case WIRE_COMMIT:
		if (c->open)
			take_commit(s, c, h->number);
		else if (h->number)
			serving_refuse_rest(c);
		return true;
	case WIRE_ABORT:
		c->waits = false;
		if (c->open) serving_abort(s, c);
		return true;
	default: return true; /* what only explorations ask for */
	}
}

/* ---- The loop ---- */

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
		served_clients_wait(s, NULL);
		if (!served_clients_take(s)) return false;
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
		served_clients_wait(s, command);
		if (!served_clients_take(s)) return false;
		if (!command || !served_command_ended(s)) continue;
		(void)command_take(command);
		if (!command->over) continue;
		if (command->code &&
		    cluster_was_lost(s->library->cluster, &s->run->lost))
			break;
		s->run->code = command->code;
		cluster_tell_deaths(s->library->cluster, s->log, &s->run->died);
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
	s->run->unstarted = !command_start_apart(
		&c, s->library->cluster, o->command, WIRE_DOOR_OF_SERVICE,
		o->output ? o->output - 1 : 2, &s->run->problem);
	bool fine = !s->run->unstarted && serve(s, &c);
	command_kill(&c);
	return fine;
}

static bool make_trace(struct service *s)
{
	struct diags d = { 0 };
	while (s->client_count) served_client_drop(s, s->client_count - 1);
	if (s->run->counts.transactions)
		s->run->trace = recording_finish(s->recording, &d);
	bool fine = s->run->trace || !s->run->counts.transactions;
	if (!fine)
		serving_fail(s, "the history is none: %s",
		             d.count ? d.items[0].message : "it is too long");
	if (s->run->trace) s->run->trace->level = level_word(s->options->level);
	diags_free(&d);
	return fine;
}

static void free_service(struct service *s)
{
	while (s->client_count) served_client_drop(s, s->client_count - 1);
	commits_free(s->commits);
	row_versions_free(s->versions);
	row_locks_free(s->locks);
	recording_free(s->recording);
	free(s->clients);
	free(s->deleted);
	region_free(&s->scratch);
	free(s->polled);
	free(s->writers);
	read_counts_free(&s->counts);
}

/* Who gets the newest versions anyway sees all from its beginning on; but what
 * a run is minimized to is not that. */
static struct commits_rules rules_of(const struct service_options *o)
{
	return (struct commits_rules){
		.sees_past = level_sight(o->level) == SIGHT_PAST,
		.moments = level_reads_moments(o->level),
		.within = o->within,
		.sees_all = o->policy == ANSWER_LATEST && !o->only
	};
}

bool service_run(struct service_run *out, const struct service_options *o)
{
	struct server_library *l = server_of(o->program->library);
	double began = seconds_now();
	*out = (struct service_run){ 0 };
	struct service s = { .options = o,
		             .run = out,
		             .library = l,
		             .log = cluster_log_end(l->cluster),
		             .rng = { o->seed },
		             .luck = { ~o->seed },
		             .commits = commits_new(rules_of(o)),
		             .versions = row_versions_new(),
		             .enough = KEPT,
		             .locks = row_locks_new(),
		             .recording = recording_new() };
	region_init(&s.scratch);
	take_keys(&s);
	if (o->ready) o->ready(o->payload);
	bool fine = run_command(&s) && make_trace(&s);
	free_service(&s);
	out->seconds = seconds_now() - began;
	return fine;
}

void service_run_free(struct service_run *r)
{
	trace_free(r->trace);
	text_free(&r->fault.transaction);
	text_free(&r->fault.statement);
	text_free(&r->died);
	stale_reads_free(&r->stale);
	text_free(&r->problem);
	text_free(&r->lost);
	*r = (struct service_run){ 0 };
}
