#include "native/runtime/worker.h"

#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "native/runtime/crash.h"
#include "native/runtime/declared.h"
#include "native/runtime/foreign.h"
#include "native/runtime/user_code.h"
#include "native/shared.h"

/* All that there is of it: one is in a process. */
struct worker {
	const struct worker_job *job;
	struct shared *shared;
	struct wire *command, *reply;
	void **addresses;    /* of the job's functions */
	struct task foreign; /* in which they are called */
};

/* ---- Loading ---- */

/* A name without slash would be looked for in the system's folders. */
static char *path_to_load(const char *path)
{
	if (strchr(path, '/')) return mem_copy_string(path);
	char *p = mem_take(strlen(path) + 3);
	strcpy(p, "./");
	strcat(p, path);
	return p;
}

/* The explorer says itself which file it is about. */
static const char *behind_path(const char *message, const char *path)
{
	size_t n = strlen(path);
	return strncmp(message, path, n) || strncmp(message + n, ": ", 2)
	               ? message
	               : message + n + 2;
}

static void *load(const char *path)
{
	char *file = path_to_load(path);
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		task_fail(0, "it cannot be loaded: %s",
		          behind_path(dlerror(), file));
	free(file);
	return library;
}

typedef void client_function(void);

/* POSIX wants the detour. */
static client_function *function_of(void *address)
{
	client_function *f;
	memcpy(&f, &address, sizeof f);
	return f;
}

/* The session whose end is that all is declared. */
static struct iso_value run_client(struct task *s)
{
	const struct worker *w = s->data;
	void *client = dlsym(load(w->job->client), "iso_client");
	assert(w->job->client && s->kind == TASK_LOADING);
	crash_note_objects(w->shared);
	if (!client)
		task_fail(0, "there is no function iso_client() in it: "
		             "define it, not static, and in C++ as extern "
		             "\"C\"");
	s->kind = TASK_DECLARING;
	s->entry = (uint64_t)(uintptr_t)client;
	function_of(client)();
	declared_finish((uint64_t)(uintptr_t)client);
	return iso_null();
}

/* False, with an error in the reply, when one is missing. */
static bool find_functions(struct worker *w)
{
	const struct worker_job *job = w->job;
	const char *why;
	assert(!w->addresses);
	w->addresses = mem_take0(job->function_count, sizeof *w->addresses);
	for (uint32_t i = 0; i < job->function_count; i++) {
		w->addresses[i] = foreign_find(&job->functions[i], &why);
		if (w->addresses[i]) continue;
		reply_error(why);
		return false;
	}
	return true;
}

static void reply_ready(struct worker *w)
{
	struct wire_writer out = wire_write(w->reply);
	wire_put_u8(&out, STEP_READY);
	wire_put_u64(&out, 0);
	wire_commit(&out);
}

static void start(struct worker *w)
{
	struct task s = { .kind = TASK_LOADING,
		          .name = "iso_client()",
		          .body = run_client,
		          .data = w };
	if (!find_functions(w)) return;
	if (w->job->client)
		task_run(&s, true, wire_read(w->command), 0);
	else
		reply_ready(w);
}

/* ---- Commands ---- */

static void run_session(struct wire_reader *in)
{
	struct task *s = declared_session(wire_get_u32(in));
	bool fresh = wire_get_u8(in);
	uint64_t count = wire_get_u64(in);
	if (!s || in->bad) crash_spoilt();
	task_run(s, fresh, *in, count);
}

/* The arguments are what it asks for first: so they are copied. */
static struct iso_value run_function(struct task *s)
{
	const struct worker *w = s->data;
	const struct foreign_function *f = &w->job->functions[s->function];
	struct iso_value *arguments = region_take(
		&s->memory, (f->parameter_count + 1) * sizeof *arguments);
	assert(s->function < w->job->function_count);
	for (uint32_t i = 0; i < f->parameter_count; i++)
		arguments[i] = task_argument();
	return foreign_call(f, w->addresses[s->function], arguments);
}

static void call_function(struct worker *w, struct wire_reader *in)
{
	struct task *s = &w->foreign;
	uint32_t function = wire_get_u32(in);
	uint64_t count = wire_get_u64(in);
	if (in->bad || function >= w->job->function_count ||
	    count != w->job->functions[function].parameter_count)
		crash_spoilt();
	s->function = function;
	s->entry = (uint64_t)(uintptr_t)w->addresses[function];
	task_run(s, true, *in, count);
}

static void obey(struct worker *w)
{
	struct wire_reader in = wire_read(w->command);
	switch (wire_get_u8(&in)) {
	case COMMAND_SESSION: run_session(&in); return;
	case COMMAND_CALL: call_function(w, &in); return;
	default: crash_spoilt();
	}
}

/* ---- Life ---- */

static void answer(struct worker *w, int socket)
{
	crash_end_copy("the end of a call");
	fflush(stdout);
	crash_note_objects(w->shared);
	wakeup_send(&w->shared->answered, socket);
}

void worker_run(const struct worker_job *job, struct shared *shared, int socket)
{
	struct worker w = { .job = job,
		            .shared = shared,
		            .command = shared->command,
		            .reply = shared->reply,
		            .foreign = { .kind = TASK_FOREIGN,
		                         .body = run_function } };
	struct wakeup_waiter ear;
	enum wakeup_result heard;
	assert(shared && shared->command && shared->reply && socket >= 0);
	w.foreign.data = &w;
	w.foreign.name = "a function";
	wakeup_waiter_init(&ear);
	tasks_begin(shared, socket);
	crash_watch(shared);
	crash_note_objects(shared);
	start(&w);
	answer(&w, socket);
	while ((heard = wakeup_wait(&shared->asked, &ear, socket, -1)) !=
	       WAKEUP_GONE) {
		if (heard != WAKEUP_CAME) continue;
		wire_clear(w.reply);
		obey(&w);
		answer(&w, socket);
	}
	if (fcntl(socket, F_GETFD) < 0) crash_cut_off();
	_exit(0);
}
