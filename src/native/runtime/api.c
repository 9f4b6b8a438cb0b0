#include "native/runtime/api.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "native/runtime/crash.h"
#include "native/runtime/declared.h"
#include "native/runtime/fibre.h"

enum { SHOWN = 60 }; /* bytes of a string in a message */

/* ---- Messages ---- */

/* No character of UTF-8 is cut in two. */
static void add_bytes(struct text *t, const char *s, size_t length)
{
	size_t n = length < SHOWN ? length : SHOWN;
	assert(s || !length);
	while (n < length && n && ((unsigned char)s[n] & 0xc0) == 0x80) n--;
	assert(n <= length && n <= SHOWN);
	text_json_string(t, s, n);
	if (n < length) text_string(t, "...");
}

static void add_value(struct text *t, struct iso_value v)
{
	if (v.kind == ISO_INT) text_int(t, v.integer);
	if (v.kind == ISO_BYTES && (v.bytes || !v.length))
		add_bytes(t, v.bytes ? v.bytes : "", v.length);
}

void api_fail(const struct call *c, const char *format, ...)
{
	struct text t = { 0 };
	va_list list;
	assert(c->function && task_current());
	text_format(&t, "%s(", c->function);
	add_value(&t, c->about);
	text_char(&t, ')');
	va_start(list, format);
	text_vformat(&t, format, list);
	va_end(list);
	char *said = region_copy_string(&task_current()->memory, text_get(&t),
	                                t.length);
	text_free(&t);
	task_fail(c->pc, "%s", said);
}

/* ---- Who may ---- */

uint64_t api_place(uint64_t pc)
{
	const struct task *s = task_current();
	return !crash_is_own(pc) ? pc : s ? s->entry : 0;
}

static const char *const places[] = {
	[TASK_LOADING] = "before iso_client() was called",
	[TASK_DECLARING] = "in iso_client()",
	[TASK_PLAIN] = "in a session",
	[TASK_EXPECT] = "in a function of iso_expect()",
	[TASK_FOREIGN] = "in a function that a program calls"
};

static const char *rule(enum task_kind is, enum task_kind wanted)
{
	assert(is != wanted);
	if (is == TASK_EXPECT)
		return "it may use iso_noted() and iso_noted_int() only";
	if (wanted == TASK_DECLARING)
		return "declarations belong in iso_client()";
	if (wanted == TASK_EXPECT)
		return "only functions of iso_expect() may use it";
	return "only sessions may use it";
}

static _Noreturn void refuse_thread(const struct call *c)
{
	struct text t = { 0 };
	text_format(&t,
	            "%s() was called by a thread that runs no session: "
	            "threads that a session starts may not use the functions "
	            "of isoscope/client.h",
	            c->function);
	crash_misuse(text_get(&t));
}

/* A session on the stack of another has got there by longjmp() or the like.
 * One on a stack of its own making is welcome. */
static void check_stack(const struct call *c, const struct task *s)
{
	struct text t = { 0 };
	const void *here = __builtin_frame_address(0);
	assert(s->fibre);
	if (fibre_holds(s->fibre, here)) return;
	const struct task *owner = declared_owner(here);
	if (!owner) return;
	text_format(&t,
	            "%s() was called by session \"%s\" on the stack of "
	            "session \"%s\": longjmp() must not lead from one session "
	            "into another",
	            c->function, s->name, owner->name);
	crash_misuse(text_get(&t));
}

struct task *api_enter(const struct call *c, enum task_kind wanted)
{
	struct task *s = task_current();
	crash_end_copy(c->function);
	if (!fibre_current() || !s) refuse_thread(c);
	task_called(s, c->pc);
	check_stack(c, s);
	if (s->kind != wanted)
		api_fail(c, " %s: %s", places[s->kind], rule(s->kind, wanted));
	return s;
}

static struct task *enter_transaction(const struct call *c)
{
	struct task *s = api_enter(c, TASK_PLAIN);
	if (!s->transaction)
		api_fail(c, " outside of a transaction: iso_begin() comes "
		            "first");
	return s;
}

void api_check_value(const struct call *c, struct iso_value v, const char *what)
{
	if ((unsigned)v.kind > ISO_BYTES)
		api_fail(c,
		         ": the %s is of kind %d, which is none: make it "
		         "with iso_int(), iso_string() or iso_bytes()",
		         what, (int)v.kind);
	if (v.kind == ISO_BYTES && !v.bytes && v.length)
		api_fail(c, ": the %s is a null pointer to %zu bytes", what,
		         v.length);
}

void api_check_key(const struct call *c, struct iso_value key)
{
	if (key.kind == ISO_NULL)
		api_fail(c, ": the key is null, or a null pointer: keys are "
		            "integers, strings or bytes");
	api_check_value(c, key, "key");
}

/* ---- Values ---- */

struct iso_value iso_null(void)
{
	return (struct iso_value){ .kind = ISO_NULL };
}

struct iso_value iso_int(int64_t integer)
{
	return (struct iso_value){ .kind = ISO_INT, .integer = integer };
}

