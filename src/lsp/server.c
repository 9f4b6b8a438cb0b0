#include "lsp/server.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "axioms/level.h"
#include "base/memory.h"
#include "isoscope.h"
#include "lang/format.h"
#include "lsp/look.h"
#include "lsp/open_file.h"
#include "lsp/positions.h"
#include "lsp/rpc.h"
#include "lsp/trial.h"
#include "result/numbers.h"
#include "sql/load.h"

enum {
	IDLE_MS = 400, /* before a text is explored that is being written */
	FOUND_MOST = 64 << 20,
	WAITING_MOST = 256
};
enum { SEVERITY_ERROR = 1, SEVERITY_WARNING, SEVERITY_NOTE };

struct server {
	const struct server_options *options;
	const char *level; /* a level's word, static; or NULL */
	struct rpc_input in;
	struct text out;
	struct open_files files;
	bool initialized, shut, ended, closed;
};

static const char *string_of(const json_t *of, const char *name)
{
	return json_string_value(json_object_get(of, name));
}

/* ---- the worker ---- */

static bool write_all(int to, const struct text *t)
{
	for (size_t at = 0; at < t->length;) {
		ssize_t n = write(to, t->data + at, t->length - at);
		if (n < 0 && errno != EINTR) return false;
		if (n > 0) at += (size_t)n;
	}
	return true;
}

static void tell(int to, const char *what, const struct text *found)
{
	struct text line = { 0 };
	if (!found->length) return;
	text_format(&line, "{\"found\":\"%s\",\"result\":", what);
	text_string(&line, text_get(found));
	text_string(&line, "}\n");
	write_all(to, &line);
	text_free(&line);
}

/* Reads the text, then, after a while, explores it, then looks for edits. What
 * it finds is a line of JSON each. */
static _Noreturn void work(const struct server *s, const struct open_file *f,
                           int to)
{
	struct load_text text = { f->path, text_get(&f->text), f->text.length };
	struct text found = { 0 };
	struct timespec idle = { .tv_nsec = IDLE_MS * 1000000L };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	json_t *look = look_at(&text);
	char *words = json_dumps(look, JSON_COMPACT);
	text_string(&found, words ? words : "null");
	tell(to, "look", &found);
	bool runs = json_is_true(json_object_get(look, "runs"));
	json_decref(look);
	free(words);
	text_clear(&found);
	if (runs) {
		nanosleep(&idle, NULL);
		bool violated = trial_explore(&found, &text, s->level,
		                              s->options->seconds);
		tell(to, "trial", &found);
		text_clear(&found);
		if (violated)
			trial_repair(&found, &text, s->level,
			             s->options->seconds);
		tell(to, "repair", &found);
	}
	_exit(0);
}

static void stop_worker(struct open_file *f)
{
	if (f->from >= 0) close(f->from);
	f->from = -1;
	if (!f->worker) return;
	kill(f->worker, SIGKILL);
	while (waitpid(f->worker, NULL, 0) < 0 && errno == EINTR)
		;
	f->worker = 0;
}

static void start_worker(struct server *s, struct open_file *f)
{
	int ends[2];
	stop_worker(f);
	open_file_forget(f);
	if (pipe2(ends, O_CLOEXEC)) return;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	f->worker = fork();
	if (!f->worker) {
		/* What the program prints would be taken for messages. */
		dup2(STDERR_FILENO, s->options->to);
		close(s->options->from);
		work(s, f, ends[1]);
	}
	close(ends[1]);
	if (f->worker < 0) {
		f->worker = 0;
		close(ends[0]);
	} else {
		f->from = ends[0];
	}
}

/* ---- diagnostics ---- */

static void notify(struct server *s, const char *method, json_t *params)
{
	rpc_put(&s->out, json_pack("{ssssso}", "jsonrpc", "2.0", "method",
	                           method, "params", params));
}

/* The place in this file; one in another file is its beginning. */
static json_t *range_of(const struct open_file *f, const json_t *at)
{
	const char *file = string_of(at, "file"), *text = text_get(&f->text);
	json_int_t line = json_integer_value(json_object_get(at, "line"));
	json_int_t column = json_integer_value(json_object_get(at, "column"));
	bool here = file && !strcmp(file, f->path) && line > 0;
	size_t from = here ? position_of_place(text, f->text.length,
	                                       (size_t)line, (size_t)column)
	                   : 0;
	size_t to = position_word_end(text, f->text.length, from);
	return open_file_range(f, from, to);
}

