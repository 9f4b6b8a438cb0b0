/* The logs of PostgreSQL: csvlog, jsonlog and the server's own lines. */
#include <assert.h>
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "audit/log.h"
#include "base/hash.h"
#include "base/memory.h"

enum { RECORD_MOST = 16 << 20, CSV_LEAST = 23 };

static bool begins(const char **s, const char *with)
{
	size_t n = strlen(with);
	if (strncmp(*s, with, n)) return false;
	*s += n;
	return true;
}

/* The statement in "statement: ..", "execute name: ..", also behind
 * "duration: 0.1 ms  "; NULL: it is another message. */
static const char *statement_of(const char *m)
{
	if (begins(&m, "duration: ")) {
		const char *unit = strstr(m, " ms  ");
		if (!unit) return NULL;
		m = unit + 5;
	}
	if (begins(&m, "statement: ")) return m;
	if (!begins(&m, "execute ")) return NULL;
	/* A name may have blanks, but hardly a colon with one behind it. */
	const char *text = strstr(m, ": ");
	return text ? text + 2 : NULL;
}

static const char *parameters_of(const char *detail)
{
	if (!detail) return NULL;
	if (begins(&detail, "parameters: ") || begins(&detail, "Parameters: "))
		return detail;
	return NULL;
}

/* Statements are logged once they are parsed. */
static void failed(struct log_entry *e, const struct postgres_message *m)
{
	e->event = LOG_FAILED;
	if (m->statement && *m->statement)
		e->text = m->statement;
	else if (m->code && !strcmp(m->code, "42601"))
		e->text = ""; /* a syntax error of one that is not shown */
	if (e->text) e->length = strlen(e->text);
}

void log_postgres_say(struct log_source *s, const struct postgres_message *m)
{
	struct log_entry e = { .session = m->session,
		               .transaction = m->transaction,
		               .line = m->line };
	assert(m->line && m->severity && m->text);
	if (!strcmp(m->severity, "ERROR")) {
		failed(&e, m);
		log_say(s, &e);
		return;
	}
	if (!strcmp(m->severity, "FATAL") ||
	    !strncmp(m->text, "disconnection:", 14)) {
		e.event = LOG_END;
		log_say(s, &e);
		return;
	}
	if (strcmp(m->severity, "LOG")) return;
	e.text = statement_of(m->text);
	if (!e.text) return;
	e.length = strlen(e.text);
	e.parameters = parameters_of(m->detail);
	if (e.parameters) e.parameters_length = strlen(e.parameters);
	log_say(s, &e);
}

static uint64_t name_of(const char *s)
{
	uint64_t h = hash_bytes(1, s, strlen(s));
	return h ? h : 1;
}

/* "3/17" says which; "3/0" and "" do not. */
static uint64_t transaction_of(const char *virtual)
{
	const char *local = strchr(virtual, '/');
	return local && strcmp(local, "/0") ? name_of(virtual) : 0;
}

/* ---- csvlog ---- */

bool log_csv_fits(const char *line)
{
	if (!log_begins_with_time(line)) return false;
	const char *comma = strchr(line, ',');
	int commas = 0;
	if (!comma || memchr(line, '[', (size_t)(comma - line))) return false;
	for (const char *s = comma; *s && commas < 6; s++) commas += *s == ',';
	return commas == 6;
}

unsigned log_csv_split(char *s, const char *fields[LOG_CSV_FIELDS])
{
	unsigned n = 0;
	for (;;) {
		bool quoted = *s == '"';
		char *to = s += quoted;
		if (n == LOG_CSV_FIELDS) return 0;
		fields[n++] = to;
		while (quoted ? *s && (*s != '"' || s[1] == '"')
		              : *s && *s != ',') {
			s += quoted && *s == '"';
			*to++ = *s++;
		}
		if (quoted && !*s) return 0;
		s += quoted;
		char behind = *s;
		*to = 0;
		if (!behind) return n;
		if (behind != ',') return 0;
		s++;
	}
}

