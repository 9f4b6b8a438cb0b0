#include "api/inputs.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/seconds.h"
#include "history/trace.h"
#include "native/host/client.h"

/* ---- limits ---- */

static bool on_tick(void *data)
{
	const struct inputs *in = data;
	const struct inputs_options *o = &in->options;
	return o->tick && o->tick(o->tick_data, in->path, in->done);
}

void inputs_begin(struct inputs *in, const struct inputs_options *o,
                  struct problem *p)
{
	*in = (struct inputs){ .options = *o, .problem = p };
	assert(o->count == 0 || o->paths);
	assert(o->seconds >= 0 && !p->kind);
	struct check_limits limits = { o->seconds, o->memory, on_tick, in };
	in->begun = seconds_now();
	in->clock = check_clock_new(&limits);
}

void inputs_end(struct inputs *in)
{
	check_clock_free(in->clock);
}

bool inputs_go_on(struct inputs *in, bool any)
{
	if (in->stopped || in->problem->kind) return false;
	if (any && check_clock_over(in->clock))
		in->stopped = check_clock_reason(in->clock);
	return !in->stopped;
}

/* ---- problems ---- */

/* Pipes are read once, so they are not looked into. */
static bool begins_as_client(const char *path)
{
	struct stat what;
	char bytes[64];
	if (!strcmp(path, "-") || stat(path, &what) || !S_ISREG(what.st_mode))
		return false;
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	if (f) fclose(f);
	return is_shared_object(bytes, n);
}

bool input_is_client(const char *path, const char *wanted, struct problem *p)
{
	if (!begins_as_client(path)) return false;
	problem_set(p, PROBLEM_INPUT,
	            "%s is a shared object, and %s; to explore its sessions: "
	            "isoscope explore %s",
	            path, wanted, path);
	return true;
}

bool input_too_short(const char *path, uint64_t count, uint64_t wanted,
                     struct problem *p)
{
	const char *name = strcmp(path, "-") != 0 ? path : "the standard input";
	assert(count < wanted || !wanted);
	if (!count)
		return problem_set(p, PROBLEM_INPUT, "%s holds no history",
		                   name);
	return problem_set(p, PROBLEM_INPUT,
	                   "%s holds %" PRIu64 " %s: there is no number "
	                   "%" PRIu64,
	                   name, count, count == 1 ? "history" : "histories",
	                   wanted);
}

/* ---- files ---- */

/* False for no more histories, of this file or another. */
static bool look_at_all(struct inputs *in, struct history_reader *r,
                        bool (*look)(void *data, const struct input *i),
                        void *data)
{
	struct diags *d = &in->problem->diags;
	uint64_t only = in->options.only;
	struct input i = { .format = FORMAT_COUNT };
	bool more = true;
	while (more && (i.number < only || !only)) {
		double begun = seconds_now();
		struct trace *t = history_reader_next(r, d);
		if (!t) break;
		i.number++;
		t->ssi = in->options.ssi;
		i.trace = t;
		i.format = history_reader_format(r);
		i.read_seconds = seconds_now() - begun;
		if (i.number == only || !only) more = look(data, &i);
		trace_free(t);
		more = more && !in->stopped && !in->problem->kind;
		if (i.number == only) return more;
	}
	if (!more) return false;
	if (d->errors) return problem_diagnosed(in->problem, PROBLEM_INPUT);
	if (i.number && !only) return true;
	return input_too_short(in->path, i.number, only, in->problem);
}

bool inputs_look(struct inputs *in,
                 bool (*look)(void *data, const struct input *i), void *data)
{
	const struct inputs_options *o = &in->options;
	bool more = true;
	assert(in->clock && look);
	if (o->given) {
		in->path = o->given->trace->file;
		more = look(data, o->given);
	}
	for (size_t i = 0; more && i < o->count; i++) {
		in->path = o->paths[i];
		if (input_is_client(in->path,
		                    "this command takes recorded histories",
		                    in->problem))
			return false;
		struct history_reader *r = history_reader_open(
			in->path, &o->reader, &in->problem->diags);
		if (!r) return problem_diagnosed(in->problem, PROBLEM_INPUT);
		more = look_at_all(in, r, look, data);
		history_reader_close(r);
	}
	return !in->problem->kind;
}
