#include "native/runtime/user_code.h"

#include <assert.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "native/runtime/crash.h"
#include "native/runtime/fibre.h"
#include "native/shared.h"

enum {
	STEPS_AT_ONCE = 4096,
	RESERVE = 4096,      /* bytes of the reply, for an error at its end */
	MESSAGE_BYTES = 2048 /* of that error, at most */
};

/* The functions that user code calls do not say for whom. */
static struct {
	struct shared *shared;
	int socket;
	struct wire *reply;
	struct task *task; /* that runs */
	struct wire_reader answers;
	uint64_t answers_left;
	uint32_t steps; /* of this reply */
} now;

void tasks_begin(struct shared *shared, int socket)
{
	assert(shared && shared->reply && socket >= 0);
	memset(&now, 0, sizeof now);
	now.shared = shared;
	now.socket = socket;
	now.reply = shared->reply;
}

struct task *task_current(void)
{
	return now.task;
}

/* No other thread writes it. */
static void task_moves(void)
{
	uint64_t n = atomic_load_explicit(&now.shared->progress,
	                                  memory_order_relaxed);
	assert(now.shared);
	atomic_store_explicit(&now.shared->progress, n + 1,
	                      memory_order_relaxed);
}

static void set_called(const struct task *s)
{
	atomic_store_explicit(&now.shared->called, s->called,
	                      memory_order_relaxed);
}

void task_called(struct task *s, uint64_t pc)
{
	s->called = pc;
	set_called(s);
}

/* Before the session gives an answer, as long as it is known whose fault it is.
 * What user code opens later under the same number is not closed by exec(). */
static void check_socket(void)
{
	if (fcntl(now.socket, F_GETFD) != FD_CLOEXEC) crash_cut_off();
}

/* ---- Steps ---- */

static struct wire_writer write_step(enum wire_step kind, uint64_t pc)
{
	struct wire_writer w = wire_write(now.reply);
	wire_put_u8(&w, (uint8_t)kind);
	wire_put_u64(&w, pc);
	return w;
}

static void write_error(uint64_t pc, const char *message, size_t length)
{
	struct wire_writer w = write_step(STEP_ERROR, pc);
	wire_put_string(&w, message,
	                length < MESSAGE_BYTES ? length : MESSAGE_BYTES);
	wire_commit(&w);
}

void reply_error(const char *message)
{
	write_error(0, message, strlen(message));
}

static _Noreturn void stop(void)
{
	assert(now.task && !now.task->over);
	now.task->over = true;
	for (;;) fibre_yield();
}

void task_fail(uint64_t pc, const char *format, ...)
{
	struct text message = { 0 };
	va_list list;
	check_socket();
	va_start(list, format);
	text_vformat(&message, format, list);
	va_end(list);
	write_error(pc, text_get(&message), message.length);
	text_free(&message);
	stop();
}

struct wire_writer step_begin(enum wire_step kind, uint64_t pc)
{
	task_moves();
	return write_step(kind, pc);
}

static void complete(struct wire_writer *w)
{
	assert(now.task);
	if (w->full || w->at > WIRE_BYTES - RESERVE)
		task_fail(now.task->begun,
		          "too much at once: a session can give isoscope "
		          "%llu bytes of keys, values and notes at most",
		          (unsigned long long)WIRE_BYTES);
	wire_commit(w);
	now.steps++;
}

/* While there are answers, it does again what it did before: that ends. What is
 * declared comes at once. */
static bool is_long(void)
{
	uint64_t length = atomic_load(&now.reply->length);
	return !now.answers_left && now.task->kind != TASK_DECLARING &&
	       (now.steps >= STEPS_AT_ONCE || length > WIRE_BYTES / 2);
}

void step_end(struct wire_writer *w)
{
	complete(w);
	if (!is_long()) return;
	check_socket();
	struct wire_writer more = write_step(STEP_MORE, 0);
	wire_commit(&more);
	fibre_yield();
}

void step_last(struct wire_writer *w)
{
	assert(now.task);
	check_socket();
	complete(w);
	stop();
}

struct iso_value task_argument(void)
{
	assert(now.task);
	while (!now.answers_left) fibre_yield();
	assert(now.answers_left > 0);
	now.answers_left--;
	struct iso_value v = wire_get_value(&now.answers);
	if (v.kind == ISO_BYTES)
		v.bytes = region_copy_string(&now.task->memory, v.bytes,
		                             v.length);
	return v;
}

struct iso_value step_ask(struct wire_writer *w)
{
	if (!now.answers_left) check_socket();
	complete(w);
	return task_argument();
}

/* ---- Running ---- */

static void write_end(struct task *s, struct iso_value result)
{
	assert(s == now.task);
	if (s->transaction)
		task_fail(s->begun,
		          "returned in the middle of transaction \"%s\": "
		          "iso_commit() or iso_abort() is missing",
		          s->transaction);
	check_socket();
	bool declared = s->kind == TASK_DECLARING;
	struct wire_writer w =
		step_begin(declared ? STEP_READY : STEP_RETURN, 0);
	if (!declared) wire_put_value(&w, result);
	complete(&w);
}

static void run(void *data)
{
	struct task *s = data;
	struct iso_value result = s->body(s);
	assert(s->body);
	crash_end_copy("the end of the session");
	write_end(s, result);
}

void task_abandon(struct task *s)
{
	static const struct region_mark nothing;
	fibre_free(s->fibre);
	assert(s != now.task);
	s->fibre = NULL;
	s->transaction = NULL;
	s->begun = s->called = 0;
	s->over = false;
	region_release(&s->memory, nothing);
}

static void resume(struct task *s)
{
	assert(!now.task && s->fibre && !s->over);
	now.task = s;
	task_moves();
	set_called(s);
	bool alive = fibre_resume(s->fibre);
	if (fibre_current())
		crash_misuse("the session has left its stack in another way "
		             "than by returning from its function");
	now.task = NULL;
	if (!alive || s->over) task_abandon(s);
}

static void no_fibre(bool fresh)
{
	if (!fresh) crash_spoilt(); /* it does not wait for anything */
	reply_error("there is no memory for the stack of a session: allow more "
	            "of it (ulimit -v)");
}

void task_run(struct task *s, bool fresh, struct wire_reader answers,
              uint64_t count)
{
	assert(s && !now.task);
	now.answers = answers;
	now.answers_left = count;
	now.steps = 0;
	if (fresh) {
		task_abandon(s);
		s->fibre = fibre_new(run, s, FIBRE_STACK);
	}
	if (s->fibre)
		resume(s);
	else
		no_fibre(fresh);
}
