#include "native/host/crash_report.h"

#include <assert.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/utf8.h"
#include "native/runtime/fibre.h"
#include "native/host/source_lines.h"

enum {
	FRAMES_TOLD = 4,
	LAST_WORDS = 200 /* bytes */
};

#define CLOSED "closed file descriptors that are not its own"

/* ---- What happened ---- */

static const struct signal_meaning {
	int signal, code; /* 0: any */
	const char *meaning;
} meanings[] = { { SIGSEGV, SEGV_MAPERR, "invalid address" },
	         { SIGSEGV, SEGV_ACCERR, "forbidden access to address" },
	         { SIGSEGV, 0, "invalid address" },
	         { SIGBUS, BUS_ADRALN, "misaligned address" },
	         { SIGBUS, BUS_ADRERR, "no memory behind address" },
	         { SIGBUS, 0, "memory error" },
	         { SIGFPE, FPE_INTDIV, "integer division by zero" },
	         { SIGFPE, FPE_INTOVF, "integer overflow" },
	         { SIGFPE, 0, "arithmetic error" },
	         { SIGILL, 0, "illegal instruction" },
	         { SIGABRT, 0, "abort()" },
	         { SIGTRAP, 0, "trap" },
	         { SIGSYS, 0, "forbidden system call" },
	         { SIGXCPU, 0, "the limit of processor time" },
	         { SIGXFSZ, 0, "the limit of file sizes" },
	         { SIGALRM, 0, "an alarm" },
	         { SIGPIPE, 0, "nobody reads what it writes" } };

static const struct signal_meaning *meaning_of(int signal, int code)
{
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
		if (meanings[i].signal == signal &&
		    (!meanings[i].code || meanings[i].code == code))
			return &meanings[i];
	return NULL;
}

static void add_signal_name(int signal, struct text *out)
{
	const char *name = sigabbrev_np(signal);
	if (name)
		text_format(out, "SIG%s", name);
	else
		text_format(out, "signal %d", signal);
}

static bool has_address(const struct crash_report *d)
{
	return (d->signal == SIGSEGV || d->signal == SIGBUS) && d->code > 0 &&
	       d->code != SI_KERNEL;
}

static void describe_signal(const struct crash_report *d, struct text *out)
{
	const struct signal_meaning *m = meaning_of(d->signal, d->code);
	text_string(out, "crashed: ");
	add_signal_name(d->signal, out);
	if (d->code <= 0 && d->signal != SIGABRT) {
		text_string(out, ", sent by raise() or kill()");
		return;
	}
	if (m) text_format(out, ", %s", m->meaning);
	if (has_address(d))
		text_format(out, " 0x%llx", (unsigned long long)d->address);
}

/* Killed without having been able to say why. */
static void describe_kill(int signal, bool cpu_limited, struct text *out)
{
	const struct signal_meaning *m = meaning_of(signal, 0);
	text_string(out, "killed by ");
	add_signal_name(signal, out);
	if (signal == SIGKILL)
		text_string(out, cpu_limited ? ": the limit of processor time?"
		                             : ": out of memory?");
	else if (m)
		text_format(out, ": %s", m->meaning);
}

static void describe_status(const struct crash_report *d, struct text *out)
{
	if (d->status != -1 && WIFSIGNALED(d->status))
		describe_kill(WTERMSIG(d->status), d->cpu_limited, out);
	else if (d->status != -1)
		text_format(out, "called exit(%d)", WEXITSTATUS(d->status));
	else
		text_string(out, "ended its process");
}

static void describe_program(const struct crash_report *d, struct text *out)
{
	assert(*d->program);
	text_string(out, "became another program by exec(): ");
	text_json_string(out, d->program, strlen(d->program));
	if (d->cut_off) return;
	text_string(out, ", which ");
	describe_status(d, out);
}

static void describe_end(const struct crash_report *d, struct text *out)
{
	if (*d->program)
		describe_program(d, out);
	else if (d->cut_off)
		text_string(out, CLOSED);
	else
		describe_status(d, out);
}

static void describe_timeout(const struct crash_report *d, struct text *out)
{
	text_format(out, "no access for %.9g s%s: ", d->timeout,
	            d->waited ? ", and hardly at work" : "");
	if (!d->stopped) {
		text_string(out, "an endless loop?");
		return;
	}
	text_string(out, "stopped by ");
	add_signal_name(d->stopped, out);
}

static void describe_kind(const struct crash_report *d, struct text *out)
{
	switch (d->kind) {
	case CRASH_NONE:
	case CRASH_EXIT: describe_end(d, out); return;
	case CRASH_SIGNAL: describe_signal(d, out); return;
	case CRASH_OVERFLOW:
		text_format(out,
		            "the stack is full (%d MiB): endless "
		            "recursion?",
		            FIBRE_STACK >> 20);
		return;
	case CRASH_TIMEOUT: describe_timeout(d, out); return;
	case CRASH_THREAD:
		text_string(out, "misuse of the functions of "
		                 "isoscope/client.h");
		return;
	case CRASH_FILES: text_string(out, CLOSED); return;
	case CRASH_MEMORY:
		text_format(out,
		            "took more than %llu MiB of memory: an "
		            "endless loop?",
		            (unsigned long long)(d->memory >> 20));
		return;
	case CRASH_SPOILT:
		text_string(out, "wrote over memory that is not its own, and "
		                 "spoilt what it shares with isoscope");
		return;
	}
}

