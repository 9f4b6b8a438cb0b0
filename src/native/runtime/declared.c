#include "native/runtime/declared.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "native/runtime/api.h"
#include "native/runtime/fibre.h"

struct sessions {
	struct task **items;
	uint32_t count, capacity;
};

/* The client is declared once in a worker, and lives as long. */
static struct {
	struct sessions plain, expectations, all;
	struct task *finally;
	bool has_isolation;
	struct table by_key; /* of those that have an initial value */
	struct iso_value *initials;
	uint32_t initial_count, initial_capacity;
	struct region memory;
} declared;

/* ---- Sessions ---- */

static void add(struct sessions *list, struct task *s)
{
	assert(s && list->count <= list->capacity);
	VEC_RESERVE(list->items, list->count, list->capacity);
	list->items[list->count++] = s;
}

static void add_all(struct sessions *list, const struct sessions *more)
{
	for (uint32_t i = 0; i < more->count; i++) add(list, more->items[i]);
}

struct task *declared_session(uint32_t number)
{
	return number < declared.all.count ? declared.all.items[number] : NULL;
}

const struct task *declared_owner(const void *address)
{
	assert(address);
	for (uint32_t i = 0; i < declared.all.count; i++) {
		const struct task *s = declared.all.items[i];
		if (s->fibre && fibre_holds(s->fibre, address)) return s;
	}
	return NULL;
}

static struct iso_value run_session(struct task *s)
{
	s->run(s->data);
	return iso_int(1);
}

static struct iso_value run_expectation(struct task *s)
{
	return iso_int(s->holds(s->data));
}

static struct task *new_session(enum task_kind kind, const char *name,
                                void *data)
{
	struct task *s = mem_take0(1, sizeof *s);
	assert(name && (kind == TASK_PLAIN || kind == TASK_EXPECT));
	s->kind = kind;
	s->name = mem_copy_string(name);
	s->body = kind == TASK_EXPECT ? run_expectation : run_session;
	s->data = data;
	return s;
}

/* ---- Declarations ---- */

static void declare(const struct call *c, enum wire_step kind, const char *name)
{
	struct wire_writer w = step_begin(kind, c->pc);
	if (name) wire_put_string(&w, name, strlen(name));
	step_end(&w);
}

/* Wherever it was called, iso_finally() declares the last session. */
void declared_finish(uint64_t client)
{
	assert(!declared.all.count);
	if (!declared.plain.count)
		task_fail(client, "iso_client() declares no session: it "
		                  "has to call iso_session()");
	add_all(&declared.all, &declared.plain);
	if (declared.finally) {
		const struct call c = { .pc = client };
		add(&declared.all, declared.finally);
		declare(&c, STEP_FINALLY, NULL);
	}
	add_all(&declared.all, &declared.expectations);
}

static void check_name(const struct call *c, const char *name)
{
	if (!name) api_fail(c, ": the name is a null pointer");
	if (!*name) api_fail(c, ": the name is empty");
	if (!strcmp(name, "finally"))
		api_fail(c, ": this is the name of the session of "
		            "iso_finally(): take another");
	for (uint32_t i = 0; i < declared.plain.count; i++)
		if (!strcmp(declared.plain.items[i]->name, name))
			api_fail(c, ": two sessions have this name: take "
			            "another for one of them");
}

static void check_function(const struct call *c, bool is_null)
{
	if (is_null) api_fail(c, ": the function is a null pointer");
}

void iso_session(const char *name, void (*function)(void *data), void *data)
{
	struct call c = API_CALL(iso_string(name));
	api_enter(&c, TASK_DECLARING);
	check_name(&c, name);
	check_function(&c, !function);
	struct task *s = new_session(TASK_PLAIN, name, data);
	s->run = function;
	s->entry = (uint64_t)(uintptr_t)function;
	add(&declared.plain, s);
	declare(&c, STEP_SESSION, name);
}

void iso_finally(void (*function)(void *data), void *data)
{
	struct call c = API_CALL(iso_null());
	api_enter(&c, TASK_DECLARING);
	check_function(&c, !function);
	if (declared.finally)
		api_fail(&c, " was called before: there is one final session "
		             "at most");
	declared.finally = new_session(TASK_PLAIN, "finally", data);
	declared.finally->run = function;
	declared.finally->entry = (uint64_t)(uintptr_t)function;
}

void iso_expect(const char *text, bool (*holds)(void *data), void *data)
{
	struct call c = API_CALL(iso_string(text));
	const struct task *client = api_enter(&c, TASK_DECLARING);
	check_function(&c, !holds);
	if (!text) text = "";
	struct task *s = new_session(TASK_EXPECT, text, data);
	s->holds = holds;
	s->entry = (uint64_t)(uintptr_t)holds;
	if (c.pc == client->entry) c.pc = s->entry;
	add(&declared.expectations, s);
	declare(&c, STEP_EXPECT, text);
}

/* Which levels there are is the explorer's to know. */
void iso_isolation(const char *level)
{
	struct call c = API_CALL(iso_string(level));
	api_enter(&c, TASK_DECLARING);
	if (!level) api_fail(&c, ": the level is a null pointer");
	if (declared.has_isolation)
		api_fail(&c, " is the second level that is declared: there "
		             "is one at most");
	declared.has_isolation = true;
	declare(&c, STEP_ISOLATION, level);
}

/* ---- Initial values ---- */

static uint64_t key_hash(struct iso_value key)
{
	return key.kind == ISO_INT
	               ? hash_mix(1, (uint64_t)key.integer)
	               : hash_bytes(2, key.length ? key.bytes : "", key.length);
}

static bool is_key(struct iso_value a, struct iso_value b)
{
	if (a.kind != b.kind) return false;
	if (a.kind == ISO_INT) return a.integer == b.integer;
	return a.length == b.length &&
	       (!a.length || !memcmp(a.bytes, b.bytes, a.length));
}

static void add_initial(const struct call *c, struct iso_value key)
{
	struct table_probe at = table_probe(key_hash(key));
	uint32_t i;
	if (!declared.initial_capacity) table_init(&declared.by_key, 0);
	while ((i = table_next(&declared.by_key, &at)) != TABLE_NONE)
		if (is_key(declared.initials[i], key))
			api_fail(c, ": this key has an initial value already");
	if (key.length)
		key.bytes = region_copy_string(&declared.memory, key.bytes,
		                               key.length);
	VEC_RESERVE(declared.initials, declared.initial_count,
	            declared.initial_capacity);
	table_put(&declared.by_key, at, declared.initial_count);
	declared.initials[declared.initial_count++] = key;
}

static void initial(const struct call *c, struct iso_value key,
                    struct iso_value v)
{
	api_enter(c, TASK_DECLARING);
	api_check_key(c, key);
	api_check_value(c, v, "value");
	add_initial(c, key);
	struct wire_writer w = step_begin(STEP_INITIAL, c->pc);
	wire_put_value(&w, key);
	wire_put_value(&w, v);
	step_end(&w);
}

void iso_initial(struct iso_value key, struct iso_value value)
{
	struct call c = API_CALL(key);
	initial(&c, key, value);
}

void iso_initial_int(const char *key, int64_t value)
{
	struct call c = API_CALL(iso_string(key));
	initial(&c, c.about, iso_int(value));
}

void iso_initial_string(const char *key, const char *value)
{
	struct call c = API_CALL(iso_string(key));
	initial(&c, c.about, iso_string(value));
}
