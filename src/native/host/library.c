#include "native/host/library_parts.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "native/host/declarations.h"
#include "native/host/guest_value.h"
#include "native/host/process.h"
#include "native/host/source_lines.h"
#include "vm/bytecode.h"
#include "vm/machine.h"

#define MEMO_BUDGET ((size_t)256 << 20)

static const char *keep(struct library *l, const char *s)
{
	return region_copy_string(&l->region, s, strlen(s));
}

/* ---- Faults ---- */

void library_set_fault(struct library *l, struct text *fault)
{
	library_lock(l);
	if (!l->fault) l->fault = mem_copy_string(text_get(fault));
	library_unlock(l);
	text_free(fault);
}

void library_meet_bound(struct library *l, uint32_t session, uint32_t point,
                        uint64_t bound, const char *what)
{
	struct text t = { 0 };
	text_format(&t, "session '%s' makes more than %" PRIu64 " %s",
	            library_session_name(l, session), bound, what);
	library_lock(l);
	if (!l->bound) {
		l->bound = mem_copy_string(text_get(&t));
		l->bound_point = point;
	}
	library_unlock(l);
	text_free(&t);
}

/* ---- Names and places ---- */

/* The number of the name, which is added if it is new; `name` lives on. */
static uint32_t name_number(struct names *n, const char *name)
{
	struct table_probe at = table_probe(hash_bytes(0, name, strlen(name)));
	uint32_t i;
	while ((i = table_next(&n->table, &at)) != TABLE_NONE)
		if (!strcmp(n->items[i], name)) return i;
	VEC_RESERVE(n->items, n->count, n->capacity);
	n->items[n->count] = name;
	table_put(&n->table, at, n->count);
	assert(n->table.count == n->count + 1);
	return n->count++;
}

/* Names of transactions are kept behind a byte for the level: '0' for none. */
uint32_t library_transaction_number(struct library *l, const char *name,
                                    own_level level)
{
	struct text both = { 0 };
	text_char(&both, (char)('0' + level));
	text_string(&both, name);
	library_lock(l);
	struct region_mark mark = region_mark(&l->region);
	uint32_t count = l->transactions.count;
	uint32_t i = name_number(&l->transactions,
	                         text_of_guest(&l->region, text_get(&both)));
	if (l->transactions.count == count) region_release(&l->region, mark);
	library_unlock(l);
	text_free(&both);
	return i;
}

static const char *transaction(struct library *l, uint32_t name)
{
	library_lock(l);
	assert(name < l->transactions.count);
	const char *s = l->transactions.items[name];
	library_unlock(l);
	return s;
}

const char *library_transaction(struct library *l, uint32_t name)
{
	return transaction(l, name) + 1;
}

own_level library_transaction_level(struct library *l, uint32_t name)
{
	return (own_level)(transaction(l, name)[0] - '0');
}

bool library_mixes(struct library *l)
{
	bool mixes = false;
	library_lock(l);
	for (uint32_t i = 0; i < l->transactions.count && !mixes; i++)
		mixes = l->transactions.items[i][0] != '0';
	library_unlock(l);
	return mixes;
}

const char *library_session_name(struct library *l, uint32_t session)
{
	assert(session < l->sessions.count + l->expectation_count);
	if (session < l->sessions.count) return l->sessions.items[session];
	return l->assertions[session - l->sessions.count].text;
}

static uint32_t add_position(struct library *l, struct position at)
{
	for (uint32_t i = 1; i < l->position_count; i++) {
		const struct position *p = &l->positions[i];
		if (at.line && p->line == at.line && p->column == at.column &&
		    !strcmp(p->file, at.file))
			return i;
	}
	VEC_RESERVE(l->positions, l->position_count, l->position_capacity);
	l->positions[l->position_count] = at;
	assert(l->position_count < l->position_capacity);
	return l->position_count++;
}

/* What reports show of an address without debugging information:
 * "client.so (in buy)". */
static const char *rough_place(struct library *l, const char *object,
                               const struct source_place *p)
{
	struct text t = { 0 };
	const char *slash = strrchr(object, '/');
	text_string(&t, slash ? slash + 1 : object);
	if (p->function) text_format(&t, " (in %s)", p->function);
	const char *s = keep(l, text_get(&t));
	text_free(&t);
	return s;
}

