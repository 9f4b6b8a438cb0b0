#include "vm/guest_session.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "vm/bytecode.h"
#include "vm/guest.h"
#include "vm/machine_state.h"

/* Registers of a state. The step is kept as a value that is none of the
 * language's, so that a state stays an array of values. */
enum { REGISTER_STEP, REGISTER_ANSWER };
enum { TAG_STEP = 101 };

static const struct guest_step *step_of(const struct machine_state *s)
{
	struct value v = s->registers[REGISTER_STEP];
	return (int)v.tag == TAG_STEP ? (const struct guest_step *)v.o : NULL;
}

static void set_step(struct machine_state *s, const struct guest_step *step)
{
	s->registers[REGISTER_STEP] =
		(struct value){ .tag = (enum value_tag)TAG_STEP,
		                .o = (const struct value_object *)step };
}

/* What guests keep is the program's, not this work's (machine_take_guest()). */
static const struct guest_step *first_step(const struct machine *m,
                                           uint32_t session)
{
	bool apart = mem_apart(true);
	const struct guest_step *step =
		m->program->library->ops->start(m->guest, session);
	mem_apart(apart);
	return step;
}

static const struct guest_step *next_step(const struct machine *m,
                                          const struct guest_step *from,
                                          struct value answer)
{
	bool apart = mem_apart(true);
	const struct guest_step *step = m->program->library->ops->next(
		m->guest, from, answer, m->region);
	mem_apart(apart);
	return step;
}

/* The session is not run any further. */
static void stop(struct machine *m, struct machine_state *s,
                 enum machine_stop why, struct request *out)
{
	m->stop = why;
	s->stopped = 1;
	out->kind = s->in_transaction ? REQUEST_ABORT : REQUEST_DONE;
	s->in_transaction = 0;
}

static void request_access(struct machine *m, struct machine_state *s,
                           const struct guest_step *step, struct request *out)
{
	out->kind = step->kind == GUEST_GET   ? REQUEST_READ
	            : step->kind == GUEST_PUT ? REQUEST_WRITE
	                                      : REQUEST_GIVE_UP;
	bool spread = m->program->sql;
	out->key = keys_find(m->keys, step->global,
	                     spread ? step->key.o->items : &step->key,
	                     spread ? step->key.o->length : 1);
	out->value = step->value;
	out->point = step->point;
	out->strength = step->strength;
	out->joined = step->joined;
	if (out->key == KEY_NONE) stop(m, s, MACHINE_KEYS_FULL, out);
}

static void request_step(struct machine *m, struct machine_state *s,
                         const struct guest_step *step, struct request *out)
{
	switch (step->kind) {
	case GUEST_BEGIN:
		s->in_transaction = 1;
		out->kind = REQUEST_BEGIN;
		out->name = step->name;
		return;
	case GUEST_COMMIT:
	case GUEST_ABORT:
		s->in_transaction = 0;
		out->kind = step->kind == GUEST_COMMIT ? REQUEST_COMMIT
		                                       : REQUEST_ABORT;
		return;
	case GUEST_GET:
	case GUEST_PUT:
	case GUEST_GIVE_UP: request_access(m, s, step, out); return;
	case GUEST_END:
		s->stopped = 1;
		out->kind = REQUEST_DONE;
		return;
	case GUEST_START:
	case GUEST_NOTED: break;
	}
	assert(!"a step of a session");
}

/* Why there is no next step. */
static enum machine_stop why_none(const struct machine *m)
{
	return program_fault(m->program) ? MACHINE_FAULT : MACHINE_INTERRUPTED;
}

void guest_session_step(struct machine *m, struct machine_state *s,
                        struct request *out)
{
	const struct guest_step *step = step_of(s);
	if (m->stop) {
		stop(m, s, m->stop, out);
		return;
	}
	if (!step) step = first_step(m, m->program->sessions[s->session].entry);
	step = next_step(m, step, s->registers[REGISTER_ANSWER]);
	if (!step) {
		stop(m, s, why_none(m), out);
		return;
	}
	set_step(s, step);
	s->findings = step->findings;
	s->pruned = step->pruned;
	request_step(m, s, step, out);
}

void guest_session_answer(struct machine_state *s, struct value v)
{
	assert(step_of(s)->kind == GUEST_GET);
	s->registers[REGISTER_ANSWER] = v;
}

/* Was the note replaced by a later one? */
static bool is_replaced(const struct guest_note *newest,
                        const struct guest_note *note)
{
	for (; newest != note; newest = newest->older)
		if (!strcmp(newest->name, note->name)) return true;
	return false;
}