struct iso_value iso_string(const char *string)
{
	if (!string) return iso_null();
	return iso_bytes(string, strlen(string));
}

struct iso_value iso_bytes(const void *bytes, size_t length)
{
	return (struct iso_value){ .kind = ISO_BYTES,
		                   .bytes = bytes,
		                   .length = length };
}

/* ---- Transactions ---- */

static void put_text(struct wire_writer *w, const char *s)
{
	wire_put_string(w, s ? s : "", s ? strlen(s) : 0);
}

/* `level` may be NULL. */
static void begin(const struct call *c, const char *name, const char *level)
{
	struct task *s = api_enter(c, TASK_PLAIN);
	if (s->transaction)
		api_fail(c,
		         " in the middle of transaction \"%s\": "
		         "iso_commit() or iso_abort() comes first",
		         s->transaction);
	if (!name) name = "txn";
	s->transaction = region_copy_string(&s->memory, name, strlen(name));
	s->begun = c->pc;
	s->grouped = s->locked = false;
	assert(s->transaction);
	struct wire_writer w = step_begin(STEP_BEGIN, c->pc);
	put_text(&w, name);
	put_text(&w, level);
	step_end(&w);
}

void iso_begin(const char *name)
{
	struct call c = API_CALL(iso_string(name));
	begin(&c, name, NULL);
}

void iso_begin_at(const char *name, const char *level)
{
	struct call c = API_CALL(iso_string(name));
	if (!level) api_fail(&c, ": the level is a null pointer");
	if (!*level) api_fail(&c, ": the level is an empty string");
	begin(&c, name, level);
}

static void end_transaction(const struct call *c, enum wire_step kind)
{
	assert(kind == STEP_COMMIT || kind == STEP_ABORT);
	enter_transaction(c)->transaction = NULL;
	struct wire_writer w = step_begin(kind, c->pc);
	step_end(&w);
}

void iso_commit(void)
{
	struct call c = API_CALL(iso_null());
	end_transaction(&c, STEP_COMMIT);
}

void iso_abort(void)
{
	struct call c = API_CALL(iso_null());
	end_transaction(&c, STEP_ABORT);
}

static struct iso_value get(const struct call *c, struct iso_value key,
                            enum iso_lock lock)
{
	struct task *s = enter_transaction(c);
	if (s->grouped && s->locked && lock < ISO_SHARE)
		api_fail(c, ": a statement reads what it does not lock before "
		            "it locks or writes anything; iso_statement() "
		            "begins another");
	s->locked |= lock >= ISO_SHARE;
	api_check_key(c, key);
	if ((unsigned)lock > ISO_UPDATE)
		api_fail(c, ": there is no lock %d", (int)lock);
	struct wire_writer w = step_begin(STEP_GET, c->pc);
	wire_put_value(&w, key);
	wire_put_u8(&w, (uint8_t)lock);
	return step_ask(&w);
}

static _Noreturn void fail_kind(const struct call *c, struct iso_value v,
                                const char *wanted)
{
	struct text t = { 0 };
	const char *way_out =
		v.kind == ISO_INT ? "iso_get_int() or iso_get()"
		: v.kind == ISO_BYTES
			? "iso_get_string() or iso_get()"
			: "iso_get(), or give it an initial value";
	assert(v.kind == ISO_NULL || v.kind == ISO_INT || v.kind == ISO_BYTES);
	add_value(&t, v);
	if (v.kind == ISO_NULL)
		text_string(&t, "null, as where nothing was written");
	char *is = region_copy_string(&task_current()->memory, text_get(&t),
	                              t.length);
	text_free(&t);
	api_fail(c, ": the value is no %s, but%s %s; use %s", wanted,
	         v.kind == ISO_BYTES ? " the string" : "", is, way_out);
}

static int64_t get_int(const struct call *c, enum iso_lock lock)
{
	struct iso_value v = get(c, c->about, lock);
	if (v.kind != ISO_INT) fail_kind(c, v, "integer");
	return v.integer;
}

static const char *get_string(const struct call *c, enum iso_lock lock)
{
	struct iso_value v = get(c, c->about, lock);
	if (v.kind == ISO_INT) fail_kind(c, v, "string");
	return v.kind == ISO_NULL ? NULL : v.bytes;
}

struct iso_value iso_get(struct iso_value key)
{
	struct call c = API_CALL(key);
	return get(&c, key, ISO_NO_LOCK);
}

int64_t iso_get_int(const char *key)
{
	struct call c = API_CALL(iso_string(key));
	return get_int(&c, ISO_NO_LOCK);
}

const char *iso_get_string(const char *key)
{
	struct call c = API_CALL(iso_string(key));
	return get_string(&c, ISO_NO_LOCK);
}

struct iso_value iso_get_for(struct iso_value key, enum iso_lock lock)
{
	struct call c = API_CALL(key);
	return get(&c, key, lock);
}

struct iso_value iso_get_locked(struct iso_value key)
{
	struct call c = API_CALL(key);
	return get(&c, key, ISO_UPDATE);
}

int64_t iso_get_locked_int(const char *key)
{
	struct call c = API_CALL(iso_string(key));
	return get_int(&c, ISO_UPDATE);
}

