#include "worker_support.h"

#include <string.h>

#include "base/text.h"
#include "file_support.h"

/* ---- clients ---- */

static const char head[] =
	"#include <isoscope/client.h>\n"
	"#include <pthread.h>\n"
	"#include <setjmp.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <sys/wait.h>\n"
	"#include <unistd.h>\n"
	"#define SESSION(name) static void name(void *data)\n";

void worker_compile(const char *source, const char *options)
{
	struct text t = { 0 };
	text_string(&t, head);
	text_string(&t, source);
	file_write("client.c", text_get(&t), t.length);
	text_free(&t);
	ck_assert(compile_client("client.c", options, "client.so"));
}

struct process *worker_start_with(const char *source, const char *options)
{
	static const struct worker_job job = { .client = "client.so" };
	worker_compile(source, options);
	struct process *p = process_new(&job, 20, false);
	ck_assert_int_eq(process_start(p), PROCESS_REPLIED);
	return p;
}

struct process *worker_start(const char *source)
{
	return worker_start_with(source, "");
}

/* ---- what they say ---- */

static void show_value(struct wire_reader *r, struct text *out)
{
	struct iso_value v = wire_get_value(r);
	text_char(out, ' ');
	if (v.kind == ISO_NULL) text_string(out, "null");
	if (v.kind == ISO_INT) text_int(out, v.integer);
	if (v.kind == ISO_BYTES) text_json_string(out, v.bytes, v.length);
}

static void show_string(struct wire_reader *r, struct text *out)
{
	size_t length;
	const char *s = wire_get_string(r, &length);
	text_format(out, " '%.*s'", (int)length, s);
}

/* A byte that seldom is another than 0. */
static void show_rare(struct wire_reader *r, struct text *out)
{
	uint8_t b = wire_get_u8(r);
	if (b) text_format(out, " %d", b);
}

/* Of each step: its name, and operands: s string, v value, b byte, l byte that
 * seldom is another than 0. */
static const struct {
	const char *name, *operands;
} steps[] = {
	[STEP_BEGIN] = { "begin", "ss" },
	[STEP_GET] = { "get", "vl" },
	[STEP_PUT] = { "put", "vvll" },
	[STEP_STATEMENT] = { "statement", "" },
	[STEP_COMMIT] = { "commit", "" },
	[STEP_ABORT] = { "abort", "" },
	[STEP_ASSERT] = { "assert", "bs" },
	[STEP_ASSUME] = { "assume", "" },
	[STEP_NOTE] = { "note", "sv" },
	[STEP_NOTED] = { "noted", "ss" },
	[STEP_ERROR] = { "error", "s" },
	[STEP_RETURN] = { "return", "v" },
	[STEP_MORE] = { "more", "" },
	[STEP_SESSION] = { "session", "s" },
	[STEP_FINALLY] = { "finally", "" },
	[STEP_EXPECT] = { "expect", "s" },
	[STEP_INITIAL] = { "initial", "vv" },
	[STEP_ISOLATION] = { "isolation", "s" },
	[STEP_READY] = { "ready", "" },
};

uint64_t worker_show_step(struct wire_reader *r, struct text *out)
{
	uint8_t kind = wire_get_u8(r);
	uint64_t pc = wire_get_u64(r);
	ck_assert_uint_ge(kind, STEP_BEGIN);
	ck_assert_uint_le(kind, STEP_READY);
	text_format(out, "%s%s", out->length ? "; " : "", steps[kind].name);
	for (const char *o = steps[kind].operands; *o; o++)
		if (*o == 's')
			show_string(r, out);
		else if (*o == 'v')
			show_value(r, out);
		else if (*o == 'l')
			show_rare(r, out);
		else
			text_format(out, " %d", wire_get_u8(r));
	return pc;
}

const char *worker_said(const struct process *p)
{
	static struct text out;
	struct wire_reader r = wire_read(process_reply(p));
	text_clear(&out);
	while (wire_more(&r)) worker_show_step(&r, &out);
	ck_assert(!r.bad);
	return text_get(&out);
}

/* ---- what they are asked ---- */

enum process_answer worker_ask(struct process *p, uint32_t session, int fresh,
                               uint64_t count, const struct iso_value *values)
{
	struct wire_writer w = wire_write(process_command(p));
	wire_put_u8(&w, COMMAND_SESSION);
	wire_put_u32(&w, session);
	wire_put_u8(&w, (uint8_t)fresh);
	wire_put_u64(&w, count);
	for (uint64_t i = 0; i < count; i++) wire_put_value(&w, values[i]);
	ck_assert(wire_commit(&w));
	return process_ask(p);
}

const char *worker_steps(struct process *p, uint32_t session, int fresh,
                         uint64_t count, const struct iso_value *values)
{
	ck_assert_int_eq(worker_ask(p, session, fresh, count, values),
	                 PROCESS_REPLIED);
	return worker_said(p);
}

void check_senseless(struct process *p, uint32_t session, int fresh)
{
	ck_assert_int_eq(worker_ask(p, session, fresh, 0, NULL), PROCESS_DIED);
	ck_assert_int_eq(process_crash(p), CRASH_SPOILT);
	ck_assert_str_eq(worker_said(p), "");
}