bool log_csv_turns(const struct log_line *line)
{
	bool odd = false;
	for (size_t i = 0; i < line->length; i++) odd ^= line->text[i] == '"';
	return odd;
}

static void csv_record(struct log_source *s, struct text *record, uint32_t line,
                       bool cut)
{
	const char *f[LOG_CSV_FIELDS] = { 0 };
	if (!line) return;
	if (cut) {
		log_skip(s, SKIP_LONG, line);
		return;
	}
	if (memchr(record->data, 0, record->length)) {
		log_skip(s, SKIP_BINARY, line);
		return;
	}
	unsigned n = log_csv_split(record->data, f);
	if (n < CSV_LEAST) {
		log_skip(s, SKIP_CUT, line);
		return;
	}
	struct postgres_message m = { .session = name_of(f[5]),
		                      .transaction = transaction_of(f[9]),
		                      .severity = f[11],
		                      .code = f[12],
		                      .text = f[13],
		                      .detail = f[14],
		                      .statement = f[19],
		                      .line = line };
	log_postgres_say(s, &m);
}

void log_csv_read(struct log_source *s)
{
	struct text record = { 0 };
	struct log_line line;
	uint32_t begun = 0;
	bool open = false, cut = false;
	while (log_next(s, &line)) {
		/* A record that begins inside another: that one was cut. */
		bool new = log_csv_fits(line.text);
		if (new &&begun) {
			csv_record(s, &record, begun, cut);
			begun = 0;
		}
		if (!begun && !new) {
			if (line.length) log_skip(s, SKIP_STRAY, line.number);
			continue;
		}
		if (!begun) {
			begun = line.number;
			cut = open = false;
			text_clear(&record);
		} else if (record.length + line.length < RECORD_MOST) {
			text_char(&record, '\n');
		}
		cut |= line.cut;
		if (record.length + line.length > RECORD_MOST)
			cut = true;
		else
			text_bytes(&record, line.text, line.length);
		open ^= log_csv_turns(&line);
		if (open) continue;
		csv_record(s, &record, begun, cut);
		begun = 0;
	}
	csv_record(s, &record, begun, cut);
	text_free(&record);
}

/* ---- jsonlog ---- */

bool log_json_fits(const char *line)
{
	return *line == '{' && strstr(line, "\"timestamp\"") &&
	       strstr(line, "\"pid\"");
}