static struct position find_position(struct library *l, const char *object,
                                     uint64_t address)
{
	struct source_place p = { 0 };
	if (!l->lines) l->lines = source_lines_new();
	if (!source_lines_find(l->lines, object, address, &p) || !p.file)
		return (struct position){ .file = rough_place(l, object, &p),
			                  .source_line = "" };
	return (struct position){
		.file = keep(l, p.file),
		.line = p.line,
		.column = p.column,
		.source_line = keep(l, p.source_line ? p.source_line : "")
	};
}

static uint32_t add_point(struct library *l, const char *object,
                          uint64_t address)
{
	struct position at = find_position(l, object, address);
	assert(object);
	VEC_RESERVE(l->points, l->point_count, l->point_capacity);
	l->points[l->point_count++] =
		(struct known_point){ keep(l, object), address,
		                      add_position(l, at) };
	return l->points[l->point_count - 1].number;
}

uint32_t library_point(struct library *l, const char *object, uint64_t address)
{
	uint32_t i = 0;
	library_lock(l);
	while (i < l->point_count && (l->points[i].address != address ||
	                              strcmp(l->points[i].object, object)))
		i++;
	uint32_t number = i < l->point_count ? l->points[i].number
	                                     : add_point(l, object, address);
	library_unlock(l);
	return number;
}

struct position library_position(struct library *l, uint32_t point)
{
	library_lock(l);
	assert(point < l->position_count);
	struct position at = l->positions[point];
	library_unlock(l);
	return at;
}

/* ---- Assertions ---- */

static void add_assertion(struct library *l, enum assertion_kind kind,
                          const char *text, uint32_t point)
{
	uint32_t i = atomic_load(&l->assertion_count);
	assert(i < l->assertion_capacity && point < l->position_count);
	l->assertions[i] = (struct assertion){ .kind = kind,
		                               .text = text,
		                               .message = text,
		                               .at = l->positions[point] };
	l->assertion_points[i] = point;
	atomic_store(&l->assertion_count, i + 1);
}

static void too_many_assertions(struct library *l)
{
	struct text t = { 0 };
	text_format(&t,
	            "iso_assert() is called at more than %d places, or with "
	            "as many messages, the most that isoscope tells apart; "
	            "values belong into iso_note(), not into messages",
	            LIBRARY_ASSERTIONS);
	library_set_fault(l, &t);
}

uint32_t library_assertion_number(struct library *l, const char *message,
                                  uint32_t point)
{
	library_lock(l);
	struct region_mark mark = region_mark(&l->region);
	message = text_of_guest(&l->region, message);
	uint32_t i = l->expectation_count;
	uint32_t count = atomic_load(&l->assertion_count);
	while (i < count && (l->assertion_points[i] != point ||
	                     strcmp(l->assertions[i].text, message)))
		i++;
	bool full = i == l->assertion_capacity;
	if (i < count || full)
		region_release(&l->region, mark);
	else
		add_assertion(l, ASSERTION_INLINE, message, point);
	library_unlock(l);
	assert(i <= l->assertion_capacity);
	if (!full) return i;
	too_many_assertions(l);
	return i - 1;
}

const struct assertion *library_assertion(struct library *l, uint32_t i,
                                          bool *met)
{
	static const struct assertion unmet = { .kind = ASSERTION_INLINE,
		                                .text = "" };
	*met = i < atomic_load(&l->assertion_count);
	return *met ? &l->assertions[i] : &unmet;
}

const char *library_assertion_text(struct library *l, uint32_t i)
{
	bool met;
	return library_assertion(l, i, &met)->text;
}

/* Any of the places that have this number. */
static const struct known_point *place_of(const struct library *l,
                                          uint32_t number)
{
	for (uint32_t i = 0; i < l->point_count; i++)
		if (l->points[i].number == number) return &l->points[i];
	return NULL;
}

bool library_assertion_met(const struct program *p, uint32_t i,
                           struct library_assertion *out)
{
	struct library *l = library_of(p->library);
	library_lock(l);
	bool met = i < atomic_load(&l->assertion_count);
	if (met) {
		const struct known_point *at =
			place_of(l, l->assertion_points[i]);
		*out = (struct library_assertion){
			.message = l->assertions[i].text,
			.object = at ? at->object : NULL,
			.address = at ? at->address : 0,
		};
	}
	library_unlock(l);
	return met;
}

uint32_t library_meet_assertion(const struct program *p, uint32_t there,
                                struct library_assertion a)
{
	struct library *l = library_of(p->library);
	uint32_t point = 0;
	assert(a.message);
	if (there < l->expectation_count) return there;
	if (a.object) point = library_point(l, a.object, a.address);
	return library_assertion_number(l, a.message, point);
}

