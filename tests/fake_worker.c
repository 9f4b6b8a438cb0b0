#include "fake_worker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake {
	struct shared *shared;
	struct wire *command, *reply;
	int socket;
	void *client;
	bool stubborn;
	void *volatile kept;
	uint64_t number;
	const char *string;
};

/* ---- The worker ---- */

static void note_client(struct fake *f, const char *path)
{
	struct shared_object *o = f->shared->objects;
	struct link_map *map;
	f->client = dlopen(path, RTLD_NOW);
	if (!f->client) _exit(99);
	dlinfo(f->client, RTLD_DI_LINKMAP, &map);
	o->bias = o->start = map->l_addr;
	o->end = o->start + (1 << 13);
	snprintf(o->path, sizeof o->path, "%s", path);
	o[1].start = (uintptr_t)fake_worker;
	o[1].end = o[1].start + 16;
	snprintf(o[1].path, sizeof o[1].path, "/proc/self/exe");
	atomic_store(&f->shared->object_count, 2);
}

static void answer(struct fake *f, uint64_t number)
{
	struct wire_writer w = wire_write(f->reply);
	wire_put_u64(&w, number);
	wire_commit(&w);
}

static void count_up(struct fake *f)
{
	struct wire_writer w = wire_write(f->reply);
	for (uint64_t i = 0; i < f->number; i++) wire_put_u64(&w, i);
	wire_commit(&w);
}

static void raise_signal(struct fake *f)
{
	struct wire_writer w = wire_write(f->reply);
	wire_put_u8(&w, 7);
	wire_commit(&w);
	raise((int)f->number);
}

static void exit_half(struct fake *f)
{
	struct wire_writer w = wire_write(f->reply);
	for (uint8_t i = 1; i <= 3; i++) wire_put_u8(&w, i);
	wire_commit(&w);
	wire_put_u8(&w, 4);
	_exit((int)f->number);
}

static void loop(void)
{
	for (;;) __asm__ volatile("");
}

static void loop_deaf(void)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	loop();
}

static void make_steps(struct fake *f)
{
	for (uint64_t i = 0; i < f->number; i++) {
		usleep(50000);
		atomic_fetch_add(&f->shared->progress, 1);
	}
}

static void print(struct fake *f)
{
	for (uint64_t i = 0; i < f->number; i++) printf("%s", f->string);
}

/* As the handler of a signal would see it: the place, then return addresses. */
static void record(struct fake *f)
{
	struct crash_record *c = &f->shared->crash;
	uint64_t own = (uintptr_t)fake_worker;
	uint64_t inner = (uintptr_t)dlsym(f->client, "inner");
	uint64_t outer = (uintptr_t)dlsym(f->client, "outer");
	uint64_t frames[] = { inner, own, inner + 1, outer + 1, own, 12 };
	memcpy(c->frames, frames, sizeof frames);
	c->frame_count = 6;
	c->signal = SIGSEGV;
	c->code = SEGV_MAPERR;
	c->address = 16;
	atomic_store(&c->kind, (uint32_t)f->number);
	_exit(1);
}

static void record_wrong(struct fake *f)
{
	struct shared *s = f->shared;
	memset(&s->crash, 0xee, sizeof s->crash);
	memset(s->objects, 0xee, sizeof s->objects);
	atomic_store(&s->object_count, 0xeeeeeeee);
	atomic_store(&s->crash.kind, (uint32_t)f->number);
	_exit(1);
}

static void close_all(void)
{
	for (int i = 0; i < 100; i++) close(i);
	loop_deaf();
}

static void fork_and_exit(void)
{
	if (!fork()) loop_deaf();
	_exit(5);
}

/* All of struct shared, and the beginnings of the wires. */
static void spoil(struct fake *f)
{
	struct wire *wires[] = { f->shared->command, f->shared->reply };
	int byte = (int)f->number;
	memset(wires[0], byte, 4096);
	memset(wires[1], byte, 4096);
	memset(f->shared, byte, sizeof *f->shared);
}

/* The wires, and what tells how long they are, but not what would end the
 * worker itself. */
static void *storm(void *data)
{
	const struct fake *f = data;
	struct wire *wires[] = { f->command, f->reply };
	uint64_t state = f->number + 1;
	while (wires[0] != wires[1]) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		struct wire *w = wires[state >> 63];
		if (state >> 33 & 1)
			w->bytes[(state >> 34) % 4096] = (uint8_t)(state >> 50);
		else if (state >> 35 & 1)
			w->capacity = state << (state >> 58);
		else
			atomic_store(&w->length, state >> (state >> 58));
	}
	return NULL;
}

static void begin_storm(struct fake *f)
{
	pthread_t thread;
	pthread_create(&thread, NULL, storm, f);
	count_up(f);
}

/* `kept` is volatile: memory that nobody reads may be left out otherwise. */
static void allocate(struct fake *f)
{
	f->kept = malloc(f->number);
	memset(f->kept, 1, f->number);
}

static void allocate_on_and_on(struct fake *f)
{
	f->number = 1 << 20;
	for (;;) allocate(f);
}