static void add_diagnostic(json_t *list, const struct open_file *f,
                           const json_t *at, int severity, const char *words)
{
	const char *file = string_of(at, "file");
	struct text all = { 0 };
	if (file && strcmp(file, f->path) != 0)
		text_format(&all, "%s:%lld: ", file,
		            (long long)json_integer_value(
				    json_object_get(at, "line")));
	text_string(&all, words ? words : "");
	json_array_append_new(list,
	                      json_pack("{sosissss}", "range", range_of(f, at),
	                                "severity", severity, "source",
	                                "isoscope", "message", text_get(&all)));
	text_free(&all);
}

static void add_violation(json_t *list, const struct open_file *f,
                          const json_t *a, const char *level)
{
	const json_t *example = json_object_get(a, "example");
	const char *message = string_of(a, "message");
	const char *anomaly = string_of(example, "anomaly");
	const char *text = string_of(a, "text");
	json_int_t violated =
		json_integer_value(json_object_get(a, "violated"));
	struct text words = { 0 };
	if (violated < 1) return;
	text_string(&words, message ? message : text ? text : "violated");
	if (anomaly) text_format(&words, ": %s", anomaly);
	text_string(&words, " (violated in ");
	number_plural(&words, (uint64_t)violated, "history", "histories");
	text_format(&words, " under %s)", level ? level : "?");
	add_diagnostic(list, f, a, SEVERITY_WARNING, text_get(&words));
	text_free(&words);
}

static void publish(struct server *s, const struct open_file *f)
{
	static const int severities[] = { SEVERITY_ERROR, SEVERITY_WARNING,
		                          SEVERITY_NOTE };
	json_t *list = json_array();
	size_t i;
	const json_t *one;
	json_array_foreach(json_object_get(f->look, "diagnostics"), i, one)
	{
		json_int_t kind =
			json_integer_value(json_object_get(one, "kind"));
		assert(kind >= 0 && kind < 3);
		add_diagnostic(list, f, one, severities[kind],
		               string_of(one, "message"));
	}
	json_array_foreach(json_object_get(f->trial, "assertions"), i, one)
		add_violation(list, f, one, string_of(f->trial, "level"));
	json_array_foreach(json_object_get(f->trial, "warnings"), i, one)
		add_diagnostic(list, f, one, SEVERITY_NOTE,
	                       string_of(one, "message"));
	notify(s, "textDocument/publishDiagnostics",
	       json_pack("{sssIso}", "uri", f->uri, "version", f->version,
	                 "diagnostics", list));
}

/* ---- requests about a text ---- */

static void hover(struct server *s, const struct open_file *f,
                  const json_t *request)
{
	const json_t *params = json_object_get(request, "params"), *one;
	const json_t *at = json_object_get(params, "position");
	const char *text = text_get(&f->text);
	size_t byte = position_to_byte(
		text, f->text.length,
		(size_t)json_integer_value(json_object_get(at, "line")),
		(size_t)json_integer_value(json_object_get(at, "character")));
	size_t i;
	json_t *found = NULL;
	json_array_foreach(json_object_get(f->look, "names"), i, one)
	{
		size_t from = position_of_place(
			text, f->text.length,
			(size_t)json_integer_value(
				json_object_get(one, "line")),
			(size_t)json_integer_value(
				json_object_get(one, "column")));
		size_t to = position_word_end(text, f->text.length, from);
		if (byte < from || byte > to) continue;
		found = json_pack("{s{ssss}so}", "contents", "kind", "markdown",
		                  "value", string_of(one, "words"), "range",
		                  open_file_range(f, from, to));
		break;
	}
	rpc_answer(&s->out, json_object_get(request, "id"), found);
}

/* A hunk of a diff without context: "@@ -3,2 +3 @@", lines that go and lines
 * that come. Where none goes, others come behind the line. */