/* ---- Where ---- */

static bool is_users(const struct loaded *l, uint64_t address)
{
	const struct loaded_object *o = loaded_find(l, address);
	return o && !o->own;
}

uint64_t crash_report_place(const struct crash_report *d,
                            const struct loaded *l, uint32_t *next)
{
	assert(d->frame_count <= SHARED_FRAMES);
	while (*next < d->frame_count) {
		uint32_t i = (*next)++;
		uint64_t at = d->frames[i] - (i > 0);
		if (is_users(l, at)) return at;
	}
	return 0;
}

uint64_t crash_report_near(const struct crash_report *d, const struct loaded *l)
{
	uint32_t next = 0;
	uint64_t at = crash_report_place(d, l, &next);
	return at || !is_users(l, d->called) ? at : d->called;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void add_frame(const struct loaded_object *o, uint64_t address,
                      struct source_lines *lines, struct text *out)
{
	struct source_place place;
	uint64_t in_file = address - o->bias;
	if (!source_lines_find(lines, o->path, in_file, &place))
		memset(&place, 0, sizeof place);
	if (place.function) text_format(out, "%s() ", place.function);
	if (place.file && place.line)
		text_format(out, "at %s:%u", place.file, place.line);
	else if (place.function)
		text_format(out, "of %s", base_name(o->path));
	else
		text_format(out, "%s, 0x%llx", base_name(o->path),
		            (unsigned long long)in_file);
}

/* A function that calls itself is told once. */
static void describe_place(const struct crash_report *d, const struct loaded *l,
                           struct source_lines *lines, struct text *out)
{
	struct text last = { 0 }, frame = { 0 };
	uint32_t next = 0, told = 0;
	uint64_t at;
	while (told < FRAMES_TOLD && (at = crash_report_place(d, l, &next))) {
		text_clear(&frame);
		add_frame(loaded_find(l, at), at, lines, &frame);
		if (told && !strcmp(text_get(&frame), text_get(&last)))
			continue;
		text_string(out, told ? ", called from " : "in ");
		text_string(out, text_get(&frame));
		text_clear(&last);
		text_string(&last, text_get(&frame));
		told++;
	}
	text_free(&last);
	text_free(&frame);
}

void crash_report_describe(const struct crash_report *d, const struct loaded *l,
                           struct source_lines *lines, struct text *out)
{
	uint32_t next = 0;
	uint64_t near = crash_report_near(d, l);
	describe_kind(d, out);
	if (!near) return;
	bool asks = out->length && out->data[out->length - 1] == '?';
	bool is_known = crash_report_place(d, l, &next) != 0;
	text_string(out,
	            asks || (is_known && d->kind == CRASH_EXIT) ? " " : ", ");
	if (is_known) {
		describe_place(d, l, lines, out);
	} else {
		text_string(out, "last seen in ");
		add_frame(loaded_find(l, near), near, lines, out);
	}
}

/* ---- What it printed ---- */

/* The length of a character fit to be shown, or 0. */
static size_t shown_length(const char *s, size_t left)
{
	const unsigned char *p = (const unsigned char *)s;
	if (*p < ' ' || *p == 0x7f) return 0;
	if (*p == 0xc2 && left > 1 && p[1] < 0xa0) return 0;
	return utf8_length(s, left);
}

static bool is_blank(char c)
{
	return c == '\n' || c == '\r' || c == ' ' || c == '\t' || !c;
}

static void add_line(const char *line, size_t length, struct text *out)
{
	while (length) {
		size_t n = shown_length(line, length), step = n ? n : 1;
		if (n)
			text_bytes(out, line, n);
		else
			text_char(out, is_blank(*line) ? ' ' : '?');
		line += step;
		length -= step;
	}
}

static size_t line_start(const char *s, size_t end)
{
	while (end && s[end - 1] != '\n') end--;
	assert(!end || s[end - 1] == '\n');
	return end;
}

/* As many of the last lines as fit; of one that does not, its beginning. */
static void add_last_lines(const char *s, size_t end, struct text *out)
{
	size_t start = line_start(s, end);
	if (end - start > LAST_WORDS) {
		add_line(s + start, LAST_WORDS - 3, out);
		text_string(out, "...");
		return;
	}
	while (start && end - line_start(s, start - 1) <= LAST_WORDS)
		start = line_start(s, start - 1);
	assert(start <= end && end - start <= LAST_WORDS);
	while (start < end) {
		const char *stop = memchr(s + start, '\n', end - start);
		size_t length = stop ? (size_t)(stop - s) - start : end - start;
		add_line(s + start, length, out);
		start += length + 1;
		if (start < end) text_string(out, " / ");
	}
}

void crash_report_last_words(const char *printed, size_t length,
                             struct text *out)
{
	while (length && is_blank(printed[length - 1])) length--;
	if (!length) return;
	text_string(out, "it printed: \"");
	add_last_lines(printed, length, out);
	text_char(out, '"');
}