static void loop_with_limit(const struct fake *f)
{
	struct rlimit limit = { f->number, f->number };
	setrlimit(RLIMIT_CPU, &limit);
	loop();
}

/* Valgrind has some of its own, with high numbers. */
static uint64_t open_files(void)
{
	uint64_t count = 0;
	for (int i = 0; i < 500; i++) count += fcntl(i, F_GETFD) >= 0;
	return count;
}

static uint64_t handled_signals(void)
{
	uint64_t count = 0;
	struct sigaction a;
	for (int i = 1; i < 32; i++)
		if (i != SIGTTOU && !sigaction(i, NULL, &a))
			count += a.sa_handler != SIG_DFL;
	return count;
}

static uint64_t blocked_signals(void)
{
	sigset_t set;
	uint64_t count = 0;
	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int i = 1; i < 65; i++) count += sigismember(&set, i) == 1;
	return count;
}

static void look(struct fake *f)
{
	char byte;
	answer(f, open_files());
	answer(f, (uint64_t)read(0, &byte, 1));
	answer(f, getpgrp() == getpid());
	answer(f, handled_signals());
	answer(f, blocked_signals());
	answer(f, (uint64_t)getpid());
}

static void carry_out(struct fake *f, enum fake_command c)
{
	switch (c) {
	case FAKE_COUNT: count_up(f); break;
	case FAKE_RAISE: raise_signal(f); break;
	case FAKE_EXIT: _exit((int)f->number);
	case FAKE_EXIT_HALF: exit_half(f); break;
	case FAKE_LOOP: loop(); break;
	case FAKE_LOOP_DEAF: loop_deaf(); break;
	case FAKE_STEPS: make_steps(f); break;
	case FAKE_PAUSE: usleep((useconds_t)f->number * 1000); break;
	case FAKE_STEPS_LOOP:
		make_steps(f);
		loop();
		break;
	case FAKE_PRINT: print(f); break;
	case FAKE_PRINT_DIE: print(f); abort();
	case FAKE_PRINT_LOOP:
		for (;;) puts(f->string);
	case FAKE_RECORD: record(f); break;
	case FAKE_RECORD_WRONG: record_wrong(f); break;
	case FAKE_CLOSE: close_all(); break;
	case FAKE_EXEC:
		execlp(f->string, f->string, "1000", (char *)NULL);
		break;
	case FAKE_FORK_EXIT: fork_and_exit(); break;
	case FAKE_SPOIL: spoil(f); break;
	case FAKE_STORM: begin_storm(f); break;
	case FAKE_ALLOCATE: allocate(f); break;
	case FAKE_ALLOCATE_LOOP: allocate_on_and_on(f); break;
	case FAKE_CPU_LOOP: loop_with_limit(f); break;
	case FAKE_LOOK: look(f); break;
	case FAKE_STUBBORN: f->stubborn = true; break;
	case FAKE_ADDRESS:
		answer(f, (uintptr_t)dlsym(f->client, f->string));
		break;
	}
}

static void read_and_carry_out(struct fake *f, struct wire *command)
{
	size_t length;
	struct wire_reader r = wire_read(command);
	enum fake_command c = wire_get_u8(&r);
	f->number = wire_get_u64(&r);
	f->string = wire_get_string(&r, &length);
	carry_out(f, c);
}

void fake_worker(const struct worker_job *job, struct shared *shared,
                 int socket)
{
	struct fake f = { .shared = shared,
		          .command = shared->command,
		          .reply = shared->reply,
		          .socket = socket };
	struct wakeup_waiter ear;
	enum wakeup_result r;
	wakeup_waiter_init(&ear);
	if (job->client) note_client(&f, job->client);
	answer(&f, 0xfeed);
	wakeup_send(&shared->answered, socket);
	for (;;) {
		do r = wakeup_wait(&shared->asked, &ear, socket, -1);
		while (r == WAKEUP_NONE);
		if (r == WAKEUP_GONE && f.stubborn) loop_deaf();
		if (r == WAKEUP_GONE) _exit(0);
		read_and_carry_out(&f, f.command);
		atomic_fetch_add(&shared->progress, 1);
		wakeup_send(&shared->answered, socket);
	}
}

/* ---- The explorer's side ---- */

struct process *fake_process(const struct worker_job *job, double timeout)
{
	return process_new_with(job, timeout, false, fake_worker);
}

enum process_answer fake_ask(struct process *p, enum fake_command c,
                             uint64_t number, const char *string)
{
	struct wire_writer w = wire_write(process_command(p));
	wire_put_u8(&w, (uint8_t)c);
	wire_put_u64(&w, number);
	wire_put_string(&w, string, strlen(string));
	wire_commit(&w);
	return process_ask(p);
}

uint64_t fake_reply(const struct process *p, uint32_t i)
{
	struct wire_reader r = wire_read(process_reply(p));
	while (i--) wire_get_u64(&r);
	uint64_t number = wire_get_u64(&r);
	return r.bad ? UINT64_MAX : number;
}

const char *fake_why(struct process *p)
{
	static char buffer[4096];
	struct text why = { 0 };
	process_why(p, &why);
	snprintf(buffer, sizeof buffer, "%s", text_get(&why));
	text_free(&why);
	return buffer;
}