static const char *take_hunk(const struct open_file *f, const char *at,
                             json_t *edits)
{
	const char *text = text_get(&f->text);
	size_t line = strtoul(at + strlen("@@ -"), NULL, 10), gone = 0;
	struct text with = { 0 };
	at += strcspn(at, "\n");
	at += *at == '\n';
	while (*at == '-' || *at == '+' || *at == '\\') {
		if (!strncmp(at, "--- ", 4)) break;
		size_t n = strcspn(at, "\n");
		gone += *at == '-';
		if (*at == '+') {
			text_bytes(&with, at + 1, n - 1);
			text_char(&with, '\n');
		}
		at += n + (at[n] == '\n');
	}
	if (!gone) line++;
	size_t from = position_of_place(text, f->text.length, line, 1);
	size_t to = position_of_place(text, f->text.length, line + gone, 1);
	json_array_append_new(edits, json_pack("{soss}", "range",
	                                       open_file_range(f, from, to),
	                                       "newText", text_get(&with)));
	text_free(&with);
	return at;
}

/* The edits of this file; NULL if the diff is of others as well. */
static json_t *edits_of(const struct open_file *f, const char *diff)
{
	json_t *edits = json_array();
	bool here = true;
	for (const char *at = diff; *at && here;) {
		if (!strncmp(at, "@@ -", 4)) {
			at = take_hunk(f, at, edits);
			continue;
		}
		if (!strncmp(at, "--- a/", 6)) {
			size_t n = strcspn(at + 6, "\n");
			const char *path = f->path;
			size_t length = strlen(path);
			here = length >= n &&
			       !memcmp(path + length - n, at + 6, n) &&
			       (length == n || path[length - n - 1] == '/');
		}
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	if (here && json_array_size(edits)) return edits;
	json_decref(edits);
	return NULL;
}

static void code_actions(struct server *s, const struct open_file *f,
                         const json_t *request)
{
	const json_t *answers = json_object_get(f->repair, "answers"), *one;
	json_t *list = json_array();
	size_t i;
	json_array_foreach(answers, i, one)
	{
		const char *diff = string_of(one, "diff");
		const char *words = string_of(one, "words");
		json_t *edits = diff ? edits_of(f, diff) : NULL;
		struct text title = { 0 };
		if (!edits) continue;
		text_format(&title, "isoscope: %s", words ? words : "an edit");
		json_array_append_new(
			list, json_pack("{sssss{s[{s{sssI}so}]}}", "title",
		                        text_get(&title), "kind", "quickfix",
		                        "edit", "documentChanges",
		                        "textDocument", "uri", f->uri,
		                        "version", f->version, "edits", edits));
		text_free(&title);
	}
	rpc_answer(&s->out, json_object_get(request, "id"), list);
}

/* The whole text in canonical layout; nothing where it has errors. */
static void formatting(struct server *s, const struct open_file *f,
                       const json_t *request)
{
	struct text after = { 0 };
	struct diags d = { 0 };
	json_t *edits = json_array();
	bool sql = sql_is_spec(f->path) || sql_is_script(f->path);
	if (!sql &&
	    format_program_text(f->path, text_get(&f->text), f->text.length,
	                        &after, &d) &&
	    (after.length != f->text.length ||
	     memcmp(text_get(&after), text_get(&f->text), after.length) != 0))
		json_array_append_new(
			edits, json_pack("{soss}", "range",
		                         open_file_range(f, 0, f->text.length),
		                         "newText", text_get(&after)));
	diags_free(&d);
	text_free(&after);
	rpc_answer(&s->out, json_object_get(request, "id"), edits);
}

/* ---- what a worker tells ---- */

static void answer_waiting(struct server *s, struct open_file *f)
{
	size_t i;
	const json_t *one;
	json_array_foreach(f->waiting, i, one) hover(s, f, one);
	json_array_clear(f->waiting);
}

static void take_line(struct server *s, struct open_file *f)
{
	json_error_t e;
	json_t *line = json_loadb(text_get(&f->told), f->told.length,
	                          JSON_ALLOW_NUL, &e);
	const char *what = string_of(line, "found");
	json_t *result = json_object_get(line, "result");
	json_t **kept = !what                     ? NULL
	                : !strcmp(what, "look")   ? &f->look
	                : !strcmp(what, "trial")  ? &f->trial
	                : !strcmp(what, "repair") ? &f->repair
	                                          : NULL;
	text_clear(&f->told);
	if (kept && result) {
		json_decref(*kept);
		*kept = json_incref(result);
		if (kept != &f->repair) publish(s, f);
		if (kept == &f->look) answer_waiting(s, f);
	}
	json_decref(line);
}

static void hear(struct server *s, struct open_file *f)
{
	char part[1 << 14];
	ssize_t n;
	while ((n = read(f->from, part, sizeof part)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (part[i] == '\n')
				take_line(s, f);
			else if (f->told.length < FOUND_MOST)
				text_char(&f->told, part[i]);
		}
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	/* It has ended, maybe by a fault: nobody waits for it any more. */
	stop_worker(f);
	answer_waiting(s, f);
}

/* ---- notifications about texts ---- */

static void open_text(struct server *s, const json_t *params)
{
	const json_t *document = json_object_get(params, "textDocument");
	const char *uri = string_of(document, "uri");
	const json_t *text = json_object_get(document, "text");
	if (!uri || !json_is_string(text)) return;
	struct open_file *f = open_file_add(&s->files, uri);
	if (!f->waiting) f->waiting = json_array();
	text_clear(&f->text);
	text_bytes(&f->text, json_string_value(text), json_string_length(text));
	f->version = json_integer_value(json_object_get(document, "version"));
	start_worker(s, f);
}

static struct open_file *file_of(const struct server *s, const json_t *params)
{
	return open_file_find(
		&s->files,
		string_of(json_object_get(params, "textDocument"), "uri"));
}

static void change_text(struct server *s, const json_t *params)
{
	struct open_file *f = file_of(s, params);
	if (!f) return;
	open_file_change(f, json_object_get(params, "contentChanges"));
	f->version = json_integer_value(json_object_get(
		json_object_get(params, "textDocument"), "version"));
	start_worker(s, f);
}

static void close_text(struct server *s, const json_t *params)
{
	struct open_file *f = file_of(s, params);
	if (!f) return;
	stop_worker(f);
	answer_waiting(s, f);
	notify(s, "textDocument/publishDiagnostics",
	       json_pack("{sss[]}", "uri", f->uri, "diagnostics"));
	open_file_remove(&s->files, f);
}

/* Imports may have changed, so every text is looked at again. */
static void save_text(struct server *s, const json_t *params)
{
	(void)params;
	for (size_t i = 0; i < s->files.count; i++)
		start_worker(s, s->files.items[i]);
}

/* {"level":"si"}, or that in "isoscope". */
static void set_level(struct server *s, const json_t *settings)
{
	const json_t *own = json_object_get(settings, "isoscope");
	const char *word = string_of(own ? own : settings, "level");
	enum level l = word ? level_from_word(word) : LEVEL_COUNT;
	if (l != LEVEL_COUNT) s->level = level_word(l);
	if (word && !*word) s->level = s->options->level;
}

static void configure(struct server *s, const json_t *params)
{
	set_level(s, json_object_get(params, "settings"));
	save_text(s, params);
}

/* ---- the life of the server ---- */

static void initialize(struct server *s, const json_t *request)
{
	const json_t *params = json_object_get(request, "params");
	if (s->initialized) {
		rpc_refuse(&s->out, json_object_get(request, "id"), RPC_INVALID,
		           "it is initialized already");
		return;
	}
	s->initialized = true;
	set_level(s, json_object_get(params, "initializationOptions"));
	rpc_answer(&s->out, json_object_get(request, "id"),
	           json_pack("{s{sss{sbsis{sb}}sbs{s[s]}sb}s{ssss}}",
	                     "capabilities", "positionEncoding", "utf-16",
	                     "textDocumentSync", "openClose", 1, "change", 2,
	                     "save", "includeText", 0, "hoverProvider", 1,
	                     "codeActionProvider", "codeActionKinds",
	                     "quickfix", "documentFormattingProvider", 1,
	                     "serverInfo", "name", "isoscope", "version",
	                     iso_version()));
}

static void shut_down(struct server *s, const json_t *request)
{
	s->shut = true;
	rpc_answer(&s->out, json_object_get(request, "id"), NULL);
}

typedef void about_text(struct server *s, const struct open_file *f,
                        const json_t *request);

static void ask(struct server *s, const json_t *request, about_text *what)
{
	struct open_file *f = file_of(s, json_object_get(request, "params"));
	if (!f)
		rpc_refuse(&s->out, json_object_get(request, "id"), RPC_PARAMS,
		           "this text is not open");
	else if (what == hover && !f->look && f->worker &&
	         json_array_size(f->waiting) < WAITING_MOST)
		json_array_append(f->waiting, (json_t *)request);
	else
		what(s, f, request);
}

static void on_request(struct server *s, const char *method,
                       const json_t *request)
{
	static const struct {
		const char *method;
		about_text *what;
	} about[] = {
		{ "textDocument/hover", hover },
		{ "textDocument/codeAction", code_actions },
		{ "textDocument/formatting", formatting },
	};
	const json_t *id = json_object_get(request, "id");
	if (!strcmp(method, "initialize")) {
		initialize(s, request);
		return;
	}
	if (!s->initialized || s->shut) {
		rpc_refuse(&s->out, id,
		           s->shut ? RPC_INVALID : RPC_NOT_INITIALIZED,
		           s->shut ? "it is shut down" : "initialize first");
		return;
	}
	if (!strcmp(method, "shutdown")) {
		shut_down(s, request);
		return;
	}
	for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
		if (strcmp(method, about[i].method) != 0) continue;
		ask(s, request, about[i].what);
		return;
	}
	rpc_refuse(&s->out, id, RPC_UNKNOWN, "there is no such method");
}

static void on_notification(struct server *s, const char *method,
                            const json_t *params)
{
	static const struct {
		const char *method;
		void (*what)(struct server *s, const json_t *params);
	} all[] = {
		{ "textDocument/didOpen", open_text },
		{ "textDocument/didChange", change_text },
		{ "textDocument/didClose", close_text },
		{ "textDocument/didSave", save_text },
		{ "workspace/didChangeConfiguration", configure },
	};
	if (!strcmp(method, "exit")) s->ended = true;
	if (!s->initialized || s->shut) return;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(method, all[i].method)) all[i].what(s, params);
}