static const char *member(json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

void log_json_read(struct log_source *s)
{
	struct log_line line;
	while (log_next(s, &line)) {
		json_error_t error;
		if (!line.length) continue;
		if (line.cut) {
			log_skip(s, SKIP_LONG, line.number);
			continue;
		}
		if (*line.text != '{') {
			log_skip(s, SKIP_STRAY, line.number);
			continue;
		}
		json_t *o = json_loadb(line.text, line.length, 0, &error);
		if (!json_is_object(o)) {
			json_decref(o);
			log_skip(s, SKIP_CUT, line.number);
			continue;
		}
		struct postgres_message m = {
			.session = name_of(member(o, "session_id")),
			.transaction = transaction_of(member(o, "vxid")),
			.severity = member(o, "error_severity"),
			.code = member(o, "state_code"),
			.statement = member(o, "statement"),
			.text = member(o, "message"),
			.detail = member(o, "detail"),
			.line = line.number
		};
		log_postgres_say(s, &m);
		json_decref(o);
	}
}

/* ---- the server's own lines ---- */

static const char *const severities[] = {
	"LOG",   "ERROR",   "DETAIL", "STATEMENT", "FATAL",
	"PANIC", "WARNING", "NOTICE", "INFO",      "HINT",
	"DEBUG", "CONTEXT", "QUERY",  "LOCATION",
};

/* Where "LOG:  " begins, and which; NULL: the line has none. */
static const char *severity_in(const char *line, const char **which)
{
	for (const char *s = strstr(line, ":  "); s; s = strstr(s + 1, ":  ")) {
		const char *from = s;
		while (from > line && isupper((unsigned char)from[-1])) from--;
		for (size_t i = 0; i < sizeof severities / sizeof *severities;
		     i++) {
			size_t n = strlen(severities[i]);
			if ((size_t)(s - from) != n ||
			    strncmp(from, severities[i], n))
				continue;
			*which = severities[i];
			return from;
		}
	}
	return NULL;
}

bool log_stderr_fits(const char *line)
{
	const char *which, *at = severity_in(line, &which);
	return at && *line != '\t' && *line != '{';
}

/* The process, in what log_line_prefix has: "[123]", "[123-4]", "pid=123". 0:
 * there is none. */
static uint64_t process_in(const char *prefix, const char *end)
{
	for (const char *s = prefix; s < end; s++) {
		bool open = *s == '[';
		if (!open && (end - s < 4 || strncmp(s, "pid=", 4))) continue;
		const char *from = s + (open ? 1 : 4), *to = from;
		while (isdigit((unsigned char)*to)) to++;
		if (to > from && (!open || *to == ']' || *to == '-'))
			return hash_bytes(1, from, (size_t)(to - from)) | 1;
	}
	return 0;
}

struct stderr_entry {
	uint64_t session;
	const char *severity;
	struct text text, detail, statement;
	struct text *now; /* which of them goes on; NULL: none */
	bool cut;
	uint32_t line; /* 0: none was begun */
};

static void stderr_end(struct log_source *s, struct stderr_entry *e)
{
	struct postgres_message m = { .session = e->session,
		                      .severity = e->severity,
		                      .text = text_get(&e->text),
		                      .detail = text_get(&e->detail),
		                      .statement = text_get(&e->statement),
		                      .line = e->line };
	if (!e->line) return;
	if (e->cut)
		log_skip(s, SKIP_LONG, e->line);
	else if (e->text.length != strlen(m.text))
		log_skip(s, SKIP_BINARY, e->line);
	else
		log_postgres_say(s, &m);
	e->line = 0;
}

static void stderr_head(struct log_source *s, struct stderr_entry *e,
                        const struct log_line *line, const char *at,
                        const char *severity)
{
	const char *text = at + strlen(severity) + 3;
	size_t length = line->length - (size_t)(text - line->text);
	uint64_t session = process_in(line->text, at);
	if (!session) log_of(s)->one_session = true;
	if (strcmp(severity, "LOG") && strcmp(severity, "ERROR") &&
	    strcmp(severity, "FATAL")) {
		/* More of the entry before. */
		bool same = e->line && e->session == session;
		e->now = same && !strcmp(severity, "DETAIL") ? &e->detail
		         : same && !strcmp(severity, "STATEMENT")
		                 ? &e->statement
		                 : NULL;
		if (e->now) text_bytes(e->now, text, length);
		return;
	}
	stderr_end(s, e);
	e->session = session;
	e->severity = severity;
	e->line = line->number;
	e->cut = line->cut;
	text_clear(&e->text);
	text_clear(&e->detail);
	text_clear(&e->statement);
	text_bytes(&e->text, text, length);
	e->now = &e->text;
}

void log_stderr_read(struct log_source *s)
{
	struct stderr_entry e = { 0 };
	struct log_line line;
	while (log_next(s, &line)) {
		const char *severity, *at = severity_in(line.text, &severity);
		if (at && *line.text != '\t') {
			stderr_head(s, &e, &line, at, severity);
		} else if (!e.line) {
			if (line.length) log_skip(s, SKIP_STRAY, line.number);
		} else if (*line.text != '\t') {
			/* Those that belong to an entry begin with a tab. */
			stderr_end(s, &e);
			if (line.length) log_skip(s, SKIP_STRAY, line.number);
		} else if (e.now) {
			e.cut |= line.cut || e.now->length > RECORD_MOST;
			if (e.cut) continue;
			text_char(e.now, '\n');
			text_bytes(e.now, line.text + 1, line.length - 1);
		}
	}
	stderr_end(s, &e);
	text_free(&e.text);
	text_free(&e.detail);
	text_free(&e.statement);
}
