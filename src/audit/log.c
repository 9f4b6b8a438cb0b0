#include "audit/log.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/memory.h"

enum {
	LINE_MOST = 16 << 20,
	BUFFER = 1 << 16,
	LOOKED_AT = 200 /* lines, to recognise the format */
};

struct log_source {
	struct log *log;
	FILE *from;
	struct audit_limit *limit;
	log_listener *listener;
	void *data;
	char buffer[BUFFER];
	size_t at, end;
	struct text line;
	/* Lines that were looked at, to be read again. */
	struct text first;
	size_t first_at;
	bool looking;
};

static const struct {
	const char *word, *name;
	bool (*fits)(const char *line);
	void (*read)(struct log_source *s);
} formats[] = {
	[LOG_MYSQL] = { "mysql", "MySQL general log", log_mysql_fits,
	                log_mysql_read },
	[LOG_CSV] = { "csvlog", "PostgreSQL csvlog", log_csv_fits,
	              log_csv_read },
	[LOG_JSON] = { "jsonlog", "PostgreSQL jsonlog", log_json_fits,
	               log_json_read },
	[LOG_STDERR] = { "stderr", "PostgreSQL server log", log_stderr_fits,
	                 log_stderr_read },
	[LOG_QUERIES] = { "pg_stat_statements", "pg_stat_statements",
	                  log_queries_fits, log_queries_read },
};

const char *log_format_word(enum log_format f)
{
	assert(f < LOG_FORMAT_COUNT);
	return formats[f].word;
}

const char *log_format_name(enum log_format f)
{
	assert(f < LOG_FORMAT_COUNT);
	return formats[f].name;
}

void log_skipped_add(struct log_skipped *s, uint32_t line)
{
	if (s->count < LOG_PLACES) s->lines[s->count] = line;
	s->count++;
}

struct log *log_of(struct log_source *s)
{
	return s->log;
}

void log_skip(struct log_source *s, enum log_skip why, uint32_t line)
{
	assert(why < LOG_SKIP_COUNT);
	log_skipped_add(&s->log->skipped[why], line);
}

static bool fill(struct log_source *s)
{
	assert(s->at == s->end);
	if (s->looking) { /* keeps what it reads */
		s->end = fread(s->buffer, 1, BUFFER, s->from);
		text_bytes(&s->first, s->buffer, s->end);
	} else if (s->first_at < s->first.length) {
		size_t n = s->first.length - s->first_at;
		s->end = n < BUFFER ? n : BUFFER;
		memcpy(s->buffer, s->first.data + s->first_at, s->end);
		s->first_at += s->end;
	} else {
		s->end = fread(s->buffer, 1, BUFFER, s->from);
	}
	s->at = 0;
	return s->end > 0;
}

bool log_next(struct log_source *s, struct log_line *line)
{
	bool any = false, ended = false;
	text_clear(&s->line);
	line->cut = false;
	if (s->limit && limit_reached(s->limit)) {
		s->log->stopped = true;
		return false;
	}
	while (!ended && (s->at < s->end || fill(s))) {
		const char *from = s->buffer + s->at;
		size_t n = s->end - s->at;
		const char *stop = memchr(from, '\n', n);
		any = ended = stop != NULL;
		any = true;
		if (stop) n = (size_t)(stop - from);
		s->at += n + (stop != NULL);
		s->log->bytes += n + (stop != NULL);
		if (s->line.length + n > LINE_MOST)
			line->cut = true;
		else
			text_bytes(&s->line, from, n);
	}
	if (!any) return false;
	if (s->line.length && s->line.data[s->line.length - 1] == '\r')
		s->line.data[--s->line.length] = 0;
	line->text = text_get(&s->line);
	line->length = s->line.length;
	line->number = (uint32_t)++s->log->lines;
	return true;
}

bool log_begins_with_time(const char *line)
{
	static const char form[] = "dddd-dd-dd dd:dd:dd";
	for (const char *f = form; *f; f++, line++)
		if (*f == 'd' ? !isdigit((unsigned char)*line)
		              : *line != *f && !(*f == ' ' && *line == 'T'))
			return false;
	return true;
}

static bool is_text(const char *s, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!s[i]) return false;
	return true;
}

void log_say(struct log_source *s, const struct log_entry *e)
{
	assert(e->line && e->line <= s->log->lines);
	if (e->event == LOG_STATEMENT) {
		if (!is_text(e->text, e->length)) {
			log_skip(s, SKIP_BINARY, e->line);
			return;
		}
		s->log->statements++;
	}
	s->listener(s->data, e);
}

/* The first line that one of the formats has decides. */
static bool recognise(struct log_source *s, enum log_format *out)
{
	struct log_line line;
	s->looking = true;
	for (int i = 0; i < LOOKED_AT && log_next(s, &line); i++)
		for (enum log_format f = 0; f < LOG_FORMAT_COUNT; f++)
			if (formats[f].fits(line.text)) {
				*out = f;
				return true;
			}
	return false;
}

static bool is_compressed(const struct text *t)
{
	static const char *const begins[] = { "\x1f\x8b", "\xfd\x37zXZ",
		                              "\x28\xb5\x2f\xfd", "BZh" };
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (!strncmp(text_get(t), begins[i], strlen(begins[i])))
			return true;
	return false;
}

bool log_read(struct log *log, FILE *from, struct audit_limit *limit,
              log_listener *listener, void *data, struct text *why)
{
	struct log_source *s = mem_take0(1, sizeof *s);
	*s = (struct log_source){ .log = log,
		                  .from = from,
		                  .limit = limit,
		                  .listener = listener,
		                  .data = data };
	bool known = recognise(s, &log->format);
	bool empty = !log->bytes;
	if (known) {
		s->looking = false;
		s->at = s->end = 0;
		log->bytes = log->lines = 0;
		formats[log->format].read(s);
	} else if (ferror(from)) {
		text_string(why, "it cannot be read, or is a folder");
	} else if (empty && !log->stopped) {
		text_string(why, "it is empty");
	} else if (!log->stopped) {
		text_format(why,
		            "its first %llu lines have no entry of a MySQL "
		            "general log, or of a PostgreSQL log (csvlog, "
		            "jsonlog, or of stderr with 'LOG:  statement:'), "
		            "and no columns query and calls of "
		            "pg_stat_statements%s",
		            (unsigned long long)log->lines,
		            is_compressed(&s->first)
		                    ? "; it is compressed: pass what zcat, "
		                      "xzcat or zstdcat make of it as '-'"
		                    : "");
	}
	if (known && ferror(from)) {
		text_string(why, "it cannot be read to its end");
		known = false;
	}
	bool stopped = log->stopped;
	text_free(&s->line);
	text_free(&s->first);
	free(s);
	return known || stopped;
}