static void on_message(struct server *s, const json_t *m)
{
	const char *method = string_of(m, "method");
	const json_t *id = json_object_get(m, "id");
	bool named = json_is_string(id) || json_is_integer(id);
	if (!json_is_object(m) || (id && !named && !json_is_null(id)))
		rpc_refuse(&s->out, NULL, RPC_INVALID, "this is no request");
	else if (method && named)
		on_request(s, method, m);
	else if (method)
		on_notification(s, method, json_object_get(m, "params"));
	else if (!json_object_get(m, "result") && !json_object_get(m, "error"))
		rpc_refuse(&s->out, id, RPC_INVALID, "this is no request");
}

static void take_messages(struct server *s)
{
	enum rpc_kind kind;
	json_t *message = NULL;
	const char *why = NULL;
	while (!s->ended && (kind = rpc_next(&s->in, &message, &why))) {
		if (kind == RPC_BROKEN) {
			rpc_refuse(&s->out, NULL, RPC_PARSE, why);
			continue;
		}
		on_message(s, message);
		json_decref(message);
	}
}

static void read_some(struct server *s)
{
	char part[1 << 16];
	ssize_t n = read(s->options->from, part, sizeof part);
	if (n > 0) text_bytes(&s->in.bytes, part, (size_t)n);
	if (!n || (n < 0 && errno != EINTR && errno != EAGAIN))
		s->closed = true;
}

