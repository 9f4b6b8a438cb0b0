/* Calls of C functions by programs, and the table of what they gave. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "native/host/guest.h"
#include "native/host/guest_value.h"

enum {
	KEPT_BYTES = 64 << 20, /* of results; further ones are not kept */
	SHOWN_BYTES = 60       /* of an argument, in messages */
};

/* What a call gave: a value, or why it gave none. */
struct outcome {
	const char *error;
	struct value value;
	bool lasting;     /* calling again would give the same */
	bool interrupted; /* there is neither */
};

struct call {
	uint32_t function;
	struct outcome outcome;
	struct value arguments[];
};

struct known_calls {
	struct region region;
	struct table by_arguments;
	struct call **calls;
	uint32_t count, capacity;
};

/* A call being made. */
struct invocation {
	struct guest *guest;
	const struct foreign_function *function;
	uint32_t number;
	const struct value *arguments;
	struct region *region; /* for what is not kept */
};

/* ---- Messages ---- */

static const char *keep_text(struct region *r, struct text *t)
{
	const char *copy = region_copy_string(r, text_get(t), t->length);
	text_free(t);
	return copy;
}

/* The value, or its beginning. */
static void show(struct text *t, struct value v)
{
	size_t start = t->length;
	value_print(t, v);
	if (t->length - start <= SHOWN_BYTES) return;
	size_t end = start + SHOWN_BYTES;
	while (((unsigned char)t->data[end] & 0xc0) == 0x80) end--;
	assert(end > start);
	t->length = end;
	text_string(t, "...");
}

static void show_call(struct text *t, const struct invocation *q)
{
	text_format(t, "%s(", q->function->name);
	for (uint32_t i = 0; i < q->function->parameter_count; i++) {
		if (i) text_string(t, ", ");
		show(t, q->arguments[i]);
	}
	text_char(t, ')');
}

static void show_outcome(struct text *t, const struct outcome *o)
{
	text_string(t, o->error ? o->error : "gave ");
	if (!o->error) show(t, o->value);
}

/* "f(1): " and what happened. */
static const char *call_failed(const struct invocation *q, const char *what)
{
	struct text t = { 0 };
	show_call(&t, q);
	text_format(&t, ": %s", what);
	return keep_text(q->region, &t);
}

/* ---- Asking the worker ---- */

static struct outcome failure(const char *error, bool lasting)
{
	return (struct outcome){ .error = error, .lasting = lasting };
}

static bool write_call(const struct invocation *q)
{
	struct wire *wire = process_command(q->guest->process);
	wire_clear(wire);
	struct wire_writer w = wire_write(wire);
	wire_put_u8(&w, COMMAND_CALL);
	wire_put_u32(&w, q->number);
	wire_put_u64(&w, q->function->parameter_count);
	for (uint32_t i = 0; i < q->function->parameter_count; i++)
		wire_put_value(&w, wire_of_value(q->region, q->arguments[i]));
	return wire_commit(&w);
}

static struct outcome result_of(const struct invocation *q, struct iso_value v)
{
	bool string = q->function->result == FOREIGN_STRING;
	if (v.kind != ISO_INT && !string)
		return failure("its reply was damaged", false);
	struct value value = value_of_wire(q->region, v);
	if (string && value.tag != VALUE_STRING && value.tag != VALUE_NULL)
		return failure("it gave a string that is not UTF-8", true);
	if (value.tag == VALUE_STRING && value.o->weight > VALUE_WEIGHT_MAX)
		return failure("it gave a string that is too long", true);
	return (struct outcome){ .value = value, .lasting = true };
}

static struct outcome read_reply(const struct invocation *q)
{
	struct wire_reader r = wire_read(process_reply(q->guest->process));
	uint8_t kind = wire_get_u8(&r);
	size_t length;
	(void)wire_get_u64(&r);
	if (kind == STEP_RETURN) {
		struct iso_value v = wire_get_value(&r);
		if (!r.bad) return result_of(q, v);
	} else if (kind == STEP_ERROR) {
		const char *why = wire_get_string(&r, &length);
		if (!r.bad)
			return failure(
				region_copy_string(q->region, why, length),
				true);
	}
	return failure("its reply was damaged", false);
}

static struct outcome died(const struct invocation *q, bool lasting)
{
	struct text why = { 0 };
	process_why(q->guest->process, &why);
	return failure(keep_text(q->region, &why), lasting);
}

static struct outcome ask(const struct invocation *q)
{
	struct process *p = q->guest->process;
	enum process_answer started = process_start(p);
	if (started == PROCESS_INTERRUPTED)
		return (struct outcome){ .interrupted = true };
	if (started != PROCESS_REPLIED) return died(q, false);
	if (!write_call(q)) return failure("its arguments are too long", true);
	switch (process_ask(p)) {
	case PROCESS_REPLIED: return read_reply(q);
	case PROCESS_DIED: return died(q, true);
	case PROCESS_INTERRUPTED:
		return (struct outcome){ .interrupted = true };
	case PROCESS_NOT_STARTED: return died(q, false);
	}
	return failure("", false);
}

static bool equal(const struct outcome *a, const struct outcome *b)
{
	return !a->error && !b->error && value_equal(a->value, b->value);
}

