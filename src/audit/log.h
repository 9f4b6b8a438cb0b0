/* Logs of SQL, read as a stream: what each session said, and when it failed or
 * ended. The format is recognised by the content. */
#ifndef ISO_AUDIT_LOG_H
#define ISO_AUDIT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "audit/limit.h"
#include "base/text.h"

enum log_format {
	LOG_MYSQL,
	LOG_CSV,
	LOG_JSON,
	LOG_STDERR,
	LOG_QUERIES,
	LOG_FORMAT_COUNT
};
const char *log_format_word(enum log_format f);
const char *log_format_name(enum log_format f);

enum log_event {
	LOG_STATEMENT, /* one text, which may hold several statements */
	/* A statement of the session ended in an error: `text`, if that is not
	 * NULL, else the last one. It is not the last one if it could not even
	 * be parsed, since then it was not logged. */
	LOG_FAILED,
	LOG_END /* of the session */
};

struct log_entry {
	enum log_event event;
	uint64_t session;              /* the same number, the same session */
	uint64_t transaction;          /* likewise; 0: the log does not say */
	const char *text, *parameters; /* parameters may be NULL */
	size_t length, parameters_length;
	uint32_t line;  /* where it begins, from 1 */
	uint64_t times; /* it stands for so many; 0: for one */
};

/*     identifier, word in JSON, what was skipped: one, and many */
#define LOG_SKIP_TABLE(X)                                             \
	X(SKIP_STRAY, "stray", "line that belongs to no entry",       \
	  "lines that belong to no entry")                            \
	X(SKIP_CUT, "truncated", "entry that is cut short",           \
	  "entries that are cut short")                               \
	X(SKIP_LONG, "too_long", "entry longer than 16 MB",           \
	  "entries longer than 16 MB")                                \
	X(SKIP_BINARY, "binary", "entry with bytes that are no text", \
	  "entries with bytes that are no text")

enum log_skip {
#define X(id, word, one, many) id,
	LOG_SKIP_TABLE(X)
#undef X
		LOG_SKIP_COUNT
};

enum { LOG_PLACES = 5 }; /* of each kind that are told */

/* Things that were skipped, and where the first ones are. */
struct log_skipped {
	uint64_t count;
	uint32_t lines[LOG_PLACES];
};

struct log {
	const char *path; /* borrowed */
	enum log_format format;
	uint64_t bytes, lines, statements;
	bool one_session; /* the lines do not say whose they are */
	bool stopped;     /* interrupted */
	struct log_skipped skipped[LOG_SKIP_COUNT];
};

void log_skipped_add(struct log_skipped *s, uint32_t line);

typedef void log_listener(void *data, const struct log_entry *e);

struct log_source;
/* Reads it all, or until the limit, which may be NULL. False, with the reason
 * in `why`, if this is no log that is known. */
bool log_read(struct log *log, FILE *from, struct audit_limit *limit,
              log_listener *listener, void *data, struct text *why);

/* ---- what the formats share: log.c ---- */

struct log_line {
	const char *text; /* without its end; NUL behind it */
	size_t length;
	uint32_t number;
	bool cut; /* it was longer */
};

/* The next line; false at the end. It lasts until the next call. */
bool log_next(struct log_source *s, struct log_line *line);
struct log *log_of(struct log_source *s);
void log_skip(struct log_source *s, enum log_skip why, uint32_t line);
/* Hands an entry on. A statement with bytes that are no text is skipped. */
void log_say(struct log_source *s, const struct log_entry *e);
/* "2024-01-31 10:20:30": so many digits and signs begin the line. */
bool log_begins_with_time(const char *line);

bool log_mysql_fits(const char *line);
void log_mysql_read(struct log_source *s);
bool log_csv_fits(const char *line);
void log_csv_read(struct log_source *s);
bool log_json_fits(const char *line);
void log_json_read(struct log_source *s);
bool log_stderr_fits(const char *line);
void log_stderr_read(struct log_source *s);
bool log_queries_fits(const char *line);
void log_queries_read(struct log_source *s);

enum { LOG_CSV_FIELDS = 48 };
/* Splits in place. 0: it is no record, or its last quote is open. */
unsigned log_csv_split(char *s, const char *fields[LOG_CSV_FIELDS]);
/* Has it an odd number of quotes? */
bool log_csv_turns(const struct log_line *line);

/* A message of PostgreSQL's, whatever the form of the log: its session, its
 * virtual transaction or 0, its severity, text and detail (or NULL). */
struct postgres_message {
	uint64_t session, transaction;
	const char *severity, *text, *detail;
	/* Of an error: SQLSTATE, and what was carried out; or NULL. */
	const char *code, *statement;
	uint32_t line;
};
void log_postgres_say(struct log_source *s, const struct postgres_message *m);

#endif