/* Whatever the order of the notes. */
uint64_t guest_session_outcome(const struct machine_state *s, uint64_t hash)
{
	const struct guest_step *step = step_of(s);
	const struct guest_note *newest = step ? step->notes : NULL;
	uint64_t notes = 0;
	for (const struct guest_note *n = newest; n; n = n->older) {
		if (is_replaced(newest, n)) continue;
		uint64_t name = hash_bytes(0, n->name, strlen(n->name));
		notes += hash_mix(name, value_hash(n->value));
	}
	return hash_mix(hash, notes);
}

void guest_session_tell(const struct machine_state *s, known_visitor *visit,
                        void *data)
{
	const struct guest_step *step = step_of(s);
	const struct guest_note *newest = step ? step->notes : NULL;
	for (const struct guest_note *n = newest; n; n = n->older)
		if (!is_replaced(newest, n)) visit(data, n->name, n->value);
}

const char *guest_session_failure(const struct machine_state *s)
{
	const struct guest_step *step = step_of(s);
	return step ? step->failure : NULL;
}

/* ---- Final expectations ---- */

struct value guest_session_noted(const struct machine_state *s,
                                 const char *name, uint32_t place)
{
	const struct guest_step *step = step_of(s);
	for (const struct guest_note *n = step ? step->notes : NULL; n;
	     n = n->older)
		if (place ? n->place == place : !strcmp(n->name, name))
			return n->value;
	return value_null();
}

/* False if there is no session of this name. */
static bool find_noted(const struct program *p, const struct guest_step *step,
                       const struct machine_state *const *states,
                       struct value *out)
{
	const char *session = step->key.o->items[0].o->bytes;
	const char *name = step->key.o->items[1].o->bytes;
	for (uint32_t i = 0; i < p->sessions_count; i++) {
		if (strcmp(p->sessions[i].name, session)) continue;
		*out = guest_session_noted(states[i], name, step->place);
		return true;
	}
	return false;
}

enum { ASKED_MOST = 65535 }; /* by one expectation */

/* What an expectation asked for, newest first. */
struct asked {
	const struct asked *older;
	uint32_t count; /* with the older ones */
	struct value key, value;
};

static const struct asked *ask(struct machine *m, const struct asked *older,
                               struct value key, struct value value)
{
	struct asked *a = region_take(m->region, sizeof *a);
	*a = (struct asked){ older, older ? older->count + 1 : 1, key, value };
	return a;
}

static const char *asked_name(struct region *r, struct value key)
{
	struct text t = { 0 };
	text_format(&t, "%s.%s", key.o->items[0].o->bytes,
	            key.o->items[1].o->bytes);
	const char *name = region_copy_string(r, text_get(&t), t.length);
	text_free(&t);
	return name;
}

static const struct finding *unexpected(struct machine *m, uint32_t assertion,
                                        const struct guest_step *end,
                                        const struct asked *asked)
{
	uint32_t count = asked ? asked->count : 0;
	struct finding *f = region_take0(
		m->region, sizeof *f + count * sizeof(struct finding_value));
	f->kind = FINDING_ASSERT;
	f->assertion = assertion;
	f->point = end->point;
	f->value_count = count;
	for (; asked; asked = asked->older)
		f->values[--count] = (struct finding_value){
			asked_name(m->region, asked->key), asked->value
		};
	return f;
}

static const struct finding *
wrong(struct machine *m, const struct guest_step *step, const char *message)
{
	struct finding *f = region_take0(m->region, sizeof *f);
	f->kind = FINDING_ERROR;
	f->point = step->point;
	f->message = message;
	return f;
}

static const struct finding *endless(struct machine *m,
                                     const struct guest_step *step)
{
	return wrong(m, step,
	             "an endless loop? it asked for more than 65,535 notes");
}

static const struct finding *unknown_session(struct machine *m,
                                             const struct guest_step *step)
{
	struct text t = { 0 };
	text_format(&t,
	            "iso_noted(\"%s\", \"%s\"): there is no session of "
	            "this name",
	            step->key.o->items[0].o->bytes,
	            step->key.o->items[1].o->bytes);
	const char *message =
		region_copy_string(m->region, text_get(&t), t.length);
	text_free(&t);
	return wrong(m, step, message);
}

const struct finding *
guest_expectation(struct machine *m, uint32_t assertion,
                  const struct machine_state *const *states)
{
	const struct program *p = m->program;
	const struct asked *asked = NULL;
	const struct guest_step *step =
		first_step(m, p->sessions_count + assertion);
	for (;;) {
		struct value answer = value_null();
		if (step->kind == GUEST_NOTED) {
			if (!find_noted(p, step, states, &answer))
				return unknown_session(m, step);
			asked = ask(m, asked, step->key, answer);
			if (asked->count > ASKED_MOST) return endless(m, step);
		}
		step = next_step(m, step, answer);
		if (!step) {
			m->stop = why_none(m);
			return NULL;
		}
		if (step->kind == GUEST_END) break;
	}
	if (step->findings) return step->findings;
	if (step->value.i) return NULL;
	return unexpected(m, assertion, step, asked);
}
