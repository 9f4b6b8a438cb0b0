#include "native/host/client.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "native/host/library.h"
#include "native/host/process.h"
#include "native/host/guest.h"
#include "native/host/imports.h"
#include "native/host/guest_value.h"
#include "vm/bytecode.h"
#include "vm/guest_session.h"

bool is_shared_object(const char *bytes, size_t length)
{
	return length >= 4 && !memcmp(bytes, "\177ELF", 4);
}

/* A client while it declares what it consists of. */
struct loading {
	struct program *program;
	struct library *library;
	struct process *process;
	struct wire_reader wire;
	struct diags *diags;
	bool failed;
};

static void fail(struct loading *l, const char *what, const char *why)
{
	diags_add(l->diags, DIAG_ERROR, l->program->path, 0, 0, NULL, "%s%s",
	          what, why);
	l->failed = true;
}

static const char *get_string(struct loading *l)
{
	size_t length;
	return wire_get_string(&l->wire, &length);
}

static void add_session(struct loading *l, const char *name)
{
	struct program *p = l->program;
	if (p->sessions_count >= SESSIONS_MAX) {
		fail(l,
		     "too many sessions: 8,191 is the most that isoscope "
		     "holds",
		     "");
		return;
	}
	name = text_of_guest(&p->region, name);
	uint32_t i = program_add_session(p, name);
	p->sessions[i].entry = i;
	library_add_session(l->library, name);
}

static void add_initial(struct loading *l)
{
	struct program *p = l->program;
	struct value key = value_of_wire(&p->region, wire_get_value(&l->wire));
	struct value v = value_of_wire(&p->region, wire_get_value(&l->wire));
	if (p->keys_count >= KEYS_MAX)
		fail(l,
		     "too many initial values: 1,048,576 keys are the most "
		     "that isoscope holds",
		     "");
	else
		program_set_initial(p, program_add_key(p, 0, &key, 1), v);
}

static void set_isolation(struct loading *l)
{
	const char *level = get_string(l);
	l->program->isolation =
		region_copy_string(&l->program->region, level, strlen(level));
}

static void add_expectation(struct loading *l, uint64_t pc)
{
	uint64_t in_file = 0;
	const char *object = process_object(l->process, pc, &in_file);
	library_add_expectation(l->library, get_string(l), object, in_file);
}

/* One declaration; false after the last. */
static bool read_declaration(struct loading *l)
{
	uint8_t kind = wire_get_u8(&l->wire);
	uint64_t pc = wire_get_u64(&l->wire);
	switch (kind) {
	case STEP_SESSION: add_session(l, get_string(l)); break;
	case STEP_FINALLY:
		add_session(l, "finally");
		l->program->has_finally = true;
		break;
	case STEP_EXPECT: add_expectation(l, pc); break;
	case STEP_INITIAL: add_initial(l); break;
	case STEP_ISOLATION: set_isolation(l); break;
	case STEP_ERROR: fail(l, "", get_string(l)); break;
	case STEP_READY: return false;
	default: l->wire.bad = true; break;
	}
	return !l->failed && !l->wire.bad;
}

static void read_declarations(struct loading *l)
{
	struct text why = { 0 };
	switch (process_start(l->process)) {
	case PROCESS_REPLIED:
		library_note_declarations(l->library,
		                          process_reply(l->process));
		l->wire = wire_read(process_reply(l->process));
		while (read_declaration(l)) continue;
		if (l->wire.bad)
			fail(l,
			     "iso_client() wrote over memory that is not "
			     "its own",
			     "");
		break;
	case PROCESS_DIED:
		process_why(l->process, &why);
		fail(l, "while it was loaded and iso_client() called: ",
		     text_get(&why));
		break;
	case PROCESS_INTERRUPTED: fail(l, "interrupted", ""); break;
	case PROCESS_NOT_STARTED:
		process_why(l->process, &why);
		fail(l, "it cannot be run: ", text_get(&why));
		break;
	}
	text_free(&why);
}

static struct program *new_program(const char *path, struct library *l)
{
	struct program *p = program_new(path);
	p->library = library_guest(l);
	p->guest = p->native = true;
	p->stack = GUEST_REGISTERS;
	program_add_global(p, "", 1, value_null());
	assert(p->globals_count == 1);
	return p;
}

struct program *client_load(const char *path, double step_timeout,
                            struct diags *d)
{
	struct library *library = library_new(path, step_timeout);
	struct loading l = { .program = new_program(path, library),
		             .library = library,
		             .diags = d };
	const char *which;
	l.process = library_process(library);
	read_declarations(&l);
	process_free(l.process);
	if (!l.failed && program_finish(l.program, &which)) {
		struct program *p = l.program;
		p->stack = GUEST_REGISTERS;
		p->digest = hash_file(0, path);
		p->expectations = library_expectation_count(library);
		p->assertions_count = p->expectations + LIBRARY_ASSERTIONS;
		imports_warn(path, d);
		return p;
	}
	program_free(l.program);
	return NULL;
}