/* Waits for the client and the workers. */
static void wait_for_some(struct server *s, struct pollfd *any)
{
	size_t count = 1;
	any[0] = (struct pollfd){ s->options->from, POLLIN, 0 };
	for (size_t i = 0; i < s->files.count; i++)
		any[count++] =
			(struct pollfd){ s->files.items[i]->from, POLLIN, 0 };
	if (poll(any, count, -1) <= 0) return;
	for (size_t i = 0; i < s->files.count; i++)
		if (any[i + 1].revents) hear(s, s->files.items[i]);
	if (any[0].revents) read_some(s);
}

bool server_run(const struct server_options *o)
{
	struct server s = { .options = o, .level = o->level };
	struct pollfd *any = NULL;
	size_t room = 0;
	while (!s.ended && !s.closed && !atomic_load(o->interrupt)) {
		if (room < s.files.count + 1) {
			room = 2 * s.files.count + 8;
			any = mem_grow(any, room, sizeof *any);
		}
		wait_for_some(&s, any);
		take_messages(&s);
		if (!write_all(o->to, &s.out)) s.closed = true;
		text_clear(&s.out);
	}
	while (s.files.count) {
		stop_worker(s.files.items[0]);
		open_file_remove(&s.files, s.files.items[0]);
	}
	free(s.files.items);
	free(any);
	text_free(&s.in.bytes);
	text_free(&s.out);
	return s.ended && s.shut;
}
