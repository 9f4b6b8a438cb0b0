/* The logs of Cobra: a folder with a file T<n>.log for each session, of
 * records whose integers have 64 bits with a sign, the highest byte first:
 *
 *     S transaction                        it begins
 *     W write key value                    a write, told by its number
 *     R transaction write key value        the write that was read, and whose
 *     C transaction                        it has committed
 *
 * S and C carry the time, a further integer, where Cobra was told so. Numbers
 * of writes are the values here: what was written is there as a hash only.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "history/trace_build.h"

/* Numbers that stand for no write and no transaction. */
#define COBRA_INIT INT64_C(0xbebeebee)    /* what was there at first */
#define COBRA_NULL INT64_C(0xdeadbeef)    /* the key was not there */
#define COBRA_DELETED INT64_C(0xabcdefab) /* nor here any more */
#define COBRA_GC_TRUE INT64_C(0x23332333) /* Cobra's own fences */
#define COBRA_GC_FALSE INT64_C(0x66666666)

enum { TIME_BYTES = 8, NONE = UINT32_MAX };

/* ---- the folder ---- */

struct logs {
	uint64_t *numbers; /* of the sessions, increasing */
	size_t count, capacity;
};

/* Is it T<n>.log? Then what is n? */
static bool is_log(const char *name, uint64_t *n)
{
	if (*name++ != 'T' || *name < '0' || *name > '9') return false;
	if (*name == '0' && name[1] != '.') return false;
	char *end;
	errno = 0;
	*n = strtoull(name, &end, 10);
	return !errno && *n <= INT64_MAX && !strcmp(end, ".log");
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void close_folder(void *folder)
{
	closedir(folder);
}

static bool find_logs(struct logs *l, const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *e;
	uint64_t n;
	if (!folder) return false;
	mem_hold(folder, close_folder);
	while ((e = readdir(folder)) != NULL) {
		if (!is_log(e->d_name, &n)) continue;
		VEC_RESERVE(l->numbers, l->count, l->capacity);
		assert(n <= INT64_MAX);
		l->numbers[l->count++] = n;
	}
	mem_let_go(folder);
	closedir(folder);
	if (l->count) qsort(l->numbers, l->count, sizeof *l->numbers, compare);
	return true;
}

bool cobra_detect_folder(const char *path)
{
	struct logs l = { 0 };
	bool found = find_logs(&l, path) && l.count;
	free(l.numbers);
	return found;
}

/* ---- records ---- */

struct cobra {
	struct input in;
	struct diags *d;
	struct trace_builder *b;
	const struct reader_options *options;
	const char *at, *end;
	size_t time; /* bytes of the time in S and C */
	uint32_t session;
	uint32_t transaction; /* that is open, or NONE */
	int64_t id;           /* of that */
};

static int64_t get_integer(const char *at)
{
	uint64_t x = 0;
	for (int i = 0; i < 8; i++) x = x << 8 | (unsigned char)at[i];
	return (int64_t)x;
}

/* The bytes of a record with this letter, or 0. */
static size_t record_size(char letter, size_t time)
{
	switch (letter) {
	case 'S': return 9 + time;
	case 'C': return 9 + time;
	case 'W': return 25;
	case 'R': return 33;
	default: return 0;
	}
}

/* Behind the last record that is whole. */
static const char *walk(const char *at, const char *end, size_t time)
{
	assert(at <= end);
	while (at < end) {
		size_t size = record_size(*at, time);
		if (!size || (size_t)(end - at) < size) break;
		at += size;
	}
	return at;
}

static bool wrong(struct cobra *c, const char *what)
{
	input_error_byte(&c->in, c->d, c->at, "%s", what);
	return false;
}

/* Does the transaction that begins here end in this log? */
static bool is_committed(const struct cobra *c)
{
	const char *at = c->at + 9 + c->time;
	size_t size;
	assert(*c->at == 'S');
	while (at < c->end && (*at == 'W' || *at == 'R')) {
		size = record_size(*at, c->time);
		if ((size_t)(c->end - at) < size) break;
		at += size;
	}
	return at < c->end;
}

/* A log that stops inside a transaction does not tell its outcome. */
static bool parse_start(struct cobra *c)
{
	if (c->transaction != NONE)
		return wrong(c, "a transaction begins before the last one "
		                "has committed");
	assert(c->transaction == NONE && c->end - c->at >= 9);
	c->id = get_integer(c->at + 1);
	c->transaction = trace_transaction_new(
		c->b, c->session,
		is_committed(c) ? TRACE_COMMITTED : TRACE_UNKNOWN, 0);
	trace_transaction_number(c->b, c->transaction, c->id);
	return true;
}

static bool parse_commit(struct cobra *c)
{
	if (c->transaction == NONE)
		return wrong(c, "a commit outside of a transaction");
	if (get_integer(c->at + 1) != c->id)
		return wrong(c, "the commit is of another transaction than "
		                "the one that began");
	c->transaction = NONE;
	return true;
}

static bool parse_write(struct cobra *c)
{
	if (c->transaction == NONE)
		return wrong(c, "a write outside of a transaction");
	trace_op_add(c->b, c->transaction, EVENT_WRITE,
	             trace_key_number(c->b, get_integer(c->at + 9)),
	             trace_value_number(get_integer(c->at + 1)), 0);
	return true;
}

/* What Cobra's fences read is no data. A key that is not there has its initial
 * value, unless it was deleted: then the log does not tell by whom. */
static bool parse_read(struct cobra *c)
{
	if (c->transaction == NONE)
		return wrong(c, "a read outside of a transaction");
	int64_t write = get_integer(c->at + 9);
	if (write == COBRA_GC_TRUE || write == COBRA_GC_FALSE) return true;
	if (write == COBRA_NULL) write = COBRA_INIT;
	if (write == COBRA_DELETED && c->options->unknown_is_initial)
		write = COBRA_INIT;
	if (write == COBRA_DELETED)
		return wrong(c, "a read of a key that was deleted: the log "
		                "does not tell by whom, so no level can be "
		                "decided; record histories without deletes");
	trace_op_add(c->b, c->transaction, EVENT_READ,
	             trace_key_number(c->b, get_integer(c->at + 17)),
	             trace_value_number(write), 0);
	return true;
}

static bool bad_letter(struct cobra *c)
{
	if (*c->at == 'A')
		return wrong(c, "an aborted transaction (A), which logs of "
		                "Cobra do not hold");
	char what[80];
	snprintf(what, sizeof what,
	         "no record begins with 0x%02x; S, W, R or C was expected",
	         (unsigned)(unsigned char)*c->at);
	return wrong(c, what);
}

static bool parse_record(struct cobra *c)
{
	size_t size = record_size(*c->at, c->time);
	assert(c->at < c->end);
	if (!size) return bad_letter(c);
	if ((size_t)(c->end - c->at) < size)
		return wrong(c, "the log ends inside of this record: it was "
		                "cut short");
	bool good = *c->at == 'S'   ? parse_start(c)
	            : *c->at == 'C' ? parse_commit(c)
	            : *c->at == 'W' ? parse_write(c)
	                            : parse_read(c);
	c->at += size;
	return good;
}

/* Are there times in S and C? Judged by how far the records go: without, such a
 * log does not get beyond its first record. One record more may be chance. */
static size_t time_bytes(const struct cobra *c)
{
	const char *without = walk(c->at, c->end, 0);
	const char *with = walk(c->at, c->end, TIME_BYTES);
	bool more = with - without > TIME_BYTES;
	bool all = with == c->end && without < c->end;
	return more || all ? TIME_BYTES : 0;
}

static bool parse_log(struct cobra *c)
{
	c->at = c->in.bytes;
	c->end = c->at + c->in.length;
	c->transaction = NONE;
	c->time = time_bytes(c);
	assert(!c->time || c->time == TIME_BYTES);
	bool good = true;
	while (good && c->at < c->end) {
		good = parse_record(c);
		input_passed(&c->in, c->at);
	}
	return good;
}

/* ---- parsing ---- */

static char *log_path(const char *folder, int64_t n)
{
	struct text t = { 0 };
	text_format(&t, "%s/T%" PRId64 ".log", folder, n);
	return t.data;
}

static bool parse_session(struct cobra *c, const char *folder, uint64_t n)
{
	char *path = log_path(folder, (int64_t)n);
	bool good = input_open_any(&c->in, path, c->d);
	c->session = trace_session_number(c->b, (int64_t)n);
	if (good) {
		good = parse_log(c);
		input_close(&c->in);
	}
	free(path);
	return good;
}

static bool parse_folder(struct cobra *c, const char *path)
{
	struct logs l = { 0 };
	bool good = find_logs(&l, path);
	if (!good)
		diags_add(c->d, DIAG_ERROR, path, 0, 0, NULL,
		          "cannot read the folder: %s", strerror(errno));
	else if (!l.count) {
		diags_add(c->d, DIAG_ERROR, path, 0, 0, NULL,
		          "this folder holds no logs of Cobra: files T<n>.log, "
		          "one for each session, were looked for");
		good = false;
	}
	for (size_t i = 0; i < l.count && good; i++)
		good = parse_session(c, path, l.numbers[i]);
	free(l.numbers);
	return good;
}

static struct trace_rules cobra_rules(const struct reader_options *o)
{
	return (struct trace_rules){
		.initial = trace_value_number(COBRA_INIT),
		.initial_transaction = true,
		.unknown_is_initial = o->unknown_is_initial,
	};
}

struct trace *cobra_parse_folder(const char *path,
                                 const struct reader_options *o,
                                 struct diags *d)
{
	struct trace_rules rules = cobra_rules(o);
	struct cobra c = {
		.d = d,
		.options = o,
		.b = trace_builder_new(path, &rules),
	};
	if (parse_folder(&c, path)) return trace_builder_finish(c.b, d);
	trace_builder_free(c.b);
	return NULL;
}

struct trace *cobra_parse_log(struct input *in, const struct reader_options *o,
                              struct diags *d)
{
	struct trace_rules rules = cobra_rules(o);
	struct cobra c = {
		.in = *in,
		.d = d,
		.options = o,
		.b = trace_builder_new(in->file, &rules),
	};
	c.session = trace_session_number(c.b, 0);
	if (parse_log(&c)) return trace_builder_finish(c.b, d);
	trace_builder_free(c.b);
	return NULL;
}

/* ---- writing ---- */

struct written {
	const struct trace *r;
	int64_t *values, *keys, *sessions, *numbers;
	bool *counts;
};

static void put_integer(struct text *t, int64_t x)
{
	char bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (char)((uint64_t)x >> (56 - 8 * i) & 0xff);
	text_bytes(t, bytes, 8);
}

/* The number of the transaction that was read from; where nobody is known, one
 * that no transaction has. */
static int64_t writer_number(const struct written *w, uint32_t reader,
                             uint32_t from)
{
	if (from == TRACE_INIT) return COBRA_INIT;
	if (from == TRACE_SELF) from = reader;
	return from == TRACE_NOBODY ? INT64_MAX : w->numbers[from];
}

static void put_operation(struct text *t, const struct written *w,
                          uint32_t transaction, uint32_t i)
{
	const struct trace_op *op = &w->r->ops[i];
	bool read = op->kind == EVENT_READ;
	text_char(t, read ? 'R' : 'W');
	if (read) put_integer(t, writer_number(w, transaction, op->from));
	put_integer(t, w->values[i]);
	put_integer(t, w->keys[op->key]);
	put_integer(t, w->values[i]);
}

static void put_session(struct text *t, const struct written *w, uint32_t s)
{
	const struct trace_session *session = &w->r->sessions[s];
	for (uint32_t n = session->first; n < session->first + session->count;
	     n++) {
		const struct trace_transaction *x = &w->r->transactions[n];
		if (x->status != TRACE_COMMITTED) continue;
		text_char(t, 'S');
		put_integer(t, w->numbers[n]);
		for (uint32_t i = 0; i < x->op_count; i++)
			if (w->counts[x->first_op + i])
				put_operation(t, w, n, x->first_op + i);
		text_char(t, 'C');
		put_integer(t, w->numbers[n]);
	}
}

static bool cannot_write(const char *path, const char *why, struct diags *d)
{
	diags_add(d, DIAG_ERROR, path, 0, 0, NULL, "cannot write: %s", why);
	return false;
}

static bool write_file(const char *path, const struct text *t, struct diags *d)
{
	FILE *f = fopen(path, "wb");
	if (!f) return cannot_write(path, strerror(errno), d);
	bool good = !t->length || fwrite(t->data, 1, t->length, f) == t->length;
	int why = errno;
	if (fclose(f) && good) {
		why = errno;
		good = false;
	}
	return good || cannot_write(path, strerror(why), d);
}

static bool is_empty_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *e;
	bool empty = folder != NULL;
	while (empty && (e = readdir(folder)) != NULL)
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (folder) closedir(folder);
	return empty;
}