/* Two calls, which should give the same. */
static struct outcome ask_twice(const struct invocation *q)
{
	struct outcome first = ask(q);
	if (first.interrupted) return first;
	if (first.error) {
		first.error = call_failed(q, first.error);
		return first;
	}
	struct outcome second = ask(q);
	if (second.interrupted || equal(&first, &second)) return second;
	struct text t = { 0 };
	text_string(&t, "not a pure function: ");
	show_call(&t, q);
	text_char(&t, ' ');
	show_outcome(&t, &first);
	text_string(&t, ", then ");
	show_outcome(&t, &second);
	return failure(keep_text(q->region, &t), true);
}

/* ---- What is kept ---- */

static size_t known_calls_bytes(const struct known_calls *m)
{
	assert(m->count == m->by_arguments.count);
	return sizeof *m + m->region.held + table_bytes(&m->by_arguments) +
	       m->capacity * sizeof *m->calls;
}

static struct known_calls *known_calls_of(struct guest *g)
{
	if (g->calls) return g->calls;
	struct known_calls *m = mem_take0(1, sizeof *m);
	region_init(&m->region);
	table_init(&m->by_arguments, 0);
	g->extra_bytes += known_calls_bytes(m);
	return g->calls = m;
}

void known_calls_free(struct known_calls *m)
{
	if (!m) return;
	region_free(&m->region);
	table_free(&m->by_arguments);
	free(m->calls);
	free(m);
}

static uint64_t hash_of(const struct invocation *q)
{
	uint64_t hash = hash_mix(0, q->number);
	for (uint32_t i = 0; i < q->function->parameter_count; i++)
		hash = hash_mix(hash, value_hash(q->arguments[i]));
	return hash;
}

/* A call that was made before, or NULL; then *at is where it goes. */
static const struct call *find(const struct known_calls *m,
                               const struct invocation *q,
                               struct table_probe *at)
{
	uint32_t count = q->function->parameter_count, i, same;
	*at = table_probe(hash_of(q));
	while ((i = table_next(&m->by_arguments, at)) != TABLE_NONE) {
		const struct call *c = m->calls[i];
		if (c->function != q->number) continue;
		for (same = 0; same < count; same++)
			if (!value_equal(c->arguments[same],
			                 q->arguments[same]))
				break;
		if (same == count) return c;
	}
	return NULL;
}

static void keep(struct known_calls *m, struct table_probe at,
                 const struct invocation *q, const struct outcome *o)
{
	uint32_t count = q->function->parameter_count;
	struct call *c = region_take(&m->region,
	                             sizeof *c + count * sizeof *c->arguments);
	*c = (struct call){ .function = q->number, .outcome = *o };
	for (uint32_t i = 0; i < count; i++)
		c->arguments[i] = value_copy(&m->region, q->arguments[i]);
	if (o->error)
		c->outcome.error = region_copy_string(&m->region, o->error,
		                                      strlen(o->error));
	else
		c->outcome.value = value_copy(&m->region, o->value);
	VEC_RESERVE(m->calls, m->count, m->capacity);
	table_put(&m->by_arguments, at, m->count);
	assert(o->lasting && !o->interrupted);
	m->calls[m->count++] = c;
}

static void keep_if_small(struct guest *g, struct table_probe at,
                          const struct invocation *q, const struct outcome *o)
{
	struct known_calls *m = g->calls;
	size_t before = known_calls_bytes(m);
	if (!o->lasting || before > KEPT_BYTES || guest_bytes(g) >= g->budget)
		return;
	keep(m, at, q, o);
	g->extra_bytes += known_calls_bytes(m) - before;
}

/* ---- The call ---- */

/* Why an argument cannot be given, or NULL. */
static const char *wrong_argument(const struct invocation *q)
{
	const struct foreign_function *f = q->function;
	for (uint32_t i = 0; i < f->parameter_count; i++) {
		struct value v = q->arguments[i];
		bool string = f->parameters[i] == FOREIGN_STRING;
		bool zero = v.tag == VALUE_STRING &&
		            memchr(v.o->bytes, 0, v.o->length);
		if (v.tag == (string ? VALUE_STRING : VALUE_INT) && !zero)
			continue;
		struct text t = { 0 };
		text_format(&t, "argument %u of '%s' ", i + 1, f->name);
		if (zero && string)
			text_string(&t, "holds a zero byte, which ends a "
			                "string in C");
		else
			text_format(&t, "must be %s, not %s",
			            string ? "a string" : "an integer",
			            value_type_name(v.tag));
		return keep_text(q->region, &t);
	}
	return NULL;
}

static bool give(const struct outcome *o, struct region *r, struct value *out,
                 const char **error)
{
	assert(o->lasting);
	if (o->error)
		*error = region_copy_string(r, o->error, strlen(o->error));
	else
		*out = value_copy(r, o->value);
	return !o->error;
}

bool guest_call(struct guest *g, uint32_t function,
                const struct value *arguments, uint32_t count, struct region *r,
                struct value *out, const char **error)
{
	struct invocation q = {
		.guest = g,
		.function = library_function(g->library, function),
		.number = function,
		.arguments = arguments,
		.region = r,
	};
	struct known_calls *m = known_calls_of(g);
	(void)count; /* the compiler has checked it */
	*error = wrong_argument(&q);
	if (*error) return false;
	struct table_probe at;
	const struct call *known = find(m, &q, &at);
	if (known) return give(&known->outcome, r, out, error);
	struct outcome o = ask_twice(&q);
	keep_if_small(g, at, &q, &o);
	*out = o.value;
	*error = o.error;
	return !o.error && !o.interrupted;
}