const char *iso_get_locked_string(const char *key)
{
	struct call c = API_CALL(iso_string(key));
	return get_string(&c, ISO_UPDATE);
}

struct iso_value iso_get_shared(struct iso_value key)
{
	struct call c = API_CALL(key);
	return get(&c, key, ISO_SHARE);
}

int64_t iso_get_shared_int(const char *key)
{
	struct call c = API_CALL(iso_string(key));
	return get_int(&c, ISO_SHARE);
}

const char *iso_get_shared_string(const char *key)
{
	struct call c = API_CALL(iso_string(key));
	return get_string(&c, ISO_SHARE);
}

/* ISO_NO_LOCK: as usual. `joined`: in the statement of the access before it. */
static void put(const struct call *c, struct iso_value key, struct iso_value v,
                enum iso_lock lock, bool joined)
{
	enter_transaction(c)->locked = true;
	api_check_key(c, key);
	api_check_value(c, v, "value");
	struct wire_writer w = step_begin(STEP_PUT, c->pc);
	wire_put_value(&w, key);
	wire_put_value(&w, v);
	wire_put_u8(&w, (uint8_t)lock);
	wire_put_u8(&w, joined);
	step_end(&w);
}

void iso_put(struct iso_value key, struct iso_value value)
{
	struct call c = API_CALL(key);
	put(&c, key, value, ISO_NO_LOCK, false);
}

void iso_put_int(const char *key, int64_t value)
{
	struct call c = API_CALL(iso_string(key));
	put(&c, c.about, iso_int(value), ISO_NO_LOCK, false);
}

void iso_put_string(const char *key, const char *value)
{
	struct call c = API_CALL(iso_string(key));
	put(&c, c.about, iso_string(value), ISO_NO_LOCK, false);
}

void iso_put_for(struct iso_value key, struct iso_value value,
                 enum iso_lock lock)
{
	struct call c = API_CALL(key);
	if (lock != ISO_NO_KEY_UPDATE && lock != ISO_UPDATE)
		api_fail(&c, ": a write locks with ISO_NO_KEY_UPDATE or "
		             "ISO_UPDATE");
	put(&c, key, value, lock, false);
}

int64_t iso_atomic_add(const char *key, int64_t by)
{
	struct call c = API_CALL(iso_string(key));
	int64_t sum, old = get_int(&c, ISO_NO_KEY_UPDATE);
	if (__builtin_add_overflow(old, by, &sum))
		api_fail(&c, ": the sum is larger than 64 bits");
	put(&c, c.about, iso_int(sum), ISO_NO_KEY_UPDATE, true);
	return sum;
}

void iso_statement(void)
{
	struct call c = API_CALL(iso_null());
	struct task *s = enter_transaction(&c);
	s->grouped = true;
	s->locked = false;
	struct wire_writer w = step_begin(STEP_STATEMENT, c.pc);
	step_end(&w);
}

/* ---- What should be true ---- */

void iso_assert(bool condition, const char *message)
{
	struct call c = API_CALL(iso_string(message));
	api_enter(&c, TASK_PLAIN);
	struct wire_writer w = step_begin(STEP_ASSERT, c.pc);
	wire_put_u8(&w, condition);
	put_text(&w, message);
	step_end(&w);
}

void iso_assume(bool condition)
{
	struct call c = API_CALL(iso_null());
	api_enter(&c, TASK_PLAIN);
	if (condition) return;
	struct wire_writer w = step_begin(STEP_ASSUME, c.pc);
	step_last(&w);
}

static void note(const struct call *c, const char *name, struct iso_value v)
{
	api_enter(c, TASK_PLAIN);
	if (!name) api_fail(c, ": the name is a null pointer");
	api_check_value(c, v, "value");
	struct wire_writer w = step_begin(STEP_NOTE, c->pc);
	put_text(&w, name);
	wire_put_value(&w, v);
	step_end(&w);
}

void iso_note(const char *name, struct iso_value value)
{
	struct call c = API_CALL(iso_string(name));
	note(&c, name, value);
}

void iso_note_int(const char *name, int64_t value)
{
	struct call c = API_CALL(iso_string(name));
	note(&c, name, iso_int(value));
}

void iso_note_string(const char *name, const char *value)
{
	struct call c = API_CALL(iso_string(name));
	note(&c, name, iso_string(value));
}

static struct iso_value noted(const struct call *c, const char *session,
                              const char *name)
{
	api_enter(c, TASK_EXPECT);
	if (!session || !name) return iso_null();
	struct wire_writer w = step_begin(STEP_NOTED, c->pc);
	put_text(&w, session);
	put_text(&w, name);
	return step_ask(&w);
}

struct iso_value iso_noted(const char *session, const char *name)
{
	struct call c = API_CALL(iso_string(name));
	return noted(&c, session, name);
}

int64_t iso_noted_int(const char *session, const char *name, int64_t otherwise)
{
	struct call c = API_CALL(iso_string(name));
	struct iso_value v = noted(&c, session, name);
	return v.kind == ISO_INT ? v.integer : otherwise;
}