static bool make_folder(const char *path, struct diags *d)
{
	if (!mkdir(path, 0777)) return true;
	if (errno != EEXIST) return cannot_write(path, strerror(errno), d);
	return is_empty_folder(path) ||
	       cannot_write(path,
	                    "it exists and is not an empty folder; "
	                    "name another one",
	                    d);
}

static bool write_sessions(const char *path, const struct written *w,
                           struct diags *d)
{
	const struct trace *r = w->r;
	bool good = make_folder(path, d);
	for (uint32_t s = 0; s < r->session_count && good; s++) {
		if (r->sessions[s].after_all) continue;
		struct text t = { 0 };
		char *name = log_path(path, w->sessions[s]);
		put_session(&t, w, s);
		good = write_file(name, &t, d);
		free(name);
		text_free(&t);
	}
	return good;
}

bool cobra_can_write(const struct trace *r, struct diags *d)
{
	return format_can_write(r, FORMAT_COBRA, CAN_EMPTY, d);
}

bool cobra_write_folder(const char *path, const struct trace *r,
                        struct diags *d)
{
	static const int64_t reserved[] = { COBRA_INIT,     COBRA_NULL,
		                            COBRA_DELETED,  COBRA_GC_TRUE,
		                            COBRA_GC_FALSE, INT64_MAX };
	struct renumber rules = {
		.initial = COBRA_INIT,
		.least = INT64_MIN,
		.reserved = reserved,
		.reserved_count = sizeof reserved / sizeof *reserved,
	};
	struct renumber natural = { .least = 0 }, any = { .least = INT64_MIN };
	if (!cobra_can_write(r, d)) return false;
	struct written w = {
		.r = r,
		.values = renumber_values(r, &rules),
		.keys = renumber_keys(r, &any),
		.sessions = renumber_sessions(r, &natural),
		.numbers = renumber_transactions(r, &rules),
		.counts = ops_that_count(r),
	};
	bool good = write_sessions(path, &w, d);
	free(w.values);
	free(w.keys);
	free(w.sessions);
	free(w.numbers);
	free(w.counts);
	return good;
}