/* ---- What is declared ---- */

void library_add_session(struct library *l, const char *name)
{
	name_number(&l->sessions, keep(l, name));
}

static void grow_assertions(struct library *l)
{
	l->assertion_room *= 2;
	l->assertions = mem_grow(l->assertions, l->assertion_room,
	                         sizeof *l->assertions);
	l->assertion_points = mem_grow(l->assertion_points, l->assertion_room,
	                               sizeof *l->assertion_points);
}

void library_add_expectation(struct library *l, const char *text,
                             const char *object, uint64_t address)
{
	uint32_t point = object ? library_point(l, object, address) : 0;
	l->expectation_count++;
	assert(l->assertion_count == l->expectation_count - 1);
	if (++l->assertion_capacity > l->assertion_room) grow_assertions(l);
	add_assertion(l, ASSERTION_FINAL, text_of_guest(&l->region, text),
	              point);
}

void library_note_declarations(struct library *l, const struct wire *reply)
{
	declarations_note(&l->declarations, reply);
}

bool library_declares(const struct library *l, const struct wire *reply,
                      struct text *why)
{
	return !l->client ||
	       declarations_hold(&l->declarations, l->client, reply, why);
}

uint32_t library_session_count(const struct library *l)
{
	return l->sessions.count;
}

uint32_t library_expectation_count(const struct library *l)
{
	return l->expectation_count;
}

uint32_t library_add_function(struct library *l,
                              const struct foreign_function *f)
{
	assert(f->name && f->library);
	VEC_RESERVE(l->functions, l->function_count, l->function_capacity);
	struct foreign_function *copy = &l->functions[l->function_count];
	uint8_t *parameters =
		region_take(&l->region, f->parameter_count + (size_t)1);
	memcpy(parameters, f->parameters, f->parameter_count);
	*copy = *f;
	copy->name = keep(l, f->name);
	copy->library = keep(l, f->library);
	copy->parameters = parameters;
	l->job.functions = l->functions;
	l->job.function_count = ++l->function_count;
	return l->function_count - 1;
}

const struct foreign_function *library_function(const struct library *l,
                                                uint32_t i)
{
	assert(i < l->function_count);
	return &l->functions[i];
}

/* ---- The whole ---- */

struct process *library_process(struct library *l)
{
	return process_new(&l->job, l->step_timeout, l->show_output);
}

void library_clear(struct library *l)
{
	source_lines_free(l->lines);
	region_free(&l->region);
	pthread_mutex_destroy(&l->lock);
	free(l->client);
	free(l->functions);
	free(l->fault);
	free(l->bound);
	free(l->sessions.items);
	table_free(&l->sessions.table);
	free(l->transactions.items);
	table_free(&l->transactions.table);
	free(l->points);
	free(l->positions);
	free(l->assertions);
	free(l->assertion_points);
}

void library_init(struct library *l, const char *client, double step_timeout)
{
	l->client = client ? mem_copy_string(client) : NULL;
	l->job.client = l->client;
	if (client) declarations_note_file(&l->declarations, client);
	l->step_timeout = step_timeout;
	l->bounds = LIBRARY_BOUNDS;
	l->budget = MEMO_BUDGET;
	region_init(&l->region);
	table_init(&l->sessions.table, 0);
	table_init(&l->transactions.table, 0);
	pthread_mutex_init(&l->lock, NULL);
	guest_pool_init(&l->pool);
	const char *path = keep(l, client ? client : "");
	add_position(l, (struct position){ .file = path, .source_line = "" });
	l->assertion_capacity = l->assertion_room = LIBRARY_ASSERTIONS;
	l->assertions = mem_take0(l->assertion_capacity, sizeof *l->assertions);
	l->assertion_points =
		mem_take0(l->assertion_capacity, sizeof *l->assertion_points);
}

struct guest_library *library_guest(struct library *l)
{
	return &l->guest;
}

/* ---- Settings ---- */

bool library_is_uniform(const struct library *l)
{
	return l->uniform;
}

size_t library_budget(const struct library *l)
{
	return l->budget;
}

struct library_bounds library_bounds(const struct library *l)
{
	return l->bounds;
}

double library_step_timeout(const struct library *l)
{
	return l->step_timeout;
}

bool library_shows_output(const struct library *l)
{
	return l->show_output;
}
